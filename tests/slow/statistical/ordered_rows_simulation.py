"""Coverage of intervals where rows follow time: losses with errors of an autoregressive process, and forecasts.

The losses of candidate c are 5 + (x + x_c) / √8 with independent processes x of all candidates and x_c of its own,
both of variance 1 and autocorrelation ρ (of one candidate 5 + x / 2). So the true score of every candidate is 5,
whichever is selected.

``python tests/slow/statistical/ordered_rows_simulation.py 1 200`` prints the coverage for one candidate in 200
repetitions, ``30 100`` that for 30 and ``forecasts 100`` that of searches: the tables of
papers/pages/ordered-rows.md.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Ridge
from sklearn.model_selection import TimeSeriesSplit

import heldout as ho

TRUTH = 5.0
ALPHAS = (0.01, 1.0, 10.0, 30.0, 100.0, 300.0)


@dataclass(frozen=True)
class OrderedRows:
    """Rows of a simulation: the autocorrelation of neighbours, how many rows, how many candidates."""

    rho: float
    n_rows: int
    n_candidates: int = 1


def autoregressive(rng: np.random.Generator, rho: float, shape: tuple[int, int]) -> NDArray[np.float64]:
    """(n, columns): stationary, of variance 1."""
    values = rng.standard_normal(shape)
    for t in range(1, len(values)):
        values[t] = rho * values[t - 1] + np.sqrt(1 - rho**2) * values[t]
    return values


def losses(rows: OrderedRows, rng: np.random.Generator) -> NDArray[np.float64]:
    """(n, C)."""
    own = autoregressive(rng, rows.rho, (rows.n_rows, rows.n_candidates))
    if rows.n_candidates == 1:
        return TRUTH + own / 2
    return TRUTH + (own + autoregressive(rng, rows.rho, (rows.n_rows, 1))) / np.sqrt(8)


def of_losses(
    rows: OrderedRows, methods: Sequence[Any], block_length: Any, repetitions: int, n_bootstraps: int = 400
) -> dict[str, NDArray[np.float64]]:
    """By method (repetitions, 4): value less truth, whether the interval holds it, its width, length of blocks."""
    found: dict[str, list[list[float]]] = {}
    for repetition in range(repetitions):
        rng = np.random.default_rng([repetition, rows.n_rows, rows.n_candidates, int(100 * rows.rho)])
        estimates = ho.compare_estimates(
            np.zeros(rows.n_rows), losses(rows, rng), metric="mean_absolute_error", methods=methods,
            folds=np.zeros(rows.n_rows, dtype=int), block_length=block_length, n_bootstraps=n_bootstraps,
            random_state=repetition,
        )  # fmt: skip
        for name, estimate in estimates.items():
            found.setdefault(name, []).append(_line(estimate, TRUTH))
    return {name: np.array(lines) for name, lines in found.items()}


def of_forecasts(rho: float, n_rows: int, block_length: Any, repetitions: int) -> NDArray[np.float64]:
    """(repetitions, 4), as above: the winner of a search by ``TimeSeriesSplit`` and its mean squared error.

    y is linear in five columns with errors of an autoregressive process. The truth is the mean expected error of
    the winner's five models on new rows, which is known.
    """
    found = []
    weights = np.array([1.0, 0.5, 0.25, 0.0, 0.0])
    for repetition in range(repetitions):
        rng = np.random.default_rng([repetition, n_rows, int(100 * rho)])
        X = rng.standard_normal((n_rows, 5))
        y = X @ weights + autoregressive(rng, rho, (n_rows, 1))[:, 0]
        cv = TimeSeriesSplit(5)
        search = ho.HeldOutSearchCV(
            Ridge(), {"alpha": ALPHAS}, scoring="neg_mean_squared_error", cv=cv, n_bootstraps=400,
            block_length=block_length, random_state=repetition, refit=True,
        ).fit(X, y)  # fmt: skip
        models = [Ridge(alpha=search.best_params_["alpha"]).fit(X[train], y[train]) for train, _ in cv.split(X)]
        errors = [((m.coef_ - weights) ** 2).sum() + m.intercept_**2 + 1.0 for m in models]
        found.append(_line(search.estimate_, -float(np.mean(errors))))
    return np.array(found)


def _line(estimate: ho.Estimate, truth: float) -> list[float]:
    interval = estimate.interval
    assert interval is not None
    covers = interval.low <= truth <= interval.high
    length = estimate.provenance.get("block_length", 1)
    return [estimate.value - truth, float(covers), interval.high - interval.low, length]


def _print_losses(n_candidates: int, repetitions: int) -> None:
    methods = ["naive_bootstrap", "shrinkage", "bbc"] if n_candidates == 1 else ["shrinkage", "bbc"]
    for n_rows in (100, 300, 1000):
        for rho in (0.0, 0.3, 0.6, 0.8):
            print(n_candidates, n_rows, rho, flush=True)
            for length in (1, "moving:auto", "stationary:auto"):
                found = of_losses(OrderedRows(rho, n_rows, n_candidates), methods, length, repetitions)
                for name, lines in found.items():
                    print("   ", name, length, _means(lines), flush=True)


def _print_forecasts(repetitions: int) -> None:
    for n_rows in (120, 300):
        for rho in (0.0, 0.6, 0.8):
            for length in (1, None):
                print("forecasts", n_rows, rho, length, _means(of_forecasts(rho, n_rows, length, repetitions)))


def _means(lines: NDArray[np.float64]) -> str:
    bias, coverage, width, length = lines.mean(axis=0)
    return f"covers {coverage:.3f}, bias {bias:+.3f}, width {width:.3f}, length {length:.1f}"


if __name__ == "__main__":
    if sys.argv[1] == "forecasts":
        _print_forecasts(int(sys.argv[2]))
    else:
        _print_losses(int(sys.argv[1]), int(sys.argv[2]))
