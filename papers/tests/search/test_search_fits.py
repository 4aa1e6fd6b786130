"""Sharing preparation, and one matrix for all protocols, change nothing: held against real searches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import Pipeline
from small_spaces import SPACE

import heldout as ho
from heldout.configurations import make_configurations
from heldout.dropping.bootstrap import Bootstrap
from heldout.folds.plans import KFolds
from heldout.folds.splits import Split
from heldout.metrics.base import Response
from heldout_papers.search.fits import RowFits
from heldout_papers.search.protocols import bbc, bced, cross_validation, nested, tibshirani

from .conftest import ENTROPY, N_BOOTSTRAPS, N_FOLDS, N_REPEATS, Searched, rows_of, searched


def real_search(found: Searched, repeats: int = 1, **settings: object) -> ho.HeldOutSearchCV:
    """The library's own search with the same folds, seeds and draws."""
    search = ho.HeldOutSearchCV(
        SPACE, scoring="roc_auc", cv=KFolds(N_FOLDS), repeats=repeats, aggregate="pooled", refit=True,
        method="bbc", n_bootstraps=N_BOOTSTRAPS, random_state=ENTROPY, n_jobs=1, **settings,
    )  # fmt: skip
    return search.fit(found.X, found.y)


def test_predictions_are_those_of_a_search(found: Searched) -> None:
    search = real_search(found, N_REPEATS)
    by_response = search.predictions_.responses
    theirs = np.where(
        np.isnan(by_response[Response.DECISION]),
        by_response[Response.PROBABILITIES],
        by_response[Response.DECISION],
    )

    assert np.array_equal(search.predictions_.folds, found.folds.labels)
    assert np.array_equal(found.held.scores, theirs)
    assert bbc(found.subsample, N_REPEATS).estimate == search.estimate_.value
    assert bbc(found.subsample, N_REPEATS).winner == search.best_index_
    low, high = search.estimate_.interval.low, search.estimate_.interval.high
    assert (bbc(found.subsample, N_REPEATS).low[-2], bbc(found.subsample, N_REPEATS).high[-2]) == (low, high)


@pytest.mark.parametrize(("least", "repeats"), [(20, 1), (60, 1), (60, 2)])
def test_replayed_dropping_is_that_of_a_search_that_drops(found: Searched, least: int, repeats: int) -> None:
    rule = Bootstrap(threshold=0.9, n_bootstraps=N_BOOTSTRAPS, min_predictions=least)
    search = real_search(found, repeats, drop=rule)
    result = bced(found.subsample, rule, repeats)
    dropping = found.subsample.dropping(rule, repeats)

    after = {left.configuration: left.after for barrier in search.evaluation_.barriers for left in barrier.dropped}
    assert set(dropping.dropped) == set(after)
    assert {j: int(dropping.n_fits[j]) for j in after} == after
    assert bool(after) == (least < 60 or repeats > 1)
    assert result.models == search.n_fits_ + 1  # with the one that is returned
    assert (result.estimate, result.winner) == (search.estimate_.value, search.best_index_)
    assert (result.low[-2], result.high[-2]) == (search.estimate_.interval.low, search.estimate_.interval.high)
    assert (result.seconds < found.held.seconds[:, :, :repeats].sum()) == bool(after)


def test_one_repeat_serves_cv_and_tt(found: Searched) -> None:
    truth, predictions = found.y, found.held.scores[:, :, :1]
    folds = found.folds.labels[:, :1]
    cv = ho.estimate(truth, predictions, metric="roc_auc", method="cv", folds=folds, response="decision")
    tt = ho.estimate(truth, predictions, metric="roc_auc", method="tt", folds=folds, response="decision")

    assert cross_validation(found.subsample).estimate == cv.value
    winner = cross_validation(found.subsample).winner
    in_folds = np.array(
        [
            [roc_auc_score(truth[rows], predictions[rows, j, 0]) for j in range(predictions.shape[1])]
            for rows in (folds[:, 0] == k for k in range(N_FOLDS))
        ]
    )
    bias = (in_folds.max(axis=1) - in_folds[:, winner]).mean()
    assert tibshirani(found.subsample).estimate == pytest.approx(in_folds[:, winner].mean() - bias)
    if tt.selected == winner:
        assert tibshirani(found.subsample).estimate == tt.value


def test_half_the_inner_fits_serve_nested_cross_validation() -> None:
    """Without random numbers, as a pair's fit draws others than the two that it stands for."""
    X, y = rows_of(60, 3)
    space = [entry for entry in SPACE if entry[0] in ("svm", "selected")]
    found = searched(X, y, space)
    theirs = ho.nested_cv(
        space, X, y, scoring="roc_auc", cv=KFolds(N_FOLDS), aggregate="pooled", random_state=ENTROPY, n_jobs=1
    )  # fmt: skip
    said = nested(found.subsample)

    assert said.estimate == np.mean([fold.score for fold in theirs.outer_folds])
    assert said.winner == theirs.selected
    assert said.models == theirs.n_fits
    assert len(found.held.pairs) == N_FOLDS * (N_FOLDS - 1) // 2


class Counted(TransformerMixin, BaseEstimator):
    """Counts how often it is fitted."""

    fits: list[int] = []  # noqa: RUF012 - shared on purpose

    def __init__(self, fails_under: int = 0) -> None:
        self.fails_under = fails_under

    def fit(self, X: np.ndarray, y: object = None) -> Counted:
        if len(X) < self.fails_under:
            raise ValueError("too few rows")
        self.fits.append(len(X))
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        return X


class Broken(ClassifierMixin, BaseEstimator):
    """Cannot be fitted."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Broken:
        raise RuntimeError("out of order")


def test_what_configurations_share_is_fitted_once() -> None:
    X, y = np.nan_to_num(rows_of(40, 1)[0]), rows_of(40, 1)[1]
    model = Pipeline([("count", Counted()), ("fit", LogisticRegression())])
    other = Pipeline([("count", Counted(fails_under=1000)), ("fit", LogisticRegression())])
    entries = [("one", model, {"fit__C": [0.1, 1.0, 10.0]}), ("two", other, {}), ("three", Broken(), {})]
    work = searched(X, y, [("plain", LogisticRegression(), {})]).work
    fits = RowFits(replace(work, configurations=make_configurations(entries)))
    Counted.fits.clear()

    found = fits.scores_on(Split(0, 0, np.arange(30), np.arange(30, 40)))

    assert Counted.fits == [30]
    assert np.isnan(found.scores[:, 3:]).all() and not np.isnan(found.scores[:, :3]).any()
    assert fits.refitted_scores(3, X) is None and fits.refitted_scores(4, X) is None


def test_winners_are_refitted_with_the_seed_of_a_search(found: Searched) -> None:
    search = real_search(found)
    winner, rows = search.best_index_, np.nan_to_num(found.X[:9])
    scores = RowFits(replace(found.work, configurations=make_configurations(SPACE))).refitted_scores(winner, rows)
    said = "decision_function" if hasattr(search.best_estimator_, "decision_function") else "predict_proba"
    theirs = getattr(search, said)(rows)

    assert np.array_equal(scores, theirs if theirs.ndim == 1 else theirs[:, 1])


def test_seeds_come_from_the_named_place(found: Searched) -> None:
    fits, split = RowFits(replace(found.work, configurations=make_configurations(SPACE))), found.folds.splits[1]
    unnamed, named, other = fits.scores_on(split), fits.scores_on(split, 0, 1), fits.scores_on(split, "pair", 0, 1)
    draws = [name.startswith(("forest", "tree")) for name in found.held.names]

    assert np.array_equal(unnamed.scores, named.scores)
    assert [not np.array_equal(a, b) for a, b in zip(unnamed.scores.T, other.scores.T, strict=True)] == draws


def test_a_configuration_that_fails_is_no_candidate() -> None:
    X, y = rows_of(70, 0)
    failing = Pipeline([("count", Counted(fails_under=50)), ("fit", SPACE[0][1])])
    found = searched(X, y, [SPACE[0], ("failing", failing, {})])
    only_pairs_fail = np.isnan(found.held.scores[:, 4]).mean(), np.isnan(found.held.pairs[0, 1][:, 4]).all()

    assert only_pairs_fail == (0.0, True)
    assert nested(found.subsample).estimate == nested(searched(X, y, [SPACE[0]]).subsample).estimate
