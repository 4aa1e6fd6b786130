"""Does bbc leave the score of one configuration alone, and correct that of the best of many equal ones enough?

Configurations are equal: each predicts as well as any other, with errors of its own, so that the mean of their
scores on a sample estimates what each of them is worth, in the aggregate that is asked for. What bbc says of the
best of them, less that mean, is its bias, with the sign that makes a positive one flattering. It is given in
standard deviations of one configuration's score over samples.

Run as a script it prints the table of papers/pages/control_table.md:

    python tests/slow/statistical/control_simulation.py [REPETITIONS]
"""

import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, softmax

import heldout as ho
from heldout.data.task import TaskKind
from heldout.estimates import BBC
from heldout.estimates.inputs import read_inputs
from heldout.metrics.base import Metric, is_pair_based
from heldout.metrics.named import DECLARED
from heldout.metrics.survival import BrierAt, IntegratedBrier, RocAucAt

N, K, C = 100, 10, 20
TIMES = (0.7, 1.0)


@dataclass(frozen=True)
class Bias:
    """In standard deviations of one configuration's score; positive flatters.

    Attributes
    ----------
    uncorrected, published, corrected : float
        Of the best score, of ``BBC(control=False)`` and of ``BBC()``.
    error : float
        The standard error of ``corrected``.
    alone : float
        The mean change that ``BBC()`` makes to the score of one configuration.
    """

    uncorrected: float
    published: float
    corrected: float
    error: float
    alone: float


def cases() -> Iterator[tuple[TaskKind, Metric, str]]:
    """Every metric of the library, in each kind of task and each aggregate that it is for."""
    timed = {"integrated_brier_score": IntegratedBrier(TIMES), "brier_score_at": BrierAt(TIMES[0])}
    timed["roc_auc_at"] = RocAucAt(TIMES[0])
    for metric in DECLARED:
        for kind in sorted(metric.tasks):
            mine = timed.get(metric.name, metric)
            within = is_pair_based(mine) and mine.ideal is None
            for aggregate in ("pooled", "folds", "within") if within else ("pooled", "folds"):
                yield kind, mine, aggregate


def sample(kind: TaskKind, metric: Metric, rng: np.random.Generator, n_columns: int = C) -> tuple[Any, Any]:
    """A target of N rows, and predictions of equal configurations that say something."""
    if kind is TaskKind.REGRESSION:
        y = rng.normal(size=N)
        return y, y[:, None] + 0.6 * rng.standard_t(4, size=(N, n_columns))
    if kind is TaskKind.SURVIVAL:
        return _survival(metric, rng, n_columns)
    if kind is TaskKind.BINARY:
        y = np.r_[[0, 1] * 2, rng.random(N - 4) < 0.4].astype(int)
        scores = rng.normal(size=(N, n_columns)) + 1.2 * y[:, None]
        return y, expit(1.2 * scores - 0.72 + np.log(0.4 / 0.6))
    y = np.r_[[0, 1, 2] * 2, rng.integers(0, 3, N - 6)]
    scores = rng.normal(size=(N, n_columns, 1, 3))
    scores[np.arange(N), :, :, y] += 1.2
    return y, softmax(1.2 * scores, axis=-1)


def _survival(metric: Metric, rng: np.random.Generator, n_columns: int) -> tuple[Any, Any]:
    time, censored = rng.exponential(size=N), rng.exponential(2.0, size=N)
    y = np.empty(N, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = time <= censored, np.minimum(time, censored)
    risk = -np.log(time)[:, None] + 1.5 * rng.normal(size=(N, n_columns))
    times = [each for each in TIMES if isinstance(metric, IntegratedBrier) or each == TIMES[0]]
    if isinstance(metric, IntegratedBrier | BrierAt):
        return y, np.exp(-np.exp(0.35 * (risk - 0.58))[:, :, None, None] * np.array(times))
    return y, risk


def folds_of(y: Any) -> Any:
    """K folds with their share of each class."""
    folds = np.arange(N) % K
    if y.dtype.kind != "i":
        return folds
    stratified = np.empty(N, dtype=int)
    stratified[np.argsort(y, kind="stable")] = folds
    return stratified


def bias(kind: TaskKind, metric: Metric, aggregate: str, repetitions: int, n_bootstraps: int = 100) -> Bias:
    """Of one metric in one aggregate."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [_errors(kind, metric, aggregate, seed, n_bootstraps) for seed in range(repetitions)]
    return _summary(np.array(found))


def _errors(kind: TaskKind, metric: Metric, aggregate: str, seed: int, n_bootstraps: int) -> list[float]:
    """Of one sample: what the best, published and corrected scores are off; a score; the change to one alone."""
    y, table = sample(kind, metric, np.random.default_rng(seed))
    asked = {"metric": metric, "folds": folds_of(y), "aggregate": aggregate, "random_state": seed}
    one = ho.estimate(y, table[:, :1], n_bootstraps=50, **asked)
    sign = 1 if metric.greater_is_better else -1
    alone = [one.uncorrected, sign * (one.value - one.uncorrected)]
    if metric.ideal is not None:  # it chooses no configuration
        return [np.nan, np.nan, np.nan, *alone]
    method = BBC()
    evidence = read_inputs(y, table, n_bootstraps=n_bootstraps, **asked).evidence(method)
    worth = np.nanmean(evidence.scores.observed())
    best = method.estimate(evidence)
    published = best.value + (best.provenance["control_size"] or 0.0)
    return [*(sign * (value - worth) for value in (best.uncorrected, published, best.value)), *alone]


def _summary(found: Any) -> Bias:
    spread = np.nanstd(found[:, 3], ddof=1)
    uncorrected, published, corrected = found[:, :3].mean(axis=0) / spread
    error = found[:, 2].std(ddof=1) / spread / np.sqrt(len(found))
    return Bias(uncorrected, published, corrected, error, found[:, 4].mean() / spread)


def main(repetitions: int) -> None:
    print("| metric | task | aggregate | best score | published | corrected | error | one configuration |")
    print("|---|---|---|---|---|---|---|---|")
    for kind, metric, aggregate in cases():
        try:
            seen = bias(kind, metric, aggregate, repetitions)
        except ho.InputError:  # a kind of task or of folds that it is not for
            continue
        numbers = [seen.uncorrected, seen.published, seen.corrected]
        shown = " | ".join("" if np.isnan(each) else f"{each:+.2f}" for each in numbers)
        error = "" if np.isnan(seen.error) else f"{seen.error:.2f}"
        print(f"| {metric.name} | {kind} | {aggregate} | {shown} | {error} | {seen.alone:+.2f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
