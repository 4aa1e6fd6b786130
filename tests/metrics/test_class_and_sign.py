"""The class that a scorer is of is in every name, and a scorer of the wrong sign is flagged."""

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    make_scorer,
    mean_squared_error,
    recall_score,
)
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import heldout as ho

RNG = np.random.default_rng(0)
Y = np.where(RNG.random(150) < 0.3, "sick", "healthy")
X = RNG.normal(size=(150, 3)) + (Y == "sick")[:, None]
GRID = {"max_depth": [1, 2, 4]}
TREE = DecisionTreeClassifier(random_state=0)
FAST = {"n_bootstraps": 20, "random_state": 0}
HEALTHY = "recall(pos_label='healthy')"


def search(scoring, model=TREE, y=Y, **settings):
    return ho.HeldOutSearchCV(model, GRID, scoring=scoring, **FAST, **settings).fit(X, y)


def test_two_scorers_of_one_function_have_two_names_in_every_output(tmp_path):
    scorers = {name: make_scorer(recall_score, pos_label=name) for name in ("healthy", "sick")}
    fitted = search(scorers, refit="healthy")
    assert [each.metric for each in fitted.estimates_.values()] == [HEALTHY, "recall"]
    card = ho.report_card(fitted)
    assert "recall (pos_label='healthy') on new data" in card and "| recall (pos_label='healthy') |" in card
    assert "of recall(pos_label='healthy') healthy" in card and "| recall |" in card
    assert "recall (pos_label='healthy')" in str(fitted.methods_text())
    assert "pos_label=" in fitted.estimate_._repr_html_() and fitted.estimate_.to_dict()["metric"] == HEALTHY
    fitted.report(tmp_path / "report.html")
    assert "recall (pos_label=&#39;healthy&#39;) of the selected model" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("function", "name", "method"),
    [(recall_score, "recall", "predict"), (average_precision_score, "average_precision", "predict_proba")],
)
def test_other_entries_and_other_metrics_name_the_class(function, name, method):
    other, positive = (
        make_scorer(function, pos_label=label, response_method=method) for label in (Y[Y == "healthy"][0], "sick")
    )
    assert search(other).estimate_.metric == f"{name}(pos_label='healthy')"
    assert search(positive).estimate_.metric == name
    theirs = GridSearchCV(TREE, GRID, scoring=other).fit(X, Y)
    assert ho.correct(theirs, random_state=0).metric == f"{name}(pos_label='healthy')"
    assert ho.correct(GridSearchCV(TREE, GRID, scoring=positive).fit(X, Y), random_state=0).metric == name
    assert ho.bootstrap_validate(TREE, X, Y, metric=other, n_bootstraps=10, random_state=0).estimates


def test_labels_that_are_numbers_and_scorers_by_name():
    numbers = (Y == "sick").astype(int)
    assert search("recall", y=numbers).estimate_.metric == "recall"
    zero = make_scorer(recall_score, pos_label=0)
    assert search(zero, y=numbers).estimate_.metric == "recall(pos_label=0)"
    predictions = RNG.integers(0, 2, (150, 2))
    found = ho.estimate(numbers, predictions, metric="recall(pos_label=0)", method="cv")
    assert found.metric == "recall(pos_label=0)" and found.constant is None
    assert ho.estimate(numbers, predictions, metric="recall", pos_label=0, method="cv").metric == "recall"


@pytest.mark.filterwarnings("ignore:this scorer maximises")
def test_a_scorer_of_the_wrong_sign_is_flagged_and_followed():
    worst = make_scorer(mean_squared_error)
    tree = DecisionTreeRegressor(random_state=0)
    fitted = search(worst, tree, X[:, 0])
    assert fitted.best_index_ == int(np.argmax(fitted.cv_results_["mean_test_score"]))
    sentence = fitted.estimate_.flags["reversed_scorer"]
    assert "mean_squared_error is better the lower it is" in sentence and fitted.estimate_.constant is None
    assert "reversed_scorer" in ho.nested_cv(fitted, X, X[:, 0]).flags
    assert "asks for the opposite" in ho.report_card(fitted)
    theirs = GridSearchCV(tree, GRID, scoring=worst).fit(X, X[:, 0])
    assert "reversed_scorer" in ho.correct(theirs, random_state=0).flags
    least = search(make_scorer(accuracy_score, greater_is_better=False))
    assert "accuracy is better the higher it is" in least.estimate_.flags["reversed_scorer"]
    for usual in (make_scorer(mean_squared_error, greater_is_better=False), "r2"):
        assert "reversed_scorer" not in search(usual, tree, X[:, 0]).estimate_.flags
        theirs = GridSearchCV(tree, GRID, scoring=usual).fit(X, X[:, 0])
        assert "reversed_scorer" not in ho.correct(theirs, random_state=0).flags
