"""The numbers that the claims and the page of a study of flat and nested cross-validation need.

Chance is a bootstrap of the tables, because the article's are other tables than ours.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from heldout.advice.flat_vs_nested import bootstrap_draws
from heldout_papers.engine.claims import Mean
from heldout_papers.flat_vs_nested.accuracies import Accuracies, Estimated, Floats, table_ranks
from heldout_papers.flat_vs_nested.analysis import (
    FULL,
    LARGE,
    ComparisonRow,
    Gains,
    comparison_row,
    gains,
    scenarios_of,
)


@dataclass(frozen=True, eq=False)
class AccuracyMeans:
    """The accuracies of a study, with the numbers that claims need; gains are computed once."""

    accuracies: Accuracies
    entropy: int
    _gains: dict[tuple[str, str], Gains] = field(default_factory=dict, repr=False)

    @property
    def scenarios(self) -> dict[str, tuple[str, ...]]:
        return scenarios_of(self.accuracies)

    def gains(self, scenario: str, analysis: str) -> Gains:
        key = scenario, analysis
        if key not in self._gains:
            self._gains[key] = gains(self.accuracies, self.scenarios[scenario], analysis)
        return self._gains[key]

    def row(self, scenario: str, analysis: str) -> ComparisonRow:
        return comparison_row(scenario, analysis, self.gains(scenario, analysis), self.entropy)

    def mean(self, values: Floats) -> Mean:
        """The mean of one value per table, where it is known; chance is that of bootstraps of the tables."""
        values = values[np.isfinite(values)]
        n = len(values)
        means = values[bootstrap_draws(n, self.entropy)].mean(axis=1)
        return Mean(float(values.mean()), float(means.std(ddof=1)), n)

    def by_table(self, scenario: str, analysis: str, what: str) -> Floats:
        """``gain``, ``threshold``, ``same`` or ``difference``, of repetitions of a table the mean."""
        found = self.gains(scenario, analysis)
        values: Floats = getattr(found, what)
        _, place = np.unique(np.array(found.tables, dtype=str), return_inverse=True)
        return np.asarray(np.bincount(place, weights=values) / np.bincount(place))

    def lead_of_large(self, values: Floats, rows: Floats) -> Mean:
        """How much the mean of the large tables is above that of all."""
        large = rows >= LARGE
        few, many = self.mean(values[large]), self.mean(values[~large])
        # The large tables are among all: their lead over the others, less their own part in the mean of all.
        others = float((~large).mean())
        error = others * float(np.hypot(few.error, many.error))
        return Mean(others * (few.value - many.value), error, len(values))

    def rows_of(self, scenario: str, analysis: str) -> Floats:
        """Rows of the tables of ``by_table``."""
        known = dict(zip(self.accuracies.tables, self.accuracies.rows, strict=True))
        names = sorted(set(self.gains(scenario, analysis).tables))
        return np.array([known[name] for name in names], dtype=np.float64)

    def excess(self, over: str, algorithms: tuple[str, ...] | None = None) -> Floats:
        """(T,): the flat estimate less another accuracy, or the nested one less the future one.

        ``algorithms``: all by default; a mean over these and the repetitions in which they did not fail.
        """
        first, second = over.split("-")
        some = self.accuracies if algorithms is None else self.accuracies.only(algorithms)
        candidates = some.candidates
        differences = np.where(candidates, getattr(some, first) - getattr(some, second), 0.0).sum(axis=(1, 2))
        with np.errstate(invalid="ignore"):
            return np.asarray(differences / candidates.sum(axis=(1, 2)))

    def of_ranks(self, statistic: Callable[[Floats], Floats], *by: Estimated) -> Mean:
        """A number that mean ranks make: of the article's twelve algorithms, in the order of ``FULL``, if measured.

        ``statistic``: from mean ranks, of shape (..., A) for one ``by`` and (..., 2, A) for two, to (...).
        """
        # Other algorithms would move the places of the twelve, and would be ranked among them.
        measured = self.accuracies
        ranked = measured.only(FULL) if set(FULL) <= set(measured.algorithms) else measured
        ranks = np.stack([table_ranks(ranked, one) for one in by], axis=1)
        ranks = ranks[np.isfinite(ranks).all(axis=(1, 2))]
        n = len(ranks)
        counts = np.stack([np.bincount(drawn, minlength=n) for drawn in bootstrap_draws(n, self.entropy)])
        means = np.tensordot(counts / n, ranks, axes=1)
        found, observed = statistic(means), statistic(ranks.mean(axis=0))
        return Mean(float(observed), float(np.std(found, ddof=1)), n)


def kendall(ranks: Floats) -> Floats:
    """Kendall's τ of two rankings, of shape (..., 2, A): pairs in the same order less pairs in another, of all.

    Examples
    --------
    >>> float(kendall(np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]])).round(3))
    0.333
    """
    signs = np.sign(ranks[..., :, None] - ranks[..., None, :])
    n = ranks.shape[-1]
    return np.asarray((signs[..., 0, :, :] * signs[..., 1, :, :]).sum(axis=(-2, -1)) / (n * (n - 1)))
