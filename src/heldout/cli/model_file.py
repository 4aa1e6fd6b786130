"""Models from a file of the user: a Python file that defines ``model``, or a model saved by skops."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from heldout.errors import InputError

_PICKLERS = ("cloudpickle", "joblib.externals.cloudpickle")
"""Older versions of joblib bring a copy of the package; Dask uses the package itself."""


def models_of_file(path: Path, trust: Sequence[str] = ()) -> Any:
    """An estimator, or a list of (name, estimator).

    A Python file is run, as ``python FILE`` would run it; a saved model may hold reviewed types and those in
    ``trust``.
    """
    if not path.is_file():
        raise InputError(
            f"--model must be logistic, linear, cox, or a file (.py or .skops), got {str(path)!r}; there is no "
            "such file."
        )
    if path.suffix == ".skops":
        return _saved(path, trust)
    if path.suffix != ".py":
        raise InputError(f"--model {path} must be a Python file (.py) that defines model, or a .skops file.")
    return _defined(path)


def _defined(path: Path) -> Any:
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
        why = " ".join(str(error).split()).rstrip(".")
        raise InputError(f"--model {path} could not be run ({type(error).__name__}: {why}).") from error
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


def _saved(path: Path, trust: Sequence[str]) -> Any:
    from sklearn.base import clone

    from heldout.imputation.pooled import PooledModel
    from heldout.readers.saved_model import load_model

    try:
        model = load_model(path, trust)
    except InputError as error:
        raise InputError(f"--model {error}") from error
    # A pooled model cannot be fitted itself; its members can.
    members = getattr(model, "members", ()) if isinstance(model, PooledModel) else ()
    try:
        return clone(members[0] if members else model)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(
            f"--model {path} holds a {type(model).__name__}, which cannot be fitted again; save a scikit-learn "
            "estimator."
        ) from None
