"""Searches over survival models: GridSearchCV's winner and scores, and estimates from what they predicted."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hazard import Hazard, concordance, survival_data
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.data.task import truth_of
from heldout.errors import HeldoutWarning, InputError
from heldout.metrics.base import Response
from heldout.search import HeldOutSearchCV

X, Y = survival_data()
TRUTH = truth_of(Y, "survival")
GRID = {"alpha": [1e-3, 100.0], "column": [None, 0]}
BRIER = "integrated_brier_score(times=[0.2, 0.5, 1.0])"
EVENT_AND_TIME = Y["died"], Y["days"]


def searched(y: Any = Y, model: Any = None, grid: Any = GRID, **settings: Any) -> HeldOutSearchCV:
    settings = {"scoring": "concordance_index", "cv": 3, "n_bootstraps": 30, "random_state": 3} | settings
    return HeldOutSearchCV(Hazard() if model is None else model, grid, **settings).fit(X, y)


@cache
def plain() -> HeldOutSearchCV:
    return searched()


def assert_same(one: HeldOutSearchCV, other: HeldOutSearchCV) -> None:
    """To the last bit."""
    assert one.predictions_.responses.keys() == other.predictions_.responses.keys()
    for response, values in one.predictions_.responses.items():
        assert values.tobytes() == other.predictions_.responses[response].tobytes()
    for name, estimate in one.estimates_.items():
        assert estimate.to_dict() == other.estimates_[name].to_dict()


def test_the_winner_and_the_scores_are_those_of_grid_search() -> None:
    ours = plain()
    theirs = GridSearchCV(Hazard(), GRID, cv=3).fit(X, Y)  # by the model's own score
    assert ours.best_params_ == theirs.best_params_ and ours.best_index_ == theirs.best_index_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=1e-12)
    for name in ("mean_test_score", "split2_test_score"):
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], rtol=0, atol=1e-12)
    assert (ours.cv_results_["rank_test_score"] == theirs.cv_results_["rank_test_score"]).all()


def test_the_estimate_is_that_of_the_predictions_by_themselves() -> None:
    ours = searched(aggregate="pooled")
    held = ours.predictions_.responses[Response.RISK]
    alone = ho.estimate(
        Y, held, metric="concordance_index", folds=ours.predictions_.folds, n_bootstraps=30, random_state=3
    )
    assert ours.estimate_.value == alone.value and ours.estimate_.interval == alone.interval
    assert ours.best_score_ == pytest.approx(concordance(Y, held[:, ours.best_index_, 0]), abs=1e-12)
    assert 0.5 < ours.estimate_.value < ours.best_score_ + 0.02 and ours.optimism_ is not None


def test_predictions_are_those_of_models_that_never_saw_the_row() -> None:
    ours = searched(scoring={"c": "concordance_index", "brier": BRIER, "at": "brier_score_at(time=0.7)"}, refit="c")
    assert ours.predictions_.times == (0.2, 0.5, 0.7, 1.0)
    train, test = list(KFold(3).split(X))[1]
    model = Hazard(**ours.best_params_).fit(X[train], Y[train])
    held = {name: array[test, ours.best_index_, 0] for name, array in ours.predictions_.responses.items()}
    np.testing.assert_array_equal(held[Response.RISK], model.predict(X[test]))
    for row, curve in zip(held[Response.SURVIVAL], model.predict_survival_function(X[test]), strict=True):
        for value, time in zip(row, ours.predictions_.times, strict=True):
            assert value == curve.y[curve.x <= time][-1]


def test_each_of_several_metrics_reads_its_own_times() -> None:
    several = searched(scoring={"c": "concordance_index", "b": BRIER, "at": "brier_score_at(time=0.7)"}, refit="b")
    alone = searched(scoring=BRIER)
    assert several.best_index_ == alone.best_index_ and several.best_score_ == alone.best_score_ < 0
    assert several.estimates_["b"].value == alone.estimate_.value
    assert several.corrected_score_ <= several.best_score_ + 0.01
    assert several.estimates_["at"].value < 0 < several.estimates_["c"].value


@pytest.mark.parametrize(
    "name",
    ["concordance_index", "concordance_index_ipcw(tau=2.0)", "somers_d", BRIER, "brier_score_at(time=0.5)"],
)
def test_fold_scores_are_the_metric_on_the_recorded_predictions(name: str) -> None:
    """Scorers and kernels agree, with one distribution of censoring for all folds."""
    ours = searched(scoring=name)
    metric = ho.metrics.metric_named(name)
    metric = metric.for_truth(TRUTH) if hasattr(metric, "for_truth") else metric
    (response,) = ours.predictions_.responses
    sign = 1 if metric.greater_is_better else -1
    for number, (_, test) in enumerate(KFold(3).split(X)):
        values = ours.predictions_.responses[response][test][:, :, 0]
        expected = metric.statistic(TRUTH.rows(test), values).all(np.ones((1, len(test)), dtype=np.uint8))[0]
        found = ours.cv_results_[f"split{number}_test_score"]
        np.testing.assert_allclose(sign * found, expected, rtol=0, atol=1e-12)
    assert np.isfinite(ours.estimate_.value)


def test_a_scorer_works_in_scikit_learn_too_and_bound_it_is_that_of_our_search() -> None:
    bound = ho.metrics.scorer(ho.metrics.ConcordanceUno(tau=2.0).for_truth(TRUTH))
    theirs = GridSearchCV(Hazard(), GRID, cv=3, scoring=bound).fit(X, Y)
    ours = searched(scoring="concordance_index_ipcw(tau=2.0)")
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    several = GridSearchCV(
        Hazard(), GRID, cv=3, scoring={"c": ho.metrics.scorer("concordance_index"), "b": bound}, refit="c"
    ).fit(X, Y)
    assert several.best_score_ == plain().best_score_
    assert bound(several.best_estimator_, X, Y, sample_weight=np.ones(len(X))) == bound(
        several.best_estimator_, X, Y
    )


def test_somers_d_is_of_either_kind_of_task() -> None:
    scorer = ho.metrics.scorer("somers_d")
    model = Hazard().fit(X, Y)
    assert scorer(model, X, Y) == pytest.approx(2 * concordance(Y, model.predict(X)) - 1, abs=1e-12)
    labels = (X[:, 0] > 0).astype(int)
    classifier = LogisticRegression(C=1e-4).fit(X[:, 1:], labels)
    area = ho.metrics.scorer("roc_auc")(classifier, X[:, 1:], labels)
    assert scorer(classifier, X[:, 1:], labels) == pytest.approx(2 * area - 1, abs=1e-12)


@pytest.mark.parametrize(
    "y",
    [pd.DataFrame({"died": EVENT_AND_TIME[0], "days": EVENT_AND_TIME[1]}), EVENT_AND_TIME,
     [(bool(event), float(time)) for event, time in Y], Y.astype([("status", int), ("t", float)])],
    ids=["table", "columns", "pairs", "event of integers"],
)  # fmt: skip
def test_every_form_of_the_target_is_the_same_search(y: Any) -> None:
    assert_same(searched(y), plain())


def test_models_see_the_names_that_the_user_gave() -> None:
    class Named(Hazard):
        def fit(self, X: Any, y: Any) -> Named:
            assert y.dtype.names == ("died", "days")
            super().fit(X, y)
            return self

    searched(model=Named(), grid={"alpha": [1.0]}, n_bootstraps=10)


def test_a_function_of_the_target_and_risks_is_opened() -> None:
    ours = searched(scoring=make_scorer(concordance), aggregate="pooled", n_bootstraps=20)
    assert ours.best_score_ == searched(aggregate="pooled").best_score_ and np.isfinite(ours.estimate_.value)


def test_a_function_of_survival_is_evaluated_at_its_times() -> None:
    def alive(y: Any, probabilities: Any) -> float:
        return float(np.mean(np.abs((y["time"] > 0.5) - probabilities[:, 1])))

    metric = ho.metrics.custom(alive, greater_is_better=False, response="survival", times=[0.2, 0.5])
    ours = searched(scoring=ho.metrics.scorer(metric), n_bootstraps=20)
    assert ours.predictions_.times == (0.2, 0.5) and -0.5 < ours.estimate_.value < 0
    with pytest.raises(InputError, match="needs the times"):
        ho.metrics.scorer(ho.metrics.custom(alive, greater_is_better=False, response="survival"))
    with pytest.raises(InputError, match="times must be finite numbers"):
        ho.metrics.custom(alive, greater_is_better=False, response="risk", times=[1])


def test_a_score_of_the_models_own_gives_no_bootstrap_of_predictions() -> None:
    by_folds = searched(scoring=None)
    assert by_folds.estimate_.method == "bbc_f"
    assert by_folds.best_index_ == plain().best_index_ and np.isfinite(by_folds.estimate_.value)


def test_scikit_survivals_own_score_is_harrells_index() -> None:
    class SurvivalAnalysisMixin:
        def score(self, X: Any, y: Any) -> float:
            return concordance(y, self.predict(X))  # type: ignore[attr-defined]

    class Own(SurvivalAnalysisMixin, Hazard):
        pass

    SurvivalAnalysisMixin.score.__module__ = "sksurv.base"
    SurvivalAnalysisMixin.score.__qualname__ = "SurvivalAnalysisMixin.score"
    for model in (Own(), make_pipeline(StandardScaler(), Own())):
        ours = searched(model=model, grid={}, scoring=None)
        assert ours.estimate_.metric.endswith("concordance_index")


def test_pipelines_give_survival_of_their_last_step() -> None:
    ours = searched(
        model=make_pipeline(StandardScaler(), Hazard()), grid={"hazard__alpha": [1.0, 9.0]}, scoring=BRIER
    )
    assert Response.SURVIVAL in ours.predictions_.responses and ours.best_score_ > -0.25


def test_a_time_beyond_what_a_model_knows_fails_the_configuration() -> None:
    late = float(np.sort(Y["days"])[-2]) + 1e-6
    with pytest.raises(InputError, match="gives no survival after time"):
        searched(
            scoring=f"brier_score_at(time={late})", grid={"alpha": [1.0]}, cv=[(np.arange(60), np.arange(60, 120))]
        )


def test_losers_are_dropped() -> None:
    ours = searched(drop="bootstrap(min_predictions=30)", grid={"alpha": [1.0, -1.0]}, n_bootstraps=50)
    assert ours.n_fits_saved_ > 0 and ours.best_params_ == {"alpha": 1.0}


def test_weights_and_groups_reach_every_level() -> None:
    groups, weights = np.arange(len(Y)) // 3, np.linspace(0.5, 1.5, len(Y))
    search = HeldOutSearchCV(Hazard(), GRID, scoring="concordance_index", cv=3, n_bootstraps=50, random_state=0)
    search.fit(X, Y, sample_weight=weights)
    nested = ho.nested_cv(Hazard(), X, Y, param_grid=GRID, scoring="concordance_index", cv=3, groups=groups,
                          random_state=0, interval=None)  # fmt: skip
    assert np.isfinite(search.estimate_.value) and 0.5 < nested.value < 1


def test_survival_is_never_stratified() -> None:
    class Naive(Hazard):
        _estimator_type = "classifier"

        def __sklearn_tags__(self) -> Any:
            tags = super().__sklearn_tags__()
            tags.estimator_type = "classifier"
            return tags

    ours = searched(model=Naive(), grid={"alpha": [1.0]}, n_bootstraps=10)
    assert (ours.predictions_.folds.ravel() == np.repeat(range(3), 40)).all()
    with pytest.raises(InputError, match="refused the data"):
        searched(cv=StratifiedKFold(3))


@pytest.mark.parametrize(
    ("y", "model", "settings", "message"),
    [
        (Y, Ridge(), {"grid": {}}, "events and times, which Ridge cannot learn; give a survival model"),
        (Y, None, {"scoring": "r2"}, "metric 'r2' does not fit a survival target"),
        (X[:, 0], Hazard(), {}, "'concordance_index' does not fit a regression target"),
        (Y, None, {"scoring": "concordance"}, "got 'concordance'; the nearest are concordance_index"),
        (Y, None, {"scoring": "brier_score_at(time=99)"}, "99"),
        (Y, None, {"scoring": "integrated_brier_score"}, "needs the times"),
        (np.zeros(len(X), dtype=Y.dtype), None, {}, "120 rows and no event"),
        ((Y["days"], Y["died"]), None, {}, "swap the two, the event comes first"),
    ],
    ids=["regressor", "r2", "no survival", "unknown", "late", "no times", "no event", "swapped"],
)  # fmt: skip
def test_what_does_not_go_together_is_refused_before_fitting(
    y: Any, model: Any, settings: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        searched(y, model=model, **settings)


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_one_event_is_warned_of_before_fitting() -> None:
    once = Y.copy()
    once["died"] = False
    once["died"][once["days"].argmin()] = True
    with pytest.warns(HeldoutWarning, match="1 row had the event that concordance_index counts"):
        search = searched(once, cv=2, aggregate="pooled")
    assert np.isnan(search.estimate_.value)


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_leave_one_out_has_pairs_only_all_together() -> None:
    with pytest.warns(HeldoutWarning, match="no estimate: .* a row that outlasts it, which 120 of 120 test parts"):
        none = searched(cv=ho.protocols.leave_one_out(), grid={"alpha": [1.0]})
    assert np.isnan(none.estimate_.value) and np.isnan(none.best_score_)
    pooled = searched(cv=ho.protocols.leave_one_out(), aggregate="pooled", grid={"alpha": [1.0]}, n_bootstraps=20)
    assert 0.5 < pooled.estimate_.value < 1


def test_nested_and_the_bootstrap_of_a_search() -> None:
    settings = {"param_grid": {"alpha": [1e-3, 10.0], "column": [None, 0]}, "cv": 3, "random_state": 1}
    nested = ho.nested_cv(Hazard(), X, Y, scoring="concordance_index", **settings)
    assert nested.n_fits == 3**2 * 4 + 3 + 1 and 0.5 < nested.value < 1
    brier = ho.nested_cv(Hazard(), X, EVENT_AND_TIME, scoring=BRIER, interval=None, **settings)
    assert -0.25 < brier.value < 0
    whole = ho.bootstrap_search(Hazard(), X, Y, scoring="concordance_index", n_bootstraps=3, **settings)
    assert 0.5 < whole.value < 1


def test_a_finished_search_is_corrected() -> None:
    finished = GridSearchCV(Hazard(), GRID, cv=3, scoring=ho.metrics.scorer("concordance_index")).fit(X, Y)
    corrected = ho.correct(finished, n_bootstraps=100, random_state=0)
    assert corrected.uncorrected == pytest.approx(finished.best_score_) and "concordance_index" in corrected.metric


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_a_configuration_that_cannot_be_fitted_without_an_event_has_no_score() -> None:
    class Strict(Hazard):
        def fit(self, X: Any, y: Any) -> Strict:
            if not y["died"].any():
                raise ValueError("all are censored")
            super().fit(X, y)
            return self

    rows = np.arange(len(Y))
    censored = rows[~Y["died"]][:10]
    splits = [(rows[:80], rows[80:]), (censored, np.setdiff1d(rows[:80], censored))]
    settings = {"scoring": "concordance_index", "cv": splits, "n_bootstraps": 20, "random_state": 0}
    lacking = "all are censored. 1 of 2 training parts lack an event and a row that outlasts it"
    with pytest.raises(InputError, match=lacking):
        HeldOutSearchCV(Strict(), {"alpha": [1.0, 2.0]}, **settings).fit(X, Y)
    with pytest.warns(HeldoutWarning, match="1 of 2 configurations failed"):
        search = HeldOutSearchCV([("strict", Strict(), {}), ("plain", Hazard(), {})], **settings).fit(X, Y)
    assert search.best_index_ == 1 and list(search.predictions_.failed) == [0]
