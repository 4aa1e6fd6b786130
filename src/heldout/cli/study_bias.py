"""``heldout study bias``: how biased each protocol's estimate is, where the truth is known."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from heldout.cli.command_line import command_line
from heldout.cli.console import Console
from heldout.cli.group import Interrupted, stops_like_ctrl_c
from heldout.cli.option_words import in_words_of_options
from heldout.cli.study_options import StudyFolder, StudyOptions, study_folder, study_options, whole_numbers
from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.studies.base import Study
    from heldout.studies.bias import BiasSetting, BiasStudy
    from heldout.studies.page import StudyPage

QUICK_BETA, QUICK_REPETITIONS, QUICK_BOOTSTRAPS = ((9.0, 6.0),), 30, 200
WORDS = (
    (r"^n_bootstraps must be whole numbers", "--bootstraps must be a whole number"),
    (r"^(repetitions|folds) must be whole numbers", r"--\1 must be a whole number"),
    (r"^(rows|configurations|protocols) must", r"--\1 must"),
    (r"^folds must", "--folds must"),
    (r"\bfolds=(\d+) and rows=(\d+)", r"--folds \1 and --rows \2"),
    (
        r"^beta must be pairs of numbers above 0, such as \[\(9, 6\)\], got .*",
        "--beta must be two numbers above 0.",
    ),
)


@dataclass(frozen=True, kw_only=True)
class BiasOptions(StudyOptions):
    """What the user asked for; the fields are the options."""

    rows: str | None
    configurations: str | None
    beta: tuple[str, ...]
    folds: int
    repetitions: int | None
    bootstraps: int | None
    protocols: str | None

    def asked(self) -> dict[str, Any]:
        """The arguments of ``heldout.studies.bias`` that say what is studied.

        Raises
        ------
        InputError
        """
        given: dict[str, Any] = {
            "rows": whole_numbers("--rows", self.rows),
            "configurations": whole_numbers("--configurations", self.configurations),
            "beta": [_pair(text) for text in self.beta] or None,
            "folds": self.folds,
            "repetitions": self.repetitions,
            "n_bootstraps": self.bootstraps,
            "protocols": None if self.protocols is None else self.protocols.split(","),
        }
        usual: dict[str, Any] = {}
        if self.quick:
            usual = {"beta": QUICK_BETA, "repetitions": QUICK_REPETITIONS, "n_bootstraps": QUICK_BOOTSTRAPS}
        return usual | {name: value for name, value in given.items() if value is not None}


def _pair(text: str) -> tuple[float, ...]:
    try:
        a, b = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--beta must be two numbers with a comma between, such as 9,6, got {text!r}.") from None
    if not (0 < a < float("inf") and 0 < b < float("inf")):
        raise InputError(f"--beta must be two numbers above 0, such as 9,6, got {text!r}.")
    return a, b


@click.command(name="bias", short_help="How biased cv, tt, nested cv, bbc and bced are, where the truth is known.")
@click.option("--rows", metavar="N,N", help="Numbers of rows; 20,40,60,80,100,500,1000 unless told.")
@click.option(
    "--configurations",
    metavar="C,C",
    help="Numbers of configurations; 50,100,200,300,500,1000,2000 unless told.",
)
@click.option(
    "--beta",
    metavar="A,B",
    multiple=True,
    help="True accuracies are drawn from Beta(A, B); repeatable. 9,6 and 14,6 and 24,6 and 54,6 unless told, of "
    "--quick 9,6.",
)
@click.option("--folds", type=int, default=10, show_default=True, help="Of the cross-validation.")
@click.option("--repetitions", type=int, help="Matrices of each setting; 500 unless told, of --quick 30.")
@click.option("--bootstraps", type=int, help="Of bbc and bced; 1000 unless told, of --quick 200.")
@click.option("--protocols", metavar="NAME,NAME", help="Some of cv,tt,nested_cv,bbc,bced; all unless told.")
@study_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """How biased each protocol's estimate of the winner's accuracy is, for your rows, configurations and folds.

    Matrices of held-out predictions are drawn whose true accuracies are known (Tsamardinos et al. 2018, section
    6.1). Without options all 196 settings of the article are repeated, 98 000 matrices. DIR receives bias.parquet
    (a row a repetition and protocol), bias.csv (a row a setting and protocol), study.json and report.html; finished
    batches are kept in DIR/batches, from which --resume goes on.
    """
    from heldout.studies.bias import bias_plan

    wanted = BiasOptions(**options)
    console = Console(wanted.as_json, wanted.quiet)
    again = command_line(ctx)
    with console.noting_warnings(), stops_like_ctrl_c(), in_words_of_options(WORDS):
        wanted.check()
        asked = wanted.asked()
        plan = bias_plan(**asked, random_state=wanted.seed)
        folder = study_folder(wanted.out, wanted.resume)
        try:
            console.say(_plan_line(plan))
            study = _studied(wanted, asked, folder, console)
            page, files = _leave(study, folder, again)
        except KeyboardInterrupt:
            raise Interrupted(folder.how_to_go_on(again, wanted.resume)) from None
    console.lines(_lines(page, files))
    console.document(_document(study, page) | {"files": files})
    console.check_all_was_printed(f"the files are in {folder.out.path}")


def _plan_line(plan: Study[BiasSetting]) -> str:
    from heldout.wording import counted

    n_settings, n = len(plan.settings), plan.repetitions
    return (
        f"Plan: {counted(n_settings, 'setting')} x {counted(n, 'repetition')} = "
        f"{n_settings * n:,} matrices of predictions, by "
        f"{', '.join(plan.settings[0].protocols)}, seed {plan.entropy}."
    )


def _studied(wanted: BiasOptions, asked: dict[str, Any], folder: StudyFolder, console: Console) -> BiasStudy:
    from heldout.cli.engines import LOCAL, fitting_with
    from heldout.cli.study_progress import StudyProgress
    from heldout.studies.bias import bias

    if wanted.resume and not folder.n_kept:
        console.note(f"{folder.out.path} holds no study yet, so there is nothing to resume; a new one begins.")
    with fitting_with(LOCAL, wanted.n_jobs):
        return bias(
            **asked,
            n_jobs=wanted.n_jobs,
            folder=folder.batches,
            told=None if wanted.quiet else StudyProgress(),
            random_state=wanted.seed,
        )


def _leave(study: BiasStudy, folder: StudyFolder, again: str) -> tuple[StudyPage, dict[str, str]]:
    """Write the files; the report last, so that its being there says that all is there."""
    from heldout.studies.bias_page import bias_page
    from heldout.studies.page import write_study

    page, out = bias_page(study, command=again), folder.out
    each, table = study.to_frame(each=True), study.to_frame()
    files = {
        "each": out.write("bias.parquet", lambda path: each.to_parquet(path, index=False)),
        "table": out.write("bias.csv", lambda path: table.to_csv(path, index=False)),
        "study": out.write_json("study.json", _document(study, page)),
        "report": out.write("report.html", lambda path: write_study(page, path)),
    }
    return page, {name: str(path) for name, path in files.items()}


def _document(study: BiasStudy, page: StudyPage) -> dict[str, Any]:
    from heldout._version import __version__
    from heldout.estimates.types import json_safe

    first = study.settings[0]
    return {
        "study": "bias",
        "heldout": __version__,
        "command": page.command,
        "seed": study.entropy,
        "repetitions": study.repetitions,
        "folds": first.folds,
        "n_bootstraps": first.n_bootstraps,
        "protocols": list(first.protocols),
        "claims_sentence": page.claims_sentence,
        "claims": [asdict(claim) for claim in page.claims],
        "rows": json_safe(study.rows()),
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
