"""``metric="rms"``: the metrics of R's ``rms::validate``, and its table."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import heldout as ho
from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.metrics import metric_named

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 2))
NUMBERS = X[:, 0] + RNG.normal(size=60)


def test_it_goes_with_other_metrics_each_once() -> None:
    found = ho.bootstrap_validate(
        LinearRegression(), X, NUMBERS, metric=["mean_absolute_error", "rms", "r2"], n_bootstraps=3, random_state=0
    )
    assert list(found.rows)[:3] == ["mean_absolute_error", "r2", "mean_squared_error"]
    assert "mean_squared_error (MSE)" in str(found) and "mean_absolute_error (" not in str(found)
    table = found.to_frame(names="rms")
    assert list(table.index) == ["R-square", "MSE", "g", "Intercept", "Slope"]
    assert table.loc["MSE", "optimism"] == pytest.approx(-found.rows["mean_squared_error"].optimism)


def test_it_is_refused_where_r_has_none() -> None:
    with pytest.raises(InputError, match=r"`metric='rms'` is for two classes, .* got a multiclass target"):
        ho.bootstrap_validate(LogisticRegression(), X, np.arange(60) % 3, metric="rms", n_bootstraps=3)
    found = ho.bootstrap_validate(LinearRegression(), X, NUMBERS, metric="spearman", n_bootstraps=3, random_state=0)
    with pytest.raises(InputError, match="none of the metrics is one of rms::validate; use `metric='rms'`"):
        found.to_frame(names="rms")
    with pytest.raises(InputError, match="names must be one of 'heldout', 'rms', got 'R'"):
        found.to_frame(names="R")


@pytest.mark.parametrize("method", ["optimism", "632", "oob"])
def test_emax_is_that_of_the_corrected_intercept_and_slope(method: str) -> None:
    y = (NUMBERS > 0).astype(int)
    found = ho.bootstrap_validate(
        LogisticRegression(C=0.1), X, y, metric="rms", method=method, n_bootstraps=6, random_state=0
    )
    a, b = (
        found.rows[name].corrected for name in ("calibration_intercept(given_slope=False)", "calibration_slope")
    )
    p = np.linspace(0, 1, 2001)[1:-1]
    apart = np.abs(p - 1 / (1 + np.exp(-(a + b * np.log(p / (1 - p))))))
    assert found.rows["calibration_emax"].corrected == pytest.approx(apart.max(), abs=1e-12)


def test_the_indices_of_a_few_rows_by_hand() -> None:
    # Two groups of four with shares 1/4 and 3/4, as predicted: l₀ = 8 log(1/2), l = 2 log(1/4) + 6 log(3/4).
    y, p = np.array([1, 0, 0, 0, 1, 1, 1, 0]), np.array([0.25] * 4 + [0.75] * 4)
    ratio = 2 * (2 * np.log(0.25) + 6 * np.log(0.75) - 8 * np.log(0.5))
    expected = {
        "likelihood_ratio": ratio,
        "discrimination_index": (ratio - 1) / 8,
        "unreliability_index": -2 / 8,
        "quality_index": (ratio + 1) / 8,
        "g_index": 16 * 2 * np.log(3) / 28,  # 16 of 28 pairs are 2 log(3) apart
        "g_index(scale='probability')": 16 * 0.5 / 28,
        "calibration_emax": 0.0,
    }
    once = np.ones((1, 8), dtype=np.uint8)
    for name, value in expected.items():
        found = metric_named(name).statistic(truth_of(y), p[:, None]).all(once)[0, 0]
        assert found == pytest.approx(value, abs=1e-9), name
