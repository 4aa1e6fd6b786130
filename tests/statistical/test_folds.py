"""Estimates of real K-fold fits whose truth is known, and of folds whose scores are on different scales.

Least squares of n rows of p normal columns has the expected squared error 1 + p/(n - p - 1) on new rows, and a
fitted model that of its coefficients b, 1 + |β - b|². tests/slow/statistical has longer simulations.
"""

import numpy as np
from known_truth import covers, standard_error
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.flags import Flag

COLUMNS = 5


def ridges(n: int, n_folds: int, penalties: list[float], seed: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Target, held-out predictions (n, C), folds, and the mean risk of the K models (C,)."""
    rng = np.random.default_rng([n, n_folds, seed])
    folds, X = np.arange(n) % n_folds, rng.normal(size=(n, COLUMNS))
    y = X.sum(axis=1) + rng.normal(size=n)
    predictions, risks = np.empty((n, len(penalties))), np.ones(len(penalties))
    for fold in range(n_folds):
        test = folds == fold
        for j, penalty in enumerate(penalties):
            gram = X[~test].T @ X[~test] + penalty * np.eye(COLUMNS)
            coefficients = np.linalg.solve(gram, X[~test].T @ y[~test])
            predictions[test, j] = X[test] @ coefficients
            risks[j] += np.sum((coefficients - 1) ** 2) / n_folds
    return y, predictions, folds, risks


def test_cross_validation_has_the_risk_of_the_rows_of_its_training_parts() -> None:
    """Of 12 rows (theorem 1 of the lecture notes), and bbc of one configuration has the same expectation."""
    for n, n_folds, method in ((13, 13, "cv"), (15, 5, "bbc")):
        values = []
        for seed in range(100):
            y, predictions, folds, _ = ridges(n, n_folds, [0.0], seed)
            settings = {"metric": "mean_squared_error", "n_bootstraps": 30, "random_state": seed}
            values.append(ho.estimate(y, predictions, method=method, folds=folds, **settings).value)
        distance = np.mean(values) - (1 + COLUMNS / (12 - COLUMNS - 1))
        assert abs(distance) < 4.5 * standard_error(np.array(values))


def test_intervals_of_rows_that_share_training_rows_cover_the_mean_of_the_models() -> None:
    """40 searches over ten penalties: intervals that cover .75 are told from .95 in 8 of 10 runs."""
    hits: dict[str, list[bool]] = {"shrinkage": [], "bbc": []}
    for seed in range(40):
        y, predictions, folds, risks = ridges(40, 10, list(np.geomspace(0.1, 300, 8)), seed)
        settings = {"metric": "mean_squared_error", "n_bootstraps": 100, "random_state": seed}
        for method, of_method in hits.items():
            estimate = ho.estimate(y, predictions, method=method, folds=folds, **settings)
            of_method.append(risks[estimate.selected] in estimate.interval)
    assert all(covers(np.array(of_method)) for of_method in hits.values()), hits


def test_pairs_within_folds_do_not_see_shifts_of_their_scores() -> None:
    """Areas are .85; shifts of two standard deviations make them .69 where all rows are pooled, and are flagged."""
    y, folds = np.arange(100) % 2, np.arange(100) // 2 % 10
    for shift, pooled in ((0.0, 0.85), (2.0, 0.69)):
        estimates: dict[str | None, list[ho.Estimate]] = {"pooled": [], "within": [], None: []}
        for seed in range(12):
            rng = np.random.default_rng([int(shift), seed])
            scores = rng.normal(size=(100, 10)) + np.sqrt(2) * norm.ppf(0.85) * y[:, None]
            scores += shift * rng.normal(size=(10, 10))[folds]
            settings = {"metric": "roc_auc", "folds": folds, "n_bootstraps": 40, "random_state": seed}
            for aggregate, column in estimates.items():
                column.append(ho.estimate(y, scores, method="bbc", aggregate=aggregate, **settings))
        for aggregate, column in estimates.items():
            values = np.array([estimate.value for estimate in column])
            truth = pooled if aggregate == "pooled" else 0.85
            # Selecting on .632 of the rows is a little pessimistic.
            assert abs(values.mean() - truth) < 4 * standard_error(values) + 0.02, (shift, aggregate)
        flagged = np.mean([Flag.INCOMPARABLE_FOLDS in estimate.flags for estimate in estimates[None]])
        assert flagged > 0.9 if shift else flagged < 0.1


def test_ordinary_models_of_different_folds_are_comparable() -> None:
    """At most 1 in 50 is flagged: 5 or more of 32 would be chance in 1 of 2000 runs with that rate."""
    models = [LogisticRegression(C=0.1), GaussianNB(), KNeighborsClassifier(9), DecisionTreeClassifier(max_depth=3)]
    flagged = 0
    for seed in range(8):
        X, y = make_classification(100, 10, n_informative=4, class_sep=0.7, flip_y=0.1, random_state=seed)
        splitter = StratifiedKFold(5, shuffle=True, random_state=seed)
        for model in models:
            search = ho.HeldOutSearchCV(
                model, scoring="roc_auc", cv=splitter, aggregate="pooled", method="cv", refit=False, random_state=0
            )
            flagged += Flag.INCOMPARABLE_FOLDS in search.fit(X, y).estimate_.flags
    assert flagged <= 4
