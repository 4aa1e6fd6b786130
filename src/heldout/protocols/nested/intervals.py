"""Intervals of nested cross-validation: which fits a search, and that of Bates, Hastie and Tibshirani.

The spread of outer scores is no standard error, because outer folds share training rows. Nadeau and Bengio widen
the variance according to the sizes of the parts; Bates, Hastie and Tibshirani measure the effect with searches that
leave two folds out. Percentiles over repeats are no interval: repeats show only how much the draw of the folds
matters. A single outer split has one score, and its interval is that of the rows of its test part; a score of the
rows of all outer folds together has that of a bootstrap of these rows (``conclusion.py``).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heldout._types import Floats
from heldout.data.checks import NESTED_INTERVALS, check_count
from heldout.estimates.intervals import Spread
from heldout.estimates.question import Scales
from heldout.execution.search import Search

NADEAU_BENGIO, BATES, TEST_PART, BOOTSTRAP = NESTED_INTERVALS
AUTO = "auto"
"""``test_part`` of a single outer split; of several ``bootstrap`` where the score is one of all rows together by
default, and ``nadeau_bengio`` elsewhere."""


def automatic_interval(search: Search) -> str:
    """The interval that fits a search on the outer folds."""
    if search.folds.n_splits == 1:
        return TEST_PART
    asked, metric = search.aggregate, search.scoring.metrics.get(search.scoring.refit_metric)
    together = asked == "auto" and metric is not None and Scales.of(asked, metric).value != "folds"
    return BOOTSTRAP if together else NADEAU_BENGIO


USUAL_REPEATS = 50
"""The number of partitions over which the authors' package averages the scheme with pairs."""


@dataclass(frozen=True)
class BatesHastieTibshirani:
    """The nested cross-validation interval of Bates, Hastie and Tibshirani (2024), with a choice of bias term.

    The bias is (1 + ((K-2)/K)^1.5)(inner - plain): ``inner`` is the score of models that leave out two folds,
    ``plain`` that of a cross-validation that leaves out one. By default ``plain`` is the outer score on the same
    draws of the folds. The authors' package uses plain cross-validations on further draws.

    Attributes
    ----------
    further_draws : int
        The number of further draws of the folds over which ``plain`` is averaged; 0 uses the outer folds. The
        authors' package uses a fifth of the number of repeats. Each draw takes K more searches and refits: K((K-1)C
        + 1) fits with ``inner="remaining"``, K for a single configuration.

    Examples
    --------
    >>> BatesHastieTibshirani(further_draws=10)
    BatesHastieTibshirani(further_draws=10)
    """

    further_draws: int = 0

    def __post_init__(self) -> None:
        check_count("further_draws", self.further_draws, 0, "a fifth of the repeats is usual")


@dataclass(frozen=True)
class Bates:
    """The measurements of the scheme of Bates, Hastie and Tibshirani (2024).

    ``inner``, ``outer``: mean over rows with two folds removed, and with one.
    """

    spread: Spread
    """Its center is the mean of the inner values less the bias: the value at all N training rows."""
    inner: float
    outer: float
    plain: float
    """What ``inner`` is compared with: ``outer``, or a cross-validation on further draws of the folds."""
    bias: float
    """(1 + ((K-2)/K)^1.5)(inner - plain)."""
    mean_square: float
    """mean(a_k - b_k): the squared error of a cross-validation on K - 1 folds; it may be negative."""
    inflation: float
    """The factor on the standard error of independent rows, within [1, √K]."""
    unlimited_inflation: float
    """The same before it is limited."""


def bates_hastie_tibshirani(
    outer: Sequence[Sequence[Floats]], inner: Sequence[Sequence[Floats]], plain: float | None = None
) -> Bates:
    """The interval by nested cross-validation of Bates, Hastie & Tibshirani (2024), algorithm 1 and section 4.3.

    For fold k of every repeat, e_out are the values of its rows by the model trained without the fold, and e_in
    those of the rows of every other fold j by the model trained without j and k. With a_k = (mean e_in - mean
    e_out)² and b_k = var(e_out)/n_k:

        inflation = clip(√max(0, mean(a - b)) / (s/√(N(K-1)/K)), 1, √K),    standard error = inflation · s/√N,

    s the standard deviation of all e_in. Values are of rows, in the metric's own units; the opposite sign
    gives the same interval with the opposite sign.

    - ``outer``: e_out by repeat and fold.
    - ``inner``: e_in of each fold, all other folds together.
    - ``plain``: the mean value of cross-validations on further draws of the folds; by default the mean of e_out.

    Examples
    --------
    >>> outer = [[np.array([0.0, 1.0]), np.array([1.0, 1.0]), np.array([0.0, 0.0]), np.array([1.0, 0.0])]]
    >>> inner = [[np.array([0.0, 1, 1, 0, 1, 1])] * 4]
    >>> found = bates_hastie_tibshirani(outer, inner)
    >>> round(found.outer, 4), round(found.inner, 4), round(found.bias, 4)
    (0.5, 0.6667, 0.2256)
    """
    n_folds = len(outer[0])
    n_rows = sum(len(values) for values in outer[0])
    all_in = np.concatenate([values for repeat in inner for values in repeat])
    all_out = np.concatenate([values for repeat in outer for values in repeat])
    if not np.isfinite(all_in).all() or not np.isfinite(all_out).all():
        return _without_spread("a row has no finite value", math.nan, math.nan, math.nan, math.nan, math.nan)
    mean_in, mean_out = float(all_in.mean()), float(all_out.mean())
    compared = mean_out if plain is None else plain
    bias = (1 + ((n_folds - 2) / n_folds) ** 1.5) * (mean_in - compared)
    center = mean_in - bias
    means = center, mean_in, mean_out, compared, bias
    # The squared error of a fold is measured against the variance of its rows, which one row does not have.
    if min(len(values) for repeat in outer for values in repeat) < 2:
        return _without_spread("an outer fold of one row has no variance", *means)
    deviation = float(all_in.std(ddof=1))
    if deviation == 0:
        reason = "all held-out rows have the same value, which shows no spread"
        return _without_spread(reason, *means)
    differences = [
        float((values_in.mean() - values_out.mean()) ** 2 - values_out.var(ddof=1) / len(values_out))
        for repeat_in, repeat_out in zip(inner, outer, strict=True)
        for values_in, values_out in zip(repeat_in, repeat_out, strict=True)
    ]
    mean_square = math.fsum(differences) / len(differences)
    # Inner models predict on K - 1 of K folds, so their values stand for fewer rows.
    of_independent = deviation / math.sqrt(n_rows * (n_folds - 1) / n_folds)
    # An unbiased estimate of a square may be negative, and has no root then.
    unlimited = math.sqrt(max(0.0, mean_square)) / of_independent
    inflation = min(max(unlimited, 1.0), math.sqrt(n_folds))
    spread = Spread(center, inflation * deviation / math.sqrt(n_rows))
    return Bates(spread, mean_in, mean_out, compared, bias, mean_square, inflation, unlimited)


def _without_spread(reason: str, center: float, inner: float, outer: float, plain: float, bias: float) -> Bates:
    return Bates(Spread(center, math.nan, reason=reason), inner, outer, plain, bias, math.nan, math.nan, math.nan)
