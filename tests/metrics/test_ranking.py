"""Hand-worked areas, ties, and the peers' defects that concern rankings."""

from typing import Any

import numpy as np
import pytest
import sklearn.metrics as skm
from sklearn.exceptions import UndefinedMetricWarning

from heldout.data.task import truth_of
from heldout.metrics.base import Metric
from heldout.metrics.ranking import AveragePrecision, RocAuc, RocAucOneVsOne, RocAucOneVsRest

ONCE = np.ones((1, 4), dtype=np.uint8)


def values(metric: Metric, y: Any, predicted: Any, counts: Any = ONCE, **how: Any) -> np.ndarray:
    return metric.statistic(truth_of(y, **how), np.asarray(predicted, dtype=float)).all(counts)


def test_the_area_is_the_share_of_pairs_in_the_right_order_ties_half() -> None:
    # Positive .4 and .8 against negative .1 and .4: right, tie, right, right.
    assert values(RocAuc(), [0, 0, 1, 1], [[0.1], [0.4], [0.4], [0.8]]) == 3.5 / 4


def test_a_constant_predictor_has_area_one_half_under_any_draw() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 9, size=(30, 4)).astype(np.uint8)
    constant = np.full((4, 1), 0.3)
    np.testing.assert_array_equal(values(RocAuc(), [0, 1, 0, 1], constant, counts), 0.5)
    three = np.full((4, 1, 3), 1 / 3)
    for metric in (RocAucOneVsRest(), RocAucOneVsOne(), RocAucOneVsRest("weighted")):
        np.testing.assert_allclose(values(metric, [0, 1, 2, 1], three, counts), 0.5, rtol=1e-15)


def test_near_ties_differ_in_float64() -> None:
    # In float32 all four scores are equal and the area would be .5.
    scores = 1e3 + np.array([[0.0], [1e-9], [2e-9], [3e-9]])
    assert values(RocAuc(), [0, 0, 1, 1], scores) == 1.0


def test_one_class_alone_is_nan_and_labels_other_than_0_and_1_are_not() -> None:
    scores = [[0.1], [0.4], [0.4], [0.8]]
    only_negatives = np.array([[1, 1, 0, 0]], dtype=np.uint8)
    assert np.isnan(values(RocAuc(), [0, 0, 1, 1], scores, only_negatives)).all()
    for labels in ("nnpp", [1, 1, 2, 2], [-1, -1, 1, 1], [False, False, True, True]):
        assert values(RocAuc(), list(labels), scores) == 0.875


def test_the_other_positive_class_turns_the_scores() -> None:
    scores = np.array([[0.1], [0.4], [0.4], [0.8]])
    assert values(RocAuc(), [0, 0, 1, 1], -scores, pos_label=0) == 0.875


def test_one_vs_rest_and_one_vs_one_worked_by_hand() -> None:
    y = [0, 1, 2, 2]
    given = np.array([[0.6, 0.3, 0.1], [0.5, 0.2, 0.3], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
    # Against the rest: class 0 3/3; class 1 (.2 against .3 .5 .1) 1/3; class 2 (.3 .8 against .1 .3) 3.5/4.
    assert values(RocAucOneVsRest(), y, given[:, None]) == pytest.approx((1 + 1 / 3 + 0.875) / 3)
    assert values(RocAucOneVsRest("weighted"), y, given[:, None]) == pytest.approx((1 * 1 + 1 / 3 + 2 * 0.875) / 4)
    # Pairs: 0|1 1 and 1|0 0; 0|2 1 and 2|0 1; 1|2 (.2 against .5 .1) 1/2 and 2|1 (.3 .8 against .3) 3/4.
    pairs = [(1 + 0) / 2, (1 + 1) / 2, (1 / 2 + 3 / 4) / 2]
    assert values(RocAucOneVsOne(), y, given[:, None]) == pytest.approx(np.mean(pairs))
    assert values(RocAucOneVsOne("weighted"), y, given[:, None]) == pytest.approx(
        np.average(pairs, weights=[2, 3, 3])
    )


def test_a_class_without_weight_leaves_the_weighted_mean_and_spoils_the_plain_one() -> None:
    # As in scikit-learn, which sets the score of a part of weight 0 to 0.
    y = np.array([0, 1, 2, 2, 0, 1])
    rng = np.random.default_rng(1)
    given = rng.dirichlet(np.ones(3), size=6)
    counts = np.array([[1, 1, 0, 0, 2, 1]], dtype=np.uint8)
    with pytest.warns(UndefinedMetricWarning):
        theirs = skm.roc_auc_score(
            y, given, multi_class="ovr", average="weighted", sample_weight=counts[0].astype(float)
        )
    assert values(RocAucOneVsRest("weighted"), y, given[:, None], counts) == pytest.approx(theirs)
    assert np.isnan(values(RocAucOneVsRest(), y, given[:, None], counts)).all()
    assert np.isnan(values(RocAucOneVsOne("weighted"), y, given[:, None], counts)).all()


def test_average_precision_worked_by_hand() -> None:
    # Descending: .8 (positive: precision 1, recall 1/2), .4 (negative), .35 (positive: precision 2/3).
    scores = [[0.1], [0.4], [0.35], [0.8]]
    assert values(AveragePrecision(), [0, 0, 1, 1], scores) == pytest.approx(1 / 2 + (1 / 2) * (2 / 3))
    # Tied rows enter together, whatever their order.
    assert values(AveragePrecision(), [0, 1, 0, 1], np.zeros((4, 1))) == 0.5


def test_average_precision_without_positive_rows_is_0_as_in_scikit_learn() -> None:
    only_negatives = np.array([[1, 1, 0, 0]], dtype=np.uint8)
    bound = AveragePrecision().statistic(truth_of([0, 0, 1, 1]), np.array([[0.1], [0.4], [0.4], [0.8]]))
    np.testing.assert_array_equal(bound.all(only_negatives), [[0.0]])
    np.testing.assert_array_equal(bound.selected(only_negatives, np.array([0])), [0.0])
    assert np.isnan(bound.all(np.zeros((1, 4), dtype=np.uint8))).all()


def test_average_precision_with_a_pos_label_of_its_own_turns_the_scores() -> None:
    y, scores = np.array([1, 2, 1, 2, 1]), np.array([0.1, 0.4, 0.35, 0.8, 0.4])
    found = values(AveragePrecision(pos_label=1), y, scores[:, None], np.ones((1, 5), np.uint8))
    assert found == pytest.approx(skm.average_precision_score(y, -scores, pos_label=1))
    # Where the task's positive class is that class already, nothing turns.
    same = values(AveragePrecision(pos_label=1), y, -scores[:, None], np.ones((1, 5), np.uint8), pos_label=1)
    np.testing.assert_array_equal(same, found)
