"""A local regression, R's ``lowess``, at the rows of one column, for one weighting after another."""

import numpy as np

from heldout._types import Booleans, Floats
from heldout.kernels.reference_curves import check_points

SPAN = 2.0 / 3.0
"""The share of the weight in a neighbourhood; of whole weights it is rounded down, but to at least two."""
NEAR, FAR = 0.001, 0.999
"""Rows within the first share of h have full weight, rows beyond the second none."""
FLAT = 0.001
"""A share of the range of x: neighbours that spread less than this do not define a line."""
DELTA = 0.01
"""A share of the range of x: R's ``lowess`` fits only points at least this far apart, and interpolates between."""


class Lowess:
    """The smoother at the rows of one column ``x`` with its ``y``, sorted once, for one weighting after another.

    It is fitted at knots and interpolated between them, as R's ``lowess`` does by default. A knot is the last row
    within ``DELTA`` of the range from the previous knot or, if there is none, the next row. Rows without weight are
    not knots, so the numbers are those of a table without them.

    The neighbourhood of a point is the nearest rows with two thirds of the weight; h is the distance of the
    furthest of them. A straight line is fitted to them by least squares, with weights (1 - (d / h)³)³ at distance
    d times the rows' own, and its value at the point is the result (Cleveland 1979). With whole weights each row
    counts as that many copies, and the numbers are those of R's ``lowess(iter=0, delta=0)`` on the copies, its
    bounds included: rows nearer than .001 h have full weight, rows further than .999 h none, and if the rows of a
    neighbourhood hardly differ in x (by .001 of the range), the result is their mean.

    Parameters
    ----------
    x, y : ndarray of shape (n,)
        Finite.

    Attributes
    ----------
    order : ndarray of int, shape (n,)
        Rows by ascending ``x``.
    x : ndarray of shape (n,)
        In that order.
    """

    def __init__(self, x: Floats, y: Floats) -> None:
        check_points(x, y)
        self.order = np.argsort(x, kind="stable")
        self.x = np.ascontiguousarray(x[self.order], dtype=np.float64)
        self._y = np.ascontiguousarray(y[self.order], dtype=np.float64)

    def at_rows(self, weights: Floats) -> tuple[Booleans, Floats]:
        """The rows with weight, for ``weights`` (n,) in the sorted order, and the smoother at these rows.

        Returns
        -------
        (ndarray of bool, shape (n,)), (ndarray of float, one per row with weight, ascending ``x``)
        """
        there = weights > 0
        x = self.x[there]
        knots = x[_knots(x)]
        smooth = _smooth(x, self._y[there], weights[there], knots)
        return there, np.interp(x, knots, smooth) if len(knots) else smooth


def _knots(x: Floats) -> list[int]:
    """Places of the knots in ascending ``x``: the first row, then each time the last row of a tie."""
    if not len(x):
        return []
    last_of_tie = (np.searchsorted(x, x, side="right") - 1).tolist()
    within_reach = (np.searchsorted(x, x + DELTA * (x[-1] - x[0]), side="right") - 1).tolist()
    knots, at, end = [0], 0, len(x) - 1
    while last_of_tie[at] < end:
        at = max(last_of_tie[at] + 1, within_reach[at])
        knots.append(at)
    return knots


def _smooth(x: Floats, y: Floats, w: Floats, at: Floats) -> Floats:
    """(m,): the smoother at some of the rows, which are in ascending order of ``x`` and have positive weights."""
    if not len(x):
        return np.full(len(at), np.nan)
    h = _half_widths(x, w, at)[:, None]
    away = x - at[:, None]
    distance = np.abs(away)
    share = np.minimum(distance, h) / np.where(h > 0, h, 1.0)  # far rows have no weight, and must not overflow
    kernel = 1.0 - share * share * share
    kernel *= kernel * kernel
    kernel[distance <= NEAR * h] = 1.0
    kernel[distance > FAR * h] = 0.0
    kernel *= w
    total = kernel.sum(axis=1)
    # The line is value + slope · away, fitted around the mean of the neighbours.
    middle = np.einsum("mn,mn->m", kernel, away) / total
    away -= middle[:, None]
    smooth: Floats = np.einsum("mn,n->m", kernel, y) / total
    kernel *= away
    spread = np.einsum("mn,mn->m", kernel, away)
    sloped = np.sqrt(spread / total) > FLAT * (x[-1] - x[0])
    if sloped.any():
        slope = np.einsum("mn,n->m", kernel, y) / np.where(sloped, spread, 1.0)
        smooth -= np.where(sloped, slope * middle, 0.0)
    return smooth


def _half_widths(x: Floats, w: Floats, at: Floats) -> Floats:
    """(m,): the least distance within which the rows have the share of the weight.

    From every row a shortest run of neighbours starts that has this share. The furthest row of a run is its first
    row for runs to the left of the point, and its last row for the others.
    """
    until = np.cumsum(w)
    last = np.searchsorted(until, until - w + _needed_weight(w, float(until[-1])), side="left")
    holding = np.flatnonzero(last < len(x))
    near, far = x[holding], x[last[holding]]
    place = np.searchsorted(near + far, 2.0 * at)
    left, right = np.maximum(place - 1, 0), np.minimum(place, len(near) - 1)
    least: Floats = np.minimum(
        np.maximum(at - near[left], far[left] - at), np.maximum(at - near[right], far[right] - at)
    )
    return least


TINY = 1e-9


def _needed_weight(w: Floats, total: float) -> float:
    if (w == np.floor(w)).all():
        return max(min(2.0, total), min(total, np.floor(SPAN * total + 1e-7)))
    # Sums of real weights round; a little less, so that the row that completes the share does so in any order.
    return SPAN * total * (1.0 - TINY)
