"""How often pooled intervals hold the true coefficients, where values are missing at random.

Two of three columns, a number and a category, miss values the more often the greater the first column and the
outcome are, so that complete rows alone would be off. The imputation knows the outcome.
"""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.linear_model import LinearRegression, LogisticRegression
from threadpoolctl import threadpool_limits

from heldout.data.task import truth_of
from heldout.imputation.coefficients import coefficients_of, pool_coefficients
from heldout.imputation.settings import Imputation

TRUE = np.array([0.5, 0.7, -0.5, 0.8])
LEVEL = 0.95


def draw(kind: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    first = rng.normal(size=n)
    second = 0.6 * first + 0.8 * rng.normal(size=n)
    third = (rng.random(n) < 1 / (1 + np.exp(-first))).astype(float)
    X = np.column_stack([first, second, third])
    eta = TRUE[0] + X @ TRUE[1:]
    y = eta + rng.normal(size=n) if kind == "linear" else (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float)
    absent = 1 / (1 + np.exp(1 - 0.6 * first - 0.5 * (y - y.mean())))
    X[rng.random(n) < absent, 1] = np.nan
    X[rng.random(n) < absent, 2] = np.nan
    return X, y


def pooled(kind: str, n: int, H: int, seed: int, informed: bool = True) -> Any:
    X, y = draw(kind, n, np.random.default_rng([n, seed]))
    truth = truth_of(y, "regression") if kind == "linear" else truth_of(y.astype(int))
    plain = LinearRegression() if kind == "linear" else LogisticRegression(C=np.inf)
    with threadpool_limits(1):
        tables = Imputation(H).completed(X, truth if informed else None, seed)
        return pool_coefficients([coefficients_of(plain.fit(table, y), table, y) for table in tables], n)


def covered(kind: str, n: int, H: int, repetitions: int) -> np.ndarray[Any, Any]:
    """How many of the intervals of each coefficient hold the true one."""
    counts = np.zeros(4, dtype=int)
    for seed in range(repetitions):
        low, high = pooled(kind, n, H, seed).intervals(LEVEL).T
        counts += (low <= TRUE) & (TRUE <= high)
    return counts


@pytest.mark.parametrize("n", [100, 400])
@pytest.mark.parametrize("kind", ["linear", "logistic"])
def test_pooled_intervals_hold_the_coefficients_closely(kind: str, n: int) -> None:
    counts = covered(kind, n, 10, 500)
    print(kind, n, counts / 500)
    low, high = (int(binom.ppf(p, 500, LEVEL)) for p in (1e-5, 1 - 1e-5))
    # Logistic intervals of 100 rows are a little wide with all values observed, too.
    assert (counts >= low).all() and (counts <= (high if kind == "linear" or n == 400 else 497)).all()
