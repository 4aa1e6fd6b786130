"""Every estimate lies in the range of its metric, and so does its interval, which holds it."""

import warnings
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates import METHODS

CLASSES = ("accuracy", "matthews_corrcoef", "log_loss", "roc_auc", "emax")
NUMBERS = ("r2", "root_mean_squared_error")


def check(estimate: Any, *where: Any) -> None:
    """A value beyond the range is that of Tibshirani and Tibshirani's difference, as published, with its flag."""
    least, greatest = ho.metrics.metric_named(estimate.metric).range
    value, interval, label = estimate.value, estimate.interval, (*where, estimate)
    assert np.isnan(value) or least <= value <= greatest or "tt_beyond_range" in estimate.flags, label
    if interval is None:
        return
    low, high = interval
    if np.isnan(low) or np.isnan(high):
        assert np.isnan(low) and np.isnan(high) and "no_bound" in estimate.flags, label
        return
    assert least <= low <= value <= high <= greatest, label


def tables_of_classes(n: int, rng: np.random.Generator) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    y = rng.permutation(np.resize([0, 1], n))
    sure, noise = y[:, None].astype(float), rng.normal(size=(n, 3))

    def near(strength: float) -> NDArray[Any]:
        return np.asarray(1 / (1 + np.exp(-strength * (2 * sure - 1) - noise)))

    yield y, np.repeat(sure, 2, axis=1)
    yield y, np.repeat(1 - sure, 2, axis=1)
    yield y, np.full((n, 2), [0.3, 0.5])
    yield y, np.round(near(1), 1)
    yield y, near(0)
    yield y, near(4)


def tables_of_numbers(n: int, rng: np.random.Generator) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    y = rng.normal(size=n)
    yield y, np.repeat(y[:, None], 2, axis=1)
    yield y, np.full((n, 2), [0.0, 1.0])
    yield y, y[:, None] + 0.01 * rng.normal(size=(n, 3))
    yield y, np.round(y[:, None] + 0.5 * rng.normal(size=(n, 3)))
    yield y, y[:, None] + rng.standard_cauchy(size=(n, 3))


def tables_of_times(n: int, rng: np.random.Generator) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    time = 0.01 + rng.exponential(size=n)
    y = np.column_stack([np.arange(n) % 3 > 0, time])
    yield y, np.repeat(-time[:, None], 2, axis=1)
    yield y, np.zeros((n, 2))
    yield y, -time[:, None] + rng.normal(size=(n, 3))


@pytest.mark.parametrize(
    ("metric", "tables"),
    [
        *((metric, tables_of_classes) for metric in CLASSES),
        *((metric, tables_of_numbers) for metric in NUMBERS),
        ("concordance_index", tables_of_times),
    ],
)
def test_estimates_of_predictions(metric: str, tables: Any) -> None:
    estimates = 0
    for n, aggregate in ((9, "pooled"), (24, "folds")):
        drawn = list(enumerate(tables(n, np.random.default_rng(n))))
        for (case, (y, table)), name in product(drawn[n % 2 :: 3], METHODS):
            asked: Mapping[str, Any] = {
                "metric": metric, "method": name, "folds": np.arange(n) % 3, "n_bootstraps": 12, "random_state": 0,
                "aggregate": aggregate, "alternative": METHODS[name]().alternatives[0],
            }  # fmt: skip
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", HeldoutWarning)
                    estimate = ho.estimate(y, table, **asked)
            except InputError:
                continue  # the method is not for this metric or matrix
            check(estimate, name, case, n)
            estimates += 1
    assert estimates > 12


@pytest.fixture(scope="module")
def rows() -> dict[str, Any]:
    """Classes that a column tells apart, classes of noise, and numbers near a plane."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    return {
        "X": X, "apart": (X[:, 0] > 0).astype(int), "noise": rng.integers(0, 2, 40),
        "plane": X @ np.arange(1.0, 4.0) + 0.1 * rng.normal(size=40),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (LogisticRegression(), "apart"),
        (DecisionTreeClassifier(random_state=0), "noise"),
        (DummyClassifier(), "noise"),
    ],
)
def test_validations(model: Any, target: str, rows: dict[str, Any]) -> None:
    metrics = ["accuracy", "roc_auc", "neg_log_loss", "f1", "emax"]
    for method, interval in (("auto", "auto"), ("optimism", "auto"), ("632+", "auto"), ("oob", None)):
        asked = {"metric": metrics, "method": method, "interval": interval, "n_bootstraps": 10, "random_state": 0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            validation = ho.bootstrap_validate(model, rows["X"], rows[target], **asked)
        for estimate in validation.estimates.values():
            check(estimate, method, interval)


def test_a_corrected_score_beyond_the_range_is_at_its_end(rows: dict[str, Any]) -> None:
    asked = {"metric": ["f1"], "method": "optimism", "n_bootstraps": 20, "random_state": 0}
    rare = (np.arange(40) % 5 == 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        validation = ho.bootstrap_validate(LogisticRegression(), rows["X"], rare, **asked)
    estimate = validation.estimates["f1"]
    assert estimate.value == 0 and estimate.optimism == estimate.uncorrected
    assert validation.rows["f1"].corrected < 0 and validation.rows["f1"].interval is None  # as R's table has it
    assert "gives f1 -0." in estimate.flags["corrected_beyond_range"]


@pytest.mark.parametrize(("scoring", "target"), [("accuracy", "apart"), ("neg_log_loss", "noise"), ("r2", "plane")])
def test_searches_and_protocols(scoring: str, target: str, rows: dict[str, Any]) -> None:
    X, y = rows["X"], rows[target]
    is_plane = target == "plane"
    model, grid = (
        (Ridge(), {"alpha": [0.01, 1, 100]}) if is_plane else (DecisionTreeClassifier(), {"max_depth": [1, 9]})
    )
    asked = {"scoring": scoring, "cv": 4, "n_bootstraps": 40, "random_state": 0}
    search = ho.HeldOutSearchCV(model, grid, method="bbc", **asked)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(search.fit(X, y).estimate_)
        intervals = ("auto", "nadeau_bengio", *(["bates_hastie_tibshirani"] if scoring == "accuracy" else []))
        for interval in intervals:
            check(ho.nested_cv(search, X, y, interval=interval, random_state=0), interval)
        check(ho.bootstrap_search(search, X, y, n_bootstraps=6, random_state=0))
        fitted = GridSearchCV(model, grid, scoring=scoring, cv=4).fit(X, y)
        for method in ("tt", "bbc_f", "corrected_t"):
            check(ho.correct(fitted, method=method, random_state=0), method)
        shuffled = ShuffleSplit(6, test_size=0.3, random_state=0)
        fitted = GridSearchCV(model, grid, scoring=scoring, cv=shuffled).fit(X, y)
        check(ho.correct(fitted, method="corrected_t", test_share=0.3))
        if scoring == "accuracy":
            check(ho.correct(fitted, method="wmc", test_share=0.3, random_state=0))
    least, greatest = ho.metrics.metric_named(scoring).range
    compared = ho.compare_configurations(search)
    difference = compared.difference(0, 1)
    assert np.ptp(difference.distribution) <= greatest - least
    assert least - greatest <= difference.interval.low <= difference.value <= difference.interval.high
    assert difference.interval.high <= greatest - least
