"""What the server answers, whom it refuses, and what it never does with a request."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from heldout.cli.server.loopback import HOST, SECONDS_TO_END, LoopbackServer
from heldout.cli.server.reply import Reply, moved, page
from heldout.cli.server.upload import Upload
from heldout.errors import InputError

pytestmark = pytest.mark.processes


@dataclass
class Notes:
    """Two pages, and what was sent."""

    most_bytes: int = 1000
    sent: list[Upload] = field(default_factory=list)

    def get(self, name: str) -> Reply | None:
        if name == "broken":
            raise ZeroDivisionError("by <zero>")
        if name == "refused":
            raise InputError("the sentence.")
        return {"": page("first"), "a b": page("second")}.get(name)

    def post(self, name: str, upload: Upload) -> Reply | None:
        self.sent.append(upload)
        return moved("./") if name == "" else None


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def client(serve: Callable[..., Any], notes: Notes) -> Any:
    return serve(notes)


def test_pages_and_their_headers(client: Any) -> None:
    first = client.get()
    assert (first.status, first.text) == (200, "first")
    policy = first.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; ") and policy.endswith("; script-src 'self'; connect-src 'self'")
    assert first.headers["x-content-type-options"] == "nosniff"
    assert first.headers["referrer-policy"] == "same-origin"
    assert first.headers["cache-control"] == "no-store"
    assert client.get("a%20b?x=1").text == "second"
    assert client.get(Host=f"localhost:{client.server.port}").status == 200
    without_slash = client.ask("GET", f"/{client.server.token}")
    assert (without_slash.status, without_slash.headers["location"]) == (303, f"/{client.server.token}/")


def test_without_the_token_nothing_is_answered(client: Any) -> None:
    token = client.server.token
    assert len(token) >= 32
    for target in ("/", "/x/", f"/{token[:-1]}/", f"/{token}x/", f"/x/{token}/", f"/?{token}", "/%C3%A9"):
        reply = client.ask("GET", target)
        assert reply.status == 403 and "the token" in reply.text, target
    assert client.ask("POST", "/", b"").status == 403
    assert client.ask("GET", "/favicon.ico").status == 204


def test_an_address_for_once_is_used_up(client: Any) -> None:
    once = client.server.address_for_once().split("/")[3]
    assert client.ask("GET", f"/{once}/", Host="example.org").status == 403
    led = client.ask("GET", f"/{once}/")
    assert (led.status, led.headers["location"]) == (303, f"/{client.server.token}/")
    assert client.ask("GET", f"/{once}/").status == client.ask("GET", "//").status == 403


@pytest.mark.parametrize("host", ["example.org", "example.org:80", "127.0.0.1", "127.0.0.1:1", "[::1]:80", ""])
def test_other_hosts_are_refused(client: Any, host: str) -> None:
    assert client.get(Host=host).status == 403
    assert client.get(Host=f"example.org:{client.server.port}").status == 403


def test_a_form_of_another_site_is_refused(client: Any, notes: Notes, tmp_path: Path) -> None:
    target = f"/{client.server.token}/"
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    for origin in ("http://example.org", "null", f"https://127.0.0.1:{client.server.port}"):
        assert client.ask("POST", target, b"a=b", Origin=origin, **form).status == 403
    assert not notes.sent
    assert client.ask("POST", target, b"a=b", Origin=f"http://127.0.0.1:{client.server.port}", **form).status == 303
    assert notes.sent == [Upload({"a": ("b",)})]


@pytest.mark.parametrize(
    "name",
    [
        "..",
        "../",
        "../../etc/passwd",
        "%2e%2e/%2e%2e/etc/passwd",
        "..%2f..%2fetc/passwd",
        "/etc/passwd",
        "a b/",
        "x",
    ],
)
def test_only_known_pages_exist(client: Any, name: str) -> None:
    reply = client.get(name.replace(" ", "%20"))
    assert (reply.status, reply.text) == (404, "There is no such page.\n")


@pytest.mark.parametrize("target", ["http://example.org/{}/", "http://[::1/", "*"])
def test_an_address_with_a_host_of_its_own_is_refused(
    client: Any, target: str, capfd: pytest.CaptureFixture[str]
) -> None:
    own = f"127.0.0.1:{client.server.port}"
    assert client.ask("GET", target.format(client.server.token), Host=own).status == 400
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"])
def test_other_methods_are_refused(client: Any, method: str) -> None:
    assert client.ask(method, f"/{client.server.token}/").status == 405


def test_what_is_too_large_or_has_no_length_is_refused(client: Any, notes: Notes) -> None:
    target = f"/{client.server.token}/"
    reply = client.ask("POST", target, bytes(1001), Content_Type="multipart/form-data; boundary=b")
    assert reply.status == 413
    assert reply.text.startswith("The file is too large: 1 kB were sent, and at most 1 kB are read here;")
    assert client.ask("POST", target).status == 411
    for length in ("-1", "x", "²", "1_0", "9" * 5000):
        assert client.ask("POST", target, b"", Content_Length=length.encode().decode("latin-1")).status == 411
    notes.most_bytes = 0
    assert client.ask("POST", target, b"a=b").status == 405
    assert not notes.sent


def test_a_form_that_cannot_be_read_gets_a_sentence(client: Any, notes: Notes) -> None:
    target = f"/{client.server.token}/"
    for kind, body, sentence in [
        ("text/plain", b"x", "a form was expected, got text/plain"),
        ("multipart/form-data", b"x", "a form was expected"),
        ("multipart/form-data; boundary=b", b"", "a form was expected"),
        ("multipart/form-data; boundary=b", b"x", "the form is damaged"),
        ("multipart/form-data; boundary=b", b"--b\r\nno head--b--", "the form is damaged"),
    ]:
        reply = client.ask("POST", target, body, Content_Type=kind)
        assert reply.status == 400 and reply.text.startswith(sentence), kind
    assert not notes.sent and not list(client.server.folder.iterdir())


def test_errors_are_sentences(client: Any) -> None:
    refused, broken = client.get("refused"), client.get("broken")
    assert (refused.status, refused.text) == (400, "the sentence.\n")
    assert broken.status == 500 and broken.headers["content-type"].startswith("text/plain")
    assert broken.text.startswith("heldout failed with ZeroDivisionError: by <zero>\nThis is a fault of heldout")


def test_a_reader_that_goes_away_is_not_reported(client: Any, capfd: pytest.CaptureFixture[str]) -> None:
    for begun in (b"", b"GET", b"GET / HTTP/1.1\r\nHost", b"\x16\x03\x01\r\n\r\n"):
        with socket.create_connection((HOST, client.server.port), timeout=5) as connection:
            connection.sendall(begun)
    assert client.get().status == 200
    assert capfd.readouterr() == ("", "")


def test_connections_that_ask_nothing_do_not_delay_the_end(notes: Notes) -> None:
    server = LoopbackServer(notes)
    server.start()
    idle = [socket.create_connection((HOST, server.port), timeout=5) for _ in range(3)]
    idle[1].sendall(b"GET / HT")
    while len(server._server.connections) < 3:
        time.sleep(0.01)
    began = time.monotonic()
    assert server.close() and time.monotonic() - began < SECONDS_TO_END
    for connection in idle:
        connection.close()


def test_it_listens_on_the_loopback_address_only(client: Any, notes: Notes) -> None:
    assert client.server.address == f"http://127.0.0.1:{client.server.port}/{client.server.token}/"
    with pytest.raises(InputError, match=rf"^--port {client.server.port} is in use by another program; choose"):
        LoopbackServer(notes, client.server.port)
    with socket.socket() as other:  # on all other addresses of this machine the port is still free
        other.bind(("127.0.0.2", client.server.port))
