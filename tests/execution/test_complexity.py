"""Complexity counted in fitted models, and the selection that reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.feature_selection import RFE, SelectKBest, f_regression
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import heldout as ho
from heldout.errors import InputError
from heldout.execution.complexity import measured
from heldout.selection import OneStandardError, Within

X, Y = load_diabetes(return_X_y=True)
X, Y = X[:80], Y[:80]


class Own(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    def __init__(self, size: int = 3) -> None:
        self.size = size

    def fit(self, X: Any, y: Any) -> Own:
        self.mean_, self.complexity_ = float(np.mean(y)), self.size
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


def test_trees_count_leaves() -> None:
    tree = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, Y)
    assert measured(tree) == {"leaves": int(np.sum(tree.tree_.children_left == -1))}
    forest = RandomForestRegressor(4, max_depth=2, random_state=0).fit(X, Y)
    assert measured(forest) == {"leaves": sum(each.get_n_leaves() for each in forest.estimators_)}
    boosted = GradientBoostingRegressor(n_estimators=5, max_leaf_nodes=3, max_depth=None, random_state=0).fit(X, Y)
    assert measured(boosted) == {"leaves": 15}
    assert measured(HistGradientBoostingRegressor(max_iter=4, max_leaf_nodes=2).fit(X, Y)) == {"leaves": 8}


def test_vectors_coefficients_and_weights() -> None:
    vectors = SVR().fit(X, Y)
    assert measured(vectors) == {"support vectors": len(vectors.support_)}
    lasso = Lasso(alpha=0.5).fit(X, Y)
    assert 0 < np.count_nonzero(lasso.coef_) < 10
    assert measured(lasso) == {"non-zero coefficients": np.count_nonzero(lasso.coef_)}
    network = MLPRegressor(hidden_layer_sizes=(4,), max_iter=2, random_state=0)
    with pytest.warns(Warning, match="Maximum iterations"):
        network.fit(X, Y)
    assert measured(network) == {"weights": 10 * 4 + 4}
    linear = SVC(kernel="linear").fit(X, Y > 150)
    assert measured(linear) == {"support vectors": len(linear.support_), "non-zero coefficients": 10}


def test_of_pipelines_and_searches_the_last_model_counts() -> None:
    kept = make_pipeline(StandardScaler(), SelectKBest(f_regression, k=4), Ridge(alpha=0.1)).fit(X, Y)
    assert measured(kept) == {"selected columns": 4, "non-zero coefficients": 4}
    neighbours = make_pipeline(SelectKBest(f_regression, k=6), KNeighborsRegressor()).fit(X, Y)
    assert measured(neighbours) == {"selected columns": 6}
    eliminated = RFE(Ridge(alpha=0.1), n_features_to_select=3).fit(X, Y)
    assert measured(eliminated) == {"selected columns": 3, "non-zero coefficients": 3}
    search = GridSearchCV(DecisionTreeRegressor(random_state=0), {"max_leaf_nodes": [5]}).fit(X, Y)
    assert measured(search) == {"leaves": 5}
    assert measured(Own(7).fit(X, Y)) == {"own complexity": 7}


def test_what_has_no_unit_is_refused_at_once() -> None:
    with pytest.raises(InputError, match="and KNeighborsClassifier has none of them; give the model an attribute"):
        ho.HeldOutSearchCV(
            KNeighborsClassifier(), {"n_neighbors": [1, 5]}, selection=Within(0.02, complexity="measured")
        ).fit(X, Y > 150)


def search_of_trees(**asked: Any) -> tuple[Any, Any, Any]:
    data, target = load_breast_cancer(return_X_y=True)
    data, target = data[:200], target[:200]
    search = ho.HeldOutSearchCV(
        DecisionTreeClassifier(random_state=0),
        {"min_samples_leaf": [1, 10, 40, 90]},
        n_bootstraps=50,
        random_state=0,
        **asked,
    )
    return search.fit(data, target), data, target


@pytest.mark.parametrize("rule", [Within(0.03, complexity="measured"), OneStandardError(complexity="measured")])
def test_the_simplest_is_counted_by_hand(rule: Any, tmp_path: Path) -> None:
    search, data, target = search_of_trees(selection=rule, store=str(tmp_path / "run.db"))
    leaves, scores = [], []
    for least in (1, 10, 40, 90):
        trees = [
            (DecisionTreeClassifier(min_samples_leaf=least, random_state=0).fit(data[train], target[train]), test)
            for train, test in StratifiedKFold(5).split(data, target)
        ]
        leaves.append(np.mean([tree.get_n_leaves() for tree, _ in trees]))
        scores.append([tree.score(data[test], target[test]) for tree, test in trees])
    means = np.mean(scores, axis=1)
    assert np.allclose(search.cv_results_["mean_test_score"], means, rtol=0, atol=1e-12)
    assert search.cv_results_["mean_complexity"].tolist() == leaves
    best = int(means.argmax())
    room = 0.03 if isinstance(rule, Within) else np.std(scores[best], ddof=1) / np.sqrt(5)
    near = np.flatnonzero(means >= means[best] - room)
    assert search.best_index_ == near[np.argmin(np.array(leaves)[near])] != best
    # The bootstrap replays the same rule with the same numbers.
    counted = search_of_trees(selection=type(rule)(**{**vars(rule), "complexity": leaves}))[0]
    assert counted.estimate_.value == search.estimate_.value
    assert counted.best_index_ == search.best_index_
    # A stored run remembers what was counted.
    again = search_of_trees(selection=rule, store=str(tmp_path / "run.db"))[0]
    assert again.cv_results_["mean_complexity"].tolist() == leaves
    assert again.estimate_.value == search.estimate_.value


def test_units_must_be_common() -> None:
    models = [("tree", DecisionTreeClassifier(), {}), ("logistic", LogisticRegression(max_iter=5000), {})]
    search = ho.HeldOutSearchCV(models, selection=Within(0.02, complexity="measured"), cv=2)
    with pytest.raises(InputError, match="but tree has leaves; logistic has non-zero coefficients"):
        search.fit(X, Y > 150)
    models = [("vectors", SVC(kernel="linear"), {}), ("logistic", LogisticRegression(), {})]
    search = ho.HeldOutSearchCV(models, selection=Within(0.5, complexity="measured"), cv=2, n_bootstraps=9).fit(
        X, Y > 150
    )
    assert search.cv_results_["mean_complexity"].tolist() == [10, 10]  # coefficients, which both have


def test_nested_folds_count_their_own_models() -> None:
    grid = {"max_leaf_nodes": [2, 4, 8]}
    tree = DecisionTreeRegressor(random_state=0)
    by_name = ho.nested_cv(
        tree, X, Y, grid, cv=KFold(3), selection=Within(1.0, complexity="max_leaf_nodes"), random_state=0
    )
    counted = ho.nested_cv(
        tree, X, Y, grid, cv=KFold(3), selection=Within(1.0, complexity="measured"), random_state=0
    )
    assert counted.value == by_name.value  # each tree uses all the leaves that it may


class Failing(DecisionTreeClassifier):  # type: ignore[misc]
    """A tree that fails on some splits."""

    def fit(self, X: Any, y: Any) -> Failing:
        if X[0, 0] > X[1, 0]:
            raise ValueError("not today")
        return super().fit(X, y)


def test_configurations_that_failed_do_not_count() -> None:
    # Four folds, of which some lead with the greater value.
    data = np.random.default_rng(2).normal(size=(80, 2))
    data[:2, 0], data[20:22, 0] = [0.0, 1.0], [1.0, 0.0]
    models = [
        ("tree", DecisionTreeClassifier(random_state=0), {"max_leaf_nodes": [2, 5]}),
        ("own", make_pipeline(SelectKBest(k=1), Failing(random_state=0)), {}),
    ]
    rule = Within(1.0, complexity="measured")
    with pytest.warns(Warning):  # that it failed, and that a score is not finite
        search = ho.HeldOutSearchCV(models, selection=rule, cv=KFold(4), n_bootstraps=20, random_state=0).fit(
            data, np.random.default_rng(3).integers(0, 2, 80)
        )
    assert search.best_params_["max_leaf_nodes"] == 2
    assert search.cv_results_["mean_complexity"].tolist() == [2, 5, np.inf]


@pytest.mark.parametrize("number", [np.inf, np.nan, "x", True])
def test_an_own_complexity_is_a_finite_number(number: Any) -> None:
    model = Own().fit(X, Y)
    model.complexity_ = number
    with pytest.raises(InputError, match="complexity_ of Own must be a finite number, got"):
        measured(model)


def test_imputed_models_count_as_the_mean_of_theirs() -> None:
    gaps = X.copy()
    gaps[::7, 0] = np.nan
    model = ho.protocols.ImputedModel(Lasso(alpha=0.5), 3, random_state=0).fit(gaps, Y)
    each = [np.count_nonzero(member[-1].coef_) for member in model.pooled_.members]
    assert measured(model) == {"non-zero coefficients": pytest.approx(np.mean(each))}


def test_a_learning_curve_counts_at_the_largest_size() -> None:
    class Growing(Own):
        def fit(self, X: Any, y: Any) -> Growing:
            super().fit(X, y)
            self.complexity_ = 10 if self.size == 0 else 11 if len(y) >= 60 else 0
            return self

    curve = ho.protocols.learning_curve(
        Growing(), X, Y, {"size": [0, 1]}, training_sizes=[0.2, 0.4, 0.8], n_subsamples=2,
        selection=Within(1e9, complexity="measured"), random_state=0,
    )  # fmt: skip
    assert curve.estimate.selected == 0  # 10 is less than 11


def test_where_it_cannot_be_counted_it_is_refused() -> None:
    rule = Within(0.02, complexity="measured")
    labels = np.stack([Y > 100, Y > 150], axis=1).astype(int)
    with pytest.raises(InputError, match="counts what fitted models have, and here are none"):
        ho.estimate((Y > 150).astype(int), labels, metric="accuracy", selection=rule)
    with pytest.raises(InputError, match="a rule that counts in fitted models chooses only at the end"):
        search_of_trees(selection=rule, drop="bootstrap")
    grid = {"max_leaf_nodes": [2, 4]}
    with pytest.raises(InputError, match="the selection rule 'within' counts in the models of one search"):
        ho.nested_cv(DecisionTreeRegressor(), X, Y, grid, selection=rule, across="all")
    with pytest.raises(InputError, match="the selection rule 'within' counts in the models of one search"):
        ho.bootstrap_search(DecisionTreeRegressor(), X, Y, grid, selection=rule, scheme="models", n_bootstraps=2)
