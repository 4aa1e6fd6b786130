"""Rows on which a user's own parameters of ``fit`` make models stop, and whether they also score the models.

Early stopping on the scored rows chooses the number of rounds by these rows, for each model anew. No replay of the
selection sees this choice, so its optimism stays in the score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, chi2
from sklearn.pipeline import Pipeline

from heldout.configurations import Configuration
from heldout.data.equal_rows import row_numbers
from heldout.data.task import Task
from heldout.errors import InputError
from heldout.execution.fit import Routing
from heldout.execution.inner_split import InnerSplit, can_stop, model_within
from heldout.flags import Flag
from heldout.folds.splits import Folds
from heldout.spaces.early_stopping import STOPPING_MODELS, Pair, stopper_of

_STOPPING_ROWS = ("eval_set", "eval_X", "X_val")
"""Parameters of ``fit`` that hold such rows."""
_BY_CHANCE = 1e-4
"""Rows that agree by chance more often than this are not taken for the same rows."""


def check_stopping(split: InnerSplit, configurations: Sequence[Configuration], routed: Routing) -> None:
    """Refuse an inner split for models that cannot stop early, and beside rows that are passed for the same end.

    The configurations of an adaptive search are not known yet.
    """
    if configurations and not any(can_stop(configuration.fresh()) for configuration in configurations):
        kinds = dict.fromkeys(type(model_within(each.fresh())).__name__ for each in configurations)
        raise InputError(
            f"`early_stopping={split.words}` is for {STOPPING_MODELS}, got {', '.join(kinds)}; leave it out.",
            argument="early_stopping",
        )
    for fit_params in (routed.fit, *routed.fit_of_model.values()):
        passed = next((name for name in fit_params if _holds_rows(name)), None)
        if passed is not None:
            raise InputError(
                f"`early_stopping={split.words}` and `{passed}=` both give rows to stop on; leave one of them out.",
                argument="early_stopping",
            )


def flags_of_stopping(
    task: Task, folds: Folds, configurations: Sequence[Configuration], routed: Routing
) -> dict[Flag, str]:
    """The flag of models that stop on rows which also score them, where that is certain."""
    tested = np.asarray((folds.labels >= 0).any(axis=1))
    for X, y in _pairs(configurations, routed, task.n_rows):
        found = n_scored(task, tested, X, y)
        if found:
            flag = Flag.EARLY_STOPPING_ON_SCORED_ROWS
            return {flag: flag.filled(scored=found, total=len(np.asarray(y)))}
    return {}


def _pairs(configurations: Sequence[Configuration], routed: Routing, n_rows: int) -> Iterator[Pair]:
    """The rows on which some configuration stops, each once."""
    seen = set()
    for configuration in configurations:
        fit_params = routed.to_fit(configuration)
        if not any(map(_holds_rows, fit_params)):
            continue
        model = configuration.fresh()
        stopper = stopper_of(model_within(model))
        front = _front_of(model)
        own = {name.removeprefix(front): value for name, value in fit_params.items()}
        for X, y in [] if stopper is None else stopper.pairs(model_within(model), own, n_rows):
            if id(X) not in seen:
                seen.add(id(X))
                yield X, y


def _holds_rows(name: str) -> bool:
    return name.rpartition("__")[2] in _STOPPING_ROWS


def _front_of(model: Any) -> str:
    """What stands before the names of the model's parameters in a pipeline."""
    front = ""
    while isinstance(model, Pipeline):
        name, model = model.steps[-1]
        front += f"{name}__"
    return front


def n_scored(task: Task, tested: NDArray[np.bool_], X: Any, y: Any) -> int:
    """How many of these rows are certainly tested rows of the task; 0 where that is not certain."""
    target, own = np.asarray(task.target), np.asarray(y)
    if X is task.X:
        return int(tested.sum())
    if len(own) == task.n_rows and np.array_equal(own, target) and _agreement(target) ** task.n_rows < _BY_CHANCE:
        return int(tested.sum())  # the same rows, perhaps behind the steps of a pipeline
    try:
        numbers = row_numbers(_stacked(task.X, X), np.concatenate([target, own]))
    except (TypeError, ValueError, InputError):  # rows that cannot be compared
        return 0
    ours, theirs = numbers[: task.n_rows], numbers[task.n_rows :]
    found = int(np.isin(theirs, ours[tested]).sum())
    by_chance = binom.sf(found - 1, len(own), _most_twins(ours))
    return found if by_chance < _BY_CHANCE else 0


def _most_twins(numbers: NDArray[np.intp]) -> float:
    """The largest plausible share of new rows that are like one of these, from pairs of these that are alike."""
    times = np.unique(numbers, return_counts=True)[1]
    n_pairs = times[times > 1].sum() / 2
    most_pairs = chi2.ppf(1 - _BY_CHANCE, 2 * n_pairs + 2) / 2  # the upper limit of a Poisson mean
    return float(min(2 * most_pairs / len(numbers), 1.0))


def _agreement(target: NDArray[Any]) -> float:
    """How often two rows have the same target."""
    shares = np.unique(target, return_counts=True)[1] / len(target)
    return float((shares**2).sum())


def _stacked(X: Any, other: Any) -> NDArray[Any]:
    tables = [each.toarray() if hasattr(each, "toarray") else np.asarray(each) for each in (X, other)]
    return np.concatenate(tables)
