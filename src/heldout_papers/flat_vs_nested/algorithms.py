"""Algorithms to choose from: each a model with a grid, and preprocessing that several may share."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from heldout._text import in_python
from heldout.configurations import NotHashableError, checked_entries, make_configurations
from heldout.errors import InputError
from heldout.execution.fit import seeded_model
from heldout_papers.flat_vs_nested.paths import Floats, Rows, predictions_of
from heldout_papers.spaces.wainer_cawley import FULL, TOP3

SCENARIOS: Mapping[str, tuple[str, ...]] = {"top3": TOP3, "full": FULL}
Entries: TypeAlias = Sequence[tuple[str, BaseEstimator, Any]]


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
    """Accuracies of an algorithm's configurations on rows that training did not see."""

    values: Floats  # (C,): naN for a configuration that failed
    seconds: float  # Of the processor, without preprocessing
    reason: str  # Why the first that failed did


class PreparedRows:
    """Rows to train on and to score, as the preprocessing of any algorithm gives them: fitted once for all.

    ``train, test``: rows and their classes; ``entropy, place``: what seeds models and preprocessing: algorithms
    and configurations share it.
    """

    def __init__(
        self,
        train: tuple[Any, NDArray[Any]],
        test: tuple[Any, NDArray[Any]],
        entropy: int,
        place: tuple[int | str, ...],
    ) -> None:
        self._train, self._test = train, test
        self._entropy, self._place = entropy, place
        self._by_steps: dict[tuple[int, ...], Rows] = {}

    def scores(self, algorithm: Algorithm, only: Sequence[int] | None = None) -> AlgorithmScores:
        """The accuracies of an algorithm's configurations, or of some by their places."""
        wanted = range(len(algorithm.configurations)) if only is None else only
        try:
            rows = self._rows(algorithm.preparation)
        except Exception as error:  # the user's own step, on too few rows, say
            return AlgorithmScores(np.full(len(wanted), np.nan), 0.0, f"{type(error).__name__}: {error}")
        began = time.process_time()
        model = seeded_model(clone(algorithm.model), self._entropy, *self._place)
        found = predictions_of(model, [algorithm.configurations[place] for place in wanted], rows)
        seconds = time.process_time() - began
        truth = self._test[1]
        values = [np.nan if one.labels is None else float((one.labels == truth).mean()) for one in found]
        return AlgorithmScores(
            np.array(values), seconds, next((one.reason for one in found if one.labels is None), "")
        )

    def _rows(self, preparation: Pipeline | None) -> Rows:
        if preparation is None:
            return Rows(self._train[0], self._train[1], self._test[0])
        key = tuple(id(step) for _, step in preparation.steps)
        if key not in self._by_steps:
            fresh = seeded_model(clone(preparation), self._entropy, *self._place)
            X = fresh.fit_transform(*self._train)
            self._by_steps[key] = Rows(X, self._train[1], fresh.transform(self._test[0]))
        return self._by_steps[key]


def checked_algorithms(algorithms: Any) -> tuple[tuple[str, ...], Entries | None, str]:
    """Names, the user's own (name, estimator, grid) where given, and what these are recognised by."""
    if isinstance(algorithms, str):
        if algorithms not in SCENARIOS:
            raise InputError(
                f"algorithms must be {' or '.join(map(repr, SCENARIOS))}"
                f"{in_python(', names or a list of (name, estimator, grid)')}, got {algorithms!r}.",
                argument="algorithms",
            )
        return SCENARIOS[algorithms], None, ""
    listed = list(algorithms)
    if listed and all(isinstance(one, str) for one in listed):
        stranger = next((name for name in listed if name not in FULL), None)
        if stranger is not None:
            raise InputError(
                f"algorithms must be some of {', '.join(FULL)}, got {stranger!r}.", argument="algorithms"
            )
        return tuple(dict.fromkeys(listed)), None, ""
    entries = checked_entries(listed)
    try:
        identities = make_configurations(entries).identities()
    except NotHashableError as error:
        raise InputError(
            f"an algorithm cannot be recognised again ({error}); give estimators whose parameters are plain values."
        ) from None
    names = tuple(name for name, _, _ in entries)
    digest = hashlib.sha256(repr([names, [identity for identity, _ in identities]]).encode()).hexdigest()[:16]
    return names, entries, digest
