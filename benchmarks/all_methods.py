"""Every method on one matrix: what `--method all` takes, and what each takes of it.

Run with OMP_NUM_THREADS=1 on a quiet machine: `python benchmarks/all_methods.py`. One process, medians of several
rounds; N=500, C=766, B=1000, as in the other tables.
"""

import time
import warnings
from statistics import median

import numpy as np

import heldout as ho

N, C, B, ROUNDS = 500, 766, 1000, 5


def matrix(metric: str) -> tuple[np.ndarray, np.ndarray]:
    """Truth and predictions of configurations of many qualities."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    scores = 1 / (1 + np.exp(-rng.normal(size=(N, C)) - (y[:, None] - 0.5) * rng.uniform(0, 3, C)))
    return y, (scores > 0.5).astype(int) if metric == "accuracy" else scores


def seconds(metric: str, methods: list[str] | str) -> float:
    """The median over rounds of one call."""
    y, predictions = matrix(metric)
    folds = np.arange(N) % 10
    took = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ho.compare_estimates(
                y,
                predictions,
                metric=metric,
                methods=methods,
                folds=folds,
                n_bootstraps=B,
                alternative="greater",
                random_state=0,
            )
        took.append(time.perf_counter() - start)
    return median(took)


def main() -> None:
    for metric in ("roc_auc", "accuracy", "log_loss"):
        y, predictions = matrix(metric)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            names = list(
                ho.compare_estimates(
                    y, predictions, metric=metric, folds=np.arange(N) % 10, alternative="greater", random_state=0
                )
            )
        print(f"{metric:10s} all {seconds(metric, 'all'):.3f} s")
        for name in names:
            print(f"           {name:18s} {seconds(metric, [name]):.3f} s")


if __name__ == "__main__":
    main()
