"""Shrinkage: the optimism of the actual selection, replayed around shrunken centres."""

from dataclasses import dataclass

import numpy as np

from heldout.data.task import labels_text
from heldout.estimates import bootstrap
from heldout.estimates.base import OVER_TRAINING_SETS, MethodWords, conclude, no_value
from heldout.estimates.data_flags import flags_of_choice
from heldout.estimates.evidence import Candidates
from heldout.estimates.intervals import holding
from heldout.estimates.least_width import with_least_width
from heldout.estimates.selection_optimism import FEWEST, optimism_of
from heldout.estimates.types import Estimate
from heldout.flags import Flag
from heldout.selection.base import SelectionFailedError

QUANTITY = f"{OVER_TRAINING_SETS} of the configuration that a search on as many rows selects"


FEW = 10
"""Rows of a class, below which the test bed found errors of metrics that look at it."""


def _flag_of_few(evidence: Candidates) -> dict[Flag, str]:
    """The flag of the rarest class that the metric needs, where it has few independent rows."""
    truth = evidence.truth
    units = evidence.units_of_classes
    if not units or min(units.values()) >= FEW:
        return {}
    assert truth.classes is not None, "codes are of classes"
    rarest = min(units, key=lambda code: units[code])
    label = labels_text(truth.classes[rarest : rarest + 1])
    return Flag.FEW_OF_CLASS.of(label=label, units=units[rarest])


@dataclass(frozen=True)
class Shrinkage(bootstrap.RowBootstrap):
    """The winner's score minus the optimism of its selection, which bootstraps replay; the default method.

    The best of noisy scores is too good because observed scores M_c are more spread out than true ones. Their noise
    D_bc is estimated by bootstraps of the held-out rows. So the scores are shrunk towards each other until they are
    as spread out as the true ones (``heldout.estimates.shrunken_centres``); noise is added, and the rule that chose
    the winner selects again: w_b. The selected score exceeds its centre by z_b = D_b[w_b]/sd(D[w_b]) of its own
    standard deviations (minus the mean noise of that column, if a best possible score cuts it off). The winner had
    the same luck, in its own standard deviations, and

        value = M_w - sd(D_w) · mean_b z_b - u.

    u is 0 but for a log loss whose winner has predictions of 0 and 1, all of them right: it is what they cost if ½
    of m + 1 is wrong, of m rows with such predictions (``heldout.estimates.selection_optimism``, flag
    ``certain_predictions``).

    Symbols: ``distribution`` holds M_w - sd(D_w) z_b - u, ``selected`` is w; provenance's ``shrinkage_factor`` is
    κ.

    ``BBC`` selects on about .632 N distinct rows and scores on the others, so that it is pessimistic and its scores
    are noisy. This method replays the selection on N rows. With κ = 1 it would be Harrell's optimism, computed from
    the held-out predictions.

    The interval is Student's. Its standard error combines the winner's own noise (at least that of bootstraps with
    four more rows), times 1.2 for rows predicted by the models of several or unknown folds (1.4 for two folds, 1
    for a hold-out), and .35 of the optimism. It reaches farther on the worse side, as Wilson's does, because scores
    vary more there. It is widened if rows are all alike, or nearly (flags ``no_spread``, ``little_spread``).
    papers/pages/intervals.md has its coverage.

    Attributes
    ----------
    stratify : bool
        Whether to draw rows within classes. The interval then ignores the sampling of the class shares, which is
        wrong for accuracy and the like: flagged.

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 60)
    >>> guesses = rng.random((60, 100))  # configurations that know nothing
    >>> found = ho.estimate(y, guesses, metric="accuracy", method="shrinkage", random_state=0)
    >>> found.uncorrected > 0.6, abs(found.value - 0.5) < 0.06
    (True, True)
    """

    stratify: bool = False
    name = "shrinkage"
    sources = ("heldout", "louis1984", "ghosh1992", "tsamardinos2018", "salmon2011")
    words = MethodWords(
        "Shrinkage",
        "shrinkage",
        (
            "The scores of the configurations were shrunk towards each other to remove the spread that is due to "
            "noise, the selection was replayed with the noise of {bootstraps} bootstrap samples of the held-out "
            "predictions, and the advantage that selected configurations owed to chance was subtracted from the "
            "score of the winner."
        ),
    )
    replays_dropping = True

    def estimate(self, evidence: Candidates) -> Estimate:
        """Replay the selection around the centres.

        Raises
        ------
        InputError
            When a bootstrap cannot be drawn on which the metric is defined.
        """
        try:
            optimism = optimism_of(evidence, stratify=self.stratify)
        except SelectionFailedError as error:
            return no_value(evidence, self, str(error), flag=Flag.SELECTION_NOT_REPLAYABLE)
        metric, settings, sign = evidence.metric, evidence.settings, 1 if evidence.metric.greater_is_better else -1
        centre = evidence.uncorrected - sign * optimism.size
        value = centre - sign * optimism.unseen
        if settings.n_bootstraps < FEWEST:
            few = f"the noise of scores shows in {FEWEST} bootstraps or more, not in 1"
            return no_value(evidence, self, few)
        if optimism.chosen is None or not np.isfinite(value):
            none = "no candidate has a finite score in most bootstraps"
            return no_value(evidence, self, none)
        value = min(max(value, metric.range[0]), metric.range[1])
        interval = holding(value, optimism.interval(centre, metric, settings), metric)
        reached = with_least_width(interval, evidence, value=value)
        keeps_shares = self.stratify and metric.reads_truth
        flags = flags_of_choice(evidence) | (Flag.STRATIFIED.of() if keeps_shares else {})
        flags |= _flag_of_few(evidence)
        if optimism.unseen:
            flags |= Flag.CERTAIN_PREDICTIONS.of(winner=evidence.winner_name, share=optimism.unseen)
        undefined = int((~np.isfinite(optimism.gains)).sum())
        flags |= bootstrap.flags_of_draws(
            evidence,
            total=settings.n_bootstraps,
            undefined=undefined,
            why=bootstrap.failures_of(evidence),
            redraws=optimism.redraws,
        )
        return conclude(
            evidence,
            self,
            value,
            interval=reached.interval,
            standard_error=optimism.standard_error,
            distribution=evidence.uncorrected - sign * (optimism.gains + optimism.unseen),
            flags=flags | reached.flags,
            selection_frequency=evidence.of_configurations(optimism.chosen.shares(len(evidence.candidates))),
            provenance={
                "quantity": QUANTITY,
                "n_bootstraps": settings.n_bootstraps,
                "stratified": self.stratify,
                "shrinkage_factor": optimism.factor,
                "n_competing": optimism.n_competing,
                "fold_dependence": optimism.dependence,
                "redrawn": optimism.redraws,
            },
        )
