"""The double bootstrap: samples of a bootstrap sample, which correct its score like that of all rows.

The percentiles of these corrected scores are the two-stage interval of Noma et al. (2021): the whole procedure, fit
and correction, is repeated on samples that vary as the data would. Out-of-bag refers to *original* rows: a row is
outside a sample of a sample only with all its copies.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.draws import Counts, Defined, Draws, always
from heldout.metrics.base import Metric
from heldout.protocols.validation.corrections.base import Correction
from heldout.protocols.validation.replicates import Predictions, Replicates


def inner_counts(
    counts: Counts,
    n_inner: int,
    seed: int,
    *,
    unit_of_row: NDArray[np.intp] | None = None,
    in_bag: Defined = always,
    left_out: Defined = always,
) -> Counts:
    """Draw as many rows from a bootstrap sample as it holds, with replacement.

    Inner sample i does not depend on ``n_inner``.

    - ``counts`` (N,): how often the outer sample drew each row.
    - ``seed``: 64 bits, of the outer sample: ``stream(entropy, "inner draws", b)``.
    - ``unit_of_row`` (N,): groups as codes from 0: they are drawn whole, as the outer sample drew them.
    - ``in_bag``, ``left_out``: from (L, N) counts, of the drawn rows and of those in the outer sample that were not
      drawn, to the usable draws (L,); the others are drawn again.

    Returns (n_inner, N): how often each original row was drawn; never a row that the outer sample lacks.

    Raises UndefinedDrawsError when no draw is usable: the outer sample holds too little of something, and has no
    corrected score.

    Examples
    --------
    >>> drawn = inner_counts(np.array([3, 0, 1, 0], dtype=np.uint8), 2, seed=1)
    >>> drawn.sum(axis=1).tolist(), drawn[:, [1, 3]].sum().item()
    ([4, 4], 0)
    """
    units = np.arange(len(counts)) if unit_of_row is None else unit_of_row
    first = np.unique(units, return_index=True)[1]
    held = np.repeat(np.arange(len(first)), counts[first])  # a unit as often as the outer sample drew it
    starts = np.flatnonzero(np.r_[True, np.diff(held) > 0])

    def by_row(places: Counts) -> Counts:
        """Counts of places in the sample (L, n) as counts of original rows (L, N)."""
        of_unit = np.zeros((len(places), len(first)), dtype=np.uint8)
        of_unit[:, held[starts]] = np.add.reduceat(places, starts, axis=1, dtype=np.uint8)
        return of_unit[:, units]

    def usable(places: Counts) -> NDArray[np.bool_]:
        drawn = by_row(places)
        rest: Counts = np.where(drawn == 0, counts, 0).astype(np.uint8)
        return in_bag(drawn) & left_out(rest)

    draws = Draws(seed, n_inner, np.arange(len(held)), defined_in_bag=usable, defined_out_of_bag=always)
    return by_row(draws.block(0, n_inner)[0])


def inner_replicates(
    outer: Replicates, b: int, counts: Counts, on_original: Predictions, failed: Mapping[int, str] | None = None
) -> Replicates:
    """The replicates of one outer sample: its own model is the one that was fitted on all there is.

    - ``outer``: of all rows; b one of those that have a model.
    - ``counts`` (n_inner, N): as ``inner_counts`` gives them.
    - ``on_original`` (N, H, n_inner[, outputs]): what the models of the inner samples say of all rows.
    - ``failed``: inner samples without a model, and why.

    Notes
    -----
    Where missing values are imputed in each sample anew, the completions of the outer sample stand by its own rows
    and not by those of the original: then ``outer.on_original`` takes their place, which were completed before.
    """
    return Replicates(
        outer.truth,
        counts=counts,
        apparent={response: said[:, :, b] for response, said in outer.on_original.items()},
        on_original=on_original,
        weights=outer.weights,
        drawn_from=outer.counts[b],
        times=outer.times,
        failed=failed or {},
    )


def corrected_score(correction: Correction, metric: Metric, inner: Replicates) -> float:
    """The corrected score of one outer sample."""
    return correction.corrected(inner, inner.scores(metric)).value
