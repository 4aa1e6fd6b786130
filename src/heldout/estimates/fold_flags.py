"""Flags of folds: scores that are on several scales, folds that are too small, folds without a score.

Folds are drawn at random, so among rows with the same outcome the scores of one fold should look like those of any
other. Scores are ranked within each stratum of outcomes. Two tests of Kruskal and Wallis on these ranks ask whether
scores are higher in some folds, and whether they spread more there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc
from scipy.stats import rankdata

from heldout._text import argument
from heldout.data.task import TaskKind, Truth, labels_text
from heldout.errors import InputError
from heldout.estimates.base import Matrix
from heldout.estimates.columns import MatrixColumns
from heldout.flags import Flag
from heldout.kernels.reference import Floats
from heldout.metrics.aggregate import AggregateScore
from heldout.metrics.base import Metric, Needs
from heldout.metrics.pairs import is_pair_based
from heldout.selection.base import Choice

LEAST_DIFFERENCE = 0.01
"""Of the metric's range: a difference between pooled and within-fold values that changes what one would report."""
FALSE_ALARMS = 0.01
"""How often folds of comparable scores are called different by the rank tests, at most."""
FEWEST_IN_FOLD = 8
FEWEST_FOR_A_SPREAD = 100
CLEARLY = 0.5
"""Standard errors of a mean over folds; a pooled score that differs by more is flagged."""


def flags_of_segments(scores: AggregateScore) -> dict[Flag, str]:
    """The flags of folds without what the metric needs.

    Raises
    ------
    InputError
        When the metric is undefined in every fold.
    """
    defined = scores.defined_segments(np.ones((1, scores.n_rows), dtype=np.uint8))[0]
    metric, flags, total = scores.metric, dict[Flag, str](), len(defined)
    if not defined.any():
        raise InputError(
            f"{metric.name} is undefined in every fold (each needs {metric.undefined_without}); use larger folds "
            f"or {argument('aggregate', 'pooled')}."
        )
    if not defined.all():
        flags[Flag.UNDEFINED_FOLDS] = Flag.UNDEFINED_FOLDS.filled(
            metric=metric.name, undefined=int((~defined).sum()), total=total, needs=metric.undefined_without
        )
    if scores.degenerate_segments:
        flags[Flag.DEGENERATE_FOLDS] = Flag.DEGENERATE_FOLDS.filled(
            degenerate=scores.degenerate_segments, total=total, needs=metric.needs, metric=metric.name
        )
    return flags


def too_small_out_of_bag(metric: Metric, truth: Truth, segments: NDArray[np.int32]) -> str | None:
    """The sentence for folds too small for what a bootstrap leaves out of them; None where they are not.

    A fold of 8 rows leaves about 3 out of the bag. A mean over rows can do with that; a ratio to the spread of the
    target (R2) cannot, because a few rows may have next to no spread.
    """
    fewest = FEWEST_FOR_A_SPREAD if metric.needs is Needs.TWO_VALUES else FEWEST_IN_FOLD
    least, what = truth.n_rows, "data"
    for repeat in range(segments.shape[1]):
        for code in np.unique(segments[segments[:, repeat] >= 0, repeat]):
            values = truth.values[segments[:, repeat] == code]
            if metric.needs is Needs.PAIR and values["event"].sum() < least:
                least, what = int(values["event"].sum()), "observed events"
            if truth.classes is None:
                least = min(least, len(values))
                continue
            counts = np.bincount(values, minlength=truth.n_classes)
            if counts.min() < least:
                least = int(counts.min())
                what = f"class {labels_text([truth.classes[counts.argmin()]])}"
    if least >= fewest:
        return None
    return Flag.OUT_OF_BAG_POOLED.filled(least=least, what=what, fewest=fewest, metric=metric.name)


def flags_of_scales(columns: MatrixColumns, matrix: Matrix, chosen: Choice, winner: str) -> dict[Flag, str]:
    """The flags of a winner whose score over folds differs clearly from its score on all rows."""
    if columns.segments["folds"] is None:
        return {}
    predictions = matrix.predictions_of(chosen)
    if is_pair_based(matrix.scores.metric):
        return _flag_of_incomparable_folds(columns, matrix, predictions, winner)
    if matrix.scores is not matrix.by_fold or matrix.scores.metric.row_wise:
        return {}
    return _flag_of_small_folds(columns, matrix, predictions, winner)


def _flag_of_incomparable_folds(
    columns: MatrixColumns, matrix: Matrix, predictions: NDArray[Any], winner: str
) -> dict[Flag, str]:
    """The flag where the score within folds and that on all rows differ clearly.

    Clearly is by at least a hundredth of the metric's range, while folds of comparable scores would differ as these
    do once in a hundred times.
    """
    folds, reported = columns.segments["folds"], matrix.scores.metric
    assert folds is not None and is_pair_based(reported), "flags_of_scales says so"
    metric = reported.share_of_pairs
    within = float(columns.score(metric, "within", predictions).observed()[0])
    pooled = float(columns.score(metric, "pooled", predictions).observed()[0])
    low, high = metric.range
    if not abs(within - pooled) >= LEAST_DIFFERENCE * (high - low):
        return {}
    chances = [
        chance_of_such_folds(
            np.asarray(predictions[rows, 0, repeat], dtype=np.float64).reshape(len(rows), -1),
            strata_of(columns.truth)[rows],
            folds[rows, repeat].astype(np.intp),
            matrix.unit_of_row[rows],
        )
        for repeat in range(folds.shape[1])
        if len(rows := np.flatnonzero(folds[:, repeat] >= 0))
    ]
    if min(chances) * len(chances) > FALSE_ALARMS:
        return {}
    flag = Flag.INCOMPARABLE_FOLDS
    return {flag: flag.filled(metric=metric.name, winner=winner, within=within, pooled=pooled)}


def _flag_of_small_folds(
    columns: MatrixColumns, matrix: Matrix, predictions: NDArray[Any], winner: str
) -> dict[Flag, str]:
    """The flag where the mean over folds and the score on all rows differ by ``CLEARLY`` standard errors."""
    metric, folds = matrix.scores.metric, columns.segments["folds"]
    assert folds is not None, "flags_of_scales says so"
    by_fold = columns.score(metric, "folds", predictions).observed_by_segment()[:, 0]
    pooled = float(columns.score(metric, "pooled", predictions).observed()[0])
    defined = by_fold[np.isfinite(by_fold)]
    if len(defined) < 2:
        return {}
    error = defined.std(ddof=1) / np.sqrt(len(defined) / folds.shape[1])
    if not abs(defined.mean() - pooled) > CLEARLY * error:
        return {}
    flag = Flag.SMALL_FOLDS
    rows = int(np.median(np.unique(folds[folds >= 0], return_counts=True)[1]))
    mean = float(defined.mean())
    return {flag: flag.filled(metric=metric.name, winner=winner, folds=mean, pooled=pooled, rows=rows)}


def strata_of(truth: Truth) -> NDArray[np.intp]:
    """(n,): rows of one code have outcomes alike: a class, or whether the event was seen."""
    values = truth.values["event"] if truth.kind is TaskKind.SURVIVAL else truth.values
    return np.asarray(values).astype(np.intp)


def chance_of_such_folds(
    scores: Floats, strata: NDArray[np.intp], folds: NDArray[np.intp], units: NDArray[np.intp]
) -> float:
    """The p-value of folds that differ so much in where scores lie and how they spread.

    Parameters
    ----------
    scores : ndarray of shape (n, columns)
        Of one configuration: one column, or one a class. The least p-value counts, times their number.
    strata, folds : ndarray of int, shape (n,)
    units : ndarray of int, shape (n,)
        Rows of one unit (a group) are no independent witnesses, and are averaged within a stratum.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores, folds = rng.normal(size=(60, 1)), np.arange(60) % 6
    >>> strata = np.repeat([0, 1], 30)
    >>> bool(chance_of_such_folds(scores, strata, folds, np.arange(60)) > 0.05)
    True
    >>> bool(chance_of_such_folds(scores + folds[:, None], strata, folds, np.arange(60)) < 0.001)
    True
    """
    keys, where = np.unique(np.stack([strata, folds, units]), axis=1, return_inverse=True)
    where = where.ravel()
    chances = []
    for column in scores.T:
        aligned = _aligned(np.bincount(where, column) / np.bincount(where), keys[0])
        for measure in (aligned, _aligned(aligned**2, keys[0])):
            chances.append(_chance(measure, keys[1], len(np.unique(keys[0]))))
    return min(1.0, min(chances) * len(chances))


def _aligned(values: Floats, strata: NDArray[np.intp]) -> Floats:
    """Ranks within each stratum, from -1/2 to 1/2."""
    aligned = np.zeros(len(values))
    for stratum in np.unique(strata):
        mine = strata == stratum
        aligned[mine] = rankdata(values[mine]) / (mine.sum() + 1) - 0.5
    return aligned


def _chance(values: Floats, folds: NDArray[np.intp], n_strata: int) -> float:
    """The p-value of folds whose means differ so much; 1 where there is nothing to compare."""
    codes, place = np.unique(folds, return_inverse=True)
    total, freedom = float(values @ values), len(codes) - 1
    if freedom < 1 or len(codes) == len(values) or total == 0:
        return 1.0
    between = float((np.bincount(place, values) ** 2 / np.bincount(place)).sum())
    return float(chdtrc(freedom, (len(values) - n_strata) * between / total))
