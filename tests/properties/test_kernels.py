"""The compiled kernels equal their specification to the last bit, in any blocks and on any number of threads."""

from collections.abc import Callable
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

compiled = compiled_kernels()
needs_compiled = pytest.mark.skipif(compiled is None, reason="this installation was built without a C++ compiler")

# Few distinct values, so that ties abound, among values of all magnitudes.
SCORES = st.one_of(
    st.sampled_from([-1.0, -0.0, 0.0, 0.5, 0.5000000000000001, 1.0]),
    st.floats(allow_nan=False, allow_infinity=False, width=64),
)
KINDS = ["ranks", "ranks within folds", "cells", "losses", "precisions", "medians"]


@st.composite
def problems(draw: st.DrawFn) -> dict[str, Any]:
    n, c = draw(st.integers(1, 30)), draw(st.integers(1, 12))
    lanes = draw(st.sampled_from([1, 2, 31, 32, 63, 64, 65, 130]))
    seed = draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    largest = draw(st.sampled_from([0, 1, 4, 31, 32, 63, 64, 255]))
    counts = rng.integers(0, largest + 1, size=(lanes, n), dtype=np.uint8)
    code = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 2)))
    return {
        "scores": draw(hnp.arrays(np.float64, (n, c), elements=SCORES)),
        "code": code,
        "folds": rng.integers(0, draw(st.sampled_from([1, 2, 9])), size=n),
        "cells": rng.integers(-1, draw(st.integers(1, 20)), size=(n, c)).astype(np.int32),
        "counts": counts,
        "weights": counts * rng.random(n),
        "columns": rng.integers(0, c, size=lanes),
    }


def prepared(kernels: ModuleType, kind: str, problem: dict[str, Any]) -> Any:
    scores, code = problem["scores"], problem["code"]
    make: dict[str, Callable[[], Any]] = {
        "ranks": lambda: kernels.RankSums(scores, code == 1, code == 0),
        "ranks within folds": lambda: kernels.RankSums(scores, code == 1, code == 0, problem["folds"]),
        "cells": lambda: kernels.CellSums(problem["cells"], 20),
        "losses": lambda: kernels.LossSums(np.clip(np.abs(scores), 0, 1e300), 255 * len(scores)),
        "precisions": lambda: kernels.PrecisionSums(scores, code == 1),
        "medians": lambda: kernels.Medians(scores / 4),
    }
    return make[kind]()


def assert_same(one: Any, other: Any) -> None:
    assert one.dtype == other.dtype
    assert one.shape == other.shape
    np.testing.assert_array_equal(one, other)


@needs_compiled
@pytest.mark.parametrize("weighting", ["counts", "weights"])
@pytest.mark.parametrize("kind", KINDS)
@given(problem=problems())
def test_compiled_equals_reference(kind: str, weighting: str, problem: dict[str, Any]) -> None:
    slow, fast = (prepared(kernels, kind, problem) for kernels in (reference, compiled))
    assert_same(fast.all(problem[weighting]), slow.all(problem[weighting]))
    assert_same(
        fast.selected(problem[weighting], problem["columns"]),
        slow.selected(problem[weighting], problem["columns"]),
    )


@needs_compiled
@pytest.mark.parametrize("kind", ["ranks", "ranks within folds", "cells", "losses"])
@given(problem=problems(), greatest=st.booleans())
def test_the_fused_selection_equals_the_reference(kind: str, problem: dict[str, Any], greatest: bool) -> None:
    assert compiled is not None
    slow = reference.best_out_of_bag(prepared(reference, kind, problem), problem["counts"], greatest=greatest)
    fast = compiled.best_out_of_bag(prepared(compiled, kind, problem), problem["counts"], greatest=greatest)
    for one, other in zip(fast, slow, strict=True):
        assert_same(one, other)


@needs_compiled
@given(
    seed=st.integers(0, 2**64 - 1),
    first=st.integers(0, 2**63),
    attempt=st.integers(0, 2**63),
    n=st.integers(1, 400),
)
def test_draws_are_the_same(seed: int, first: int, attempt: int, n: int) -> None:
    assert compiled is not None
    bootstraps = np.arange(first, first + 3, dtype=np.uint64)
    assert_same(
        compiled.draw_units(seed, bootstraps, attempt, n), reference.draw_units(seed, bootstraps, attempt, n)
    )


@needs_compiled
@pytest.mark.parametrize("weighting", ["counts", "weights"])
@pytest.mark.parametrize("kind", KINDS)
def test_neither_blocks_nor_threads_change_a_bit(kind: str, weighting: str) -> None:
    rng = np.random.default_rng(8)
    code = rng.integers(0, 2, size=70)
    counts = rng.integers(0, 6, size=(600, 70), dtype=np.uint8)
    problem = {
        "scores": np.round(rng.normal(size=(70, 9)) + code[:, None], 1),
        "code": code,
        "folds": rng.integers(0, 5, size=70),
        "cells": rng.integers(-1, 4, size=(70, 9)).astype(np.int32),
    }
    weightings = counts if weighting == "counts" else counts * rng.random(70)
    sums = prepared(compiled, kind, problem)
    whole = sums.all(weightings)
    for block, n_threads in ((600, 1), (1, 1), (64, 2), (100, 3), (7, 4)):
        parts = map_blocks(
            lambda first, last: sums.all(weightings[first:last]), 600, n_threads=n_threads, block=block
        )
        assert_same(np.concatenate(parts), whole)


@needs_compiled
def test_the_bootstrap_of_an_auc_is_the_same_on_any_threads() -> None:
    assert compiled is not None
    rng = np.random.default_rng(9)
    y = rng.random(90) < 0.4
    sums = compiled.RankSums(rng.normal(size=(90, 20)) + y[:, None], y, ~y)

    def block(first: int, last: int) -> Any:
        assert compiled is not None
        counts = compiled.draw_units(11, np.arange(first, last, dtype=np.uint64), 0, 90)
        return np.column_stack(compiled.best_out_of_bag(sums, counts, greatest=True))

    whole = block(0, 500)
    for size, n_threads in ((256, 2), (33, 5)):
        assert_same(np.concatenate(map_blocks(block, 500, n_threads=n_threads, block=size)), whole)
