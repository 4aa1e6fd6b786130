"""Hoeffding: a bound that holds for every configuration at once, and how far the chosen is from the best."""

from dataclasses import dataclass

import numpy as np

from heldout.estimates.base import PREDICTIONS, Method, MethodWords, conclude
from heldout.estimates.evidence import Candidates, RowTable, needs_one_configuration
from heldout.estimates.intervals import open_sided
from heldout.estimates.types import Estimate
from heldout.flags import Flag
from heldout.metrics.base import Metric
from heldout.metrics.row_losses import effective_size, half_width, no_bounded_mean

QUANTITY = (
    "the performance on new rows of the models that the training part gave, the chosen one among them: not of a "
    "model fitted again on more rows"
)


@dataclass(frozen=True)
class Hoeffding(Method):
    """A bound that holds for all configurations at once, from one development set (Hoeffding 1963).

    Each of the C configurations, fixed beforehand, has one model fitted on the training part; n other rows are the
    development set. With probability 1 - δ every mean loss is within h = w √(ln(2C/δ)/(2n)) of its expectation (w
    the width of the metric's range), for any selection rule: value ∓ h within the range. One-sided intervals take
    ln(C/δ). So the model chosen as the best is at most 2h = w √(2 ln(2C/δ)/n) worse than the best model of the set
    (``distance_to_best`` in provenance). It says nothing about a model fitted again on more rows.

    With weights, n is (Σw)²/Σw². With several repeats, the losses of a row are averaged first, so that n stays the
    number of rows. Symbols: δ = 1 - confidence level, ``C = |Θ|``, failed configurations included.

    Examples
    --------
    >>> import heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 1000)
    >>> labels = np.where(rng.random((1000, 100)) < 0.8, y[:, None], 1 - y[:, None])
    >>> found = ho.estimate(y, labels, metric="accuracy", method="hoeffding")
    >>> print(found.interval, round(found.provenance["distance_to_best"], 4))
    [0.7636, 0.8924] (95%) 0.1288
    """

    name = "hoeffding"
    reads = PREDICTIONS
    sources = ("hoeffding1963",)
    words = MethodWords(
        "Hoeffding, all configurations at once",
        "Hoeffding's inequality for all configurations at once",
        "The interval holds for all configurations at once, whichever was selected, by Hoeffding's inequality.",
    )
    needs_one_split = True

    def unfit(self, evidence: RowTable) -> str | None:
        """It is for bounded means over independent rows of one development set."""
        metric = evidence.metric
        refused = self.unfit_metric(metric)
        if refused:
            return refused
        if evidence.grouped:
            return "it treats rows as independent, but here they come in groups"
        if evidence.repeat_of_split is not None and np.bincount(evidence.repeat_of_split).max() > 1:
            return (
                "it is for one development set, predicted by one model per configuration, but here are "
                f"{len(evidence.repeat_of_split)} folds with a model each"
            )
        if not evidence.in_play.all():
            return "it needs every row predicted in every repeat"
        return needs_one_configuration(evidence)

    def unfit_metric(self, metric: Metric) -> str | None:
        """Why it is not for this metric; None where it is."""
        return no_bounded_mean(metric)

    def estimate(self, evidence: Candidates) -> Estimate:
        """The winner's score on the development set, with its simultaneous interval."""
        metric, settings = evidence.metric, evidence.settings
        level = settings.level
        low, high = metric.range
        weights, total, delta = evidence.sample_weight, len(evidence.names), 1 - level
        n = float(evidence.truth.n_rows) if weights is None else effective_size(weights)
        sides = 2 if settings.alternative == "two-sided" else 1
        half = half_width(n, delta, total, sides, high - low)
        distance = 2 * half_width(n, delta, total, 2, high - low)
        value = evidence.uncorrected
        interval = open_sided(max(value - half, low), min(value + half, high), metric, settings)
        flags = Flag.DISTANCE_TO_BEST.of(level=level, distance=distance, metric=metric.name, total=total)
        # The interval holds for every configuration; the value is that of the selected one.
        if evidence.was_selected:
            flags |= Flag.UNCORRECTED.of(chosen_from=evidence.chosen_from)
        return conclude(
            evidence,
            self,
            value,
            interval=interval,
            flags=flags,
            provenance={
                "quantity": QUANTITY,
                "distance_to_best": distance,
                "half_width": half,
                "effective_rows": n,
            },
        )
