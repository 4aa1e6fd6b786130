"""The evidence behind the advice: what flat and nested cross-validation chose on real tables, a line per table.

The file is installed with the library. ``python -m heldout_papers.flat_vs_nested.advice_evidence`` writes it from a
run of the study of flat and nested cross-validation.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

import numpy as np

from heldout._streams import stream
from heldout._types import Floats, Indices
from heldout.estimates.coverage import from_csv
from heldout.estimates.intervals import order_statistic

FILE = "evidence.csv"
N_NEAREST = 15
"""Tables behind an answer, together with those as near as the last of them: tables further away are less alike."""
FEWEST = 5
"""Tables that an interval needs."""
N_BOOTSTRAPS = 5000
CONFIDENCE = 0.95
LARGE_TABLE = 2000
"""Rows from which on a table counts among the large tables of the article (its table 3)."""
LARGE_TRAINING = LARGE_TABLE // 2
"""Rows that the article trains on in such a table: half of them."""


@dataclass(frozen=True)
class TableEvidence:
    """The result of one table in one scenario.

    Attributes
    ----------
    table : str
    rows, columns : int
        Rows of the table, of which each repetition tuned on half, and columns to predict from.
    scenario : str
        "top3" or "full".
    algorithms, repetitions : int
        Algorithms to choose from, and repetitions.
    same_choice : float
        The share of repetitions in which both chose the same algorithm.
    gain : float
        Accuracy on new rows of the algorithm that nested chose minus that of the one that flat chose, mean over
        repetitions.
    threshold : float
        The article's threshold of irrelevance (equation 13).
    """

    table: str
    rows: int
    columns: int
    scenario: str
    algorithms: int
    repetitions: int
    same_choice: float
    gain: float
    threshold: float


@dataclass(frozen=True)
class Published:
    """A row of the article's tables 2 and 3 (Wainer & Cawley).

    Attributes
    ----------
    tables : int
    same_choice : float
    difference, low, high : float
        Mean of |gain| minus threshold, with its 95 % interval.
    """

    tables: int
    same_choice: float
    difference: float
    low: float
    high: float


PUBLISHED = MappingProxyType(
    {
        "top3": (Published(115, 0.71, -0.004, -0.007, -0.002), Published(32, 0.80, -0.005, -0.014, -0.002)),
        "full": (Published(115, 0.62, -0.004, -0.007, -0.003), Published(32, 0.71, -0.004, -0.015, -0.001)),
    }
)
"""By scenario: of all tables (table 2), and of those with at least 2000 rows (table 3)."""


@dataclass(frozen=True)
class Expected:
    """What nested cross-validation changed on the tables nearest in rows.

    Attributes
    ----------
    scenario : str
    algorithms : int
    tables : int
        Tables behind these numbers.
    least_rows, most_rows : int
        The fewest and the most rows that were used for tuning.
    same_choice, gain, difference : float
        Means over the tables: share of the same choice; |accuracy gain|; |gain| minus threshold.
    same_choice_range, gain_range, difference_range : (float, float)
        95 % bootstrap intervals of these means; NaN where all tables agree or are fewer than 5.
    threshold : float
    published : Published
    published_rows : int
        The fewest rows of the article's tables behind ``published``; 0 for all tables.
    """

    scenario: str
    algorithms: int
    tables: int
    least_rows: int
    most_rows: int
    same_choice: float
    same_choice_range: tuple[float, float]
    gain: float
    gain_range: tuple[float, float]
    threshold: float
    difference: float
    difference_range: tuple[float, float]
    published: Published
    published_rows: int


@cache
def installed_evidence() -> tuple[TableEvidence, ...]:
    return from_csv(TableEvidence, (files("heldout.advice") / FILE).read_text(encoding="utf-8"))


def expected_change(evidence: Sequence[TableEvidence], n_rows: int) -> tuple[Expected, ...]:
    """What nested cross-validation probably changes for a search on N rows, one entry per scenario.

    Tables are compared by the ratio of N to half of their rows.
    """
    is_large, changes = n_rows >= LARGE_TRAINING, []
    for scenario, published in PUBLISHED.items():
        lines = _nearest([line for line in evidence if line.scenario == scenario], n_rows)
        if not lines:
            continue
        same = np.array([line.same_choice for line in lines])
        gain = np.abs([line.gain for line in lines])
        threshold = np.array([line.threshold for line in lines])
        difference = gain - threshold
        rows = [line.rows // 2 for line in lines]
        changes.append(
            Expected(
                scenario, lines[0].algorithms, len(lines), min(rows), max(rows), float(same.mean()), _range(same),
                float(gain.mean()), _range(gain), float(threshold.mean()), float(difference.mean()),
                _range(difference), published[is_large], LARGE_TABLE if is_large else 0,
            )
        )  # fmt: skip
    return tuple(changes)


def _nearest(lines: Sequence[TableEvidence], n_rows: int) -> list[TableEvidence]:
    """The nearest by the ratio of rows used for tuning, with all ties: large tables were cut to the same size."""
    away = [round(abs(math.log(line.rows / 2 / n_rows)), 9) for line in lines]
    return [line for line, far in zip(lines, away, strict=True) if far <= max(sorted(away)[:N_NEAREST])]


def _range(values: Floats) -> tuple[float, float]:
    """The study's interval of the mean; NaN where all tables agree or are too few to show a spread."""
    return mean_interval(values, 0) if len(values) >= FEWEST and np.ptp(values) else (math.nan, math.nan)


def mean_interval(values: Floats, entropy: int) -> tuple[float, float]:
    """The 2.5 and 97.5 % quantiles of means of 5000 bootstraps; NaN for a single value."""
    n = len(values)
    if n < 2:
        return math.nan, math.nan
    means = np.sort(values[bootstrap_draws(n, entropy)].mean(axis=1))
    tail = (1 - CONFIDENCE) / 2
    return order_statistic(means, tail), order_statistic(means, 1 - tail)


def bootstrap_draws(n: int, entropy: int) -> Indices:
    """(5000, n): the draws of each bootstrap of n observations; the same for the same seed and n."""
    rng = np.random.Generator(np.random.Philox(key=stream(entropy, "study flat_vs_nested bootstrap", n)))
    return rng.integers(0, n, size=(N_BOOTSTRAPS, n))
