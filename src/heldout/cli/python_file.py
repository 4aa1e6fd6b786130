"""A Python file of the user, run as a module whose classes workers can receive and saved models can name."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from heldout.cli.options import about_option
from heldout.configurations import checked_entries
from heldout.data.task import shortened
from heldout.errors import InputError, no_file, reason_of
from heldout.execution.identity import FILE_OF_USER

_PICKLERS = ("cloudpickle", "joblib.externals.cloudpickle")
"""Older versions of joblib bring a copy of the package; Dask uses the package itself."""


def module_of_file(path: Path, option: str) -> ModuleType:
    """The module that the file defines; it is run, as ``python FILE`` would run it.

    ``option`` is the option with its value, which begins the sentence on a file that cannot be run.
    """
    name = _module_name(path)
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    assert spec is not None and spec.loader is not None, "it ends with .py"
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _send_by_value(module)
    folder = str(path.resolve().parent)
    if folder not in sys.path:  # last, so that it hides no installed module
        sys.path.append(folder)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise InputError(f"{option} could not be run ({failure_text(error)}).") from error
    setattr(module, FILE_OF_USER, path.read_text(encoding="utf-8", errors="replace"))
    return module


def failure_text(error: BaseException) -> str:
    """The type and the text of an error in code of the user's, for the inside of a sentence."""
    text = reason_of(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _module_name(path: Path) -> str:
    """The name under which ``import`` finds the file in its folder: saved models refer to their classes by it."""
    name = path.stem
    if name.isidentifier():
        with suppress(ImportError, ValueError):
            found = importlib.util.find_spec(name)
            if found is None or found.origin == str(path.resolve()):
                return name
    return f"heldout_models_{path.stem}"


def _send_by_value(module: Any) -> None:
    """Send classes of the file with the work, because workers cannot import the file."""
    for pickler in _PICKLERS:
        with suppress(ImportError):
            importlib.import_module(pickler).register_pickle_by_value(module)


FORMS = (
    "an estimator, a list of (name, estimator, grid or distributions), a search object, a function of an Optuna "
    "trial, or a function of X and y that returns one of these"
)
_VALUES = {"param_grid": "grid", "space": "optuna", "param_distributions": "random"}
"""Kinds of search by the attribute that holds what they try."""


@dataclass(frozen=True, eq=False)
class FileSpace:
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
            raise no_file(path, "a Python file, as in models.py:space", before=f"--space {text}: ")
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

    def space(self, X: Any, y: Any) -> FileSpace:
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


def _space_of(found: Any, how: str) -> FileSpace:
    if _is_function(found) and n_required(found) == 1:
        return FileSpace(None, partial(estimator_of_trial, found), "optuna")
    if isinstance(found, list | tuple):
        pairs = [(*entry, {}) if isinstance(entry, tuple | list) and len(entry) == 2 else entry for entry in found]
        return FileSpace([tuple(entry) for entry in checked_entries(pairs)])
    kind = next((kind for name, kind in _VALUES.items() if hasattr(found, name)), None)
    if kind and hasattr(found, "estimator") and not isinstance(found, type) and not hasattr(found, "factor"):
        return _space_of_search(found, kind)
    if isinstance(found, type) or not (hasattr(found, "fit") and hasattr(found, "get_params")):
        instead = f"; write {found.__name__}()" if isinstance(found, type) else ""
        raise InputError(f"it must be {FORMS}, {how} {shortened(found)}{instead}.", argument="")
    return FileSpace(found, {})


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


def _space_of_search(search: Any, kind: str) -> FileSpace:
    """The models and values of a search object; its other settings are those of the command."""
    attribute = next(name for name, of in _VALUES.items() if of == kind)
    values, size = getattr(search, attribute), getattr(search, "n_trials" if kind == "optuna" else "n_iter", None)
    if values is None:  # Optuna's may have either name
        values = getattr(search, "param_distributions", None)
    estimator = search.estimator
    if isinstance(estimator, list | tuple):
        return FileSpace([tuple(entry) for entry in checked_entries(estimator)], values, kind, size)
    return FileSpace(estimator, values, kind, size)


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


def models_of_file(path: Path, trust: Sequence[str] = ()) -> Any:
    """An estimator, or a list of (name, estimator).

    A Python file is run, as ``python FILE`` would run it; a saved model may hold reviewed types and those in
    ``trust``.
    """
    return _saved(path, trust) if path.suffix == ".skops" else _defined(path)


def _defined(path: Path) -> Any:
    module = module_of_file(path, f"--model {path}")
    if not hasattr(module, "model"):
        raise InputError(
            f"--model {path} must define a variable model: an estimator, or a list of (name, estimator)."
        )
    found = module.model
    entries = found if isinstance(found, list | tuple) else [("model", found)]
    for entry in entries:
        model = entry[1] if isinstance(entry, list | tuple) and len(entry) == 2 else None
        if isinstance(model, type) or not (hasattr(model, "fit") and hasattr(model, "get_params")):
            raise InputError(
                f"model in {path} must be a scikit-learn estimator or a list of (name, estimator), got "
                f"{found!r:.200}."
            )
    if not entries:
        raise InputError(f"model in {path} is an empty list; give at least one (name, estimator).")
    return found


def _saved(path: Path, trust: Sequence[str]) -> Any:
    from sklearn.base import clone

    from heldout.imputation.imputed_model import member_of
    from heldout.readers.saved_model import load_model

    try:
        model = load_model(path, trust)
    except InputError as error:
        raise InputError(f"--model {error}") from error
    # A pooled model cannot be fitted itself; its members can.
    try:
        return clone(member_of(model))
    except (TypeError, ValueError, RuntimeError):
        raise InputError(
            f"--model {path} holds a {type(model).__name__}, which cannot be fitted again; save a scikit-learn "
            "estimator."
        ) from None
