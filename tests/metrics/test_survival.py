"""Concordance, Brier scores and areas by hand, pair by pair, and against the numbers of scikit-survival."""

import pickle
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import heldout as ho
from heldout.data.task import Truth, truth_of
from heldout.errors import InputError
from heldout.metrics import (
    BrierAt,
    CalibrationSlope,
    CalibrationSlopeError,
    ConcordanceUno,
    IntegratedBrier,
    NagelkerkeR2,
    RocAucAt,
    check_fits,
    metric_named,
)
from heldout.metrics.base import Metric, Needs, times_of
from heldout.metrics.survival import Censoring, ConcordanceIndex, observed_by


def values(metric: Metric, y: Any, predicted: Any, counts: Any = None) -> np.ndarray:
    truth = truth_of(y, "survival")
    counts = np.ones((1, truth.n_rows), dtype=np.uint8) if counts is None else counts
    return metric.statistic(truth, np.asarray(predicted, dtype=float)).all(counts)


def study(seed: int, rows: int = 60, step: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Times on a grid of `step` and risks of one decimal, so that both tie; about 60 % events."""
    rng = np.random.default_rng(seed)
    failure, lost = rng.exponential(4.0, rows), rng.exponential(7.0, rows)
    y = np.empty(rows, dtype=[("seen", "?"), ("days", "f8")])
    y["seen"], y["days"] = failure <= lost, np.ceil(np.minimum(failure, lost) / step) * step
    return y, np.round(rng.normal(size=rows) - 0.3 * failure, 1)


def test_concordance_by_hand() -> None:
    y = [(True, 1), (False, 2), (True, 2), (True, 2), (False, 5)]
    # Comparable: the first with all others; each event at 2 with the one censored at 2 and with the last.
    right, wrong, tied = [[5], [1], [4], [3], [2]], [[0], [4], [1], [2], [3]], [[7], [7], [7], [7], [7]]
    assert values(ConcordanceIndex(), y, right) == 1.0
    assert values(ConcordanceIndex(), y, wrong) == 0.0
    assert values(ConcordanceIndex(), y, tied) == 0.5
    # The first wins 3 and ties with the last; one event at 2 wins and loses, the other ties and loses.
    assert values(ConcordanceIndex(), y, [[4], [2], [3], [2], [4]]) == (3.5 + 1 + 0.5) / 8


def test_a_row_and_its_copy_are_no_pair() -> None:
    y, risks = [(True, 1), (False, 2)], [[0.1], [0.9]]
    assert values(ConcordanceIndex(), y, risks, np.array([[5, 1]], dtype=np.uint8)) == 0.0
    assert np.isnan(values(ConcordanceIndex(), y, risks, np.array([[5, 0], [0, 5]], dtype=np.uint8))).all()


@pytest.mark.parametrize("uno", [False, True], ids=["harrell", "uno"])
def test_every_order_of_four_rows(uno: bool) -> None:
    y = [(True, 1), (False, 2), (True, 3), (False, 4)]
    weights = [1, 1, 1, 9 / 4 if uno else 1]  # one of three at risk is lost at 2: (3 / 2) ** 2
    pairs = [(0, 1), (0, 2), (0, 3), (2, 3)]
    for risks in permutations([1.0, 2.0, 3.0, 4.0]):
        won = sum(weight for weight, (i, j) in zip(weights, pairs, strict=True) if risks[i] > risks[j])
        metric = ConcordanceUno() if uno else ConcordanceIndex()
        assert values(metric, y, np.array([risks]).T) == pytest.approx(won / sum(weights), abs=1e-15)


# sksurv.metrics.concordance_index_censored(y["seen"], y["days"], risks)[0]
# sksurv.metrics.concordance_index_ipcw(y, y, risks, tau=None or 6.0)[0]
# sksurv.metrics.integrated_brier_score(y, y, np.exp(-times * np.exp(risks / 4)[:, None] / 5), times)
# of scikit-survival 0.28.0, times = np.array([2.0, 4.0, 6.0]); keys are (seed, step).
PEER = {
    (0, 0.5): (0.8087535680304472, 0.7950960427785984, 0.7767331806431611, 0.19472845666364114),
    (1, 2.0): (0.8206470028544244, 0.8491137896474487, 0.818636073686042, 0.2500085451444378),
    (2, 1e-6): (0.7684491978609626, 0.7683656614475767, 0.7739592372253767, 0.19535462428563305),
}


@pytest.mark.parametrize(("seed", "step"), list(PEER), ids=str)
def test_equals_scikit_survival(seed: int, step: float) -> None:
    y, risks = study(seed, step=step)
    times = np.array([2.0, 4.0, 6.0])
    survival = np.exp(-times * np.exp(risks / 4)[:, None] / 5)
    metrics: list[tuple[Metric, np.ndarray]] = [
        (ConcordanceIndex(), risks[:, None]),
        (ConcordanceUno(), risks[:, None]),
        (ConcordanceUno(tau=6.0), risks[:, None]),
        (IntegratedBrier(times), survival[:, None]),
    ]
    for (metric, predicted), expected in zip(metrics, PEER[seed, step], strict=True):
        assert values(metric, y, predicted)[0, 0] == pytest.approx(expected, abs=1e-10)


def test_risks_in_any_units_and_near_ties() -> None:
    y, risks = study(4)
    once = values(ConcordanceIndex(), y, risks[:, None])
    for rescaled in (risks * 1e-12, risks * 1e200, np.exp(risks)):
        np.testing.assert_array_equal(values(ConcordanceIndex(), y, rescaled[:, None]), once)


def test_the_censoring_distribution_by_hand() -> None:
    # At 2 three rows are left after the event there, of which one is lost; at 4 two, of which both are.
    truth = truth_of([(True, 1), (True, 2), (False, 2), (False, 4), (False, 4)], "survival")
    found = Censoring.of(truth).after(np.array([0.0, 1.0, 1.999, 2.0, 3.0, 4.0, 9.0]))
    np.testing.assert_allclose(found, [1, 1, 1, 2 / 3, 2 / 3, 0, 0], atol=1e-15)


def test_the_censoring_distribution_is_of_the_rows_bound_first() -> None:
    y, risks = study(5)
    truth, half = truth_of(y), np.arange(30)
    times = (2.0, 4.0)
    survival = np.exp(-np.array(times) * np.exp(risks / 4)[:, None] / 5)[:, None]
    for metric, predicted in ((ConcordanceUno(), risks[:, None]), (IntegratedBrier(times), survival)):
        bound = metric.for_truth(truth)
        assert bound.for_truth(truth.rows(half)) is bound
        assert bound == metric
        of_half = np.where(np.isin(np.arange(60), half), 1, 0).astype(np.uint8)[None]
        whole = bound.statistic(truth, predicted).all(of_half)
        part = bound.statistic(truth.rows(half), predicted[half]).all(np.ones((1, 30), np.uint8))
        np.testing.assert_allclose(part, whole, rtol=1e-13)
        alone = metric.statistic(truth.rows(half), predicted[half]).all(np.ones((1, 30), np.uint8))
        assert abs(alone - whole) > 1e-4


def test_a_sure_and_right_model_reaches_both_ends_of_the_integrated_brier_score() -> None:
    y = [(True, 1), (True, 3), (False, 4), (True, 5)]
    right = (np.array([1, 3, 4, 5])[:, None] > np.array([2, 3, 4])).astype(float)
    assert values(IntegratedBrier((2, 3, 4)), y, right[:, None]) == 0.0
    # Wrong of all: at 2 one of one row gone and three there, at 3 two and two, at 4 the last weighs 2.
    assert values(IntegratedBrier((2, 3, 4)), y, 1 - right[:, None]) == pytest.approx(1.0)


def test_whether_rows_hold_a_pair() -> None:
    truth = truth_of([(True, 3), (False, 3), (True, 3), (False, 1), (True, 7)], "survival")
    draws = {(1, 1, 0, 0, 0): True, (1, 0, 2, 0, 0): False, (0, 1, 0, 1, 1): False, (1, 0, 0, 0, 1): True,
             (0, 0, 0, 9, 9): False, (0, 0, 0, 0, 0): False, (0, 0, 1, 1, 1): True}  # fmt: skip
    counts = np.array(list(draws), dtype=np.uint8)
    assert Needs.PAIR.met(truth, None, counts).tolist() == list(draws.values())
    assert Needs.PAIR.met(truth, None, counts * 0.25).tolist() == list(draws.values())


NO_TIME = "time must be a finite number of at least 0, got"
WITHOUT_MEANING = [
    (lambda: ConcordanceUno(tau=-1), "tau must be a time above 0, or None"),
    (lambda: ConcordanceUno(tau=np.nan), "tau must be a time above 0"),
    (lambda: IntegratedBrier((2.0,)), "at least two ascending finite numbers"),
    (lambda: IntegratedBrier((2.0, 1.0)), "at least two ascending"),
    (lambda: IntegratedBrier((2.0, np.inf)), "at least two ascending finite"),
    *((lambda time=time: BrierAt(time), NO_TIME) for time in (-1, np.nan, np.inf, "3", True)),
    *((lambda time=time: RocAucAt(time), NO_TIME) for time in (-1, True)),
]


@pytest.mark.parametrize(("make", "sentence"), WITHOUT_MEANING)
def test_parameters_of_no_meaning_have_their_sentence(make: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()


LOST_LAST = [(True, 1), (False, 2), (True, 4), (False, 4)]
LOST_FIRST = [(False, 1), (True, 2), (False, 4)]
LACKING = [
    ("integrated_brier_score", LOST_LAST, r"integrated_brier_score\(times=\[1, 2, 5\]\)'"),
    ("neg_integrated_brier_score", LOST_LAST, r"integrated_brier_score\(times=\["),
    (IntegratedBrier((0.5, 2)), LOST_LAST, "times must lie within those of the target, from 1 to before 4"),
    (IntegratedBrier((2, 4)), LOST_LAST, "from 1 to before 4, got 2 to 4"),
    (ConcordanceUno(tau=1.0), LOST_LAST, r"needs an event before `tau=1\.0`, but there is none"),
    (ConcordanceUno(), LOST_LAST, r"which is 0 at time 4; leave late .*ConcordanceUno\(tau=4\)"),
    ("brier_score_at", LOST_FIRST, r"'brier_score_at\(time=5\)'"),
    ("roc_auc_at", LOST_FIRST, r"'roc_auc_at\(time=5\)'"),
    (BrierAt(4), LOST_FIRST, "time must lie within those of the target, from 1 to before 4, got 4;"),
    (RocAucAt(0.5), LOST_FIRST, "from 1 to before 4, got 0.5"),
    (RocAucAt(1), LOST_FIRST, "needs an event until its time, but the first is at 2"),
]


@pytest.mark.parametrize(("metric", "y", "sentence"), LACKING)
def test_a_metric_that_the_target_lacks_something_for(metric: Any, y: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        check_fits(metric_named(metric), truth_of(y, "survival"))


def test_names_and_directions() -> None:
    assert metric_named("concordance_index_censored") is metric_named("concordance_index")
    assert metric_named("concordance_index").greater_is_better
    assert metric_named("concordance_index_ipcw(tau=4)") == ConcordanceUno(tau=4) != ConcordanceUno()
    assert (
        check_fits(ConcordanceUno(tau=4), truth_of(LOST_LAST, "survival")).name == "concordance_index_ipcw(tau=4)"
    )
    assert metric_named("integrated_brier_score(times=[1, 2.5])") == IntegratedBrier(np.array([1.0, 2.5]))
    assert not IntegratedBrier((1, 2)).greater_is_better
    with pytest.raises(InputError, match="concordance_index' does not fit a binary target"):
        check_fits(metric_named("concordance_index"), truth_of([0, 1]))


def test_a_bound_metric_pickles() -> None:
    y, risks = study(7)
    truth: Truth = truth_of(y)
    bound = ConcordanceUno(tau=5.0).for_truth(truth)
    again = pickle.loads(pickle.dumps(bound))
    counts = np.ones((1, 60), dtype=np.uint8)
    np.testing.assert_array_equal(
        again.statistic(truth, risks[:, None]).all(counts), bound.statistic(truth, risks[:, None]).all(counts)
    )


TIMES = (2.0, 4.0, 6.0)


def survival_of(risks: np.ndarray) -> np.ndarray:
    return np.exp(-np.array(TIMES) * np.exp(risks / 4)[:, None] / 5)


# sksurv.metrics.brier_score(y, y, survival, times)[1], cumulative_dynamic_auc(y, y, risks, times)[0]
# of scikit-survival 0.28.0, times = np.array([2.0, 4.0, 6.0]); keys are (seed, step).
AT_TIMES = {
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


@pytest.mark.parametrize(("seed", "step"), list(AT_TIMES), ids=str)
def test_scores_at_times_equal_scikit_survival(seed: int, step: float) -> None:
    y, risks = study(seed, step=step)
    truth, once = truth_of(y), np.ones((1, 60), dtype=np.uint8)
    briers, areas = AT_TIMES[seed, step]
    for k, (time, brier, area) in enumerate(zip(TIMES, briers, areas, strict=True)):
        said = survival_of(risks)[:, None, k : k + 1]
        assert BrierAt(time).statistic(truth, said).all(once)[0, 0] == pytest.approx(brier, abs=1e-12)
        assert RocAucAt(time).statistic(truth, risks[:, None]).all(once)[0, 0] == pytest.approx(area, abs=1e-12)


def test_the_integrated_score_is_the_mean_over_times() -> None:
    y, risks = study(3)
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
    y, risks = study(4)
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


def test_names_of_scores_at_times() -> None:
    assert metric_named("brier_score_at(time=3)") == BrierAt(3) and BrierAt(3).name == "brier_score_at(time=3)"
    assert metric_named("neg_brier_score_at(time=3)").name == "neg_brier_score_at(time=3)"
    assert metric_named("roc_auc_at(time=2.5)") == RocAucAt(2.5)
    assert times_of(BrierAt(3)) == (3.0,) and times_of(RocAucAt(3)) == ()
    truth = truth_of(study(5)[0])
    bound = BrierAt(3).for_truth(truth)
    assert bound.for_truth(truth.rows(np.arange(30))) is bound


def test_predictions_of_several_times_are_refused_and_of_one_need_no_axis() -> None:
    y, risks = study(6)
    said = survival_of(risks)[:, None]
    with pytest.raises(InputError, match="survival probabilities at 1 time, got predictions of 3"):
        BrierAt(4).statistic(truth_of(y), said)
    columns = np.concatenate([said[..., 1], 1 - said[..., 1]], axis=1)
    found = ho.estimate(y, columns, metric="brier_score_at(time=4)", n_bootstraps=20, random_state=0)
    assert found.selected == 0
    expected = BrierAt(4).statistic(truth_of(y), said[..., 1:2]).all(np.ones((1, 60), dtype=np.uint8))
    assert found.uncorrected == pytest.approx(expected[0, 0], abs=1e-12)


# Calibration slope and R² of log hazards against the numbers of R.

cox_slope, cox_slope_error = CalibrationSlope().statistic, CalibrationSlopeError().statistic

SEEN_AT = [1, 1, 2, 3, 3, 3, 4, 5, 5, 6, 7, 7]
EVENT = [1, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1]
X = np.array([1.2, -0.3, 0.5, 0.8, 1.1, -1.0, 0.1, -0.7, 0.9, -0.2, -1.5, 0.4])[:, None]
DRAWN = np.array([[1] * 12, [1, 0, 2, 1, 3, 1, 2, 1, 0, 1, 2, 1]], dtype=np.uint8)

# r <- rep(1:12, counts); fit <- rms::cph(Surv(time[r], event[r]) ~ x[r], eps = 1e-13, tol = 1e-15, iter.max = 50)
# coef(fit), fit$stats["R2"]
OF_R = [1.3493552342398381, 2.6648292797566580], [0.4367828514567969, 0.7204622001521906]


def test_equals_cph_of_r() -> None:
    truth = truth_of((EVENT, SEEN_AT), "survival")
    slope, r2 = cox_slope(truth, X), NagelkerkeR2().statistic(truth, X)
    np.testing.assert_allclose(slope.all(DRAWN)[:, 0], OF_R[0], rtol=1e-10)
    np.testing.assert_allclose(r2.all(DRAWN)[:, 0], OF_R[1], rtol=1e-10)
    columns = np.zeros(2, dtype=np.intp)
    np.testing.assert_array_equal(slope.selected(DRAWN, columns), slope.all(DRAWN)[:, 0])
    np.testing.assert_array_equal(r2.selected(DRAWN, columns), r2.all(DRAWN)[:, 0])
    error = cox_slope_error(truth, X)
    np.testing.assert_array_equal(error.all(DRAWN), np.abs(slope.all(DRAWN) - 1))


def test_the_share_of_the_likelihood_does_not_ask_for_units() -> None:
    truth = truth_of((EVENT, SEEN_AT), "survival")
    moved = np.concatenate([X, 5 - 3 * X, np.ones((12, 1))], axis=1)
    np.testing.assert_allclose(
        cox_slope(truth, moved).all(DRAWN)[:, 1],
        -cox_slope(truth, X).all(DRAWN)[:, 0] / 3,
    )
    found = NagelkerkeR2().statistic(truth, moved).all(DRAWN)
    np.testing.assert_allclose(found[:, 1], found[:, 0])
    assert (found[:, 2] == 0).all()


def test_risks_that_are_always_right_have_no_slope_and_all_of_the_likelihood() -> None:
    truth, once = truth_of(([True, True, True, False], [1, 2, 3, 4]), "survival"), DRAWN[:1, :4]
    risks = np.array([[4.0], [3.0], [2.0], [1.0]])
    assert np.isnan(cox_slope(truth, risks).all(once)) and np.isnan(cox_slope_error(truth, risks).all(once))
    assert NagelkerkeR2().statistic(truth, risks).all(once) == 1.0


def test_risks_as_they_are_pay_for_their_slope() -> None:
    truth = truth_of((EVENT, SEEN_AT), "survival")
    slope = cox_slope(truth, X).all(DRAWN[:1])[0, 0]
    columns = np.concatenate([X, slope * X, 9 * X, -X], axis=1)
    as_they_are = NagelkerkeR2(recalibrated=False).statistic(truth, columns).all(DRAWN[:1])[0]
    best = NagelkerkeR2().statistic(truth, columns).all(DRAWN[:1])[0]
    np.testing.assert_allclose(best, OF_R[1][0], rtol=1e-10)
    assert as_they_are[1] == pytest.approx(best[1], abs=1e-12)
    assert 0 < as_they_are[0] < best[0] and as_they_are[2] < 0 and as_they_are[3] < 0


def test_weights_of_less_than_a_row_have_no_r2() -> None:
    truth = truth_of((EVENT, SEEN_AT), "survival")
    assert np.isnan(NagelkerkeR2().statistic(truth, X).all(DRAWN[:1] * 0.01)).all()
    assert 0 < NagelkerkeR2().statistic(truth, X).all(DRAWN[:1] * 1.0)[0, 0] < 1
