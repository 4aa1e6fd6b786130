"""``heldout open``: the report of a run in the browser."""

import os
import shlex
import webbrowser
from pathlib import Path

import click

from heldout.cli.console import Console
from heldout.cli.files import path_named
from heldout.errors import InputError


@click.command(name="open", short_help="Open the report of a run in the browser.")
@click.argument("folder", metavar="DIR")
def command(folder: str) -> None:
    """Open DIR/report.html, the report of a finished run, in the browser, and print its path.

    DIR is what `heldout tune --out DIR` or another command wrote to. The page is a file that needs no network: it
    may also be opened by hand, or copied to another machine. `heldout status DIR --watch` follows a run, and
    `heldout report DIR` draws the page of an unfinished one.
    """
    console = Console()
    page = _report_in(path_named(folder, "DIR"))
    console.say(str(page))
    if not _is_shown(page.resolve().as_uri()):
        console.note("No browser with a window was found here; open the file yourself.")
    console.check_all_was_printed(f"the report is {page}")


def _report_in(folder: Path) -> Path:
    """The report of a folder; a refusal names the command that makes one."""
    if folder.is_file():
        raise InputError(f"{folder} is a file; name its folder: heldout open {shlex.quote(str(folder.parent))}.")
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}; name what `heldout tune --out DIR` wrote to.")
    page = folder / "report.html"
    if page.is_file():
        return page
    quoted = shlex.quote(str(folder))
    if any((folder / name).exists() for name in ("report.json", "run.db")):
        raise InputError(f"{folder} holds no report.html; heldout report {quoted} draws it.")
    commands = "heldout tune, compare, validate or estimate"
    raise InputError(f"{folder} holds no report.html; {commands} with --out {quoted} writes one.")


def _is_shown(address: str) -> bool:
    """Open the browser of the user's choice (``BROWSER``), or one with a window, not one inside the terminal."""
    try:
        browser = webbrowser.get()
        if not os.environ.get("BROWSER") and type(browser) is webbrowser.GenericBrowser:
            return False
        return browser.open(address)
    except (webbrowser.Error, OSError):
        return False
