"""The scores of several models that scikit-learn's ``cross_validate`` scored on the same splits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats
from heldout.data.arrays import shortened
from heldout.data.task import labels_text
from heldout.errors import InputError
from heldout.flags import Flag
from heldout.readers.finished_search import FinishedSearch, named_metric
from heldout.selection import Best

_WHAT_IS_NEEDED = (
    "give the results of cross_validate for each model, as {'name': cross_validate(model, X, y, cv=cv)}"
)
_TEST = re.compile(r"test_(.+)")


def cross_validated_models(results: Mapping[Any, Any], metric: str | None) -> FinishedSearch:
    """Read the results of ``cross_validate`` of several models, of which the best mean score is selected.

    ``metric``: the score that selects, if there are several. Results with ``return_indices=True`` say which rows
    each split tested: models on different splits are refused, and repeats are known.
    """
    if any(_TEST.fullmatch(str(key)) for key in results):
        raise InputError(
            f"these are the results of one model, which was not selected among others; {_WHAT_IS_NEEDED}."
        )
    names = tuple(str(name) for name in results)
    if not names or len(set(names)) < len(names):
        raise InputError(
            f"a mapping of several names is needed, got {shortened(list(results))}; {_WHAT_IS_NEEDED}."
        )
    scores = {name: _scores_of(name, result) for name, result in zip(names, results.values(), strict=True)}
    common = [key for key in scores[names[0]] if all(key in each for each in scores.values())]
    if not common:
        raise InputError(
            "the models have no score in common ("
            + "; ".join(f"{name}: {', '.join(each)}" for name, each in scores.items())
            + "); score all of them by the same scoring."
        )
    deciding = named_metric("the models have", common, metric)
    repeat = _repeats(scores, results.values())
    return FinishedSearch(
        scores={key: np.stack([scores[name][key] for name in names], axis=1) for key in common},
        deciding=deciding,
        rule=Best(),
        greater_is_better=True,  # as all scorers of scikit-learn
        names=names,
        params=[{} for _ in names],
        repeat=repeat,
        winner=None,
        flags=_flags(dict(zip(names, results.values(), strict=True))),
    )


def _flags(results: Mapping[str, Mapping[str, Any]]) -> dict[Flag, str]:
    """The flag of several models of which some do not say which rows they were tested on."""
    unknown = [name for name, result in results.items() if result.get("indices") is None]
    if len(results) < 2 or not unknown:
        return {}
    which = "the results" if len(unknown) == len(results) else f"those of {labels_text(unknown)}"
    return {Flag.SPLITS_UNKNOWN: Flag.SPLITS_UNKNOWN.filled(unknown=which)}


def _scores_of(name: str, result: Any) -> dict[str, Floats]:
    """The scores of one model (splits,), by metric."""
    if not isinstance(result, Mapping):
        raise InputError(f"the results of {name} are {shortened(result)}; {_WHAT_IS_NEEDED}.")
    found: dict[str, Floats] = {}
    for key, column in result.items():
        match = _TEST.fullmatch(str(key))
        if not match:
            continue
        try:
            values = np.asarray(column)
            values = values.astype(np.float64) if values.dtype.kind in "biufO" else np.empty((0, 0))
        except (TypeError, ValueError):
            values = np.empty((0, 0))
        if values.ndim != 1:
            raise InputError(f"{key} of {name} must hold a number for each split, got {shortened(column)}.")
        found[match[1]] = values
    if not found:
        raise InputError(f"the results of {name} hold no test_* scores; {_WHAT_IS_NEEDED}.")
    return found


def _repeats(scores: Mapping[str, Mapping[str, Floats]], results: Iterable[Mapping[str, Any]]) -> NDArray[np.intp]:
    """The repeat of each split; all in one where the results do not say which rows were tested.

    Refuses models that were scored on different splits.
    """
    (first_name, first_scores), *_ = scores.items()
    n_splits = len(next(iter(first_scores.values())))
    first: list[NDArray[Any]] | None = None
    for (name, of_model), result in zip(scores.items(), results, strict=True):
        n_other = next((len(each) for each in of_model.values() if len(each) != n_splits), n_splits)
        if n_other != n_splits:
            raise InputError(f"{name} has {n_other} splits and {first_name} has {n_splits}; {_SAME_SPLITS}.")
        tested_rows = _tested_rows(name, result)
        if first is not None and tested_rows is not None and not _are_equal(first, tested_rows):
            raise InputError(f"{name} was tested on other rows than {first_name}; {_SAME_SPLITS}.")
        first = tested_rows if first is None else first
    if first is None or len(first) != n_splits:
        return np.zeros(n_splits, dtype=np.intp)
    repeat, tested, number = [], set[int](), 0
    for rows in first:
        if not tested.isdisjoint(rows.tolist()):
            tested, number = set(), number + 1
        tested.update(rows.tolist())
        repeat.append(number)
    return np.array(repeat, dtype=np.intp)


_SAME_SPLITS = "give every model the same cv, with an integer random_state where it shuffles"


def _are_equal(first: Sequence[NDArray[Any]], other: Sequence[NDArray[Any]]) -> bool:
    return len(first) == len(other) and all(map(np.array_equal, first, other))


def _tested_rows(name: str, result: Mapping[str, Any]) -> list[NDArray[Any]] | None:
    """The rows that each split tested; None where the results do not have them."""
    indices = result.get("indices")
    if indices is None:
        return None
    if not isinstance(indices, Mapping) or "test" not in indices:
        raise InputError(f"the indices of {name} must be those of return_indices=True, got {shortened(indices)}.")
    return [np.asarray(rows) for rows in indices["test"]]
