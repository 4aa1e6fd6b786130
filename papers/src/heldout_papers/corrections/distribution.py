"""Oracles: the true score of a winner as one would expect it who knows how true scores are distributed.

No estimate from the same rows can have a smaller error than the expectation from all that was observed, given the
distribution from which the true scores were drawn. So the oracle's error says how much of an error is left to win.
For independent columns from a Beta distribution it is a posterior mean; elsewhere the best line, which the other
repetitions of a cell tell.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, ndtri, owens_t, xlog1py, xlogy

from heldout.estimates.evidence import Candidates

Floats: TypeAlias = NDArray[np.float64]

SHARE_POINTS = 2000
"""Points of a true share between 0 and 1."""


class KnownDistribution(Protocol):
    """What is known of the distribution of the true scores."""

    def expected(self, evidence: Candidates) -> float:
        """The true score of the winner, in the metric's units."""


def observed_scores(evidence: Candidates) -> Floats:
    """(C,): in the metric's own direction and units."""
    return np.asarray(evidence.scores.observed())


@dataclass(frozen=True)
class BetaOfCounts:
    """True accuracies are drawn from Be(a, b), columns are independent: the posterior of each is a Beta too."""

    beta: tuple[float, float]

    def expected(self, evidence: Candidates) -> float:
        a, b = self.beta
        n = evidence.n_rows_used
        return float((a + n * observed_scores(evidence)[evidence.winner_column]) / (a + b + n))


@dataclass(frozen=True)
class BetaOfScores:
    """True shares P are drawn from Be(a, b), and the chance of an observed score is known for every P.

    Attributes
    ----------
    beta : (float, float)
    log_chance : callable
        ``log_chance(shares, observed, n_rows)``: the logarithm of the density of an observed score.
    truth : callable
        From shares to true scores.
    """

    beta: tuple[float, float]
    log_chance: Callable[[Floats, float, int], Floats]
    truth: Callable[[Floats], Floats]

    def expected(self, evidence: Candidates) -> float:
        a, b = self.beta
        shares = (np.arange(SHARE_POINTS) + 0.5) / SHARE_POINTS
        observed = float(observed_scores(evidence)[evidence.winner_column])
        log = xlogy(a - 1, shares) + xlog1py(b - 1, -shares) - betaln(a, b)
        log = log + self.log_chance(shares, observed, evidence.n_rows_used)
        weights = np.exp(log - log.max())
        return float(weights @ self.truth(shares) / weights.sum())


def area_chance(areas: Floats, observed: float, n_rows: int) -> Floats:
    """Of an area under the ROC curve of normal scores, as if it were normal; half of the rows are positive.

    The probability that two rows of one class are both on the right side of a row of the other is a bivariate
    normal one with correlation 1/2.
    """
    positive = n_rows // 2
    negative = n_rows - positive
    both = areas - 2 * owens_t(ndtri(areas), 1 / np.sqrt(3))
    variance = areas * (1 - areas) + (n_rows - 2) * (both - areas**2)
    return _normal(observed - areas, variance / (positive * negative))


def squared_error_chance(shares: Floats, observed: float, n_rows: int) -> Floats:
    """Of a mean of N squared normal errors with variance 1 - P: a chi-squared variable with N degrees."""
    error = 1 - shares
    return -0.5 * n_rows * (np.log(error) + observed / error)


def mean_chance(mean: Floats, variance: Floats) -> Callable[[Floats, float, int], Floats]:
    """Of a mean of losses, as if it were normal; ``mean, variance``: of one row's loss, for every share."""

    def log_chance(shares: Floats, observed: float, n_rows: int) -> Floats:
        return _normal(observed - mean, variance / n_rows)

    return log_chance


def _normal(gap: Floats, variance: Floats) -> Floats:
    safe = np.maximum(variance, 1e-12)
    return np.asarray(-0.5 * (np.log(safe) + gap**2 / safe))


LEAST_REPETITIONS = 10
"""Of a line."""


def line_from_others(observed: Floats, truths: Floats) -> Floats:
    """(R,): the best line from observed to true scores, for each repetition fitted to all others.

    What is known is how observed and true scores of winners vary together over the repetitions of a cell, so that
    no other estimate that is a line in the winner's score has a smaller mean square error. NaN where fewer than ten
    repetitions have both scores.

    Examples
    --------
    >>> observed = np.arange(12.0)
    >>> line_from_others(observed, 0.5 * observed + 1)[:3].round(6).tolist()
    [1.0, 1.5, 2.0]
    """
    found = np.full(len(observed), np.nan)
    known = np.isfinite(observed) & np.isfinite(truths)
    if known.sum() < LEAST_REPETITIONS:
        return found
    design = np.column_stack([np.ones(int(known.sum())), observed[known]])
    hat = design @ np.linalg.pinv(design)
    residual = truths[known] - hat @ truths[known]
    found[known] = truths[known] - residual / np.maximum(1 - np.diag(hat), 1e-9)
    return found
