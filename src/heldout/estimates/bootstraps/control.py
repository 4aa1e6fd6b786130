"""The control of a corrected score: what few rows do to a metric, measured where nothing was selected.

A bootstrap leaves out about .368 N rows, a handful of each fold. A root, a ratio or an area of so few rows differs
in expectation from that of all of them, and rows that are scored together differ from the mean over folds. None of
this is optimism, so it is measured on configurations that were not chosen for the rows concerned, and subtracted.

Configurations are those that any bootstrap chose, and the winner: they compete, so their scores are alike. Each
counts the same. The winner alone would not do where there are several: it was chosen for its luck on all rows, so
that few rows change its score otherwise than that of a configuration without luck (docs/control.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heldout.estimates.base import Evidence, Matrix
from heldout.estimates.bootstraps.rows import RowBlock, draws_of, map_draws
from heldout.estimates.words import SCALES_DIFFER, SCALES_MET
from heldout.flags import Flag
from heldout.kernels.draws import always, out_of_bag
from heldout.metrics.base import Needs
from heldout.metrics.within import PairSegment
from heldout.selection.base import Choice, joined


@dataclass(frozen=True)
class Control:
    """What is subtracted from every bootstrapped score.

    Attributes
    ----------
    size : float
        Mean score out of the bag less the score on all rows, in the metric's own direction; NaN where no bootstrap
        gives a finite difference.
    n_choices : int
        Of how many configurations, or ensembles.
    """

    size: float
    n_choices: int


def control_of(
    matrix: Matrix,
    evidence: Evidence,
    blocks: list[RowBlock],
    scores: NDArray[np.float64],
    *,
    stratify: bool = False,
) -> Control:
    """The control of bootstraps that gave ``scores`` (B,): one more score a bootstrap.

    The bootstraps are divided evenly among the choices, and each scores its own on the rows that it left out.
    """
    competing = _competing(evidence, joined([block.chosen for block in blocks]))
    places = places_of(len(scores), len(competing))
    whole = _on_all_rows(matrix, competing)
    if len(competing) == 1:  # scored already
        return control_from(scores, whole[places], scores, 1)
    draws = draws_of(matrix, evidence, stratify=stratify)
    as_drawn = replace(draws, defined_in_bag=always, defined_out_of_bag=always)  # what passed is not checked again
    ends = np.cumsum([len(block.scores) for block in blocks])
    redrawn = {int(end) for end, block in zip(ends, blocks, strict=True) if block.redraws}

    def block(first: int, last: int) -> NDArray[np.float64]:
        counts, _ = (draws if last in redrawn else as_drawn).block(first, last)
        return matrix.score(matrix.out_of_bag, competing.of(places[first:last]), out_of_bag(counts))

    left_out = np.concatenate(map_draws(block, matrix, evidence))
    return control_from(left_out, whole[places], scores, len(competing))


def places_of(n_bootstraps: int, n_choices: int) -> NDArray[np.intp]:
    """(B,): which choice each bootstrap scores for the control; each is scored as often, to within one.

    Examples
    --------
    >>> places_of(5, 2).tolist()
    [0, 0, 0, 1, 1]
    """
    return np.arange(n_bootstraps, dtype=np.intp) * n_choices // n_bootstraps


def control_from(
    left_out: NDArray[np.float64], whole: NDArray[np.float64], scores: NDArray[np.float64], n_choices: int
) -> Control:
    """The mean of ``left_out - whole`` over the bootstraps where that is finite and ``scores`` is not NaN.

    Parameters
    ----------
    left_out, whole, scores : ndarray of shape (B,)
        Of bootstrap b: a competing choice on the rows left out and on all rows, and the bootstrapped score.

    Examples
    --------
    >>> round(control_from(np.array([0.7, 0.9, np.nan]), np.full(3, 0.75), np.full(3, 0.6), 1).size, 3)
    0.05
    """
    with np.errstate(invalid="ignore", over="ignore"):
        difference = left_out - whole
    counted = np.isfinite(difference) & ~np.isnan(scores)
    size = float(difference[counted].mean()) if counted.any() else float("nan")
    return Control(size, n_choices)


def is_unbiased(matrix: Matrix, *, stratify: bool = False) -> bool:
    """Whether a fixed column's expected score out of the bag is its score on all rows, so that a control is 0.

    That takes rows of equal weight, left out as they are scored on all rows, and one of two kinds of metric: a mean
    of one loss a row, where rows (or groups of one size) are drawn freely and every draw is accepted; or a mean
    within classes, where single rows are drawn and scored together (or in pairs within folds), for given the rows
    of each class that are left out (of each fold), all such parts are as likely.
    """
    metric = matrix.out_of_bag.metric
    if matrix.sample_weight is not None or matrix.out_of_bag is not matrix.scores:
        return False
    if metric.row_wise:
        asked = [metric, *(score.metric for score in matrix.replay.scores)]
        sizes = np.bincount(matrix.unit_of_row)
        alike = bool((sizes == sizes.max(initial=0)).all())
        return alike and not stratify and all(each.needs is Needs.ROW for each in asked)
    segments = matrix.scores.segments
    one_each = len(segments) == matrix.in_play.shape[1] or isinstance(segments[0], PairSegment)
    together = one_each and bool(matrix.in_play.all())
    return together and not matrix.grouped and metric.mean_within_classes


def flags_of_control(evidence: Evidence, control: Control | None, value: float) -> dict[Flag, str]:
    """What to know of a score with or without a control."""
    metric, flags = evidence.metric, dict[Flag, str]()
    subtracted = control is not None and np.isfinite(control.size)
    if control is not None and not subtracted:
        flags[Flag.NO_CONTROL] = Flag.NO_CONTROL.filled(metric=metric.name)
    least, greatest = metric.range
    if subtracted and not np.isnan(value) and not least <= value <= greatest:
        flags[Flag.CONTROL_BEYOND_RANGE] = Flag.CONTROL_BEYOND_RANGE.filled(
            metric=metric.name, low=f"{least:g}", high=f"{greatest:g}"
        )
    pooled = evidence.flags.get(Flag.OUT_OF_BAG_POOLED)
    if pooled is not None:
        scales = SCALES_MET if control is not None and subtracted else SCALES_DIFFER
        flags[Flag.OUT_OF_BAG_POOLED] = f"{pooled} {scales}"
    return flags


def provenance_of_control(control: Control | None) -> dict[str, float | int | None]:
    """What was subtracted, and of how many configurations it is the mean; None where nothing was."""
    if control is None or not np.isfinite(control.size):
        return {"control_size": None, "control_choices": None}
    return {"control_size": control.size, "control_choices": control.n_choices}


def _competing(evidence: Evidence, chosen: Choice) -> Choice:
    """What any bootstrap chose, and what was chosen on all rows, once each."""
    observed = evidence.chosen
    if observed is None or (observed.weights is None) != (chosen.weights is None):
        return chosen.distinct()
    return joined([chosen, observed]).distinct()


def _on_all_rows(matrix: Matrix, choice: Choice) -> NDArray[np.float64]:
    """(L,): the score of each choice on all rows, in the search's aggregate."""
    if choice.weights is None:
        return np.asarray(matrix.scores.observed()[choice.columns])
    once = np.broadcast_to(np.uint8(1), (1, matrix.truth.n_rows))
    return np.concatenate([matrix.score(matrix.scores, choice.of([lane]), once) for lane in range(len(choice))])
