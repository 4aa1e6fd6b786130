"""``training_size_correction``: a value of training on all rows, from fits of what competes without two folds."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import average_precision_score, get_scorer, r2_score, roc_auc_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.errors import HeldoutWarning, InputError
from heldout.execution.store import SQLiteStore
from heldout.flags import Flag

N = 120
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N, 4))
SIGNAL = X[:, 0] + RNG.normal(size=N)
Y = (SIGNAL > 0).astype(int)
KNN = {"n_neighbors": [3, 7, 31]}  # of three all compete


def search_of(model: Any = None, grid: Any = None, **settings: Any) -> ho.HeldOutSearchCV:
    known = {"cv": 4, "n_bootstraps": 20, "random_state": 3, "training_size_correction": True}
    return ho.HeldOutSearchCV(model or KNeighborsClassifier(), grid or KNN, **(known | settings))


def correction_of(search: Any, name: str | None = None) -> dict[str, Any]:
    estimate = search.estimate_ if name is None else search.estimates_[name]
    correction: dict[str, Any] = estimate.provenance["training_size_correction"]
    return correction


class OnACurve(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Its squared error is a + b/n of n training rows; the target is the first column."""

    def __init__(self, a: float = 0.5, b: float = 4.0, of_rows: bool = True) -> None:
        self.a, self.b, self.of_rows = a, b, of_rows

    def fit(self, X: Any, y: Any) -> OnACurve:
        self.n_ = len(X)
        return self

    def predict(self, X: Any) -> Any:
        return X[:, 0] + np.sqrt(self.a + self.b / (self.n_ if self.of_rows else 100))


class FailsOnFew(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fails on fewer than ``least`` rows."""

    def __init__(self, least: int = 0) -> None:
        self.least = least

    def fit(self, X: Any, y: Any) -> FailsOnFew:
        if len(X) < self.least:
            raise ValueError("too few rows")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("n_folds", [3, 10])
def test_it_is_exact_on_a_learning_curve_a_plus_b_by_n(n_folds: int) -> None:
    grid = {"b": [4.0, 2.0]}  # of two configurations both compete, so the gain is that of b = 3
    search = search_of(OnACurve(), grid, scoring="neg_mean_squared_error", cv=n_folds, method="cv").fit(X, X[:, 0])
    trained = N * (n_folds - 1) / n_folds
    assert search.best_score_ == pytest.approx(-(0.5 + 2 / trained))
    assert correction_of(search)["shift"] == pytest.approx(3 / trained - 3 / N)
    assert search.corrected_score_ == pytest.approx(-(0.5 + 2 / trained) + 3 / trained - 3 / N)
    assert correction_of(search)["standard_error"] == pytest.approx(0, abs=1e-12)
    assert search.estimate_.uncorrected == search.best_score_
    assert search.optimism_ == pytest.approx(search.best_score_ - search.corrected_score_)


@pytest.mark.parametrize("scoring", ["neg_mean_squared_error", "r2"])
def test_a_model_that_does_not_learn_from_rows_is_not_corrected(scoring: str) -> None:
    model, y = OnACurve(of_rows=False), X[:, 0] + RNG.normal(size=N)
    found = search_of(model, {"b": [1.0, 9.0]}, scoring=scoring).fit(X, y).estimate_
    plain = search_of(model, {"b": [1.0, 9.0]}, scoring=scoring, training_size_correction=False).fit(X, y).estimate_
    assert found.value == pytest.approx(plain.value, abs=1e-12)
    assert (found.interval.low, found.interval.high) == pytest.approx((plain.interval.low, plain.interval.high))


def by_hand(models: list[Any], X: Any, y: Any, splits: list[Any], score: Any) -> tuple[list[float], list[float]]:
    """For each model score(predictions by (K-1)/K), and the mean over the rounds of that by (K-2)/K of the rows."""
    k, before, after = len(splits), [], []
    for model in models:
        whole = np.empty(len(y))
        rounds = np.empty((k - 1, len(y)))
        for train, test in splits:
            whole[test] = model_output(clone(model).fit(X[train], y[train]), X[test])
        for one, other in combinations(range(k), 2):
            train = np.setdiff1d(splits[one][0], splits[other][1])
            fitted = clone(model).fit(X[train], y[train])
            for fold, left in ((one, other), (other, one)):
                rounds[(left - fold) % k - 1, splits[fold][1]] = model_output(fitted, X[splits[fold][1]])
        before.append(score(whole))
        after.append(float(np.mean([score(each) for each in rounds])))
    return before, after


def model_output(model: Any, X: Any) -> Any:
    return model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else model.predict(X)


def test_by_hand_for_a_mean_over_folds() -> None:
    splits = list(StratifiedKFold(4).split(X, Y))
    of_five: dict[str, Any] = {"grid": {"n_neighbors": [1, 3, 7, 15, 31]}, "scoring": "roc_auc", "cv": splits}
    search = search_of(**of_five).fit(X, Y)
    scores = search.cv_results_["mean_test_score"]
    upper = [of_five["grid"]["n_neighbors"][j] for j in np.flatnonzero(scores >= np.median(scores))]
    assert len(upper) == 3

    def of_folds(output: Any) -> Any:
        return [roc_auc_score(Y[test], output[test]) for _, test in splits]

    models = [KNeighborsClassifier(number) for number in upper]
    before, after = by_hand(models, X, Y, splits, lambda output: np.mean(of_folds(output)))
    shift = (4 - 2) / 4 * (np.mean(before) - np.mean(after))
    correction = correction_of(search)
    assert correction["shift"] == pytest.approx(shift)
    plain = search_of(**of_five, training_size_correction=False).fit(X, Y)
    assert search.corrected_score_ == pytest.approx(plain.corrected_score_ + shift)
    np.testing.assert_allclose(search.estimate_.distribution, plain.estimate_.distribution + shift)
    assert search.best_score_ == plain.best_score_ and search.best_params_ == plain.best_params_
    # By what the variance of a mean over folds grows: the spread of the folds' scores with their gains and without.
    scores, gains = np.empty((2, 4))
    for fold, (_, test) in enumerate(splits):
        parts = by_hand(models, X, Y, splits, lambda output, test=test: roc_auc_score(Y[test], output[test]))
        scores[fold], gains[fold] = np.mean(parts[0]), (4 - 2) / 4 * (np.mean(parts[0]) - np.mean(parts[1]))
    together, before, alone = (np.var(each, ddof=1) / 4 for each in (scores + gains, scores, gains))
    error = np.sqrt(max(together - before, alone))
    assert correction["standard_error"] == pytest.approx(error)
    assert search.estimate_.standard_error == pytest.approx(np.hypot(plain.estimate_.standard_error, error))
    for end in ("low", "high"):
        there, here = getattr(plain.estimate_.interval, end), getattr(search.estimate_.interval, end)
        width = np.hypot(there - plain.corrected_score_, 1.959964 * error)
        assert abs(here - search.corrected_score_) == pytest.approx(
            min(width, 1 - search.corrected_score_), rel=1e-5
        )
    assert correction["n_configurations"] == 3 and correction["n_fits"] == 3 * 6
    assert search.n_fits_ == plain.n_fits_ + 3 * 6 == 5 * 4 + 3 * 6


def test_by_hand_for_all_rows_together_and_for_several_metrics() -> None:
    splits = list(KFold(5).split(X))
    grid = {"alpha": [0.1, 10.0, 300.0]}  # of three all compete
    scoring = ["r2", "neg_mean_absolute_error"]
    search = search_of(Ridge(), grid, scoring=scoring, refit="r2", cv=splits).fit(X, SIGNAL)
    models = [Ridge(alpha=alpha) for alpha in grid["alpha"]]
    scores = {"r2": r2_score, "neg_mean_absolute_error": lambda y, output: -np.mean(abs(y - output))}
    for name, score in scores.items():
        before, after = by_hand(models, X, SIGNAL, splits, lambda output, score=score: score(SIGNAL, output))
        assert correction_of(search, name)["shift"] == pytest.approx(0.6 * (np.mean(before) - np.mean(after)))
        assert Flag.TRAINING_SIZE_CORRECTED in search.estimates_[name].flags
    alone = search_of(Ridge(), grid, scoring="r2", cv=splits).fit(X, SIGNAL)
    assert alone.estimate_.value == search.estimate_.value


def test_by_hand_for_scores_that_are_aligned_between_folds() -> None:
    splits = list(StratifiedKFold(4).split(X, Y))
    grid = {"C": [0.01, 1.0, 100.0]}
    search = search_of(LogisticRegression(), grid, scoring="average_precision", cv=splits).fit(X, Y)

    def aligned(output: Any) -> Any:
        logits = np.log(output / (1 - output))
        for _, test in splits:
            logits[test] -= np.median(logits[test])
        return average_precision_score(Y, logits)

    before, after = by_hand([LogisticRegression(C=C) for C in grid["C"]], X, Y, splits, aligned)
    assert search.estimate_.provenance["scale_of_value"] == "aligned"
    assert correction_of(search)["shift"] == pytest.approx(0.5 * (np.mean(before) - np.mean(after)))


@pytest.mark.parametrize("aggregate", ["folds", "pooled", "within"])
def test_the_first_of_two_repeats_decides_on_every_scale(aggregate: Any) -> None:
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0)
    splits = list(cv.split(X, Y))[:4]
    grid = {"n_neighbors": [5, 15, 31]}  # of three all compete
    settings = {"scoring": "roc_auc", "aggregate": aggregate, "grid": grid}
    search = search_of(cv=cv, **settings).fit(X, Y)
    plain = search_of(cv=cv, training_size_correction=False, **settings).fit(X, Y)

    def score(output: Any) -> float:
        if aggregate == "pooled":
            return float(roc_auc_score(Y, output))
        of_folds = [roc_auc_score(Y[test], output[test]) for _, test in splits]
        pairs = [Y[test].sum() * (1 - Y[test]).sum() for _, test in splits]
        return float(np.average(of_folds, weights=pairs if aggregate == "within" else None))

    models = [KNeighborsClassifier(number) for number in grid["n_neighbors"]]
    before, after = by_hand(models, X, Y, splits, score)
    shift = correction_of(search)["shift"]
    assert shift == pytest.approx(0.5 * (np.mean(before) - np.mean(after)))
    assert search.corrected_score_ == pytest.approx(plain.corrected_score_ + shift)
    assert search.n_fits_ == 2 * 4 * 3 + 6 * 3


def test_groups_weights_and_losses() -> None:
    groups = np.arange(N) // 3
    found = search_of(scoring="neg_log_loss", cv=GroupKFold(4)).fit(X, Y, groups=groups)
    assert correction_of(found)["n_fits"] == 6 * 3
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=True)
        scorer = get_scorer("accuracy").set_score_request(sample_weight=True)
        weights = 1.0 + np.arange(N) % 3
        weighted = search_of(model, {"C": [0.01, 1.0]}, scoring=scorer).fit(X, Y, sample_weight=weights)
        expected = by_hand(
            [_Weighted(C, weights) for C in (0.01, 1.0)],
            np.column_stack([X, np.arange(N)]),
            Y,
            list(StratifiedKFold(4).split(X, Y)),
            lambda output: np.mean(
                [
                    np.average((output[test] > 0.5) == Y[test], weights=weights[test])
                    for _, test in StratifiedKFold(4).split(X, Y)
                ]
            ),
        )
    assert correction_of(weighted)["shift"] == pytest.approx(0.5 * (np.mean(expected[0]) - np.mean(expected[1])))


class _Weighted(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A logistic regression whose last column is the number of the row."""

    def __init__(self, C: float, weights: Any) -> None:
        self.C, self.weights = C, weights

    def fit(self, X: Any, y: Any) -> _Weighted:
        rows = X[:, -1].astype(int)
        self.model_ = LogisticRegression(C=self.C).fit(X[:, :-1], y, sample_weight=self.weights[rows])
        return self

    def predict_proba(self, X: Any) -> Any:
        return self.model_.predict_proba(X[:, :-1])


def test_one_run_goes_on_with_the_correction_and_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.db"
    original, calls = KNeighborsClassifier.predict, list[int]()

    def predict(self: Any, X: Any) -> Any:
        calls.append(len(X))
        if len(calls) == 12 + 7:  # among the fits without two folds
            raise KeyboardInterrupt
        return original(self, X)

    monkeypatch.setattr(KNeighborsClassifier, "predict", predict)
    with pytest.raises(KeyboardInterrupt):
        search_of(store=path, share=False).fit(X, Y)
    assert Flag.TRAINING_SIZE_UNCORRECTED in ho.estimate(SQLiteStore(path)).flags  # of the fits so far
    # The folds decide the further splits, so that the same run goes on.
    plain = search_of(store=path, share=False, training_size_correction=False).fit(X, Y)
    assert len(calls) == 19 and plain.n_fits_ == 12
    assert Flag.TRAINING_SIZE_CORRECTED not in plain.estimate_.flags


def test_dropped_and_failed_configurations_do_not_compete() -> None:
    dropping = search_of(drop="bootstrap", grid={"n_neighbors": [15, 21, 31, 33, 60, 89]}, cv=5).fit(X, Y)
    assert correction_of(dropping)["n_configurations"] <= (6 - len(dropping.predictions_.dropped)) // 2 + 3
    # Without one of four folds there are 90 rows, without two 60.
    failing = search_of(FailsOnFew(), {"least": [0, 70]}).fit(X, Y)
    assert correction_of(failing)["n_configurations"] == 1 and correction_of(failing)["n_fits"] == 12
    nothing = search_of(FailsOnFew(), {"least": [70]}).fit(X, Y)
    plain = search_of(FailsOnFew(), {"least": [70]}, training_size_correction=False).fit(X, Y)
    assert nothing.corrected_score_ == plain.corrected_score_
    assert "failed without two folds" in nothing.estimate_.flags[Flag.TRAINING_SIZE_UNCORRECTED]
    assert nothing.n_fits_ == plain.n_fits_ + 6


@pytest.mark.parametrize("scoring", ["accuracy", ho.metrics.metric_named("brier_score")], ids=["share", "loss"])
def test_one_sided_intervals_stay_open_where_they_are(scoring: Any) -> None:
    found, plain = (
        search_of(scoring=scoring, alternative="greater", training_size_correction=each).fit(X, Y).estimate_
        for each in (True, False)
    )
    moved = {end for end in ("low", "high") if getattr(found.interval, end) != getattr(plain.interval, end)}
    assert len(moved) == 1
    assert found.value in found.interval


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"cv": 2}, "3 to 10 folds.*got 2 splits"), ({"cv": 11}, "got 11 splits"),
        ({"cv": LeaveOneOut()}, "got 120 splits"), ({"cv": ShuffleSplit(5, random_state=0)}, "3 to 10 folds"),
        ({"cv": TimeSeriesSplit(4)}, "3 to 10 folds"), ({"method": None}, "no estimate is made"),
        ({"stop_when_width": 0.1}, "may end before all folds"),
        ({"drop": "sequential", "cv": None}, "3 to 10 folds"),
        ({"scoring": lambda model, X, y: model.score(X, y)}, "cannot be opened"),
        ({"cv": [(np.arange(40, 110), np.arange(40)), (np.arange(40), np.arange(40, 80)),
                 (np.arange(80), np.arange(80, 120))]}, "3 to 10 folds"),
    ],
)  # fmt: skip
def test_what_it_is_not_for_is_refused_before_the_first_fit(
    settings: dict[str, Any], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(KNeighborsClassifier, "fit", lambda *_: pytest.fail("a model was fitted"))
    with pytest.raises(InputError, match=f"`training_size_correction=True` does not fit: .*{says}") as refused:
        search_of(**settings).fit(X, Y)
    assert refused.value.argument == "training_size_correction"


def test_ensembles_thresholds_and_adaptive_searches_are_refused() -> None:
    for rule in ("threshold", "greedy_ensemble"):
        with pytest.raises(InputError, match="one configuration must be chosen"):
            search_of(selection=rule).fit(X, Y)
    pytest.importorskip("optuna")
    with pytest.raises(InputError, match="`training_size_correction=` is for a grid or a random search"):
        ho.HeldOutOptunaSearchCV(KNeighborsClassifier(), KNN, training_size_correction=True)


def test_a_random_search_and_a_protocol_of_a_search() -> None:
    drawn = ho.HeldOutRandomizedSearchCV(
        KNeighborsClassifier(), KNN, n_iter=2, cv=4, n_bootstraps=20, random_state=3, training_size_correction=True
    ).fit(X, Y)
    assert drawn.n_fits_ == 8 + 6 * correction_of(drawn)["n_configurations"]
    # The outer folds score what the search chooses; nothing is extrapolated there.
    with_it, without = (
        ho.nested_cv(search_of(training_size_correction=each), X, Y, cv=4, random_state=3) for each in (True, False)
    )
    assert with_it.value == without.value


def test_predictions_alone_cannot_repeat_it_and_say_so() -> None:
    search = search_of().fit(X, Y)
    assert ho.estimate(search) is search.estimate_
    with pytest.warns(HeldoutWarning, match=r"search\.estimate_ in Python\) rests on fits without two folds"):
        again = ho.estimate(Y, search.predictions_)
    assert again.value == pytest.approx(search.corrected_score_ - correction_of(search)["shift"])


@pytest.mark.usefixtures("page_of_words")
def test_what_text_report_and_card_say(tmp_path: Path) -> None:
    search = search_of(scoring="roc_auc").fit(X, Y)
    shift = correction_of(search)["shift"]
    sentence = (
        f"The value is of training on all 120 rows: {shift:+.3g} was added to that of models trained on about 90"
    )
    assert sentence in search.estimate_.flags[Flag.TRAINING_SIZE_CORRECTED]
    assert "of as many rows as there are" in search.estimate_.provenance["quantity"]
    assert sentence in str(search.methods_text())
    page = search.report(tmp_path / "report.html").read_text()
    assert sentence in page and "the estimate is of models of that size" in page
    card = ho.report_card(search)
    assert sentence in card
    # What selection did is told apart from what more rows do.
    plain = search_of(scoring="roc_auc", training_size_correction=False).fit(X, Y)
    assert f"{plain.corrected_score_:.3f} after the correction" in card
    assert f"With training on all rows it is {search.corrected_score_:.3f}." in card
    json.dumps(search.estimate_.to_dict())


@pytest.mark.usefixtures("short_page")
def test_the_command(command: Callable[..., Any], tmp_path: Path) -> None:
    import pandas as pd

    pd.DataFrame({f"x{j}": column for j, column in enumerate(X.T)}).assign(y=Y).to_csv(tmp_path / "t.csv")

    few = ("--search", "random", "--n-iter", "2")

    def tune(*words: str) -> Any:
        known = ["tune", str(tmp_path / "t.csv"), "--target", "y", "--models", "logistic", "--n-bootstraps", "10"]
        return command(*known, "--training-size-correction", "--n-jobs", "1", "--json", *few, *words)

    made = tune("--out", str(tmp_path / "run"), "--cv", "3")
    assert made.code == 0, made
    document = json.loads(made.out)
    correction = document["provenance"]["training_size_correction"]
    assert document["n_fits"] == 3 * document["n_configurations"] + correction["n_fits"]
    assert "for the training size" in made.err
    status = json.loads(command("status", tmp_path / "run", "--json").out)
    assert status["state"] == "finished" and status["runs"][0]["n_left"] == 0
    assert status["runs"][0]["n_cells"] == document["n_fits"]
    again = command("estimate", tmp_path / "run", "--json")
    assert json.loads(again.out)["value"] == document["value"]
    refused = tune("--out", str(tmp_path / "other"), "--cv", "2")
    assert refused.code == 2 and "--training-size-correction does not fit: it needs 3 to 10" in refused.err
    refused = tune("--out", str(tmp_path / "other"), "--method", "nested")
    assert refused.code == 2 and "--training-size-correction is for the estimate" in refused.err


def test_with_real_fits_the_bias_of_one_configuration_shrinks() -> None:
    """The AUC of one forest of stumps on 40 rows: its mean over draws, beside that of what is delivered."""
    before, after = [], []
    for draw in range(15):
        X, y = make_classification(
            1040, 8, n_informative=4, flip_y=0.1, class_sep=0.8, random_state=draw, shuffle=True
        )
        model = LogisticRegression(C=10.0)
        cv = StratifiedKFold(5, shuffle=True, random_state=draw)
        search = search_of(model, {"C": [10.0]}, scoring="roc_auc", cv=cv, n_bootstraps=2).fit(X[:40], y[:40])
        truth = get_scorer("roc_auc")(search.best_estimator_, X[40:], y[40:])
        before.append(search.best_score_ - truth)
        after.append(search.corrected_score_ - truth)
    assert abs(np.mean(after)) < abs(np.mean(before))
    assert np.mean(before) < 0 < np.mean(np.subtract(after, before))
