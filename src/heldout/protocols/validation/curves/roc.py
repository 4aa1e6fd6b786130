"""The ROC curve corrected for optimism: sensitivities at fixed false positive rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from heldout._types import Floats, Indices
from heldout.errors import InputError
from heldout.flags import Flag
from heldout.kernels.reference_curves import roc_points
from heldout.metrics.base import Response
from heldout.protocols.validation.curves.base import (
    CurveTable,
    class_outcome,
    curve_flags,
    recorded,
    replicated,
)
from heldout.protocols.validation.replicates import Replicates

N_POINTS = 101
SOURCES = ("fawcett2006",)


@dataclass(frozen=True, eq=False)
class RocCurve(CurveTable):
    """The ROC curve: sensitivity by false positive rate, corrected for optimism at each false positive rate.

    Attributes
    ----------
    name : str
        The class to detect, against the others.
    false_positive_rate : ndarray of shape (101,)
        0, .01 .. 1.
    apparent, corrected : ndarray of shape (101,)
        Sensitivity of the model fitted on all rows, on these rows; and the same minus its mean optimism. The
        corrected curve may leave [0, 1] or fall; it is not changed then, but flagged.
    low, high : ndarray of shape (101,)
        Percentiles of the replicates' sensitivities on their own samples, moved by the optimism.
    confidence_level : float
    n_replicates : ndarray of shape (101,)
    area_apparent, area_corrected : float
        The ROC AUC and its optimism-corrected value, from the exact curves; the area under the 101 points differs a
        little.
    flags : mapping of Flag to str
    """

    name: str
    false_positive_rate: Floats
    apparent: Floats
    corrected: Floats
    low: Floats
    high: Floats
    n_replicates: Indices
    area_apparent: float
    area_corrected: float
    flags: Mapping[Flag, str] = field(default_factory=dict)

    _columns = "false_positive_rate apparent corrected low high n_replicates"
    _shown = "area,_corrected=area_corrected area,_apparent=area_apparent"

    def __repr__(self) -> str:
        return (
            f"RocCurve(of {self.name}; area {self.area_apparent:.4g} apparent, {self.area_corrected:.4g} "
            f"corrected, {int(self.n_replicates.max(initial=0))} replicates)"
        )

    @property
    def _title(self) -> str:
        return f"ROC curve {self.name}"


def roc_curve(replicates: Replicates, *, of_class: Any = None) -> RocCurve:
    """The optimism-corrected ROC curve of a validated classifier.

    Every curve is read at the same false positive rates (vertical averaging, Fawcett 2006, section 8): the greatest
    sensitivity there, and between two thresholds the one on the straight line that joins them.

    ``replicates`` hold decisions or probabilities; the parameters are those of ``Validation.roc_curve``.

    Examples
    --------
    A sample that drew the rows that the model ranks right:

    >>> from heldout.data.task import truth_of
    >>> values = np.array([0.1, 0.4, 0.3, 0.8])[:, None]
    >>> replicates = Replicates(
    ...     truth_of(["no", "no", "yes", "yes"]),
    ...     counts=np.array([[2, 0, 1, 1]], dtype=np.uint8),
    ...     apparent={Response.PROBABILITIES: values},
    ...     on_original={Response.PROBABILITIES: values[:, :, None]},
    ... )
    >>> curve = roc_curve(replicates)
    >>> curve.area_apparent, curve.area_corrected
    (0.75, 0.5)
    """
    if not replicates.truth.kind.is_classification:
        raise InputError(f"a ROC curve is of a classification, this task is {replicates.truth.kind.value}.")
    # In the order in which the ROC AUC reads them, so that the areas agree with it.
    response = recorded(replicates, Response.DECISION, Response.PROBABILITIES)
    if response is None:
        raise InputError(
            "a ROC curve needs decisions or probabilities, and the validation recorded only "
            f"{', '.join(replicates.on_original)}; validate by a metric that reads them too, such as roc_auc."
        )
    outcome = class_outcome(replicates, of_class, response)
    rates = np.linspace(0.0, 1.0, N_POINTS)

    def sensitivities_and_area(observed: Floats, scores: Floats, weights: Floats) -> Floats:
        drawn, positive = weights > 0, observed > 0
        if not (drawn & positive).any() or not (drawn & ~positive).any() or np.isnan(scores[drawn]).any():
            return np.full(N_POINTS + 1, np.nan)
        x, y, area = roc_points(positive[drawn], scores[drawn], weights[drawn])
        # The area goes along as a last point, so that it is corrected as the curve is.
        return np.append(np.interp(rates, x, y), area)

    found = replicated(replicates, outcome, sensitivities_and_area)
    low, high = found.band()
    corrected = found.corrected
    return RocCurve(
        name=outcome.name,
        false_positive_rate=rates,
        apparent=found.apparent[:-1],
        corrected=corrected[:-1],
        low=low[:-1],
        high=high[:-1],
        n_replicates=found.n_replicates[:-1],
        area_apparent=float(found.apparent[-1]),
        area_corrected=float(corrected[-1]),
        flags=curve_flags(corrected[:-1], (0.0, 1.0), rises=True),
    )
