"""``heldout status``: the progress of a run, whether its process lives or not; ``--watch`` follows it."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from heldout._text import bytes_text, counted
from heldout.cli.console import Console, Row
from heldout.cli.files import OutputFolder, path_named, run_file_in
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from heldout.execution.store.file_status import FileStatus, RunStatus

MOST_LISTED = 5
SECONDS_BETWEEN = 2.0
"""With --watch."""
_TIMES_AS_LONG = 4.0
"""A look takes at most a fifth of the time, however many fits there are to count."""
_GOES_ON = ("running", "empty", "unknown")


@click.command(name="status", short_help="Show the progress of a run, running or dead.")
@click.argument("folder", metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else to stdout.")
@click.option("--watch", is_flag=True, help="Look again every two seconds until the run ends, or Ctrl-C.")
def command(folder: str, as_json: bool, watch: bool) -> None:
    """Show the progress of the run in DIR: whether its process lives, which fits are done, saved and left, the
    current best and the dropped configurations, and errors.

    DIR is what `heldout tune --out DIR` or `heldout validate --out DIR` writes to, or a run file. Nothing in it is
    changed, and an active run is not disturbed.
    """
    from heldout.execution.store.file_status import file_status

    if watch and as_json:
        raise InputError("--watch prints for people, and --json one document; leave one of them out.")
    console = Console(as_json)
    path = run_file_in(path_named(folder, "DIR"))
    if watch:
        _follow(path, console)
    else:
        _show(file_status(path), _samplers(path), console)
    console.check_all_was_printed()


def _samplers(path: Path) -> FileStatus | None:
    """The searches without a fold beside a search with Optuna, which run after it; None where there are none."""
    from heldout.execution.store.file_status import file_status

    folder = OutputFolder(path.parent)
    has_any = path.name == folder.run_file.name and folder.samplers_file.exists()
    return file_status(folder.samplers_file) if has_any else None


def _show(status: FileStatus, samplers: FileStatus | None, console: Console) -> None:
    rows = file_rows(status)
    if samplers is not None:
        done = counted(sum(run.n_done for run in samplers.runs), "fit")
        searches = f"{len(samplers.runs)} of its searches without a fold"
        rows.append(("estimate", f"{done} of {searches} so far ({_state(samplers)})"))
    console.table(rows)
    for run in status.runs:
        console.lines([""])
        console.table(run_rows(run, is_one_of_several=len(status.runs) > 1))
    console.document(document_of(status))


def _follow(path: Path, console: Console) -> None:
    """Show the status whenever it has changed, on a terminal in place of the last one, until no process writes."""
    from heldout.cli.runs import Interruption, stops_like_ctrl_c
    from heldout.execution.store.file_status import file_status

    last = None
    try:
        with stops_like_ctrl_c():
            while console.has_reader:
                began = time.perf_counter()
                status, samplers = file_status(path), _samplers(path)
                of_samplers = None if samplers is None else (samplers.state, samplers.runs)
                if (status.state, status.runs, of_samplers) != last:
                    if sys.stdout.isatty():
                        click.clear()
                    elif last is not None:
                        console.lines([""])
                    _show(status, samplers, console)
                    last = status.state, status.runs, of_samplers
                if not {each.state for each in (status, samplers) if each is not None}.intersection(_GOES_ON):
                    return
                time.sleep(max(SECONDS_BETWEEN, _TIMES_AS_LONG * (time.perf_counter() - began)))
    except KeyboardInterrupt:
        raise Interruption("No longer watched; the run goes on.") from None


def file_rows(status: FileStatus) -> list[Row]:
    """Labels and texts about the file."""
    return [("file", f"{status.path} ({bytes_text(status.n_bytes)})"), ("state", _state(status))]


def _state(status: FileStatus) -> str:
    left = sum(run.n_left or 0 for run in status.runs)
    go_on = f"{counted(left, 'fit')} left; the same command with --resume continues"
    match status.state.value:
        case "running":
            return f"running: {status.owner or 'a process that has not written its name yet'}"
        case "dead":
            return f"dead: {status.owner} ended without closing it; what was acknowledged is safe, {go_on}"
        case "interrupted":
            return f"interrupted: {go_on}"
        case "finished":
            return "finished"
        case "empty":
            return "nothing was started yet"
        case _:
            return f"not closed by {status.owner}; a read-only folder does not show whether that process lives"


def run_rows(run: RunStatus, *, is_one_of_several: bool = False) -> list[Row]:
    """Labels and texts about a run."""
    from heldout.execution.listeners.words import best_words, duration, shared_line, work_words

    data = [] if run.n_rows is None else [counted(run.n_rows, "row")]
    if run.is_validation:
        data.append(f"{counted(run.n_configurations, 'model')} on all rows and on bootstrap samples")
    else:
        splits = "" if run.n_splits is None else f" x {counted(run.n_splits, 'split')}"
        data.append(f"{counted(run.n_configurations, 'configuration')}{splits}")
    rows: list[Row] = [("run", f"{run.number}, begun {run.created}")] if is_one_of_several else []
    rows += [("data", ", ".join(data)), ("fits", _fits(run))]
    if not run.is_validation:  # a validation scores its models when all are fitted
        rows.append(("best so far", best_words(run.best, run.title or "score") or "none yet"))
    if run.barriers:
        rows.append(("dropped", _dropped(run)))
    if run.messages:
        rows.append(("errors", _messages(run)))
    if shared := run.shared_fits:
        rows.append(("shared", shared_line(run.n_shared, run.n_done, shared)))
    rows.append(("all fits", work_words(run.seconds)))
    if run.n_left and run.cells_per_second and run.seconds_left:
        most = "at most " if run.barriers else ""
        rate = f"{run.cells_per_second:.3g} fits a second; {most}about {duration(run.seconds_left)} for the rest"
        rows.append(("rate", rate))
    if run.acknowledged:
        rows.append(("last kept", run.acknowledged))
    return rows


def _fits(run: RunStatus) -> str:
    if run.n_cells is None:
        words = f"{run.n_done} done"
    else:
        words = f"{run.n_done} of {run.n_cells} done ({_share(run.n_done, run.n_cells)})"
    words += f", {run.n_failed} failed" if run.n_failed else ""
    words += f", {run.n_saved} saved" if run.n_saved else ""
    return words if run.n_left is None else f"{words}, {run.n_left} left"


def _share(part: int, whole: int) -> str:
    # Rounded down: 100% means that all is done.
    return f"{100 * part // whole}%" if whole else "100%"


def _dropped(run: RunStatus) -> list[str]:
    n_races = len({barrier["race"] for barrier in run.barriers})
    lines: list[str] = []
    for barrier in run.barriers:
        if barrier["left"] or barrier["stopped"]:
            lines += _barrier(barrier, f"race {barrier['race'] + 1}, " if n_races > 1 else "")
    return lines or [f"none at {len(run.barriers)} barriers" if len(run.barriers) > 1 else "none at 1 barrier"]


def _barrier(barrier: Mapping[str, Any], race: str) -> list[str]:
    left, risk = barrier["left"], barrier["risk"]
    splits, rows = counted(barrier["n_splits"], "split"), counted(barrier["n_rows"], "row")
    risk = f"; the best was among them with probability {risk:.2g}" if risk and left else ""
    stop = ", and no more splits are needed" if barrier["stopped"] else ""
    lines = [
        f"{race}after {barrier['after']} of {splits} ({rows}): {len(left)} of {barrier['n_before']}{stop}{risk}"
    ]
    lines += [f"  {each['name']}: {each['reason']}" for each in left[:MOST_LISTED]]
    return lines + _more(len(left))


def _messages(run: RunStatus) -> list[str]:
    listed = list(run.messages.items())[:MOST_LISTED]
    lines = [f"{times} x {' '.join(message.split())}" for message, times in listed]
    return lines + _more(len(run.messages))


def _more(n: int) -> list[str]:
    return [f"  and {n - MOST_LISTED} more (--json lists all)"] if n > MOST_LISTED else []


def document_of(status: FileStatus) -> dict[str, Any]:
    """The whole status as JSON."""
    from heldout._record import json_safe

    runs = [{**vars(run), "n_left": run.n_left} for run in status.runs]
    document: dict[str, Any] = json_safe({**vars(status), "state": status.state.value, "runs": runs})
    return document
