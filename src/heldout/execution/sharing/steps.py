"""The leading steps of a configuration, each with a key: equal keys mean equal fitted steps on one split.

A step is known by its class and parameters, by its place in the estimator (from which a seed comes), and by all
steps before it. So two configurations that begin alike have the same first keys.
"""

import functools
import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline

from heldout.configurations import NotHashableError, canonical_form


class UnknownContainerError(TypeError):
    """Rows in a container that cannot be protected."""


def protected(rows: Any) -> Any:
    """Rows to keep: an array becomes read-only.

    Raises
    ------
    UnknownContainerError
        When a reader could change them.
    """
    if isinstance(rows, np.ndarray):
        view = rows.view()
        view.flags.writeable = False
        return view
    if sp.issparse(rows) or _package_of_table(rows) or isinstance(rows, list):
        return rows
    raise UnknownContainerError(f"rows in a {type(rows).__name__}")


def for_reader(rows: Any) -> Any:
    """Protected rows for one reader: arrays as they are, a copy of everything that can be changed in place."""
    return rows if isinstance(rows, np.ndarray) else own_copy(rows)


def own_copy(rows: Any) -> Any:
    """Rows that their reader may change, in the same order in memory."""
    if isinstance(rows, np.ndarray):
        return np.array(rows, order="K", copy=True)
    if _package_of_table(rows) == "polars":
        return rows.clone()
    return rows.copy() if hasattr(rows, "copy") else rows


def size_of(rows: Any) -> int:
    """Bytes of rows."""
    if sp.issparse(rows):
        parts = (getattr(rows, name, None) for name in ("data", "indices", "indptr", "row", "col"))
        return sum(part.nbytes for part in parts if isinstance(part, np.ndarray))
    package = _package_of_table(rows)
    if package == "polars":
        return int(rows.estimated_size())
    return int(np.sum(rows.memory_usage(index=False))) if package else int(getattr(rows, "nbytes", 0))


KEEPS_ROWS = ("sklearn", "heldout", "heldout_papers", "xgboost", "lightgbm", "catboost")
"""Packages whose estimators change no rows, unless a parameter allows it."""
_FUNCTIONS_KEEP_ROWS = (*KEEPS_ROWS, "numpy", "scipy", "builtins")


def changes_its_rows(estimator: Any) -> bool:
    """Whether an estimator may change its rows: a parameter such as ``copy=False`` allows it, or it is unknown.

    A function of a user within it is unknown too.
    """
    if not hasattr(estimator, "get_params") or isinstance(estimator, type):
        return False
    params = estimator.get_params(deep=True)
    members = (estimator, *(value for value in params.values() if hasattr(value, "get_params")))
    functions = (value for value in params.values() if callable(value) and not hasattr(value, "get_params"))
    return (
        any(_package_of(type(member)) not in KEEPS_ROWS for member in members)
        or any(_package_of_function(function) not in _FUNCTIONS_KEEP_ROWS for function in functions)
        or any(name.rpartition("__")[2].startswith("copy") and value is False for name, value in params.items())
    )


def _package_of(thing: Any) -> str:
    return str(getattr(thing, "__module__", None)).partition(".")[0]


def _package_of_function(function: Any) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, np.ufunc):
        return "numpy"
    return _package_of(function if hasattr(function, "__name__") else type(function))


def apart_from(output: Any, rows: Any) -> Any:
    """An output that stays as it is when its reader changes the rows that it was made from.

    Raises
    ------
    UnknownContainerError
        When it cannot be copied.
    """
    # A view or a table may show the rows of its input, which a reader would change with it.
    alone = isinstance(rows, np.ndarray) or (isinstance(output, np.ndarray) and output.base is None)
    return protected(output) if alone else protected(own_copy(protected(output)))


def _package_of_table(rows: Any) -> str:
    """The package of a data frame; empty for anything else."""
    package = type(rows).__module__.partition(".")[0]
    return package if type(rows).__name__ in ("DataFrame", "Series") and package in ("pandas", "polars") else ""


def form_of(value: Any) -> Any:
    """A JSON value: equal forms mean equal parameters in this process.

    Classes and functions go by identity. Raises NotHashableError for what cannot be compared.
    """
    return [canonical_form(value), _details(value)]


def _details(value: Any) -> Any:
    """What the canonical form leaves out."""
    if value is None or type(value) in (bool, int, float, str):
        return None
    if isinstance(value, list | tuple):
        return [_name(value), [_details(item) for item in value]]
    if isinstance(value, Mapping):
        return [_name(value), [[str(key), _details(key), _details(item)] for key, item in value.items()]]
    if isinstance(value, np.ndarray):
        return [_name(value), repr(value.dtype), list(value.strides)]
    if isinstance(value, np.generic | set | frozenset):
        return _name(value)
    if isinstance(value, type | FunctionType | BuiltinFunctionType | np.ufunc):
        return id(value)  # copies of a configuration keep these objects
    if isinstance(value, MethodType):
        return [id(value.__func__), _details(value.__self__)]
    if type(value) is functools.partial:
        return [_details(part) for part in (value.func, value.args, value.keywords, vars(value))]
    if hasattr(value, "get_params"):
        return [id(type(value)), beside_parameters(value), _details(value.get_params(deep=False))]
    if inspect.isroutine(value) or isinstance(value, functools.partial) or _has_slots(value):
        raise NotHashableError(f"a parameter of type {type(value).__name__} cannot be compared: {value!r}")
    return [id(type(value)), _details(getattr(value, "__dict__", None))]


def beside_parameters(estimator: Any) -> Any:
    """What an estimator holds beside its parameters: the container of its output, and requests of metadata."""
    container, requests = (
        getattr(estimator, f"_{name}", None) for name in ("sklearn_output_config", "metadata_request")
    )
    return [container, str(requests)]


def _has_slots(value: Any) -> bool:
    return any(vars(kind).get("__slots__") for kind in type(value).__mro__)


def _name(value: Any) -> str:
    return type(value).__name__


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
    # Steps that do nothing do not make two configurations differ.
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
    # What cannot be compared is its configuration's own: nothing is shared from there on.
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
