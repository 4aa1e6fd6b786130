"""Estimates from blocks of rows: a transcription on the same draws, ``ho.estimate`` on one block, refusals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import heldout as ho
from heldout._random import stream
from heldout.data.task import TaskKind, Truth, truth_of
from heldout.estimates.centres import ScoreRange, shrunken
from heldout.estimates.out_of_core import Block, estimate_from_blocks
from heldout.estimates.out_of_core.binned_areas import cuts_of
from heldout.estimates.out_of_core.whole_sums import MOST, PIECE, grid_for, whole_sums
from heldout.flags import Flag
from heldout.kernels.block_draws import BlockDraws
from heldout.metrics import metric_named

SEED = 20180709


@dataclass(frozen=True, eq=False)
class Rows:
    """A ``BlockSource`` of arrays."""

    truth: Truth
    predictions: Any
    block_rows: int = 16
    cuts: tuple[int, ...] = ()
    coded: bool = False
    adaptive: bool = False
    name: str = "rows"

    @property
    def names(self) -> list[str]:
        return [f"c{j}" for j in range(self.predictions.shape[1])]

    @property
    def n_rows(self) -> int:
        return self.truth.n_rows

    def ranges(self) -> list[tuple[int, int]]:
        ends = [0, *self.cuts, -(-self.n_rows // self.block_rows)]
        return list(pairwise(ends))

    def blocks(self, first: int, last: int) -> Iterator[Block]:
        for k in range(first, last):
            rows = np.arange(k * self.block_rows, min((k + 1) * self.block_rows, self.n_rows))
            yield Block(self.truth.rows(rows), self.predictions[rows], self.coded)


def binary(n: int = 70, c: int = 4, decimals: int = 3) -> Rows:
    rng = np.random.default_rng(n + c)
    y = rng.integers(0, 2, n)
    scores = np.clip(0.5 + 0.2 * (y[:, None] - 0.5) + 0.25 * rng.normal(size=(n, c)), 0, 1)
    return Rows(truth_of(y), scores.round(decimals))


def regression(n: int = 70, c: int = 4) -> Rows:
    rng = np.random.default_rng(n)
    y = rng.normal(size=n)
    return Rows(truth_of(y, TaskKind.REGRESSION), y[:, None] + rng.normal(size=(n, c)))


def asked(rows: Rows, metric: str, **settings: Any) -> ho.Estimate:
    settings = {"n_bootstraps": 25, "random_state": SEED} | settings
    return estimate_from_blocks(rows, metric_named(metric), **settings)


def counts_of(rows: Rows, n_bootstraps: int) -> Any:
    draws = BlockDraws(stream(SEED, "draws"), rows.n_rows, rows.block_rows)
    b = np.arange(n_bootstraps, dtype=np.uint64)
    totals = draws.totals(b, 0)
    return np.concatenate([draws.counts(k, b, 0, totals[:, k]) for k in range(draws.n_blocks)], axis=1)


LOSSES = {
    "accuracy": lambda y, p: (p > 0.5) != y,
    "zero_one_loss": lambda y, p: (p > 0.5) != y,
    "log_loss": lambda y, p: -np.log(np.clip(np.where(y == 1, p, 1 - p), 2**-52, 1 - 2**-52)),
    "neg_log_loss": lambda y, p: -np.log(np.clip(np.where(y == 1, p, 1 - p), 2**-52, 1 - 2**-52)),
    "brier_score": lambda y, p: (p - y) ** 2,
    "mean_squared_error": lambda y, p: (p - y) ** 2,
    "root_mean_squared_error": lambda y, p: (p - y) ** 2,
    "mean_absolute_error": lambda y, p: abs(p - y),
    "mean_pinball_loss": lambda y, p: abs(p - y) / 2,
}
FINISHES = {"accuracy": lambda mean: 1 - mean, "root_mean_squared_error": sqrt, "neg_log_loss": lambda mean: -mean}


@pytest.mark.parametrize("metric", LOSSES)
def test_row_wise_metrics_are_those_of_fractions_on_the_same_draws(metric: str) -> None:
    rows = regression() if "mean" in metric else binary()
    losses = LOSSES[metric](rows.truth.values[:, None], rows.predictions)
    exact = [[Fraction(float(loss)) for loss in row] for row in losses.tolist()]
    finish = FINISHES.get(metric, lambda mean: mean)
    found = asked(rows, metric, method=ho.estimates.BBC(control=False))
    chosen = []
    for counts, got in zip(counts_of(rows, 25).tolist(), found.distribution, strict=True):
        in_bag = [sum(w * row[j] for w, row in zip(counts, exact, strict=True)) for j in range(4)]
        best = in_bag.index(min(in_bag))
        left_out = [row[best] for w, row in zip(counts, exact, strict=True) if not w]
        chosen.append(best)
        assert got == pytest.approx(finish(float(sum(left_out) / len(left_out))), rel=1e-11, abs=1e-15)
        if losses.dtype == bool:
            assert got == float(finish(sum(left_out) / len(left_out)))
    assert found.selection_frequency.tolist() == (np.bincount(chosen, minlength=4) / 25).tolist()
    means = losses.mean(axis=0)
    assert found.selected == means.argmin()
    assert found.uncorrected == pytest.approx(finish(means.min()), rel=1e-11)
    assert found.value == found.distribution.mean()


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize("method", ["shrinkage", "bbc"])
@pytest.mark.parametrize("metric", [*LOSSES, "roc_auc"])
def test_a_table_of_one_block_gives_what_a_table_in_memory_gives(
    metric: str, method: str, alternative: str
) -> None:
    rows = replace(regression(200, 6) if "mean" in metric else binary(200, 6), block_rows=65_536)
    found = asked(rows, metric, method=method, alternative=alternative)
    whole = ho.estimate(
        rows.truth.values,
        rows.predictions,
        metric=metric,
        method=method,
        n_bootstraps=25,
        random_state=SEED,
        alternative=alternative,
    )
    np.testing.assert_allclose(found.distribution, whole.distribution, rtol=1e-11)
    assert found.selection_frequency.tolist() == whole.selection_frequency.tolist()
    assert (found.method, found.selected, found.n_rows_used) == (method, whole.selected, 200)
    assert found.value == pytest.approx(whole.value, rel=1e-12 if method == "shrinkage" else 1e-11)
    assert list(found.interval) == pytest.approx(list(whole.interval), rel=1e-11)
    assert found.uncorrected == pytest.approx(whole.uncorrected, rel=1e-11)
    assert found.optimism == pytest.approx(whole.optimism, abs=1e-10)
    assert set(whole.flags) == set(found.flags)
    for said in ("quantity", "n_rows", "selection", "ties", "pos_label", "redrawn", "entropy", "sources"):
        assert found.provenance[said] == whole.provenance[said], said
    if method == "shrinkage":
        assert found.standard_error == pytest.approx(whole.standard_error, rel=1e-11)
        assert found.provenance["shrinkage_factor"] == pytest.approx(whole.provenance["shrinkage_factor"], rel=1e-9)
        assert found.provenance["fold_dependence"] == whole.provenance["fold_dependence"] > 1


def test_nothing_is_named_and_shrinkage_answers() -> None:
    assert asked(binary(), "accuracy").to_dict() == asked(binary(), "accuracy", method="shrinkage").to_dict()


@pytest.mark.parametrize("metric", ["accuracy", "mean_squared_error"])
def test_shrinkage_reads_the_scores_of_all_blocks_in_the_bag(metric: str) -> None:
    rows, B = regression() if "mean" in metric else binary(), 60
    found = asked(rows, metric, n_bootstraps=B)
    sign = -1 if "mean" in metric else 1
    losses = LOSSES[metric](rows.truth.values[:, None], rows.predictions).astype(float)
    scores = -losses if "mean" in metric else 1 - losses
    drawn = counts_of(rows, B) @ scores / rows.n_rows
    noise = (drawn - drawn.mean(axis=0)) * sqrt(rows.n_rows / (rows.n_rows - 1))
    possible = ScoreRange.of(metric_named(metric))
    centres = shrunken(scores.mean(axis=0), noise, possible, np.random.default_rng(0))
    selected = (centres.values + centres.noise).argmax(axis=1)
    gains = centres.noise[np.arange(B), selected]
    assert (centres.values + centres.noise).max() < possible.best  # no noise is cut off
    np.testing.assert_allclose(found.distribution, found.uncorrected - sign * gains, rtol=1e-9)
    assert found.value == pytest.approx(found.uncorrected - sign * gains.mean(), rel=1e-9)
    assert found.selection_frequency.tolist() == (np.bincount(selected, minlength=4) / B).tolist()


def test_the_area_of_few_distinct_scores_is_exact() -> None:
    found = asked(replace(binary(200, 6, decimals=2), block_rows=64), "roc_auc", method="bbc")
    assert found.provenance["error_bound"] == 0
    assert found.provenance["selections_certain"] == 1
    assert Flag.BINNED_SCORES not in found.flags


@pytest.mark.parametrize("n_bins", [2, 8, 64])
def test_a_binned_area_lies_within_its_bound(n_bins: int) -> None:
    rows, B = binary(300, 5, decimals=9), 25
    found = asked(rows, "roc_auc", method="bbc", n_bootstraps=B, n_bins=n_bins)
    y, counts = rows.truth.values, counts_of(rows, B)
    cuts = cuts_of(rows.predictions, n_bins)
    bounds, exact, same = [], [], []
    for lane, got in zip(counts, found.distribution, strict=True):
        drawn = np.repeat(np.arange(300), lane)
        columns = [np.searchsorted(cuts[j, 1:], rows.predictions[:, j], "right") for j in range(5)]
        binned = np.stack(columns, axis=1)
        in_bag = [roc_auc_score(y[drawn], binned[drawn, j]) for j in range(5)]
        best, out = int(np.argmax(in_bag)), lane == 0
        assert got == pytest.approx(roc_auc_score(y[out], binned[out, best]), rel=1e-12)
        exact.append(roc_auc_score(y[out], rows.predictions[out, best]))
        tied = [
            ((binned[out, best] == k) & (y[out] == 1)).sum() * ((binned[out, best] == k) & (y[out] == 0)).sum()
            for k in range(n_bins)
        ]
        bounds.append(sum(tied) / (2 * y[out].sum() * (1 - y[out]).sum()))
        assert abs(got - exact[-1]) <= bounds[-1]
        same.append(best == np.argmax([roc_auc_score(y[drawn], rows.predictions[drawn, j]) for j in range(5)]))
    assert found.provenance["error_bound"] == pytest.approx(np.mean(bounds), rel=1e-12)
    assert abs(found.value - np.mean(exact)) <= found.provenance["error_bound"]
    assert found.provenance["selections_certain"] <= np.mean(same)
    observed = roc_auc_score(y, rows.predictions[:, found.selected])
    assert abs(found.uncorrected - observed) <= found.provenance["error_bound_uncorrected"]
    assert f"{found.provenance['error_bound']:.2g}" in found.flags[Flag.BINNED_SCORES]


@pytest.mark.parametrize("n_bins", [8, 64])
def test_shrinkage_says_that_scores_were_binned(n_bins: int) -> None:
    rows = replace(binary(300, 5, decimals=9), block_rows=65_536)
    found = asked(rows, "roc_auc", n_bootstraps=60, n_bins=n_bins)
    whole = ho.estimate(rows.truth.values, rows.predictions, metric="roc_auc", n_bootstraps=60, random_state=SEED)
    bound = found.provenance["error_bound_uncorrected"]
    assert f"The uncorrected roc_auc is within {bound:.2g} of that of" in found.flags[Flag.BINNED_SCORES]
    assert 0 < abs(found.uncorrected - whole.uncorrected) <= bound
    assert abs(found.value - whole.value) <= bound
    assert not {"error_bound", "selections_certain"} & set(found.provenance)


def test_a_selection_is_certain_where_bins_are_fine_beside_the_differences() -> None:
    rows = binary(300, 1, decimals=9)
    noise = np.random.default_rng(1).random((300, 3))
    found = asked(
        replace(rows, predictions=np.hstack([noise, rows.predictions])), "roc_auc", method="bbc", n_bins=64
    )
    assert found.selected == 3
    assert found.provenance["selections_certain"] == 1


@pytest.mark.parametrize("method", ["shrinkage", "bbc"])
@pytest.mark.parametrize("metric", ["accuracy", "log_loss", "roc_auc"])
def test_neither_workers_nor_ranges_change_a_bit(metric: str, method: str) -> None:
    rows = binary(400, 5, decimals=9)
    first = asked(rows, metric, method=method, n_bootstraps=300, n_bins=16)
    for cuts, n_jobs in (((7,), 1), ((1, 2, 3, 20), 2), (tuple(range(1, 25)), 3), ((13,), None)):
        again = asked(replace(rows, cuts=cuts), metric, method=method, n_bootstraps=300, n_bins=16, n_jobs=n_jobs)
        assert again.to_dict() == first.to_dict()
    if method == "bbc":  # the centres of shrinkage depend on all bootstraps
        fewer = asked(rows, metric, method=method, n_bootstraps=70, n_bins=16)
        assert fewer.distribution.tolist() == first.distribution[:70].tolist()


def test_bootstraps_without_a_class_are_drawn_again_as_in_memory() -> None:
    y = np.zeros(30, dtype=int)
    y[[3, 17]] = 1
    rows = Rows(truth_of(y), np.random.default_rng(0).random((30, 3)).round(2), block_rows=64)
    found = asked(rows, "roc_auc", n_bootstraps=100)
    whole = ho.estimate(y, rows.predictions, metric="roc_auc", n_bootstraps=100, random_state=SEED)
    assert found.provenance["redrawn"] == whole.provenance["redrawn"] > 50
    assert found.distribution.tolist() == whole.distribution.tolist()
    assert found.flags == whole.flags
    assert Flag.REDRAWN in found.flags
    in_blocks = asked(replace(rows, block_rows=7), "roc_auc", n_bootstraps=100)
    assert in_blocks.provenance["redrawn"] > 50
    assert np.isfinite(in_blocks.distribution).all()


def test_one_model_that_diverged_costs_the_others_no_digit() -> None:
    rows = regression(60, 3)
    rows.predictions[5, 2] = 1e150
    found = asked(rows, "mean_squared_error", method="bbc")
    without = asked(replace(rows, predictions=rows.predictions[:, :2]), "mean_squared_error", method="bbc")
    np.testing.assert_allclose(found.uncorrected, without.uncorrected, rtol=1e-10)
    for got, expected in zip(found.distribution, without.distribution, strict=True):
        assert got == pytest.approx(expected, rel=1e-10) or got > 1e290  # chosen where row 5 was left out


def test_numbers_of_a_grid_are_whole_and_add_up_to_the_loss() -> None:
    losses = np.array([[0.1, 1e30], [2.5e-7, 3.0]])
    grid = grid_for(1e30, 0.1)
    numbers = grid.counted(losses)
    assert grid.numbers > 1
    assert np.array_equal(numbers, np.rint(numbers))
    assert np.abs(numbers).max() <= 2.0**41
    by_number = numbers.reshape(2, grid.numbers, 2)
    steps = [Fraction(2) ** (grid.exponent - 41 * k) for k in range(grid.numbers)]
    for i in range(2):
        for j in range(2):
            total = sum(Fraction(by_number[i, k, j]) * step for k, step in enumerate(steps))
            assert abs(total - Fraction(losses[i, j])) <= Fraction(2) ** grid.finest / 2
    assert 2.0**grid.finest <= 0.1 * 2**-31


@pytest.mark.parametrize("n_rows", [1, PIECE, PIECE + 1, 3 * PIECE])
@pytest.mark.parametrize("largest", [3, 255])
def test_whole_sums_are_exact_also_where_a_piece_is_drawn_too_often(n_rows: int, largest: int) -> None:
    rng = np.random.default_rng(n_rows)
    counts = rng.integers(0, largest + 1, (3, n_rows)).astype(np.uint8)
    numbers = np.column_stack([rng.integers(-(2**41), 2**41, (n_rows, 2)), np.ones(n_rows)]).astype(float)
    expected = [
        weights.astype(object) @ numbers.astype(np.int64).astype(object) for weights in (counts, counts == 0)
    ]
    assert np.array_equal(whole_sums(counts, numbers), np.array(expected, dtype=np.int64))
    assert largest == 3 or n_rows == 1 or counts[:, :PIECE].sum(axis=1).max() > MOST


def test_scores_are_read_alike_in_every_block() -> None:
    rows = binary(96, 3)
    scores = rows.predictions - 0.5
    scores[:32] = np.abs(scores[:32])  # a block within [0, 1] alone would be taken for probabilities
    found = asked(replace(rows, predictions=scores, block_rows=32), "accuracy")
    assert found.provenance["response"] == "decision"
    assert found.uncorrected == ((scores > 0) == rows.truth.values[:, None]).mean(axis=0).max()
    cut = asked(replace(rows, predictions=scores, block_rows=32), "accuracy", threshold=0.1)
    assert cut.uncorrected == ((scores > 0.1) == rows.truth.values[:, None]).mean(axis=0).max()


def test_labels_are_read_as_labels_of_two_and_of_several_classes() -> None:
    y = np.random.default_rng(2).integers(1, 4, 90)
    labels = np.where(np.random.default_rng(3).random((90, 4)) < 0.6, y[:, None], 2)
    for classes in ((1, 2, 3), (1, 2)):
        kept = np.isin(y, classes)
        rows = Rows(truth_of(y[kept]), np.minimum(labels[kept], classes[-1]))
        found = asked(rows, "accuracy")
        assert found.provenance["response"] == "labels"
        assert found.uncorrected == (rows.predictions == y[kept][:, None]).mean(axis=0).max()


def test_a_single_configuration_and_few_bootstraps_are_flagged() -> None:
    found = asked(binary(50, 1), "accuracy", n_bootstraps=10)
    assert {Flag.SINGLE_CONFIGURATION, Flag.FEW_BOOTSTRAPS} <= set(found.flags)


def holed(value: float) -> Rows:
    rows = binary(70, 4)
    rows.predictions[37, 2] = value
    return rows


REFUSED = {
    "a missing prediction": (lambda: asked(holed(np.nan), "roc_auc"), r"'c2' in row 37 .* is missing"),
    "an infinite prediction": (lambda: asked(holed(np.inf), "roc_auc"), r"'c2' in row 37 .* is infinite"),
    "a metric of ranks": (lambda: asked(binary(), "average_precision"), "cannot be summed over blocks.*roc_auc"),
    "a metric of a confusion": (lambda: asked(binary(), "f1"), "metrics that can: accuracy"),
    "labels for log loss": (lambda: asked(Rows(truth_of(["a", "b"] * 9), np.zeros((18, 2), np.int32), coded=True),
                                          "log_loss"), "the predictions are text"),
    "no probabilities": (lambda: asked(regression_as_scores(), "log_loss"), "log_loss needs probabilities"),
    "a metric of another task": (lambda: asked(regression(), "accuracy"), "does not fit a regression target"),
    "a threshold for numbers": (lambda: asked(regression(), "mean_squared_error", threshold=0.5), "leave them out"),
    "one row of a class": (lambda: asked(Rows(truth_of([0] * 20 + [1]), np.ones((21, 2)) / 2), "accuracy"),
                           "class 1 has 1 row, and a bootstrap needs at least 2"),
    "one row": (lambda: asked(replace(regression(), truth=truth_of([1.5], "regression")), "mean_squared_error"),
                "has 1 rows; from 2 to"),
    "a loss beyond float64": (lambda: asked(diverged(), "mean_squared_error"),
                              r"the loss of 'c1' in row 20 .* is beyond what float64 holds"),
    "one bin": (lambda: asked(binary(), "roc_auc", n_bins=1), "n_bins must be an integer from 2 to 32768, got 1"),
    "no number of bins": (lambda: asked(binary(), "roc_auc", n_bins=True), "n_bins must be an integer"),
    "no workers": (lambda: asked(binary(), "roc_auc", n_jobs=0), "n_jobs must be a number of processes"),
    "no bootstraps": (lambda: asked(binary(), "roc_auc", n_bootstraps=0), "n_bootstraps must be"),
    "another method": (lambda: asked(binary(), "roc_auc", method="tt"), "by shrinkage, or by bbc with any control"),
    "a setting of bbc": (lambda: asked(binary(), "roc_auc", method=ho.estimates.BBC(interval="calibrated")),
                         "no other setting; got BBC"),
    "draws within classes": (lambda: asked(binary(), "roc_auc", method=ho.estimates.Shrinkage(stratify=True)),
                             "no other setting; got Shrinkage"),
    "a method that is none": (lambda: asked(binary(), "roc_auc", method="none"), "method must be one of"),
    "a response that is none": (lambda: asked(binary(), "roc_auc", response="scores"), "response must be one of"),
}  # fmt: skip


def regression_as_scores() -> Rows:
    rows = binary()
    return replace(rows, predictions=rows.predictions * 3 - 1)


def diverged() -> Rows:
    rows = regression()
    rows.predictions[20, 1] = 1e200
    return rows


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_answered_is_refused_in_a_sentence(what: str) -> None:
    ask, sentence = REFUSED[what]
    with pytest.raises(ho.InputError, match=sentence):
        ask()


@pytest.mark.parametrize(
    ("metric", "flag"), [("log_loss", "clipped_probabilities"), ("root_mean_squared_error", "few_rows_carry")]
)
def test_rows_that_decide_a_score_are_flagged_as_in_memory(metric: str, flag: str) -> None:
    rows = binary(200, 3) if metric == "log_loss" else regression(200, 3)
    rows = replace(rows, predictions=np.clip(rows.predictions, 0.01, 0.99)) if metric == "log_loss" else rows
    odd = rows.predictions.copy()
    odd[:3] = 1 - rows.truth.values[:3, None] if metric == "log_loss" else 1e3
    odd_rows = replace(rows, predictions=odd, block_rows=32)
    found = asked(odd_rows, metric)
    whole = ho.estimate(rows.truth.values, odd, metric=metric, n_bootstraps=25, random_state=SEED)
    assert found.flags[Flag(flag)] == whole.flags[Flag(flag)].replace("configuration ", "c")
    assert flag not in asked(replace(rows, block_rows=32), metric).flags


def test_an_adaptive_search_is_flagged_as_in_memory() -> None:
    rows = binary()
    whole = ho.estimate(rows.truth.values, rows.predictions, metric="roc_auc", adaptive=True, n_bootstraps=20)
    flagged = asked(replace(rows, adaptive=True), "roc_auc")
    assert flagged.flags[Flag.ADAPTIVE_SEARCH] == whole.flags[Flag.ADAPTIVE_SEARCH]
    assert flagged.value == asked(rows, "roc_auc").value
    assert Flag.ADAPTIVE_SEARCH not in asked(rows, "roc_auc").flags


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc"])
def test_all_right_has_an_interval_as_wide_as_that_of_a_table_in_memory(metric: str) -> None:
    y = np.resize([0, 0, 1], 60)
    rows = Rows(truth_of(y), (y[:, None] + np.zeros((60, 1))).astype(float))
    found = asked(rows, metric, n_bootstraps=100)
    whole = ho.estimate(y, rows.predictions, metric=metric, n_bootstraps=100, random_state=SEED)
    assert tuple(found.interval) == pytest.approx(tuple(whole.interval))
    assert found.interval.low == pytest.approx(0.05 ** (1 / (60 if metric == "accuracy" else 20)))
