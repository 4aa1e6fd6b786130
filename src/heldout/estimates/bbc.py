"""BBC: bootstrap the held-out matrix, replay the selection on the drawn rows, score it on the others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout import wording
from heldout._seeding import stream
from heldout.errors import InputError
from heldout.estimates.base import Evidence, Matrix, conclude, over_configurations
from heldout.estimates.intervals import percentile_interval
from heldout.estimates.race import check_drawable
from heldout.estimates.types import Estimate
from heldout.kernels.blocks import map_blocks
from heldout.kernels.draws import Draws, UndefinedDrawsError, out_of_bag
from heldout.metrics.aggregate import AggregateScore
from heldout.metrics.base import Metric, quiet_if_foreign
from heldout.selection.base import NONE_CHOSEN, SelectionFailedError
from heldout.task import labels_text
from heldout.wording import Flag

MANY_REDRAWS = 0.05


class Block(NamedTuple):
    """What some consecutive bootstraps gave."""

    chosen: NDArray[np.intp]
    scores: NDArray[np.float64]
    redraws: int
    defined_share: float


@dataclass(frozen=True)
class BBC:
    """Bootstrap bias corrected cross-validation (Tsamardinos et al. 2018, algorithm 5, sections 4.1 and 4.2).

    For b = 1 .. B draw N rows with replacement, choose a configuration on them by the rule that chose the winner,
    and score that configuration on the rows that were not drawn. The value is the mean of the B scores and the
    interval their percentiles. Row numbers are drawn once and carry the predictions of all repeats; with groups,
    whole groups are drawn.

    Symbols: ``distribution`` holds the article's L_b, ``selected`` its i*, the replay its css.

    The estimate is of models trained on as many rows as a fold's training part, chosen from about .632 N distinct
    rows, and so is somewhat pessimistic. The B scores are no sampling distribution of the value: for means over
    rows they spread about 1.31 times as wide, so that the interval covers more often than it says.
    """

    name: str = "bbc"
    reads: frozenset[str] = frozenset({"predictions"})
    draws: bool = True
    sources: tuple[str, ...] = ("tsamardinos2018", "salmon2011")

    def estimate(self, evidence: Evidence) -> Estimate:
        """Bootstrap the evidence's matrix.

        Raises
        ------
        InputError
            When there is no matrix, or a bootstrap cannot be drawn on which the metric is defined.
        """
        if evidence.matrix is None:
            raise InputError(
                f"method 'bbc' needs held-out predictions, but the scorer '{evidence.metric.name}' cannot be "
                "opened, so there are fold scores only; use method 'tt', or a scorer made by make_scorer."
            )
        metrics = [evidence.metric, *(score.metric for score in evidence.matrix.replay.scores)]
        _check_drawable(evidence.matrix, metrics, grouped=bool(evidence.provenance.get("grouped")))
        try:
            blocks = bootstrap(evidence.matrix, evidence)
        except SelectionFailedError as error:
            reason = Flag.SELECTION_NOT_REPLAYABLE.filled(reason=str(error))
            return conclude(evidence, self, float("nan"), flags={Flag.SELECTION_NOT_REPLAYABLE: reason})
        scores = np.concatenate([block.scores for block in blocks])
        chosen = np.concatenate([block.chosen for block in blocks])
        # An infinite loss is the worst there is, not an undefined one: to leave it out would reward it.
        defined = scores[~np.isnan(scores)]
        flags = self._flags(evidence, blocks, len(scores) - len(defined), len(scores))
        with np.errstate(over="ignore"):  # losses near the end of float64: the mean is infinite, and flagged
            value = float(defined.mean()) if defined.size else float("nan")
        settings = evidence.settings
        interval = (
            percentile_interval(defined, evidence.metric, settings.confidence_level, settings.alternative)
            if defined.size
            else None
        )
        times = np.bincount(chosen[chosen != NONE_CHOSEN], minlength=evidence.n_candidates)
        return conclude(
            evidence,
            self,
            value,
            interval=interval,
            distribution=scores,
            flags=flags,
            selection_frequency=over_configurations(evidence, times / len(chosen)),
            provenance={
                "quantity": wording.QUANTITY_BBC,
                "n_bootstraps": settings.n_bootstraps,
                "redrawn": sum(block.redraws for block in blocks),
            },
        )

    def _flags(self, evidence: Evidence, blocks: list[Block], undefined: int, total: int) -> dict[Flag, str]:
        flags: dict[Flag, str] = {}
        if len(evidence.names) == 1:
            flags[Flag.SINGLE_CONFIGURATION] = Flag.SINGLE_CONFIGURATION.filled()
        if undefined:
            flags[Flag.UNDEFINED_BOOTSTRAPS] = Flag.UNDEFINED_BOOTSTRAPS.filled(
                undefined=undefined, total=total, why=_reasons(evidence.matrix)
            )
        tails = 2 if evidence.settings.alternative == "two-sided" else 1
        wanted = math.ceil(tails / (1 - evidence.settings.confidence_level) - 1e-9)
        if total < wanted:
            flags[Flag.FEW_BOOTSTRAPS] = Flag.FEW_BOOTSTRAPS.filled(total=total, wanted=wanted)
        redraws = sum(block.redraws for block in blocks)
        if redraws > MANY_REDRAWS * total:
            flags[Flag.REDRAWN] = Flag.REDRAWN.filled(redraws=redraws, needs=evidence.metric.needs)
        undefined_share = 1 - float(np.mean([block.defined_share for block in blocks]))
        if undefined_share > 0.5:
            flags[Flag.MOSTLY_UNDEFINED_FOLDS] = Flag.MOSTLY_UNDEFINED_FOLDS.filled(
                metric=evidence.metric.name, share=undefined_share
            )
        return flags


def _check_drawable(matrix: Matrix, metrics: list[Metric], *, grouped: bool) -> None:
    weighed = matrix.scores.rows_of_weight
    units = np.unique(matrix.unit_of_row[weighed], return_inverse=True)[1]
    check_drawable(matrix.truth.rows(weighed), units, metrics, grouped)


def _reasons(matrix: Matrix | None) -> str:
    """What a custom metric said when it gave no number, most often said first; empty for declared metrics."""
    failures = {} if matrix is None else matrix.out_of_bag.failures
    said = sorted(failures, key=lambda message: -failures[message])[:3]
    return f" ({'; '.join(said)})" if said else ""


def bootstrap(matrix: Matrix, evidence: Evidence) -> list[Block]:
    """Select in the bag and score out of it, for every bootstrap."""
    draws = draws_of(matrix, evidence)

    def block(first: int, last: int) -> Block:
        counts, redraws = draws.block(first, last)
        left_out = out_of_bag(counts)
        defined_share = min(_defined_share(matrix.scores, counts), _defined_share(matrix.out_of_bag, left_out))
        replay = matrix.replay
        if replay.is_plain_best and replay.scores[0] is matrix.out_of_bag and len(replay.scores[0].segments) == 1:
            return Block(*matrix.out_of_bag.best_out_of_bag(counts), redraws, defined_share)
        chosen = replay.choose(counts)
        scores = matrix.out_of_bag.selected(left_out, np.maximum(chosen, 0))
        return Block(chosen, np.where(chosen == NONE_CHOSEN, np.nan, scores), redraws, defined_share)

    try:
        with quiet_if_foreign([matrix.out_of_bag.metric, *(score.metric for score in matrix.replay.scores)]):
            return map_blocks(block, evidence.settings.n_bootstraps, n_threads=evidence.settings.n_threads)
    except UndefinedDrawsError as error:
        raise InputError(undrawable(matrix, evidence, str(error))) from error


def _defined_share(score: AggregateScore, counts: NDArray[np.uint8]) -> float:
    """The mean share of the segments in which the metric is defined; of one segment it says nothing."""
    return float(score.defined_segments(counts).mean()) if len(score.segments) > 1 else 1.0


def draws_of(matrix: Matrix, evidence: Evidence) -> Draws:
    """The draws that every method on this matrix shares."""
    return Draws(
        seed=stream(evidence.settings.entropy, "draws"),
        n_bootstraps=evidence.settings.n_bootstraps,
        unit_of_row=matrix.unit_of_row,
        defined_in_bag=matrix.replay.defined,
        defined_out_of_bag=matrix.out_of_bag.defined,
    )


def undrawable(matrix: Matrix, evidence: Evidence, reason: str) -> str:
    """Why no bootstrap can be drawn, naming the rarest class where there are classes."""
    metric, truth = evidence.metric, matrix.truth
    if truth.classes is None:
        return (
            f"{metric.name} needs {metric.needs} both among the drawn rows and among those left out, but {reason}."
        )
    counts = truth.class_counts()
    rare = int(counts.argmin())
    return (
        f"{metric.name} needs {metric.needs} both among the drawn rows and among those left out, but {reason}: "
        f"class {labels_text(truth.classes[rare : rare + 1])} has {counts[rare]} rows; gather more rows of it."
    )
