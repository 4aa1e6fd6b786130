"""Shrunken centres: where the true scores of the candidates may lie, given that their observed scores are noisy.

Observed scores are more spread out than true ones, because noise is added to each. Centres are the observed scores
pulled together until they are as spread out as the true ones probably are. Only what competes is pulled: the upper
half of the candidates. A bad configuration stays where it is, or its noise would make a winner of it.

The noise of a score depends on the true score: an accuracy near 1 varies less than one near .5, and a configuration
that was right on all rows shows no noise at all. ``ScoreRange.variance`` says how, up to a factor, and the noise of
each candidate is scaled from its observed score to its centre.

Everywhere in this module greater is better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from heldout._types import Booleans, Floats
from heldout.metrics.base import Metric

FEW = 4
"""With fewer candidates all of them compete."""
MOST_NOISE = 40.0
"""Median standard deviations of what competes, at which noise is cut off: a few rows with enormous losses."""
NO_NOISE = 1e-9
SMALL, LARGE = 1e-100, 1e100
"""Sizes between which sums of squares have all digits."""


@dataclass(frozen=True)
class ScoreRange:
    """The worst and the best possible score.

    Examples
    --------
    >>> accuracy = ScoreRange(0.0, 1.0)
    >>> accuracy.variance(np.array([0.5, 0.9, 1.0])).round(3).tolist()
    [0.25, 0.09, 0.0]
    >>> ScoreRange(-np.inf, 0.0).variance(np.array([-2.0, 0.0])).tolist()  # the negative of a loss
    [2.0, 0.0]
    """

    worst: float
    best: float

    @classmethod
    def of(cls, metric: Metric) -> ScoreRange:
        """A metric's, turned round for a loss."""
        least, greatest = metric.range
        return cls(least, greatest) if metric.greater_is_better else cls(-greatest, -least)

    def variance(self, score: Floats) -> Floats:
        """How the variance of a score depends on its true value, up to a factor.

        As that of a proportion between two ends, as the distance from the best value where there is no worst, and
        not at all where there is neither.
        """
        score = np.asarray(score, dtype=np.float64)
        above = np.maximum(self.best - score, 0.0) if math.isfinite(self.best) else np.ones_like(score)
        below = np.maximum(score - self.worst, 0.0) if math.isfinite(self.worst) else np.ones_like(score)
        return above * below

    def reach(self, score: float, width: float, *centres: float) -> tuple[float, float]:
        """The true values below and above from which ``score`` is ``width`` away, as noise is at ``centres``.

        The ends x solve (score - x)² = width² variance(x) / variance(centre): Wilson's interval for a proportion.
        At least as far as ``width`` either way, and within the range. The centre is that of ``centres`` and of the
        score which varies most; NaN is none.

        Examples
        --------
        >>> low, high = ScoreRange(0.0, 1.0).reach(0.9, 1.96 * (0.9 * 0.1 / 50) ** 0.5)
        >>> round(low, 3), round(high, 3)  # Wilson's lower and Wald's upper end
        (0.786, 0.983)
        """
        low, high = score - width, score + width
        # A score at the end of its range has no variance of its own, as 20 of 20 right.
        here = float(np.nanmax(self.variance(np.array([score, *centres]))))
        # Without variance at the score there is no scale, and the symmetric interval stays.
        if here > 0 and width > 0:
            c = width * (width / here)  # not width**2, which may be beyond float64
            if math.isfinite(self.worst) and math.isfinite(self.best):
                c = min(c, 1e100)  # the ends are those of the range already, and its square is a number
                # (1 + c) x² - (2 score + c (worst + best)) x + score² + c worst best = 0
                half = score + c * (self.worst + self.best) / 2
                # Rounding errors may take a difference of two squares that are equal just below 0.
                root = math.sqrt(max(half**2 - (1 + c) * (score**2 + c * self.worst * self.best), 0.0))
                low, high = min(low, (half - root) / (1 + c)), max(high, (half + root) / (1 + c))
            elif math.isfinite(self.best) or math.isfinite(self.worst):
                end = self.best if math.isfinite(self.best) else self.worst
                # (distance - y)² = c y, with y and distance those of x and of score from the end
                distance = abs(end - score)
                middle, root = distance + c / 2, math.sqrt(c) * math.sqrt(distance + c / 4)
                far, near = middle + root, middle - root
                ends = (end - far, end - near) if end == self.best else (end + near, end + far)
                low, high = min(low, ends[0]), max(high, ends[1])
        return max(low, self.worst), min(high, self.best)


@dataclass(frozen=True, eq=False)
class Centres:
    """Centres of C candidates, and their noise there.

    Attributes
    ----------
    values : ndarray of shape (C,)
    noise : ndarray of shape (B, C)
        Of mean 0.
    factor : float
        By which differences between what competes were multiplied: the square root of the share of their variance
        that is not noise.
    competes : ndarray of bool, shape (C,)
    """

    values: Floats
    noise: Floats
    factor: float
    competes: Booleans


def competing(observed: Floats) -> Booleans:
    """Which candidates compete: those at or above the median, all of fewer than ``FEW``; greater is better.

    Those without a finite score never do.

    Examples
    --------
    >>> competing(np.array([0.5, 0.9, np.nan, 0.7, 0.6])).tolist()
    [False, True, False, True, False]
    """
    finite = np.isfinite(observed)
    # Of two or three candidates the median is one of them, and half of them would leave nothing to pull.
    if finite.sum() < FEW:
        return finite
    return finite & (observed >= np.median(observed[finite]))


def shrunken(observed: Floats, noise: Floats, possible: ScoreRange, rng: np.random.Generator) -> Centres:
    """Centres of the observed scores M, and noise D there.

    - Competing are the candidates at or above the median m (all of fewer than ``FEW``).
    - v: the mean over them of var_b(D_bc - mean_c D_bc)·k/(k - 1): what they do not have in common.
    - t: their variance about m, as half of a symmetric distribution; κ = √max(0, 1 - v/t).
    - Centres m + κ (M - m), and M below m.
    - Noise is scaled by √(variance(centre)/variance(M)); that of a candidate without any (all rows are right) is
      drawn from ``rng``, as large as the others' would be there.

    Parameters
    ----------
    observed : ndarray of shape (C,)
        Finite.
    noise : ndarray of shape (B, C)
        Bootstrapped scores less their mean, as large as the noise of ``observed``. It is overwritten.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> noise = 0.1 * rng.standard_normal((400, 50))
    >>> alike = shrunken(noise[0], noise - noise.mean(axis=0), ScoreRange(-np.inf, np.inf), rng)
    >>> apart = shrunken(np.linspace(0, 9, 50), noise - noise.mean(axis=0), ScoreRange(-np.inf, np.inf), rng)
    >>> alike.factor < 0.6, apart.factor > 0.99
    (True, True)
    """
    n = len(observed)
    # One candidate has nothing to be pulled towards.
    if n == 1:
        return Centres(observed, noise, 1.0, np.ones(1, dtype=bool))
    unit = unit_of(observed, noise)
    # Losses such as 1e200 have squares beyond float64: the same in other units.
    if unit != 1:
        possible = ScoreRange(possible.worst / unit, possible.best / unit)
        result = shrunken(observed / unit, noise / unit, possible, rng)
        return replace(result, values=result.values * unit, noise=result.noise * unit)
    # The median, because a few configurations that fail to learn would move the mean.
    middle = float(np.median(observed))
    competes = competing(observed)
    squares = np.einsum("bc,bc->c", noise, noise)
    usual = math.sqrt(float(np.median(squares[competes])) / len(noise))
    # One enormous loss in a few bootstraps would be all of the variance, and say that everything is noise.
    if usual > 0 and max(noise.max(), -noise.min()) > MOST_NOISE * usual:
        noise = _without_excess(noise, MOST_NOISE * usual)
        squares = np.einsum("bc,bc->c", noise, noise)
    factor = _factor(observed, noise, squares, competes, middle)
    centres = np.where(competes, middle + factor * (observed - middle), observed)
    return Centres(centres, _noise_at(centres, observed, noise, squares, possible, rng), factor, competes)


def unit_of(*values: Floats) -> float:
    """A power of two in which squares of the values neither overflow nor vanish: 1 where they do neither.

    Examples
    --------
    >>> unit_of(np.array([-0.5, 3.0])), unit_of(np.zeros(2)), unit_of(np.array([3e200])) == 2.0**666
    (1.0, 1.0, True)
    """
    # Of both ends and not of ``abs``, which would copy an array of (B, C).
    greatest = max(max(float(array.max()), -float(array.min())) for array in values)
    if greatest == 0 or SMALL <= greatest <= LARGE:
        return 1.0
    return math.ldexp(1.0, min(math.frexp(greatest)[1], 1023))


def _without_excess(noise: Floats, most: float) -> Floats:
    """Noise of at most a size; what is cut off has a mean, and is shared by the other bootstraps."""
    excess = (noise.max(axis=0) > most) | (noise.min(axis=0) < -most)
    cut = np.clip(noise, -most, most)
    cut[:, excess] -= cut[:, excess].mean(axis=0)
    return cut


def _factor(observed: Floats, noise: Floats, squares: Floats, competes: Booleans, middle: float) -> float:
    """κ; ``squares`` (C,) are sums of squares of noise."""
    k = int(competes.sum())
    if k < 2:
        return 1.0
    in_common = np.einsum("bc,c->b", noise, competes / k)
    # What all have in common moves every score alike, and selects nothing: it is no part of the spread that
    # shrinks.
    of_noise = (float(squares[competes].sum()) / k - float(in_common @ in_common)) / len(noise) * k / (k - 1)
    halved = len(observed) >= FEW
    # The median is of all candidates, of which half compete, so it uses up about half a degree of freedom of these.
    spread = float(((observed[competes] - middle) ** 2).sum()) / (k - (0.5 if halved else 1.0))
    # Noise that is greater than the spread of scores leaves nothing that is true: all centres meet in the middle.
    return math.sqrt(min(max(0.0, 1 - of_noise / spread), 1.0)) if spread > 0 else 0.0


def _noise_at(
    centres: Floats,
    observed: Floats,
    noise: Floats,
    squares: Floats,
    possible: ScoreRange,
    rng: np.random.Generator,
) -> Floats:
    """Overwrites ``noise``."""
    here, there = possible.variance(observed), possible.variance(centres)
    shows = here > NO_NOISE * max(float(here.max()), 1e-300)
    # Noise depends on the true score: an accuracy of .9 varies more than one of .99.
    scale = np.sqrt(np.where(shows, there / np.where(shows, here, 1.0), 0.0))
    if not (scale == 1).all():
        noise *= scale
    # Where no bootstrap shows noise there is nothing to scale, so it is drawn, as large as that of the others is
    # for their scores.
    silent = np.flatnonzero(~shows & (there > 0))
    if silent.size and shows.any():
        of_all = float(squares[shows].mean()) / len(noise) / float(here[shows].mean())
        drawn = rng.standard_normal((len(noise), silent.size))
        # Exactly of mean 0, as the noise of the others is: its mean would be taken for optimism.
        noise[:, silent] = (drawn - drawn.mean(axis=0)) * np.sqrt(of_all * there[silent])
    return noise
