"""``ho.advise``: for one user's search, what nested cross-validation would cost and is expected to change."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

from heldout._random import RandomState, stream
from heldout._text import counted
from heldout.advice import words as words
from heldout.advice.costs import BBC, BCED, CV, NESTED, Cost, costs_of
from heldout.advice.evidence import Expected, TableEvidence, expected_change, installed_evidence
from heldout.advice.probing import Total, family_times, probe, total_time
from heldout.advice.problem import Problem, problem_of
from heldout.advice.result import Advice, time_of
from heldout.advice.worst_case import MOST_FOLDS, MOST_ROWS, Bias, WorstCase, worst_case
from heldout.data.task import TaskKind
from heldout.execution.listeners.words import duration
from heldout.kernels.blocks import check_jobs
from heldout_papers.bias.setting import ACCURACY, ROC_AUC, SQUARED_ERROR

SMALL = 100
"""Rows below which the article advises repeats rather than dropping."""
MOST_HYPERPARAMETERS = 3
"""Of any algorithm of the evidence."""
FEW_IN_A_FOLD = 8
"""Rows of a class."""
NO_SIMULATION = {
    "one": "there is one configuration",
    "folds": "they are of folds that test every row once, and yours do not",
    "groups": "there are fewer groups than folds",
}


def advise(
    X: Any,
    y: Any,
    configurations: Any,
    *,
    scoring: Any = None,
    cv: Any = 5,
    inner: Any = None,
    seconds: float = 10.0,
    groups: Any = None,
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> Advice:
    """What nested cross-validation would cost for a search, what it is expected to change, and what to use.

    Fits are counted exactly. Time is measured: a few configurations of each family are fitted on the first split,
    one after another, until ``seconds`` are spent. What nesting changes comes from evidence: flat and nested
    cross-validation side by side on real tables, and a simulation of your numbers of rows, configurations and
    folds. The fits that are timed choose nothing and estimate nothing; their predictions are not kept.

    Parameters
    ----------
    X : array-like of shape (N, n_features)
    y : array-like of shape (N,)
    configurations : (estimator, grid), list of (name, estimator, grid), estimator, or "quick" or "standard"
        What ``HeldOutSearchCV`` would search.
    scoring : str or callable, optional
        As in ``HeldOutSearchCV``.
    cv : int, plan, splitter or iterable, default=5
        The folds of the search, and the outer ones of nested cross-validation.
    inner : "remaining", "holdout", int or splitter, optional
        As in ``nested_cv``; "remaining" by default.
    seconds : float, default=10.0
        Time to spend on fits; one that has begun is ended. 0 fits nothing, and tells no time.
    groups : array-like of shape (N,), optional
    n_jobs : int, optional
        Of the search to come, among which its time is divided; the fits that are timed run one by one.
    random_state : int, RandomState or Generator, optional
        Seeds folds, models and the simulation.

    Returns
    -------
    Advice
        ``print`` it; ``.to_frame()`` has a row a protocol.

    Raises
    ------
    InputError

    References
    ----------
    Wainer and Cawley (2021); Tsamardinos, Greasidou and Borboudakis (2018), sections 6 and 7.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = advise(X, y, (KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}), seconds=0, random_state=0)
    >>> [(cost.protocol, cost.most) for cost in found.costs if cost.protocol in ("bbc", "nested_cv")]
    [('bbc', 16), ('nested_cv', 81)]
    >>> print(found.sentences[0])
    Nested cross-validation makes 81 fits where the search alone makes 16, 5.1 times as many.
    """
    check_jobs(n_jobs)
    problem = problem_of(
        X, y, configurations,
        scoring=scoring, cv=cv, inner=inner, groups=groups, n_jobs=n_jobs, random_state=random_state,
    )  # fmt: skip
    return advice_on(problem, seconds, n_jobs)


def advice_on(
    problem: Problem,
    seconds: float,
    n_jobs: int | None = None,
    *,
    clock: Callable[[], float] = time.perf_counter,
    evidence: Sequence[TableEvidence] | None = None,
) -> Advice:
    """The advice on a search that was checked.

    Parameters
    ----------
    clock : callable
        The seconds since some moment.
    evidence : sequence of TableEvidence, optional
        What came with the library, by default.
    """
    probes = probe(problem.search, problem.families, seconds, clock)
    times = family_times(problem.families, probes)
    total = total_time(times, probes)
    simulated, why_not = _worst_case(problem)
    costs = costs_of(problem, total, n_jobs)
    known = installed_evidence() if evidence is None else evidence
    changes = expected_change(known, problem.n_units) if len(problem.families) > 1 else ()
    names = problem.search.configurations.names
    spent = sum(one.seconds for one in probes)
    failures = {names[one.configuration]: one.failure for one in probes if one.failure}
    by_protocol = {one.protocol: one for one in costs}
    sentences = [
        *_on_costs(problem, by_protocol),
        *_on_changes(problem, changes, by_protocol),
        *_on_biases(problem, simulated),
        *([words.probe_sentence(len(probes), len(names), duration(spent))] if probes else []),
        words.ASSUMED,
    ]
    warnings = [
        *_on_the_data(problem, known),
        *([words.no_nesting(problem.refusal)] if problem.nested is None else []),
        *([words.no_simulation(why_not)] if why_not else []),
        *_on_times(failures, len(probes), total),
    ]
    return Advice(
        problem.n_rows, len(names), problem.metric, costs, times, failures, spent, changes, simulated,
        tuple(sentences), tuple(warnings), problem.search.entropy,
    )  # fmt: skip


def _worst_case(problem: Problem) -> tuple[WorstCase | None, str]:
    """The simulation, or why there is none."""
    if problem.n_configurations < 2:
        return None, ""  # it is said that there is nothing to choose
    if not problem.search.folds.is_partition or problem.n_folds < 2:
        return None, NO_SIMULATION["folds"]
    if problem.n_units < problem.n_folds:
        return None, NO_SIMULATION["groups"]
    entropy = stream(problem.search.entropy, "advice")
    metric, prevalence = _simulated_metric(problem)
    sizes = problem.n_units, problem.n_configurations, problem.n_folds
    return worst_case(*sizes, entropy, metric=metric, prevalence=prevalence), ""


def _simulated_metric(problem: Problem) -> tuple[str, float | None]:
    """What can be simulated that is most like the user's metric, and with which share of the rarest class."""
    truth, rarest = problem.search.task.truth, problem.rarest_class
    if truth.kind is TaskKind.REGRESSION:
        return SQUARED_ERROR, None
    if problem.metric == ROC_AUC and truth.kind is TaskKind.BINARY and rarest is not None:
        share = rarest[1] / problem.n_rows
        # The simulation has fewer rows where the user has groups, or more than it can do.
        if round(share * min(problem.n_units, MOST_ROWS)) >= min(problem.n_folds, MOST_FOLDS):
            return ROC_AUC, share
    return ACCURACY, None


def _on_costs(problem: Problem, costs: dict[str, Cost]) -> list[str]:
    """What nesting costs, and what to use."""
    said = []
    if problem.n_configurations == 1:
        said.append(words.ONE_CONFIGURATION)
    if NESTED in costs:
        nested, flat = costs[NESTED], costs[CV]
        said.append(words.cost_sentence(nested.most, flat.most, time_of(nested), time_of(flat)))
    if not problem.is_opened:
        return [*said, words.opaque_sentence(problem.search.scoring.refit_metric)]
    if problem.n_configurations == 1:
        return said
    said.append(words.NO_FURTHER_FIT)
    units = counted(problem.n_units, "row" if problem.search.task.groups is None else "group")
    if problem.n_units < SMALL:
        return [*said, words.small_sentence(units)]
    return [*said, words.large_sentence(units, costs[BCED].fewest, costs[BCED].most)]


def _on_changes(problem: Problem, changes: Sequence[Expected], costs: dict[str, Cost]) -> list[str]:
    """What nesting is expected to change."""
    if len(problem.families) == 1:
        return [] if problem.n_configurations == 1 else [words.ONE_FAMILY]
    if not changes:
        return [words.no_evidence_sentence()]
    # The scenario with about as many algorithms as the user has families: 3 or 12.
    nearest = min(changes, key=lambda one: abs(math.log(one.algorithms / len(problem.families))))
    published = nearest.published
    return [
        words.change_sentence(
            tables=nearest.tables,
            rows=(nearest.least_rows, nearest.most_rows),
            algorithms=nearest.algorithms,
            same=_shares(nearest.same_choice, nearest.same_choice_range),
            gain=_accuracies(nearest.gain, nearest.gain_range),
            threshold=f"{nearest.threshold:.3f}",
            difference=_differences(nearest.difference, nearest.difference_range),
        ),
        words.published_sentence(
            nearest.algorithms, published.tables, nearest.published_rows, published.same_choice,
            _differences(published.difference, (published.low, published.high)),
        ),
        words.TO_COMPARE,
    ]  # fmt: skip


def _shares(value: float, between: tuple[float, float]) -> str:
    return words.range_text(f"{value:.0%}", *(f"{end:.0%}" if math.isfinite(end) else "" for end in between))


def _accuracies(value: float, between: tuple[float, float]) -> str:
    return words.range_text(f"{value:.3f}", *(f"{end:.3f}" if math.isfinite(end) else "" for end in between))


def _differences(value: float, between: tuple[float, float]) -> str:
    ends = (words.accuracy_text(end) if math.isfinite(end) else "" for end in between)
    return words.range_text(words.accuracy_text(value), *ends)


def _on_biases(problem: Problem, simulated: WorstCase | None) -> list[str]:
    if simulated is None:
        return []
    told = [words.accuracy_text(one.bias, one.standard_error) for one in _biases(simulated)]
    return [
        words.worst_case_sentence(
            words.WORST_CASES[simulated.metric],
            (simulated.rows, simulated.configurations, simulated.folds),
            told,
            more_rows=problem.n_units > simulated.rows,
            more=problem.n_configurations > simulated.configurations,
        )
    ]


def _biases(simulated: WorstCase) -> list[Bias]:
    return [one for protocol in (CV, BBC, NESTED) if (one := simulated.of(protocol)) is not None]


def _on_the_data(problem: Problem, evidence: Sequence[TableEvidence]) -> list[str]:
    """Where the evidence does not reach."""
    task, said = problem.search.task, []
    if len(problem.families) > 1:
        wide = [family for family in problem.families if len(family.tuned) > MOST_HYPERPARAMETERS]
        said += [words.many_hyperparameters(family.name, len(family.tuned)) for family in wide]
    if task.groups is not None:
        said.append(words.groups_warning(problem.n_units))
    rarest = problem.rarest_class
    if rarest is not None and rarest[1] < FEW_IN_A_FOLD * problem.n_folds:
        said.append(words.few_rows_warning(*rarest, problem.n_folds))
    if not problem.search.folds.exchangeable:
        said.append(words.TIME_ORDER_WARNING)
    if not problem.is_of_the_evidence:
        said.append(words.metric_warning(problem.metric, task.truth.kind.value))
    rows = [line.rows // 2 for line in evidence]
    if len(problem.families) > 1 and rows and not min(rows) <= problem.n_units <= max(rows):
        said.append(words.rows_warning(problem.n_units, min(rows), max(rows)))
    return said


def _on_times(failures: dict[str, str], n_fitted: int, total: Total) -> list[str]:
    said = [total.reason] if total.reason and n_fitted else []
    if failures:
        name, why = next(iter(failures.items()))
        said.append(words.failures_warning(len(failures), n_fitted, name, why))
    return said
