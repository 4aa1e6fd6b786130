"""Learning curves as a picture and a page: marks, places and sentences."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from drawn import elements
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.protocols import LearningCurve
from heldout.report.displays.pages import LearningCurveDisplay
from heldout.report.render import render_learning_curve, write_learning_curve
from heldout.scales import scale_of

pytestmark = pytest.mark.draws_report


@pytest.fixture(scope="module")
def curve() -> LearningCurve:
    X, y = make_classification(90, 5, flip_y=0.2, random_state=0)
    return ho.protocols.learning_curve(
        [
            ("logistic", LogisticRegression(), {"C": [0.01, 1.0]}),
            ("neighbours", KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9]}),
        ],
        X, y, scoring="neg_log_loss", training_sizes=(0.3, 0.5, 0.7), n_subsamples=4, random_state=0,
    )  # fmt: skip


@pytest.fixture(scope="module")
def page(curve: LearningCurve) -> str:
    return render_learning_curve(curve, title="<data>")


def test_the_winner_and_the_next_best_are_drawn(curve: LearningCurve) -> None:
    drawn = LearningCurveDisplay(curve, scale_of("neg_log_loss", True)).drawn
    assert drawn[0] == curve.winner and len(drawn) == len(set(drawn)) == 5
    assert set(drawn) == set(range(6)) - {int(curve.mean[-1].argmin())}  # negative losses: the least is the worst


def test_the_picture_names_the_winner_and_ends_at_all_rows(curve: LearningCurve, page: str) -> None:
    (svg,) = re.findall(r"<svg .*?</svg>", page, re.S)
    texts = {node["text"] for node in elements(svg, "text")}
    assert {"training rows", "Log loss", "estimate", "80"} <= texts
    assert f"{curve.names[curve.winner]} (winner)" in texts
    diamonds = [node["d"] for node in elements(svg, "path") if node["fill"] == "var(--ink)"]
    upright = [
        node["d"] for node in elements(svg, "path") if node.get("stroke-dasharray") and node["d"].count("L") == 1
    ]
    (line,) = (match[1] for d in upright if (match := re.fullmatch(r"M([\d.]+),[\d.]+L\1,[\d.]+", d)))
    assert any(d.startswith(f"M{line},") for d in diamonds)  # it is at all rows


def test_the_page_shows_the_estimate_as_a_loss_with_its_flags(curve: LearningCurve, page: str) -> None:
    assert f'<p class="value">{-curve.estimate.value:.2f}' in page and "&lt;data&gt;" in page
    assert "leaves most of the optimism of the selection in" in page
    assert "Ding, Y." in page


def test_without_curves_there_are_dots(curve: LearningCurve) -> None:
    bare = replace(curve, laws=(None,) * 6, estimate=replace(curve.estimate, value=np.nan))
    page = render_learning_curve(bare)
    assert ">nan<" not in page.lower()
    assert "the winner's curve at all" not in page.split("Learning curves</h2>")[0].split("<header>")[1]


def test_it_is_written_to_the_path_or_refused(curve: LearningCurve, page: str, tmp_path: Path) -> None:
    path = write_learning_curve(curve, tmp_path / "curves.html", title="<data>")
    assert path.read_text(encoding="utf-8") == page  # the same bytes each time
    with pytest.raises(ho.InputError, match=r"could not be written to .*no such file"):
        write_learning_curve(curve, tmp_path / "absent" / "curves.html")
