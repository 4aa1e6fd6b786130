"""A server for this machine and one reader: on the loopback address, with a token as a part of the address.

Who can open a page: a program on this machine that knows the token. A page of another site cannot reach it by a
name of its own that leads here (DNS rebinding), because the host that the browser names must be the loopback
address. Nothing of a request is ever used as a path of a file.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import socket
import socketserver
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from heldout._text import bytes_text
from heldout.cli.server.reply import Reply, Site, moved, sentence
from heldout.cli.server.upload import BLOCK, Upload, read_upload
from heldout.errors import HeldoutError, InputError

HOST = "127.0.0.1"
SECONDS_TO_SEND = 30
"""How long a connection may be silent."""
SECONDS_TO_END = 2.0
"""How long the end waits for requests that are being answered."""
_MOST_DRAINED = 2**30
_LENGTH = re.compile("[0-9]{1,18}")


class LoopbackServer:
    """Serves a site until it is closed, from a thread of its own.

    ``address`` is where, with the token; files that are sent are kept in a temporary folder until the end.

    Raises InputError when the port is not free.
    """

    def __init__(self, site: Site, port: int = 0) -> None:
        self._server = _bound(port)
        self.token = secrets.token_urlsafe(24)
        self.port = int(self._server.server_address[1])
        self.folder = Path(tempfile.mkdtemp(prefix="heldout-open-"))
        self._server.of_token, self._server.site, self._server.uploads = self.token, site, self.folder
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="heldout open")

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}/{self.token}/"

    def address_for_once(self) -> str:
        """An address that leads to the other one, once: other users can read the arguments of a browser."""
        self._server.once = secrets.token_urlsafe(24)
        return f"http://{HOST}:{self.port}/{self._server.once}/"

    def start(self) -> None:
        self._thread.start()

    def wait(self) -> None:
        """Return when the server was closed; a signal is handled within a second on every system."""
        while self._thread.is_alive():
            self._thread.join(1.0)

    def close(self) -> bool:
        """End the server and remove its files; whether no request is still being answered."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()
        self._server.end_idle()
        deadline = time.monotonic() + SECONDS_TO_END
        for thread in list(self._server.connections):
            thread.join(max(0.0, deadline - time.monotonic()))
        shutil.rmtree(self.folder, ignore_errors=True)
        return not self._server.connections


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # On Windows two programs could then listen at one port.
    allow_reuse_address = os.name == "posix"
    of_token: str
    site: Site
    uploads: Path
    once: str = ""
    """A token that leads to the other one and is then used up."""

    def __init__(self, port: int) -> None:
        self.connections: dict[threading.Thread, socket.socket] = {}
        self.at_work: set[threading.Thread] = set()
        """Those of the connections whose request is being answered."""
        super().__init__((HOST, port), _Handler)

    def server_bind(self) -> None:
        """Without looking up the name of the address, which can take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        self.connections[threading.current_thread()] = request
        try:
            super().process_request_thread(request, client_address)
        finally:
            del self.connections[threading.current_thread()]

    def end_idle(self) -> None:
        """End the connections on which nothing was asked: browsers keep some open for what may come."""
        for thread, connection in list(self.connections.items()):
            if thread not in self.at_work:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    @contextmanager
    def working(self) -> Iterator[None]:
        """This thread answers a request."""
        self.at_work.add(threading.current_thread())
        try:
            yield
        finally:
            self.at_work.discard(threading.current_thread())

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Silent when the browser closed the connection, or sent nothing for too long."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def _bound(port: int) -> _Server:
    try:
        return _Server(port)
    except OSError as error:
        why = {errno.EADDRINUSE: "is in use by another program", errno.EACCES: "needs the rights of the system"}
        said = why.get(error.errno or 0, f"cannot be used ({(error.strerror or str(error)).lower()})")
        raise InputError(
            f"--port {port} {said}; choose another one from 1024 to 65535, or leave the option out: any free port "
            "is then used."
        ) from None


def _are_equal(first: str, token: str) -> bool:
    """Compared in a time that does not depend on where they differ."""
    return secrets.compare_digest(first.encode(), token.encode())


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = SECONDS_TO_SEND

    def version_string(self) -> str:
        return "heldout"

    def do_GET(self) -> None:
        with self.server.working():
            self._answer(self._refusal() or self._got())

    def do_POST(self) -> None:
        with self.server.working():
            self._answer(self._refusal() or self._foreign_form() or self._posted())

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """A request that is no HTTP, or of another method."""
        only = " Only GET and POST are answered." if code == HTTPStatus.NOT_IMPLEMENTED else ""
        status = HTTPStatus.METHOD_NOT_ALLOWED if only else code
        self._answer(sentence(f"The request cannot be answered.{only}", status))

    def log_message(self, *arguments: Any) -> None:
        """Requests are not logged: the command prints one line."""

    def _refusal(self) -> Reply | None:
        """Why this request is not answered at all."""
        port = self.server.server_port
        if self.headers.get_all("Host", []) not in ([f"{HOST}:{port}"], [f"localhost:{port}"]):
            return sentence(f"Only http://{HOST}:{port} is answered.", HTTPStatus.FORBIDDEN)
        if not self.path.startswith("/"):  # an address with a host of its own, as of a proxy
            return sentence("The address is not that of a page here.", HTTPStatus.BAD_REQUEST)
        if self.path == "/favicon.ico":  # browsers ask without the token
            return Reply(b"", "image/x-icon", HTTPStatus.NO_CONTENT)
        first = "".join(urlsplit(self.path).path.split("/")[1:2])
        if self.server.once and _are_equal(first, self.server.once):
            self.server.once = ""
            return moved(f"/{self.server.of_token}/")
        if not _are_equal(first, self.server.of_token):
            return sentence(
                "The address lacks the token, or has another one; open the address that the command printed.",
                HTTPStatus.FORBIDDEN,
            )
        return None

    def _foreign_form(self) -> Reply | None:
        port = self.server.server_port
        if self.headers.get("Origin") in (None, f"http://{HOST}:{port}", f"http://localhost:{port}"):
            return None
        return sentence("A page of another site sent this form.", HTTPStatus.FORBIDDEN)

    @property
    def _name(self) -> str:
        """What the site knows the page by."""
        return unquote(urlsplit(self.path).path).partition(f"/{self.server.of_token}/")[2]

    def _got(self) -> Reply:
        if urlsplit(self.path).path == f"/{self.server.of_token}":  # links are relative to the folder
            return moved(f"/{self.server.of_token}/")
        return self._caught(lambda: self.server.site.get(self._name))

    def _posted(self) -> Reply:
        most, sent = self.server.site.most_bytes, self.headers.get("Content-Length", "")
        if not _LENGTH.fullmatch(sent):
            return sentence("The length of the form is not known.", HTTPStatus.LENGTH_REQUIRED)
        n_bytes = int(sent)
        if n_bytes > most:
            self._drain(n_bytes)
            return sentence(
                f"The file is too large: {bytes_text(n_bytes)} were sent, and at most {bytes_text(most)} are read "
                "here; use heldout estimate FILE."
                if most
                else "This page takes no form.",
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE if most else HTTPStatus.METHOD_NOT_ALLOWED,
            )

        def answer() -> Reply | None:
            folder = Path(tempfile.mkdtemp(dir=self.server.uploads))
            upload = Upload()
            try:
                upload = read_upload(self.rfile, n_bytes, self.headers.get("Content-Type", ""), folder)
            finally:
                if upload.file is None:
                    shutil.rmtree(folder, ignore_errors=True)
            return self.server.site.post(self._name, upload)

        return self._caught(answer)

    def _caught(self, answer: Any) -> Reply:
        """The answer, or the sentence of what went wrong."""
        try:
            found: Reply | None = answer()
        except HeldoutError as error:
            return sentence(str(error), HTTPStatus.BAD_REQUEST)
        except OSError as error:
            if isinstance(error, (ConnectionError, TimeoutError)):
                raise
            why = error.strerror or str(error)
            return sentence(f"A file could not be read or written: {why}.", HTTPStatus.INTERNAL_SERVER_ERROR)
        except MemoryError:
            return sentence("Out of memory; use a smaller file.", HTTPStatus.INTERNAL_SERVER_ERROR)
        except Exception as error:
            text = " ".join(str(error).split())
            return sentence(
                f"heldout failed with {type(error).__name__}: {text}\nThis is a fault of heldout, not of your "
                "input. Please report it to the project.",
                HTTPStatus.INTERNAL_SERVER_ERROR,
            )
        return sentence("There is no such page.", HTTPStatus.NOT_FOUND) if found is None else found

    def _drain(self, n_bytes: int) -> None:
        """Read what the browser sends all the same: it shows no answer before all is sent."""
        left = min(n_bytes, _MOST_DRAINED)
        with suppress(OSError):
            while left and (block := self.rfile.read(min(left, BLOCK))):
                left -= len(block)

    def _answer(self, reply: Reply) -> None:
        self.send_response(reply.status)
        headers = {
            "Content-Type": reply.content_type,
            "Content-Length": str(len(reply.body)),
            "Content-Security-Policy": reply.policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",  # links to sources must not carry the token
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
        }
        if reply.location is not None:
            headers["Location"] = reply.location
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)
