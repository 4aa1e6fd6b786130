"""The main job: run a search, choose its winner, and estimate how good the winner is.

``evaluate`` is the flow of the library, one line a stage; what it calls is named after what it returns.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.exceptions import FitFailedWarning

from heldout.cells import CellState
from heldout.choosing import pooled_scores, winner_of
from heldout.configurations import Configurations
from heldout.dropping.base import Course, DropRule, SearchStrategy
from heldout.dropping.replay import DroppingHistory
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates.evidence.race import check_drawable, check_selects
from heldout.estimates.named import method_of
from heldout.estimates.of_search import Estimation, check_applicable, estimates_of_search
from heldout.estimates.rehearsal import refused_on_splits
from heldout.estimates.types import Estimate
from heldout.fitting import CellContext, Routed, Scoring, refitted
from heldout.folds import Folds
from heldout.result import Evaluation
from heldout.run.collect import Collected
from heldout.run.events import SearchFinished, StageStarted
from heldout.run.executor import Work
from heldout.run.identity import versions
from heldout.run.loop import tell
from heldout.run.plan import Race, race_of_search
from heldout.run.session import Running, opened
from heldout.run.table import constant_columns
from heldout.scored_splits import unscored_splits
from heldout.selection import Best, CallableRefit, check_rule
from heldout.selection.base import settings_of
from heldout.task import Task

Choose: TypeAlias = Callable[[Collected], int]


@dataclass(frozen=True, eq=False)
class Search:
    """What is searched and how: all that decides the result.

    Attributes
    ----------
    task, configurations, folds, scoring
        What is learned, what is tried, on which splits, and what is measured.
    estimation : Estimation
        How the winner is chosen, and estimated.
    drop : DropRule or None
        Who leaves early.
    routed : Routed
        Parameters of ``fit`` and of the scorer.
    error_score : float or "raise"
        With "raise" the first failure ends the search. A number only fills ``cv_results_``.
    return_train_score : bool
    refit : bool
        Whether to fit the winner on all rows.
    entropy : int
        64 bits that seed the search.
    seed_estimators : bool
        Whether to fill ``random_state=None`` inside estimators.
    """

    task: Task
    configurations: Configurations
    folds: Folds
    scoring: Scoring
    estimation: Estimation = field(default_factory=Estimation)
    drop: DropRule | None = None
    routed: Routed = field(default_factory=Routed)
    error_score: float | Literal["raise"] = np.nan
    return_train_score: bool = False
    refit: bool = True
    entropy: int = 0
    seed_estimators: bool = False

    def __post_init__(self) -> None:
        strategy = self.strategy
        if strategy is None:
            return
        if self.estimation.rule not in (Best(), strategy.selection):
            raise InputError(
                f"drop='{strategy.name}' chooses the winner itself, by the mean rank over its last "
                f"{strategy.window} steps, so selection must be 'best' and refit no function, got "
                f"'{self.estimation.rule.name}'."
            )
        object.__setattr__(self, "estimation", replace(self.estimation, selection=strategy.selection))

    @property
    def strategy(self) -> SearchStrategy | None:
        """The rule of dropping, where it also planned the splits and chooses the winner."""
        return self.drop if isinstance(self.drop, SearchStrategy) else None

    @property
    def work(self) -> Work:
        """What its cells are made of."""
        seeds = self.entropy if self.seed_estimators else None
        context = CellContext.of_task(
            self.task, self.scoring, self.routed, self.error_score, self.return_train_score, seeds
        )
        return Work(context, self.configurations, self.folds)

    @property
    def race(self) -> Race:
        """All its configurations on all its splits."""
        return race_of_search(self.folds, self.drop, self.entropy)

    def check(self) -> None:
        """Refuse, before anything is fitted, settings that do not go together.

        Raises
        ------
        InputError
        """
        check_settings(self.scoring, self.estimation)
        read = _scorers_read(self.scoring, self.estimation)
        check_rule(self.estimation.rule, len(self.configurations), self.configurations.params, read)
        metrics = [metric for name in read if (metric := self.scoring.metrics.get(name))]
        check_selects(metrics, len(self.configurations))
        if self.drop is not None:
            _check_droppable(self, self.drop)
        if too_few_to_draw(self.task, self.scoring) is None:  # else it is said that there will be no estimate
            _check_splits(self)


def evaluate(search: Search, running: Running = Running(), *, choose: Choose | None = None) -> Evaluation:  # noqa: B008 - frozen
    """Run a search over configurations and estimate the performance of its winner.

    Parameters
    ----------
    search : Search
    running : Running
        Where its cells are done and kept, and who is told.
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
    >>> found = evaluate(Search(task, grid, make_folds(task), scoring, Estimation(n_bootstraps=200), entropy=1))
    >>> found.winner, found.n_fits, bool(found.estimate.value < 1)
    (0, 10, True)
    """
    started = time.perf_counter()
    search.check()
    warned = warn_if_too_small(search)
    with opened(search.work, search.task, search.entropy, running, may_drop=search.drop is not None) as session:
        (outcome,) = session.race([search.race], rule=search.drop, selection=search.estimation.rule)
        found = session.collected(search.race, outcome)
    searched = time.perf_counter() - started
    return concluded(search, running, found, searched, choose=choose, warned=warned)


def concluded(
    search: Search,
    running: Running,
    found: Collected,
    searched: float,
    *,
    choose: Choose | None = None,
    warned: bool = False,
) -> Evaluation:
    """From the cells of a search to its record: the winner, its estimates, the winner fitted on all rows.

    Parameters
    ----------
    searched : float
        Seconds that the cells took.
    warned : bool
        Whether it was said before that there will be no estimate.
    """
    started = time.perf_counter()
    task, configurations, listeners = search.task, search.configurations, running.listeners
    warn_of_failures(found, configurations, search.error_score)
    metrics = {name: search.scoring.metrics.get(name) for name in found.fold_scores}
    window = None if search.strategy is None else search.strategy.window
    read = found if window is None else found.last(window)
    pooled = pooled_scores(task, read.predictions, metrics)
    estimation = informed(search.estimation, found)
    if choose is not None:
        winner = choose(found)
    else:
        winner = winner_of(
            read, task, estimation, configurations, metrics, pooled, else_the_first=warned
        )  # a class too small for any score
    chosen = time.perf_counter()

    estimates: Mapping[str, Estimate] = {}
    if estimation.method is not None:
        tell(listeners, StageStarted("estimate"))
        with _quiet_again(warned):
            estimates = estimates_of_search(
                task.truth, read.predictions, estimation, metrics=metrics, fold_scores=read.fold_scores,
                refit_metric=found.refit_metric, winner=winner, groups=task.groups,
                sample_weight=task.sample_weight, entropy=search.entropy, n_jobs=running.n_jobs,
                params=configurations.params, dropping=_history(search, found),
            )  # fmt: skip
    estimated = time.perf_counter()

    model = None
    if search.refit:
        tell(listeners, StageStarted("refit"))
        model = refitted(search.work.context, configurations[winner])
    finished = time.perf_counter()
    tell(listeners, SearchFinished(searched + finished - started))
    return Evaluation(
        task=task, folds=found.folds, configurations=configurations, cells=found.cells,
        predictions=read.predictions, fold_scores=found.fold_scores, metrics=metrics, pooled_scores=pooled,
        refit_metric=found.refit_metric, winner=winner, estimates=estimates, model=model, failures=found.failures,
        barriers=found.outcome.barriers, n_fits=found.n_fits, n_fits_saved=found.n_fits_saved,
        n_splits_read=window,
        seconds={
            "search": searched + chosen - started, "estimate": estimated - chosen, "refit": finished - estimated,
        },
        provenance=_provenance(search, found),
    )  # fmt: skip


def _history(search: Search, found: Collected) -> DroppingHistory | None:
    """The race as far as an estimate repeats it; None where nobody could leave."""
    if search.drop is None:
        return None
    columns, outcome = found.folds.columns, found.outcome
    met = tuple((columns[split.repeat], split.fold) for split in outcome.met)
    return DroppingHistory(search.drop, met, {j: left.after for j, left in outcome.dropped.items()})


def informed(estimation: Estimation, found: Collected) -> Estimation:
    """The estimation with what its rule may read of the search besides scores."""
    rule = estimation.rule
    if isinstance(rule, CallableRefit):
        rule = replace(rule, constants=constant_columns(found.cells, found.folds.n_splits))
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


def _check_droppable(search: Search, drop: DropRule) -> None:
    """Refuse a rule of dropping that cannot judge such a search.

    Raises
    ------
    InputError
    """
    scoring = search.scoring
    metric = scoring.metrics.get(scoring.refit_metric)
    if metric is None:
        raise InputError(
            f"drop='{drop.name}' compares held-out predictions, but the scorer '{scoring.refit_metric}' cannot be "
            "opened; use drop=None, or a scorer made by make_scorer."
        )
    if isinstance(search.estimation.rule, CallableRefit):
        raise InputError(
            f"drop='{drop.name}' asks at every barrier who is ahead, and a callable refit can be asked at the end "
            "only; use drop=None, or a rule of selection=."
        )
    task = search.task
    race = search.race
    course = Course(len(race.splits), race.n_folds, task.groups is not None, task.sample_weight is not None)
    reason = drop.unfit(metric, course)
    if reason:
        raise InputError(f"drop='{drop.name}' does not fit: {reason}; drop='bootstrap' fits every metric.")


def _check_splits(search: Search) -> None:
    """Refuse splits on which nobody could be chosen, or that the method is not for.

    Raises
    ------
    InputError
    """
    task, estimation, folds = search.task, search.estimation, search.folds
    metric = search.scoring.metrics.get(search.scoring.refit_metric)
    lacking = unscored_splits(metric, task.truth, folds, all_of_them=True)
    if lacking and estimation.aggregate == "folds":
        raise InputError(
            f"{lacking}, so no configuration would have a score; use larger folds, or aggregate='pooled', which "
            "scores all held-out rows together."
        )
    if lacking and estimation.method is not None and "predictions" not in method_of(estimation.method).reads:
        raise InputError(
            f"method '{method_of(estimation.method).name}' compares scores of single splits, and {lacking}; use "
            "larger folds, or method='bbc'."
        )
    if estimation.method is None or metric is None or search.drop is not None:
        return
    if isinstance(estimation.rule, CallableRefit):
        return
    refused = refused_on_splits(
        task.truth, folds.labels, estimation, metric, search.configurations.params,
        groups=task.groups, sample_weight=task.sample_weight, entropy=search.entropy,
    )  # fmt: skip
    if refused:
        raise InputError(refused)


def _scorers_read(scoring: Scoring, estimation: Estimation) -> list[str]:
    """The scorers that the rule reads, the deciding one first."""
    others = list(scoring.metrics) if estimation.rule.reads_all_metrics else []
    return list(dict.fromkeys([scoring.refit_metric, *others]))


class FailedConfigurationsWarning(FitFailedWarning, HeldoutWarning):  # type: ignore[misc]
    """Some configurations failed and are no candidates."""


class AllFailedTypeError(InputError, TypeError):
    """Every configuration raised a TypeError: one more for those who await it from an estimator."""


def warn_of_failures(found: Collected, configurations: Configurations, error_score: float | str) -> None:
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


def too_few_to_draw(task: Task, scoring: Scoring) -> str | None:
    """Why no bootstrap can score this task, in one sentence; None where it can."""
    units = np.arange(task.n_rows) if task.groups is None else np.unique(task.groups, return_inverse=True)[1]
    metrics = [metric for metric in scoring.metrics.values() if metric is not None]
    try:
        check_drawable(task.truth, units, metrics, task.groups is not None)
    except InputError as error:
        return str(error)
    return None


def warn_if_too_small(search: Search) -> bool:
    """Say, before anything is fitted, that no bootstrap will be drawn; whether it was said."""
    reason = too_few_to_draw(search.task, search.scoring) if search.estimation.draws else None
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


def _provenance(search: Search, found: Collected) -> dict[str, Any]:
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
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }
