"""Bootstraps of the held-out matrix: the draws that all methods share, and the selection replayed on them."""

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from heldout._streams import stream
from heldout._types import Counts, Floats, Indices
from heldout.data.checks import checked_flag
from heldout.data.task import labels_text
from heldout.errors import InputError
from heldout.estimates.base import PREDICTIONS, Method
from heldout.estimates.candidates import undrawable
from heldout.estimates.evidence import Candidates, Evidence, RowTable
from heldout.estimates.intervals import flag_of_few_bootstraps
from heldout.flags import Flag
from heldout.metrics.aggregate import AggregateScore
from heldout.metrics.base import quiet_if_foreign
from heldout.selection.base import NONE_CHOSEN, Choice, joined
from heldout.selection.bootstrap_draws import (
    BLOCK,
    Defined,
    Draws,
    UndefinedDrawsError,
    always,
    map_blocks,
    out_of_bag,
)
from heldout.selection.replay import FoldReplay

MANY_REDRAWS = 0.05
Result = TypeVar("Result")


class Resamples(NamedTuple):
    """What some consecutive bootstraps gave, of rows or of a repeat's folds."""

    chosen: Choice
    scores: Floats
    redraws: int
    defined_share: float = 1.0
    left_out: Counts | None = None
    """Which rows each left out, where that was to be kept."""


def together_of(blocks: list[Resamples]) -> Resamples:
    """Blocks of consecutive bootstraps as one."""
    chosen, scores, redraws, defined, left_out = zip(*blocks, strict=True)
    kept = None if left_out[0] is None else np.concatenate(left_out)
    return Resamples(joined(list(chosen)), np.concatenate(scores), sum(redraws), float(np.mean(defined)), kept)


def undrawable_rows(evidence: RowTable) -> str | None:
    """Why a bootstrap cannot draw some rows and leave some out, as half a sentence; None where it can."""
    weighed = evidence.rows_of_weight
    units = np.unique(evidence.unit_of_row[weighed], return_inverse=True)[1]
    return undrawable(evidence.truth.rows(weighed), units, [evidence.metric, *evidence.read], evidence.grouped)


MOST_KEPT = 1 << 26
"""Bytes of rows left out that are kept for the control; with more they are drawn again."""


Ties: TypeAlias = Literal["first", "average"]
"""Which of the candidates with the best score in the bag are scored out of it: the first, or all of them."""


def bootstrap(
    evidence: Candidates, *, stratify: bool = False, keep: bool = False, ties: Ties = "first"
) -> Resamples:
    """Select in the bag and score out of it, for every bootstrap; with ``keep`` for a control."""
    draws = draws_of(evidence, stratify=stratify)
    # One byte for each row of each bootstrap: beyond the limit it is cheaper to draw the rows again than to hold
    # them.
    keep = keep and evidence.settings.n_bootstraps * evidence.truth.n_rows <= MOST_KEPT

    def block(first: int, last: int) -> Resamples:
        counts, redraws = draws.block(first, last)
        left_out = out_of_bag(counts)
        defined_share = min(share_defined(evidence.scores, counts), share_defined(evidence.out_of_bag, left_out))
        replay, kept = evidence.replay, left_out if keep else None
        score = evidence.out_of_bag
        # The plain best of the metric that is reported needs no table of scores: a kernel selects and scores in one
        # pass over the rows.
        in_one_pass = replay.is_plain_best and replay.scores[0] is score and score.has_fused_path
        if in_one_pass and ties == "first":
            columns, scores = score.best_out_of_bag(counts)
            return Resamples(Choice(columns), scores, redraws, defined_share, kept)
        choice = replay.choice(counts) if ties == "first" else replay.all_tied(counts)
        return Resamples(choice, evidence.score(score, choice, left_out), redraws, defined_share, kept)

    return together_of(map_draws(block, evidence))


def map_draws(block: Callable[[int, int], Result], evidence: Candidates) -> list[Result]:
    """``block(first, last)`` for each block of bootstraps of the rows."""
    try:
        # A function of the user's may warn once for each of thousands of bootstraps.
        with quiet_if_foreign([evidence.metric, *evidence.read]):
            return map_blocks(block, evidence.settings.n_bootstraps, n_threads=evidence.settings.n_threads)
    except UndefinedDrawsError as error:
        raise InputError(_need_of_draws(evidence, str(error))) from error


def share_defined(score: AggregateScore, counts: Counts) -> float:
    """The mean share of the segments in which the metric is defined; of one segment it says nothing."""
    return float(score.defined_segments(counts).mean()) if len(score.segments) > 1 else 1.0


def draws_of(evidence: Candidates, *, stratify: bool = False) -> Draws:
    """The draws that every method on this matrix shares: from all rows, within classes, or in blocks of rows."""
    return Draws(
        seed=stream(evidence.settings.entropy, "draws"),
        n_bootstraps=evidence.settings.n_bootstraps,
        unit_of_row=evidence.unit_of_row,
        defined_in_bag=evidence.replay.defined,
        defined_out_of_bag=evidence.out_of_bag.defined,
        stratum_of_unit=_class_of_unit(evidence) if stratify else None,
        row_blocks=evidence.row_blocks,
    )


class RowBootstrap(Method):
    """What methods have that draw rows of the matrix, within classes with ``stratify``."""

    reads = PREDICTIONS
    draws = draws_rows = True
    stratify: bool

    def __post_init__(self) -> None:
        checked_flag("stratify", self.stratify)

    def unfit(self, evidence: RowTable) -> str | None:
        """It needs rows that can be drawn and left out."""
        return (unstratifiable(evidence) if self.stratify else None) or undrawable_rows(evidence)


def unstratifiable(evidence: RowTable) -> str | None:
    """Why rows cannot be drawn within classes, as half a sentence; None where they can."""
    if evidence.row_blocks is not None:
        return (
            "`stratify=True` draws rows within classes, and blocks of consecutive rows hold rows of any class; "
            "leave it out, or use `block_length=1`"
        )
    truth = evidence.truth
    if truth.classes is None:
        return f"`stratify=True` draws within classes, and a {truth.kind} has none; leave it out"
    first = _class_of_unit(evidence)
    mixed = np.flatnonzero(first[evidence.unit_of_row] != truth.values)
    if mixed.size:
        rows = evidence.unit_of_row == evidence.unit_of_row[mixed[0]]
        held = labels_text(truth.classes[np.unique(truth.values[rows])])
        return (
            f"`stratify=True` draws whole groups within classes, but a group contains rows of the classes {held}; "
            "leave it out, or use groups of one class each"
        )
    return None


def _class_of_unit(evidence: RowTable) -> Indices:
    """The class of each unit's first row."""
    # All rows of a unit are of one class here: ``unstratifiable`` refuses units of several.
    _, first = np.unique(evidence.unit_of_row, return_index=True)
    return evidence.truth.values[first].astype(np.intp)


def failures_of(evidence: Candidates) -> str:
    """What a custom metric said when it gave no number, most often said first; empty for declared metrics."""
    failures = evidence.out_of_bag.failures
    said = sorted(failures, key=lambda message: -failures[message])[:3]
    return f" ({'; '.join(said)})" if said else ""


def flags_of_draws(
    evidence: Evidence, *, total: int, undefined: int, why: str = "", redraws: int = 0, needs: str | None = None
) -> dict[Flag, str]:
    """What to know of bootstraps, of whichever method: too few of them, undefined ones, many redrawn.

    Parameters
    ----------
    total, undefined : int
        Bootstrapped scores, and how many of them are NaN.
    why : str
        In parentheses, after a blank.
    needs : str, optional
        What the redrawn lacked; what the metric needs by default.
    """
    flags: dict[Flag, str] = {}
    if undefined:
        flags |= Flag.UNDEFINED_BOOTSTRAPS.of(undefined=undefined, total=total, why=why)
    flags |= flag_of_few_bootstraps(evidence.settings.n_bootstraps, evidence.settings)
    if redraws > MANY_REDRAWS * total:
        flags |= Flag.REDRAWN.of(redraws=redraws, needs=needs or evidence.metric.needs)
    return flags


def _need_of_draws(evidence: Candidates, reason: str) -> str:
    """Why no bootstrap can be drawn, naming the rarest class where there are classes."""
    metric, truth = evidence.metric, evidence.truth
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


FEW_FOLDS = 10
MOST_VALUES = 2**23
"""Fold scores that a block of bootstraps may copy for a rule that reads them: 64 MiB."""


def splits_of_repeats(evidence: Evidence) -> list[Indices]:
    """The numbers of the splits of each repeat."""
    assert evidence.repeat_of_split is not None, "unfit says so"
    return [np.flatnonzero(evidence.repeat_of_split == repeat) for repeat in np.unique(evidence.repeat_of_split)]


def fold_bootstraps(evidence: Evidence, *, replays: bool) -> list[Resamples]:
    """What bootstraps of the folds gave, repeat by repeat.

    With ``replays`` the rule chooses on the drawn folds, and the others score; otherwise the drawn ones score the
    winner.
    """
    replay = evidence.fold_replay if replays else None
    return [
        _of_repeat(evidence, repeat, splits, None if replay is None else replay.of(splits))
        for repeat, splits in enumerate(splits_of_repeats(evidence))
    ]


def _of_repeat(evidence: Evidence, repeat: int, splits: Indices, replay: FoldReplay | None) -> Resamples:
    assert evidence.fold_scores is not None, "unfit says so"
    settings, winner = evidence.settings, evidence.winner_column
    scores, of_winner = evidence.fold_scores[splits], evidence.fold_scores[splits, winner]
    draws = Draws(
        # The place of the repeat and not its label, so that renamed repeats draw the same folds.
        seed=stream(settings.entropy, "fold draws", repeat),
        n_bootstraps=settings.n_bootstraps,
        unit_of_row=np.arange(len(splits)),
        defined_in_bag=_scored_in(of_winner[:, None]) if replay is None else replay.defined,
        defined_out_of_bag=always if replay is None else _scored_in(scores),
    )

    def block(first: int, last: int) -> Resamples:
        counts, redraws = draws.block(first, last)
        if replay is None:
            means = _means_of_drawn(np.broadcast_to(of_winner, counts.shape), counts)
            return Resamples(Choice(np.full(len(counts), winner)), means, redraws)
        chosen = replay.choose(counts)
        means = _means_of_drawn(scores[:, np.maximum(chosen, 0)].T, out_of_bag(counts))
        return Resamples(Choice(chosen), np.where(chosen == NONE_CHOSEN, np.nan, means), redraws)

    size = BLOCK
    # A rule that reads fold scores gets a copy of them for each bootstrap of a block; smaller blocks bound the
    # memory.
    if replay is not None and replay.rule.reads_fold_scores:
        size = max(1, min(size, MOST_VALUES // max(replay.scores.size, 1)))
    try:
        blocks = map_blocks(block, settings.n_bootstraps, n_threads=settings.n_threads, block=size)
    except UndefinedDrawsError as error:
        raise InputError(
            "a bootstrap of the folds needs a fold with a score both among the drawn folds and among the "
            "others, but "
            f"{error}; use more folds, or larger ones in which the metric is defined."
        ) from error
    return together_of(blocks)


def _scored_in(scores: Floats) -> Defined:
    """Whether one of the folds of positive count has a score: from scores (K, columns)."""
    has_score = ~np.isnan(scores).all(axis=1)
    return lambda counts: np.asarray(((counts > 0) & has_score).any(axis=1))


def _means_of_drawn(scores: Floats, counts: Counts) -> Floats:
    """(L,): means of scores (L, K) over the folds that have one, each as often as it counts; NaN where none has."""
    # Folds without a score take no part, as in the mean over all folds.
    counted = np.where(np.isnan(scores), 0, counts)
    with np.errstate(invalid="ignore", over="ignore"):
        total = np.where(counted > 0, scores * counted, 0.0).sum(axis=1)
        return np.asarray(total / counted.sum(axis=1))


def flags_of_folds(evidence: Evidence) -> dict[Flag, str]:
    """What to know of folds that are drawn."""
    folds = [len(splits) for splits in splits_of_repeats(evidence)]
    if min(folds) >= FEW_FOLDS:
        return {}
    where = " in a repeat" if len(folds) > 1 else ""
    return Flag.FEW_FOLDS.of(folds=min(folds), each=where)


def needs_two_folds(evidence: Evidence) -> str | None:
    """Half a sentence where a repeat has less than two folds with a score; None where all have."""
    assert evidence.fold_scores is not None
    has_score = np.asarray(~np.isnan(evidence.fold_scores).all(axis=1))
    fewest = min(int(has_score[splits].sum()) for splits in splits_of_repeats(evidence))
    if fewest >= 2:
        return None
    return (
        f"each repeat needs two folds with a score, one to draw and one to leave out, but one repeat has {fewest} "
        "(splits that overlap, as ShuffleSplit's do, are a repeat each)"
    )
