"""Ten million rows of 20 configurations from a Parquet file larger than the memory that the process may have.

Each run is a process of its own, limited to ``--limit`` GiB of address space (threads), or each of whose workers is
(processes and a Dask cluster). What they say must be the same to the last bit.

    python benchmarks/out_of_core.py --folder /tmp
    python benchmarks/out_of_core.py --folder /tmp --metrics log_loss --runs threads:2 dask:2
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np

CONFIGURATIONS = [f"c{j:02d}" for j in range(20)]
TARGETS = {"mean_squared_error": "number", "mean_absolute_error": "number"}


def make(path: Path, rows: int) -> None:
    """A file of scores in doubles, not compressed, in row groups of a million."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    fields = [("label", pa.int64()), ("number", pa.float64()), *((name, pa.float64()) for name in CONFIGURATIONS)]
    schema = pa.schema(fields)
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as file:
        for first in range(0, rows, 1_000_000):
            n = min(1_000_000, rows - first)
            number = rng.normal(size=n)
            label = number + 0.5 * rng.normal(size=n) > 0
            skills = np.linspace(1.2, 1.8, len(CONFIGURATIONS))
            scores = [1 / (1 + np.exp(-(skill * number + rng.normal(size=n)))) for skill in skills]
            columns = [pa.array(label.astype(np.int64)), pa.array(number), *map(pa.array, scores)]
            file.write_table(pa.table(columns, schema=schema))


def resident(pid: int) -> int:
    """Bytes that a process and its children hold now."""
    total = 0
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        try:
            fields = Path(f"/proc/{one}/statm").read_text().split()
            for task in Path(f"/proc/{one}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except OSError:
            continue  # ended meanwhile
        total += int(fields[1]) * resource.getpagesize()
    return total


def one_run(arguments: argparse.Namespace) -> None:
    """In a process of its own: limit it, estimate, and print what it took."""
    resource.setrlimit(resource.RLIMIT_AS, (int(arguments.limit * 2**30),) * 2)
    from joblib import parallel_config

    import heldout as ho

    backend, n_jobs = arguments.run.split(":")
    with ExitStack() as stack:
        if backend == "dask":
            from distributed import Client, LocalCluster

            cluster = stack.enter_context(
                LocalCluster(
                    n_workers=int(n_jobs),
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",
                    memory_limit=0,
                )
            )
            stack.enter_context(Client(cluster))
        if backend != "threads":
            stack.enter_context(parallel_config({"processes": "loky"}.get(backend, backend)))
        started = time.perf_counter()
        found = ho.estimates.estimate_from_parquet(
            arguments.file,
            target=TARGETS.get(arguments.metric, "label"),
            configurations=CONFIGURATIONS,
            metric=arguments.metric,
            method="bbc",
            n_bootstraps=arguments.bootstraps,
            random_state=0,
            n_jobs=int(n_jobs),
        )
        seconds = time.perf_counter() - started
    answer = found.to_dict()
    print(
        json.dumps(
            {
                "seconds": seconds,
                "value": found.value,
                "interval": list(found.interval or ()),
                "uncorrected": found.uncorrected,
                "selected": found.selected_name,
                "error_bound": found.provenance["error_bound"],
                "certain": found.provenance["selections_certain"],
                "digest": hashlib.sha256(json.dumps(answer, sort_keys=True).encode()).hexdigest()[:12],
            }
        )
    )


def measured(command: list[str]) -> dict[str, object]:
    """What a run printed, and the most that it and its workers held at once."""
    # The limit counts addresses. Arrow's own allocator reserves a GiB of them that it may never use, and glibc's
    # some for each thread.
    environment = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    peak = 0
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.1):
            peak = max(peak, resident(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    printed, _ = process.communicate()
    done.set()
    watcher.join()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {**json.loads(printed.splitlines()[-1]), "peak": peak, "processor": processor}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(), help="where the file of 1.8 GB is made and kept")
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--bootstraps", type=int, default=1000)
    parser.add_argument("--limit", type=float, default=1.5, help="GiB of address space of a process")
    parser.add_argument("--metrics", nargs="*", default=["accuracy", "log_loss", "mean_squared_error", "roc_auc"])
    parser.add_argument("--runs", nargs="*", default=["threads:1", "threads:2", "processes:2", "dask:2"])
    for name in ("--run", "--metric", "--file"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        one_run(arguments)
        return
    rows = int(arguments.rows)
    path = arguments.folder / f"out_of_core_{rows}.parquet"
    if not path.exists():
        make(path, rows)
    print(f"{path}: {path.stat().st_size / 2**30:.2f} GiB; limit {arguments.limit} GiB; B = {arguments.bootstraps}")
    for metric in arguments.metrics:
        digests = set()
        for run in arguments.runs:
            options = ["--run", run, "--metric", metric, "--file", str(path), "--limit", str(arguments.limit)]
            command = [sys.executable, __file__, *options, "--bootstraps", str(arguments.bootstraps)]
            took = measured(command)
            digests.add(took["digest"])
            cost = f"{took['seconds']:6.1f} s ({took['processor']:6.1f} s of CPU) {took['peak'] >> 20:5d} MiB"
            result = (
                f"{took['value']:.12g} {took['interval']} bound {took['error_bound']:.2g} {took['certain']:.0%}"
            )
            print(f"{metric:20s} {run:12s} {cost}  {result}  {took['digest']}", flush=True)
        print(f"{metric}: {'the same bits' if len(digests) == 1 else 'DIFFERENT RESULTS'}", flush=True)


if __name__ == "__main__":
    main()
