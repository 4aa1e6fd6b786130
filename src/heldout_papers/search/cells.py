"""Fitting all configurations on a split at once, so that the preparation which they share is done once.

A space of pipelines tries many models after few preparations. Steps that begin several pipelines alike are fitted
once on a split, and what they give is handed on; a transformer fitted twice on the same rows would give it again.
Everything else is as in a search: random states are filled from the same place, failures are no candidates.
"""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from heldout._random import numpy_seed
from heldout.configurations import Configuration, NotHashableError, canonical_form
from heldout.execution.fit import CellContext, error_line
from heldout.execution.responses import coded_responses

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Step:
    """A step of a pipeline, or a whole estimator."""

    key: str  # Says what it and the steps before it are
    template: BaseEstimator
    # Parameters that a seed is to fill, and their names in the whole pipeline, from which the seed comes
    unseeded: dict[str, str]

    def fresh(self, entropy: int, place: Sequence[int | str]) -> Any:
        """An unfitted one, seeded as a search would for that place."""
        model = clone(self.template)
        if self.unseeded:
            seeds = {own: numpy_seed(entropy, "cells", name, *place) for own, name in self.unseeded.items()}
            model.set_params(**seeds)
        return model


@dataclass(frozen=True, eq=False)
class Chain:
    """A configuration as transformers, which others may share, and a model."""

    transformers: tuple[Step, ...]
    model: Step


def chain_of(configuration: Configuration) -> Chain:
    """A configuration taken apart; what is no plain pipeline stays whole."""
    whole = configuration.fresh()
    if type(whole) is not Pipeline or whole.memory is not None or getattr(whole, "transform_input", None):
        return Chain((), _step(whole, "", f"{configuration.position}"))
    steps: list[Step] = []
    key = ""
    for name, member in whole.steps:
        if member is None or member == "passthrough":
            continue
        key = _key(key, member, configuration.position)
        steps.append(_step(member, f"{name}__", key))
    return Chain(tuple(steps[:-1]), steps[-1])


def _step(member: BaseEstimator, prefix: str, key: str) -> Step:
    unseeded = {
        name: prefix + name
        for name, value in sorted(member.get_params(deep=True).items())
        if value is None and name.rpartition("__")[2] == "random_state"
    }
    return Step(key, member, unseeded)


def _key(before: str, member: Any, position: int) -> str:
    try:
        text = json.dumps(canonical_form(member), sort_keys=True)
    except NotHashableError:
        text = f"of configuration {position} alone"
    return hashlib.sha256(f"{before}\x1f{text}".encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class SplitScores:
    """The scores of all configurations on one split."""

    scores: NDArray[np.float64]  # (n_test, C): what the metric reads of the test rows; NaN where it failed
    # (C,): CPU seconds that the fit took, or would have taken by itself: with the steps that others fitted for it
    seconds: NDArray[np.float64]
    failures: dict[int, str]


def fit_cells(
    context: CellContext,
    chains: Sequence[Chain],
    train: Rows,
    test: Rows,
    place: Sequence[int | str],
    test_X: Any = None,
) -> SplitScores:
    """Fit every configuration on some rows, and have it score others.

    ``context``: its entropy seeds the estimators; ``chains``: of C configurations; ``place``: of the split in
    the search, which the seeds come from; ``test_X``: in which ``test`` counts; that of the context by default.
    """
    X = context.X if test_X is None else test_X
    preparation = _Preparation(
        context, place, _safe_indexing(context.X, train), np.asarray(context.y)[train], _safe_indexing(X, test)
    )
    scores = np.full((len(test), len(chains)), np.nan)
    seconds = np.zeros(len(chains))
    failures: dict[int, str] = {}
    # Of a hundred thousand fits on a few rows some will not converge; that is no news.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, chain in enumerate(chains):
            prepared = preparation.of(chain.transformers)
            seconds[number] = prepared.seconds
            if prepared.failure:
                failures[number] = prepared.failure
                continue
            model = chain.model.fresh(context.entropy or 0, place)
            started = time.thread_time()
            try:
                model.fit(prepared.train, preparation.y)
                seconds[number] += time.thread_time() - started
                (found,) = coded_responses(context, model, prepared.test).values()
                scores[:, number] = found
            except Exception as error:
                failures[number] = error_line(error)
    return SplitScores(scores, seconds, failures)


@dataclass(frozen=True, eq=False)
class _Prepared:
    train: Any
    test: Any
    seconds: float
    failure: str = ""


@dataclass(frozen=True, eq=False)
class _Preparation:
    """Training and test rows after some steps, each fitted once."""

    context: CellContext
    place: Sequence[int | str]
    train: Any
    y: Any
    test: Any
    _done: dict[str, _Prepared] = field(default_factory=dict)

    def of(self, steps: tuple[Step, ...]) -> _Prepared:
        if not steps:
            return _Prepared(self.train, self.test, 0.0)
        last = steps[-1]
        if last.key not in self._done:
            before = self.of(steps[:-1])
            self._done[last.key] = before if before.failure else self._through(last, before)
        return self._done[last.key]

    def _through(self, step: Step, before: _Prepared) -> _Prepared:
        transformer = step.fresh(self.context.entropy or 0, self.place)
        started = time.thread_time()
        try:
            train = transformer.fit_transform(before.train, self.y)
            seconds = before.seconds + time.thread_time() - started
            return _Prepared(train, transformer.transform(before.test), seconds)
        except Exception as error:
            return _Prepared(None, None, before.seconds + time.thread_time() - started, error_line(error))
