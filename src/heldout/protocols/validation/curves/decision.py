"""The decision curve corrected for optimism: what acting on predictions is worth, by the threshold of acting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from heldout._record import points, thinned
from heldout._types import Floats, Indices
from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.flags import Flag
from heldout.kernels.reference_curves import net_benefit
from heldout.protocols.validation.curves.base import CurveTable, curve_flags, replicated
from heldout.protocols.validation.curves.calibration import calibrated_outcome
from heldout.protocols.validation.replicates import Replicates

SOURCES = ("vickers2006",)
MOST_SHOWN = 10


@dataclass(frozen=True, eq=False)
class DecisionCurve(CurveTable):
    """The decision curve: net benefit by threshold probability, corrected for optimism at each threshold.

    Attributes
    ----------
    name : str
        The class or event on whose prediction one would act.
    threshold : ndarray of shape (m,)
        One acts if the predicted probability is at least this.
    apparent, corrected : ndarray of shape (m,)
        Net benefit per row, in true positives: the positives acted on, minus the others acted on times threshold /
        (1 - threshold), divided by all rows.
    act_on_all : ndarray of shape (m,)
        The net benefit of acting on every row; acting on none has 0.
    low, high : ndarray of shape (m,)
        Percentiles of the replicates' net benefit on their own samples, moved by the optimism.
    confidence_level : float
    n_replicates : ndarray of shape (m,)
    flags : mapping of Flag to str
    """

    name: str
    threshold: Floats
    apparent: Floats
    corrected: Floats
    act_on_all: Floats
    low: Floats
    high: Floats
    n_replicates: Indices
    flags: Mapping[Flag, str] = field(default_factory=dict)

    _columns = "threshold apparent corrected act_on_all low high n_replicates"
    _shown = "threshold corrected apparent act_on_all"

    def __repr__(self) -> str:
        return f"DecisionCurve({len(self.threshold)} thresholds of acting on {self.name})"

    @property
    def _rows(self) -> list[Any]:
        return thinned(points(self, self._columns), MOST_SHOWN)

    @property
    def _title(self) -> str:
        return f"Net benefit {self.name}"


def decision_curve(
    replicates: Replicates,
    *,
    thresholds: ArrayLike | None = None,
    time: float | None = None,
    of_class: Any = None,
) -> DecisionCurve:
    """The optimism-corrected decision curve (Vickers and Elkin 2006) of a model that predicts probabilities.

    The parameters are those of ``Validation.decision_curve``.

    Examples
    --------
    Acting above .5 finds one of two positives and one other row: (1 - 1) / 4.

    >>> from heldout.metrics.base import Response
    >>> from heldout.data.task import truth_of
    >>> values = np.array([0.1, 0.6, 0.3, 0.8])[:, None]
    >>> replicates = Replicates(
    ...     truth_of(["no", "no", "yes", "yes"]),
    ...     counts=np.array([[2, 0, 1, 1]], dtype=np.uint8),
    ...     apparent={Response.PROBABILITIES: values},
    ...     on_original={Response.PROBABILITIES: values[:, :, None]},
    ... )
    >>> curve = decision_curve(replicates, thresholds=[0.5])
    >>> curve.apparent.tolist(), curve.corrected.tolist(), curve.act_on_all.tolist()
    ([0.0], [-0.25], [0.0])
    """
    if replicates.truth.kind is TaskKind.REGRESSION:
        raise InputError("a decision curve is of probabilities, and this task is a regression.")
    points = checked_thresholds(thresholds)
    outcome = calibrated_outcome(replicates, time=time, of_class=of_class)
    odds = points / (1.0 - points)

    def of_thresholds(observed: Floats, predicted: Floats, weights: Floats) -> Floats:
        return net_benefit(observed, predicted, weights, points)

    found = replicated(replicates, outcome, of_thresholds)
    low, high = found.band()
    weights = replicates.all_rows[0] * outcome.weights
    share = float(np.average(outcome.observed, weights=weights))
    return DecisionCurve(
        name=outcome.name,
        threshold=points,
        apparent=found.apparent,
        corrected=found.corrected,
        act_on_all=share - (1.0 - share) * odds,
        low=low,
        high=high,
        n_replicates=found.n_replicates,
        flags=curve_flags(found.corrected, None),
    )


def checked_thresholds(thresholds: ArrayLike | None) -> Floats:
    """Thresholds of probability as an array; .01, .02 .. .99 by default.

    Raises InputError unless they increase from above 0 to below 1.
    """
    if thresholds is None:
        return np.arange(1, 100) / 100
    try:
        points = np.atleast_1d(np.asarray(thresholds, dtype=np.float64))
    except (TypeError, ValueError):
        points = np.empty((0, 0))
    if points.ndim != 1 or not ((points > 0) & (points < 1)).all() or (np.diff(points) <= 0).any():
        raise InputError(
            f"thresholds must increase from above 0 to below 1, got {thresholds!r}.", argument="thresholds"
        )
    return points
