"""The main job: run a search, choose its winner, and estimate how good the winner is.

``evaluate`` is the flow of the library, one line per stage; functions are named after their results.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import FitFailedWarning

from heldout._text import in_python
from heldout.configurations import Configurations
from heldout.dropping.replay import DroppingHistory
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates.of_search import Estimation, estimates_of_search
from heldout.estimates.types import Estimate
from heldout.execution.adaptive import Proposals, open_adaptive
from heldout.execution.cells import CellState
from heldout.execution.collect import RaceResults
from heldout.execution.comparison import compared_with_separate_fits
from heldout.execution.complexity import mean_complexities
from heldout.execution.events import SearchFinished, StageStarted
from heldout.execution.fit import final_model
from heldout.execution.halves import scores_in_halves
from heldout.execution.identity import versions
from heldout.execution.kept_models import fold_models_of, keeping, only_model
from heldout.execution.loop import tell
from heldout.execution.run import RunSettings, open_run
from heldout.execution.search import Search, warn_if_too_small, warn_of_flags
from heldout.execution.table import constant_columns
from heldout.execution.winner import flags_of_winner, pooled_scores, winner_of
from heldout.predictions import FoldScores
from heldout.result import Evaluation
from heldout.selection import CallableRefit
from heldout.selection.base import settings_of

Choose: TypeAlias = Callable[[RaceResults, Configurations], int]


def evaluate(search: Search, running: RunSettings = RunSettings(), *, choose: Choose | None = None) -> Evaluation:  # noqa: B008 - frozen
    """Run a search over configurations and estimate the performance of its winner.

    Parameters
    ----------
    search : Search
    running : RunSettings
        Where its cells run and are kept, and the listeners.
    choose : callable, optional
        Takes the results and the configurations and gives the winner, in place of the estimation's rule.

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
    >>> from heldout.execution.fit import make_scoring
    >>> from heldout.folds.splits import make_folds
    >>> from heldout.data.task import Task, truth_of
    >>> X, y = load_iris(return_X_y=True)
    >>> task = Task(X, truth_of(y))
    >>> grid = make_configurations(KNeighborsClassifier(), {"n_neighbors": [1, 50]})
    >>> scoring = make_scoring(task.truth, get_scorer("accuracy"))
    >>> found = evaluate(Search(task, grid, make_folds(task), scoring, Estimation(n_bootstraps=200), entropy=1))
    >>> found.winner, found.n_fits, bool(found.estimate.value < 1)
    (0, 10, True)
    """
    started = time.perf_counter()
    search.check()
    warned = warn_if_too_small(search)
    warn_of_flags(search)
    running = keeping(running, search.keep_models)
    with open_run(search.work, search.task, search.entropy, running, may_drop=search.drop is not None) as run:
        estimation = search.estimation
        (outcome,) = run.run_races(
            [search.race], rule=search.drop, selection=estimation.rule, aggregate=estimation.aggregate_so_far
        )
        found = run.race_results(search.race, outcome)
        chosen = chosen_in(search, found, choose=choose, warned=warned)
        halves = scores_in_halves(run, search.folds, search.scoring, tuple(found.fold_scores), chosen.winner)
    searched = time.perf_counter() - started
    return evaluation_of(search, running, found, searched, chosen, halves=halves, warned=warned)


def evaluate_adaptive(
    search: Search,
    proposals: Proposals,
    running: RunSettings = RunSettings(),  # noqa: B008 - frozen
    *,
    n_planned: int,
    choose: Choose | None = None,
) -> Evaluation:
    """Run an adaptive search, and estimate the performance of its winner.

    Parameters
    ----------
    search : Search
        Without configurations.
    proposals : Proposals
        Where its configurations come from.
    running : RunSettings
    n_planned : int
        How many configurations there will be at most.
    choose : callable, optional
        As in ``evaluate``.

    Raises
    ------
    InputError
        As ``evaluate``, and when nothing was proposed.
    """
    started = time.perf_counter()
    search.check(n_planned)
    warned = warn_if_too_small(search)
    running = keeping(running, search.keep_models)
    with open_adaptive(search, running, proposals.identity, n_planned) as run:
        proposals.resume(run.notes)
        while batch := proposals.next_batch():
            proposals.take(run.evaluate(batch))
        search, found = run.finish()
    warn_of_flags(search)
    chosen = chosen_in(search, found, choose=choose, warned=warned)
    return evaluation_of(search, running, found, time.perf_counter() - started, chosen, warned=warned)


@dataclass(frozen=True, eq=False)
class Chosen:
    """The winner of a search, and what it was chosen by."""

    winner: int
    read: RaceResults
    """The results that the choice and the estimate read: all, or those of the last splits of a strategy."""
    estimation: Estimation
    pooled: Mapping[str, NDArray[np.float64]]
    """``pooled_scores`` of every opened scorer."""
    within: Mapping[str, NDArray[np.float64]]
    """The same of pairs of rows of one split, where the search asks for that."""
    by_rule: bool
    """Whether the estimation's rule chose, and not a function of the user."""


def chosen_in(search: Search, found: RaceResults, *, choose: Choose | None = None, warned: bool = False) -> Chosen:
    """The winner of a search whose cells are done; warns of failed configurations.

    ``warned``: whether a warning has already said that there will be no estimate; then the first configuration that
    did not fail wins if none has a score.
    """
    task, configurations = search.task, search.configurations
    warn_of_failures(found, configurations, search.error_score)
    metrics = {name: search.scoring.metrics.get(name) for name in found.fold_scores}
    window = None if search.strategy is None else search.strategy.window
    read = found if window is None else found.last(window)
    pooled = pooled_scores(task, read.predictions, metrics)
    estimation = with_constants(search.estimation, found)
    within = pooled_scores(task, read.predictions, metrics, "within") if estimation.aggregate == "within" else {}
    if choose is not None:
        winner = choose(found, configurations)
    else:
        winner = winner_of(
            read, task, estimation, configurations, metrics, within or pooled, else_the_first=warned
        )  # a class too small for any score
    return Chosen(winner, read, estimation, pooled, within, choose is None)


def evaluation_of(
    search: Search,
    running: RunSettings,
    found: RaceResults,
    searched: float,
    chosen: Chosen,
    *,
    halves: Mapping[str, FoldScores] = MappingProxyType({}),
    warned: bool = False,
) -> Evaluation:
    """The record of a search from its cells: the winner, its estimates, the winner fitted on all rows.

    Parameters
    ----------
    searched : float
        Seconds of all cells and of the choice.
    chosen : Chosen
    halves : mapping
        The winner's scores in halves of the rows, where it was fitted there.
    warned : bool
        Whether a warning has already said that there will be no estimate.
    """
    started = time.perf_counter()
    task, configurations, listeners = search.task, search.configurations, running.listeners
    metrics = {name: search.scoring.metrics.get(name) for name in found.fold_scores}
    winner, read, estimation = chosen.winner, chosen.read, chosen.estimation

    estimates: Mapping[str, Estimate] = {}
    if estimation.method is not None:
        tell(listeners, StageStarted("estimate"))
        with _quiet_again(warned):
            estimates = estimates_of_search(
                task.truth, read.predictions, estimation, metrics=metrics, fold_scores=read.fold_scores,
                refit_metric=found.refit_metric, winner=winner, groups=task.groups,
                sample_weight=task.sample_weight, entropy=search.entropy, n_jobs=running.n_jobs,
                params=configurations.params, dropping=_history(search, found), halves=halves,
                flags=search.flags
                | (flags_of_winner(read, estimation, configurations, winner) if chosen.by_rule else {}),
            )  # fmt: skip
    estimated = time.perf_counter()

    model = None
    if search.refit and search.deploy == "all":
        tell(listeners, StageStarted("refit"))
        model = final_model(search.context, configurations[winner])
    refitted = time.perf_counter()
    if search.keep_models != "none":
        tell(listeners, StageStarted("fold models"))
    fold_models = fold_models_of(search.work, running, found, winner, search.keep_models)
    if search.deploy == "bounded" and fold_models is not None:
        model = only_model(fold_models)
    compared = None
    if search.share == "check":
        compared = compared_with_separate_fits(search.work, found, search.entropy)
    finished = time.perf_counter()
    tell(listeners, SearchFinished(searched + finished - started))
    return Evaluation(
        task=task, folds=found.folds, configurations=configurations, cells=found.cells,
        predictions=read.predictions, fold_scores=found.fold_scores, metrics=metrics, pooled_scores=chosen.pooled,
        within_scores=chosen.within, scores_in_halves=dict(halves),
        refit_metric=found.refit_metric, winner=winner, estimates=estimates, model=model, failures=found.failures,
        barriers=found.outcome.barriers, n_fits=found.n_fits + len(search.folds.halves),
        n_fits_saved=found.n_fits_saved, share_comparison=compared, fold_models=fold_models,
        n_splits_read=None if search.strategy is None else search.strategy.window,
        seconds={"search": searched, "estimate": estimated - started, "refit": refitted - estimated},
        provenance=_provenance(search, found),
    )  # fmt: skip


def _history(search: Search, found: RaceResults) -> DroppingHistory | None:
    """The parts of the race that an estimate repeats; None without dropping.

    In an adaptive search each configuration raced against the best before it, which no bootstrap repeats.
    """
    if search.drop is None or found.predictions.adaptive:
        return None
    columns, outcome = found.folds.columns, found.outcome
    met = tuple((columns[split.repeat], split.fold) for split in outcome.splits)
    return DroppingHistory(search.drop, met, {j: left.after for j, left in outcome.dropped.items()})


def with_constants(estimation: Estimation, found: RaceResults) -> Estimation:
    """The estimation, with what its rule may read besides scores: columns, or the complexity of the models."""
    rule: Any = estimation.rule
    if rule.reads_models:
        rule = replace(rule, complexity=mean_complexities(found.cells, found.predictions.names))
    if isinstance(rule, CallableRefit):
        rule = replace(rule, constants=constant_columns(found.cells))
    return replace(estimation, selection=rule)


class FailedConfigurationsWarning(FitFailedWarning, HeldoutWarning):  # type: ignore[misc]
    """Some configurations failed and are no candidates."""


class AllFailedTypeError(InputError, TypeError):
    """Every configuration raised a TypeError, which callers of estimators may expect."""


def warn_of_failures(found: RaceResults, configurations: Configurations, error_score: float | str) -> None:
    """Warn of failed configurations; raise if all failed."""
    total, failed = len(configurations), len(found.failures)
    if failed == total:
        reasons = list(dict.fromkeys(found.failures.values()))
        all_of_type = all(reason.startswith("TypeError: ") for reason in reasons)
        in_full = in_python(", or use error_score='raise' to see the first error in full")
        raise (AllFailedTypeError if all_of_type else InputError)(
            f"all {total} configurations failed, so there is no winner; fix them{in_full}: "
            f"{'; '.join(reasons).rstrip('.')}."
        )
    if found.hopeless:
        message = found.cells.columns["message"][found.cells.is_in(CellState.FAILED)][0]
        lacking = "any event" if found.predictions.classes is None else "one of the classes"
        warnings.warn(
            f"{len(found.hopeless)} of {len(found.cells) // total} splits train without {lacking}, and no "
            f"configuration could be scored there ({message}); scores leave these splits out.",
            FailedConfigurationsWarning,
            stacklevel=3,
        )
    if failed:
        listed = [f"{configurations[j].name}: {why}" for j, why in found.failures.items()]
        more = f"; and {failed - 5} more" if failed > 5 else ""
        number = np.nan if error_score == "raise" else error_score
        warnings.warn(
            f"{failed} of {total} configurations failed and are not candidates (their missing scores are set to "
            f"{number}): {'; '.join(listed[:5])}{more}",
            FailedConfigurationsWarning,
            stacklevel=3,
        )


@contextmanager
def _quiet_again(warned: bool) -> Iterator[None]:
    """Suppress warnings that were already given before fitting."""
    with warnings.catch_warnings():
        if warned:
            warnings.simplefilter("ignore", HeldoutWarning)
        yield


def _provenance(search: Search, found: RaceResults) -> dict[str, Any]:
    task, drop = search.task, search.drop
    return {
        "entropy": search.entropy,
        "fingerprint_of_rows": task.fingerprint(),
        "fingerprint_of_folds": search.folds.fingerprint(),
        "versions": versions(),
        "n_rows": task.n_rows,
        "n_columns": np.shape(task.X)[1] if len(np.shape(task.X)) > 1 else None,
        "weighted": task.sample_weight is not None,
        "drop": None if drop is None else {"rule": drop.name, **settings_of(drop)},
        "n_splits_planned": search.folds.n_splits,
        "deploy": search.deploy,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }
