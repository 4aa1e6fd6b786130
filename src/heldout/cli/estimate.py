"""``heldout estimate``: a corrected performance from a file of held-out predictions, whoever made them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import click

from heldout.cli.console import Console
from heldout.cli.result import estimate_rows

if TYPE_CHECKING:
    from heldout.adapters.table_predictions import TablePredictions
    from heldout.adapters.tables import Table
    from heldout.estimates.from_arrays import ResponseName
    from heldout.estimates.gather import Aggregate
    from heldout.estimates.types import Alternative, Estimate
    from heldout.task import Truth


@click.command(name="estimate", short_help="Say how good the best of many configurations is, from predictions.")
@click.argument("file")
@click.option("--target", metavar="COL", help="The column of true values.")
@click.option("--fold", metavar="COL", help="The column that says in which fold a row was held out.")
@click.option("--group", metavar="COL", help="Rows of one group are drawn together.")
@click.option("--weight", metavar="COL", help="How much each row counts.")
@click.option("--exclude", metavar="COL", multiple=True, help="A column that is nothing of these; repeatable.")
@click.option("--metric", metavar="NAME", help="What to estimate; guessed from target and predictions unless told.")
@click.option("--positive", metavar="LABEL", help="The class that scores point to; the last in order unless told.")
@click.option(
    "--response",
    default="auto",
    show_default=True,
    help="What the predictions are: labels, probabilities, decision, or auto.",
)
@click.option("--method", default="bbc", show_default=True, help="bbc, tt (needs --fold) or cv (uncorrected).")
@click.option(
    "--aggregate",
    metavar="NAME",
    help="pooled: the metric over all rows; folds: its mean over folds. pooled unless the file says otherwise.",
)
@click.option("--n-bootstraps", type=int, help="Bootstraps of bbc; 1000 unless the file says otherwise.")
@click.option("--confidence-level", type=float, help="Of the interval; 0.95 unless the file says otherwise.")
@click.option("--alternative", default="two-sided", show_default=True, help="two-sided, greater or less.")
@click.option("--seed", type=int, help="The same seed gives the same result; 0 unless the file says otherwise.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else to stdout.")
@click.option("--quiet", is_flag=True, help="Print only the result.")
def command(
    file: str,
    target: str | None,
    fold: str | None,
    group: str | None,
    weight: str | None,
    exclude: tuple[str, ...],
    metric: str | None,
    positive: str | None,
    response: str,
    method: str,
    aggregate: str | None,
    n_bootstraps: int | None,
    confidence_level: float | None,
    alternative: str,
    seed: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Estimate the performance of the best of the configurations in FILE, corrected for having been the best.

    FILE is a CSV or Parquet table with a row for each data row: a column of true values, and a column of
    held-out predictions (scores or labels) for each configuration. The predictions.parquet of `heldout tune` says
    itself what its columns are.
    """
    from heldout.adapters.tables import read_table
    from heldout.estimates.from_predictions import estimate

    console = Console(as_json, quiet)
    with console.noting_warnings():
        table = read_table(file)
        for remark in table.remarks:
            console.note(remark)
        found = _read(table, target, fold, group, weight, exclude)
        truth = _with_positive(_truth(found, metric), found, positive)
        measured = _metric(metric, table, truth, found, console)
        _check_method(method, aggregate, found)
        settings = table.roles.get("settings", {})
        console.say(_what_was_read(table, truth, found))
        result = _in_words_of_options(
            estimate,
            found.y_true,
            found.predictions,
            metric=measured,
            method=method,
            folds=found.folds,
            groups=found.groups,
            sample_weight=found.sample_weight,
            aggregate=cast("Aggregate", aggregate or settings.get("aggregate", "pooled")),
            n_bootstraps=settings.get("n_bootstraps", 1000) if n_bootstraps is None else n_bootstraps,
            confidence_level=(
                settings.get("confidence_level", 0.95) if confidence_level is None else confidence_level
            ),
            alternative=cast("Alternative", alternative),
            pos_label=None if positive is None else truth.pos_label,
            response=cast("ResponseName", response),
            random_state=settings.get("entropy", 0) if seed is None else seed,
        )
        other_way = _other_way_round(result, truth)
        if other_way:
            console.note(other_way)
    console.table([("winner", result.selected_name), *estimate_rows(result)])
    console.document(result.to_dict())
    console.check_all_was_printed()


_OPTIONS = (
    (r"\bresponse='?(\w+)'?", r"--response \1"),
    (r"\bresponse=", "--response"),
    (r"\bpos_label(=| cannot| as)", r"--positive\1"),
    (r"\bfolds=(, a label a row)?", "--fold COL"),
    (r"\bgroups=", "--group COL"),
    (r" \(or where to cut: threshold=\)", ""),
    (r"pass np\.clip\(predictions, 0, 1\)", "round them into [0, 1]"),
    (r" Pass classes= if there are more\.", ""),
    (r"; if they are labels, list them as classes=\.", "."),
)
"""What the library calls its arguments, as the options that set them."""


def _in_words_of_options(estimate: Callable[..., Estimate], *arguments: Any, **settings: Any) -> Estimate:
    """Call it; what it refuses is said in the words of the command line."""
    from heldout.errors import InputError

    try:
        return estimate(*arguments, **settings)
    except InputError as error:
        said = str(error)
        for argument, option in _OPTIONS:
            said = re.sub(argument, option, said)
        raise InputError(said) from None


def _read(
    table: Table,
    target: str | None,
    fold: str | None,
    group: str | None,
    weight: str | None,
    exclude: tuple[str, ...],
) -> TablePredictions:
    from heldout.adapters.table_predictions import predictions_from_own_table, predictions_from_table
    from heldout.errors import InputError

    own = ((target, table.roles.get("target")), (fold, "fold"), (group, "group"), (weight, "weight"))
    agreed = all(said in (None, meant) for said, meant in own) and {*exclude} <= {"row", "repeat"}
    if table.roles and agreed:
        return predictions_from_own_table(table)
    if target is None:
        raise InputError(f"--target is needed: which column of {table.name} holds the true values?")
    return predictions_from_table(table, target, fold=fold, group=group, weight=weight, exclude=exclude)


def _truth(found: TablePredictions, metric: str | None) -> Truth:
    """The target as the metric reads it, or as its values say."""
    from heldout.errors import InputError
    from heldout.metrics import metric_named
    from heldout.predictions import HeldOutPredictions
    from heldout.task import TaskKind, no_labels, truth_of

    tasks = None if metric is None else metric_named(metric).tasks
    if isinstance(found.predictions, HeldOutPredictions) and found.predictions.classes is not None:
        return truth_of(found.y_true, TaskKind.MULTICLASS, classes=found.predictions.classes)
    if tasks is not None and TaskKind.REGRESSION not in tasks:
        fractions = no_labels(found.y_true)
        if fractions.any():
            raise InputError(
                f"--metric {metric} is for labels, but the target holds numbers with decimals (such as "
                f"{found.y_true[fractions][0]:.6g}); use a metric of numbers such as r2, or name another --target."
            )
        return truth_of(found.y_true, TaskKind.MULTICLASS)
    if tasks is not None and len(tasks) == 1:
        return truth_of(found.y_true, TaskKind.REGRESSION)
    truth = truth_of(found.y_true)
    # Whole numbers of many values are amounts: no table of predictions has one class for every few rows.
    if truth.n_classes * 5 > truth.n_rows and found.y_true.dtype.kind in "iuf":
        return truth_of(found.y_true, TaskKind.REGRESSION)
    return truth


def _metric(metric: str | None, table: Table, truth: Truth, found: TablePredictions, console: Console) -> str:
    from heldout.adapters.table_predictions import check_kinds, guessed_metric
    from heldout.errors import InputError
    from heldout.metrics import check_fits, metric_named

    name = metric or table.roles.get("metric") or guessed_metric(truth, found)
    if metric is None:
        console.say(f"Metric: {name}. To choose another: --metric NAME.")
    try:
        measured = check_fits(metric_named(name), truth)
    except InputError as error:
        raise InputError(f"--metric {name}: {error}") from None
    check_kinds(found, truth, measured)
    return name


def _check_method(method: str, aggregate: str | None, found: TablePredictions) -> None:
    """What the options cannot mean, in the words of the options."""
    from heldout.errors import InputError
    from heldout.estimates import METHODS
    from heldout.predictions import HeldOutPredictions

    if method not in METHODS:
        raise InputError(f"--method must be one of {', '.join(METHODS)}, got {method!r}.")
    held = found.predictions
    folds = held.folds if isinstance(held, HeldOutPredictions) else found.folds
    wanted = "--method tt" if method == "tt" else "--aggregate folds" if aggregate == "folds" else None
    if wanted and folds is None:
        raise InputError(f"{wanted} compares scores fold by fold; name the column of folds with --fold.")


def _with_positive(truth: Truth, found: TablePredictions, label: str | None) -> Truth:
    """The target with the class that scores point to: that of our own file, else the one asked for."""
    from heldout.adapters.table_task import code_of_text
    from heldout.errors import InputError
    from heldout.predictions import HeldOutPredictions
    from heldout.task import labels_text

    held = found.predictions
    own = held.positive if isinstance(held, HeldOutPredictions) else None
    if label is None:
        return truth if own is None else truth.with_positive(own)
    code = code_of_text(truth, label)
    if own is not None and code != own:
        assert truth.classes is not None
        raise InputError(
            f"--positive {label}: the scores in this file point to class {labels_text([truth.classes[own]])}, "
            "which is fixed since they were made; leave the option out."
        )
    return truth.with_positive(code)


def _what_was_read(table: Table, truth: Truth, found: TablePredictions) -> str:
    from heldout.adapters.tables import counted
    from heldout.predictions import HeldOutPredictions
    from heldout.task import labels_text

    said = f"{table.name}: {counted(truth.n_rows, 'row')}, {counted(found.n_configurations, 'configuration')}"
    own = isinstance(found.predictions, HeldOutPredictions)
    if not own and found.n_configurations > 1:
        names = list(found.predictions.columns)
        said += f" ({names[0]!r} to {names[-1]!r})"
    said += f", {truth.kind.value} target"
    if truth.positive is None:
        return f"{said}."
    otherwise = "" if own else "; --positive LABEL says otherwise"
    return f"{said} (positive class {labels_text([truth.pos_label])}{otherwise})."


def _other_way_round(result: Estimate, truth: Truth) -> str:
    """A note where scores rank the classes worse than guessing does; the direction stays as declared."""
    from heldout.task import TaskKind, labels_text
    from heldout.wording import scores_reversed_sentence

    ranks = result.metric in ("roc_auc", "roc_auc_ovr", "roc_auc_ovo")
    if truth.kind is not TaskKind.BINARY or not ranks or result.interval is None or result.interval.high >= 0.5:
        return ""
    assert truth.classes is not None and truth.positive is not None
    other = truth.classes[1 - truth.positive]
    return scores_reversed_sentence(labels_text([truth.pos_label]), labels_text([other]), str(other))
