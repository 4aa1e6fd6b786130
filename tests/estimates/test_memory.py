"""What an estimate takes in memory beside the matrix that it is given, measured in a process of its own."""

import json
from pathlib import Path

import pytest
from forked import Forked

from heldout.kernels.dispatch import KERNELS

METRICS = ("roc_auc", "log_loss")
MOST = 3.2
"""Peak over the size of the matrix (20 MB). It was 3.8 to 6.4 with a copy for every step of reading; the losses
and their exact grid, or the programs of a ranking, are two, and what threads need is a quarter."""

SCRIPT = """
import ctypes, json, sys
import numpy as np, heldout as ho

def kilobytes(field):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(field))

ctypes.CDLL(None).mallopt(-3, 1_000_000)  # glibc would keep larger arrays of one call for the next
rng = np.random.default_rng(0)
predictions = rng.random((10_000, 250))
labels = rng.integers(0, 2, 10_000)
found = {}
for metric in sys.argv[1:]:
    settings = {"metric": metric, "random_state": 0, "n_bootstraps": 20}
    ho.estimate(labels[:100], predictions[:100], **settings)  # what is imported on the way
    for n_jobs in (1, 2):
        with open("/proc/self/clear_refs", "w") as peak:
            peak.write("5")  # from here on
        before = kilobytes("VmRSS")
        ho.estimate(labels, predictions, n_jobs=n_jobs, **settings)
        found[f"{metric}, {n_jobs}"] = (kilobytes("VmHWM") - before) * 1024 / predictions.nbytes
print(json.dumps(found))
"""


@pytest.mark.skipif(KERNELS == "numpy", reason="the twins are made to be read, and copy as they please")
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak is read from /proc")
def test_an_estimate_takes_little_more_than_the_matrix() -> None:
    process = Forked(SCRIPT, *METRICS)
    printed, errors = process.communicate(timeout=200)
    assert process.returncode == 0, errors
    peaks = json.loads(printed)
    assert len(peaks) == 2 * len(METRICS)
    assert min(peaks.values()) > 0.3, peaks  # a part of a program or a grid, else nothing was measured
    assert max(peaks.values()) < MOST, peaks
