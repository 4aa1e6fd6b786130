"""The control: how a score of the few rows that a bootstrap leaves out differs from that of all, without a choice.

A bootstrap leaves out about .368 N rows, a handful of each fold. A root, a ratio or an area of so few rows differs
in expectation from that of all of them, and rows that are scored together differ from the mean over folds. None of
this is optimism. The control measures it on configurations that were not chosen for the rows concerned, and it is
subtracted.

The control's configurations are those that any bootstrap chose, and the winner: they compete, so their scores are
alike. Each counts the same. The winner alone would not do where there are several: it was chosen for its luck on
all rows, so that few rows change its score otherwise than that of a configuration without luck
(papers/pages/control.md).
"""

from dataclasses import dataclass, replace

import numpy as np

from heldout._types import Floats, Indices
from heldout.estimates.bootstrap import Resamples, draws_of, map_draws
from heldout.estimates.evidence import Candidates
from heldout.flags import Flag
from heldout.metrics.aggregate import PairSegment
from heldout.metrics.base import Needs
from heldout.selection.base import Choice, joined, together
from heldout.selection.bootstrap_draws import always, out_of_bag


@dataclass(frozen=True)
class Control:
    """What is subtracted from every bootstrapped score."""

    # mean score out of the bag less the score on all rows, in the metric's own direction; NaN where no bootstrap
    # gives a finite difference
    size: float
    n_choices: int  # of how many configurations, or ensembles


def control_of(evidence: Candidates, drawn: Resamples, *, stratify: bool = False) -> Control:
    """The control of bootstraps: one more score a bootstrap.

    The bootstraps are divided evenly among the choices, and each scores its own on the rows that it left out. Where
    ties are averaged each scores all choices, so that their order does not matter.
    """
    chosen, scores = drawn.chosen, drawn.scores
    # What any bootstrap chose, and what was chosen on all rows, once each.
    both = [chosen.distinct(), evidence.chosen]
    competing = both[0] if (both[1].weights is None) != (chosen.weights is None) else joined(both).distinct()
    n_choices = len(competing)
    whole = _on_all_rows(evidence, competing)
    if n_choices == 1:  # scored already
        return control_from(scores, np.repeat(whole, len(scores)), scores, 1)
    if chosen.tied is not None:
        whole, competing = whole.mean(keepdims=True), together(competing.columns, chosen.tied.shape[1])
    places = _places_of(len(scores), len(competing))
    draws = draws_of(evidence, stratify=stratify)
    # Without a redraw the draws need no check again, which saves the metric's own conditions for each bootstrap.
    if not drawn.redraws:
        draws = replace(draws, defined_in_bag=always, defined_out_of_bag=always)

    def block(first: int, last: int) -> Floats:
        kept = drawn.left_out
        left_out = out_of_bag(draws.block(first, last)[0]) if kept is None else kept[first:last]
        return evidence.score(evidence.out_of_bag, competing.of(places[first:last]), left_out)

    left_out = np.concatenate(map_draws(block, evidence))
    return control_from(left_out, whole[places], scores, n_choices)


def _places_of(n_bootstraps: int, n_choices: int) -> Indices:
    """(B,): which choice each bootstrap scores for the control; each is scored as often, to within one.

    Examples
    --------
    >>> _places_of(5, 2).tolist()
    [0, 0, 0, 1, 1]
    """
    return np.arange(n_bootstraps, dtype=np.intp) * n_choices // n_bootstraps


def control_from(left_out: Floats, whole: Floats, scores: Floats, n_choices: int) -> Control:
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
    # The same bootstraps as those of the estimate: a control over others would subtract what was not added.
    counted = np.isfinite(difference) & ~np.isnan(scores)
    size = float(difference[counted].mean()) if counted.any() else float("nan")
    return Control(size, n_choices)


def is_unbiased(evidence: Candidates, *, stratify: bool = False) -> bool:
    """Whether a fixed column's expected score out of the bag is its score on all rows, so that a control is 0.

    That takes rows of equal weight, left out as they are scored on all rows, and one of two kinds of metric: a mean
    of one loss per row, where rows (or groups of one size, or blocks that leave out each row as often) are drawn
    freely and every draw is accepted; or a mean within classes, where single rows are drawn and scored together (or
    in pairs within folds), for given the rows of each class that are left out (of each fold), all such parts are as
    likely.
    """
    metric = evidence.out_of_bag.metric
    # Weights make the rows that are left out unequal: a mean over them is then a ratio, whose expectation is
    # another.
    if evidence.sample_weight is not None or evidence.out_of_bag is not evidence.scores:
        return False
    blocks = evidence.row_blocks
    # Moving blocks draw the first and last rows less often, so the mean over rows left out is no mean of all rows.
    if blocks is not None and blocks.length > 1 and (blocks.kind == "moving" or not metric.row_wise):
        return False
    if metric.row_wise:
        read = [metric, *evidence.read]
        sizes = np.bincount(evidence.unit_of_row)
        # Groups of unequal size make the mean over rows left out a ratio too.
        alike = bool((sizes == sizes.max(initial=0)).all())
        return alike and not stratify and all(reading.needs is Needs.ROW for reading in read)
    segments = evidence.scores.segments
    one_each = len(segments) == evidence.in_play.shape[1] or isinstance(segments[0], PairSegment)
    together = one_each and bool(evidence.in_play.all())
    return together and not evidence.grouped and metric.mean_within_classes


def flags_of_control(evidence: Candidates, control: Control | None, value: float) -> dict[Flag, str]:
    """What to know of a score with or without a control."""
    metric, flags = evidence.metric, dict[Flag, str]()
    subtracted = control is not None and np.isfinite(control.size)
    if control is not None and not subtracted:
        flags |= Flag.NO_CONTROL.of(metric=metric.name)
    least, greatest = metric.range
    if subtracted and not np.isnan(value) and not least <= value <= greatest:
        flags |= Flag.CONTROL_BEYOND_RANGE.of(metric=metric.name, low=f"{least:g}", high=f"{greatest:g}")
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


def _on_all_rows(evidence: Candidates, choice: Choice) -> Floats:
    """(L,): the score of each choice on all rows, in the search's aggregate."""
    if choice.weights is None:
        return np.asarray(evidence.scores.observed()[choice.columns])
    # ``observed`` holds single columns only; an ensemble is scored as one weighting of each row once.
    once = np.broadcast_to(np.uint8(1), (1, evidence.truth.n_rows))
    return np.concatenate([evidence.score(evidence.scores, choice.of([lane]), once) for lane in range(len(choice))])


SCALES_DIFFER = "The corrected score is on the scale of all rows, the uncorrected one is the mean over folds."


SCALES_MET = (
    "What that changes was measured on configurations that were not chosen for those rows, and subtracted: "
    "corrected and uncorrected score are on the scale of the mean over folds."
)


CONTROL = (
    "Without any choice, {metric} differs by {size} between all rows and the few that a bootstrap leaves out (mean "
    "over {choices} that the bootstraps chose); that is no optimism, and was subtracted."
)
