"""CVT: the winner's cross-validated score, uncorrected."""

from dataclasses import dataclass

from heldout.estimates.base import OVER_TRAINING_SETS, Method, MethodWords, conclude
from heldout.estimates.evidence import Evidence
from heldout.estimates.types import Estimate
from heldout.flags import Flag

QUANTITY = (
    f"{OVER_TRAINING_SETS} of the winner as if it had been chosen beforehand (what choosing it costs is left out "
    "of the definition)"
)


@dataclass(frozen=True)
class CV(Method):
    """Cross-validation with tuning, uncorrected (Tsamardinos et al. 2018, algorithm 2).

    The value is the winner's own score: optimistic if there was more than one configuration to choose from, and
    flagged then. It has no interval.

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> labels = np.where(rng.random((200, 50)) < 0.7, y[:, None], 1 - y[:, None])  # 50 configurations, all 70 %
    >>> found = ho.estimate(y, labels, metric="accuracy", method="cv")
    >>> found.value > 0.75, found.interval
    (True, None)
    """

    name = "cv"
    reads = frozenset({"predictions", "fold scores"})
    has_interval = False
    sources = ("tsamardinos2018",)
    words = MethodWords(
        "Cross-validation of the winner",
        "cross-validation of the winner",
        "The winner's cross-validated score was not corrected for the selection.",
    )

    def unfit(self, evidence: Evidence) -> str | None:
        """A score is all that it needs."""
        return None

    def estimate(self, evidence: Evidence) -> Estimate:
        """The winner's aggregate score."""
        flags = Flag.NO_INTERVAL.of(method=self.name)
        if evidence.was_selected:
            flags |= Flag.UNCORRECTED.of(chosen_from=evidence.chosen_from)
        return conclude(evidence, self, evidence.uncorrected, flags=flags, provenance={"quantity": QUANTITY})
