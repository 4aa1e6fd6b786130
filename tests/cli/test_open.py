"""``heldout open``: the address, the browser, refusals, and an end by Ctrl-C in a process of its own."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest
from forked import Forked

from heldout.cli.open import command as open_command

pytestmark = pytest.mark.processes
SECONDS = 60
SCRIPT = """
import os
import sys

os.environ["TMPDIR"] = sys.argv[1]
os.environ["BROWSER"] = sys.argv[2]
os.chdir(sys.argv[1])
from heldout.cli import main

main(["open", *sys.argv[3:]])
"""
BUSY = SCRIPT.replace(
    "main([",
    """
import time
from heldout.cli.server import file_site, loopback

loopback.SECONDS_TO_END = 0.2


def estimate(*arguments):
    open("begun", "w").close()
    time.sleep(60)


file_site.estimate_file = estimate
main([""",
)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., tuple[Forked, str]]]:
    """Start the command; returns its process and the address that it printed."""
    begun: list[Forked] = []

    def start(script: str, *arguments: str, browser: str = "") -> tuple[Forked, str]:
        process = Forked(script, tmp_path, browser, *arguments)
        begun.append(process)
        line = process.stdout.readline()
        assert line.endswith("(Ctrl-C ends it)\n"), line
        return process, next(word for word in line.split() if word.startswith("http://127.0.0.1:"))

    yield start
    for process in begun:
        if process.poll() is None:
            process.kill()
        process.wait()


def end(process: Forked, number: int) -> tuple[int | None, str, str]:
    process.send_signal(number)
    out, err = process.communicate(SECONDS)
    return process.returncode, out, err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_by_ctrl_c(opened: Callable[..., Any], tmp_path: Path, number: int) -> None:
    process, address = opened(SCRIPT, "--no-browser")
    with urlopen(address, timeout=SECONDS) as page:
        assert b"Drop a file of held-out predictions" in page.read()
    (folder,) = tmp_path.glob("heldout-open-*")
    assert folder.stat().st_mode & 0o077 == 0, "for its user alone"
    assert end(process, number) == (130, "", "\nThe page is closed.\n")
    assert not list(tmp_path.iterdir())
    with pytest.raises(URLError):
        urlopen(address, timeout=SECONDS)


def test_it_ends_in_the_middle_of_an_estimate(opened: Callable[..., Any], tmp_path: Path) -> None:
    process, address = opened(BUSY, "--no-browser")
    body = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na,b\n1,2\r\n--b--'
    form = Request(address, body, {"Content-Type": "multipart/form-data; boundary=b"})

    def send() -> None:
        with pytest.raises((URLError, OSError)):
            urlopen(form, timeout=SECONDS)

    sender = threading.Thread(target=send)
    sender.start()
    deadline = time.monotonic() + SECONDS
    while not (tmp_path / "begun").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    began = time.monotonic()
    assert end(process, signal.SIGINT) == (130, "", "\nThe page is closed.\n")
    assert time.monotonic() - began < 30, "long before the estimate"
    sender.join(SECONDS)
    assert [path.name for path in tmp_path.iterdir()] == ["begun"]


def test_the_browser_opens(opened: Callable[..., Any], tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\necho "$1" > shown.part && mv shown.part shown\n')
    browser.chmod(0o755)
    process, address = opened(SCRIPT, browser=f"{browser} %s")
    deadline = time.monotonic() + SECONDS
    while not (tmp_path / "shown").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    shown = (tmp_path / "shown").read_text().strip()
    with urlopen(shown, timeout=SECONDS) as page:
        assert page.url == address, "the argument of the browser leads there"
    with pytest.raises(HTTPError, match="403"):
        urlopen(shown, timeout=SECONDS)
    assert end(process, signal.SIGINT)[0] == 130


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nowhere",), "Error: there is no folder or run file nowhere; name what"),
        (("",), "Error: DIR is empty, got ''; name a folder"),
        ((".",), "Error: the folder . holds no run file (run.db); name the folder or the run file of a run."),
        (("a.csv",), "Error: a.csv is a file and no run; `heldout open` without it opens a page"),
        (("report.html",), "Error: report.html is a file of a run; name its folder: heldout open .."),
        (("--port", "70000"), "Error: --port must be from 0 to 65535, got 70000; leave it out"),
        (("--port", "-1"), "Error: --port must be from 0 to 65535, got -1; leave it out"),
    ],
)
def test_refusals(command: Callable[..., Any], tmp_path: Path, arguments: tuple[str, ...], sentence: str) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (tmp_path / "report.html").touch()
    ended = command("open", "--no-browser", *arguments)
    assert (ended.code, ended.out) == (2, "") and ended.err.startswith(sentence)


@pytest.mark.pages
def test_its_page_of_documentation_has_every_option() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guide" / "open.md").read_text(encoding="utf-8")
    assert [each for option in open_command.params for each in option.opts if each.startswith("-")] == [
        "--port",
        "--no-browser",
    ]
    assert "--port" in page and "--no-browser" in page and os.fspath("heldout open") in page
