"""docs/api/studies.rst: each public name of heldout-papers stands there, with its parameters and an example."""

from types import ModuleType

import pytest
from api_pages import check_classes, check_examples, check_functions, check_names, check_sections

import heldout_papers
from heldout_papers import spaces

PAGE = "studies"
modules = pytest.mark.parametrize("module", [heldout_papers, spaces])


def test_the_page_lists_the_names_once() -> None:
    check_names(PAGE, heldout_papers, spaces)


def test_functions_have_their_sections() -> None:
    check_sections(PAGE)


@modules
def test_parameters_are_explained(module: ModuleType) -> None:
    check_functions(module)
    check_classes(module)


@modules
def test_what_users_call_has_an_example(module: ModuleType) -> None:
    check_examples(module)
