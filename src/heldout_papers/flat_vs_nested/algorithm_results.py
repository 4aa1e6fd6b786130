"""Three accuracies of each algorithm on one half of a table: flat, nested and future.

The folds of flat cross-validation are the outer folds of the nested one: the nested estimate differs by what is
chosen within them, and by nothing else.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

from heldout._random import numpy_seed
from heldout_papers.flat_vs_nested.algorithms import Algorithm, AlgorithmScores, PreparedRows
from heldout_papers.flat_vs_nested.paths import Floats

Places = NDArray[np.intp]


@dataclass(frozen=True)
class AlgorithmResult:
    """What was found of an algorithm; the accuracies are NaN together, for the reason given."""

    flat: float
    nested: float
    future: float
    n_configurations: int
    # Of all fits that each needs, its last one included
    flat_seconds: float
    nested_seconds: float
    reason: str


def halves(y: NDArray[np.intp], max_rows: int | None, seed: int) -> tuple[Places, Places]:
    """Two stratified halves of the rows, or of as many as may be drawn: to train on, and to score on."""
    places = np.arange(len(y))
    if max_rows is not None and max_rows < len(y):
        places, _ = train_test_split(places, train_size=max_rows, stratify=y, random_state=seed)
    train, test = train_test_split(places, test_size=0.5, stratify=y[places], random_state=seed)
    return train, test


def algorithm_results(
    algorithms: Sequence[Algorithm],
    X: Any,
    y: NDArray[np.intp],
    split: tuple[Places, Places],
    n_folds: int,
    entropy: int,
    place: tuple[int | str, ...],
) -> list[AlgorithmResult]:
    """Flat, nested and future accuracy of each algorithm.

    ``X, y`` (N, p); ``split``: rows of the training half and of the other; ``n_folds``: of flat
    cross-validation, and of both loops of the nested one; ``entropy, place``: what seeds folds and models.
    """
    train, test = split

    def scores(fitted_on: Places, scored_on: Places, *where: int | str) -> list[AlgorithmScores]:
        rows = PreparedRows(_rows(X, y, fitted_on), _rows(X, y, scored_on), entropy, (*place, *where))
        return [rows.scores(algorithm) for algorithm in algorithms]

    outer, inner = [], []
    with warnings.catch_warnings():
        # Of thousands of fits some do not converge, and some folds lack the rarer class: it is part of the study.
        warnings.simplefilter("ignore")
        for k, (rest, fold) in enumerate(_folds(train, y, n_folds, numpy_seed(entropy, "folds", *place))):
            outer.append(scores(rest, fold, "outer", k))
            within = _folds(rest, y, n_folds, numpy_seed(entropy, "inner folds", *place, k))
            inner.append([scores(less, part, "inner", k, m) for m, (less, part) in enumerate(within)])
        half = PreparedRows(_rows(X, y, train), _rows(X, y, test), entropy, (*place, "half"))
        return [
            _of_one(algorithm, [fold[a] for fold in outer], [[part[a] for part in fold] for fold in inner], half)
            for a, algorithm in enumerate(algorithms)
        ]


def _of_one(
    algorithm: Algorithm,
    outer: Sequence[AlgorithmScores],
    inner: Sequence[Sequence[AlgorithmScores]],
    half: PreparedRows,
) -> AlgorithmResult:
    by_fold = np.array([fold.values for fold in outer])
    means = by_fold.mean(axis=0)
    winner = _best(means)
    chosen = [_best(np.mean([part.values for part in parts], axis=0)) for parts in inner]
    flat, nested, future, reason = np.nan, np.nan, np.nan, ""
    flat_seconds = sum(fold.seconds for fold in outer)
    if winner is not None and None not in chosen:
        last = half.scores(algorithm, [winner])
        flat, future, reason = float(means[winner]), float(last.values[0]), last.reason
        nested = float(np.mean([by_fold[k, c] for k, c in enumerate(chosen)]))
        flat_seconds += last.seconds
    if np.isnan([flat, nested, future]).any():
        flat = nested = future = np.nan
        reasons = [reason, *(one.reason for one in outer), *(part.reason for parts in inner for part in parts)]
        reason = next((one for one in reasons if one), "no configuration worked in all folds")
    nested_seconds = flat_seconds + sum(part.seconds for parts in inner for part in parts)
    return AlgorithmResult(
        flat, nested, future, len(algorithm.configurations), flat_seconds, nested_seconds, reason
    )


def _best(means: Floats) -> int | None:
    """The first of the best; a configuration that failed in any fold is none of them."""
    # Sums in other orders differ in the last digit, and would break ties of equal accuracies.
    rounded = np.round(means, 12)
    return None if np.isnan(rounded).all() else int(np.nanargmax(rounded))


def _rows(X: Any, y: NDArray[np.intp], places: Places) -> tuple[Any, NDArray[np.intp]]:
    return X.iloc[places], y[places]


def _folds(places: Places, y: NDArray[np.intp], n_folds: int, seed: int) -> list[tuple[Places, Places]]:
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(places, y[places])
    return [(places[rest], places[fold]) for rest, fold in folds]
