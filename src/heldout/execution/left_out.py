"""Leave-one-out without fits: a formula predicts each row by the model of all the others.

All splits come at once, as one block, before the loop begins. What no formula serves is left to the loop.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from heldout.errors import NoExit
from heldout.execution.blocks import CellBlock
from heldout.execution.cells import CellKey, Saving
from heldout.execution.executors.base import Work
from heldout.execution.fold_scores import fold_scores, has_responses, is_computable_by_row
from heldout.execution.plan import Race
from heldout.execution.responses import coded_answers
from heldout.execution.sharing.groups import LeftOutGroup
from heldout.execution.threads import on_one_thread


def left_out_blocks(work: Work, race: Race, done: Collection[CellKey]) -> Iterator[CellBlock]:
    """A block for each group of configurations that a formula serves on the splits of a race.

    ``done``: cells that need no work; a configuration with one of them is left to the loop.
    """
    if work.sharing is None or not work.sharing.left_out or not work.folds.part(race.splits).leaves_one_out:
        return
    context, rows = work.context, np.concatenate([split.test for split in race.splits])
    weight = context.routed.score.get("sample_weight")
    weight = None if weight is None else np.asarray(weight, dtype=np.float64)[rows]
    if context.return_train_score or not set(context.routed.score) <= {"sample_weight"}:
        return
    if not is_computable_by_row(context.scoring.metrics.values(), context.truth.rows(rows), weight):
        return
    begun = {cell.configuration for cell in done}
    for group in work.sharing.left_out:
        with suppress(Exception), NoExit(), on_one_thread():
            yield from _blocks(work, race, group, begun, weight)


def _blocks(
    work: Work, race: Race, group: LeftOutGroup, begun: Collection[int], weight: NDArray[np.float64] | None
) -> Iterator[CellBlock]:
    """The block of a group, without the configurations that must be fitted; none if these are all."""
    context, started = work.context, time.perf_counter()
    rows = np.concatenate([split.test for split in race.splits])
    fit_params = context.routed.to_fit(work.configurations[group.members[0]])
    estimator = work.configurations[group.members[0]].fresh()
    answers = coded_answers(
        context,
        estimator,
        context.y,
        lambda method: group.form.predict_left_out(
            estimator, group.values, context.X, context.y, method, **fit_params
        ),
    )
    metrics, entrants = context.scoring.metrics, race.entrants(len(work.configurations))
    served = {
        j: answer
        for j, answer in zip(group.members, answers, strict=True)
        if j in entrants and j not in begun and has_responses(metrics.values(), answer)
    }
    if not served:
        return
    fitted = time.perf_counter()
    predictions = {
        response: np.stack([answer[response][rows] for answer in served.values()], axis=1)
        for response in next(iter(served.values()))
    }
    tests, splits = context.truth.rows(rows), np.arange(len(rows), dtype=np.int32)
    scores = fold_scores(metrics, tests, predictions, splits, None, context.scoring.times)
    shape = len(served), len(rows)
    yield CellBlock(
        configurations=tuple(served),
        places=tuple(split.place for split in race.splits),
        sizes=(1,) * len(rows),
        predictions=predictions,
        test_scores=scores,
        fit_seconds=np.full(shape, (fitted - started) / np.prod(shape)),
        score_seconds=np.full(shape, (time.perf_counter() - fitted) / np.prod(shape)),
        shared=({f"{group.form.type.__name__} by formula": Saving(None)},) * len(served),
    )
