"""What users pass in scikit-learn's terms, as our nouns: a target, scorers, folds, draws, a whole search."""

from heldout.arguments.parts import (
    check_weights_fit,
    checked_target,
    deciding_scorer,
    groups_of,
    keeping_groups,
    repeatable,
    routed_to_fit,
    rows_of,
    running_of,
    scorers_of,
    scoring_with_metrics,
    seeded_folds,
    target_of_search,
    task_of,
    truth_for,
)
from heldout.arguments.search import SearchArguments

__all__ = [
    "SearchArguments",
    "check_weights_fit",
    "checked_target",
    "deciding_scorer",
    "groups_of",
    "keeping_groups",
    "repeatable",
    "routed_to_fit",
    "rows_of",
    "running_of",
    "scorers_of",
    "scoring_with_metrics",
    "seeded_folds",
    "target_of_search",
    "task_of",
    "truth_for",
]
