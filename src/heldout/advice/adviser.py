"""``ho.advise``: what nested cross-validation would cost for one search, and what it would probably change."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from heldout._record import Record, TextTable
from heldout._streams import RandomState
from heldout.advice.costs import (
    Cost,
    FamilyTime,
    SearchProblem,
    WorstCase,
    costs_of,
    estimator_and_grid,
    family_time,
    problem_of,
    timed_fits,
    worst_case_of,
)
from heldout.advice.flat_vs_nested import Expected, expected_change, installed_evidence
from heldout.advice.recommendation import Recommendation, recommendation, said
from heldout.arguments.search import SearchArguments
from heldout.data.checks import check_seconds
from heldout.data.limits import check_jobs
from heldout.execution.listeners.words import duration

SMALL = 100
"""Rows below which the article advises repeats rather than dropping."""
MOST_HYPERPARAMETERS = 3
"""The most tuned hyper-parameters of any algorithm in the evidence."""
FEW_IN_A_FOLD = 8
"""Rows of a class per fold below which the advice warns."""
TITLES = {
    "cv": "uncorrected",
    "bbc": "shrinkage or bbc",
    "bced": "the same, early dropping",
    "bbc_repeats": "the same, 4 repeats",
    "nested_cv": "nested",
    "nested_cv_families": "nested, by family",
}
HEAD = ("", "fits", "time", "bias, at worst")
"""``TITLES``, ``HEAD``: of the protocols and of the columns in the printed table."""


@dataclass(frozen=True, eq=False)
class Advice(Record):
    """Which method to use for one search, and what nested cross-validation would cost and probably change.

    Attributes
    ----------
    n_rows, n_configurations : int
    metric : str
        The metric of the selection.
    costs : tuple of Cost
        Fits and time of each protocol that applies.
    families : tuple of FamilyTime
        The time of each family's fits.
    failures : mapping of str to str
        Configurations that failed while they were timed, with the reason.
    seconds_spent : float
        Time spent on these fits.
    changes : tuple of Expected
        What nested cross-validation changed on tables like this one, for 3 algorithms and for 12; empty for a
        single family.
    worst_case : WorstCase or None
        Biases if the configurations were independent.
    recommendation : Recommendation
        The method and the interval to use, with what they gave in the test bed.
    auto_folds : int or None
        The number of folds that ``cv="auto"`` makes of these rows; None where a class has one row.
    sentences, warnings : tuple of str
        The conclusions, and where they may not hold.
    entropy : int
        The seed that reproduces it.
    """

    n_rows: int
    n_configurations: int
    metric: str
    costs: tuple[Cost, ...]
    families: tuple[FamilyTime, ...]
    failures: Mapping[str, str]
    seconds_spent: float
    changes: tuple[Expected, ...]
    worst_case: WorstCase | None
    recommendation: Recommendation
    auto_folds: int | None
    sentences: tuple[str, ...]
    warnings: tuple[str, ...]
    entropy: int
    sources: ClassVar[tuple[str, ...]] = ("tsamardinos2018", "wainer2021", "cawley2010")
    _without = "costs"
    _more = "protocols=costs"

    def cost(self, protocol: str) -> Cost | None:
        """The cost of one protocol; None where it does not apply.

        Parameters
        ----------
        protocol : {"cv", "bbc", "bced", "bbc_repeats", "nested_cv", "nested_cv_families"}
        """
        return next((one for one in self.costs if one.protocol == protocol), None)

    @property
    def _rows(self) -> tuple[Cost, ...]:
        return self.costs

    def tables(self) -> list[TextTable]:
        """The method to use, a row per protocol, the reasons, and where they may not hold."""
        rows = []
        for one in self.costs:
            fits = f"{one.most:,}" if one.fewest == one.most else f"{one.fewest:,} to {one.most:,}"
            rows.append((TITLES[one.protocol], fits, one.time, one.bias_text))
        method, *reasons = self.sentences
        parts = [TextTable(method), TextTable("", HEAD, tuple(rows)), TextTable("Why:", notes=tuple(reasons))]
        doubts = TextTable("Where this may not hold:", notes=self.warnings)
        return [*parts, doubts] if self.warnings else parts

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        fits = ", ".join(f"{cost.protocol} {cost.most}" for cost in self.costs)
        method = self.recommendation.method
        return f"Advice({self.n_rows} rows, {self.n_configurations} configurations; method: {method}; fits: {fits})"


def advise(
    X: Any,
    y: Any,
    configurations: Any,
    *,
    scoring: Any = None,
    pos_label: Any = None,
    cv: Any = 5,
    inner: Any = None,
    seconds: float = 10.0,
    groups: Any = None,
    adaptive: bool = False,
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> Advice:
    """Advise on a search: which method and interval to use, what nesting would cost, and what it would change.

    The method follows from what is searched, with what it gave in the nearest cell of the test bed of corrections:
    ``.recommendation``. Fits are counted exactly. Time is measured: a few configurations of each family are fitted
    on the first split, one after another, until ``seconds`` are spent. What nesting changes is taken from evidence:
    a comparison of flat and nested cross-validation on real tables, and a simulation with your numbers of rows,
    configurations and folds. The timed fits select nothing and estimate nothing; their predictions are not kept.

    Parameters
    ----------
    X : array-like of shape (N, n_features)
    y : array-like of shape (N,)
    configurations : (estimator, grid), list of (name, estimator, grid), estimator, or "quick" or "standard"
        The configurations as ``HeldOutSearchCV`` takes them. An adaptive search (by Optuna, halving) is one
        estimator.
    scoring : str, metric or callable, optional
    pos_label : int, float, bool or str, optional
        Both as in ``HeldOutSearchCV``.
    cv : int, "auto", plan, splitter or iterable, default=5
        The folds of the search, which are also the outer folds of nested cross-validation.
    inner : "remaining", "holdout", int or splitter, optional
        As in ``nested_cv``; "remaining" by default.
    seconds : float, default=10.0
        Time to spend on fits; a fit that has started runs to its end. With 0 nothing is fitted or timed.
    groups : array-like of shape (N,), optional
    adaptive : bool
        Whether the search will propose configurations because of scores (Optuna, an evolution), of which these are
        examples.
    n_jobs : int, optional
        Processes of the planned search, by which its time is divided; the timed fits run one by one.
    random_state : int, RandomState or Generator, optional
        The seed of folds, models and simulation.

    Returns
    -------
    Advice
        ``print`` it; ``.recommendation`` is the method to use, ``.to_frame()`` has a row per protocol.

    Raises
    ------
    InputError
        When the data, the configurations, ``scoring``, ``cv`` or ``inner`` cannot be used as they are.

    References
    ----------
    Wainer and Cawley (2021); Tsamardinos, Greasidou and Borboudakis (2018), sections 6 and 7.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> advice = advise(X, y, (KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}), seconds=0, random_state=0)
    >>> [(cost.protocol, cost.most) for cost in advice.costs if cost.protocol in ("bbc", "nested_cv")]
    [('bbc', 16), ('nested_cv', 81)]
    >>> advice.recommendation.method
    'shrinkage'
    >>> "Nested cross-validation makes 81 fits where the search alone makes 16." in advice.sentences
    True
    """
    check_jobs(n_jobs)
    check_seconds(seconds)
    estimator, grid = estimator_and_grid(configurations, X, y)
    arguments = SearchArguments(
        estimator, grid, scoring=scoring, pos_label=pos_label, cv=cv, n_jobs=n_jobs, random_state=random_state
    )
    problem = problem_of(arguments.with_search().search_on(X, y, groups), inner)
    return advice_on(problem, seconds, n_jobs, adaptive=adaptive)


def advice_on(
    problem: SearchProblem, seconds: float, n_jobs: int | None = None, *, adaptive: bool = False
) -> Advice:
    """The advice on a checked search."""
    families, search = problem.families, problem.search
    method = recommendation(
        problem.metric,
        n_rows=problem.n_units,
        n_configurations=problem.n_configurations,
        alike=len(families) == 1,
        folds=problem.n_folds,
        only_scores=problem.metric is None,
        adaptive=adaptive,
    )
    fits = timed_fits(search, families, seconds)
    times = tuple(family_time(family, fits) for family in families)
    simulated, not_simulated = worst_case_of(problem)
    advice = Advice(
        n_rows=search.task.n_rows,
        n_configurations=problem.n_configurations,
        metric=search.scoring.refit_metric if problem.metric is None else problem.metric.name,
        costs=costs_of(problem, times, fits, simulated, n_jobs),
        families=times,
        failures={search.configurations.names[j]: why for fit in fits for j, why in fit.failures.items()},
        seconds_spent=sum(fit.seconds for fit in fits),
        changes=expected_change(installed_evidence(), problem.n_units) if len(families) > 1 else (),
        worst_case=simulated,
        recommendation=method,
        auto_folds=problem.auto_folds,
        sentences=(),
        warnings=(),
        entropy=search.entropy,
    )
    facts = {**_facts(problem, advice), "not_simulated": not_simulated}
    return replace(
        advice,
        sentences=(*method.sentences, *said("conclusions", facts)),
        warnings=(*method.warnings, *said("doubts", facts)),
    )


def _facts(problem: SearchProblem, advice: Advice) -> dict[str, Any]:
    """What the sentences are about, beside the search and the advice."""
    task, families = problem.search.task, advice.families
    rows = [line.rows // 2 for line in installed_evidence()]
    return {
        "advice": advice,
        "problem": problem,
        "units": "rows" if task.groups is None else "groups",
        "kind": task.truth.kind.value,
        "small": SMALL,
        "few_in_a_fold": FEW_IN_A_FOLD,
        # The scenario whose number of algorithms, 3 or 12, is nearer to the user's number of families.
        "nearest": min(advice.changes, key=lambda one: abs(math.log(one.algorithms / len(families))), default=None),
        "rows_of_evidence": (min(rows), max(rows)),
        "tried": sum(one.n_fitted + one.n_failed for one in families),
        "spent": duration(advice.seconds_spent),
        "wide": _names(families, lambda one: one.n_hyperparameters > MOST_HYPERPARAMETERS),
        "untimed": _names(families, lambda one: math.isnan(one.seconds)),
        "once": _names(families, lambda one: math.isnan(one.variance)),
    }


def _names(families: Sequence[FamilyTime], has: Callable[[FamilyTime], bool]) -> str:
    names = [one.name for one in families if has(one)]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
