"""bbc, tt and cv against plain transcriptions of the articles' pseudo-code, on the same draws.

The draws are made here by ``numpy.random.Philox`` as the specification says, the metrics by scikit-learn or by
their definitions, and the loops are the article's own (Tsamardinos et al. 2018, algorithms 2, 4 and 5), so that
nothing but the definition is shared with the library.
"""

import numpy as np
import pytest
from sklearn import metrics as sk
from twins import key_by_definition, rows_by_definition

import heldout as ho

SEED = 20260501
B = 41  # the second of the ordered scores, and the last but one, bound the interval
PUBLISHED = ho.estimates.BBC(control=False)


def algorithm_5(score, defined, y, table, folds, n_bootstraps=B):
    """L_b of every bootstrap, and the choices; ``score(y, column)`` greater = better on a subset of rows."""
    scores, choices = [], []
    for b in range(n_bootstraps):
        for attempt in range(1000):
            inside = rows_by_definition(key_by_definition(SEED, "draws"), b, attempt, len(y))
            outside = np.setdiff1d(np.arange(len(y)), inside)
            if defined(y, inside) and defined(y, outside):
                break
        in_bag = [score(y, table[:, j], inside, folds) for j in range(table.shape[1])]
        choice = int(np.argmax(np.round(in_bag, 12)))
        choices.append(choice)
        scores.append(score(y, table[:, choice], outside, folds))
    return np.array(scores), np.array(choices)


def pooled(metric):
    return lambda y, column, rows, folds: metric(y[rows], column[rows])


def mean_of_folds(metric, defined):
    def score(y, column, rows, folds):
        parts = [rows[folds[rows] == k] for k in np.unique(folds)]
        return np.mean([metric(y[part], column[part]) for part in parts if len(part) and defined(y, part)])

    return score


def both_classes(y, rows):
    return len(np.unique(y[rows])) == 2


def some_rows(y, rows):
    return len(rows) > 0


@pytest.fixture
def binary():
    rng = np.random.default_rng(3)
    y = rng.permutation(np.repeat([0, 1], [95, 85]))
    decision = rng.normal(size=(180, 4)) + y[:, None] * np.linspace(0.4, 0.7, 4)
    return y, np.round(decision, 1), np.arange(180) % 4  # rounded, so that there are ties


def area(y, scores):
    """The area under the ROC curve: the share of pairs of a positive and a negative row in the right order."""
    won = np.sign(scores[y == 1][:, None] - scores[y == 0])
    return (won.mean() + 1) / 2


def correlation(y, labels):
    """Matthews' coefficient, which is 0 where one of the two does not vary."""
    varies = len(np.unique(y)) == len(np.unique(labels)) == 2
    return np.corrcoef(y, labels)[0, 1] if varies else 0.0


def test_the_quick_metrics_are_scikit_learns(binary):
    y, decision, _ = binary
    for column in decision.T:
        assert area(y, column) == pytest.approx(sk.roc_auc_score(y, column), abs=1e-12)
        labels = (column > 0.3).astype(int)
        assert correlation(y, labels) == pytest.approx(sk.matthews_corrcoef(y, labels), abs=1e-12)
    assert correlation(y, np.ones_like(y)) == sk.matthews_corrcoef(y, np.ones_like(y)) == 0


CASES = {
    "roc_auc": (area, both_classes, lambda d: d, True),
    "average_precision": (sk.average_precision_score, both_classes, lambda d: d, True),
    "accuracy": (sk.accuracy_score, some_rows, lambda d: (d > 0.3).astype(int), True),
    "balanced_accuracy": (sk.balanced_accuracy_score, both_classes, lambda d: (d > 0.3).astype(int), True),
    "matthews_corrcoef": (correlation, some_rows, lambda d: (d > 0.3).astype(int), True),
    "log_loss": (lambda t, p: -sk.log_loss(t, p, labels=[0, 1]), some_rows, lambda d: 1 / (1 + np.exp(-d)), False),
    "brier_score": (lambda t, p: -np.mean((p - t) ** 2), some_rows, lambda d: 1 / (1 + np.exp(-d)), False),
}


MEANS_OF_FOLDS = ("roc_auc", "matthews_corrcoef")
"""Ranks, and sums that are not linear."""


@pytest.mark.parametrize(
    ("name", "aggregate"), [(name, "pooled") for name in CASES] + [(name, "folds") for name in MEANS_OF_FOLDS]
)
def test_bbc_equals_algorithm_5(binary, name, aggregate):
    y, decision, folds = binary
    metric, defined, respond, greater = CASES[name]
    table = respond(decision)
    score = pooled(metric) if aggregate == "pooled" else mean_of_folds(metric, defined)
    expected, choices = algorithm_5(score, defined, y, table, folds)
    found = ho.estimate(
        y,
        table,
        metric=name,
        folds=folds,
        aggregate=aggregate,
        n_bootstraps=B,
        random_state=SEED,
        method=PUBLISHED,
        response="decision" if table.dtype.kind == "f" and table.max() > 1 else "auto",
    )
    sign = 1 if greater else -1
    np.testing.assert_allclose(found.distribution, sign * expected, atol=1e-12)
    assert found.value == pytest.approx(sign * expected.mean(), abs=1e-12)
    frequency = np.bincount(choices, minlength=table.shape[1]) / B
    np.testing.assert_allclose(found.selection_frequency, frequency, atol=1e-12)
    ordered = np.sort(sign * expected)
    assert found.interval.low == pytest.approx(ordered[2 - 1], abs=1e-12)  # ceil(.025 * 41) = 2
    assert found.interval.high == pytest.approx(ordered[40 - 1], abs=1e-12)  # ceil(.975 * 41) = 40


def test_bbc_redraws_as_algorithm_5_with_rare_classes():
    rng = np.random.default_rng(9)
    y = np.array([1, 1, 1] + [0] * 27)
    scores = rng.normal(size=(30, 6)) + y[:, None]
    expected, _ = algorithm_5(pooled(area), both_classes, y, scores, None)
    found = ho.estimate(y, scores, metric="roc_auc", method="bbc", n_bootstraps=B, random_state=SEED)
    np.testing.assert_allclose(found.distribution, expected, atol=1e-12)
    assert found.provenance["redrawn"] > 0


def test_bbc_with_repeats_draws_rows_once_for_all_repeats(binary):
    y, decision, _ = binary
    rng = np.random.default_rng(0)
    cube = decision[:, :, None] + rng.normal(scale=0.3, size=(*decision.shape, 3))

    def score(y, j, rows, folds):
        return np.mean([area(y[rows], cube[rows, int(j[0]), r]) for r in range(3)])

    columns = np.tile(np.arange(cube.shape[1]), (len(y), 1))  # the column's number stands for the column
    expected, _ = algorithm_5(score, both_classes, y, columns, None)
    found = ho.estimate(y, cube, metric="roc_auc", method="bbc", n_bootstraps=B, random_state=SEED)
    np.testing.assert_allclose(found.distribution, expected, atol=1e-12)


@pytest.mark.parametrize("metric, scorer", [("neg_mean_squared_error", -1), ("mean_squared_error", 1)])
def test_bbc_of_a_regression(metric, scorer):
    rng = np.random.default_rng(1)
    y = rng.normal(size=90)
    table = y[:, None] + rng.normal(size=(90, 8)) * np.linspace(0.8, 1.2, 8)
    expected, _ = algorithm_5(pooled(lambda t, p: -np.mean((t - p) ** 2)), some_rows, y, table, None)
    found = ho.estimate(y, table, metric=metric, method="bbc", n_bootstraps=B, random_state=SEED)
    np.testing.assert_allclose(found.distribution, -scorer * expected, rtol=1e-11)
    assert found.optimism == pytest.approx(abs(found.value - found.uncorrected) * np.sign(found.optimism))
    assert found.optimism > 0


@pytest.mark.parametrize("name, function", [("accuracy", sk.accuracy_score), ("roc_auc", sk.roc_auc_score)])
def test_tt_equals_algorithm_4(binary, name, function):
    y, decision, folds = binary
    table = (decision > 0.3).astype(int) if name == "accuracy" else decision
    loss = np.array(
        [[1 - function(y[folds == k], table[folds == k, j]) for j in range(table.shape[1])] for k in range(4)]
    )
    winner = int(np.argmin(np.round(loss.mean(axis=0), 12)))
    bias = np.mean(loss[:, winner] - loss.min(axis=1))
    found = ho.estimate(y, table, metric=name, method="tt", folds=folds, aggregate="folds", response="auto")
    assert found.selected == winner
    assert found.uncorrected == pytest.approx(1 - loss.mean(axis=0)[winner], abs=1e-12)
    assert found.value == pytest.approx(1 - (loss.mean(axis=0)[winner] + bias), abs=1e-12)
    assert found.interval is None


@pytest.mark.parametrize("aggregate", ["pooled", "folds"])
def test_cv_is_the_winners_score(binary, aggregate):
    y, decision, folds = binary
    found = ho.estimate(y, decision, metric="roc_auc", method="cv", folds=folds, aggregate=aggregate)
    of_all = [sk.roc_auc_score(y, column) for column in decision.T]
    of_folds = [
        np.mean([sk.roc_auc_score(y[folds == k], column[folds == k]) for k in range(4)]) for column in decision.T
    ]
    expected = of_all if aggregate == "pooled" else of_folds
    assert found.value == pytest.approx(max(expected), abs=1e-12)
    assert found.selected == int(np.argmax(np.round(expected, 12)))
    assert "uncorrected" in found.flags
