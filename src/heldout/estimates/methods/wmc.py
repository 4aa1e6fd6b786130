"""WMC and WMCS: the winner's error as an average of all, each weighted by how probably it is the least.

Both read the errors of repeated subsampling, one row per split and one column per configuration, and fit a normal
distribution to the columns' means. Its weights have no closed form for more than two configurations, so that they
are counted in draws: the same draws for the same seed.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import ndtri

from heldout._streams import stream
from heldout._types import Floats
from heldout.data.checks import check_choice
from heldout.errors import InputError
from heldout.estimates.base import FOLD_SCORES, Method, MethodWords, conclude, no_value
from heldout.estimates.evidence import Evidence
from heldout.estimates.types import Estimate
from heldout.flags import Flag
from heldout.metrics.base import oriented
from heldout.selection.best import Best

NO_VARIANCE = 1e-7
"""The variance of a mean that did not vary: the authors' number, put in after the factor of Nadeau and Bengio."""
SAME = 1 - 1e-12
"""A correlation from here on is 1 but for rounding errors."""
IN_PLACE_OF_ONE = 0.9
LEAST_SIZE = 1e-150
"""Smaller scores have squares that float64 cannot hold, and so have greater ones than its inverse."""
BLOCK = 2048


QUANTITY = (
    "the expected performance, over training sets of the size of a split's training part, of the procedure that "
    "picks the configuration of the least mean error"
)


class OfSubsampling(Method):
    """What both corrections need: the errors of repeated subsampling, and a winner of the least mean error."""

    reads = FOLD_SCORES
    has_interval = False
    scored = "folds"
    sources = ("bernau2013", "nadeau2003", "higham1988")
    needs_test_share = True

    def unfit(self, evidence: Evidence) -> str | None:
        if evidence.fold_scores is None or evidence.test_share is None:
            return (
                "it reads the errors of repeated subsampling and the share of rows that each split tests: search "
                "with heldout tune --cv repeated_holdout:50:0.2 (in Python cv=ho.protocols.repeated_hold_out(50, "
                "0.2), or ho.estimate_from_scores with its test_share)"
            )
        replay = evidence.fold_replay
        if replay is not None and replay.rule != Best():
            by = "the median over repeats" if isinstance(replay.rule, Best) else f"'{replay.rule.name}'"
            return f"it assumes that the winner has the best mean, but here it was selected by {by}"
        greatest = float(np.nanmax(np.abs(evidence.fold_scores)))
        if greatest and not LEAST_SIZE < greatest < 1 / LEAST_SIZE:
            return f"it squares scores, and squares of {greatest:g} are beyond what float64 holds; use other units"
        return None


@dataclass(frozen=True)
class WMC(OfSubsampling):
    """The weighted mean correction of Bernau, Augustin and Boulesteix (2013, section 3).

    The errors of configurations j on ``niter`` splits have means m_j, correlations r_jk and variances s2_j. With
    rho the share of rows that a split tests, the means are assumed normal with covariances sqrt(v_j v_k) r_jk,
    where v_j = s2_j (1 / niter + rho / (1 - rho)) (Nadeau and Bengio 2003), because splits overlap. With w_j the
    probability that j has the least mean, the value is the sum of w_j m_j.

    As in the authors' code, a column without variance gets 1e-7 and correlations of 0, two columns of correlation 1
    get .9, and eigenvalues of the matrix are raised to a positive minimum (Higham 1988). The winner must have the
    least mean error. It has no interval; its value is random and may correct too much.

    Attributes
    ----------
    n_draws : int
        The number of normal draws, even: half of them mirror the others. The provenance has the Monte Carlo
        standard error of the value; with 50 000 it is about .0045 of the spread of those m_j that may win.

    References
    ----------
    Bernau, Augustin and Boulesteix (2013); Nadeau and Bengio (2003).

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> errors = np.random.default_rng(0).normal(0.3, 0.05, size=(50, 20))  # 50 splits, 20 equal configurations
    >>> settings = {"greater_is_better": False, "test_share": 0.2, "random_state": 0}
    >>> found = ho.estimate_from_scores(errors, method="wmc", **settings)
    >>> bool(found.uncorrected < found.value < 0.3)
    True
    """

    n_draws: int = 50_000
    name = "wmc"
    words = MethodWords(
        "Weighted mean correction",
        "the weighted mean correction of Bernau and others",
        (
            "The estimate was the mean error of all configurations, each weighted by the probability that its true "
            "error is the smallest under a normal model of the errors of the splits."
        ),
    )

    def __post_init__(self) -> None:
        check_draws(self.n_draws)

    def estimate(self, evidence: Evidence) -> Estimate:
        """Weigh the mean errors."""
        means, covariances = normal_of_means(*_errors(evidence))
        weighed = weigh(means, covariances, self.n_draws, _seed(evidence))
        return _conclude(evidence, self, weighed, means, {})


@dataclass(frozen=True)
class WMCS(OfSubsampling):
    """``WMC`` with means shrunken to their grand mean (Bernau, Augustin and Boulesteix 2013, section 3).

    Under the normal distribution of ``WMC`` the winner's mean is expected to lie below the truth by bias = min_j
    m_j - E[winner's value | it is the least]. All means are shrunk to their grand mean by the share clip(bias /
    (grand mean - min_j m_j), 0, 1), which is 1 where all means are equal, and the weights are those of the normal
    distribution around the shrunken means.

    Attributes
    ----------
    average : "shrunken" or "raw"
        Which means are averaged: the authors' two implementations differ.
    n_draws : int
        As in ``WMC``.

    References
    ----------
    Bernau, Augustin and Boulesteix (2013); Nadeau and Bengio (2003).

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> errors = np.random.default_rng(0).normal(0.3, 0.05, size=(50, 20))
    >>> settings = {"greater_is_better": False, "test_share": 0.2, "random_state": 0}
    >>> found = ho.estimate_from_scores(errors, method=ho.estimates.WMCS(average="raw"), **settings)
    >>> found.method, bool(found.uncorrected < found.value)
    ('wmcs', True)
    """

    average: Literal["shrunken", "raw"] = "shrunken"
    n_draws: int = 50_000
    name = "wmcs"
    words = MethodWords(
        "Weighted mean correction, shrunken",
        "the shrunken weighted mean correction of Bernau and others",
        (
            "The mean errors of all configurations were shrunk by the optimism of the winner under a normal model "
            "of the errors of the splits, and averaged with the probabilities of being the smallest as weights."
        ),
    )

    def __post_init__(self) -> None:
        check_choice("average", self.average, ("shrunken", "raw"))
        check_draws(self.n_draws)

    def estimate(self, evidence: Evidence) -> Estimate:
        """Shrink the mean errors and weigh them."""
        means, covariances = normal_of_means(*_errors(evidence))
        seed = _seed(evidence)
        shrinkage = shrinkage_of(means, weigh(means, covariances, self.n_draws, seed))
        if np.isnan(shrinkage):
            reason = (
                f"the winner had the least error in none of {self.n_draws} draws; raise n_draws, or use method tt"
            )
            return no_value(evidence, self, reason, uncorrected=evidence.winners_mean)
        shrunken = means + shrinkage * (means.mean() - means)
        weighed = weigh(shrunken, covariances, self.n_draws, seed)
        averaged = shrunken if self.average == "shrunken" else means
        said = {"shrinkage": shrinkage, "average": self.average}
        return _conclude(evidence, self, weighed, averaged, said)


class Weighed(NamedTuple):
    """What draws of the means say."""

    weights: Floats  # (C,): the share of draws in which each column is the least
    expected_least: Floats  # (C,): the mean of each column's draws in which it is the least; NaN where it never is


def normal_of_means(errors: Floats, test_share: float) -> tuple[Floats, Floats]:
    """Means (C,) and covariances (C, C) of the normal distribution of the mean errors, from errors (niter, C).

    Examples
    --------
    >>> means, covariances = normal_of_means(np.array([[0.1, 0.3], [0.3, 0.3]]), test_share=0.5)
    >>> means.round(9).tolist(), covariances.round(9).tolist()  # .02 (1/2 + 1) = .03
    ([0.2, 0.3], [[0.03, 0.0], [0.0, 1e-07]])
    """
    n_iterations = len(errors)
    means = errors.mean(axis=0)
    varies = errors.max(axis=0) > errors.min(axis=0)
    centred = np.where(varies, errors - means, 0.0)
    spread = np.sqrt((centred**2).sum(axis=0))
    standard = np.divide(centred, spread, out=np.zeros_like(centred), where=varies)
    correlations = standard.T @ standard
    correlations[correlations >= SAME] = IN_PLACE_OF_ONE
    np.fill_diagonal(correlations, 1.0)
    variances = spread**2 / (n_iterations - 1) * (1 / n_iterations + test_share / (1 - test_share))
    deviations = np.sqrt(np.where(varies, variances, NO_VARIANCE))
    return means, positive_definite(deviations[:, None] * correlations * deviations)


def positive_definite(matrix: Floats) -> Floats:
    """The symmetric matrix with its eigenvalues lifted to 2 C eps times the greatest (Higham 1988)."""
    values, vectors = np.linalg.eigh(matrix)
    floor = 2 * len(values) * np.abs(values).max() * np.finfo(np.float64).eps
    lift = np.maximum(floor - values, 0.0)
    lifted: Floats = matrix + (vectors * lift) @ vectors.T
    return lifted


def weigh(means: Floats, covariances: Floats, n_draws: int, seed: int) -> Weighed:
    """How often each column is the least under the normal distribution, and what it is then."""
    values, vectors = np.linalg.eigh(covariances)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    times, sums = np.zeros(len(means)), np.zeros(len(means))
    for half in _normal_draws(n_draws // 2, len(means), seed):
        deviations = half @ root
        for drawn in (means + deviations, means - deviations):
            least = drawn.argmin(axis=1)
            times += np.bincount(least, minlength=len(means))
            sums += np.bincount(least, weights=drawn[np.arange(len(least)), least], minlength=len(means))
    expected = np.divide(sums, times, out=np.full(len(means), np.nan), where=times > 0)
    return Weighed(times / n_draws, expected)


def shrinkage_of(means: Floats, weighed: Weighed) -> float:
    """By which share the means are drawn to their grand mean; NaN where the winner never won."""
    winner = int(means.argmin())
    room = float(means.mean() - means[winner])
    if room <= 0:
        return 1.0
    bias = float(means[winner] - weighed.expected_least[winner])
    return float(np.clip(bias / room, 0.0, 1.0))


def check_draws(n_draws: int) -> None:
    """Refuse a number of draws that cannot be mirrored."""
    if isinstance(n_draws, bool) or not isinstance(n_draws, int | np.integer) or n_draws < 2 or n_draws % 2:
        raise InputError(f"n_draws must be an even integer of at least 2, got {n_draws!r}; 50000 is usual.")


def _normal_draws(n: int, n_columns: int, seed: int) -> Iterator[Floats]:
    """Standard normal blocks (at most 2048, columns): quantiles of Philox words, block i with key (seed, i)."""
    for number, first in enumerate(range(0, n, BLOCK)):
        lanes = min(BLOCK, n - first)
        raw = np.random.Philox(key=np.array([seed, number], dtype=np.uint64)).random_raw(lanes * n_columns)
        uniform = ((raw >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53  # never 0 or 1
        yield ndtri(uniform).reshape(lanes, n_columns)


def _errors(evidence: Evidence) -> tuple[Floats, float]:
    """Fold scores as errors, lower = better, and the share of rows that a split tests."""
    assert evidence.fold_scores is not None and evidence.test_share is not None, "unfit says so"
    errors = -oriented(evidence.metric, evidence.fold_scores)
    return errors[~np.isnan(errors).any(axis=1)], evidence.test_share


def _seed(evidence: Evidence) -> int:
    return stream(evidence.settings.entropy, "normal draws of mean errors")


def _conclude(
    evidence: Evidence, method: WMC | WMCS, weighed: Weighed, averaged: Floats, said: dict[str, Any]
) -> Estimate:
    error = float(weighed.weights @ averaged)
    spread = float(np.sqrt(weighed.weights @ (averaged - error) ** 2))
    declared: Method = method
    return conclude(
        evidence,
        declared,
        -error if evidence.metric.greater_is_better else error,
        uncorrected=evidence.winners_mean,
        selection_frequency=evidence.of_configurations(weighed.weights),
        flags=Flag.NO_INTERVAL.of(method=method.name),
        provenance={
            "quantity": QUANTITY,
            "aggregate": "folds",
            "test_share": evidence.test_share,
            "n_draws": method.n_draws,
            "monte_carlo_error": spread / math.sqrt(method.n_draws),
            **said,
        },
    )
