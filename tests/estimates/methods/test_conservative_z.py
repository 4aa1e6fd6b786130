"""The conservative z interval by hand, in a search whose fits are counted, resumed, and refused elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from known_truth import Column
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

import heldout as ho
from heldout.estimates.methods.corrected_t import differences_of_halves, spread_of_halves

Z = norm.ppf(0.975)
N = 90
RNG = np.random.default_rng(2)
Y = np.resize([0, 1], N)
X = RNG.normal(size=(N, 3)) + np.array([1.6, 0.4, 0.0]) * Y[:, None]
PLAN = ho.protocols.paired_hold_out(4, 0.2, 3)
FITS = 4 * 3 + 2 * 3 * 4


def search(method: Any = "conservative_z", cv: Any = PLAN, **more: Any) -> ho.HeldOutSearchCV:
    more = {"scoring": "accuracy", "random_state": 0} | more
    return ho.HeldOutSearchCV(Column(cut=0.4), {"column": [2, 1, 0]}, cv=cv, method=method, **more)


def of(scores: Any, **more: Any) -> Any:
    more = {"greater_is_better": True, "method": "conservative_z", "halvings": 1} | more
    return ho.estimate_from_scores(scores, **more)


def test_by_hand():
    """J = 2, M = 2: halves .6 and .8, then .7 and .6; σ² = (.04 + .01)/4 = .0125, σ = .1118034."""
    scores = np.array([0.7, 0.8, 0.5, 0.7, 0.8, 0.8, 0.7, 0.7, 0.5, 0.7])[:, None]
    found = of(scores, halvings=2)
    assert found.value == pytest.approx(0.75)
    assert found.standard_error == pytest.approx(0.1118034, abs=1e-7)
    assert list(found.interval) == pytest.approx([0.75 - Z * 0.1118034, 0.75 + Z * 0.1118034], abs=1e-7)
    lower = of(scores, halvings=2, alternative="greater", range=(0.0, 1.0)).interval
    assert list(lower) == pytest.approx([0.75 - norm.ppf(0.95) * 0.1118034, 1.0], abs=1e-7)


def test_the_splits_of_all_rows_select():
    """The second is better on all rows, the first in the halves."""
    scores = np.array([[0.5, 0.6], [0.5, 0.6], [0.9, 0.1], [0.9, 0.3], [0.9, 0.3], [0.9, 0.5]])
    found = of(scores)
    assert found.selected == 1 and found.value == pytest.approx(0.6)
    assert found.standard_error == pytest.approx(np.sqrt((0.2 - 0.4) ** 2 / 2))
    assert {"uncorrected", "selection_ignored"} <= set(found.flags)


def test_the_variance_of_a_half_is_estimated_without_bias():
    """Independent halves: each of 2000 estimates is half a chi squared of 2 degrees; their mean is 1 ± 5/√2000."""
    draws = np.random.default_rng(0).normal(size=(2000, 2, 2, 1))
    squares = [spread_of_halves(differences_of_halves(each), 0.0).standard_error ** 2 for each in draws]
    assert np.mean(squares) == pytest.approx(1.0, abs=5 * np.sqrt(1 / 2000))


def test_undefined_splits_are_left_out():
    halves = np.array([[[0.5, np.nan], [0.7, 0.9]], [[np.nan, np.nan], [0.1, 0.2]]])
    assert differences_of_halves(halves).tolist() == pytest.approx([-0.3])


@pytest.mark.parametrize(
    ("halves", "said"),
    [
        (np.full((2, 2, 2), np.nan), "no halving has a score in both halves"),
        (np.full((2, 2, 2), 0.5), "both halves have the same score in every halving"),
    ],
)
def test_no_spread_no_interval(halves, said):
    scores = np.concatenate([[0.5, 0.6], halves.ravel()])[:, None]
    with pytest.warns(ho.HeldoutWarning, match=said):
        found = of(scores, halvings=2)
    assert found.value == pytest.approx(0.55) and np.isnan(list(found.interval)).all()


def test_a_search_fits_its_winner_in_halves_after_it_is_selected():
    """3 · 4 fits of all configurations, 2 · 3 · 4 of the winner, and its refit."""
    Column.fits = []
    fitted = search().fit(X, Y)
    assert len(Column.fits) == FITS + 1 and fitted.n_fits_ == FITS
    assert fitted.best_params_ == {"column": 0} and fitted.n_splits_ == 4
    assert Column.fits[12:-1] == [(0, 27)] * 24  # 45 rows of a half, 18 of them tested as of all rows
    assert {rows for _, rows in Column.fits[:12]} == {72}
    assert len(fitted.cv_results_["split3_test_score"]) == 3 and "split4_test_score" not in fitted.cv_results_


def test_the_search_and_its_scores_have_the_same_estimate():
    fitted = search().fit(X, Y)
    main = fitted.evaluation_.fold_scores["score"].values[:, [fitted.best_index_]]
    halves = fitted.evaluation_.scores_in_halves["score"].values
    found = of(np.concatenate([main, halves]), halvings=3, range=(0.0, 1.0))
    estimate = fitted.estimate_
    assert found.value == pytest.approx(estimate.value) and list(found.interval) == list(estimate.interval)
    means = halves.reshape(3, 2, 4).mean(axis=2)
    sigma = np.sqrt(((means[:, 0] - means[:, 1]) ** 2).sum() / 6)
    assert estimate.standard_error == pytest.approx(sigma, rel=1e-12)
    assert estimate.provenance["n_halvings"] == 3


def test_any_scorer_and_several_of_them():
    found = search(scoring=["roc_auc", "accuracy"], refit="roc_auc").fit(X, Y).estimates_
    assert {name: each.method for name, each in found.items()} == dict.fromkeys(found, "conservative_z")
    assert all(each.standard_error > 0 for each in found.values())

    def closed(model: Any, X: Any, y: Any) -> float:
        return float((model.predict(X) == y).mean())

    assert search(scoring=closed).fit(X, Y).estimate_.standard_error == found["accuracy"].standard_error


def test_a_resumed_search_fits_only_the_rest(tmp_path):
    first = search(store=tmp_path / "run.db").fit(X, Y)
    Column.fits = []
    again = search(store=tmp_path / "run.db").fit(X, Y)
    assert len(Column.fits) == 1  # the refit
    assert list(again.estimate_.interval) == list(first.estimate_.interval)


def test_dropping_races_on_all_rows_only():
    Column.fits = []
    fitted = search(drop=ho.dropping.Bootstrap(min_predictions=20)).fit(X, Y)
    assert fitted.estimate_.provenance["n_halvings"] == 3
    assert sum(rows == 27 for _, rows in Column.fits) == 24


@pytest.mark.parametrize("cv", [5, ho.protocols.repeated_hold_out(5, 0.2)])
def test_other_splits_are_refused_before_a_fit(cv):
    Column.fits = []
    with pytest.raises(
        ho.InputError, match=r"here are 5 splits without halves; use `cv=ho.protocols.paired_hold_out"
    ):
        search(cv=cv).fit(X, Y)
    assert not Column.fits


def test_a_matrix_has_no_halves():
    with pytest.raises(
        ho.InputError, match=r"fits in halves of the rows: search with heldout tune --cv paired_holdout"
    ):
        ho.estimate(Y, X, metric="roc_auc", method="conservative_z", folds=np.arange(N) % 5)
    with pytest.raises(ho.InputError, match=r"or ho.estimate_from_scores with halvings"):
        of(np.ones((4, 1)), halvings=None)


@pytest.mark.parametrize(
    ("halvings", "said"),
    [
        (0, "halvings must be an integer of at least 1, got 0"),
        (2.0, "halvings must be an integer"),
        (2, "a multiple of 5, got 6"),
    ],
)
def test_wrong_numbers_of_halvings_are_refused(halvings, said):
    with pytest.raises(ho.InputError, match=said):
        of(np.ones((6, 1)), halvings=halvings)


def test_protocols_and_adaptive_searches_refuse_halves():
    with pytest.raises(ho.InputError, match="a protocol does not read them"):
        ho.nested_cv(LogisticRegression(), X, Y, {"C": [0.1, 1.0]}, cv=PLAN)
    opened = ho.open_search(X, Y, scoring="accuracy", cv=PLAN)
    with pytest.raises(ho.InputError, match="an adaptive search cannot fit its winner in halves"):
        opened.evaluate(LogisticRegression())
