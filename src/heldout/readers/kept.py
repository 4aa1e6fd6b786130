"""Studies whose objectives kept held-out predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from heldout.result import Evaluation

_EVALUATIONS: WeakKeyDictionary[Any, Callable[..., Evaluation]] = WeakKeyDictionary()
"""By study: it lives as long as its predictions are wanted."""


def keep_evaluation(study: Any, evaluation: Callable[..., Evaluation]) -> None:
    """Remember how a study's configurations are evaluated; the callable takes settings of the estimation."""
    _EVALUATIONS[study] = evaluation


def kept_evaluation(study: Any) -> Callable[..., Evaluation] | None:
    """The evaluation of a study by its held-out predictions; None if it kept none."""
    try:
        return _EVALUATIONS.get(study)
    except TypeError:  # no weak reference to it
        return None
