"""Sections on races, validations, outer folds and algorithms: numbers and pictures; words: ``page_texts.md``."""

import re
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn import elements
from races import barrier, race, raced
from results_by_hand import algorithms, evaluation_by_hand, model_validated
from results_by_hand import nested as searched
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.protocols import NestedEstimate
from heldout.protocols.validation.estimate import Validation
from heldout.references import REFERENCES
from heldout.report import facts, render_html, write_report
from heldout.report.displays.base import embedded
from heldout.report.displays.curves import CalibrationDisplay, DecisionCurveDisplay, RocCurveDisplay
from heldout.report.displays.pages import OptimismDisplay, SplitsDisplay
from heldout.report.entries import Facts


def test_dropped_configurations_are_listed_last_first_with_their_scores_until_then() -> None:
    made = race()
    summary, values = facts(made).race, made.fold_scores["roc_auc"].values
    assert [(row.index, row.after) for row in summary.dropped[:1]] == [(2, 3)]
    assert summary.dropped[0].mean == pytest.approx(values[:3, 2].mean())
    assert summary.dropped[0].spread == pytest.approx(values[:3, 2].std())
    means = [row.mean for row in summary.dropped[1:]]
    assert means == sorted((values[:2, j].mean() for j in (0, 1, 5)), reverse=True)
    assert (summary.alive, summary.risk) == ((6, 6, 3, 2), pytest.approx(0.013))


def test_of_many_the_first_are_shown_and_the_others_are_folded() -> None:
    made = raced(evaluation_by_hand(configurations=40), barrier(1, 40, list(range(35))))
    page = render_html(facts(made))
    start = page.index("<summary>The other 15</summary>")
    assert page[start : page.index("</details>", start)].count("worse in 0.998") == 15


@pytest.mark.parametrize("splits", [2, 10, 100])
def test_the_bars_are_as_high_as_configurations_and_their_numbers_do_not_meet(splits: int) -> None:
    alive = tuple(max(200 - 3 * n, 20) for n in range(splits))
    summary = Facts(facts(race()).race, alive=alive, configurations=200)
    svg = embedded(SplitsDisplay(summary), "k", "Splits")
    bars = [node["d"] for node in elements(svg, "path") if node.get("fill") == "var(--sky)"]
    corners = [list(map(float, re.findall(r"[ML][\d.]+,([\d.]+)", d))) for d in bars[1:]]  # after the legend's
    heights = [max(ys) - min(ys) for ys in corners]
    assert np.allclose(np.array(heights) / heights[0], np.array(alive) / 200, atol=0.01)
    numbers = [node for node in elements(svg, "text") if node["fill"] == "var(--ink)" and node["text"].isdigit()]
    places = [float(node["x"]) for node in numbers]
    assert len(places) == (splits if splits < 11 else len(places)) > 1
    assert all(after - before > 22 for before, after in pairwise(places))


@pytest.fixture(scope="module")
def validation() -> Validation:
    return model_validated()


@pytest.fixture(scope="module")
def content(validation: Validation) -> Facts:
    return facts(validation, title="people.csv", command="heldout validate people.csv")


def test_the_table_holds_the_rows_of_the_validation(validation: Validation, content: Facts) -> None:
    assert [row.name for row in content.metrics] == ["roc_auc", "brier_score"]
    for shown, row in zip(content.metrics, validation.rows.values(), strict=True):
        for name in ("apparent", "in_bootstrap", "on_original", "out_of_bag", "optimism"):
            assert shown[name] == getattr(row, name)
        assert (shown.value, shown.low, shown.high, shown.n) == (row.corrected, *row.interval, 10)


def test_the_curves_are_those_of_the_validation(validation: Validation, content: Facts) -> None:
    (roc,), (calibration,) = content.roc, content.calibration
    found, line = validation.roc_curve(), validation.calibration_curve()
    assert f"{found.area_apparent:.3f}" == f"{validation.rows['roc_auc'].apparent:.3f}"
    assert roc.lines[0].label == f"apparent: area {found.area_apparent:.3f}"
    assert roc.lines[1].label.endswith(f"band: area {validation.rows['roc_auc'].corrected:.3f}")
    assert roc.lines[1].y == tuple(found.corrected) and calibration.lines[0].y == tuple(line.apparent)
    assert sum(calibration.histogram) == 80
    digits = re.search(r"is (0\.\d+) on average, and less than (0\.\d+) for nine in ten", calibration.caption)
    assert float(digits[1]) == pytest.approx(line.mean_absolute_error, rel=0.1)
    assert float(digits[2]) == pytest.approx(line.quantile_90, rel=0.1)
    assert {REFERENCES[key].doi for key in ("harrell2015", "fawcett2006", "vickers2006", "efron1983")} <= {
        work.doi for work in content.citations
    }


def test_the_optimism_is_that_of_the_table(validation: Validation, content: Facts) -> None:
    assert content.optimism.mean == pytest.approx(validation.rows["roc_auc"].optimism)
    assert sum(content.optimism.counts) == 10
    loss = facts(model_validated(metric="brier_score"))
    assert loss.optimism.mean == pytest.approx(loss.metrics[0].optimism)
    left_out = facts(model_validated(method="632", metric="roc_auc"))
    assert not left_out.optimism.is_of_own_samples and left_out.optimism.mean > content.optimism.mean


def test_a_validation_is_written_as_it_is(validation: Validation, tmp_path: Path) -> None:
    page = write_report(validation, tmp_path / "validation.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "Every metric" in page
    assert "http" not in re.sub(r"http(s://doi\.org|://www\.w3\.org|-equiv)", "", page)  # nothing is loaded
    ids = re.findall(r' id="([^"]*)"', page)
    assert len(ids) == len(set(ids))
    for reference in re.findall(r'aria-labelledby="([^"]*)"', page):
        assert set(reference.split()) <= set(ids)


def test_apparent_is_dashed_and_corrected_solid(content: Facts) -> None:
    kinds = RocCurveDisplay, CalibrationDisplay, DecisionCurveDisplay
    for kind, (curve,) in zip(kinds, (content.roc, content.calibration, content.decision), strict=True):
        svg = embedded(kind(**curve), "k", "A curve")
        paths = elements(svg, "path")
        looks = {(node.get("stroke"), "stroke-dasharray" in node) for node in paths}
        assert ("var(--blue)", False) in looks and ("var(--vermillion)", True) in looks
        assert any(node.get("fill") == "var(--area)" for node in paths)  # the band
        texts = " ".join(node["text"] for node in elements(svg, "text"))
        assert "apparent" in texts and "corrected" in texts


def test_points_without_a_value_break_nothing(content: Facts) -> None:
    (curve,) = content.calibration
    apparent, line = curve.lines
    nowhere = Facts(line, y=(None,) * 50, low=(None,) * 50, high=(None,) * 50)
    partly = Facts(line, y=(None, *line.y[1:]), low=(None, *line.low[1:]))
    for changed in (nowhere, partly):
        svg = embedded(CalibrationDisplay(**{**curve, "lines": (apparent, changed)}), "k", "Calibration")
        assert "nan" not in svg.lower() and "null" not in svg


def test_the_mean_of_the_optimism_is_marked(content: Facts) -> None:
    svg = embedded(OptimismDisplay(Facts(content.optimism, mean=-0.02)), "k", "Optimism")
    assert any(node["text"].startswith("mean −0.02") for node in elements(svg, "text"))


def content_of(found: NestedEstimate) -> Facts:
    return facts(replace(found.evaluation, estimates={found.evaluation.refit_metric: found}))


def test_every_outer_fold_has_its_row_with_the_scores_of_the_estimate() -> None:
    found = searched(repeats=2)
    outer = content_of(found).outer

    assert [row.place for row in outer.folds[3:5]] == ["4 of repeat 1", "1 of repeat 2"]
    assert [row.outer for row in outer.folds] == [fold.score for fold in found.outer_folds]
    assert [row.inner for row in outer.folds] == [fold.inner_score for fold in found.outer_folds]
    assert {row.rows for row in outer.folds} == {20}
    assert "repeated 8 times (2 repeats)" in outer.how
    assert sum(row.wins for row in outer.chosen) == 8
    assert [row.is_deployed for row in outer.chosen].count(True) <= 1
    assert f"the commonest in {found.agreement.share:.0%}" in outer.agreement


def test_the_race_and_its_time_are_those_of_the_search_on_all_rows() -> None:
    found = searched(repeats=2, drop=ho.dropping.Bootstrap(min_predictions=20, threshold=0.5))
    alone = found.evaluation
    assert alone.n_fits < found.n_fits and alone.n_fits_saved < found.n_fits_saved
    content = content_of(
        replace(found, evaluation=replace(alone, n_fits=found.n_fits, n_fits_saved=found.n_fits_saved))
    )
    assert (content.race.fits, content.race.saved) == (alone.n_fits, alone.n_fits_saved)
    assert "This is the search on all rows; the other searches dropped separately." in render_html(content)
    labelled = content.facts
    assert labelled["Fits"] == f"{found.n_fits}, {found.n_fits_saved} saved"
    assert "Time of the search on all rows" in labelled and "Time of all fits" not in labelled


def test_a_search_by_itself_is_the_only_one() -> None:
    content = facts(searched(drop=ho.dropping.Bootstrap(min_predictions=20, threshold=0.5)).evaluation)
    assert content.race.is_one_search
    assert "Time of all fits" in content.facts


def test_the_record_of_a_search_prints_itself_in_a_line() -> None:
    record = searched().evaluation
    winner = record.configurations[record.winner].name
    line = f"Evaluation(4 configurations, {record.folds}, 16 fits (16 shared), winner {winner})"
    assert repr(record) == line
    found = ho.HeldOutSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=4, random_state=0)
    found.fit(record.task.X, record.task.y)
    assert repr(found.evaluation_).endswith(f"8 fits (8 shared), {found.estimate_})")


compared = cache(algorithms)


def test_its_numbers_are_those_of_the_comparison() -> None:
    found = compared()
    content = facts(found)
    section = content.algorithms
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
