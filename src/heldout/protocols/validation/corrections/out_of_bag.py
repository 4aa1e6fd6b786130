"""The out-of-bag score as it is: of models that each saw about .632 of the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from heldout.protocols.validation.corrections.base import CorrectedScore
from heldout.protocols.validation.corrections.leave_one_out import left_out_score
from heldout.protocols.validation.replicates import Replicates, ReplicateScores


@dataclass(frozen=True)
class OutOfBag:
    """The leave-one-out bootstrap (Efron & Tibshirani 1997).

    The loss of each row by the models that never saw it, then the mean over rows; of metrics that are no mean of
    one loss a row, the mean over replicates of the score on the rows left out (``leave_one_out`` says it). Nothing
    of the apparent score enters. It is pessimistic where models learn more from N rows than from the .632 N
    different ones of a sample.
    """

    name: ClassVar[str] = "oob"
    sources: ClassVar[tuple[str, ...]] = ("efron1983", "efron1997")
    reads_left_out = True

    def corrected(self, replicates: Replicates, scores: ReplicateScores) -> CorrectedScore:
        found = left_out_score(replicates, scores)
        return replace(found, provenance={"out_of_bag": found.value, **found.provenance})
