"""Forms sent to the page of ``heldout open``: bodies with changed bytes, odd names of files, and odd options."""

from __future__ import annotations

import html
import io
import re
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pandas as pd
from bad_options import FIT, WORDS
from bad_values import TEXTS, Generator, damaged, pick, some
from oracle import Case, sentence_fault

from heldout.cli.server.fields import form_options
from heldout.cli.server.file_site import FileSite
from heldout.cli.server.reply import Reply
from heldout.cli.server.upload import read_upload
from heldout.errors import InputError

NAMES = (
    "p.csv",
    "p.parquet",
    "../../p.csv",
    "C:\\p.csv",
    ".",
    "..",
    "",
    "a" * 500,
    "é" * 200,
    'a"b',
    "\x1b.csv",
    "-x",
)


def make(rng: Generator, folder: Path) -> Case:
    """A file and the options chosen for it, or a body that no browser writes."""
    n = 24
    y = np.arange(n) % 2
    table = pd.DataFrame({"m1": rng.random(n), "m2": y + rng.random(n), "y": y, "fold": np.arange(n) % 4})
    body, name = _body(table.to_csv(index=False).encode(), pick(rng, NAMES)), ""
    if rng.random() < 0.6:
        body, name = damaged(rng, body)
    pairs = [(name, _value(rng, name)) for name in some(rng, [*form_options()], 0, 4)]
    options = urlencode([("target", "y"), *pairs] if rng.random() < 0.9 else pairs, errors="replace")
    site, sent = FileSite(), folder / "sent"
    sent.mkdir()

    def attempt() -> Reply:
        kind = "multipart/form-data; boundary=b"
        answer = site.post("", read_upload(io.BytesIO(body), len(body), kind, sent))
        assert answer is not None and answer.location is not None
        if answer.location != "./":
            form = options.encode()
            site.post(
                answer.location, read_upload(io.BytesIO(form), len(form), "application/x-www-form-urlencoded", sent)
            )
        page = site.get(answer.location.removeprefix("./"))
        assert page is not None and all(path.parent == sent for path in sent.rglob("*"))
        return page

    return Case(f"a form with {name or 'a file'}, then {options}", attempt, _fault, documented=(InputError,))


def _body(content: bytes, name: str) -> bytes:
    head = f'Content-Disposition: form-data; name="file"; filename="{name}"'.encode()
    return b"--b\r\n" + head + b"\r\n\r\n" + content + b"\r\n--b--\r\n"


def _value(rng: Generator, name: str) -> str:
    return str(pick(rng, FIT[name] if name in FIT and rng.random() < 0.6 else (*TEXTS, *WORDS)))


def _fault(page: Reply) -> str | None:
    text = page.body.decode()
    if not text.rstrip().endswith("</html>") or "\x1b" in text:
        return f"the page ends in {text[-80:]!r}"
    alert = re.search(r'role="alert">(.*?)</p>', text, re.DOTALL)
    return (sentence_fault(html.unescape(alert[1])) or None) if alert else None
