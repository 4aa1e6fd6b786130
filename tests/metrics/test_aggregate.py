"""Segments, their mean, and the selection that no NaN may win."""

import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from heldout.data.task import Truth, truth_of
from heldout.errors import InputError
from heldout.metrics.aggregate import AggregateScore, aggregate_score, best_columns
from heldout.metrics.base import PROBED_ROWS, Metric, Needs, Signed, needed_codes, positive_of
from heldout.metrics.classification import (
    Accuracy,
    BalancedAccuracy,
    Brier,
    FScore,
    LogLoss,
    MatthewsCorrelation,
    Precision,
    Recall,
)
from heldout.metrics.custom import custom
from heldout.metrics.ranking import AveragePrecision, RocAuc
from heldout.metrics.regression import R2, MeanSquaredError
from heldout.selection.base import NONE_CHOSEN

RNG = np.random.default_rng(0)
N, C = 30, 4
LABELS = truth_of(np.r_[0, 1, RNG.integers(0, 2, N - 2)])
SCORES = RNG.normal(size=(N, C, 2)).round(1) + LABELS.values[:, None, None] * np.linspace(0, 1, C)[:, None]
COUNTS = RNG.multinomial(N, np.full(N, 1 / N), size=9).astype(np.uint8)


def pooled(metric: Metric, truth: Truth, predictions: np.ndarray, **more: Any) -> AggregateScore:
    repeats = predictions.shape[2]
    segments = np.tile(np.arange(repeats, dtype=np.int32), (truth.n_rows, 1))
    return aggregate_score(metric, truth, predictions, segments, **more)


def by_folds(metric: Metric, truth: Truth, predictions: np.ndarray, folds: int = 3) -> AggregateScore:
    fold = np.arange(truth.n_rows) % folds
    segments = np.stack([fold + folds * r for r in range(predictions.shape[2])], axis=1).astype(np.int32)
    return aggregate_score(metric, truth, predictions, segments)


def test_pooled_is_the_mean_over_repeats_and_folds_the_mean_over_all_folds() -> None:
    each = [RocAuc().statistic(LABELS, SCORES[:, :, r]).all(COUNTS) for r in range(2)]
    np.testing.assert_allclose(pooled(RocAuc(), LABELS, SCORES).all(COUNTS), np.mean(each, axis=0), rtol=1e-14)
    score = by_folds(RocAuc(), LABELS, SCORES)
    assert len(score.segments) == 6
    parts = []
    for r in range(2):
        for k in range(3):
            rows = np.arange(k, N, 3)
            bound = RocAuc().statistic(LABELS.rows(rows), SCORES[rows, :, r])
            parts.append(bound.all(np.ones((1, len(rows)), np.uint8))[0])
    np.testing.assert_allclose(score.observed(), np.mean(parts, axis=0), rtol=1e-14)


def test_folds_where_the_metric_is_undefined_are_left_out_of_the_mean() -> None:
    truth = truth_of([0, 1, 0, 0, 0, 1])
    predictions = np.array([0.2, 0.9, 0.1, 0.6, 0.7, 0.5])[:, None, None]
    segments = np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)[:, None]
    score = aggregate_score(RocAuc(), truth, predictions, segments)
    assert score.observed() == (1.0 + 0.0) / 2
    np.testing.assert_array_equal(score.observed_by_segment()[:, 0], [1.0, np.nan, 0.0])
    draws = np.array([[1, 1, 0, 0, 1, 0], [1, 0, 2, 2, 0, 0]], dtype=np.uint8)
    np.testing.assert_array_equal(score.defined_segments(draws), [[True, False, False], [False] * 3])
    np.testing.assert_array_equal(score.defined(draws), [True, False])
    np.testing.assert_array_equal(score.all(draws)[:, 0], [1.0, np.nan])
    np.testing.assert_array_equal(score.selected(draws, np.array([0, 0])), [1.0, np.nan])


@pytest.mark.parametrize("weighted", [False, True], ids=["counts", "weights"])
@pytest.mark.parametrize("score", [pooled, by_folds], ids=["pooled", "folds"])
@pytest.mark.parametrize("metric", [RocAuc(), AveragePrecision(), Signed(RocAuc(), -1)], ids=lambda m: m.name)
def test_the_best_in_the_bag_is_scored_out_of_it(metric: Metric, score: Any, weighted: bool) -> None:
    repeats = SCORES[:, :, : 1 if weighted else 2]
    weights = {"sample_weight": np.linspace(0.5, 2, N)} if weighted and score is pooled else {}
    bound = score(metric, LABELS, repeats, **weights)
    columns = bound.all(COUNTS).argmax(axis=1)
    left_out = (COUNTS == 0).astype(np.uint8)
    found = bound.best_out_of_bag(COUNTS)
    np.testing.assert_array_equal(found.columns, columns)
    np.testing.assert_array_equal(found.values, bound.selected(left_out, columns))


def test_ties_go_to_the_first_column() -> None:
    predictions = np.repeat(SCORES[:, 1:2, :1], 3, axis=1)
    for metric in (RocAuc(), AveragePrecision()):
        assert (pooled(metric, LABELS, predictions).best_out_of_bag(COUNTS).columns == 0).all()


def test_nan_never_wins() -> None:
    values = np.array([[np.nan, 0.2, 0.9], [np.nan, -np.inf, np.nan], [np.nan] * 3, [0.5, 0.5, np.nan]])
    np.testing.assert_array_equal(best_columns(values, True).columns, [2, 1, 0, 0])
    np.testing.assert_array_equal(best_columns(values, True).values, [0.9, -np.inf, np.nan, 0.5])
    np.testing.assert_array_equal(best_columns(-values, False).columns, [2, 1, 0, 0])


def test_a_configuration_whose_metric_raises_is_never_selected() -> None:
    def correlation(y_true: Any, y_pred: Any) -> float:
        return float(np.corrcoef(y_true, y_pred)[0, 1])  # nan for a constant prediction

    y = np.arange(12.0) / 4
    truth = truth_of(y, "regression")
    predictions = np.stack([np.full(12, 2.0), y + np.tile([0, 1], 6), -y], axis=1)[:, :, None]
    metric = custom(correlation, greater_is_better=True, response="values", range=(-1, 1))
    score = pooled(metric, truth, predictions)
    counts = np.random.default_rng(1).multinomial(12, np.full(12, 1 / 12), size=6).astype(np.uint8)
    found = score.best_out_of_bag(counts)
    assert (found.columns == 1).all()
    assert np.isfinite(found.values).all()
    assert score.failures == {"the value nan": 6}


def test_the_value_is_nan_where_no_column_has_a_value_in_the_bag() -> None:
    def first_row_only(y_true: Any, y_pred: Any) -> float:
        return float("nan") if 0.0 in y_true else 1.0

    metric = custom(first_row_only, greater_is_better=True, response="values")
    score = pooled(metric, truth_of([0.0, 0.5, 1.5], "regression"), np.zeros((3, 2, 1)))
    found = score.best_out_of_bag(np.array([[2, 1, 0], [0, 2, 1]], dtype=np.uint8))
    np.testing.assert_array_equal(found.columns, [NONE_CHOSEN, 0])  # nobody is credited with the first
    np.testing.assert_array_equal(found.values, [np.nan, np.nan])


def test_the_metric_s_own_positive_class_is_the_one_a_draw_needs() -> None:
    truth = truth_of([1, 2, 2, 2])
    predictions = np.array([0.1, 0.5, 0.6, 0.9])[:, None, None]
    draws = np.array([[0, 2, 1, 1], [4, 0, 0, 0]], dtype=np.uint8)
    np.testing.assert_array_equal(pooled(AveragePrecision(), truth, predictions).defined(draws), [True, False])
    own = pooled(AveragePrecision(pos_label=1), truth, predictions)
    np.testing.assert_array_equal(own.defined(draws), [False, True])
    np.testing.assert_array_equal(own.observed(), [1.0])


FOLDS_OF_THREE = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2], dtype=np.int32)[:, None]
ONCE = np.ones((1, 9), dtype=np.uint8)


def test_a_fold_without_positives_counts_as_in_scikit_learn_and_chance_makes_no_more_of_them() -> None:
    truth = truth_of([1, 0, 0, 0, 0, 0, 1, 1, 0])
    predicted = np.array([1, 0, 0, 1, 0, 0, 1, 1, 0], dtype=np.int32)[:, None, None]
    score = aggregate_score(FScore(), truth, predicted, FOLDS_OF_THREE, as_folds=True)
    assert score.degenerate_segments == 1
    np.testing.assert_array_equal(score.observed_by_segment()[:, 0], [1.0, 0.0, 1.0])
    assert score.observed()[0] == pytest.approx(2 / 3)
    draws = np.array(
        [
            [0, 2, 1, 1, 1, 1, 1, 1, 1],  # no positive row of the first fold: it is left out
            [0, 2, 1, 0, 0, 0, 1, 1, 1],  # nor any of the second
            [0, 2, 1, 1, 1, 1, 0, 0, 3],  # nothing but the 0 of the second: drawn again
        ],
        dtype=np.uint8,
    )
    np.testing.assert_array_equal(score.defined_segments(draws)[:2], [[False, True, True], [False, False, True]])
    np.testing.assert_allclose(score.all(draws)[:2, 0], [1 / 2, 1.0])
    np.testing.assert_array_equal(score.defined(draws), [True, True, False])
    np.testing.assert_array_equal(score.selected(draws, np.zeros(3, np.intp)), score.all(draws)[:, 0])


def test_pooled_rows_have_no_degenerate_segments() -> None:
    truth = truth_of([1, 0, 0, 0, 0, 0, 1, 1, 0])
    score = aggregate_score(FScore(), truth, np.zeros((9, 1, 1), np.int32), FOLDS_OF_THREE)
    assert score.degenerate_segments == 0
    np.testing.assert_array_equal(score.defined_segments(ONCE), [[True, False, True]])


def test_where_every_fold_is_degenerate_any_row_will_do() -> None:
    # Leaving one out, balanced accuracy of a fold is whether its row was right, in scikit-learn too.
    truth = truth_of([1, 0, 0, 1])
    predicted = np.array([1, 0, 1, 0], dtype=np.int32)[:, None, None]
    folds = np.arange(4, dtype=np.int32)[:, None]
    score = aggregate_score(BalancedAccuracy(), truth, predicted, folds, as_folds=True)
    assert score.degenerate_segments == 4
    draws = np.array([[1, 1, 1, 1], [0, 4, 0, 0]], dtype=np.uint8)
    np.testing.assert_array_equal(score.defined(draws), [True, True])
    np.testing.assert_array_equal(score.all(draws)[:, 0], [0.5, 1.0])


def test_a_log_loss_of_one_class_has_no_score_in_scikit_learn_and_none_here_however_it_is_drawn() -> None:
    truth = truth_of([1, 0, 0, 0, 0, 0, 1, 1, 0])
    given = np.linspace(0.1, 0.9, 9)[:, None, None]
    score = aggregate_score(LogLoss(), truth, given, FOLDS_OF_THREE, as_folds=True)
    assert score.degenerate_segments == 0
    parts = score.observed_by_segment()[:, 0]
    np.testing.assert_array_equal(np.isnan(parts), [False, True, False])
    assert score.observed()[0] == pytest.approx(np.nanmean(parts))
    draws = np.array([[1, 0, 0, 5, 0, 0, 0, 0, 3], [0, 0, 0, 9, 0, 0, 0, 0, 0]], dtype=np.uint8)
    np.testing.assert_array_equal(score.defined_segments(draws), [[True, False, True], [False] * 3])
    np.testing.assert_array_equal(np.isnan(score.all(draws)[:, 0]), [False, True])


def test_one_fold_alone_may_be_undefined() -> None:
    truth = truth_of([0, 0, 1])
    one = np.array([0, 0, -1], dtype=np.int32)[:, None]
    score = aggregate_score(LogLoss(), truth, np.full((3, 2, 1), 0.5), one, as_folds=True)
    counts = np.ones((2, 3), dtype=np.uint8)
    assert np.isnan(score.all(counts)).all()
    found = score.best_out_of_bag(counts)
    np.testing.assert_array_equal(found.columns, NONE_CHOSEN)
    assert np.isnan(found.values).all()


def test_a_constant_fold_has_the_r2_of_scikit_learn_and_one_of_one_row_has_none() -> None:
    truth = truth_of([0.5, 0.5, 0.5, 2.5, 2.5, 1.0, 2.0, 4.0, 3.5], "regression")
    values = np.array([0.5, 0.5, 0.7, 2.5, 2.5, 1.0, 2.0, 3.0, 1.0])[:, None, None]
    folds = np.array([0, 0, 0, 1, 1, 2, 2, 2, 3], dtype=np.int32)[:, None]
    score = aggregate_score(R2(), truth, values, folds, as_folds=True)
    assert score.degenerate_segments == 2
    spread = 14 / 3  # of 1, 2, 4
    np.testing.assert_allclose(score.observed_by_segment()[:, 0], [0.0, 1.0, 1 - 1 / spread, np.nan])


def test_weights_of_0_are_no_rows_of_a_fold() -> None:
    truth = truth_of([1, 0, 0, 0, 0, 0, 1, 1, 0])
    weights = np.ones(9)
    weights[0] = 0.0
    predicted = np.zeros((9, 1, 1), np.int32)
    score = aggregate_score(FScore(), truth, predicted, FOLDS_OF_THREE, weights, as_folds=True)
    assert score.degenerate_segments == 2


def test_a_fold_in_which_a_function_is_never_defined_is_left_out() -> None:
    def undeclared(y_true: Any, y_pred: Any) -> float:
        if y_true.max() == 0:
            raise ZeroDivisionError("no events")
        return float(y_pred.sum() / y_true.sum())

    metric = custom(undeclared, greater_is_better=True, response="labels")
    truth = truth_of([1, 0, 0, 0, 0, 0, 1, 1, 0])
    predicted = np.array([1, 0, 0, 1, 0, 0, 1, 0, 0], dtype=np.int32)[:, None, None]
    score = aggregate_score(metric, truth, predicted, FOLDS_OF_THREE, as_folds=True)
    np.testing.assert_array_equal(score.defined_segments(ONCE), [[True, False, True]])
    assert score.observed() == (1 + 1 / 2) / 2
    assert "ZeroDivisionError: no events" in score.failures


def test_foreign_code_and_the_fused_path_are_declared() -> None:
    mine = custom(lambda y, p: 0.0, greater_is_better=True, response="labels", name="nothing")
    labels = np.zeros((N, 2, 1), np.int32)
    assert pooled(mine, LABELS, labels).metric.calls_foreign_code
    assert not pooled(mine, LABELS, labels).has_fused_path
    assert not pooled(Accuracy(), LABELS, labels).metric.calls_foreign_code
    assert pooled(Accuracy(), LABELS, labels).has_fused_path
    assert not pooled(Accuracy(), LABELS, labels, sample_weight=np.ones(N)).has_fused_path
    assert not by_folds(Accuracy(), LABELS, labels).has_fused_path


def test_threads_leave_the_warning_filters_of_the_process_alone() -> None:
    def slow(y_true: Any, y_pred: Any) -> float:
        time.sleep(0.0005 if threading.current_thread().name.endswith("_1") else 0)
        return 0.0

    score = pooled(custom(slow, greater_is_better=True, response="labels"), LABELS, np.zeros((N, 1, 1), np.int32))
    before = list(warnings.filters)
    seen = []
    with ThreadPoolExecutor(2) as pool:
        for _ in range(10):
            pending = [pool.submit(score.all, COUNTS) for _ in range(4)]
            seen.append(list(warnings.filters))
            [future.result() for future in pending]
    assert all(filters == before for filters in [*seen, list(warnings.filters)])


TWO, SEVERAL = truth_of(["a", "b", "b"]), truth_of(["a", "b", "c"])
NEEDED = [
    ([1], TWO, [FScore()]),
    ([0], TWO, [FScore(pos_label="a"), Recall(pos_label="a"), AveragePrecision(pos_label="a")]),
    ([0], TWO, [Signed(AveragePrecision(pos_label="a"), 1)]),
    ([0, 1], TWO, [Precision("weighted"), FScore("macro"), MatthewsCorrelation(), BalancedAccuracy(), RocAuc()]),
    ([], TWO, [FScore("micro"), LogLoss(), Brier(), Accuracy()]),
    ([0, 1, 2], SEVERAL, [AveragePrecision(), FScore("macro")]),
    ([], SEVERAL, [Brier()]),
    ([], truth_of([0.5, 1.5], "regression"), [R2()]),
]


@pytest.mark.parametrize(("codes", "truth", "metrics"), NEEDED)
def test_the_classes_that_a_bootstrap_needs(codes: list[int], truth: Truth, metrics: list[Metric]) -> None:
    for metric in metrics:
        assert needed_codes(metric, truth) == codes, metric.name


def test_the_positive_class_of_a_metric() -> None:
    assert positive_of(FScore("macro"), SEVERAL) is None
    assert (
        positive_of(FScore(pos_label="a"), TWO) == positive_of(RocAuc(), truth_of(["a", "b"], pos_label="a")) == 0
    )


def test_rows_that_are_not_in_play_do_not_count() -> None:
    truth = truth_of([0.0, 1.5, 2.0], "regression")
    predictions = np.array([1.0, 1.5, np.nan])[:, None, None]
    segments = np.array([0, 0, -1], dtype=np.int32)[:, None]
    assert aggregate_score(MeanSquaredError(), truth, predictions, segments).observed() == 0.5
    with pytest.raises(InputError, match="no row is in play"):
        aggregate_score(MeanSquaredError(), truth, predictions, np.full((3, 1), -1, dtype=np.int32))


def test_a_function_that_takes_no_weights_refuses_importance_weights() -> None:
    metric = custom(lambda y, p: 0.0, greater_is_better=True, response="labels", name="nothing")
    with pytest.raises(InputError, match="'nothing' takes no sample_weight"):
        pooled(metric, LABELS, np.zeros((N, 1, 1), np.int32), sample_weight=np.ones(N))


def test_importance_weights_multiply_the_counts() -> None:
    weights = np.linspace(0.5, 2, N)
    labels = (SCORES[:, :, :1] > 0.5).astype(np.int32)
    for metric in (Accuracy(), FScore()):
        bound = metric.statistic(LABELS, labels[:, :, 0])
        np.testing.assert_allclose(
            pooled(metric, LABELS, labels, sample_weight=weights).all(COUNTS),
            bound.all(COUNTS * weights),
            rtol=1e-14,
        )


@pytest.mark.parametrize("need", list(Needs))
def test_what_few_rows_do_not_hold_is_found_in_the_others(need: Needs) -> None:
    """Each weighting holds the rows of one end, so that the first rows seldom show what the rest holds."""
    n = 2 * PROBED_ROWS + 20
    places = np.arange(n)
    if need is Needs.PAIR:
        truth = truth_of(np.array(list(zip(places % 2 == 0, places + 1.0, strict=True)), dtype="?,f8"))
    elif need is Needs.TWO_VALUES:
        truth = truth_of(np.where(places < n - 10, 0.5, places + 0.5))
    else:
        truth = truth_of(np.where(places < n - 10, "a", "b"))
    starts = np.arange(n + 1)
    counts = (places >= starts[:, None]).astype(np.uint8)
    counts = np.r_[counts, (places < starts[:, None]).astype(np.uint8)]
    expected = [_holds(need, truth.rows(np.flatnonzero(lane))) for lane in counts]
    assert need.met(truth, truth.positive, counts).tolist() == expected
    assert need.met(truth, truth.positive, counts * 0.5).tolist() == expected
    shuffled, wider = np.random.default_rng(1).permutation(2 * n)[:n], np.ones((len(counts), 2 * n), dtype=np.uint8)
    wider[:, shuffled] = counts
    assert need.met(truth, truth.positive, wider, shuffled).tolist() == expected
    assert len(set(expected)) == 2


def _holds(need: Needs, present: Truth) -> bool:
    if need is Needs.PAIR:
        events = present.values["time"][present.values["event"]]
        return bool(len(events)) and bool(events.min() < present.values["time"].max())
    if need in (Needs.TWO_VALUES, Needs.EVERY_CLASS):
        return len(np.unique(present.values)) >= 2
    if need is Needs.POSITIVE:
        return bool((present.values == present.positive).any())
    return present.n_rows >= (2 if need is Needs.TWO_ROWS else 1)
