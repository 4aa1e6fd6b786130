"""Races over losses: matrix products with the counts, without drawing.

For L weightings they need only sums over rows: of losses, of their squares and of their
products with the leader's losses. The rows of a split add to the sums of earlier splits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from heldout._types import Array, Booleans, Counts, Floats, Indices
from heldout.dropping.replay import BarrierRows, Remaining
from heldout.kernels.reference import on_exact_grid
from heldout.metrics.row_losses import most_drawn
from heldout.selection.base import NONE_CHOSEN

NO_SPREAD = 1e-12
"""A variance below this share of the squares whose difference it is counts as rounding."""


def normal_share(total: Floats, variance: Floats) -> Floats:
    """Φ(total/√variance): the share of sums above 0 of the given mean and variance.

    Without any spread it is 1 or 0, because all bootstraps agree; a tie is not worse.

    Examples
    --------
    >>> normal_share(np.array([2.0, 3.0, 0.0]), np.array([1.0, 0.0, 0.0])).round(4).tolist()
    [0.9772, 1.0, 0.0]
    """
    spread = variance > 0
    share: Floats = ndtr(total / np.sqrt(np.where(spread, variance, 1.0)))
    return np.where(spread, share, (total > 0).astype(np.float64))


def share_of_more_errors(n: Floats, more: Floats, fewer: Floats) -> Floats:
    """The share of bootstraps of n rows with more errors than the leader's, strictly; for 0-1 losses.

    On ``more`` of the rows the configuration errs and the leader does not, on ``fewer`` the other way round. The
    difference of errors is a sum of n draws from {1, 0, -1} with known frequencies, so that skewness and kurtosis
    need no extra work: Edgeworth's expansion to order 1/n, at the half between 0 and 1 and with Sheppard's term, as
    sums are whole numbers. Between .98 and .997 it is within .004 of the exact share from 8 rows on; the
    plain normal share is up to .011 off there.

    Examples
    --------
    >>> exact = 1 - 0.6**10  # no row on which it is better, 4 of 10 on which it is worse: any of them is enough
    >>> found = share_of_more_errors(np.array(10.0), np.array(4.0), np.array(0.0))
    >>> bool(abs(found - exact) < 1e-3)
    True
    """
    # A sample without rows has no share; 1 avoids the division by 0.
    n = np.maximum(n, 1.0)
    mean, second = (more - fewer) / n, (more + fewer) / n
    variance = second - mean**2
    spread = variance > NO_SPREAD
    over = 1 / np.sqrt(np.where(spread, variance, 1.0))
    per_row = 1 / np.sqrt(n)
    skewness = (mean - 3 * mean * second + 2 * mean * mean * mean) * over * over * over
    fourth = second - 4 * mean * mean + 6 * mean * mean * second - 3 * mean * mean * mean * mean
    kurtosis = fourth * over * over * over * over - 3
    # Half a step towards the mean: a count greater than 0 is at least 1 (continuity correction).
    z = (0.5 - n * mean) * per_row * over
    z2 = z * z
    # Edgeworth's terms: errors are few, so a normal distribution alone is too symmetric.
    first = skewness / 6 * (z2 - 1)
    higher = kurtosis / 24 * (z2 - 3) + skewness * skewness / 72 * ((z2 - 10) * z2 + 15) - over * over / 24
    density = np.exp(-z2 / 2) / np.sqrt(2 * np.pi)
    share: Floats = np.clip(ndtr(-z) + density * per_row * (first + z * per_row * higher), 0.0, 1.0)
    return np.where(spread, share, (mean > 0).astype(np.float64))


ONLY_BEHIND = 0.9
"""From this threshold on, a configuration must be behind on the drawn rows to be worse in so many bootstraps."""


@dataclass(frozen=True, eq=False)
class SplitLosses:
    """The losses of one split's rows, summed by unit."""

    repeat: int
    units: Indices
    """(m,): the units that are drawn whole (rows, or groups of them), as codes; each occurs once."""
    losses: Booleans | Floats
    """(m, A): lower is better; 0 for those that did not run on the split. Booleans if they are 0 or 1, a row each.
    """
    weights: Floats | None = None
    """(m,): the weight of each unit in the mean; None if all are 1."""


def centred(losses: Floats, present: Booleans) -> Floats:
    """Losses minus the median of their row, which keeps differences and the precision of squares.

    An infinite loss becomes a thousand times the largest finite one: with both, the row decides.

    Of losses (m, A); ``present`` (A,) are those that ran on the split, and the others get 0.
    """
    finite = losses[np.isfinite(losses)]
    bound = 1e3 * float(np.abs(finite).max(initial=1.0))
    part = np.clip(losses[:, present], -bound, bound)
    whole = np.zeros(losses.shape)
    whole[:, present] = part - np.median(part, axis=1, keepdims=True)
    return whole


@dataclass(frozen=True, eq=False)
class LossCourse:
    """For means of one loss per row.

    In the first repeat the differences of the sums are exact, and so is their variance given the drawn rows. Later
    repeats are judged when complete; the loss of a row is then its mean over the repeats.
    """

    splits: tuple[SplitLosses, ...]
    """In the order in which they run; one a barrier is enough."""
    first_row: Indices
    """(U,): a row of each unit: the rows of a group have the same count."""
    predicted_rows: tuple[BarrierRows, ...] | None = None
    """If the selection rule is not simply the least mean loss: they give the leader at each barrier."""
    threshold: float = 0.0
    """Shares that are certainly below it are not computed, and are 0."""

    def start(self, counts: Counts) -> LossStandings:
        """Before the first split."""
        return LossStandings(self, counts)

    def added(self, split: int) -> tuple[SplitLosses, bool]:
        """The losses that a split adds to the sums, and whether the sums restart with it."""
        if self.splits[split].repeat == self.splits[0].repeat:
            return self.splits[split], False
        # A later repeat changes the mean loss of each row, so earlier sums cannot be added to.
        return self._of_repeats(self.splits[: split + 1]), True

    def _of_repeats(self, splits: tuple[SplitLosses, ...]) -> SplitLosses:
        """One loss a unit, over the repeats so far."""
        weight: dict[int, float] = {}
        for each in splits:
            mine = len(each.units) if each.weights is None else each.weights.sum()
            weight[each.repeat] = weight.get(each.repeat, 0.0) + float(mine)
        whole = max(weight.values())
        units = np.unique(np.concatenate([each.units for each in splits]))
        losses = np.zeros((len(units), splits[0].losses.shape[1]))
        weights = np.zeros(len(units))
        for each in splits:
            share = whole / (len(weight) * weight[each.repeat])
            place = np.searchsorted(units, each.units)
            losses[place] += share * each.losses
            weights[place] += share * (1.0 if each.weights is None else each.weights)
        return SplitLosses(splits[-1].repeat, units, losses, weights)


@dataclass(frozen=True, eq=False)
class _Part:
    """The counts of some units (L, m), and their losses (m, columns)."""

    counts: Array
    losses: Array

    def of(self, columns: Indices) -> _Part:
        return _Part(self.counts, np.ascontiguousarray(self.losses[:, columns]))


class LossStandings:
    """``SimulatedStandings`` by sums.

    Losses are rounded so that their sums are exact, and more coarsely for sums of products. So the numbers do not
    depend on the blocks of a matrix product.
    """

    def __init__(self, course: LossCourse, counts: Counts) -> None:
        self._course = course
        self._row_counts = counts
        # Counts of errors are exact in float32, whose matrix products are twice as fast.
        whole = all(each.losses.dtype == bool for each in course.splits)
        self._counts: Array = np.take(counts, course.first_row, axis=1).astype(np.float32 if whole else np.float64)
        self._columns = np.arange(course.splits[0].losses.shape[1])
        self._most = most_drawn(int(counts.shape[1]))
        self._predicted: BarrierRows | None = None
        self._begin()

    def _begin(self) -> None:
        shape = len(self._counts), len(self._columns)
        self._parts: list[_Part] = []
        self._sums, self._squares, self._products = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self._with_weight = np.zeros(shape)
        self._weight, self._weight_squared = np.zeros(shape[0]), np.zeros(shape[0])
        self._weighted = self._whole = False
        self._product_with = np.full(shape[0], NONE_CHOSEN, dtype=np.intp)
        self._n_products = np.zeros(shape[0], dtype=np.intp)

    def add_split(self, split: int, wanted: Booleans) -> None:
        self._narrow(wanted)
        split_losses, afresh = self._course.added(split)
        if afresh:
            self._begin()
        self._whole = split_losses.losses.dtype == bool
        counts = self._counts[:, split_losses.units]
        losses: Array = split_losses.losses[:, self._columns]
        weights = np.ones(len(split_losses.units)) if split_losses.weights is None else split_losses.weights
        self._weighted |= split_losses.weights is not None
        if self._whole:
            part = _Part(counts, losses.astype(np.float32))
            self._sums += counts @ part.losses
            # 0 and 1 are their own squares.
            self._squares = self._sums
        else:
            counts = counts.astype(np.float64)
            part = _Part(counts, on_product_grid(losses, self._most))
            self._sums += counts @ on_exact_grid(losses, self._most)
            self._squares += counts @ part.losses**2
        self._parts.append(part)
        weights = on_product_grid(weights[:, None], self._most)[:, 0]
        self._weight += counts @ weights
        if self._weighted:
            self._weight_squared += counts @ weights**2
            self._with_weight += counts @ (part.losses * weights[:, None])
        self._predicted = None if self._course.predicted_rows is None else self._course.predicted_rows[split]

    def _narrow(self, wanted: Booleans) -> None:
        """Remove columns that are no longer needed, if that saves much."""
        keep = np.flatnonzero(wanted[self._columns])
        # Copies cost time too; a fifth of the columns must go before they pay.
        if len(keep) > 0.8 * len(self._columns):
            return
        self._columns = self._columns[keep]
        self._parts = [part.of(keep) for part in self._parts]
        self._sums, self._squares = self._sums[:, keep], self._squares[:, keep]
        self._products, self._with_weight = self._products[:, keep], self._with_weight[:, keep]
        place = np.full(int(wanted.size) + 1, NONE_CHOSEN, dtype=np.intp)
        place[keep] = np.arange(len(keep))
        self._product_with = place[self._product_with]
        self._n_products[self._product_with == NONE_CHOSEN] = 0

    def leaders(self, remaining: Remaining) -> Indices:
        if self._predicted is not None:
            return self._predicted.leaders(self._row_counts, remaining)
        sums = np.where(remaining[:, self._columns], self._sums, np.inf)
        found = self._columns[sums.argmin(axis=1)]
        return np.where((self._weight > 0) & remaining.any(axis=1), found, NONE_CHOSEN)

    def worse(self, leaders: Indices, remaining: Remaining) -> Floats:
        lanes = np.arange(len(leaders))
        leader = np.searchsorted(self._columns, np.maximum(leaders, 0))
        leader[leaders == NONE_CHOSEN] = 0  # their values are not read
        self._multiply(leader)
        # Sums and not means: all columns have the same rows, so the divisor changes no comparison.
        total = self._sums - self._sums[lanes, leader][:, None]
        needed = remaining[:, self._columns]
        if self._course.threshold >= ONLY_BEHIND:
            needed &= total > 0
        lane, column = np.nonzero(needed)
        share = np.zeros(remaining.shape)
        share[lane, self._columns[column]] = self._shares(lane, column, leader[lane], total[needed])
        return share

    def _shares(self, lane: Indices, column: Indices, leader: Indices, total: Floats) -> Floats:
        """The shares of some columns under some weightings, against the leaders there."""
        both = self._squares[lane, column] + self._squares[lane, leader]
        squares = both - 2 * self._products[lane, column]
        n = self._weight[lane]
        if self._whole and not self._weighted:
            return share_of_more_errors(n, (squares + total) / 2, (squares - total) / 2)
        mean = total / n
        variance = squares - mean * total
        if self._weighted:
            with_weight = self._with_weight[lane, column] - self._with_weight[lane, leader]
            variance = squares - 2 * mean * with_weight + mean * mean * self._weight_squared[lane]
        return normal_share(total, np.where(variance > NO_SPREAD * both, variance, 0.0))

    def _multiply(self, leader: Indices) -> None:
        """Update the sums of products with the leader's losses; for a new leader they restart."""
        new = leader != self._product_with
        self._products[new] = 0.0
        self._n_products[new] = 0
        for number, part in enumerate(self._parts):
            lanes = np.flatnonzero(self._n_products <= number)
            if lanes.size:
                weighed = part.counts[lanes] * part.losses[:, leader[lanes]].T
                self._products[lanes] += weighed @ part.losses
        self._product_with = leader.copy()
        self._n_products[:] = len(self._parts)


def on_product_grid(values: Floats, most: int) -> Floats:
    """Values rounded, by column, so coarsely that sums of ``most`` products of two of them are exact in float64.

    Of 1000 rows, 20 bits of the largest value are kept.

    Examples
    --------
    >>> on_product_grid(np.array([[1.0], [1 / 3]]), most=1000).ravel().round(4).tolist()
    [1.0, 0.3333]
    """
    # A product of two numbers of so many bits, summed so often, still fits 53 bits.
    bits = (53 - int(most).bit_length()) // 2
    _, exponent = np.frexp(np.abs(values).max(axis=0, initial=0.0))
    step = np.ldexp(1.0, exponent - bits)
    grid: Floats = np.rint(values / step) * step
    return grid
