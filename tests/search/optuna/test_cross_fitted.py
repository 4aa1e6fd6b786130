"""Cross-fitted searches: the same final search, and an estimate from samplers that have not seen the rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import FloatDistribution
from sklearn.metrics import make_scorer, zero_one_loss
from sklearn.model_selection import GroupKFold, RepeatedStratifiedKFold, ShuffleSplit, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import heldout as ho
from heldout._random import numpy_seed
from heldout.errors import HeldoutWarning, InputError
from heldout.flags import Flag
from heldout.folds.splits import Folds, Split
from heldout.search.optuna.cross_fitting import CrossFitting
from heldout.search.optuna.sampler import SeededSampler, fresh_sampler

N, K = 90, 5
RNG = np.random.default_rng(4)
Y = np.tile([0, 1], N // 2)
X = np.column_stack([Y + RNG.normal(size=N), RNG.normal(size=N)])
FOLD = np.arange(N) // 2 % K
CV = [(np.flatnonzero(FOLD != k), np.flatnonzero(FOLD == k)) for k in range(K)]
SPACE = {"C": FloatDistribution(1e-2, 1e2, log=True), "gamma": FloatDistribution(1e-4, 10, log=True)}


def search(feedback: Any = CrossFitting(n_trials=6), **settings: Any) -> ho.HeldOutOptunaSearchCV:  # noqa: B008
    settings = {"n_trials": 8, "cv": CV, "scoring": "accuracy", "random_state": 3, "n_bootstraps": 200} | settings
    return ho.HeldOutOptunaSearchCV(SVC(), SPACE, feedback=feedback, **settings)


def test_the_search_itself_is_that_of_all_scores() -> None:
    crossed, plain = search().fit(X, Y), search("all").fit(X, Y)
    assert crossed.cv_results_["params"] == plain.cv_results_["params"]
    assert crossed.best_params_ == plain.best_params_
    assert np.array_equal(crossed.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    assert np.array_equal(crossed.predict(X), plain.predict(X))
    assert Flag.ADAPTIVE_SEARCH in plain.estimate_.flags
    assert Flag.ADAPTIVE_SEARCH not in crossed.estimate_.flags
    assert Flag.CROSS_FITTED in crossed.estimate_.flags
    assert crossed.estimate_.coverage is None, "the cells of one configuration are of no search"
    assert crossed.estimate_.uncorrected == crossed.best_score_ == plain.estimate_.uncorrected
    assert crossed.estimate_.selected_name == plain.estimate_.selected_name
    assert plain.n_fits_ == 8 * K
    assert crossed.n_fits_ == 8 * K + K * 6 * (K - 1) + K


def test_it_is_the_loop_that_one_would_write() -> None:
    found = search().fit(X, Y)
    fit = found.evaluation_.cross_fit
    predictions = np.full(N, -1)
    for k in range(K):
        study = optuna.create_study(direction="maximize", sampler=fresh_sampler(None))
        seeded = SeededSampler.of(study.sampler, 3, numpy_seed(3, "sampler of a fold", k))
        scores = []
        for number in range(6):
            seeded.reseed(number)
            trial = study.ask(SPACE)
            accuracies = []
            for j in [j for j in range(K) if j != k]:
                trained = (FOLD != k) & (FOLD != j)
                model = SVC(**trial.params).fit(X[trained], Y[trained])
                accuracies.append(model.score(X[FOLD == j], Y[FOLD == j]))
                trial.report(accuracies[-1], len(accuracies) - 1)
            study.tell(trial, float(np.mean(accuracies)))
            scores.append((round(float(np.mean(accuracies)), 12), trial.params))
        best = max(scores, key=lambda one: one[0])[1]
        assert fit.params[k] == best
        predictions[FOLD == k] = SVC(**best).fit(X[FOLD != k], Y[FOLD != k]).predict(X[FOLD == k])
    assert found.estimate_.value == pytest.approx(np.mean([(predictions == Y)[FOLD == k].mean() for k in range(K)]))


@pytest.mark.parametrize("k", [0, 2])
def test_a_sampler_knows_nothing_of_its_fold(k: int) -> None:
    own = FOLD == k
    other_y, other_x = Y.copy(), X.copy()
    other_y[own] = 1 - Y[own]
    other_x[own] = X[own][::-1] * 7
    first, second = (search().fit(*data).evaluation_.cross_fit for data in ((X, Y), (other_x, other_y)))
    assert first.params[k] == second.params[k]
    assert any(first.params[j] != second.params[j] for j in range(K)), "the others see these rows"


def test_the_number_of_workers_changes_nothing() -> None:
    one, two = search().fit(X, Y), search(n_jobs=2).fit(X, Y)
    assert (one.estimate_.value, one.estimate_.interval) == (two.estimate_.value, two.estimate_.interval)
    assert one.evaluation_.cross_fit.params == two.evaluation_.cross_fit.params


@pytest.mark.parametrize("drop", ["forgiving", "aggressive(min_predictions=10)"])
def test_the_samplers_searches_drop_too(drop: str) -> None:
    found = search(drop=drop, feedback=CrossFitting(n_trials=10), n_trials=10).fit(X, Y)
    fit = found.evaluation_.cross_fit
    assert fit.n_fits + fit.n_fits_saved == K * 10 * (K - 1) + K
    assert fit.n_fits_saved > 0 or drop == "forgiving"
    assert found.n_fits_saved_ >= fit.n_fits_saved
    assert np.isfinite(found.estimate_.value)


def test_its_texts_say_what_was_done() -> None:
    found = search().fit(X, Y)
    text = str(found.methods_text())
    assert "5 further searches tried 6 configurations each" in text
    assert "With one candidate" not in text


def test_it_continues_from_its_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = search().fit(X, Y)
    fit, done = SVC.fit, []

    def stopped(self: Any, X: Any, y: Any, **more: Any) -> Any:
        done.append(len(y))
        if len(done) == 70:
            raise KeyboardInterrupt
        return fit(self, X, y, **more)

    with monkeypatch.context() as patch:
        patch.setattr(SVC, "fit", stopped)
        with pytest.raises(KeyboardInterrupt):
            search(store=tmp_path / "run.db").fit(X, Y)
        done.clear()
        patch.setattr(SVC, "fit", lambda self, *data, **more: (done.append(1), fit(self, *data, **more))[1])
        again = search(store=tmp_path / "run.db").fit(X, Y)
    assert len(done) <= whole.n_fits_ + 1 - 60
    assert (again.estimate_.value, again.estimate_.interval) == (whole.estimate_.value, whole.estimate_.interval)
    assert again.n_fits_ == whole.n_fits_
    assert again.cv_results_["params"] == whole.cv_results_["params"]


def test_every_scorer_repeats_and_groups() -> None:
    groups = np.arange(N) // 3
    settings = {"scoring": ["roc_auc", "accuracy"], "refit": "roc_auc", "aggregate": "pooled"}
    found = search(cv=GroupKFold(5, shuffle=True), repeats=2, **settings)
    found.fit(X, Y, groups=groups)
    assert set(found.estimates_) == {"roc_auc", "accuracy"}
    for name, estimate in found.estimates_.items():
        assert estimate.uncorrected == found.cv_results_[f"pooled_test_{name}"][found.best_index_]
        assert estimate.optimism == pytest.approx(estimate.uncorrected - estimate.value)
    assert found.n_fits_ == 8 * 2 * K + K * 6 * (K - 1) + K


def test_a_loss_keeps_its_direction() -> None:
    loss = make_scorer(zero_one_loss, greater_is_better=False)
    found = search(scoring=loss, n_trials=4).fit(X, Y)
    assert found.estimate_.value < 0, "greater is better, as scikit-learn has it"
    assert found.estimate_.optimism == pytest.approx(found.estimate_.uncorrected - found.estimate_.value)


def test_a_search_without_a_winner_gives_no_number() -> None:
    def suggest(trial: optuna.Trial) -> dict[str, Any]:
        return {"n_neighbors": trial.suggest_int("n_neighbors", 60, 70)}  # 72 rows train, 54 of them beside a fold

    model = ho.HeldOutOptunaSearchCV(
        KNeighborsClassifier(), suggest, n_trials=3, cv=CV, random_state=0, feedback=CrossFitting(n_trials=2)
    )
    with pytest.warns(HeldoutWarning) as warned:
        found = model.fit(X, Y)
    assert any("the search without fold 0 has no winner" in str(one.message) for one in warned)
    assert np.isnan(found.estimate_.value)
    assert found.estimate_.interval is None
    assert Flag.UNDEFINED in found.estimate_.flags
    assert found.best_params_["n_neighbors"] >= 60


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"feedback": "half"}, "feedback must be 'all', 'cross-fitted'"),
        ({"feedback": "cross-fitted", "n_trials": 30}, "leaves each sampler 2 trials"),
        ({"cv": TimeSeriesSplit(4)}, "needs folds that hold out every row once"),
        ({"cv": ho.protocols.hold_out(), "feedback": "cross-fitted"}, "needs folds that hold out every row once"),
        ({"cv": ShuffleSplit(4, random_state=0)}, "needs folds that hold out every row once"),
        ({"cv": 2}, "at least 3 folds"),
        ({"study": "new"}, "leave study out"),
        ({"feedback": "cross-fitted", "n_trials": 200, "timeout": 60}, "which a timeout leaves open"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    if settings.get("study"):
        settings = {"study": optuna.create_study(direction="maximize")}
    with pytest.raises(InputError, match=sentence):
        search(**settings).fit(X, Y)


def test_the_number_of_trials_is_checked() -> None:
    with pytest.raises(InputError, match="n_trials must be an integer of at least 1, or None, got 0"):
        CrossFitting(n_trials=0)


def folds(n_folds: int, repeats: int = 1) -> Folds:
    rows = np.arange(n_folds)
    return Folds(
        tuple(Split(r, k, np.delete(rows, k), rows[k : k + 1]) for r in range(repeats) for k in range(n_folds)),
        n_folds,
    )


@pytest.mark.parametrize(("n_folds", "repeats", "n_trials"), [(5, 1, 200), (5, 1, 100), (10, 1, 500), (5, 3, 40)])
def test_it_takes_at_most_three_tenths_more(n_folds: int, repeats: int, n_trials: int) -> None:
    most = 0.3 * n_trials * n_folds * repeats
    each = CrossFitting().trials_of_each(folds(n_folds, repeats), n_trials)
    cost = {t: n_folds * (n_folds - 1) * t + n_folds for t in (each, each + 1)}
    assert cost[each] <= most < cost[each + 1]


def test_repeated_folds_use_the_first_repeat() -> None:
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    found = search(cv=cv, feedback=CrossFitting(n_trials=2), n_trials=3).fit(X, Y)
    assert found.n_fits_ == 3 * 6 + 3 * 2 * 2 + 3
    assert found.evaluation_.cross_fit.predictions.n_repeats == 1
