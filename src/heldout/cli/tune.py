"""``heldout tune``: from a table to a fitted model, an estimate that can be believed, and a report."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

import click

from heldout.cli.command_line import command_line
from heldout.cli.console import Console
from heldout.cli.folder import folder_for, how_to_go_on
from heldout.cli.group import Interrupted, stops_like_ctrl_c
from heldout.cli.option_words import in_words_of_options
from heldout.cli.result import search_document, search_rows
from heldout.cli.run_options import run_options
from heldout.cli.tune_plan import Options, Plan, check_options, method_wanted, plan_of
from heldout.cli.tune_protocols import BOOTSTRAP, is_protocol, protocol_rows, run_protocol, times_predicted

if TYPE_CHECKING:
    from heldout.cli.folder import OutputFolder
    from heldout.estimates.types import Alternative
    from heldout.result import Evaluation


@click.command(name="tune", short_help="Tune models on a table and say how good the best one is.")
@click.argument("data")
@click.option("--target", required=True, metavar="COL", help="The column to predict.")
@click.option(
    "--event",
    metavar="COL",
    help="Survival: whether the event was seen (1) at the time in --target, or the row censored then (0).",
)
@click.option(
    "--task",
    metavar="KIND",
    help="classification or regression (also binary, multiclass), guessed unless told; survival with --event.",
)
@click.option(
    "--metric",
    metavar="NAME",
    help="What to tune for and estimate: a scorer of scikit-learn. "
    "roc_auc, accuracy (several classes), r2 or concordance_index (survival) unless told.",
)
@click.option("--positive", metavar="LABEL", help="The positive of two classes; the last in order unless told.")
@click.option(
    "--preset",
    default="quick",
    show_default=True,
    metavar="NAME",
    help="quick: a few dozen configurations; standard: a few hundred.",
)
@click.option(
    "--cv",
    default="5",
    show_default=True,
    metavar="FOLDS",
    help="Number of folds; or loo (leave one out), holdout:0.25 (one split that tests a quarter), "
    "repeated_holdout:20:0.25 (twenty of them).",
)
@click.option("--repeats", type=int, default=1, show_default=True, help="How often to draw the folds anew.")
@click.option(
    "--drop",
    default="never",
    show_default=True,
    metavar="RULE",
    help="When to drop losing configurations: never, bootstrap (after every fold those that are worse than the "
    "leader in 99 % of bootstraps), hoeffding_race, paired, wilcoxon or sequential; also with parameters, as in "
    "'bootstrap(threshold=0.95)'.",
)
@click.option("--groups", metavar="COL", help="Rows of one group (a patient, a site) stay together.")
@click.option(
    "--keep", metavar="COL", multiple=True, help="A column to use although it looks like a row number; repeatable."
)
@click.option(
    "--selection",
    default="best",
    show_default=True,
    metavar="NAME",
    help="How the winner is chosen: best, one_standard_error (the simplest within it, in the preset's order), or "
    "another rule, such as 'within(tolerance=0.01)'.",
)
@click.option(
    "--aggregate",
    metavar="NAME",
    help="Score of a configuration. folds: the mean over folds; pooled: the metric over all rows; within: of "
    "metrics made of pairs (AUC, concordance, Somers' D), the pairs of rows of one fold. folds unless each leaves "
    "one row out.",
)
@click.option(
    "--method",
    default="bbc",
    show_default=True,
    help="How to estimate: bbc (bias-corrected by bootstrap, with an interval), tt, cv (uncorrected), or none; or "
    "nested (nested cross-validation, at K times the fits) or bootstrap_search (at as many times as bootstraps).",
)
@click.option(
    "--inner",
    default="remaining",
    show_default=True,
    metavar="FOLDS",
    help="Of nested: the inner folds are the remaining outer ones, one holdout, or a number of new ones.",
)
@click.option(
    "--across",
    default="folds",
    show_default=True,
    metavar="WHAT",
    help="Of nested: every one of the folds fits its own winner, or all fit one.",
)
@click.option(
    "--interval",
    metavar="NAME",
    help="Of bbc: percentile (the default) or calibrated, which is narrower. Of nested: nadeau_bengio (the "
    "default), bates_hastie_tibshirani (many more fits), or none.",
)
@click.option(
    "--scheme",
    default="cvt",
    show_default=True,
    metavar="NAME",
    help="Of bootstrap_search: cvt (the whole search on every sample) or models (all configurations, no folds).",
)
@click.option(
    "--n-bootstraps", type=int, help="1000 unless told; 100 of bootstrap_search, which searches in each anew."
)
@run_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Try many models on DATA and estimate how good the best one is, corrected for having been the best.

    DATA is a CSV or Parquet file, or example:breast_cancer (also iris, wine, digits, diabetes). DIR receives
    run.db, model.skops, predictions.parquet, estimate.json and report.html.
    """
    if options["n_bootstraps"] is None:
        options["n_bootstraps"] = 100 if options["method"] in BOOTSTRAP else 1000
    wanted = Options(**options)
    console = Console(wanted.as_json, wanted.quiet)
    again = command_line(ctx)
    with console.noting_warnings(), stops_like_ctrl_c(), in_words_of_options():
        check_options(wanted)
        folder = folder_for(wanted.out, wanted.resume)
        plan = plan_of(wanted, console)
        folder.check_writable()
        folder.check_room(times_predicted(wanted, plan, console) * _bytes_of(plan))
        try:
            evaluation, n_resumed = _search(wanted, plan, folder, console)
            files = _leave(evaluation, plan, folder, again, console)
        except KeyboardInterrupt:
            raise Interrupted(how_to_go_on(folder, again, wanted.resume)) from None
    seconds = console.seconds()
    of_protocol = protocol_rows(evaluation.estimate)
    console.table(search_rows(evaluation, files, n_resumed, of_protocol, seconds=seconds))
    console.document({**search_document(evaluation, files, plan, seconds=seconds), "n_fits_resumed": n_resumed})
    console.check_all_was_printed(f"the files are in {folder.path}")


def _bytes_of(plan: Plan) -> int:
    """Held-out predictions on the disk: in the run file, and once more in predictions.parquet."""
    outputs = max(plan.task.truth.n_classes, 1)
    cells = plan.task.n_rows * len(plan.configurations) * plan.folds.n_repeats
    return 8 * cells * (2 * outputs + 2)


def _search(wanted: Options, plan: Plan, folder: OutputFolder, console: Console) -> tuple[Evaluation, int]:
    """The search, and how many of its fits an earlier run had done."""
    from heldout.arguments import SearchArguments
    from heldout.cli.engines import fitting_with
    from heldout.evaluate import evaluate
    from heldout.execution.events import Event, SearchStarted
    from heldout.execution.listeners.progress import progress
    from heldout.execution.run import RunSettings
    from heldout.execution.store.sqlite import SQLiteStore

    # Workers inherit it: what they print would tear the progress bar, and is no more than an interim remark.
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    if wanted.resume and not folder.run_file.exists():
        console.note(f"{folder.path} holds no run yet, so there is nothing to resume; a new one begins.")
    resumed: list[int] = []

    def count(event: Event) -> None:
        if isinstance(event, SearchStarted):
            resumed.append(event.n_resumed)

    with fitting_with(wanted.engine, wanted.n_jobs), progress(quiet=wanted.quiet) as listener:
        arguments = SearchArguments(
            plan.configurations,
            method=method_wanted(wanted),
            selection=wanted.selection,
            aggregate=plan.aggregate,
            n_bootstraps=wanted.n_bootstraps,
            confidence_level=wanted.confidence_level,
            alternative=cast("Alternative", wanted.alternative),
            drop=wanted.drop,
            random_state=wanted.seed,
        )
        search = arguments.search(plan.task, plan.configurations, plan.folds, plan.scoring, entropy=wanted.seed)
        running = RunSettings(
            store=SQLiteStore(
                folder.run_file,
                accept_changed_code=wanted.accept_changed_code,
                one_run=True,
                terms=wanted.terms,
            ),
            resume=wanted.resume,
            n_jobs=wanted.n_jobs,
            fit_timeout=wanted.fit_timeout,
            listeners=[listener, count],
        )
        evaluation = run_protocol(wanted, search, running) if is_protocol(wanted) else evaluate(search, running)
    return evaluation, sum(resumed)


def _leave(
    evaluation: Evaluation, plan: Plan, folder: OutputFolder, again: str, console: Console
) -> dict[str, str]:
    """Write the files; the report last, so that its being there says that all is there."""
    from heldout.cli.saving import note_on_strangers, write_model, write_predictions
    from heldout.report import report_content, write_report

    files = {"run": folder.run_file}
    files["model"], strangers = write_model(evaluation.model, folder)
    if strangers:
        console.note(note_on_strangers(strangers))
    metric = plan.scoring.metrics[plan.scoring.refit_metric]
    if metric is not None:
        files["predictions"] = write_predictions(
            evaluation, metric, plan.found.target, folder, event=plan.found.event
        )
    if evaluation.estimate is not None:
        files["estimate"] = folder.write_json("estimate.json", evaluation.estimate.to_dict())
    content = report_content(evaluation, command=again, title=plan.source)
    folder.write_json("report.json", content.to_dict())
    files["report"] = folder.write("report.html", lambda path: write_report(content, path))
    return {name: str(path) for name, path in files.items()}
