"""What lower floors ask of higher ones: a function by its name, which a higher floor registers when it is imported.

Imports go downwards. Where a result is asked for its picture, or an estimate for what a store holds, it finds the
function here; the root says which module to import for it.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])

_MODULES: dict[str, str] = {}
_FUNCTIONS: dict[str, Callable[..., Any]] = {}


def locate(modules: Mapping[str, str]) -> None:
    """Say which modules register the functions of these names; of the root."""
    _MODULES.update(modules)


def registered(name: str) -> Callable[[Function], Function]:
    """Register a function; a decorator."""

    def register(function: Function) -> Function:
        _FUNCTIONS[name] = function
        return function

    return register


def function_of(name: str) -> Callable[..., Any]:
    """The function that a higher floor registers under a name."""
    if name not in _FUNCTIONS:
        import_module(_MODULES[name])
    return _FUNCTIONS[name]
