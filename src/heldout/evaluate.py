"""The main job: run a search, choose its winner, and estimate how good the winner is.

``evaluate`` is the flow of the library, one line a stage; what it calls is named after what it returns.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import FitFailedWarning

from heldout.cells import CellState
from heldout.configurations import Configurations
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates.evidence.race import check_drawable, check_selects
from heldout.estimates.of_search import Estimation, check_applicable, estimates_of_search
from heldout.estimates.types import Estimate
from heldout.fitting import CellContext, Routed, Scoring, refitted
from heldout.folds import Folds
from heldout.metrics.aggregate import AggregateScore, aggregate_score
from heldout.metrics.base import Metric, oriented, quiet_if_foreign
from heldout.predictions import HeldOutPredictions
from heldout.result import Evaluation
from heldout.run.collect import Collected, collect
from heldout.run.events import Listener, SearchFinished, SearchStarted, StageStarted
from heldout.run.identity import run_identity, versions
from heldout.run.loop import run_cells, tell
from heldout.run.memory import check_memory
from heldout.run.table import constant_columns, mean_over_splits
from heldout.selection import NONE_CHOSEN, CallableRefit, ScoreTable, SelectionFailedError, check_rule
from heldout.store.base import RunIdentity, Store
from heldout.store.memory import MemoryStore
from heldout.task import Task

Choose: TypeAlias = Callable[[Collected], int]


def evaluate(
    task: Task,
    configurations: Configurations,
    folds: Folds,
    scoring: Scoring,
    estimation: Estimation = Estimation(),  # noqa: B008 - frozen
    *,
    error_score: float | Literal["raise"] = np.nan,
    return_train_score: bool = False,
    refit: bool = True,
    routed: Routed | None = None,
    store: Store | None = None,
    resume: bool = False,
    entropy: int = 0,
    seed_estimators: bool = False,
    n_jobs: int | None = None,
    pre_dispatch: int | str = "2*n_jobs",
    listeners: Sequence[Listener] = (),
    choose: Choose | None = None,
) -> Evaluation:
    """Run a search over configurations and estimate the performance of its winner.

    Parameters
    ----------
    task, configurations, folds, scoring
        What is learned, what is tried, on which splits, and what is measured.
    estimation : Estimation
        How the winner is chosen, and estimated.
    error_score : float or "raise"
        With "raise" the first failure ends the search. A number only fills ``cv_results_``.
    refit : bool
        Whether to fit the winner on all rows.
    routed : Routed, optional
        Parameters of ``fit`` and of the scorer.
    store : Store, optional
        Where results are kept; in memory by default.
    resume : bool
        Whether to go on with a run that the store holds already.
    entropy : int
        64 bits that seed the search.
    seed_estimators : bool
        Whether to fill ``random_state=None`` inside estimators.
    choose : callable, optional
        Takes the cells and the failures and gives the winner, in place of the estimation's rule.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        When the method does not apply, every configuration failed, or the predictions would not fit in memory.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics import get_scorer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from heldout.configurations import make_configurations
    >>> from heldout.fitting import make_scoring
    >>> from heldout.folds import make_folds
    >>> from heldout.task import truth_of
    >>> X, y = load_iris(return_X_y=True)
    >>> task = Task(X, truth_of(y))
    >>> grid = make_configurations(KNeighborsClassifier(), {"n_neighbors": [1, 50]})
    >>> scoring = make_scoring(task.truth, get_scorer("accuracy"))
    >>> found = evaluate(task, grid, make_folds(task), scoring, Estimation(n_bootstraps=200), entropy=1)
    >>> found.winner, found.n_fits, bool(found.estimate.value < 1)
    (0, 10, True)
    """
    started = time.perf_counter()
    routed, store = routed or Routed(), store or MemoryStore()
    check_settings(scoring, estimation)
    read = _scorers_read(scoring, estimation)
    check_rule(estimation.rule, len(configurations), configurations.params, read)
    check_selects([metric for name in read if (metric := scoring.metrics.get(name))], len(configurations))
    warned = estimation.draws and _warn_if_too_small(task, scoring)
    seeds = entropy if seed_estimators else None
    context = CellContext.of_task(task, scoring, routed, error_score, return_train_score, seeds)
    found = _searched(task, configurations, folds, context, store, resume, entropy, n_jobs, pre_dispatch, listeners)
    _warn_of_failures(found, configurations, error_score)
    metrics = {name: scoring.metrics.get(name) for name in found.fold_scores}
    pooled = pooled_scores(task, found.predictions, metrics)
    estimation = _informed(estimation, found, folds)
    winner = choose(found) if choose else _chosen(found, task, pooled, metrics, estimation, configurations, warned)
    searched = time.perf_counter()

    estimates: Mapping[str, Estimate] = {}
    if estimation.method is not None:
        tell(listeners, StageStarted("estimate"))
        with _quiet_again(warned):
            estimates = estimates_of_search(
                task.truth, found.predictions, estimation, metrics=metrics, fold_scores=found.fold_scores,
                refit_metric=found.refit_metric, winner=winner, groups=task.groups,
                sample_weight=task.sample_weight, entropy=entropy, n_jobs=n_jobs, params=configurations.params,
            )  # fmt: skip
    estimated = time.perf_counter()

    model = None
    if refit:
        tell(listeners, StageStarted("refit"))
        model = refitted(context, configurations[winner])
    finished = time.perf_counter()
    tell(listeners, SearchFinished(finished - started))
    return Evaluation(
        task=task, folds=folds, configurations=configurations, cells=found.cells, predictions=found.predictions,
        fold_scores=found.fold_scores, metrics=metrics, pooled_scores=pooled, refit_metric=found.refit_metric,
        winner=winner, estimates=estimates, model=model, failures=found.failures, n_fits=len(found.cells),
        seconds={"search": searched - started, "estimate": estimated - searched, "refit": finished - estimated},
        provenance=_provenance(task, folds, entropy),
    )  # fmt: skip


def _informed(estimation: Estimation, found: Collected, folds: Folds) -> Estimation:
    """The estimation with what its rule may read of the search besides scores."""
    rule = estimation.rule
    if isinstance(rule, CallableRefit):
        rule = replace(rule, constants=constant_columns(found.cells, folds.n_splits))
    return replace(estimation, selection=rule)


def check_settings(scoring: Scoring, estimation: Estimation) -> None:
    """Refuse, before anything is fitted, settings that do not go together.

    Raises
    ------
    InputError
    """
    estimation.check()
    read = _scorers_read(scoring, estimation)
    check_applicable(estimation.method, scoring.metrics, read)
    if estimation.aggregate == "pooled" and scoring.metrics.get(scoring.refit_metric) is None:
        raise InputError(
            f"aggregate='pooled' scores all rows together, but the scorer '{scoring.refit_metric}' cannot be "
            "opened; use aggregate='folds', or a scorer made by make_scorer."
        )


def _scorers_read(scoring: Scoring, estimation: Estimation) -> list[str]:
    """The scorers that the rule reads, the deciding one first."""
    others = list(scoring.metrics) if estimation.rule.reads_all_metrics else []
    return list(dict.fromkeys([scoring.refit_metric, *others]))


def _searched(
    task: Task,
    configurations: Configurations,
    folds: Folds,
    context: CellContext,
    store: Store,
    resume: bool,
    entropy: int,
    n_jobs: int | None,
    pre_dispatch: int | str,
    listeners: Sequence[Listener],
) -> Collected:
    """Every cell done, kept and gathered."""
    if isinstance(store, MemoryStore):
        check_memory(task.truth, len(configurations), folds, context.scoring)
        identity, ids = RunIdentity("", "", "", "", entropy), list[tuple[str, str]]()
    else:
        identity, ids = run_identity(task, configurations, folds, context, entropy)
    with store.open(identity, ids, resume=resume) as run:
        n_cells, n_resumed = len(configurations) * folds.n_splits, len(run.acknowledged())
        tell(listeners, SearchStarted(n_cells, n_resumed, len(configurations), folds.n_splits))
        run_cells(
            context, configurations, folds, run, n_jobs=n_jobs, pre_dispatch=pre_dispatch, listeners=listeners
        )
        return collect(run.results(), task.truth, configurations, folds, context.scoring)


class FailedConfigurationsWarning(FitFailedWarning, HeldoutWarning):  # type: ignore[misc]
    """Some configurations failed and are no candidates."""


class AllFailedTypeError(InputError, TypeError):
    """Every configuration raised a TypeError: one more for those who await it from an estimator."""


def _warn_of_failures(found: Collected, configurations: Configurations, error_score: float | str) -> None:
    """Say which configurations failed; raise when all did."""
    total, failed = len(configurations), len(found.failures)
    if failed == total:
        reasons = list(dict.fromkeys(found.failures.values()))
        all_of_type = all(reason.startswith("TypeError: ") for reason in reasons)
        raise (AllFailedTypeError if all_of_type else InputError)(
            f"all {total} configurations failed, so there is no winner; mend them, or use error_score='raise' to "
            f"see the first error in full: {'; '.join(reasons)}"
        )
    if found.hopeless:
        cell = next(cell for cell in found.cells if cell.state is CellState.FAILED)
        warnings.warn(
            f"{len(found.hopeless)} of {len(found.cells) // total} splits train without one of the classes, and no "
            f"configuration could be scored there ({cell.message}); scores leave these splits out.",
            FailedConfigurationsWarning,
            stacklevel=3,
        )
    if failed:
        listed = [f"{configurations[j].name}: {why}" for j, why in found.failures.items()]
        more = f"; and {failed - 5} more" if failed > 5 else ""
        warnings.warn(
            f"{failed} of {total} configurations failed and are no candidates (their missing scores are set to "
            f"{error_score}): {'; '.join(listed[:5])}{more}",
            FailedConfigurationsWarning,
            stacklevel=3,
        )


def pooled_scores(
    task: Task, predictions: HeldOutPredictions, metrics: Mapping[str, Metric | None]
) -> dict[str, NDArray[np.float64]]:
    """The metric on all held-out rows of a repeat, mean over repeats: (C,) for each opened scorer.

    Rows are those that every candidate predicted; NaN for configurations that failed or lack the response.
    """
    scores = {}
    for name, metric in metrics.items():
        if metric is None:
            continue
        scores[name] = np.full(predictions.n_configurations, np.nan)
        candidates, bound = _pooled(task, predictions, metric)
        if bound is not None:
            with quiet_if_foreign([metric]):
                scores[name][candidates] = bound.observed()
    return scores


def _pooled(
    task: Task, predictions: HeldOutPredictions, metric: Metric
) -> tuple[NDArray[np.intp], AggregateScore | None]:
    """The configurations with a score, and the metric on the rows that all of them predicted; None without any."""
    if not any(response in predictions.responses for response in metric.responses):
        return np.empty(0, dtype=np.intp), None
    running = np.array([j not in predictions.failed for j in range(predictions.n_configurations)])
    predicted = predictions.predicted(metric)
    candidates = np.flatnonzero(running & predicted.any(axis=(0, 2)))
    in_play = predicted[:, candidates].all(axis=1)
    if not len(candidates) or not in_play.any():
        return candidates, None
    segments = np.where(in_play, np.arange(in_play.shape[1]), -1).astype(np.int32)
    array = predictions.for_metric(metric)[:, candidates]
    with quiet_if_foreign([metric]):
        return candidates, aggregate_score(metric, task.truth, array, segments, task.sample_weight)


def _repeat_scores(
    task: Task, found: Collected, names: Sequence[str], metrics: Mapping[str, Metric | None], aggregate: str
) -> NDArray[np.float64]:
    """(1, repeats, C, M), greater = better: each repeat's own scores, in the search's aggregate."""
    columns = []
    for name in names:
        metric, fold_scores = metrics[name], found.fold_scores[name]
        n_repeats = int(fold_scores.repeat.max()) + 1
        if aggregate == "folds" or metric is None:
            of_folds = fold_scores.oriented()
            columns.append(
                [mean_over_splits(of_folds[fold_scores.repeat == repeat]) for repeat in range(n_repeats)]
            )
            continue
        scores = np.full((n_repeats, fold_scores.n_configurations), np.nan)
        candidates, bound = _pooled(task, found.predictions, metric)
        if bound is not None:
            with quiet_if_foreign([metric]):
                once = np.ones((1, bound.n_rows), dtype=np.uint8)
                scores[:, candidates] = oriented(metric, bound.by_repeat(once)[0])
        columns.append(list(scores))
    return np.stack([np.stack(column) for column in columns], axis=2)[None]


def _chosen(
    found: Collected,
    task: Task,
    pooled: Mapping[str, NDArray[np.float64]],
    metrics: Mapping[str, Metric | None],
    estimation: Estimation,
    configurations: Configurations,
    warned: bool,
) -> int:
    """What the rule chooses on the observed scores; failed configurations are no candidates."""
    rule = estimation.rule
    others = [name for name in metrics if name != found.refit_metric] if rule.reads_all_metrics else []
    names = [found.refit_metric, *others]
    in_folds = {name: found.fold_scores[name].oriented() for name in names}
    columns = []
    for name in names:
        metric = metrics[name]
        if estimation.aggregate == "pooled" and metric is not None:
            columns.append(oriented(metric, pooled[name]))
        else:
            columns.append(mean_over_splits(in_folds[name]))
    values = np.stack(columns, axis=1)[None]
    values[:, list(found.failures)] = np.nan
    folds = np.stack(list(in_folds.values()), axis=2)[None] if rule.reads_fold_scores else None
    repeats = None
    if getattr(rule, "reads_repeats", False):
        repeats = _repeat_scores(task, found, names, metrics, estimation.aggregate)
    try:
        winner = int(rule(ScoreTable(values, names, configurations.params, folds, repeats))[0])
    except SelectionFailedError as error:
        raise InputError(f"the selection rule '{rule.name}' failed on the scores: {error}.") from error
    if winner == NONE_CHOSEN and warned:  # a class too small for any score: the first, as in GridSearchCV
        return next(j for j in range(len(configurations)) if j not in found.failures)
    if winner == NONE_CHOSEN:
        raise InputError(
            f"'{found.refit_metric}' has no score in any split, so no configuration could be chosen; use larger "
            f"folds or another metric{f' ({found.complaint})' if found.complaint else ''}."
        )
    return winner


def too_few_to_draw(task: Task, scoring: Scoring) -> str | None:
    """Why no bootstrap can score this task, in one sentence; None where it can."""
    units = np.arange(task.n_rows) if task.groups is None else np.unique(task.groups, return_inverse=True)[1]
    metrics = [metric for metric in scoring.metrics.values() if metric is not None]
    try:
        check_drawable(task.truth, units, metrics, task.groups is not None)
    except InputError as error:
        return str(error)
    return None


def _warn_if_too_small(task: Task, scoring: Scoring) -> bool:
    reason = too_few_to_draw(task, scoring)
    if reason:
        warnings.warn(HeldoutWarning(f"the search will have no estimate: {reason}"), stacklevel=3)
    return reason is not None


@contextmanager
def _quiet_again(warned: bool) -> Iterator[None]:
    """Warn once of what was warned of before fitting."""
    with warnings.catch_warnings():
        if warned:
            warnings.simplefilter("ignore", HeldoutWarning)
        yield


def _provenance(task: Task, folds: Folds, entropy: int) -> dict[str, Any]:
    return {
        "entropy": entropy,
        "fingerprint_of_rows": task.fingerprint(),
        "fingerprint_of_folds": folds.fingerprint(),
        "versions": versions(),
        "n_rows": task.n_rows,
        "n_columns": np.shape(task.X)[1] if len(np.shape(task.X)) > 1 else None,
        "weighted": task.sample_weight is not None,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }
