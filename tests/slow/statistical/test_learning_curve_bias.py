"""What wmc, wmcs and ipl leave of the optimism of choosing, where the truth is known exactly.

papers/pages/learning-curves.md has the table of 200 repetitions. Every bound is four standard errors and the
allowance beside it: a test that holds fails by chance in less than 1 of 10 000 seeds.
"""

import pytest
from learning_curve_simulation import SETTINGS, mean_biases

NOISE, WEAK, STRONG, NOISE_NESTED, SIGNAL, MORE_ROWS = SETTINGS


def assert_order_of_optimism(setting, repetitions):
    """All four are optimistic on noise, and correct more or less of it in this order."""
    (uncorrected, wmc, wmcs, ipl), errors, _ = mean_biases(setting, repetitions)
    assert uncorrected > 4 * errors[0]
    assert 0.5 * uncorrected < wmc + 4 * errors[1] and wmc < uncorrected
    assert wmcs < 0.6 * uncorrected + 4 * errors[2] and wmcs < wmc
    assert ipl > 0.6 * uncorrected - 4 * errors[3]  # it hardly corrects: that is what its flag says


def test_where_the_winner_is_clear_all_are_near_the_truth():
    means, errors, _ = mean_biases(STRONG, 15)
    assert (abs(means) < 0.02 + 4 * errors).all()


@pytest.mark.parametrize("setting", [NOISE, WEAK, NOISE_NESTED], ids=["noise", "weak", "nested"])
def test_wherever_little_can_be_learned(setting):
    assert_order_of_optimism(setting, 150)


@pytest.mark.parametrize(("setting", "allowance"), [(SIGNAL, 0.08), (MORE_ROWS, 0.03)], ids=["60", "200"])
def test_where_there_is_a_signal(setting, allowance):
    means, errors, _ = mean_biases(setting, 150)
    assert (abs(means) < allowance + 4 * errors).all()
