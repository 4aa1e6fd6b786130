"""How long blocks of ordered rows are: as a user says, or from the dependence that the scores of rows show.

The automatic length (Politis & White 2004, with the correction of Patton, Politis & White 2009) is that at which a
bootstrapped mean has, for large n, the least mean squared error of its variance. With R(k) the autocovariance at
lag k, M a number of lags after which none is clear, and w(k) = min(1, 2(1 - k/M)), it is

    (2 G² n / D)^(1/3),  G = 2 Σ w(k) k R(k),  g = R(0) + 2 Σ w(k) R(k),  sums over k = 1 .. M,

where D is 2 g² for the stationary bootstrap and 4/3 g² for moving blocks. M is twice the first of K_n lags in a row
whose autocorrelations are all below 2 √(log10(n) / n), as in the programs of the authors, K_n = max(5, √log10(n)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from heldout._text import is_one_of
from heldout._types import Floats
from heldout.data.checks import BLOCK_TEXT, check_choice, unknown_blocks
from heldout.data.task import shortened
from heldout.errors import InputError
from heldout.selection.draws import BLOCK_KINDS, BlockKind

AUTO: Literal["auto"] = "auto"
BlockLength: TypeAlias = "int | str | Blocks | None"
"""What a user passes for ``Blocks``."""


@dataclass(frozen=True)
class Blocks:
    """How a bootstrap draws blocks of consecutive rows, for rows in the order of time.

    Attributes
    ----------
    length : "auto" or int
        Rows per block, on average if the kind is "stationary". "auto" derives it from the autocorrelation of each
        row's influence on the winner's score (Politis & White 2004; Patton, Politis & White 2009). 1 draws single
        rows, as if they had no order.
    kind : "moving" or "stationary"
        "moving": blocks of one length, which draw the first and last rows less often (Künsch 1989). "stationary":
        blocks of geometric lengths, where the first row follows the last, so that every row is drawn equally often
        (Politis & Romano 1994).

    Examples
    --------
    >>> Blocks(), str(Blocks(12, "stationary"))
    (Blocks(length='auto', kind='moving'), 'stationary:12')
    """

    length: Literal["auto"] | int = "auto"
    kind: BlockKind = "moving"

    def __post_init__(self) -> None:
        length = self.length
        is_count = isinstance(length, int | np.integer) and not isinstance(length, bool) and length >= 1
        if not is_one_of(length, (AUTO,)) and not is_count:
            raise InputError(
                f"the length of blocks must be 'auto' or an integer of at least 1, got {length!r}.",
                argument="block_length",
            )
        check_choice("kind", self.kind, BLOCK_KINDS)

    def __str__(self) -> str:
        return f"{self.kind}:{self.length}"


def blocks_of(value: Any) -> Blocks | None:
    """The blocks that ``block_length`` names: an integer, "auto", text such as "stationary:12", or ``Blocks``.

    Examples
    --------
    >>> blocks_of("auto"), blocks_of("stationary:12") == Blocks(12, "stationary"), blocks_of(None)
    (Blocks(length='auto', kind='moving'), True, None)
    """
    if value is None or isinstance(value, Blocks):
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 1:
        return Blocks(int(value))
    matched = BLOCK_TEXT.fullmatch(value) if isinstance(value, str) else None
    if matched is not None:
        kind, length = matched.groups()
        return Blocks(AUTO if length == AUTO else int(length), cast("BlockKind", kind or Blocks().kind))
    raise unknown_blocks(value)


def automatic_length(values: Any, kind: BlockKind = "moving", n_rows: int | None = None) -> float:
    """The best block length for a bootstrap of the mean of ordered values; it need not be an integer.

    Parameters
    ----------
    values : array-like of shape (n,)
        In the order of time.
    kind : {"moving", "stationary"}, default="moving"
        The kind of blocks, as in ``Blocks``.
    n_rows : int, optional
        The number of rows of the whole series, if the values are a part of it.

    Returns
    -------
    float
        At most 3 √n and n/3; below 1 without dependence; 1 if all values are the same.

    Raises
    ------
    InputError
        For fewer than 2 values, one that is not finite, or an unknown ``kind``.

    References
    ----------
    Politis & White (2004), section 3.2; Patton, Politis & White (2009), equation 9.

    Examples
    --------
    >>> values = np.random.default_rng(0).normal(size=500)
    >>> smooth = np.convolve(values, np.ones(5))  # each shares 4 of its 5 terms with its neighbours
    >>> [round(automatic_length(each), 1) for each in (values, smooth)]
    [1.1, 12.8]
    """
    values = _series(values)
    check_choice("kind", kind, BLOCK_KINDS)
    n = len(values)
    total = n if n_rows is None else n_rows
    errors = values - values.mean()
    # The ends of the search as in the authors' own code (b.star of the R package np): blocks of a third of the rows
    # are not many blocks any more.
    longest = math.ceil(min(3 * math.sqrt(total), total / 3))
    in_a_row = max(5, math.ceil(math.sqrt(math.log10(n))))
    most = min(math.ceil(math.sqrt(n)) + in_a_row, n - 1)
    covariance = np.array([errors[lag:] @ errors[: n - lag] for lag in range(most + 1)]) / n
    # Values that differ by rounding errors alone have no dependence, and the division below would be of noise by
    # noise.
    if not covariance[0] > (1e-12 * np.abs(values).max(initial=0.0)) ** 2:
        return 1.0
    lags = np.arange(1, _number_of_lags(covariance, n, in_a_row) + 1)
    # The flat-top window of Politis and Romano: 1 up to half of the lags, then down to 0 in a straight line.
    window = np.minimum(1.0, 2 * (1 - lags / lags[-1]))
    slope = 2 * float(window @ (lags * covariance[lags]))
    density = covariance[0] + 2 * float(window @ covariance[lags])
    # The variance of the stationary bootstrap converges with another constant than that of blocks of one length.
    scale = 2.0 if kind == "stationary" else 4 / 3
    # A density of 0 at frequency 0, as of rows that alternate, gives an infinite length, cut off below.
    with np.errstate(divide="ignore"):
        length = np.cbrt(2 * slope**2 * total / np.float64(scale * density**2))
    return float(min(length, longest))


def _series(values: Any) -> Floats:
    """The values as an array (n,).

    Raises InputError unless they are two finite numbers or more.
    """
    try:
        series = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        series = np.empty(0)
    if series.ndim != 1 or len(series) < 2 or not np.isfinite(series).all():
        raise InputError(
            f"values must be at least 2 finite numbers in their order, one for each row, got {shortened(values)}.",
            argument="values",
        )
    return series


def _number_of_lags(covariance: Floats, n: int, in_a_row: int) -> int:
    """M: twice the first of so many lags in a row without a clear autocorrelation; all lags if there are none."""
    most = len(covariance) - 1
    unclear = np.abs(covariance[1:] / covariance[0]) < 2 * math.sqrt(math.log10(n) / n)
    for lag in range(1, most - in_a_row + 2):
        # One small autocorrelation may be chance; several in a row are taken as the end of the dependence.
        if unclear[lag - 1 : lag - 1 + in_a_row].all():
            return min(2 * lag, most)
    return most
