"""The splits of nested cross-validation: outer folds, and for each a search that never sees its rows.

A *branch* is one search inside the protocol: some folds are left out, the search runs on what remains, and its
winner is fitted on all that remains and predicts what was left out. Nested cross-validation has a branch for each
outer fold; the interval of Bates, Hastie and Tibshirani has one more for each pair of folds. All splits of all
branches belong to one plan; each branch has repeat numbers of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np

from heldout import _defaults
from heldout._streams import stream
from heldout.data.checks import NESTED_INTERVALS, check_choice
from heldout.data.task import Task
from heldout.errors import InputError
from heldout.estimates.question import AnyAggregate, Scales
from heldout.execution.search import Search
from heldout.folds.plans import HoldOut, KFolds, plan_of_cv
from heldout.folds.splits import Folds, Place, Rows, Split, check_splits
from heldout.metrics.base import Metric
from heldout.protocols.branches import RepeatNumbers, folds_of_part
from heldout.protocols.nested.intervals import (
    AUTO,
    BATES,
    NADEAU_BENGIO,
    TEST_PART,
    BatesHastieTibshirani,
    automatic_interval,
)

REMAINING, HOLD_OUT = "remaining", "holdout"
_NEW_FOLDS = "`inner=3` (new folds)"


@dataclass(frozen=True, eq=False)
class NestedBranch:
    """A search on the rows outside some folds."""

    repeat: int
    """Of the outer folds."""
    left_out: tuple[int, ...]
    """The outer fold that the search does not see, or the two of a pair."""
    inner: tuple[Split, ...]
    """Of the search; their rows are among ``refit.train``. Empty where nothing is selected. Of a single outer split
    they are those of the search whose winner is deployed, which is this one."""
    refit: Split
    """Trains the winner on all remaining rows, and tests it on all rows left out. Where nothing is selected and one
    fold is left out, it is that outer fold, which the search on all rows fits anyway."""


@dataclass(frozen=True, eq=False)
class NestedFolds:
    """Every split of a nested cross-validation."""

    search: Folds
    """Of the search whose winner is deployed: on all rows, or for a single outer split on its training part."""
    outer: tuple[NestedBranch, ...]
    """One an outer fold, in the order of the outer folds."""
    pairs: tuple[NestedBranch, ...]
    """One a pair of outer folds of the same repeat; empty by default."""
    further: tuple[NestedBranch, ...]
    """One a fold of further draws of the outer folds, which only a bias term reads; empty by default."""
    n_folds: int | None
    """K, where every repeat is a partition into as many folds."""
    test_share: float
    """Mean of test rows over training rows in the outer folds; 1/(K - 1) for a partition into K."""

    @property
    def branches(self) -> tuple[NestedBranch, ...]:
        return self.outer + self.pairs + self.further

    @property
    def n_repeats(self) -> int:
        return len({branch.repeat for branch in self.outer})

    @property
    def refits(self) -> tuple[Split, ...]:
        """The splits on which one configuration is fitted: the winner of every branch."""
        return tuple(branch.refit for branch in self.branches if branch.refit.place not in self._searched)

    @property
    def _searched(self) -> set[Place]:
        """The splits of the search whose winner is deployed."""
        return {split.place for split in self.search.splits}

    @property
    def is_one_split(self) -> bool:
        """Whether there is one outer split: a hold-out."""
        return len(self.outer) == 1

    def n_fits(self, n_configurations: int) -> int:
        """All fits if none is dropped, the one of the deployed model included.

        K²C + K + 1 for one repeat of K folds with the remaining ones inside, K + 1 where nothing is selected, C + 2
        for a hold-out inside a hold-out.

        Examples
        --------
        >>> from heldout.folds.splits import make_folds
        >>> from heldout.data.task import truth_of
        >>> task = Task(np.zeros((12, 1)), truth_of(np.arange(12.0) / 7))
        >>> nested_folds(task, make_folds(task, 4)).n_fits(n_configurations=5)  # 4 · 4 · 5 + 4 + 1
        85
        >>> nested_folds(task, make_folds(task, 4), selects=False).n_fits(n_configurations=1)
        5
        """
        inner = {split.place for branch in self.branches for split in branch.inner}
        return len(inner | self._searched) * n_configurations + len(self.refits) + 1


def nested_folds(
    task: Task,
    folds: Folds,
    inner: Any = _defaults.INNER,
    *,
    pairs: bool = False,
    further: Folds | None = None,
    selects: bool = True,
    entropy: int = 0,
) -> NestedFolds:
    """The splits of every search and refit.

    - ``task``: the rows, target and groups that an inner splitter receives.
    - ``folds``: the outer ones.
    - ``inner``: how each inner search splits the rows outside its outer fold: by the other folds of the same
      repeat, each in turn; the next fold alone as a development set; or anew. An integer shuffles, and keeps
      classes in proportion and groups whole. Where it splits anew, the search on all rows is split in the same way,
      so that the deployed model comes from the procedure that was evaluated. Rows that an outer fold trains on
      several times are divided once, and their copies train where they do. Outer splits that are no partition have
      no next fold: a development set is then drawn anew, with as many rows as the outer test part.
    - ``pairs``: whether to leave out every two folds of a repeat as well.
    - ``further``: further draws of the outer folds, in repeats of their own.
    - ``selects``: whether there are configurations to select from. Otherwise no branch searches, and the search on
      all rows has the outer folds.
    - ``entropy``: seeds splitters that shuffle without a ``random_state``, once for each branch.

    Raises InputError where the outer folds are no partition and ``inner`` or ``pairs`` needs one, or leave too few
    folds inside.
    """
    inner = plan_of_cv(inner)
    of_repeat = _by_repeat(folds.splits)
    of_further = {} if further is None else _by_repeat(further.splits)
    n_folds = _number_of_folds(folds, of_repeat)
    _check_inner(inner)
    _check_outer(folds, inner if selects else None, pairs, n_folds)
    anew = _anew(folds, inner, n_folds) if selects else None
    one_search = selects and folds.n_splits == 1
    search = folds
    if anew is not None and not one_search:
        search = folds_of_part(task, np.arange(task.n_rows), anew, stream(entropy, "inner folds", "all"))
    n_folds_inside = len(search.splits) // max(len(of_repeat), 1) if anew is None else search.n_splits
    n_pairs = sum(len(mine) * (len(mine) - 1) // 2 for mine in of_repeat.values()) if pairs else 0
    n_inside = 1 if inner == HOLD_OUT or not selects else n_folds_inside
    n_outer = folds.n_splits + sum(map(len, of_further.values()))
    # Before they are made: pairs of many folds are thousands of splits.
    check_splits((n_outer + n_pairs) * n_inside, task.n_rows)
    numbers = RepeatNumbers(1 + max([*search.columns, *of_repeat, *of_further]))
    make = _Maker(task, anew, inner == HOLD_OUT, selects, entropy, numbers)
    outer = [make.branch(mine, (place,)) for mine in of_repeat.values() for place in range(len(mine))]
    if one_search:  # the one that is tested: another, on all rows, might choose what nothing tested
        search = replace(folds, splits=outer[0].inner, halves=(), n_halvings=0)
    others = [make.branch(mine, (place,)) for mine in of_further.values() for place in range(len(mine))]
    two_left_out = ((mine, two) for mine in of_repeat.values() for two in combinations(range(len(mine)), 2))
    share = float(np.mean([len(split.test) / split.n_training_rows for split in folds.splits]))
    return NestedFolds(
        search=search,
        outer=tuple(outer),
        pairs=tuple(make.branch(mine, two) for mine, two in two_left_out) if pairs else (),
        further=tuple(others),
        n_folds=n_folds,
        test_share=share if n_folds is None else 1 / (n_folds - 1),
    )


def _by_repeat(splits: Sequence[Split]) -> dict[int, list[Split]]:
    of_repeat: dict[int, list[Split]] = {}
    for split in splits:
        of_repeat.setdefault(split.repeat, []).append(split)
    return of_repeat


@dataclass(frozen=True, eq=False)
class _Maker:
    """Makes branches, each with repeat numbers of its own."""

    task: Task
    anew: Any
    holds_out: bool
    selects: bool
    entropy: int
    numbers: RepeatNumbers

    def branch(self, mine: list[Split], places: tuple[int, ...]) -> NestedBranch:
        """The search without the folds at ``places`` of one repeat."""
        left_out = [mine[place] for place in places]
        repeat, folds = left_out[0].repeat, tuple(split.fold for split in left_out)
        if not self.selects and len(left_out) == 1:
            return NestedBranch(repeat, folds, (), left_out[0])
        train = left_out[0].train
        for split in left_out[1:]:
            train = _within(train, split.train)
        inner = self._inner(mine, places, train) if self.selects else ()
        tested = np.concatenate([split.test for split in left_out])
        return NestedBranch(repeat, folds, inner, Split(next(self.numbers), folds[0], train, tested))

    def _inner(self, mine: list[Split], places: tuple[int, ...], train: Rows) -> tuple[Split, ...]:
        """The splits of the search on these rows, which lie outside the folds at ``places``."""
        if self.anew is not None:
            folds = (mine[place].fold for place in places)
            return self._divided(train, stream(self.entropy, "inner folds", mine[0].repeat, *folds))
        others = [split for place, split in enumerate(mine) if place not in places]
        if self.holds_out:
            after = (place % len(mine) for place in range(places[0] + 1, places[0] + len(mine)))
            others = [mine[next(place for place in after if place not in places)]]
        return self.numbers.renumbered([replace(split, train=_within(train, split.train)) for split in others])

    def _divided(self, train: Rows, seed: int) -> tuple[Split, ...]:
        """The rows divided anew: distinct ones, of which the copies train where the row does; it is tested once."""
        # A bootstrap sample holds copies of a row, which must never be on both sides.
        counts = np.bincount(train, minlength=self.task.n_rows)
        rows = train if counts.max() == 1 else np.flatnonzero(counts)
        splits = self.numbers.renumbered(folds_of_part(self.task, rows, self.anew, seed).splits, rows)
        return tuple(replace(split, train=np.repeat(split.train, counts[split.train])) for split in splits)


def _within(rows: Rows, others: Rows) -> Rows:
    """Those of the rows, as often as they stand there, that are among the others; ascending."""
    return np.sort(rows[np.isin(rows, others)])


def _anew(folds: Folds, inner: Any, n_folds: int | None) -> Any:
    """What divides the rows outside an outer fold anew; None where the outer folds do."""
    if not isinstance(inner, str):
        return KFolds(int(inner)) if isinstance(inner, int | np.integer) else inner
    if inner != HOLD_OUT or n_folds is not None:
        return None
    n_tested = float(np.mean([len(split.test) for split in folds.splits]))
    if n_tested >= folds.n_training_rows:
        raise InputError(
            f"`inner={HOLD_OUT!r}` holds out as many rows as the outer split tests, {n_tested:.0f}, and only "
            f"{folds.n_training_rows:.0f} rows are left to train; use a `cv` that tests fewer rows, or "
            "`inner=ho.protocols.hold_out(0.25)`."
        )
    return HoldOut((n_tested - 0.5) / folds.n_training_rows)  # a hold-out rounds up to whole rows


def have_remaining(folds: Folds) -> bool:
    """Whether the other outer folds can be the inner ones of each: at least three, which test every row once."""
    return (_number_of_folds(folds, _by_repeat(folds.splits)) or 0) >= 3


def _number_of_folds(folds: Folds, of_repeat: dict[int, list[Split]]) -> int | None:
    """K, where every repeat is a partition into K folds and trains on all that it does not test."""
    sizes = {len(mine) for mine in of_repeat.values()}
    # Splits that leave rows out on both sides are no partition, and the shares of K folds do not hold.
    whole = all(split.n_training_rows + len(split.test) == folds.n_rows for split in folds.splits)
    return sizes.pop() if len(sizes) == 1 and whole and folds.is_partition else None


def _check_inner(inner: Any) -> None:
    if isinstance(inner, str) and inner not in (REMAINING, HOLD_OUT):
        raise InputError(f"inner must be 'remaining', 'holdout', a number of folds or a splitter, got {inner!r}.")
    if not isinstance(inner, str | int | np.integer) and not hasattr(inner, "split"):
        raise InputError(
            f"inner must be 'remaining', 'holdout', a number of folds or a splitter, got {inner!r}; a list of "
            "splits cannot describe how the remaining rows of each outer fold are split."
        )
    if isinstance(inner, int | np.integer) and inner < 2:
        raise InputError(
            f"inner must be 'remaining', 'holdout', a splitter or a number of folds of at least 2, got {inner!r}; "
            "3 or 5 are usual."
        )


def _check_outer(folds: Folds, inner: Any, pairs: bool, n_folds: int | None) -> None:
    """``inner`` is None where nothing is selected."""
    bates = "the interval of Bates, Hastie and Tibshirani"
    remaining = isinstance(inner, str) and inner == REMAINING
    if n_folds is None and (remaining or pairs):
        what = f"`inner={inner!r}`" if remaining else bates
        others = [f"`interval={NADEAU_BENGIO!r}`"] * pairs
        others += [f"`inner={HOLD_OUT!r}` (a development set) or {_NEW_FOLDS}"] * remaining
        raise InputError(
            f"{what} needs outer folds that test every row once, and those of `cv` do not; use another `cv`, or "
            f"{' and '.join(others)}.",
            argument="cv",
        )
    least = {REMAINING: 3, HOLD_OUT: 3}.get(inner if isinstance(inner, str) else "", 2) + pairs
    if n_folds is not None and n_folds < least:
        what = bates if inner is None else f"`inner={inner!r}`{' with two folds left out' if pairs else ''}"
        raise InputError(
            f"{what} needs at least {least} outer folds, got {n_folds}; use `cv={max(least, 5)!r}`, or "
            f"{f'`interval={NADEAU_BENGIO!r}`' if inner is None else _NEW_FOLDS}.",
            argument="cv" if inner is None else "inner",
        )


Across = Literal["folds", "all"]


@dataclass(frozen=True)
class NestedSettings:
    """The arguments of nested cross-validation besides the search; the fields are those of ``nested_cv``."""

    inner: Any = _defaults.INNER
    across: Across = _defaults.ACROSS
    interval: str | BatesHastieTibshirani | None = AUTO

    @property
    def interval_name(self) -> str | None:
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
        return replace(self, interval=automatic_interval(search))

    def scales(self, aggregate: AnyAggregate, metric: Metric) -> Scales:
        """Of the score: two of the intervals are of the scores of folds."""
        by_fold = self.interval_name in (NADEAU_BENGIO, BATES)
        return Scales.of(aggregate, metric, "folds" if by_fold else "as asked")

    def check(self, search: Search) -> None:
        """Refuse, before any fit, settings that do not go together."""
        check_choice("across", self.across, ("folds", "all"))
        if self.interval_name is not None:
            more = ", or None (in Python also ho.protocols.BatesHastieTibshirani(...))"
            check_choice("interval", self.interval_name, (AUTO, *NESTED_INTERVALS), more)
        if self.interval_name == TEST_PART and search.folds.n_splits > 1:
            raise InputError(
                f"`interval={TEST_PART!r}` is for a single outer split, and here are {search.folds.n_splits}; use "
                f"`interval={NADEAU_BENGIO!r}`."
            )
        rule = search.rule
        if self.across == "all" and (rule.reads_all_metrics or rule.reads_models):
            more = "reads several" if rule.reads_all_metrics else "counts in the models of one search"
            raise InputError(
                f"`across='all'` compares one score per configuration, but the selection rule '{rule.name}' "
                f"{more}; use `across='folds'`."
            )
        if self.across == "all" and search.drop is not None:
            raise InputError(
                "`across='all'` compares scores over the inner folds of all outer folds, and with "
                f"`drop={search.drop.name!r}` only configurations that no search dropped have them, perhaps none; "
                f"use `drop=None`, or `across='folds'`."
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
            raise InputError(f"`interval={BATES!r}` {reason}; use `interval={NADEAU_BENGIO!r}`.")
