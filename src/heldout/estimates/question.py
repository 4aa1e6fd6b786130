"""A question: what is to be estimated, how the winner is chosen, and what is drawn to answer it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np

from heldout import _defaults
from heldout._streams import RandomState, entropy_of
from heldout._text import is_one_of
from heldout._types import Array, Floats
from heldout.data import checks, limits
from heldout.errors import InputError
from heldout.estimates.types import Alternative
from heldout.metrics.aggregate import reads_ranks
from heldout.metrics.base import Metric, is_pair_based
from heldout.selection import Rule
from heldout.selection.bootstrap_draws import BLOCK_KINDS, BlockKind

Aggregate: TypeAlias = Literal["pooled", "folds", "within"]
Scale: TypeAlias = Literal["pooled", "folds", "within", "aligned"]
AnyAggregate: TypeAlias = Literal["auto", "folds", "pooled", "within"]
Scored: TypeAlias = Literal["as asked", "as chosen", "folds", "folds if known"]


AUTO: Literal["auto"] = "auto"
BlockLength: TypeAlias = "int | str | Blocks | None"
"""What a user passes for ``Blocks``."""


@dataclass(frozen=True)
class Blocks:
    """How a bootstrap draws blocks of consecutive rows, for rows in the order of time.

    Attributes
    ----------
    length : "auto" or int
        Rows per block, on average if the kind is "stationary". "auto" derives it from the autocorrelation of each
        row's influence on the winner's score (Politis & White 2004; Patton, Politis & White 2009). 1 draws single
        rows, as if they had no order.
    kind : "moving" or "stationary"
        "moving": blocks of one length, which draw the first and last rows less often (Künsch 1989). "stationary":
        blocks of geometric lengths, where the first row follows the last, so that every row is drawn equally often
        (Politis & Romano 1994).

    Examples
    --------
    >>> Blocks(), str(Blocks(12, "stationary"))
    (Blocks(length='auto', kind='moving'), 'stationary:12')
    """

    length: Literal["auto"] | int = "auto"
    kind: BlockKind = "moving"

    def __post_init__(self) -> None:
        length = self.length
        is_count = isinstance(length, int | np.integer) and not isinstance(length, bool) and length >= 1
        if not is_one_of(length, (AUTO,)) and not is_count:
            raise InputError(
                f"the length of blocks must be 'auto' or an integer of at least 1, got {length!r}.",
                argument="block_length",
            )
        checks.check_choice("kind", self.kind, BLOCK_KINDS)

    def __str__(self) -> str:
        return f"{self.kind}:{self.length}"


def blocks_of(value: Any) -> Blocks | None:
    """The blocks that ``block_length`` names: an integer, "auto", text such as "stationary:12", or ``Blocks``.

    Examples
    --------
    >>> blocks_of("auto"), blocks_of("stationary:12") == Blocks(12, "stationary"), blocks_of(None)
    (Blocks(length='auto', kind='moving'), True, None)
    """
    if value is None or isinstance(value, Blocks):
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 1:
        return Blocks(int(value))
    matched = checks.BLOCK_TEXT.fullmatch(value) if isinstance(value, str) else None
    if matched is not None:
        kind, length = matched.groups()
        return Blocks(AUTO if length == AUTO else int(length), cast("BlockKind", kind or Blocks().kind))
    raise checks.unknown_blocks(value)


@dataclass(frozen=True)
class Settings:
    """The number of bootstraps, their seed, and the kind of interval.

    Attributes
    ----------
    n_bootstraps : int
    confidence_level : float
    alternative : "two-sided", "greater" or "less"
    entropy : int
        The seed, 64 bits; all methods share its draws.
    n_threads : int
        It changes the time only.
    blocks : Blocks or None
        Blocks of consecutive rows that bootstraps draw. By default they draw single rows, or blocks if the folds
        follow time.
    n_rows : int or None
        Of more rows bootstraps draw from a part of about so many; None for all.
    """

    n_bootstraps: int = _defaults.BOOTSTRAPS
    confidence_level: float = _defaults.LEVEL
    alternative: Alternative = _defaults.ALTERNATIVE
    entropy: int = 0
    n_threads: int = 1
    blocks: Blocks | None = None
    n_rows: int | None = _defaults.ROWS_OF_BOOTSTRAP

    def length_of_blocks(self, *, exchangeable: bool) -> int | None:
        """At least of the blocks that bootstraps draw of rows in the order of time; None of rows in none."""
        if self.blocks is None:
            return None if exchangeable else 1
        return self.blocks.length if isinstance(self.blocks.length, int) else 1

    @property
    def level(self) -> float:
        """The confidence level as it was written: .9 of ``np.float32(0.9)``, and not 0.8999999762.

        The rounding error would move the order statistics.
        """
        return float(str(self.confidence_level))

    @property
    def tail(self) -> float:
        """The probability beyond a bound: half of one minus the level where there are two."""
        return (1 - self.level) / (2 if self.alternative == "two-sided" else 1)


def settings_of(
    n_bootstraps: int,
    confidence_level: float,
    alternative: Alternative,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    block_length: Any = None,
    n_rows_of_bootstrap: int | None = _defaults.ROWS_OF_BOOTSTRAP,
) -> Settings:
    """The settings of a user's arguments, checked."""
    checks.check_interval_settings(n_bootstraps, confidence_level, alternative)
    checks.check_rows_of_bootstrap(n_rows_of_bootstrap)
    return Settings(
        n_bootstraps,
        confidence_level,
        alternative,
        entropy_of(random_state),
        limits.effective_threads(n_jobs),
        blocks_of(block_length),
        n_rows_of_bootstrap,
    )


def scale_of_selection(aggregate: AnyAggregate) -> Aggregate:
    """The aggregate in which configurations are compared: by default the mean over folds, as in GridSearchCV."""
    return "folds" if aggregate == "auto" else aggregate


class Scales(NamedTuple):
    """The aggregates in which configurations are compared, and in which the winner is reported."""

    selection: Aggregate
    value: Scale  # of the value, the uncorrected score and the interval

    @classmethod
    def of(cls, aggregate: AnyAggregate, metric: Metric, scored: Scored = "as asked") -> Scales:
        """The scales of an aggregate.

        A mean over small folds is biased for a metric that is neither a mean over rows nor made of pairs within
        folds: R2 of ten rows is far below R2 of a thousand. By default ("auto") the value of such a metric is
        computed on all held-out rows together, unless the method compares fold scores, or candidates on the scale
        that chose (``scored``). Where only the order of scores matters they are first aligned between folds
        (``heldout.metrics.aggregate``).

        Examples
        --------
        >>> from heldout.metrics import metric_named
        >>> [Scales.of("auto", metric_named(name)).value for name in ("roc_auc", "r2", "average_precision")]
        ['folds', 'pooled', 'aligned']
        """
        chosen = scale_of_selection(aggregate)
        unread = not metric.responses  # a scorer that cannot be opened has fold scores only
        alike = aggregate != "auto" or scored != "as asked" or metric.row_wise or is_pair_based(metric) or unread
        return cls(chosen, chosen if alike else "aligned" if reads_ranks(metric) else "pooled")


@dataclass(frozen=True, eq=False)
class Question:
    """What is to be estimated from held-out predictions."""

    metric: Metric  # the reported one
    selected_on: Mapping[str, Metric]  # the metrics that the selection rule reads, the refit metric first
    rule: Rule
    aggregate: AnyAggregate
    settings: Settings
    # groups, sample_weight (N,)
    groups: Array | None = None
    sample_weight: Floats | None = None
    params: Sequence[Mapping[str, Any]] = ()  # of each configuration, for rules that read them
    # the selected configuration where the search has selected one already; otherwise the rule selects it from the
    # observed scores
    winner: int | None = None
    threshold: float | None = None  # where an ensemble's probabilities are cut for a metric on labels
    # of metrics that the selection reads, where they weigh rows otherwise than the reported one
    weights: Sequence[tuple[Metric, Floats | None]] = ()

    @property
    def metrics(self) -> list[Metric]:
        """Every metric that is computed, once each."""
        read = list(self.selected_on.values())
        return read if any(self.metric is metric for metric in read) else [self.metric, *read]


AGGREGATE_WORDS = {
    "folds": "mean over the folds",
    "pooled": "all held-out rows together",
    "aligned": "all held-out rows together, with scores aligned between the folds",
    "within": "pairs of rows of one fold",
}
