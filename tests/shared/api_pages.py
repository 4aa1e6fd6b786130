"""What holds for each page of docs/api, and for the names that it lists."""

import inspect
import re
from dataclasses import is_dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any

import heldout as ho

FOLDER = Path(__file__).parents[2] / "docs" / "api"
ALIASES = {"Entry"}
"""Names of types, which the page explains in its text."""
AS_ESTIMATE = {"compare_estimates", "compare_configurations"}
"""Their parameters are those of ``ho.estimate``, which they name."""
RECORDS = {
    *("Coverage", "Estimate", "Interval", "Evidence", "Method", "Metric", "Settings", "HeldOutPredictions"),
    *("Choice", "ScoreTable", "Leaderboard", "LeaderboardRow"),
    *("Barrier", "Dropped", "Racing", "Standing"),
    *("AlgorithmComparison", "AlgorithmDifference", "AlgorithmSelections", "CalibrationCurve"),
    *("Candidate", "ComparedAlgorithm", "CurvePoint", "DecisionCurve", "FitCosts", "FittedCoefficients"),
    *("LearningCurve", "NestedEstimate", "OuterFold", "PooledCoefficients", "PooledScore", "Relevance", "RocCurve"),
    *("SearchBootstrap", "SearchBootstrapEstimate", "Validation", "ValidationRow"),
    *("AdaptiveSetting", "AdaptiveStudy", "BiasSetting", "BiasStudy", "CorrectionsStudy", "FlatVsNestedSetting"),
    *("FlatVsNestedStudy", "IntervalSetting", "IntervalStudy", "IntervalsOnTables", "SearchSetting", "SearchStudy"),
    *("TimingSetting", "TimingStudy"),
}
"""What calls return or hand to a part of a user; the examples stand with the calls."""


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


def check_names(page: str, *modules: Any) -> None:
    """A page lists the names of its modules, each once."""
    listed = [name for _, name in listed_on(page)]
    assert sorted(listed) == sorted(name for module in modules for name in names_of(module))
    assert all(hasattr(import_module(module), name) for module, name in listed_on(page))


def check_sections(page: str, *, raises: bool = True) -> None:
    """Functions say what they take, return and, where ``raises`` is true, refuse."""
    there = [getattr(import_module(module), name) for module, name in listed_on(page)]
    for function in filter(inspect.isfunction, there):
        text, signature = inspect.getdoc(function) or "", inspect.signature(function)
        assert not signature.parameters or "Parameters\n----------\n" in text, function
        assert signature.return_annotation in (None, "None") or "Returns\n-------\n" in text, function
        assert not raises or not signature.parameters or "Raises\n------\n" in text, function


def check_functions(module: Any) -> None:
    """The parameters of functions are explained."""
    for name, function in public(module):
        text = inspect.getdoc(function) or ""
        if inspect.isfunction(function) and name not in AS_ESTIMATE:
            names = [each for each in inspect.signature(function).parameters if not re.search(rf"\b{each}\b", text)]
            assert not names, f"{name}: {names}"


def check_classes(module: Any) -> None:
    """The parameters of classes are explained there or by their template."""
    for name, each in public(module):
        if inspect.isclass(each) and (is_dataclass(each) or hasattr(each, "get_params")):
            of_heldout = [above for above in each.__mro__ if above.__module__.startswith("heldout")]
            text = "\n".join(above.__doc__ or "" for above in of_heldout)
            kinds = getattr(each, "__dataclass_fields__", {})
            shown = [p for p in inspect.signature(each).parameters if p not in kinds or kinds[p].repr]
            assert not [p for p in shown if not re.search(rf"\b{p}\b", text)], name


def check_examples(module: Any) -> None:
    """What users call has an example."""
    calls = [(name, each) for name, each in public(module) if needs_example(name, each)]
    assert not [name for name, each in calls if ">>>" not in (inspect.getdoc(each) or "")]


def public(module: Any) -> list[tuple[str, Any]]:
    found = [(name, getattr(module, name)) for name in sorted(names_of(module))]
    return [(name, each) for name, each in found if inspect.isclass(each) or inspect.isfunction(each)]


def needs_example(name: str, each: Any) -> bool:
    """Whether users call it: not a Protocol, an error, names of cases, or a record that a call returns."""
    if not inspect.isclass(each):
        return True
    kinds = (BaseException, Enum)
    if getattr(each, "_is_protocol", False) or issubclass(each, kinds) or issubclass(each, tuple):
        return False
    return name not in RECORDS
