"""Replicates made by hand: what models of bootstrap samples said, without any model."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from heldout.data.task import truth_of
from heldout.metrics.base import Response
from heldout.protocols.validation.replicates import Replicates

MakeReplicates = Callable[..., Replicates]


@pytest.fixture
def make_replicates() -> MakeReplicates:
    return replicates_by_hand


def replicates_by_hand(kind: str = "binary", *, n: int = 80, B: int = 20, H: int = 1, **rest: Any) -> Replicates:
    """Flattering models: each leans towards the truth of the rows that it drew."""
    rng = np.random.default_rng(7)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=B).astype(np.uint8)
    if kind == "regression":
        y: Any = rng.normal(10, 3, n)
        own = (y - 10)[:, None]
    else:
        classes = np.array(["ill", "well"] if kind == "binary" else ["red", "green", "blue"])
        y = classes[np.arange(n) % len(classes)]
        own = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
        own = own[:, 1:] if kind == "binary" else own
    lean = np.where(counts.T[..., None] > 0, 0.8, 0.2) * own[:, None, :]  # (n, B, outputs)
    noise = rng.normal(size=(n, H, B, own.shape[1]))
    said = lean[:, None] + noise
    apparent = 0.8 * own[:, None, :] + noise.mean(axis=2)
    if kind == "regression":
        response, said, apparent = Response.VALUES, 10 + said[..., 0], 10 + apparent[..., 0]
    elif kind == "binary":
        response = Response.PROBABILITIES
        said, apparent = (1 / (1 + np.exp(-z[..., 0])) for z in (said, apparent))
    else:
        response = Response.PROBABILITIES
        said, apparent = (np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True) for z in (said, apparent))
    return Replicates(truth_of(y), counts, {response: apparent}, {response: said}, **rest)
