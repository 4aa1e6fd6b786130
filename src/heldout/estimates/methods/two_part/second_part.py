"""The second part of the rows: what a bound is computed from once the first part has chosen.

All bounds of two-part methods are of a share between 0 and 1 of which more is better: the area under the ROC curve
of two classes, or accuracy. A metric that is such a share but for its sign or origin (the 0-1 loss) is read as one
and turned back in the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import TaskKind, Truth, labels_text
from heldout.estimates.base import Evidence, Matrix
from heldout.estimates.question import Settings
from heldout.flags import Flag
from heldout.kernels.reference import Floats, Weightings
from heldout.metrics.base import Metric, Statistic
from heldout.metrics.classification import Accuracy, ZeroOneLoss
from heldout.metrics.ranking import RocAuc, RocAucOneVsOne, RocAucOneVsRest
from heldout.metrics.signed import Signed

FEW_OF_A_CLASS = 10


class Share(StrEnum):
    """What is bounded: a share in [0, 1], more being better."""

    AUC = "roc_auc"
    ACCURACY = "accuracy"


class Reading(NamedTuple):
    """How a reported metric is read as a share: metric = origin + sign * share."""

    share: Share
    origin: float
    sign: int

    def share_of(self, values: Floats) -> Floats:
        """Shares from the metric's own values."""
        return values if self == (self.share, 0.0, 1) else self.sign * (values - self.origin)

    def reported(self, share: float) -> float:
        """The metric's own value of a share."""
        return self.origin + self.sign * share


def reading_of(metric: Metric, kind: TaskKind) -> Reading | None:
    """How the metric is read as a share, None where it is none.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> reading_of(metric_named("zero_one_loss"), TaskKind.MULTICLASS)
    Reading(share=<Share.ACCURACY: 'accuracy'>, origin=1.0, sign=-1)
    >>> reading_of(metric_named("neg_zero_one_loss"), TaskKind.BINARY).reported(0.75)
    -0.25
    >>> reading_of(metric_named("roc_auc_ovr"), TaskKind.MULTICLASS) is None
    True
    """
    if isinstance(metric, Signed):
        inner = reading_of(metric.metric, kind)
        # A scorer that minimises a score, or maximises a loss, wants the other bound than we give.
        if inner is None or metric.metric.greater_is_better != (metric.sign > 0):
            return None
        return Reading(inner.share, metric.sign * inner.origin, metric.sign * inner.sign)
    if isinstance(metric, Accuracy):
        return Reading(Share.ACCURACY, 0.0, 1)
    if isinstance(metric, ZeroOneLoss):
        return Reading(Share.ACCURACY, 1.0, -1)
    of_pairs = isinstance(metric, RocAuc | RocAucOneVsRest | RocAucOneVsOne)  # of two classes all three are one
    return Reading(Share.AUC, 0.0, 1) if of_pairs and kind is TaskKind.BINARY else None


@dataclass(frozen=True, eq=False)
class SecondPart:
    """The finalists on the rows that the bound is computed from.

    Attributes
    ----------
    reading : Reading
    truth : Truth of n rows
    predictions : ndarray of shape (n, m, R)
        Of the m finalists.
    statistics : tuple of Statistic
        The reported metric bound to them, one a repeat.
    settings : Settings
    final : int
        The finalist whose bound is wanted; by default the first best of them.
    """

    reading: Reading
    truth: Truth
    predictions: NDArray[Any]
    statistics: tuple[Statistic, ...]
    settings: Settings
    final: int = field(default=-1)

    @property
    def n_rows(self) -> int:
        return self.truth.n_rows

    @property
    def n_finalists(self) -> int:
        return int(self.predictions.shape[1])

    @property
    def n_repeats(self) -> int:
        return int(self.predictions.shape[2])

    @cached_property
    def positive(self) -> NDArray[np.bool_]:
        """(n,): rows of the positive class."""
        return np.asarray(self.truth.values == self.truth.positive)

    @cached_property
    def right(self) -> Floats:
        """(n, m): how often, over the repeats, the label is right."""
        return np.asarray((self.predictions == self.truth.values[:, None, None]).mean(axis=2))

    @property
    def correct(self) -> Floats:
        """(n,): how often the final's label is right."""
        return self.right[:, self.final]

    @property
    def n_right(self) -> int:
        """How many rows the final's label is right in (in any repeat)."""
        return int(np.count_nonzero(self.correct))

    @property
    def counted(self) -> bool:
        """Whether shares are of rows that are right or wrong once: a bootstrap's is a binomial."""
        return self.reading.share is Share.ACCURACY and bool(np.isin(self.right, (0.0, 1.0)).all())

    @cached_property
    def observed(self) -> Floats:
        """(m,): the finalists' shares on all rows of the part."""
        return self.shares(np.ones((1, self.n_rows), dtype=np.uint8))[0]

    @property
    def value(self) -> float:
        """The final's share."""
        return float(self.observed[self.final])

    def shares(self, counts: Weightings) -> Floats:
        """(L, m): the mean over repeats of the finalists' shares under L weightings."""
        values = [self.reading.share_of(statistic.all(counts)) for statistic in self.statistics]
        return values[0] if len(values) == 1 else np.mean(values, axis=0)

    def lacks(self) -> str | None:
        """Why no method can compute a bound from these rows; None where one can."""
        if self.reading.share is Share.ACCURACY:
            return None if self.n_rows > 1 else f"the second part has {self.n_rows} row, and a bound needs 2"
        counts = np.bincount(self.positive, minlength=2)
        if counts.min() > 1:
            return None
        return f"the second part has {self._rarest(counts)}, and a bound needs 2"

    def few_of_a_class(self) -> dict[Flag, str]:
        """A flag where a class is too small for a normal approximation."""
        counts = np.bincount(self.positive, minlength=2)
        if counts.min() >= FEW_OF_A_CLASS:
            return {}
        return {Flag.SMALL_SECOND_PART: Flag.SMALL_SECOND_PART.filled(rows=self._rarest(counts))}

    def _rarest(self, counts: NDArray[np.intp]) -> str:
        classes, code = self.truth.classes, self.truth.positive
        assert classes is not None and code is not None, "an area is of two classes"
        rare = int(counts.argmin())
        label = labels_text(classes[[code if rare else 1 - code]])
        return f"{counts[rare]} row{'' if counts[rare] == 1 else 's'} of class {label}"


def second_part(
    evidence: Evidence, matrix: Matrix, reading: Reading, rows: NDArray[np.intp], columns: NDArray[np.intp]
) -> SecondPart:
    """The candidates in ``columns`` on the matrix's ``rows``."""
    truth = matrix.truth.rows(rows)
    predictions = matrix.predictions[np.ix_(rows, columns)]
    statistics = tuple(
        evidence.metric.statistic(truth, predictions[:, :, repeat]) for repeat in range(predictions.shape[2])
    )
    return SecondPart(reading, truth, predictions, statistics, evidence.settings)
