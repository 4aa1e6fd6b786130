"""Weights, groups and other parameters of ``fit`` go where GridSearchCV sends them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, log_loss, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from heldout.errors import InputError
from heldout.search import HeldOutSearchCV

X, Y = load_breast_cancer(return_X_y=True)
X, Y = StandardScaler().fit_transform(X[:120, :5]), Y[:120]
WEIGHTS = np.random.default_rng(0).uniform(0.2, 3.0, 120)
GROUPS = np.arange(120) // 5
GRID = {"C": [0.01, 1.0]}

weights_reach_scorers = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.7"), reason="scikit-learn 1.6 keeps weights from scorers"
)


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


@weights_reach_scorers
def test_weights_weigh_the_scores_and_the_bootstrap() -> None:
    plain = HeldOutSearchCV(LogisticRegression(), GRID, scoring="neg_log_loss", random_state=0, n_bootstraps=50)
    weighted = plain.fit(X, Y, sample_weight=WEIGHTS)
    assert weighted.estimate_.provenance["weighted"]
    winner = weighted.predictions_.responses["probabilities"][:, weighted.best_index_, 0]
    by_hand = -log_loss(Y, winner, sample_weight=WEIGHTS)
    assert weighted.evaluation_.pooled_scores["score"][weighted.best_index_] == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.parametrize("scored", [True, False])
def test_metadata_routing_sends_weights_as_requested(scored: bool) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = make_pipeline(StandardScaler(), LogisticRegression().set_fit_request(sample_weight=True))
        estimator[0].set_fit_request(sample_weight=False)
        scorer = make_scorer(log_loss, response_method="predict_proba", greater_is_better=False)
        scorer = scorer.set_score_request(sample_weight=scored)
        grid = {"logisticregression__C": [0.01, 1.0]}
        theirs = GridSearchCV(estimator, grid, scoring=scorer).fit(X, Y, sample_weight=WEIGHTS)
        ours = HeldOutSearchCV(estimator, grid, scoring=scorer, n_bootstraps=20).fit(X, Y, sample_weight=WEIGHTS)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=0, atol=1e-12
    )
    assert ours.estimate_.provenance["weighted"] == scored
    assert ours.estimate_.uncorrected == pytest.approx(ours.best_score_, abs=1e-12)


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


def test_search_passes_groups_through_an_outer_cross_validation() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        inner = HeldOutSearchCV(LogisticRegression(), GRID, cv=GroupKFold(3), method=None)
        scored = cross_validate(inner, X, Y, cv=GroupKFold(2), params={"groups": GROUPS}, return_estimator=True)
    for search in scored["estimator"]:
        assert search.evaluation_.task.groups is not None


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored by KFold")
def test_folds_that_split_a_group_are_refused() -> None:
    with pytest.raises(InputError, match=r"split 0 has rows of group 3 on both sides"):
        HeldOutSearchCV(LogisticRegression(), GRID, cv=KFold(5)).fit(X, Y, groups=np.arange(120) // 7)
