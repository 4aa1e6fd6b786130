"""What every corrected curve is made of: the curve of each replicate's model, on its own sample and on all rows.

A curve is a number at each of m given points, so it is corrected as a score is: by the mean, at each point, of what
the models of the replicates look better on their own samples than on all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np

from heldout._record import Record, frame_of, points
from heldout._types import Array, Floats, Indices
from heldout.data.task import TaskKind, labels_text
from heldout.errors import InputError
from heldout.estimates.intervals import order_statistic
from heldout.flags import Flag
from heldout.metrics.base import Response
from heldout.protocols.drawn_rows import drawn_rows
from heldout.protocols.validation.corrections.memorising import memorising
from heldout.protocols.validation.replicates import Replicates

CONFIDENCE_LEVEL = 0.95

Measure: TypeAlias = Callable[[Floats, Floats, Floats], Floats]
"""From observed, predicted and weights, each (n,), to a curve (m,); NaN where it has no value."""


@dataclass(frozen=True, eq=False)
class CurveOutcome:
    """The outcome that a curve is of: as observed in every row, and the place of its prediction."""

    name: str
    """The class that is compared with the others, empty for a regression."""
    observed: Floats
    """(N,): 1 and 0, or the values of a regression."""
    weights: Floats
    """(N,): for what censoring hides; 1 elsewhere."""
    response: Response
    output: int | None = None
    """The prediction's place among several outputs."""

    def predicted(self, values: Array) -> Floats:
        """The predictions of this outcome: the last axis goes where there are several outputs."""
        mine = np.asarray(values if self.output is None else values[..., self.output], dtype=np.float64)
        # Curves are of the event, survival of what has not happened yet.
        return 1.0 - mine if self.response is Response.SURVIVAL else mine


@dataclass(frozen=True, eq=False)
class Replicated:
    """A curve in every replicate that has a model."""

    apparent: Floats
    """(m,): of the model fitted on all rows, on these rows."""
    in_bootstrap: Floats
    """(B, m): of each replicate's model on its own sample."""
    on_original: Floats
    """(B, m): of the same models on all rows; of a model that memorises, on the rows that its sample left out."""
    memorises: bool = False

    @property
    def n_replicates(self) -> Indices:
        """(m,): replicates that have both curves at a point."""
        return np.isfinite(self.in_bootstrap - self.on_original).sum(axis=0)

    @cached_property
    def optimism(self) -> Floats:
        """(m,): mean over those; NaN where there is none."""
        return _mean(self.in_bootstrap - self.on_original)

    @property
    def corrected(self) -> Floats:
        """(m,): less the optimism, or the mean of the rows left out."""
        return _mean(self.on_original) if self.memorises else self.apparent - self.optimism

    def band(self) -> tuple[Floats, Floats]:
        """(m,) each: percentiles of the replicates on their own samples, moved by the optimism; or of those on the
        rows left out.
        """
        tail = (1.0 - CONFIDENCE_LEVEL) / 2
        ends = np.full((2, len(self.apparent)), np.nan)
        usable = np.isfinite(self.in_bootstrap - self.on_original)
        curves = self.on_original if self.memorises else self.in_bootstrap - self.optimism
        # Point by point, because a replicate may have no value where its model predicts nothing.
        for point in np.flatnonzero(usable.any(axis=0)):
            values = np.sort(curves[usable[:, point], point])
            ends[:, point] = [order_statistic(values, p) for p in (tail, 1.0 - tail)]
        return ends[0], ends[1]


class CurveTable(Record):
    """What every corrected curve shows of itself: one row per point in its frame, its numbers, and its flags."""

    name: str
    confidence_level: ClassVar[float] = CONFIDENCE_LEVEL
    flags: Mapping[Flag, str]
    _more = "confidence_level"

    def to_frame(self) -> Any:
        """A row a point, as a pandas DataFrame (pandas comes with the extra ``app``)."""
        return frame_of(points(self, self._columns), f"{type(self).__name__}.to_frame")


def _mean(values: Floats) -> Floats:
    """(m,): mean of the finite values of each column."""
    finite = np.isfinite(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Floats = np.where(finite, values, 0.0).sum(axis=0) / finite.sum(axis=0)
    return mean


def replicated(replicates: Replicates, outcome: CurveOutcome, measure: Measure) -> Replicated:
    """The curve of every model; its mean over the completions of the rows."""
    kept, memorises = replicates.kept, bool(memorising(replicates).score)
    row_weights = replicates.all_rows[0] * outcome.weights
    # Of a model that memorises all rows are mostly its own, so the rows left out stand in for them.
    tested = (
        replicates.left_out(kept)
        if memorises
        else np.broadcast_to(replicates.all_rows, (len(kept), len(row_weights)))
    )
    apparent = outcome.predicted(replicates.apparent[outcome.response])
    everywhere = outcome.predicted(replicates.on_original[outcome.response])

    def over_completions(observed: Floats, predicted: Floats, weights: Floats) -> Floats:
        curves = [measure(observed, predicted[:, h], weights) for h in range(predicted.shape[1])]
        return np.mean(curves, axis=0)

    of_all = over_completions(outcome.observed, apparent, row_weights)
    curves = np.full((2, len(kept), len(of_all)), np.nan)
    for place, b in enumerate(kept.tolist()):
        predicted = everywhere[:, :, b]
        curves[1, place] = over_completions(outcome.observed, predicted, tested[place] * outcome.weights)
        if replicates.in_sample is None:
            weights = replicates.weighted(replicates.counts[b]) * outcome.weights
            curves[0, place] = over_completions(outcome.observed, predicted, weights)
        else:
            rows = drawn_rows(replicates.counts[b])
            weights = outcome.weights[rows] * (1.0 if replicates.weights is None else replicates.weights[rows])
            own = outcome.predicted(replicates.in_sample[outcome.response][b])
            curves[0, place] = over_completions(outcome.observed[rows], own, weights)
    return Replicated(of_all, curves[0], curves[1], memorises)


def class_outcome(replicates: Replicates, of_class: Any, response: Response) -> CurveOutcome:
    """One class against the others.

    Raises InputError when a task of several classes lacks ``of_class``, or the class is none of its own.
    """
    truth = replicates.truth
    assert truth.classes is not None, "only of a classification"
    if of_class is None:
        if truth.kind is TaskKind.MULTICLASS:
            raise InputError(
                f"of_class must say which of the {truth.n_classes} classes the curve is of, one against the "
                f"others: {labels_text(truth.classes)}.",
                argument="of_class",
            )
        of_class = truth.pos_label
    codes = [code for code, label in enumerate(truth.classes.tolist()) if label == of_class]
    if not codes:
        raise InputError(
            f"of_class must be one of the classes {labels_text(truth.classes)}, got {of_class!r}.",
            argument="of_class",
        )
    if truth.kind is TaskKind.BINARY and codes[0] != truth.positive:
        raise InputError(
            f"`of_class={of_class!r}`: predictions of a binary task are of its positive class {truth.pos_label!r}; "
            "leave of_class out.",
            argument="of_class",
        )
    output = codes[0] if truth.kind is TaskKind.MULTICLASS else None
    observed = (truth.values == codes[0]).astype(np.float64)
    return CurveOutcome(str(of_class), observed, np.ones(truth.n_rows), response, output)


def recorded(replicates: Replicates, *responses: Response) -> Response | None:
    """The first of these responses that the replicates hold."""
    return next((response for response in responses if response in replicates.on_original), None)


def curve_flags(
    corrected: Floats, bounds: tuple[float, float] | None, *, rises: bool = False
) -> Mapping[Flag, str]:
    """What a reader of a corrected curve must know.

    - ``bounds``: what a curve of the kind lies between.
    - ``rises``: whether a curve of the kind never falls.
    """
    known, total = corrected[np.isfinite(corrected)], len(corrected)
    flags: dict[Flag, str] = {}
    if len(known) < total:
        flags |= Flag.CURVE_UNDEFINED.of(points=total - len(known), total=total)
    if bounds is not None and (outside := int(((known < bounds[0]) | (known > bounds[1])).sum())):
        flags |= Flag.CURVE_BEYOND_RANGE.of(points=outside, total=total, low=bounds[0], high=bounds[1])
    if rises and (falls := int((np.diff(known) < -1e-12).sum())):
        flags |= Flag.CURVE_NOT_MONOTONE.of(points=falls)
    return flags
