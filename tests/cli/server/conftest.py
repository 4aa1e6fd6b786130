"""A server on the loopback address, and requests to it that end within seconds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import pytest

from heldout.cli.server.loopback import HOST, LoopbackServer
from heldout.cli.server.reply import Site

SECONDS = 60
BOUNDARY = "a boundary"


@dataclass(frozen=True)
class Reply:
    """An answer as a browser gets it."""

    status: int
    text: str
    headers: dict[str, str]


@dataclass(frozen=True)
class Client:
    """Asks a server."""

    server: LoopbackServer

    def ask(self, method: str, target: str, body: bytes | None = None, **headers: str) -> Reply:
        """The answer to a request; ``target`` as it stands in the first line, and underscores are hyphens."""
        connection = HTTPConnection(HOST, self.server.port, timeout=SECONDS)
        try:
            connection.putrequest(method, target, skip_host="Host" in headers, skip_accept_encoding=True)
            if body is not None and "Content_Length" not in headers:
                headers["Content_Length"] = str(len(body))
            for name, value in headers.items():
                connection.putheader(name.replace("_", "-"), value)
            connection.endheaders(body)
            got = connection.getresponse()
            return Reply(got.status, got.read().decode(), {name.lower(): text for name, text in got.getheaders()})
        finally:
            connection.close()

    def get(self, name: str = "", **headers: str) -> Reply:
        """A page by its name."""
        return self.ask("GET", f"/{self.server.token}/{name}", **headers)

    def send(self, path: Path | None, name: str = "", *, called: str | None = None, **fields: str) -> Reply:
        """The answer to a form with a file, followed to the page that it leads to."""
        reply = self.ask(
            "POST",
            f"/{self.server.token}/{name}",
            form_of(path, called, fields),
            Content_Type=f'multipart/form-data; boundary="{BOUNDARY}"',
        )
        return self.get(reply.headers["location"].removeprefix("./")) if reply.status == 303 else reply

    def choose(self, name: str, form: str) -> Reply:
        """The answer to the form of options, followed to the page that it leads to."""
        kind = "application/x-www-form-urlencoded"
        reply = self.ask("POST", f"/{self.server.token}/{name}", form.encode(), Content_Type=kind)
        return self.get(reply.headers["location"].removeprefix("./")) if reply.status == 303 else reply


def form_of(path: Path | None, called: str | None, fields: dict[str, str]) -> bytes:
    """The body of a form as browsers write it."""
    parts = [f'Content-Disposition: form-data; name="{name}"\r\n\r\n{text}' for name, text in fields.items()]
    body = [part.encode() for part in parts]
    if path is not None:
        head = f'Content-Disposition: form-data; name="file"; filename="{called or path.name}"\r\nContent-Type: x/y'
        body.append(head.encode() + b"\r\n\r\n" + path.read_bytes())
    mark = f"--{BOUNDARY}".encode()
    return b"".join(mark + b"\r\n" + part + b"\r\n" for part in body) + mark + b"--\r\n"


@pytest.fixture
def serve() -> Iterator[Callable[[Site], Client]]:
    """Serve a site until the test ends, and leave neither a thread nor a file."""
    before = set(threading.enumerate())
    with ExitStack() as stack:

        def start(site: Site) -> Client:
            server = LoopbackServer(site)
            server.start()
            stack.callback(check_closed, server)
            return Client(server)

        yield start
    assert set(threading.enumerate()) <= before


def check_closed(server: LoopbackServer) -> None:
    assert server.close(), "a request was still being answered"
    assert not server.folder.exists()
