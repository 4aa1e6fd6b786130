"""Paired subsampling: hold-outs drawn from all rows, and again from both halves of the rows.

By how much the mean of J hold-outs varies cannot be seen in hold-outs of the same rows, which overlap. Two halves
of the rows do not overlap: so the rows are divided in halves M times, and J hold-outs are drawn in each half, with
as many test rows as those of all rows (Nadeau & Bengio 2003, section 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._streams import entropy_of, numpy_seed
from heldout.data.checks import check_count
from heldout.errors import InputError
from heldout.folds.plans import FoldPlan, HoldOut, Pair, Splitter, has_classes


@dataclass(frozen=True)
class PairedHoldOut(FoldPlan):
    """A hold-out drawn several times from all rows, and as often in both halves of several halvings of the rows.

    As a splitter of scikit-learn it gives the J splits of all rows first, then those of the halves: halving by
    halving, first half, second half.

    Examples
    --------
    >>> plan = PairedHoldOut(3, 0.1, halvings=2, random_state=0)
    >>> plan.get_n_splits()  # 3 (1 + 2 · 2)
    15
    >>> [(len(train), len(test)) for train, test in plan.split(np.zeros((40, 1)))][2:5]
    [(36, 4), (16, 4), (16, 4)]
    """

    times: int = 15
    test_share: float = 0.1
    halvings: int = 10
    random_state: int | None = None

    def __post_init__(self) -> None:
        check_count("times", self.times, 2, "15 repeats are usual")
        check_count("halvings", self.halvings, 1, "10 halvings are usual")
        HoldOut(self.test_share)
        if self.test_share >= 0.5:
            raise InputError(
                f"test_share must be below .5, got {self.test_share!r}, because each half of the rows tests as "
                "many rows as all rows do; .1 is usual.",
                argument="test_share",
            )

    @property
    def words(self) -> str:
        return (
            f"{self.times} repeats of {HoldOut(self.test_share).words}, and as many in both halves of "
            f"{self.halvings} halvings"
        )

    @property
    def n_rounds(self) -> int:
        return self.times

    @property
    def n_halvings(self) -> int:
        return self.halvings

    @property
    def draws_test_rows(self) -> bool:
        return True

    def of_round(self, seed: int, *, stratified: bool, grouped: bool) -> Splitter:
        return HoldOut(self.test_share).of_round(seed, stratified=stratified, grouped=grouped)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Pair]:
        """Training and test rows of every split, those of all rows first."""
        yield from super().split(X, y, groups)
        entropy = entropy_of(self.own_seed)
        yield from self.in_halves(len(X), y, groups, entropy, stratified=has_classes(y))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there are, with those of the halves."""
        return self.times * (1 + 2 * self.halvings)

    def in_halves(self, n_rows: int, y: Any, groups: Any, entropy: int, *, stratified: bool) -> Iterator[Pair]:
        """Training and test rows of the splits of halves: halving by halving, first half, second half."""
        for number in range(self.halvings):
            of_half = HoldOut(0.5).of_round(
                numpy_seed(entropy, "halves", number), stratified=stratified, grouped=groups is not None
            )
            for half, rows in enumerate(next(iter(of_half.split(np.zeros(n_rows), y, groups)))):
                yield from self._in_half(np.sort(rows), n_rows, y, groups, (entropy, number, half), stratified)

    def _in_half(
        self,
        rows: NDArray[np.intp],
        n_rows: int,
        y: Any,
        groups: Any,
        half: tuple[int, int, int],
        stratified: bool,
    ) -> Iterator[Pair]:
        entropy, halving, number = half
        own_y = None if y is None else np.asarray(y)[rows]
        own_groups = None if groups is None else np.asarray(groups)[rows]
        n_test = np.ceil(self.test_share * n_rows)  # as many as a hold-out of all rows tests
        # Half a row less, so that scikit-learn, which rounds up, arrives at exactly so many; and at least one row
        # trains.
        share = min(2 * self.test_share if groups is not None else (n_test - 0.5) / len(rows), 1 - 1 / len(rows))
        for draw in range(self.times):
            splitter = HoldOut(share).of_round(
                numpy_seed(entropy, "in halves", halving, number, draw),
                stratified=stratified,
                grouped=groups is not None,
            )
            for train, test in splitter.split(np.zeros(len(rows)), own_y, own_groups):
                yield rows[train], rows[test]


def pairs_in_halves(
    plan: FoldPlan, n_rows: int, labels: NDArray[Any] | None, groups: Any, entropy: int
) -> list[Pair]:
    """Training and test rows of the splits of halves that a plan has; seeded by the run if the plan has no seed.

    ``labels`` are those of the classes that stay in proportion; None where there are none.

    Raises InputError where a half is too small to be split.
    """
    seed = entropy if plan.own_seed is None else plan.own_seed
    try:
        return list(plan.in_halves(n_rows, labels, groups, seed, stratified=labels is not None))
    except ValueError as error:
        raise InputError(
            f"halves of the {n_rows} rows cannot be split ({error}); use `cv=ho.protocols.repeated_hold_out(50, "
            "0.2)` without halves, or more rows.",
            argument="cv",
        ) from error


def paired_hold_out(
    times: int = PairedHoldOut.times,
    test_share: float = PairedHoldOut.test_share,
    halvings: int = PairedHoldOut.halvings,
    *,
    random_state: int | None = None,
) -> FoldPlan:
    """A hold-out drawn several times, from all rows and in both halves of the rows: for method "conservative_z".

    A search scores and selects by the splits of all rows. Then it fits its winner on those of the halves:
    2 · ``times`` · ``halvings`` fits more, which other methods do not read.

    Parameters
    ----------
    times : int, default=15
        Hold-outs of all rows, and of each half.
    test_share : float, default=.1
        Of all rows, below .5. A half tests as many rows.
    halvings : int, default=10
        How often the rows are divided in halves.
    random_state : int, optional
        Seeds the shuffle; by default the seed of the run does.

    Returns
    -------
    FoldPlan
        For ``cv=`` of searches and protocols.

    Raises
    ------
    InputError
        When ``times`` or ``halvings`` is too small, or ``test_share`` is not below .5.

    Examples
    --------
    >>> paired_hold_out().get_n_splits()  # 15 · (1 + 2 · 10)
    315
    """
    return PairedHoldOut(times, test_share, halvings, random_state)
