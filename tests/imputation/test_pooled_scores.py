"""Scores pooled by Rubin's rules: worked out by hand on each scale."""

import json
from math import exp, log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

from heldout.errors import HeldoutWarning, InputError
from heldout.protocols.pooled_performance import pool_scores


def by_hand(values: list[float], variances: list[float], n_rows: int) -> tuple[float, float, float]:
    """The mean, and the ends of the 95 % interval, on the scale."""
    H, mean = len(values), sum(values) / len(values)
    W = sum(variances) / H
    V = sum((value - mean) ** 2 for value in values) / (H - 1)
    T = W + (1 + 1 / H) * V
    share = (1 + 1 / H) * V / T
    complete = n_rows - 1
    old, observed = (H - 1) / share**2, (complete + 1) / (complete + 3) * complete * (1 - share)
    df = 1 / (1 / old + 1 / observed)
    reach = student.ppf(0.975, df) * sqrt(T)
    return mean, mean - reach, mean + reach


SCORES, ERRORS = [0.80, 0.82, 0.77, 0.79], [0.04, 0.05, 0.03, 0.04]


def test_an_area_is_pooled_as_its_logit() -> None:
    found = pool_scores(SCORES, ERRORS, metric="roc_auc", n_rows=90)
    on_scale = by_hand(
        [log(x / (1 - x)) for x in SCORES],
        [(e / (x * (1 - x))) ** 2 for x, e in zip(SCORES, ERRORS, strict=True)],
        90,
    )
    expected = [1 / (1 + exp(-x)) for x in on_scale]
    assert [found.value, found.low, found.high] == pytest.approx(expected, rel=1e-12)
    assert found.scale == "logit" and "pooled over 4 imputations" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["scores"] == SCORES


def test_a_correlation_is_pooled_as_twice_fishers_z() -> None:
    found = pool_scores(SCORES, ERRORS, metric="somers_d", n_rows=90)
    on_scale = by_hand(
        [np.arctanh(x) for x in SCORES], [(e / (1 - x**2)) ** 2 for x, e in zip(SCORES, ERRORS, strict=True)], 90
    )
    assert [found.value, found.low, found.high] == pytest.approx(np.tanh(on_scale), rel=1e-12)


@pytest.mark.parametrize(("metric", "sign"), [("log_loss", 1), ("neg_log_loss", -1), ("mean_squared_error", 1)])
def test_a_loss_is_pooled_as_its_logarithm(metric: str, sign: int) -> None:
    found = pool_scores([sign * x for x in SCORES], ERRORS, metric=metric, n_rows=90)
    on_scale = by_hand([log(x) for x in SCORES], [(e / x) ** 2 for x, e in zip(SCORES, ERRORS, strict=True)], 90)
    value, *ends = (sign * exp(x) for x in on_scale)
    assert found.value == pytest.approx(value) and [found.low, found.high] == pytest.approx(sorted(ends))
    assert found.scale == "log"


def test_r2_is_pooled_as_the_share_that_is_left() -> None:
    found = pool_scores(SCORES, ERRORS, metric="r2", n_rows=90)
    left = by_hand(
        [log(1 - x) for x in SCORES], [(e / (1 - x)) ** 2 for x, e in zip(SCORES, ERRORS, strict=True)], 90
    )
    assert [found.value, found.high, found.low] == pytest.approx([1 - exp(x) for x in left])


def test_a_slope_is_pooled_as_it_is() -> None:
    found = pool_scores(SCORES, ERRORS, metric="calibration_slope", n_rows=90)
    assert [found.value, found.low, found.high] == pytest.approx(by_hand(SCORES, [e**2 for e in ERRORS], 90))
    assert found.scale == "identity"


def test_equal_scores_leave_the_variance_within() -> None:
    found = pool_scores([0.7] * 3, [0.05] * 3, metric="roc_auc", n_rows=50)
    assert found.between == 0 == found.variance_from_missing and found.value == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("scores", "errors"), [([1.0, 0.9], [0.0, 0.1]), ([0.8, np.nan], [0.1, 0.1]), ([0.8, 0.9], [0.1, np.nan])]
)
def test_a_score_on_a_bound_has_no_value_and_a_warning(scores: list[float], errors: list[float]) -> None:
    with pytest.warns(HeldoutWarning, match="cannot be pooled"):
        found = pool_scores(scores, errors, metric="roc_auc", n_rows=50)
    assert np.isnan([found.value, found.low, found.high]).all() and found.to_dict()["value"] is None


@pytest.mark.parametrize(
    ("settings", "argument"),
    [
        ({"scores": [0.8]}, "scores"),
        ({"standard_errors": [0.1]}, "scores"),
        ({"standard_errors": [0.1, -0.1]}, "scores"),
        ({"n_rows": 1}, "n_rows"),
        ({"n_rows": 2.5}, "n_rows"),
        ({"confidence_level": 95}, "confidence_level"),
        ({"metric": "luck"}, "metric"),
    ],
)
def test_bad_input_is_one_sentence(settings: dict[str, Any], argument: str) -> None:
    given = {"scores": [0.8, 0.9], "standard_errors": [0.1, 0.1], "metric": "roc_auc", "n_rows": 50, **settings}
    with pytest.raises(InputError) as caught:
        pool_scores(**given)
    assert caught.value.argument == argument
