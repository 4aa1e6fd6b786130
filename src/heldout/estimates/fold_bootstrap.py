"""Bootstraps of fold scores: the draws that all methods on folds share, each repeat with a stream of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout._streams import stream
from heldout.errors import InputError
from heldout.estimates.evidence import Evidence, defined_mean
from heldout.flags import Flag
from heldout.selection.draws import BLOCK, Defined, Draws, UndefinedDrawsError, map_blocks
from heldout.selection.replay import FoldReplay

FEW_FOLDS = 10
MOST_VALUES = 2**23
"""Fold scores that a block of bootstraps may copy for a rule that reads them: 64 MiB."""


class FoldBlock(NamedTuple):
    """What some consecutive bootstraps of one repeat's folds gave."""

    chosen: NDArray[np.intp]
    scores: NDArray[np.float64]
    redraws: int


def splits_of_repeats(evidence: Evidence) -> list[NDArray[np.intp]]:
    """The numbers of the splits of each repeat."""
    assert evidence.repeat_of_split is not None, "unfit says so"
    return [np.flatnonzero(evidence.repeat_of_split == repeat) for repeat in np.unique(evidence.repeat_of_split)]


def draws_of_folds(
    evidence: Evidence, splits: NDArray[np.intp], *, defined_in_bag: Defined, defined_out_of_bag: Defined
) -> Draws:
    """The draws that every method on these folds shares; each repeat has a stream of its own."""
    assert evidence.repeat_of_split is not None, "unfit says so"
    repeat = int(np.unique(evidence.repeat_of_split).searchsorted(evidence.repeat_of_split[splits[0]]))
    return Draws(
        seed=stream(evidence.settings.entropy, "fold draws", repeat),
        n_bootstraps=evidence.settings.n_bootstraps,
        unit_of_row=np.arange(len(splits)),
        defined_in_bag=defined_in_bag,
        defined_out_of_bag=defined_out_of_bag,
    )


def map_folds(
    block: Callable[[int, int], FoldBlock], evidence: Evidence, replay: FoldReplay | None = None
) -> list[FoldBlock]:
    """The blocks of one repeat's bootstraps."""
    settings = evidence.settings
    size = BLOCK
    if replay is not None and replay.rule.reads_fold_scores:
        size = max(1, min(size, MOST_VALUES // max(replay.scores.size, 1)))
    try:
        return map_blocks(block, settings.n_bootstraps, n_threads=settings.n_threads, block=size)
    except UndefinedDrawsError as error:
        raise InputError(
            "a bootstrap of the folds needs a fold with a score both among the drawn folds and among the "
            "others, but "
            f"{error}; use more folds, or larger ones in which the metric is defined."
        ) from error


def scored_in(scores: NDArray[np.float64]) -> Defined:
    """Whether one of the folds of positive count has a score: from scores (K, columns)."""
    has_score = ~np.isnan(scores).all(axis=1)
    return lambda counts: np.asarray(((counts > 0) & has_score).any(axis=1))


def means_of_drawn(scores: NDArray[np.float64], counts: NDArray[np.uint8]) -> NDArray[np.float64]:
    """(L,): means of scores (L, K) over the folds that have one, each as often as it counts; NaN where none has."""
    counted = np.where(np.isnan(scores), 0, counts)
    with np.errstate(invalid="ignore", over="ignore"):
        total = np.where(counted > 0, scores * counted, 0.0).sum(axis=1)
        return np.asarray(total / counted.sum(axis=1))


def winners_mean(evidence: Evidence) -> float:
    """The winner's mean fold score."""
    assert evidence.fold_scores is not None, "unfit says so"
    return defined_mean(evidence.fold_scores[:, evidence.winner_column])


def flags_of_folds(evidence: Evidence) -> dict[Flag, str]:
    """What to know of folds that are drawn."""
    folds = [len(splits) for splits in splits_of_repeats(evidence)]
    if min(folds) >= FEW_FOLDS:
        return {}
    each = " in a repeat" if len(folds) > 1 else ""
    return {Flag.FEW_FOLDS: Flag.FEW_FOLDS.filled(folds=min(folds), each=each)}


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
