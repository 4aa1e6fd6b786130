"""The search that the advice is about, the cost of each protocol, and its bias at worst.

Fits are counted; their time is a multiple of a measured total. Biases are those of independent configurations, by
simulation.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from scipy.stats import t as student

from heldout import _defaults, studies
from heldout._streams import stream
from heldout._text import number_text
from heldout.arguments.search import SearchArguments
from heldout.configurations import Configuration
from heldout.data.checks import call_in, preset_names
from heldout.data.task import TaskKind
from heldout.dropping.base import judged_after
from heldout.dropping.bootstrap import Bootstrap
from heldout.errors import InputError, MissingPapersError, installation
from heldout.execution.cells import CellResult, CellState
from heldout.execution.listeners.words import duration
from heldout.execution.search import Search
from heldout.execution.split_fits import SplitFits
from heldout.folds.plans import events_of, number_of_folds
from heldout.folds.splits import Split
from heldout.metrics.base import Metric
from heldout.protocols.nested.plan import NestedFolds, nested_folds
from heldout.report.templating import signed
from heldout.spaces.presets import PRESETS, kind_of_target, preset, published_space, published_spaces


@dataclass(frozen=True)
class Family:
    """The configurations of one estimator."""

    name: str
    units: tuple[tuple[int, ...], ...]
    """Their positions in the search; one fit serves those of a unit."""
    tuned: tuple[str, ...]
    """The hyper-parameters that differ among them."""

    @property
    def size(self) -> int:
        return sum(map(len, self.units))


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """One user's search, on all rows and with the outer folds."""

    search: Search
    families: tuple[Family, ...]
    nested: NestedFolds | None
    """The splits of nested cross-validation; None where the outer folds allow none."""
    refusal: str
    """Why there are none; empty otherwise."""

    @property
    def n_configurations(self) -> int:
        return len(self.search.configurations)

    @cached_property
    def n_units(self) -> int:
        """The number of independent units: groups where there are any, else rows."""
        task = self.search.task
        return task.n_rows if task.groups is None else len(np.unique(task.groups))

    @property
    def n_folds(self) -> int:
        """Splits per repeat."""
        return self.search.race.n_folds

    @property
    def auto_folds(self) -> int | None:
        """The number of folds that ``cv="auto"`` makes of these rows; None where it can make none."""
        task = self.search.task
        classes = np.asarray(task.target) if task.truth.kind.is_classification else None
        try:
            return number_of_folds(task.n_rows, classes, task.groups, events=events_of(task.target))
        except InputError:
            return None

    @property
    def metric(self) -> Metric | None:
        """The metric of the selection; None where it cannot be computed on any rows, as a bootstrap needs."""
        return self.search.scoring.metrics.get(self.search.scoring.refit_metric)

    @property
    def rarest_class(self) -> tuple[str, int] | None:
        """The rarest class and its number of rows; None for a target without classes."""
        truth = self.search.task.truth
        if truth.classes is None or not truth.kind.is_classification:
            return None
        counts = truth.class_counts()
        return str(truth.classes[int(counts.argmin())]), int(counts.min())


def problem_of(search: Search, inner: Any = None) -> SearchProblem:
    """A search with its families and the folds of nested cross-validation; nothing is fitted.

    Raises InputError for a grid that does not fit its estimator, and for an ``inner`` that allows no nesting.
    """
    # Names of parameters are checked also where nothing of a grid is fitted here.
    for one in {(id(one.template), *sorted(one.params)): one for one in search.configurations}.values():
        one.fresh()
    nested, refusal, several = None, "", len(search.configurations) > 1
    folds = _defaults.INNER if inner is None else inner
    try:
        nested = nested_folds(search.task, search.folds, folds, selects=several, entropy=search.entropy)
    except InputError as error:
        if inner is not None:
            raise
        refusal = str(error)
    return SearchProblem(search, _families(search), nested, refusal)


def _families(search: Search) -> tuple[Family, ...]:
    """The configurations grouped by their estimator."""
    members: dict[str, list[Configuration]] = {}
    for one in search.configurations:
        members.setdefault(one.model or type(one.template).__name__, []).append(one)
    sharing = search.work.sharing
    families = []
    for name, configurations in members.items():
        places = [one.position for one in configurations]
        units = sorted(sharing.units(places)) if sharing is not None else [(place,) for place in places]
        families.append(Family(name, tuple(units), _tuned(configurations)))
    return tuple(families)


def _tuned(configurations: Sequence[Configuration]) -> tuple[str, ...]:
    # By their text: values may be estimators, arrays or functions, which neither hash nor compare.
    texts = [{name: repr(value) for name, value in one.params.items() if name != "model"} for one in configurations]
    names = dict.fromkeys(name for text in texts for name in text)
    return tuple(name for name in names if len({text.get(name) for text in texts}) > 1)


def estimator_and_grid(configurations: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """The first two arguments of ``HeldOutSearchCV``."""
    if isinstance(configurations, str):
        table = X if hasattr(X, "shape") else np.asarray(X)
        if configurations in PRESETS:
            return preset(configurations, table, kind_of_target(y)), None
        if (call_in(configurations) or (configurations,))[0] in published_spaces():
            return published_space(configurations, table, y, kind_of_target(y)), None
    elif isinstance(configurations, tuple) and len(configurations) == 2 and hasattr(configurations[0], "fit"):
        return configurations
    elif isinstance(configurations, list | tuple):
        return list(configurations), None
    elif hasattr(configurations, "fit") and not SearchArguments(configurations).is_fixed_search:
        return configurations, None
    value = type(configurations).__name__ if hasattr(configurations, "fit") else repr(configurations)
    raise InputError(
        f"configurations must be (estimator, grid), a list of (name, estimator, grid), an estimator that is no "
        f"search, or a preset ({preset_names()}), got {value}."
    )


GOLDEN = (math.sqrt(5) - 1) / 2
COVERED = 0.95
"""Coverage of the range of the total time."""
WORTH_REPEATING = 0.05
"""A family's first fit also loads code: it is timed again unless it took more than this share of ``seconds``."""


@dataclass(frozen=True)
class TimedFit:
    """The time of a fit, which may serve several configurations.

    Attributes
    ----------
    configurations : tuple of int
    seconds : float
        Time to fit and score them on one thread, with their part of the time of steps that others share.
    failures : mapping of int to str
        Those that failed, and why.
    seconds_saved : float
        What separate fits of them would have taken longer.
    """

    configurations: tuple[int, ...]
    seconds: float
    failures: Mapping[int, str] = field(default_factory=dict)
    seconds_saved: float = 0.0

    @property
    def is_failure(self) -> bool:
        """Whether all of them failed: some fail at once, others after a long fit."""
        return len(self.failures) == len(self.configurations)


@dataclass(frozen=True)
class FamilyTime:
    """The time of a family's fits, as far as it is known.

    Attributes
    ----------
    name : str
    n_configurations, n_hyperparameters : int
        Its configurations, and the hyper-parameters that differ among them.
    n_fitted, n_failed : int
        Configurations that were fitted, and that failed.
    seconds : float
        Mean time of a configuration, its part of what it shares; NaN where none was timed.
    variance : float
        Variance of the family's total time, which comes from timing only some of its fits; 0 where all were
        timed, NaN where fewer than two were.
    seconds_alone : float
        Mean time of a configuration that is fitted by itself.
    n_timed : int
        Fits that were timed and did not fail; a fit may serve several configurations.
    """

    name: str
    n_configurations: int
    n_hyperparameters: int
    n_fitted: int
    n_failed: int
    seconds: float
    variance: float
    seconds_alone: float
    n_timed: int


class TotalTime(NamedTuple):
    """The time to fit every configuration once."""

    seconds: float
    low: float
    high: float
    """``seconds``, ``low``, ``high``: the time with its 95 % range; NaN where unknown."""
    alone: float = 1.0
    """How many times longer configurations take that are fitted by themselves, as winners are."""


def spread(n: int) -> list[int]:
    """The numbers below n, in an order in which the first few are spread over the whole.

    It goes by steps of the golden ratio: halving would repeat the same values of a grid's last parameters.

    Examples
    --------
    >>> spread(8)
    [0, 4, 1, 6, 3, 5, 2, 7]
    """
    return list(dict.fromkeys([*(int(step * GOLDEN % 1 * n) for step in range(50 * n)), *range(n)]))


def timed_fits(search: Search, families: Sequence[Family], seconds: float) -> list[TimedFit]:
    """Fit configurations on the first split until the time is spent; a fit that has started runs to its end.

    First one configuration of every family, then a second one of every family, and so on; with 0 seconds none.
    """
    end = time.perf_counter() + seconds
    fits: dict[tuple[int, ...], TimedFit] = {}
    for unit in _in_turn(families):
        if time.perf_counter() >= end:
            break
        fits[unit] = fit = _timed(search, unit)
        is_short = fit.seconds <= WORTH_REPEATING * seconds and not fit.is_failure
        if len(fits) <= len(families) and is_short and time.perf_counter() < end:
            fits[unit] = _timed(search, unit)
    return list(fits.values())


def _in_turn(families: Sequence[Family]) -> Iterator[tuple[int, ...]]:
    """The units of all families, one of each in turn."""
    orders = [[family.units[place] for place in spread(len(family.units))] for family in families]
    yield from (unit for units in zip_longest(*orders) for unit in units if unit is not None)


def _timed(search: Search, unit: tuple[int, ...]) -> TimedFit:
    work = search.work
    begin = time.perf_counter()
    # All positions: a step that others read is charged to this fit in part.
    fits = SplitFits(work, work.folds.splits[0], tuple(range(len(work.configurations))))
    cells = fits.scored(fits.results(unit))
    seconds = max(time.perf_counter() - begin - math.fsum(cell.ahead_seconds for cell in cells), 0.0)
    failures = {cell.key.configuration: _failure(cell, search.scoring.refit_metric) for cell in cells}
    savings = [saving.seconds for cell in cells for saving in cell.shared.values()]
    # Where nothing tells how long a separate fit takes, it takes about as long as the one for all.
    alone = (len(unit) - 1) / len(unit) * seconds
    saved = math.fsum(alone if saving is None else saving for saving in savings)
    return TimedFit(unit, seconds, {j: why for j, why in failures.items() if why}, max(saved, -seconds))


def _failure(cell: CellResult, scorer: str) -> str:
    """Why a search could not select it; empty where it could."""
    if cell.state is CellState.FAILED:
        return cell.message or "it failed"
    return "" if math.isfinite(cell.test_scores.get(scorer, math.nan)) else cell.message or "its score is NaN"


def family_time(family: Family, fits: Sequence[TimedFit]) -> FamilyTime:
    """The time of a family, from those of the fits that are its own."""
    tried = [fit for fit in fits if fit.configurations in family.units]
    done = [fit for fit in tried if not fit.is_failure]
    seconds = np.array([fit.seconds for fit in done])
    n, n_timed = len(family.units), len(done)
    n_failed = sum(len(fit.failures) for fit in tried)
    n_fitted = sum(len(fit.configurations) for fit in tried) - n_failed
    mean = variance = alone = math.nan
    if done:
        mean = float(seconds.mean()) * n / family.size
        n_done = sum(len(fit.configurations) for fit in done)
        alone = math.fsum(fit.seconds + fit.seconds_saved for fit in done) / n_done
    if n_timed == n:
        variance = 0.0
    elif n_timed > 1:
        variance = float(n**2 * (1 - n_timed / n) * seconds.var(ddof=1) / n_timed)
    return FamilyTime(
        family.name, family.size, len(family.tuned), n_fitted, n_failed, mean, variance, alone, n_timed
    )


def total_time(times: Sequence[FamilyTime], fits: Sequence[TimedFit]) -> TotalTime:
    """The time of all configurations, from a stratified sample with one stratum per family.

    The range is Student's with Satterthwaite's degrees of freedom; its low end is at least the time measured.

    Examples
    --------
    >>> fits = [TimedFit((0,), 1.0), TimedFit((2,), 2.0)]
    >>> total_time([family_time(Family("knn", ((0,), (1,), (2,), (3,)), ()), fits)], fits).seconds
    6.0
    """
    seconds = sum(one.n_configurations * one.seconds for one in times)
    alone = sum(one.n_configurations * one.seconds_alone for one in times) / seconds if seconds else 1.0
    variance = sum(one.variance for one in times)
    if not variance or math.isnan(variance):
        return TotalTime(seconds, seconds + variance, seconds + variance, alone)
    freedom = variance**2 / sum(one.variance**2 / (one.n_timed - 1) for one in times if one.variance)
    reach = float(student.ppf((1 + COVERED) / 2, freedom)) * math.sqrt(variance)
    measured = sum(fit.seconds for fit in fits if not fit.is_failure)
    return TotalTime(seconds, max(seconds - reach, measured), seconds + reach, alone)


REPEATS = 4
"""Three or four seem to suffice for intervals (Tsamardinos et al. 2018, section 6.2.4)."""
GROWTH = (0, 1, 2)
"""The time of a fit grows with a power of the training rows: not at all, in proportion, with the square."""


@dataclass(frozen=True)
class Cost:
    """The cost of a protocol, including the fit of the final model.

    Attributes
    ----------
    protocol : str
    fewest, most : int
        Number of fits. They differ where the data decide how many configurations are dropped.
    seconds, low, high : float
        Time of all fits, divided by the number of processes, with a range; NaN where it is unknown.
    bias, bias_standard_error : float
        In the worst case; NaN where it was not simulated.
    """

    protocol: str
    fewest: int
    most: int
    seconds: float
    low: float
    high: float
    bias: float
    bias_standard_error: float

    @property
    def time(self) -> str:
        """The time in words; empty where it is unknown."""
        ends = dict.fromkeys(duration(end) for end in (self.low, self.high) if math.isfinite(end))
        between = " to ".join(ends) if len(ends) == 2 else ""
        expected = "" if math.isnan(self.seconds) else f"about {duration(self.seconds)}"
        # A line of the table may end between the two, and not inside a time.
        parts = [expected, f"({between})" if between and expected else between]
        return " ".join(part.replace(" ", "\xa0") for part in parts if part)

    @property
    def bias_text(self) -> str:
        known = math.isfinite(self.bias)
        return f"{signed(self.bias)} ± {number_text(self.bias_standard_error, 3)}" if known else ""


def costs_of(
    problem: SearchProblem,
    times: Sequence[FamilyTime],
    fits: Sequence[TimedFit],
    worst_case: WorstCase | None,
    n_jobs: int | None,
) -> tuple[Cost, ...]:
    """The cost of every protocol that applies, from the times of fits on the first split."""
    total, costs = total_time(times, fits), []
    biases = {one.protocol: (one.bias, one.standard_error) for one in (worst_case.biases if worst_case else ())}
    for protocol, searched, single, n_searched in _fits(problem):
        most = n_searched * len(searched) + len(single)
        least = fewest_fits(problem) + len(single) if protocol == "bced" else most
        at_once = min(effective_n_jobs(n_jobs), most)
        low, middle, high = (
            (n_searched * _relative(problem, searched, power) + total.alone * _relative(problem, single, power))
            / (problem.n_configurations * at_once)
            for power in GROWTH
        )
        # How many are dropped is unknown beforehand: there is no expected time, only a range that always holds.
        expected = total.seconds * middle if least == most else math.nan
        ends = total.low * min(low, high) * least / most, total.high * max(low, high)
        costs.append(Cost(protocol, least, most, expected, *ends, *biases.get(protocol, (math.nan, math.nan))))
    return tuple(costs)


def _relative(problem: SearchProblem, rows: Sequence[int], power: int) -> float:
    """The fits on so many training rows as a number of timed ones, if time grows with a power of the rows."""
    timed_rows = len(problem.search.folds.splits[0].train)
    return float(((np.array(rows) / timed_rows) ** power).sum())


def _fits(problem: SearchProblem) -> Iterator[tuple[str, tuple[int, ...], tuple[int, ...], int]]:
    """Of each protocol its fits, by their training rows.

    Splits on each of which several configurations are fitted, those on which one is, and the number of the several.
    """
    folds, nested, c = problem.search.folds, problem.nested, problem.n_configurations
    last = problem.search.task.n_rows
    outer = _training(folds.splits)
    yield "cv", outer, (last,), c
    if problem.metric is not None:
        yield "bbc", outer, (last,), c
        if c > 1:
            yield "bced", outer, (last,), c
        # Folds of one row or group can be drawn in one way only, so repeats would be equal.
        if problem.n_folds < problem.n_units and folds.n_repeats == 1 and folds.is_partition:
            yield "bbc_repeats", outer * REPEATS, (last,), c
    if nested is not None:
        inner = [split for branch in nested.branches for split in branch.inner]
        searched, winners = _training([*nested.search.splits, *inner]), _training(nested.refits)
        yield "nested_cv", searched, (*winners, last), c
        if len(problem.families) > 1:
            # A family of one configuration selects nothing, so its outer folds are all that is fitted.
            choosing = [family.size for family in problem.families if family.size > 1]
            single = (*winners, last) * len(choosing) + (*outer, last) * (len(problem.families) - len(choosing))
            yield "nested_cv_families", searched, single, sum(choosing)


def _training(splits: Sequence[Split]) -> tuple[int, ...]:
    return tuple(len(split.train) for split in splits)


def fewest_fits(problem: SearchProblem) -> int:
    """The fits of a search that drops all configurations but one as early as the rule allows."""
    splits = problem.search.folds.splits
    judged = judged_after([split.repeat for split in splits])
    predicted: set[int] = set()
    for done, split in enumerate(splits[:-1], start=1):
        predicted.update(split.test.tolist())
        if judged[done - 1] and len(predicted) >= Bootstrap().min_predictions:
            return problem.n_configurations * done + len(splits) - done
    return problem.n_configurations * len(splits)


TRUTHS = {"accuracy": "accuracies", "roc_auc": "areas under the ROC curve", "mean_squared_error": "R²"}
"""The metrics that the study can simulate, and what the true values of configurations are."""
BETA = (9.0, 6.0)
"""Beta distribution of the true values: mean .6, the article's case with the largest biases."""
MOST_ROWS, MOST_CONFIGURATIONS, MOST_FOLDS = 1000, 2000, 20
MOST_REPETITIONS, FEWEST_REPETITIONS = 50, 12
CELLS_OF_ACCURACY, CELLS_OF_OTHERS = 25_000_000, 5_000_000
"""Predictions in all repetitions together, which take a second or two."""
N_BOOTSTRAPS = 200


@dataclass(frozen=True)
class ProtocolBias:
    """The optimism of a protocol's estimate, on average; below 0 where the estimate is too pessimistic."""

    protocol: str
    bias: float
    standard_error: float


@dataclass(frozen=True)
class WorstCase:
    """The result of the simulation.

    Attributes
    ----------
    metric : str
        "accuracy", "roc_auc", or "mean_squared_error" in units of the target's variance.
    rows, configurations, folds, repetitions : int
        Sizes of the simulation: the user's, limited to what takes a few seconds.
    beta : (float, float)
        Parameters of the distribution of true accuracies, areas or R².
    biases : tuple of ProtocolBias
    """

    metric: str
    rows: int
    configurations: int
    folds: int
    repetitions: int
    beta: tuple[float, float]
    biases: tuple[ProtocolBias, ...]

    @property
    def truths(self) -> str:
        return TRUTHS[self.metric]


def worst_case_of(problem: SearchProblem) -> tuple[WorstCase | None, str]:
    """The worst case, or the reason why there is none, which is empty where there is nothing to choose."""
    if problem.n_configurations < 2:
        return None, ""
    if not problem.search.folds.is_partition or problem.n_folds < 2:
        return None, "the simulation needs folds that test every row once, and yours do not"
    rows, configurations = min(problem.n_units, MOST_ROWS), min(problem.n_configurations, MOST_CONFIGURATIONS)
    folds = min(problem.n_folds, MOST_FOLDS, rows)
    metric, prevalence = _metric(problem, rows, folds)
    cells = CELLS_OF_ACCURACY if metric == "accuracy" else CELLS_OF_OTHERS
    repetitions = int(np.clip(cells // (rows * configurations), FEWEST_REPETITIONS, MOST_REPETITIONS))
    try:
        study = studies.bias(
            rows, configurations, [BETA],
            metric=metric, prevalence=prevalence, repetitions=repetitions, folds=folds, n_bootstraps=N_BOOTSTRAPS,
            protocols=("cv", "nested_cv", "bbc", "bced"), random_state=stream(problem.search.entropy, "advice"),
        )  # fmt: skip
    except MissingPapersError:
        return None, f"their study needs heldout-papers ({installation()})"
    biases = (ProtocolBias(row["protocol"], row["bias"], row["standard_error"]) for row in study.rows())
    return WorstCase(metric, rows, configurations, folds, repetitions, BETA, tuple(biases)), ""


def _metric(problem: SearchProblem, rows: int, folds: int) -> tuple[str, float | None]:
    """The simulated metric that is most like the user's, and the share of the rarest class."""
    task, rarest = problem.search.task, problem.rarest_class
    if task.truth.kind is TaskKind.REGRESSION:
        return "mean_squared_error", None
    is_area = problem.metric is not None and problem.metric.name == "roc_auc"
    if is_area and task.truth.kind is TaskKind.BINARY and rarest is not None:
        share = rarest[1] / task.n_rows
        if round(share * rows) >= folds:
            return "roc_auc", share
    return "accuracy", None
