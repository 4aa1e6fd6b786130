"""Intervals of an area: DeLong's placements and variance, Hanley and McNeil's formula, areas without a bound."""

import numpy as np
import pytest

import heldout as ho
from heldout.estimates import DeLong, HanleyMcNeil
from heldout.estimates.intervals import standard_error_of_area

DELONG = DeLong(evaluation_share=1.0)
HANLEY_MCNEIL = HanleyMcNeil(evaluation_share=1.0)


def by_pairs(scores: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every pair of a positive and a negative row: 1 in order, ½ tied."""
    pairs = np.sign(scores[positive][:, None] - scores[~positive][None, :]) / 2 + 0.5
    return pairs.mean(axis=1), pairs.mean(axis=0)


def test_delongs_interval_by_definition():
    """Worked by hand: positives 2, 4, 5 and negatives 1, 2, 3.

    V10 = (1.5, 3, 3)/3, V01 = (3, 2.5, 2)/3, A = 5/6, and
    SE² = var(V10)/3 + var(V01)/3 = (1/12)/3 + (1/36)/3 = 1/27.
    """
    y, scores = np.repeat([1, 0], 3), np.array([2.0, 4.0, 5.0, 1.0, 2.0, 3.0])
    found = ho.estimate(y, scores[:, None], metric="roc_auc", method=DELONG, confidence_level=0.9)
    assert found.value == pytest.approx(5 / 6) and found.standard_error == pytest.approx(27**-0.5)
    assert list(found.interval) == pytest.approx([5 / 6 - 1.6448536269514722 * 27**-0.5, 1.0])  # cut at 1
    low, high = ho.estimate(
        y, scores[:, None], metric="roc_auc", method=DELONG, confidence_level=0.6, alternative="less"
    ).interval
    assert low == 0 and high == pytest.approx(5 / 6 + 0.2533471031357997 * 27**-0.5)
    assert "3 rows of class" in found.flags["small_second_part"]


def test_repeats_are_averaged_by_row():
    rng = np.random.default_rng(1)
    y = np.resize([0, 1], 80)
    scores = rng.normal(y[:, None, None] * 1.0, size=(80, 1, 3))
    found = ho.estimate(y, scores, metric="roc_auc", method=DELONG)
    v10, v01 = np.mean([by_pairs(scores[:, 0, r], y == 1) for r in range(3)], axis=0)
    assert found.value == pytest.approx(v10.mean(), abs=1e-12)
    assert found.standard_error == pytest.approx(np.sqrt(v10.var(ddof=1) / 40 + v01.var(ddof=1) / 40), abs=1e-12)
    again = ho.estimate(y, np.repeat(scores[:, :, :1], 3, axis=2), metric="roc_auc", method=DELONG)
    once = ho.estimate(y, scores[:, :, 0], metric="roc_auc", method=DELONG)
    assert again.standard_error == pytest.approx(once.standard_error, abs=1e-12)  # never n = N R


def test_the_class_that_scores_point_to_is_the_positive_one():
    rng = np.random.default_rng(2)
    y = np.resize(["ill", "well"], 60)
    scores = rng.normal((y == "ill") * 1.0)[:, None]
    found = ho.estimate(y, scores, metric="roc_auc", method=DELONG, pos_label="ill", response="decision")
    mirrored = ho.estimate(y, -scores, metric="roc_auc", method=DELONG, response="decision")
    assert found.value > 0.6 and list(found.interval) == pytest.approx(list(mirrored.interval))


@pytest.mark.parametrize(
    "scores", [[0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 1, 1]], ids=["perfect", "reversed", "constant"]
)
def test_delong_has_no_bound_without_variance(scores):
    column = np.repeat(scores, 6).astype(float)[:, None] * 3.5 - 1  # decisions
    with pytest.warns(ho.HeldoutWarning, match="DeLong's variance is 0"):
        found = ho.estimate(np.repeat([0, 0, 1, 1], 6), column, metric="roc_auc", method=DELONG)
    assert np.isnan(list(found.interval)).all() and found.standard_error is None
    assert found.value in (0.0, 0.5, 1.0)


def test_areas_of_two_classes_by_any_name():
    rng = np.random.default_rng(2)
    y = np.resize([0, 1], 60)
    scores = rng.random((60, 1))
    intervals = {
        metric: tuple(ho.estimate(y, scores, metric=metric, method=DELONG).interval)
        for metric in ("roc_auc", "roc_auc_score", "roc_auc_ovr", "roc_auc_ovo")
    }
    assert len(set(intervals.values())) == 1


def test_counts_are_of_classes_in_the_second_part():
    """The R code published with Paraschakis et al. (2024) takes rows predicted right and wrong, of all N rows.

    With 90 negatives and 30 positives a second part of a third holds 30 and 10.
    """
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [90, 30])
    scores = rng.normal(y[:, None] * 1.5, size=(120, 8))
    found = ho.estimate(y, scores, metric="roc_auc", method=HanleyMcNeil(evaluation_share=1 / 3), random_state=0)
    expected = standard_error_of_area(found.value, 10, 30)
    assert found.standard_error == pytest.approx(expected, abs=1e-14)
    for wrong in (standard_error_of_area(found.value, 30, 10), standard_error_of_area(found.value, 30, 90)):
        assert abs(expected - wrong) > 1e-3
    low, high = found.interval
    assert low == pytest.approx(found.value - 1.959963984540054 * expected) and high <= 1


@pytest.mark.parametrize("area", [0.0, 1.0])
def test_hanley_and_mcneil_have_no_bound_without_variance(area):
    y = np.repeat([0, 1], 8)
    scores = (y if area else 1 - y)[:, None] * 2.5 - 1
    with pytest.warns(ho.HeldoutWarning, match="has no variance by Hanley and McNeil's formula"):
        found = ho.estimate(y, scores, metric="roc_auc", method=HANLEY_MCNEIL)
    assert found.value == area and np.isnan(list(found.interval)).all()


def test_a_constant_predictor_has_a_bound_of_hanley_and_mcneil():
    y = np.repeat([0, 1], 30)
    found = ho.estimate(y, np.full((60, 1), 0.5), metric="roc_auc", method=HANLEY_MCNEIL)
    half = 1.959963984540054 * (61 / (12 * 900)) ** 0.5
    assert list(found.interval) == pytest.approx([0.5 - half, 0.5 + half])
