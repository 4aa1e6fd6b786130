"""docs/methods/pages: every method has a page, of one form, whose example prints what the page shows."""

import contextlib
import importlib
import io
import re
import warnings
from pathlib import Path

import pytest

from heldout.dropping import RULES
from heldout.estimates import METHODS
from heldout.flags import Flag

PAGES = Path(__file__).parents[2] / "docs" / "methods" / "pages"
HEADINGS = ["Formula", "Symbols", "Assumptions", "Example", "Evidence", "Source"]
PROTOCOLS = [
    "nested_cv",
    "bootstrap_search",
    "bootstrap_validate",
    "learning_curve",
    "compare_configurations",
    "compare_algorithms",
    "cross_fitting",
    "drop_rules",
]
"""Pages of what takes fits of its own, or compares."""
NAMES = [*METHODS, *PROTOCOLS]
NEEDS = {"cross_fitting": "optuna", "nested_cv": "pandas"}
"""Packages that an example imports and heldout does not need."""


def text_of(name: str) -> str:
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


def block(text: str, language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return str(found)


def test_every_method_has_a_page() -> None:
    pages = {page.stem for page in PAGES.glob("*.md")} - {"index"}

    assert pages == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_its_parts(name: str) -> None:
    text = text_of(name)
    called = "drop=" if name == "drop_rules" else "feedback=" if name == "cross_fitting" else name

    assert re.findall(r"^## (.*)$", text, flags=re.MULTILINE) == HEADINGS
    assert called in text.split("\n")[0]
    assert "$$" in text.split("## Formula")[1].split("## Symbols")[0]
    assert len(re.findall(r"^\| ", text.split("## Symbols")[1].split("## Assumptions")[0], flags=re.MULTILINE)) > 3
    assert len(re.findall(r"^- ", text.split("## Assumptions")[1].split("## Example")[0], flags=re.MULTILINE)) > 1
    assert "](" in text.split("## Evidence")[1].split("## Source")[0]
    assert re.search(r"\{py:(class|func)\}`heldout\.", text.split("## Source")[1])


def test_every_drop_rule_has_its_part() -> None:
    parts = re.findall(r"^### (.*)$", text_of("drop_rules"), flags=re.MULTILINE)

    assert set(RULES) == {rule for part in parts for rule in re.findall(r"`(\w+)`", part)}


@pytest.mark.parametrize("name", NAMES)
def test_names_of_the_interface_exist(name: str) -> None:
    for path in re.findall(r"\{py:(?:class|func)\}`([\w.]+)`", text_of(name)):
        module, _, attribute = path.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), path


@pytest.mark.parametrize("name", NAMES)
def test_flags_that_a_page_names_exist(name: str) -> None:
    named = re.findall(r"\bflag(?:ged)?\s+`(\w+)`", text_of(name))

    assert set(named) <= {flag.value for flag in Flag}


@pytest.mark.parametrize("name", NAMES)
def test_an_example_prints_what_the_page_shows(name: str) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    text, printed = text_of(name), io.StringIO()
    code = compile(block(text, "python"), f"{name}.md", "exec")
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("error")
        exec(code, {"__name__": name})

    assert printed.getvalue().rstrip() == block(text, "text").rstrip()
