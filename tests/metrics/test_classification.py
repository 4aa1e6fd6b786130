"""Hand-worked values and degenerate cases of metrics on labels and probabilities."""

import math
from typing import Any

import numpy as np
import pytest

from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.metrics.base import Metric
from heldout.metrics.classification import (
    Accuracy,
    BalancedAccuracy,
    Brier,
    FScore,
    LogLoss,
    MatthewsCorrelation,
    Precision,
    Recall,
    ZeroOneLoss,
)

Y = [0, 0, 0, 1, 1]
"""Predicted 0 1 1 1 0: TN 1, FP 2, TP 1, FN 1."""
PREDICTED = [0, 1, 1, 1, 0]


def value(metric: Metric, y: Any, predicted: Any, counts: Any = None, **how: Any) -> float:
    truth = truth_of(y, **how)
    column = np.asarray(predicted)[:, None]
    weights = np.ones((1, len(y)), dtype=np.uint8) if counts is None else np.array([counts])
    if weights.dtype.kind == "i":
        weights = weights.astype(np.uint8)
    bound = metric.statistic(truth, column)
    found = bound.all(weights)
    np.testing.assert_array_equal(bound.selected(weights, np.array([0])), found[:, 0])
    return float(found[0, 0])


@pytest.mark.parametrize(
    ("metric", "by_hand"),
    [
        (Accuracy(), 2 / 5),
        (ZeroOneLoss(), 3 / 5),
        (BalancedAccuracy(), (1 / 3 + 1 / 2) / 2),
        (Precision(), 1 / 3),
        (Recall(), 1 / 2),
        (FScore(), 2 / 5),  # 2·1 / (2·1 + 2 + 1)
        (FScore(beta=2.0), 5 / 11),  # 5·1 / (5·1 + 2 + 4·1)
        (FScore("macro"), (2 / 5 + 2 / 5) / 2),  # class 0: 2·1 / (2·1 + 1 + 2)
        (Precision("macro"), (1 / 2 + 1 / 3) / 2),
        (Recall("weighted"), (3 * (1 / 3) + 2 * (1 / 2)) / 5),
        (FScore("micro"), 2 / 5),
        (MatthewsCorrelation(), (1 * 1 - 2 * 1) / math.sqrt(3 * 2 * 2 * 3)),
    ],
    ids=lambda p: p.name if isinstance(p, Metric) else "",
)
def test_values_worked_by_hand(metric: Metric, by_hand: float) -> None:
    assert value(metric, Y, PREDICTED) == pytest.approx(by_hand, abs=1e-15)


def test_matthews_of_three_classes_worked_by_hand() -> None:
    # Confusion [[2, 0, 0], [0, 1, 1], [1, 0, 1]]: c = 4, s = 6, t = (2, 2, 2), p = (3, 1, 2).
    by_hand = (4 * 6 - (6 + 2 + 4)) / math.sqrt((36 - (9 + 1 + 4)) * (36 - 12))
    found = value(MatthewsCorrelation(), [0, 0, 1, 1, 2, 2], [0, 0, 1, 2, 0, 2])
    assert found == pytest.approx(by_hand, abs=1e-15)


def test_log_loss_and_brier_worked_by_hand() -> None:
    given = [0.25, 0.5]
    assert value(LogLoss(), [0, 1], given) == pytest.approx(-(math.log(0.75) + math.log(0.5)) / 2)
    assert value(Brier(), [0, 1], given) == pytest.approx((0.25**2 + 0.5**2) / 2)
    assert value(Brier(scale_by_half=False), [0, 1], given) == pytest.approx(0.25**2 + 0.5**2)


def test_log_loss_and_brier_of_three_classes_worked_by_hand() -> None:
    given = [[0.5, 0.25, 0.25], [0.125, 0.125, 0.75], [0.0, 0.5, 0.5]]
    y = [0, 2, 1]
    log_loss = -(math.log(0.5) + math.log(0.75) + math.log(0.5)) / 3
    assert value(LogLoss(), y, given) == pytest.approx(log_loss)
    brier = ((0.25 + 2 * 0.0625) + (2 * 0.015625 + 0.0625) + (0.25 + 0.25)) / 3
    assert value(Brier(), y, given) == pytest.approx(brier)
    assert value(Brier(scale_by_half=True), y, given) == pytest.approx(brier / 2)


def test_log_loss_clips_at_the_eps_of_float64_and_never_renormalises() -> None:
    eps = np.finfo(np.float64).eps
    assert value(LogLoss(), [0, 1], [1.0, 0.0]) == pytest.approx(-math.log(eps))
    assert value(LogLoss(), [0, 1], [0.0, 1.0]) == pytest.approx(-math.log(1 - eps), rel=1e-9, abs=0)
    short = [[0.25, 0.25, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]]
    assert value(LogLoss(), [0, 1, 2], short) == pytest.approx(-(math.log(0.25) + 2 * math.log(0.5)) / 3)


@pytest.mark.parametrize("metric", [LogLoss(), Brier()], ids=lambda m: m.name)
def test_decision_values_are_not_read_as_probabilities(metric: Metric) -> None:
    with pytest.raises(InputError, match=r"needs probabilities from 0 to 1, got values from -1\.5 to 2"):
        value(metric, [0, 1], [-1.5, 2.0])


def test_degenerate_cases_are_finite_where_scikit_learn_returns_a_number() -> None:
    only_negatives = [2, 1, 0, 0, 0]
    assert value(FScore(), [0, 0, 0, 1, 1], [0, 0, 0, 0, 0]) == 0
    assert value(FScore(), Y, [0] * 5, only_negatives) == 0  # 0 / 0
    assert value(Precision(), Y, [0] * 5) == 0
    assert value(Recall(), Y, PREDICTED, only_negatives) == 0
    assert value(MatthewsCorrelation(), Y, [1] * 5) == 0
    assert value(MatthewsCorrelation(), Y, PREDICTED, only_negatives) == 0
    # Balanced accuracy over the classes that are present: of two 0s and one 0 one draw of the first is right.
    assert value(BalancedAccuracy(), Y, PREDICTED, only_negatives) == pytest.approx(2 / 3)


def test_a_constant_predictor_is_0_under_real_weights_too() -> None:
    # Sums of real weights round; a hit counted as "all less misses" would leave 1e-17 of a hit and MCC 1e-8.
    weights = np.random.default_rng(0).gamma(1.0, size=(50, 5))
    truth = truth_of(Y)
    for metric in (MatthewsCorrelation(), Precision(), FScore()):
        bound = metric.statistic(truth, np.zeros((5, 1), dtype=np.int32))
        np.testing.assert_array_equal(bound.all(weights), 0)


def test_macro_f1_is_over_the_labels_that_occur_in_the_truth_or_in_the_column() -> None:
    truth = truth_of(["a", "a", "b", "b"], classes=["a", "b", "c"])
    columns = np.array([[0, 0], [0, 2], [1, 1], [1, 1]], dtype=np.int32)
    bound = FScore("macro").statistic(truth, columns)
    np.testing.assert_allclose(bound.all(np.ones((1, 4), np.uint8)), [[1.0, (2 / 3 + 1 + 0) / 3]])


def test_a_metric_with_a_pos_label_of_its_own_finds_that_class() -> None:
    metric = FScore(pos_label="ill")
    y, predicted = ["ill", "well", "well"], [0, 0, 1]
    assert value(metric, y, predicted) == pytest.approx(2 / 3)
    assert value(metric, y, predicted, pos_label="ill") == pytest.approx(2 / 3)
    assert value(FScore(), y, predicted) == pytest.approx(2 / 3)  # well: TP 1, FP 0, FN 1
    assert value(Recall(), y, predicted) == pytest.approx(1 / 2)
    assert value(Recall(pos_label="ill"), y, predicted) == 1


def test_a_pos_label_that_the_target_lacks_is_refused() -> None:
    with pytest.raises(InputError, match=r"`pos_label=1`, but the classes are 'ill', 'well'"):
        FScore(pos_label=1).for_truth(truth_of(["ill", "well"]))


def test_brier_s_range_depends_on_the_task() -> None:
    assert Brier().for_truth(truth_of([0, 1])).range == (0.0, 1.0)
    assert Brier().for_truth(truth_of([0, 1, 2])).range == (0.0, 2.0)


def test_accuracy_is_exactly_0_and_1_at_its_ends() -> None:
    y = [0, 1] * 24 + [1]  # 49 rows: 49 · (1/49) is not 1 in floating point
    assert value(Accuracy(), y, y) == 1.0
    assert value(Accuracy(), y, [1 - label for label in y]) == 0.0
