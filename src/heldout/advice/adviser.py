"""``ho.advise``: what nested cross-validation would cost for one search, and what it would probably change."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from heldout._streams import RandomState, stream
from heldout._text import counted
from heldout.advice import words as words
from heldout.advice.costs import (
    ACCURACY,
    BBC,
    BCED,
    CV,
    MOST_FOLDS,
    MOST_ROWS,
    NESTED,
    ROC_AUC,
    SQUARED_ERROR,
    Cost,
    ProtocolBias,
    TotalTime,
    WorstCase,
    costs_of,
    family_times,
    timed_fits,
    total_time,
    worst_case,
)
from heldout.advice.evidence import Expected, TableEvidence, expected_change, installed_evidence
from heldout.advice.problem import SearchProblem, problem_of
from heldout.advice.recommendation import Situation, check_answer, recommended
from heldout.advice.result import Advice, time_of
from heldout.data.limits import check_jobs
from heldout.data.task import TaskKind
from heldout.errors import INSTALL_PAPERS, MissingPapersError
from heldout.estimates.coverage import CellEvidence
from heldout.execution.listeners.words import duration

SMALL = 100
"""Rows below which the article advises repeats rather than dropping."""
MOST_HYPERPARAMETERS = 3
"""The most tuned hyper-parameters of any algorithm in the evidence."""
FEW_IN_A_FOLD = 8
"""Rows of a class per fold below which the advice warns."""
NO_SIMULATION = {
    "folds": "the simulation needs folds that test every row once, and yours do not",
    "groups": "there are fewer groups than folds",
    "papers": f"their study needs heldout-papers ({INSTALL_PAPERS})",
}


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
    >>> print(advice.sentences[0])
    Nested cross-validation makes 81 fits where the search alone makes 16, 5.1 times as many.
    """
    check_jobs(n_jobs)
    check_answer("adaptive", adaptive)
    problem = problem_of(
        X, y, configurations,
        scoring=scoring, pos_label=pos_label, cv=cv, inner=inner, groups=groups, n_jobs=n_jobs,
        random_state=random_state,
    )  # fmt: skip
    return advice_on(problem, seconds, n_jobs, adaptive=adaptive)


def advice_on(
    problem: SearchProblem,
    seconds: float,
    n_jobs: int | None = None,
    *,
    clock: Callable[[], float] = time.perf_counter,
    evidence: Sequence[TableEvidence] | None = None,
    adaptive: bool = False,
    bed: Sequence[CellEvidence] | None = None,
) -> Advice:
    """The advice on a checked search; ``clock`` returns the seconds since a fixed moment."""
    fits = timed_fits(problem.search, problem.families, seconds, clock)
    times = family_times(problem.families, fits)
    total = total_time(times, fits)
    simulated, why_not = _worst_case(problem)
    costs = costs_of(problem, total, n_jobs)
    known = installed_evidence() if evidence is None else evidence
    changes = expected_change(known, problem.n_units) if len(problem.families) > 1 else ()
    names = problem.search.configurations.names
    spent = sum(one.seconds for one in fits)
    failures = {names[j]: why for one in fits for j, why in one.failures.items()}
    n_fitted = sum(len(one.configurations) for one in fits)
    by_protocol = {one.protocol: one for one in costs}
    method = recommended(_situation(problem, adaptive), bed)
    allowed = problem.auto_folds
    sentences = [
        *_on_costs(problem, by_protocol),
        *([_on_folds(problem, allowed)] if allowed else []),
        *method.sentences,
        *_on_changes(problem, changes, by_protocol),
        *_on_biases(problem, simulated),
        *([words.timing_sentence(n_fitted, len(names), duration(spent))] if fits else []),
        words.ASSUMED,
    ]
    warnings = [
        *_on_the_data(problem, known),
        *method.warnings,
        *([words.no_nesting(problem.refusal)] if problem.nested is None else []),
        *([words.no_simulation(why_not)] if why_not else []),
        *_on_times(failures, n_fitted, total),
    ]
    return Advice(
        problem.n_rows, len(names), problem.metric, costs, times, failures, spent, changes, simulated,
        method, allowed, tuple(sentences), tuple(warnings), problem.search.entropy,
    )  # fmt: skip


def _situation(problem: SearchProblem, adaptive: bool) -> Situation:
    """What the user will have after the search."""
    scoring = problem.search.scoring
    return Situation(
        metric=scoring.metrics.get(scoring.refit_metric),
        n_rows=problem.n_units,
        n_configurations=problem.n_configurations,
        alike=len(problem.families) == 1,
        folds=problem.n_folds,
        only_scores=not problem.is_opened,
        adaptive=adaptive,
        kind=problem.search.task.truth.kind,
    )


def _worst_case(problem: SearchProblem) -> tuple[WorstCase | None, str]:
    """The simulation, or the reason why there is none."""
    if problem.n_configurations < 2:
        return None, ""  # another sentence says that there is nothing to choose
    if not problem.search.folds.is_partition or problem.n_folds < 2:
        return None, NO_SIMULATION["folds"]
    if problem.n_units < problem.n_folds:
        return None, NO_SIMULATION["groups"]
    entropy = stream(problem.search.entropy, "advice")
    metric, prevalence = _simulated_metric(problem)
    sizes = problem.n_units, problem.n_configurations, problem.n_folds
    try:
        return worst_case(*sizes, entropy, metric=metric, prevalence=prevalence), ""
    except MissingPapersError:
        return None, NO_SIMULATION["papers"]


def _simulated_metric(problem: SearchProblem) -> tuple[str, float | None]:
    """The simulated metric that is most like the user's, and the share of the rarest class."""
    truth, rarest = problem.search.task.truth, problem.rarest_class
    if truth.kind is TaskKind.REGRESSION:
        return SQUARED_ERROR, None
    if problem.metric == ROC_AUC and truth.kind is TaskKind.BINARY and rarest is not None:
        share = rarest[1] / problem.n_rows
        # With groups, or more rows than it can handle, the simulation has fewer rows than the user.
        if round(share * min(problem.n_units, MOST_ROWS)) >= min(problem.n_folds, MOST_FOLDS):
            return ROC_AUC, share
    return ACCURACY, None


def _on_folds(problem: SearchProblem, allowed: int) -> str:
    rarest = problem.rarest_class if problem.search.task.groups is None else None
    return words.folds_sentence(allowed, problem.n_folds, rarest)


def _on_costs(problem: SearchProblem, costs: dict[str, Cost]) -> list[str]:
    """The sentences on what nesting costs, and what to use."""
    sentences = []
    if problem.n_configurations == 1:
        sentences.append(words.ONE_CONFIGURATION)
    elif NESTED in costs:
        nested, flat = costs[NESTED], costs[CV]
        sentences.append(words.cost_sentence(nested.most, flat.most, time_of(nested), time_of(flat)))
    if not problem.is_opened:
        return [*sentences, words.opaque_sentence(problem.search.scoring.refit_metric)]
    if problem.n_configurations == 1:
        return sentences
    sentences.append(words.NO_FURTHER_FIT)
    units = counted(problem.n_units, "row" if problem.search.task.groups is None else "group")
    if problem.n_units < SMALL:
        return [*sentences, words.small_sentence(units)]
    return [*sentences, words.large_sentence(units, costs[BCED].fewest, costs[BCED].most)]


def _on_changes(problem: SearchProblem, changes: Sequence[Expected], costs: dict[str, Cost]) -> list[str]:
    """The sentences on what nesting probably changes."""
    if len(problem.families) == 1:
        return [] if problem.n_configurations == 1 else [words.ONE_FAMILY]
    if not changes:
        return [words.NO_EVIDENCE]
    # The scenario whose number of algorithms, 3 or 12, is nearer to the user's number of families.
    nearest = min(changes, key=lambda one: abs(math.log(one.algorithms / len(problem.families))))
    published = nearest.published
    return [
        words.change_sentence(
            tables=nearest.tables,
            rows=(nearest.least_rows, nearest.most_rows),
            algorithms=nearest.algorithms,
            same=_with_range("{:.0%}".format, nearest.same_choice, nearest.same_choice_range),
            gain=_with_range("{:.3f}".format, nearest.gain, nearest.gain_range),
            threshold=f"{nearest.threshold:.3f}",
            difference=_with_range(words.accuracy_text, nearest.difference, nearest.difference_range),
        ),
        words.published_sentence(
            nearest.algorithms, published.tables, nearest.published_rows, published.same_choice,
            _with_range(words.accuracy_text, published.difference, (published.low, published.high)),
        ),
        words.TO_COMPARE,
    ]  # fmt: skip


def _with_range(shown: Callable[[float], str], value: float, between: tuple[float, float]) -> str:
    return words.range_text(shown(value), *(shown(end) if math.isfinite(end) else "" for end in between))


def _on_biases(problem: SearchProblem, simulated: WorstCase | None) -> list[str]:
    if simulated is None:
        return []
    biases = [words.accuracy_text(one.bias, one.standard_error) for one in _biases(simulated)]
    return [
        words.worst_case_sentence(
            words.WORST_CASES[simulated.metric],
            (simulated.rows, simulated.configurations, simulated.folds),
            biases,
            more_rows=problem.n_units > simulated.rows,
            more=problem.n_configurations > simulated.configurations,
        )
    ]


def _biases(simulated: WorstCase) -> list[ProtocolBias]:
    return [one for protocol in (CV, BBC, NESTED) if (one := simulated.of(protocol)) is not None]


def _on_the_data(problem: SearchProblem, evidence: Sequence[TableEvidence]) -> list[str]:
    """The warnings about data that the evidence does not cover."""
    task, warnings = problem.search.task, []
    if len(problem.families) > 1:
        wide = [family for family in problem.families if len(family.tuned) > MOST_HYPERPARAMETERS]
        warnings += [words.many_hyperparameters(family.name, len(family.tuned)) for family in wide]
    if task.groups is not None:
        warnings.append(words.groups_warning(problem.n_units))
    rarest = problem.rarest_class
    if rarest is not None and rarest[1] < FEW_IN_A_FOLD * problem.n_folds:
        warnings.append(words.few_rows_warning(*rarest, problem.n_folds))
    if not problem.search.folds.exchangeable:
        warnings.append(words.TIME_ORDER_WARNING)
    if not problem.matches_evidence:
        warnings.append(words.metric_warning(problem.metric, task.truth.kind.value))
    rows = [line.rows // 2 for line in evidence]
    if len(problem.families) > 1 and rows and not min(rows) <= problem.n_units <= max(rows):
        warnings.append(words.rows_warning(problem.n_units, min(rows), max(rows)))
    return warnings


def _on_times(failures: dict[str, str], n_fitted: int, total: TotalTime) -> list[str]:
    warnings = [total.reason] if total.reason and n_fitted else []
    if failures:
        name, why = next(iter(failures.items()))
        warnings.append(words.failures_warning(len(failures), n_fitted, name, why))
    return warnings
