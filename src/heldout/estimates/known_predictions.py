"""What stands for true values and predictions: a table of another tool that holds both, or a fitted search."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from heldout.errors import InputError
from heldout.estimates.responses import ResponseName
from heldout.metrics.base import Metric
from heldout.predictions import HeldOutPredictions
from heldout.selection import Rule


@runtime_checkable
class KnownPredictions(Protocol):
    """True values with held-out predictions of them, such as a table of another tool."""

    @property
    def predictions(self) -> Any:
        """``HeldOutPredictions``, or what becomes such when the metric is known."""

    def arguments(
        self,
        metric: Metric,
        rule: Rule,
        *,
        classes: Any,
        pos_label: Any,
        response: ResponseName,
        threshold: float | None,
    ) -> dict[str, Any]:
        """The arguments of ``read_inputs`` that stand for them: y_true, predictions, groups, sample_weight
        and, where averages are cut, threshold."""


@runtime_checkable
class FittedSearch(Protocol):
    """A fitted search of heldout."""

    estimate_: Any
    estimates_: Any
    predictions_: Any


def parts_of_search(search: FittedSearch, predictions: Any) -> tuple[Any, HeldOutPredictions]:
    """The target of a fitted search, and its held-out predictions.

    Raises InputError when there are predictions beside it, or it kept none.
    """
    if predictions is not None:
        raise InputError(
            "predictions must be left out beside a search, which has its own; pass the true values as an array to "
            "give others.",
            argument="predictions",
        )
    held: HeldOutPredictions | None = search.predictions_
    if held is None or held.question is None or held.question.truth is None:
        raise InputError("the search kept no held-out predictions; search with `keep_predictions=True`.")
    return held.question.truth.labels(), held
