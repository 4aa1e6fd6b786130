"""Three scores of each algorithm on one half of a table: flat, nested and future.

The folds of flat cross-validation are the outer folds of the nested one, so that the nested estimate differs by
what is chosen within them, and by nothing else; or each draws its own, as the article's programs do.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

from heldout._streams import numpy_seed
from heldout.metrics.base import Metric, oriented
from heldout_papers.flat_vs_nested.algorithms import Algorithm, AlgorithmScores, PreparedRows
from heldout_papers.flat_vs_nested.paths import Floats
from heldout_papers.flat_vs_nested.scoring import RowScoring

Places = NDArray[np.intp]


@dataclass(frozen=True)
class AlgorithmResult:
    """What was found of an algorithm; its scores are NaN together, for the reason given."""

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


@dataclass(frozen=True)
class CrossValidation:
    """How both estimates are cross-validated."""

    n_folds: int  # Of flat cross-validation, and of both loops of the nested one
    has_own_folds: bool = False  # Whether flat cross-validation draws other folds than the outer ones of the nested


def algorithm_results(
    algorithms: Sequence[Algorithm],
    X: Any,
    scoring: RowScoring,
    split: tuple[Places, Places],
    how: CrossValidation,
    entropy: int,
    place: tuple[int | str, ...],
) -> list[AlgorithmResult]:
    """Flat, nested and future score of each algorithm.

    ``X`` (N, p); ``split``: rows of the training half and of the other; ``entropy, place``: what seeds folds and
    models.
    """
    train, test = split
    y = scoring.truth.values

    def scores(fitted_on: Places, scored_on: Places, *where: int | str) -> list[AlgorithmScores]:
        rows = PreparedRows(X, scoring, fitted_on, scored_on, entropy, (*place, *where))
        return [rows.scores(algorithm) for algorithm in algorithms]

    def folds_of(rows: Places, what: str, *where: int | str) -> list[tuple[Places, Places]]:
        return _folds(rows, y, how.n_folds, numpy_seed(entropy, what, *where))

    outer, inner = [], []
    with warnings.catch_warnings():
        # Of thousands of fits some do not converge, and some folds lack the rarer class: it is part of the study.
        warnings.simplefilter("ignore")
        for k, (rest, fold) in enumerate(folds_of(train, "folds", *place)):
            outer.append(scores(rest, fold, "outer", k))
            within = folds_of(rest, "inner folds", *place, k)
            inner.append([scores(less, part, "inner", k, m) for m, (less, part) in enumerate(within)])
        flat = outer
        if how.has_own_folds:
            own = folds_of(train, "flat folds", *place)
            flat = [scores(rest, fold, "flat", k) for k, (rest, fold) in enumerate(own)]
        half = PreparedRows(X, scoring, train, test, entropy, (*place, "half"))
        found = []
        for a, algorithm in enumerate(algorithms):
            of_outer = tuple(fold[a] for fold in outer)
            of_flat = tuple(fold[a] for fold in flat) if how.has_own_folds else of_outer
            of_inner = tuple(tuple(part[a] for part in parts) for parts in inner)
            fits = AlgorithmFits(of_flat, of_outer, of_inner)
            found.append(_of_one(algorithm, fits, half, scoring.metric))
    return found


@dataclass(frozen=True)
class AlgorithmFits:
    """The scores of an algorithm's configurations in every fold."""

    flat: tuple[AlgorithmScores, ...]
    outer: tuple[AlgorithmScores, ...]  # Those of ``flat`` where it has no folds of its own
    inner: tuple[tuple[AlgorithmScores, ...], ...]  # Of each outer fold

    @property
    def seconds(self) -> tuple[float, float]:
        """Of flat and of nested cross-validation, which needs both where its folds are its own."""
        flat = sum(fold.seconds for fold in self.flat)
        own = sum(fold.seconds for fold in self.outer) if self.outer is not self.flat else 0.0
        return flat, flat + own + sum(part.seconds for parts in self.inner for part in parts)


def _of_one(algorithm: Algorithm, fits: AlgorithmFits, half: PreparedRows, metric: Metric) -> AlgorithmResult:
    means = _means(fits.flat)
    winner = _best(oriented(metric, means))
    chosen = [_best(oriented(metric, _means(parts))) for parts in fits.inner]
    flat, nested, future, reason = np.nan, np.nan, np.nan, ""
    flat_seconds, nested_seconds = fits.seconds
    if winner is not None and None not in chosen:
        last = half.scores(algorithm, [winner])
        flat, future, reason = float(means[winner]), float(last.values[0]), last.reason
        scored = [fold.values[c] for fold, c in zip(fits.outer, chosen, strict=True) if fold.is_defined]
        nested = float(np.mean(scored)) if scored else np.nan
        flat_seconds, nested_seconds = flat_seconds + last.seconds, nested_seconds + last.seconds
    if np.isnan([flat, nested, future]).any():
        flat = nested = future = np.nan
        every = (*fits.flat, *fits.outer, *(part for parts in fits.inner for part in parts))
        reasons = filter(None, (reason, *(one.reason for one in every)))
        reason = next(reasons, "no configuration worked in all folds")
    return AlgorithmResult(
        flat, nested, future, len(algorithm.configurations), flat_seconds, nested_seconds, reason
    )


def _means(folds: Sequence[AlgorithmScores]) -> Floats:
    """(C,): over the folds in which the metric has a value; NaN of a configuration that failed in any."""
    scored = [fold.values for fold in folds if fold.is_defined]
    return np.asarray(np.mean(scored, axis=0)) if scored else np.full_like(folds[0].values, np.nan)


def _best(scores: Floats) -> int | None:
    """The first of the best, greater being better; a configuration that failed in any fold is none of them."""
    # Sums in other orders differ in the last digit, and would break ties of equal scores.
    rounded = np.round(scores, 12)
    return None if np.isnan(rounded).all() else int(np.nanargmax(rounded))


def _folds(places: Places, y: NDArray[np.intp], n_folds: int, seed: int) -> list[tuple[Places, Places]]:
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(places, y[places])
    return [(places[rest], places[fold]) for rest, fold in folds]
