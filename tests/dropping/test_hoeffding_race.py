"""The Hoeffding race by hand, what n is, and what it refuses."""

import math

import numpy as np
import pytest
from standings import standing_of

import heldout as ho
from heldout.dropping import HoeffdingRace
from heldout.dropping.base import Course
from heldout.dropping.hoeffding_race import weights_of_units
from heldout.metrics import metric_named
from heldout.metrics.aggregate import aggregate_score
from heldout.metrics.row_losses import effective_size, half_width


def wrong_on(y: np.ndarray, *n_wrong: int) -> np.ndarray:
    """A column for each number of rows that it gets wrong, the first ones."""
    return np.column_stack([np.where(np.arange(len(y)) < n, 1 - y, y) for n in n_wrong])


def test_by_hand():
    """n = 200, 20 started, 9 looks, δ = .05: h = √(ln(2·180/.05)/400) = √(8.881836/400) = .149012, so that who is
    more than .298 behind, or 59.6 rows, leaves."""
    y = np.resize([0, 1], 200)
    standing = standing_of(y, wrong_on(y, 10, 69, 70), n_started=20, n_barriers=9)
    found = HoeffdingRace(delta=0.05).judge(standing)
    assert found.keep.tolist() == [True, True, False]
    assert found.statistic[1:] == pytest.approx([0.295 / 0.298024, 0.3 / 0.298024], rel=1e-5)
    assert np.isnan(found.statistic[0])


def test_losses_and_the_width_of_their_range():
    """A Brier score of three classes ranges from 0 to 2: h is twice as wide."""
    rng = np.random.default_rng(0)
    y = np.resize([0, 1, 2], 300)
    good = np.eye(3)[y] * 0.9 + 0.1 / 3
    probabilities = np.stack([good, rng.dirichlet(np.ones(3), 300)], axis=1)
    standing = standing_of(y, np.zeros((300, 2), dtype=int))
    once = np.zeros((300, 1), dtype=np.int32)
    score = aggregate_score(metric_named("brier_score"), standing.truth, probabilities[:, :, None], once)
    replay = type(standing.replay)(**{**vars(standing.replay), "scores": (score,)})
    found = HoeffdingRace().judge(type(standing)(**{**vars(standing), "replay": replay}))
    losses = score.observed()
    half = 2 * math.sqrt(math.log(2 * 2 * 9 / 0.05) / 600)
    assert found.statistic[1] == pytest.approx((losses[1] - losses[0]) / (2 * half))


@pytest.mark.parametrize(
    ("weights", "groups", "n"),
    [
        (None, None, 60),
        (np.resize([1.0, 3.0], 60), None, 120**2 / (30 * 1 + 30 * 9)),
        (None, np.arange(60) // 3, 20),
        (None, np.repeat([0, 1], [20, 40]), 60**2 / (20**2 + 40**2)),
        (np.repeat([1.0, 0.5], [20, 40]), np.repeat([0, 1], [20, 40]), 2),
    ],
    ids=["rows", "weights", "equal_groups", "groups", "weighted_groups"],
)
def test_n_is_what_the_inequality_makes_it(weights, groups, n):
    y = np.resize([0, 1], 60)
    standing = standing_of(y, wrong_on(y, 5, 9), sample_weight=weights, groups=groups)
    units = weights_of_units(standing.score, standing.unit_of_row)
    assert effective_size(units) == pytest.approx(n)
    half = half_width(n, 0.05, 2 * 9, 2)
    scores = standing.score.observed()
    assert HoeffdingRace().judge(standing).statistic[1] == pytest.approx((scores[0] - scores[1]) / (2 * half))


def test_rows_of_a_second_repeat_are_no_new_rows():
    """Rows of both repeats weigh 1/60 + 1/20 (halved: 1/30 each of the score), the others 1/60."""
    y = np.resize([0, 1], 60)
    twice = np.repeat(wrong_on(y, 5, 9)[:, :, None].astype(float), 2, axis=2)
    whole = standing_of(y, twice)
    assert effective_size(weights_of_units(whole.score, whole.unit_of_row)) == pytest.approx(60)
    twice[20:, :, 1] = np.nan
    part = standing_of(y, twice)
    squares = 20 * (1 / 60 + 1 / 20) ** 2 + 40 * (1 / 60) ** 2
    assert effective_size(weights_of_units(part.score, part.unit_of_row)) == pytest.approx(4 / squares)


@pytest.mark.parametrize(
    ("metric", "says"),
    [
        ("roc_auc", "it bounds means of one loss per row, such as accuracy, and roc_auc is not one"),
        ("f1", "it bounds means of one loss per row, such as accuracy, and f1 is not one"),
        ("log_loss", "it needs losses within a range, and log_loss ranges from 0 to inf"),
        ("mean_squared_error", "it needs losses within a range, and mean_squared_error ranges from 0 to inf"),
    ],
)
def test_what_it_is_not_for(metric, says):
    assert HoeffdingRace().unfit(metric_named(metric), Course(10, 10)) == says


@pytest.mark.parametrize("metric", ["accuracy", "zero_one_loss", "brier_score", "neg_brier_score"])
def test_what_it_is_for_with_groups_and_weights_too(metric):
    assert HoeffdingRace().unfit(metric_named(metric), Course(10, 10, True, True)) is None


@pytest.mark.parametrize("delta", [0.0, 1.0, 1, None], ids=str)
def test_delta_is_a_share(delta):
    with pytest.raises(ho.InputError, match="delta must lie between 0 and 1"):
        HoeffdingRace(delta=delta)
