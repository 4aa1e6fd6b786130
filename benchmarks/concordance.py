"""What BBC with the concordance index costs beside a loop over scikit-survival, on one core.

    python benchmarks/concordance.py [--rows 500 --columns 766 --bootstraps 1000 --rounds 7 --calls 60]

Ours is the whole job, ``heldout.estimate(..., metric="concordance_index")``: read the target and the risks, sort,
draw, select in the bag, score out of it, interval. The peer only scores every column on the drawn rows by
``sksurv.metrics.concordance_index_censored``, and no selection is charged to it; some calls on several draws are
timed in each round and scaled up to all of them. Both alternate in one process; figures are medians of processor
time and of its ratios in one round. Needs scikit-survival.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import argparse
import statistics
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sksurv.metrics import concordance_index_censored

import heldout as ho
from heldout.kernels.dispatch import KERNELS, ConcordanceSums, draw_units

SEED = 20180709
TARGET = 300


@dataclass(frozen=True)
class Problem:
    """Held-out risks of C models on N rows, about 60 % of them events, with indices about .75."""

    y: NDArray[Any]
    risks: NDArray[np.float64]
    n_bootstraps: int

    @property
    def counts(self) -> NDArray[np.uint8]:
        """Five draws."""
        return draw_units(SEED, np.arange(5, dtype=np.uint64), 0, len(self.y))


def problem_of(rows: int, columns: int, n_bootstraps: int) -> Problem:
    rng = np.random.default_rng(SEED)
    failure, lost = rng.exponential(4.0, rows), rng.exponential(6.0, rows)
    y = np.empty(rows, dtype=[("event", "?"), ("time", "f8")])
    y["event"], y["time"] = failure <= lost, np.minimum(failure, lost)
    return Problem(y, rng.normal(size=(rows, columns)) - np.log(failure)[:, None], n_bootstraps)


def ours(problem: Problem, metric: str) -> float:
    begun = time.process_time()
    ho.estimate(
        problem.y,
        problem.risks,
        metric=metric,
        method="bbc",
        n_bootstraps=problem.n_bootstraps,
        random_state=SEED,
        n_jobs=1,
    )
    return time.process_time() - begun


def loop_over_scikit_survival(problem: Problem, calls: int) -> float:
    """Of all calls, scaled up from those that were made."""
    drawn = [np.repeat(np.arange(len(problem.y)), counts) for counts in problem.counts]
    event, times = problem.y["event"], problem.y["time"]
    begun = time.process_time()
    for call in range(calls):
        rows = drawn[call % len(drawn)]
        column = call % problem.risks.shape[1]
        concordance_index_censored(event[rows], times[rows], problem.risks[rows, column])
    return (time.process_time() - begun) / calls * problem.n_bootstraps * problem.risks.shape[1]


def check_same_job(problem: Problem) -> None:
    """Our sums are the peer's numbers."""
    event, times, counts = problem.y["event"], problem.y["time"], problem.counts
    doubled = ConcordanceSums(problem.risks[:, :5], event, times).all(counts)
    pairs = ConcordanceSums(np.zeros((len(event), 1)), event, times).all(counts)
    for lane, drawn in enumerate(counts):
        rows = np.repeat(np.arange(len(event)), drawn)
        theirs = [concordance_index_censored(event[rows], times[rows], r[rows])[0] for r in problem.risks[:, :5].T]
        np.testing.assert_allclose(doubled[lane] / (2 * pairs[lane]), theirs, rtol=0, atol=1e-10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--columns", type=int, default=766)
    parser.add_argument("--bootstraps", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=60, help="of scikit-survival, a round")
    options = parser.parse_args()
    problem = problem_of(options.rows, options.columns, options.bootstraps)
    check_same_job(problem)

    print(f"N={options.rows} C={options.columns} B={options.bootstraps}, {KERNELS} kernels, one core")
    ours(problem, "concordance_index")  # once, so that memory is at hand
    rounds = [
        (
            ours(problem, "concordance_index"),
            ours(problem, "concordance_index_ipcw"),
            loop_over_scikit_survival(problem, options.calls),
        )
        for _ in range(options.rounds)
    ]
    names = ("heldout, Harrell", "heldout, Uno", "concordance_index_censored loop")
    print(f"\n{'':34}{'seconds':>12}{'times ours':>12}{'target':>9}")
    for i, name in enumerate(names):
        taken = statistics.median(r[i] for r in rounds)
        ratio = statistics.median(r[i] / r[0] for r in rounds)
        print(f"{name:34}{taken:12.4f}{ratio:12.1f}{TARGET if i == 2 else '':>9}")


if __name__ == "__main__":
    main()
