"""Kernels of single metric families equal their specification to the last bit, in any blocks."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from twins import compiled_kernels

from heldout.kernels import reference, reference_curves
from heldout.selection.bootstrap_draws import map_blocks

compiled = compiled_kernels()
needs_compiled = pytest.mark.skipif(compiled is None, reason="this installation was built without a C++ compiler")

# Few distinct values, so that ties abound, among values of all magnitudes.
SCORES = st.one_of(
    st.sampled_from([-1.0, -0.0, 0.0, 0.5, 0.5000000000000001, 1.0]),
    st.floats(allow_nan=False, allow_infinity=False, width=64),
)
LOG_ODDS = st.one_of(st.sampled_from([-36.0, -0.5, 0.0, 0.5, 36.0]), st.floats(-40, 40))
KINDS = {
    "SensitivityWithin": reference_curves,
    "AreaWithin": reference_curves,
    "RankCorrelations": reference,
    "BinnedGaps": reference_curves,
    "LogisticFits": reference_curves,
}


@st.composite
def problems(draw: st.DrawFn) -> dict[str, Any]:
    n, c = draw(st.integers(1, 30)), draw(st.integers(1, 6))
    lanes = draw(st.sampled_from([1, 2, 31, 32, 33, 63, 64, 65]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    largest = draw(st.sampled_from([0, 1, 4, 63, 64, 255]))
    counts = rng.integers(0, largest + 1, size=(lanes, n), dtype=np.uint8)
    return {
        "scores": draw(hnp.arrays(np.float64, (n, c), elements=SCORES)),
        "log_odds": draw(hnp.arrays(np.float64, (n, c), elements=LOG_ODDS)),
        "target": draw(hnp.arrays(np.float64, n, elements=SCORES)),
        "positive": draw(hnp.arrays(np.bool_, n)),
        "share": draw(st.sampled_from([0.0, 0.1, 0.25, 1.0])),
        "bins": rng.integers(0, draw(st.integers(1, 5)), size=(n, c)).astype(np.int32),
        "given_slope": draw(st.booleans()),
        "counts": counts,
        "weights": counts * rng.random(n),
        "columns": rng.integers(0, c, size=lanes),
    }


def prepared(kernels: Any, kind: str, problem: dict[str, Any]) -> Any:
    make = getattr(kernels, kind)
    if kind in ("SensitivityWithin", "AreaWithin"):
        return make(problem["scores"], problem["positive"], problem["share"])
    if kind == "RankCorrelations":
        return make(problem["scores"], problem["target"])
    if kind == "BinnedGaps":
        return make(np.clip(problem["scores"], -1, 1), problem["bins"], 5, 255 * len(problem["bins"]))
    return make(problem["log_odds"], problem["positive"], problem["given_slope"])


def assert_same(one: Any, other: Any) -> None:
    assert one.dtype == other.dtype
    np.testing.assert_array_equal(one, other)


@needs_compiled
@pytest.mark.parametrize("weighting", ["counts", "weights"])
@pytest.mark.parametrize("kind", KINDS)
@given(problem=problems())
def test_compiled_equals_reference(kind: str, weighting: str, problem: dict[str, Any]) -> None:
    slow, fast = (prepared(kernels, kind, problem) for kernels in (KINDS[kind], compiled))
    whole = slow.all(problem[weighting])
    assert_same(fast.all(problem[weighting]), whole)
    columns = problem["columns"]
    assert_same(slow.selected(problem[weighting], columns), whole[np.arange(len(columns)), columns])
    assert_same(fast.selected(problem[weighting], columns), whole[np.arange(len(columns)), columns])


@needs_compiled
@pytest.mark.parametrize("weighting", ["counts", "weights"])
@pytest.mark.parametrize("kind", KINDS)
def test_neither_blocks_nor_threads_change_a_bit(kind: str, weighting: str) -> None:
    rng = np.random.default_rng(8)
    positive = rng.random(70) < 0.5
    scores = np.round(rng.normal(size=(70, 5)) + positive[:, None], 1)
    problem = {
        "scores": scores,
        "log_odds": scores,
        "target": rng.normal(size=70).round(1),
        "positive": positive,
        "share": 0.25,
        "bins": rng.integers(0, 5, size=(70, 5)).astype(np.int32),
        "given_slope": False,
    }
    counts = rng.integers(0, 6, size=(300, 70), dtype=np.uint8)
    weightings = counts if weighting == "counts" else counts * rng.random(70)
    sums = prepared(compiled, kind, problem)
    whole = sums.all(weightings)
    for block, n_threads in ((300, 1), (1, 1), (64, 2), (7, 4)):
        parts = map_blocks(
            lambda first, last: sums.all(weightings[first:last]), 300, n_threads=n_threads, block=block
        )
        assert_same(np.concatenate(parts), whole)
