"""The report of a study of intervals: what it shows, and that it is one file that needs nothing else."""

from xml.etree import ElementTree

import pytest

from heldout_papers import IntervalStudy, intervals
from heldout_papers.engine.page import StudyPage, render_study
from heldout_papers.intervals.page import intervals_page


@pytest.fixture(scope="module")
def study() -> IntervalStudy:
    return intervals([50, 500], 100, [0.1, 0.5], [(24, 6)], repetitions=2, n_bootstraps=20, random_state=1)


@pytest.fixture(scope="module")
def page(study: IntervalStudy) -> StudyPage:
    return intervals_page(study, command="heldout study intervals --rows 50,500")


def test_table_2_has_the_published_cells_below_ours(study: IntervalStudy, page: StudyPage) -> None:
    first, second = page.tables[:2]
    row = {one["method"]: one for one in study.rows() if one["rows"] == 500 and one["prevalence"] == 0.5}
    place = next(k for k, cells in enumerate(first.rows) if cells[0] == "Be(24, 6), N 500, C 100, b 0.5")

    assert first.head == ("", "BBC", "BBC-F", "DL", "HM", "BT")
    assert second.head == ("", "DL10p", "HM10p", "BT10p", "MABT", "NB")
    star = "*" if row["bbc"]["rejected"] else ""
    assert first.rows[place][1] == f"{row['bbc']['inclusion']:.3f} ({row['bbc']['tightness']:.3f}){star}"
    assert first.rows[place + 1] == (
        "published", "1.00 (0.04)", "0.98 (0.04)", "0.91 (0.04)", "0.90 (0.03)", "0.95 (0.05)",
    )  # fmt: skip
    assert [cells[0] for cells in first.rows[-2:]] == ["average rank (2)", "published"]
    assert first.rows[-1][1:3] == ("1.00", "2.13")
    unbalanced = next(cells for cells in first.rows if cells[0].endswith("N 50, C 100, b 0.1"))
    assert unbalanced[3] == "-"


def test_failures_stand_with_their_reasons(page: StudyPage) -> None:
    tables = [table for table in page.tables if table.title.startswith("Share of repetitions")]
    reasons = {cells[0]: cells[1:] for table in tables for cells in table.rows}
    assert reasons["Be(24, 6), N 50, C 100, b 0.1: too few rows of a class for two parts"] == ("100.0%",) * 2
    assert {name for table in tables for name in table.head[1:]} >= {"DL", "HM", "BT", "MABT"}
    assert not any("NB" in table.head for table in tables)


def test_the_picture_says_what_it_shows(page: StudyPage) -> None:
    root = ElementTree.fromstring(page.pictures[0].svg)
    said = root[1].text or ""
    assert root.get("role") == "img"
    assert said.startswith("Mean tightness over BBC's: BBC-F ")
    assert said.count("of 2") == 9  # the settings in which every method has results, for all but BBC
    assert "2 settings" in page.pictures[0].caption


def test_the_page_is_one_file_and_the_same_each_time(study: IntervalStudy, page: StudyPage) -> None:
    text = render_study(page)
    assert render_study(intervals_page(study, command=page.command)) == text
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "No claim of the article can be tested with these settings" in text
    assert "Paraschakis, K." in text and "Rink, P." in text and "Hanley, J. A." in text
    assert page.command in text


def test_other_settings_have_nothing_published_beside_them() -> None:
    mine = intervals(60, 20, beta=[(9, 6)], task="regression", repetitions=3, n_bootstraps=20, random_state=1)
    page = intervals_page(mine)
    assert [table.head[1:] for table in page.tables] == [("BBC", "BBC-F", "NB")] * 2
    assert not any("published" in cells for table in page.tables for cells in table.rows)
    assert page.sources == ("paraschakis2024", "tsamardinos2018")
    assert "R²" in page.facts["performances"] and not any("share" in label for label in page.facts)
    assert "To reproduce it" in render_study(page)


def test_one_method_alone_has_no_picture() -> None:
    mine = intervals(60, 20, 0.5, [(9, 6)], methods="bbc", repetitions=2, n_bootstraps=20, random_state=1)
    page = intervals_page(mine)
    assert page.pictures == ()
    assert "the 95% interval of BBC is nowhere rejected." in page.lead
    assert "Pictures" not in render_study(page)
