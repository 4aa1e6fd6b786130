"""The ranking of configurations: scores, spread, how often each was selected, and failures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from heldout._text import number_text
from heldout._types import Floats
from heldout.report.configuration_parts import ConfigurationParts, ParameterValue
from heldout.report.words import ranking_sentence, rest_sentence
from heldout.scales import Scale

MOST_SHOWN = 20
"""Configurations that a table shows at first."""
MOST_LISTED = 2000
MOST_LETTERS = 300_000
"""``MOST_LISTED``, ``MOST_LETTERS``: configurations, and letters of their names, that a report holds."""
MOST_TICKS = 100
MOST_FAMILIES = 50


@dataclass(frozen=True)
class RankedConfiguration:
    """One candidate's scores, in the metric's own units."""

    rank: int
    """From 1."""
    index: int
    """Its position in the search, from 0."""
    name: str
    is_winner: bool
    mean: float | None
    spread: float | None
    """``mean``, ``spread``: mean and standard deviation of its fold scores; a single fold score has no spread."""
    pooled: float | None
    """Its score on all held-out rows together."""
    selected: float | None
    """Share of bootstraps that selected it."""
    fold_scores: tuple[float | None, ...] = ()
    score: float | None = None
    """The one by which it is ranked: ``mean`` or ``pooled``."""
    train: float | None = None
    """Mean score on the rows that trained it."""
    family: str = ""
    """What it is a case of: the name of its model; empty where no model has several configurations."""
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    """The values that the search set."""

    @property
    def is_more(self) -> bool:
        """Whether the table shows it only on request."""
        return self.rank > MOST_SHOWN and not self.is_winner


@dataclass(frozen=True)
class FamilyBest:
    """The best configuration of a family."""

    family: str
    best: RankedConfiguration
    configurations: int
    """How many of the family are ranked, whether or not they are listed."""
    selected: float | None
    """Share of bootstraps that selected one of the family."""


@dataclass(frozen=True)
class FailureGroup:
    """Configurations, or bootstraps, that failed with the same message."""

    message: str
    names: tuple[str, ...]
    unnamed: int = 0


@dataclass(frozen=True)
class Ranking:
    """All configurations, the best first (of very many those that fit on a page), and the failed ones."""

    shown: tuple[RankedConfiguration, ...]
    how: str
    rest: str
    """A sentence on those that are not listed; empty if all are."""
    low: float | None
    high: float | None
    """``low``, ``high``: the range of the fold scores shown."""
    failures: tuple[FailureGroup, ...] = ()
    whole: str = "Pooled"
    """The head of the column of scores that are not means over folds."""
    families: tuple[FamilyBest, ...] = ()
    """The best family first; of more than ``MOST_FAMILIES`` the first ones."""
    families_out: tuple[str, ...] = ()
    """Families of which every configuration was dropped or failed."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns among mean, spread, train, pooled, selected and folds that hold values."""
        has = {
            "mean": any(row.mean is not None for row in self.shown),
            "spread": any(row.spread is not None for row in self.shown),
            "train": any(row.train is not None for row in self.shown),
            "pooled": any(row.pooled is not None for row in self.shown),
            "selected": any(row.selected is not None for row in self.shown),
            "folds": any(len(row.fold_scores) > 1 for row in self.shown),
        }
        return tuple(name for name, is_there in has.items() if is_there)

    @property
    def winner(self) -> RankedConfiguration | None:
        """The winner's row; None for an ensemble."""
        return next((row for row in self.shown if row.is_winner), None)

    @property
    def n_more(self) -> int:
        """How many are listed beyond those that the table shows at first."""
        return sum(row.is_more for row in self.shown)


def rank_configurations(
    names: Sequence[str],
    scale: Scale,
    *,
    fold_scores: Floats | None,
    pooled: Floats | None,
    selected: Floats | None,
    winner: int | None,
    failures: Mapping[int, str],
    by_mean: bool,
    weighs: bool = False,
    within: bool = False,
    dropped: Collection[int] = (),
    parts: Sequence[ConfigurationParts] = (),
    train: Floats | None = None,
) -> Ranking:
    """Rank the configurations that neither failed nor were dropped; the winner and the best of families are shown.

    Parameters
    ----------
    fold_scores : ndarray of shape (splits, C) or None
    pooled, selected : ndarray of shape (C,) or None
    winner : int or None
        None for an ensemble of them.
    by_mean : bool
        Rank by the mean over folds (where there are fold scores) rather than by the pooled score.
    weighs : bool
        Whether ``selected`` are mean weights in ensembles.
    within : bool
        Whether ``pooled`` are of the pairs of rows of one fold.
    dropped : collection of int
        Configurations dropped early, whose scores are of fewer splits.
    parts : sequence of ConfigurationParts
        Their families and parameters; without any they have none.
    train : ndarray of shape (C,) or None
        Mean scores on the rows that trained them.
    """
    parts = parts or [ConfigurationParts(name) for name in names]
    if len({part.family for part in parts}) == len(parts):  # none has two members
        parts = [replace(part, family="") for part in parts]
    families = dict.fromkeys(part.family for part in parts)
    out = {*failures, *dropped}
    candidates = np.array([index for index in range(len(names)) if index not in out], dtype=np.intp)
    means = None if fold_scores is None else column_means(fold_scores)
    spreads = None if fold_scores is None or means is None else np.sqrt(column_means((fold_scores - means) ** 2))
    if spreads is not None and fold_scores is not None:
        spreads[(~np.isnan(fold_scores)).sum(axis=0) < 2] = np.nan
    ranked_by_mean = means is not None and (by_mean or pooled is None)
    one_split = ranked_by_mean and fold_scores is not None and len(fold_scores) == 1
    key = means if ranked_by_mean else pooled
    key = np.full(len(names), np.nan) if key is None else key
    loss = key * scale.sign * (-1 if scale.greater_is_better else 1)
    order = candidates[np.argsort(np.where(np.isnan(loss), np.inf, loss)[candidates], kind="stable")]

    def row(rank: int, index: int) -> RankedConfiguration:
        ticks = () if fold_scores is None else scale.many(fold_scores[:MOST_TICKS, index])
        return RankedConfiguration(
            rank=rank,
            index=index,
            name=names[index],
            is_winner=index == winner,
            mean=None if means is None else scale.shown(means[index]),
            spread=None if spreads is None else scale.shown(scale.sign * spreads[index]),
            pooled=None if pooled is None else scale.shown(pooled[index]),
            selected=None if selected is None else float(selected[index]),
            fold_scores=ticks,
            score=scale.shown(key[index]),
            train=None if train is None else scale.shown(train[index]),
            family=parts[index].family,
            parameters=parts[index].parameters,
        )

    rows = [row(rank, int(index)) for rank, index in enumerate(order, start=1)]
    listed = _n_listed(rows)
    best = best_of_families(rows)[:MOST_FAMILIES]
    always = {each.best.rank for each in best} | {row.rank for row in rows if row.is_winner}
    shown = rows[:listed] + [late for late in rows[listed:] if late.rank in always]
    rest = [late for late in rows[listed:] if late.rank not in always]
    ticks = [tick for ranked in shown for tick in ranked.fold_scores if tick is not None]
    return Ranking(
        shown=tuple(shown),
        how=ranking_sentence(
            "split" if one_split else "mean" if ranked_by_mean else "within" if within else "pooled",
            selected is not None,
            weighs=weighs,
        ),
        rest=_rest(rest, scale, ranked_by_mean, weighs),
        low=min(ticks, default=None),
        high=max(ticks, default=None),
        failures=failure_groups(failures, lambda index: names[index]),
        whole="Within folds" if within else "Pooled",
        families=best,
        families_out=tuple(family for family in families if family not in {row.family for row in rows}),
    )


def best_of_families(rows: Sequence[RankedConfiguration]) -> tuple[FamilyBest, ...]:
    """The best configuration of each family, the best family first, of all that are ranked, best first."""
    return tuple(
        FamilyBest(
            family,
            members[0],
            len(members),
            None if members[0].selected is None else sum(row.selected or 0.0 for row in members),
        )
        for family, members in by_family(rows).items()
    )


def by_family(rows: Iterable[RankedConfiguration]) -> dict[str, list[RankedConfiguration]]:
    """The rows of each family, in their order."""
    families: dict[str, list[RankedConfiguration]] = {}
    for row in rows:
        families.setdefault(row.family, []).append(row)
    return families


def _n_listed(rows: Sequence[RankedConfiguration]) -> int:
    """How many of the first rows a page holds."""
    letters = np.cumsum([len(row.name) for row in rows[:MOST_LISTED]])
    return max(int(np.searchsorted(letters, MOST_LETTERS, side="right")), min(len(rows), MOST_SHOWN))


def column_means(fold_scores: Floats) -> Floats:
    """(C,): the means of (splits, C) over the splits that each configuration had; NaN where it had none."""
    present = ~np.isnan(fold_scores)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Floats = np.where(present, fold_scores, 0.0).sum(axis=0) / present.sum(axis=0)
    return mean


def _rest(rows: Sequence[RankedConfiguration], scale: Scale, by_mean: bool, weighs: bool) -> str:
    if not rows:
        return ""
    scores = [score for row in rows if (score := row.mean if by_mean else row.pooled) is not None]
    shares = [row.selected for row in rows if row.selected is not None]
    best = number_text(scores[0] if scores else None, scale.decimals)
    worst = number_text(scores[-1] if scores else None, scale.decimals)
    taken = share_text(sum(shares)) if shares else ""
    return rest_sentence(len(rows), best, worst, taken, weighs=weighs)


def share_text(share: float) -> str:
    """A share as a percentage; "< 1 %" below 1 %, and "0" for 0.

    Examples
    --------
    >>> share_text(0.0), share_text(0.004), share_text(0.254)
    ('0', '< 1 %', '25 %')
    """
    if not share:
        return "0"
    return "< 1 %" if share < 0.01 else f"{share * 100:.0f} %"


def failure_groups(failures: Mapping[int, str], name_of: Callable[[int], str]) -> tuple[FailureGroup, ...]:
    """Failures by their message, with the names of the first ``MOST_SHOWN``."""
    by_message: dict[str, list[str]] = {}
    for index in sorted(failures):
        by_message.setdefault(failures[index], []).append(name_of(index))
    return tuple(
        FailureGroup(message, tuple(names[:MOST_SHOWN]), max(len(names) - MOST_SHOWN, 0))
        for message, names in by_message.items()
    )
