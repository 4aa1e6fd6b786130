"""What flat and nested cross-validation chose on real tables, a line a table: the evidence that advice rests on.

It is installed with the library, and made from the run of the study of flat and nested cross-validation by
``python -m heldout.advice.refresh``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

import numpy as np

from heldout_papers.flat_vs_nested.accuracies import Accuracies
from heldout_papers.flat_vs_nested.analysis import LARGE, compared, mean_interval, scenarios_of

FILE = "evidence.csv"
N_NEAREST = 15
"""Tables that an answer rests on, and those as near as the last of them: more are less like the user's."""
FEWEST = 5
"""Tables of which there is an interval."""
DECIMALS = 6
LARGE_ROWS = LARGE // 2
"""Rows that the article's large tables train on: half of theirs."""


@dataclass(frozen=True)
class TableEvidence:
    """What came of a table in a scenario.

    Attributes
    ----------
    table : str
    rows, columns : int
        Rows of the table, of which each repetition tuned on half, and columns to predict from.
    scenario : str
        "top3" or "full".
    algorithms, repetitions : int
        How many algorithms there were to choose from, and how many repetitions.
    same_choice : float
        The share of repetitions in which both chose the same algorithm.
    gain : float
        The future accuracy of what nested chose less that of what flat chose, mean over repetitions.
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
        Mean of |gain| less threshold, with its 95 % interval.
    """

    tables: int
    same_choice: float
    difference: float
    low: float
    high: float


PUBLISHED = MappingProxyType(
    {
        "top3": Published(115, 0.71, -0.004, -0.007, -0.002),
        "full": Published(115, 0.62, -0.004, -0.007, -0.003),
    }
)
PUBLISHED_LARGE = MappingProxyType(
    {
        "top3": Published(32, 0.80, -0.005, -0.014, -0.002),
        "full": Published(32, 0.71, -0.004, -0.015, -0.001),
    }
)
"""Table 3: of tables with at least 2000 rows."""


@dataclass(frozen=True)
class Expected:
    """What nested cross-validation changed on the tables nearest in rows.

    Attributes
    ----------
    scenario : str
    algorithms : int
    tables : int
        How many tables it rests on.
    least_rows, most_rows : int
        Between which the rows lie that were tuned on.
    same_choice, gain, difference : float
        Means over the tables: share of the same choice; |accuracy gain|; |gain| less threshold.
    same_choice_range, gain_range, difference_range : (float, float)
        95 % bootstrap intervals of these means; NaN where all tables agree, and of fewer than 5.
    threshold : float
    published : Published
    published_rows : int
        Rows from which on the article's tables have them; 0 for all.
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


def evidence_of(frame: Any) -> tuple[TableEvidence, ...]:
    """A line a table and scenario, of what the study of flat and nested cross-validation kept.

    Parameters
    ----------
    frame : pandas DataFrame
        ``FlatVsNestedStudy.to_frame(each=True)``.

    Raises
    ------
    InputError
        When a column is missing.
    """
    accuracies = Accuracies.from_frame(frame)
    columns = dict(zip(frame["table"].astype(str), frame["columns"].astype(int), strict=True))
    rows = dict(zip(accuracies.tables, accuracies.rows.tolist(), strict=True))
    found = []
    for scenario, algorithms in scenarios_of(accuracies).items():
        if scenario not in PUBLISHED:
            continue
        seen = compared(accuracies, algorithms, "main")
        found += [
            TableEvidence(
                table, rows[table], columns[table], scenario, len(algorithms), accuracies.n_repetitions,
                *(round(float(values[place]), DECIMALS) for values in (seen.same, seen.gain, seen.threshold)),
            )
            for place, table in enumerate(seen.tables)
        ]  # fmt: skip
    return tuple(found)


def as_csv(evidence: Sequence[TableEvidence]) -> str:
    """The text of the file that is installed."""
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(TableEvidence)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(line) for line in evidence)
    return text.getvalue()


def from_csv(text: str) -> tuple[TableEvidence, ...]:
    """The inverse of ``as_csv``."""
    kinds = {"str": str, "int": int, "float": float}
    return tuple(
        TableEvidence(**{field.name: kinds[str(field.type)](line[field.name]) for field in fields(TableEvidence)})
        for line in csv.DictReader(io.StringIO(text))
    )


@cache
def installed_evidence() -> tuple[TableEvidence, ...]:
    """The evidence that came with the library."""
    return from_csv((files("heldout.advice") / FILE).read_text(encoding="utf-8"))


def expected_change(evidence: Sequence[TableEvidence], n_rows: int) -> tuple[Expected, ...]:
    """What to expect of nested cross-validation where N rows are tuned on, an entry a scenario.

    Parameters
    ----------
    evidence : sequence of TableEvidence
    n_rows : int
        Compared with half of the rows of each table, by their ratio.
    """
    found = []
    for scenario, published in PUBLISHED.items():
        mine = [line for line in evidence if line.scenario == scenario]
        if mine:
            nearest = _nearest(mine, n_rows)
            large = n_rows >= LARGE_ROWS
            theirs = PUBLISHED_LARGE[scenario] if large else published
            found.append(_expected(scenario, nearest, theirs, LARGE if large else 0))
    return tuple(found)


def _nearest(lines: Sequence[TableEvidence], n_rows: int) -> list[TableEvidence]:
    """By the ratio of rows that are tuned on. Many tables have as many, where no more were drawn of a table."""
    away = np.round(np.abs(np.log([line.rows / 2 / n_rows for line in lines])), 9)
    limit = np.sort(away)[min(N_NEAREST, len(away)) - 1]
    return [line for line, far in zip(lines, away.tolist(), strict=True) if far <= limit]


def _expected(scenario: str, lines: Sequence[TableEvidence], published: Published, published_rows: int) -> Expected:
    same = np.array([line.same_choice for line in lines])
    gain = np.abs([line.gain for line in lines])
    threshold = np.array([line.threshold for line in lines])
    rows = [line.rows // 2 for line in lines]
    return Expected(
        scenario, lines[0].algorithms, len(lines), min(rows), max(rows), float(same.mean()), _range(same),
        float(gain.mean()), _range(gain), float(threshold.mean()), float((gain - threshold).mean()),
        _range(gain - threshold), published, published_rows,
    )  # fmt: skip


def _range(values: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[float, float]:
    """Where all agree, or are few, no bootstrap tells how another table would differ."""
    if len(values) < FEWEST or len(np.unique(values)) < 2:
        return float("nan"), float("nan")
    return mean_interval(values, 0)
