"""ROC, calibration, confusion and residuals, against scikit-learn and by hand."""

import numpy as np
import pytest
from sklearn.metrics import auc, confusion_matrix, roc_auc_score
from sklearn.metrics import roc_curve as sklearn_roc_curve

from heldout.data.task import truth_of
from heldout.kernels.reference_curves import roc_points
from heldout.metrics.base import Response
from heldout.predictions import HeldOutPredictions
from heldout.report.diagnostics import (
    MOST_CLASS_CURVES,
    MOST_CURVE_POINTS,
    MOST_SCATTER_POINTS,
    PredictedRows,
    diagnose,
    wilson,
)
from heldout.report.entries import Facts


def held(response: Response, array: np.ndarray, **rest: object) -> HeldOutPredictions:
    names = tuple(f"c{j}" for j in range(array.shape[1]))
    return HeldOutPredictions({response: array}, names, **rest)  # type: ignore[arg-type]


def found(diagnostics: Facts | None) -> Facts:
    assert diagnostics is not None
    return diagnostics


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
    (curve,) = found(diagnose(PredictedRows(truth, held(Response.DECISION, scores), 0))).roc
    assert len(curve.x) <= MOST_CURVE_POINTS
    assert (curve.x[0], curve.y[0], curve.x[-1], curve.y[-1]) == (0, 0, 1, 1)
    assert curve.area == pytest.approx(roc_auc_score(truth.values, scores[:, 0, 0]), abs=1e-12)
    assert auc(curve.x, curve.y) == pytest.approx(curve.area, abs=2e-3)


def test_binary_curves_one_a_repeat_of_the_rows_predicted() -> None:
    truth = truth_of(["a", "b", "a", "b"])
    scores = np.array([[0.1, 0.9], [0.8, 0.2], [np.nan, 0.8], [0.9, 0.1]])[:, None, :]
    first, second = found(diagnose(PredictedRows(truth, held(Response.DECISION, scores), 0))).roc
    assert (first.area, second.area) == (1.0, 0.0)


def test_wilson_against_the_published_example() -> None:
    # Newcombe (1998), Statistics in Medicine 17, table I: 81 of 263 gives .2553 to .3662.
    low, high = wilson(81 / 263, 263)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)


def test_calibration_groups_partition_the_rows_and_keep_ties_together() -> None:
    truth = truth_of(np.tile([0, 1], 100))
    share = np.repeat([0.2, 0.8], 100)[:, None, None]
    calibration = found(diagnose(PredictedRows(truth, held(Response.PROBABILITIES, share), 0))).calibration
    assert calibration is not None
    assert [(group.predicted, group.observed, group.rows) for group in calibration.groups] == [
        (pytest.approx(0.2), 0.5, 100), (pytest.approx(0.8), 0.5, 100)
    ]  # fmt: skip
    assert sum(calibration.histogram) == 200


def test_calibration_intervals_count_a_row_once_however_often_repeated() -> None:
    rng = np.random.default_rng(2)
    truth = truth_of(rng.integers(0, 2, 200))
    share = rng.random((200, 1, 1))
    once = found(diagnose(PredictedRows(truth, held(Response.PROBABILITIES, share), 0))).calibration
    often = found(
        diagnose(PredictedRows(truth, held(Response.PROBABILITIES, np.repeat(share, 5, axis=2)), 0))
    ).calibration
    assert once is not None and often is not None
    for mine, theirs in zip(once.groups, often.groups, strict=True):
        assert (mine.low, mine.high) == (pytest.approx(theirs.low), pytest.approx(theirs.high))
    assert once.histogram == often.histogram


def test_confusion_is_scikit_learns_and_a_mean_over_repeats() -> None:
    rng = np.random.default_rng(3)
    truth = truth_of(rng.choice(["x", "y", "z"], 90))
    labels = rng.integers(0, 3, (90, 1, 2)).astype(np.int32)
    confusion = found(diagnose(PredictedRows(truth, held(Response.LABELS, labels), 0))).confusion
    assert confusion is not None
    theirs = sum(confusion_matrix(truth.values, labels[:, 0, r]) for r in range(2)) / 2
    np.testing.assert_array_equal(confusion.counts, theirs)
    assert confusion.classes == ("x", "y", "z")


def test_confusion_from_probabilities_cuts_strictly_above_one_half() -> None:
    truth = truth_of([0, 1, 1])
    share = np.array([0.4, 0.5, 0.6])[:, None, None]
    confusion = found(diagnose(PredictedRows(truth, held(Response.PROBABILITIES, share), 0))).confusion
    assert confusion is not None
    assert confusion.counts == ((1, 0), (1, 1))


def test_many_classes_give_the_worst_curves_and_no_matrix() -> None:
    rng = np.random.default_rng(4)
    truth = truth_of(np.arange(250) % 25, "multiclass")
    share = rng.dirichlet(np.ones(25), size=250)[:, None, None, :]
    diagnostics = found(diagnose(PredictedRows(truth, held(Response.PROBABILITIES, share), 0)))
    areas = [roc_auc_score(truth.values == code, share[:, 0, 0, code]) for code in range(25)]
    assert diagnostics.confusion is None
    assert [curve.area for curve in diagnostics.roc] == pytest.approx(sorted(areas)[:MOST_CLASS_CURVES])


def test_residuals_by_hand() -> None:
    truth = truth_of([1.5, 2.0, 3.0, 4.5], "regression")
    values = np.array([1.0, 2.0, 4.0, np.nan])[:, None, None]
    residuals = found(diagnose(PredictedRows(truth, held(Response.VALUES, values), 0))).residuals
    assert residuals is not None
    assert residuals.truth == (1.5, 2.0, 3.0)
    assert residuals.medians == ((2.0, 0.0),)
    assert (residuals.half, residuals.most) == (0.5, pytest.approx(0.95))


def test_a_scatter_of_many_rows_is_a_fixed_sample_and_its_summary_is_of_all() -> None:
    rng = np.random.default_rng(5)
    truth = truth_of(rng.normal(size=5000), "regression")
    values = rng.normal(size=(5000, 1, 1))
    first, second = (found(diagnose(PredictedRows(truth, held(Response.VALUES, values), 0))) for _ in range(2))
    assert first == second
    assert first.drawn == MOST_SCATTER_POINTS
    assert first.residuals is not None
    assert first.residuals.half == np.median(np.abs(truth.values - values[:, 0, 0]))


def test_nothing_is_drawn_of_what_was_not_predicted() -> None:
    truth = truth_of([0, 1, 0, 1])
    assert diagnose(PredictedRows(truth, held(Response.PROBABILITIES, np.full((4, 1, 1), np.nan)), 0)) is None
