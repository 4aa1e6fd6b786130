"""The length of blocks: by hand, against the package ``arch``, and what users may pass."""

import numpy as np
import pytest

import heldout as ho
from heldout.estimates.ordered_rows import automatic_length
from heldout.estimates.question import Blocks, blocks_of


def series(n, rho):
    """Autoregressive, of numbers that are the same on every machine."""
    steps = np.arange(1, n + 1)
    noise = (steps * (np.sqrt(5) - 1) / 2) % 1 + (steps**2 * np.sqrt(2)) % 1 - 1
    values = np.zeros(n)
    for t in range(n):
        values[t] = (rho * values[t - 1] if t else 0) + noise[t]
    return values


def test_by_hand():
    """Four times 1 and four times -1: R(0) = 1, R(1) = 5/8, R(2) = 2/8, and no lag is clear among 8 rows.

    So M = 2 with weights 1 and 0, G = 2 · 5/8 and g = 1 + 2 · 5/8, and the length is (2 · 1.25² · 8 / D)^(1/3).
    """
    values = np.repeat([1.0, -1.0], 4)

    assert automatic_length(values, "stationary") == pytest.approx((25 / (2 * 2.25**2)) ** (1 / 3), rel=1e-12)
    assert automatic_length(values, "moving") == pytest.approx((25 / (4 / 3 * 2.25**2)) ** (1 / 3), rel=1e-12)


@pytest.mark.parametrize(
    ("n", "rho", "stationary", "moving"),
    [
        (50, 0.0, 3.1365903384, 3.5904996335),
        (50, 0.5, 2.0335018855, 2.3277785706),
        (50, 0.9, 4.9573293243, 5.6747254826),
        (200, 0.0, 27.9234976427, 31.9644254536),
        (200, 0.5, 5.5531548952, 6.3567754997),
        (200, 0.9, 12.0758914093, 13.8234448877),
        (1000, 0.0, 42.3171114717, 48.4410002054),
        (1000, 0.5, 8.2833211239, 9.4820356662),
        (1000, 0.9, 31.0076553423, 35.4949046986),
    ],
)
def test_as_the_package_arch_has_it(n, rho, stationary, moving):
    """``arch.bootstrap.optimal_block_length`` of version 8.0."""
    values = series(n, rho)

    assert automatic_length(values, "stationary") == pytest.approx(stationary, rel=1e-6)
    assert automatic_length(values, "moving") == pytest.approx(moving, rel=1e-6)


def test_shift_and_scale_change_nothing():
    values = series(200, 0.6)

    assert automatic_length(7 - 3 * values) == pytest.approx(automatic_length(values), rel=1e-9)


def test_a_stretch_stands_for_more_rows():
    values = series(200, 0.5)

    assert automatic_length(values, n_rows=1600) == pytest.approx(2 * automatic_length(values), rel=1e-12)


def test_it_is_at_most_three_roots_and_a_third_of_the_rows():
    wave = np.sin(np.arange(200) / 5)

    assert automatic_length(wave) == 43  # 3 √200 = 42.4
    assert automatic_length(wave[:30]) <= 10


def test_rows_without_spread_have_blocks_of_one():
    assert automatic_length(np.full(50, 0.1)) == 1


@pytest.mark.parametrize(
    ("value", "blocks"),
    [
        (None, None),
        ("auto", Blocks()),
        (7, Blocks(7)),
        (np.int64(7), Blocks(7)),
        ("7", Blocks(7)),
        ("stationary:auto", Blocks(kind="stationary")),
        ("moving:12", Blocks(12)),
        (Blocks(3, "stationary"), Blocks(3, "stationary")),
    ],
)
def test_what_users_pass(value, blocks):
    assert blocks_of(value) == blocks
    assert blocks is None or blocks_of(str(blocks)) == blocks


@pytest.mark.parametrize("value", [0, -3, True, 2.5, "", "moving", "moving:0", "long:3", "moving:-1", [3]])
def test_what_they_may_not(value):
    with pytest.raises(ho.errors.InputError, match=r"block|length") as caught:
        blocks_of(value)

    assert caught.value.argument == "block_length"


@pytest.mark.parametrize("arguments", [(0,), ("long",), (True,), (3, "circular")])
def test_blocks_refuse_what_they_cannot_be(arguments):
    with pytest.raises(ho.errors.InputError, match=r"blocks must be|kind must be"):
        ho.estimates.Blocks(*arguments)


@pytest.mark.parametrize(
    "values", [[], [1.0], [[1.0, 2.0]], [1.0, np.nan, 2.0], [1.0, np.inf], ["a", "b"], 3.0, None]
)
def test_values_without_an_order_or_a_number(values):
    with pytest.raises(ho.errors.InputError, match="at least 2 finite numbers"):
        ho.estimates.automatic_length(values)


def test_an_unknown_kind():
    with pytest.raises(ho.errors.InputError, match="one of moving, stationary, got 'circular'"):
        ho.estimates.automatic_length([1.0, 2.0, 1.5], "circular")
