"""The Hoeffding race: drop configurations that cannot be the best within the bounds of chance."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from heldout._types import Floats, Indices
from heldout.data.checks import check_number
from heldout.dropping.base import Course, Racing, Standing, Verdict, verdict
from heldout.metrics.aggregate import AggregateScore
from heldout.metrics.base import Metric, oriented
from heldout.metrics.row_losses import effective_size, half_width, no_bounded_mean


@dataclass(frozen=True, kw_only=True)
class HoeffdingRace(Racing):
    """Drop configurations whose best possible score is worse than the leader's worst (Maron & Moore 1994).

    After n rows every mean loss is within h = w √(ln(2/δ')/(2n)) of its expectation, w being the width of the
    metric's range and δ' = δ/(C · looks): all C configurations that started, at every barrier, with probability 1 -
    δ (Hoeffding 1963, and a union bound). A configuration is dropped if it is more than 2h behind the leader. Then
    with probability 1 - δ the best is never dropped.

    That is exact for models that are fixed while their rows are drawn. Held-out predictions come from one model per
    fold, each fitted on rows that test the others. So here, as in the article's leave-one-out races, it is an
    approximation; the bound is so wide that it errs towards keeping.

    n in the inequality is (Σw)²/Σw² over independent units. A unit is a row, or a group with the sum of its rows'
    weights, so that equal groups count as one loss each. A row of several repeats counts once, and partly if some
    repeats have not predicted it yet.

    Attributes
    ----------
    delta : float
        δ: the probability of dropping the best, divided among configurations and barriers.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> HoeffdingRace(delta=0.1).unfit(metric_named("roc_auc"), Course(10, 10))
    'it bounds means of one loss per row, such as accuracy, and roc_auc is not one'
    """

    delta: float = 0.05
    name: ClassVar[str] = "hoeffding_race"
    statistic_name: ClassVar[str] = "its distance behind the leader, as a multiple of what chance allows for both"
    sources: ClassVar[tuple[str, ...]] = ("maron1994", "hoeffding1963")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("delta", self.delta, above=0, below=1)

    def unfit(self, metric: Metric, course: Course) -> str | None:
        """It bounds means of losses that lie within a range."""
        return no_bounded_mean(metric)

    def judge(self, standing: Standing) -> Verdict:
        """Drop those more than twice the half-width behind the leader."""
        score = standing.score
        low, high = score.metric.range
        # Weighted rows count as fewer; a bound for n equal rows would be too narrow.
        n = effective_size(weights_of_units(score, standing.unit_of_row))
        # Every configuration at every barrier must hold, those that left included.
        half = half_width(n, self.delta, standing.n_started * standing.n_barriers, sides=2, width=high - low)
        values = oriented(score.metric, score.observed())
        with np.errstate(invalid="ignore"):
            behind = (values[standing.leader] - values) / (2 * half)
        return verdict(standing, leaves=behind > 1, statistic=behind)


def weights_of_units(score: AggregateScore, unit_of_row: Indices) -> Floats:
    """(units,): the weight of each row's, or group's, losses in a score that is a mean over rows and repeats."""
    of_rows = np.zeros(score.n_rows)
    for segment in score.segments:
        weights = np.ones(len(segment.rows)) if score.sample_weight is None else score.sample_weight[segment.rows]
        if weights.sum() > 0:  # else the segment is undefined, and no part of the mean
            of_rows[segment.rows] += weights / weights.sum()
    return np.bincount(unit_of_row, weights=of_rows).astype(np.float64)
