"""The compiled kernels equal their specification to the last bit, in any blocks and on any number of threads.

Concordant pairs of real weights, or with a factor for each event, are added in another order: to rounding.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twins import compiled_kernels

from heldout.kernels import reference, reference_curves
from heldout.selection.bootstrap_draws import map_blocks

compiled: Any = compiled_kernels()
pytestmark = pytest.mark.skipif(compiled is None, reason="this installation was built without a C++ compiler")
Problem = dict[str, Any]

SCORES = st.one_of(
    st.sampled_from([-1.0, -0.0, 0.0, 0.5, 0.5000000000000001, 1.0]),
    st.floats(allow_nan=False, allow_infinity=False, width=64),
)


def problem_of(rng: np.random.Generator, n: int, c: int, lanes: int, largest: int, pool: Any) -> Problem:
    """Scores of a pool, so that ties abound, and everything else that a kernel reads."""
    counts = rng.integers(0, largest + 1, size=(lanes, n), dtype=np.uint8)
    return {
        "scores": rng.choice(pool, (n, c)),
        "target": rng.choice(pool, n),
        "log_odds": rng.choice(np.r_[-36.0, -0.5, 0.0, 0.5, 36.0, rng.uniform(-40, 40, 9)], (n, c)),
        "code": rng.integers(0, 3, size=n),
        "folds": rng.integers(0, rng.choice([1, 2, 9]), size=n),
        "cells": rng.integers(-1, rng.integers(1, 20), size=(n, c)).astype(np.int32),
        "bins": rng.integers(0, rng.integers(1, 5), size=(n, c)).astype(np.int32),
        "share": rng.choice([0.0, 0.1, 0.25, 1.0]),
        "event": rng.random(n) < rng.choice([0.0, 0.1, 0.6, 1.0]),
        "time": rng.integers(0, rng.choice([1, 3, 10, 1000]), size=n) / 4,  # from all tied to hardly any
        "factors": rng.gamma(1.0, size=n) * (rng.random(n) < 0.8),
        "counts": counts,
        "weights": counts * rng.random(n),
        "columns": rng.integers(0, c, size=lanes),
    }


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    pool = draw(st.lists(SCORES, min_size=1, max_size=9))
    spread = rng.normal(size=draw(st.sampled_from([0, 40])))
    lanes = draw(st.sampled_from([1, 2, 31, 32, 33, 63, 64, 65]))
    largest = draw(st.sampled_from([0, 1, 4, 31, 32, 63, 64, 255]))
    n, c = draw(st.integers(1, 30)), draw(st.integers(1, 6))
    return problem_of(rng, n, c, lanes, largest, np.r_[pool, spread])


def concordance(kernels: Any, p: Problem, factors: Any = None, kept: bool = True) -> Any:
    """With the programs of compiled kernels kept, or made when they are needed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("heldout.kernels.compiled.MOST_STEPS", 2**20 if kept else 0)
        return kernels.ConcordanceSums(p["scores"], p["event"], p["time"], factors, p["folds"])


def losses(p: Problem) -> Any:
    return np.clip(np.abs(p["scores"]), 0, 1e300), 255 * len(p["scores"])


Make = Callable[[Any, Problem], Any]
FUSED: dict[str, Make] = {
    "ranks": lambda k, p: k.RankSums(p["scores"], p["code"] == 1, p["code"] == 0),
    "ranks within folds": lambda k, p: k.RankSums(p["scores"], p["code"] == 1, p["code"] == 0, p["folds"]),
    "cells": lambda k, p: k.CellSums(p["cells"], 20),
    "losses": lambda k, p: k.LossSums(*losses(p)),
    "concordance": concordance,
    "concordance, not kept": lambda k, p: concordance(k, p, kept=False),
}
PLAIN: dict[str, Make] = FUSED | {
    "concordance of factors": lambda k, p: concordance(k, p, p["factors"]),
    "concordance of factors, not kept": lambda k, p: concordance(k, p, p["factors"], kept=False),
    "precisions": lambda k, p: k.PrecisionSums(p["scores"], p["code"] == 1),
    "medians": lambda k, p: k.Medians(p["scores"] / 4),
    "rank correlations": lambda k, p: k.RankCorrelations(p["scores"], p["target"]),
}
CURVES: dict[str, Make] = {
    "sensitivity": lambda k, p: k.SensitivityWithin(p["scores"], p["code"] == 1, p["share"]),
    "area": lambda k, p: k.AreaWithin(p["scores"], p["code"] == 1, p["share"]),
    "gaps": lambda k, p: k.BinnedGaps(np.clip(p["scores"], -1, 1), p["bins"], 5, 255 * len(p["bins"])),
    "logistic fits": lambda k, p: k.LogisticFits(p["log_odds"], p["code"] == 1, False),
    "logistic fits of a slope": lambda k, p: k.LogisticFits(p["log_odds"], p["code"] == 1, True),
}
KINDS = PLAIN | CURVES
WEIGHTING = pytest.mark.parametrize("weighting", ["counts", "weights"])


def specification(kind: str) -> ModuleType:
    return reference_curves if kind in CURVES else reference


def assert_same(one: Any, other: Any) -> None:
    assert one.dtype == other.dtype
    assert one.shape == other.shape
    np.testing.assert_array_equal(one, other)


@WEIGHTING
@pytest.mark.parametrize("kind", KINDS)
@given(problem=problems())
def test_compiled_equals_reference(kind: str, weighting: str, problem: Problem) -> None:
    slow, fast = (KINDS[kind](kernels, problem) for kernels in (specification(kind), compiled))
    weights, columns = problem[weighting], problem["columns"]
    found, expected = fast.all(weights), slow.all(weights)
    if kind.startswith("concordance") and (weighting == "weights" or "factors" in kind):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    else:
        assert_same(found, expected)
    for kernel, whole in ((fast, found), (slow, expected)):
        assert_same(kernel.selected(weights, columns), whole[np.arange(len(columns)), columns])


@pytest.mark.parametrize("kind", FUSED)
@given(problem=problems(), greatest=st.booleans())
def test_the_fused_selection_equals_the_reference(kind: str, problem: Problem, greatest: bool) -> None:
    slow = reference.best_out_of_bag(FUSED[kind](reference, problem), problem["counts"], greatest=greatest)
    fast = compiled.best_out_of_bag(FUSED[kind](compiled, problem), problem["counts"], greatest=greatest)
    for one, other in zip(fast, slow, strict=True):
        assert_same(one, other)


@given(
    seed=st.integers(0, 2**64 - 1),
    first=st.integers(0, 2**63),
    attempt=st.integers(0, 2**63),
    n=st.integers(1, 400),
)
def test_draws_are_the_same(seed: int, first: int, attempt: int, n: int) -> None:
    bootstraps = np.arange(first, first + 3, dtype=np.uint64)
    assert_same(
        compiled.draw_units(seed, bootstraps, attempt, n), reference.draw_units(seed, bootstraps, attempt, n)
    )


@WEIGHTING
@pytest.mark.parametrize("kind", KINDS)
def test_neither_blocks_nor_threads_change_a_bit(kind: str, weighting: str) -> None:
    rng = np.random.default_rng(8)
    problem = problem_of(rng, 70, 9, 300, 5, np.round(rng.normal(size=60), 1))
    weights, sums = problem[weighting], KINDS[kind](compiled, problem)
    whole = sums.all(weights)
    for block, n_threads in ((1, 1), (64, 2), (7, 4)):
        parts = map_blocks(lambda first, last: sums.all(weights[first:last]), 300, n_threads=n_threads, block=block)
        assert_same(np.concatenate(parts), whole)


@given(problem=problems())
def test_rows_in_another_order_have_the_same_concordant_pairs(problem: Problem) -> None:
    order = np.random.default_rng(0).permutation(len(problem["time"]))
    shuffled = {name: problem[name][order] for name in ("scores", "event", "time", "folds")}
    found = concordance(compiled, shuffled).all(np.ascontiguousarray(problem["counts"][:, order]))
    assert_same(found, concordance(compiled, problem).all(problem["counts"]))
