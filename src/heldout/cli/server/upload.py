"""The body of a form: its fields, and the files in it, which are written to a folder and never held in memory."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Protocol
from urllib.parse import parse_qs

from heldout._text import printable
from heldout.errors import InputError

BLOCK = 2**20
MOST_FIELD_BYTES = 2**20
"""Of all fields that are no files."""
MOST_FIELDS = 1000
_LONGEST_NAME = 120
_NAME, _FILE_NAME = (
    re.compile(rf'content-disposition:[^\r\n]*;\s*{name}="([^"\r\n]*)"', re.I) for name in ("name", "filename")
)


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """At most so many bytes; none at the end."""
        ...


@dataclass(frozen=True)
class Upload:
    """A form that was sent.

    - ``fields``: the values of each field; those left empty are absent.
    - ``file``: the file that was chosen, under its own name in a folder of its own; None if there is none.
    """

    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    file: Path | None = None

    def first(self, name: str) -> str | None:
        """The first value of a field."""
        return next(iter(self.fields.get(name, ())), None)


def read_upload(stream: Readable, n_bytes: int, content_type: str, folder: Path) -> Upload:
    """Read a form of so many bytes; a file in it is written to the folder.

    Raises InputError when it is no form, or ends early.
    """
    kind = Message()
    kind["Content-Type"] = content_type
    if kind.get_content_type() == "application/x-www-form-urlencoded":
        if n_bytes > MOST_FIELD_BYTES:
            raise InputError("the form is too long; send it from the page.")
        try:
            values = parse_qs(stream.read(n_bytes).decode("utf-8", "replace"), max_num_fields=MOST_FIELDS)
        except ValueError:
            raise InputError(f"the form has more than {MOST_FIELDS} fields; send it from the page.") from None
        return Upload(_fields(values))
    boundary = kind.get_boundary() if kind.get_content_type() == "multipart/form-data" else None
    if not boundary or not n_bytes:
        raise InputError(f"a form was expected, got {printable(content_type) or 'nothing'}; send it from the page.")
    with TemporaryFile(dir=folder) as body:  # of no name that a file in it could have
        _write(stream, n_bytes, body)
        return _of_parts(body, boundary.encode(), folder)


def file_name(sent: str) -> str:
    """A name for a file of ours from the one that a browser sent: without folders, and safe to print.

    Examples
    --------
    >>> file_name("../../etc/pass\\x1bwd.csv")
    'passwd.csv'
    >>> file_name("..")
    'predictions'
    """
    last = re.split(r"[/\\]", sent)[-1]
    clean = "".join(letter for letter in last if letter.isprintable()).strip().lstrip(".-")
    stem, dot, ending = clean.rpartition(".")
    short = f"{stem[: _LONGEST_NAME - len(ending[:20])]}{dot}{ending[:20]}" if dot else clean[:_LONGEST_NAME]
    while len(short.encode("utf-8", "replace")) > 2 * _LONGEST_NAME:  # names are limited in bytes
        short = short[1:]
    return short or "predictions"


def _fields(found: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    kept = {name: tuple(value for value in values if value) for name, values in found.items()}
    return {name: values for name, values in kept.items() if values}


def _write(stream: Readable, n_bytes: int, body: IO[bytes]) -> None:
    left = n_bytes
    while left:
        block = stream.read(min(left, BLOCK))
        if not block:
            raise InputError("the upload ended early; send the file again.")
        body.write(block)
        left -= len(block)
    body.flush()


def _of_parts(body: IO[bytes], boundary: bytes, folder: Path) -> Upload:
    fields: dict[str, list[str]] = {}
    file: Path | None = None
    room = MOST_FIELD_BYTES
    with closing(mmap.mmap(body.fileno(), 0, access=mmap.ACCESS_READ)) as text:
        for head, begin, end in _parts(text, boundary):
            name, sent = _NAME.search(head), _FILE_NAME.search(head)
            if sent is not None:
                if file is None and (sent[1] or end > begin):
                    file = folder / file_name(sent[1])
                    _copy(text, begin, end, file)
                continue
            room -= end - begin
            if room < 0:
                raise InputError("the form is too long; send it from the page.")
            fields.setdefault(name[1] if name else "", []).append(text[begin:end].decode("utf-8", "replace"))
    return Upload(_fields(fields), file)


def _parts(text: mmap.mmap, boundary: bytes) -> Iterator[tuple[str, int, int]]:
    """The head of each part, and where its content begins and ends."""
    mark = b"--" + boundary
    at = text.find(mark)
    while at >= 0:
        begin = at + len(mark)
        if text[begin : begin + 2] == b"--":
            return
        head, end = text.find(b"\r\n\r\n", begin), text.find(b"\r\n" + mark, begin)
        if not begin <= head < end:
            break
        yield text[begin + 2 : head].decode("utf-8", "replace"), head + 4, end
        at = end + 2
    raise InputError("the form is damaged; send it again from the page.")


def _copy(text: mmap.mmap, begin: int, end: int, path: Path) -> None:
    with path.open("wb") as file:
        for at in range(begin, end, BLOCK):
            file.write(text[at : min(at + BLOCK, end)])
