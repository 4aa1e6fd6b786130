"""Hand-worked and degenerate values of Nagelkerke's R²."""

from typing import Any

import numpy as np
import pytest

from heldout.data.task import truth_of
from heldout.metrics import NagelkerkeR2


def value(y: Any, given: Any, counts: Any = None, *, recalibrated: bool = True) -> float:
    weights = np.ones((1, len(y)), np.uint8) if counts is None else np.array([counts])
    bound = NagelkerkeR2(recalibrated).statistic(truth_of(y, classes=[0, 1]), np.asarray(given)[:, None])
    both = bound.all(weights)[0, 0], bound.selected(weights, np.zeros(1, dtype=np.intp))[0]
    np.testing.assert_array_equal(*both)
    return float(both[0])


def test_by_hand() -> None:
    # Shares of 1/4 and 3/4 in two groups of four: a log-likelihood of 2 log(1/4) + 6 log(3/4).
    y, gained = [1, 0, 0, 0, 1, 1, 1, 0], np.exp(2 * (8 * np.log(0.5) - 2 * np.log(0.25) - 6 * np.log(0.75)) / 8)
    assert value(y, [0.4] * 4 + [0.6] * 4) == pytest.approx((1 - gained) / (1 - 0.25), abs=1e-12)
    told = [0.25] * 4 + [0.75] * 4
    assert value(y, told, recalibrated=False) == pytest.approx((1 - gained) / (1 - 0.25), abs=1e-12)
    assert value(y, [0.5] * 8, recalibrated=False) == pytest.approx(0.0, abs=1e-15)
    assert value(y, [1 - p for p in told], recalibrated=False) < -1
    assert value(y, [1 - p for p in told]) == pytest.approx(value(y, told), abs=1e-12)  # its sign goes unseen


def test_separated_classes() -> None:
    assert value([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4]) == 1.0
    assert value([1, 1, 0, 0], [0.1, 0.2, 0.3, 0.4]) == 1.0
    # In doubt between two rows at .2, one of each: log(1/4) is left of 5 rows.
    left, none = 2 * np.log(0.5), 2 * np.log(0.4) + 3 * np.log(0.6)
    expected = (1 - np.exp(2 * (none - left) / 5)) / (1 - np.exp(2 * none / 5))
    assert value([0, 0, 1, 1, 1], [0.1, 0.2, 0.2, 0.3, 0.4]) == pytest.approx(expected, abs=1e-12)
    steep = value([0, 0, 1, 1, 1], 1 / (1 + np.exp(-np.array([-30, 0, 0, 30, 30]))), recalibrated=False)
    assert steep == pytest.approx(expected, abs=1e-10)


def test_where_there_is_nothing_to_gain() -> None:
    assert value([0, 1, 1], [0.4, 0.4, 0.4]) == 0.0
    assert np.isnan(value([1, 1, 1], [0.1, 0.2, 0.3]))
    assert np.isnan(value([0, 1, 1], [0.1, 0.2, 0.3], [0.0, 1.0, 2.0]))
    assert np.isnan(value([0, 1, 1], [0.1, 0.2, 0.3], [0.0, 0.0, 0.0]))


def test_scale_of_weights_means_nothing() -> None:
    y, given, w = [0, 1, 1, 0, 1], [0.1, 0.6, 0.3, 0.5, 0.9], np.array([0.3, 1.2, 0.7, 2.0, 0.4])
    for how in (True, False):
        assert value(y, given, 100 * w, recalibrated=how) == pytest.approx(value(y, given, w, recalibrated=how))
