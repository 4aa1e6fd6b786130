"""Cleveland's locally linear smoother of weighted rows: what calibration curves are drawn with.

Around each point the nearest rows that hold a share ``span`` of the weight make a neighbourhood; its width h is the
distance of the furthest of them. A straight line is fitted to them by least squares, weighted by (1 - (d / h)³)³ at
distance d and by the rows' own weights, and its value at the point is the smoother's (Cleveland 1979). Under whole
weights every row stands for as many copies, and the numbers are those of R's ``lowess(iter=0, delta=0)`` on the
copies, its bounds included: rows nearer than .001 h weigh fully, rows further than .999 h not at all, and where the
rows of a neighbourhood hardly differ in x (by .001 of the range) their mean stands for the line.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.reference import Floats, Weightings, check_weightings, refuse_nan

SPAN = 2.0 / 3.0
NEAR, FAR = 0.001, 0.999
"""Within this share of h a row weighs fully, and beyond this one not at all."""
FLAT = 0.001
"""Of the range of x: neighbours that spread less than this make no line."""
DELTA = 0.01
"""Of the range of x: R's ``lowess`` fits no two points nearer than this to each other, and joins them by lines."""


def lowess(
    x: Floats, y: Floats, at: Floats, weights: Weightings | None = None, span: float = SPAN
) -> NDArray[np.float64]:
    """The smoother of ``y`` on ``x`` at some points, under each of L weightings of the rows.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Finite.
    y : ndarray of shape (n,) or (L, n)
        Finite; the second where each weighting has its own.
    at : ndarray of shape (m,)
        Where it is wanted. Beyond the rows of a weighting the line of the nearest ones goes on.
    weights : ndarray of shape (L, n), optional
        uint8 counts or float64 weights; every row once by default.
    span : float
        Above 0: the share of the weight in a neighbourhood. Of whole weights it is rounded down to whole copies, at
        least two.

    Returns
    -------
    ndarray of shape (L, m)
        NaN under a weighting without rows.

    Examples
    --------
    >>> x, y = np.arange(6.0), np.array([0.0, 0.0, 1.0, 0.0, 1.0, 1.0])
    >>> lowess(x, y, np.array([1.0, 4.0])).round(3)
    array([[0.286, 0.714]])
    """
    if weights is None:
        weights = np.ones((1, len(x)), dtype=np.uint8)
    check_weightings(weights, len(x))
    check_points(x, y, at)
    check_span(span)
    order = np.argsort(x, kind="stable")
    ranked = np.ascontiguousarray(x[order], dtype=np.float64)
    responses = np.broadcast_to(y, weights.shape)
    points = np.asarray(at, dtype=np.float64)
    smooth = np.empty((len(weights), len(points)))
    for lane, own in enumerate(weights):
        w = own[order].astype(np.float64)
        there = w > 0
        rows = order[there]
        smooth[lane] = _smooth(ranked[there], responses[lane, rows].astype(np.float64), w[there], points, span)
    return smooth


class Lowess:
    """One column of ``x`` with its ``y``, sorted once: the smoother at its own rows, a weighting at a time.

    It is fitted at knots and interpolated between them, as R's ``lowess`` does by default: a knot is the last row
    within ``DELTA`` of the range from the knot before, or the next row where there is none. Rows without weight are
    no knots, so that the numbers are those of a table without them.

    Parameters
    ----------
    x, y : ndarray of shape (n,)
        Finite.
    span : float

    Attributes
    ----------
    order : ndarray of int, shape (n,)
        Rows by ascending ``x``.
    x : ndarray of shape (n,)
        In that order.
    """

    def __init__(self, x: Floats, y: Floats, span: float = SPAN) -> None:
        check_points(x, y, x)
        check_span(span)
        self.order = np.argsort(x, kind="stable")
        self.x = np.ascontiguousarray(x[self.order], dtype=np.float64)
        self._y = np.ascontiguousarray(y[self.order], dtype=np.float64)
        self._span = span

    def at_rows(self, weights: Floats) -> tuple[NDArray[np.bool_], Floats]:
        """Of ``weights`` (n,) in the sorted order: the rows that have any, and the smoother there.

        Returns
        -------
        (ndarray of bool, shape (n,)), (ndarray of float, one a row that has weight, ascending ``x``)
        """
        there = weights > 0
        x = self.x[there]
        knots = x[_knots(x)]
        smooth = _smooth(x, self._y[there], weights[there], knots, self._span)
        return there, np.interp(x, knots, smooth) if len(knots) else smooth


def _knots(x: Floats) -> list[int]:
    """Places in ascending ``x``, each the last row of its tie except the first."""
    if not len(x):
        return []
    last_of_tie = (np.searchsorted(x, x, side="right") - 1).tolist()
    within_reach = (np.searchsorted(x, x + DELTA * (x[-1] - x[0]), side="right") - 1).tolist()
    knots, at, end = [0], 0, len(x) - 1
    while last_of_tie[at] < end:
        at = max(last_of_tie[at] + 1, within_reach[at])
        knots.append(at)
    return knots


def _smooth(x: Floats, y: Floats, w: Floats, at: Floats, span: float) -> Floats:
    """(m,): at the points, of rows of positive weight in ascending order of ``x``."""
    if not len(x):
        return np.full(len(at), np.nan)
    h = _half_widths(x, w, at, span)[:, None]
    away = x - at[:, None]
    distance = np.abs(away)
    share = np.minimum(distance, h) / np.where(h > 0, h, 1.0)  # far rows weigh nothing, and must not overflow
    kernel = 1.0 - share * share * share
    kernel *= kernel * kernel
    kernel[distance <= NEAR * h] = 1.0
    kernel[distance > FAR * h] = 0.0
    kernel *= w
    total = kernel.sum(axis=1)
    alone = total <= 0  # between rows, all neighbours as far as the furthest
    if alone.any():
        kernel[alone] = (distance[alone] <= h[alone]) * w
        total[alone] = kernel[alone].sum(axis=1)
    # The line is value + slope · away, fitted around the neighbours' middle.
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


def _half_widths(x: Floats, w: Floats, at: Floats, span: float) -> Floats:
    """(m,): the least distance within which the rows hold the share of the weight.

    Of the runs of neighbours that just hold it, one from every row on, the furthest row is the first one as long as
    the run lies to the left of the point, and the last one from there on.
    """
    until = np.cumsum(w)
    last = np.searchsorted(until, until - w + _wanted(w, float(until[-1]), span), side="left")
    holding = np.flatnonzero(last < len(x))
    near, far = x[holding], x[last[holding]]
    place = np.searchsorted(near + far, 2.0 * at)
    left, right = np.maximum(place - 1, 0), np.minimum(place, len(near) - 1)
    least: Floats = np.minimum(
        np.maximum(at - near[left], far[left] - at), np.maximum(at - near[right], far[right] - at)
    )
    return least


TINY = 1e-9


def _wanted(w: Floats, total: float, span: float) -> float:
    """How much weight a neighbourhood holds."""
    if (w == np.floor(w)).all():
        return max(min(2.0, total), min(total, np.floor(span * total + 1e-7)))
    # Sums of real weights round: a little less, so that a row that just fills the share does so in any order.
    return min(1.0, span) * total * (1.0 - TINY)


def check_points(x: Floats, y: Floats, at: Floats) -> None:
    for numbers in (x, y, at):
        refuse_nan(numbers)
    if not (np.isfinite(x).all() and np.isfinite(y).all() and np.isfinite(at).all()):
        raise ValueError("the smoother takes finite numbers only")


def check_span(span: float) -> None:
    if not span > 0:
        raise ValueError(f"span must be above 0, got {span}")
