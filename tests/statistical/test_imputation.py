"""Imputation where the truth is known: coefficients, and what the outcome of test rows tells an imputation.

tests/slow/statistical has longer simulations and the figures of papers/pages/imputation.md.
"""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

import heldout as ho
from heldout.data.task import truth_of
from heldout.imputation.chained import ChainedImputer
from heldout.imputation.coefficients import coefficients_of, pool_coefficients
from heldout.imputation.settings import Imputation

TRUE = np.array([0.5, 0.7, -0.5, 0.8])


def draw(kind: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """A number and a category miss values the more often the greater the first column and the outcome are."""
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


def pooled(kind: str, n: int, n_imputations: int, seed: int, informed: bool = True) -> Any:
    X, y = draw(kind, n, np.random.default_rng([n, seed]))
    truth = truth_of(y, "regression") if kind == "linear" else truth_of(y.astype(int))
    plain = LinearRegression() if kind == "linear" else LogisticRegression(C=np.inf)
    with threadpool_limits(1):
        tables = Imputation(n_imputations).completed(X, truth if informed else None, seed)
        return pool_coefficients([coefficients_of(plain.fit(table, y), table, y) for table in tables], n)


@pytest.mark.parametrize("kind", ["linear", "logistic"])
def test_pooled_intervals_hold_the_coefficients(kind: str) -> None:
    """Coverages of .935 or more give fewer with probability 1e-4 each; those of one imputation alone are too
    few."""
    counts = np.zeros(4, dtype=int)
    for seed in range(20):
        low, high = pooled(kind, 100, 3, seed).intervals(0.95).T
        counts += (low <= TRUE) & (TRUE <= high)
    assert (counts >= int(binom.ppf(1e-4, 20, 0.935))).all()


def test_without_the_outcome_associations_are_weakened() -> None:
    """What the imputation of training rows is not to do; with it false alarms are 4 in 10 000."""
    for informed in (False, True):
        values = np.array([pooled("linear", 200, 2, seed, informed=informed).values for seed in range(20)])
        error = (values.mean(axis=0) - TRUE) / (values.std(axis=0) / np.sqrt(20))
        assert (np.abs(error) < 4.7).all() if informed else error[2] > 4


def test_imputation_within_every_fit_is_not_optimistic() -> None:
    """Beside one that imputes all rows with their outcome first, which flatters by .02 and more of area."""
    imputation = Imputation(2, imputer=ChainedImputer(n_iterations=3))
    model, within, before = LogisticRegression(C=10.0), [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(580, 6)) + 0.7 * rng.normal(size=(580, 1))
        y = (X[:, :2].sum(axis=1) + rng.logistic(size=580) > 0).astype(int)
        X[:, 1:] = np.where(rng.random((580, 5)) < 0.25, np.nan, X[:, 1:])
        folds = KFold(4, shuffle=True, random_state=seed)
        search = ho.HeldOutSearchCV(
            model, {}, scoring="roc_auc", cv=folds, imputation=imputation, method=None, random_state=seed
        ).fit(X[:80], y[:80])
        truth = roc_auc_score(y[80:], search.predict_proba(X[80:])[:, 1])
        within.append(search.best_score_ - truth)
        before.append(
            np.mean([
                roc_auc_score(y[test], clone(model).fit(table[train], y[train]).predict_proba(table[test])[:, 1])
                for table in imputation.completed(X[:80], truth_of(y[:80]), seed)
                for train, test in folds.split(table)
            ])
            - truth
        )  # fmt: skip
    assert np.mean(before) - np.mean(within) > 0.02
    assert np.mean(within) < 2 * np.std(within, ddof=1) / np.sqrt(6)


def test_imputing_outside_the_bootstrap_leaves_optimism() -> None:
    """The three orders on the same tables, in the order of their optimism; seeds are fixed."""
    corrected: dict[str, list[float]] = {"boot_mi": [], "mi_boot": [], "naive": []}
    for seed in range(3):
        rng = np.random.default_rng([5, seed])
        X = rng.normal(size=(100, 8)) + 0.7 * rng.normal(size=(100, 1))
        eta = X[:, 0] - 0.7 * X[:, 1] + 0.4 * X[:, 2]
        y = (rng.random(100) < 1 / (1 + np.exp(-eta))).astype(int)
        X[:, 1:][rng.random((100, 7)) < 0.2] = np.nan
        for order, values in corrected.items():
            with threadpool_limits(1):
                validation = ho.bootstrap_validate(
                    LogisticRegression(C=np.inf), X, y, metric="roc_auc", n_bootstraps=6, interval=None,
                    imputation=Imputation(2, order=order), random_state=seed,
                )  # fmt: skip
            values.append(validation.value)
    boot_mi, mi_boot, naive = (np.array(values) for values in corrected.values())
    assert boot_mi.mean() < mi_boot.mean() < naive.mean()
    assert (naive - boot_mi > 0.01).all()
