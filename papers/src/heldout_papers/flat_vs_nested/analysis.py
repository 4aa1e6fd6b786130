"""Whether nested cross-validation chooses an algorithm that is better by more than matters (Wainer & Cawley).

The accuracy gain of a table is how much better, on data that were not seen, the algorithm is that nested
cross-validation chose than the one that flat cross-validation chose. It matters where its size is above a threshold
of irrelevance: how far the estimates of the algorithms in question are from the truth anyway.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import wilcoxon

from heldout._text import counted
from heldout.advice.flat_vs_nested import mean_interval
from heldout_papers.flat_vs_nested.accuracies import Accuracies, Floats, best
from heldout_papers.spaces import cawley_talbot, wainer_cawley

TOP3, FULL = tuple(sorted(wainer_cawley.TOP3)), tuple(sorted(wainer_cawley.FULL))
ARD = tuple(sorted(cawley_talbot.KERNELS))
FOREST = "rf"
LARGE = 2000
"""Rows of a table from which on the article's table 3 takes it."""
EXACT_BELOW = 50
"""The signed-rank test is exact for fewer differences, where none is 0 and none tie: as in R."""
DECIMALS = 6
"""Differences that agree so far tie, and those that round to 0 are 0: each is of several rounded accuracies."""


@dataclass(frozen=True, eq=False)
class Gains:
    """Gains of nested over flat cross-validation and their thresholds, one entry per table (or repetition)."""

    tables: tuple[str, ...]  # The table of each entry
    # (n,): future accuracy of the algorithm chosen by nested less that of the one chosen by flat cross-validation
    gain: Floats
    threshold: Floats  # (n,): below it a gain is irrelevant
    same: Floats  # (n,): the share of repetitions in which both chose the same
    left_out: Mapping[str, str]  # Tables that are not among them, with the reason

    @property
    def difference(self) -> Floats:
        """|gain| - threshold: negative where the gain is irrelevant."""
        return np.asarray(np.abs(self.gain) - self.threshold)


@dataclass(frozen=True)
class ComparisonRow:
    """A row of the article's tables 2, 3, 5 and 6."""

    scenario: str  # "top3", "full", "ard", or "asked" for other algorithms
    analysis: str  # A key of ``ANALYSES``
    n_tables: int
    same_choice: float  # Share of repetitions in which flat and nested cross-validation chose the same
    p_value: float  # Of the one-sided Wilcoxon signed-rank test that |gain| is below the threshold
    # |gain| - threshold, with the 95 % bootstrap interval of its mean
    mean: float
    low: float
    high: float
    mean_gain: float  # The gain itself, with its sign
    reason: str = ""  # Why a number is NaN; empty where none is


@dataclass(frozen=True, eq=False)
class _Repetitions:
    """Gains and thresholds of every repetition, both of shape (T, R); NaN where there is none."""

    gain: Floats
    threshold: Floats
    same: NDArray[np.bool_]

    @property
    def count(self) -> NDArray[np.bool_]:
        return np.isfinite(self.gain) & np.isfinite(self.threshold)


def _choices(accuracies: Accuracies) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.bool_]]:
    """n(i, r), f(i, r), and whether there was a choice: two candidates or more."""
    candidates = accuracies.candidates
    return (
        best(accuracies.nested, candidates),
        best(accuracies.flat, candidates),
        np.asarray(candidates.sum(axis=-1) > 1),
    )


def _repetitions(
    accuracies: Accuracies,
    thresholds: Floats,
    nested: NDArray[np.intp],
    other: NDArray[np.intp],
    chosen: NDArray[np.bool_],
) -> _Repetitions:
    """Equations 7, 8 and 12: ``thresholds`` (T, R, A) are those of each algorithm."""
    gain = accuracies.of_chosen(accuracies.future, nested) - accuracies.of_chosen(accuracies.future, other)
    threshold = np.minimum(accuracies.of_chosen(thresholds, nested), accuracies.of_chosen(thresholds, other))
    return _Repetitions(np.where(chosen, gain, np.nan), np.where(chosen, threshold, np.nan), nested == other)


def _errors(accuracies: Accuracies) -> Floats:
    """Equation 11: how far the nested estimate of each algorithm is from its future accuracy."""
    return np.asarray(np.abs(accuracies.nested - accuracies.future))


def _deviations(accuracies: Accuracies) -> Floats:
    """Appendix A: the smallest standard deviation over repetitions of the three accuracies of each, (T, R, A)."""
    candidates = accuracies.candidates
    n = candidates.sum(axis=1)
    found = []
    for values in (accuracies.nested, accuracies.flat, accuracies.future):
        known = np.where(candidates, values, 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            centre = known.sum(axis=1) / n
            away = np.where(candidates, values - centre[:, None], 0.0)
            found.append(np.sqrt((away**2).sum(axis=1) / np.where(n > 1, n - 1, np.nan)))
    smallest: Floats = np.minimum.reduce(found)
    return np.broadcast_to(smallest[:, None], candidates.shape)


def main(accuracies: Accuracies) -> Gains:
    """Section 2.1: gain and threshold in every repetition, averaged over those of a table (equations 7 to 13)."""
    return _by_table(accuracies, _repetitions(accuracies, _errors(accuracies), *_choices(accuracies)))


def smallest_deviation(accuracies: Accuracies) -> Gains:
    """Appendix A, the other threshold: the smallest standard deviation, of both choices the smaller."""
    return _by_table(accuracies, _repetitions(accuracies, _deviations(accuracies), *_choices(accuracies)))


def forest_alone(accuracies: Accuracies) -> Gains:
    """Appendix B: the random forest in place of what flat cross-validation chooses."""
    forest = accuracies.algorithms.index(FOREST)
    nested, flat, chosen = _choices(accuracies)
    chosen = chosen & accuracies.candidates[..., forest]
    return _by_table(
        accuracies, _repetitions(accuracies, _errors(accuracies), nested, np.full_like(flat, forest), chosen)
    )


def each_repetition(accuracies: Accuracies) -> Gains:
    """Appendix A, the second alternative: every repetition is an observation of its own.

    Those of a table are not independent, so p-value and interval are too optimistic.
    """
    found = _repetitions(accuracies, _errors(accuracies), *_choices(accuracies))
    kept, left_out = _enough(accuracies, found.count)
    used = found.count & kept[:, None]
    names = np.repeat(np.array(accuracies.tables, dtype=object), used.sum(axis=1))
    return Gains(tuple(names), found.gain[used], found.threshold[used], found.same[used].astype(float), left_out)


def averaged(accuracies: Accuracies) -> Gains:
    """Appendix A, the first alternative: accuracies are averaged over repetitions before anything is chosen.

    The threshold is |nested - flat|, as it is printed there.
    """
    return _averaged(accuracies, "flat")


def averaged_errors(accuracies: Accuracies) -> Gains:
    """The first alternative with |nested - future| for a threshold, as equation 11 has it everywhere else."""
    return _averaged(accuracies, "future")


def _averaged(accuracies: Accuracies, against: str) -> Gains:
    candidates = accuracies.candidates
    used = candidates.sum(axis=-1) > 1
    # Means over different repetitions could not be compared: a candidate must be one in all that are used.
    always = (candidates | ~used[..., None]).all(axis=1) & used.any(axis=1)[:, None]
    weights = used[..., None] & always[:, None]

    def over_repetitions(values: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(weights, values, 0.0).sum(axis=1, keepdims=True) / weights.sum(1)[:, None])

    means = Accuracies(
        accuracies.tables, accuracies.rows, accuracies.algorithms, over_repetitions(accuracies.flat),
        over_repetitions(accuracies.nested), over_repetitions(accuracies.future),
    )  # fmt: skip
    found = _repetitions(means, np.abs(means.nested - getattr(means, against)), *_choices(means))
    kept, left_out = _enough(accuracies, used & found.count)
    return Gains(
        tuple(name for name, keep in zip(accuracies.tables, kept, strict=True) if keep),
        found.gain[kept, 0], found.threshold[kept, 0], found.same[kept, 0].astype(float), left_out,
    )  # fmt: skip


def _by_table(accuracies: Accuracies, found: _Repetitions) -> Gains:
    """Equations 9 and 13."""
    kept, left_out = _enough(accuracies, found.count)
    weights = found.count[kept]

    def over_repetitions(values: NDArray[Any]) -> Floats:
        return np.asarray(np.where(weights, values[kept], 0.0).sum(axis=1) / weights.sum(axis=1))

    return Gains(
        tuple(name for name, keep in zip(accuracies.tables, kept, strict=True) if keep),
        over_repetitions(found.gain),
        over_repetitions(found.threshold),
        over_repetitions(found.same),
        left_out,
    )


def _enough(accuracies: Accuracies, used: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], dict[str, str]]:
    """Tables with half of the repetitions or more, and why others are left out."""
    least = max(1, -(-accuracies.n_repetitions // 2))
    numbers = used.sum(axis=1)
    kept = np.asarray(numbers >= least)
    left_out = {
        name: _too_few(int(n), accuracies.n_repetitions, least)
        for name, n in zip(accuracies.tables, numbers, strict=True)
        if n < least
    }
    return kept, left_out


def _too_few(n: int, repetitions: int, least: int) -> str:
    """Why a table is left out."""
    of = f"{n} of {counted(repetitions, 'repetition')} can be compared"
    return f"{of}, and at least {least} must be (an algorithm that failed is no candidate, and a choice needs two)"


@dataclass(frozen=True)
class Analysis:
    """One way to compare, and the tables that it is about."""

    compare: Callable[[Accuracies], Gains]
    table: str  # The title of the table that shows it
    title: str
    sentence: str
    least_rows: int = 0
    needs: str = ""  # An algorithm that must be among those compared; empty where none must

    def of(self, accuracies: Accuracies) -> Gains:
        return self.compare(accuracies.where(accuracies.rows >= self.least_rows))


OTHER_WAYS = "Other ways to compare (table 5)"
ANALYSES: Mapping[str, Analysis] = MappingProxyType(
    {
        "main": Analysis(
            main, "Gain against threshold (table 2)", "main",
            "gain and threshold in each repetition, averaged over those of a table (equations 7 to 13)",
        ),
        "large_tables": Analysis(
            main, "Tables of 2000 rows and more (table 3)", "large tables",
            "the same for tables with 2000 rows or more", least_rows=LARGE,
        ),
        "averaged": Analysis(
            averaged, OTHER_WAYS, "first alternative",
            "accuracies averaged over the repetitions of a table before a choice, with a threshold of "
            "|nested - flat|, as appendix A prints it",
        ),
        "averaged_errors": Analysis(
            averaged_errors, OTHER_WAYS, "first alternative, equation 11",
            "the same with |nested - future|, the threshold that equation 11 has everywhere else",
        ),
        "each_repetition": Analysis(
            each_repetition, OTHER_WAYS, "second alternative",
            "every repetition an observation of its own; those of a table depend on each other, so p and interval "
            "are too optimistic",
        ),
        "smallest_deviation": Analysis(
            smallest_deviation, OTHER_WAYS, "other threshold",
            "as main, with the smallest standard deviation over repetitions of the flat, nested and future "
            "accuracies as the threshold",
        ),
        "forest_alone": Analysis(
            forest_alone, "The random forest without any choice (table 6)", "forest alone",
            "the random forest instead of the choice of flat cross-validation", needs=FOREST,
        ),
    }
)  # fmt: skip


def scenarios_of(accuracies: Accuracies) -> dict[str, tuple[str, ...]]:
    """The scenarios with names whose algorithms were all measured, or "asked" with those that were."""
    known = {"top3": TOP3, "full": FULL, "ard": ARD}
    found = {name: members for name, members in known.items() if set(members) <= set(accuracies.algorithms)}
    if set(accuracies.algorithms) not in [set(members) for members in found.values()]:
        found["asked"] = accuracies.algorithms
    return found


def gains(accuracies: Accuracies, algorithms: tuple[str, ...], analysis: str) -> Gains:
    """Gains and thresholds by one of the ``ANALYSES``."""
    return ANALYSES[analysis].of(accuracies.only(algorithms))


def comparison_row(scenario: str, analysis: str, found: Gains, entropy: int) -> ComparisonRow:
    """The row of a table for these gains."""
    differences, n = found.difference, len(found.difference)
    if not n:
        nan = float("nan")
        return ComparisonRow(scenario, analysis, 0, nan, nan, nan, nan, nan, nan, "no table is left")
    p_value, reason = signed_rank(differences)
    low, high = mean_interval(differences, entropy)
    few = "an interval needs two tables" if n < 2 else ""
    return ComparisonRow(
        scenario, analysis, len(set(found.tables)), float(found.same.mean()), p_value, float(differences.mean()),
        low, high, float(found.gain.mean()), "; ".join(filter(None, (reason, few))),
    )  # fmt: skip


def comparison_rows(accuracies: Accuracies, entropy: int) -> list[ComparisonRow]:
    """Every scenario by every analysis that applies.

    ``entropy``: the seed of the bootstraps: 5000 of the tables.
    """
    return [
        comparison_row(scenario, name, gains(accuracies, algorithms, name), entropy)
        for scenario, algorithms in scenarios_of(accuracies).items()
        for name, analysis in ANALYSES.items()
        if not analysis.needs or analysis.needs in algorithms
    ]


def signed_rank(differences: Floats) -> tuple[float, str]:
    """Wilcoxon's one-sided signed-rank test that differences are below 0, with a reason where there is no answer.

    As R's ``wilcox.test``: differences of 0 are left out. The p-value is exact for fewer than 50 differences, if
    none of them was 0 and none tie in size; else it is of the normal approximation with its corrections for ties
    and for continuity.

    Examples
    --------
    >>> signed_rank(np.array([-0.01, -0.02, -0.03, -0.04]))
    (0.0625, '')
    >>> p_value, _ = signed_rank(np.array([-0.01, -0.02, -0.03, -0.04, 0.0]))
    >>> round(p_value, 4)
    0.0502
    """
    rounded = np.round(differences, DECIMALS)
    nonzero = rounded[rounded != 0]
    if not len(nonzero):
        return float("nan"), "no gain differs from its threshold"
    is_plain = len(nonzero) == len(rounded) and len(np.unique(np.abs(nonzero))) == len(nonzero)
    exact = is_plain and len(nonzero) < EXACT_BELOW
    tested = wilcoxon(nonzero, alternative="less", correction=not exact, method="exact" if exact else "approx")
    return float(tested.pvalue), ""
