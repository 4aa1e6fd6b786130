"""A scorer opened into a metric gives the scorer's own value, in its sign, from the response it would ask."""

import warnings
from typing import Any

import numpy as np
import pytest
import sklearn.metrics as skm
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, PoissonRegressor
from sklearn.metrics import check_scoring, get_scorer, get_scorer_names, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.data.task import TaskKind, Truth, truth_of
from heldout.errors import HeldoutWarning, InputError
from heldout.metrics.aggregate import aggregate_score
from heldout.metrics.base import Metric, Needs, Response, Signed, is_undefined, needed_codes
from heldout.metrics.classification import Accuracy, Brier, CohenKappa, FScore, LogLoss
from heldout.metrics.custom import CustomMetric
from heldout.metrics.from_scorer import metric_from_scorer
from heldout.metrics.named import check_fits
from heldout.metrics.ranking import AveragePrecision, PartialRocAuc, RocAuc
from heldout.metrics.regression import R2, PinballLoss

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3)).round(1)
TWO = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
THREE = np.digitize(X[:, 0] + RNG.normal(size=N), [-0.6, 0.6])
NUMBERS = np.exp(X[:, 0] + 0.3 * RNG.normal(size=N))

CLUSTERINGS = {
    "adjusted_mutual_info_score", "adjusted_rand_score", "completeness_score", "fowlkes_mallows_score",
    "homogeneity_score", "mutual_info_score", "normalized_mutual_info_score", "rand_score", "v_measure_score",
}  # fmt: skip
FOR_MULTILABEL = {"f1_samples", "jaccard_samples", "precision_samples", "recall_samples"}
NAMES = sorted(set(get_scorer_names()) - CLUSTERINGS - FOR_MULTILABEL)
WITH_KERNELS = {
    "accuracy", "average_precision", "balanced_accuracy", "f1", "f1_macro", "f1_micro", "f1_weighted",
    "matthews_corrcoef", "neg_brier_score", "neg_log_loss", "neg_mean_absolute_error",
    "neg_mean_squared_error", "neg_median_absolute_error", "neg_root_mean_squared_error", "precision",
    "precision_macro", "precision_micro", "precision_weighted", "r2", "recall", "recall_macro",
    "recall_micro", "recall_weighted", "roc_auc", "roc_auc_ovo", "roc_auc_ovo_weighted", "roc_auc_ovr",
    "roc_auc_ovr_weighted",
}  # fmt: skip
METHODS = {"predict_proba": Response.PROBABILITIES, "decision_function": Response.DECISION}


def response_of(metric: Metric, model: Any, truth: Truth) -> NDArray[Any]:
    """What a worker would keep: (n, 1) or (n, 1, n_classes), of the first response that the model offers."""
    for response in metric.responses:
        if response is Response.VALUES and truth.kind is TaskKind.REGRESSION:
            return model.predict(X)[:, None]
        if response is Response.LABELS and truth.kind is not TaskKind.REGRESSION:
            return np.searchsorted(truth.classes, model.predict(X)).astype(np.int32)[:, None]
        for method, mine in METHODS.items():
            if response is mine and hasattr(model, method):
                predicted = getattr(model, method)(X)
                if truth.kind is TaskKind.BINARY and predicted.ndim == 2:
                    predicted = predicted[:, truth.positive]
                return predicted[:, None]
    raise AssertionError(f"{model} offers none of {metric.responses}")


def both(scorer: Any, model: Any, y: Any) -> tuple[float, float]:
    """The metric's value and the scorer's."""
    truth = truth_of(y, TaskKind.REGRESSION if y is NUMBERS else None)
    metric = metric_from_scorer(scorer)
    assert metric is not None
    metric = check_fits(metric, truth)
    bound = metric.statistic(truth, response_of(metric, model, truth))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = bound.all(np.ones((1, N), np.uint8))[0, 0], scorer(model, X, y)
    return float(ours), float(theirs)


CLASSIFIERS = [LinearDiscriminantAnalysis(), KNeighborsClassifier(7)]
REGRESSORS = [LinearRegression(), PoissonRegressor()]
"""With decisions and with probabilities alone; with numbers below zero too and with none."""
TARGETS = {"two": TWO, "three": THREE, "numbers": NUMBERS}


@pytest.mark.parametrize("name", NAMES)
def test_every_scorer_name_gives_the_scorer_s_value(name: str) -> None:
    scorer, compared = get_scorer(name), 0
    for kind, y in TARGETS.items():
        for model in REGRESSORS if kind == "numbers" else CLASSIFIERS:
            model.fit(X, y)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    theirs = scorer(model, X, y)
                except (ValueError, AttributeError, TypeError):
                    theirs = np.nan
            if not np.isfinite(theirs):  # the scorer itself does not fit this target
                continue
            try:
                ours, theirs = both(scorer, model, y)
            except InputError:  # a metric of numbers on labels that happen to be numbers, or the reverse
                metric = metric_from_scorer(scorer)
                assert metric is not None
                assert (TaskKind.REGRESSION in metric.tasks) != (kind == "numbers")
                continue
            assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12)
            compared += 1
    assert compared


class Told(BaseEstimator):
    """Answers with what it was told for the row numbers that it is given as X."""

    def __init__(self, told: NDArray[Any]) -> None:
        self.told = told


class ToldNumbers(RegressorMixin, Told):
    def predict(self, X: Any) -> Any:
        return self.told[X[:, 0]]


class ToldProbabilities(ClassifierMixin, Told):
    @property
    def classes_(self) -> Any:
        return np.arange(self.told.shape[1])

    def predict_proba(self, X: Any) -> Any:
        return self.told[X[:, 0]]

    def predict(self, X: Any) -> Any:
        return self.told[X[:, 0]].argmax(axis=1)


FOLDS = {
    "two": [[0, 1, 0, 1, 1], [0, 0, 0], [1, 1, 1], [1, 0, 0], [0], [1]],
    "three": [[0, 1, 2, 1, 1], [0, 0, 2], [1, 1, 1], [1, 0, 2, 2], [0, 1], [2]],
    "numbers": [[0.5, 1.5, 2.0], [2.0, 2.0, 2.0], [3.5, 3.5], [1.0, 2.5, 0.5, 4.0], [1.5]],
}
"""Targets by fold: whole, without a class, with one class, with one row; constant."""


def fits(name: str, kind: str) -> bool:
    y = np.concatenate([np.array(fold) for fold in FOLDS[kind]])
    metric = metric_from_scorer(get_scorer(name))
    assert metric is not None
    try:
        check_fits(metric, truth_of(y, TaskKind.REGRESSION if kind == "numbers" else None))
    except InputError:
        return False
    return True


def one_hot_or_close(codes: NDArray[Any], n_classes: int, rng: np.random.Generator) -> NDArray[Any]:
    return 0.6 * np.eye(n_classes)[codes] + 0.4 * rng.dirichlet(np.ones(n_classes), len(codes))


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for kind in FOLDS for name in NAMES if fits(name, kind)])
def test_the_mean_over_folds_is_that_of_the_scorer_on_the_folds_where_it_is_defined(name: str, kind: str) -> None:
    y = np.concatenate([np.array(fold) for fold in FOLDS[kind]])
    fold_of = np.repeat(np.arange(len(FOLDS[kind])), [len(fold) for fold in FOLDS[kind]]).astype(np.int32)
    truth = truth_of(y, TaskKind.REGRESSION if kind == "numbers" else None)
    metric = metric_from_scorer(get_scorer(name))
    assert metric is not None
    metric = check_fits(metric, truth)
    rng = np.random.default_rng(0)
    if kind == "numbers":
        told = np.where(y == 3.5, 3.5, y + rng.exponential(size=len(y)))  # one constant fold is hit
        model, predictions = ToldNumbers(told), told[:, None, None]
    else:
        guessed = np.where(rng.random(len(y)) < 0.7, y, rng.integers(0, truth.n_classes, len(y)))
        told = one_hot_or_close(guessed, truth.n_classes, rng)
        model = ToldProbabilities(told)
        labels = Response.LABELS in metric.responses
        given = told.argmax(axis=1).astype(np.int32) if labels else told[:, 1] if kind == "two" else told
        predictions = given[:, None, None]
    scores = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fold in np.unique(fold_of):
            rows = np.flatnonzero(fold_of == fold)
            try:
                scores.append(get_scorer(name)(model, rows[:, None], y[rows]))
            except (ValueError, IndexError, ZeroDivisionError):
                scores.append(np.nan)
        bound = aggregate_score(metric, truth, predictions, fold_of[:, None], as_folds=True)
        found, parts = bound.observed()[0], bound.observed_by_segment()[:, 0]
    if (name, kind) == ("neg_brier_score", "three") and np.isnan(scores[0]):
        return  # new in scikit-learn 1.7
    finite = np.where(np.isfinite(scores), scores, np.nan)
    np.testing.assert_allclose(parts, finite, rtol=1e-12, atol=1e-12)
    folds = [truth.rows(np.flatnonzero(fold_of == fold)) for fold in np.unique(fold_of)]
    defined = ~np.array([is_undefined(metric, fold) for fold in folds])
    if np.isnan(finite).all() or np.isnan(finite[defined]).any():  # only a fold without a definition is left out
        assert np.isnan(found)
    else:
        assert found == pytest.approx(np.nanmean(finite), rel=1e-12, abs=1e-12)


def test_which_names_have_kernels() -> None:
    slow = set()
    for name in NAMES:
        metric = metric_from_scorer(get_scorer(name))
        if isinstance(metric.metric if isinstance(metric, Signed) else metric, CustomMetric):
            slow.add(name)
    assert set(NAMES) - slow == WITH_KERNELS


@pytest.mark.parametrize("labels", [("no", "yes"), (1, 2), (False, True)], ids=str)
def test_labels_of_any_type(labels: tuple[Any, Any]) -> None:
    y = np.array(labels)[TWO]
    model = LinearDiscriminantAnalysis().fit(X, y)
    by_label = [
        (skm.f1_score, {}),
        (skm.jaccard_score, {}),
        (skm.average_precision_score, {"response_method": ("decision_function", "predict_proba")}),
        (skm.brier_score_loss, {"response_method": "predict_proba", "greater_is_better": False}),
    ]
    scorers = [make_scorer(function, pos_label=label, **how) for function, how in by_label for label in labels]
    for scorer in (*map(get_scorer, ("roc_auc", "neg_log_loss", "balanced_accuracy")), *scorers):
        ours, theirs = both(scorer, model, y)
        assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12), repr(scorer)


def test_f1_is_of_label_1_as_in_scikit_learn() -> None:
    metric = metric_from_scorer(get_scorer("f1"))
    assert metric == FScore(pos_label=1)
    ours, theirs = both(
        get_scorer("f1"), LinearDiscriminantAnalysis().fit(X, TWO + 1), TWO + 1
    )  # of the *lesser* label
    assert ours == pytest.approx(theirs, rel=1e-12)
    with pytest.raises(InputError, match="has `pos_label=1`, but the classes are 'a', 'b'"):
        check_fits(metric, truth_of(["a", "b"]))


PROBA, LOSS = {"response_method": "predict_proba"}, {"greater_is_better": False}
FIRST = ("predict_proba", "decision_function")
OURS = [
    (make_scorer(skm.f1_score, average="macro"), FScore("macro")),
    (make_scorer(skm.fbeta_score, beta=2), FScore(pos_label=1, beta=2.0)),
    (make_scorer(skm.f1_score, zero_division=0), FScore(pos_label=1)),
    (make_scorer(skm.log_loss, **LOSS, **PROBA), Signed(LogLoss(), -1)),
    (make_scorer(skm.brier_score_loss, **LOSS, **PROBA), Signed(Brier(), -1)),
    (make_scorer(skm.r2_score), R2()),
    (make_scorer(skm.accuracy_score, **LOSS), Signed(Accuracy(), -1)),
    (make_scorer(skm.roc_auc_score, **PROBA), RocAuc(responses=(Response.PROBABILITIES,))),
    (
        make_scorer(skm.roc_auc_score, response_method=FIRST),
        RocAuc(responses=(Response.PROBABILITIES, Response.DECISION)),
    ),
    (get_scorer("average_precision"), AveragePrecision(pos_label=1)),
    (
        make_scorer(skm.roc_auc_score, max_fpr=0.2, response_method="decision_function"),
        PartialRocAuc(0.2, responses=(Response.DECISION,)),
    ),
    (make_scorer(skm.cohen_kappa_score, weights="linear"), CohenKappa("linear", "skip")),
    (make_scorer(skm.mean_pinball_loss, alpha=0.9, **LOSS), Signed(PinballLoss(0.9), -1)),
]


@pytest.mark.parametrize(("scorer", "metric"), OURS, ids=repr)
def test_a_scorer_of_a_known_function_is_our_metric(scorer: Any, metric: Metric) -> None:
    found = metric_from_scorer(scorer)
    assert found == metric
    assert found.responses == metric.responses


def rmse_over_mean(y_true: Any, y_pred: Any) -> float:
    return float(np.sqrt(np.mean((y_true - y_pred) ** 2)) / np.mean(y_true))


@pytest.mark.parametrize(
    ("scorer", "y"),
    [
        (make_scorer(skm.f1_score, labels=[0, 2], average="macro"), THREE),
        (make_scorer(skm.f1_score, zero_division=1), TWO),
        (make_scorer(skm.fbeta_score, beta=np.inf), TWO),  # the recall
        (make_scorer(skm.balanced_accuracy_score, adjusted=True), THREE),
        (make_scorer(skm.accuracy_score, normalize=False), TWO),
        (make_scorer(skm.roc_auc_score, labels=[0, 1], response_method="decision_function"), TWO),
        (make_scorer(skm.roc_auc_score), TWO),  # of labels, as it says
        (make_scorer(skm.log_loss, labels=[0, 1, 2], **LOSS, **PROBA), THREE),
        (make_scorer(skm.cohen_kappa_score, weights="linear", labels=[2, 0, 1]), THREE),
        (make_scorer(rmse_over_mean, greater_is_better=False), NUMBERS),
        (make_scorer(skm.d2_pinball_score, alpha=0.9), NUMBERS),
    ],
    ids=repr,
)
def test_any_other_scorer_calls_its_function(scorer: Any, y: Any) -> None:
    model = (LinearRegression() if y is NUMBERS else LinearDiscriminantAnalysis()).fit(X, y)
    metric = metric_from_scorer(scorer)
    inner = metric.metric if isinstance(metric, Signed) else metric
    assert isinstance(inner, CustomMetric)
    assert metric.greater_is_better
    ours, theirs = both(scorer, model, y)
    assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12)
    assert metric.range[0] <= ours <= metric.range[1]


def lift(y_true: Any, y_prob: Any, pos_label: Any = 1) -> float:
    return float(y_prob[y_true == pos_label].mean() - y_prob.mean())


def test_probabilities_are_of_the_class_that_the_function_asks_for() -> None:
    y = TWO + 1  # label 1 is not the task's positive class
    scorer = make_scorer(lift, response_method="predict_proba")
    ours, theirs = both(scorer, LinearDiscriminantAnalysis().fit(X, y), y)
    assert theirs > 0
    assert ours == pytest.approx(theirs, rel=1e-12)


def max_error(y_true: Any, y_pred: Any) -> float:
    return -float(np.abs(y_true - y_pred).max())


def test_a_namesake_of_a_function_of_scikit_learn_is_not_mistaken_for_it() -> None:
    metric = metric_from_scorer(make_scorer(max_error))
    assert metric is not None
    assert (metric.name, metric.greater_is_better, metric.range) == ("max_error", True, (-np.inf, np.inf))
    theirs = metric_from_scorer(get_scorer("neg_max_error"))
    assert theirs is not None
    assert (theirs.name, theirs.greater_is_better, theirs.range) == ("neg_max_error", True, (-np.inf, 0.0))


@pytest.mark.parametrize(
    "scorer",
    [
        make_scorer(skm.fbeta_score, beta="2"),
        make_scorer(skm.mean_pinball_loss, alpha="half", **LOSS),
        make_scorer(skm.roc_auc_score, max_fpr="few", **PROBA),
    ],
)
def test_a_text_in_place_of_a_number_is_left_to_the_function(scorer: Any) -> None:
    metric = metric_from_scorer(scorer)
    assert isinstance(metric.metric if isinstance(metric, Signed) else metric, CustomMetric)


def test_a_scorer_that_maximises_a_loss_is_followed_with_a_warning() -> None:
    with pytest.warns(HeldoutWarning, match="maximises 'mean_squared_error'.*greater_is_better=False"):
        metric = metric_from_scorer(make_scorer(skm.mean_squared_error))
    assert metric is not None
    assert metric.greater_is_better
    truth = truth_of(NUMBERS, TaskKind.REGRESSION)
    predictions = np.column_stack([NUMBERS, NUMBERS + 1])
    values = metric.statistic(truth, predictions).all(np.ones((1, N), np.uint8))
    np.testing.assert_allclose(values, [[0.0, 1.0]], atol=1e-12)


def own_scores() -> list[tuple[Any, Metric]]:
    piped = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())
    return [
        *((model, R2()) for model in (LinearRegression(), DummyRegressor())),
        *((model, Accuracy()) for model in (LinearDiscriminantAnalysis(), KNeighborsClassifier(), piped)),
    ]


def test_an_estimator_s_own_score_is_accuracy_or_r2() -> None:
    for model, metric in own_scores():
        assert metric_from_scorer(check_scoring(model)) == metric


def test_the_own_score_of_catboost_is_accuracy_or_r2() -> None:
    catboost = pytest.importorskip("catboost")
    assert metric_from_scorer(check_scoring(catboost.CatBoostRegressor())) == R2()
    assert metric_from_scorer(check_scoring(catboost.CatBoostClassifier())) == Accuracy()


@pytest.mark.parametrize(
    ("scorer", "tasks"),
    [
        (get_scorer("neg_mean_absolute_percentage_error"), {TaskKind.REGRESSION}),
        (get_scorer("neg_mean_poisson_deviance"), {TaskKind.REGRESSION}),
        (get_scorer("explained_variance"), {TaskKind.REGRESSION}),
        (make_scorer(skm.d2_pinball_score, alpha=0.3), {TaskKind.REGRESSION}),
        (get_scorer("jaccard"), {TaskKind.BINARY, TaskKind.MULTICLASS}),
        (make_scorer(skm.f1_score, labels=[0, 1], average="macro"), {TaskKind.BINARY, TaskKind.MULTICLASS}),
        (make_scorer(rmse_over_mean), set(TaskKind) - {TaskKind.SURVIVAL, TaskKind.OTHER}),  # nobody knows
    ],
    ids=lambda value: "-".join(sorted(map(str, value))) if isinstance(value, set) else repr(value),
)
def test_functions_of_numbers_are_for_regressions_only(scorer: Any, tasks: set[TaskKind]) -> None:
    # A target of whole numbers would else be read as labels, and predictions of 2.5 refused.
    metric = metric_from_scorer(scorer)
    assert metric is not None
    assert metric.tasks == tasks


@pytest.mark.parametrize(
    ("scorer", "codes"),
    [
        (get_scorer("jaccard"), [1]),
        (make_scorer(skm.jaccard_score, pos_label=0), [0]),
        (make_scorer(skm.f1_score, pos_label=0, zero_division=1), [0]),
        (get_scorer("jaccard_macro"), [0, 1]),
        (get_scorer("jaccard_micro"), []),
        (make_scorer(skm.average_precision_score, average="micro", response_method="predict_proba"), [1]),
        (make_scorer(skm.cohen_kappa_score), [0, 1]),
        (make_scorer(skm.log_loss, normalize=False, response_method="predict_proba"), []),
        (make_scorer(skm.roc_auc_score, max_fpr=0.5, response_method="predict_proba"), [0, 1]),
    ],
    ids=repr,
)
def test_a_function_that_is_called_needs_the_classes_that_its_kernel_would(scorer: Any, codes: list[int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeldoutWarning)  # a log loss that is maximised
        metric = metric_from_scorer(scorer)
    assert metric is not None
    assert needed_codes(metric, truth_of(TWO)) == codes


def test_a_log_loss_with_given_classes_has_a_score_in_every_fold() -> None:
    for labels, undefined_without in ((None, Needs.EVERY_CLASS), ([0, 1, 2], Needs.ROW)):
        scorer = make_scorer(
            skm.log_loss, normalize=False, labels=labels, greater_is_better=False, response_method="predict_proba"
        )
        metric = metric_from_scorer(scorer)
        assert metric is not None
        assert metric.undefined_without is undefined_without


def test_arguments_may_be_lists_and_arrays() -> None:
    for labels in ([0, 1], np.array([0, 1])):
        metric = metric_from_scorer(make_scorer(skm.f1_score, labels=labels, average="macro"))
        assert metric is not None
        assert metric == metric
        assert {metric: 1}[metric] == 1
    weights = metric_from_scorer(make_scorer(skm.r2_score, multioutput=np.array([0.5, 0.5])))
    assert isinstance(weights, CustomMetric)


@pytest.mark.parametrize(
    ("scoring", "name"),
    [(None, "accuracy"), ("roc_auc", "roc_auc"), (skm.get_scorer("neg_log_loss"), "neg_log_loss")],
)
def test_the_score_of_a_search_is_that_of_its_scorer_or_of_its_model(scoring: Any, name: str) -> None:
    search = GridSearchCV(LinearDiscriminantAnalysis(), {}, scoring=scoring)
    for model in (search, make_pipeline(StandardScaler(), search)):
        metric = metric_from_scorer(check_scoring(model))
        assert metric is not None and metric.name == name
    several = ho.HeldOutSearchCV(
        [("a", LinearDiscriminantAnalysis(), {}), ("b", GaussianNB(), {})], scoring=scoring
    )
    metric = metric_from_scorer(check_scoring(several))
    assert metric is not None and metric.name == name


def test_what_cannot_be_opened_is_none() -> None:
    class Counter(LinearDiscriminantAnalysis):
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            return 1.0

    assert metric_from_scorer(check_scoring(Counter())) is None
    assert metric_from_scorer(check_scoring(PoissonRegressor())) is None  # its score is a deviance explained
    assert metric_from_scorer(lambda estimator, X, y: 0.0) is None
    assert metric_from_scorer(GridSearchCV(LinearDiscriminantAnalysis(), {}).score) is None
    for scoring in (["accuracy", "r2"], lambda model, X, y: 0.5):
        assert (
            metric_from_scorer(check_scoring(GridSearchCV(LinearDiscriminantAnalysis(), {}, scoring=scoring)))
            is None
        )


@pytest.mark.parametrize("scoring", [Accuracy, {"a": Accuracy, "b": "roc_auc"}, [Accuracy, "roc_auc"]])
def test_a_class_of_metrics_is_no_metric(scoring: Any) -> None:
    search = ho.HeldOutSearchCV(GaussianNB(), {}, scoring=scoring, refit=isinstance(scoring, type))
    with pytest.raises(InputError, match=r"metric must be a name or a metric object, got .*Accuracy"):
        search.fit(X, TWO)


def test_a_metric_of_a_plain_class_has_the_name_of_the_class() -> None:
    class Hits(Metric):
        pass

    assert Hits().name == "Hits"
    with pytest.raises(NotImplementedError, match="Hits declares no 'range'"):
        _ = Hits().range
