"""Held-out predictions of which a tool says what they are: labels, probabilities of each class, or numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import TaskKind, Truth, truth_of
from heldout.errors import InputError
from heldout.estimates.input_arrays import training_rows_of
from heldout.estimates.responses import ResponseName, check_settings, cut
from heldout.flags import Flag
from heldout.metrics.base import Response
from heldout.predictions import HeldOutPredictions


@dataclass(frozen=True, eq=False)
class PredictionArrays:
    """Predictions of N rows by C configurations in R repeats, before the positive class is known.

    At least one of ``labels``, ``probabilities`` and ``values`` is there.
    """

    names: tuple[str, ...]
    """One for each configuration."""
    classes: NDArray[Any] | None = None
    """(K,): the labels of a classification, sorted; None for numbers."""
    labels: NDArray[np.int32] | None = None
    """(N, C, R): codes of the classes, -1 where not predicted."""
    probabilities: NDArray[np.float64] | None = None
    """(N, C, R, K): of each class, in their order; NaN where not predicted."""
    values: NDArray[np.float64] | None = None
    """(N, C, R): predicted numbers of a regression; NaN where not predicted."""
    folds: NDArray[np.int32] | None = None
    """(N, R): codes, -1 where a row was not held out."""
    failed: Mapping[int, str] = field(default_factory=dict)
    dropped: Mapping[int, str] = field(default_factory=dict)
    adaptive: bool = False
    """``failed``, ``dropped``, ``adaptive``: as in ``HeldOutPredictions``."""
    flags: Mapping[Flag, str] = field(default_factory=dict)
    """What a reader of any estimate from these predictions must know."""

    @property
    def kind(self) -> TaskKind:
        if self.classes is None:
            return TaskKind.REGRESSION
        return TaskKind.BINARY if len(self.classes) == 2 else TaskKind.MULTICLASS

    def truth(self, y_true: NDArray[Any], pos_label: Any = None) -> Truth:
        """The target coded as the predictions are; of two classes the last is positive by default."""
        return truth_of(y_true, self.kind, classes=self.classes, pos_label=pos_label)

    def held_out(
        self, truth: Truth, response: ResponseName = "auto", threshold: float | None = None
    ) -> HeldOutPredictions:
        """The predictions of a target, whose positive class the scores point to.

        Parameters
        ----------
        response : "auto", "labels" or "probabilities"
            "auto" keeps all that is there. Labels that the tool did not write are those of the greatest
            probability.
        threshold : float, optional
            Cuts the probability of the positive class into labels, in place of those that the tool wrote.
        """
        check_settings(response, threshold)
        if self.classes is None:
            _refuse_of_numbers(response=response, threshold=threshold)
            assert self.values is not None, "predictions without classes are numbers"
            return self._held({Response.VALUES: self.values}, None)
        responses: dict[Response, NDArray[Any]] = {}
        if self.labels is not None:
            responses[Response.LABELS] = self.labels
        if self.probabilities is not None:
            scores = self.probabilities if truth.positive is None else self.probabilities[..., truth.positive]
            responses[Response.PROBABILITIES] = scores
            if self.labels is None or threshold is not None:
                responses[Response.LABELS] = cut(truth, scores, Response.PROBABILITIES, threshold)
        elif threshold is not None:
            raise InputError(
                f"threshold={threshold!r} cuts probabilities, but the table holds labels; leave it out.",
                argument="threshold",
            )
        if response != "auto":
            if response not in responses:
                raise InputError(
                    f"response must be what the table holds, {' or '.join(responses)}, got {response!r}.",
                    argument="response",
                )
            responses = {Response(response): responses[Response(response)]}
        return self._held(responses, truth.positive)

    def _held(self, responses: Mapping[Response, NDArray[Any]], positive: int | None) -> HeldOutPredictions:
        first = next(iter(responses.values()))
        present = first >= 0 if first.dtype.kind == "i" else ~np.isnan(first)
        tested: NDArray[np.bool_] = np.any(present.reshape(*first.shape[:3], -1), axis=(1, 3))
        return HeldOutPredictions(
            responses,
            self.names,
            self.folds,
            self.classes,
            positive,
            failed=self.failed,
            dropped=self.dropped,
            training_rows=training_rows_of(self.folds, tested),
            adaptive=self.adaptive,
            flags=self.flags,
        )


def _refuse_of_numbers(**settings: Any) -> None:
    for name, value in settings.items():
        if value not in (None, "auto"):
            raise InputError(
                f"{name}={value!r} is for classifications, but the predictions are numbers; leave it out.",
                argument=name,
            )
