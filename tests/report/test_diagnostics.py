"""Curves and tables of predictions and of thresholds, against scikit-learn and by hand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import (
    auc,
    average_precision_score,
    confusion_matrix,
    f1_score,
    precision_recall_curve,
    roc_auc_score,
)
from sklearn.metrics import roc_curve as sklearn_roc_curve
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.data.task import Truth, truth_of
from heldout.errors import InputError
from heldout.estimates.inputs import read_inputs
from heldout.kernels.reference_curves import precision_recall_points, roc_points
from heldout.metrics.base import Response
from heldout.predictions import HeldOutPredictions
from heldout.report.diagnostics import (
    MOST_CLASS_CURVES,
    MOST_CURVE_POINTS,
    MOST_PRECISION_POINTS,
    MOST_SCATTER_POINTS,
    PROBABILITIES,
    PredictedRows,
    class_curves,
    diagnose,
    thinned_curve,
    threshold_table,
    wilson,
)
from heldout.report.displays.curves import DecisionCurveDisplay
from heldout.report.displays.threshold import ThresholdChoiceDisplay
from heldout.report.entries import Facts
from heldout.result import Evaluation


def held(response: Response, array: np.ndarray, **rest: object) -> HeldOutPredictions:
    names = tuple(f"c{j}" for j in range(array.shape[1]))
    return HeldOutPredictions({response: array}, names, **rest)  # type: ignore[arg-type]


def diagnosed(truth: Truth, response: Response, array: np.ndarray) -> Facts:
    return diagnose(PredictedRows(truth, held(response, array), 0))


@pytest.mark.parametrize("decimals", [1, 8])
def test_roc_curve_is_scikit_learns(decimals: int) -> None:
    rng = np.random.default_rng(0)
    positive = rng.random(300) < 0.3
    scores = (rng.normal(size=300) + positive).round(decimals)
    weights = rng.random(300)
    x, y, area = roc_points(positive, scores, weights)
    theirs = sklearn_roc_curve(positive, scores, sample_weight=weights, drop_intermediate=False)
    np.testing.assert_allclose(x, theirs[0], atol=1e-12)
    np.testing.assert_allclose(y, theirs[1], atol=1e-12)
    assert area == pytest.approx(roc_auc_score(positive, scores, sample_weight=weights), abs=1e-12)


def test_thinned_curve_keeps_its_corners_and_its_whole_area() -> None:
    rng = np.random.default_rng(1)
    truth = truth_of(rng.integers(0, 2, 5000))
    scores = rng.normal(size=(5000, 1, 1)) + truth.values[:, None, None]
    (curve,) = diagnosed(truth, Response.DECISION, scores).roc
    assert len(curve.x) <= MOST_CURVE_POINTS
    assert (curve.x[0], curve.y[0], curve.x[-1], curve.y[-1]) == (0, 0, 1, 1)
    assert curve.area == pytest.approx(roc_auc_score(truth.values, scores[:, 0, 0]), abs=1e-12)
    assert auc(curve.x, curve.y) == pytest.approx(curve.area, abs=2e-3)


def test_binary_curves_one_a_repeat_of_the_rows_predicted() -> None:
    truth = truth_of(["a", "b", "a", "b"])
    scores = np.array([[0.1, 0.9], [0.8, 0.2], [np.nan, 0.8], [0.9, 0.1]])[:, None, :]
    first, second = diagnosed(truth, Response.DECISION, scores).roc
    assert (first.area, second.area) == (1.0, 0.0)


def test_wilson_against_the_published_example() -> None:
    # Newcombe (1998), Statistics in Medicine 17, table I: 81 of 263 gives .2553 to .3662.
    low, high = wilson(81 / 263, 263)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)


def test_calibration_groups_partition_the_rows_and_keep_ties_together() -> None:
    truth = truth_of(np.tile([0, 1], 100))
    share = np.repeat([0.2, 0.8], 100)[:, None, None]
    calibration = diagnosed(truth, Response.PROBABILITIES, share).calibration
    assert [(group.predicted, group.observed, group.rows) for group in calibration.groups] == [
        (pytest.approx(0.2), 0.5, 100), (pytest.approx(0.8), 0.5, 100)
    ]  # fmt: skip
    assert sum(calibration.histogram) == 200


def test_calibration_intervals_count_a_row_once_however_often_repeated() -> None:
    rng = np.random.default_rng(2)
    truth = truth_of(rng.integers(0, 2, 200))
    share = rng.random((200, 1, 1))
    once = diagnosed(truth, Response.PROBABILITIES, share).calibration
    often = diagnosed(truth, Response.PROBABILITIES, np.repeat(share, 5, axis=2)).calibration
    for mine, theirs in zip(once.groups, often.groups, strict=True):
        assert (mine.low, mine.high) == (pytest.approx(theirs.low), pytest.approx(theirs.high))
    assert once.histogram == often.histogram


def test_confusion_is_scikit_learns_and_a_mean_over_repeats() -> None:
    rng = np.random.default_rng(3)
    truth = truth_of(rng.choice(["x", "y", "z"], 90))
    labels = rng.integers(0, 3, (90, 1, 2)).astype(np.int32)
    confusion = diagnosed(truth, Response.LABELS, labels).confusion
    theirs = sum(confusion_matrix(truth.values, labels[:, 0, r]) for r in range(2)) / 2
    np.testing.assert_array_equal(confusion.counts, theirs)
    assert confusion.classes == ("x", "y", "z")


def test_confusion_from_probabilities_cuts_strictly_above_one_half() -> None:
    truth = truth_of([0, 1, 1])
    share = np.array([0.4, 0.5, 0.6])[:, None, None]
    confusion = diagnosed(truth, Response.PROBABILITIES, share).confusion
    assert confusion.counts == ((1, 0), (1, 1))


def test_many_classes_give_the_worst_curves_and_no_matrix() -> None:
    rng = np.random.default_rng(4)
    truth = truth_of(np.arange(250) % 25, "multiclass")
    share = rng.dirichlet(np.ones(25), size=250)[:, None, None, :]
    diagnostics = diagnosed(truth, Response.PROBABILITIES, share)
    areas = [roc_auc_score(truth.values == code, share[:, 0, 0, code]) for code in range(25)]
    assert diagnostics.confusion is None
    assert [curve.area for curve in diagnostics.roc] == pytest.approx(sorted(areas)[:MOST_CLASS_CURVES])


def test_residuals_by_hand() -> None:
    truth = truth_of([1.5, 2.0, 3.0, 4.5], "regression")
    values = np.array([1.0, 2.0, 4.0, np.nan])[:, None, None]
    residuals = diagnosed(truth, Response.VALUES, values).residuals
    assert residuals.truth == (1.5, 2.0, 3.0)
    assert residuals.medians == ((2.0, 0.0),)
    assert (residuals.half, residuals.most) == (0.5, pytest.approx(0.95))


def test_a_scatter_of_many_rows_is_a_fixed_sample_and_its_summary_is_of_all() -> None:
    rng = np.random.default_rng(5)
    truth = truth_of(rng.normal(size=5000), "regression")
    values = rng.normal(size=(5000, 1, 1))
    first, second = (diagnosed(truth, Response.VALUES, values) for _ in range(2))
    assert first == second
    assert first.drawn == MOST_SCATTER_POINTS
    assert first.residuals.half == np.median(np.abs(truth.values - values[:, 0, 0]))


def test_nothing_is_drawn_of_what_was_not_predicted() -> None:
    truth = truth_of([0, 1, 0, 1])
    assert diagnose(PredictedRows(truth, held(Response.PROBABILITIES, np.full((4, 1, 1), np.nan)), 0)) is None


def table_of(positive: Any, scores: Any, response: Response, weights: Any = None) -> Facts | None:
    held = HeldOutPredictions({response: np.asarray(scores)[:, None, None]}, ("c0",))
    return threshold_table(PredictedRows(truth_of(np.asarray(positive).astype(int)), held, 0, weights))


def thresholds(positive: Any, scores: Any, response: Response = Response.PROBABILITIES) -> dict[float, Facts]:
    table = table_of(positive, scores, response)
    assert table is not None and table.of_probabilities == (response is Response.PROBABILITIES)
    return {row.threshold: row for row in table.rows}


def test_a_class_alone_has_no_thresholds() -> None:
    positive = np.array([1, 1, 0, 0])
    assert table_of(positive, np.arange(4.0) / 4, Response.PROBABILITIES, positive.astype(float)) is None


def test_long_curves_keep_both_ends_and_short_ones_all_points() -> None:
    share = tuple(np.linspace(0, 1, 5000).tolist())
    curve = Facts(name="", repeat=0, x=share, y=share[::-1], area=0.5, prevalence=0.5)
    found = thinned_curve(curve)
    assert len(found.x) <= MOST_PRECISION_POINTS
    assert (found.x[0], found.x[-1], found.y[-1]) == (0.0, 1.0, 0.0)
    short = Facts(name="", repeat=0, x=(0.0, 0.5, 1.0), y=(1.0, 1.0, 0.5), area=0.5, prevalence=0.5)
    assert thinned_curve(short) == short


def test_a_threshold_by_hand() -> None:
    positive = np.array([True, True, False, False, False])
    rows = thresholds(positive, [0.9, 0.45, 0.55, 0.5, np.nan])
    assert tuple(rows) == PROBABILITIES
    names = ("flagged", "recall", "specificity", "precision", "negative_predictive_value", "f1")
    assert [rows[0.5][name] for name in names] == [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    assert [rows[0.95][name] for name in names] == [0.0, 0.0, 1.0, None, 0.5, 0.0]
    assert rows[0.05].negative_predictive_value is None


def test_at_one_half_the_table_says_what_predict_does() -> None:
    X, y = make_classification(80, 3, n_informative=2, n_redundant=0, flip_y=0.3, random_state=0)
    model = KNeighborsClassifier(2).fit(X, y)
    shares = model.predict_proba(X)[:, 1]
    assert (shares == 0.5).any()
    assert thresholds(y == 1, shares)[0.5].flagged == model.predict(X).mean()


def test_thresholds_of_decision_values_leave_round_shares_above() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=1000)
    rows = thresholds(rng.random(1000) < 0.5, scores, Response.DECISION)
    at_zero = rows[0.0]  # as the models themselves call them
    assert at_zero.flagged == (scores > 0).mean()
    shares = [round(row.flagged, 2) for row in rows.values() if row is not at_zero]
    assert shares == [0.95, *(tenth / 10 for tenth in range(9, 0, -1)), 0.05]


Make = Callable[..., Evaluation]


def rows_of(evaluation: Evaluation) -> PredictedRows:
    return PredictedRows(evaluation.task.truth, evaluation.predictions, 0)


@pytest.mark.parametrize("weighted", [False, True])
def test_precision_and_recall_are_scikit_learns(make_evaluation: Make, weighted: bool) -> None:
    evaluation = make_evaluation()
    truth, predictions = evaluation.task.truth, evaluation.predictions
    weights = np.random.default_rng(0).integers(0, 4, truth.n_rows).astype(float) if weighted else None
    (found,) = class_curves(PredictedRows(truth, predictions, 2, weights), precision_recall_points)
    y = truth.values == truth.positive
    scores = predictions.responses[Response.PROBABILITIES][:, 2, 0]
    precision, recall, _ = precision_recall_curve(y, scores, sample_weight=weights, drop_intermediate=False)
    shown = dict(zip(found.x[1:], found.y[1:], strict=True))
    theirs = dict(zip(recall[:-1][::-1], precision[:-1][::-1], strict=True))
    assert found.area == pytest.approx(average_precision_score(y, scores, sample_weight=weights))
    assert sorted(shown) == pytest.approx(sorted(theirs))
    assert found.x[0] == 0 and found.x[-1] == 1
    assert found.prevalence == pytest.approx(np.average(y, weights=weights))


def test_a_curve_for_each_repeat_or_class(make_evaluation: Make) -> None:
    twice = make_evaluation(repeats=2)
    curves = class_curves(rows_of(twice), precision_recall_points)
    assert [curve.repeat for curve in curves] == [0, 1]
    several = make_evaluation("multiclass", ("accuracy",), classes=("a", "b", "c"))
    curves = class_curves(rows_of(several), precision_recall_points)
    assert [curve.name for curve in curves] == ["a", "b", "c"]
    numbers = make_evaluation("regression", ("r2",))
    assert class_curves(rows_of(numbers), precision_recall_points) == ()
    with pytest.raises(InputError, match=r"^DecisionCurveDisplay is for binary tasks, and this one is multiclass"):
        DecisionCurveDisplay.from_search(several)


def test_net_benefit_by_hand(make_evaluation: Make) -> None:
    evaluation = make_evaluation(repeats=2)
    truth, predictions = evaluation.task.truth, evaluation.predictions
    display = DecisionCurveDisplay.from_search(evaluation, configuration=3)
    (line,) = display.lines
    assert line.x[::49] == pytest.approx((0.01, 0.5, 0.99))
    y = truth.values == truth.positive
    for place, threshold in enumerate(line.x):
        acted = predictions.responses[Response.PROBABILITIES][:, 3] >= threshold
        odds = threshold / (1 - threshold)
        each = [((acted[:, r] & y).sum() - odds * (acted[:, r] & ~y).sum()) / len(y) for r in range(2)]
        assert line.y[place] == pytest.approx(np.mean(each))
        assert display.act_on_all[place] == pytest.approx(y.mean() - (1 - y.mean()) * odds)


def test_the_choice_of_a_threshold_is_that_of_the_estimate() -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(120) < 0.3).astype(int)
    scores = rng.normal(size=(120, 2)) + 1.5 * y[:, None]
    settings = {"metric": "f1", "selection": "threshold", "n_bootstraps": 100, "random_state": 3}
    estimate = ho.estimate(y, scores, method="bbc", **settings)  # type: ignore[arg-type]
    found = ThresholdChoiceDisplay.of_inputs(read_inputs(y, scores, **settings), "bbc")  # type: ignore[arg-type]
    assert found.estimate.value == estimate.value and found.threshold == estimate.provenance["threshold"]
    own = scores[:, estimate.selected]
    theirs = [f1_score(y, own > threshold, zero_division=0) for threshold in found.thresholds]
    assert found.scores == pytest.approx(theirs)
    assert (
        found.scores.max()
        == estimate.uncorrected
        == pytest.approx(found.scores[found.thresholds == found.threshold][0])
    )
    assert (found.low <= found.scores + 1e-12).all() and len(found.chosen) == 100
    assert np.isin(found.chosen[found.chose_winner], found.thresholds).all()
    assert found.response is Response.DECISION
    with pytest.raises(InputError, match="selection must tune a threshold, got 'best'"):
        ThresholdChoiceDisplay.of_inputs(read_inputs(y, scores > 0.5, metric="f1"))
