"""An advice needs heldout-papers for one of its parts, which is tested there: here its result is written down."""

from types import SimpleNamespace
from typing import Any

import pytest

from heldout import studies

BIASES = {"cv": 0.1, "nested_cv": 0.0, "bbc": -0.02, "bced": -0.01}


@pytest.fixture(autouse=True)
def worst_case_without_its_study(monkeypatch: pytest.MonkeyPatch) -> None:
    def simulated(*_: Any, **settings: Any) -> SimpleNamespace:
        rows = [{"protocol": name, "bias": bias, "standard_error": 0.01} for name, bias in BIASES.items()]
        return SimpleNamespace(rows=lambda: rows)

    monkeypatch.setitem(vars(studies), "bias", simulated)
