"""What a reader does on a report: sort, filter, mark by mouse and keyboard; and what is there without scripts.

One browser opens the page twice, with and without scripts, in frames that a page beside them uses like a reader.
"""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from headless import MARKS, chromium
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from heldout.report import facts, render_html
from heldout.report.entries import Facts
from heldout.report.ranking import MOST_SHOWN
from heldout.search import HeldOutSearchCV

pytestmark = MARKS

LOGISTIC, NEIGHBOURS = "<script>alert(1)</script>", "</script>{{ 7 * 7 }}"
READER = (Path(__file__).parent / "reader.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def content() -> Facts:
    X, y = make_classification(90, 6, n_informative=3, flip_y=0.1, random_state=0)
    neighbours = {"n_neighbors": list(range(1, 39, 2)), "weights": ["uniform", "distance"]}
    models = [
        (LOGISTIC, LogisticRegression(), {"C": [10.0**-n for n in range(6)]}),
        (NEIGHBOURS, KNeighborsClassifier(), neighbours),
    ]
    search = HeldOutSearchCV(
        models, scoring="roc_auc", return_train_score=True, cv=3, n_bootstraps=50, random_state=0
    ).fit(X, y)
    return facts(search.evaluation_, title=LOGISTIC)


@pytest.fixture(scope="module")
def found(content: Facts, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("reader")
    page = html.escape(render_html(content))
    frames = "".join(
        f'<iframe id="{name}" style="border:0;width:1200px;height:900px" srcdoc="{page}"{limits}></iframe>'
        for name, limits in (("scripted", ""), ("still", ' sandbox="allow-same-origin"'))
    )
    outside = folder / "outside.html"
    outside.write_text(
        f"<!doctype html><body style='margin:0'>{frames}<script>{READER}</script></body>", encoding="utf-8"
    )
    done = chromium(
        folder, "--enable-logging=stderr", "--virtual-time-budget=8000", "--window-size=1400,2000", "--dump-dom",
        outside.as_uri(),
    )  # fmt: skip
    match = re.search(r'data-found="([^"]*)"', done.stdout)
    assert match is not None, [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    result: dict[str, Any] = json.loads(html.unescape(match.group(1)))
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    result["console"] = [line for line in said if "Blocked script execution in 'about:srcdoc'" not in line]
    return result


def names_of(content: Facts) -> list[str]:
    return [row.name for row in content.ranking.shown]


def test_the_page_opens_with_the_first_and_says_how_many(content: Facts, found: dict[str, Any]) -> None:
    names = names_of(content)
    assert len(names) == 44 and found["first"]["controls"]
    assert found["first"]["names"] == names[:MOST_SHOWN]
    assert found["first"]["shown"] == f"{MOST_SHOWN} of 44 configurations."
    assert found["all"] == names and found["reset"] == names


def test_it_sorts_by_controls_and_by_the_heads_of_columns(found: dict[str, Any]) -> None:
    assert found["byTrain"] == sorted(found["byTrain"], reverse=True)
    assert found["byTrainReversed"] == sorted(found["byTrain"])
    pooled, again = found["byHead"]["pooled"], found["byHeadAgain"]["pooled"]
    assert (found["byHead"]["sort"], found["byHeadAgain"]["sort"]) == ("descending", "ascending")
    assert pooled == sorted(pooled, reverse=True) and again == sorted(pooled)


def test_it_filters_by_family_name_and_values(content: Facts, found: dict[str, Any]) -> None:
    rows = content.ranking.shown
    of_family = [row.name for row in rows if row.family == found["family"]]
    assert found["ofFamily"]["names"] == of_family
    assert found["ofFamily"]["shown"].endswith(f"{len(of_family)} configurations that match, of 44.")
    assert found["ofFamily"]["out"] > 0
    firsts = {row.family: row.name for row in reversed(rows)}
    assert sorted(found["best"]) == sorted(firsts.values())
    assert found["ofName"] == [row.name for row in rows if row.parameters.get("weights") == "distance"]
    assert found["ofRange"] == [row.name for row in rows if row.parameters.get("n_neighbors") in (5, 7, 9)]
    assert found["ofValue"] == [row.name for row in rows if row.parameters.get("weights") == "uniform"]


def test_marks_link_the_table_and_every_figure(content: Facts, found: dict[str, Any]) -> None:
    rows = {row.index: row for row in content.ranking.shown}
    assert found["dots"] > 3 * len(rows)  # by rank, in order, on training rows, and slices
    clicked = found["clicked"]
    assert clicked["current"] == [clicked["row"]]
    parameters = len(rows[int(clicked["row"][1:])].parameters)
    assert clicked["rings"] == 3 + parameters + (parameters > 1)  # and in the figure of two parameters
    assert rows[int(clicked["row"][1:])].name in clicked["bar"]
    nothing = {"bar": "", "rings": 0, "current": []}
    assert found["unclicked"] == nothing
    figure = found["fromFigure"]
    assert figure["current"] == [f"c{figure['dot']}"] and rows[int(figure["dot"])].name in found["tip"]
    assert found["fromAddress"]["current"] == ["c0"]  # although its family was filtered out


def test_the_keyboard_does_what_the_mouse_does(found: dict[str, Any]) -> None:
    assert found["focused"]["is"] == found["focused"]["after"]
    assert found["entered"]["current"] == [found["focused"]["is"]] and found["entered"]["rings"] > 0
    assert found["escaped"] == {"bar": "", "rings": 0, "current": []}
    assert [found["shownRow"]] == found["lastDot"]["current"]


def test_names_are_literal_and_the_console_is_silent(found: dict[str, Any]) -> None:
    assert found["scripts"] == 3 and found["loaded"] == 0
    assert LOGISTIC in found["text"] and NEIGHBOURS in found["text"]
    assert len(found["console"]) == 1 and "the reader is done" in found["console"][0]


def test_without_scripts_the_page_is_a_static_report(content: Facts, found: dict[str, Any]) -> None:
    still = found["still"]
    assert still["rows"] == len(content.ranking.shown) - sum(row.is_more for row in content.ranking.shown)
    assert still["all"] == len(content.ranking.shown)
    assert still["controls"] == still["buttons"] == 0
    assert still["links"] and still["defaults"] == [False]
