"""The report of a study of flat and nested cross-validation: what it shows, and that it is one file."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from simulated_accuracies import made

from heldout_papers.engine.page import StudyPage, StudyTable, render_study
from heldout_papers.flat_vs_nested import FlatVsNestedStudy
from heldout_papers.flat_vs_nested.accuracies import mean_ranks
from heldout_papers.flat_vs_nested.analysis import comparison_rows
from heldout_papers.flat_vs_nested.page import flat_vs_nested_page

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def study() -> FlatVsNestedStudy:
    return replace(made(24, large=10), left_out={"poker": "its target is multiclass"})


@pytest.fixture(scope="module")
def page(study: FlatVsNestedStudy) -> StudyPage:
    return flat_vs_nested_page(study, command="heldout study flat-vs-nested tables")


def table(page: StudyPage, part: str) -> StudyTable:
    (only,) = [one for one in page.tables if part in one.title]
    return only


def test_ours_stand_above_what_was_published(study: FlatVsNestedStudy, page: StudyPage) -> None:
    found = {(one.scenario, one.analysis): one for one in comparison_rows(study.accuracies, study.entropy)}
    main, forest = found["top3", "main"], found["full", "forest_alone"]

    assert table(page, "(table 2)").rows[:2] == (
        (
            "top 3", "24", f"{main.same_choice:.0%}", f"{main.p_value:.2g}", f"{main.mean:.4f}",
            f"{main.low:.4f}", f"{main.high:.4f}", f"{main.mean_gain:+.4f}",
        ),
        ("top 3, published", "115", "71%", "0.001", "-0.004", "-0.007", "-0.002", ""),
    )  # fmt: skip
    assert [row[0] for row in table(page, "(table 6)").rows] == ["top 3", "full", "full, published"]
    assert table(page, "(table 6)").rows[1][4] == f"{forest.mean:.4f}"
    assert table(page, "(table 3)").rows[3][1] == "32"
    assert len(table(page, "(table 5)").rows) == 4 * 2 + 3 * 2


def test_rankings_are_sorted_by_ours(study: FlatVsNestedStudy, page: StudyPage) -> None:
    ranks = mean_ranks(study.accuracies, "flat")
    rows = table(page, "(table 4)").rows

    assert [row[0] for row in rows] == list(ranks)
    assert [row[1] for row in rows] == [f"{rank:.2f}" for rank in ranks.values()]
    assert {row[0]: row[3] for row in rows}["gbm"] == "3.0"
    assert {row[0]: row[3] for row in table(page, "(table 1)").rows}["gbm"] == "4.0"


def test_pictures_have_a_point_a_table(study: FlatVsNestedStudy, page: StudyPage) -> None:
    assert [picture.title for picture in page.pictures] == [
        "Gain against threshold, top 3", "Distributions of both, top 3",
        "Gain against threshold, full", "Distributions of both, full",
    ]  # fmt: skip
    root = ElementTree.fromstring(page.pictures[0].svg)
    said = root[1].text or ""
    circles, triangles = root.iter(f"{SVG}circle"), (node.get("d", "") for node in root.iter(f"{SVG}path"))
    points = [*circles, *(d for d in triangles if d.endswith("Z") and d.count("L") == 2)]

    assert said.startswith("Of 24 tables ")
    assert len(points) == 24
    ids = [node.get("id") for picture in page.pictures for node in ElementTree.fromstring(picture.svg).iter()]
    named = [one for one in ids if one]
    assert len(named) == len(set(named))


def test_the_page_is_one_file_and_the_same_each_time(study: FlatVsNestedStudy, page: StudyPage) -> None:
    text = render_study(page)

    assert render_study(flat_vs_nested_page(study, command=page.command)) == text
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "Wainer, J. and Cawley, G." in text and "Wilcoxon, F." in text
    assert page.lead.startswith("On 24 tables, scenario full, flat and nested cross-validation choose the same ")
    assert f"{len(page.claims)} claims that these tables can test" in page.claims_sentence
    assert page.command in text
    assert table(page, "Left out").rows == (("poker", "its target is multiclass"),)


@pytest.mark.usefixtures("without_pictures")
def test_two_tables_of_two_algorithms_make_a_page() -> None:
    page = flat_vs_nested_page(made(2, algorithms=("knn", "nb"), repetitions=2, large=0))

    assert page.claims == ()
    assert page.claims_sentence.startswith("No claim of the article can be tested")
    assert [one.title for one in page.tables] == [
        "Gain against threshold (table 2)", "Tables of 2000 rows and more (table 3)",
        "Other ways to compare (table 5)", "Mean ranks by nested (table 1)", "Mean ranks by flat (table 4)",
    ]  # fmt: skip
    assert table(page, "(table 1)").head == ("algorithm", "ours", "ours, ties get the best rank")
    assert table(page, "(table 3)").rows == (("as asked", "0", *["–"] * 5, "no table is left"),)
    render_study(page)


def test_where_nothing_could_be_compared_it_says_so() -> None:
    study = made(2, algorithms=("knn", "nb"), repetitions=2, large=0)
    study.columns["future"][study.columns["algorithm"] == "nb"] = np.nan
    page = flat_vs_nested_page(study)

    assert not page.pictures
    assert page.lead == "No table has enough repetitions in which algorithms could be compared."
    assert [row[0] for row in table(page, "Left out").rows] == ["t000", "t001"]
    assert "0 of 2 repetitions can be compared" in table(page, "Left out").rows[0][1]
    render_study(page)
