"""Bootstrap validation of a logistic regression beside R's ``rms::validate``, on one core.

    python benchmarks/validation.py [--rows 768] [--columns 8] [--bootstraps 500] [--rounds 5]

Ours is all of ``ho.bootstrap_validate`` with rms's table: Dxy, R2, Intercept, Slope and Brier score, each apparent,
in the bootstrap, on the original rows and corrected. R's is ``validate(lrm(...), B=...)``, whose table also has D,
U, Q, g, gp and Emax; its clock starts after R and rms are loaded and the model is fitted, ours before the model is
fitted. The two take turns, and the medians are compared. Without ``Rscript`` and the package rms only ours is
timed. The data are generated: normal columns, a third of the rows positive.
"""

import argparse
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import heldout as ho
from heldout.metrics import CalibrationIntercept

METRICS = ["somers_d", "nagelkerke_r2", CalibrationIntercept(given_slope=False), "calibration_slope", "brier_score"]
R_CODE = """
suppressMessages(library(rms))
arguments <- commandArgs(trailingOnly=TRUE)
d <- read.csv(arguments[1])
f <- lrm(reformulate(setdiff(names(d), "y"), "y"), data=d, x=TRUE, y=TRUE)
set.seed(1)
took <- system.time(v <- validate(f, B=as.integer(arguments[2])))
cat("took", took[["user.self"]] + took[["sys.self"]], took[["elapsed"]], "\\n")
cat("found", format(v[c("Dxy", "R2", "Intercept", "Slope", "B"), "index.corrected"], digits=6), "\\n")
"""


def generated(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    effects = np.linspace(1, 0, n_columns)
    return X, (rng.uniform(size=n_rows) < 1 / (1 + np.exp(0.9 - X @ effects))).astype(int)


def ours(X: np.ndarray, y: np.ndarray, n_bootstraps: int) -> tuple[list[float], list[float]]:
    """Seconds of the processor and in all, and the corrected scores."""
    began, used = time.perf_counter(), time.process_time()
    found = ho.bootstrap_validate(
        LogisticRegression(C=np.inf, solver="newton-cholesky"), X, y, metric=METRICS, n_bootstraps=n_bootstraps,
        interval=None, n_jobs=1, random_state=1,
    )  # fmt: skip
    took = [time.process_time() - used, time.perf_counter() - began]
    return took, [row.corrected for row in found.rows.values()]


def in_r(X: np.ndarray, y: np.ndarray, n_bootstraps: int) -> tuple[list[float], list[float]]:
    """Seconds inside R, of the processor and in all, and the corrected scores."""
    with tempfile.TemporaryDirectory() as folder:
        table, code = Path(folder) / "rows.csv", Path(folder) / "validate.R"
        names = [*(f"x{j}" for j in range(X.shape[1])), "y"]
        np.savetxt(table, np.column_stack([X, y]), delimiter=",", header=",".join(names), comments="")
        code.write_text(R_CODE)
        command = ["Rscript", str(code), str(table), str(n_bootstraps)]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = dict(line.split(maxsplit=1) for line in printed.splitlines() if line.startswith(("took", "found")))
    took, found = ([float(number) for number in lines[name].split()] for name in ("took", "found"))
    return took, found


def has_rms() -> bool:
    command = ["Rscript", "-e", "stopifnot(requireNamespace('rms'))"]
    return shutil.which("Rscript") is not None and subprocess.run(command, capture_output=True).returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=768)
    parser.add_argument("--columns", type=int, default=8)
    parser.add_argument("--bootstraps", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    X, y = generated(options.rows, options.columns)
    sides = {"heldout": ours} | ({"rms::validate": in_r} if has_rms() else {})
    times: dict[str, list[list[float]]] = {name: [] for name in sides}
    with threadpool_limits(1):
        ours(X, y, 2)  # imports
        for _ in range(options.rounds):
            for name, side in sides.items():
                took, corrected = side(X, y, options.bootstraps)
                times[name].append(took)
                if len(times[name]) == 1:
                    print(f"{name:<14} corrected " + " ".join(f"{value:8.4f}" for value in corrected))
    print(
        f"N={options.rows}, {options.columns} cols, B={options.bootstraps}, one core, medians of {options.rounds}"
    )
    print(f"{'':<14} processor, s  times ours   wall, s")
    mine = median(processor for processor, _ in times["heldout"])
    for name, rounds in times.items():
        processor, wall = np.median(rounds, axis=0)
        print(f"{name:<14} {processor:12.3f} {processor / mine:11.2f} {wall:9.3f}")


if __name__ == "__main__":
    main()
