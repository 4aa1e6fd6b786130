"""Selection rules: how a search chooses, and how a bootstrap chooses again."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from heldout.data.checks import called, unknown_selection
from heldout.errors import InputError
from heldout.selection.base import (
    NONE_CHOSEN,
    Choice,
    Library,
    ScoreTable,
    SelectionFailedError,
    SelectionRule,
    WeightRule,
)
from heldout.selection.best import Best
from heldout.selection.callables import CallableRefit, CallableRule
from heldout.selection.ensembles import GreedyEnsemble, TopK
from heldout.selection.rank_rules import AverageRank, RankOverRepeats
from heldout.selection.simplest import OneStandardError, Within
from heldout.selection.threshold import Threshold

Rule: TypeAlias = SelectionRule | WeightRule | Threshold
"""What chooses one configuration, an ensemble, or a configuration at a threshold."""

RULES: Mapping[str, Callable[[], Rule]] = MappingProxyType(
    {
        "best": Best,
        "one_standard_error": OneStandardError,
        "average_rank": AverageRank,
        "top_k": TopK,
        "greedy_ensemble": GreedyEnsemble,
        "threshold": Threshold,
        "rank_over_repeats": RankOverRepeats,
    }
)
"""Every rule that needs no parameter by its name, as it is by default."""

SELECTION_WORDS: Mapping[str, str] = MappingProxyType(
    {rule.name: rule.words for rule in (*(make() for make in RULES.values()), Within(0.0))}
)
"""How each rule selects, as a report says it."""

__all__ = [
    "NONE_CHOSEN",
    "RULES",
    "SELECTION_WORDS",
    "AverageRank",
    "Best",
    "CallableRefit",
    "CallableRule",
    "Choice",
    "GreedyEnsemble",
    "Library",
    "OneStandardError",
    "RankOverRepeats",
    "Rule",
    "ScoreTable",
    "SelectionFailedError",
    "SelectionRule",
    "Threshold",
    "TopK",
    "WeightRule",
    "Within",
    "configuration_rule_of",
    "rule_of",
]


def rule_of(selection: Any) -> Rule:
    """Return the selection rule for a name, a rule, or a function of the scores.

    Parameters
    ----------
    selection : str, rule or callable
        A name, which may have parameters in brackets; a rule of ``ho.selection``; or a function from scores (B, C),
        greater is better, to indices (B,), which becomes a ``CallableRule``.

    Returns
    -------
    Rule

    Raises
    ------
    InputError
        When it is none of these, or an object that lacks members of a rule.

    Examples
    --------
    >>> rule_of("one_standard_error").name, rule_of(Within(0.01)).name
    ('one_standard_error', 'within')
    >>> rule_of("top_k(k=3)")
    TopK(k=3)
    """
    if isinstance(selection, str):
        if selection in RULES:
            return RULES[selection]()
        written: Rule | None = called(selection, {**RULES, "within": Within}, "selection")
        if written is not None:
            return written
    if not isinstance(selection, type):
        if isinstance(selection, Threshold | WeightRule):
            return selection
        if callable(selection):
            if isinstance(selection, SelectionRule) or not hasattr(selection, "reads_fold_scores"):
                return selection if isinstance(selection, SelectionRule) else CallableRule(selection)
            raise InputError(
                f"`selection={selection!r}` lacks members of a rule; make its class a subclass of "
                "ho.selection.SelectionRule, which has defaults for them."
            )
    raise unknown_selection(selection)


def configuration_rule_of(selection: Any) -> SelectionRule:
    """Return the rule of ``selection`` if it chooses a single configuration, which a search can refit.

    Parameters
    ----------
    selection : str, rule or callable
        As in ``rule_of``.

    Returns
    -------
    SelectionRule

    Raises
    ------
    InputError
        For a rule that chooses an ensemble or a threshold; the message says where it can be used.

    Examples
    --------
    >>> configuration_rule_of('one_standard_error').name
    'one_standard_error'
    """
    rule = rule_of(selection)
    if isinstance(rule, Threshold | WeightRule):
        chosen = "a decision threshold with it" if isinstance(rule, Threshold) else "an ensemble"
        raise InputError(
            f"`selection={rule.name!r}` chooses {chosen}, and here one configuration must be chosen; use "
            f"`selection='best'`, then ask ho.estimate(y, predictions, metric=..., selection='{rule.name}'), where "
            "predictions may be search.predictions_."
        )
    return rule
