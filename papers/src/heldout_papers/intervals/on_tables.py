"""Lower bounds of every method on real tables, with all other rows as the truth (Paraschakis et al. 2024, table 3).

Small training sets of a table are searched, each method bounds the AUC of its winner from below, and the truth is
the AUC of that winner on all other rows of the table. Other metrics, and censored times, are studied likewise.
"""

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from heldout._sklearn import rows_at
from heldout._streams import RandomState, entropy_of, numpy_seed, stream
from heldout.data.task import Task, TaskKind, Truth
from heldout.errors import InputError
from heldout.execution.fit import Work, make_scoring
from heldout.execution.threads import on_one_thread
from heldout.folds.plans import KFolds
from heldout.folds.splits import make_folds
from heldout.metrics.base import Metric
from heldout.metrics.named import metric_named, scorer
from heldout_papers.engine.arguments import checked_sizes
from heldout_papers.engine.batches import Batch, BatchCallback, Columns, StudyJob, StudyPlan, study
from heldout_papers.intervals.light import light
from heldout_papers.intervals.methods import (
    LEAST_EVENTS,
    METRICS,
    BoundSettings,
    NoBound,
    TaskName,
    bounds,
    checked_level,
    checked_methods,
    checked_metric,
    without_bound,
)
from heldout_papers.intervals.tables_result import WHAT, IntervalsOnTables, TablePlace
from heldout_papers.search.fits import RowFits
from heldout_papers.search.protocols import score_of
from heldout_papers.search.space import SPACES, Space, space_of
from heldout_papers.search.subsamples import strata_of
from heldout_papers.tables import BINARY, SURVIVAL, TableFile, arrays_of, smallest_tables, tables_in

FEW_ROWS, MANY_ROWS = 50, 500
LARGE = 12_000
"""Rows from which on a table's training sets have ``MANY_ROWS``: the article's eleven tables get the article's."""
MOST_FOLDS = 10
LEAST_OF_CLASS = 2
"""Rows of the rarer class in a training set, so that there can be two folds."""
MOST_SHARE = 0.5
"""Of a table's rows in a training set: winners are scored on the others."""
NONE_CHOSEN = -1

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class TableSetting:
    """Training sets of a table, and the bounds for each."""

    table: TableFile
    rows: int  # N
    space: Space
    bounds: BoundSettings


def do_batch(batch: Batch[TableSetting], entropy: int) -> Columns:
    """Every method's bound on each training set, and the truth of its winner: arrays (repetitions, methods)."""
    done = [_repetition(batch.setting, number, entropy) for number in range(batch.first, batch.last)]
    return {name: np.stack([one[name] for one in done]) for name in done[0]}


def _repetition(setting: TableSetting, number: int, entropy: int) -> dict[str, NDArray[Any]]:
    digest = setting.table.digest
    X, y = arrays_of(setting.table)
    place = (digest, setting.rows, number)
    seed = numpy_seed(entropy, "study intervals on tables rows", *place)
    train, rest = train_test_split(
        np.arange(len(y)), train_size=setting.rows, stratify=strata_of(y), random_state=seed
    )
    own = stream(entropy, "study intervals on tables cells", *place)
    task = Task(rows_at(X, train), setting.table.truth(y[train]))
    scoring = make_scoring(task.truth, scorer(setting.bounds.metric))
    configurations = setting.space.configurations(task.X, y[train])
    fits = RowFits(Work(task, scoring, configurations, seeds=own))
    with warnings.catch_warnings(), on_one_thread():
        warnings.simplefilter("ignore")  # of thousands of fits on few rows some do not converge
        scores, folds = _held_out(task, fits, own)
        found = bounds(y[train], scores, folds, setting.bounds, own)
        chosen = {one.selected for one in found.values()}
        others, metric = setting.table.truth(y[rest]), metric_named(setting.bounds.metric)
        truths = {
            winner: _truth(fits, winner, rows_at(X, rest), others, metric)
            for winner in sorted(chosen - {NONE_CHOSEN})
        }
    lost = without_bound(NoBound.NOT_REFITTED, "")
    found = {name: lost if np.isnan(truths.get(one.selected, 0.0)) else one for name, one in found.items()}
    truth = [truths.get(one.selected, float("nan")) for one in found.values()]
    columns: dict[str, list[Any]] = {
        "low": [one.low for one in found.values()],
        "value": [one.value for one in found.values()],
        "truth": truth,
        "percentile": [
            one.percentile(worth) if one.failure is None else float("nan")
            for one, worth in zip(found.values(), truth, strict=True)
        ],
        "selected": [one.selected for one in found.values()],
        "failure": ["" if one.failure is None else str(one.failure) for one in found.values()],
    }
    kinds = {"selected": np.dtype(np.int64), "failure": np.dtype("<U60")}
    return {name: np.array(columns[name], dtype=kinds.get(name, np.dtype(np.float64))) for name in WHAT}


def _held_out(task: Task, fits: RowFits, own: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Scores (N, C), NaN where a fit failed, and the fold of each row."""
    n_folds = min(MOST_FOLDS, _most_folds(task.truth))
    folds = make_folds(task, KFolds(n_folds), entropy=own)
    scores = np.full((task.n_rows, len(fits.configurations)), np.nan)
    for split in folds.splits:
        scores[split.test] = fits.scores_on(split).scores
    return scores, folds.labels[:, 0].astype(np.intp)


def _most_folds(truth: Truth) -> int:
    """The rows of the rarer class; of censored times half of the events."""
    if truth.kind is TaskKind.SURVIVAL:
        return max(2, int(truth.values["event"].sum()) // LEAST_EVENTS)
    return int(truth.class_counts().min())


def _truth(fits: RowFits, winner: int, X: Any, truth: Truth, metric: Metric) -> float:
    """The score, on the rows that the search did not use, of a configuration fitted on all rows that it used."""
    scores = fits.refitted_scores(winner, X)
    return float("nan") if scores is None else score_of(metric, truth, scores)


@study(IntervalsOnTables)
def intervals_on_tables(
    tables: str | os.PathLike[str],
    *,
    names: Sequence[str] | None = None,
    train_rows: int | None = None,
    repetitions: int = 100,
    metric: str | None = None,
    event: str | None = None,
    space: Any = "light",
    configurations: int | None = None,
    methods: Sequence[str] | str | None = None,
    n_bootstraps: int = 1000,
    confidence_level: float = 0.95,
    target: str = "target",
    n_jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    told: BatchCallback | None = None,
    random_state: RandomState = None,
) -> StudyJob[TableSetting, IntervalsOnTables]:
    """How often lower bounds of the AUC hold on real tables, and how tight they are.

    Of each table training sets are drawn, with its classes in proportion. Each is searched by 10-fold
    cross-validation (by as many folds as the rarer class has rows where it has fewer), every method bounds the AUC
    of what it chooses, and what was chosen is fitted on the training set and scored on all other rows.

    Parameters
    ----------
    tables : path
        A folder of binary tables, or with ``event`` of survival tables, CSV or Parquet.
    names : sequence of str, optional
        Only these, by their names without ending.
    train_rows : int, optional
        N; by default 50, and 500 for tables of 12 000 rows and more.
    repetitions : int, default=100
        Training sets of each table.
    metric : {"roc_auc", "accuracy", "balanced_accuracy", "f1"}, optional
        Of two classes, "roc_auc" by default; of survival Harrell's concordance. The rarer class is the positive
        one.
    event : str, optional
        The column of events of survival tables, whose target holds the times; these need another space than the
        default.
    space : {"light", "quick", "standard", ...}, list of (name, estimator, grid), or callable
        What is searched; ``callable(X, y)`` gives a list, for each training set anew.
    configurations : int, optional
        How many are taken of the space, at equal distances; all by default.
    methods : sequence of str, optional
        Some of ``heldout_papers.intervals.methods.METHODS``; all by default.
    n_bootstraps : int, default=1000
        Twice as many for tilting.
    confidence_level : float, default=0.95
    target : str
        The column that holds the classes.
    n_jobs : int, optional
    folder : path, optional
        Where finished training sets are kept; an interrupted study continues from them.
    told : callable, optional
        ``told(training sets done, training sets, seconds)`` after every one.
    random_state : int, RandomState or Generator, optional
        The same training sets are drawn for any number of them, any methods and any ``n_jobs``.

    Returns
    -------
    IntervalsOnTables
        ``.to_frame()``: one row per table and method, with ``inclusion``, ``tightness``, ``rank`` and so on.

    Raises
    ------
    InputError
        When the folder, a table or a number cannot be used, naming it.

    References
    ----------
    Paraschakis, Castellani, Borboudakis and Tsamardinos (2024), sections 4 and 5, table 3.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> place = Path(tempfile.mkdtemp())
    >>> load_breast_cancer(as_frame=True).frame.to_parquet(place / "breast.parquet")
    >>> found = intervals_on_tables(
    ...     place, repetitions=3, space=[("knn", KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]})],
    ...     methods=["bbc", "bbc_f"], n_bootstraps=50, random_state=0,
    ... )
    >>> [(row["method"], row["inclusion"], row["train_rows"]) for row in found.rows()]
    [('bbc', 1.0, 50), ('bbc_f', 1.0, 50)]
    """
    (repetitions,) = checked_sizes("repetitions", repetitions, 1)
    (n_bootstraps,) = checked_sizes("n_bootstraps", n_bootstraps, 1)
    if train_rows is not None:
        (train_rows,) = checked_sizes("train_rows", train_rows, 2 * LEAST_OF_CLASS)
    task: TaskName = "binary" if event is None else "survival"
    measured = checked_metric(metric, task)
    shared = BoundSettings(
        task, checked_methods(methods, task, measured), n_bootstraps, checked_level(confidence_level),
        "" if measured == METRICS[task][0] else measured,
    )  # fmt: skip
    if event is not None and isinstance(space, str) and space == "light":
        raise InputError(
            f"the space light is of classes, got `event={event!r}`; take another, such as `space='quick'`.",
            argument="space",
        )
    searched = space_of(space, configurations, {"light": light, **SPACES})
    kinds = BINARY if event is None else SURVIVAL
    found = tables_in(tables, names=names, target=target, event=event, kinds=kinds)
    settings, left_out = [], dict(found.left_out)
    for table in found.tables:
        n = train_rows or usual_train_rows(table.rows)
        reason = unfit(table, n)
        if reason is None:
            settings.append(TableSetting(table, n, searched, shared))
        elif names:
            raise InputError(
                f"table {table.name} cannot be used: {reason}; use other `train_rows`, or leave it out."
            )
        else:
            left_out[table.name] = reason
    if not settings:
        why = "; ".join(f"{name}: {reason}" for name, reason in list(left_out.items())[:3])
        raise InputError(f"no table is fit for the study; left out were {why}.")
    plan = StudyPlan("intervals on tables", tuple(settings), repetitions, entropy_of(random_state), do_batch)

    def result(columns: list[Columns]) -> IntervalsOnTables:
        places = tuple(TablePlace(setting.table.name, setting.rows) for setting in settings)
        return IntervalsOnTables(
            places, shared.methods, tuple(columns), shared.confidence_level, n_bootstraps, searched.name,
            plan.entropy, left_out, measured,
        )  # fmt: skip

    return StudyJob(plan, result, left_out=left_out, n_jobs=n_jobs, folder=folder, told=told)


def usual_train_rows(n_rows: int) -> int:
    """Of a training set of a table with so many rows.

    Examples
    --------
    >>> usual_train_rows(11_055), usual_train_rows(14_980)
    (50, 500)
    """
    return MANY_ROWS if n_rows >= LARGE else FEW_ROWS


def small_tables(
    tables: str | os.PathLike[str],
    n: int,
    *,
    train_rows: int | None = None,
    target: str = "target",
    event: str | None = None,
) -> list[str]:
    """Names of some small tables of a folder that can be studied, without reading all of it."""
    least = int((train_rows or FEW_ROWS) / MOST_SHARE)
    return smallest_tables(
        tables,
        n,
        lambda table: unfit(table, train_rows or usual_train_rows(table.rows)),
        target=target,
        event=event,
        kinds=BINARY if event is None else SURVIVAL,
        least_rows=least,
    )


def unfit(table: TableFile, n_rows: int) -> str | None:
    """Why a table cannot be studied with training sets of a size, as half a sentence; None where it can."""
    if n_rows > MOST_SHARE * table.rows:
        return f"it has {table.rows} rows, and a training set of {n_rows} would leave too few to score on"
    is_survival = table.kind is TaskKind.SURVIVAL
    if n_rows * table.minority < (2 * LEAST_EVENTS if is_survival else LEAST_OF_CLASS):
        of_what = "with an event" if is_survival else "of the rarer class"
        return f"a training set of {n_rows} would have {n_rows * table.minority:.1f} rows {of_what}"
    return None
