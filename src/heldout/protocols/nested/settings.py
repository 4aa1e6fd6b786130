"""What nested cross-validation is asked besides the search, and what of it does not go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from heldout.errors import InputError
from heldout.estimates.intervals import check_interval_settings
from heldout.estimates.types import Alternative
from heldout.execution.search import Search
from heldout.protocols.nested.intervals import (
    BATES,
    INTERVALS,
    NADEAU_BENGIO,
)
from heldout.protocols.nested.plan import REMAINING

Across = Literal["folds", "all"]


@dataclass(frozen=True)
class NestedSettings:
    """What nested cross-validation is asked besides the search; the fields are as in ``nested_cv``."""

    inner: Any = REMAINING
    across: Across = "folds"
    interval: str | None = NADEAU_BENGIO
    confidence_level: float = 0.95
    alternative: Alternative = "two-sided"

    def check(self, search: Search) -> None:
        """Refuse, before anything is fitted, what does not go together.

        Raises
        ------
        InputError
        """
        if self.across not in ("folds", "all"):
            raise InputError(f"across must be 'folds' or 'all', got {self.across!r}.")
        if self.interval is not None and self.interval not in INTERVALS:
            raise InputError(f"interval must be one of {', '.join(INTERVALS)}, or None, got {self.interval!r}.")
        check_interval_settings(1, self.confidence_level, self.alternative)
        if self.across == "all" and search.estimation.rule.reads_all_metrics:
            raise InputError(
                f"across='all' compares one score a configuration, and the selection rule "
                f"'{search.estimation.rule.name}' reads several; use across='folds'."
            )
        if self.across == "all" and search.drop is not None:
            raise InputError(
                f"across='all' compares scores over the inner folds of all outer folds, which "
                f"drop='{search.drop.name}' leaves to those whom no search dropped, and there may be none; use "
                "drop=None, or across='folds'."
            )
        if self.interval == BATES:
            self._check_bates(search)

    def _check_bates(self, search: Search) -> None:
        metric = search.scoring.metrics.get(search.scoring.refit_metric)
        name = search.scoring.refit_metric if metric is None else metric.name
        reason = None
        if metric is None or not metric.row_wise:
            reason = f"is for means of one loss a row, such as accuracy, and {name} is none that can be opened"
        elif search.task.groups is not None:
            reason = "takes rows as independent, and here they come in groups"
        elif search.task.sample_weight is not None:
            reason = "has no form for weighted rows"
        elif self.across == "all":
            reason = "repeats the whole search, choice included, and across='all' chooses once for all folds"
        if reason:
            raise InputError(f"interval='{BATES}' {reason}; use interval='{NADEAU_BENGIO}'.")
