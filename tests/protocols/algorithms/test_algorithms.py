"""``ho.compare_algorithms``: worked by hand, and equal to separate flat and nested cross-validations."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import KFold, PredefinedSplit, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.protocols.algorithms.comparison import differences_of
from heldout.protocols.algorithms.relevance import relevance_of

X, Y = (part[::5] for part in load_breast_cancer(return_X_y=True))
FOLDS = StratifiedKFold(3, shuffle=True, random_state=2)
NEIGHBOURS = ("neighbours", KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]})
TREE = ("tree", DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 4]})
FAST: dict[str, Any] = {"n_bootstraps": 40, "random_state": 3}


class Constant(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts one label, or what the first column holds; counts its fits."""

    n_fits: ClassVar[int] = 0

    def __init__(self, label: int | None = None, fails: bool = False) -> None:
        self.label = label
        self.fails = fails

    def fit(self, X: Any, y: Any) -> Constant:
        type(self).n_fits += 1
        if self.fails:
            raise ValueError("it cannot be fitted")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return X[:, 0].astype(int) if self.label is None else np.full(len(X), self.label)


# Three folds of four rows: label 1 is right for .5, .75 and .5 of them, the column for half of each.
OWN_Y = np.array([1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 0])
OWN_X = np.array([1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0])[:, None].astype(float)
OWN_FOLDS = PredefinedSplit(np.repeat([0, 1, 2], 4))
OWN = [("constant", Constant(), {"label": [0, 1]}), ("column", Constant(), {})]


def compared(algorithms: Any, **settings: Any) -> Any:
    return ho.compare_algorithms(algorithms, OWN_X, OWN_Y, cv=OWN_FOLDS, method="cv", **settings)


def test_an_example_worked_by_hand() -> None:
    """Without fold 1 the labels tie at .5, the first wins, and it scores .25 there: the nested mean is 1.25 / 3."""
    found = compared(OWN)
    constant, column = found.algorithms

    assert constant.flat == pytest.approx(1.75 / 3) and constant.flat_params == {"label": 1}
    assert constant.outer_scores == (0.5, 0.25, 0.5) and constant.nested == pytest.approx(1.25 / 3)
    assert column.flat == column.nested == 0.5 and column.costs.nested_fits == 0
    chosen = found.selections
    assert (chosen.flat, chosen.corrected, chosen.nested, chosen.agree) == ("constant", "constant", "column", False)
    # Appendix A of Wainer and Cawley: the smaller of |1.25 - 1.75| / 3 and |.5 - .5|.
    assert found.relevance.gain == pytest.approx(0.25 / 3) and found.relevance.threshold == 0
    assert found.relevance.is_relevant and compared(OWN, relevant=0.1).relevance.is_relevant is False
    assert found.deployed_name == "column" and found.model.label is None
    assert compared(OWN, deploy="flat").model.label == 1
    assert "The scores disagree: flat selects constant" in found.text(None)
    # The method "cv" corrects nothing, and the first line says so.
    assert found.text(None).startswith("Deploy column: accuracy 0.5000, not corrected for the choice among all ")


def test_differences_by_hand() -> None:
    """Differences .1, .3, .2 in three folds: s² = .01, se² = .01 (1/3 + 1/2), and t has 2 degrees of freedom."""
    outer = np.array([[0.6, 0.5, 0.1], [0.8, 0.5, 0.1], [0.7, 0.5, 0.1]])
    first, _, third = differences_of(["a", "b", "c"], outer, 0.5, 0.25, 0.95)

    reach = 4.302652729911275 * np.sqrt(0.01 * 5 / 6)
    assert (first.interval.low, first.interval.high) == pytest.approx((0.2 - reach, 0.2 + reach))
    t = 0.2 / np.sqrt(0.01 * 5 / 6)
    assert first.p_value == pytest.approx(1 - t / np.sqrt(2 + t * t))  # the distribution of t with 2 degrees
    assert first.adjusted_p_value == pytest.approx(3 * first.p_value)
    assert first.adjusted_interval.confidence_level == pytest.approx(1 - 0.05 / 3)
    assert first.is_relevant is False and third.is_relevant
    assert np.isnan([third.interval.low, third.p_value]).all()  # .4 in every fold shows no spread


def test_a_difference_is_worded_by_its_size_and_side() -> None:
    outer = np.array([[0.6, 0.5, 0.6, np.nan], [0.8, 0.5, 0.8, np.nan]])
    better, same, missing, worse, *_ = differences_of(["a", "b", "c", "d"], outer, 0.5, 0.1, 0.95)
    words = [each.words for each in (better, same, worse, missing)]
    assert words == ["0.2000 better", "as good", "0.2000 worse", "–"]
    assert str(worse).startswith("b against c: 0.2000 worse [-")


def test_a_missing_score_is_neither_relevant_nor_not() -> None:
    known, nothing = np.array([0.5, np.nan]), np.array([np.nan, np.nan])
    assert relevance_of(known, nothing, 0, None, 0.1).is_relevant is None
    assert relevance_of(known, np.array([np.nan, 0.6]), 0, 1, None).is_relevant is None


@pytest.mark.parametrize(
    ("aggregate", "scoring"),
    [("folds", "neg_brier_score"), ("within", "roc_auc"), ("pooled", "neg_log_loss")],
)
def test_every_aggregate_gives_the_scores_of_separate_cross_validations(aggregate: Any, scoring: str) -> None:
    own: dict[str, Any] = {"scoring": scoring, "aggregate": aggregate, "cv": FOLDS, **FAST}
    found = ho.compare_algorithms([NEIGHBOURS, TREE], X, Y, **own)
    for name, model, grid in (NEIGHBOURS, TREE):
        search = ho.HeldOutSearchCV(model, grid, **own).fit(X, Y)
        nested = ho.nested_cv(model, X, Y, grid, scoring=scoring, aggregate=aggregate, cv=FOLDS, random_state=3)
        one, corrected = found[name], found[name].corrected
        assert corrected is not None and search.estimate_ is not None

        assert one.flat_params == search.best_params_
        assert one.flat == search.best_score_ == pytest.approx(corrected.uncorrected)
        assert corrected.value == search.estimate_.value and corrected.interval == search.estimate_.interval
        assert one.nested == nested.value and str(one.nested_interval) == str(nested.interval)
        chosen = [fold.selected_name.partition(" ")[2] for fold in nested.outer_folds]
        assert [each.partition(" ")[2] for each in one.outer_names] == chosen
    (difference,) = found.differences
    assert difference.value == pytest.approx(found["neighbours"].nested - found["tree"].nested)
    assert difference.interval.low < difference.value < difference.interval.high


def test_inner_folds_of_their_own_are_those_of_nested_cross_validation() -> None:
    settings: dict[str, Any] = {"cv": FOLDS, "inner": KFold(2), "random_state": 3}
    found = ho.compare_algorithms([NEIGHBOURS, TREE], X, Y, n_bootstraps=40, **settings)
    for name, model, grid in (NEIGHBOURS, TREE):
        nested = ho.nested_cv(model, X, Y, grid, **settings)
        assert found[name].nested == nested.value
        assert found[name].outer_scores == tuple(fold.score for fold in nested.outer_folds)


def test_pooled_scores_choose_by_all_rows_together() -> None:
    """Of 5, 4 and 3 rows, the mean over folds and the share of all rows prefer different labels."""
    y = np.array([1, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0])
    folds = PredefinedSplit([0] * 5 + [1] * 4 + [2] * 3)
    X = np.zeros((12, 1))
    algorithms = [("labels", Constant(), {"label": [0, 1]}), ("column", Constant(), {})]
    by = {
        aggregate: ho.compare_algorithms(algorithms, X, y, cv=folds, method="cv", aggregate=aggregate)
        for aggregate in ("folds", "pooled")
    }
    # Label 0 is right in 2, 3 and 1 rows, label 1 in 3, 1 and 2.
    assert by["folds"]["labels"].flat == pytest.approx(max(2 / 5 + 3 / 4 + 1 / 3, 3 / 5 + 1 / 4 + 2 / 3) / 3)
    assert by["folds"]["labels"].flat_params == {"label": 1}
    assert by["pooled"]["labels"].flat == 6 / 12 and by["pooled"]["labels"].flat_params == {"label": 0}
    # Inside: 4 of 7 rows are 0 without the first fold, 3 of 8 without the second, 5 of 9 without the third.
    assert by["pooled"]["labels"].outer_scores == pytest.approx((2 / 5, 1 / 4, 1 / 3))
    assert by["pooled"]["labels"].nested == pytest.approx((2 + 1 + 1) / 12)


NOISY = X + 2 * X.std(axis=0) * np.random.default_rng(0).normal(size=X.shape)
DROP = ho.dropping.Bootstrap(threshold=0.8, min_predictions=10)


def test_dropping_is_that_of_separate_searches() -> None:
    many = ("many", KNeighborsClassifier(), {"n_neighbors": [1, 5, 15, 60]})
    one = ("one", DecisionTreeClassifier(max_depth=3, random_state=0), {})
    own: dict[str, Any] = {"scoring": "roc_auc", "aggregate": "pooled", "cv": FOLDS, "drop": DROP}
    found = ho.compare_algorithms([many, TREE, one], NOISY, Y, **own, **FAST)

    assert found.overall.selected_name == found.deployed_name
    assert found.overall.flags[ho.Flag.DROPPED_CONFIGURATIONS] in found.notes
    for name, model, grid in (many, TREE, one):
        search = ho.HeldOutSearchCV(model, grid, **own, **FAST).fit(NOISY, Y)
        nested = ho.nested_cv(model, NOISY, Y, grid, **own, random_state=3)
        each, corrected = found[name], found[name].corrected
        assert corrected is not None and search.estimate_ is not None
        assert each.flat == search.best_score_ and corrected.value == search.estimate_.value
        assert set(corrected.flags) == set(search.estimate_.flags)
        assert each.nested == nested.value and each.costs.flat_fits == search.n_fits_
    assert found.n_fits_saved > 0 and f"Dropping saved {found.n_fits_saved} fits." in found.text(None)
    # Of the evaluation every configuration's results are those of its own algorithm.
    predictions = found.evaluation.predictions
    assert set(predictions.dropped) and not set(predictions.dropped) & set(predictions.failed)


def test_fits_are_counted_as_they_are_made_where_some_are_dropped(tmp_path: Path) -> None:
    y = np.random.default_rng(0).integers(0, 2, 40)
    right = (y ^ (np.random.default_rng(1).random(40) < 0.1))[:, None].astype(float)
    algorithms = [("constant", Constant(), {"label": [None, 0, 1]}), ("column", Constant(), {})]
    store = tmp_path / "run.db"
    settings: dict[str, Any] = {"cv": 4, "drop": DROP, "method": "cv", "random_state": 0, "store": store}
    Constant.n_fits = 0
    found = ho.compare_algorithms(algorithms, right, y, **settings)
    # Both labels leave after the first fold, in the search on the folds and in each of four with three inner folds.
    assert found["constant"].costs.flat_fits == 3 + 3 * 1 and found["constant"].costs.nested_fits == 4 * (3 + 2 * 1)
    assert found.n_fits == Constant.n_fits == 6 + 20 + 4 + 1 and found.n_fits_saved == 2 * 3 + 4 * 2 * 2
    assert found["constant"].nested == found["column"].nested == found["column"].flat
    again = ho.compare_algorithms(algorithms, right, y, **settings)
    assert again.to_dict()["algorithms"] == found.to_dict()["algorithms"] and Constant.n_fits == found.n_fits + 1


def test_the_winner_of_an_outer_fold_that_left_the_flat_race_is_fitted_there() -> None:
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    many = ("many", KNeighborsClassifier(), {"n_neighbors": [1, 5, 15, 60]})
    found = ho.compare_algorithms([many, TREE], NOISY, Y, scoring="accuracy", cv=folds, drop=DROP, **FAST)

    names, gone = list(found.evaluation.configurations.names), found.evaluation.dropped
    n_refits = 0
    for each, model in zip(found.algorithms, (many[1], TREE[1]), strict=True):
        for (train, test), name, score in zip(
            folds.split(NOISY, Y), each.outer_names, each.outer_scores, strict=True
        ):
            parameters = found.evaluation.configurations[names.index(name)].params
            own = {key: value for key, value in parameters.items() if key != "model"}
            fitted = clone(model).set_params(**own).fit(NOISY[train], Y[train])
            assert score == fitted.score(NOISY[test], Y[test])
        left = [
            gone[names.index(name)].after <= k
            for k, name in enumerate(each.outer_names)
            if names.index(name) in gone
        ]
        n_refits += sum(left)
    assert n_refits > 0


def test_one_outer_fold_has_scores_without_intervals_and_says_so() -> None:
    found = ho.compare_algorithms(
        [NEIGHBOURS, TREE], X, Y, cv=ho.protocols.hold_out(0.3), inner="holdout", method="cv", random_state=0
    )
    assert found.n_fits == 6 + 6 + 1 and np.isnan([*found["tree"].nested_interval]).all()
    assert any(note.startswith("one outer fold shows no spread") for note in found.notes)


def test_of_a_loss_the_smallest_is_selected() -> None:
    found = ho.compare_algorithms([NEIGHBOURS, TREE], X, Y, scoring="brier_score", cv=FOLDS, **FAST)

    losses = {each.name: -each.nested for each in found.algorithms}
    assert min(losses.values()) > 0 and found.selections.nested == min(losses, key=lambda name: losses[name])
    assert found.differences[0].value == pytest.approx(losses["tree"] - losses["neighbours"])


def test_the_corrected_scores_are_those_of_the_matrix() -> None:
    found = ho.compare_algorithms([NEIGHBOURS, TREE], X, Y, scoring="roc_auc", cv=FOLDS, **FAST)
    predictions = found.evaluation.predictions
    again = ho.estimate(Y, predictions, metric="roc_auc", aggregate="folds", **FAST)
    assert found.overall.value == again.value and found.overall.interval == again.interval


def test_equal_fits_are_made_once_and_change_nothing() -> None:
    trees = ("shallow", DecisionTreeClassifier(min_samples_leaf=20, random_state=0), {"max_depth": [1, 2]})
    groups = np.arange(len(Y)) // 2
    settings: dict[str, Any] = {"scoring": "neg_log_loss", "cv": 3, "repeats": 2, "groups": groups, **FAST}
    found = ho.compare_algorithms([TREE, trees], X, Y, **settings)
    apart = ho.compare_algorithms([TREE, trees], X, Y, share=False, **settings)

    assert found.n_fits == 2 * 5 * (3 + 3) + 1 and apart.n_fits == 2 * 5 * (3 + 6) + 1
    for name in ("tree", "shallow"):
        assert found[name].outer_names == apart[name].outer_names
        assert found[name].outer_scores == apart[name].outer_scores


def test_fits_are_counted_as_they_are_made(tmp_path: Path) -> None:
    Constant.n_fits = 0
    found = compared(OWN, store=tmp_path / "run.db", random_state=0)
    assert found.n_fits == Constant.n_fits == 3 * (2 + 1) + 3 * 2 + 1  # folds, pairs of folds, the model
    again = compared(OWN, store=tmp_path / "run.db", random_state=0)
    assert again.to_dict()["selections"] == found.to_dict()["selections"]
    assert Constant.n_fits == found.n_fits + 1


def test_a_scorer_that_cannot_be_opened_needs_every_inner_fit() -> None:
    def accuracy(model: Any, X: Any, y: Any) -> float:
        return float(np.mean(model.predict(X) == y))

    Constant.n_fits = 0
    found = ho.compare_algorithms(OWN, OWN_X, OWN_Y, cv=OWN_FOLDS, method="tt", scoring=accuracy)
    assert found.n_fits == Constant.n_fits == 3 * 3 + 6 * 2 + 1
    assert found["constant"].outer_scores == (0.5, 0.25, 0.5)


def test_what_failed_never_wins() -> None:
    failing = ("failing", Constant(label=1), {"fails": [True]})
    with pytest.warns(UserWarning, match="failed"):
        found = compared([failing, *OWN], deploy="flat")
    first = found.algorithms[0]
    assert np.isnan([first.flat, first.corrected_value, first.nested]).all() and "cannot be fitted" in first.reason
    assert "failing" not in vars(found.selections).values() and found.deployed == "constant"
    assert np.isnan(found.differences[0].value) and found.differences[0].is_relevant is None
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_result_as_a_table_and_as_text() -> None:
    found = compared(OWN, refit=False)
    frame = found.to_frame()
    assert frame["algorithm"].tolist() == ["constant", "column"] and frame["nested"].tolist() == [
        each.nested for each in found.algorithms
    ]
    assert found.model is None and "(not fitted)" in str(found) and "deployed: column" in repr(found)
    assert found.to_dict()["algorithms"][0]["costs"]["flat_fits"] == 6


@pytest.mark.parametrize(
    ("algorithms", "settings", "sentence"),
    [
        (TREE[1], {}, "algorithms must be a list of (name, estimator, grid), got DecisionTreeClassifier"),
        ([TREE], {}, "a comparison needs at least two algorithms, got 1 ('tree')"),
        ([TREE, TREE], {}, "estimator names must be distinct, got 'tree' more than once"),
        ([TREE, NEIGHBOURS], {"deploy": "best"}, "deploy must be one of nested, corrected, flat, got 'best'"),
        ([TREE, NEIGHBOURS], {"relevant": -0.1}, "relevant must be a difference of scores of at least 0, got -0.1"),
        ([TREE, NEIGHBOURS], {"method": None}, "method must name how flat scores are corrected, got None"),
        ([TREE, NEIGHBOURS], {"scoring": ["accuracy"]}, "algorithms are compared by one scorer, got ['accuracy']"),
        ([TREE, NEIGHBOURS], {"refit": "accuracy"}, "refit must be True or False, got 'accuracy'"),
        ([TREE, NEIGHBOURS], {"cv": 2}, "`inner='remaining'` needs at least 3 outer folds, got 2"),
        ([TREE, NEIGHBOURS], {"inner": "all"}, "inner must be 'remaining', 'holdout', a number of folds"),
        ([TREE, NEIGHBOURS], {"drop": "sequential"}, "`drop='sequential'` plans its own splits"),
    ],
)
def test_bad_input_gets_a_sentence(algorithms: Any, settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ho.InputError, match=re.escape(sentence)):
        ho.compare_algorithms(algorithms, X, Y, **settings)


def test_a_notebook_shows_twenty_outer_folds() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    nested = ho.nested_cv(KNeighborsClassifier(), X, y, {"n_neighbors": [1, 5]}, cv=3, repeats=7, random_state=0)
    page = nested._repr_html_()
    assert page.startswith("<table><caption>accuracy by nested_cv</caption>")
    assert page.count("KNeighborsClassifier (n_neighbors=") >= 20 and "and 1 more" in page
    assert f"<td>{nested.outer_folds[0].score:.4f}</td>" in page
