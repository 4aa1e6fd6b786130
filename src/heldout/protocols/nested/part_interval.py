"""The interval of a single outer split: of the rows of its test part, which one model predicted.

These rows took no part in training or selection, so that any interval of independent rows holds for them. The first
of these that fits is taken: the exact binomial one of an accuracy, DeLong's of an area under the ROC curve, and the
bootstrap of the rows (of whole groups, with their weights), which is for every metric. An area of 1 gives DeLong's
formula no spread; the bootstrap has a least width there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from heldout.errors import InputError
from heldout.estimates.base import Method
from heldout.estimates.from_matrix import gather
from heldout.estimates.methods.naive_bootstrap import NaiveBootstrap
from heldout.estimates.methods.two_part.areas import DeLong
from heldout.estimates.methods.two_part.binomial import ClopperPearson
from heldout.estimates.question import Question, Settings
from heldout.estimates.types import Estimate, Interval
from heldout.execution.search import Search
from heldout.flags import Flag
from heldout.metrics.base import Metric
from heldout.predictions import HeldOutPredictions
from heldout.protocols.branches import BranchScore
from heldout.protocols.nested.plan import NestedBranch
from heldout.protocols.nested.settings import NestedSettings
from heldout.selection import Best

METHODS_OF_TEST_PART: tuple[Method, ...] = (
    ClopperPearson(evaluation_share=1.0),
    DeLong(evaluation_share=1.0),
    NaiveBootstrap(),
)
"""The first that fits is used."""


@dataclass(frozen=True)
class PartInterval:
    """The interval of a test part."""

    interval: Interval
    standard_error: float | None = None
    method: str = ""
    """Its name; empty if there is none."""
    sources: tuple[str, ...] = ()
    flags: dict[Flag, str] = field(default_factory=dict)
    reason: str = ""
    """Why there is no interval; empty if there is one."""


def interval_of_part(
    search: Search, settings: NestedSettings, metric: Metric, branch: NestedBranch, tested: BranchScore
) -> PartInterval:
    """The interval of the rows that a branch tested; NaN ends and a flag where no method gives one."""
    drawn = Settings(
        confidence_level=settings.confidence_level, alternative=settings.alternative, entropy=search.entropy
    )
    reason = f"the rows of the test part show no spread of {metric.name}"
    try:
        for method, found in _estimates(search, drawn, metric, branch, tested):
            if found.interval is not None and not np.isnan([*found.interval]).any():
                flags = dict(found.flags)
                flags.pop(Flag.SINGLE_CONFIGURATION, None)
                return PartInterval(found.interval, found.standard_error, method.name, method.sources[:1], flags)
    except InputError as error:
        reason = str(error).rstrip(".")
    nothing = Interval(math.nan, math.nan, drawn.level, settings.alternative)
    return PartInterval(nothing, flags={Flag.NO_BOUND: Flag.NO_BOUND.filled(reason=reason)}, reason=reason)


def _estimates(
    search: Search, drawn: Settings, metric: Metric, branch: NestedBranch, tested: BranchScore
) -> Iterator[tuple[Method, Estimate]]:
    """The estimates of the methods that fit, each of one configuration on the rows that the branch tested."""
    assert tested.cell is not None, "called for fitted cells only"
    task, rows = search.task, branch.refit.test
    held = HeldOutPredictions(
        responses={response: array[:, None, None] for response, array in tested.cell.predictions.items()},
        names=(search.configurations.names[tested.configuration or 0],),
        folds=np.zeros((len(rows), 1), dtype=np.int32),
        classes=task.truth.classes,
        positive=task.truth.positive,
        training_rows=branch.refit.n_training_rows,
        grouped=search.folds.grouped,
        times=search.scoring.times,
    )
    question = Question(
        metric=metric,
        selected_on={metric.name: metric},
        rule=Best(),
        aggregate="pooled",  # the same as the others: the rows are those of one fold
        settings=drawn,
        groups=None if task.groups is None else task.groups[rows],
        sample_weight=None if task.sample_weight is None else task.sample_weight[rows],
    )
    evidence = gather(task.truth.rows(rows), held, question)
    for method in METHODS_OF_TEST_PART:
        if method.unfit(evidence) is None:
            yield method, method.estimate(evidence)
