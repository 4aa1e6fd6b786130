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


def test_a_refused_folder_opens_no_browser(command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Browser()
    use(monkeypatch, browser)
    assert command("open", "nowhere").code == 2 and browser.addresses == []
