"""What Wainer & Cawley published: the rows of tables 2, 3, 5 and 6, and the rankings of tables 1 and 4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

REPETITIONS = 6
N_TABLES, N_LARGE = 115, 32


@dataclass(frozen=True)
class PublishedRow:
    """A row of a table, as printed.

    Attributes
    ----------
    same_choice : int
        Per cent.
    p_value : str
    mean, low, high : float
        To three decimals.
    """

    same_choice: int
    p_value: str
    mean: float
    low: float
    high: float


ROWS: Mapping[tuple[str, str], PublishedRow] = MappingProxyType(
    {
        ("top3", "main"): PublishedRow(71, "0.001", -0.004, -0.007, -0.002),
        ("full", "main"): PublishedRow(62, "3.6e-06", -0.004, -0.007, -0.003),
        ("top3", "large_tables"): PublishedRow(80, "0.0016", -0.005, -0.014, -0.002),
        ("full", "large_tables"): PublishedRow(71, "0.0108", -0.004, -0.015, -0.001),
        ("top3", "averaged"): PublishedRow(78, "6.32e-06", -0.005, -0.015, -0.002),
        ("full", "averaged"): PublishedRow(72, "0.0005", -0.005, -0.015, -0.002),
        ("top3", "each_repetition"): PublishedRow(78, "3.05e-13", -0.002, -0.002, -0.001),
        ("full", "each_repetition"): PublishedRow(72, "2.67e-08", -0.001, -0.002, -0.001),
        ("top3", "smallest_deviation"): PublishedRow(80, "5.94e-06", -0.002, -0.003, -0.001),
        ("full", "smallest_deviation"): PublishedRow(71, "1e-06", -0.002, -0.003, -0.001),
        ("full", "forest_alone"): PublishedRow(28, "1", 0.011, 0.006, 0.024),
    }
)
"""By scenario and analysis."""

NESTED_RANKS: Mapping[str, float] = MappingProxyType(
    {
        "rf": 3.4, "svmRadial": 3.6, "gbm": 4.0, "nnet": 4.8, "rknn": 5.3, "svmPoly": 5.3,
        "knn": 5.4, "svmLinear": 6.1, "sda": 6.6, "lvq": 6.7, "nb": 7.9, "bst": 8.7,
    }
)  # fmt: skip
FLAT_RANKS: Mapping[str, float] = MappingProxyType(
    {
        "gbm": 3.0, "svmRadial": 3.2, "rf": 4.0, "nnet": 4.1, "rknn": 4.2, "svmPoly": 5.2,
        "knn": 5.3, "lvq": 6.4, "svmLinear": 6.4, "sda": 7.0, "nb": 8.4, "bst": 8.6,
    }
)  # fmt: skip
