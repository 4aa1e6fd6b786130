"""The section on compared algorithms: its scores are those of the comparison, in the units of the metric."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from results_by_hand import algorithms
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.report import facts

compared = cache(algorithms)


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
