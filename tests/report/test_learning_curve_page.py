"""Learning curves as a picture and a page: marks, places and sentences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.protocols import LearningCurve
from heldout.report.learning_curve import (
    drawn_configurations,
    learning_curve_svg,
    render_learning_curve,
    write_learning_curve,
)

SVG = "{http://www.w3.org/2000/svg}"


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
    drawn = drawn_configurations(curve)
    assert drawn[0] == curve.winner and len(drawn) == len(set(drawn)) == 5
    assert set(drawn) == set(range(6)) - {int(curve.mean[-1].argmin())}  # negative losses: the least is the worst


def test_ids_and_the_text_alternative_are_the_pictures_own(curve: LearningCurve) -> None:
    root = ElementTree.fromstring(learning_curve_svg(curve, key="here", width=600))
    title, description = list(root)[:2]
    assert root.attrib["aria-labelledby"].split() == [title.attrib["id"], description.attrib["id"]]
    assert "with 27 training rows" in (description.text or "") and "at all 90 rows" in (description.text or "")
    assert all(node.attrib["id"].startswith("here-") for node in root.iter() if "id" in node.attrib)
    texts = [node.text for node in root.iter(f"{SVG}text")]
    assert {"27", "45", "63", "90"} <= set(texts) and f"{curve.names[curve.winner]} (winner)" in texts


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
