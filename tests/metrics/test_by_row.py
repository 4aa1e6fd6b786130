"""The mean over folds of one row each equals the mean that is computed fold by fold."""

from typing import Any

import numpy as np
import pytest

from heldout.data.task import truth_of
from heldout.metrics import metric_named
from heldout.metrics.aggregate import AggregateScore, RowAggregate, aggregate_score, fold_score

N, C = 23, 4
RNG = np.random.default_rng(3)
NUMBERS = RNG.normal(size=N)
CLASSES = (NUMBERS > 0).astype(int)
VALUES = NUMBERS[:, None] + RNG.normal(size=(N, C))
LABELS = (VALUES > 0).astype(np.int32)
FOLDS = RNG.permutation(N).astype(np.int32)[:, None]
COUNTS = RNG.multinomial(N, np.full(N, 1 / N), size=40).astype(np.uint8)
WEIGHTS = np.where(np.arange(N) == 5, 0.0, np.linspace(0.5, 2.0, N))

METRICS = {
    "neg_mean_squared_error": (NUMBERS, VALUES),
    "mean_absolute_error": (NUMBERS, VALUES),
    "accuracy": (CLASSES, LABELS),
    "zero_one_loss": (CLASSES, LABELS),
}


def scores(name: str, weight: Any = None) -> tuple[AggregateScore, AggregateScore]:
    y, predictions = METRICS[name]
    metric, truth, array = metric_named(name), truth_of(y), predictions[:, :, None]
    return (
        fold_score(metric, truth, array, FOLDS, weight),
        aggregate_score(metric, truth, array, FOLDS, weight, as_folds=True),
    )


@pytest.mark.parametrize("weight", [None, WEIGHTS], ids=["counts", "weights"])
@pytest.mark.parametrize("name", METRICS)
def test_it_is_the_mean_over_folds(name: str, weight: Any) -> None:
    ours, theirs = scores(name, weight)
    assert isinstance(ours, RowAggregate)
    assert not isinstance(theirs, RowAggregate)
    columns = RNG.integers(0, C, size=len(COUNTS))
    for mine, other in (
        (ours.all(COUNTS), theirs.all(COUNTS)),
        (ours.selected(COUNTS, columns), theirs.selected(COUNTS, columns)),
        (ours.observed(), theirs.observed()),
        (ours.by_segment(COUNTS), theirs.by_segment(COUNTS)),
        (ours.observed_by_segment(), theirs.observed_by_segment()),
        (ours.by_repeat(COUNTS), theirs.by_repeat(COUNTS)),
        (ours.best_out_of_bag(COUNTS).values, theirs.best_out_of_bag(COUNTS).values),
    ):
        np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-12)
    assert np.array_equal(ours.defined(COUNTS), theirs.defined(COUNTS))
    assert np.array_equal(ours.defined_segments(COUNTS), theirs.defined_segments(COUNTS))
    assert (len(ours.segments), ours.degenerate_segments, ours.failures) == (N, 0, {})
    assert [segment.rows.tolist() for segment in ours.segments] == [s.rows.tolist() for s in theirs.segments]


def test_a_draw_without_a_row_of_weight_has_no_score() -> None:
    ours, theirs = scores("accuracy", WEIGHTS)
    only = np.zeros((1, N), dtype=np.uint8)
    only[0, 5] = 3
    assert np.isnan(ours.all(only)).all()
    assert np.isnan(theirs.all(only)).all()
    assert not ours.defined(only).any()


def test_other_predictions_are_read_fold_by_fold() -> None:
    ours, theirs = scores("accuracy")
    other = 1 - LABELS[:, ::-1, None]
    np.testing.assert_allclose(
        ours.with_predictions(other).all(COUNTS), theirs.with_predictions(other).all(COUNTS), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("name", "folds"),
    [
        ("r2", FOLDS),
        ("root_mean_squared_error", FOLDS),
        ("median_absolute_error", FOLDS),
        ("neg_mean_squared_error", FOLDS // 2),
        ("neg_mean_squared_error", np.where(FOLDS == 3, -1, FOLDS)),
    ],
)
def test_other_metrics_and_folds_are_scored_fold_by_fold(name: str, folds: Any) -> None:
    score = fold_score(metric_named(name), truth_of(NUMBERS), VALUES[:, :, None], folds.astype(np.int32))
    assert not isinstance(score, RowAggregate)
