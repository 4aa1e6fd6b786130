"""Models from a file of the user's: a Python file that defines ``model``, or a model saved by skops."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

from heldout.errors import InputError, MissingExtraError


def models_of_file(path: Path) -> Any:
    """An estimator, or a list of (name, estimator).

    A Python file is run, as ``python FILE`` would run it; of a saved model only types that skops trusts, or that a
    ``.trusted.json`` beside it lists, are loaded.

    Raises
    ------
    InputError
        When there is no such file, it cannot be run, or defines no model.
    """
    if not path.is_file():
        raise InputError(f"--model {path}: there is no such file; give logistic, linear, cox, or a file.")
    if path.suffix == ".skops":
        return _saved(path)
    if path.suffix != ".py":
        raise InputError(f"--model {path} must be a Python file (.py) that defines model, or a .skops file.")
    return _defined(path)


def _defined(path: Path) -> Any:
    name = f"heldout_models_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None, "it ends with .py"
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _send_by_value(module)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        said = " ".join(str(error).split())
        raise InputError(f"--model {path} could not be run ({type(error).__name__}: {said}).") from error
    found = getattr(module, "model", None)
    if found is None:
        raise InputError(
            f"--model {path} must define a variable model: an estimator, or a list of (name, estimator)."
        )
    if not isinstance(found, list | tuple) and not (hasattr(found, "fit") and hasattr(found, "get_params")):
        raise InputError(f"model in {path} must be a scikit-learn estimator or a list of them, got {found!r}.")
    return found


def _send_by_value(module: Any) -> None:
    """Workers cannot import the file, so that its classes travel with the work."""
    from joblib.externals import cloudpickle

    cloudpickle.register_pickle_by_value(module)
    try:
        import cloudpickle as own  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return
    own.register_pickle_by_value(module)


def _saved(path: Path) -> Any:
    try:
        from skops import io
    except ImportError:
        raise MissingExtraError("Loading a saved model", "app") from None
    listed = path.with_name(f"{path.stem}.trusted.json")
    trusted = json.loads(listed.read_text(encoding="utf-8")) if listed.is_file() else []
    try:
        from sklearn.base import clone

        return clone(io.load(path, trusted=trusted))
    except Exception as error:
        said = " ".join(str(error).split())
        raise InputError(f"--model {path} could not be loaded ({type(error).__name__}: {said}).") from error
