"""Rows in the order of time: the blocks in which their bootstraps are drawn, and what to know of those.

How much a row moves the winner's pooled score is, for any metric, the score on all rows less that without the row:
of a mean of losses it is the row's loss but for shift and scale. The automatic length of blocks is taken from the
autocorrelation of that. A mean over folds is no use for it: the effect of a row is then its loss less the mean of
its own fold, in which the slow part of the dependence is gone.

The automatic length (Politis & White 2004, with the correction of Patton, Politis & White 2009) is that at which a
bootstrapped mean has, for large n, the least mean squared error of its variance. With R(k) the autocovariance at
lag k, M a number of lags after which none is clear, and w(k) = min(1, 2(1 - k/M)), it is

    (2 G² n / D)^(1/3),  G = 2 Σ w(k) k R(k),  g = R(0) + 2 Σ w(k) R(k),  sums over k = 1 .. M,

where D is 2 g² for the stationary bootstrap and 4/3 g² for moving blocks. M is twice the first of K_n lags in a row
whose autocorrelations are all below 2 √(log10(n) / n), as in the programs of the authors, K_n = max(5, √log10(n)).
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from heldout._types import Floats
from heldout.data.checks import check_choice
from heldout.data.task import numbers_listed, shortened
from heldout.errors import InputError
from heldout.estimates.evidence import Candidates
from heldout.estimates.question import AUTO, Blocks
from heldout.flags import Flag
from heldout.metrics.aggregate import AggregateScore
from heldout.selection.bootstrap_draws import BLOCK, BLOCK_KINDS, BlockKind, RowBlocks

MOST_LEFT_OUT = 5000
"""Rows that are left out one by one, the last ones where there are more: the time grows with their product."""
MOST_FOREIGN = 1000
"""The same for a metric of the user's own, which may be slow."""
SOURCES_OF_KIND = {"stationary": ("politis1994",), "moving": ("kunsch1989",)}
SOURCES_OF_LENGTH = ("politis2004", "patton2009")
CHOSEN_AUTOMATICALLY = "automatic"
AS_PASSED = "as passed"


def check_without_groups(blocks: Blocks | None, groups: Any) -> None:
    """Refuse blocks of rows beside groups, which are drawn whole themselves."""
    if blocks is not None and groups is not None:
        raise InputError(
            f"`block_length={str(blocks)!r}` draws blocks of consecutive rows, and groups are drawn whole in any "
            "order of their rows; leave `block_length` out, or group stretches of time."
        )


def check_fits_rows(blocks: Blocks | None, n_rows: int) -> None:
    """Refuse blocks of more than half of the rows that are predicted."""
    if blocks is None or blocks.length == AUTO or blocks.length <= max(n_rows // 2, 1):
        return
    raise InputError(
        f"`block_length={blocks.length!r}` is more than half of the {n_rows} predicted rows, of which a bootstrap "
        f"draws some blocks and leaves out others; use at most {n_rows // 2}, or 'auto'."
    )


def wanted_blocks(blocks: Blocks | None, exchangeable: bool, *, grouped: bool) -> Blocks | None:
    """The blocks that are drawn: by default, of rows whose folds follow time, those of the automatic length."""
    return Blocks() if blocks is None and not exchangeable and not grouped else blocks


def in_blocks(evidence: Candidates) -> Candidates:
    """The evidence with the blocks that its bootstraps draw; unchanged where rows or groups are drawn."""
    exchangeable = evidence.matrix.predictions.exchangeable
    wanted = wanted_blocks(evidence.settings.blocks, exchangeable, grouped=evidence.grouped)
    if wanted is None:
        return evidence
    n_rows = len(evidence.scores.rows_of_weight)
    is_automatic = wanted.length == AUTO
    length = _automatic(evidence, wanted) if wanted.length == AUTO else int(wanted.length)
    check_fits_rows(wanted, n_rows)
    source = CHOSEN_AUTOMATICALLY if is_automatic else AS_PASSED
    details = {
        "block_kind": wanted.kind,
        "block_length": length,
        "block_length_source": source,
        "block_sources": SOURCES_OF_KIND[wanted.kind] + (SOURCES_OF_LENGTH if is_automatic else ()),
    }
    evidence = replace(evidence, details={**evidence.details, **details})
    if length == 1 and not is_automatic:
        return evidence
    return replace(
        evidence,
        row_blocks=RowBlocks(length, wanted.kind),
        flags={**evidence.flags, Flag.ROW_BLOCKS: _sentence(wanted, length, n_rows)},
    )


def row_effects(evidence: Candidates, pooled: AggregateScore) -> Floats:
    """(m,): by how much each of the last m rows of weight moves the winner's pooled score.

    Their mean where it cannot be scored.
    """
    most = MOST_FOREIGN if pooled.metric.calls_foreign_code else MOST_LEFT_OUT
    rows = pooled.rows_of_weight[-most:]
    scores = [_without_each(evidence, pooled, rows[first : first + BLOCK]) for first in range(0, len(rows), BLOCK)]
    whole = evidence.scores_of_winner(np.ones((1, pooled.n_rows), dtype=np.uint8), pooled)
    effects = whole - np.concatenate(scores)
    finite = np.isfinite(effects)
    return np.where(finite, effects, effects[finite].mean() if finite.any() else 0.0)


def _without_each(evidence: Candidates, score: AggregateScore, rows: Any) -> Floats:
    """(len(rows),): the winner's score without each of the rows."""
    counts = np.ones((len(rows), score.n_rows), dtype=np.uint8)
    counts[np.arange(len(rows)), rows] = 0
    return evidence.scores_of_winner(counts, score)


def _automatic(evidence: Candidates, wanted: Blocks) -> int:
    pooled = evidence.matrix.score(evidence.matrix.question.metric, "pooled")
    n_rows = len(pooled.rows_of_weight)
    if n_rows < 4:  # nothing shows in so few
        return 1
    length = automatic_length(row_effects(evidence, pooled), wanted.kind, n_rows)
    return min(max(math.ceil(length), 1), n_rows // 2)


def _sentence(wanted: Blocks, length: int, n_rows: int) -> str:
    of_length = "an average of " if wanted.kind == "stationary" and length > 1 else ""
    how = " (chosen by the autocorrelation of how rows move the score)" if wanted.length == AUTO else ""
    return Flag.ROW_BLOCKS.filled(
        kind=wanted.kind,
        length=f"{of_length}{length} row{'' if length == 1 else 's'}{how}",
        blocks=f"{n_rows / length:.0f}",
    )


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
    series = numbers_listed(values)
    if series.ndim != 1 or len(series) < 2 or not np.isfinite(series).all():
        raise InputError(
            f"values must be at least 2 finite numbers in their order, one for each row, got {shortened(values)}."
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
