"""Forms: fields and files as browsers send them, and names that are no paths."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.cli.server.upload import Upload, file_name, read_upload
from heldout.errors import InputError


def body(*parts: tuple[str, bytes]) -> bytes:
    return (
        b"".join(b"--b\r\n" + head.encode() + b"\r\n\r\n" + content + b"\r\n" for head, content in parts) + b"--b--"
    )


def read(text: bytes, folder: Path, n_bytes: int | None = None) -> Upload:
    n = len(text) if n_bytes is None else n_bytes
    return read_upload(io.BytesIO(text), n, "multipart/form-data; boundary=b", folder)


def test_a_file_and_fields(tmp_path: Path) -> None:
    content = b"a,b\r\n1,2\r\n--x\r\n\x00\xff\r\n--"
    found = read(
        body(
            ('Content-Disposition: form-data; name="target"', "größe".encode()),
            (
                'content-disposition: form-data; name="file"; filename="C:\\data\\été.csv"\r\nContent-Type: a/b',
                content,
            ),
            ('Content-Disposition: form-data; name="exclude"', b"x"),
            ('Content-Disposition: form-data; name="exclude"', b"y"),
            ('Content-Disposition: form-data; name="fold"', b""),
        ),
        tmp_path,
    )
    assert found.fields == {"target": ("größe",), "exclude": ("x", "y")}
    assert found.file == tmp_path / "été.csv" and found.file.read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["été.csv"], "the body is gone"


@pytest.mark.parametrize("name", ["body", "BODY", "file"])
def test_no_name_of_a_file_is_that_of_the_body(tmp_path: Path, name: str) -> None:
    content = bytes(range(256)) * 999
    found = read(body((f'Content-Disposition: form-data; name="file"; filename="{name}"', content)), tmp_path)
    assert found.file == tmp_path / name and found.file.read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_too_many_fields(tmp_path: Path) -> None:
    text = b"&".join([b"a=1"] * 1001)
    with pytest.raises(InputError, match=r"^the form has more than 1000 fields"):
        read_upload(io.BytesIO(text), len(text), "application/x-www-form-urlencoded", tmp_path)


def test_no_file_was_chosen(tmp_path: Path) -> None:
    found = read(body(('Content-Disposition: form-data; name="file"; filename=""', b"")), tmp_path)
    assert found == Upload({}, None)


def test_an_upload_that_ends_early(tmp_path: Path) -> None:
    whole = body(('Content-Disposition: form-data; name="file"; filename="a"', b"1"))
    with pytest.raises(InputError, match=r"^the upload ended early"):
        read(whole, tmp_path, len(whole) + 1)
    with pytest.raises(InputError, match=r"^the form is damaged"):
        read(whole[:-8], tmp_path)
    assert not list(tmp_path.iterdir())


@given(st.text(max_size=400))
def test_a_name_is_never_a_path(sent: str) -> None:
    name = file_name(sent)
    assert name == Path(name).name and name not in ("", ".", "..") and not name.startswith(("-", "."))
    assert len(name.encode()) <= 255 and name.isprintable()
