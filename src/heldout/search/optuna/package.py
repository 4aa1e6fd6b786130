"""The package Optuna: imported only where it is used, and kept quiet."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from heldout.errors import MissingExtraError


def optuna_package() -> ModuleType:
    """Optuna itself.

    Raises MissingExtraError when it is not installed.
    """
    try:
        import optuna
    except ModuleNotFoundError:
        raise MissingExtraError("A search with Optuna", "optuna") from None
    return optuna


@contextmanager
def quiet() -> Iterator[None]:
    """Optuna without its lines about every study and trial, and about experimental arguments."""
    optuna = optuna_package()
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(max(level, optuna.logging.WARNING))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(level)
