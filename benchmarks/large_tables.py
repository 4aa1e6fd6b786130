"""What a search of a large table costs beside scikit-learn's: time and memory, the estimate included.

    python benchmarks/large_tables.py [--tables "1 000 000 x 20" ...] [--rounds 3] [--no-memory]

Grids of Gaussian naive Bayes, where fits are cheap and whatever is done with predictions shows most. Both searches
run in turn in one process; the figure is the median of the ratios of neighbours, of wall and of processor time.
Memory is the peak of a child process that runs one search, rows and libraries included (Linux). Last comes
``heldout.estimate`` alone, of 1 000 000 and of 50 000 rows.
"""

import argparse
import math
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB

import heldout as ho

# rows, configurations, classes, scorer
TABLES = {
    "200 000 x 60": (200_000, 60, 2, "roc_auc"),
    "1 000 000 x 20": (1_000_000, 20, 2, "roc_auc"),
    "100 000 x 40, ten classes": (100_000, 40, 10, "neg_log_loss"),
    "1 000 000 x 60": (1_000_000, 60, 2, "roc_auc"),
}
SEARCHES = {"scikit-learn": GridSearchCV, "heldout": ho.HeldOutSearchCV}


def rows_of(n_rows: int, n_classes: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=n_rows)
    X = rng.normal(size=(n_rows, 10)) * rng.uniform(0.5, 2, size=10)
    X[:, :5] += 0.4 * rng.normal(size=(n_classes, 5))[y]
    return X, y


def search_of(name: str, n_configurations: int, scoring: str) -> Any:
    space = {"var_smoothing": np.logspace(-4, 1, n_configurations)}
    return SEARCHES[name](GaussianNB(), space, scoring=scoring, cv=5, n_jobs=1)


def seconds_of(call: Any) -> tuple[float, float]:
    """Wall and processor time."""
    wall, processor = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - processor


def peak() -> float:
    """Of this process so far, in MB; ``getrusage`` would count what its parent had."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return float(line.split()[1]) / 1024


def child_peak(table: str, name: str) -> float:
    """MB at most of a process of its own."""
    call = [sys.executable, __file__, "--tables", table, "--only", name]
    return float(subprocess.run(call, check=True, capture_output=True, text=True).stdout.split()[-1])


def compare(table: str, rounds: int, *, memory: bool) -> None:
    n_rows, n_configurations, n_classes, scoring = TABLES[table]
    X, y = rows_of(n_rows, n_classes)
    pairs = []
    for _ in range(rounds):
        searches = [search_of(name, n_configurations, scoring) for name in SEARCHES]
        pairs.append([seconds_of(lambda one=one: one.fit(X, y)) for one in searches])
        peer, ours = searches
        assert peer.best_index_ == ours.best_index_
        assert math.isclose(peer.best_score_, ours.best_score_, rel_tol=1e-12)
        estimating = ours.evaluation_.seconds["estimate"]
        del searches, peer, ours
    for kind, words in enumerate(("wall", "processor")):
        times = [[one[kind] for one in pair] for pair in pairs]
        theirs, own = (statistics.median(column) for column in zip(*times, strict=True))
        ratio = statistics.median(b / a for a, b in times)
        print(f"{table}, {words}: GridSearchCV {theirs:.1f} s, ours {own:.1f} s, ratio {ratio:.2f}", flush=True)
    print(f"{table}, of which the estimate {estimating:.1f} s", flush=True)
    if memory:
        theirs, own = (child_peak(table, name) for name in SEARCHES)
        print(f"{table}, memory: GridSearchCV {theirs:.0f} MB, ours {own:.0f} MB", flush=True)


def compare_estimates(rounds: int) -> None:
    sizes = (50_000, 1_000_000)
    calls = []
    for n_rows in sizes:
        rng = np.random.default_rng(1)
        y = rng.integers(2, size=n_rows)
        predictions = y[:, None] + rng.normal(scale=2 + np.arange(20) / 50, size=(n_rows, 20))
        calls.append(lambda y=y, predictions=predictions: ho.estimate(y, predictions, metric="roc_auc"))
    for call in calls:
        call()
    pairs = [[seconds_of(call)[1] for call in calls] for _ in range(rounds)]
    small, large = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(b / a for a, b in pairs)
    print(f"estimate, processor: 50 000 x 20 {small:.2f} s, 1 000 000 x 20 {large:.2f} s, ratio {ratio:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="*", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-memory", action="store_true", help="times only")
    parser.add_argument("--only", choices=list(SEARCHES), help="run one search once and print its memory")
    options = parser.parse_args()
    if options.only:
        n_rows, n_configurations, n_classes, scoring = TABLES[options.tables[0]]
        X, y = rows_of(n_rows, n_classes)
        search_of(options.only, n_configurations, scoring).fit(X, y)
        print(peak())
        return
    for table in options.tables:
        compare(table, options.rounds, memory=not options.no_memory)
    compare_estimates(options.rounds)


if __name__ == "__main__":
    main()
