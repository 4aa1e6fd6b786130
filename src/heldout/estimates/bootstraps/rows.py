"""Bootstraps of the held-out matrix: the draws that all methods share, and the selection replayed on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from heldout._random import stream
from heldout._text import argument
from heldout.data.task import labels_text
from heldout.errors import InputError
from heldout.estimates.base import Evidence, Matrix
from heldout.estimates.candidates import check_drawable
from heldout.flags import Flag
from heldout.kernels.blocks import map_blocks
from heldout.kernels.draws import Draws, UndefinedDrawsError, out_of_bag
from heldout.metrics.aggregate import AggregateScore
from heldout.metrics.base import quiet_if_foreign
from heldout.selection.base import Choice

MANY_REDRAWS = 0.05
Result = TypeVar("Result")


class RowBlock(NamedTuple):
    """What some consecutive bootstraps gave."""

    chosen: Choice
    scores: NDArray[np.float64]
    redraws: int
    defined_share: float


def check_matrix_drawable(evidence: Evidence, matrix: Matrix) -> None:
    """Refuse a matrix of whose rows (and of each class's) a bootstrap cannot draw some and leave some out.

    Raises
    ------
    InputError
        Naming the class and its count.
    """
    metrics = [evidence.metric, *(score.metric for score in matrix.replay.scores)]
    weighed = matrix.scores.rows_of_weight
    units = np.unique(matrix.unit_of_row[weighed], return_inverse=True)[1]
    check_drawable(matrix.truth.rows(weighed), units, metrics, matrix.grouped)


def undrawable_rows(evidence: Evidence) -> str | None:
    """Why a bootstrap cannot draw some rows and leave some out, as half a sentence; None where it can."""
    assert evidence.matrix is not None, "rows are drawn from a matrix"
    try:
        check_matrix_drawable(evidence, evidence.matrix)
    except InputError as error:
        return str(error).removesuffix(".")
    return None


def bootstrap(matrix: Matrix, evidence: Evidence, *, stratify: bool = False) -> list[RowBlock]:
    """Select in the bag and score out of it, for every bootstrap."""
    draws = draws_of(matrix, evidence, stratify=stratify)

    def block(first: int, last: int) -> RowBlock:
        counts, redraws = draws.block(first, last)
        left_out = out_of_bag(counts)
        defined_share = min(share_defined(matrix.scores, counts), share_defined(matrix.out_of_bag, left_out))
        replay = matrix.replay
        if replay.is_plain_best and replay.scores[0] is matrix.out_of_bag and matrix.out_of_bag.has_fused_path:
            columns, scores = matrix.out_of_bag.best_out_of_bag(counts)
            return RowBlock(Choice(columns), scores, redraws, defined_share)
        choice = replay.choice(counts)
        return RowBlock(choice, matrix.score(matrix.out_of_bag, choice, left_out), redraws, defined_share)

    return map_draws(block, matrix, evidence)


def map_draws(block: Callable[[int, int], Result], matrix: Matrix, evidence: Evidence) -> list[Result]:
    """``block(first, last)`` for each block of bootstraps of the rows.

    Raises
    ------
    InputError
        When a bootstrap finds no draw on which the metric is defined.
    """
    try:
        with quiet_if_foreign([matrix.out_of_bag.metric, *(score.metric for score in matrix.replay.scores)]):
            return map_blocks(block, evidence.settings.n_bootstraps, n_threads=evidence.settings.n_threads)
    except UndefinedDrawsError as error:
        raise InputError(undrawable(matrix, evidence, str(error))) from error


def share_defined(score: AggregateScore, counts: NDArray[np.uint8]) -> float:
    """The mean share of the segments in which the metric is defined; of one segment it says nothing."""
    return float(score.defined_segments(counts).mean()) if len(score.segments) > 1 else 1.0


def draws_of(matrix: Matrix, evidence: Evidence, *, stratify: bool = False) -> Draws:
    """The draws that every method on this matrix shares: from all rows, or within classes."""
    return Draws(
        seed=stream(evidence.settings.entropy, "draws"),
        n_bootstraps=evidence.settings.n_bootstraps,
        unit_of_row=matrix.unit_of_row,
        defined_in_bag=matrix.replay.defined,
        defined_out_of_bag=matrix.out_of_bag.defined,
        stratum_of_unit=_class_of_unit(matrix) if stratify else None,
    )


def check_stratify(stratify: object) -> None:
    """Refuse what only reads as yes or no.

    Raises
    ------
    InputError
    """
    if not isinstance(stratify, bool | np.bool_):
        raise InputError(f"stratify must be True or False, got {stratify!r}.", argument="stratify")


def unstratifiable(evidence: Evidence) -> str | None:
    """Why rows cannot be drawn within classes, as half a sentence; None where they can."""
    matrix = evidence.matrix
    if matrix is None:
        return f"{argument('stratify', True)} draws rows within classes, and here are fold scores only"
    truth = matrix.truth
    if truth.classes is None:
        return f"{argument('stratify', True)} draws within classes, and a {truth.kind} has none; leave it out"
    first = _class_of_unit(matrix)
    mixed = np.flatnonzero(first[matrix.unit_of_row] != truth.values)
    if mixed.size:
        rows = matrix.unit_of_row == matrix.unit_of_row[mixed[0]]
        held = labels_text(truth.classes[np.unique(truth.values[rows])])
        return (
            f"{argument('stratify', True)} draws whole groups within classes, and a group holds rows of the "
            f"classes {held}; leave it out, or use groups of one class each"
        )
    return None


def _class_of_unit(matrix: Matrix) -> NDArray[np.intp]:
    """The class of each unit's first row."""
    _, first = np.unique(matrix.unit_of_row, return_index=True)
    return matrix.truth.values[first].astype(np.intp)


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
        flags[Flag.UNDEFINED_BOOTSTRAPS] = Flag.UNDEFINED_BOOTSTRAPS.filled(
            undefined=undefined, total=total, why=why
        )
    settings = evidence.settings
    tails = 2 if settings.alternative == "two-sided" else 1
    wanted = math.ceil(tails / (1 - settings.confidence_level) - 1e-9)
    if settings.n_bootstraps < wanted:
        flags[Flag.FEW_BOOTSTRAPS] = Flag.FEW_BOOTSTRAPS.filled(total=settings.n_bootstraps, wanted=wanted)
    if redraws > MANY_REDRAWS * total:
        flags[Flag.REDRAWN] = Flag.REDRAWN.filled(redraws=redraws, needs=needs or evidence.metric.needs)
    return flags


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
