"""How many rows a development set needs for the chosen model to be close to the best, and how close n rows bring.

The two are the bound of method "hoeffding" before there is any data.
"""

from __future__ import annotations

import math
from numbers import Integral, Real

from heldout.errors import InputError
from heldout.metrics.row_losses import half_width


def rows_needed(epsilon: float, delta: float = 0.05, *, candidates: int, width: float = 1.0) -> int:
    """Rows of a development set with which the chosen model is at most ``epsilon`` worse than the best one.

    The least n with ``w √(2 ln(2 |Θ₀| / δ) / n) ≤ ε``: with probability 1 - δ over the development set, the
    expected loss of the model chosen there exceeds that of the best of the models by at most ε (Hoeffding 1963 and
    a union bound). Symbols: ε = ``epsilon``, δ = ``delta``, ``|Θ₀|`` = ``candidates``, w = ``width``.

    Parameters
    ----------
    epsilon : float
        Above 0, in units of the metric.
    delta : float, default=.05
        Between 0 and 1.
    candidates : int
        How many models are compared, all fixed beforehand and trained on other rows.
    width : float, default=1
        Greatest minus least possible loss of a row: 1 for accuracy.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    InputError
        When a number is outside its range, or more rows are needed than can be counted.

    Examples
    --------
    >>> rows_needed(0.1, candidates=100)  # 2 ln(2 · 100 / .05) / .1²
    1659
    """
    number, share, range_width = _positive("epsilon", epsilon, ".05 is usual"), _share(delta), _width(width)
    count = _count("candidates", candidates)
    needed = 2 * math.log(2 * count / share) * _squared(range_width / number)
    if not math.isfinite(needed):
        raise InputError(
            f"`epsilon={epsilon!r}` needs more rows than can be counted; use a larger epsilon.", argument="epsilon"
        )
    return max(1, math.ceil(needed))


def distance_to_best(rows: int, delta: float = 0.05, *, candidates: int, width: float = 1.0) -> float:
    """By how much the model chosen on ``rows`` rows can be worse than the best one: the inverse of ``rows_needed``.

    ``ε = w √(2 ln(2 |Θ₀| / δ) / n)``, with probability 1 - δ. Method "hoeffding" gives it as ``distance_to_best``.

    Parameters
    ----------
    rows : int
        n, of the development set.
    delta, candidates, width
        As for ``rows_needed``.

    Returns
    -------
    float
        In units of the metric, 0 or more.

    Raises
    ------
    InputError
        When a number is outside its range.

    Examples
    --------
    >>> round(distance_to_best(1000, candidates=100), 4)
    0.1288
    """
    n, share, range_width = _count("rows", rows), _share(delta), _width(width)
    return 2 * half_width(n, share, _count("candidates", candidates), 2, range_width)


_MOST = 10**300
"""More cannot be divided."""


def _positive(name: str, value: object, advice: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < math.inf:
        raise InputError(f"{name} must be a finite number above 0, got {value!r}; {advice}.", argument=name)
    return float(value)


def _width(value: object) -> float:
    return _positive("width", value, "use 1 for accuracy")


def _share(delta: object) -> float:
    if isinstance(delta, bool) or not isinstance(delta, Real) or not 0 < float(delta) < 1:
        raise InputError(f"delta must lie between 0 and 1, got {delta!r}; .05 is usual.", argument="delta")
    return float(delta)


def _count(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise InputError(
            f"{name} must be an integer of at least 1, got {value!r}; give how many there are.", argument=name
        )
    if int(value) > _MOST:
        raise InputError(f"{name} must be at most 1e300, got a number of more digits.", argument=name)
    return int(value)


def _squared(number: float) -> float:
    return number * number  # infinite where the power operator would raise
