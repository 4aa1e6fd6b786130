"""What the kernels of the bootstrap cost beside the peers that a user would otherwise call, on one core.

    python benchmarks/bbc_kernels.py [--rows 500 --columns 766 --bootstraps 1000 --rounds 5]

Ours is the whole job: prepare all columns, draw, select in the bag, score out of it. The peers only score all
columns in the bag, and no selection is charged to them:

- a loop over ``sklearn.metrics.roc_auc_score`` with the same counts as sample weights,
- ``scipy.stats.bootstrap`` with the area of all columns at once, from ``scipy.stats.rankdata``,
- ``scipy.stats.bootstrap`` with the mean of 0-1 losses of all columns at once, as it is called by default, and in
  batches that fit the cache of this machine (its time varies twentyfold with the batch).

The slow ones do a part of the job in each round, which is scaled up. All alternate in one process, and the figures
are medians of processor time and of its ratios in one round, so that a busy machine hurts all alike.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.stats
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from heldout.kernels.dispatch import KERNELS, CellSums, RankSums, best_out_of_bag, draw_units
from heldout.selection.bootstrap_draws import map_blocks

SEED = 20180709
TARGETS = {"roc_auc_score loop": 3000, "scipy.stats.bootstrap, AUC": 1000, "scipy.stats.bootstrap, 0-1": 250}


@dataclass(frozen=True)
class Problem:
    """Held-out scores of C models on N rows, half of them positive, with areas about .8; who errs where."""

    y: NDArray[np.bool_]
    scores: NDArray[np.float64]
    wrong: NDArray[np.bool_]
    n_bootstraps: int


def problem_of(rows: int, columns: int, n_bootstraps: int) -> Problem:
    rng = np.random.default_rng(SEED)
    y = rng.random(rows) < 0.5
    scores = rng.normal(size=(rows, columns)) + 1.2 * y[:, None]
    return Problem(y, scores, (scores > 0.6) != y[:, None], n_bootstraps)


def bootstrap_auc(problem: Problem) -> NDArray[np.float64]:
    """The out-of-bag area of the best column of each bootstrap."""
    y, n = problem.y, len(problem.y)
    sums = RankSums(problem.scores, y, ~y)

    def block(first: int, last: int) -> NDArray[np.float64]:
        counts = draw_units(SEED, np.arange(first, last, dtype=np.uint64), 0, n)
        _, doubled = best_out_of_bag(sums, counts, greatest=True)
        left_out = (counts == 0) @ np.column_stack([y, ~y]).astype(np.float64)
        return doubled / (2 * left_out[:, 0] * left_out[:, 1])

    return np.concatenate(map_blocks(block, problem.n_bootstraps, n_threads=1))


def bootstrap_zero_one(problem: Problem) -> NDArray[np.float64]:
    """The out-of-bag share of errors of the best column of each bootstrap."""
    sums = CellSums(np.where(problem.wrong, 0, -1).astype(np.int32), 1)

    def block(first: int, last: int) -> NDArray[np.float64]:
        counts = draw_units(SEED, np.arange(first, last, dtype=np.uint64), 0, len(problem.y))
        _, errors = best_out_of_bag(sums, counts, greatest=False)
        return errors[:, 0] / (counts == 0).sum(axis=1)

    return np.concatenate(map_blocks(block, problem.n_bootstraps, n_threads=1))


def loop_over_scikit_learn(problem: Problem, n_scores: int = 300) -> float:
    """The part of the job that was done."""
    counts = draw_units(SEED, np.arange(1, dtype=np.uint64), 0, len(problem.y))[0].astype(np.float64)
    columns = np.arange(n_scores) % problem.scores.shape[1]
    for j in columns:
        roc_auc_score(problem.y, problem.scores[:, j], sample_weight=counts)
    return n_scores / (problem.n_bootstraps * problem.scores.shape[1])


def areas(scores: NDArray[Any], y: NDArray[Any], axis: int = -1) -> NDArray[Any]:
    ranks = scipy.stats.rankdata(scores, axis=axis)
    n_positive = y.sum(axis=axis)
    won = (ranks * y).sum(axis=axis) - n_positive * (n_positive + 1) / 2
    return won / (n_positive * (y.shape[axis] - n_positive))


def scipy_bootstrap_auc(problem: Problem, n_resamples: int = 20) -> float:
    columns = np.ascontiguousarray(problem.scores.T)
    scipy.stats.bootstrap(
        (columns, problem.y[None, :].astype(np.float64)), areas, paired=True, vectorized=True, axis=-1,
        n_resamples=n_resamples, batch=5, method="percentile", rng=SEED,
    )  # fmt: skip
    return (n_resamples + 1) / problem.n_bootstraps  # it also scores the sample itself


def scipy_bootstrap_zero_one(problem: Problem, n_resamples: int = 200, batch: int | None = None) -> float:
    losses = np.ascontiguousarray(problem.wrong.T).astype(np.float64)
    scipy.stats.bootstrap(
        (losses,), np.mean, vectorized=True, axis=-1,
        n_resamples=n_resamples, batch=batch, method="percentile", rng=SEED,
    )  # fmt: skip
    return (n_resamples + 1) / problem.n_bootstraps


def seconds(job: Callable[[Problem], Any], problem: Problem) -> float:
    """Of the whole job, scaled up from the part that was done."""
    begun = time.process_time()  # one thread and no input: other processes then count for nothing
    part = job(problem)
    taken = time.process_time() - begun
    return taken / part if isinstance(part, float) else taken


def gemm_gflops(size: int = 1500) -> float:
    a = np.random.default_rng(0).random((size, size))
    a @ a
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        a @ a
        times.append(time.perf_counter() - begun)
    return 2 * size**3 / min(times) / 1e9


def copy_gigabytes_a_second(size: int = 2**27) -> float:
    source, target = np.ones(size // 8), np.zeros(size // 8)
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        np.copyto(target, source)
        times.append(time.perf_counter() - begun)
    return 2 * size / min(times) / 1e9


def check_same_job(problem: Problem) -> None:
    """Our sums are the peers' numbers."""
    y, columns = problem.y, np.arange(min(5, problem.scores.shape[1]))
    counts = draw_units(SEED, np.arange(1, dtype=np.uint64), 0, len(y))
    doubled = RankSums(problem.scores, y, ~y).all(counts)[0, columns]
    ours = doubled / (2.0 * counts[0, y].sum(dtype=float) * counts[0, ~y].sum(dtype=float))
    theirs = [roc_auc_score(y, problem.scores[:, j], sample_weight=counts[0].astype(float)) for j in columns]
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    drawn = np.repeat(np.arange(len(y)), counts[0])
    np.testing.assert_allclose(areas(problem.scores[drawn].T[columns], y[drawn][None, :]), ours, atol=1e-12)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--columns", type=int, default=766)
    parser.add_argument("--bootstraps", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    problem = problem_of(options.rows, options.columns, options.bootstraps)
    check_same_job(problem)

    print(f"N={options.rows} C={options.columns} B={options.bootstraps}, {KERNELS} kernels, one core")
    gflops, bandwidth = gemm_gflops(), copy_gigabytes_a_second()
    work = options.rows * options.columns * options.bootstraps
    print(f"this machine: GEMM {gflops:.0f} GFLOP/s in float64, copies {bandwidth:.0f} GB/s (read and written)")
    print(f"  counts x losses by GEMM at that speed: {2e3 * work / gflops / 1e9:.1f} ms")
    print(f"  every count read once for every column, from memory: {1e3 * work / bandwidth / 1e9:.1f} ms")

    jobs: dict[str, Callable[[Problem], Any]] = {
        "heldout, AUC": bootstrap_auc,
        "heldout, 0-1": bootstrap_zero_one,
        "roc_auc_score loop": loop_over_scikit_learn,
        "scipy.stats.bootstrap, AUC": scipy_bootstrap_auc,
        "scipy.stats.bootstrap, 0-1": scipy_bootstrap_zero_one,
        "the same in batches of 2, 0-1": partial(scipy_bootstrap_zero_one, batch=2),
    }
    for name in ("heldout, AUC", "heldout, 0-1"):
        jobs[name](problem)  # once, so that memory is at hand
    rounds = [{name: seconds(job, problem) for name, job in jobs.items()} for _ in range(options.rounds)]
    print(f"\n{'':32}{'seconds':>12}{'times ours':>12}{'target':>9}")
    for name in jobs:
        ours = "heldout, 0-1" if name.endswith("0-1") else "heldout, AUC"
        taken = statistics.median(r[name] for r in rounds)
        ratio = statistics.median(r[name] / r[ours] for r in rounds)
        target = f"{TARGETS[name]:9d}" if name in TARGETS else ""
        print(f"{name:32}{taken:12.4f}{ratio:12.0f}{target}")


if __name__ == "__main__":
    main()
