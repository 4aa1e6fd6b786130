"""The arguments of nested cross-validation besides the search, and their checks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from heldout._text import is_one_of
from heldout.errors import InputError
from heldout.estimates.question import AnyAggregate, Scales, check_interval_settings
from heldout.estimates.types import Alternative
from heldout.execution.search import Search
from heldout.folds.splits import Folds
from heldout.metrics.base import Metric
from heldout.protocols.nested.intervals import (
    AUTO,
    BATES,
    BOOTSTRAP,
    INTERVALS,
    NADEAU_BENGIO,
    TEST_PART,
    BatesHastieTibshirani,
)
from heldout.protocols.nested.plan import REMAINING

Across = Literal["folds", "all"]


@dataclass(frozen=True)
class NestedSettings:
    """The arguments of nested cross-validation besides the search; the fields are those of ``nested_cv``."""

    inner: Any = REMAINING
    across: Across = "folds"
    interval: str | BatesHastieTibshirani | None = AUTO
    confidence_level: float = 0.95
    alternative: Alternative = "two-sided"

    @property
    def interval_name(self) -> str | None:
        """The name of the interval."""
        return BATES if isinstance(self.interval, BatesHastieTibshirani) else self.interval

    @property
    def further_draws(self) -> int:
        """How many draws of the outer folds there are beside the repeats."""
        return self.interval.further_draws if isinstance(self.interval, BatesHastieTibshirani) else 0

    def divided(self, folds: Folds) -> tuple[Folds, Folds | None]:
        """The outer folds, and the further draws of them, which are the last repeats."""
        if not self.further_draws:
            return folds, None
        last = set(list(folds.columns)[-self.further_draws :])
        outer = folds.part(split for split in folds.splits if split.repeat not in last)
        return outer, folds.part(split for split in folds.splits if split.repeat in last)

    def of_outer(self, search: Search) -> NestedSettings:
        """The settings with the interval that fits a search on the outer folds, if it is to be chosen by them."""
        if self.interval != AUTO:
            return self
        if search.folds.n_splits == 1:
            return replace(self, interval=TEST_PART)
        asked, metric = search.estimation.aggregate, search.scoring.metrics.get(search.scoring.refit_metric)
        together = asked == "auto" and metric is not None and Scales.of(asked, metric).value != "folds"
        return replace(self, interval=BOOTSTRAP if together else NADEAU_BENGIO)

    def scales(self, aggregate: AnyAggregate, metric: Metric) -> Scales:
        """Of the score: two of the intervals are of the scores of folds."""
        by_fold = self.interval_name in (NADEAU_BENGIO, BATES)
        return Scales.of(aggregate, metric, "folds" if by_fold else "as asked")

    def check(self, search: Search) -> None:
        """Refuse, before any fit, settings that do not go together."""
        if not is_one_of(self.across, ("folds", "all")):
            raise InputError(f"across must be 'folds' or 'all', got {self.across!r}.", argument="across")
        if self.interval_name is not None and not is_one_of(self.interval_name, (AUTO, *INTERVALS)):
            raise InputError(
                f"interval must be one of {', '.join((AUTO, *INTERVALS))}, or None (in Python also "
                f"ho.protocols.BatesHastieTibshirani(...)), got {self.interval!r}.",
                argument="interval",
            )
        if self.interval_name == TEST_PART and search.folds.n_splits > 1:
            raise InputError(
                f"`interval={TEST_PART!r}` is for a single outer split, and here are {search.folds.n_splits}; use "
                f"`interval={NADEAU_BENGIO!r}`.",
                argument="interval",
            )
        check_interval_settings(1, self.confidence_level, self.alternative)
        rule = search.estimation.rule
        if self.across == "all" and (rule.reads_all_metrics or rule.reads_models):
            more = "reads several" if rule.reads_all_metrics else "counts in the models of one search"
            raise InputError(
                f"`across='all'` compares one score per configuration, but the selection rule '{rule.name}' "
                f"{more}; use `across='folds'`.",
                argument="across",
            )
        if self.across == "all" and search.drop is not None:
            raise InputError(
                "`across='all'` compares scores over the inner folds of all outer folds, and with "
                f"`drop={search.drop.name!r}` only configurations that no search dropped have them, perhaps none; "
                f"use `drop=None`, or `across='folds'`.",
                argument="across",
            )
        if self.interval_name == BATES:
            self._check_bates(search)

    def _check_bates(self, search: Search) -> None:
        metric = search.scoring.metrics.get(search.scoring.refit_metric)
        name = search.scoring.refit_metric if metric is None else metric.name
        reason = None
        if metric is None or not metric.row_wise:
            reason = f"is for means of one loss per row, such as accuracy, and {name} is not one that can be opened"
        elif search.task.groups is not None:
            reason = "takes rows as independent, and here they come in groups"
        elif search.task.sample_weight is not None:
            reason = "has no form for weighted rows"
        elif self.across == "all":
            once = "`across='all'` chooses once for all folds"
            reason = f"repeats the whole search, choice included, and {once}"
        if reason:
            raise InputError(
                f"`interval={BATES!r}` {reason}; use `interval={NADEAU_BENGIO!r}`.",
                argument="interval",
            )
