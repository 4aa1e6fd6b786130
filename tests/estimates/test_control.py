"""The control of bbc: what few rows do to a metric is measured without selection, and subtracted."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.estimates import BBC
from heldout.estimates.control import control_from
from heldout.selection.base import Choice

RNG = np.random.default_rng(0)
N = 80
Y = RNG.normal(size=N)
VALUES = Y[:, None] + RNG.standard_t(4, size=(N, 8))
LABELS = np.tile([0, 1, 1, 0, 0], N // 5)
SCORES = RNG.normal(size=(N, 8)) + LABELS[:, None]
FOLDS = np.arange(N) % 8
FAST = {"n_bootstraps": 60, "random_state": 0}
estimate = partial(ho.estimate, method="bbc")
RMSE = "neg_root_mean_squared_error"


@pytest.mark.parametrize(("cv", "metric"), [(5, RMSE), (20, "r2")])
def test_few_rows_in_a_fold_never_make_a_corrected_score_look_better(cv, metric):
    X, y = load_diabetes(return_X_y=True)
    search = ho.HeldOutSearchCV(
        Ridge(), {"alpha": [0.01, 0.1, 1]}, scoring=metric, cv=cv, method="bbc", aggregate="folds", random_state=0
    )
    found = search.fit(X, y).estimate_
    assert found.value < found.uncorrected
    assert found.provenance["control_size"] > 0
    assert found.uncorrected - found.value < 0.01 * abs(found.value)


@pytest.mark.parametrize("aggregate", ["pooled", "folds"])
@pytest.mark.parametrize("metric", [RMSE, "median_absolute_error", "spearman", "f1"])
def test_one_configuration_keeps_its_score(metric, aggregate):
    y, table = (LABELS, SCORES) if metric == "f1" else (Y, VALUES)
    found = estimate(y, table[:, :1], metric=metric, folds=FOLDS, aggregate=aggregate, **FAST)
    assert found.value == pytest.approx(found.uncorrected, abs=1e-12)
    assert found.provenance["control_choices"] == 1


def test_value_interval_and_distribution_move_together():
    asked = {"metric": RMSE, "folds": FOLDS, "aggregate": "folds", **FAST}
    for interval in ("percentile", "calibrated"):
        plain = estimate(Y, VALUES, method=BBC(interval=interval, control=False), **asked)
        moved = estimate(Y, VALUES, method=BBC(interval=interval), **asked)
        size = moved.provenance["control_size"]
        np.testing.assert_allclose(moved.distribution, plain.distribution - size)
        assert moved.value == pytest.approx(np.mean(moved.distribution)) == pytest.approx(plain.value - size)
        assert moved.interval.low == pytest.approx(plain.interval.low - size)
        assert moved.provenance["control"] == "auto" and plain.provenance["control_size"] is None
    assert moved.interval.high < plain.interval.high - size / 2  # the optimism is measured on one scale now


def test_the_control_by_hand():
    """Every configuration that a bootstrap chose, and the winner, each on as many bootstraps."""
    from heldout._streams import stream
    from heldout.selection.bootstrap_draws import Draws, always

    found = estimate(Y, VALUES, metric=RMSE, **FAST)
    draws = Draws(stream(0, "draws"), 60, np.arange(N), always, always)
    counts, _ = draws.block(0, 60)
    squares = (VALUES - Y[:, None]) ** 2
    in_bag = (counts @ squares).argmin(axis=1)
    competing = np.union1d(in_bag, [found.selected])
    assert len(competing) == found.provenance["control_choices"] > 1
    own = competing[np.arange(60) * len(competing) // 60]
    left_out = [-np.sqrt(squares[lane == 0, column].mean()) for lane, column in zip(counts, own, strict=True)]
    whole = -np.sqrt(squares.mean(axis=0))
    assert found.provenance["control_size"] == pytest.approx(np.mean(left_out - whole[own]))


@pytest.mark.parametrize("metric", ["r2", "roc_auc"])
def test_rows_left_out_are_drawn_again_where_they_are_too_many_to_keep(metric, monkeypatch):
    y, table = (Y, VALUES) if metric == "r2" else (LABELS, SCORES)
    asked = {"metric": metric, "folds": FOLDS, "aggregate": "folds", **FAST}
    kept = estimate(y, table, **asked)
    monkeypatch.setattr("heldout.estimates.bootstrap.MOST_KEPT", 0)
    again = estimate(y, table, **asked)
    assert kept.provenance["control_size"] == again.provenance["control_size"]
    assert kept.distribution.tolist() == again.distribution.tolist()


def _controlled(metric, y, table, **asked):
    return estimate(y, table, metric=metric, **FAST, **asked).provenance["control_size"] is not None


def test_auto_subtracts_where_the_difference_is_not_0_in_expectation():
    weights, groups = np.linspace(0.5, 1.5, N), np.repeat(np.arange(N // 2), 2)
    uneven = np.minimum(groups, 30)
    few = {"folds": np.arange(N) % 20, "aggregate": "folds"}
    for metric, y, table in (("neg_mean_squared_error", Y, VALUES), ("accuracy", LABELS, SCORES > 0.5)):
        assert not _controlled(metric, y, table)
        assert not _controlled(metric, y, table, folds=np.arange(N) % 4, aggregate="folds")
        assert not _controlled(metric, y, table, groups=groups)
        assert _controlled(metric, y, table, sample_weight=weights)
        assert _controlled(metric, y, table, groups=uneven)
        assert _controlled(metric, y, table, **few)  # left out together, the observed score by folds
        assert _controlled(metric, y, table, method=BBC(control=True))
    assert _controlled("accuracy", LABELS, SCORES > 0.5, method=BBC(stratify=True))
    assert not _controlled("roc_auc", LABELS, SCORES)
    assert not _controlled("roc_auc", LABELS, SCORES, method=BBC(stratify=True))
    assert _controlled("roc_auc", LABELS, SCORES, groups=groups)
    assert _controlled("roc_auc", LABELS, SCORES, folds=FOLDS // 2, aggregate="folds")
    assert not _controlled(RMSE, Y, VALUES, method=BBC(control=False))


def _cost(y_true, y_pred):
    return np.median(np.abs(y_true - y_pred))


@pytest.mark.parametrize("asked", [
    {"metric": ho.metrics.custom(_cost, greater_is_better=False, response="values")},
    {"metric": RMSE, "selection": "top_k(k=2)"},
    {"metric": RMSE, "selection": "greedy_ensemble", "folds": FOLDS, "aggregate": "folds"},
    {"metric": RMSE, "sample_weight": np.linspace(0.5, 1.5, N)},
    {"metric": RMSE, "groups": np.arange(N) // 2},
])  # fmt: skip
def test_the_control_of_every_kind_of_candidate(asked):
    asked = {**asked, "n_bootstraps": 20, "random_state": 0}
    found, plain = estimate(Y, VALUES, **asked), estimate(Y, VALUES, **asked, method=BBC(control=False))
    assert found.provenance["control_size"] != 0
    assert found.value == pytest.approx(plain.value - found.provenance["control_size"])
    assert abs(found.provenance["control_size"]) < 0.3


def test_thresholds_repeats_and_threads():
    cube = np.stack([SCORES, SCORES + 0.1 * RNG.normal(size=SCORES.shape)], axis=2)
    found = estimate(LABELS, cube, metric="f1", selection="threshold", response="decision", **FAST)
    assert found.provenance["control_choices"] > 1
    one, two = (estimate(Y, VALUES, metric=RMSE, n_bootstraps=600, random_state=0, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.distribution, two.distribution)


def test_an_interval_ends_at_the_metric_s_range_and_a_value_beyond_it_is_flagged():
    # The share of positives is calibrated on all rows and nowhere else; the other is calibrated everywhere.
    probabilities = np.c_[np.full(N, LABELS.mean()), np.clip(LABELS, 0.001, 0.999)]
    found = estimate(LABELS, probabilities, metric="expected_calibration_error", **FAST)
    assert found.interval.low >= 0
    assert found.distribution.min() < 0 and found.distribution.mean() < 0  # as they are
    assert found.value == 0 and found.value in found.interval
    assert "outside the range [0, 1]" in found.flags["control_beyond_range"]


def test_without_a_finite_difference_nothing_is_subtracted():
    assert np.isnan(control_from(np.array([np.nan, 1.0]), np.array([0.5, np.inf]), np.ones(2), 1).size)
    # Squares beyond float64 on all rows: one row is enough.
    y, table = np.zeros(N), np.r_[1e200, np.ones(N - 1)][:, None]
    with pytest.warns(ho.HeldoutWarning, match="beyond what float64 holds"):
        found = estimate(y, table, metric="root_mean_squared_error", **FAST)
    assert {"no_control", "undefined"} <= set(found.flags) and np.isnan(found.value)


def test_the_flag_of_scales_depends_on_the_control():
    asked = {"metric": "r2", "folds": FOLDS, "aggregate": "folds", **FAST}
    controlled = estimate(Y, VALUES, **asked).flags["out_of_bag_pooled"]
    published = estimate(Y, VALUES, method=BBC(control=False), **asked).flags["out_of_bag_pooled"]
    assert "both" not in published and published.endswith("the uncorrected one is the mean over folds.")
    assert controlled.endswith("corrected and uncorrected score are on the scale of the mean over folds.")


@pytest.mark.parametrize("control", ["yes", None, 1, 0.5])
def test_a_control_is_auto_or_yes_or_no(control):
    with pytest.raises(ho.InputError, match="control must be 'auto', True or False, got"):
        BBC(control=control)


def test_distinct_choices():
    weights = np.array([[0.5, 0.5], [0.0, 0.0], [1.0, 0.0], [0.5, 0.5]])
    found = Choice(np.array([0, -1, 0, 0]), weights).distinct()
    assert found.weights.tolist() == [[1.0, 0.0], [0.5, 0.5]]
    assert found.columns.tolist() == [0, 0]


@pytest.mark.parametrize("method", ["bbc", "cv"])
def test_small_folds_are_flagged_with_both_numbers(method):
    y = RNG.normal(size=100)
    table = y[:, None] + RNG.normal(size=(100, 4))
    asked = {"metric": "r2", "folds": np.arange(100) % 20, "method": method, "random_state": 0}
    found = estimate(y, table, aggregate="folds", **asked)
    pooled = estimate(y, table[:, [found.selected]], aggregate="pooled", **asked)
    assert (
        f"{found.uncorrected:.4g} as a mean over folds and {pooled.uncorrected:.4g} over"
        in found.flags["small_folds"]
    )
    assert "folds of 5 rows" in found.flags["small_folds"]
    assert "small_folds" not in estimate(y, table, aggregate="pooled", **asked).flags
    for metric in ("neg_mean_squared_error", "mean_absolute_error"):
        assert "small_folds" not in estimate(y, table, aggregate="folds", **asked | {"metric": metric}).flags
    ensemble = estimate(y, table, aggregate="folds", selection="top_k(k=2)", **asked)
    assert "small_folds" in ensemble.flags


def test_a_dropping_that_is_replayed_has_a_control():
    X, y = load_diabetes(return_X_y=True)
    search = ho.HeldOutSearchCV(
        Ridge(), {"alpha": [0.01, 1.0, 1e5]}, scoring=RMSE, cv=10, method="bbc", aggregate="folds", random_state=0,
        n_bootstraps=100, drop=ho.dropping.Bootstrap(replay=True),
    )  # fmt: skip
    found = search.fit(X, y).estimate_
    assert "dropping_replayed" in found.flags
    assert found.provenance["control_size"] > 0 and found.value < found.uncorrected
