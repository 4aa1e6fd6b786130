"""Replicates made of numbers, without fitting anything."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from heldout.data.task import Truth, truth_of
from heldout.metrics.base import Response
from heldout.protocols.validation.replicates import Replicates


def _made(
    truth: Truth, response: Response, counts: Any, apparent: Any, on_original: Any, **others: Any
) -> Replicates:
    """Of one completion: ``apparent`` (N,) and ``on_original`` (N, B)."""
    return Replicates(
        truth,
        np.asarray(counts, dtype=np.uint8),
        {response: np.asarray(apparent)[:, None]},
        {response: np.asarray(on_original)[:, None]},
        **others,
    )


def _drawn(n: int, n_replicates: int, rng: np.random.Generator) -> np.ndarray:
    """Counts (B, n) of samples with replacement."""
    return np.stack([np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(n_replicates)]).astype(
        np.uint8
    )


def _with_responses(seed: int, n: int = 30, n_replicates: int = 12, **others: Any) -> dict[Response, Replicates]:
    """Overfitted replicates of each response: right on drawn rows, less so on the others."""
    rng = np.random.default_rng(seed)
    counts = _drawn(n, n_replicates, rng)
    labels = np.r_[0, 1, rng.integers(2, size=n - 2)]
    values = rng.normal(3.0, 2.0, n)
    binary, numbers = truth_of(labels), truth_of(values, "regression")
    noise = rng.normal(size=(n, n_replicates)) * np.where(counts.T > 0, 0.6, 1.5)
    own = rng.normal(size=n) * 0.5
    decision, apparent = (2 * labels - 1)[:, None] + noise, 2 * labels - 1 + own
    truths = {Response.VALUES: numbers}
    said = {
        Response.DECISION: (apparent, decision),
        Response.PROBABILITIES: (1 / (1 + np.exp(-apparent)), 1 / (1 + np.exp(-decision))),
        Response.LABELS: ((apparent > 0).astype(np.int32), (decision > 0).astype(np.int32)),
        Response.VALUES: (values + own, values[:, None] + noise),
    }
    return {
        response: _made(truths.get(response, binary), response, counts, *both, **others)
        for response, both in said.items()
    }


@pytest.fixture(scope="session")
def made() -> Callable[..., Replicates]:
    """``made(truth, response, counts, apparent, on_original, **others)``."""
    return _made


@pytest.fixture(scope="session")
def drawn() -> Callable[..., np.ndarray]:
    """``drawn(n, n_replicates, rng)``."""
    return _drawn


@pytest.fixture(scope="session")
def with_responses() -> Callable[..., dict[Response, Replicates]]:
    """``with_responses(seed, n, n_replicates, **others)``."""
    return _with_responses


@pytest.fixture(scope="session")
def overfitted() -> dict[Response, Replicates]:
    return _with_responses(0)
