"""The choice of a decision threshold: the score at each threshold, and what bootstraps choose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats
from heldout.errors import InputError
from heldout.estimates.base import Method
from heldout.estimates.bootstrap import draws_of, map_draws
from heldout.estimates.inputs import Inputs
from heldout.estimates.intervals import middle_of_columns
from heldout.estimates.methods import answer
from heldout.estimates.types import Estimate
from heldout.metrics.base import Response
from heldout.predictions import HeldOutPredictions
from heldout.scales import Scale, scale_of_metric
from heldout.selection.base import NONE_CHOSEN
from heldout.selection.threshold import Threshold


@dataclass(frozen=True, eq=False)
class ThresholdChoice:
    """The threshold that was chosen with the winner, and how firmly."""

    metric: Scale
    estimate: Estimate
    """Of the winner at its threshold, corrected for the choice of both."""
    configuration: str
    response: Response
    """What is cut: decisions or probabilities of the positive class."""
    threshold: float
    positive: str
    """The class of scores strictly above it."""
    thresholds: Floats
    scores: Floats
    low: Floats
    high: Floats
    """(T,) each, ascending: the winner's score at each threshold tried, and the percentiles of it on bootstrapped
    rows, for each threshold by itself. Uncorrected."""
    confidence_level: float
    chosen: Floats
    """(B,): the threshold that each bootstrap chose, of the winner or of another configuration; NaN for none."""
    chose_winner: NDArray[np.bool_]
    """(B,): whether it was of the winner: thresholds of different models need not be on one scale."""

    @property
    def share_of_winner(self) -> float:
        """Share of the bootstraps that chose the same configuration."""
        return float(self.chose_winner.mean())


def threshold_choice(inputs: Inputs, method: Method) -> ThresholdChoice:
    """The choice of configuration and threshold, replayed on bootstrapped rows.

    Raises InputError when the rule tunes no threshold, or the method does not fit.
    """
    if not isinstance(inputs.question.rule, Threshold):
        raise InputError(
            f"selection must tune a threshold, got '{inputs.question.rule.name}'; use 'threshold' or "
            "ho.selection.Threshold(...).",
            argument="selection",
        )
    evidence = inputs.evidence(method)
    estimate = answer(method, evidence)
    matrix, thresholds = evidence.matrix, evidence.thresholds
    assert matrix is not None and thresholds is not None, "a threshold is tuned on predictions"
    own = np.flatnonzero(evidence.candidates == evidence.winner)
    own = own[np.argsort(thresholds[own], kind="stable")]
    draws = draws_of(matrix, evidence)

    def block(first: int, last: int) -> tuple[Floats, Floats]:
        counts, _ = draws.block(first, last)
        return matrix.scores.all(counts)[:, own], matrix.replay.choose(counts).astype(np.float64)

    scores, columns = (np.concatenate(parts) for parts in zip(*map_draws(block, matrix, evidence), strict=True))
    columns = columns.astype(np.intp)
    none = columns == NONE_CHOSEN
    metric = evidence.metric
    scale = scale_of_metric(metric, estimate)
    low, high = middle_of_columns(scale.sign * scores, evidence.settings.level)
    return ThresholdChoice(
        metric=scale,
        estimate=estimate,
        configuration=str(evidence.names[evidence.winner]),
        response=_response(inputs.predictions, evidence.winner),
        threshold=float(thresholds[evidence.winner_column]),
        positive=str(inputs.truth.pos_label),
        thresholds=thresholds[own],
        scores=scale.sign * matrix.scores.observed()[own],
        low=low,
        high=high,
        confidence_level=evidence.settings.confidence_level,
        chosen=np.where(none, np.nan, thresholds[columns]),
        chose_winner=~none & (evidence.candidates[columns] == evidence.winner),
    )


def _response(predictions: HeldOutPredictions, configuration: int) -> Response:
    """What the thresholds of a configuration cut: decisions where it has them."""
    decisions = predictions.responses.get(Response.DECISION)
    has_decisions = decisions is not None and not np.isnan(decisions[:, configuration]).all()
    return Response.DECISION if has_decisions else Response.PROBABILITIES
