"""The section on compared algorithms: their scores as the comparison has them, in the units of the metric."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

import heldout as ho
from heldout.data.declared import of_type
from heldout.protocols.algorithms.comparison import AlgorithmComparison
from heldout.report import ReportContent, comparison_content
from heldout.report.render import render_html

ALGORITHMS = [
    ("ridge", Ridge(), {"alpha": [0.1, 10.0, 1000.0]}),
    ("near", KNeighborsRegressor(), {"n_neighbors": [1, 9]}),
    ("plain", Ridge(), {}),
]


def compared(**settings: Any) -> AlgorithmComparison:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + rng.normal(size=80)
    own = {"scoring": "neg_mean_squared_error", "cv": 4, "random_state": 0, "n_bootstraps": 50} | settings
    return ho.compare_algorithms(ALGORITHMS, X, y, **own)


def test_its_numbers_are_those_of_the_comparison() -> None:
    found = compared()
    content = comparison_content(found)
    section = content.algorithms
    assert section is not None
    for row, each in zip(section.rows, found.algorithms, strict=True):
        assert (row.flat, row.corrected, row.nested) == (-each.flat, -each.corrected_value, -each.nested)
        assert (row.nested_low, row.nested_high) == (-each.nested_interval.high, -each.nested_interval.low)
        assert (row.flat_fits, row.nested_fits) == (each.costs.flat_fits, each.costs.nested_fits)
        assert row.is_deployed == (each.name == found.deployed)
    assert [row.words for row in section.differences] == [each.words for each in found.differences]
    assert section.has_adjusted and section.selections == found.selections.sentence
    assert section.overall.endswith(".") and len(section.notes) == len(found.notes)


def test_the_headline_is_of_the_deployed_algorithm_and_of_its_choice_alone() -> None:
    found = compared(deploy="nested")
    content, deployed = comparison_content(found), found[found.deployed]
    assert content.headline.value == -deployed.corrected_value and content.headline.winner == found.deployed_name
    assert (
        deployed.n_configurations == 3 and "3 configurations" in content.headline.sentence + content.headline.quote
    )
    assert {fact.label: fact.text for fact in content.facts}["Fits"] == f"{found.n_fits:,}"
    assert any("Wainer" in citation.text for citation in content.citations)


@pytest.mark.parametrize("drop", [None, "bootstrap(threshold=0.7, min_predictions=10)"])
def test_the_page_shows_it_and_the_data_survive_json(drop: str | None) -> None:
    content = comparison_content(compared(drop=drop))
    page = render_html(content)
    assert '<h2 id="algorithms">Algorithms</h2>' in page and "<h3>Differences</h3>" in page
    assert ("Corrected for the choice among all algorithms too" in page) == (drop is None)
    again = of_type(ReportContent, json.loads(json.dumps(content.to_dict(), allow_nan=False)))
    assert again == content and render_html(again) == page


def test_a_pair_has_no_second_interval() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2))
    found = ho.compare_algorithms(
        ALGORITHMS[:2], X, X[:, 0] + rng.normal(size=60), cv=3, random_state=0, method="cv"
    )
    page = render_html(comparison_content(found))
    assert "For all pairs together" not in page and "For all pairs together" in render_html(
        comparison_content(compared())
    )
