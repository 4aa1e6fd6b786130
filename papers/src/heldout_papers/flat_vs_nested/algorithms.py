"""Algorithms to choose from: each a model with a grid, and preprocessing that several may share."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from heldout.configurations import NotHashableError, canonical_form, checked_entries, make_configurations
from heldout.errors import InputError
from heldout.execution.fit import seeded_model
from heldout_papers.flat_vs_nested.paths import Floats, Rows, predictions_of
from heldout_papers.flat_vs_nested.scoring import RowScoring
from heldout_papers.spaces.cawley_talbot import KERNELS
from heldout_papers.spaces.wainer_cawley import FULL, TOP3

SCENARIOS: Mapping[str, tuple[str, ...]] = {"top3": TOP3, "full": FULL, "ard": KERNELS}
NAMED = (*FULL, *KERNELS)
"""The algorithms that can be asked for by name."""
Entries: TypeAlias = Sequence[tuple[str, BaseEstimator, Any]]
Source: TypeAlias = Entries | Callable[[Any, Any], Any]


@dataclass(frozen=True, eq=False)
class Algorithm:
    """A model with its configurations."""

    name: str
    model: BaseEstimator  # The last step of a pipeline; the whole estimator where the grid sets more than that
    configurations: tuple[Mapping[str, Any], ...]  # Parameters of ``model``
    preparation: Pipeline | None  # The other steps

    @classmethod
    def of(cls, name: str, estimator: BaseEstimator, grid: Any) -> Algorithm:
        """From an entry of a search."""
        configurations = list(ParameterGrid(grid)) if grid else [{}]
        if isinstance(estimator, Pipeline) and len(estimator.steps) > 1 and hasattr(estimator[-1], "fit"):
            prefix = f"{estimator.steps[-1][0]}__"
            if all(key.startswith(prefix) for configuration in configurations for key in configuration):
                own = ({key[len(prefix) :]: value for key, value in one.items()} for one in configurations)
                return cls(name, estimator[-1], tuple(own), estimator[:-1])
        return cls(name, estimator, tuple(configurations), None)


@dataclass(frozen=True)
class AlgorithmScores:
    """Scores of an algorithm's configurations on rows that training did not see."""

    values: Floats  # (C,): naN for a configuration that failed
    is_defined: bool  # Whether the metric has a value on these rows
    seconds: float  # Of the processor, without preprocessing
    reason: str  # Why the first that failed did


class PreparedRows:
    """Rows to train on and to score, as the preprocessing of any algorithm gives them: fitted once for all.

    ``X``: columns of the table; ``train, test``: places of rows in it; ``entropy, place``: what seeds models and
    preprocessing: algorithms and configurations share it.
    """

    def __init__(
        self,
        X: Any,
        scoring: RowScoring,
        train: NDArray[np.intp],
        test: NDArray[np.intp],
        entropy: int,
        place: tuple[int | str, ...],
    ) -> None:
        self._scoring, self._scored = scoring, test
        self._train = X.iloc[train], scoring.truth.values[train]
        self._test = X.iloc[test]
        self._entropy, self._place = entropy, place
        self._by_steps: dict[tuple[int, ...], Rows] = {}

    def scores(self, algorithm: Algorithm, only: Sequence[int] | None = None) -> AlgorithmScores:
        """The scores of an algorithm's configurations, or of some by their places."""
        wanted = range(len(algorithm.configurations)) if only is None else only
        is_defined = self._scoring.is_defined(self._scored)
        try:
            rows = self._rows(algorithm.preparation)
        except Exception as error:  # the user's own step, on too few rows, say
            reason = f"{type(error).__name__}: {error}"
            return AlgorithmScores(np.full(len(wanted), np.nan), is_defined, 0.0, reason)
        began = time.process_time()
        model = seeded_model(clone(algorithm.model), self._entropy, *self._place)
        configurations = [algorithm.configurations[place] for place in wanted]
        found = predictions_of(model, configurations, rows, self._scoring.read)
        seconds = time.process_time() - began
        values = self._scoring.scores(self._scored, [one.values for one in found])
        reason = next((one.reason for one in found if one.values is None), "")
        return AlgorithmScores(values, is_defined, seconds, reason)

    def _rows(self, preparation: Pipeline | None) -> Rows:
        if preparation is None:
            return Rows(*self._train, self._test)
        key = tuple(id(step) for _, step in preparation.steps)
        if key not in self._by_steps:
            fresh = seeded_model(clone(preparation), self._entropy, *self._place)
            X = fresh.fit_transform(*self._train)
            self._by_steps[key] = Rows(X, self._train[1], fresh.transform(self._test))
        return self._by_steps[key]


@dataclass(frozen=True)
class ChosenAlgorithms:
    """What is compared."""

    names: tuple[str, ...]
    source: Source | None = None  # The user's own, or a function of a sample that gives them
    digest: str = ""  # What the user's own are recognised by


def chosen_algorithms(algorithms: Any, sample: Callable[[], tuple[Any, Any]]) -> ChosenAlgorithms:
    """From the user's argument; ``sample``: columns and classes for a function that makes algorithms from these."""
    if isinstance(algorithms, str):
        if algorithms not in SCENARIOS:
            raise InputError(
                f"algorithms must be {' or '.join(map(repr, SCENARIOS))} (in Python also names, a "
                f"list of (name, estimator, grid) or a function of X and y), got {algorithms!r}.",
                argument="algorithms",
            )
        return ChosenAlgorithms(SCENARIOS[algorithms])
    if callable(algorithms):
        names = tuple(name for name, _, _ in checked_entries(algorithms(*sample())))
        return ChosenAlgorithms(names, algorithms, _digest([names, canonical(algorithms)]))
    listed = list(algorithms)
    if listed and all(isinstance(one, str) for one in listed):
        stranger = next((name for name in listed if name not in NAMED), None)
        if stranger is not None:
            raise InputError(
                f"algorithms must be some of {', '.join(NAMED)}, got {stranger!r}.", argument="algorithms"
            )
        return ChosenAlgorithms(tuple(dict.fromkeys(listed)))
    entries = checked_entries(listed)
    try:
        identities = make_configurations(entries).identities()
    except NotHashableError as error:
        raise _unrecognisable(error) from None
    names = tuple(name for name, _, _ in entries)
    return ChosenAlgorithms(names, entries, _digest([list(names), [identity for identity, _ in identities]]))


def canonical(value: Any) -> Any:
    """What a function or a metric is recognised by."""
    try:
        return canonical_form(value)
    except NotHashableError as error:
        raise _unrecognisable(error) from None


def _unrecognisable(error: NotHashableError) -> InputError:
    return InputError(
        f"an algorithm cannot be recognised again ({error}); give estimators whose parameters are plain values.",
        argument="algorithms",
    )


def _digest(parts: Sequence[Any]) -> str:
    return hashlib.sha256(repr(list(parts)).encode()).hexdigest()[:16]
