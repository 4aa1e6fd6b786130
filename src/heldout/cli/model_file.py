"""Models from a file of the user: a Python file that defines ``model``, or a model saved by skops."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heldout.cli.python_file import module_of_file
from heldout.errors import InputError


def models_of_file(path: Path, trust: Sequence[str] = ()) -> Any:
    """An estimator, or a list of (name, estimator).

    A Python file is run, as ``python FILE`` would run it; a saved model may hold reviewed types and those in
    ``trust``.
    """
    check_file(path)
    return _saved(path, trust) if path.suffix == ".skops" else _defined(path)


def check_file(path: Path) -> None:
    """Refuse what is no file of a model, by its name."""
    if not path.is_file():
        raise InputError(
            f"--model must be logistic, linear, cox, or a file (.py or .skops), got {str(path)!r}; there is no "
            "such file."
        )
    if path.suffix not in (".skops", ".py"):
        raise InputError(f"--model {path} must be a Python file (.py) that defines model, or a .skops file.")


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
