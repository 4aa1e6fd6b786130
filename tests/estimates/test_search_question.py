"""Predictions remember the question of their search: asked again, it has the same answer, to the last bit."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, TimeSeriesSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates import BBC
from heldout.flags import Flag
from heldout.selection import AverageRank, OneStandardError, RankOverRepeats, Within

N = 90
RNG = np.random.default_rng(7)
X = RNG.normal(size=(N, 4))
SIGNAL = X[:, 0] + RNG.normal(size=N)
LABEL = (SIGNAL > 0.3).astype(int)
TEXT = np.array(["well", "ill"])[LABEL]
THREE = np.digitize(SIGNAL, [-0.7, 0.7])
KNN = {"n_neighbors": [1, 5, 15, 30]}
FAST = {"n_bootstraps": 40, "random_state": 3}


def search_of(y: Any = LABEL, model: Any = None, grid: Any = None, fit: Any = None, **settings: Any) -> Any:
    numbers = y is SIGNAL
    model = model or (KNeighborsRegressor() if numbers else KNeighborsClassifier())
    search = ho.HeldOutSearchCV(model, grid or KNN, **{"cv": 3, **FAST, **settings})
    return search.fit(X, y, **(fit or {}))


@pytest.fixture(scope="module")
def plain() -> Any:
    """The search without further settings; tests only ask it."""
    return search_of()


def check_same(search: Any, y: Any) -> None:
    """The estimate, and the winner of both comparisons, are the search's own; warnings are errors here."""
    own = search.estimate_
    assert ho.estimate(search) is own and np.isfinite(own.value)
    again = ho.estimate(y, search.predictions_)
    assert again.to_dict() == own.to_dict()
    if own.distribution is not None:
        assert np.array_equal(again.distribution, own.distribution, equal_nan=True)
    assert ho.compare_configurations(y, search.predictions_).winner == own.selected_name
    compared = ho.compare_estimates(search, methods=[search.predictions_.question.method])
    assert compared[compared.main].to_dict() == own.to_dict()


@pytest.mark.parametrize(
    ("scoring", "aggregate"),
    [
        ("balanced_accuracy", "auto"), ("neg_log_loss", "auto"), ("average_precision", "auto"), ("r2", "auto"),
        ("neg_median_absolute_error", "auto"), ("f1", "pooled"), ("max_error", "folds"), ("roc_auc", "within"),
    ],
)  # fmt: skip
def test_every_metric_and_every_aggregate(scoring: str, aggregate: Any) -> None:
    y = SIGNAL if scoring in ("r2", "neg_median_absolute_error", "max_error") else LABEL
    grid = {"n_neighbors": [15, 25, 40]} if scoring in ("neg_log_loss", "max_error") else KNN
    settings = {"scoring": scoring.replace("max_error", "neg_max_error"), "n_bootstraps": 20}
    check_same(search_of(y, grid=grid, aggregate=aggregate, **settings), y)


def worst(results: Any) -> int:
    return int(np.argmin(results["mean_test_score"]))


RULES: dict[str, Any] = {
    "one_standard_error": "one_standard_error",
    "by a parameter": OneStandardError("n_neighbors"),
    "within": Within(0.05, complexity=lambda params: -params["n_neighbors"]),
    "median": ho.selection.Best(over_repeats="median"),
    "rank over repeats": RankOverRepeats(),
    "of the scores": lambda scores: np.argsort(-scores, axis=1)[:, 1],
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_every_rule(rule: Any) -> None:
    asked = {"scoring": "roc_auc", "aggregate": "pooled", "repeats": 2, "n_bootstraps": 20, "cv": 3}
    check_same(search_of(selection=rule, **asked), LABEL)


def test_rules_that_read_all_metrics_a_refit_function_and_what_models_hold() -> None:
    several = {"scoring": ["accuracy", "roc_auc", "f1"], "refit": "roc_auc"}
    check_same(search_of(selection="average_rank", **several), LABEL)
    check_same(search_of(selection=AverageRank(["f1", "accuracy"]), **several), LABEL)
    check_same(search_of(refit=worst, scoring="roc_auc"), LABEL)
    tree, depths = DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3, 6]}
    check_same(search_of(model=tree, grid=depths, selection=Within(0.02, complexity="measured")), LABEL)


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "cv"}, {"method": "bbc_f", "aggregate": "pooled"}, {"method": "corrected_t"},
        {"method": BBC(interval="calibrated")}, {"method": "delong", "scoring": "roc_auc"},
        {"alternative": "greater", "confidence_level": 0.8}, {"method": "tilting", "alternative": "greater"},
        {"drop": "forgiving", "method": "bbc", "cv": 5}, {"cv": TimeSeriesSplit(2)},
        {"cv": KFold(3), "block_length": 6}, {"cv": ShuffleSplit(8, test_size=0.2), "method": "wmc"},
        {"stop_when_width": 0.9, "repeats": 3}, {"scoring": make_scorer(fbeta_score, beta=2, pos_label=0)},
        {"scoring": make_scorer(lambda y, labels: float((y == labels).mean()))}, {"random_state": None},
    ],
    ids=str,
)  # fmt: skip
def test_methods_intervals_dropping_and_folds(settings: dict[str, Any]) -> None:
    check_same(search_of(**settings), LABEL)


def test_text_labels_several_classes_groups_and_weights() -> None:
    check_same(search_of(TEXT, scoring="neg_brier_score"), TEXT)
    check_same(search_of(TEXT, scoring=make_scorer(fbeta_score, beta=1, pos_label="ill")), TEXT)
    check_same(search_of(THREE, scoring="roc_auc_ovr"), THREE.tolist())
    check_same(search_of(cv=GroupKFold(3), fit={"groups": np.arange(N) // 3}), LABEL)
    with config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=True)
        scorer = make_scorer(fbeta_score, beta=1).set_score_request(sample_weight=True)
        weights = {"sample_weight": 1.0 + np.arange(N) % 4}
        check_same(search_of(model=model, grid={"C": [0.01, 1, 100]}, scoring=scorer, fit=weights), LABEL)
    check_same(search_of(SIGNAL.astype(np.float32).astype(float), Ridge(), {"alpha": [1, 9]}), SIGNAL.astype("f4"))


def test_searches_of_other_kinds() -> None:
    from scipy.stats import randint

    drawn = ho.HeldOutRandomizedSearchCV(KNeighborsClassifier(), {"n_neighbors": randint(1, 40)}, n_iter=3, **FAST)
    check_same(drawn.fit(X, LABEL), LABEL)
    pytest.importorskip("optuna")
    from optuna.distributions import IntDistribution

    space = {"n_neighbors": IntDistribution(1, 30)}
    adaptive = ho.HeldOutOptunaSearchCV(KNeighborsClassifier(), space, n_trials=3, **FAST).fit(X, LABEL)
    check_same(adaptive, LABEL)
    assert Flag.ADAPTIVE_SEARCH in ho.estimate(adaptive).flags
    crossed = ho.HeldOutOptunaSearchCV(
        KNeighborsClassifier(), space, n_trials=3, feedback=ho.optuna.CrossFitting(n_trials=2), **FAST
    ).fit(X, LABEL)
    assert ho.estimate(crossed) is crossed.estimate_ is ho.correct(crossed)
    for ask in (ho.estimate, ho.compare_estimates, ho.compare_configurations):
        with pytest.warns(
            HeldoutWarning, match=r"search\.estimate_ in Python\) rests on searches without the rows of each fold"
        ):
            ask(LABEL, crossed.predictions_)


def test_what_is_no_function_of_the_predictions_names_the_searchs_estimate() -> None:
    halves = search_of(cv=ho.protocols.paired_hold_out(4, 0.2, 2), method="conservative_z")
    with pytest.warns(HeldoutWarning, match="rests on fits on halves"), pytest.raises(InputError, match="halves"):
        ho.estimate(LABEL, halves.predictions_)
    replayed = search_of(drop=ho.dropping.Bootstrap(replay=True), method="bbc")
    with pytest.warns(HeldoutWarning, match="rests on the dropping of configurations"):
        assert ho.estimate(LABEL, replayed.predictions_).selected == replayed.best_index_
    closed = search_of(scoring=lambda model, X, y: model.score(X, y), method="bbc_f")
    assert ho.estimate(closed) is closed.estimate_
    with pytest.raises(InputError, match=r"metric must be given.*a scorer that cannot be opened") as refused:
        ho.estimate(LABEL, closed.predictions_)
    assert refused.value.argument == "metric"


def test_the_two_models_of_a_table_are_ranked_alike_wherever_one_asks() -> None:
    table, y = load_breast_cancer(return_X_y=True)
    rows = np.random.default_rng(27).permutation(len(y))[:150]
    models = [
        ("logistic", make_pipeline(StandardScaler(), LogisticRegression()), {}),
        ("svm", make_pipeline(StandardScaler(), SVC()), {}),
    ]
    search = ho.HeldOutSearchCV(models, scoring="roc_auc", random_state=0).fit(table[rows], y[rows])
    for again in (
        ho.estimate(y[rows], search.predictions_, metric="roc_auc"),
        ho.estimate(search, metric="roc_auc"),
    ):
        assert again.to_dict() == search.estimate_.to_dict()
    for compared in (ho.compare_configurations(search), ho.compare_configurations(y[rows], search.predictions_)):
        assert compared.winner == search.best_params_["model"] == search.estimate_.selected_name
    pooled = ho.estimate(y[rows], replace(search.predictions_, question=None), metric="roc_auc", aggregate="pooled")
    assert pooled.selected_name != search.estimate_.selected_name  # else nothing would be shown here


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"metric": "f1"}, "has `metric='accuracy'`. With `metric='f1'` the"),
        ({"aggregate": "pooled"}, "With `aggregate='pooled'` the"),
        ({"selection": "one_standard_error"}, "has `selection='best'`. With `selection='one_standard_error'` the"),
        ({"method": "bbc"}, "has `method='shrinkage'`. With `method='bbc'` the"),
        ({"n_bootstraps": 30}, "has `n_bootstraps=40`. With `n_bootstraps=30` the"),
        ({"confidence_level": 0.9}, "has `confidence_level=0.95`. With `confidence_level=0.9` the"),
        ({"alternative": "greater"}, "has `alternative='two-sided'`. With `alternative='greater'` the"),
        ({"random_state": 4}, "has `random_state=3`. With `random_state=4` the"),
        ({"groups": np.arange(N)}, "has `groups=None`. With `groups=` the"),
        ({"sample_weight": 1 + np.arange(N)}, "has `sample_weight=None`. With `sample_weight=` the"),
        ({"folds": np.arange(N) % 5}, "has `folds=`. With `folds=` the"),
        ({"block_length": 4}, "has `block_length=None`. With `block_length='moving:4'` the"),
    ],
)
def test_another_keyword_replaces_what_is_remembered_and_is_named(
    plain: Any, changed: dict[str, Any], said: str
) -> None:
    every = {"metric": "accuracy", "method": "shrinkage", "aggregate": plain.aggregate, **FAST}
    with pytest.warns(HeldoutWarning) as warned:
        found = ho.estimate(LABEL, plain.predictions_, **changed)
    assert [said in str(one.message) and "search.estimate_" in str(one.message) for one in warned] == [True]
    assert warned[0].filename == __file__
    asked = {**every, "folds": plain.predictions_.folds[:, 0], **changed}
    without = replace(plain.predictions_, question=None, folds=None)
    assert found.value == ho.estimate(LABEL, without, **asked).value


def test_equal_keywords_are_no_change() -> None:
    groups, weights = np.arange(N) // 3, 1.0 + np.arange(N) % 2
    search = search_of(cv=GroupKFold(3), fit={"groups": groups}, method=BBC(control=False), selection=Within(0.01))
    found = ho.estimate(
        LABEL, search.predictions_, metric="accuracy", method=BBC(control=False), selection=Within(0.01),
        aggregate=search.aggregate, groups=groups.tolist(), folds=search.predictions_.folds + 1, pos_label=1,
        classes=[0, 1], confidence_level=np.float64(0.95), alternative="two-sided", sample_weight=np.full(N, 2.0),
        n_jobs=2, **FAST,
    )  # fmt: skip
    assert found.to_dict() == search.estimate_.to_dict()
    with pytest.warns(HeldoutWarning, match=r"has `method='bbc\(control=False\)'`. With `method='bbc'`"):
        ho.estimate(search, method="bbc")
    with pytest.warns(HeldoutWarning, match="sample_weight="):
        ho.estimate(search, sample_weight=weights)


@pytest.mark.parametrize("scoring", ["f1", "average_precision"])
def test_a_metric_by_name_is_of_the_positive_class_of_the_task(scoring: str) -> None:
    search = search_of(scoring=scoring)
    assert ho.estimate(LABEL, search.predictions_, metric=scoring).to_dict() == search.estimate_.to_dict()


def test_the_target_of_the_search_is_asked_for() -> None:
    search = search_of(TEXT)
    with pytest.raises(InputError, match="2 rows of 90 differ, the first is row 0") as refused:
        ho.estimate(np.concatenate([np.where(TEXT[:2] == "ill", "well", "ill"), TEXT[2:]]), search.predictions_)
    assert refused.value.argument == "y_true"
    with pytest.raises(InputError, match="are of 90 rows, y_true has 89"):
        ho.compare_estimates(TEXT[1:], search.predictions_)
    with pytest.raises(InputError, match="differ"):
        ho.compare_configurations(TEXT[::-1], search.predictions_)
    with pytest.raises(InputError, match="differ"):
        ho.estimate(SIGNAL + 1, search_of(SIGNAL).predictions_)
    with pytest.raises(InputError, match="point to class 'well'"):
        ho.estimate(TEXT, search.predictions_, pos_label="ill")


def test_some_configurations_remember_metric_aggregate_and_positive_class() -> None:
    search = search_of(TEXT, scoring="roc_auc", aggregate="within", method="bbc", selection="one_standard_error")
    names = search.predictions_.names
    for part in (
        search.predictions_.of([0, 2]),
        search.predictions_.of([names[0], names[2]]),
        search.predictions_.of(np.array([True, False, True, False])),
        replace(search.predictions_, names=names[::2], responses={
            kind: array[:, ::2] for kind, array in search.predictions_.responses.items()
        }),
    ):  # fmt: skip
        found = ho.estimate(TEXT, part, random_state=0)
        assert (found.metric, found.provenance["aggregate"], found.method) == ("roc_auc", "within", "shrinkage")
        assert found.provenance["selection"] == "best" and found.provenance["n_bootstraps"] == 1000
        assert found.provenance["pos_label"] == "well"
    with pytest.warns(HeldoutWarning, match="has `aggregate='within'`. With `aggregate='pooled'`"):
        ho.estimate(TEXT, part, aggregate="pooled")
    one = search.predictions_.of(names[3])
    assert one.names == (names[3],) and ho.compare_configurations(TEXT, one).winner == names[3]
    for wrong in ("x", 4, [], [0.5], None):
        with pytest.raises(InputError):
            search.predictions_.of(wrong)
