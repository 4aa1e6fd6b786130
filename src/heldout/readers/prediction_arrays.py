"""Held-out predictions of which a tool says what they are: labels, probabilities of each class, or numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import NormalDist
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from heldout import _defaults
from heldout._types import Array, Booleans, Codes, Floats
from heldout.data.task import TaskKind, Truth, truth_of
from heldout.errors import InputError
from heldout.estimates.input_arrays import training_rows_of
from heldout.estimates.responses import ROUNDING, ResponseName, check_settings, cut
from heldout.flags import Flag
from heldout.metrics.base import Response
from heldout.predictions import HeldOutPredictions, SearchQuestion
from heldout.readers.columns import plain, quoted

OFF_ONE = 0.0201
"""How far from 1 the sum of probabilities lies at most, which may be rounded to two decimals."""
CLOSE = 0.002
"""Probabilities that differ by less may be equal ones that were rounded."""
FEWEST = 5
"""Rows with each of two labels from which these are compared."""
LEAST_SPREAD = 0.05
"""The standard deviation of probabilities from which an order of rows is taken for one that a model meant."""
LEAST_AGREEMENT = 0.9
"""The AUC of probabilities by their own labels, 1 where one threshold cut them; thresholds may differ by fold."""


@dataclass(frozen=True, eq=False)
class PredictionArrays:
    """Predictions of N rows by C configurations in R repeats, before the positive class is known.

    At least one of ``labels``, ``probabilities`` and ``values`` is there.
    """

    names: tuple[str, ...]
    """One for each configuration."""
    classes: Array | None = None
    """(K,): the labels of a classification, sorted; None for numbers."""
    labels: Codes | None = None
    """(N, C, R): codes of the classes, -1 where not predicted."""
    probabilities: Floats | None = None
    """(N, C, R, K): of each class, in their order; NaN where not predicted."""
    values: Floats | None = None
    """(N, C, R): predicted numbers of a regression, or scores; NaN where not predicted."""
    folds: Codes | None = None
    """(N, R): codes, -1 where a row was not held out."""
    adaptive: bool = False
    exchangeable: bool = True
    """``adaptive``, ``exchangeable``: as in ``HeldOutPredictions``."""
    flags: Mapping[Flag, str] = field(default_factory=dict)
    """What a reader of any estimate from these predictions must know."""
    question: SearchQuestion | None = None
    """What is estimated where the user says nothing else."""

    @property
    def kind(self) -> TaskKind:
        if self.classes is None:
            return TaskKind.REGRESSION
        return TaskKind.BINARY if len(self.classes) == 2 else TaskKind.MULTICLASS

    def contradictions(self) -> tuple[str, ...]:
        """The configurations whose labels do not go with their probabilities.

        Labels need not be of the greatest probability: a threshold may have cut them. But rows with one label have
        greater probabilities of it than rows with another, of a pair of classes: an AUC near 1.
        """
        if self.labels is None or self.probabilities is None:
            return ()
        return tuple(
            name for j, name in enumerate(self.names) if _contradict(self.labels[:, j], self.probabilities[:, j])
        )

    def truth(self, y_true: Array, pos_label: Any = None) -> Truth:
        """The target coded as the predictions are; of two classes the last is positive by default."""
        return truth_of(y_true, self.kind, classes=self.classes, pos_label=pos_label)

    def held_out(
        self, truth: Truth, response: ResponseName = _defaults.RESPONSE, threshold: float | None = None
    ) -> HeldOutPredictions:
        """The predictions of a target, whose positive class the scores point to.

        Parameters
        ----------
        response : "auto", "labels" or "probabilities"
            Which of what the tool wrote is used; "auto" keeps both. Labels that it did not write, or that are not
            used, are those of the greatest probability.
        threshold : float, optional
            Cuts the probability of the positive class into labels, in place of those that the tool wrote.
        """
        check_settings(response, threshold)
        labels = None if response == "probabilities" else self.labels
        probabilities = None if response == "labels" else self.probabilities
        held = {"labels": self.labels, "probabilities": self.probabilities, "numbers": self.values}
        names = [name for name, array in held.items() if array is not None]
        fits = {
            "response": response in ("auto", *names),
            "threshold": threshold is None or probabilities is not None,
        }
        for argument, value in (("response", response), ("threshold", threshold)):
            if not fits[argument]:
                raise InputError(
                    f"`{argument}={value!r}` does not fit a table that holds {' and '.join(names)}; leave it out.",
                    argument=argument,
                )
        if self.values is not None:
            return self._held({Response.VALUES: self.values}, None)
        responses: dict[Response, Array] = {}
        if probabilities is not None:
            scores = probabilities if truth.positive is None else probabilities[..., truth.positive]
            responses[Response.PROBABILITIES] = scores
            if labels is None or threshold is not None:
                labels = cut(truth, scores, Response.PROBABILITIES, threshold)
        if labels is not None:
            responses[Response.LABELS] = labels
        return self._held(responses, truth.positive)

    def _held(self, responses: Mapping[Response, Array], positive: int | None) -> HeldOutPredictions:
        first = next(iter(responses.values()))
        present = first >= 0 if first.dtype.kind == "i" else ~np.isnan(first)
        tested: Booleans = np.any(present.reshape(*first.shape[:3], -1), axis=(1, 3))
        return HeldOutPredictions(
            responses,
            self.names,
            self.folds,
            self.classes,
            positive,
            training_rows=training_rows_of(self.folds, tested),
            adaptive=self.adaptive,
            exchangeable=self.exchangeable,
            flags=self.flags,
            question=self.question,
        )


def exchanged(codes: Codes, probabilities: Floats, names: Sequence[str]) -> dict[Flag, str]:
    """The flag of configurations whose columns of classes were exchanged.

    They rank the rows (N, C, R, K) of a class clearly the wrong way round, where most rank them rightly.
    Probabilities with little spread do so by themselves: a constant is lower for the class of a held-out row.
    """
    first = probabilities[:, :, 0]
    rows = ~np.isnan(first).any(axis=(1, 2))
    found = set[int]()
    for code in np.unique(codes[rows]) if len(np.unique(codes[rows])) > 1 else ():
        own, values = codes[rows] == code, first[rows, :, code]
        areas = np.array([roc_auc_score(own, column) for column in values.T]) - 0.5
        error = np.sqrt((len(own) + 1) / (12 * own.sum() * (~own).sum()))
        least = max(np.median(areas) / 2, NormalDist().inv_cdf(1 - 0.005 / first[0].size) * error)
        if np.median(areas) > 0:
            found |= {*np.flatnonzero((-areas > least) & (values.std(axis=0) > LEAST_SPREAD))}
    which = [names[j] for j in sorted(found)]
    named = {"lacking": len(which), "total": len(names), "which": quoted(which, 3)}
    return Flag.CLASSES_EXCHANGED.of(**named) if which else {}


def check_probabilities(values: Floats, names: Sequence[str], *, of_classes: bool = True) -> None:
    """Refuse numbers (N, C, R[, K]) beyond [0, 1], and those of K classes that do not sum to 1."""
    if values.ndim == 4:
        values = values[..., ::-1]  # the first of two classes may be 1 minus what the file holds
    beyond = (values < -ROUNDING) | (values > 1 + ROUNDING)
    sums = values.sum(axis=-1) if of_classes and values.ndim == 4 else np.ones(1)
    off = np.abs(sums - 1) > OFF_ONE
    for wrong, what in ((beyond, "has {:.6g} as a probability"), (off, "has probabilities that sum to {:.4g}")):
        if wrong.any():
            row, column = np.argwhere(wrong)[0][:2]
            value = (values if wrong is beyond else sums)[wrong][0]
            raise InputError(
                f"{plain(names[column])} {what.format(value)} in row {row + 1}; probabilities lie in [0, 1], and "
                "those of all classes sum to 1: is a column missing, or the file damaged?"
            )


def _contradict(labels: Codes, probabilities: Floats) -> bool:
    """Whether labels (N, R) do not go with probabilities (N, R, K), for some pair of classes."""
    present = (labels >= 0) & ~np.isnan(probabilities).any(axis=-1)
    labels, probabilities = labels[present], probabilities[present]
    chosen = np.take_along_axis(probabilities, labels[:, None].astype(np.intp), axis=1)[:, 0]
    if (probabilities.max(axis=1, initial=0) - chosen <= CLOSE).all():
        return False
    for one, other in combinations(np.flatnonzero(np.bincount(labels) >= FEWEST), 2):
        rows = (labels == one) | (labels == other)
        share = probabilities[rows, one] - probabilities[rows, other]
        if roc_auc_score(labels[rows] == one, share) < LEAST_AGREEMENT:
            return True
    return False
