"""How many operations BBC and BBC-F need, as the article counts them (Paraschakis et al. 2024, section 2)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log2
from types import MappingProxyType

from heldout_papers.timing.problem import TimingSetting


@dataclass(frozen=True)
class OperationCount:
    """An order of growth, as text and as a function."""

    formula: str
    count: Callable[[TimingSetting], float]


def _bbc(setting: TimingSetting) -> float:
    n, c, b = setting.rows, setting.configurations, setting.n_bootstraps
    return float(b * c * n)


def _bbc_sorted(setting: TimingSetting) -> float:
    return _bbc(setting) * log2(setting.rows)


def _bbc_f(setting: TimingSetting) -> float:
    n, c, k, b = setting.rows, setting.configurations, setting.folds, setting.n_bootstraps
    return float(b * c * k + c * n)


def _bbc_f_sorted(setting: TimingSetting) -> float:
    n, c, k, b = setting.rows, setting.configurations, setting.folds, setting.n_bootstraps
    return b * c * k + c * n * log2(max(n / k, 2.0))


LINEAR: Mapping[str, OperationCount] = MappingProxyType(
    {"bbc": OperationCount("B C N", _bbc), "bbc_f": OperationCount("B C K + C N", _bbc_f)}
)
"""Of a metric that takes time linear in the rows, such as accuracy."""
SORTED: Mapping[str, OperationCount] = MappingProxyType(
    {
        "bbc": OperationCount("B C N log N", _bbc_sorted),
        "bbc_f": OperationCount("B C K + C N log(N/K)", _bbc_f_sorted),
    }
)
"""Of the AUC, which sorts the rows."""


def operations_of(way: str) -> OperationCount:
    """The count of a way, for the AUC, which is what is timed."""
    return SORTED[way.removeprefix("plain_")]


def predicted_growth(way: str, setting: TimingSetting, base: TimingSetting) -> float:
    """How many times as many operations a setting needs as another.

    Examples
    --------
    >>> small, large = (TimingSetting(n, 5, 4, 200, ("bbc",)) for n in (256, 65536))
    >>> predicted_growth("bbc", large, small)
    512.0
    >>> round(predicted_growth("bbc_f", large, small), 1)
    393.1
    """
    count = operations_of(way).count
    return count(setting) / count(base)
