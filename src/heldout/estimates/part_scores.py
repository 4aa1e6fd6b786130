"""Scores of all of very many rows, with the noise of a part of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Weightings
from heldout.metrics.aggregate import AggregateScore, Bind, mean_of_defined


@dataclass(frozen=True, eq=False, kw_only=True)
class PartScore(AggregateScore):
    """Scores of a part of the rows under weightings, as far from the scores of all rows as theirs would be.

    A deviation from the score of the part is multiplied by the root of the part's share. Where classes have several
    shares, the weights of the rows are drawn in towards 1 by the roots of theirs instead, and rows count as often
    as they stand for others (``of_part.sample_weight``).

    - ``of_part``: the scores of the part's rows.
    - ``whole`` (segments, C): those of all rows.
    - ``shares``: see ``RowPart``.
    """

    of_part: AggregateScore
    whole: Floats
    shares: float | Floats

    def all(self, counts: Weightings) -> Floats:
        return self._around(self._mean_of_all, self.of_part.all(self._shrunken(counts)), self._mean_of_part)

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        scores = self.of_part.selected(self._shrunken(counts), columns)
        return self._around(self._mean_of_all[columns], scores, self._mean_of_part[columns])

    def by_segment(self, counts: Weightings) -> Floats:
        scores = self.of_part.by_segment(self._shrunken(counts))
        return self._around(self.whole, scores, self.of_part.observed_by_segment())

    def by_repeat(self, counts: Weightings) -> Floats:
        repeats = np.array([segment.repeat for segment in self.segments])
        of_all = np.stack([mean_of_defined(self.whole[repeats == repeat]) for repeat in np.unique(repeats)])
        scores = self.of_part.by_repeat(self._shrunken(counts))
        return self._around(of_all, scores, self.of_part.by_repeat(self._shrunken(self._once))[0])

    def observed(self) -> Floats:
        return self._mean_of_all

    def observed_by_segment(self) -> Floats:
        return self.whole

    @property
    def has_fused_path(self) -> bool:
        return False

    def with_predictions(self, predictions: NDArray[Any], bind: Bind | None = None) -> AggregateScore:
        return self.of_part.with_predictions(predictions, bind)

    @cached_property
    def _mean_of_all(self) -> Floats:
        return mean_of_defined(self.whole)

    @cached_property
    def _mean_of_part(self) -> Floats:
        return self.of_part.all(self._shrunken(self._once))[0]

    def _around(self, of_all: Floats, scores: Floats, of_part: Floats) -> Floats:
        ratio = self.shares**0.5 if isinstance(self.shares, float) else 1.0
        with np.errstate(invalid="ignore"):  # of losses that are infinite
            deviations: Floats = (scores - of_part) * ratio
        return of_all + deviations

    def _shrunken(self, counts: Weightings) -> Weightings:
        if isinstance(self.shares, float):
            return counts
        # Rows left out weigh 0 or 1, so that their mean is below 1.
        return 1 + np.sqrt(self.shares) * (counts / counts.mean(axis=1, keepdims=True) - 1)
