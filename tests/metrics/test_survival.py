"""Concordance and Brier scores by hand, pair by pair, and against the numbers of scikit-survival."""

import pickle
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from heldout.data.task import Truth, truth_of
from heldout.errors import InputError
from heldout.metrics import ConcordanceUno, IntegratedBrier, check_fits, metric_named
from heldout.metrics.base import Metric, Needs
from heldout.metrics.survival import Censoring, ConcordanceIndex


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


def test_without_censoring_unos_index_is_harrells() -> None:
    y, risks = study(3, rows=40, step=1e-6)
    y["seen"] = True
    # sksurv.metrics.concordance_index_ipcw(y, y, risks)[0], and concordance_index_censored's number too.
    for metric in (ConcordanceIndex(), ConcordanceUno()):
        assert values(metric, y, risks[:, None])[0, 0] == pytest.approx(0.6756410256410257, abs=1e-10)


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


def test_a_share_is_never_above_one() -> None:
    rng = np.random.default_rng(0)
    y, _ = study(6)
    perfect = -np.argsort(np.argsort(y["days"] + 0.01 * ~y["seen"], kind="stable")).astype(float)[:, None]
    found = values(ConcordanceUno(), y, perfect, rng.random((200, 60)))
    assert found.max() <= 1.0
    np.testing.assert_allclose(found, 1.0, rtol=1e-13)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        pytest.param(lambda: ConcordanceUno(tau=-1), "tau must be a time above 0, or None", id="tau negative"),
        pytest.param(lambda: ConcordanceUno(tau=np.nan), "tau must be a time above 0", id="tau NaN"),
        pytest.param(lambda: IntegratedBrier((2.0,)), "at least two ascending finite numbers", id="one time"),
        pytest.param(lambda: IntegratedBrier((2.0, 1.0)), "at least two ascending", id="descending"),
        pytest.param(lambda: IntegratedBrier((2.0, np.inf)), "at least two ascending finite", id="infinite"),
    ],
)
def test_parameters_of_no_meaning_have_their_sentence(make: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("metric", "sentence"),
    [
        pytest.param("integrated_brier_score", r"integrated_brier_score\(times=\[1, 2, 5\]\)'", id="no times"),
        pytest.param("neg_integrated_brier_score", r"integrated_brier_score\(times=\[", id="no times, negative"),
        pytest.param(
            IntegratedBrier((0.5, 2)), "times must lie within those of the target, from 1 to before 4", id="early"
        ),
        pytest.param(IntegratedBrier((2, 4)), "from 1 to before 4, got 2 to 4", id="late"),
        pytest.param(
            ConcordanceUno(tau=1.0), r"needs an event before `tau=1\.0`, but there is none", id="tau early"
        ),
        pytest.param(ConcordanceUno(), r"which is 0 at time 4; leave late .*ConcordanceUno\(tau=4\)", id="G is 0"),
    ],
)
def test_a_metric_that_the_target_lacks_something_for(metric: Any, sentence: str) -> None:
    truth = truth_of([(True, 1), (False, 2), (True, 4), (False, 4)], "survival")
    with pytest.raises(InputError, match=sentence):
        check_fits(metric_named(metric), truth)
    assert check_fits(ConcordanceUno(tau=4), truth).name == "concordance_index_ipcw(tau=4)"
    assert metric_named("concordance_index_ipcw(tau=4)") == ConcordanceUno(tau=4)
    assert metric_named("integrated_brier_score(times=[1, 2.5])") == IntegratedBrier(np.array([1.0, 2.5]))


def test_names_and_directions() -> None:
    assert metric_named("concordance_index_censored") is metric_named("concordance_index")
    assert metric_named("concordance_index").greater_is_better
    assert metric_named("concordance_index_ipcw") == ConcordanceUno()
    assert not metric_named("integrated_brier_score").greater_is_better
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
