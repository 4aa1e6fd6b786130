"""The report of a bias study: what it shows, and that it is one file that needs nothing else."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from heldout.errors import InputError
from heldout_papers import BiasStudy, bias
from heldout_papers.bias.page import beta_title, bias_page
from heldout_papers.engine.page import StudyPage, render_study, write_study


@pytest.fixture(scope="module")
def study() -> BiasStudy:
    return bias([20, 40], [50, 60], [(9, 6), (54, 6)], repetitions=5, n_bootstraps=20, random_state=1)


@pytest.fixture(scope="module")
def page(study: BiasStudy) -> StudyPage:
    return bias_page(study, command="heldout study bias --rows 20,40")


def test_a_picture_and_a_table_for_each_beta(study: BiasStudy, page: StudyPage) -> None:
    rows = [row for row in study.rows() if row["rows"] == 20 and row["beta"] == "9,6" and row["protocol"] == "tt"]
    mean = (rows[0]["bias"] + rows[1]["bias"]) / 2
    error = (rows[0]["standard_error"] ** 2 + rows[1]["standard_error"] ** 2) ** 0.5 / 2

    assert [picture.title for picture in page.pictures if "(figure 1)" not in picture.title] == [
        "Be(9, 6), mean accuracy 0.6",
        "Be(54, 6), mean accuracy 0.9",
    ]
    assert page.tables[0].head == ("", "CVT", "TT", "NCV", "BBC-CV", "BCED-CV")
    assert page.tables[0].rows[0][2] == f"{mean:+.4f} ± {error:.4f}"
    assert page.lead.startswith("Over 8 settings of 5 repetitions each, CVT is the most biased: by +0.")


def test_a_picture_for_each_protocol_has_a_line_for_each_number_of_configurations(
    study: BiasStudy, page: StudyPage
) -> None:
    panels = [picture for picture in page.pictures if "(figure 1)" in picture.title]

    assert [panel.title.partition(",")[0] for panel in panels[:5]] == [
        f"{name} by configurations" for name in ("CVT", "TT", "NCV", "BBC-CV", "BCED-CV")
    ]
    assert len(panels) == 2 * 5
    bias = {
        (row["configurations"], row["rows"]): f"{row['bias']:+.3f}"
        for row in study.rows()
        if row["beta"] == "9,6" and row["protocol"] == "cv"
    }
    said = ElementTree.fromstring(panels[0].svg)[1].text or ""
    for c in (50, 60):
        assert f"{c} configurations {bias[c, 20]}, {bias[c, 40]}" in said
    text = "".join(ElementTree.fromstring(panels[0].svg).itertext())
    assert "50 configurations" in text and "60 configurations" in text


def test_the_report_from_python_is_that_of_the_command(study: BiasStudy, tmp_path: Path) -> None:
    path = study.report(tmp_path / "report.html")

    assert path.read_text(encoding="utf-8") == render_study(bias_page(study))


def test_a_picture_says_what_it_shows(page: StudyPage) -> None:
    root = ElementTree.fromstring(page.pictures[0].svg)
    said = root[1].text or ""

    assert root.get("role") == "img"
    assert said.startswith("Mean bias for Be(9,6) with 20 and with 40 rows: CVT +0.")
    assert page.tables[0].rows[0][1][:6] in said
    ids = [node.get("id") for picture in page.pictures for node in ElementTree.fromstring(picture.svg).iter()]
    named = [one for one in ids if one]
    assert len(named) == len(set(named))


def test_the_page_is_one_file_and_the_same_each_time(study: BiasStudy, page: StudyPage, tmp_path: Path) -> None:
    text = render_study(page)

    assert write_study(page, tmp_path / "report.html").read_text(encoding="utf-8") == text
    assert render_study(bias_page(study, command=page.command)) == text
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "No claim of the article can be tested with these settings" in text
    assert "Tsamardinos, I." in text and "Tibshirani, R. J." in text
    assert page.command in text


def test_without_tt_its_article_is_not_cited() -> None:
    one = bias(20, 50, [(9, 6)], repetitions=1, protocols="cv", random_state=1)
    page = bias_page(one)

    assert page.sources == ("tsamardinos2018",)
    assert "±" not in page.tables[0].rows[0][1]
    assert "To reproduce it" in render_study(page)


def test_a_page_that_cannot_be_written_is_one_sentence(page: StudyPage, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the report of the study could not be written to"):
        write_study(page, tmp_path / "missing" / "report.html")


def test_a_beta_is_named_with_its_mean() -> None:
    assert beta_title("2.5,7.5") == "Be(2.5, 7.5), mean accuracy 0.25"
