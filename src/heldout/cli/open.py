"""``heldout open``: the report on a page of this machine, live while the run goes on; or a page for a file."""

from __future__ import annotations

import os
import shlex
import sys
import threading
import webbrowser
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from heldout.cli.console import Console, echo
from heldout.cli.runs import Interruption, stops_like_ctrl_c
from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.cli.server.reply import Site

EXIT_INTERRUPTED = 130
_ENDED = "The page is closed."


@click.command(name="open", short_help="Open the report of a run in the browser, live while the run goes on.")
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--port", type=int, default=0, help="The port; by default any that is free.")
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def command(folder: str | None, port: int, no_browser: bool) -> None:
    """Open the report of the run in DIR in the browser. While the run goes on, the page shows its progress, the
    race and the estimate so far, and keeps itself up to date; at the end it shows the report.

    DIR is what `heldout tune --out DIR` or another command writes to, or a run file. Nothing in it is changed, and
    an active run is not disturbed. Without DIR the page takes a file of predictions, and answers with its report
    as `heldout estimate FILE` does.

    The page is on 127.0.0.1 only, under an address with a secret part. It ends with the command, by Ctrl-C.
    """
    from heldout.cli.server.loopback import LoopbackServer

    if not 0 <= port <= 65535:
        raise InputError(f"--port must be from 0 to 65535, got {port}; leave it out to use any that is free.")
    console = Console()
    site, what = _site(folder)
    with stops_like_ctrl_c():
        server = LoopbackServer(site, port)
        try:
            server.start()
            console.say(f"{what}: {server.address} (Ctrl-C ends it)")
            if not no_browser:
                _show(server.address_for_once())
            server.wait()
        except KeyboardInterrupt:
            raise Interruption(_ENDED) from None
        finally:
            if not server.close():
                _end_at_once()


def _site(folder: str | None) -> tuple[Site, str]:
    """What is served, and its words."""
    from heldout.cli.files import is_run, path_named
    from heldout.cli.server.file_site import FileSite
    from heldout.cli.server.run_site import RunSite

    if folder is None:
        return FileSite(), "A page for a file of predictions"
    path = path_named(folder, "DIR")
    if path.name in ("report.json", "report.html") and path.is_file():
        raise InputError(
            f"{path} is a file of a run; name its folder: heldout open {shlex.quote(str(path.parent))}."
        )
    if path.is_file() and not is_run(path):
        raise InputError(
            f"{path} is a file and no run; `heldout open` without it opens a page on which it can be dropped, and "
            f"`heldout estimate {path} --out DIR` writes its report."
        )
    return RunSite(path), f"The run in {path}"


def _show(address: str) -> None:
    """Open the browser of the user's choice (``BROWSER``), or one with a window, not one inside the terminal."""
    with suppress(webbrowser.Error):
        browser = webbrowser.get()
        if os.environ.get("BROWSER") or type(browser) is not webbrowser.GenericBrowser:
            # Some return when they are closed.
            threading.Thread(target=browser.open, args=(address,), daemon=True).start()


def _end_at_once() -> None:
    """End although an estimate is being computed: compiled code cannot be stopped, and nothing would be lost.

    Python would end its thread in the middle of that code, and the process with a signal.
    """
    echo(f"\n{_ENDED}", err=True)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(EXIT_INTERRUPTED)
