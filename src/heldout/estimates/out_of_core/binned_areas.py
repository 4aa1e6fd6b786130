"""The area under the ROC curve from scores sorted into bins.

Bins are intervals of a configuration's scores, the same for the whole table, so that the number of rows of each
class in each bin adds up over blocks. Within a bin positive and negative rows are tied: each such pair counts one
half, where the scores themselves would give it 0, one half or 1. So the area lies within half the share of the
pairs that share a bin, which is counted and not estimated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.estimates.out_of_core.block_sums import BootstrapScores, Keeps, TableScores
from heldout.estimates.out_of_core.blocks import Block, BlockReading, BlockSource
from heldout.kernels.dispatch import add_bin_sums, find_bins

SUMS_BYTES = 24 << 20
"""About what the sums of a task may take; it decides how many bootstraps it takes at once. The file is read once
for so many: with 64 MiB there is a seventh less to do, but finished tasks wait in line with what they found."""
CACHE_LINE = 64


def cuts_of(scores: NDArray[np.float64], n_bins: int) -> NDArray[np.float64]:
    """Where bins begin: (C, n_bins), ascending and padded with infinity.

    With few distinct scores each has its own bin. Otherwise bins hold about as many of the given rows each.

    Examples
    --------
    >>> cuts_of(np.array([[0.1], [0.5], [0.5], [0.9]]), 4)
    array([[0.1, 0.5, 0.9, inf]])
    """
    cuts = np.full((scores.shape[1], n_bins), np.inf)
    for own, column in zip(cuts, scores.T, strict=True):
        values = np.unique(column)
        if len(values) > n_bins:
            ranked = np.sort(column)
            values = np.unique(ranked[np.arange(n_bins) * len(ranked) // n_bins])
        own[: len(values)] = values
    return cuts


def ties_in_range(
    source: BlockSource, reading: BlockReading, cuts: NDArray[np.float64], first: int, last: int
) -> NDArray[np.bool_]:
    """(C,): whether every score of some blocks is the beginning of its bin, so that rows of one bin are tied."""
    ties = np.ones(len(cuts), dtype=bool)
    for block in source.blocks(first, last):
        for j, column in enumerate(np.asarray(reading.of(block), dtype=np.float64).T):
            if ties[j]:
                places = np.searchsorted(cuts[j], column, side="right") - 1
                ties[j] = bool((cuts[j][np.maximum(places, 0)] == column).all())
    return ties


@dataclass(frozen=True, eq=False)
class BinnedAreas:
    """A ``Plan``: the rows of each class in each bin of every configuration."""

    reading: BlockReading
    # (C, n_bins): where bins begin, of scores that point to ``positive``; lower scores are in the first bin too
    cuts: NDArray[np.float64]
    ties: NDArray[np.bool_]  # (C,): whether rows of one bin are tied, so that no area is moved
    positive: int  # the code of the positive class
    keeps: Keeps

    @property
    def n_bins(self) -> int:
        return self.cuts.shape[1]

    @property
    def lanes(self) -> int:
        a_lane = 2 * 4 * 2 * self.n_bins * len(self.cuts)
        return max(CACHE_LINE, SUMS_BYTES // a_lane // CACHE_LINE * CACHE_LINE)

    @property
    def together(self) -> int:
        return self.lanes

    def prepared(self, block: Block) -> NDArray[np.uint16]:
        """(n, C): the bin of each score, those of positive rows counted on from ``n_bins``."""
        scores = np.asarray(self.reading.of(block), dtype=np.float64)
        of_positives = (block.truth.values == self.positive).astype(np.uint16) * np.uint16(self.n_bins)
        return find_bins(scores, self.cuts[:, 1:]) + of_positives[:, None]

    def zeros(self, lanes: int) -> NDArray[np.uint32]:
        """(2, C, 2 n_bins, lanes): in the bag and out of it."""
        return np.zeros((2, len(self.cuts), 2 * self.n_bins, lanes), dtype=np.uint32)

    def add(
        self, total: NDArray[np.uint32], lanes: slice, counts: NDArray[np.uint8], prepared: NDArray[np.uint16]
    ) -> None:
        assert total.shape[-1] == len(counts), "all lanes are taken together"
        add_bin_sums(counts, prepared, total[0], total[1])

    def outcome(self, total: NDArray[np.uint32]) -> BootstrapScores:
        (areas, bounds, in_bag), (left_areas, left_bounds, left_out) = (self._areas(side) for side in total)
        chosen = areas.argmax(axis=0)
        each = np.arange(len(chosen))
        others = areas + bounds
        others[chosen, each] = -np.inf
        certain = areas[chosen, each] - bounds[chosen, each] > others.max(axis=0)
        nothing_moved = ~bounds.any(axis=0)  # equal areas are equal then
        return BootstrapScores(
            chosen,
            left_areas[chosen, each],
            in_bag & left_out,
            left_bounds[chosen, each],
            certain | nothing_moved | (len(areas) == 1),
            {"in the bag": areas, "out of the bag": left_areas}.get(self.keeps, areas[:0]).T,
        )

    def observed(self, total: NDArray[np.uint32]) -> TableScores:
        areas, bounds, _ = self._areas(total[0])
        return TableScores(areas[:, 0], int(areas[:, 0].argmax()), bounds[:, 0])

    def _areas(
        self, side: NDArray[np.uint32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """From sums (C, 2 n_bins, L): areas and bounds (C, L), and whether both classes have rows (L,)."""
        areas, bounds = [], []
        pairs = np.zeros(side.shape[2])
        for cells, exact in zip(side, self.ties, strict=True):
            negative, positive = cells[: self.n_bins].astype(np.int64), cells[self.n_bins :].astype(np.int64)
            pairs = (negative.sum(axis=0) * positive.sum(axis=0)).astype(np.float64)
            below = np.cumsum(negative, axis=0) - negative
            tied = (positive * negative).sum(axis=0)
            twice = 2 * (positive * below).sum(axis=0) + tied
            with np.errstate(invalid="ignore", divide="ignore"):
                areas.append(twice / (2 * pairs))
                bounds.append(tied * (not exact) / (2 * pairs))
        return np.nan_to_num(np.stack(areas)), np.nan_to_num(np.stack(bounds)), pairs > 0
