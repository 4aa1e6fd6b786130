"""What a wheel must do on the machine of a user: its compiled kernels are used, and equal their NumPy twins.

    python smoke.py              an installation with everything that heldout requires
    python smoke.py --kernels    where scikit-learn has no wheels: the kernels alone, with NumPy and SciPy

It needs no pytest, and no files but its own, so that it can run in a bare environment.
"""

import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import scipy.linalg

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def gil_is_enabled() -> bool:
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())


def check_kernels() -> None:
    gil_before = gil_is_enabled()
    from heldout.kernels import _core, compiled, dispatch, reference

    where = Path(_core.__file__)
    assert dispatch.KERNELS == "compiled", f"the kernels in use are {dispatch.KERNELS}"
    assert where.suffix in {".so", ".pyd"}, where
    assert gil_is_enabled() == gil_before, "importing the kernels switched the GIL on"
    if sys.version_info >= (3, 12) and not FREE_THREADED and where.suffix == ".so":
        assert where.name == "_core.abi3.so", f"{where.name} is not built for the stable ABI"

    rng = np.random.default_rng(0)
    scores, positive = np.round(rng.normal(size=(60, 7)), 1), rng.random(60) < 0.4  # ties abound
    cells = rng.integers(-1, 4, size=(60, 7)).astype(np.int32)
    bootstraps = np.arange(70, dtype=np.uint64)
    counts = compiled.draw_units(17, bootstraps, 0, 60)
    assert np.array_equal(counts, reference.draw_units(17, bootstraps, 0, 60)), "draws differ"
    pairs = {
        "rank sums": (
            compiled.CompiledRankSums(scores, positive, ~positive),
            reference.RankSums(scores, positive, ~positive),
        ),
        "cell sums": (compiled.CompiledCellSums(cells, 4), reference.CellSums(cells, 4)),
        "loss sums": (
            compiled.CompiledLossSums(np.abs(scores), 255 * 60),
            reference.LossSums(np.abs(scores), 255 * 60),
        ),
        "precision sums": (
            compiled.CompiledPrecisionSums(scores, positive),
            reference.PrecisionSums(scores, positive),
        ),
        "medians": (compiled.CompiledMedians(scores), reference.Medians(scores)),
    }
    for name, (fast, slow) in pairs.items():
        assert np.array_equal(fast.all(counts), slow.all(counts), equal_nan=True), f"{name} differ"
    print(f"{where.name}: {len(pairs) + 1} kernels equal their NumPy twins to the last bit")


def check_estimate() -> None:
    import heldout as ho

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    estimate = ho.estimate(y, rng.random((200, 50)), metric="roc_auc", random_state=0)
    assert abs(estimate.uncorrected - 0.593) < 5e-4, estimate.uncorrected
    assert abs(estimate.value - 0.504467934723665) < 1e-12, estimate.value
    print(f"corrected {estimate.value:.4f}, uncorrected {estimate.uncorrected:.4f}")


def check_command() -> None:
    import heldout as ho

    command = [sys.executable, "-m", "heldout", "--version"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    if find_spec("click") is None:
        assert "heldout[app]" in ended.stderr, ended
    else:
        assert ended.returncode == 0 and ho.__version__ in ended.stdout, ended
    print((ended.stdout or ended.stderr).strip())


if __name__ == "__main__":
    assert scipy.linalg  # NumPy and SciPy first: a GIL that they switch on is not the kernels'
    check_kernels()
    if "--kernels" not in sys.argv[1:]:
        check_estimate()
        check_command()
