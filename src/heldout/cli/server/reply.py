"""What a page's address answers with, and the policy that the browser must follow on it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Protocol

from heldout.cli.server.upload import Upload

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; "
)
OWN_POLICY = _POLICY + "script-src 'self'; connect-src 'self'"
"""Of the pages of this package, whose script is a file of this server: no text inside a page can run."""
REPORT_POLICY = _POLICY + "script-src 'unsafe-inline'"
"""Of a report, which is one file with all that it needs; it may narrow this by a policy of its own."""


@dataclass(frozen=True)
class Reply:
    """The answer to a request."""

    body: bytes
    content_type: str
    status: int = HTTPStatus.OK
    policy: str = OWN_POLICY
    location: str | None = None
    """Where the browser goes next, relative to the page."""


class Site(Protocol):
    """Pages by their addresses, which are names that the site knows and never paths of files."""

    @property
    def most_bytes(self) -> int:
        """The largest upload that it takes; 0 if it takes none."""
        ...

    def get(self, name: str) -> Reply | None:
        """The page of this name; None if there is none."""
        ...

    def post(self, name: str, upload: Upload) -> Reply | None:
        """The answer to a form; None if no form of this name exists."""
        ...


def page(html: str, *, status: int = HTTPStatus.OK, policy: str = OWN_POLICY) -> Reply:
    """A page of HTML."""
    return Reply(html.encode(), "text/html; charset=utf-8", status, policy)


def script(text: str) -> Reply:
    """The script of a page."""
    return Reply(text.encode(), "text/javascript; charset=utf-8")


def document(values: Mapping[str, Any]) -> Reply:
    """Values for a script."""
    return Reply(json.dumps(values, allow_nan=False).encode(), "application/json")


def sentence(text: str, status: int) -> Reply:
    """A refusal: one sentence."""
    return Reply(f"{text}\n".encode(), "text/plain; charset=utf-8", status)


def moved(location: str) -> Reply:
    """The browser opens another page, so that reloading it sends no form again."""
    return Reply(b"", "text/plain; charset=utf-8", HTTPStatus.SEE_OTHER, location=location)
