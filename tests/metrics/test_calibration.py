"""What a metric of calibration, which may have no direction, can be asked for in an estimate."""

import numpy as np
import pytest

import heldout as ho
from heldout.errors import InputError

RNG = np.random.default_rng(1)
TARGET = RNG.integers(0, 2, 150)
GIVEN = 1 / (1 + np.exp(-2 * (TARGET[:, None] - 0.5 + RNG.normal(size=(150, 3)))))
FAST = {"n_bootstraps": 100, "random_state": 0}


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("calibration_slope", r"from 1 \('calibration_slope_error'\)"),
        ("calibration_intercept(given_slope=False)", r"0 \('calibration_intercept_error\(given_slope=False\)'\)"),
    ],
)
def test_a_metric_without_a_direction_chooses_none(name: str, instead: str) -> None:
    with pytest.raises(InputError, match=f"cannot select among 3 configurations.*{instead}"):
        ho.estimate(TARGET, GIVEN, metric=name, **FAST)


def test_a_metric_without_a_direction_describes_one_configuration_and_its_distance_chooses() -> None:
    slopes = [ho.estimate(TARGET, GIVEN[:, [j]], metric="calibration_slope", **FAST) for j in range(3)]
    for found in slopes:
        assert found.interval.low < found.uncorrected < found.interval.high
    chosen = ho.estimate(TARGET, GIVEN, metric="calibration_slope_error", **FAST)
    assert chosen.selected == np.argmin([abs(found.uncorrected - 1) for found in slopes])


def test_where_every_configuration_separates_the_classes_no_row_is_called_missing() -> None:
    y, given = [0, 1, 0, 1], np.array([[0.1, 0.3], [0.8, 0.6], [0.2, 0.2], [0.9, 0.7]])
    with pytest.raises(InputError, match=r"\(calibration_slope_error gives a number for none of them\)"):
        ho.estimate(y, given, metric="calibration_slope_error")
