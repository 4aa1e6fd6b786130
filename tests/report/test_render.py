"""The page: self-contained, escaped, accessible, the same bytes for the same content."""

import base64
import hashlib
import json
import re
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest

from heldout import scales
from heldout.errors import MissingExtraError
from heldout.report import facts, render_html, write_report
from heldout.report.entries import Facts
from heldout.report.ranking import best_of_families
from heldout.result import Evaluation

pytestmark = pytest.mark.draws_report

Make = Callable[..., Evaluation]
HOSTILE = "<script>alert('x')</script> & \"quotes\""
VOID = {"meta", "wbr", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Elements of a page in order, with the text of headings."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, *tags: str) -> list[dict[str, str]]:
        return [attrs for tag, attrs in self.elements if tag in tags]


@pytest.fixture(scope="module")
def pages(make_evaluation: Make) -> list[str]:
    """Pages that between them show every part."""
    classes = tuple(f"class {HOSTILE} {n}" for n in range(3))
    return [
        render_html(facts(evaluation, title=HOSTILE, command=HOSTILE))
        for evaluation in (
            make_evaluation(metrics=("roc_auc", "neg_log_loss"), failures={1: HOSTILE}, name=HOSTILE, repeats=2),
            make_evaluation("multiclass", ("accuracy",), classes=classes, name=HOSTILE),
            make_evaluation("regression", ("neg_mean_absolute_error",), configurations=24),
            make_evaluation(method=None),
            make_evaluation(method="cv"),
        )
    ]


def digest(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def test_pages_load_nothing(pages: list[str]) -> None:
    for text in pages:
        page = Page(text)
        assert not page.all("link", "img", "iframe", "object", "embed", "image")
        assert not [attrs for _, attrs in page.elements if "src" in attrs or "srcset" in attrs]
        ids = {attrs["id"] for _, attrs in page.elements if "id" in attrs}
        for href in (attrs["href"] for attrs in page.all("a")):
            assert href.startswith("https://doi.org/") or href.removeprefix("#") in ids
        assert not re.search(r"@import|url\((?!#)", text)
        policy = next(a["content"] for a in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
        assert policy.startswith("default-src 'none'")
        data, explore, copy = re.findall(r"<script[^>]*>(.*?)</script>", text, re.S)
        assert policy.endswith(f"; script-src '{digest(explore)}' '{digest(copy)}'")  # these and no others
        templates = files("heldout.report") / "templates"
        assert explore == (templates / "explore.js").read_text(encoding="utf-8").strip()
        assert copy == (templates / "copy.js").read_text(encoding="utf-8").strip()
        assert json.loads(data)["index"]


def test_what_the_user_wrote_is_escaped(pages: list[str]) -> None:
    for text in pages[:2]:
        assert text.count("<script") == text.count("</script>") == 3
        assert "&lt;script&gt;" in text
        (data,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.S)
        assert not set("<>&") & set(data)


def test_names_of_families_and_parameters_are_literal_in_data_and_figures(make_evaluation: Make) -> None:
    evaluation = make_evaluation()
    content = facts(evaluation)
    hostile = "</script>{{ 7 * 7 }}'\\\""
    rows = tuple(
        Facts(
            row,
            name=hostile,
            family=f"{hostile}{row.rank % 2}",
            parameters={hostile: f"{hostile}{row.rank}", "n": row.rank},
        )
        for row in content.ranking.shown
    )
    ranking = Facts(content.ranking, shown=rows, families=best_of_families(rows))
    text = render_html(Facts(content, ranking=ranking))
    assert text.count("</script>") == 3 and "49" not in re.findall(r"<h3>.*?</h3>", text)
    (data,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.S)
    assert json.loads(data)["values"] == [[f"{hostile}{row.rank}", row.rank] for row in rows]
    assert Page(text).open == []


def test_pages_are_well_formed_and_accessible(pages: list[str]) -> None:
    for text in pages:
        page = Page(text)
        assert page.open == []
        assert page.all("html")[0]["lang"] == "en"
        levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        assert all("scope" in attrs for attrs in page.all("th"))
        ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
        assert len(ids) == len(set(ids))
        named = " ".join(attrs.get("aria-labelledby", "") for _, attrs in page.elements).split()
        used = re.findall(r"url\(#([^)]+)\)", text)
        assert set(named) | set(used) <= set(ids)
        for drawn in page.all("svg"):
            assert drawn.get("aria-hidden") == "true" or (drawn.get("role") == "img" and "aria-labelledby" in drawn)


def test_the_same_content_gives_the_same_bytes(make_evaluation: Make, tmp_path: Path) -> None:
    first = write_report(facts(make_evaluation()), tmp_path / "a.html").read_bytes()
    assert write_report(make_evaluation(), tmp_path / "b.html").read_bytes() == first


def test_a_missing_package_names_the_extra(make_evaluation: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    content = facts(make_evaluation())
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"heldout\[app\]"):
        render_html(content)


def test_text_can_be_read_in_light_and_dark_and_figures_are_recoloured() -> None:
    css = (files("heldout.report") / "templates" / "report.css").read_text(encoding="utf-8")
    light, dark = (
        dict(re.findall(r"--(\w+): (#\w{6});", block)) for block in re.findall(r":root {(.*?)}", css, re.S)
    )
    for theme in (light, dark):
        for text in ("ink", "muted", "blue"):
            for paper in ("paper", "wash"):
                assert contrast(theme[text], theme[paper]) >= 4.5
        assert contrast(theme["vermillion"], theme["paper"]) >= 3  # lines only
    for colour, variable in scales.PAGE_COLOURS.items():
        name = variable.removeprefix("var(--").removesuffix(")")
        assert name in light.keys() & dark.keys()
        assert light[name] == colour or colour == "#000000"


def contrast(one: str, other: str) -> float:
    """WCAG 2.1, relative luminance."""

    def luminance(colour: str) -> float:
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)
