"""The pictures of a page: text as text, colours of the page, ids and text alternatives of their own."""

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn import elements

from heldout.report.displays.base import Display, embedded
from heldout.report.displays.corrected_score import CorrectedScoreDisplay
from heldout.report.displays.curves import CalibrationDisplay, PrecisionRecallDisplay, RocCurveDisplay
from heldout.report.displays.pages import FittedDisplay, ResidualsDisplay
from heldout.report.entries import Facts
from heldout.scales import MORE_SERIES, SERIES, scale_of


def score(value: float, uncorrected: float, low: float | None = 0.1, high: float | None = 0.9) -> Display:
    scale, edges = scale_of("roc_auc", True), tuple(n / 10 for n in range(11))
    bars = Facts(edges=edges, counts=(1,) * 10, bootstraps=10)
    return CorrectedScoreDisplay(scale, value, uncorrected, low, high, "95 % interval", distribution=bars)


def texts_of(svg: str) -> list[str]:
    return [node["text"] for node in elements(svg, "text")]


def test_title_and_description_come_first_and_are_the_only_ids() -> None:
    root = ElementTree.fromstring(embedded(score(0.5, 0.6), "here", "Scores <1>"))
    title, description = list(root)[:2]
    assert root.attrib["aria-labelledby"].split() == [title.attrib["id"], description.attrib["id"]]
    assert root.attrib["role"] == "img" and title.text == "Scores <1>"
    words = "ROC AUC (higher is better). corrected 0.50; uncorrected 0.60; 95 % interval 0.10 to 0.90"
    assert words in (description.text or "")
    assert [node.attrib["id"] for node in root.iter() if "id" in node.attrib] == ["here-title", "here-desc"]


def test_numbers_and_words_are_text_and_colours_those_of_the_page() -> None:
    svg = embedded(score(0.5, 0.6), "k", "Scores")
    assert {"corrected 0.50", "uncorrected 0.60", "0.2", "1.0", "bootstraps"} <= set(texts_of(svg))
    assert {"ink", "muted", "grid", "area", "blue", "vermillion", "sky"} <= set(re.findall(r"var\(--(\w+)\)", svg))
    assert not re.search(r"#[0-9a-f]{6}|url\(|<style|<image|font-family", svg)


def test_the_lines_stand_at_their_values() -> None:
    svg = embedded(score(0.25, 0.75), "k", "Scores")
    upright = {
        node["stroke"]: float(match[1])
        for node in elements(svg, "path")
        if "stroke" in node and (match := re.fullmatch(r"M([\d.]+),[\d.]+L\1,[\d.]+", node["d"]))
    }
    ticks = {
        node["text"]: float(node["x"]) for node in elements(svg, "text") if node.get("text-anchor") == "middle"
    }
    width = ticks["0.8"] - ticks["0.2"]
    for colour, value in (("var(--blue)", 0.25), ("var(--vermillion)", 0.75)):
        assert upright[colour] == pytest.approx(ticks["0.2"] + width * (value - 0.2) / 0.6, abs=0.2)


def test_without_interval_there_is_no_such_mark() -> None:
    svg = embedded(score(0.5, 0.6, None, None), "k", "Scores")
    assert "var(--area)" not in svg and not any("interval" in text for text in texts_of(svg))


def test_the_settings_of_a_user_change_no_page() -> None:
    before = embedded(score(0.5, 0.6), "k", "Scores")
    with plt.rc_context({"font.size": 30, "axes.facecolor": "black", "text.usetex": True, "figure.dpi": 300}):
        assert embedded(score(0.5, 0.6), "k", "Scores") == before
    assert not plt.get_fignums()


def test_classes_differ_by_dash_and_colour_and_are_labelled_with_their_area() -> None:
    looks = SERIES + MORE_SERIES
    assert len({colour for colour, _ in looks}) == len({dash for _, dash in looks}) == len(looks)
    display = RocCurveDisplay.of_points(
        [
            Facts(name=f"<{n}> $", repeat=0, x=(0.0, 1.0), y=(0.0, 1.0), area=n / 10, prevalence=0.5)
            for n in range(7)
        ]
    )
    svg = embedded(display, "k", "ROC curve")
    assert {f"<{n}> $: area {n / 10:.3f}" for n in range(7)} <= set(texts_of(svg))
    lines = [node for node in elements(svg, "path") if node.get("stroke-width") == "2"]
    assert len({(line["stroke"], line.get("stroke-dasharray")) for line in lines}) == 7


def test_names_in_any_script_are_drawn_without_a_warning() -> None:
    display = RocCurveDisplay.of_points(
        [Facts(name="\u60a3\u8005 \U0001f600", repeat=0, x=(0.0, 1.0), y=(0.0, 1.0), area=0.5, prevalence=0.5)]
    )
    assert "\u60a3\u8005 \U0001f600: area 0.500" in texts_of(embedded(display, "k", "ROC curve"))


def test_constant_predictions_can_be_drawn() -> None:
    residuals = Facts(predicted=(0.0, 0.0), truth=(0.0, 0.0), medians=((0.0, 0.0),), half=0.0, most=0.0)
    for display in (FittedDisplay(residuals), ResidualsDisplay(residuals)):
        svg = embedded(display, "k", "Residuals")
        assert "nan" not in svg.lower() and svg.count("<circle") >= 2


def test_the_area_below_precision_is_the_average_precision() -> None:
    curve = Facts(
        name="", repeat=0, x=(0.0, 0.5, 0.5, 1.0), y=(1.0, 1.0, 0.5, 2 / 3), area=0.5 + 0.5 * 2 / 3, prevalence=0.5
    )
    svg = embedded(PrecisionRecallDisplay.of_points([curve]), "k", "Precision")
    path = max((node["d"] for node in elements(svg, "path") if "stroke" in node), key=len)
    points = [tuple(map(float, point.split(","))) for point in re.split("[ML]", path) if point]
    ticks = [node for node in elements(svg, "text") if node["text"] in ("0.0", "1.0")]
    across = sorted(float(node["x"]) for node in ticks if node.get("text-anchor") == "middle")
    width = across[1] - across[0]
    bottom = max(y for _, y in points) + width * 0.5  # the least precision is .5
    area = sum((right - left) * (bottom - y) for (left, _), (right, y) in pairwise(points))
    assert area / width**2 == pytest.approx(curve.area, abs=0.004)


def test_a_frame_has_the_numbers_drawn() -> None:
    frame = score(0.5, 0.6).frame()
    assert frame[frame["series"] == "corrected 0.50"]["x"].tolist() == [0.5, 0.5]
    assert frame["y"].sum() >= 10  # a count of 1 in each of ten bars
    groups = Facts(groups=(), histogram=(1.0, 2.0))
    assert np.isclose(CalibrationDisplay.of_groups(groups).frame()["x"], [0.0, 1.0]).all()
    assert not plt.get_fignums()


def test_matplotlib_loads_late_and_needs_no_home(tmp_path: Path) -> None:
    program = (
        "import sys, heldout as ho, heldout.report\n"
        "ho.plots.RocCurveDisplay\n"
        "assert 'matplotlib' not in sys.modules\n"
        "from heldout.report.displays.base import embedded\n"
        "display = ho.plots.OptimismCurveDisplay\n"
        "from heldout.report.displays.pages import FittedDisplay\n"
        "from heldout.report.entries import Facts\n"
        "embedded(FittedDisplay(Facts(predicted=(0.0,), truth=(1.0,))), 'k', 'Title')\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    home = tmp_path / "file"
    home.write_text("no folder")
    left_out = ("MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**environment, "HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
