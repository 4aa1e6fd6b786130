"""docs/api: each public name stands on one page, and each public function and class has an example."""

from __future__ import annotations

import inspect
import re
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
    assert {page.stem for page in FOLDER.glob("*.rst")} == set(MODULES)
    assert not [page for page in MODULES if f"({page}.rst)" not in text]


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
    *("Estimate", "Interval", "Evidence", "Settings", "HeldOutPredictions"),
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
