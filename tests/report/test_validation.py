"""The report on a validation: its curves and pictures; what its page says is in ``page_texts.md``."""

import re
from pathlib import Path

import pytest
from drawn import elements
from results_by_hand import model_validated

from heldout.protocols.validation.estimate import Validation
from heldout.references import REFERENCES
from heldout.report import facts, write_report
from heldout.report.displays.base import embedded
from heldout.report.displays.curves import CalibrationDisplay, DecisionCurveDisplay, RocCurveDisplay
from heldout.report.displays.pages import OptimismDisplay
from heldout.report.entries import Facts


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
    assert digits is not None
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
    assert content.optimism is not None
    svg = embedded(OptimismDisplay(Facts(content.optimism, mean=-0.02)), "k", "Optimism")
    assert any(node["text"].startswith("mean −0.02") for node in elements(svg, "text"))
