"""What claims are tested on: numbers of a study, each with its standard error by a bootstrap of the tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from heldout_papers.flat_vs_nested.accuracies import Accuracies, Estimated, Floats, table_ranks
from heldout_papers.flat_vs_nested.analysis import (
    FULL,
    LARGE,
    Compared,
    Outcome,
    compared,
    draws,
    outcome,
    scenarios_of,
)


@dataclass(frozen=True)
class Number:
    """A number that tables make.

    Attributes
    ----------
    value : float
    error : float
        Its standard error: the standard deviation over bootstraps of the tables.
    n_tables : int
    """

    value: float
    error: float
    n_tables: int


@dataclass(frozen=True, eq=False)
class Seen:
    """A study, and what was computed from it already."""

    accuracies: Accuracies
    entropy: int
    _compared: dict[tuple[str, str], Compared] = field(default_factory=dict, repr=False)

    @property
    def scenarios(self) -> dict[str, tuple[str, ...]]:
        return scenarios_of(self.accuracies)

    def compared(self, scenario: str, analysis: str) -> Compared:
        key = scenario, analysis
        if key not in self._compared:
            self._compared[key] = compared(self.accuracies, self.scenarios[scenario], analysis)
        return self._compared[key]

    def outcome(self, scenario: str, analysis: str) -> Outcome:
        return outcome(scenario, analysis, self.compared(scenario, analysis), self.entropy)

    def mean(self, values: Floats) -> Number:
        """The mean of a value a table."""
        n = len(values)
        means = values[draws(n, self.entropy)].mean(axis=1)
        return Number(float(values.mean()), float(means.std(ddof=1)), n)

    def by_table(self, scenario: str, analysis: str, what: str) -> Floats:
        """``gain``, ``threshold``, ``same`` or ``difference``, of repetitions of a table the mean."""
        seen = self.compared(scenario, analysis)
        values: Floats = getattr(seen, what)
        _, place = np.unique(np.array(seen.tables, dtype=str), return_inverse=True)
        return np.asarray(np.bincount(place, weights=values) / np.bincount(place))

    def lead_of_large(self, values: Floats, rows: Floats) -> Number:
        """How much the mean of the large tables is above that of all."""
        large = rows >= LARGE
        few, many = self.mean(values[large]), self.mean(values[~large])
        # The large ones are among all: what they are above the others by, less what they add themselves.
        others = float((~large).mean())
        error = others * float(np.hypot(few.error, many.error))
        return Number(others * (few.value - many.value), error, len(values))

    def rows_of(self, scenario: str, analysis: str) -> Floats:
        """Rows of the tables of ``by_table``."""
        known = dict(zip(self.accuracies.tables, self.accuracies.rows, strict=True))
        names = sorted(set(self.compared(scenario, analysis).tables))
        return np.array([known[name] for name in names], dtype=np.float64)

    def excess(self, over: str, algorithms: tuple[str, ...] | None = None) -> Floats:
        """(T,): the flat estimate less another accuracy, or the nested one less the future one.

        Parameters
        ----------
        over : {"flat-future", "flat-nested", "nested-future"}
        algorithms : tuple of str, optional
            All of them unless told; a mean over these and the repetitions, of what did not fail.
        """
        first, second = over.split("-")
        some = self.accuracies if algorithms is None else self.accuracies.only(algorithms)
        counted = some.candidates
        differences = np.where(counted, getattr(some, first) - getattr(some, second), 0.0).sum(axis=(1, 2))
        with np.errstate(invalid="ignore"):
            return np.asarray(differences / counted.sum(axis=(1, 2)))

    def of_ranks(self, statistic: Callable[[Floats], Floats], *by: Estimated) -> Number:
        """A number that is made of mean ranks: of the article's twelve, in the order of ``FULL``, if all are there.

        Parameters
        ----------
        statistic : callable
            From mean ranks, of shape (..., A) for one ``by`` and (..., 2, A) for two, to (...).
        """
        # Whatever else was measured would move their places, and be ranked among them.
        measured = self.accuracies
        ranked = measured.only(FULL) if set(FULL) <= set(measured.algorithms) else measured
        ranks = np.stack([table_ranks(ranked, one) for one in by], axis=1)
        ranks = ranks[np.isfinite(ranks).all(axis=(1, 2))]
        n = len(ranks)
        counts = np.stack([np.bincount(drawn, minlength=n) for drawn in draws(n, self.entropy)])
        means = np.tensordot(counts / n, ranks, axes=1)
        found, observed = statistic(means), statistic(ranks.mean(axis=0))
        return Number(float(observed), float(np.std(found, ddof=1)), n)
