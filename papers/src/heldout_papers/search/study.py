"""Searches on real tables, against rows that they never saw (Tsamardinos et al. 2018, section 6.2).

Every protocol searches small samples of a table; each returns a model and an estimate of its AUC, or of another
score. The truth is the model's score on the 70 % of the table from which no sample was drawn.
"""

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np

from heldout._sklearn import rows_at
from heldout._streams import RandomState, entropy_of, stream
from heldout.data.task import TaskKind
from heldout.dropping.bootstrap import Bootstrap
from heldout.errors import InputError
from heldout.estimates.candidates import check_selects
from heldout.execution.fit import Work, make_scoring
from heldout.execution.threads import on_one_thread
from heldout.folds.plans import KFolds
from heldout.folds.splits import make_folds
from heldout.metrics.base import Metric, times_of
from heldout.metrics.named import check_fits, metric_named, scorer
from heldout_papers.engine.arguments import checked_sizes
from heldout_papers.engine.batches import Batch, BatchCallback, Columns, StudyJob, StudyPlan, study
from heldout_papers.search.direct_bootstrap import direct_bootstrap
from heldout_papers.search.fits import RowFits
from heldout_papers.search.held_out import held_out
from heldout_papers.search.protocols import (
    NO_WINNER,
    ProtocolResult,
    SubsampleSearch,
    bbc,
    bced,
    cross_validation,
    nested,
    score_of,
    tibshirani,
)
from heldout_papers.search.result import DIRECT, RepeatedProtocol, SearchPlace, SearchStudy, protocols_of
from heldout_papers.search.space import Space, space_of
from heldout_papers.search.subsamples import LEAST_EXPECTED, POOL_SHARE, DividedTable, characteristics, unfit
from heldout_papers.tables import TableFile, smallest_tables, tables_in

ROWS = (20, 40, 60, 80, 100, 500)
"""The article's."""
ARTICLE = "tsamardinos2018"
METRICS: Mapping[TaskKind, str] = MappingProxyType(
    {
        TaskKind.BINARY: "roc_auc",
        TaskKind.MULTICLASS: "accuracy",
        TaskKind.REGRESSION: "r2",
        TaskKind.SURVIVAL: "concordance_index",
    }
)
"""By the kind of the tables, where none is asked for."""
DROPPING_THRESHOLD = 0.99
FROM_THE_FIRST, FROM_FIFTY = 1, 50
"""Predictions from which BCED may drop: as the article ran it, and as it advises."""
REASON_LENGTH = 200


@dataclass(frozen=True)
class SearchSetting:
    """Sub-samples of one size of one table.

    Attributes
    ----------
    table : TableFile
    rows, folds, repeats, n_bootstraps : int
        N, K, R and B.
    space : Space
    metric : str
    samples : int
        Of the direct bootstrap; 0 for none.
    """

    table: TableFile
    rows: int
    folds: int
    repeats: int
    n_bootstraps: int
    space: Space
    metric: str = "roc_auc"
    samples: int = 0


def do_batch(batch: Batch[SearchSetting], entropy: int) -> Columns:
    """The estimate of every protocol on each sub-sample, and the score of its winner on the hold-out."""
    setting = batch.setting
    divided = DividedTable.of(setting.table, entropy)
    protocols = protocols_of(setting.repeats)
    done = [_searched(divided, setting, number, entropy, protocols) for number in range(batch.first, batch.last)]
    return {name: np.stack([one[name] for one in done]) for name in done[0]}


def _searched(
    divided: DividedTable, setting: SearchSetting, number: int, entropy: int, protocols: Sequence[RepeatedProtocol]
) -> dict[str, Any]:
    digest = setting.table.digest
    rows = divided.drawn(setting.rows, digest, number, entropy=entropy)
    task = divided.task(rows)
    own = stream(entropy, "study search cells", digest, setting.rows, number)
    scoring = make_scoring(task.truth, scorer(setting.metric))
    configurations = setting.space.configurations(task.X, divided.y[rows])
    fits = RowFits(Work(task, scoring, configurations, seeds=own))
    with warnings.catch_warnings(), on_one_thread():
        warnings.simplefilter("ignore", UserWarning)  # that a class has fewer rows than there are folds
        folds = make_folds(task, KFolds(setting.folds), repeats=setting.repeats, entropy=own, small_classes="allow")
        held = held_out(fits, task, folds, nested=True)
        metric = check_fits(metric_named(setting.metric), task.truth)
        search = SubsampleSearch(held, metric, setting.n_bootstraps, own)
        results = _results(search, protocols)
        if setting.samples:
            results.append(_named(DIRECT, lambda: direct_bootstrap(search, fits, setting.samples)))
        truths = _truths({one.winner for one in results}, fits, divided, metric)
    return _columns(results, truths, len(configurations))


def _results(search: SubsampleSearch, protocols: Sequence[RepeatedProtocol]) -> list[ProtocolResult]:
    """Of every protocol; without an estimate, and with the reason, where it cannot be computed."""
    return [_named(protocol, partial(_result, search, protocol)) for protocol in protocols]


def _named(protocol: RepeatedProtocol, result: Callable[[], ProtocolResult]) -> ProtocolResult:
    try:
        return result()
    except InputError as error:
        nan = float("nan")
        return ProtocolResult(nan, NO_WINNER, 0, nan, reason=f"{protocol.protocol}: {error}")


def _result(search: SubsampleSearch, protocol: RepeatedProtocol) -> ProtocolResult:
    if protocol.protocol == "bbc":
        return bbc(search, protocol.repeats)
    if protocol.protocol in ("bced", "bced_late"):
        least = FROM_THE_FIRST if protocol.protocol == "bced" else FROM_FIFTY
        rule = Bootstrap(threshold=DROPPING_THRESHOLD, n_bootstraps=search.n_bootstraps, min_predictions=least)
        return bced(search, rule, protocol.repeats)
    return {"cv": cross_validation, "tt": tibshirani, "nested_cv": nested}[protocol.protocol](search)


def _truths(winners: set[int], fits: RowFits, divided: DividedTable, metric: Metric) -> dict[int, float]:
    """The score on the hold-out of each winner, fitted on the whole sub-sample."""
    found, rest = {NO_WINNER: float("nan")}, rows_at(divided.X, divided.rest)
    truth = divided.table.truth(divided.y[divided.rest])
    for winner in sorted(winners - {NO_WINNER}):
        scores = fits.refitted_scores(winner, rest)
        found[winner] = float("nan") if scores is None else score_of(metric, truth, scores)
    return found


def _columns(results: Sequence[ProtocolResult], truths: dict[int, float], n_configurations: int) -> dict[str, Any]:
    reason = "; ".join(one.reason for one in results if one.reason)
    return {
        "estimate": np.array([one.estimate for one in results]),
        "truth": np.array([truths[one.winner] for one in results]),
        "winner": np.array([one.winner for one in results]),
        "models": np.array([one.models for one in results]),
        "seconds": np.array([one.seconds for one in results]),
        "early": np.array([one.early for one in results]),
        "low": np.array([one.low for one in results]),
        "high": np.array([one.high for one in results]),
        "configurations": np.array(n_configurations),
        "reason": np.array(reason, dtype=f"<U{REASON_LENGTH}"),
    }


@study(SearchStudy)
def search(
    tables: str | os.PathLike[str],
    *,
    names: Sequence[str] | None = None,
    rows: Any = ROWS,
    subsamples: int = 20,
    task: str = "binary",
    metric: str | None = None,
    event: str | None = None,
    space: Any = "tsamardinos2018",
    configurations: int | None = None,
    folds: int = 10,
    repeats: int = 10,
    n_bootstraps: int = 1000,
    samples: int = 0,
    target: str = "target",
    n_jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    told: BatchCallback | None = None,
    random_state: RandomState = None,
) -> StudyJob[SearchSetting, SearchStudy]:
    """How far each protocol's estimate of the AUC is from the truth, and how good its winner is, on real tables.

    The AUC may be another metric, and the tables of more classes, of numbers or of censored times. Each table is
    divided, with its classes or events in proportion, into 30 % from which sub-samples are drawn and 70 % on
    which the winners are scored. On each sub-sample every protocol selects a configuration and estimates its score:
    ``cv`` (CVT), ``tt``, ``nested_cv`` (NCV), ``bbc`` with 1 to R repeats, ``bced``, which may drop from the first
    fold on, as the article ran it, and ``bced_late``, from 50 predictions on, as it advises.

    Parameters
    ----------
    tables : path
        A folder of tables, CSV or Parquet.
    names : sequence of str, optional
        Only these, by their names without ending.
    rows : int or sequence of int
        N; the article's by default. A table is left out where its pool has fewer, or too few of a class.
    subsamples : int, default=20
        Of each table and N.
    task : {"binary", "multiclass", "regression", "survival"}
        The tables that are searched; the others of the folder are left out. A target of few whole numbers is read
        as classes, unless the task is a regression and ``names`` has the table.
    metric : str, optional
        By default the AUC of two classes, the accuracy of more, R² and Harrell's concordance.
    event : str, optional
        The column of events of survival tables; the target then holds the times.
    space : {"tsamardinos2018", "quick", "standard"}, list of (name, estimator, grid), or callable
        What is searched; the first is of two classes. ``callable(X, y)`` gives a list, for each sub-sample anew.
    configurations : int, optional
        How many are taken of the space, at equal distances; all by default.
    folds, repeats, n_bootstraps : int
        K (stratified), R and B.
    samples : int, default=0
        Of the direct bootstrap, each a whole search; it is left out where there are none.
    target : str
        The column that holds the classes.
    n_jobs : int, optional
    folder : path, optional
        Where finished sub-samples are kept; an interrupted study continues from them.
    told : callable, optional
        ``told(sub-samples done, sub-samples, seconds)`` after every one.
    random_state : int, RandomState or Generator, optional
        The same sub-samples are drawn for any number of them and any ``n_jobs``.

    Returns
    -------
    SearchStudy
        ``.to_frame()``: one row per table, N and protocol.

    Raises
    ------
    InputError
        When the folder, a table or a number cannot be used, naming it.

    References
    ----------
    Tsamardinos, Greasidou and Borboudakis (2018), section 6.2 and figures 2 to 7.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> place = Path(tempfile.mkdtemp())
    >>> load_breast_cancer(as_frame=True).frame.to_parquet(place / "breast.parquet")
    >>> found = search(
    ...     place, rows=40, subsamples=2, space=[("knn", KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]})],
    ...     folds=5, repeats=2, n_bootstraps=50, random_state=0,
    ... )
    >>> [row["protocol"] for row in found.rows() if row["truth"] > 0.9][:3]
    ['cv', 'tt', 'nested_cv']
    """
    kind, used = _checked_task(task, metric, event)
    searched = space_of(space, configurations)
    if searched.name.partition("(")[0] == ARTICLE and kind is not TaskKind.BINARY:
        raise InputError(
            f"the space {ARTICLE} is of two classes, got `task={task!r}`; take another, such as `space='quick'`.",
            argument="space",
        )
    sizes = checked_sizes("rows", rows, 4)
    (folds,), (repeats,) = checked_sizes("folds", folds, 3), checked_sizes("repeats", repeats, 1)
    (n_bootstraps,) = checked_sizes("n_bootstraps", n_bootstraps, 1)
    (samples,) = checked_sizes("samples", samples, 0)
    (subsamples,) = checked_sizes("subsamples", subsamples, 1)
    if min(sizes) < 2 * folds:
        raise InputError(
            "rows must be at least twice the folds, for stratified folds with rows of both classes, got "
            f"`rows={min(sizes)!r}` and `folds={folds!r}`.",
            argument="rows",
        )
    # A named table is read as the task says; in others whole numbers may be classes.
    declared_task = task if names and kind is TaskKind.REGRESSION else None
    found = tables_in(tables, names=names, target=target, event=event, task=declared_task, kinds=frozenset({kind}))
    settings, left_out = [], dict(found.left_out)
    for table, n in product(found.tables, sizes):
        reason = unfit(table, n)
        if reason is None:
            settings.append(SearchSetting(table, n, folds, repeats, n_bootstraps, searched, used.name, samples))
        else:
            left_out[f"{table.name} with {n} rows"] = reason
    if not settings:
        why = "; ".join(f"{name}: {reason}" for name, reason in list(left_out.items())[:3])
        raise InputError(f"no table of {tables} is large enough for these numbers of rows; {why}.")
    plan = StudyPlan("search", tuple(settings), subsamples, entropy_of(random_state), do_batch)

    def result(columns: list[Columns]) -> SearchStudy:
        places = tuple(SearchPlace(setting.table.name, setting.rows) for setting in settings)
        of_each = {setting.table.name: setting.table for setting in settings}
        return SearchStudy(
            places, tuple(columns), folds, repeats, n_bootstraps, searched.name, plan.entropy, left_out,
            tuple(characteristics(table) for table in of_each.values()), used.name, used.greater_is_better,
        )  # fmt: skip

    return StudyJob(plan, result, left_out=left_out, n_jobs=n_jobs, folder=folder, told=told)


def _checked_task(task: str, metric: Any, event: str | None) -> tuple[TaskKind, Metric]:
    """The kind of the tables, and a metric that can select on them."""
    kind = next((one for one in METRICS if one.value == task), None)
    if kind is None:
        raise InputError(f"task must be one of {', '.join(METRICS)}, got {task!r}.", argument="task")
    if event is None and kind is TaskKind.SURVIVAL:
        raise InputError(
            f"`task={task!r}` needs the column of events; name it with `event=`.",
            argument="event",
        )
    if event is not None and kind is not TaskKind.SURVIVAL:
        raise InputError(
            f"`event={event!r}` is for `task='survival'`, got `task={task!r}`; leave one of them out.",
            argument="event",
        )
    used = metric_named(METRICS[kind] if metric is None else metric)
    check_selects([used], 2)
    if kind not in used.tasks or times_of(used):
        able = "no times of its own" if kind in used.tasks else f"a metric of a {task} task"
        raise InputError(f"metric must be {able}, got {used.name!r}.", argument="metric")
    return kind, used


def small_tables(
    tables: str | os.PathLike[str],
    n: int,
    *,
    rows: Any = ROWS,
    target: str = "target",
    task: str = "binary",
    event: str | None = None,
) -> list[str]:
    """Names of some small tables of a folder that have sub-samples of every size, without reading all of it."""
    kind, _ = _checked_task(task, None, event)
    sizes = checked_sizes("rows", rows, 4)
    least = int(max(sizes) / POOL_SHARE) + 1
    return smallest_tables(
        tables,
        n,
        lambda table: next((reason for size in sizes if (reason := unfit(table, size))), None),
        target=target,
        event=event,
        kinds=frozenset({kind}),
        least_rows=least,
        least_minority=0 if kind is TaskKind.REGRESSION else int(LEAST_EXPECTED / min(sizes) * least) + 1,
    )
