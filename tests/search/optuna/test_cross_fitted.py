"""Cross-fitted searches: the same final search, and an estimate from samplers that have not seen the rows."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import FloatDistribution
from sklearn.base import clone
from sklearn.metrics import make_scorer, zero_one_loss
from sklearn.model_selection import GroupKFold, RepeatedStratifiedKFold, ShuffleSplit, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import heldout as ho
from heldout._streams import numpy_seed
from heldout.errors import HeldoutWarning, InputError
from heldout.execution.store import SQLiteStore
from heldout.flags import Flag
from heldout.search.optuna.feedback import CrossFitting
from heldout.search.optuna.sampler import SeededSampler, fresh_sampler, quiet

N, K = 90, 3
RNG = np.random.default_rng(4)
Y = np.tile([0, 1], N // 2)
X = np.column_stack([Y + RNG.normal(size=N), RNG.normal(size=N)])
FOLD = np.arange(N) // 2 % K
CV = [(np.flatnonzero(FOLD != k), np.flatnonzero(FOLD == k)) for k in range(K)]
SPACE = {"C": FloatDistribution(1e-2, 1e2, log=True), "gamma": FloatDistribution(1e-4, 10, log=True)}


def own_score(y_true: Any, y_pred: Any) -> float:
    return float(np.mean(y_true == y_pred))


def search(feedback: Any = CrossFitting(n_trials=6), **settings: Any) -> ho.HeldOutOptunaSearchCV:  # noqa: B008
    settings = {"n_trials": 8, "cv": CV, "scoring": "accuracy", "random_state": 3, "n_bootstraps": 20} | settings
    return ho.HeldOutOptunaSearchCV(SVC(), SPACE, feedback=feedback, **settings)


@pytest.fixture(scope="module")
def whole() -> ho.HeldOutOptunaSearchCV:
    """The finished search; tests do not change it."""
    return search().fit(X, Y)


SHORT = {"feedback": CrossFitting(n_trials=2), "n_trials": 3}
"""Of 9 fits, 12 in the searches without a fold, and 3 of their winners."""


@pytest.fixture(scope="module")
def short() -> ho.HeldOutOptunaSearchCV:
    return search(**SHORT).fit(X, Y)


def test_it_is_the_default_where_folds_and_trials_allow_it() -> None:
    by_default = ho.HeldOutOptunaSearchCV(SVC(), SPACE, n_trials=37, cv=3, random_state=3, n_bootstraps=20)
    assert by_default.get_params()["feedback"] == clone(by_default).feedback == "auto"
    found = by_default.fit(X, Y)
    assert Flag.CROSS_FITTED in found.estimate_.flags
    assert found.n_trials_ == len(found.trials_) == 37, "of the search alone"
    assert found.n_fits_ == 37 * 3 + 3 * 2 * 5 + 3 <= 1.3 * 37 * 3


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"n_trials": 10}, "leaves each sampler 1 trial, of at least 5"),
        ({"n_trials": 2, "cv": TimeSeriesSplit(4)}, "needs folds that hold out every row once"),
        ({"n_trials": 2, "cv": 2}, "needs at least 3 folds"),
        ({"n_trials": 2, "study": "new"}, "the trials of a study may have seen all; to have it, leave study out"),
    ],
)
def test_where_it_is_not_possible_the_default_says_why(settings: dict[str, Any], why: str) -> None:
    def fitted(feedback: str) -> ho.HeldOutOptunaSearchCV:
        new = {"study": study()} if "study" in settings else {}
        return search(feedback, **{**settings, **new}).fit(X, Y)

    found, plain = fitted("auto"), fitted("all")
    assert found.evaluation_.cross_fit is None
    assert found.n_fits_ == plain.n_fits_
    assert (found.estimate_.value, found.estimate_.interval) == (plain.estimate_.value, plain.estimate_.interval)
    assert found.estimate_.flags.keys() == plain.estimate_.flags.keys()
    sentence = found.estimate_.flags[Flag.ADAPTIVE_SEARCH]
    assert re.search(f"It was not cross-fitted, which .*{why}", sentence), sentence
    assert "cross-fitted" not in plain.estimate_.flags[Flag.ADAPTIVE_SEARCH]
    assert ho.estimate(Y, found.predictions_).flags[Flag.ADAPTIVE_SEARCH] == sentence


def study() -> optuna.Study:
    with quiet():
        return optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))


def test_the_search_itself_is_that_of_all_scores(whole: ho.HeldOutOptunaSearchCV) -> None:
    crossed, plain = whole, search("all").fit(X, Y)
    assert crossed.cv_results_["params"] == plain.cv_results_["params"]
    assert crossed.best_params_ == plain.best_params_
    assert np.array_equal(crossed.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    assert np.array_equal(crossed.predict(X), plain.predict(X))
    assert Flag.ADAPTIVE_SEARCH in plain.estimate_.flags
    assert Flag.ADAPTIVE_SEARCH not in crossed.estimate_.flags
    assert Flag.CROSS_FITTED in crossed.estimate_.flags
    assert Flag.SINGLE_CONFIGURATION not in crossed.estimate_.flags
    assert crossed.estimate_.coverage is None, "the cells of one configuration are of no search"
    assert crossed.estimate_.uncorrected == crossed.best_score_ == plain.estimate_.uncorrected
    assert crossed.estimate_.selected_name == plain.estimate_.selected_name
    assert plain.n_fits_ == 8 * K
    assert crossed.n_fits_ == 8 * K + K * 6 * (K - 1) + K


def test_it_is_the_loop_that_one_would_write(whole: ho.HeldOutOptunaSearchCV) -> None:
    found = whole
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


def test_a_sampler_knows_nothing_of_its_fold(whole: ho.HeldOutOptunaSearchCV) -> None:
    k, own = 2, FOLD == 2
    other_y, other_x = Y.copy(), X.copy()
    other_y[own] = 1 - Y[own]
    other_x[own] = X[own][::-1] * 7
    first, second = (found.evaluation_.cross_fit for found in (whole, search().fit(other_x, other_y)))
    assert first.params[k] == second.params[k]
    seen = [one == other for one, other in zip(first.inner_scores, second.inner_scores, strict=True)]
    assert seen == [False, False, True], "the others see these rows"


def test_the_number_of_workers_changes_nothing() -> None:
    settings: Any = {"feedback": CrossFitting(n_trials=3), "n_trials": 4, "batch_size": 2}
    one, two = search(**settings).fit(X, Y), search(n_jobs=2, **settings).fit(X, Y)
    assert Flag.CROSS_FITTED in one.estimate_.flags
    assert one.evaluation_.cross_fit.inner_scores == two.evaluation_.cross_fit.inner_scores
    assert one.cv_results_["params"] == two.cv_results_["params"]
    assert (one.estimate_.value, one.estimate_.interval) == (two.estimate_.value, two.estimate_.interval)
    assert one.evaluation_.cross_fit.params == two.evaluation_.cross_fit.params


def test_the_samplers_searches_drop_too() -> None:
    found = search(drop="aggressive(min_predictions=10)", n_trials=4, cv=4).fit(X, Y)
    fit = found.evaluation_.cross_fit
    assert fit.n_fits + fit.n_fits_saved == 4 * 6 * 3 + 4
    assert found.n_fits_saved_ >= fit.n_fits_saved > 0
    assert np.isfinite(found.estimate_.value)


def test_its_texts_say_what_was_done(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = search(**SHORT, verbose=1).fit(X, Y)
    part = "of 24 fits, 15 (62 %) were for the corrected estimate"
    assert part in capsys.readouterr().out
    text = str(found.methods_text())
    assert "by cross-fitting as implemented in heldout" in text
    assert "3 further searches of 2 configurations each" in text and "single candidate" not in text
    assert part in found.estimate_.flags[Flag.CROSS_FITTED]
    assert part in found.evaluation_._repr_html_()
    card = str(ho.report_card(found))
    assert "corrected for the selection (cross-fitting)" in card
    assert f"| Fits | {part} |" in card
    plain = search("all", n_trials=3, verbose=1).fit(X, Y)
    history = ho.plots.SearchHistoryDisplay.from_search(found)
    assert history.corrected[-1] == plain.estimate_.value, "one method in all points"
    assert "corrected estimate" not in capsys.readouterr().out + plain.evaluation_._repr_html_()


@pytest.mark.parametrize(("at", "kept"), [(8, 6), (17, 15), (23, 21)])
def test_it_continues_from_its_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short: ho.HeldOutOptunaSearchCV, at: int, kept: int
) -> None:
    """Interrupted in the search, in a search without a fold, and among the fits of their winners."""
    store = tmp_path / "run.db"
    fit, done = SVC.fit, []

    def stopped(self: Any, X: Any, y: Any, **more: Any) -> Any:
        done.append(len(y))
        if len(done) == at:
            raise KeyboardInterrupt
        return fit(self, X, y, **more)

    with monkeypatch.context() as patch:
        patch.setattr(SVC, "fit", stopped)
        with pytest.raises(KeyboardInterrupt):
            search(**SHORT, store=store).fit(X, Y)
        so_far = ho.estimate(SQLiteStore(store))
        assert so_far.provenance["n_configurations"] == min((at - 1) // K, 3), (
            "of the search, and not of one beside it"
        )
        done.clear()
        patch.setattr(SVC, "fit", lambda self, *data, **more: (done.append(1), fit(self, *data, **more))[1])
        again = search(**SHORT, store=store).fit(X, Y)
    assert len(done) <= short.n_fits_ + 1 - kept
    assert (again.estimate_.value, again.estimate_.interval) == (short.estimate_.value, short.estimate_.interval)
    assert again.n_fits_ == short.n_fits_
    assert again.cv_results_["params"] == short.cv_results_["params"]


def test_a_longer_search_continues_a_shorter_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short: ho.HeldOutOptunaSearchCV
) -> None:
    store = tmp_path / "run.db"
    search(CrossFitting(n_trials=1), n_trials=2, store=store).fit(X, Y)
    fit, done = SVC.fit, []
    monkeypatch.setattr(SVC, "fit", lambda self, *data, **more: (done.append(1), fit(self, *data, **more))[1])
    longer = search(**SHORT, store=store).fit(X, Y)
    assert longer.evaluation_.cross_fit.n_trials == (2, 2, 2)
    assert len(done) == 3 + 3 * 2 + 3 + 1
    assert longer.estimate_.value == short.estimate_.value


@dataclass
class Clock:
    """Time as the fits of a machine take it: a second each, or ``slow`` of models with few rows."""

    slow: float = 1.0
    now: float = 0.0

    def monotonic(self) -> float:
        return self.now

    def timed(self, fit: Any) -> Any:
        def fitted(model: Any, X: Any, y: Any, **more: Any) -> Any:
            self.now += 1.0 if len(y) > N // 2 else self.slow
            return fit(model, X, y, **more)

        return fitted


@pytest.mark.parametrize(
    ("feedback", "seconds", "slow", "made", "each", "why"),
    [
        ("auto", 144, 1.0, 37, (5,) * K, ""),  # the search has 110.8 seconds, and its trials just afford 5 each
        ("auto", 156, 2.0, 40, (3,), "failed, as the search without fold 0 was too short (the timeout left it 3"),
        ("auto", 40, 1.0, 14, None, "leaves each sampler 1 trial, of at least 5"),  # all the time is its own
        ("cross-fitted", 40, 1.0, 11, (2,), "the timeout left it 2 trials, of at least 5"),
        (CrossFitting(n_trials=20), 156, 1.0, 40, (6,) * K, ""),
        (CrossFitting(n_trials=2), 20, 1.0, 6, (1,), "the timeout left it 1 trial, of at least 2"),
    ],
)
def test_a_timeout_covers_all_searches(
    monkeypatch: pytest.MonkeyPatch, feedback: Any, seconds: float, slow: float, made: int, each: Any, why: str
) -> None:
    clock = Clock(slow)
    monkeypatch.setattr(SVC, "fit", clock.timed(SVC.fit))
    monkeypatch.setattr("heldout.search.optuna.proposals.time", clock)
    sampler = optuna.samplers.RandomSampler(seed=0)
    model = search(feedback, n_trials=100, timeout=seconds, sampler=sampler)
    if why and feedback != "auto":
        with pytest.warns(HeldoutWarning, match="`feedback='all'` estimates without it"):
            found = model.fit(X, Y)
        assert np.isnan(found.estimate_.value) and why in found.estimate_.flags[Flag.UNDEFINED]
    else:
        found = model.fit(X, Y)
        assert np.isfinite(found.estimate_.value)
        assert why in found.estimate_.flags[Flag.ADAPTIVE_SEARCH if why else Flag.CROSS_FITTED]
    fit = found.evaluation_.cross_fit
    assert found.n_trials_ == made
    assert (None if fit is None else fit.n_trials) == each
    assert found.n_fits_ == made * K + (0 if fit is None else fit.n_fits)
    assert clock.now <= seconds + 2 * K + (K - 1) * slow, "what began is finished, and the winners are fitted"


@pytest.mark.parametrize(
    ("feedback", "n_trials", "made", "each"),
    [("auto", None, 37, (5,) * K), ("auto", 100, 2, None), ("cross-fitted", 100, 2, (5,) * K)],
)
def test_the_trials_that_were_made_count(feedback: str, n_trials: int | None, made: int, each: Any) -> None:
    def stop(study: optuna.Study, trial: Any) -> None:
        if trial.number == made - 1:
            study.stop()

    found = search(feedback, n_trials=n_trials, callbacks=[stop], sampler=optuna.samplers.RandomSampler()).fit(X, Y)
    fit = found.evaluation_.cross_fit
    assert found.n_trials_ == made
    assert (None if fit is None else fit.n_trials) == each


def test_the_scores_that_a_sampler_saw_are_kept() -> None:
    fit = search(**SHORT, method="cv").fit(X, Y).evaluation_.cross_fit
    for k in range(K):
        within = [j for j in range(K) if j != k]
        parts = [((FOLD != k) & (FOLD != j), FOLD == j) for j in within]
        right = [SVC(**fit.params[k]).fit(X[a], Y[a]).score(X[b], Y[b]) for a, b in parts]
        assert fit.inner_scores[k] == pytest.approx(np.mean(right))


@pytest.mark.parametrize(
    ("scoring", "most"),
    [
        ("accuracy", lambda constant: 0.03),
        ("matthews_corrcoef", lambda constant: 0.06),
        ("neg_log_loss", lambda constant: 0.06 * abs(constant)),
        (make_scorer(own_score), None),
    ],
)
def test_a_sampler_that_fits_the_folds_is_flagged(scoring: Any, most: Any) -> None:
    """On noise some searches do, by chance or not; what is flagged is a mean difference above the limit."""
    flagged = []
    for seed in range(1 if most is None else 2):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(60, 4)), np.tile([0, 1], 30)
        neighbours = KNeighborsClassifier(), {"n_neighbors": range(5, 36)}
        model, space = neighbours if scoring == "neg_log_loss" else (SVC(), SPACE)
        found = ho.HeldOutOptunaSearchCV(
            model, space, n_trials=2, cv=3, scoring=scoring, random_state=seed, n_bootstraps=50,
            feedback=CrossFitting(n_trials=5),
        ).fit(x, y)  # fmt: skip
        estimate, inner = found.estimate_, found.evaluation_.cross_fit.inner_scores
        assert estimate.provenance["inner_scores_of_cross_fitting"] == list(inner)
        limit = np.inf if most is None else most(estimate.constant)
        is_flagged = Flag.SAMPLER_FITTED_FOLDS in estimate.flags
        assert is_flagged == (np.mean(inner) - estimate.value > limit)
        flagged.append(is_flagged)
    assert flagged == ([False] if most is None else [True, False])


def test_every_scorer_repeats_and_groups() -> None:
    groups = np.arange(N) // 3
    settings = {"scoring": ["roc_auc", "accuracy"], "refit": "roc_auc", "aggregate": "pooled"}
    found = search(**SHORT, cv=GroupKFold(K, shuffle=True), repeats=2, **settings)
    found.fit(X, Y, groups=groups)
    assert set(found.estimates_) == {"roc_auc", "accuracy"}
    for name, estimate in found.estimates_.items():
        assert estimate.uncorrected == found.cv_results_[f"pooled_test_{name}"][found.best_index_]
        assert estimate.optimism == pytest.approx(estimate.uncorrected - estimate.value)
    assert found.n_fits_ == 3 * 2 * K + K * 2 * (K - 1) + K


def test_a_loss_keeps_its_direction() -> None:
    loss = make_scorer(zero_one_loss, greater_is_better=False)
    found = search(**SHORT, scoring=loss).fit(X, Y)
    assert found.estimate_.value < 0, "greater is better, as scikit-learn has it"
    assert found.estimate_.optimism == pytest.approx(found.estimate_.uncorrected - found.estimate_.value)


@pytest.mark.parametrize("is_default", [False, True])
def test_a_search_without_a_winner_gives_no_number_unless_by_default(is_default: bool) -> None:
    def suggest(trial: optuna.Trial) -> dict[str, Any]:
        return {"n_neighbors": trial.suggest_int("n_neighbors", 40, 50)}  # 60 rows train, 30 of them beside a fold

    model = ho.HeldOutOptunaSearchCV(
        KNeighborsClassifier(), suggest, n_trials=37 if is_default else 3, cv=CV, random_state=0, n_bootstraps=20,
        feedback="auto" if is_default else CrossFitting(n_trials=2),
    )  # fmt: skip
    if is_default:
        found = model.fit(X, Y)
        why = found.estimate_.flags[Flag.ADAPTIVE_SEARCH]
        assert "not cross-fitted, which failed, as the search without fold 0 has no winner" in why
        assert np.isfinite(found.estimate_.value)
        assert found.n_fits_ == 37 * K + 5 * (K - 1), "all are counted"
        assert ho.estimate(Y, found.predictions_).value == found.estimate_.value
        return
    with pytest.warns(HeldoutWarning) as warned:
        found = model.fit(X, Y)
    assert any("the search without fold 0 has no winner" in str(one.message) for one in warned)
    assert np.isnan(found.estimate_.value)
    assert found.estimate_.interval is None
    assert Flag.UNDEFINED in found.estimate_.flags
    assert found.best_params_["n_neighbors"] >= 40


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"feedback": "half"}, "feedback must be 'auto', 'all', 'cross-fitted'"),
        (
            {"feedback": "cross-fitted", "n_trials": 17},
            "leaves each sampler 2 trials, .* make 37 trials or more, or set the number of each sampler",
        ),
        ({"cv": ShuffleSplit(4, random_state=0)}, "needs folds that hold out every row once"),
        ({"cv": 2}, "at least 3 folds"),
        ({"study": "new"}, "leave study out"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    if settings.get("study"):
        settings = {"study": optuna.create_study(direction="maximize")}
    with pytest.raises(InputError, match=sentence):
        search(**settings).fit(X, Y)


def test_the_number_of_trials_is_checked() -> None:
    with pytest.raises(InputError, match="n_trials must be an integer of at least 1, got 0"):
        CrossFitting(n_trials=0)


def test_repeated_folds_use_the_first_repeat() -> None:
    cv = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    found = search(**SHORT, cv=cv).fit(X, Y)
    assert found.n_fits_ == 3 * 6 + 3 * 2 * 2 + 3
    assert found.evaluation_.cross_fit.predictions.n_repeats == 1
