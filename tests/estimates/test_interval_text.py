"""An interval, and whatever shows one, says its level."""

from __future__ import annotations

import numpy as np
import pytest

import heldout as ho


@pytest.mark.parametrize(
    "alternative, said", [("two-sided", "] (90%)"), ("greater", "] (90%, greater)"), ("less", "] (90%, less)")]
)
def test_the_level_is_named(alternative: str, said: str) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    estimate = ho.estimate(
        y, rng.normal(size=(60, 3)) + y[:, None], metric="roc_auc", n_bootstraps=50,
        confidence_level=0.9, alternative=alternative, random_state=0,
    )  # fmt: skip
    assert str(estimate.interval).endswith(said)
    assert str(estimate.interval) in repr(estimate)
    assert str(estimate.interval) in estimate._repr_html_()
