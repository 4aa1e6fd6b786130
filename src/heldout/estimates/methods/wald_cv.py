"""Wald: a normal interval from how much the held-out rows of the winner differ."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from heldout._types import Array, Floats
from heldout.data.checks import check_choice
from heldout.data.task import TaskKind, Truth
from heldout.estimates.base import PREDICTIONS, Method, MethodWords, estimate_around
from heldout.estimates.data_flags import flags_of_choice, flags_of_dependence
from heldout.estimates.evidence import Candidates, RowTable, needs_independent_rows
from heldout.estimates.intervals import Spread
from heldout.estimates.methods.two_part.closed_forms import placements
from heldout.estimates.types import Estimate
from heldout.metrics.aggregate import Segment
from heldout.metrics.base import Metric, unsigned
from heldout.metrics.ranking import Reading, Share, reading_of
from heldout.metrics.row_losses import Finish, OfRowLosses

VARIANCES = ("all_rows", "within_folds")


@dataclass(frozen=True)
class WaldCV(Method):
    """The normal interval of cross-validation from row losses (Bayle, Bayle, Janson and Mackey 2020).

    With the losses l_i of the N held-out rows and their mean m, the interval is

        m ∓ z · √(mean((l_i - m)²) / N).

    If one row hardly changes a model, the interval covers, as N grows, the mean performance of the K models that
    predicted the rows. With few rows, unstable models and common training rows of the fold models it is too narrow
    for the expectation over training sets (flag ``folds_dependent``).

    A row that several repeats predict counts once, with the mean of its losses. A root of a mean loss (RMSE) has
    the standard error of the mean over twice the root (delta method). For an area under the ROC curve of two
    classes the loss of a row is its placement among the rows of the other class, as in DeLong's interval; over
    folds that is the interval of LeDell, Petersen and van der Laan (2015). Other metrics are refused.

    It treats the winner as named beforehand: for the best of several, value and interval are flagged as
    uncorrected.

    Attributes
    ----------
    variance : "all_rows" or "within_folds"
        The variance of the losses. "all_rows": around the mean of all rows, with divisor N. "within_folds": around
        the mean of the fold, with divisor n_k - 1 (the article's other estimate, for folds that differ in
        difficulty). Areas and roots are computed in each fold, unless all rows are scored together; then only the
        divisors differ.

    References
    ----------
    Bayle, Bayle, Janson and Mackey (2020), theorem 1 and section 4; LeDell, Petersen and van der Laan (2015).

    Examples
    --------
    >>> import heldout as ho
    >>> y = np.repeat([0, 1], 50)
    >>> labels = np.where(np.arange(100) % 5 == 0, 1 - y, y)[:, None]  # 80 of 100 right
    >>> found = ho.estimate(y, labels, metric="accuracy", method="wald_cv", folds=np.arange(100) % 10)
    >>> round(found.standard_error, 6), print(found.interval)  # sqrt(.8 · .2 / 100)
    [0.7216, 0.8784] (95%)
    (0.04, None)
    """

    variance: Literal["all_rows", "within_folds"] = "all_rows"
    name = "wald_cv"
    reads = PREDICTIONS
    sources = ("bayle2020", "ledell2015", "delong1988")
    words = MethodWords(
        "Normal interval from row losses",
        "the normal interval from row losses",
        (
            "The interval was a normal approximation from the variation between single held-out predictions, and "
            "the selection was not corrected."
        ),
    )

    def __post_init__(self) -> None:
        check_choice("variance", self.variance, VARIANCES)

    def unfit(self, evidence: RowTable) -> str | None:
        """It needs independent rows of equal weight, and a metric that is made of losses of single rows."""
        reason = self.unfit_metric(evidence.metric)
        if reason:
            return reason
        metric = evidence.metric
        of_rows = isinstance(_plain(metric, evidence.truth), OfRowLosses)
        if not of_rows and _area(metric, evidence.truth.kind) is None:
            return f"{metric.name} has losses of single rows for two classes only"
        if dependent := needs_independent_rows(evidence):
            return dependent
        if not of_rows and evidence.truth.class_counts().min() < 2:
            return "one row of a class does not show how placements of that class vary"
        if self.variance == "within_folds" and self._fewest(evidence) < 2:
            return "`variance='within_folds'` needs two rows (of each class, for an area) in every fold"
        return None

    def unfit_metric(self, metric: Metric) -> str | None:
        """Why it is not for this metric; None where it is."""
        if isinstance(unsigned(metric), OfRowLosses) or _area(metric, TaskKind.BINARY) is not None:
            return None
        return (
            f"it is for means of one loss per row, their roots and the ROC AUC, and {metric.name} is none of these"
        )

    def estimate(self, evidence: Candidates) -> Estimate:
        """The winner's score and its interval; NaN ends with a flag where rows show no spread."""
        effects = self._effects(evidence)
        error = float(np.sqrt(effects @ effects))
        reason = ""
        if not np.isfinite(error):
            reason = f"a row has an infinite {evidence.metric.name}"
        elif error <= NO_EFFECT * max(abs(evidence.uncorrected), 1.0):
            error, reason = float("nan"), f"all rows have the same {evidence.metric.name}, which shows no spread"
        return estimate_around(
            evidence,
            self,
            Spread(evidence.uncorrected, error, reason=reason),
            flags=flags_of_dependence(evidence) | flags_of_choice(evidence),
            provenance={"variance": self.variance},
        )

    def _effects(self, evidence: Candidates) -> Floats:
        """(n,): by how much each row, with its own loss, moves the winner's score; the sum of squares is SE²."""
        predictions = evidence.predictions_of_winner
        plain = _plain(evidence.metric, evidence.truth)
        if isinstance(plain, OfRowLosses) and plain.finish is not Finish.ROOT and self.variance == "all_rows":
            return _around_the_mean(plain, evidence, predictions)
        effects, weights = np.zeros(evidence.truth.n_rows), _weights(self._segments(evidence), evidence)
        for segment, weight in weights:
            values = predictions[segment.rows, :, segment.repeat]
            if isinstance(plain, OfRowLosses):
                effects[segment.rows] += weight * self._of_losses(plain, segment.truth, values)
            else:
                effects[segment.rows] += weight * self._of_area(segment, values[:, 0].astype(np.float64))
        return effects

    def _of_losses(self, metric: OfRowLosses, truth: Truth, values: Array) -> Floats:
        """(n_k,): of a fold by itself."""
        losses = np.asarray(metric.losses(truth, values), dtype=np.float64)[:, 0]
        n, mean = len(losses), losses.mean()
        effects = (losses - mean) / n * self._unbiased(n)
        if metric.finish is Finish.ROOT:
            return effects / (2 * np.sqrt(mean)) if mean > 0 else np.zeros(n)
        return effects

    def _of_area(self, segment: Segment, scores: Floats) -> Floats:
        """(n_k,): of the area of a fold by itself; placements of the rows of each class around their mean."""
        positive = np.asarray(segment.truth.values == segment.positive)
        placed, effects = placements(scores, positive), np.zeros(len(positive))
        for rows, placement in ((positive, placed.positives), (~positive, placed.negatives)):
            effects[rows] = (placement - placement.mean()) / len(placement) * self._unbiased(len(placement))
        return effects

    def _unbiased(self, n: int) -> float:
        """What makes a sum of squares with divisor n one with divisor n - 1, if that is the setting."""
        return float(np.sqrt(n / (n - 1))) if self.variance == "within_folds" else 1.0

    def _apart(self, evidence: RowTable) -> bool:
        """Whether folds are scored by themselves, and not all rows of each repeat together."""
        within_folds = self.variance == "within_folds" and _area(evidence.metric, evidence.truth.kind) is None
        return evidence.folds is not None and (evidence.aggregate != "pooled" or within_folds)

    def _segments(self, evidence: Candidates) -> list[Segment]:
        """The folds in which the metric is defined, or all rows of each repeat if these are scored together."""
        score = evidence.by_fold if self._apart(evidence) and evidence.by_fold is not None else evidence.scores
        once = np.ones((1, evidence.truth.n_rows), dtype=np.uint8)
        return [segment for segment in score.segments if segment.defined(once, of_all=True)[0]]

    def _fewest(self, evidence: RowTable) -> int:
        """The fewest rows of a fold (or repeat), of the rarer class for an area."""
        codes = np.where(evidence.in_play, np.arange(evidence.in_play.shape[1]), -1)
        if self._apart(evidence) and evidence.folds is not None:
            codes = evidence.folds
        is_area, sizes = _area(evidence.metric, evidence.truth.kind) is not None, []
        for column in codes.T:
            for code in np.unique(column[column >= 0]):
                rows = column == code
                counts = np.bincount(evidence.truth.values[rows], minlength=2) if is_area else rows.sum()
                sizes.append(int(np.min(counts)))
        return min((size for size in sizes if size), default=0)  # a fold of one class has no area


NO_EFFECT = 1e-12
"""Standard errors below this share of the score are rounding errors."""


def _plain(metric: Metric, truth: Truth) -> Metric:
    """The metric on this target, without the sign of a scorer, which changes no standard error."""
    return unsigned(metric).for_truth(truth)


def _area(metric: Metric, kind: TaskKind) -> Reading | None:
    """How the metric is the area under the ROC curve of two classes; None where it is not."""
    reading = reading_of(metric, kind)
    return reading if reading is not None and reading.share is Share.AUC else None


def _around_the_mean(metric: OfRowLosses, evidence: Candidates, predictions: Array) -> Floats:
    """(n,): each row's mean loss over the repeats that predict it, less the mean of all rows, over n."""
    n_rows, n_repeats = evidence.in_play.shape
    total = np.zeros(n_rows)
    for repeat in range(n_repeats):
        rows = np.flatnonzero(evidence.in_play[:, repeat])
        losses = metric.losses(evidence.truth.rows(rows), predictions[rows, :, repeat])
        total[rows] += np.asarray(losses, dtype=np.float64)[:, 0]
    means = total / evidence.in_play.sum(axis=1)
    with np.errstate(invalid="ignore"):
        return (means - means.mean()) / n_rows


def _weights(segments: list[Segment], evidence: Candidates) -> Iterator[tuple[Segment, float]]:
    """Each segment with its weight in the score: equal ones, or those of its rows, or of its pairs of rows."""
    sizes = [1.0] * len(segments)
    if evidence.aggregate == "pooled":
        sizes = [float(len(segment.rows)) for segment in segments]
    if evidence.aggregate == "within":
        sizes = [float(np.prod(np.bincount(segment.truth.values, minlength=2))) for segment in segments]
    total = sum(sizes)
    return ((segment, size / total) for segment, size in zip(segments, sizes, strict=True))
