"""What nested cross-validation is asked besides the search, and what of it does not go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from heldout._text import argument
from heldout.errors import InputError
from heldout.estimates.question import check_interval_settings
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
            raise InputError(f"across must be 'folds' or 'all', got {self.across!r}.", argument="across")
        if self.interval is not None and self.interval not in INTERVALS:
            raise InputError(
                f"interval must be one of {', '.join(INTERVALS)}, or None, got {self.interval!r}.",
                argument="interval",
            )
        check_interval_settings(1, self.confidence_level, self.alternative)
        if self.across == "all" and search.estimation.rule.reads_all_metrics:
            raise InputError(
                f"{argument('across', 'all')} compares one score a configuration, and the selection rule "
                f"'{search.estimation.rule.name}' reads several; use {argument('across', 'folds')}.",
                argument="across",
            )
        if self.across == "all" and search.drop is not None:
            raise InputError(
                f"{argument('across', 'all')} compares scores over the inner folds of all outer folds, which "
                f"{argument('drop', search.drop.name)} leaves to those whom no search dropped, and there may be "
                f"none; use {argument('drop', 'never', python='None')}, or {argument('across', 'folds')}.",
                argument="across",
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
            once = f"{argument('across', 'all')} chooses once for all folds"
            reason = f"repeats the whole search, choice included, and {once}"
        if reason:
            raise InputError(
                f"{argument('interval', BATES)} {reason}; use {argument('interval', NADEAU_BENGIO)}.",
                argument="interval",
            )
