"""What an estimate takes in memory beside the matrix that it is given, measured in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

N_ROWS, N_CONFIGURATIONS = 20_000, 250
MOST = 3.2
"""Peak over the size of the matrix (40 MB). It was 3.8 to 6.4 with a copy for every step of reading; the losses
and their exact grid, or the programs of a ranking, are two, and what threads need is a quarter."""

SCRIPT = f"""
import numpy as np, heldout as ho

def kilobytes(field):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(field))

def ask(metric, y, predictions, **settings):
    return ho.estimate(y, predictions, metric=metric, n_bootstraps=300, random_state=0, **settings)

rng = np.random.default_rng(0)
predictions = rng.random(({N_ROWS}, {N_CONFIGURATIONS}))
y = rng.random({N_ROWS}) if METRIC == "mean_squared_error" else rng.integers(0, 2, {N_ROWS})
ask(METRIC, y[:100], predictions[:100])  # what is imported on the way
before = kilobytes("VmRSS")
ask(METRIC, y, predictions, n_jobs=JOBS)
print((kilobytes("VmHWM") - before) * 1024 / predictions.nbytes)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("metric", ["roc_auc", "accuracy", "log_loss", "mean_squared_error"])
def test_an_estimate_takes_little_more_than_the_matrix(metric, n_jobs):
    script = SCRIPT.replace("METRIC", repr(metric)).replace("JOBS", str(n_jobs))
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert shown.returncode == 0, shown.stderr
    assert 0.5 < float(shown.stdout) < MOST
