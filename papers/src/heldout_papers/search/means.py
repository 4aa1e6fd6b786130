"""Means over tables with their standard errors, which the claims and pictures of a study of searches use."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout_papers.engine.claims import Mean, average
from heldout_papers.search.protocols import LEVELS
from heldout_papers.search.result import SHOWN_LEVEL, RepeatedProtocol, SearchPlace, SearchStudy, ratio

Floats = NDArray[np.float64]

LEAST_SUBSAMPLES = 10
"""Of an N, over all tables: with fewer, standard errors are too uncertain themselves."""


def mean_over_tables(by_table: Sequence[Floats]) -> Mean:
    """The mean of the tables' means; NaN entries are left out.

    Examples
    --------
    >>> mean_over_tables([np.array([1.0, 3.0]), np.array([5.0, 7.0, np.nan])])
    Mean(value=4.0, error=0.7071067811865476, n=0, where='')
    """
    known = [values[~np.isnan(values)] for values in by_table]
    known = [values for values in known if len(values)]
    if not known:
        return Mean(float("nan"), float("nan"))
    variances = [values.var(ddof=1) / len(values) if len(values) > 1 else np.nan for values in known]
    return Mean(float(np.mean([v.mean() for v in known])), float(np.sqrt(np.sum(variances)) / len(known)))


@dataclass(frozen=True, eq=False)
class SearchMeans:
    """A study with the means that the article shows."""

    study: SearchStudy

    def places(self, rows: int) -> list[SearchPlace]:
        """Of one N."""
        return [place for place in self.study.places if place.rows == rows]

    def has(self, rows: Sequence[int], repeats: int = 1) -> bool:
        """Whether claims about these N and so many repeats can be tested."""
        n_each = self.study.subsamples
        enough = all(len(self.places(n)) * n_each >= LEAST_SUBSAMPLES for n in rows)
        return enough and n_each > 1 and self.study.folds == 10 and self.study.repeats >= repeats

    def errors(self, entry: RepeatedProtocol, rows: int) -> list[Floats]:
        """Estimate less truth, of a loss truth less estimate, one array per table."""
        return [
            self.study.sign * (self.study.of("estimate", entry, place) - self.study.of("truth", entry, place))
            for place in self.places(rows)
        ]

    def bias(self, entry: RepeatedProtocol, rows: int) -> Mean:
        return mean_over_tables(self.errors(entry, rows))

    def size_of_bias(self, entry: RepeatedProtocol, rows: Sequence[int]) -> Mean:
        """The mean over tables and N of the bias's size, whichever side it is on."""
        every = (mean_over_tables([errors]) for n in rows for errors in self.errors(entry, n))
        return average(abs(mean) for mean in every)

    def difference(self, entry: RepeatedProtocol, less: RepeatedProtocol, rows: int) -> Mean:
        """The bias of one protocol less that of another, on the same sub-samples."""
        pairs = zip(self.errors(entry, rows), self.errors(less, rows), strict=True)
        return mean_over_tables([mine - other for mine, other in pairs])

    def relative(self, entry: RepeatedProtocol, to: RepeatedProtocol, place: SearchPlace) -> Mean:
        """The mean truth of one protocol's winners over that of another's, less 1; of a loss 1 less that."""
        mine, other = self.study.of("truth", entry, place), self.study.of("truth", to, place)
        change = mean_over_tables([mine - other])
        base = mean_over_tables([other[~np.isnan(mine)]])
        size = self.study.sign * abs(base.value) or float("nan")
        return Mean(change.value / size, change.error / abs(size))

    def relative_over_tables(self, entry: RepeatedProtocol, to: RepeatedProtocol, rows: int) -> Mean:
        return average(self.relative(entry, to, place) for place in self.places(rows))

    def speed_up(self, entry: RepeatedProtocol, place: SearchPlace) -> float:
        """How many times as many models CVT trains."""
        return ratio(self.study.of("models", RepeatedProtocol("cv"), place), self.study.of("models", entry, place))

    def inside(self, entry: RepeatedProtocol, rows: int) -> Floats:
        """(sub-samples of all tables, levels): 1 where the interval holds the truth."""
        found = []
        for place in self.places(rows):
            truth = self.study.of("truth", entry, place)[:, None]
            low, high = self.study.of("low", entry, place), self.study.of("high", entry, place)
            known = ~np.isnan(truth[:, 0] + low[:, 0])
            found.append(((low <= truth) & (truth <= high))[known].astype(np.float64))
        return np.concatenate(found)

    def coverage(self, entry: RepeatedProtocol, rows: int) -> Floats:
        """(levels,): the share of intervals that hold the truth."""
        inside = self.inside(entry, rows)
        return inside.mean(axis=0) if len(inside) else np.full(len(LEVELS), np.nan)

    def excess(self, entry: RepeatedProtocol, rows: int) -> Mean:
        """Coverage less level, on average over the levels."""
        return mean_over_tables([(self.inside(entry, rows) - np.array(LEVELS)).mean(axis=1)])

    def miscalibration(self, entry: RepeatedProtocol, rows: int) -> Mean:
        """How far coverage is from the level, on average over the levels; its error is the jackknife's."""
        inside = self.inside(entry, rows)
        value = float(np.abs(self.coverage(entry, rows) - np.array(LEVELS)).mean())
        n = len(inside)
        if n < 2:
            return Mean(value, float("nan"))
        without = (inside.sum(axis=0) - inside) / (n - 1)
        each = np.abs(without - np.array(LEVELS)).mean(axis=1)
        return Mean(value, float(np.sqrt((n - 1) * each.var())))

    def widths(self, entry: RepeatedProtocol, rows: int) -> list[Floats]:
        """Of the 95 % interval, one array per table."""
        level = LEVELS.index(SHOWN_LEVEL)
        return [
            (self.study.of("high", entry, place) - self.study.of("low", entry, place))[:, level]
            for place in self.places(rows)
        ]

    def width(self, entry: RepeatedProtocol, rows: int) -> Mean:
        return mean_over_tables(self.widths(entry, rows))

    def narrowing(self, entry: RepeatedProtocol, wider: RepeatedProtocol, rows: int) -> Mean:
        """The width of one protocol less that of another, on the same sub-samples."""
        pairs = zip(self.widths(entry, rows), self.widths(wider, rows), strict=True)
        return mean_over_tables([mine - other for mine, other in pairs])
