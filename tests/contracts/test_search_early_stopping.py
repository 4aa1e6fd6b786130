"""``early_stopping=ho.inner_split(...)``: models stop on training rows of their own, never on scored ones."""

import inspect
from typing import Any

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import heldout as ho
from heldout.errors import HeldoutWarning, InputError, StoreError
from heldout.execution.store.sqlite import SQLiteStore
from heldout.spaces.early_stopping import FitRows, stopper_of

RNG = np.random.default_rng(0)
N = 120
Y = (RNG.random(N) < 0.4).astype(int)
X = np.column_stack([np.arange(N), RNG.normal(size=(N, 3)) + 0.7 * Y[:, None]])  # the first column numbers the rows
LGBM = LGBMClassifier(n_estimators=40, min_child_samples=5, verbose=-1, n_jobs=1)
NEW_NAMES = "eval_X" in inspect.signature(LGBMClassifier.fit).parameters  # of LightGBM
GRID = {"num_leaves": [3, 6]}


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[tuple[set[int], set[int]]]:
    """(rows that train, rows on which it stops) of each fit of LightGBM."""
    stopper_of(LGBM).fit(clone(LGBM), FitRows(X, Y), FitRows(X, Y), 1)  # its first use asks LightGBM something
    found: list[tuple[set[int], set[int]]] = []
    original = LGBMClassifier.fit

    def recorded(self: Any, X: Any, y: Any, *args: Any, **params: Any) -> Any:
        (stop,) = params.get("eval_X") or [pair[0] for pair in params.get("eval_set") or [(np.empty((0, 1)),)]]
        found.append(({*X[:, 0].astype(int)}, {*stop[:, 0].astype(int)}))
        return original(self, X, y, *args, **params)

    recorded.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
    monkeypatch.setattr(LGBMClassifier, "fit", recorded)
    return found


def search(estimator: Any = LGBM, grid: Any = GRID, **settings: Any) -> ho.HeldOutSearchCV:
    defaults = {
        "scoring": "neg_log_loss", "cv": KFold(3, shuffle=True, random_state=0), "n_bootstraps": 50,
        "early_stopping": ho.inner_split(0.2, rounds=5), "random_state": 0,
    }  # fmt: skip
    return ho.HeldOutSearchCV(estimator, grid, **{**defaults, **settings})


@pytest.mark.parametrize("in_a_pipeline", [False, True])
def test_scored_rows_never_reach_the_stopping_rows(
    fits: list[tuple[set[int], set[int]]], in_a_pipeline: bool
) -> None:
    model = make_pipeline(FunctionTransformer(), LGBM) if in_a_pipeline else LGBM
    grid = {"lgbmclassifier__num_leaves": [3, 6]} if in_a_pipeline else GRID
    found = search(model, grid).fit(X, Y)

    splits = found.evaluation_.folds.splits
    assert len(fits) == 2 * 3 + 1
    for train, stop in fits:
        assert len(stop) and not train & stop
    for split in splits:
        own = [stop for train, stop in fits if train | stop == {*split.train.tolist()}]
        assert len(own) == 2 and own[0] == own[1], "one inner split for both configurations"
        assert not own[0] & {*split.test.tolist()}
    refit_train, refit_stop = fits[-1]
    assert refit_train | refit_stop == {*range(N)}
    assert refit_stop not in [stop for _, stop in fits[:-1]]


def test_groups_stay_whole_in_every_fit_and_in_the_refit(fits: list[tuple[set[int], set[int]]]) -> None:
    groups = np.arange(N) // 6
    search(cv=GroupKFold(3)).fit(X, Y, groups=groups)

    assert len(fits) == 7
    for train, stop in fits:
        assert len(stop) and not {*groups[[*train]]} & {*groups[[*stop]]}


@pytest.mark.parametrize("validated", [False, True])
def test_copies_in_samples_stay_together(fits: list[tuple[set[int], set[int]]], validated: bool) -> None:
    """The validation draws rows several times, and the search inside receives each copy as a row."""
    if validated:
        model = search(cv=2, method=None)
        ho.bootstrap_validate(model, X, Y, n_bootstraps=2, metric="roc_auc", random_state=0)
    else:
        ho.bootstrap_search(search(), X, Y, n_bootstraps=2)
    assert len(fits) > 4
    for train, stop in fits:
        assert len(stop) and not train & stop


def test_nested_cross_validation_stops_inside_the_outer_training_parts(
    fits: list[tuple[set[int], set[int]]],
) -> None:
    found = ho.nested_cv(search(cv=3), X, Y)
    assert found is not None and fits
    # Some outer or inner part holds all rows of a fit, and never all rows before the refit.
    assert all(stop and not train & stop and len(train | stop) < N for train, stop in fits[:-1])


def test_stops_as_the_packages_do_by_themselves() -> None:
    found = search(share=False).fit(X, Y)
    shared = search().fit(X, Y)
    assert shared.n_fits_shared_ == 0
    np.testing.assert_array_equal(found.cv_results_["mean_test_score"], shared.cv_results_["mean_test_score"])
    assert found.best_estimator_.best_iteration_ < 40
    assert clone(found.best_estimator_).get_params() == {
        **LGBM.get_params(),
        **found.best_params_,
        "random_state": None,
    } | {"random_state": found.best_estimator_.random_state}


def test_labels_of_any_kind_stop_at_the_same_round() -> None:
    plain = search(grid={}).fit(X, Y)
    found = search(grid={}).fit(X, np.array(["no", "yes"])[Y])
    assert found.best_score_ == plain.best_score_
    assert found.best_estimator_.best_iteration_ == plain.best_estimator_.best_iteration_ > 1


def test_histogram_models_predict_with_the_best_round() -> None:
    model = HistGradientBoostingClassifier(max_iter=60, min_samples_leaf=5, early_stopping=False)
    found = search(model, {}).fit(X, Y).best_estimator_

    scores = found.validation_score_[1:]
    assert found.n_iter_ == 1 + int(np.argmax(scores)) < len(scores) < 60
    assert found.early_stopping is False and found.n_iter_no_change == model.n_iter_no_change


def test_other_models_of_a_list_train_on_their_whole_part_and_share_as_ever() -> None:
    forest = ("forest", RandomForestClassifier(), {"n_estimators": [5, 10]})
    logistic = ("logistic", make_pipeline(FunctionTransformer(), LogisticRegression(max_iter=500)), {})
    mixed = search([("boosted", LGBM, GRID), forest, logistic], None).fit(X, Y)
    alone = search([forest, logistic], None, early_stopping=None).fit(X, Y)

    np.testing.assert_array_equal(mixed.cv_results_["mean_test_score"][2:], alone.cv_results_["mean_test_score"])
    assert mixed.n_fits_shared_ == alone.n_fits_shared_ > 0


def test_random_searches_and_regressions_stop_too() -> None:
    target = X[:, 1] + RNG.normal(size=N)
    random = ho.HeldOutRandomizedSearchCV(
        HistGradientBoostingRegressor(max_iter=100, min_samples_leaf=5), {"learning_rate": [0.1, 0.3]}, n_iter=2,
        cv=3, n_bootstraps=20, early_stopping=ho.inner_split(), random_state=1,
    ).fit(X[:, 1:], target)  # fmt: skip
    assert random.best_estimator_.n_iter_ < 100


def test_adaptive_searches_stop_too_and_warn_where_nothing_can(fits: list[tuple[set[int], set[int]]]) -> None:
    optuna = pytest.importorskip("optuna")
    settings = {"n_trials": 2, "cv": 3, "n_bootstraps": 20, "early_stopping": ho.inner_split(), "random_state": 0}
    space = {"num_leaves": optuna.distributions.IntDistribution(2, 8)}
    ho.HeldOutOptunaSearchCV(LGBM, space, scoring="neg_log_loss", **settings).fit(X, Y)
    assert len(fits) == 2 * 3 + 1 and all(stop and not train & stop for train, stop in fits)
    costs = {"C": optuna.distributions.FloatDistribution(0.1, 1.0)}
    with pytest.warns(HeldoutWarning, match="had no effect: none of the models proposed can stop early"):
        ho.HeldOutOptunaSearchCV(LogisticRegression(max_iter=500), costs, **settings).fit(X[:, 1:], Y)


def test_a_stored_run_is_not_continued_with_another_inner_split(
    tmp_path: Any, fits: list[tuple[set[int], set[int]]]
) -> None:
    store = SQLiteStore(tmp_path / "run.db", one_run=True)
    search(store=store).fit(X, Y)
    search(store=store).fit(X, Y)
    assert len(fits) == 7 + 1, "the second time only the refit"
    other = r"early_stopping inner_split\(0.2, rounds=5\) then, inner_split\(0.2, rounds=6\) now"
    with pytest.raises(StoreError, match=other):
        search(store=store, early_stopping=ho.inner_split(0.2, rounds=6)).fit(X, Y)
    with pytest.raises(StoreError, match=r"other settings \(early_stopping"):
        search(store=store, early_stopping=None).fit(X, Y)


@pytest.mark.parametrize(
    "model, settings, fit_params, sentence",
    [
        (LogisticRegression(), {}, {}, r"is for LightGBM, .* got LogisticRegression; leave it out"),
        (LGBM, {"early_stopping": True}, {}, r"early_stopping must be ho.inner_split\(share\) or None, got True"),
        (LGBM, {}, {"eval_set": [(X[:5], Y[:5])]}, r"and `eval_set=` both give rows to stop on"),
    ],
)
def test_calls_without_a_meaning_are_refused(model: Any, settings: Any, fit_params: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        search(model, {}, **settings).fit(X, Y, **fit_params)


# Noise: the target does not depend on the columns, so the AUC of every model on new rows is 1/2.

N_SETS = 40


def noise(number: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(number)
    return rng.normal(size=(80, 5)), rng.permutation(np.arange(80) % 2)


def stopped_on_scored_rows(X: Any, y: Any) -> float:
    """The loop that is written by hand everywhere: the test part of each fold is the ``eval_set``."""
    scores = []
    for train, test in StratifiedKFold(2).split(X, y):
        model = clone(AUC_MODEL).set_params(early_stopping_round=20)
        rows = {"eval_X": (X[test],), "eval_y": (y[test],)} if NEW_NAMES else {"eval_set": [(X[test], y[test])]}
        model.fit(X[train], y[train], **rows)
        scores.append(roc_auc_score(y[test], model.predict_proba(X[test])[:, 1]))
    return float(np.mean(scores))


AUC_MODEL = LGBMClassifier(
    n_estimators=60, num_leaves=4, min_child_samples=5, metric="auc", verbose=-1, n_jobs=1, random_state=0
)


def test_stopping_on_scored_rows_flatters_and_the_inner_split_does_not() -> None:
    """In 40 sets of noise, within 4 standard errors: a mean of 1/2 leaves these by chance once in 15 000 times."""
    flattered, honest = [], []
    for number in range(N_SETS):
        X, y = noise(number)
        flattered.append(stopped_on_scored_rows(X, y))
        found = ho.HeldOutSearchCV(
            AUC_MODEL, {}, scoring="roc_auc", cv=StratifiedKFold(2), method=None, refit=False,
            early_stopping=ho.inner_split(0.2), random_state=number,
        ).fit(X, y)  # fmt: skip
        honest.append(found.cv_results_["mean_test_score"][0])

    errors = [np.std(scores, ddof=1) / np.sqrt(N_SETS) for scores in (flattered, honest)]
    assert np.mean(flattered) > 0.5 + 4 * errors[0]
    assert abs(np.mean(honest) - 0.5) < 4 * errors[1]
    assert np.mean(flattered) - np.mean(honest) > 0.04
