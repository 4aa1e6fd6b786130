"""Our metrics as scorers of scikit-learn: the same numbers, and searches that run them."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, PredefinedSplit, cross_val_predict, cross_val_score
from sklearn.svm import LinearSVC

import heldout as ho
from heldout.data.task import TaskKind, truth_of
from heldout.metrics import CalibrationIntercept, CalibrationSlope, Response, SomersD, check_fits, metric_named
from heldout.metrics.base import Needs
from heldout.metrics.from_scorer import metric_from_scorer

X, Y = make_classification(160, 6, n_informative=3, random_state=0)
SEVERAL_X, SEVERAL = make_classification(180, 8, n_informative=4, n_classes=3, random_state=1)
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2, len(Y))
MODEL = LogisticRegression().fit(X, Y)


@pytest.mark.parametrize("name", ["roc_auc", "log_loss", "accuracy"])
def test_a_scorer_gives_what_scikit_learn_gives(name) -> None:
    theirs = sk.get_scorer("neg_log_loss" if name == "log_loss" else name)
    ours = ho.metrics.scorer(name)
    assert ours(MODEL, X, Y) == pytest.approx(theirs(MODEL, X, Y), abs=1e-12)
    weighted = ours(MODEL, X, Y, sample_weight=WEIGHTS)
    assert weighted == pytest.approx(theirs(MODEL, X, Y, sample_weight=WEIGHTS), abs=1e-12)


def test_a_scorer_opens_to_the_metric_that_it_was_made_of() -> None:
    assert metric_from_scorer(ho.metrics.scorer("spearman")) == ho.metrics.metric_named("spearman")
    loss = metric_from_scorer(ho.metrics.scorer("expected_calibration_error"))
    assert loss is not None and (loss.name, loss.greater_is_better) == ("neg_expected_calibration_error", True)


@pytest.mark.parametrize("name", ["sensitivity_at_specificity(specificity=0.8)", "calibration_slope_error"])
def test_a_search_runs_it_and_corrects_it(name) -> None:
    asked = {"scoring": ho.metrics.scorer(name), "cv": 4}
    search = ho.HeldOutSearchCV(
        LogisticRegression(), {"C": [0.01, 1, 100]}, **asked, aggregate="pooled", random_state=0, n_bootstraps=60
    ).fit(X, Y)
    grid = GridSearchCV(LogisticRegression(), {"C": [0.01, 1, 100]}, **asked).fit(X, Y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"], rtol=0, atol=1e-12
    )
    held = ho.estimate(
        Y,
        replace(search.predictions_, question=None),
        metric=name,
        n_bootstraps=60,
        random_state=search.estimate_.provenance["entropy"],
    )
    assert held.value == pytest.approx(abs(search.estimate_.value), abs=1e-12)


def test_a_fold_that_lacks_a_class_is_scored_on_the_scale_of_all() -> None:
    """Quadratic kappa of three classes where the last fold holds two of them."""
    places = np.arange(len(SEVERAL))
    folds = PredefinedSplit(np.where(SEVERAL == 0, places % 2, places % 3))
    search = ho.HeldOutSearchCV(
        LogisticRegression(),
        {"C": [0.1, 1]},
        scoring=ho.metrics.scorer("quadratic_weighted_kappa"),
        cv=folds,
        aggregate="folds",
        n_bootstraps=40,
        random_state=0,
    ).fit(SEVERAL_X, SEVERAL)
    assert search.best_score_ == pytest.approx(search.estimate_.uncorrected, abs=1e-12)


def test_regressions_and_scikit_learns_own_functions_take_it() -> None:
    features, y = make_regression(90, 4, noise=20, random_state=0)
    scores = cross_val_score(Ridge(), features, y, scoring=ho.metrics.scorer("spearman"), cv=3)
    assert np.isfinite(scores).all() and (scores > 0.5).all()


def test_what_the_rows_do_not_say_is_not_scored() -> None:
    assert np.isnan(ho.metrics.scorer("expected_calibration_error")(MODEL, X[Y == 1], Y[Y == 1]))
    known = ho.metrics.scorer("expected_calibration_error", classes=[0, 1])
    assert np.isfinite(known(MODEL, X[Y == 1], Y[Y == 1]))
    assert np.isnan(ho.metrics.scorer("roc_auc", classes=[0, 1])(MODEL, X[Y == 1], Y[Y == 1]))


def test_survival_metrics_have_no_classes() -> None:
    with pytest.raises(ho.InputError, match="'concordance_index' is of survival; leave it out"):
        ho.metrics.scorer("concordance_index", classes=[0, 1])


def test_rows_without_a_comparable_pair_have_no_concordance() -> None:
    class Risks:
        def predict(self, X):
            return X[:, 0]

    scorer = ho.metrics.scorer("concordance_index")
    y = np.array([(True, 1.0), (False, 2.0), (False, 3.0)], dtype=[("event", bool), ("time", float)])
    assert scorer(Risks(), np.array([[2.0], [1.0], [3.0]]), y) == 0.5
    assert np.isnan(scorer(Risks(), np.array([[2.0], [1.0]]), y[1:]))
    table = np.array([[1, 1.0], [0, 2.0], [0, 3.0]])  # other forms are read too
    assert scorer(Risks(), np.array([[2.0], [1.0], [3.0]]), table) == 0.5


def test_classes_in_another_order_do_not_turn_a_score_around() -> None:
    """A model orders its probabilities by sorted classes, so that those of ["yes", "no"] would be the other's."""
    named = np.array(["no", "yes"])[Y]
    model = LogisticRegression().fit(X, named)
    told = ho.metrics.scorer("roc_auc", classes=["no", "yes"])
    assert told(model, X, named) == pytest.approx(sk.get_scorer("roc_auc")(model, X, named), abs=1e-12)
    with pytest.raises(ho.InputError, match=r"classes must be distinct and sorted.*classes=\['no', 'yes'\]"):
        ho.metrics.scorer("roc_auc", classes=["yes", "no"])
    scale = ho.metrics.scorer("quadratic_weighted_kappa", classes=["yes", "no"])  # labels have any order
    assert scale(model, X, named) == pytest.approx(sk.cohen_kappa_score(named, model.predict(X)), abs=1e-12)


def test_a_search_refuses_a_scorer_with_other_classes() -> None:
    for classes in ([2, 1, 0], [0, 1, 2, 3]):
        scoring = ho.metrics.scorer("quadratic_weighted_kappa", classes=classes)
        search = ho.HeldOutSearchCV(LogisticRegression(), {"C": [0.1, 1]}, scoring=scoring)
        with pytest.raises(ho.InputError, match=r"has `classes=.* but the classes of the target are 0, 1, 2"):
            search.fit(SEVERAL_X, SEVERAL)


@pytest.mark.parametrize("name", ["log_loss", "roc_auc_ovr", "expected_calibration_error", "average_precision"])
def test_rows_without_a_class_that_the_model_knows_are_refused_in_one_sentence(name) -> None:
    model = LogisticRegression().fit(SEVERAL_X, SEVERAL)
    few = SEVERAL < 2
    with pytest.raises(ho.InputError, match="rows of the classes 0, 1 here, but the model predicts 3 classes"):
        ho.metrics.scorer(name)(model, SEVERAL_X[few], SEVERAL[few])


def test_a_metric_of_two_classes_is_refused_for_three() -> None:
    model = LogisticRegression().fit(SEVERAL_X, SEVERAL)
    with pytest.raises(ho.InputError, match="'roc_auc' does not fit a multiclass target"):
        ho.metrics.scorer("roc_auc")(model, SEVERAL_X, SEVERAL)


def test_a_metric_without_a_better_direction_chooses_nothing() -> None:
    slope = ho.metrics.scorer("calibration_slope")
    grid = {"C": [0.01, 1]}
    with pytest.raises(ho.InputError, match="neither direction is better, so it cannot select among 2"):
        ho.HeldOutSearchCV(LogisticRegression(), grid, scoring=slope).fit(X, Y)
    beside = {"auc": "roc_auc", "slope": slope}
    search = ho.HeldOutSearchCV(
        LogisticRegression(), grid, scoring=beside, refit="auc", n_bootstraps=40, random_state=0
    ).fit(X, Y)
    assert np.isfinite(search.estimates_["slope"].value)


# Metrics of several kinds of task: which one a target means, and what they do where it is told elsewhere.

SURVIVAL = truth_of(([True, False, True], [1.0, 2.0, 3.0]), "survival")


def test_a_target_determines_the_response() -> None:
    metric = CalibrationSlope()
    assert metric.tasks == {TaskKind.BINARY, TaskKind.REGRESSION, TaskKind.SURVIVAL}
    assert metric.responses == (Response.PROBABILITIES, Response.VALUES, Response.RISK)
    read = [check_fits(metric, truth) for truth in (truth_of([0, 1]), truth_of([0.5, 1.5]), SURVIVAL)]
    assert [one.responses for one in read] == [(Response.PROBABILITIES,), (Response.VALUES,), (Response.RISK,)]
    assert [one.needs for one in read] == [Needs.EVERY_CLASS, Needs.TWO_ROWS, Needs.PAIR]
    assert all(one == metric and repr(one) == repr(metric) for one in read)
    assert check_fits(SomersD(), SURVIVAL).responses == (Response.RISK,)


def test_kinds_that_a_metric_has_not_are_refused() -> None:
    with pytest.raises(ho.InputError, match="'somers_d' does not fit a regression target"):
        check_fits(SomersD(), truth_of([0.5, 1.5]))
    with pytest.raises(ho.InputError, match="'calibration_intercept' does not fit a survival target"):
        check_fits(CalibrationIntercept(), SURVIVAL)


def test_the_kind_is_no_parameter() -> None:
    with pytest.raises(ho.InputError, match="kind"):
        metric_named("calibration_slope(kind='binary')")
    assert metric_named("calibration_intercept(given_slope=False)").given_slope is False


@pytest.mark.parametrize("digits", [0, 2], ids=["whole numbers", "fractions"])
def test_an_estimate_of_numbers(digits: int) -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(50, 10, 80).round(digits)
    given = (0.5 * y + rng.normal(25, 1, 80))[:, None]
    found = ho.estimate(y, given, metric="calibration_slope", n_bootstraps=100, random_state=0)
    assert found.uncorrected == pytest.approx(np.polyfit(given[:, 0], y, 1)[0], abs=1e-10)


def test_scorers_of_both_kinds_of_model() -> None:
    slope = ho.metrics.scorer("calibration_slope")
    X, y = make_regression(60, 3, noise=30, random_state=0)
    for target in (y, y.round()):
        model = LinearRegression().fit(X, target)
        assert slope(model, X, target) == pytest.approx(1.0, abs=1e-10)
    X, y = make_classification(80, 3, n_informative=2, n_redundant=0, flip_y=0.2, random_state=0)
    given = LogisticRegression(C=1e8, tol=1e-10).fit(X, y)
    assert slope(given, X, y) == pytest.approx(1.0, abs=1e-3)
    with pytest.raises(ho.InputError, match="needs probabilities of two classes"):
        slope(LinearSVC().fit(X, y), X, y)


def test_a_search_over_models_of_numbers() -> None:
    X, y = make_regression(60, 3, noise=30, random_state=0)
    search = ho.HeldOutSearchCV(
        LinearRegression(), {"fit_intercept": [True, False]}, cv=3, n_bootstraps=50, random_state=0,
        scoring=ho.metrics.scorer("calibration_slope_error"), aggregate="pooled",
    ).fit(X, y)  # fmt: skip
    given = cross_val_predict(search.best_estimator_, X, y, cv=3)
    assert abs(search.estimate_.uncorrected) == pytest.approx(abs(np.polyfit(given, y, 1)[0] - 1), abs=1e-8)
