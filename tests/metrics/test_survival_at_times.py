"""Brier scores and areas at one time by hand, and against the numbers of scikit-survival."""

from typing import Any

import numpy as np
import pytest

import heldout as ho
from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.metrics import BrierAt, IntegratedBrier, RocAucAt, check_fits, metric_named
from heldout.metrics.base import times_of
from heldout.metrics.survival import Censoring, observed_by

TIMES = (2.0, 4.0, 6.0)


def study(seed: int, step: float, rows: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Times on a grid of `step` and risks of one decimal, so that both tie; about 60 % events."""
    rng = np.random.default_rng(seed)
    failure, lost = rng.exponential(4.0, rows), rng.exponential(7.0, rows)
    y = np.empty(rows, dtype=[("seen", "?"), ("days", "f8")])
    y["seen"], y["days"] = failure <= lost, np.ceil(np.minimum(failure, lost) / step) * step
    return y, np.round(rng.normal(size=rows) - 0.3 * failure, 1)


def survival_of(risks: np.ndarray) -> np.ndarray:
    return np.exp(-np.array(TIMES) * np.exp(risks / 4)[:, None] / 5)


# sksurv.metrics.brier_score(y, y, survival, times)[1], cumulative_dynamic_auc(y, y, risks, times)[0]
# of scikit-survival 0.28.0, times = np.array([2.0, 4.0, 6.0]); keys are (seed, step).
PEER = {
    (0, 0.5): (
        [0.19325992354196886, 0.19664814985493334, 0.19235760340272895],
        [0.9026648846571582, 0.9289377394088388, 0.8763721570890209],
    ),
    (1, 2.0): (
        [0.2711963806201296, 0.27060546302935307, 0.18762687389891544],
        [0.7905844155844155, 0.849756304301759, 0.9521347434390913],
    ),
    (2, 1e-6): (
        [0.20751992496636026, 0.2089157025257897, 0.15606716712459248],
        [0.8887041961724171, 0.8527969637218866, 0.9568424284897508],
    ),
}


@pytest.mark.parametrize(("seed", "step"), list(PEER), ids=str)
def test_equals_scikit_survival(seed: int, step: float) -> None:
    y, risks = study(seed, step)
    truth, once = truth_of(y), np.ones((1, 60), dtype=np.uint8)
    briers, areas = PEER[seed, step]
    for k, (time, brier, area) in enumerate(zip(TIMES, briers, areas, strict=True)):
        said = survival_of(risks)[:, None, k : k + 1]
        assert BrierAt(time).statistic(truth, said).all(once)[0, 0] == pytest.approx(brier, abs=1e-12)
        assert RocAucAt(time).statistic(truth, risks[:, None]).all(once)[0, 0] == pytest.approx(area, abs=1e-12)


def test_the_integrated_score_is_the_mean_over_times() -> None:
    y, risks = study(3, 0.5)
    truth, counts = truth_of(y), np.random.default_rng(0).integers(0, 3, (5, 60)).astype(np.uint8)
    said = survival_of(risks)[:, None]
    at = [BrierAt(time).statistic(truth, said[..., k : k + 1]).all(counts) for k, time in enumerate(TIMES)]
    whole = IntegratedBrier(TIMES).statistic(truth, said).all(counts)
    np.testing.assert_allclose(whole, (at[0] / 2 + at[1] + at[2] / 2) / 2, rtol=1e-12)


def test_who_was_observed_by_hand() -> None:
    # One of four is lost at 2, one of the two left at 4: G is 3/4 from 2 on, and 3/8 from 4 on.
    truth = truth_of([(True, 1), (False, 2), (True, 3), (True, 3), (False, 4), (True, 5)], "survival")
    g = [1.0, 4 / 5, 4 / 5, 4 / 5, 4 / 5 * 1 / 2]
    outcome, weight = observed_by(truth, 3.5)
    assert outcome.tolist() == [0, 0, 0, 0, 1, 1]
    np.testing.assert_allclose(weight, [1 / g[0], 0, 1 / g[2], 1 / g[3], 1 / g[3], 1 / g[3]])
    outcome, weight = observed_by(truth, 4.0)
    assert outcome.tolist() == [0, 0, 0, 0, 0, 1]
    np.testing.assert_allclose(weight, [1, 0, 1 / g[2], 1 / g[3], 0, 1 / g[4]])
    assert weight.sum() == pytest.approx(6)  # the lost are stood for by the others
    none_lost = Censoring(np.array([9.0]), np.array([0.0]))
    assert observed_by(truth, 4.0, none_lost).weight.tolist() == [1, 0, 1, 1, 0, 1]


def test_without_censoring_they_are_the_metrics_of_two_classes() -> None:
    y, risks = study(4, 0.5)
    y["seen"] = True
    truth, of_two = truth_of(y), truth_of(y["days"] <= 4.0)
    counts = np.random.default_rng(1).integers(0, 3, (5, 60)).astype(np.uint8)
    area = metric_named("roc_auc").statistic(of_two, risks[:, None]).all(counts)
    np.testing.assert_allclose(RocAucAt(4).statistic(truth, risks[:, None]).all(counts), area, rtol=1e-14)
    said = survival_of(risks)[:, None, 1:2]
    brier = metric_named("brier_score").statistic(of_two, 1 - said[..., 0]).all(counts)
    np.testing.assert_allclose(BrierAt(4).statistic(truth, said).all(counts), brier, rtol=1e-12)


def test_the_area_needs_an_event_until_the_time_and_a_row_after_it() -> None:
    truth = truth_of([(True, 1), (False, 2), (True, 3), (False, 4), (True, 6)], "survival")
    metric = RocAucAt(time=3.0)
    draws = {(1, 1, 0, 1, 0): True, (0, 0, 1, 0, 1): True, (1, 1, 1, 0, 0): False, (0, 1, 0, 1, 1): False}
    counts = np.array(list(draws), dtype=np.uint8)
    assert metric.needs.met(metric.truth_for_needs(truth), None, counts).tolist() == list(draws.values())
    found = metric.statistic(truth, np.arange(5.0)[:, None]).all(counts)
    assert np.isfinite(found[:, 0]).tolist() == list(draws.values())


def test_names_and_times() -> None:
    assert metric_named("brier_score_at(time=3)") == BrierAt(3) and BrierAt(3).name == "brier_score_at(time=3)"
    assert metric_named("neg_brier_score_at(time=3)").name == "neg_brier_score_at(time=3)"
    assert metric_named("roc_auc_at(time=2.5)") == RocAucAt(2.5)
    assert times_of(BrierAt(3)) == (3.0,) and times_of(RocAucAt(3)) == ()
    truth = truth_of(study(5, 0.5)[0])
    bound = BrierAt(3).for_truth(truth)
    assert bound.for_truth(truth.rows(np.arange(30))) is bound


@pytest.mark.parametrize(
    ("metric", "sentence"),
    [
        pytest.param("brier_score_at", r"'brier_score_at\(time=5\)'", id="brier"),
        pytest.param("roc_auc_at", r"'roc_auc_at\(time=5\)'", id="area"),
        pytest.param(BrierAt(4), "time must lie within those of the target, from 1 to before 4, got 4;", id="late"),
        pytest.param(RocAucAt(0.5), "from 1 to before 4, got 0.5", id="early"),
        pytest.param(RocAucAt(1), "needs an event until its time, but the first is at 2", id="no event yet"),
    ],
)
def test_a_time_that_the_target_lacks_something_for(metric: Any, sentence: str) -> None:
    truth = truth_of([(False, 1), (True, 2), (False, 4)], "survival")
    with pytest.raises(InputError, match=sentence):
        check_fits(metric_named(metric), truth)


@pytest.mark.parametrize("time", [-1, np.nan, np.inf, "3", True], ids=str)
def test_what_is_no_time(time: Any) -> None:
    for make in (BrierAt, RocAucAt):
        with pytest.raises(InputError, match="time must be a finite number of at least 0, got"):
            make(time)


def test_predictions_of_several_times_are_refused_and_of_one_need_no_axis() -> None:
    y, risks = study(6, 0.5)
    said = survival_of(risks)[:, None]
    with pytest.raises(InputError, match="survival probabilities at 1 time, got predictions of 3"):
        BrierAt(4).statistic(truth_of(y), said)
    columns = np.concatenate([said[..., 1], 1 - said[..., 1]], axis=1)
    found = ho.estimate(y, columns, metric="brier_score_at(time=4)", n_bootstraps=20, random_state=0)
    assert found.selected == 0
    expected = BrierAt(4).statistic(truth_of(y), said[..., 1:2]).all(np.ones((1, 60), dtype=np.uint8))
    assert found.uncorrected == pytest.approx(expected[0, 0], abs=1e-12)
