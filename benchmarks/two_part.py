"""What multiplicity-adjusted tilting costs, beside the bootstrap that it would be built on otherwise, on one core.

    python benchmarks/two_part.py [--rows 500 --columns 100 --bootstraps 10000 --rounds 7 --metric roc_auc]

Ours is all of ``heldout.estimate(..., method="mabt")``: read and check the matrix, split the rows, send the best
tenth on, bootstrap the second part, rank, tilt, bound. The peer only scores the finalists on the drawn rows, by a
loop over scikit-learn's function (a part of the bootstraps a round, scaled up). Processor time, medians over
rounds.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, roc_auc_score

import heldout as ho
from heldout.kernels.dispatch import KERNELS

TARGET = 0.5
PEER_BOOTSTRAPS = 50
PEERS: dict[str, Callable[..., float]] = {"roc_auc": roc_auc_score, "accuracy": accuracy_score}


def seconds(job: Callable[[], Any]) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--bootstraps", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--metric", choices=sorted(PEERS), default="roc_auc")
    options = parser.parse_args()
    rng = np.random.default_rng(20260503)
    y = np.resize([0, 1], options.rows)
    predictions = rng.normal(size=(options.rows, options.columns)) + 1.2 * y[:, None]
    if options.metric == "accuracy":
        predictions = (predictions > 0.6).astype(int)
    part = options.rows // 4
    finalists = -(-options.columns // 10)
    score = PEERS[options.metric]

    def ours() -> None:
        ho.estimate(
            y, predictions, metric=options.metric, method="mabt", alternative="greater",
            n_bootstraps=options.bootstraps, random_state=0, n_jobs=1,
        )  # fmt: skip

    def loop() -> None:
        for _ in range(PEER_BOOTSTRAPS):
            rows = rng.integers(0, part, part)
            for j in range(finalists):
                score(y[rows], predictions[rows, j])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours(), loop()
        times = [
            (seconds(ours), seconds(loop) * options.bootstraps / PEER_BOOTSTRAPS) for _ in range(options.rounds)
        ]
    mine, peer = (statistics.median(column) for column in zip(*times, strict=True))
    ratio = statistics.median(theirs / our for our, theirs in times)
    print(f"kernels: {KERNELS}; N = {options.rows}, {finalists} finalists on {part} rows, B = {options.bootstraps}")
    print(f"mabt, {options.metric}: {mine:.4f} s (target {TARGET} s: {'met' if mine < TARGET else 'MISSED'})")
    print(f"loop over {score.__name__}, scores only: {peer:.1f} s, {ratio:.0f} times ours")


if __name__ == "__main__":
    main()
