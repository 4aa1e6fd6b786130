"""The report in a headless Chromium: nothing overflows, nothing is loaded, the headline is there.

A page is measured from outside, in a frame of each width: the file itself stays as it was written.
"""

import html
import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from headless import MARKS, chromium
from races import barrier, raced
from results_by_hand import algorithms, all_methods, evaluation_by_hand, with_imputations
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from heldout.protocols import learning_curve
from heldout.report import facts, render_html
from heldout.report.entries import Facts
from heldout.report.render import render_learning_curve

pytestmark = MARKS
MEASURE = """
<script>
const measured = {};
document.addEventListener("load", ({target: frame}) => {
  if (frame.tagName === "IFRAME") setTimeout(() => measure(frame), 500);  // in the time of --virtual-time-budget
}, true);  // capturing, for a load event does not bubble
function measure(frame) {
  const page = frame.contentDocument, width = frame.clientWidth, name = frame.name;
  const beyond = [...page.querySelectorAll("body *")].filter(
    (e) => !e.closest(".scroll, pre, svg") && getComputedStyle(e).position !== "absolute"
      && !e.closest("thead") && e.getBoundingClientRect().right > width + 0.5);
  const seen = (e) => e.getBoundingClientRect().width > 0;
  const text = [...page.querySelectorAll("figure svg")].filter(seen).map((svg) =>
    Math.min(...[...svg.querySelectorAll("text")].map((t) => t.getBoundingClientRect().height)));
  measured[name] = {
    width: page.documentElement.scrollWidth,
    beyond: beyond.map((e) => e.tagName + "." + e.className + ": " + e.textContent.slice(0, 60)),
    figures: [...page.querySelectorAll("figure svg")].filter(seen).length,
    smallest: Math.min(...text),
    text: page.body.innerText,
    loaded: frame.contentWindow.performance.getEntriesByType("resource").map((entry) => entry.name),
    buttons: [...page.querySelectorAll("button[data-copies]")].filter(seen).length,
  };
  const button = page.querySelector("button[data-copies]");
  if (button !== null) button.click();
  setTimeout(() => {  // in less time than a button says what it did
    measured[name].copied = button === null ? "" : button.textContent;
    document.body.dataset.measured = JSON.stringify(measured);
  }, 300);
}
</script>
"""


def measured(pages: dict[str, str], widths: tuple[int, ...], folder: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """The layout of each page for each width in pixels."""
    frames = [
        f'<iframe name="{name} {width}" style="border:0;width:{width}px;height:900px" srcdoc="{html.escape(page)}">'
        "</iframe>"
        for name, page in pages.items()
        for width in widths
    ]
    outside = folder / "outside.html"
    outside.write_text(f"<!doctype html><body style='margin:0'>{MEASURE}{''.join(frames)}</body>", encoding="utf-8")
    dumped = chromium(
        folder, "--virtual-time-budget=10000", "--window-size=1400,1000", "--dump-dom", outside.as_uri()
    ).stdout
    match = re.search(r'data-measured="([^"]*)"', dumped)
    assert match is not None, "the measuring script did not run"
    found: dict[str, Any] = json.loads(html.unescape(match.group(1)))
    return {(name, width): found[f"{name} {width}"] for name in pages for width in widths}


LONG = "a_very_long_name_without_any_place_to_break_" * 4


@cache
def searched(kind: str) -> Facts:
    """Searches by hand, without a fit."""
    metrics = ("neg_log_loss", "accuracy")
    if kind == "raced":
        made = raced(
            evaluation_by_hand(configurations=40), barrier(1, 40, list(range(25))), barrier(2, 15, [30, 31])
        )
    elif kind == "regression":
        made = evaluation_by_hand("regression", ("neg_root_mean_squared_error",))
    else:
        classes = tuple(f"class number {n}" for n in range(2 if kind == "binary" else 9))
        made = evaluation_by_hand(kind, metrics, rows=270, classes=classes)
    return facts(made, command="heldout tune data.csv --target y " * 6, title="data.csv")


def unwieldy(content: Facts) -> Facts:
    """The same content with very long names, none with a place to break."""

    rows = tuple(Facts(row, name=f"{LONG}{row.index}") for row in content.ranking.shown)
    race = content.race
    race = Facts(
        race,
        barriers=tuple(Facts(row, leader=LONG) for row in race.barriers),
        dropped=tuple(Facts(row, name=f"{LONG}{row.index}", why=LONG) for row in race.dropped),
        needed=Facts(after=3, nearest=(Facts(name=LONG, folds=12),), finite=1, endless=0),
    )
    flags = (Facts(flag="x", title="Excluded", text=f"{LONG}: something was excluded"), *content.flags)
    return Facts(
        content,
        title=LONG,
        headline=Facts(content.headline, winner=LONG, value=1234567.25, uncorrected=1234568.5),
        race=race,
        ranking=Facts(content.ranking, shown=rows),
        flags=flags,
        parameters=tuple(Facts(p, text=LONG) for p in content.parameters[:3]) + content.parameters[3:],
    )


def validated() -> Facts:
    """A model validated on rows with missing values, and very long names."""
    content = facts(with_imputations(), command="heldout validate data.csv --target y " * 6, title="data.csv")
    first, *others = content.coefficients.rows
    scores = {"apparent": 0.9, "optimism": 0.1, "value": 0.8, "low": 0.7, "high": 0.9, "failed": 2}
    return Facts(
        content,
        candidates=tuple(Facts(name=f"{LONG}{n}", is_selected=n == 0, reason=LONG * n, **scores) for n in range(2)),
        failures=(Facts(message=LONG, names=tuple(str(n) for n in range(20)), unnamed=12),),
        coefficients=Facts(content.coefficients, rows=((LONG, *first[1:]), *others)),
    )


def learning_curve_page() -> str:
    X, y = make_classification(80, 4, flip_y=0.2, random_state=0)
    curve = learning_curve(
        LogisticRegression(), X, y, {"C": [0.01, 0.1, 1.0, 10.0]}, n_subsamples=3, random_state=0
    )
    return render_learning_curve(replace(curve, names=tuple(f"{LONG}{j}" for j in range(4))))


@cache
def content_of(kind: str) -> Facts:
    if kind == "compared":
        return all_methods()
    if kind == "validated":
        return validated()
    if kind == "algorithms":
        return facts(algorithms(LONG), command="heldout compare data.csv --target y " * 4, title="data.csv")
    return unwieldy(searched("raced")) if kind == "unwieldy" else searched(kind)


@cache
def page_of(kind: str) -> str:
    return render_html(content_of(kind))


KINDS = ("binary", "multiclass", "regression", "raced", "unwieldy", "compared", "validated", "algorithms")
WIDTHS = (375, 740, 1200)
Layout = Callable[[str, int], dict[str, Any]]


@pytest.fixture(scope="module")
def layout(tmp_path_factory: pytest.TempPathFactory) -> Layout:
    """The layout of a page in a width; the browser starts once for all of them."""
    pages = {kind: page_of(kind) for kind in KINDS} | {"learning curve": learning_curve_page()}
    found = measured(pages, WIDTHS, tmp_path_factory.mktemp("browser"))
    return lambda kind, width: found[kind, width]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_page_fits_its_width(kind: str, width: int, layout: Layout) -> None:
    found = layout(kind, width)
    assert found["beyond"] == []
    assert found["width"] <= width
    assert found["loaded"] == []
    assert found["figures"] >= (1 if kind == "algorithms" else 2)
    assert found["smallest"] >= 10.5  # pixels of a line of text: 9 pixel letters


@pytest.mark.parametrize("kind", KINDS)
def test_the_headline_can_be_read(kind: str, layout: Layout) -> None:
    text = layout(kind, 375)["text"]
    head = content_of(kind).headline
    assert head.metric.title in text
    assert f"{head.value:,.{head.metric.decimals}f}" in text
    assert f"{head.uncorrected:,.{head.metric.decimals}f}" in text
    assert "The bootstrap" in text


@pytest.mark.parametrize("width", [375, 1200])
def test_dropped_configurations_can_be_read(width: int, layout: Layout) -> None:
    race = searched("raced").race
    assert race is not None and len(race.dropped) > 20, "too few were dropped for a page that folds some away"
    text = " ".join(layout("raced", width)["text"].split())
    assert "The race" in text and "The estimated probability that the best" in text
    assert all(row.name in text for row in race.dropped[:20])
    assert f"The other {len(race.dropped) - 20}" in text


def test_every_method_of_a_comparison_can_be_read(layout: Layout) -> None:
    content = content_of("compared")
    text = layout("compared", 375)["text"]
    assert "Other estimates" in text and "Methods that do not apply" in text
    for row in content.methods:
        assert row.title in text and f"{row.value:.{content.headline.metric.decimals}f}" in text
    for reason in content.refused.values():
        assert reason in text


@pytest.mark.parametrize("kind", ["unwieldy", "validated"])
def test_the_page_prints(kind: str, tmp_path: Path) -> None:
    page, paper = tmp_path / "report.html", tmp_path / "report.pdf"
    page.write_text(page_of(kind), encoding="utf-8")
    chromium(tmp_path, "--no-pdf-header-footer", f"--print-to-pdf={paper}", page.as_uri())
    printed = paper.read_bytes()
    assert printed.startswith(b"%PDF")
    sheets = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert 2 <= sheets <= 14


def test_the_methods_text_can_be_copied(layout: Layout) -> None:
    found, page = layout("binary", 1200), page_of("binary")
    assert found["buttons"] == 2 and found["copied"] in ("Copied", "Selected: copy it with the keyboard")
    # without scripts there is no button, and the text is there
    assert len(re.findall(r"<button[^>]* hidden>", page)) == 2 and 'id="methods-text">The data comprised ' in page


def test_the_page_of_learning_curves_fits(layout: Layout) -> None:
    for width in (375, 1200):
        found = layout("learning curve", width)
        assert found["width"] <= width and not found["beyond"]
        assert found["figures"] == 1 and found["smallest"] > 8
        assert found["loaded"] == [] and "Learning curves" in found["text"]
