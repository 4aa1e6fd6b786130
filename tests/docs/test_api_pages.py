"""docs/api: each public name stands on one page, and each public function and class has an example."""

import inspect
import re

import pytest
from api_pages import (
    AS_ESTIMATE,
    FOLDER,
    check_classes,
    check_examples,
    check_functions,
    check_names,
    check_sections,
    listed_on,
)

import heldout as ho

MODULES = {
    "heldout": ho, "estimates": ho.estimates, "metrics": ho.metrics, "selection": ho.selection,
    "dropping": ho.dropping, "protocols": ho.protocols, "spaces": ho.spaces, "plots": ho.plots, "optuna": ho.optuna,
}  # fmt: skip
"""Each page, and the module whose names it lists."""
PARTS = "parts"
"""The page of the names of inner modules."""
PAPERS = "studies"
"""The page of the names of heldout-papers, which its own tests check."""


@pytest.mark.parametrize("page", MODULES)
def test_a_page_lists_the_names_of_its_module_once(page: str) -> None:
    check_names(page, MODULES[page])


def test_the_index_names_each_page() -> None:
    text = (FOLDER / "index.md").read_text(encoding="utf-8")
    pages = {*MODULES, PARTS, PAPERS}
    assert {page.stem for page in FOLDER.glob("*.rst")} == pages
    assert not [page for page in pages if f"({page}.rst)" not in text]


def test_names_of_inner_modules_that_the_pages_import_are_listed() -> None:
    pages = "\n".join(
        page.read_text(encoding="utf-8") for page in (FOLDER.parents[1] / "notes" / "extend").glob("*.md")
    )
    imports = re.findall(r"^from (heldout\.[\w.]+) import (?:\(([^)]*)\)|(.*))$", pages, re.MULTILINE)
    names = [(module, (many or some).split(",")) for module, many, some in imports]
    imported = {(module, name.strip()) for module, several in names for name in several if name.strip()}
    of_modules = {(module.__name__, name) for module in MODULES.values() for name in module.__all__}
    assert {*listed_on(PARTS)} == imported - of_modules


@pytest.mark.parametrize("page", [*MODULES, PARTS])
def test_functions_have_their_sections(page: str) -> None:
    check_sections(page, raises=page != PARTS)


@pytest.mark.parametrize("page", MODULES)
def test_the_parameters_of_functions_are_explained(page: str) -> None:
    check_functions(MODULES[page])


@pytest.mark.parametrize("page", MODULES)
def test_the_parameters_of_classes_are_explained_there_or_by_their_template(page: str) -> None:
    check_classes(MODULES[page])


def test_what_is_explained_elsewhere_is_explained_there() -> None:
    there = set(inspect.signature(ho.estimate).parameters) | {"methods", "name", "names"}
    for name in AS_ESTIMATE:
        function = getattr(ho, name)
        assert re.search(r"(ho|heldout)\.estimate\b", inspect.getdoc(function) or "")
        assert set(inspect.signature(function).parameters) <= there


@pytest.mark.parametrize("page", MODULES)
def test_what_users_call_has_an_example(page: str) -> None:
    check_examples(MODULES[page])
