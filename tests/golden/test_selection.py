"""Every selection rule replayed by bbc, against a plain loop over the bootstraps on the same draws.

The draws are made here by ``numpy.random.Philox`` as the specification says, and metrics and rules are written down
again in a few lines of NumPy each, so that nothing but the definition is shared with the library.
"""

import numpy as np
import pytest
from scipy.stats import rankdata
from twins import key_by_definition, rows_by_definition

import heldout as ho
from heldout.selection import AverageRank, Best, GreedyEnsemble, OneStandardError, Threshold, TopK, Within

SEED = 20260702
B = 50
N, C, K = 96, 6, 4
RNG = np.random.default_rng(11)
Y = RNG.permutation(np.repeat([0, 1], [56, 40]))
SCORES = RNG.normal(size=(N, C)) + Y[:, None] * np.linspace(1.0, 1.4, C)
PROBABILITIES = 1 / (1 + np.exp(-SCORES + 0.7))
FOLDS = np.empty(N, dtype=int)
for code in (0, 1):
    FOLDS[Y == code] = np.arange(np.sum(Y == code)) % K
COMPLEXITY = np.array([3, 1, 5, 2, 2, 4])


def draws(n_bootstraps=B, y=Y):
    """(inside, outside) of each bootstrap; again where a class lacks on either side."""
    n = len(y)
    for b in range(n_bootstraps):
        for attempt in range(1000):
            inside = rows_by_definition(key_by_definition(SEED, "draws"), b, attempt, n)
            outside = np.setdiff1d(np.arange(n), inside)
            if len(np.unique(y[inside])) == len(np.unique(y[outside])) == 2:
                break
        yield inside, outside


def auc(rows, column):
    """The share of pairs in the right order, ties half."""
    above = column[rows[Y[rows] == 1]][:, None] - column[rows[Y[rows] == 0]][None, :]
    return np.mean(above > 0) + np.mean(above == 0) / 2


def log_loss(rows, p):
    return -np.mean(np.log(np.where(Y[rows] == 1, p[rows], 1 - p[rows])))


def cells(rows, labels):
    """True and false positives, false and true negatives."""
    truth, found = Y[rows] == 1, np.asarray(labels)[rows] == 1
    return tuple(np.sum(a & b) for a, b in ((truth, found), (~truth, found), (truth, ~found), (~truth, ~found)))


def accuracy(rows, labels):
    tp, _, _, tn = cells(rows, labels)
    return (tp + tn) / len(rows)


def balanced_accuracy(rows, labels):
    tp, fp, fn, tn = cells(rows, labels)
    return (tp / (tp + fn) + tn / (tn + fp)) / 2


def f1(rows, labels):
    tp, fp, fn, _ = cells(rows, labels)
    return 2 * tp / (2 * tp + fp + fn)


def matthews(rows, labels):
    tp, fp, fn, tn = cells(rows, labels)
    below = np.sqrt(float(tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    return (tp * tn - fp * fn) / below if below else 0.0


def in_folds(rows, table):
    """(K, C): the AUC in each fold, NaN where a class lacks."""
    scores = np.full((K, table.shape[1]), np.nan)
    for k in range(K):
        part = rows[FOLDS[rows] == k]
        if len(np.unique(Y[part])) == 2:
            scores[k] = [auc(part, column) for column in table.T]
    return scores


def simplest(good, scores, order=COMPLEXITY):
    good = [j for j in good if order[j] == min(order[i] for i in good)]
    return max(good, key=lambda j: (round(scores[j], 11), -j))


def one_standard_error(values, folds):
    best = int(np.argmax(np.round(values, 12)))
    own = folds[:, best][~np.isnan(folds[:, best])]
    error = own.std(ddof=1) / np.sqrt(len(own))
    return simplest(np.flatnonzero(values >= values[best] - error - 1e-12), values)


def estimate(metric, selection, table=PROBABILITIES, **more):
    more.setdefault("method", ho.estimates.BBC(control=False))  # as published
    return ho.estimate(Y, table, metric=metric, selection=selection, n_bootstraps=B, random_state=SEED, **more)


def agrees(found, expected, choices):
    np.testing.assert_allclose(found.distribution, expected, atol=1e-12)
    frequency = np.bincount(choices, minlength=C) / B
    np.testing.assert_allclose(found.selection_frequency, frequency, atol=1e-12)
    assert len(set(choices)) > 1  # else the replay was no test of the rule


@pytest.mark.parametrize("aggregate", ["pooled", "folds"])
def test_one_standard_error(aggregate):
    expected, choices = [], []
    for inside, outside in draws():
        folds = in_folds(inside, SCORES)
        values = np.nanmean(folds, axis=0) if aggregate == "folds" else np.array([auc(inside, c) for c in SCORES.T])
        choice = one_standard_error(values, folds)
        out = in_folds(outside, SCORES[:, [choice]])
        expected.append(np.nanmean(out) if aggregate == "folds" else auc(outside, SCORES[:, choice]))
        choices.append(choice)
    found = estimate("roc_auc", OneStandardError(COMPLEXITY), SCORES, folds=FOLDS, aggregate=aggregate)
    agrees(found, expected, choices)
    everything = in_folds(np.arange(N), SCORES)
    pooled = np.array([auc(np.arange(N), column) for column in SCORES.T])
    values = everything.mean(axis=0) if aggregate == "folds" else pooled
    assert found.selected == one_standard_error(values, everything)
    assert found.uncorrected == pytest.approx(values[found.selected], abs=1e-12)


def test_within():
    expected, choices = [], []
    for inside, outside in draws():
        losses = np.array([log_loss(inside, column) for column in PROBABILITIES.T])
        choice = simplest(np.flatnonzero(losses <= losses.min() + 0.03), -losses)
        expected.append(log_loss(outside, PROBABILITIES[:, choice]))
        choices.append(choice)
    agrees(estimate("log_loss", Within(0.03, COMPLEXITY)), expected, choices)


def test_average_rank():
    expected, choices = [], []
    weights = np.array([2, 1, 1]) / 4
    for inside, outside in draws():
        scores = np.array(
            [[auc(inside, c), -log_loss(inside, c), accuracy(inside, c > 0.5)] for c in PROBABILITIES.T]
        )
        mean = rankdata(np.round(-scores, 11), axis=0) @ weights
        choice = int(np.argmin(np.round(mean, 11)))
        expected.append(np.mean((PROBABILITIES[outside, choice] - Y[outside]) ** 2))
        choices.append(choice)
    rule = AverageRank(["roc_auc", "log_loss", "accuracy"], weights=[2, 1, 1])
    agrees(estimate("brier_score", rule), expected, choices)


def test_median_over_repeats():
    rng = np.random.default_rng(5)
    cube = SCORES[:, :, None] + rng.normal(scale=0.9, size=(N, C, 3))
    expected, choices = [], []
    for inside, outside in draws():
        by_repeat = np.array([[auc(inside, cube[:, j, r]) for j in range(C)] for r in range(3)])
        choice = int(np.argmax(np.median(by_repeat, axis=0)))
        expected.append(np.mean([auc(outside, cube[:, choice, r]) for r in range(3)]))
        choices.append(choice)
    agrees(estimate("roc_auc", Best(over_repeats="median"), cube), expected, choices)


def test_a_function_of_the_scores():
    def second_best(scores):
        return np.argsort(-scores, axis=1)[:, 1]

    expected, choices = [], []
    for inside, outside in draws():
        choice = int(np.argsort([-auc(inside, column) for column in SCORES.T])[1])
        expected.append(auc(outside, SCORES[:, choice]))
        choices.append(choice)
    agrees(estimate("roc_auc", second_best, SCORES), expected, choices)


def greedy(score, rows, rounds):
    """Weights of Caruana's selection with replacement; ``score(rows, column)`` greater = better."""
    members, reached = [], []
    for _ in range(rounds):
        tried = [score(rows, PROBABILITIES[:, [*members, j]].mean(axis=1)) for j in range(C)]
        members.append(int(np.argmax(np.round(tried, 11))))
        reached.append(max(tried))
    kept = members[: int(np.argmax(np.round(reached, 11))) + 1]
    return np.bincount(kept, minlength=C) / len(kept)


def top(score, rows, k):
    best = np.argsort([-score(rows, column) for column in PROBABILITIES.T], kind="stable")[:k]
    return np.bincount(best, minlength=C) / k


METRICS = {
    "roc_auc": (auc, 1),
    "log_loss": (lambda rows, p: -log_loss(rows, p), -1),
    "balanced_accuracy": (lambda rows, p: balanced_accuracy(rows, p > 0.5), 1),
}


@pytest.mark.parametrize("metric", list(METRICS))
@pytest.mark.parametrize("rule", [TopK(3), GreedyEnsemble(5)], ids=["top_k", "greedy_ensemble"])
def test_ensembles(metric, rule):
    score, sign = METRICS[metric]
    choose = (lambda rows: top(score, rows, 3)) if rule.name == "top_k" else (lambda rows: greedy(score, rows, 5))
    expected, weights = [], []
    for inside, outside in draws():
        chosen = choose(inside)
        expected.append(sign * score(outside, PROBABILITIES @ chosen))
        weights.append(chosen)
    found = estimate(metric, rule)
    np.testing.assert_allclose(found.distribution, expected, atol=1e-12)
    np.testing.assert_allclose(found.selection_frequency, np.mean(weights, axis=0), atol=1e-12)
    everything = np.arange(N)
    of_all = choose(everything)
    np.testing.assert_allclose(found.provenance["weights"], of_all, atol=1e-12)
    assert found.uncorrected == pytest.approx(sign * score(everything, PROBABILITIES @ of_all), abs=1e-12)
    assert found.selected == int(np.argmax(of_all))
    assert found.selected_name == f"ensemble of {np.count_nonzero(of_all)} configurations"


def test_an_ensemble_can_be_scored_by_folds():
    expected = []
    for inside, outside in draws():
        best = np.argsort(-np.nanmean(in_folds(inside, PROBABILITIES), axis=0), kind="stable")[:2]
        expected.append(np.nanmean(in_folds(outside, PROBABILITIES[:, best].mean(axis=1, keepdims=True))))
    found = estimate("roc_auc", TopK(2), folds=FOLDS, aggregate="folds")
    np.testing.assert_allclose(found.distribution, expected, atol=1e-12)


@pytest.mark.parametrize(
    "name, function",
    [("accuracy", accuracy), ("f1", f1), ("matthews_corrcoef", matthews)],
    ids=["accuracy", "f1", "mcc"],
)
def test_threshold(name, function):
    grid = [0.5, 0.4, 0.6, 0.3]

    def choose(rows):
        scores = [[function(rows, column > cut) for cut in grid] for column in PROBABILITIES.T]
        return np.unravel_index(np.argmax(np.round(scores, 11)), (C, len(grid)))

    expected, choices = [], []
    for inside, outside in draws():
        j, cut = choose(inside)
        expected.append(function(outside, PROBABILITIES[:, j] > grid[cut]))
        choices.append(j)
    found = estimate(name, Threshold(grid))
    agrees(found, expected, choices)
    everything = np.arange(N)
    j, cut = choose(everything)
    assert (found.selected, found.provenance["threshold"]) == (j, grid[cut])
    assert found.selected_name == f"configuration {j} at threshold {grid[cut]:g}"
    assert found.uncorrected == pytest.approx(function(everything, PROBABILITIES[:, j] > grid[cut]), abs=1e-12)


def test_own_thresholds_find_the_best_cut_of_all():
    rows = np.arange(N)
    best = max(accuracy(rows, column > cut) for column in SCORES.T for cut in [*column, column.min() - 1])
    found = estimate("accuracy", Threshold(n_thresholds=200), SCORES, method="cv")
    assert found.value == pytest.approx(best, abs=1e-12)
    assert accuracy(rows, SCORES[:, found.selected] > found.provenance["threshold"]) == found.value
