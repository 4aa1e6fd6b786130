"""Searches that stop when their interval is tight: how often that interval covers the truth.

C configurations get each row right with their true accuracy, drawn from a beta distribution. N rows are tested in
K folds. After each fold, from 50 rows on, the search so far has an estimate, and it stops where the 95 % interval
is no wider than asked. Covered is the true accuracy of the configuration that is then the winner.

As a script it prints the table of papers/pages/stopping.md:

    python tests/slow/statistical/stopping_simulation.py [repetitions]
"""

import sys
from typing import NamedTuple

import numpy as np

import heldout as ho
from heldout.evaluate import FEWEST_ROWS

K = 10
BETA = (9, 6)
SETTINGS = ((500, 20, 0.15), (500, 20, 0.12), (1000, 20, 0.08), (1000, 100, 0.08), (2000, 100, 0.06))
"""Rows, configurations and the width at which a search stops."""
METHODS = ("shrinkage", "bbc")


class Stopped(NamedTuple):
    """What came of one search: of the folds where it stopped, and of all folds."""

    folds: int
    covered: bool
    error: float
    covered_by_all: bool
    error_of_all: float


def search(seed: int, n_rows: int, n_configurations: int, width: float, method: str) -> Stopped:
    """One search."""
    rng = np.random.default_rng([31, seed])
    truth = rng.beta(*BETA, n_configurations)
    y = np.resize([0, 1], n_rows)
    labels = np.where(rng.random((n_rows, n_configurations)) < truth, y[:, None], 1 - y[:, None])
    folds = np.arange(n_rows) * K // n_rows

    def found(k: int) -> ho.Estimate:
        rows = folds < k
        return ho.estimate(
            y[rows], labels[rows], metric="accuracy", method=method, folds=folds[rows], aggregate="folds",
            response="labels", n_bootstraps=200, random_state=seed,
        )  # fmt: skip

    whole = found(K)
    at, stopped = K, whole
    for k in range(1, K):
        if k * n_rows // K >= FEWEST_ROWS and _width(tried := found(k)) <= width:
            at, stopped = k, tried
            break
    return Stopped(
        at,
        _covers(stopped, truth),
        stopped.value - truth[stopped.selected],
        _covers(whole, truth),
        whole.value - truth[whole.selected],
    )


def _width(estimate: ho.Estimate) -> float:
    return np.inf if estimate.interval is None else estimate.interval.high - estimate.interval.low


def _covers(estimate: ho.Estimate, truth: np.ndarray) -> bool:
    return bool(estimate.interval.low <= truth[estimate.selected] <= estimate.interval.high)


def searches(n: int, *setting: object) -> np.ndarray:
    """``n`` searches, a row each."""
    return np.array([search(seed, *setting) for seed in range(n)], dtype=float)


def table(n: int) -> list[str]:
    """The lines of a Markdown table."""
    lines = [
        "| rows | configurations | width | method | mean folds | covered | bias | covered by all folds | bias |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for n_rows, n_configurations, width in SETTINGS:
        for method in METHODS:
            folds, covered, error, of_all, error_of_all = searches(n, n_rows, n_configurations, width, method).mean(
                axis=0
            )
            lines.append(
                f"| {n_rows} | {n_configurations} | {width} | `{method}` | {folds:.1f} | {covered:.1%} | "
                f"{error:+.4f} | {of_all:.1%} | {error_of_all:+.4f} |"
            )
    return lines


if __name__ == "__main__":
    print("\n".join(table(int(sys.argv[1]) if len(sys.argv) > 1 else 400)))
