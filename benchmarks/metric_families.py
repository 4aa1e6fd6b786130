"""What a bootstrap of each metric family costs beside a loop over the function that a user would call, on one core.

    python benchmarks/metric_families.py [--rows 500 --columns 766 --bootstraps 1000]

Ours is the whole job: bind the metric to all columns, draw, score every column in the bag, take the best, score it
out of the bag. The loops only score columns in the bag: a few hundred of the calls, scaled up.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats
import sklearn.metrics as skm
from numpy.typing import NDArray
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression

from heldout.data.task import TaskKind, Truth, truth_of
from heldout.kernels.dispatch import KERNELS, draw_units
from heldout.metrics import metric_named
from heldout.metrics.aggregate import aggregate_score
from heldout.selection.bootstrap_draws import map_blocks

SEED = 20180709
Loop = Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], Any]
"""From a target, a column and counts to a score."""


def repeated(function: Callable[..., Any]) -> Loop:
    """For functions without weights: on the rows drawn."""
    return lambda y, p, w: function(np.repeat(y, w), np.repeat(p, w))


def weighted(function: Callable[..., Any], **arguments: Any) -> Loop:
    return lambda y, p, w: function(y, p, sample_weight=w, **arguments)


def sensitivity(y: NDArray[Any], p: NDArray[Any], w: NDArray[Any]) -> float:
    fpr, tpr, _ = skm.roc_curve(y, p, sample_weight=w)
    return float(tpr[fpr <= 0.1].max())


def calibration_error(y: NDArray[Any], p: NDArray[Any]) -> float:
    true, predicted = calibration_curve(y, p, n_bins=10)
    share = np.histogram(p, np.linspace(0, 1, 11))[0]
    return float(share[share > 0] @ np.abs(true - predicted))


def slope(y: NDArray[Any], p: NDArray[Any], w: NDArray[Any]) -> float:
    x = np.log(p / (1 - p))[:, None]
    return float(LogisticRegression(C=np.inf, solver="newton-cholesky").fit(x, y, sample_weight=w).coef_[0, 0])


LOOPS: dict[str, Loop] = {
    "cohen_kappa": weighted(skm.cohen_kappa_score),
    "quadratic_weighted_kappa": weighted(skm.cohen_kappa_score, weights="quadratic"),
    "f2": weighted(skm.fbeta_score, beta=2, average="binary"),
    "sensitivity_at_specificity": sensitivity,
    "partial_roc_auc": weighted(skm.roc_auc_score, max_fpr=0.1),
    "expected_calibration_error": repeated(calibration_error),
    "calibration_slope": slope,
    "mean_pinball_loss": weighted(skm.mean_pinball_loss),
    "spearman": repeated(scipy.stats.spearmanr),
    "roc_auc_ovr": weighted(skm.roc_auc_score, multi_class="ovr"),
    "log_loss": weighted(skm.log_loss),
}
OF_FIVE = ("cohen_kappa", "quadratic_weighted_kappa")
OF_THREE = ("roc_auc_ovr",)


def problem_of(name: str, rows: int, columns: int) -> tuple[Truth, NDArray[Any]]:
    rng = np.random.default_rng(SEED)
    noise = rng.normal(size=(rows, columns))
    if name in OF_FIVE:
        codes = rng.integers(0, 5, rows)
        return truth_of(codes), np.clip(np.rint(codes[:, None] + noise), 0, 4).astype(np.int32)
    if name in OF_THREE:
        codes = rng.integers(0, 3, rows)
        raw = np.exp(rng.normal(size=(rows, columns, 3)) + (codes[:, None] == np.arange(3))[:, None])
        return truth_of(codes), raw / raw.sum(axis=2, keepdims=True)
    if TaskKind.REGRESSION in metric_named(name).tasks:
        y = rng.normal(size=rows)
        return truth_of(y, TaskKind.REGRESSION), y[:, None] + noise
    y = rng.integers(0, 2, rows)
    raw = noise + 1.2 * y[:, None] - 0.6
    return truth_of(y), (raw > 0).astype(np.int32) if name == "f2" else 1 / (1 + np.exp(-raw))


def ours(name: str, truth: Truth, predictions: NDArray[Any], n_bootstraps: int) -> None:
    n = truth.n_rows
    score = aggregate_score(metric_named(name), truth, predictions[:, :, None], np.zeros((n, 1), dtype=np.int32))

    def block(first: int, last: int) -> None:
        score.best_out_of_bag(draw_units(SEED, np.arange(first, last, dtype=np.uint64), 0, n))

    map_blocks(block, n_bootstraps, n_threads=1)


def seconds(job: Callable[[], Any]) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--columns", type=int, default=766)
    parser.add_argument("--bootstraps", type=int, default=1000)
    parser.add_argument("--calls", type=int, default=200, help="of each loop")
    options = parser.parse_args()
    print(f"N = {options.rows}, C = {options.columns}, B = {options.bootstraps}; {KERNELS} kernels")
    counts = draw_units(SEED, np.arange(1, dtype=np.uint64), 0, options.rows)[0]
    for name, loop in LOOPS.items():
        truth, predictions = problem_of(name, options.rows, options.columns)
        mine = min(seconds(lambda: ours(name, truth, predictions, options.bootstraps)) for _ in range(3))  # noqa: B023

        def peer(loop: Loop = loop, truth: Truth = truth, predictions: NDArray[Any] = predictions) -> None:
            for call in range(options.calls):
                loop(truth.values, predictions[:, call % options.columns], counts)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = seconds(peer) * options.bootstraps * options.columns / options.calls
        print(f"{name:28} {mine:8.3f} s   loop {theirs:8.0f} s   {theirs / mine:8.0f} times ours")


if __name__ == "__main__":
    main()
