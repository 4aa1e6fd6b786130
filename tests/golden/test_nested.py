"""Nested cross-validation is what a search inside ``cross_validate`` is, to rounding, and what a few sums give."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, KFold, PredefinedSplit, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import heldout as ho

CANCER, DIABETES, WINE = (load(return_X_y=True) for load in (load_breast_cancer, load_diabetes, load_wine))
LINEAR = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
CASES = {
    "accuracy": (KNeighborsClassifier(), {"n_neighbors": [1, 3, 7, 15, 40]}, "accuracy", CANCER),
    "auc": (LINEAR, {"logisticregression__C": [1e-4, 1e-2, 1.0, 100.0]}, "roc_auc", CANCER),
    "log loss of three classes": (KNeighborsClassifier(), {"n_neighbors": [5, 20, 40]}, "neg_log_loss", WINE),
    "r2": (KNeighborsRegressor(), {"n_neighbors": [2, 10, 20, 30]}, "r2", DIABETES),
    "of the estimator": (Ridge(), {"alpha": [0.01, 1.0]}, None, DIABETES),
}


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def remaining(folds, train):
    """The remaining folds as scikit-learn is told of them, by position among the training rows."""
    return PredefinedSplit([next(f for f, (_, test) in enumerate(folds) if row in test) for row in train])


@pytest.mark.parametrize(
    ("case", "inner"), [*((case, "remaining") for case in CASES if case != "auc"), ("auc", "splitter")]
)
def test_it_is_grid_search_inside_cross_validation(case, inner):
    model, grid, scoring, (X, y) = CASES[case]
    rows = np.random.default_rng(0).permutation(len(y))[:90]
    X, y = X[rows], y[rows]
    kind = StratifiedKFold if len(np.unique(y)) < 10 else KFold
    outer, anew = kind(4), kind(3)
    inside = anew if inner == "splitter" else inner
    asked = {"scoring": scoring, "cv": outer, "inner": inside, "interval": "nadeau_bengio"}  # of fold scores
    found = ho.nested_cv(model, X, y, grid, **asked)

    folds = list(outer.split(X, y))
    for fold, (train, test) in zip(found.outer_folds, folds, strict=True):
        cv = remaining(folds, train) if inner == "remaining" else anew
        search = GridSearchCV(model, grid, scoring=scoring, cv=cv).fit(X[train], y[train])
        np.testing.assert_array_equal(fold.training_rows, train)
        np.testing.assert_array_equal(fold.test_rows, test)
        assert fold.selected == search.best_index_
        assert fold.score == pytest.approx(search.score(X[test], y[test]), rel=1e-12, abs=1e-12)
        assert fold.inner_score == pytest.approx(search.best_score_, rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(fold.inner_scores, search.cv_results_["mean_test_score"], atol=1e-12, rtol=1e-12)
    assert found.value == pytest.approx(np.mean([fold.score for fold in found.outer_folds]), rel=1e-12, abs=1e-12)
    whole = GridSearchCV(model, grid, scoring=scoring, cv=outer if inner == "remaining" else anew).fit(X, y)
    assert found.selected == whole.best_index_ and found.uncorrected == pytest.approx(
        whole.best_score_, rel=1e-12, abs=1e-12
    )
    np.testing.assert_array_equal(found.model.predict(X), whole.predict(X))


def test_the_winners_are_fitted_and_scored_as_scikit_learn_does_with_several_scorers_repeats_and_groups():
    X, y = CANCER[0][:150, :5], CANCER[1][:150]
    groups = np.arange(150) // 3
    scoring = {"auc": "roc_auc", "loss": "neg_log_loss"}
    found = ho.nested_cv(
        LINEAR, X, y, {"logisticregression__C": [1e-3, 1e-1, 10.0]}, scoring=scoring, refit="loss", cv=3, inner=2,
        repeats=2, groups=groups, random_state=4,
    )  # fmt: skip

    assert found.metric == "neg_log_loss" and len(found.outer_folds) == 6
    for fold in found.outer_folds:
        best = LINEAR.set_params(**found.evaluation.configurations.params[fold.selected])
        best.fit(X[fold.training_rows], y[fold.training_rows])
        for name, scorer in scoring.items():
            score = get_scorer(scorer)(best, X[fold.test_rows], y[fold.test_rows])
            assert fold.scores[name] == pytest.approx(score, abs=1e-12)
        assert not set(groups[fold.training_rows]) & set(groups[fold.test_rows])


class OneOfTwo(ClassifierMixin, BaseEstimator):
    """Says its own number, whatever it was trained on; counts its fits."""

    fits: list[int] = []  # noqa: RUF012

    def __init__(self, says=0, tag=0):
        self.says = says
        self.tag = tag

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        OneOfTwo.fits.append(len(X))
        return self

    def predict(self, X):
        return np.full(len(X), self.says)


def test_two_configurations_and_three_folds_by_hand():
    """Folds (0, 0), (0, 1), (1, 1): those who say 0 score 1, 1/2, 0 there, and those who say 1 score 0, 1/2, 1.

    Without the first fold 0 has (1/2 + 0)/2 and 1 has (1/2 + 1)/2: 1 is chosen, and scores 0 on the first. Without
    the second they tie at 1/2, so that 0 is chosen, and scores 1/2. Without the third 0 is chosen, and scores 0.
    """
    y = np.array([0, 0, 0, 1, 1, 1])
    found = ho.nested_cv(OneOfTwo(), np.zeros((6, 1)), y, {"says": [0, 1]}, cv=KFold(3), scoring="accuracy")

    assert [fold.selected for fold in found.outer_folds] == [1, 0, 0]
    assert [fold.score for fold in found.outer_folds] == [0.0, 0.5, 0.0]
    assert [fold.inner_score for fold in found.outer_folds] == [0.75, 0.5, 0.75]
    assert [fold.inner_scores.tolist() for fold in found.outer_folds] == [[0.25, 0.75], [0.5, 0.5], [0.75, 0.25]]
    assert (
        found.value == pytest.approx(1 / 6) and found.uncorrected == 0.5 and found.optimism == pytest.approx(1 / 3)
    )
    assert found.selected == 0 and found.agreement.wins == {0: 2, 1: 1}
    assert found.agreement.share == pytest.approx(2 / 3)
    np.testing.assert_allclose(found.selection_frequency, [2 / 3, 1 / 3])
    # s² of (0, 1/2, 0) is 1/12, times 1/3 + 1/2.
    assert found.standard_error == pytest.approx(np.sqrt(1 / 12 * 5 / 6))
    assert found.interval.low == 0.0  # it would be below, where no accuracy is

    across = ho.nested_cv(
        OneOfTwo(), np.zeros((6, 1)), y, {"says": [0, 1]}, cv=KFold(3), scoring="accuracy", across="all"
    )
    # Both have the mean 1/2 over all inner folds; 0 is the first, and scores 1, 1/2, 0.
    assert [fold.score for fold in across.outer_folds] == [1.0, 0.5, 0.0]
    assert across.value == 0.5 and across.selected == 0 and "selection_uncorrected" in across.flags
    assert [fold.selected for fold in across.outer_folds] == [1, 0, 0]
    # What is fitted is 0 everywhere, and the inner score beside its outer one is its own.
    assert [fold.tested for fold in across.outer_folds] == [0, 0, 0]
    table = across.to_frame()
    assert table[["inner_score", "score"]].to_numpy().tolist() == [[0.25, 1.0], [0.5, 0.5], [0.75, 0.0]]
    assert table["tested_name"].nunique() == 1 and table["selected_name"].nunique() == 2
    assert list(table)[2:8] == ["tested", "tested_name", "inner_score", "score", "selected", "selected_name"]
    # Over the inner folds of all outer folds: (1/4 + 1/2 + 3/4)/3 each.
    assert across.mean_inner_scores.tolist() == found.mean_inner_scores.tolist() == [0.5, 0.5]


def test_klamers_mean_inner_scores_choose_the_configuration_that_every_outer_fold_scores():
    scoring = "neg_log_loss"
    X, y = (each[:90] for each in CANCER)
    outer, inner = StratifiedKFold(3), StratifiedKFold(2)
    neighbours = [2, 9, 30]
    found = ho.nested_cv(
        KNeighborsClassifier(),
        X,
        y,
        {"n_neighbors": neighbours},
        cv=outer,
        inner=inner,
        scoring=scoring,
        across="all",
    )

    # Klamer's repeated grid-search nested cross-validation, steps 2 to 6, with one repeat.
    score, inside = get_scorer(scoring), np.zeros((len(neighbours), 3, 2))
    for k, (kept, _) in enumerate(outer.split(X, y)):
        for j, (train, test) in enumerate(inner.split(X[kept], y[kept])):
            for i, n in enumerate(neighbours):
                model = KNeighborsClassifier(n_neighbors=n).fit(X[kept[train]], y[kept[train]])
                inside[i, k, j] = score(model, X[kept[test]], y[kept[test]])
    means = inside.mean(axis=(1, 2))
    best = int(means.argmax())
    outside = [
        score(KNeighborsClassifier(n_neighbors=neighbours[best]).fit(X[kept], y[kept]), X[test], y[test])
        for kept, test in outer.split(X, y)
    ]
    np.testing.assert_allclose(found.mean_inner_scores, means)
    assert found.selected == best and found.value == pytest.approx(np.mean(outside))
    frame = found.configurations_frame()
    assert frame["configuration"].tolist() == np.argsort(-means).tolist()
    assert frame["mean_inner_score"].tolist() == pytest.approx(sorted(means, reverse=True))
    assert frame["is_deployed"].tolist() == [True, False, False] and frame["n_tested"].tolist() == [3, 0, 0]
    assert [each["score"] for each in found.to_dict()["mean_inner_scores"]] == pytest.approx(means.tolist())
    folds = found.to_frame()
    assert set(folds["tested_name"]) == {found.selected_name} and folds["score"].tolist() == pytest.approx(outside)


def test_a_configuration_without_a_score_in_some_search_ranks_last():
    y = np.array([0, 0, 0, 1, 1, 1])
    found = ho.nested_cv(OneOfTwo(), np.zeros((6, 1)), y, {"says": [0, 1]}, cv=KFold(3), scoring="accuracy")
    folds = [replace(fold, inner_scores=np.array([np.nan, 0.1])) for fold in found.outer_folds[:1]]
    lacking = replace(found, outer_folds=(*folds, *found.outer_folds[1:]))
    assert np.isnan(lacking.mean_inner_scores[0]) and lacking.ranked == [1, 0]


@pytest.mark.parametrize("k, c, repeats", [(3, 2, 1), (4, 3, 2)])
def test_the_number_of_fits_is_exact(k, c, repeats):
    X, y = np.zeros((40, 1)), np.arange(40) % 2
    settings = {"cv": k, "repeats": repeats, "scoring": "accuracy", "random_state": 0}

    def fits(**more):
        OneOfTwo.fits.clear()
        found = ho.nested_cv(OneOfTwo(), X, y, {"tag": list(range(c))}, **settings, **{"interval": None, **more})
        assert found.n_fits == len(OneOfTwo.fits) and found.n_fits_saved == 0
        return len(OneOfTwo.fits)

    assert fits() == repeats * (k * k * c + k) + 1
    assert fits(across="all") == repeats * (k * k * c + k) + 1
    assert fits(inner="holdout") == repeats * (2 * k * c + k) + 1
    assert fits(inner=2) == repeats * (2 * k * c + k) + 2 * c + 1
    assert fits(refit=False) == repeats * (k * k * c + k)


def test_the_number_of_fits_is_exact_with_pairs_of_folds():
    k, c = 5, 3
    X, y = np.zeros((40, 1)), np.arange(40) % 2
    OneOfTwo.fits.clear()
    found = ho.nested_cv(
        OneOfTwo(), X, y, {"tag": list(range(c))}, cv=k, scoring="accuracy", interval="bates_hastie_tibshirani"
    )
    assert len(OneOfTwo.fits) == found.n_fits == k * k * c + k + 1 + k * (k - 1) // 2 * ((k - 2) * c + 1)
