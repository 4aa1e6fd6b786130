"""docs/api: each public name stands on one page, and each public function and class has an example."""

from __future__ import annotations

import inspect
import re
from dataclasses import is_dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import heldout as ho

FOLDER = Path(__file__).parents[1] / "docs" / "api"
pytestmark = pytest.mark.pages

MODULES = {
    "heldout": ho, "estimates": ho.estimates, "metrics": ho.metrics, "selection": ho.selection,
    "dropping": ho.dropping, "protocols": ho.protocols, "spaces": ho.spaces, "plots": ho.plots, "optuna": ho.optuna,
    "studies": ho.studies,
}  # fmt: skip
"""Each page, and the module whose names it lists."""
ALIASES = {"Entry"}
"""Names of types, which the page explains in its text."""


def names_of(module: Any) -> set[str]:
    """The names of a module; a class that is also a name of ``heldout`` has its page there."""
    there = {name: getattr(module, name) for name in module.__all__ if not inspect.ismodule(getattr(module, name))}
    of_root = {name for name, each in there.items() if inspect.isclass(each) and getattr(ho, name, None) is each}
    return {*there} - ALIASES - {"__version__"} - (set() if module is ho else of_root)


def listed_on(page: str) -> list[tuple[str, str]]:
    """Module and name of each entry of the tables of a page."""
    found, module = [], ""
    for line in (FOLDER / f"{page}.rst").read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   \w+", line):
            found.append((module, line.strip()))
    return found


@pytest.mark.parametrize("page", MODULES)
def test_a_page_lists_the_names_of_its_module_once(page: str) -> None:
    listed = [name for _, name in listed_on(page)]
    assert sorted(listed) == sorted(names_of(MODULES[page]))
    assert all(hasattr(import_module(module), name) for module, name in listed_on(page))


def test_the_index_names_each_page() -> None:
    text = (FOLDER / "index.md").read_text(encoding="utf-8")
    pages = {*MODULES, PARTS}
    assert {page.stem for page in FOLDER.glob("*.rst")} == pages
    assert not [page for page in pages if f"({page}.rst)" not in text]


PARTS = "parts"
"""The page of the names of inner modules."""


def test_names_of_inner_modules_that_the_pages_import_are_listed() -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (FOLDER.parent / "extend").glob("*.md"))
    imports = re.findall(r"^from (heldout\.[\w.]+) import (?:\(([^)]*)\)|(.*))$", pages, re.MULTILINE)
    names = [(module, (many or some).split(",")) for module, many, some in imports]
    imported = {(module, name.strip()) for module, several in names for name in several if name.strip()}
    of_modules = {(module.__name__, name) for module in MODULES.values() for name in module.__all__}
    assert {*listed_on(PARTS)} == imported - of_modules


@pytest.mark.parametrize("page", [*MODULES, PARTS])
def test_functions_have_their_sections(page: str) -> None:
    there = [getattr(import_module(module), name) for module, name in listed_on(page)]
    for function in filter(inspect.isfunction, there):
        text, signature = inspect.getdoc(function) or "", inspect.signature(function)
        assert not signature.parameters or "Parameters\n----------\n" in text, function
        assert signature.return_annotation in (None, "None") or "Returns\n-------\n" in text, function
        assert page == PARTS or not signature.parameters or "Raises\n------\n" in text, function


def public(module: Any) -> list[tuple[str, Any]]:
    found = [(name, getattr(module, name)) for name in sorted(names_of(module))]
    return [(name, each) for name, each in found if inspect.isclass(each) or inspect.isfunction(each)]


@pytest.mark.parametrize("page", MODULES)
def test_the_parameters_of_functions_are_explained(page: str) -> None:
    for name, function in public(MODULES[page]):
        text = inspect.getdoc(function) or ""
        if inspect.isfunction(function) and name not in AS_ESTIMATE:
            names = [each for each in inspect.signature(function).parameters if not re.search(rf"\b{each}\b", text)]
            assert not names, f"{name}: {names}"


@pytest.mark.parametrize("page", MODULES)
def test_the_parameters_of_classes_are_explained_there_or_by_their_template(page: str) -> None:
    for name, each in public(MODULES[page]):
        if inspect.isclass(each) and (is_dataclass(each) or hasattr(each, "get_params")):
            of_heldout = [above for above in each.__mro__ if above.__module__.startswith("heldout")]
            text = "\n".join(above.__doc__ or "" for above in of_heldout)
            kinds = getattr(each, "__dataclass_fields__", {})
            shown = [p for p in inspect.signature(each).parameters if p not in kinds or kinds[p].repr]
            assert not [p for p in shown if not re.search(rf"\b{p}\b", text)], name


AS_ESTIMATE = {"compare_estimates", "compare_configurations"}
"""Their parameters are those of ``ho.estimate``, which they name."""


def test_what_is_explained_elsewhere_is_explained_there() -> None:
    there = set(inspect.signature(ho.estimate).parameters) | {"methods", "name", "names"}
    for name in AS_ESTIMATE:
        function = getattr(ho, name)
        assert re.search(r"(ho|heldout)\.estimate\b", inspect.getdoc(function) or "")
        assert set(inspect.signature(function).parameters) <= there


def needs_example(name: str, each: Any) -> bool:
    """Whether users call it: not a Protocol, an error, names of cases, or a record that a call returns."""
    if not inspect.isclass(each):
        return True
    kinds = (BaseException, Enum)
    if getattr(each, "_is_protocol", False) or issubclass(each, kinds) or issubclass(each, tuple):
        return False
    return name not in RECORDS


RECORDS = {
    *("Coverage", "Estimate", "Interval", "Evidence", "Settings", "HeldOutPredictions"),
    *("Choice", "ScoreTable"),
    *("Barrier", "Dropped", "Racing", "Standing"),
    *("AlgorithmComparison", "AlgorithmDifference", "AlgorithmSelections", "Bootstrap", "CalibrationCurve"),
    *("Candidate", "ComparedAlgorithm", "CurvePoint", "DecisionCurve", "FitCosts", "FittedCoefficients"),
    *("LearningCurve", "NestedEstimate", "OuterFold", "PooledCoefficients", "PooledScore", "Relevance", "RocCurve"),
    *("SearchBootstrapEstimate", "Validation", "ValidationRow"),
    *("AdaptiveSetting", "AdaptiveStudy", "BiasSetting", "BiasStudy", "CorrectionsStudy", "FlatVsNestedSetting"),
    *("FlatVsNestedStudy", "IntervalSetting", "IntervalStudy", "IntervalsOnTables", "SearchSetting", "SearchStudy"),
    *("TimingSetting", "TimingStudy"),
}
"""What calls return or hand to a part of a user; the examples stand with the calls."""


@pytest.mark.parametrize("page", MODULES)
def test_what_users_call_has_an_example(page: str) -> None:
    calls = [(name, each) for name, each in public(MODULES[page]) if needs_example(name, each)]
    assert not [name for name, each in calls if ">>>" not in (inspect.getdoc(each) or "")]
