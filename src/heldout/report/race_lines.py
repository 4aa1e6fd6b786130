"""The course of each configuration in a search that could drop some: how many splits it had, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from heldout.report.configuration_scores import ConfigurationScores
from heldout.report.race import RaceSummary
from heldout.result import Evaluation

Ending: TypeAlias = Literal["finished", "dropped", "failed"]


@dataclass(frozen=True)
class RaceLine:
    """One configuration."""

    index: int
    """Its position in the search, from 0."""
    name: str
    splits: int
    """Splits on which it was fitted."""
    ending: Ending
    score: float | None
    """Its uncorrected score on these splits."""
    is_winner: bool


def race_lines(evaluation: Evaluation, race: RaceSummary, scores: ConfigurationScores) -> tuple[RaceLine, ...]:
    """All configurations: the winner, the others that finished from best to worst, then the last dropped first."""
    done = sum(alive > 0 for alive in race.alive)
    failed = {**evaluation.predictions.failed, **evaluation.failures}
    left = {j: each.after for j, each in evaluation.dropped.items()}

    def line(j: int) -> RaceLine:
        ending: Ending = "failed" if j in failed else "dropped" if j in left else "finished"
        score = scores.scores[j]
        return RaceLine(
            j,
            scores.names[j],
            left.get(j, done),
            ending,
            None if score != score else float(score),
            j == scores.winner,
        )

    losses = scores.losses
    return tuple(
        sorted(
            (line(j) for j in range(len(scores.names))),
            key=lambda each: (
                not each.is_winner,
                ("finished", "dropped", "failed").index(each.ending),
                -each.splits,
                losses[each.index],
                each.index,
            ),
        )
    )
