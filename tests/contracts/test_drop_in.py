"""Where people put a search of scikit-learn, one of heldout does the same: the same lines run with both."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
import sklearn
from peers import results, same
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier, is_outlier_detector, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import make_classification, make_multilabel_classification, make_regression
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingRegressor,
    IsolationForest,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.experimental import enable_halving_search_cv, enable_iterative_imputer  # noqa: F401
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, get_scorer, make_scorer, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    validation_curve,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

import heldout as ho

X, Y = make_classification(60, 4, n_informative=2, flip_y=0.2, random_state=0)
THREE = make_classification(60, 4, n_informative=3, n_redundant=0, n_classes=3, random_state=0)
REAL, NUMBERS = make_regression(60, 4, noise=20, random_state=0)
OUTPUTS = make_regression(60, 4, n_targets=2, noise=20, random_state=0)
LABELS = make_multilabel_classification(60, 4, n_classes=3, random_state=0)
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2, 60)
GROUPS = np.arange(60) // 5
C = {"C": [0.01, 1.0]}
ALPHA = {"alpha": [0.1, 100.0]}


class Searches(NamedTuple):
    """The two classes of scikit-learn, or those in their place."""

    grid: Callable[..., Any]
    random: Callable[..., Any]

    def logistic(self, **settings: Any) -> Any:
        return self.grid(LogisticRegression(), C, **{"cv": 2} | settings)

    def ridge(self, **settings: Any) -> Any:
        return self.grid(Ridge(), ALPHA, **{"cv": 2} | settings)

    def nested(self) -> Any:
        return self.grid(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 1.0]}, cv=2)


THEIRS = Searches(GridSearchCV, RandomizedSearchCV)
OURS = Searches(partial(ho.HeldOutSearchCV, method=None), partial(ho.HeldOutRandomizedSearchCV, method=None))
CASES: dict[str, Callable[[Searches], Any]] = {}


def case(function: Callable[[Searches], Any]) -> Callable[[Searches], Any]:
    CASES[function.__name__] = function
    return function


def error_of(call: Callable[[], Any]) -> frozenset[type]:
    """The types by which a program can catch the error, without those of heldout and scikit-learn."""
    with pytest.raises(Exception) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call()
    return frozenset(kind for kind in type(caught.value).__mro__ if kind.__module__ == "builtins")


@contextmanager
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


# Cross-validation and inspection of a search.


@case
def cross_validation(s: Searches) -> Any:
    search = s.logistic(scoring="roc_auc")
    table = cross_validate(
        search, X, Y, cv=2, scoring=["accuracy", "roc_auc"], return_train_score=True, return_estimator=True
    )
    models = [model.best_params_ for model in table.pop("estimator")]
    return models, {key: table[key] for key in table if "time" not in key}


@case
def own_score_of_outer_folds(s: Searches) -> Any:
    return cross_val_score(s.logistic(scoring="neg_log_loss"), X, Y, cv=2)


@case
def predictions_of_outer_folds(s: Searches) -> Any:
    return [cross_val_predict(s.logistic(), X, Y, cv=2, method=way) for way in ("predict", "decision_function")]


@case
def a_validation_curve(s: Searches) -> Any:
    return validation_curve(
        s.logistic(), X, Y, param_name="estimator__fit_intercept", param_range=[True, False], cv=2
    )


@case
def dependence_on_a_feature(s: Searches) -> Any:
    return [
        partial_dependence(search, rows, [0], kind="both", grid_resolution=4)["individual"]
        for search, rows in ((s.logistic().fit(X, Y), X), (s.ridge().fit(REAL, NUMBERS), REAL))
    ]


# A search as a part of another model.


@case
def calibration(s: Searches) -> Any:
    return [
        CalibratedClassifierCV(s.logistic(), cv=2, ensemble=ensemble).fit(X, Y).predict_proba(X)
        for ensemble in (True, False)
    ]


@case
def a_tuned_threshold(s: Searches) -> Any:
    model = TunedThresholdClassifierCV(s.logistic(), scoring="f1", cv=2, thresholds=5).fit(X, Y)
    return model.best_threshold_, model.best_score_, model.predict(X)


@case
def stacking(s: Searches) -> Any:
    models = [("search", s.logistic()), ("bayes", GaussianNB())]
    return StackingClassifier(models, final_estimator=s.logistic(), cv=2).fit(X, Y).predict_proba(X)


@case
def voting(s: Searches) -> Any:
    voters = VotingClassifier([("search", s.logistic()), ("bayes", GaussianNB())], voting="soft").fit(X, Y)
    return voters.predict_proba(X), voters.transform(X)


@case
def bagging(s: Searches) -> Any:
    bags = BaggingRegressor(s.ridge(), n_estimators=2, max_features=2, random_state=0)
    return bags.fit(REAL, NUMBERS).predict(REAL)


@case
def boosting_needs_weights(s: Searches) -> Any:
    return error_of(lambda: AdaBoostClassifier(s.logistic(), n_estimators=2).fit(X, Y))


@case
def a_model_for_each_output(s: Searches) -> Any:
    several = MultiOutputRegressor(s.ridge()).fit(*OUTPUTS)
    labels = MultiOutputClassifier(s.logistic()).fit(*LABELS)
    return several.predict(OUTPUTS[0]), labels.predict_proba(LABELS[0])


@case
def a_model_for_each_class(s: Searches) -> Any:
    return OneVsRestClassifier(s.logistic()).fit(*THREE).predict(THREE[0])


@case
def a_transformed_target(s: Searches) -> Any:
    model = TransformedTargetRegressor(s.ridge(), transformer=StandardScaler())
    inside = s.grid(TransformedTargetRegressor(Ridge()), {"regressor__alpha": [0.1, 10.0]}, cv=2)
    return model.fit(REAL, NUMBERS).predict(REAL), results(inside.fit(REAL, NUMBERS))


@case
def selection_of_features(s: Searches) -> Any:
    coefficients = "best_estimator_.coef_"
    search = s.logistic()
    choice = SelectFromModel(search, importance_getter=coefficients).fit(X, Y).get_support()
    ranks = RFE(search, n_features_to_select=2, importance_getter=coefficients).fit(X, Y).ranking_
    return choice, ranks


# Pipelines and tables.


@case
def the_last_step_of_a_pipeline(s: Searches) -> Any:
    pipeline = make_pipeline(StandardScaler(), s.logistic()).fit(X, Y)
    return pipeline.predict_proba(X), pipeline.score(X, Y), pipeline.classes_, pipeline.n_features_in_


@case
def a_step_that_transforms(s: Searches) -> Any:
    components = s.grid(PCA(), {"n_components": [1, 2]}, cv=2)
    return make_pipeline(components, Ridge()).fit(REAL, NUMBERS).predict(REAL)


@case
def a_search_over_steps(s: Searches) -> Any:
    steps = Pipeline([("scale", StandardScaler()), ("model", LogisticRegression())])
    grid = [
        {"scale": [MinMaxScaler(), "passthrough"], "model__C": [0.1]},
        {"model": [GaussianNB(), DecisionTreeClassifier(max_depth=2, random_state=0)]},
    ]
    return results(s.grid(steps, grid, cv=2).fit(X, Y))


@case
def output_as_pandas(s: Searches) -> Any:
    pd = pytest.importorskip("pandas")
    rows = pd.DataFrame(REAL, columns=list("abcd"))
    labels = NUMBERS > 0
    search = s.grid(PCA().set_output(transform="pandas"), {"n_components": [1, 2]}, cv=2).fit(rows)
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), s.logistic()).fit(rows, labels)
    with sklearn.config_context(transform_output="pandas"):
        everywhere = make_pipeline(StandardScaler(), s.logistic()).fit(rows, labels).predict(rows)
    table = search.transform(rows)
    names = list(table.columns), hasattr(search, "set_output"), hasattr(search, "get_feature_names_out")
    return names, table.to_numpy(), pipeline[-1].feature_names_in_, pipeline.predict(rows), everywhere


@case
def columns_with_names(s: Searches) -> Any:
    pd = pytest.importorskip("pandas")
    rows = pd.DataFrame(X, columns=list("abcd"))
    search = s.logistic().fit(rows, pd.Series(Y, name="label"))
    renamed = error_of(lambda: search.predict(rows.rename(columns={"a": "z"})))
    return results(search), search.predict(rows), renamed, error_of(lambda: search.predict(X[:, 1:]))


@case
def a_polars_table(s: Searches) -> Any:
    pl = pytest.importorskip("polars")
    rows = pl.DataFrame({name: X[:, j] for j, name in enumerate("abcd")})
    search = s.logistic().fit(rows, pl.Series("label", Y))
    return results(search), getattr(search, "feature_names_in_", None), search.predict(rows)


@case
def texts(s: Searches) -> Any:
    texts = ["good day" if label else "bad night" for label in Y]
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    words = s.grid(model, {"countvectorizer__binary": [True, False]}, cv=2).fit(texts, ["no", "yes"] * 30)
    return results(words), words.predict(texts)


# Metadata.


@case
def routed_groups_and_weights(s: Searches) -> Any:
    with routing():
        model = LogisticRegression().set_fit_request(sample_weight=True)
        scorer = copy.deepcopy(get_scorer("accuracy")).set_score_request(sample_weight=True)
        search = s.grid(model, C, scoring=scorer, cv=GroupKFold(2))
        given = {"groups": GROUPS, "sample_weight": WEIGHTS}
        outer = cross_validate(search, X, Y, cv=GroupKFold(2), scoring=scorer, params=given)
        return results(search.fit(X, Y, **given)), outer["test_score"]


@case
def routed_through_a_pipeline(s: Searches) -> Any:
    with routing():
        model = LogisticRegression().set_fit_request(sample_weight=True)
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=False)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, s.grid(model, C, cv=2, scoring=scorer))
        unrequested = error_of(lambda: s.logistic().fit(X, Y, sample_weight=WEIGHTS))
        return pipeline.fit(X, Y, sample_weight=WEIGHTS).predict_proba(X), unrequested


# Copies and pictures.


@case
def pickles(s: Searches) -> Any:
    search = pickle.loads(pickle.dumps(s.logistic().fit(X, Y)))
    return results(search), search.predict(X), results(pickle.loads(pickle.dumps(s.logistic())).fit(X, Y))


@case
def deep_copies_and_clones(s: Searches) -> Any:
    search = s.nested().fit(X, Y)
    twin, again = copy.deepcopy(search), clone(search)
    return results(twin), twin.predict(X), hasattr(again, "best_index_"), results(again.fit(X, Y))


@case
def parameters(s: Searches) -> Any:
    search = s.nested()
    search.set_params(estimator__svc__kernel="linear", param_grid={"svc__C": [0.5, 5.0]}, refit=False, n_jobs=1)
    known = GridSearchCV(None, {}).get_params(deep=False).keys()
    shown = search.get_params()
    shown = {name: shown[name] for name in shown if name.startswith("estimator") or name in known}
    return shown, results(search.fit(X, Y)), error_of(lambda: search.set_params(nothing=1))


@case
def the_text_of_a_search(s: Searches) -> Any:
    text = repr(s.nested()).replace("HeldOutSearchCV", "GridSearchCV").replace("method=None,", "")
    return "".join(text.split())


@case
def the_picture_of_a_search(s: Searches) -> Any:
    search = s.nested()
    pictures = search._repr_html_(), search.fit(X, Y)._repr_html_(), make_pipeline(s.logistic())._repr_html_()
    parts = ("fitted", "SVC", ">best_estimator_: Pipeline", ">estimator: Pipeline", "LogisticRegression")
    return [[part for part in parts if part in picture] for picture in pictures]


# Searches of searches.


@case
def a_search_of_a_search(s: Searches) -> Any:
    return results(s.grid(s.logistic(), {"estimator__fit_intercept": [False], "cv": [2, 3]}, cv=2).fit(X, Y))


@case
def a_search_inside_halving(s: Searches) -> Any:
    halving = HalvingGridSearchCV(s.logistic(), {"estimator__tol": [1e-4, 1e-1]}, cv=2, random_state=0)
    return results(halving.fit(X, Y))


@case
def halving_inside_a_search(s: Searches) -> Any:
    halving = HalvingGridSearchCV(LogisticRegression(), C, cv=2, random_state=0)
    return results(s.grid(halving, {"estimator__fit_intercept": [True, False]}, cv=2).fit(X, Y))


# What a fitted search answers.


RESPONSES = ("predict", "predict_proba", "predict_log_proba", "decision_function")
OTHERS = (
    "transform", "inverse_transform", "score_samples", "classes_", "n_features_in_", "best_estimator_",
    "best_index_", "best_score_", "refit_time_", "scorer_", "cv_results_", "set_fit_request", "fit_transform",
    "fit_predict",
)  # fmt: skip


def had(search: Any) -> list[str]:
    return [name for name in RESPONSES + OTHERS if hasattr(search, name)]


@case
def responses(s: Searches) -> Any:
    search = s.logistic().fit(*THREE)
    return [getattr(search, way)(THREE[0]) for way in RESPONSES], search.score(*THREE), results(search)


def inliers(model: Any, X: Any, y: Any = None) -> float:
    return float(model.score_samples(X).mean())


@case
def responses_of_detectors_and_densities(s: Searches) -> Any:
    forest = s.grid(
        IsolationForest(n_estimators=3, random_state=0), {"max_samples": [10, 20]}, scoring=inliers, cv=2
    )
    density = s.grid(KernelDensity(), {"bandwidth": [0.5, 1.0]}, cv=2).fit(X)
    forest.fit(X)
    return forest.score_samples(X), forest.predict(X), results(density), density.score_samples(X), density.score(X)


@case
def transformations(s: Searches) -> Any:
    search = s.grid(PCA(), {"n_components": [1, 2]}, cv=2).fit(REAL)
    return results(search), search.transform(REAL), search.inverse_transform(search.transform(REAL))


@case
def what_a_search_has_before_a_fit_and_without_a_refit(s: Searches) -> Any:
    models = (s.logistic(), s.grid(SVC(), C), s.grid(PCA(), {}), s.grid(KernelDensity(), {}))
    search = s.logistic(refit=False).fit(X, Y)
    return [had(model) for model in (*models, search)], results(search), error_of(lambda: search.predict(X))


@case
def not_fitted(s: Searches) -> Any:
    calls = [partial(check_is_fitted, s.logistic())]
    for name in RESPONSES:
        calls.append(lambda name=name: getattr(s.logistic(), name)(X))
    for call in calls:
        with pytest.raises(NotFittedError):
            call()
    return error_of(lambda: s.logistic().score(X, Y)), check_is_fitted(s.logistic().fit(X, Y))


@case
def kinds_and_tags(s: Searches) -> Any:
    models = (s.logistic(), s.ridge(), s.grid(IsolationForest(), {}), s.grid(KMeans(), {}), s.grid(PCA(), {}))
    kinds = [(is_classifier(one), is_regressor(one), is_outlier_detector(one)) for one in models]
    tags = [get_tags(one) for one in (*models, s.grid(SVC(kernel="precomputed"), C))]
    return kinds, [(one.estimator_type, one.input_tags, one.classifier_tags, one.target_tags) for one in tags]


# The settings.


class Failing(ClassifierMixin, BaseEstimator):
    """Its fit fails where ``fails`` says so."""

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails

    def fit(self, X: Any, y: Any) -> Failing:
        if self.fails:
            raise ZeroDivisionError("it fails")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[-1])


@case
def failing_fits(s: Searches) -> Any:
    grid = {"fails": [True, False]}
    answers = []
    for value in (np.nan, 0.25):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            search = s.grid(Failing(), grid, cv=2, error_score=value).fit(X, Y)
        kinds = any(issubclass(each.category, FitFailedWarning) for each in seen)
        table = results(search)
        answers.append((kinds, {key: table[key] for key in table if key.startswith(("split", "best_"))}))
    return answers, error_of(lambda: s.grid(Failing(), grid, error_score="raise").fit(X, Y))


@case
def only_failing_fits(s: Searches) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return error_of(lambda: s.grid(Failing(), {"fails": [True]}, cv=2).fit(X, Y))


def first(table: dict[str, Any]) -> int:
    return int(table["mean_test_score"].argmin())


@case
def refits(s: Searches) -> Any:
    choice = s.logistic(refit=first).fit(X, Y)
    several = ["accuracy", "roc_auc"]
    errors = [
        error_of(lambda refit=refit: s.logistic(scoring=several, refit=refit).fit(X, Y)) for refit in (True, "f1")
    ]
    return results(choice), had(choice), errors


@case
def ways_to_split(s: Searches) -> Any:
    return [results(s.logistic(cv=way).fit(X, Y)) for way in (4, StratifiedKFold(3).split(X, Y))]


def several_by_hand(model: Any, X: Any, y: Any) -> dict[str, float]:
    return {
        "hits": float(accuracy_score(y, model.predict(X))),
        "auc": float(roc_auc_score(y, model.decision_function(X))),
    }


@case
def ways_to_score(s: Searches) -> Any:
    by_name = ({"a": "accuracy", "b": make_scorer(roc_auc_score, response_method="decision_function")}, "b")
    ways = (
        (make_scorer(accuracy_score), True), (("f1", "accuracy"), "accuracy"), by_name, (several_by_hand, "auc"),
    )  # fmt: skip
    searches = [s.logistic(scoring=way, refit=refit).fit(X, Y) for way, refit in ways]
    return [(results(search), search.score(X, Y)) for search in searches]


@case
def scorers_of_a_fitted_search(s: Searches) -> Any:
    searches = [s.logistic(scoring="f1").fit(X, Y), s.logistic(scoring=["f1", "accuracy"], refit="f1").fit(X, Y)]
    return [search.scorer_ if isinstance(search.scorer_, dict) else repr(search.scorer_) for search in searches]


@case
def random_draws_in_outer_folds(s: Searches) -> Any:
    search = s.random(LogisticRegression(), {"C": loguniform(1e-2, 1e2)}, n_iter=2, cv=2, random_state=0)
    return cross_val_predict(make_pipeline(StandardScaler(), search), X, Y, cv=2)


@case
def a_second_fit_replaces_the_first(s: Searches) -> Any:
    search = s.logistic()
    first = results(search.fit(X[:40], Y[:40]))
    return first, results(search.fit(*THREE)), search.fit(X, Y) is search


@case
def wrong_settings(s: Searches) -> Any:
    calls = (
        lambda: s.logistic(cv="three").fit(X, Y),
        lambda: s.logistic(cv=1).fit(X, Y),
        lambda: s.logistic(scoring="nothing").fit(X, Y),
        lambda: s.logistic(error_score="none").fit(X, Y),
        lambda: s.logistic(refit=3).fit(X, Y),
        lambda: s.logistic(verbose="much").fit(X, Y),
        lambda: s.grid(LogisticRegression(), {"D": [1]}).fit(X, Y),
        lambda: s.grid(LogisticRegression(), {"C": []}).fit(X, Y),
        lambda: s.grid(LogisticRegression(), {"C": 1.0}).fit(X, Y),
        lambda: s.grid(LogisticRegression(), {"C": "ab"}).fit(X, Y),
        lambda: s.grid(LogisticRegression(), {"C": np.ones((2, 2))}).fit(X, Y),
        lambda: s.grid(object(), {}).fit(X, Y),
        lambda: s.logistic().fit(X, Y[:-1]),
        lambda: s.logistic().fit(X),
        lambda: s.logistic(cv=GroupKFold(2)).fit(X, Y),
        lambda: s.random(LogisticRegression(), C, n_iter=-1).fit(X, Y),
        lambda: s.random(LogisticRegression(), {"C": 1.0}).fit(X, Y),
    )
    return [error_of(call) for call in calls]


@pytest.mark.parametrize("name", CASES)
def test_the_same_lines_give_the_same(name: str) -> None:
    theirs = CASES[name](THEIRS)
    same(CASES[name](OURS), theirs)


def test_the_estimate_leaves_everything_else_unchanged() -> None:
    search = ho.HeldOutSearchCV(LogisticRegression(), C, cv=2, n_bootstraps=20, random_state=0)
    pipeline = make_pipeline(StandardScaler(), search)
    peer = make_pipeline(StandardScaler(), GridSearchCV(LogisticRegression(), C, cv=2))
    same(cross_val_score(pipeline, X, Y, cv=2), cross_val_score(peer, X, Y, cv=2))
    same(results(pipeline.fit(X, Y)[-1]), results(peer.fit(X, Y)[-1]))
    assert np.isfinite(search.estimate_.value) and type(clone(search)) is ho.HeldOutSearchCV
