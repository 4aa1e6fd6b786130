"""An advice needs heldout-papers for one of its parts, which is tested there: here its result is written down."""

from __future__ import annotations

import pytest

from heldout.advice.costs import BETA, ProtocolBias, WorstCase

BIASES = {"cv": 0.1, "nested_cv": 0.0, "bbc": -0.02, "bced": -0.01}


@pytest.fixture(autouse=True)
def worst_case_without_its_study(monkeypatch: pytest.MonkeyPatch) -> None:
    def simulated(
        rows: int, configurations: int, folds: int, entropy: int, *, metric: str, prevalence: float | None
    ) -> WorstCase:
        biases = tuple(ProtocolBias(protocol, bias, 0.01) for protocol, bias in BIASES.items())
        return WorstCase(metric, rows, configurations, folds, 50, BETA, biases)

    monkeypatch.setattr("heldout.advice.adviser.worst_case", simulated)
