"""CVT: the winner's cross-validated score, as it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from heldout.estimates.base import Evidence, conclude
from heldout.estimates.types import Estimate
from heldout.estimates.words import QUANTITY_CV
from heldout.flags import Flag


@dataclass(frozen=True)
class CV:
    """Cross-validation with tuning, uncorrected (Tsamardinos et al. 2018, algorithm 2).

    The score of the configuration that scored best: optimistic as soon as there was more than one to choose
    from, and flagged so. It has no interval.
    """

    name: str = "cv"
    reads: frozenset[str] = frozenset({"predictions", "fold scores"})
    draws: bool = False
    scored: Literal["as asked"] = "as asked"
    sources: tuple[str, ...] = ("tsamardinos2018",)

    def unfit(self, evidence: Evidence) -> str | None:
        """A score is all that it needs."""
        return None

    def estimate(self, evidence: Evidence) -> Estimate:
        """The winner's aggregate score."""
        flags = {Flag.NO_INTERVAL: Flag.NO_INTERVAL.filled(method=self.name)}
        if evidence.was_selected:
            flags[Flag.UNCORRECTED] = Flag.UNCORRECTED.filled(chosen_from=evidence.chosen_from)
        return conclude(evidence, self, evidence.uncorrected, flags=flags, provenance={"quantity": QUANTITY_CV})
