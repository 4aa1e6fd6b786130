"""The page of the test bed: its pictures, tables and sentences."""

from typing import Any

import pytest

from heldout_papers import corrections
from heldout_papers.corrections.page import corrections_page
from heldout_papers.engine.page import render_study

pytestmark = pytest.mark.usefixtures("without_pictures")


def page(**settings: Any) -> Any:
    usual: dict[str, Any] = {
        "rows": [40, 100],
        "repetitions": 12,
        "n_bootstraps": 20,
        "random_state": 0,
        "n_jobs": 1,
    }
    return corrections_page(corrections(**usual | settings), command="heldout study corrections")


def test_independent_columns() -> None:
    found = page(configurations=[10, 50], beta=[(9, 6)])

    assert [picture.title for picture in found.pictures] == [
        "Coverage of 95% intervals",
        "Coverage of 95% bounds on how bad the truth can be",
        "Bias",
        "Error beside bbc",
        "Width beside bbc",
    ]
    assert found.lead.startswith("On average over 4 cells, shrinkage has 0.")
    assert found.facts["configurations"] == "10, 50"
    assert found.claims_sentence.startswith(
        "No target can be tested with these settings: that takes a method besides"
    )
    assert [table.title for table in found.tables][:2] == ["Over all cells", "Mean bias"]
    text = render_study(found)
    assert "What a correction must reach, and what we found" in text
    assert "Beta distribution" in text


def test_correlated_columns_of_several_metrics() -> None:
    found = page(part="correlated", configurations=10, variants=["plain"], metrics=["r2", "accuracy"])

    assert "in units of bbc&#39;s error" in render_study(found) or "in units of bbc's error" in render_study(found)
    assert any(sentence.startswith("A winner whose R²") for sentence in found.method)
    assert any(sentence.startswith("The oracle knows how observed") for sentence in found.method)


def test_one_method_and_no_interval() -> None:
    found = page(methods=["cv"], configurations=10, beta=[(9, 6)])

    assert found.lead == "Over 2 cells, cv is the only method that corrects."
    assert [picture.title for picture in found.pictures] == ["Bias"]
