"""What every ``heldout study`` does: say the plan, do it with progress, leave the files, print the tables.

A study says what is its own by a ``PreparedStudy``; the rest is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from heldout.cli.console import Console
from heldout.cli.options import command_line, options_by_argument, parameters
from heldout.cli.runs import Interruption, run_context
from heldout_papers.cli.options import StudyFolder, StudyOption, StudyOptions, study_folder

if TYPE_CHECKING:
    from pathlib import Path

    from heldout.cli.files import OutputFolder
    from heldout_papers.engine.batches import StudyJob
    from heldout_papers.engine.page import StudyPage
    from heldout_papers.engine.results import StudyResult


@dataclass(frozen=True)
class PreparedStudy:
    """A checked study, before it runs."""

    plan: str  # The work, in a line
    job: StudyJob[Any, Any]
    page: Callable[..., StudyPage]  # ``page(result, command=typed)``: the content of the report


Prepare = Callable[[StudyOptions], PreparedStudy]


def study_command(
    name: str,
    summary: str,
    text: str,
    options: Sequence[StudyOption],
    prepare: Prepare,
    *,
    has_tables: bool = False,
    n_jobs: int | None = None,
) -> click.Command:
    """``heldout study NAME``: its own options, then those of every study.

    ``summary, text``: the help in a line, and whole; ``prepare``: checks what the user typed; ``has_tables``:
    whether the argument of the command is a folder of tables; ``n_jobs``: in place of the usual number of
    processes.
    """

    @click.pass_context
    def callback(ctx: click.Context, /, **values: Any) -> None:
        typed = {one.name: values.pop(one.name) for one in options}
        if n_jobs is not None and ctx.get_parameter_source("n_jobs") is not ParameterSource.COMMANDLINE:
            values["n_jobs"] = n_jobs
        run_study(ctx, StudyOptions(**values, own=options, typed=typed), prepare)

    folder = [click.Argument(["folder"], metavar="FOLDER")] if has_tables else []
    params = [*folder, *(one.parameter() for one in options), *parameters(StudyOptions)]
    return click.Command(name, callback=callback, help=text, short_help=summary, params=params)


def run_study(ctx: click.Context, wanted: StudyOptions, prepare: Prepare) -> None:
    """Run a study and leave its files."""
    console = Console(wanted.as_json, wanted.quiet, options_by_argument(ctx.command))
    again = command_line(ctx)
    with run_context(console):
        wanted.check()
        prepared = prepare(wanted)
        for name, reason in prepared.job.left_out.items():
            console.note(f"{name} is left out: {reason}.")
        folder = study_folder(wanted.out, wanted.resume, console)
        try:
            console.say(prepared.plan)
            result = _done(wanted, prepared, folder, console)
            page = prepared.page(result, command=again)
            document = _document(result, page)
            files = _leave(result, page, document, folder)
        except KeyboardInterrupt:
            raise Interruption(folder.how_to_go_on(again, wanted.resume)) from None
    console.lines(_lines(page, files))
    console.document(document | {"files": files})
    console.check_all_was_printed(f"the files are in {folder.out.path}")


def _done(wanted: StudyOptions, prepared: PreparedStudy, folder: StudyFolder, console: Console) -> StudyResult:
    from heldout.cli.options import LOCAL
    from heldout.cli.runs import fitting_with
    from heldout_papers.cli.progress import StudyProgress

    if wanted.resume and not folder.n_kept:
        console.note(f"{folder.out.path} holds no study yet, so there is nothing to resume; a new one begins.")
    with fitting_with(LOCAL, wanted.n_jobs):
        told = None if wanted.quiet else StudyProgress()
        result: StudyResult = replace(prepared.job, n_jobs=wanted.n_jobs, folder=folder.batches, told=told).run()
        return result


def _leave(result: StudyResult, page: StudyPage, document: dict[str, Any], folder: StudyFolder) -> dict[str, str]:
    """Write the files; the report last, so that its being there says that all is there."""
    from heldout_papers.engine.page import write_study

    out, name = folder.out, result.name
    each, table = result.to_frame(each=True), result.to_frame()
    small = {key: _leave_parquet(frame, key, out) for key, frame in result.small_frames().items()}
    files = {
        "each": _leave_parquet(each, name, out),
        "table": out.write(f"{name}.csv", lambda path: table.to_csv(path, index=False)),
        **small,
        "study": out.write_json("study.json", document),
        "report": out.write("report.html", lambda path: write_study(page, path)),
    }
    return {name: str(path) for name, path in files.items()}


def _leave_parquet(frame: Any, name: str, out: OutputFolder) -> Path:
    return out.write(f"{name}.parquet", lambda path: frame.to_parquet(path, index=False))


def _document(result: StudyResult, page: StudyPage) -> dict[str, Any]:
    from heldout._record import json_safe
    from heldout._version import __version__

    return {
        "study": result.name,
        "heldout": __version__,
        "command": page.command,
        "seed": result.entropy,
        **json_safe(result.parameters()),
        "claims_sentence": page.claims_sentence,
        "claims": [asdict(claim) for claim in page.claims],
        "rows": json_safe(result.rows()),
    }


def _lines(page: StudyPage, files: dict[str, str]) -> list[str]:
    """The tables of the report, what became of the claims, and where the files are."""
    lines = []
    for table in page.tables:
        cells = [table.head, *table.rows]
        widths = [max(len(row[n]) for row in cells) for n in range(len(table.head))]
        lines += ["", table.title, ""]
        lines += [
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in cells
        ]
    lines += ["", page.claims_sentence]
    lines += [f"- {claim.text} {claim.difference} Ours: {claim.ours}." for claim in page.claims]
    return [*lines, "", *files.values()]
