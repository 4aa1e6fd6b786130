"""The two parts of the rows: drawing them, and the finalists on the second one, from which a bound is computed.

All bounds of two-part methods are of a share between 0 and 1 of which more is better: the area under the ROC curve
of two classes, or accuracy (``heldout.metrics.ranking.reading_of``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from heldout._streams import stream
from heldout._types import Array, Booleans, Counts, Floats, Indices, Weightings
from heldout.data.task import Truth, labels_text
from heldout.estimates.evidence import Candidates
from heldout.estimates.question import Settings
from heldout.estimates.types import Alternative
from heldout.flags import Flag
from heldout.metrics.base import Statistic
from heldout.metrics.ranking import Reading, Share

MOST_ATTEMPTS = 1000

Rows = Indices


class Parts(NamedTuple):
    """Row numbers of the part that chooses and of the part that is scored."""

    first: Rows
    second: Rows


def split(truth: Truth, evaluation_share: float, entropy: int) -> Parts:
    """Draw the second part: of a classification, the share of each class, rounded (half up).

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> parts = split(truth_of([0, 0, 0, 0, 1, 1, 1, 1]), 0.25, entropy=0)
    >>> len(parts.first), parts.second.size, np.union1d(*parts).size
    (6, 2, 8)
    """
    everyone = np.arange(truth.n_rows)
    if evaluation_share == 1:
        return Parts(everyone[:0], everyone)
    generator = np.random.Generator(np.random.Philox(stream(entropy, "splits")))
    return _parts(everyone, [generator.permutation(rows) for rows in _classes(truth)], evaluation_share)


def split_at_random(truth: Truth, evaluation_share: float, entropy: int, folds: Sequence[Rows]) -> Parts | None:
    """Draw the second part from all rows, again until both parts hold each class and the first each one of a fold.

    As Paraschakis et al. (2024) drew it. None where a thousand draws did not.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> parts = split_at_random(truth_of([0, 0, 0, 0, 1, 1, 1, 1]), 0.25, 0, [])
    >>> len(parts.first), len(parts.second)
    (6, 2)
    >>> split_at_random(truth_of([0, 0, 0, 0, 0, 0, 0, 1]), 0.25, 0, []) is None
    True
    """
    everyone = np.arange(truth.n_rows)
    if evaluation_share == 1:
        return Parts(everyone[:0], everyone)
    generator = np.random.Generator(np.random.Philox(stream(entropy, "splits at random")))
    classes = _classes(truth)
    kept = [both for fold in folds for rows in classes if (both := np.intersect1d(fold, rows)).size]
    for _ in range(MOST_ATTEMPTS):
        parts = _parts(everyone, [generator.permutation(everyone)], evaluation_share)
        first = np.isin(everyone, parts.first)
        in_both = all(first[rows].any() and not first[rows].all() for rows in classes)
        if in_both and all(first[rows].any() for rows in kept):
            return parts
    return None


def _classes(truth: Truth) -> list[Rows]:
    return [np.flatnonzero(truth.values == code) for code in range(truth.n_classes)] or [np.arange(truth.n_rows)]


def _parts(everyone: Rows, shuffled: Sequence[Rows], share: float) -> Parts:
    evaluated = np.sort(np.concatenate([rows[: math.floor(share * len(rows) + 0.5)] for rows in shuffled]))
    return Parts(np.setdiff1d(everyone, evaluated), evaluated)


FEW_OF_A_CLASS = 10


@dataclass(frozen=True, eq=False)
class SecondPart:
    """The finalists on the rows that the bound is computed from."""

    reading: Reading
    truth: Truth  # of n rows
    predictions: Array  # (n, m, R): of the m finalists
    statistics: tuple[Statistic, ...]  # the reported metric bound to them, one a repeat
    settings: Settings
    final: int = field(default=-1)  # the finalist whose bound is wanted; by default the first best of them

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
    def positive(self) -> Booleans:
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
        return Flag.SMALL_SECOND_PART.of(rows=self._rarest(counts))

    def _rarest(self, counts: Indices) -> str:
        classes, code = self.truth.classes, self.truth.positive
        assert classes is not None and code is not None, "an area is of two classes"
        rare = int(counts.argmin())
        label = labels_text(classes[[code if rare else 1 - code]])
        return f"{counts[rare]} row{'' if counts[rare] == 1 else 's'} of class {label}"


def second_part(evidence: Candidates, reading: Reading, rows: Indices, columns: Indices) -> SecondPart:
    """The candidates in ``columns`` on the matrix's ``rows``."""
    truth = evidence.truth.rows(rows)
    predictions = evidence.predictions[np.ix_(rows, columns)]
    statistics = tuple(
        evidence.metric.statistic(truth, predictions[:, :, repeat]) for repeat in range(predictions.shape[2])
    )
    return SecondPart(reading, truth, predictions, statistics, evidence.settings)


class Tails(NamedTuple):
    """The chance that the truth lies below the interval, and above it; None where that end is open."""

    below: float | None
    above: float | None


class Bound(NamedTuple):
    """An interval for the final's share, within [0, 1].

    ``flags`` hold ``NO_BOUND`` where the ends are NaN.
    """

    low: float
    high: float
    standard_error: float | None = None
    flags: dict[Flag, str] = {}  # noqa: RUF012 (never changed)


def no_bound(reason: str) -> Bound:
    """Where the final has a score and no bound."""
    return Bound(float("nan"), float("nan"), flags=Flag.NO_BOUND.of(reason=reason))


def normal_bound(second: SecondPart, standard_error: float, tails: Tails) -> Bound:
    """The value ∓ z · standard error, within [0, 1]; flagged where a class has few rows."""
    low = 0.0 if tails.below is None else second.value + float(ndtri(tails.below)) * standard_error
    high = 1.0 if tails.above is None else second.value - float(ndtri(tails.above)) * standard_error
    return Bound(max(low, 0.0), min(high, 1.0), standard_error, second.few_of_a_class())


def tails_of(tail: float, alternative: Alternative) -> Tails:
    return {"two-sided": Tails(tail / 2, tail / 2), "greater": Tails(tail, None), "less": Tails(None, tail)}[
        alternative
    ]


def indicator(rows: Rows, n_rows: int) -> Counts:
    """(1, n): once each of the rows."""
    counts = np.zeros((1, n_rows), dtype=np.uint8)
    counts[0, rows] = 1
    return counts
