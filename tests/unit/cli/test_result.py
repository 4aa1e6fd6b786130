"""The lines that end a command: digits as many as the interval allows, the same in every line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import heldout as ho
from heldout.cli.result import estimate_rows


@pytest.fixture
def estimate() -> ho.Estimate:
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    scores = y[:, None] + rng.normal(size=(400, 3))
    return ho.estimate(y, scores, metric="roc_auc", random_state=0, n_bootstraps=100)


def test_every_number_has_the_digits_of_the_report(estimate: ho.Estimate) -> None:
    rows = dict(estimate_rows(estimate))

    assert rows["corrected"] == f"{estimate.value:.3f} by bbc"
    assert rows["interval"].startswith(f"{estimate.interval.low:.3f} to {estimate.interval.high:.3f} (95% ")
    assert rows["uncorrected"] == f"{estimate.uncorrected:.3f}"
    assert rows["optimism"].startswith(f"{estimate.optimism:.3f}"[:4])


def test_what_could_not_be_computed_is_none(estimate: ho.Estimate) -> None:
    rows = dict(estimate_rows(replace(estimate, value=float("nan"), optimism=float("nan"), interval=None)))

    assert rows["corrected"] == "none by bbc" and rows["interval"] == "none" and rows["optimism"] == "none"
