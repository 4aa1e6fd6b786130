"""``heldout report``: draw the report of a finished run again, from the report.json in its folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from heldout.cli.console import Console
from heldout.cli.files import OutputFolder, path_named
from heldout.errors import InputError, MissingExtraError, text_of

if TYPE_CHECKING:
    from heldout.report.entries import Facts

MOST_BYTES = 2**29


@click.command(name="report", short_help="Draw the report of a finished run again.")
@click.argument("folder", metavar="DIR")
@click.option("--to", "destination", metavar="FILE", help="The file to write; by default DIR/report.html.")
def command(folder: str, destination: str | None) -> None:
    """Draw report.html again from DIR/report.json, the plain data that `heldout tune`, `heldout compare`,
    `heldout validate` or `heldout estimate --out` wrote beside it.

    Nothing is fitted or computed again, so a newer heldout can give an old run a newer page. Of a search that is
    unfinished, interrupted or running, the page is drawn from the folds in DIR/run.db that are complete for all
    remaining configurations, and says so.
    """
    from heldout.report.render import written as write_page

    source = path_named(folder, "DIR") / "report.json"
    target = source.with_name("report.html") if destination is None else path_named(destination, "--to")
    if target.is_dir():
        raise InputError(f"--to {target} is a folder; name a file, such as {target / 'report.html'}.")
    console = Console()
    if _is_unfinished(source):
        content = content_so_far(source.with_name("run.db"), console, f"heldout report {source.parent}")
    else:
        content = read_content(source)
    page = page_of(source, content)
    output = OutputFolder(target.parent)
    output.check_writable()
    written = output.write(target.name, lambda partial: write_page(page, partial, "the report"))
    console.say(str(written))
    console.check_all_was_printed(f"the report is {written}")


def _is_unfinished(source: Path) -> bool:
    """Whether a folder holds a run and no content of a report."""
    return not source.exists() and (source.parent / "run.db").exists()


def content_so_far(run_file: Path, console: Console, command: str) -> Facts:
    """The content from what is complete in a run file.

    Raises StoreError as ``search_so_far``.
    """
    from heldout.evaluate import evaluation_so_far
    from heldout.execution.store.unfinished_search import search_so_far
    from heldout.flags import Flag
    from heldout.report import facts

    stored = search_so_far(run_file)
    with console.noting_warnings():
        evaluation = evaluation_so_far(stored)
    if Flag.UNFINISHED_SEARCH in stored.flags:
        console.note(stored.flags[Flag.UNFINISHED_SEARCH])
    return facts(evaluation, command=command)


def read_content(path: Path) -> Facts:
    """The content that ``heldout tune``, ``heldout validate`` or ``heldout estimate --out`` saved."""
    from heldout.data.declared import UNREADABLE
    from heldout.report.entries import facts_of_json

    remedy = "give the folder that heldout tune, compare, validate, or estimate --out, wrote its files to"
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent}; {remedy}.")
    if not path.exists():
        raise InputError(f"{path.parent} holds no {path.name}: {remedy}.")
    try:
        _check_file(path)
        return facts_of_json(path.read_text(encoding="utf-8"))
    except UNREADABLE as error:
        raise InputError(_unlike_any(path, error)) from None


def _check_file(path: Path) -> None:
    """Refuse a pipe, which would be read for ever, and a file that is larger than any report."""
    from heldout.execution.store.opening import what_it_is

    if (found := what_it_is(path)) != "a file":
        raise ValueError(f"it is {found}")
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"it has {path.stat().st_size / 2**20:,.0f} MiB, and no report has {MOST_BYTES >> 20}")


def page_of(path: Path, content: Facts) -> str:
    from heldout.data.declared import UNREADABLE
    from heldout.report.render import render_html

    try:
        from jinja2 import TemplateError
    except ImportError:
        raise MissingExtraError("The report", "app") from None
    try:
        return render_html(content)
    except (*UNREADABLE, TemplateError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(_unlike_any(path, error)) from None


def _unlike_any(path: Path, error: Exception) -> str:
    """The sentence for a file that is not the content of a report."""
    why = text_of(error) or type(error).__name__
    return (
        f"{path} is damaged or of another version of heldout ({why}); run the same heldout estimate again, or "
        "heldout tune or validate with --resume, to write it anew."
    )
