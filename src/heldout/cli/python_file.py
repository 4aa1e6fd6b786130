"""A Python file of the user, run as a module whose classes workers can receive and saved models can name."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from heldout.errors import InputError, reason_of
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
