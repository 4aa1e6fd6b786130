"""How good intervals are that were found again and again: how often they hold the truth, how tight they are.

Pure functions of arrays with a repetition an entry, or of one row (a setting or a table) with a method an entry.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, kstest

Floats = NDArray[np.float64]

SIGNIFICANCE = 0.05
"""At which an inclusion below its level is rejected."""
MOST_FAILURES = 0.1
"""A row in which some method failed more often than this is not complete."""


@dataclass(frozen=True)
class Inclusion:
    """One method in one row: a simulated setting, or a table."""

    inclusion: float  # The share of bounds that are not above the truth, of the repetitions that have a bound
    p_value: float  # Exact one-sided binomial test of inclusion >= confidence level
    tightness: float  # Mean of truth - lower bound
    standard_error: float  # Of the tightness
    # Means of both, of the repetitions that have a bound
    low: float
    truth: float
    truth_spread: float  # Standard deviation of the truth over them
    # p value of a Kolmogorov-Smirnov test that percentiles of the truth are uniform; NaN where there are none
    uniformity: float
    # How many there are, and how many of them have a bound
    repetitions: int
    bounds: int
    # The share of all repetitions by the reason why they have no bound, the most frequent first
    failures: Mapping[str, float]

    @property
    def rejected(self) -> bool:
        """Whether the inclusion is significantly below its level."""
        return self.p_value < SIGNIFICANCE

    @property
    def failed(self) -> float:
        """The share of repetitions without a bound."""
        return 1 - self.bounds / self.repetitions

    @property
    def complete(self) -> bool:
        """Whether it has a result: a bound in nearly all of the repetitions."""
        return self.bounds > 0 and self.failed <= MOST_FAILURES


def inclusion_of(
    low: Floats,
    truth: Floats,
    confidence_level: float,
    *,
    percentile: Floats | None = None,
    failure: NDArray[Any] | None = None,
) -> Inclusion:
    """What some repetitions say of a method.

    ``low`` (repetitions,): lower bounds, NaN where there is none; ``truth`` (repetitions,): the true
    performance of what the method chose; ``percentile`` (repetitions,): the share of the method's distribution
    up to the truth; ``failure`` (repetitions,): why there is no bound; empty where there is one.

    Examples
    --------
    >>> found = inclusion_of(np.array([0.5, 0.7, 0.6, np.nan]), np.array([0.6, 0.6, 0.6, 0.6]), 0.95)
    >>> round(found.inclusion, 3), round(found.tightness, 3), round(found.p_value, 6), found.bounds
    (0.667, 0.0, 0.142625, 3)
    """
    there = ~np.isnan(low)
    gaps = truth[there] - low[there]
    n = int(there.sum())
    held = int((gaps >= 0).sum())
    defined = np.empty(0) if percentile is None else percentile[there & ~np.isnan(percentile)]
    reasons = Counter(str(why) for why in failure[~there]) if failure is not None else Counter()
    nan = float("nan")
    return Inclusion(
        inclusion=held / n if n else nan,
        p_value=p_below(held, n, confidence_level),
        tightness=float(gaps.mean()) if n else nan,
        standard_error=float(gaps.std(ddof=1) / np.sqrt(n)) if n > 1 else nan,
        low=float(low[there].mean()) if n else nan,
        truth=float(truth[there].mean()) if n else nan,
        truth_spread=float(truth[there].std(ddof=1)) if n > 1 else nan,
        uniformity=uniformity(defined),
        repetitions=len(low),
        bounds=n,
        failures={why: times / len(low) for why, times in sorted(reasons.items(), key=lambda each: -each[1])},
    )


def p_below(held: int, n: int, level: float) -> float:
    """The chance of ``held`` or fewer of n where each is held with probability ``level``; NaN of none.

    Examples
    --------
    >>> p_below(19, 20, 0.95) > 0.6, round(p_below(183, 200, 0.95), 4), round(p_below(184, 200, 0.95), 4)
    (True, 0.0238, 0.0444)
    """
    return float(binom.cdf(held, n, level)) if n else float("nan")


def uniformity(percentiles: Floats) -> float:
    """p value of the two-sided Kolmogorov-Smirnov test of uniformity; NaN of fewer than two.

    Examples
    --------
    >>> uniformity(np.linspace(0.005, 0.995, 100)) > 0.999, uniformity(np.full(20, 0.5)) < 0.001
    (True, True)
    """
    return float(kstest(percentiles, "uniform").pvalue) if len(percentiles) > 1 else float("nan")


def ranks(row: Sequence[Inclusion], confidence_level: float) -> list[float]:
    """The ranks of the methods of one row by the article's rules (section 5).

    First those that are not rejected, by tightness; then the rejected, by how far their inclusion is from the
    level. Methods that tie get the best of their ranks. A row in which some method has no result has no ranks: NaN.

    Examples
    --------
    >>> from dataclasses import replace
    >>> good = inclusion_of(np.zeros(100), np.full(100, 0.2), 0.95)
    >>> tighter = replace(good, tightness=0.1)
    >>> bad, worse = (replace(good, inclusion=share, p_value=0.0, tightness=0.01) for share in (0.8, 0.7))
    >>> ranks([worse, good, bad, tighter, good], 0.95)
    [5.0, 2.0, 4.0, 1.0, 2.0]
    """
    if not all(each.complete for each in row):
        return [float("nan")] * len(row)
    keys = [
        (each.rejected, abs(each.inclusion - confidence_level) if each.rejected else each.tightness) for each in row
    ]
    # Inclusions are shares of repetitions: rounding makes equal ones equal in float64 too.
    rounded = [(rejected, round(key, 9)) for rejected, key in keys]
    return [float(1 + sum(other < mine for other in rounded)) for mine in rounded]


def average_ranks(rows: Sequence[Mapping[str, Inclusion]], confidence_level: float) -> tuple[dict[str, float], int]:
    """The mean rank of each method over the complete rows, and how many rows these are; NaN where none is."""
    table = np.array([ranks(list(row.values()), confidence_level) for row in rows])
    complete = table[~np.isnan(table).any(axis=1)]
    means = complete.mean(axis=0) if len(complete) else np.full(table.shape[1], np.nan)
    return dict(zip(rows[0], means.tolist(), strict=True)), len(complete)


def inclusion_rows(
    place: Mapping[str, Any], row: Mapping[str, Inclusion], confidence_level: float, *, ratio: str, share: str
) -> list[dict[str, Any]]:
    """Lines of a table of results, one a method.

    ``place``: the first columns; ``ratio``: the column of the tightness over that of BBC; ``share``: the format of
    the shares of failures.
    """
    placed, relative = ranks(list(row.values()), confidence_level), ratios(row)
    return [
        {
            **place,
            "method": name,
            "inclusion": each.inclusion,
            "p_value": each.p_value,
            "rejected": each.rejected,
            "tightness": each.tightness,
            "standard_error": each.standard_error,
            ratio: relative[name],
            "rank": rank,
            "low": each.low,
            "truth": each.truth,
            "uniformity": each.uniformity,
            "failed": each.failed,
            "failures": "; ".join(f"{why}: {part:{share}}" for why, part in each.failures.items()),
            "repetitions": each.repetitions,
        }
        for (name, each), rank in zip(row.items(), placed, strict=True)
    ]


def ratios(row: Mapping[str, Inclusion], base: str = "bbc") -> dict[str, float]:
    """Each method's tightness over that of another (figure 2); NaN where either has none.

    Examples
    --------
    >>> one, two = (inclusion_of(np.zeros(9), np.full(9, gap), 0.95) for gap in (0.2, 0.3))
    >>> print({name: round(ratio, 2) for name, ratio in ratios({"bbc": one, "bbc_f": two}).items()})
    {'bbc': 1.0, 'bbc_f': 1.5}
    """
    unit = row[base].tightness if base in row else float("nan")
    return {name: each.tightness / unit if unit else float("nan") for name, each in row.items()}


def true_performance(
    rows: Sequence[Mapping[str, Inclusion]], groups: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """The mean true performance of what each group of methods chose, over the rows in which all have results.

    Methods of a group choose alike (or nearly: pooled and by folds), so that theirs are averaged. Groups of which
    no method was studied are left out.
    """
    studied = {
        group: [name for name in names if all(name in row for row in rows)] for group, names in groups.items()
    }
    shared = [name for names in studied.values() for name in names]
    complete = [row for row in rows if all(row[name].complete for name in shared)]
    return {
        group: float(np.mean([row[name].truth for row in complete for name in names])) if complete else float("nan")
        for group, names in studied.items()
        if names
    }
