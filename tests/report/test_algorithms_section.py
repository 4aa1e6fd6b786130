"""The section on compared algorithms: their scores as the comparison has them, in the units of the metric."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import heldout as ho
from heldout.protocols.algorithms.comparison import AlgorithmComparison
from heldout.report import facts
from heldout.report.entries import facts_of_json
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
    content = facts(found)
    section = content.algorithms
    assert section is not None
    for row, each in zip(section.rows, found.algorithms, strict=True):
        assert (row.flat, row.corrected, row.nested) == (-each.flat, -each.corrected_value, -each.nested)
        assert row.nested_interval == (-each.nested_interval.high, -each.nested_interval.low)
        assert (row.flat_fits, row.nested_fits) == (each.costs.flat_fits, each.costs.nested_fits)
        assert row.is_deployed == (each.name == found.deployed)
    assert [row.words for row in section.differences] == [each.words for each in found.differences]
    assert len(section.differences) > 1 and section.selections == found.selections.sentence
    assert section.overall.endswith(".") and len(section.notes) == len(found.notes)


@pytest.mark.parametrize("deploy", ["flat", "nested"])
def test_the_headline_is_of_the_deployed_configuration_among_those_of_all_algorithms(deploy: Any) -> None:
    found = compared(deploy=deploy)
    content = facts(found)
    value, uncorrected = found.overall.value, found.overall.uncorrected
    assert (content.headline.value, content.headline.uncorrected) == (-value, -uncorrected)
    assert content.headline.winner == found.deployed_name == found.overall.selected_name
    assert uncorrected == pytest.approx(found[found.deployed].flat)
    assert "6 configurations" in content.headline.sentence + content.headline.quote
    assert content.facts["Fits"] == f"{found.n_fits:,}"
    assert any("Wainer" in citation.text for citation in content.citations)
    card = ho.report_card(found)
    assert f"{-value:.2f}" in card.splitlines()[2] and f"{-uncorrected:.2f}" in card.splitlines()[2]


def test_the_winner_is_not_called_the_best_where_another_algorithm_has_the_best_flat_score() -> None:
    found = compared(deploy="flat")
    other = replace(found, selections=replace(found.selections, flat="another"))
    assert "Of the algorithm that was chosen, the configuration with the lowest" in other.methods_text().text
    assert "hoosing among 6 configurations" in facts(other).headline.sentence
    assert "The configuration with the lowest" in found.methods_text().text


@pytest.mark.parametrize("drop", [None, "bootstrap(threshold=0.7, min_predictions=10)"])
def test_the_page_shows_it_and_the_data_survive_json(drop: str | None) -> None:
    found = compared(drop=drop)
    content = facts(found)
    page = render_html(content)
    assert '<h2 id="algorithms">Algorithms</h2>' in page and "<h3>Differences</h3>" in page
    assert found.flattery.replace("-", "−") in page
    again = facts_of_json(json.dumps(content.to_dict(), allow_nan=False))
    assert again.to_dict() == content.to_dict() and render_html(again) == page


def test_the_best_nested_score_says_by_how_much_it_flatters() -> None:
    """Of noise, the best of four nested scores is above the corrected one in nearly all samples."""
    rng = np.random.default_rng(0)
    entries = [(f"near {k}", KNeighborsClassifier(), {"n_neighbors": [k, k + 2]}) for k in (1, 7, 15, 25)]
    found = ho.compare_algorithms(entries, rng.normal(size=(90, 4)), np.arange(90) % 2, random_state=0)
    best = found[found.selections.nested]
    excess = best.nested - found.overall.value
    assert excess > 0
    sentence = f"{best.nested:.4f} of {best.name}, is the best of 4 and flatters by about {excess:.4f}"
    assert sentence in found.text(None) and sentence in facts(found).algorithms.overall
    same = replace(found, overall=replace(found.overall, value=best.nested - 1e-16))
    assert "flatters" not in same.text(None)


def test_a_pair_has_no_second_interval() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2))
    found = ho.compare_algorithms(
        ALGORITHMS[:2], X, X[:, 0] + rng.normal(size=60), cv=3, random_state=0, method="cv"
    )
    page = render_html(facts(found))
    assert "For all pairs together" not in page and "For all pairs together" in render_html(facts(compared()))
