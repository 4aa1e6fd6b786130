"""WMC and WMCS: closed forms of two configurations, the special columns, limits, and what they are not for."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit, TimeSeriesSplit

import heldout as ho
from heldout.data.task import Task, truth_of
from heldout.estimates.methods.wmc import WMC, WMCS, normal_of_means, positive_definite, shrinkage_of, weigh
from heldout.folds.splits import make_folds
from heldout.selection import Best, CallableRefit

ERRORS = np.random.default_rng(1).normal(0.3, 0.05, size=(30, 8)) + np.linspace(0, 0.02, 8)


class NeverFitted(LogisticRegression):
    def fit(self, X, y):
        raise AssertionError("it was fitted")


def of(errors=ERRORS, **settings):
    settings = {"greater_is_better": False, "method": "wmc", "test_share": 0.2, "random_state": 0} | settings
    return ho.estimate_from_scores(errors, **settings)


def test_the_correction_is_upward_for_errors_and_downward_for_scores():
    for method in ("wmc", "wmcs", WMCS(average="raw")):
        error, score = of(method=method), of(1 - ERRORS, method=method, greater_is_better=True)
        assert error.optimism > 0
        assert score.value == pytest.approx(1 - error.value, abs=1e-12)
        assert score.optimism == pytest.approx(error.optimism, abs=1e-12)
        assert error.interval is None and ho.Flag.NO_INTERVAL in error.flags
    assert of(method="wmcs").value > of().value > of().uncorrected


def test_more_configurations_than_splits_are_made_positive_definite():
    errors = np.random.default_rng(0).normal(0.3, 0.05, size=(6, 40))
    _, covariances = normal_of_means(errors, 0.2)
    assert np.linalg.eigvalsh(covariances).min() > 0
    np.linalg.cholesky(covariances)
    assert np.isfinite(of(errors).value)


def test_a_positive_definite_matrix_stays_as_it_is():
    matrix = np.array([[2.0, 0.5], [0.5, 1.0]])
    np.testing.assert_array_equal(positive_definite(matrix), matrix)
    lifted = positive_definite(np.ones((2, 2)))
    np.testing.assert_allclose(lifted, np.ones((2, 2)), atol=1e-14)
    assert np.linalg.eigvalsh(lifted).min() > 0


def test_weights_are_shares_of_draws_and_know_what_the_least_is():
    weighed = weigh(np.array([0.0, 10.0]), np.eye(2), 1000, seed=3)
    assert weighed.weights.tolist() == [1, 0]
    assert weighed.expected_least[0] == pytest.approx(0, abs=1e-12)  # mirrored draws have a mean of 0 exactly
    assert np.isnan(weighed.expected_least[1])


def test_a_winner_that_never_wins_leaves_no_estimate():
    # A constant column is the least mean, yet with 299 noisy ones beside it never the least of a draw.
    noisy = np.random.default_rng(0).normal(0.31, 0.2, size=(40, 299))
    errors = np.column_stack([np.full(40, noisy.mean(axis=0).min() - 1e-4), noisy])
    with pytest.warns(ho.HeldoutWarning, match="the winner had the least error in none of 100 draws"):
        found = of(errors, method=WMCS(n_draws=100))
    assert np.isnan(found.value) and found.selected == 0
    assert found.uncorrected == pytest.approx(errors[0, 0])


def test_shrinkage_is_clipped():
    weighed = weigh(np.zeros(3), np.eye(3), 1000, seed=1)
    assert shrinkage_of(np.zeros(3), weighed) == 1.0
    assert shrinkage_of(np.array([0.0, 1e-9, 1e-9]), weighed) == 1.0
    assert 0 < shrinkage_of(np.array([0.0, 4.0, 5.0]), weighed) < 1


def test_a_rule_other_than_the_best_is_refused():
    with pytest.raises(ho.InputError, match=r"winner has the best mean, .*'refit callable <lambda>'"):
        of(selection=CallableRefit(lambda results: 1))


def test_a_winner_by_the_median_over_repeats_is_refused():
    with pytest.raises(ho.InputError, match="best mean, but here it was selected by the median over repeats"):
        of(selection=Best("median"), repeats=np.arange(30) // 10)


@pytest.mark.parametrize("unit", [1e-200, 1e200], ids=str)
def test_scores_without_a_square_are_refused(unit):
    for method in ("wmc", "wmcs"):
        with pytest.raises(ho.InputError, match=r"squares of .* are beyond what float64 holds; use other units"):
            of(ERRORS * unit, method=method)
        np.testing.assert_array_equal(  # far units change nothing
            of(ERRORS / 2**400, method=method).selection_frequency, of(method=method).selection_frequency
        )


def test_predictions_are_refused_with_the_function_that_takes_scores():
    y = np.resize([0, 1], 30)
    for folds in (None, np.arange(30) % 3):
        with pytest.raises(ho.InputError, match=r"or ho\.estimate_from_scores with its test_share"):
            ho.estimate(y, ERRORS, metric="roc_auc", method="wmc", folds=folds)


@pytest.mark.parametrize("n_draws", [0, 3, 1.5, True], ids=str)
def test_draws_must_be_even(n_draws):
    for make in (WMC, WMCS):
        with pytest.raises(ho.InputError, match="n_draws must be an even integer"):
            make(n_draws=n_draws)


def test_an_unknown_average_is_refused():
    with pytest.raises(ho.InputError, match="average must be one of shrunken, raw, got 'mean'"):
        WMCS(average="mean")


@pytest.mark.parametrize("method", ["wmc", "wmcs"])
def test_a_search_on_other_splits_refuses_them_before_it_fits(method):
    search = ho.HeldOutSearchCV(NeverFitted(), {"C": [0.1, 1.0]}, method=method)
    with pytest.raises(
        ho.InputError, match=r"is for repeated subsampling.*use `cv=ho\.protocols\.repeated_hold_out"
    ):
        search.fit(ERRORS, np.resize([0, 1], 30))


def test_a_search_that_chooses_otherwise_refuses_them_before_it_fits():
    settings = {"method": "wmc", "cv": ho.protocols.repeated_hold_out(5, 0.2), "random_state": 0}
    y = np.resize([0, 1], 30)
    for other, message in (
        ({"aggregate": "pooled"}, "best mean over splits"),
        ({"selection": "one_standard_error"}, "selected by 'one_standard_error'"),
    ):
        with pytest.raises(ho.InputError, match=message):
            ho.HeldOutSearchCV(NeverFitted(), {"C": [0.1, 1.0]}, **settings, **other).fit(ERRORS, y)


@pytest.mark.parametrize(("method", "scoring"), [("wmc", "neg_log_loss"), ("wmcs", "closed")])
def test_a_search_by_repeated_subsampling_gives_what_its_scores_give(method, scoring):
    X, y = np.random.default_rng(3).normal(size=(40, 3)), np.resize([0, 1], 40)

    def closed(model, X, y):
        return float((model.predict(X) == y).mean())

    search = ho.HeldOutSearchCV(
        LogisticRegression(), {"C": [0.01, 1.0, 100.0]}, scoring=closed if scoring == "closed" else scoring,
        cv=ho.protocols.repeated_hold_out(12, 0.2), method=method, random_state=0,
    ).fit(X, y)  # fmt: skip
    scores = np.array([search.cv_results_[f"split{k}_test_score"] for k in range(12)])
    alone = ho.estimate_from_scores(scores, greater_is_better=True, method=method, test_share=0.2, random_state=0)

    sign = -1 if scoring == "neg_log_loss" and search.estimate_.metric == "log_loss" else 1
    assert search.estimate_.selected == search.best_index_ == alone.selected
    assert search.estimate_.uncorrected == pytest.approx(sign * search.best_score_)
    assert search.estimate_.value == pytest.approx(sign * alone.value, abs=1e-12)
    assert search.estimate_.provenance["test_share"] == pytest.approx(0.2)
    assert search.corrected_score_ == pytest.approx(alone.value)


def test_only_repeated_subsampling_has_a_share_of_tested_rows():
    X, y = np.zeros((20, 1)), np.resize([0, 1], 20)
    task = Task(X, truth_of(y))
    assert make_folds(task, ho.protocols.repeated_hold_out(3, 0.25)).test_share == 0.25
    assert make_folds(
        task, ShuffleSplit(30, test_size=4, train_size=8, random_state=0)
    ).test_share == pytest.approx(1 / 3)
    for other in (
        5, ho.protocols.hold_out(0.25), ho.protocols.repeated(5, 3), TimeSeriesSplit(4),
        ho.protocols.leave_one_out(),
    ):  # fmt: skip
        assert make_folds(task, other).test_share is None
