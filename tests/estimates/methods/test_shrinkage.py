"""Shrinkage: agreement with a plain implementation, every rule and kind of data, and cases at the edge."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pytest
from scipy.stats import t
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

import heldout as ho
from heldout._random import stream
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
from heldout.selection.draws import Draws, always

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


# --- a plain implementation, from the docstrings


def right(y, column, weight):
    return float(sum(w for truth, guess, w in zip(y, column, weight, strict=True) if truth == guess) / sum(weight))


def minus_log_loss(y, column, weight):
    chance = np.where(y == 1, column, 1 - column)
    return float((weight * np.log(chance)).sum() / weight.sum())


def area(y, column, weight):
    ordered = total = 0.0
    for i in np.flatnonzero(y == 1):
        for j in np.flatnonzero(y == 0):
            pair = float(weight[i]) * float(weight[j])
            ordered += pair * ((column[i] > column[j]) + 0.5 * (column[i] == column[j]))
            total += pair
    return ordered / total


def minus_squared_error(y, column, weight):
    return float(-(weight * (y - column) ** 2).sum() / weight.sum())


def satterthwaite(counts):
    return sum(1 / n for n in counts) ** 2 / sum(1 / (n**2 * (n - 1)) for n in counts)


PLAIN = {  # score (greater = better), variance, greatest score, degrees of freedom
    "accuracy": (right, lambda m: m * (1 - m), 1.0, lambda y: len(y) - 1),
    "log_loss": (minus_log_loss, lambda m: -m, 0.0, lambda y: len(y) - 1),
    "roc_auc": (area, lambda m: m * (1 - m), 1.0, lambda y: satterthwaite(np.bincount(y))),
    "mean_squared_error": (minus_squared_error, lambda m: -m, 0.0, lambda y: len(y) - 1),
}


def plain_shrinkage(y, predictions, metric, n_bootstraps, entropy, level=0.95):
    """Value, standard error, width of the interval before it is fitted to the range, κ."""
    score, variance, best, degrees = PLAIN[metric]
    n, n_columns = predictions.shape
    drawn = Draws(stream(entropy, "draws"), n_bootstraps, np.arange(n), always, always).block(0, n_bootstraps)[0]
    once = np.ones(n)
    observed = [score(y, predictions[:, c], once) for c in range(n_columns)]
    noise = np.empty((n_bootstraps, n_columns))
    for b in range(n_bootstraps):
        for c in range(n_columns):
            noise[b, c] = score(y, predictions[:, c], drawn[b])
    for c in range(n_columns):
        noise[:, c] = (noise[:, c] - noise[:, c].mean()) * math.sqrt(n / (n - 1))
    middle = float(np.median(observed))
    competing = [c for c in range(n_columns) if n_columns < 4 or observed[c] >= middle]
    k = len(competing)
    of_noise = np.mean([np.var(noise[b, competing]) for b in range(n_bootstraps)]) * k / (k - 1)
    spread = sum((observed[c] - middle) ** 2 for c in competing) / (k - (1 if n_columns < 4 else 0.5))
    factor = math.sqrt(max(0.0, 1 - of_noise / spread))
    centres = [middle + factor * (m - middle) if c in competing else m for c, m in enumerate(observed)]
    for c in range(n_columns):
        noise[:, c] *= math.sqrt(variance(centres[c]) / variance(observed[c]))
    gains = []
    for b in range(n_bootstraps):
        scores = [min(centres[c] + noise[b, c], best) for c in range(n_columns)]
        chosen = scores.index(max(scores))
        mean_score = np.mean(np.minimum(centres[chosen] + noise[:, chosen], best))
        gains.append(scores[chosen] - mean_score)
    optimism = float(np.mean(gains))
    dependence = 1 + 2 / math.sqrt(n)
    error = math.sqrt((dependence * np.std(gains)) ** 2 + (0.35 * optimism) ** 2)
    return max(observed) - optimism, error, t.ppf((1 + level) / 2, degrees(y)) * error, factor


@pytest.mark.parametrize("n_columns", [2, 3, 4, 7])
@pytest.mark.parametrize("metric", list(PLAIN))
def test_a_plain_implementation_agrees(metric, n_columns):
    rows = slice(0, 40)
    y = (TARGET if metric == "mean_squared_error" else Y)[rows]
    predictions = {
        "accuracy": LABELS,
        "log_loss": PROBABILITIES,
        "roc_auc": PROBABILITIES,
        "mean_squared_error": NUMBERS,
    }[metric][rows, :n_columns]
    found = of(y, predictions, metric, n_bootstraps=60, random_state=8)
    assert found.provenance["redrawn"] == 0
    value, error, width, factor = plain_shrinkage(y, predictions, metric, 60, 8)
    sign = -1 if metric in ("log_loss", "mean_squared_error") else 1
    assert found.value == pytest.approx(sign * value, abs=1e-12)
    assert found.standard_error == pytest.approx(error, abs=1e-12)
    assert found.provenance["shrinkage_factor"] == pytest.approx(factor, abs=1e-12)
    # The better end is Student's, within the range.
    better, best = (found.interval.high, 1.0) if sign == 1 else (found.interval.low, 0.0)
    assert better == pytest.approx(min(sign * found.value + width, best) * sign, abs=1e-9)


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


@pytest.mark.parametrize("name", list(RULES))
def test_every_rule_is_replayed(name):
    found = of(Y, PROBABILITIES, metric_for(name), selection=RULES[name], folds=FOLDS, aggregate="folds")
    assert_sound(found)
    assert found.optimism > 0
    assert not {ho.Flag.UNDEFINED, ho.Flag.SELECTION_NOT_REPLAYABLE} & set(found.flags)


@pytest.mark.parametrize("aggregate", ["pooled", "folds", "within"])
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
    assert len(found.distribution) == 40


@pytest.mark.parametrize("name", [name for name in RULES if name != "callable"])
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


@pytest.mark.parametrize("aggregate", ["pooled", "folds", "within"])
def test_concordance_of_survival(aggregate):
    rng = np.random.default_rng(0)
    failure, lost = rng.exponential(1.0, N), rng.exponential(1.5, N)
    y = np.empty(N, dtype=[("dead", "?"), ("years", "f8")])
    y["dead"], y["years"] = failure <= lost, np.minimum(failure, lost).round(1) + 0.1
    risks = rng.normal(size=(N, 8)) - np.linspace(0.3, 0.6, 8) * np.log(failure)[:, None]
    found = of(y, risks, "concordance_index", folds=np.arange(N) % 3, aggregate=aggregate)
    assert_sound(found)
    assert 0 < found.optimism < 0.1


@pytest.mark.parametrize("metric", ["accuracy", "log_loss", "roc_auc_ovr", "balanced_accuracy", "f1_macro"])
def test_several_classes(metric):
    rng = np.random.default_rng(1)
    y = np.arange(90) % 3
    raw = rng.normal(size=(90, 6, 3)) + (np.arange(3) == y[:, None])[:, None, :]
    chances = np.exp(raw) / np.exp(raw).sum(axis=2, keepdims=True)
    labels = metric in ("accuracy", "balanced_accuracy", "f1_macro")
    found = of(y, chances.argmax(axis=2) if labels else chances[:, :, None, :], metric)
    assert_sound(found)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("metric", ["roc_auc", "log_loss"])
def test_levels_and_sides(metric, level, alternative):
    found = of(Y, PROBABILITIES, metric, confidence_level=level, alternative=alternative, n_bootstraps=300)
    low, high = found.interval
    assert low <= found.value <= high and low < high
    assert (found.interval.confidence_level, found.interval.alternative) == (level, alternative)
    better_side_open = {"greater": True, "less": False}.get(alternative)
    best, worst = (1, 0) if metric == "roc_auc" else (0, np.inf)
    if better_side_open is not None:
        open_end = best if better_side_open else worst
        assert (high if (metric == "roc_auc") == better_side_open else low) == open_end


def test_rows_that_some_candidate_did_not_predict_are_left_out():
    holed = PROBABILITIES.copy()
    holed[[3, 8], [1, 4]] = np.nan
    found, kept = of(Y, holed, "roc_auc"), np.setdiff1d(np.arange(N), [3, 8])
    assert found.value == of(Y[kept], PROBABILITIES[kept], "roc_auc").value
    assert ho.Flag.INCOMPLETE_PREDICTIONS in found.flags and found.n_rows_used == N - 2


def test_a_configuration_that_failed_is_no_candidate():
    holed = PROBABILITIES.copy()
    holed[:, 3] = np.nan
    with pytest.warns(HeldoutWarning):
        found = of(Y, holed, "log_loss")
    assert found.value == of(Y, np.delete(PROBABILITIES, 3, axis=1), "log_loss").value
    assert found.selection_frequency[3] == 0 and ho.Flag.FAILED_CONFIGURATIONS in found.flags


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


@pytest.mark.parametrize("n_columns", [1, 3, 30])
@pytest.mark.parametrize("rows", [4, 5, 6, 8, 10])
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


@pytest.mark.parametrize("rows", [2, 3])
def test_two_rows_have_squared_errors_too(rows):
    found = of(TARGET[:rows], NUMBERS[:rows], "mean_squared_error")
    assert_sound(found)


@pytest.mark.parametrize("n_columns", [2, 3, 4, 5, 2000])
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


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "mean_squared_error", "log_loss"])
def test_constant_predictions(metric):
    y = TARGET if metric == "mean_squared_error" else Y
    table = np.tile([0.2, 0.5, 0.8], (N, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeldoutWarning)
        found = of(y, (table > 0.6).astype(int) if metric == "accuracy" else table, metric)
    assert_sound(found)


@pytest.mark.parametrize("copies", [2, 500])
def test_many_ties(copies):
    found = of(Y, np.repeat(LABELS, copies, axis=1), "accuracy")
    assert_sound(found)
    assert (found.selection_frequency.reshape(7, copies)[:, 1:] == 0).all()  # the first of equal ones


def test_a_winner_that_leads_clearly_has_no_optimism():
    table = TARGET[:, None] + np.random.default_rng(0).normal(size=(N, 6)) * [0.1, 2, 2, 2, 2, 2]
    found = of(TARGET, table, "mean_squared_error")
    assert found.selection_frequency[0] == 1.0
    assert found.optimism == pytest.approx(0, abs=1e-12)


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


@pytest.mark.parametrize("selection", ["best", "one_standard_error"])
def test_a_search_gives_the_estimate_of_its_predictions(selection):
    settings = {} if selection == "best" else {"selection": selection}
    found = search(scoring="roc_auc", **settings).fit(X, DIAGNOSIS)
    assert found.estimate_.method == "shrinkage"
    assert_sound(found.estimate_)
    assert found.corrected_score_ == found.estimate_.value
    assert tuple(found.confidence_interval_)[:2] == tuple(found.estimate_.interval)[:2]


def test_a_metric_that_did_not_select_has_its_own_optimism():
    found = search(scoring=["accuracy", "roc_auc", "neg_log_loss"], refit="accuracy").fit(X, DIAGNOSIS)
    assert set(found.estimates_) == {"accuracy", "roc_auc", "neg_log_loss"}
    for estimate in found.estimates_.values():
        assert_sound(estimate)
        assert estimate.selected == found.best_index_
    # Accuracy selects, so its replays are the same in all three.
    chosen = [estimate.selection_frequency.tolist() for estimate in found.estimates_.values()]
    assert chosen[0] == chosen[1] == chosen[2]


def test_ranks_over_several_metrics():
    rule = AverageRank(["accuracy", "roc_auc"])
    found = search(scoring=["accuracy", "roc_auc"], refit="accuracy", selection=rule).fit(X, DIAGNOSIS)
    for estimate in found.estimates_.values():
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


def test_a_refit_callable_is_replayed():
    def simplest_within_a_hundredth(results):
        scores = np.asarray(results["mean_test_score"])
        return int(np.flatnonzero(scores >= np.nanmax(scores) - 0.01)[0])

    found = search(refit=simplest_within_a_hundredth).fit(X, DIAGNOSIS)
    assert_sound(found.estimate_)


def test_several_classes_in_a_search():
    x, y = load_iris(return_X_y=True)
    found = search(scoring="roc_auc_ovr").set_params(estimator=LogisticRegression(max_iter=500)).fit(x, y)
    assert_sound(found.estimate_)


def test_it_stands_beside_the_other_methods():
    asked = {"metric": "roc_auc", "folds": FOLDS, "n_bootstraps": 100, "random_state": 0}
    methods = {"bbc": "bbc", "shrinkage": "shrinkage", "bbc with a sampling interval": SAMPLING}
    found = ho.compare_estimates(Y, PROBABILITIES, methods=methods, **asked)
    assert list(found.estimates) == list(methods)
    assert_sound(found["shrinkage"])
    assert "shrinkage" in ho.compare_estimates(Y, PROBABILITIES, methods="all", **asked).estimates
    json.dumps(found.to_dict())


def test_bbcs_sampling_interval_is_that_of_shrinkage_as_far_as_its_value():
    for y, table, metric in [(Y, PROBABILITIES, "roc_auc"), (TARGET, NUMBERS, "mean_squared_error")]:
        ours, bbcs = of(y, table, metric), of(y, table, metric, method=SAMPLING)
        assert bbcs.value == of(y, table, metric, method="bbc").value
        assert bbcs.interval.low == pytest.approx(min(ours.interval.low, bbcs.value))
        assert bbcs.interval.high == pytest.approx(max(ours.interval.high, bbcs.value))
        assert bbcs.provenance["interval"] == "sampling"


def test_the_report_of_a_search_opens(tmp_path):
    found = search(scoring=["accuracy", "roc_auc"], refit="accuracy").fit(X, DIAGNOSIS)
    page = tmp_path / "report.html"
    found.report(page)
    text = page.read_text(encoding="utf-8")
    assert "pulled together until they differed as much" in text and "60 resamples" in text
    assert "a correction by shrunken centres" in text


@pytest.fixture
def a_file(tmp_path):
    frame = {"truth": Y, "fold": FOLDS} | {f"c{j}": PROBABILITIES[:, j] for j in range(7)}
    lines = [",".join(frame), *(",".join(map(str, row)) for row in zip(*frame.values(), strict=True))]
    (tmp_path / "p.csv").write_text("\n".join(lines))
    return "p.csv"


def test_heldout_estimate(command, a_file):
    read = ["estimate", a_file, "--target", "truth", "--fold", "fold", "--n-bootstraps", 100, "--metric", "roc_auc"]
    ended = command(*read, "--method", "shrinkage", "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    ours = of(Y, PROBABILITIES, "roc_auc", folds=FOLDS, random_state=0)
    assert found["value"] == ours.value and found["method"] == "shrinkage"
    shown = command(*read, "--method", "shrinkage")
    assert shown.code == 0 and f"{ours.value:.3f}" in shown.out
    together = command(*read, "--method", "all")
    assert together.code == 0 and "shrinkage" in together.out
