"""``heldout tune``: from a table to a fitted model, an estimate that can be believed, and a report."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from heldout.cli.console import Console
from heldout.cli.estimate_words import in_words_of_options
from heldout.cli.group import Interrupted, interrupts_ignored, stops_like_ctrl_c
from heldout.cli.result import search_document, search_rows

if TYPE_CHECKING:
    from heldout.adapters.table_task import TableTask
    from heldout.cli.folder import OutputFolder
    from heldout.configurations import Configurations
    from heldout.estimates.types import Alternative
    from heldout.fitting import Scoring
    from heldout.folds import Folds
    from heldout.result import Evaluation
    from heldout.task import Task


@dataclass(frozen=True)
class Options:
    """What the user asked for; the fields are the options."""

    data: str
    target: str
    task: str | None
    metric: str | None
    positive: str | None
    preset: str
    cv: int
    repeats: int
    drop: str
    groups: str | None
    keep: tuple[str, ...]
    selection: str
    method: str
    n_bootstraps: int
    confidence_level: float
    alternative: str
    n_jobs: int
    engine: str
    seed: int
    out: str
    resume: bool
    accept_changed_code: bool
    as_json: bool
    quiet: bool


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything that is decided before the first fit."""

    found: TableTask
    task: Task
    scoring: Scoring
    folds: Folds
    configurations: Configurations
    source: str


@click.command(name="tune", short_help="Tune models on a table and say how good the best one is.")
@click.argument("data")
@click.option("--target", required=True, metavar="COL", help="The column to predict.")
@click.option(
    "--task", metavar="KIND", help="classification or regression (also binary, multiclass); guessed unless told."
)
@click.option(
    "--metric",
    metavar="NAME",
    help="What to tune for and estimate: a scorer of scikit-learn. "
    "roc_auc, accuracy (several classes) or r2 unless told.",
)
@click.option("--positive", metavar="LABEL", help="The positive of two classes; the last in order unless told.")
@click.option(
    "--preset",
    default="quick",
    show_default=True,
    metavar="NAME",
    help="quick: a few dozen configurations; standard: a few hundred.",
)
@click.option("--cv", type=int, default=5, show_default=True, help="Number of folds.")
@click.option("--repeats", type=int, default=1, show_default=True, help="How often to draw the folds anew.")
@click.option("--drop", default="never", show_default=True, help="When to drop losing configurations: never.")
@click.option("--groups", metavar="COL", help="Rows of one group (a patient, a site) stay together.")
@click.option(
    "--keep", metavar="COL", multiple=True, help="A column to use although it looks like a row number; repeatable."
)
@click.option(
    "--selection",
    default="best",
    show_default=True,
    metavar="NAME",
    help="How the winner is chosen: best, or one_standard_error (the simplest within it, in the preset's order).",
)
@click.option(
    "--method",
    default="bbc",
    show_default=True,
    help="How to estimate: bbc (bias-corrected by bootstrap, with an interval), tt, cv (uncorrected), or none.",
)
@click.option("--n-bootstraps", type=int, default=1000, show_default=True, help="Bootstraps of bbc.")
@click.option("--confidence-level", type=float, default=0.95, show_default=True, help="Of the interval.")
@click.option(
    "--alternative", default="two-sided", show_default=True, help="two-sided, greater (a lower bound) or less."
)
@click.option("--n-jobs", type=int, default=-1, show_default=True, help="Processes; -1 uses every core.")
@click.option("--engine", default="local", show_default=True, help="Where to fit: local processes.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same result.")
@click.option("--out", default="heldout-out", show_default=True, metavar="DIR", help="Where to leave the files.")
@click.option("--resume", is_flag=True, help="Go on with the run in DIR, doing only what is left.")
@click.option("--accept-changed-code", is_flag=True, help="Resume although a version has changed since.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else to stdout.")
@click.option("--quiet", is_flag=True, help="Print only the result.")
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Try many models on DATA and estimate how good the best one is, corrected for having been the best.

    DATA is a CSV or Parquet file, or example:breast_cancer (also iris, wine, digits, diabetes). DIR receives
    run.db, model.skops, predictions.parquet, estimate.json and report.html.
    """
    wanted = Options(**options)
    console = Console(wanted.as_json, wanted.quiet)
    again = command_line(ctx)
    with console.noting_warnings(), stops_like_ctrl_c():
        _check(wanted)
        folder = _folder(wanted)
        plan = _plan(wanted, console)
        folder.check_writable()
        folder.check_room(_bytes_of(plan))
        try:
            evaluation, n_resumed = _search(wanted, plan, folder, console)
            files = _leave(evaluation, plan, folder, again, console)
        except KeyboardInterrupt:
            raise Interrupted(_how_to_go_on(folder, again, wanted.resume)) from None
    console.table(search_rows(evaluation, files, n_resumed))
    console.document({**search_document(evaluation, files, plan), "n_fits_resumed": n_resumed})
    console.check_all_was_printed(f"the files are in {folder.path}")


def command_line(ctx: click.Context) -> str:
    """The command as the user could type it again, without what was left at its default."""
    words = ["heldout", str(ctx.info_name)]
    for parameter in ctx.command.params:
        name, value = str(parameter.name), ctx.params.get(str(parameter.name))
        if ctx.get_parameter_source(name) is not click.core.ParameterSource.COMMANDLINE:
            continue
        if isinstance(parameter, click.Argument):
            words.append(str(value))
        elif value is True:
            words.append(parameter.opts[0])
        else:
            for each in value if isinstance(value, tuple) else (value,):
                words += [parameter.opts[0], str(each)]
    return shlex.join(words)


def _check(wanted: Options) -> None:
    """What can be refused before anything is read."""
    from heldout.errors import InputError
    from heldout.estimates import METHODS
    from heldout.estimates.intervals import check_interval_settings
    from heldout.estimates.named import check_alternative
    from heldout.selection import RULES, configuration_rule_of
    from heldout.spaces import PRESETS

    allowed = {"--method": (wanted.method, (*METHODS, "none")), "--preset": (wanted.preset, PRESETS)}
    allowed["--selection"] = (wanted.selection, tuple(RULES))
    for option, (value, choices) in allowed.items():
        if value not in choices:
            raise InputError(f"{option} must be one of {', '.join(choices)}, got {value!r}.")
    configuration_rule_of(wanted.selection)
    if wanted.drop not in ("never", "none"):
        raise InputError(
            f"--drop {wanted.drop} is not available in this version; leave it out: every configuration is "
            "fitted on every fold (--drop never)."
        )
    if wanted.engine != "local":
        raise InputError(
            f"--engine {wanted.engine} is not available in this version; leave it out: fits run in processes on "
            "this machine (--engine local)."
        )
    if wanted.n_jobs == 0:
        raise InputError("--n-jobs must not be 0; use a number of processes, or -1 for every core.")
    if not 0 <= wanted.seed < 2**64:
        raise InputError(f"--seed must be from 0 to 2**64 - 1, got {wanted.seed}.")
    if wanted.repeats < 1:
        raise InputError(f"--repeats must be at least 1, got {wanted.repeats}.")
    if wanted.cv < 2:
        raise InputError(f"--cv must be at least 2, got {wanted.cv}; use 5 or 10 folds.")
    check_interval_settings(wanted.n_bootstraps, wanted.confidence_level, wanted.alternative)
    with in_words_of_options():
        method = None if wanted.method == "none" else wanted.method
        check_alternative(method, cast("Alternative", wanted.alternative))


def _folder(wanted: Options) -> OutputFolder:
    from heldout.cli.folder import OutputFolder
    from heldout.errors import StoreError

    folder = OutputFolder(Path(wanted.out))
    if folder.run_file.exists() and not wanted.resume:
        raise StoreError(
            f"{folder.path} holds a run already; go on with it (--resume), or choose another folder with --out."
        )
    return folder


def _plan(wanted: Options, console: Console) -> Plan:
    from heldout.adapters.predictors import categories_said, remarks_on_text
    from heldout.adapters.table_task import DEFAULT_METRICS, check_folds_fit, task_from_table
    from heldout.adapters.tables import counted, quoted, read_table
    from heldout.cli.measures import scorer_of, without_the_unable
    from heldout.configurations import make_configurations
    from heldout.errors import InputError
    from heldout.fitting import make_scoring
    from heldout.metrics.base import Response
    from heldout.spaces import preset

    table = read_table(wanted.data)
    found = task_from_table(
        table,
        wanted.target,
        kind=wanted.task,
        groups=wanted.groups,
        positive=wanted.positive,
        keep=wanted.keep,
    )
    task = found.task
    console.say(
        f"{table.name}: {counted(task.n_rows, 'row')}, {counted(task.X.shape[1], 'column')} to predict from."
        + categories_said(task.X)
    )
    for remark in (*table.remarks, *remarks_on_text(task.X)):
        console.note(remark)
    for reason in dict.fromkeys(found.set_aside.values()):
        names = [name for name, why in found.set_aside.items() if why == reason]
        console.note(f"Set aside {quoted(names)} ({reason}).")
    console.say(found.why)
    metric = wanted.metric or DEFAULT_METRICS[task.truth.kind]
    keep = (Response.LABELS, Response.PROBABILITIES) if task.truth.kind.is_classification else ()
    scoring = make_scoring(task.truth, scorer_of(metric, task.truth), keep=keep)
    console.say(f"Metric: {metric}." + ("" if wanted.metric else " To choose another: --metric NAME."))
    check_folds_fit(found, wanted.cv)
    folds = _folds(task, wanted)
    entries, unable = without_the_unable(preset(wanted.preset, task.X, task.truth.kind), scoring.metrics)
    if unable:
        console.note(f"Left out {', '.join(unable)}: these models give no probabilities, which {metric} needs.")
    if not entries:
        raise InputError(f"no model of the preset can be scored by {metric}; choose another --metric.")
    configurations = make_configurations(entries)
    console.say(_plan_sentence(wanted, folds, configurations, [name for name, _, _ in entries]))
    return Plan(found, task, scoring, folds, configurations, table.name)


def _folds(task: Task, wanted: Options) -> Folds:
    """Shuffled folds, because the order of a file's rows is seldom random; stratified, and groups kept whole."""
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    from heldout._seeding import numpy_seed
    from heldout.folds import make_folds

    seed = numpy_seed(wanted.seed, "folds", 0)
    stratified = task.truth.kind.is_classification
    if task.groups is None:
        splitter = (StratifiedKFold if stratified else KFold)(wanted.cv, shuffle=True, random_state=seed)
    elif stratified:
        splitter = StratifiedGroupKFold(wanted.cv, shuffle=True, random_state=seed)
    else:
        splitter = GroupKFold(wanted.cv, shuffle=True, random_state=seed)
    return make_folds(task, splitter, repeats=wanted.repeats, entropy=wanted.seed)


def _plan_sentence(wanted: Options, folds: Folds, configurations: Configurations, models: list[str]) -> str:
    from heldout.adapters.tables import counted

    repeats = f" x {wanted.repeats} repeats" if wanted.repeats > 1 else ""
    grouped = " of whole groups" if wanted.groups else ""
    return (
        f"Plan: {counted(len(configurations), 'configuration')} ({', '.join(models)}) x "
        f"{wanted.cv} folds{grouped}{repeats} = "
        f"{counted(len(configurations) * folds.n_splits, 'fit')}, seed {wanted.seed}."
    )


def _bytes_of(plan: Plan) -> int:
    """Held-out predictions on the disk: in the run file, and once more in predictions.parquet."""
    outputs = max(plan.task.truth.n_classes, 1)
    cells = plan.task.n_rows * len(plan.configurations) * plan.folds.n_repeats
    return 8 * cells * (2 * outputs + 2)


def _search(wanted: Options, plan: Plan, folder: OutputFolder, console: Console) -> tuple[Evaluation, int]:
    """The search, and how many of its fits an earlier run had done."""
    from heldout.estimates.of_search import Estimation
    from heldout.evaluate import evaluate
    from heldout.run.events import Event, SearchStarted
    from heldout.run.progress import progress
    from heldout.store.sqlite import SQLiteStore

    # Workers inherit it: what they print would tear the progress bar, and is no more than an interim remark.
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    if wanted.resume and not folder.run_file.exists():
        console.note(f"{folder.path} holds no run yet, so there is nothing to resume; a new one begins.")
    _start_workers(wanted.n_jobs)
    resumed: list[int] = []

    def count(event: Event) -> None:
        if isinstance(event, SearchStarted):
            resumed.append(event.n_resumed)

    with progress(quiet=wanted.quiet) as listener:
        evaluation = evaluate(
            plan.task,
            plan.configurations,
            plan.folds,
            plan.scoring,
            Estimation(
                None if wanted.method == "none" else wanted.method,
                selection=wanted.selection,
                n_bootstraps=wanted.n_bootstraps,
                confidence_level=wanted.confidence_level,
                alternative=cast("Alternative", wanted.alternative),
            ),
            store=SQLiteStore(folder.run_file, accept_changed_code=wanted.accept_changed_code, one_run=True),
            resume=wanted.resume,
            entropy=wanted.seed,
            seed_estimators=True,
            n_jobs=wanted.n_jobs,
            listeners=[listener, count],
        )
    return evaluation, sum(resumed)


def _start_workers(n_jobs: int) -> None:
    """Start the processes that the search will use, deaf to the Ctrl-C that a terminal sends to them too.

    They are ended by this process, which alone has something to say of it.
    """
    from joblib import effective_n_jobs
    from sklearn.utils.parallel import Parallel, delayed

    workers = effective_n_jobs(n_jobs)
    if workers > 1:
        with interrupts_ignored():  # the call starts the processes, before anything is asked of them
            answers = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(abs)(0) for _ in range(workers))
        list(answers)


def _leave(
    evaluation: Evaluation, plan: Plan, folder: OutputFolder, again: str, console: Console
) -> dict[str, str]:
    """Write the files; the report last, so that its being there says that all is there."""
    from heldout.cli.saving import write_model, write_predictions
    from heldout.report import report_content, write_report

    files = {"run": folder.run_file}
    files["model"], strangers = write_model(evaluation.model, folder)
    if strangers:
        console.note(
            f"Before loading model.skops, look at its types {', '.join(strangers)}: they were not reviewed."
        )
    metric = plan.scoring.metrics[plan.scoring.refit_metric]
    if metric is not None:
        files["predictions"] = write_predictions(evaluation, metric, plan.found.target, folder)
    if evaluation.estimate is not None:
        files["estimate"] = folder.write_json("estimate.json", evaluation.estimate.to_dict())
    content = report_content(evaluation, command=again, title=plan.source)
    folder.write_json("report.json", content.to_dict())
    files["report"] = folder.write("report.html", lambda path: write_report(content, path))
    return {name: str(path) for name, path in files.items()}


def _how_to_go_on(folder: OutputFolder, again: str, resuming: bool) -> str:
    if not folder.run_file.exists():
        return "Interrupted before the first fit; nothing was kept."
    return (
        f"Interrupted. What was finished is kept in {folder.run_file}; to go on:\n  "
        f"{again}{'' if resuming else ' --resume'}"
    )
