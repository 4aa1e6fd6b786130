"""What a reader explores: the size of a page on many configurations, its data, and its figures."""

import json
import re
from collections.abc import Callable

import pytest
from many_configurations import with_many_configurations

from heldout.report import facts, render_html
from heldout.report.entries import Facts
from heldout.report.exploration import MOST_LINES, MOST_SLICES, explore
from heldout.report.ranking import MOST_SHOWN
from heldout.result import Evaluation

pytestmark = pytest.mark.draws_report

Make = Callable[..., Evaluation]


@pytest.fixture(scope="module")
def many(make_evaluation: Make) -> Facts:
    return with_many_configurations(facts(make_evaluation()))


@pytest.fixture(scope="module")
def few(many: Facts) -> Facts:
    return Facts(many.ranking, shown=many.ranking.shown[:30])


@pytest.fixture(scope="module")
def explored(many: Facts, few: Facts) -> Facts:
    return explore(few, many.headline.metric)


def test_a_page_on_two_thousand_configurations_is_below_three_megabytes(many: Facts) -> None:
    page = render_html(many)
    assert len(page.encode()) < 3e6
    body = page[page.index('id="ranking"') :]
    body = body[: body.index("</table>")]
    assert body.count("<tr") == 2001
    assert body.count('class="more"') == 2000 - MOST_SHOWN
    assert 'id="show-all"><label for="show-all" class="show-all"> show all 2,000</label>' in page
    assert "more configurations scored" not in page


def test_the_data_of_the_script_are_the_rows_of_the_table(few: Facts, explored: Facts) -> None:
    data = json.loads(explored.data)
    assert data["index"] == [row.index for row in few.shown]
    assert [explored.best[family].family for family in data["family"]] == [row.family for row in few.shown]
    for name in ("mean", "spread", "train", "pooled", "selected"):
        assert data[name] == pytest.approx([row[name] for row in few.shown], rel=1e-6)
    for values, row in zip(data["values"], few.shown, strict=True):
        assert dict(zip(explored.parameters, values, strict=True)) == dict(row.parameters)
    assert len(explored.slices) + explored.slices_left_out == 20 <= MOST_SLICES


def test_every_dot_names_its_configuration(few: Facts, explored: Facts) -> None:
    indices = {row.index for row in few.shown}
    for svg in (explored.ranked, explored.ordered, explored.trained):
        dots = [int(index) for index in re.findall(r'data-c="(\d+)"', svg)]
        assert sorted(dots) == sorted(indices)
    places = {
        int(index): float(x)
        for x, index in re.findall(r'<circle cx="([\d.]+)" cy="[\d.]+" r="3.2" data-c="(\d+)"', explored.ranked)
    }
    assert sorted(places, key=places.__getitem__) == [row.index for row in few.shown]  # from left to right by rank
    ((part, svg), *_) = explored.slices
    of_family = {row.index for row in few.shown if row.family == part.family}
    assert {int(index) for index in re.findall(r'data-c="(\d+)"', svg)} == of_family


def test_parameters_together_show_the_best_of_each_family_in_shades(many: Facts) -> None:
    scale = many.headline.metric
    few = Facts(many.ranking, shown=many.ranking.shown[:300])
    explored = explore(few, scale)
    assert [family for family, *_ in explored.together] == list(dict.fromkeys(row.family for row in few.shown))
    of_family = [row for row in few.shown if row.family == explored.together[0][0]]
    dots = re.findall(r'data-c="(\d+)"', explored.together[0][1])
    assert sorted(map(int, dots)) == sorted(row.index for row in of_family)
    groups = re.findall(r"<g ([^>]*)>((?:<circle[^>]*/>)+)</g>", explored.together[0][1])
    shades = {
        float((re.findall(r'fill-opacity="([\d.]+)"', look) or ["1"])[0]): re.findall(r'data-c="(\d+)"', circles)
        for look, circles in groups
    }
    assert list(shades) == sorted(shades) and len(shades) == 5  # the best are drawn last
    fifth = len(of_family) // 5
    assert {int(index) for index in shades[1.0]} == {row.index for row in of_family[:fifth]}
    places = 4 + 1  # of the parameters and of the score
    beside = re.findall(r'data-c="(\d+)"', explored.together[0][2])
    assert len(beside) == places * MOST_LINES and {int(n) for n in beside} == {
        row.index for row in of_family[:MOST_LINES]
    }


def test_one_configuration_has_nothing_to_explore(make_evaluation: Make) -> None:
    content = facts(make_evaluation(configurations=1))
    assert explore(content.ranking, content.headline.metric).data == ""
    assert explore(None, content.headline.metric).data == ""


def test_defaults_are_folded_and_sections_are_in_the_contents(make_evaluation: Make) -> None:
    page = render_html(facts(make_evaluation()))
    assert re.search(r"<details>\s*<summary>\d+ left at their defaults</summary>", page)
    contents = re.search(r'<nav class="contents".*?</nav>', page, re.S)
    anchors = re.findall(r'href="#([^"]+)"', contents[0])
    assert anchors == re.findall(r'<h2 id="(?!flagged)([^"]+)"', page)
