"""The pictures: marks that stand where the numbers are, ids and text alternatives of their own."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from heldout.report.content import Distribution
from heldout.report.diagnostics import Residuals, RocPoints
from heldout.report.figures import distribution_svg, fitted_svg, residuals_svg, roc_svg
from heldout.report.precision_figure import precision_recall_svg
from heldout.report.winner_curves import PrecisionRecallPoints
from heldout.scales import MORE_SERIES, SERIES, scale_of

SVG = "{http://www.w3.org/2000/svg}"


def distribution(value: float, uncorrected: float | None, low: float | None = 0.1) -> Distribution:
    edges = tuple(n / 10 for n in range(11))
    high = None if low is None else 0.9
    return Distribution(scale_of("roc_auc", True), edges, (1,) * 10, value, low, high, uncorrected, 10)


def text_of(svg: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_title_and_description_come_first_and_are_referred_to() -> None:
    root = ElementTree.fromstring(distribution_svg(distribution(0.5, 0.6), key="here", width=400))
    title, description = list(root)[:2]
    assert (title.tag, description.tag) == (f"{SVG}title", f"{SVG}desc")
    assert root.attrib["aria-labelledby"].split() == [title.attrib["id"], description.attrib["id"]]
    assert "The corrected score is 0.50, the interval runs from 0.10 to 0.90" in (description.text or "")
    assert all(node.attrib["id"].startswith("here-") for node in root.iter() if "id" in node.attrib)


@pytest.mark.parametrize(("value", "uncorrected"), [(0.2, 0.25), (0.25, 0.2), (0.8, 0.85), (0.2, 0.8)])
def test_no_label_crosses_the_other_line(value: float, uncorrected: float) -> None:
    """A label starts at its line and leaves the other line aside, or passes above its top."""
    root = ElementTree.fromstring(distribution_svg(distribution(value, uncorrected), key="k", width=600))
    lines = {}
    for node in root.iter(f"{SVG}line"):
        if node.get("stroke-width") == "2":
            x, y = map(float, re.findall(r"-?[\d.]+", node.attrib["transform"])[:2])
            lines[node.attrib["stroke"]] = (x, y + float(node.get("y2", 0)), y)
    labels = {}
    for node in root.iter(f"{SVG}text"):
        if (node.text or "").startswith(("corrected", "uncorrected")):
            x, y = map(float, re.findall(r"-?[\d.]+", node.attrib["transform"])[:2])
            labels[(node.text or "").split()[0]] = (x, y, node.attrib["text-anchor"])
    assert len(lines) == len(labels) == 2
    for name, colour in (("corrected", "#d55e00"), ("uncorrected", "#0072b2")):
        line_x, *ends = lines[colour]
        x, y, anchor = labels[name]
        span = (x, x + 110) if anchor == "start" else (x - 110, x)
        assert not span[0] < line_x < span[1] or y <= min(ends) + 2


def test_without_interval_or_uncorrected_score_there_is_no_such_mark() -> None:
    svg = distribution_svg(distribution(0.5, None, None), key="k", width=400)
    assert "#d7e6f1" not in svg
    assert not any("uncorrected" in text for text in text_of(svg))


def test_classes_differ_by_dash_and_colour_and_are_labelled_with_their_area() -> None:
    looks = SERIES + MORE_SERIES
    assert len({colour for colour, _ in looks}) == len({dash for _, dash in looks}) == len(looks)
    curves = tuple(RocPoints(f"<{n}>", 0, (0.0, 1.0), (0.0, 1.0), n / 10) for n in range(7))
    svg = roc_svg(curves, key="k")
    assert {f"<{n}> {n / 10:.3f}" for n in range(7)} <= set(text_of(svg))
    assert svg == roc_svg(curves, key="k")


def test_constant_predictions_can_be_drawn() -> None:
    residuals = Residuals((0.0, 0.0), (0.0, 0.0), ((0.0, 0.0),), 0.0, 0.0)
    for svg in (fitted_svg(residuals, key="k"), residuals_svg(residuals, key="k")):
        assert "NaN" not in svg
        assert svg.startswith("<svg")


def test_the_area_below_precision_is_the_average_precision() -> None:
    curve = PrecisionRecallPoints("", 0, (0.0, 0.5, 0.5, 1.0), (1.0, 1.0, 0.5, 2 / 3), 0.5 + 0.5 * 2 / 3, 0.5)
    svg = precision_recall_svg((curve,), key="k")
    frame, *_, path = re.findall(r' d="([^"]+)"', svg)
    width, height = map(int, re.findall(r"[hv](\d+)", frame))
    points = [tuple(map(float, point.split(","))) for point in re.split("[ML]", path) if point]
    area = sum((right - left) * (height - y) for (left, _), (right, y) in pairwise(points))
    assert area / (width * height) == pytest.approx(curve.average_precision, abs=0.002)
