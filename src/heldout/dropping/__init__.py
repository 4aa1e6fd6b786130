"""Drop rules: which configurations continue, from the held-out predictions so far."""

from typing import Any

from heldout.data.checks import called, unknown_drop
from heldout.data.task import Task
from heldout.dropping.base import OWN_MEMBERS, Barrier, Dropped, DropRule, Racing, SearchStrategy, Standing, Verdict
from heldout.dropping.bootstrap import Bootstrap
from heldout.dropping.fold_tests import Paired, Wilcoxon
from heldout.dropping.hoeffding_race import HoeffdingRace
from heldout.dropping.incumbent import Aggressive, Forgiving
from heldout.dropping.sequential import Sequential
from heldout.errors import InputError
from heldout.folds.splits import Folds, checked_folds

RULES: dict[str, type] = {
    rule.name: rule for rule in (Bootstrap, HoeffdingRace, Paired, Sequential, Wilcoxon, Forgiving, Aggressive)
}
"""Drop rules by their names in ``drop=`` and ``--drop``."""

__all__ = [
    "RULES",
    "Aggressive",
    "Barrier",
    "Bootstrap",
    "DropRule",
    "Dropped",
    "Forgiving",
    "HoeffdingRace",
    "Paired",
    "Racing",
    "SearchStrategy",
    "Sequential",
    "Standing",
    "Verdict",
    "Wilcoxon",
    "drop_rule_of",
    "strategy_of",
]


def drop_rule_of(drop: Any) -> DropRule | None:
    """Return the drop rule for a name or a rule; None for no dropping.

    Parameters
    ----------
    drop : str, DropRule or None
        A name, which may have parameters in brackets; a rule of ``ho.dropping``; "never" or None.

    Returns
    -------
    DropRule or None
        None if nothing is dropped.

    Raises
    ------
    InputError
        When it is none of these, a class instead of a rule, or has only some members of a search strategy.

    Examples
    --------
    >>> drop_rule_of("never"), drop_rule_of("bootstrap(threshold=0.95)").threshold
    (None, 0.95)
    """
    if drop is None or (isinstance(drop, str) and drop in ("never", "none")):
        return None
    if isinstance(drop, str):
        rule: DropRule | None = called(drop, RULES, "drop")
        if rule is not None:
            return rule
    if isinstance(drop, Racing) and hasattr(drop, "judge"):
        lacking = [name for name in OWN_MEMBERS if not hasattr(drop, name)]
        if 0 < len(lacking) < len(OWN_MEMBERS):
            raise InputError(
                f"`drop={drop!r}` has some members of a search strategy and lacks {', '.join(lacking)}; declare "
                f"all of {', '.join(OWN_MEMBERS)}, or none for a rule that only drops."
            )
        configured: DropRule = drop  # type: ignore[assignment]
        return configured
    if isinstance(drop, type):
        raise InputError(f"drop must be a rule and not its class; write {drop.__name__}(), got {drop!r}.")
    raise unknown_drop(drop)


def planned_folds(strategy: SearchStrategy, task: Task, entropy: int) -> Folds:
    """The splits that a strategy plans for a task, checked."""
    return checked_folds(strategy.folds(task, entropy), task, f"`drop={strategy.name!r}`")


def strategy_of(drop: Any) -> SearchStrategy | None:
    """Return the rule of ``drop`` if it also plans the splits and chooses the winner, else None.

    Parameters
    ----------
    drop : str, DropRule or None
        As in ``drop_rule_of``.

    Returns
    -------
    SearchStrategy or None

    Raises
    ------
    InputError
        As ``drop_rule_of``.

    Examples
    --------
    >>> strategy_of('sequential').name, strategy_of('bootstrap')
    ('sequential', None)
    """
    rule = drop_rule_of(drop)
    return rule if isinstance(rule, SearchStrategy) else None
