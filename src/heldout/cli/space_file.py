"""``--space FILE.py:NAME``: an own model or space, or a function that makes one from the data."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from heldout.cli.options import about_option
from heldout.cli.python_file import failure_text, module_of_file
from heldout.configurations import checked_entries
from heldout.data.arrays import shortened
from heldout.errors import InputError

FORMS = (
    "an estimator, a list of (name, estimator, grid or distributions), a search object, a function of an Optuna "
    "trial, or a function of X and y that returns one of these"
)
_VALUES = {"param_grid": "grid", "space": "optuna", "param_distributions": "random"}
"""Kinds of search by the attribute that holds what they try."""


@dataclass(frozen=True, eq=False)
class Space:
    """What a search tries."""

    estimator: Any
    """An estimator, or a list of (name, estimator, grid or distributions); None where ``values`` makes it."""
    values: Any = None
    """The grid or the distributions of a single estimator, or a function of an Optuna trial."""
    search: str | None = None
    """The kind of search, where the space names one."""
    size: Any = None
    """How many configurations to draw or to propose, where the space says so."""

    @property
    def names(self) -> list[str]:
        """The names of its models."""
        if isinstance(self.estimator, list):
            return [name for name, _, _ in self.estimator]
        return [] if self.estimator is None else [type(self.estimator).__name__]


@dataclass(frozen=True)
class OwnSpace:
    """What ``--space`` names: the file has been run, and NAME is defined in it."""

    text: str
    found: Any

    @classmethod
    def of(cls, text: str) -> OwnSpace:
        """What FILE.py:NAME names.

        Raises InputError when it has another form, or the file cannot be run or does not define the name.
        """
        file, colon, name = text.rpartition(":")
        path = Path(file)
        if not colon or path.suffix != ".py" or not name.isidentifier():
            raise InputError(
                f"--space must be FILE.py:NAME, a Python file and a name that it defines, got {text!r}; for "
                "instance --space models.py:space."
            )
        if not path.is_file():
            raise InputError(f"--space {text}: there is no file {path}; name a Python file, as in models.py:space.")
        module = module_of_file(path, f"--space {text}: {path}")
        if not hasattr(module, name):
            names = [each for each in vars(module) if _could_be_space(module, each)]
            defined = f"it defines {', '.join(names)}" if names else "it defines none"
            raise InputError(f"--space {text}: {path} does not define {name}, which must be {FORMS}; {defined}.")
        return cls(text, getattr(module, name))

    @property
    def needs_data(self) -> bool:
        """Whether it is a function of X and y."""
        return _is_function(self.found) and n_required(self.found) != 1

    def space(self, X: Any, y: Any) -> Space:
        """The space, for data that only a function needs.

        Raises InputError when NAME is nothing that can be searched.
        """
        found = self.found
        if self.needs_data:
            if n_required(found) != 2:
                raise InputError(
                    f"--space {self.text} must be a function of X and y, got one of {n_required(found)} arguments."
                )
            try:
                found = found(X, y)
            except (Exception, SystemExit) as error:
                raise InputError(
                    f"--space {self.text} raised {failure_text(error)}; it was called with X and y."
                ) from error
        with about_option("--space", self.text):
            return _space_of(found, "returned" if found is not self.found else "got")


def _space_of(found: Any, how: str) -> Space:
    if _is_function(found) and n_required(found) == 1:
        return Space(None, partial(estimator_of_trial, found), "optuna")
    if isinstance(found, list | tuple):
        pairs = [(*entry, {}) if isinstance(entry, tuple | list) and len(entry) == 2 else entry for entry in found]
        return Space([tuple(entry) for entry in checked_entries(pairs)])
    kind = next((kind for name, kind in _VALUES.items() if hasattr(found, name)), None)
    if kind and hasattr(found, "estimator") and not isinstance(found, type) and not hasattr(found, "factor"):
        return _space_of_search(found, kind)
    if isinstance(found, type) or not (hasattr(found, "fit") and hasattr(found, "get_params")):
        instead = f"; write {found.__name__}()" if isinstance(found, type) else ""
        raise InputError(f"it must be {FORMS}, {how} {shortened(found)}{instead}.")
    return Space(found, {})


def estimator_of_trial(suggest: Callable[[Any], Any], trial: Any) -> Any:
    """What a function of a trial returns: an estimator, as there is none on which parameters could be set.

    This and the source of the function are part of the identity of a run.
    """
    found = suggest(trial)
    if isinstance(found, Mapping):
        raise InputError(
            "the function must return an estimator, got a dict of parameters; for parameters of one estimator let "
            "--space name an ho.HeldOutOptunaSearchCV(estimator, function)"
        )
    return found


def _space_of_search(search: Any, kind: str) -> Space:
    """The models and values of a search object; its other settings are those of the command."""
    attribute = next(name for name, of in _VALUES.items() if of == kind)
    values, size = getattr(search, attribute), getattr(search, "n_trials" if kind == "optuna" else "n_iter", None)
    if values is None:  # Optuna's may have either name
        values = getattr(search, "param_distributions", None)
    estimator = search.estimator
    if isinstance(estimator, list | tuple):
        return Space([tuple(entry) for entry in checked_entries(estimator)], values, kind, size)
    return Space(estimator, values, kind, size)


def _is_function(found: Any) -> bool:
    return callable(found) and not isinstance(found, type) and not hasattr(found, "get_params")


def n_required(function: Callable[..., Any]) -> int:
    """How many arguments a function must be called with."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of compiled functions
        return 2
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(each.default is each.empty and each.kind in positional for each in parameters)


def _could_be_space(module: Any, name: str) -> bool:
    """Whether a name of a module is worth listing: what the file itself made, classes and other modules aside."""
    value = getattr(module, name)
    if name.startswith("_") or isinstance(value, type):
        return False
    if _is_function(value):
        return getattr(value, "__module__", None) == module.__name__ and n_required(value) in (1, 2)
    return isinstance(value, list | tuple) or hasattr(value, "get_params")


def has_distributions(values: Any) -> str | None:
    """The name of the first parameter with a distribution in place of a list; None where all are lists."""
    for part in [values] if isinstance(values, Mapping) else values if isinstance(values, list | tuple) else []:
        for name, each in part.items() if isinstance(part, Mapping) else ():
            if hasattr(each, "rvs") or type(each).__module__.startswith("optuna."):
                return str(name)
    return None
