"""A method as an option writes it: its name, and parameters that may follow."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from heldout.cli.options import about_option, check_choice

if TYPE_CHECKING:
    from heldout.estimates.base import Method


def method_of_text(text: str) -> Method:
    """A method by its name, with the parameters that may follow it: ``naive_bootstrap(unit='folds')``.

    Raises InputError for an unknown name or parameter, and a wrong value.
    """
    from heldout.data.calls import call_in, check_known
    from heldout.estimates import METHODS

    name, given = call_in(text) or (text, {})
    check_choice("--method", name, ("all", *METHODS))
    with about_option("--method", text):
        if name == "all":
            check_known("method", name, given, [])
        method = METHODS[name]()
        check_known("method", name, given, sorted(fields_of(method)))
        return configured(method, given)


def fields_of(method: Method) -> set[str]:
    """The names of its parameters."""
    return {field.name for field in fields(method) if field.init}  # type: ignore[arg-type]


def configured(method: Method, settings: dict[str, Any]) -> Method:
    """The method with those of the settings that it has."""
    mine: dict[str, Any] = {name: value for name, value in settings.items() if name in fields_of(method)}
    return replace(method, **mine) if mine else method  # type: ignore[type-var]
