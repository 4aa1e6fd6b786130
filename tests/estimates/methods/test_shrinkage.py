"""Shrinkage: agreement with a plain implementation, every rule and kind of data, and cases at the edge."""

import json
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from scipy.stats import t
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline

import heldout as ho
from heldout._streams import stream
from heldout.dropping import Bootstrap
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates import BBC, Shrinkage
from heldout.selection import (
    AverageRank,
    Best,
    GreedyEnsemble,
    OneStandardError,
    Threshold,
    TopK,
    Within,
)
from heldout.selection.bootstrap_draws import Draws, always

SAMPLING = BBC(interval="sampling")
RNG = np.random.default_rng(4)
N = 120
Y = RNG.permutation(np.repeat([0, 1], N // 2))
DECISIONS = RNG.normal(size=(N, 7)) + 0.8 * Y[:, None]
PROBABILITIES = 1 / (1 + np.exp(-DECISIONS))
LABELS = (PROBABILITIES > 0.6).astype(int)
FOLDS = np.empty(N, dtype=int)
for code in (0, 1):
    FOLDS[Y == code] = np.arange(N // 2) % 4
TARGET = RNG.normal(size=N)
NUMBERS = TARGET[:, None] + RNG.normal(size=(N, 7)) * RNG.uniform(0.4, 1.4, 7)


def of(y, predictions, metric, **more):
    settings = {"metric": metric, "method": "shrinkage", "n_bootstraps": 100, "random_state": 1} | more
    return ho.estimate(y, predictions, **settings)


def assert_sound(found):
    """A value with an interval of some width around it, and a record that is plain JSON."""
    assert math.isfinite(found.value) and math.isfinite(found.uncorrected)
    assert found.interval.low <= found.value <= found.interval.high
    assert found.interval.low < found.interval.high
    assert found.standard_error >= 0
    assert found.selection_frequency.sum() == pytest.approx(1)
    assert found.method == "shrinkage" and 0 <= found.provenance["shrinkage_factor"] <= 1
    json.dumps(found.to_dict(), allow_nan=False)


# --- a plain implementation, from the page of the method (docs/methods/pages/shrinkage.md)


def plain_accuracy(y, guess, weight):
    return float(weight[guess == y].sum() / weight.sum())


def plain_log_loss(y, chance, weight):
    return float((weight * np.log(np.where(y == 1, chance, 1 - chance))).sum() / weight.sum())


def plain_area(y, score, weight):
    ordered, total = plain_pairs(y, score, weight)
    return ordered / total


def plain_pairs(y, score, weight):
    ordered = total = 0.0
    for i in np.flatnonzero(y == 1):
        for j in np.flatnonzero(y == 0):
            pair = float(weight[i]) * float(weight[j])
            ordered += pair * ((score[i] > score[j]) + 0.5 * (score[i] == score[j]))
            total += pair
    return ordered, total


def plain_average_precision(y, score, weight):
    total, recall_before = 0.0, 0.0
    for cut in sorted(set(score[weight > 0]), reverse=True):
        above = score >= cut
        found = weight[above & (y == 1)].sum()
        recall = found / weight[y == 1].sum()
        total += (recall - recall_before) * found / weight[above].sum()
        recall_before = recall
    return float(total)


def plain_f1(y, guess, weight):
    right = weight[(guess == 1) & (y == 1)].sum()
    return float(2 * right / (weight[guess == 1].sum() + weight[y == 1].sum()))


def plain_squared_error(y, number, weight):
    return float(-(weight * (y - number) ** 2).sum() / weight.sum())


def plain_r2(y, number, weight):
    mean = (weight * y).sum() / weight.sum()
    return float(1 - (weight * (y - number) ** 2).sum() / (weight * (y - mean) ** 2).sum())


@dataclass(frozen=True)
class Plain:
    """A metric for the plain implementation, greater = better."""

    score: Callable[..., float]
    worst: float
    best: float
    classes: tuple[int, ...] = ()  # of which it needs a row
    by_rows_or_pairs: bool = True
    ranks: bool = False
    sign: int = 1
    fewest: int = 8  # rows (of each class) in folds that bootstraps score by themselves


PLAIN = {
    "accuracy": Plain(plain_accuracy, 0, 1),
    "log_loss": Plain(plain_log_loss, -np.inf, 0, sign=-1),
    "roc_auc": Plain(plain_area, 0, 1, (0, 1), ranks=True),
    "mean_squared_error": Plain(plain_squared_error, -np.inf, 0, sign=-1),
    "average_precision": Plain(plain_average_precision, 0, 1, (1,), by_rows_or_pairs=False, ranks=True),
    "f1": Plain(plain_f1, 0, 1, (1,), by_rows_or_pairs=False),
    "r2": Plain(plain_r2, -np.inf, 1, by_rows_or_pairs=False, fewest=100),
}


@dataclass(frozen=True)
class PlainShrinkage:
    """The method with loops over bootstraps, candidates, repeats and folds."""

    metric: str
    y: np.ndarray
    predictions: np.ndarray  # (n, C, R)
    folds: np.ndarray | None = None  # (n, R)
    groups: np.ndarray | None = None
    weights: np.ndarray | None = None
    aggregate: str = "pooled"
    n_bootstraps: int = 60
    entropy: int = 8

    @property
    def of(self):
        return PLAIN[self.metric]

    @cached_property
    def unit_of_row(self):
        units = np.arange(len(self.y)) if self.groups is None else self.groups
        return np.unique(units, return_inverse=True)[1]

    @cached_property
    def weight(self):
        return np.ones(len(self.y)) if self.weights is None else self.weights

    @cached_property
    def drawn(self):
        draws = Draws(stream(self.entropy, "draws"), self.n_bootstraps, self.unit_of_row, always, always)
        return draws.block(0, self.n_bootstraps)[0].astype(float)

    @cached_property
    def smallest_fold(self):
        return min(np.unique(column, return_counts=True)[1].min() for column in self.folds.T)

    @cached_property
    def scales(self):
        """Of M and of V."""
        if self.aggregate != "auto":
            return self.aggregate, self.aggregate
        if self.of.by_rows_or_pairs:
            return "folds", "folds"
        return "folds", "aligned" if self.of.ranks and self.smallest_fold >= 8 else "pooled"

    def scale_of_noise(self, scale):
        """Of fold means: these where folds are large, else pairs within folds or all rows."""
        if scale != "folds":
            return scale
        least = len(self.y)
        for repeat in range(self.folds.shape[1]):
            for fold in np.unique(self.folds[:, repeat]):
                y = self.y[self.folds[:, repeat] == fold]
                least = min(least, *(np.bincount(y, minlength=2) if y.dtype.kind == "i" else [len(y)]))
        if least >= self.of.fewest:
            return scale
        return "within" if self.metric == "roc_auc" else "pooled"

    def aligned(self, scores):
        """(n, R): logits less the median of their fold."""
        scores = np.clip(scores, 1e-9, 1 - 1e-9)
        logits = np.log(scores / (1 - scores))
        for repeat in range(self.folds.shape[1]):
            for fold in np.unique(self.folds[:, repeat]):
                rows = self.folds[:, repeat] == fold
                logits[rows, repeat] = logits[rows, repeat] - np.median(logits[rows, repeat])
        return logits.round(9)

    def score(self, column, weight, scale):
        """Of predictions (n, R) under weights (n,): the mean over repeats, or over their folds."""
        if scale == "aligned":
            column, scale = self.aligned(column), "pooled"
        if scale == "within":
            return self._score_of_pairs(column, weight)
        return self.mean_of_parts(self.y, column, weight, self.folds if scale == "folds" else None)

    def mean_of_parts(self, y, column, weight, folds=None):
        scores = []
        for repeat in range(column.shape[1]):
            for fold in [0] if folds is None else np.unique(folds[:, repeat]):
                rows = weight > 0
                if folds is not None:
                    rows = rows & (folds[:, repeat] == fold)
                if rows.any() and all((y[rows] == code).any() for code in self.of.classes):
                    scores.append(self.of.score(y[rows], column[rows, repeat], weight[rows]))
        return np.mean(scores)

    def _score_of_pairs(self, column, weight):
        ordered = total = 0.0
        for repeat in range(column.shape[1]):
            for fold in np.unique(self.folds[:, repeat]):
                rows = self.folds[:, repeat] == fold
                pairs = plain_pairs(self.y[rows], column[rows, repeat], weight[rows])
                ordered, total = ordered + pairs[0], total + pairs[1]
        return ordered / total

    @cached_property
    def enlarged(self):
        """√(n/(n - 1)) of the rows or groups."""
        n = len(np.unique(self.unit_of_row))
        return math.sqrt(n / (n - 1))

    def variance(self, score):
        above = self.of.best - score
        return above * (score - self.of.worst) if math.isfinite(self.of.worst) else above

    def centres_and_noise(self, scale):
        """Observed scores, centres, their noise (B, C) there, κ and k."""
        C = self.predictions.shape[1]
        observed = [self.score(self.predictions[:, c], self.weight, scale) for c in range(C)]
        noise, noise_scale = np.empty((self.n_bootstraps, C)), self.scale_of_noise(scale)
        for b in range(self.n_bootstraps):
            for c in range(C):
                noise[b, c] = self.score(self.predictions[:, c], self.drawn[b] * self.weight, noise_scale)
        for c in range(C):
            noise[:, c] = (noise[:, c] - noise[:, c].mean()) * self.enlarged
        middle = float(np.median(observed))
        competing = [c for c in range(C) if C < 4 or observed[c] >= middle]
        k = len(competing)
        of_noise = np.mean([np.var(noise[b, competing]) for b in range(self.n_bootstraps)]) * k / (k - 1)
        spread = sum((observed[c] - middle) ** 2 for c in competing) / (k - (1 if C < 4 else 0.5))
        factor = math.sqrt(max(0.0, 1 - of_noise / spread))
        centres = [middle + factor * (m - middle) if c in competing else m for c, m in enumerate(observed)]
        for c in range(C):
            noise[:, c] *= math.sqrt(self.variance(centres[c]) / self.variance(observed[c]))
        return observed, centres, noise, factor, k

    def estimate(self, level=0.95):
        scale, of_value = self.scales
        observed, centres, noise, factor, k = self.centres_and_noise(scale)
        winner = observed.index(max(observed))
        values, value_centres, value_noise = observed, centres, noise
        if of_value != scale:
            values, value_centres, value_noise, factor, k = self.centres_and_noise(of_value)
        deviations = []
        for c in range(len(observed)):  # D, which ends at the best possible score
            value_noise[:, c] = np.minimum(value_noise[:, c], self.of.best - value_centres[c])
            value_noise[:, c] -= value_noise[:, c].mean()
            deviations.append(np.std(value_noise[:, c]))
        luck, chosen_centres = [], []
        for b in range(self.n_bootstraps):
            scores = [min(centres[c] + noise[b, c], self.of.best) for c in range(len(observed))]
            chosen = scores.index(max(scores))
            luck.append(value_noise[b, chosen] / deviations[chosen])
            chosen_centres.append(value_centres[chosen])
        optimism = deviations[winner] * float(np.mean(luck))
        spread, mean_with_more = self.spread(winner, of_value, deviations[winner])
        error = math.hypot(self.dependence * spread, 0.35 * optimism)
        value = values[winner] - optimism
        low, high = self.interval(value, [np.mean(chosen_centres), mean_with_more], error, level)
        sign = self.of.sign
        return {
            "value": sign * value,
            "uncorrected": sign * values[winner],
            "distribution": sign * (values[winner] - deviations[winner] * np.array(luck)),
            "standard_error": error,
            "ends": (low, high) if sign == 1 else (-high, -low),
            "factor": factor,
            "n_competing": k,
        }

    @property
    def dependence(self):
        n_folds = 0 if self.folds is None else len(np.unique(self.folds[:, 0]))
        return {1: 1.0, 2: 1.4}.get(n_folds, 1.2)

    def spread(self, winner, scale, seen):
        """σ, and the mean score with four units more if that is σ's; NaN otherwise."""
        column = self.predictions[:, winner]
        in_folds = self.of.ranks and scale != "pooled" and self.folds is not None and self.smallest_fold >= 8
        column = self.aligned(column) if in_folds else column
        n, units = len(self.y), int(self.unit_of_row.max()) + 1
        members = [np.flatnonzero(self.unit_of_row == unit) for unit in range(units)]
        rng = np.random.Generator(np.random.Philox(key=stream(self.entropy, "more units")))
        drawn = rng.integers(units, size=(self.n_bootstraps, 4))
        if self.y.dtype.kind == "i":
            others = rng.integers(units, size=4 * self.n_bootstraps).reshape(-1, 4)
        else:
            larger = rng.integers(2, size=4 * self.n_bootstraps).reshape(-1, 4)
            predicted = column.mean(axis=1)
            errors = self.y - predicted
            size = math.sqrt(2 * max((errors[rows] ** 2).mean() for rows in members))
        scores = []
        for b in range(self.n_bootstraps):
            rows, truths = list(range(n)), list(self.y)
            weight = list(self.drawn[b] * self.weight)
            for i in range(4):
                for place, row in enumerate(members[drawn[b, i]]):
                    if self.y.dtype.kind == "i":
                        other = members[others[b, i]]
                        truths.append(self.y[other[place % len(other)]])
                    elif larger[b, i]:
                        truths.append(predicted[row] + (-size if errors[row] < 0 else size))
                    else:
                        truths.append(predicted[row])
                    rows.append(row)
                    weight.append(self.weight[row])
            scores.append(self.mean_of_parts(np.array(truths), column[rows], np.array(weight)))
        more = np.std(scores) * self.enlarged
        if more >= seen or (in_folds and self.metric == "roc_auc"):
            return more, np.mean(scores)
        return seen, math.nan

    def effective(self, rows):
        """As how many units of equal weight the units of some rows count: (Σw)²/Σw²."""
        totals = np.bincount(self.unit_of_row[rows], weights=self.weight[rows])
        return max(totals.sum() ** 2 / (totals**2).sum(), 2)

    def interval(self, value, places, error, level):
        units = [self.effective(self.y == code) for code in self.of.classes]
        units = units or [self.effective(np.ones(len(self.y), dtype=bool))]
        degrees = sum(1 / u for u in units) ** 2 / sum(1 / (u**2 * (u - 1)) for u in units)
        width = t.ppf((1 + level) / 2, degrees) * error
        # (value - x)² = width² · variance(x) / variance, the greatest of the value and of where noise was measured
        c = width**2 / np.nanmax([self.variance(place) for place in [value, *places]])
        worst, best = self.of.worst, self.of.best
        if math.isfinite(worst):
            roots = np.roots([1 + c, -(2 * value + c * (worst + best)), value**2 + c * worst * best])
        else:
            roots = np.roots([1, c - 2 * value, value**2 - c * best])
        return max(min(value - width, *roots.real), worst), min(max(value + width, *roots.real), best)


def plain_data(metric, n_columns, n_repeats=1, rows=48):
    y = TARGET if metric in ("mean_squared_error", "r2") else Y
    cube = NUMBERS if y is TARGET else LABELS if metric in ("accuracy", "f1") else PROBABILITIES
    cube = np.stack([np.roll(cube, 3 * repeat, axis=1) for repeat in range(n_repeats)], axis=2)
    in_turn = np.stack([np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)], axis=1).ravel()[:rows]
    return y[in_turn], cube[in_turn, :n_columns]


def agrees(plain):
    settings = {"metric": plain.metric, "folds": plain.folds, "groups": plain.groups}
    settings |= {"sample_weight": plain.weights, "aggregate": plain.aggregate}
    found = of(plain.y, plain.predictions, n_bootstraps=plain.n_bootstraps, random_state=plain.entropy, **settings)
    assert found.provenance["redrawn"] == 0
    assert not {"little_spread", "no_spread"} & set(found.flags)
    expected = plain.estimate()
    for name in ("value", "uncorrected", "standard_error"):
        assert getattr(found, name) == pytest.approx(expected[name], abs=1e-12), name
    np.testing.assert_allclose(found.distribution, expected["distribution"], rtol=0, atol=1e-12)
    assert found.provenance["shrinkage_factor"] == pytest.approx(expected["factor"], abs=1e-12)
    assert found.provenance["n_competing"] == expected["n_competing"]
    assert found.provenance["fold_dependence"] == plain.dependence
    assert tuple(found.interval) == pytest.approx(expected["ends"], abs=1e-11)
    return found


@pytest.mark.parametrize(
    ("metric", "n_columns"), [*((metric, 7) for metric in PLAIN), ("accuracy", 3), ("mean_squared_error", 2)]
)
def test_a_plain_implementation_agrees(metric, n_columns):
    agrees(PlainShrinkage(metric, *plain_data(metric, n_columns), n_bootstraps=40))


def rows_in_folds(n_folds, n_repeats=1, rows=48):
    """Pairs of rows stay together, so that each fold holds as many of each class."""
    return np.stack([(np.arange(rows) + 7 * repeat) // 2 % n_folds for repeat in range(n_repeats)], axis=1)


@pytest.mark.parametrize(("n_folds", "aggregate"), [(2, "auto"), (2, "folds"), (6, "auto"), (6, "folds")])
@pytest.mark.parametrize("metric", list(PLAIN))
def test_a_plain_implementation_agrees_on_folds(metric, n_folds, aggregate):
    """Folds of 16 rows bootstraps score by themselves, those of 8 are aligned, and those of 4 are not."""
    found = agrees(
        PlainShrinkage(metric, *plain_data(metric, 4), rows_in_folds(n_folds), aggregate=aggregate, n_bootstraps=20)
    )
    scale = {"average_precision": "aligned" if n_folds < 12 else "pooled", "f1": "pooled", "r2": "pooled"}
    if aggregate == "auto":
        assert found.provenance.get("scale_of_value") == scale.get(metric)


@pytest.mark.parametrize(
    ("metric", "aggregate"), [*((metric, "auto") for metric in PLAIN), ("roc_auc", "pooled"), ("r2", "folds")]
)
def test_a_plain_implementation_agrees_on_repeats_groups_and_weights(metric, aggregate):
    """Groups of 1 to 3 rows of both classes, whole within folds of 16 rows; some rows weigh 3 times as much."""
    folds = np.repeat(np.arange(3), 16)
    groups = folds * 100 + np.arange(48) * 7 % 16 // np.array([1, 2, 3])[folds]
    repeats = np.stack([folds, (folds + 1) % 3], axis=1)
    weights = 1.0 + 2 * (np.arange(48) % 5 == 0)
    agrees(
        PlainShrinkage(
            metric, *plain_data(metric, 4, 2), repeats, groups, weights, aggregate=aggregate, n_bootstraps=20
        )
    )


# --- rules

RULES = {
    "best": Best(),
    "one_standard_error": OneStandardError(),
    "within": Within(0.01),
    "average_rank": AverageRank(["log_loss", "roc_auc", "f1"]),
    "median": Best("median"),
    "top_k": TopK(3),
    "greedy_ensemble": GreedyEnsemble(3),
    "threshold": Threshold(n_thresholds=20),
    "callable": lambda scores: scores.argmax(axis=1),
}


def metric_for(rule):
    return "accuracy" if rule == "threshold" else "roc_auc"


@pytest.mark.parametrize("aggregate", ["folds", "within"])
@pytest.mark.parametrize("name", list(RULES))
def test_repeats_groups_and_weights_go_with_every_rule(name, aggregate):
    if (name, aggregate) == ("average_rank", "within"):
        pytest.skip("f1 is not made of pairs")
    cube = np.clip(PROBABILITIES[:, :, None] + RNG.normal(scale=0.05, size=(N, 7, 2)), 0.001, 0.999)
    groups = np.where(Y == 1, 100, 0) + FOLDS * 10 + np.arange(N) % 7  # whole within folds
    found = of(
        Y,
        cube,
        metric_for(name),
        selection=RULES[name],
        folds=FOLDS,
        groups=groups,
        sample_weight=1 + np.arange(N) % 3,
        aggregate=aggregate,
        n_bootstraps=40,
    )
    assert_sound(found)
    assert found.optimism > 0 and found.provenance["selection"] == getattr(RULES[name], "name", "callable <lambda>")
    assert not {ho.Flag.UNDEFINED, ho.Flag.SELECTION_NOT_REPLAYABLE} & set(found.flags)
    assert len(found.distribution) == 40 and np.isfinite(found.distribution).all()


@pytest.mark.parametrize("name", ["one_standard_error", "average_rank", "median", "greedy_ensemble", "threshold"])
def test_the_same_bits_for_any_number_of_threads(name):
    one, three = (
        of(Y, PROBABILITIES, metric_for(name), selection=RULES[name], folds=FOLDS, n_bootstraps=600, n_jobs=n_jobs)
        for n_jobs in (1, 3)
    )
    np.testing.assert_array_equal(one.distribution, three.distribution)
    np.testing.assert_array_equal(one.selection_frequency, three.selection_frequency)
    assert (one.value, *one.interval) == (three.value, *three.interval)


def test_best_as_a_callable_is_best():
    """The quick path and the path of rules in general select alike, with ties."""
    tied = np.repeat(LABELS, 3, axis=1)
    for y, predictions, metric in [(Y, tied, "accuracy"), (Y, PROBABILITIES, "roc_auc")]:
        plain = of(y, predictions, metric)
        called = of(y, predictions, metric, selection=lambda scores: scores.argmax(axis=1))
        assert called.value == plain.value and tuple(called.interval) == tuple(plain.interval)
        np.testing.assert_array_equal(called.selection_frequency, plain.selection_frequency)


def test_a_rule_that_always_selects_the_same_has_no_optimism():
    found = of(Y, PROBABILITIES, "roc_auc", selection=lambda scores: np.full(len(scores), 2))
    assert found.selected == 2
    assert found.optimism == pytest.approx(0, abs=1e-12)
    assert found.selection_frequency.tolist() == [0, 0, 1, 0, 0, 0, 0]


def test_an_ensemble_is_less_optimistic_than_its_best_member():
    single, average = (of(Y, PROBABILITIES, "roc_auc", selection=rule) for rule in (Best(), TopK(7)))
    assert average.optimism < single.optimism / 2  # of seven of seven, there is next to no choice
    assert average.provenance["weights"] == [pytest.approx(1 / 7)] * 7


# --- kinds of data


@pytest.mark.parametrize("metric", ["log_loss", "roc_auc_ovr", "f1_macro"])
def test_several_classes(metric):
    rng = np.random.default_rng(1)
    y = np.arange(90) % 3
    raw = rng.normal(size=(90, 6, 3)) + (np.arange(3) == y[:, None])[:, None, :]
    chances = np.exp(raw) / np.exp(raw).sum(axis=2, keepdims=True)
    found = of(y, chances.argmax(axis=2) if metric == "f1_macro" else chances[:, :, None, :], metric)
    assert_sound(found)


def test_an_infinite_loss_is_never_selected():
    def infinite(truth, predictions):
        return np.inf if np.abs(predictions).max() > 1e6 else float(np.abs(truth - predictions).mean())

    metric = ho.metrics.custom(infinite, name="mine", greater_is_better=False, response="values")
    table = np.c_[NUMBERS, np.full(N, 1e7)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeldoutWarning)
        found = of(TARGET, table, metric, n_bootstraps=30)
    assert math.isfinite(found.value) and found.selection_frequency[-1] == 0
    assert found.value == of(TARGET, NUMBERS, metric, n_bootstraps=30).value


def test_stratified_draws_are_flagged():
    found = of(Y, LABELS, "accuracy", method=Shrinkage(stratify=True))
    assert_sound(found)
    assert ho.Flag.STRATIFIED in found.flags and found.provenance["stratified"] is True
    with pytest.raises(InputError, match="regression has none"):
        of(TARGET, NUMBERS, "r2", method=Shrinkage(stratify=True))
    with pytest.raises(InputError, match="stratify must be True or False"):
        Shrinkage(stratify="yes")


def test_scores_alone_are_refused():
    with pytest.raises(InputError, match="shrinkage"):
        ho.estimate_from_scores(np.ones((5, 3)), method="shrinkage", greater_is_better=True)


# --- at the edge


@pytest.mark.parametrize("n_columns", [1, 30])
@pytest.mark.parametrize("rows", [4, 5])
@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "f1", "log_loss", "mean_squared_error", "r2"])
def test_few_rows(metric, rows, n_columns):
    rng = np.random.default_rng([rows, n_columns])
    table = rng.uniform(0.05, 0.95, (rows, n_columns))
    y = rng.normal(size=rows) if metric in ("mean_squared_error", "r2") else np.arange(rows) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeldoutWarning)
        found = of(y, (table > 0.5).astype(int) if metric in ("accuracy", "f1") else table, metric)
    assert_sound(found)
    least, greatest = (-np.inf if metric == "r2" else 0), (1 if metric != "mean_squared_error" else np.inf)
    greatest = np.inf if metric == "log_loss" else greatest
    assert least <= found.interval.low and found.interval.high <= greatest


@pytest.mark.parametrize("n_columns", [3, 4, 2000])
def test_any_number_of_candidates(n_columns):
    rng = np.random.default_rng(n_columns)
    table = TARGET[:, None] + rng.normal(size=(N, n_columns)) * rng.uniform(0.4, 1.4, n_columns)
    found = of(TARGET, table, "mean_absolute_error")
    assert_sound(found)
    assert found.provenance["n_competing"] == (n_columns if n_columns < 4 else -(-n_columns // 2))
    assert found.optimism > -1e-12


def test_where_all_rows_are_right_the_bound_pays_for_the_choice():
    many = np.where(np.random.default_rng(0).random((N, 30)) < 0.8, Y[:, None], 1 - Y[:, None])
    alone, among = (of(Y, table, "accuracy") for table in (Y[:, None], np.c_[many, Y]))
    assert alone.value == 1 and alone.interval.high == 1
    assert alone.interval.low == pytest.approx(0.05 ** (1 / N), abs=1e-3)
    assert ho.Flag.NO_SPREAD in alone.flags
    assert among.interval.low < alone.interval.low and among.value <= 1
    copies = of(Y, np.repeat(Y[:, None], 30, axis=1), "accuracy")
    assert tuple(copies.interval) == tuple(alone.interval)


def test_many_ties():
    found = of(Y, np.repeat(LABELS, 500, axis=1), "accuracy")
    assert_sound(found)
    assert (found.selection_frequency.reshape(7, 500)[:, 1:] == 0).all()  # the first of equal ones


def test_no_corrected_score_is_better_than_the_uncorrected_one_near_the_end_of_the_range():
    """Noise that ends at the best possible score is not taken for pessimism."""
    rng = np.random.default_rng(0)
    for seed in range(20):
        accurate = np.where(rng.random((30, 8)) < 0.95, np.arange(30)[:, None] % 2, 1 - np.arange(30)[:, None] % 2)
        found = of(np.arange(30) % 2, accurate, "accuracy", random_state=seed)
        assert found.value <= found.uncorrected + 1e-12


# --- searches, comparisons, the command line and the report

X, DIAGNOSIS = load_breast_cancer(return_X_y=True)
SOME = np.random.default_rng(0).permutation(len(X))[:120]
X, DIAGNOSIS = X[SOME][:, :8] / X[SOME][:, :8].std(axis=0), DIAGNOSIS[SOME]


def search(**settings):
    given = {"method": "shrinkage", "n_bootstraps": 60, "cv": 4, "random_state": 0} | settings
    model = LogisticRegression(solver="liblinear")
    return ho.HeldOutSearchCV(model, {"C": [1e-4, 1e-3, 1e-2, 0.1, 1.0]}, **given)


def test_a_metric_that_did_not_select_has_its_own_optimism():
    found = search(scoring=["accuracy", "roc_auc", "neg_log_loss"], refit="accuracy").fit(X, DIAGNOSIS)
    assert set(found.estimates_) == {"accuracy", "roc_auc", "neg_log_loss"}
    for estimate in found.estimates_.values():
        assert_sound(estimate)
        assert estimate.selected == found.best_index_
    # Accuracy selects, so its replays are the same in all three.
    chosen = [estimate.selection_frequency.tolist() for estimate in found.estimates_.values()]
    assert chosen[0] == chosen[1] == chosen[2]


class Guesses(RegressorMixin, BaseEstimator):
    """Predicts column ``column`` of X, and nonsense where column 0 is above ``limit``."""

    def __init__(self, column=1, limit=np.inf):
        self.column, self.limit = column, limit

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.where(X[:, 0] > self.limit, 1e200, X[:, self.column])


@pytest.mark.parametrize("last", [False, True])
def test_bootstraps_that_select_what_the_reported_metric_cannot_score_do_not_count(last):
    """The median error selects; the squared error of one configuration, with one prediction of 1e200, is infinite.

    It had the noise of the next column, or of none if it was the last.
    """
    X = np.c_[np.arange(N), NUMBERS[:, :5]]
    models = [Guesses(2, N - 1.5), *(Guesses(column) for column in (1, 3, 4, 5))]
    grid = {"model": models[::-1] if last else models}
    asked = {
        "scoring": ["neg_median_absolute_error", "neg_mean_squared_error"],
        "refit": "neg_median_absolute_error",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ho.HeldOutSearchCV(
            Pipeline([("model", Guesses())]), grid, cv=4, n_bootstraps=200, random_state=0, **asked
        ).fit(X, TARGET)
    estimate = found.estimates_["neg_mean_squared_error"]
    strange = len(models) - 1 if last else 0
    share = estimate.selection_frequency[strange]
    assert found.best_index_ != strange and 0 < share < 0.9
    assert np.isnan(estimate.distribution).mean() == pytest.approx(share, abs=1e-12)
    assert_sound(estimate)


@pytest.mark.parametrize("drop", ["bootstrap", Bootstrap(replay=True)], ids=["not replayed", "replayed"])
def test_dropped_configurations(drop):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeldoutWarning)
        found = search(drop=drop, cv=StratifiedKFold(8, shuffle=True, random_state=0)).fit(X, DIAGNOSIS)
    assert found.n_fits_saved_ > 0
    assert_sound(found.estimate_)
    flag = ho.Flag.DROPPED_CONFIGURATIONS if drop == "bootstrap" else ho.Flag.DROPPING_REPLAYED
    assert flag in found.estimate_.flags


def test_bbcs_sampling_interval_is_that_of_shrinkage_as_far_as_its_value():
    for y, table, metric in [(Y, PROBABILITIES, "roc_auc"), (TARGET, NUMBERS, "mean_squared_error")]:
        ours, bbcs = of(y, table, metric), of(y, table, metric, method=SAMPLING)
        assert bbcs.value == of(y, table, metric, method="bbc").value
        assert bbcs.interval.low == pytest.approx(min(ours.interval.low, bbcs.value))
        assert bbcs.interval.high == pytest.approx(max(ours.interval.high, bbcs.value))
        assert bbcs.provenance["interval"] == "sampling"
