"""Pairs within folds: by hand, by a loop over all pairs, and what must not change the number."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit

from heldout.data.task import Truth, truth_of
from heldout.errors import InputError
from heldout.metrics import metric_named
from heldout.metrics.aggregate import aggregate_score, within_score
from heldout.metrics.base import Signed, is_pair_based
from heldout.metrics.ranking import RocAuc, RocAucOneVsOne, RocAucOneVsRest
from heldout.metrics.survival import ConcordanceUno

N, C, R, K = 48, 5, 2, 6


def folds_of(seed: int = 0) -> NDArray[np.int32]:
    """(N, R): codes that do not recur between repeats; some rows not in play."""
    rng = np.random.default_rng(seed)
    folds = np.stack([rng.permutation(N) % K + K * repeat for repeat in range(R)], axis=1)
    folds[:3, 1] = -1
    return folds.astype(np.int32)


def weightings(kind: str) -> NDArray[Any]:
    rng = np.random.default_rng(1)
    counts = rng.multinomial(N, np.full(N, 1 / N), size=7).astype(np.uint8)
    counts = np.concatenate([np.ones((1, N), dtype=np.uint8), counts, counts == 0]).astype(np.uint8)
    return counts if kind == "counts" else counts * rng.gamma(2.0, size=N)


def binary(seed: int = 2) -> tuple[Truth, NDArray[Any]]:
    rng = np.random.default_rng(seed)
    y = rng.random(N) < 0.4
    return truth_of(y.astype(int)), np.round(rng.normal(size=(N, C, R)) + y[:, None, None], 1)


def survival(seed: int = 3) -> tuple[Truth, NDArray[Any]]:
    rng = np.random.default_rng(seed)
    rows = list(zip(rng.random(N) < 0.6, rng.integers(1, 15, size=N).tolist(), strict=True))
    return truth_of(rows, "survival"), np.round(rng.normal(size=(N, C, R)), 1)


def share_of_pairs(truth: Truth, scores: Any, folds: Any, weights: Any, factor: Any = None) -> float:
    """Pair by pair: the words of the definition, of one configuration (N, R) under one weighting."""
    right = total = 0.0
    for repeat, (i, j) in product(range(R), product(range(N), repeat=2)):
        if folds[i, repeat] < 0 or folds[i, repeat] != folds[j, repeat] or not comparable(truth, i, j):
            continue
        weight = weights[i] * weights[j] * (1.0 if factor is None else factor[i])
        right += weight * (0.5 * (scores[i, repeat] == scores[j, repeat]) + (scores[i, repeat] > scores[j, repeat]))
        total += weight
    return right / total


def comparable(truth: Truth, i: int, j: int) -> bool:
    """Whether row i should have the greater score."""
    if truth.kind != "survival":
        return bool(truth.values[i] == truth.positive and truth.values[j] != truth.positive)
    event, time = truth.values["event"], truth.values["time"]
    return bool(event[i] and (time[j] > time[i] or (time[j] == time[i] and not event[j])))


def test_by_hand() -> None:
    truth = truth_of([0, 1, 0, 1, 1, 0])
    scores = np.array([0.1, 0.2, 0.8, 0.8, 0.7, 0.9])[:, None, None]
    folds = np.array([0, 0, 1, 1, 1, 2], dtype=np.int32)[:, None]
    score = within_score(RocAuc(), truth, scores, folds)
    # Fold 0: one pair, right. Fold 1: a tie and a pair that is wrong. Fold 2: none.
    assert score.observed().tolist() == [(1 + 0.5) / 3]
    counts = np.array([[1, 1, 2, 3, 0, 1], [1, 0, 0, 1, 1, 1]], dtype=np.uint8)
    assert score.defined(counts).tolist() == [True, False]
    assert score.all(counts)[:, 0] == pytest.approx([(1 + 0.5 * 6) / (1 + 6), np.nan], nan_ok=True)


@pytest.mark.parametrize("kind", ["counts", "weights"])
@pytest.mark.parametrize("name", ["roc_auc", "somers_d", "concordance_index", "somers_d of survival", "uno"])
def test_equals_a_loop_over_all_pairs(name: str, kind: str) -> None:
    truth, scores = survival() if name in ("concordance_index", "uno", "somers_d of survival") else binary()
    metric = ConcordanceUno(tau=9.0) if name == "uno" else metric_named(name.split()[0])
    factor = metric.for_truth(truth)._factors(truth) if isinstance(metric, ConcordanceUno) else None
    counts = weightings(kind)[[0, 3, -1]]
    bound = within_score(metric, truth, scores, folds_of())
    found = bound.all(counts)
    for (lane, weights), column in product(enumerate(counts.astype(float)), range(C)):
        share = share_of_pairs(truth, scores[:, column], folds_of(), weights, factor)
        expected = 2 * share - 1 if name.startswith("somers") else share
        assert found[lane, column] == pytest.approx(expected, abs=1e-12)
    columns = np.array([0, 4, 2])
    np.testing.assert_array_equal(bound.selected(counts, columns), found[np.arange(3), columns])


@pytest.mark.parametrize("metric", [RocAuc(), Signed(RocAuc(), -1), metric_named("partial_roc_auc(max_fpr=0.4)")])
def test_one_fold_is_all_rows(metric: Any) -> None:
    truth, scores = binary()
    one = np.zeros((N, 1), dtype=np.int32)
    counts = weightings("counts")
    pooled = aggregate_score(metric, truth, scores[:, :, :1], one)
    np.testing.assert_allclose(within_score(metric, truth, scores, one).all(counts), pooled.all(counts), atol=1e-12)


def test_a_monotone_map_of_a_folds_scores_changes_nothing() -> None:
    truth, scores = binary()
    folds = folds_of()
    mapped = scores.copy()
    for code in range(K * R):
        rows, repeats = np.nonzero(folds == code)
        mapped[rows, :, repeats] = expit(scores[rows, :, repeats]) * (code + 1) + 10.0 * (code % 4)
    counts = weightings("counts")
    plain, moved = (within_score(RocAuc(), truth, each, folds) for each in (scores, mapped))
    np.testing.assert_array_equal(moved.all(counts), plain.all(counts))


@pytest.mark.parametrize("name", ["roc_auc", "partial_roc_auc(max_fpr=0.5)"])
def test_is_the_mean_over_folds_weighted_by_their_pairs(name: str) -> None:
    truth, scores = binary()
    folds, metric = folds_of(), metric_named(name)
    by_fold = aggregate_score(metric, truth, scores, folds, as_folds=True)
    values = by_fold.observed_by_segment()
    positive = [np.count_nonzero(segment.truth.values == 1) for segment in by_fold.segments]
    pairs = np.array([n * (len(segment.rows) - n) for n, segment in zip(positive, by_fold.segments, strict=True)])
    expected = np.where(pairs[:, None] > 0, values, 0.0).T @ pairs / pairs.sum()
    np.testing.assert_allclose(within_score(metric, truth, scores, folds).observed(), expected, atol=1e-12)


@pytest.mark.parametrize("metric", [RocAucOneVsRest(), RocAucOneVsRest("weighted"), RocAucOneVsOne()])
def test_several_classes_sum_the_pairs_of_each_over_folds_first(metric: Any) -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, size=N)
    scores = rng.dirichlet(np.ones(3), size=(N, C, R))
    folds = folds_of()
    played = (folds >= 0).sum(axis=1)
    expected, weights = [], []
    for one, other in [(a, b) for a in range(3) for b in range(3) if a != b]:
        if isinstance(metric, RocAucOneVsRest) and other != (one + 1) % 3:
            continue  # one against both others
        rest = y != one if isinstance(metric, RocAucOneVsRest) else y == other
        inside = np.flatnonzero((y == one) | rest)
        truth = truth_of((y[inside] == one).astype(int))
        expected.append(within_score(RocAuc(), truth, scores[inside][..., one], folds[inside]).observed())
        weights.append(played[y == one].sum() if "weighted" in metric.name else 1)
    found = within_score(metric, truth_of(y), scores, folds).observed()
    np.testing.assert_allclose(found, np.average(expected, axis=0, weights=weights), atol=1e-12)


def test_the_best_in_the_bag_is_found_without_a_matrix() -> None:
    truth, scores = binary()
    score = within_score(RocAuc(), truth, scores, folds_of())
    counts = weightings("counts")[1:8]
    assert score.has_fused_path
    found = score.best_out_of_bag(counts)
    np.testing.assert_array_equal(found.columns, score.all(counts).argmax(axis=1))
    np.testing.assert_array_equal(found.values, score.selected((counts == 0).astype(np.uint8), found.columns))


def test_each_repeat_by_itself() -> None:
    truth, scores = binary()
    folds, counts = folds_of(), weightings("weights")
    found = within_score(RocAuc(), truth, scores, folds).by_repeat(counts)
    for repeat in range(R):
        alone = within_score(RocAuc(), truth, scores[:, :, [repeat]], folds[:, [repeat]])
        np.testing.assert_allclose(found[:, repeat], alone.all(counts), atol=1e-12)


def test_other_predictions_of_the_same_rows() -> None:
    truth, scores = binary()
    other = binary(seed=9)[1][:, :3]
    rebound = within_score(RocAuc(), truth, scores, folds_of()).with_predictions(other)
    expected = within_score(RocAuc(), truth, other, folds_of())
    np.testing.assert_array_equal(rebound.all(weightings("counts")), expected.all(weightings("counts")))


def test_a_mean_over_rows_is_that_of_all_rows() -> None:
    truth, scores = binary()
    folds = folds_of()[:, :1]
    for name in ("log_loss", "neg_log_loss", "brier_score"):
        metric, chances = metric_named(name), expit(scores[:, :, :1])
        pooled = aggregate_score(metric, truth, chances, np.zeros((N, 1), dtype=np.int32))
        np.testing.assert_array_equal(within_score(metric, truth, chances, folds).observed(), pooled.observed())


@pytest.mark.parametrize("name", ["f1", "average_precision", "sensitivity_at_specificity"])
def test_what_is_not_made_of_pairs_is_refused(name: str) -> None:
    truth, scores = binary()
    with pytest.raises(InputError, match=f"{name} is neither made of pairs"):
        within_score(metric_named(name), truth, scores, folds_of())
    assert not is_pair_based(metric_named(name))
