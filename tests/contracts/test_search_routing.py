"""Weights, groups and other parameters of ``fit`` go where GridSearchCV sends them."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from peers import cancer
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold, KFold

from heldout.search import HeldOutSearchCV

X, Y = cancer()
WEIGHTS = np.random.default_rng(0).uniform(0.2, 3.0, 120)
GROUPS = np.arange(120) // 5
GRID = {"C": [0.01, 1.0]}


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers in its class what each fit was given."""

    seen: list[dict[str, Any]] = []  # noqa: RUF012

    def __init__(self, constant: float = 0.5) -> None:
        self.constant = constant

    def fit(self, X: Any, y: Any, sample_weight: Any = None, colour: Any = None) -> Recorder:
        self.classes_ = np.unique(y)
        Recorder.seen.append({"rows": X[:, 0], "weights": sample_weight, "colour": colour})
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[int(self.constant > 0.5)])


def test_arrays_are_cut_to_the_training_rows_and_other_values_are_not() -> None:
    Recorder.seen.clear()
    X = np.arange(12.0)[:, None]
    HeldOutSearchCV(Recorder(), {}, cv=KFold(3), n_bootstraps=5).fit(
        X, [0, 1] * 6, sample_weight=np.arange(12) + 1.0, colour="blue"
    )
    assert len(Recorder.seen) == 4
    for given, rows in zip(
        Recorder.seen, [range(4, 12), [0, 1, 2, 3, 8, 9, 10, 11], range(8), range(12)], strict=True
    ):
        np.testing.assert_array_equal(given["rows"], list(rows))
        np.testing.assert_array_equal(given["weights"], np.array(list(rows)) + 1.0)
        assert given["colour"] == "blue"


def test_metadata_routing_sends_groups_to_the_splitter_and_the_bootstrap() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        search = HeldOutSearchCV(LogisticRegression(), GRID, cv=GroupKFold(3), n_bootstraps=20).fit(
            X, Y, groups=GROUPS
        )
    assert search.estimate_.provenance["grouped"]
    folds = search.evaluation_.folds.labels[:, 0]
    assert all(len(set(folds[GROUPS == group])) == 1 for group in set(GROUPS))


def test_metadata_routing_of_a_list_serves_each_model() -> None:
    Recorder.seen.clear()
    with sklearn.config_context(enable_metadata_routing=True):
        asks = Recorder().set_fit_request(sample_weight=True, colour=False)
        declines = LogisticRegression().set_fit_request(sample_weight=False)
        scorer = get_scorer("accuracy").set_score_request(sample_weight=False)
        search = HeldOutSearchCV([("asks", asks, {}), ("declines", declines, GRID)], scoring=scorer, n_bootstraps=5)
        search.fit(X, Y, sample_weight=WEIGHTS)
    assert len(Recorder.seen) == 5 and all(given["weights"] is not None for given in Recorder.seen)
    alone = HeldOutSearchCV(LogisticRegression(), GRID, n_bootstraps=5).fit(X, Y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"][1:], alone.cv_results_["mean_test_score"])
