"""The compiled kernel of concordant pairs equals its specification; to rounding where weights are real."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from twins import compiled_kernels

from heldout.kernels import reference
from heldout.selection.bootstrap_draws import map_blocks

compiled: Any = compiled_kernels()
needs_compiled = pytest.mark.skipif(compiled is None, reason="this installation was built without a C++ compiler")
KEPT = pytest.mark.parametrize("kept", [True, False], ids=["programs kept", "compiled when needed"])

RISKS = st.one_of(
    st.sampled_from([-1.0, -0.0, 0.0, 0.5, 0.5000000000000001, 1.0]),
    st.floats(allow_nan=False, allow_infinity=False, width=64),
)


@st.composite
def problems(draw: st.DrawFn) -> dict[str, Any]:
    n, c = draw(st.integers(1, 70)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    lanes = draw(st.sampled_from([1, 31, 64, 65, 130]))
    largest = draw(st.sampled_from([0, 1, 4, 31, 32, 255]))
    counts = rng.integers(0, largest + 1, size=(lanes, n), dtype=np.uint8)
    distinct_times = draw(st.sampled_from([1, 3, 10, 1000]))  # from all tied to hardly any
    return {
        "risks": draw(hnp.arrays(np.float64, (n, c), elements=RISKS)),
        "event": rng.random(n) < draw(st.sampled_from([0.0, 0.1, 0.6, 1.0])),
        "time": rng.integers(0, distinct_times, size=n) / 4,
        "folds": rng.integers(0, draw(st.sampled_from([1, 2, 9])), size=n),
        "factors": rng.gamma(1.0, size=n) * (rng.random(n) < 0.8),
        "counts": counts,
        "weights": counts * rng.random(n),
        "columns": rng.integers(0, c, size=lanes),
    }


def prepared(kernels: ModuleType, problem: dict[str, Any], factors: Any = None, kept: bool = True) -> Any:
    given_to_both = problem["risks"], problem["event"], problem["time"], factors, problem.get("folds")
    if kernels is reference:
        return kernels.ConcordanceSums(*given_to_both)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("heldout.kernels.compiled.MOST_STEPS", 2**20 if kept else 0)
        return kernels.ConcordanceSums(*given_to_both)


def assert_same(one: Any, other: Any) -> None:
    assert one.dtype == other.dtype
    np.testing.assert_array_equal(one, other)


@needs_compiled
@KEPT
@given(problem=problems())
def test_counts_give_the_same_whole_numbers(kept: bool, problem: dict[str, Any]) -> None:
    slow, fast = prepared(reference, problem), prepared(compiled, problem, kept=kept)
    counts, columns = problem["counts"], problem["columns"]
    assert fast.all(counts).dtype == np.int64
    assert_same(fast.all(counts), slow.all(counts))
    assert_same(fast.selected(counts, columns), slow.selected(counts, columns))


@needs_compiled
@KEPT
@given(problem=problems(), weighting=st.sampled_from(["counts", "weights"]), with_factors=st.booleans())
def test_weights_and_factors_give_the_same_numbers(
    kept: bool, problem: dict[str, Any], weighting: str, with_factors: bool
) -> None:
    factors = problem["factors"] if with_factors else None
    slow, fast = prepared(reference, problem, factors), prepared(compiled, problem, factors, kept)
    found = fast.all(problem[weighting])
    np.testing.assert_allclose(found, slow.all(problem[weighting]), rtol=1e-12)
    assert_same(fast.selected(problem[weighting], problem["columns"]), _picked(found, problem["columns"]))


def _picked(values: Any, columns: Any) -> Any:
    return values[np.arange(len(values)), columns]


@needs_compiled
@KEPT
@given(problem=problems(), greatest=st.booleans())
def test_the_fused_selection_equals_the_reference(kept: bool, problem: dict[str, Any], greatest: bool) -> None:
    slow = reference.best_out_of_bag(prepared(reference, problem), problem["counts"], greatest=greatest)
    fast = compiled.best_out_of_bag(prepared(compiled, problem, kept=kept), problem["counts"], greatest=greatest)
    for one, other in zip(fast, slow, strict=True):
        assert_same(one, other)


@needs_compiled
@KEPT
def test_neither_blocks_nor_threads_change_a_bit(kept: bool) -> None:
    rng = np.random.default_rng(8)
    problem = {
        "risks": np.round(rng.normal(size=(70, 9)), 1),
        "event": rng.random(70) < 0.5,
        "time": rng.integers(0, 40, size=70) / 2,
    }
    counts = rng.integers(0, 6, size=(600, 70), dtype=np.uint8)
    for factors, weightings in ((None, counts), (None, counts * rng.random(70)), (rng.random(70), counts)):
        sums = prepared(compiled, problem, factors, kept)
        whole = sums.all(weightings)
        for block, n_threads in ((600, 1), (1, 1), (64, 2), (100, 3), (7, 4)):
            parts = map_blocks(
                lambda first, last, sums=sums, all_of=weightings: sums.all(all_of[first:last]),
                600, n_threads=n_threads, block=block,
            )  # fmt: skip
            assert_same(np.concatenate(parts), whole)


@needs_compiled
@given(problem=problems())
def test_rows_in_another_order_are_the_same_rows(problem: dict[str, Any]) -> None:
    order = np.random.default_rng(0).permutation(len(problem["time"]))
    shuffled = {name: problem[name][order] for name in ("risks", "event", "time", "folds")}
    found = prepared(compiled, shuffled).all(np.ascontiguousarray(problem["counts"][:, order]))
    assert_same(found, prepared(compiled, problem).all(problem["counts"]))
