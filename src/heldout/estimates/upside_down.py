"""Scores that rank the wrong class first: those of an export whose positive class was taken for the other one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from heldout._types import Floats
from heldout.data.task import TaskKind, Truth, labels_text
from heldout.flags import Flag
from heldout.metrics.base import Response
from heldout.predictions import HeldOutPredictions

Z_99 = 2.576
A_TIME = 16
"""Columns that are ranked together, so that ranks take little memory."""
FEWEST = 5
"""Rows of a class, below which an area says nothing: two rows of each are reversed in one of six orders."""


def flag_of_upside_down(truth: Truth, held: HeldOutPredictions) -> dict[Flag, str]:
    """The flag of scores of two classes of which the median configuration ranks clearly worse than chance.

    Its ROC AUC, of pairs of rows of one fold, has a 99 % interval (DeLong's, over rows) that ends below .5. Pairs
    of rows of different folds would not do: without skill, models score the class that they lack lower.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> y = np.arange(40) % 2
    >>> scores = {Response.DECISION: (0.5 - y + np.linspace(0, 0.1, 40))[:, None, None]}
    >>> list(flag_of_upside_down(truth_of(y), HeldOutPredictions(scores, ("a",), classes=np.arange(2), positive=1)))
    [<Flag.UPSIDE_DOWN: 'upside_down'>]
    """
    scores = held.responses.get(Response.DECISION, held.responses.get(Response.PROBABILITIES))
    if truth.kind is not TaskKind.BINARY or truth.classes is None or truth.positive is None or scores is None:
        return {}
    positive = truth.values == truth.positive
    folds = np.zeros(len(scores)) if held.folds is None else held.folds[:, 0]
    parts = [_areas(scores[:, at : at + A_TIME, 0], positive, folds) for at in range(0, scores.shape[1], A_TIME)]
    if any(part is None for part in parts):
        return {}
    areas, high = np.concatenate([part for part in parts if part is not None], axis=1)
    ranked = np.argsort(areas)[: np.isfinite(areas).sum()]  # a configuration without some predictions has none
    if not ranked.size or high[middle := ranked[len(ranked) // 2]] >= 0.5:
        return {}
    label, other = (labels_text([truth.classes[code]]) for code in (truth.positive, 1 - truth.positive))
    sentence = Flag.UPSIDE_DOWN.filled(positive=label, other=other, area=areas[middle], high=high[middle])
    return {Flag.UPSIDE_DOWN: sentence}


def _areas(scores: NDArray[Any], positive: NDArray[np.bool_], folds: NDArray[Any]) -> Floats | None:
    """(2, D): areas of columns (n, D), and the upper ends of their intervals; None where a class has few rows."""
    columns = np.asarray(scores, dtype=np.float64)
    shares: dict[bool, list[Floats]] = {True: [], False: []}
    for fold in np.unique(folds):
        sides = {side: columns[(folds == fold) & (positive == side)] for side in (True, False)}
        if all(map(len, sides.values())):
            ranks = rankdata(np.concatenate([sides[True], sides[False]]), axis=0)
            n = len(sides[True])
            shares[True].append((ranks[:n] - rankdata(sides[True], axis=0)) / len(sides[False]))
            shares[False].append(1 - (ranks[n:] - rankdata(sides[False], axis=0)) / n)
    placements = [np.concatenate(parts) for parts in shares.values() if parts]
    if len(placements) < 2 or min(map(len, placements)) < FEWEST:
        return None
    areas = placements[0].mean(axis=0)
    high = areas + Z_99 * np.sqrt(sum(each.var(axis=0, ddof=1) / len(each) for each in placements))
    return np.stack([areas, high])
