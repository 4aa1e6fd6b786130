"""Names, and what is said of a name or a metric that will not do."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, get_scorer, get_scorer_names, make_scorer

import heldout.metrics as metrics
from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.metrics.base import Metric, Signed
from heldout.metrics.classification import Accuracy, Brier, CohenKappa, FScore
from heldout.metrics.named import _SHORT, DECLARED, METRICS, all_names, check_fits, metric_named
from heldout.metrics.ranking import SensitivityAtSpecificity
from heldout.metrics.regression import PinballLoss


def test_the_public_names() -> None:
    assert set(metrics.__all__) == {type(metric).__name__ for metric in DECLARED} | {
        "Bounded", "Metric", "Needs", "Response", "all_names", "check_fits", "custom", "metric_named", "scorer",
    }  # fmt: skip


def test_every_declaration_is_a_metric_with_a_name_of_its_own() -> None:
    assert all(isinstance(metric, Metric) for metric in DECLARED)
    assert len({metric.name for metric in DECLARED}) == len(DECLARED)
    assert all(METRICS[metric.name] is metric for metric in DECLARED)
    with pytest.raises(TypeError):
        METRICS["mine"] = Accuracy()  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "canonical", "greater"),
    [
        ("accuracy_score", "accuracy", True),
        ("roc_auc_score", "roc_auc", True),
        ("brier_score_loss", "brier_score", False),
        ("neg_brier_score", "neg_brier_score", True),
        ("neg_log_loss", "neg_log_loss", True),
        ("neg_root_mean_squared_error", "neg_root_mean_squared_error", True),
        ("r2_score", "r2", True),
    ],
)
def test_names_of_scorers_and_of_functions(name: str, canonical: str, greater: bool) -> None:
    metric = metric_named(name)
    assert (metric.name, metric.greater_is_better) == (canonical, greater)


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("f2", FScore(beta=2.0)),
        ("f0.5_macro", FScore("macro", beta=0.5)),
        ("fbeta_score(beta=2, average='macro')", FScore("macro", beta=2)),
        ("f1(pos_label='ill')", FScore(pos_label="ill")),
        ("sensitivity_at_specificity(specificity=0.8)", SensitivityAtSpecificity(0.8)),
        ("mean_pinball_loss(alpha=0.9)", PinballLoss(0.9)),
        ("neg_mean_pinball_loss(alpha=0.9)", Signed(PinballLoss(0.9), -1)),
        ("accuracy()", Accuracy()),
        ("cohen_kappa_score(weights='linear')", CohenKappa("linear")),
    ],
)
def test_a_name_may_say_its_parameters(name: str, metric: Metric) -> None:
    assert metric_named(name) == metric
    assert metric_named(metric.name) == (metric if "ill" not in name else FScore())


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("fbeta_score", r"needs its beta: write 'f2' or 'fbeta_score\(beta=2\)', or pass ho\.metrics\.FScore"),
        ("fbeta_score(beta=-1)", "beta must be a finite number of at least 0, got -1"),
        ("accuracy(normalize=False)", "'accuracy' has no parameter 'normalize'; it takes no parameters"),
        ("neg_mean_pinball_loss(sign=1)", "'neg_mean_pinball_loss' has no parameter 'sign'; it has alpha"),
        ("roc_auc(responses='x')", "has no parameter 'responses'"),
        ("f1(average='mean')", "average must be one of 'binary', 'macro', 'micro', 'weighted', got 'mean'"),
        ("roc_auc_ovr(average='mean')", "average must be one of 'macro', 'weighted'"),
        ("roc_auc_ovo(average='mean')", "average must be one of 'macro', 'weighted'"),
        ("brier_score(scale_by_half='yes')", "scale_by_half must be one of True, False, 'auto', got 'yes'"),
        ("mean_pinball_loss(0.9)", "must be a known name"),
        ("mean_pinball_loss(alpha=open('x'))", "must be a known name"),
        ("mean_pinball_loss(alpha=0.9", "must be a known name"),
        ("nonsense(alpha=0.9)", "must be a known name"),
        ("mean_pinball_loss(alpha=0.1, alpha=0.9)", "must be a known name"),
        ("mean_pinball_loss(**{'alpha': 0.9})", "must be a known name"),
        ("mean_pinball_loss(alpha=" + "-" * 20_000 + "1)", "must be a known name"),
        ("mean_pinball_loss(alpha={[1]: 2})", "must be a known name"),
        ("fbeta_score()", "must be a known name"),
        ("calibration_intercept(given_slope='no')", "given_slope must be one of True, False, got 'no'"),
        ("calibration_intercept_error(given_slope=0)", "given_slope must be one of True, False, got 0"),
        ("integrated_brier_score(times='soon')", "times must be at least two ascending finite numbers, got 'soon'"),
        ("integrated_brier_score(times=[1, 'b'])", "times must be at least two ascending finite numbers"),
        ("integrated_brier_score(times=[[1, 2], [3]])", "times must be at least two ascending finite numbers"),
        ("integrated_brier_score(times={1: 2})", "times must be at least two ascending finite numbers"),
    ],
    ids=lambda text: text[:60],
)
def test_parameters_that_will_not_do_have_their_sentence(name: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        metric_named(name)


def test_a_neg_name_is_the_negative_of_the_loss() -> None:
    truth, given = truth_of([0, 1]), np.array([[0.25], [0.5]])
    once = np.ones((1, 2), dtype=np.uint8)
    loss = metric_named("log_loss").statistic(truth, given).all(once)
    np.testing.assert_array_equal(metric_named("neg_log_loss").statistic(truth, given).all(once), -loss)
    perfect = metric_named("neg_brier_score").statistic(truth, np.array([[0.0], [1.0]])).all(once)
    assert not np.signbit(perfect).any()


def test_every_scorer_name_of_scikit_learn_is_known() -> None:
    for name in get_scorer_names():
        assert metric_named(name).greater_is_better, name
    assert {"neg_log_loss", "roc_auc", "r2", "f1_macro"} <= set(all_names())


def test_a_metric_and_a_scorer_may_stand_for_a_name() -> None:
    metric = Accuracy()
    assert metric_named(metric) is metric
    assert metric_named(get_scorer("accuracy")) == metric
    assert metric_named(make_scorer(accuracy_score, greater_is_better=False)).name == "neg_accuracy"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("roc_acu", r"got 'roc_acu'; the nearest are roc_auc"),
        ("rmse", r"got 'rmse'; the nearest is root_mean_squared_error\."),
        ("neg_MAE", r"got 'neg_MAE'; the nearest is mean_absolute_error\."),
        ("xyzzy", r"got 'xyzzy'; .* and ho\.metrics\.all_names\(\) list them"),
        (accuracy_score, r"got the function 'accuracy_score'.*ho\.metrics\.custom\("),
        (Accuracy, r"ho\.metrics\.custom"),
        (3, "must be a name such as 'roc_auc'"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_what_is_no_metric_has_its_sentence(wrong: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        metric_named(wrong)


def test_a_metric_that_does_not_fit_is_refused_with_those_that_do() -> None:
    three = truth_of(["a", "b", "c"])
    with pytest.raises(
        InputError, match=r"'roc_auc' does not fit a multiclass target \(3 classes\); .*roc_auc_ovr"
    ):
        check_fits(metric_named("roc_auc"), three)
    with pytest.raises(InputError, match=r"'accuracy' does not fit a regression target; .*, r2, root_mean"):
        check_fits(metric_named("accuracy"), truth_of([0.5, 1.5]))
    with pytest.raises(InputError, match=r"'neg_mean_squared_error' does not fit a binary target"):
        check_fits(metric_named("neg_mean_squared_error"), truth_of([0, 1]))


def test_a_metric_that_fits_comes_back_as_it_is_on_the_target() -> None:
    metric = metric_named("accuracy")
    assert check_fits(metric, truth_of([0, 1])) is metric
    assert check_fits(Brier(), truth_of([0, 1])).range == (0.0, 1.0)
    assert check_fits(metric_named("neg_brier_score"), truth_of([0, 1, 2])).range == (-2.0, 0.0)


def test_what_is_meant_by_a_short_name_is_a_metric():
    for name in _SHORT.values():
        assert metric_named(name).name == name
