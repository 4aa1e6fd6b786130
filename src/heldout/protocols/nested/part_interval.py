"""What the rows of outer folds say: the score of all of them together, and intervals of rows.

The rows of a single outer split took no part in training or selection, so that any interval of independent rows
holds for them. The first of these that fits is taken: the exact binomial one of an accuracy, DeLong's of an area
under the ROC curve, and the bootstrap of the rows (of whole groups, with their weights), which is for every metric.
An area of 1 gives DeLong's formula no spread; the bootstrap has a least width there.

The rows of several outer folds were predicted by models that share training rows. The bootstrap of such rows, with
its spread widened for that, is the one of ``Shrinkage`` for a single candidate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError, reason_of
from heldout.estimates.base import Method
from heldout.estimates.evidence import Evidence
from heldout.estimates.from_matrix import gather
from heldout.estimates.methods.naive_bootstrap import NaiveBootstrap
from heldout.estimates.methods.shrinkage import Shrinkage
from heldout.estimates.methods.two_part.areas import DeLong
from heldout.estimates.methods.two_part.binomial import ClopperPearson
from heldout.estimates.question import AnyAggregate, Question, Settings
from heldout.estimates.types import Interval
from heldout.execution.search import Search
from heldout.flags import Flag
from heldout.metrics.base import Metric, Response
from heldout.predictions import UNPREDICTED_LABEL, HeldOutPredictions
from heldout.protocols.nested.plan import NestedBranch
from heldout.selection import Best

METHODS_OF_TEST_PART: tuple[Method, ...] = (
    ClopperPearson(evaluation_share=1.0),
    DeLong(evaluation_share=1.0),
    NaiveBootstrap(),
)
"""The first that fits is used."""
METHODS_OF_FOLDS: tuple[Method, ...] = (Shrinkage(),)

TestPredictions: TypeAlias = Mapping[Response, NDArray[Any]]
"""What the winner of an outer fold predicts for its rows: (n,) or (n, outputs) for each response that it has."""


@dataclass(frozen=True)
class PartInterval:
    """The interval of rows."""

    interval: Interval
    standard_error: float | None = None
    method: str = ""
    """Its name; empty if there is none."""
    sources: tuple[str, ...] = ()
    flags: dict[Flag, str] = field(default_factory=dict)
    reason: str = ""
    """Why there is no interval; empty if there is one."""


def outer_evidence(
    search: Search,
    metric: Metric,
    outer: Sequence[NestedBranch],
    cells: Sequence[TestPredictions],
    aggregate: AnyAggregate,
    settings: Settings,
) -> Evidence:
    """The evidence of the rows that outer folds predicted, as of one configuration.

    The folds have different winners, so what counts is a response that all of them have. Raises InputError where
    the metric reads none of these, or is not defined on the rows.
    """
    rows, held = _outer_predictions(search, outer, cells)
    if not any(response in held.responses for response in metric.responses):
        raise InputError(f"the winners have no response in common from which {metric.name} is computed.")
    task = search.task
    question = Question(
        metric=metric,
        selected_on={metric.name: metric},
        rule=Best(),
        aggregate=aggregate,
        settings=settings,
        groups=None if task.groups is None else task.groups[rows],
        sample_weight=None if task.sample_weight is None else task.sample_weight[rows],
        winner=0,
    )
    return gather(task.truth.rows(rows), held, question)


def _outer_predictions(
    search: Search, outer: Sequence[NestedBranch], cells: Sequence[TestPredictions]
) -> tuple[NDArray[np.intp], HeldOutPredictions]:
    """The rows of outer folds, in the order of these, and their predictions in the responses of all winners."""
    # Each row once, in the order in which folds test them: several repeats test the same rows.
    rows = np.array(list(dict.fromkeys(np.concatenate([branch.refit.test for branch in outer]).tolist())))
    place = np.zeros(search.task.n_rows, dtype=np.intp)
    place[rows] = np.arange(len(rows))
    repeats = list(dict.fromkeys(branch.repeat for branch in outer))
    folds = np.full((len(rows), len(repeats)), -1, dtype=np.int32)
    responses: dict[Response, NDArray[Any]] = {}
    for branch, held in zip(outer, cells, strict=True):
        at, column = place[branch.refit.test], repeats.index(branch.repeat)
        folds[at, column] = branch.left_out[0]
        # Winners may be of different kinds, such as a classifier without probabilities.
        for response in (response for response in cells[0] if all(response in other for other in cells)):
            if response not in responses:
                nothing = UNPREDICTED_LABEL if held[response].dtype.kind in "iu" else np.nan
                shape = (len(rows), 1, len(repeats), *held[response].shape[1:])
                responses[response] = np.full(shape, nothing, dtype=held[response].dtype)
            responses[response][at, 0, column] = held[response]
    predictions = HeldOutPredictions(
        responses=responses,
        names=("the winners of the outer folds",),
        folds=folds,
        classes=search.task.truth.classes,
        positive=search.task.truth.positive,
        training_rows=search.folds.n_training_rows,
        grouped=search.folds.grouped,
        exchangeable=search.folds.exchangeable,
        times=search.scoring.times,
    )
    return rows, predictions


def interval_of_rows(evidence: Evidence, methods: Sequence[Method]) -> PartInterval:
    """The interval of the first method that fits and gives one; NaN ends and a flag where none does."""
    reason = f"the rows show no spread of {evidence.metric.name}"
    try:
        for method in methods:
            if method.unfit(evidence) is not None:
                continue
            estimate = method.estimate(evidence)
            if estimate.interval is not None and not np.isnan([*estimate.interval]).any():
                flags = dict(estimate.flags)
                # There were several configurations; only the column of their winners is one.
                flags.pop(Flag.SINGLE_CONFIGURATION, None)
                return PartInterval(
                    estimate.interval, estimate.standard_error, method.name, method.sources[:1], flags
                )
    except InputError as error:
        reason = reason_of(error)
    return no_interval(evidence.settings, reason)


def no_interval(settings: Settings, reason: str) -> PartInterval:
    """NaN ends and the flag that says why."""
    nothing = Interval(math.nan, math.nan, settings.level, settings.alternative)
    return PartInterval(nothing, flags=Flag.NO_BOUND.of(reason=reason), reason=reason)
