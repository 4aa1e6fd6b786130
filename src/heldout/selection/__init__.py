"""Selection rules: how a search chooses, and how a bootstrap chooses again."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from heldout.errors import InputError
from heldout.selection.base import NONE_CHOSEN, ScoreTable, SelectionFailedError, SelectionRule
from heldout.selection.best import Best
from heldout.selection.callable_refit import CallableRefit

RULES = MappingProxyType({"best": Best})

__all__ = [
    "NONE_CHOSEN",
    "RULES",
    "Best",
    "CallableRefit",
    "ScoreTable",
    "SelectionFailedError",
    "SelectionRule",
    "rule_of",
]


def rule_of(selection: Any) -> SelectionRule:
    """A rule from its name or from itself.

    Raises
    ------
    InputError
        For anything else.
    """
    if isinstance(selection, str) and selection in RULES:
        return RULES[selection]()
    if callable(selection) and hasattr(selection, "reads_fold_scores"):
        rule: SelectionRule = selection
        return rule
    raise InputError(f"selection must be one of {', '.join(RULES)} or a rule of ho.selection, got {selection!r}.")
