"""Bias of the uncorrected score, wmc, wmcs and ipl where the truth is known exactly.

Two classes of equal size, columns normal with unit variance around -shift and +shift. A configuration is the
nearest class mean, on one column each or on the first k columns; its accuracy on new rows is half the sum of two
normal probabilities.

    python tests/slow/statistical/learning_curve_simulation.py --repetitions 200

prints the table of papers/pages/learning-curves.md.
"""

import argparse
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

import heldout as ho
from heldout.data.task import Task, truth_of
from heldout.metrics import metric_named
from heldout.protocols.learning_curve import SIZES, laws_of, subsampled_folds, training_counts

METHODS = ("uncorrected", "wmc", "wmcs", "ipl")


@dataclass(frozen=True)
class Setting:
    """``shift`` holds one for each column; ``nested`` uses the first k columns in place of one each."""

    name: str
    n_rows: int
    shift: tuple[float, ...]
    nested: bool = False


SETTINGS = (
    Setting("noise, a column each", 60, (0.0,) * 30),
    Setting("a weak signal in 3 of 30 columns", 60, (0.3,) * 3 + (0.0,) * 27),
    Setting("a strong signal in one of 30 columns", 60, (1.0,) + (0.0,) * 29),
    Setting("noise, the first k columns", 60, (0.0,) * 30, nested=True),
    Setting("a signal in 10 of the first k columns", 60, (0.25,) * 10 + (0.0,) * 20, nested=True),
    Setting("a signal in 10 of the first k columns", 200, (0.25,) * 10 + (0.0,) * 20, nested=True),
)


def rules(X, y, rows, nested):
    """Weights and thresholds of the nearest class means on some rows: (C, p) and (C,)."""
    low, high = X[rows][y[rows] == 0].mean(axis=0), X[rows][y[rows] == 1].mean(axis=0)
    each = np.eye(X.shape[1]) if not nested else np.tri(X.shape[1])
    weights = each * (high - low)
    return weights, weights @ ((high + low) / 2)


def accuracies(X, y, train, test, nested):
    """(C,): on tested rows."""
    weights, thresholds = rules(X, y, train, nested)
    return ((X[test] @ weights.T > thresholds) == y[test, None]).mean(axis=0)


def true_accuracies(X, y, shift, nested):
    """(C,): on new rows, of the rules that all rows give."""
    weights, thresholds = rules(X, y, np.arange(len(y)), nested)
    length, towards = np.linalg.norm(weights, axis=1), weights @ shift
    return (ndtr((towards - thresholds) / length) + ndtr((towards + thresholds) / length)) / 2


def biases(setting: Setting, seed: int, *, n_subsamples: int = 30, n_draws: int = 2000) -> np.ndarray:
    """(4,): each method's value minus the truth for the winner, in one data set."""
    rng = np.random.default_rng([seed, setting.n_rows, len(setting.name)])
    y = np.resize([0, 1], setting.n_rows)
    shift = np.array(setting.shift)
    X = rng.normal(size=(setting.n_rows, len(shift))) + np.where(y == 1, 1, -1)[:, None] * shift
    task = Task(X, truth_of(y))
    counts = training_counts(SIZES, setting.n_rows)
    splits = subsampled_folds(task, counts, n_subsamples, seed).splits
    scores = np.array([accuracies(X, y, split.train, split.test, setting.nested) for split in splits])
    scores = scores.reshape(len(counts), n_subsamples, -1)
    truth = true_accuracies(X, y, shift, setting.nested)
    largest = scores[-1]
    winner = int(largest.mean(axis=0).argmax())
    of_scores = {"greater_is_better": True, "test_share": 0.2, "random_state": seed}
    law = laws_of(metric_named("accuracy"), np.array(counts, dtype=float), scores[:, :, [winner]], {})[0]
    values = (
        largest.mean(axis=0)[winner],
        ho.estimate_from_scores(largest, method=ho.estimates.WMC(n_draws), **of_scores).value,
        ho.estimate_from_scores(largest, method=ho.estimates.WMCS(n_draws=n_draws), **of_scores).value,
        1 - float(law.at(setting.n_rows)),
    )
    return np.array(values) - truth[winner]


def mean_biases(setting: Setting, repetitions: int, first: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean biases, their standard errors, and root mean square errors, (4,) each."""
    found = np.array([biases(setting, first + seed) for seed in range(repetitions)])
    spread = found.std(axis=0, ddof=1)
    return found.mean(axis=0), spread / np.sqrt(repetitions), np.sqrt((found**2).mean(axis=0))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=200)
    repetitions = parser.parse_args().repetitions
    print("| data | N | " + " | ".join(METHODS) + " |")
    print("|---|---|" + "---|" * len(METHODS))
    for setting in SETTINGS:
        means, errors, squares = mean_biases(setting, repetitions)
        cells = [f"{m:+.3f} ± {e:.3f} ({s:.3f})" for m, e, s in zip(means, errors, squares, strict=True)]
        print(f"| {setting.name} | {setting.n_rows} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
