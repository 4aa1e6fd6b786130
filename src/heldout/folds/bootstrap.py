"""The bootstrap as a plan of folds: each split trains on rows drawn with replacement and tests those left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import labels_text
from heldout.errors import InputError
from heldout.folds.plans import FoldPlan, Pair, Splitter, check_count

MOST_ATTEMPTS = 1000
"""Draws of one sample until every class is on both sides."""


@dataclass(frozen=True)
class BootstrapSamples(FoldPlan):
    """Samples of N rows drawn with replacement, whole groups where there are groups; each tests what it left out.

    A row trains as often as it was drawn. Searches inside a sample keep the copies of a row on one side.

    Examples
    --------
    >>> plan = BootstrapSamples(2, random_state=0)
    >>> [(len(train), len(set(train) | set(test))) for train, test in plan.split(np.zeros((8, 1)))]
    [(8, 8), (8, 8)]
    """

    times: int = 50
    random_state: int | None = None

    def __post_init__(self) -> None:
        check_count("times", self.times, 1, "50 to 200 samples are usual")

    @property
    def words(self) -> str:
        return f"{self.times} bootstrap samples"

    @property
    def n_rounds(self) -> int:
        return self.times

    @property
    def draws_test_rows(self) -> bool:
        return True

    def of_round(self, seed: int, *, stratified: bool, grouped: bool) -> Splitter:
        return OneSample(seed, stratified, grouped)


@dataclass(frozen=True)
class OneSample:
    """One sample: drawn again until each class is drawn, and left out too unless a single unit holds all of it."""

    random_state: int
    stratified: bool
    grouped: bool

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Pair]:
        """The drawn rows in ascending order, each as often as it was drawn, and the rows left out.

        Raises InputError for one row or group, or where no draw has every class on both sides.
        """
        n_rows = len(X)
        units = np.arange(n_rows)
        if self.grouped:
            units = np.unique(np.asarray(groups), return_inverse=True)[1].reshape(-1)
        n_units = int(units.max()) + 1
        if n_units < 2:
            raise InputError(
                f"a bootstrap sample draws some {self._unit}s and leaves out others, so it needs at least 2, got "
                f"{n_units}.",
                argument="groups" if self.grouped else "cv",
            )
        # One column per class: whether a unit holds a row of it.
        labels = np.unique(np.asarray(y)) if self.stratified else np.zeros(0)
        held = np.zeros((n_units, len(labels)), dtype=bool)
        for column, label in enumerate(labels):
            held[units[np.asarray(y) == label], column] = True
        generator = np.random.Generator(np.random.Philox(self.random_state))
        for _ in range(MOST_ATTEMPTS):
            counts = np.bincount(generator.integers(n_units, size=n_units), minlength=n_units)
            if self._is_usable(counts, held):
                yield np.repeat(np.arange(n_rows), counts[units]), np.flatnonzero(counts[units] == 0)
                return
        rare = int(held.sum(axis=0).argmin())
        raise InputError(
            f"no bootstrap sample of {MOST_ATTEMPTS} had every class among the {self._unit}s drawn and among those "
            f"left out: class {labels_text(labels[rare : rare + 1])} is in {held[:, rare].sum()} "
            f"{self._unit}s; gather more of it, or use folds.",
            argument="cv",
        )

    @property
    def _unit(self) -> str:
        return "group" if self.grouped else "row"

    @staticmethod
    def _is_usable(counts: NDArray[np.intp], held: NDArray[np.bool_]) -> bool:
        drawn, left_out = counts > 0, counts == 0
        can_be_apart = held.sum(axis=0) > 1
        return bool(
            left_out.any() and held[drawn].any(axis=0).all() and held[left_out].any(axis=0)[can_be_apart].all()
        )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """One."""
        return 1


def bootstrap(times: int = 50, *, random_state: int | None = None) -> FoldPlan:
    """The bootstrap as a plan of folds: every sample trains, and the rows that it left out test.

    N rows are drawn with replacement (whole groups where there are groups), so that a sample holds about 63 % of
    the rows and leaves out 37 %. A sample that lacks a class is drawn again. The score is that of models trained
    on 63 % of the rows, so it is pessimistic for the model to deploy. Nested cross-validation with this plan needs
    inner folds of its own (``inner=5``), which keep the copies of a row on one side.

    Parameters
    ----------
    times : int, default=50
        B, the number of samples.
    random_state : int, optional
        By default the seed of the run.

    Returns
    -------
    FoldPlan
        For ``cv=`` of searches and protocols.

    Raises
    ------
    InputError
        When ``times`` is not an integer of at least 1.

    Examples
    --------
    >>> bootstrap(200).words
    '200 bootstrap samples'
    """
    return BootstrapSamples(times, random_state)
