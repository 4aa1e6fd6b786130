"""``heldout open``: the report of a folder goes to the browser; a folder without one is refused."""

import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


class Browser:
    """Remembers what it is asked to show."""

    def __init__(self, *, works: bool = True) -> None:
        self.works, self.addresses = works, list[str]()

    def open(self, address: str) -> bool:
        self.addresses.append(address)
        return self.works


def use(monkeypatch: pytest.MonkeyPatch, browser: Any) -> None:
    monkeypatch.delenv("BROWSER", raising=False)

    def chosen() -> Any:
        if browser is None:
            raise webbrowser.Error("could not locate runnable browser")
        return browser

    monkeypatch.setattr(webbrowser, "get", chosen)


def finished(folder: Path) -> Path:
    folder.mkdir()
    (folder / "report.html").write_text("<title>a report</title>", encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", ["out", "a folder é #1"])
def test_the_report_is_opened_and_its_path_printed(
    command: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    page = finished(tmp_path / name) / "report.html"
    browser = Browser()
    use(monkeypatch, browser)
    ended = command("open", name)
    assert (ended.code, ended.out, ended.err) == (0, f"{name}/report.html\n", "")
    assert browser.addresses == [page.as_uri()]
    assert sorted(path.name for path in page.parent.iterdir()) == ["report.html"]


@pytest.mark.parametrize(
    "browser",
    [None, Browser(works=False), webbrowser.GenericBrowser("w3m %s")],
    ids=["none", "one that fails", "one inside the terminal"],
)
def test_without_a_browser_the_path_is_printed(
    command: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, browser: Any
) -> None:
    finished(tmp_path / "out")
    use(monkeypatch, browser)
    ended = command("open", "out")
    assert (ended.code, ended.out) == (0, "out/report.html\n")
    assert ended.err == "Note: No browser with a window was found here; open the file yourself.\n"


def test_the_browser_of_the_environment_is_started(
    command: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = finished(tmp_path / "out") / "report.html"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{tmp_path}/shown"\n', encoding="utf-8")
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    monkeypatch.setattr(webbrowser, "_tryorder", None)
    assert command("open", "out").err == ""
    assert (tmp_path / "shown").read_text(encoding="utf-8").strip() == page.as_uri()


@pytest.mark.parametrize(
    ("folder", "sentence"),
    [
        ("nowhere", "Error: there is no folder nowhere; name what `heldout tune --out DIR` wrote to."),
        ("", "Error: DIR is empty, got ''; name a folder, or . for the one you are in."),
        (
            "empty",
            "Error: empty holds no report.html; heldout tune, compare, validate or estimate with --out empty",
        ),
        ("a run", "Error: a run holds no report.html; heldout report 'a run' draws it."),
        ("saved", "Error: saved holds no report.html; heldout report saved draws it."),
        ("a run/run.db", "Error: a run/run.db is a file; name its folder: heldout open 'a run'."),
        ("out/report.html", "Error: out/report.html is a file; name its folder: heldout open out."),
    ],
)
def test_refusals(
    command: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, sentence: str
) -> None:
    browser = Browser()
    use(monkeypatch, browser)
    finished(tmp_path / "out")
    for name, file in (("empty", None), ("a run", "run.db"), ("saved", "report.json")):
        (tmp_path / name).mkdir()
        if file is not None:
            (tmp_path / name / file).touch()
    ended = command("open", folder)
    assert (ended.code, ended.out) == (2, "") and ended.err.startswith(sentence)
    assert browser.addresses == []


@pytest.mark.parametrize("arguments", [(), ("--port", "0", "out"), ("out", "--no-browser")])
def test_nothing_is_served_any_more(command: Callable[..., Any], arguments: tuple[str, ...]) -> None:
    ended = command("open", *arguments)
    assert (ended.code, ended.out) == (2, "")
