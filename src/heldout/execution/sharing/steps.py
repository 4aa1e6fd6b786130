"""The leading steps of a configuration, each with a key: equal keys mean equal fitted steps on one split.

A step is known by its class and parameters, by its place in the estimator (from which a seed comes), and by all
steps before it. So two configurations that begin alike have the same first keys.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline

from heldout.configurations import NotHashableError
from heldout.execution.sharing.rows import changes_its_rows
from heldout.execution.sharing.sameness import form_of

Path = tuple[str, ...]
"""Names of steps, from the outside in."""


@dataclass(frozen=True)
class ChainStep:
    """A transformer inside a configuration.

    Attributes
    ----------
    path : tuple of str
    key : str
    before : str
        The key of the rows that it is fitted on.
    is_branch : bool
        Whether it stands beside others and not behind them.
    changes_rows : bool
        Whether it may change the rows that it is given.
    """

    path: Path
    key: str
    before: str
    is_branch: bool = False
    changes_rows: bool = False


@dataclass(frozen=True)
class StepChain:
    """A configuration taken apart.

    Attributes
    ----------
    steps : tuple of ChainStep
        Those that others may share, in the order in which they are fitted.
    before : str
        Key of the rows that the model is fitted on: of all its steps together.
    model : tuple of str
        Path of the model; empty where the configuration has no steps.
    changes_rows : bool
        Whether the model may change the rows that it is given.
    """

    steps: tuple[ChainStep, ...]
    before: str
    model: Path
    changes_rows: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(step.key for step in self.steps)


def chain_of(estimator: Any, position: int, params: str = "") -> StepChain:
    """The steps and the model of an unfitted estimator.

    Parameters
    ----------
    position : int
        Of the configuration: what has no canonical form is shared with no other.
    params : str
        What else decides a fitted step: which parameters of ``fit`` the configuration receives.
    """
    if not _is_open(estimator):
        return StepChain((), params, (), changes_its_rows(estimator))
    steps, before = _of_pipeline(estimator, (), params, str(position))
    name, model = estimator.steps[-1]
    return StepChain(tuple(steps), before, (name,), changes_its_rows(model))


def _is_open(estimator: Any) -> bool:
    """Whether this is a pipeline that keeps nothing itself, and sends its steps nothing but rows."""
    return (
        type(estimator) is Pipeline
        and estimator.memory is None
        and not getattr(estimator, "transform_input", None)
        and isinstance(estimator.steps, list)
        and len(estimator.steps) > 1
    )


def _of_pipeline(pipeline: Pipeline, path: Path, before: str, alone: str) -> tuple[list[ChainStep], str]:
    """The steps in front of the last one, and the key of the rows behind them."""
    found: list[ChainStep] = []
    for name, step in pipeline.steps[:-1]:
        if step is None or step == "passthrough":
            continue
        found += _of_step(step, (*path, name), before, alone)
        before = found[-1].key
    return found, before


def _of_step(step: Any, path: Path, before: str, alone: str, *, is_branch: bool = False) -> Iterator[ChainStep]:
    """The steps inside a step, and the step itself as the last."""
    if _is_open(step):
        yield from _of_pipeline(step, path, before, alone)[0]
    for name, branch, columns in () if _may_change_rows_of_another(step) else branches(step):
        inside = _key(before, "branch", columns, alone)
        yield from _of_step(branch, (*path, name), inside, alone, is_branch=True)
    yield ChainStep(path, _key(before, path, step, alone), before, is_branch, changes_its_rows(step))


def _may_change_rows_of_another(step: Any) -> bool:
    """Whether a branch may change rows that the next one reads: those must run one after another, as alone."""
    if type(step) is ColumnTransformer:
        return any(isinstance(columns, slice) and changes_its_rows(part) for _, part, columns in branches(step))
    return type(step) is FeatureUnion and changes_its_rows(step)


def branches(step: Any) -> Iterator[tuple[str, Any, Any]]:
    """Name, transformer and columns of each branch of a step that has some."""
    if type(step) is ColumnTransformer:
        yield from ((name, part, columns) for name, part, columns in step.transformers if not isinstance(part, str))
    elif type(step) is FeatureUnion:
        yield from ((name, part, None) for name, part in step.transformer_list if not isinstance(part, str))


def _key(before: str, what: Any, value: Any, alone: str) -> str:
    try:
        text = json.dumps([before, what, form_of(value)], sort_keys=True)
    except (NotHashableError, RecursionError):
        text = json.dumps([before, what, "of one configuration", alone])
    return hashlib.sha256(text.encode()).hexdigest()


def member_at(estimator: Any, path: Path) -> Any:
    """The part of an estimator at a path."""
    for name in path:
        if type(estimator) is Pipeline:
            estimator = dict(estimator.steps)[name]
        else:
            estimator = next(part for each, part, _ in branches(estimator) if each == name)
    return estimator
