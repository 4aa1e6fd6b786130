"""What packages of heldout say about it, in several files, agrees with pyproject.toml."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

import heldout
from heldout.references import PACKAGE, REFERENCES

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))
needs_workflows = pytest.mark.skipif(not WORKFLOWS, reason="a source distribution holds no workflows")
CONDA_NAMES = {"matplotlib": "matplotlib-base"}
"""Packages with another name at conda-forge."""


def read(file: str) -> Any:
    return yaml.safe_load((ROOT / file).read_text(encoding="utf-8"))


def for_conda(requirements: list[str]) -> set[str]:
    """``numpy>=1.24`` as a recipe says it: ``numpy >=1.24``."""
    asked = [Requirement(text) for text in requirements]
    return {f"{CONDA_NAMES.get(one.name, one.name)} {one.specifier}" for one in asked}


def jobs() -> list[tuple[str, str, dict[str, Any]]]:
    loaded = [(path.name, read(str(path))) for path in WORKFLOWS]
    return [(name, key, job) for name, workflow in loaded for key, job in workflow["jobs"].items()]


def steps() -> list[dict[str, Any]]:
    return [step for _, _, job in jobs() for step in job["steps"]]


def test_the_version_is_the_same_everywhere() -> None:
    citation = read("CITATION.cff")
    written = [heldout.__version__, read("recipe/recipe.yaml")["context"]["version"]]
    written += [citation["version"], citation["preferred-citation"]["version"]]
    assert written == [PROJECT["version"]] * 4


def test_the_package_cites_itself_as_the_citation_file_does() -> None:
    work, citation = REFERENCES[PACKAGE], read("CITATION.cff")
    assert (work.title, work.authors) == (citation["title"], citation["authors"][0]["name"])


def test_the_licence_is_the_same_everywhere() -> None:
    assert read("CITATION.cff")["license"] == read("recipe/recipe.yaml")["about"]["license"] == PROJECT["license"]


def test_the_recipe_requires_what_the_project_requires() -> None:
    requirements = read("recipe/recipe.yaml")["outputs"][0]["requirements"]
    extras = PROJECT["optional-dependencies"]
    assert set(requirements["run"]) == {"python", *for_conda(PROJECT["dependencies"])}
    optional = [*extras["app"], *extras["optuna"], *extras["plot"]]
    assert set(requirements["run_constraints"]) == for_conda(optional)
    assert set(requirements["host"]) == {"python", "pip", *for_conda(PYPROJECT["build-system"]["requires"])}


def test_the_group_of_developers_is_their_extra_without_heldout_itself() -> None:
    extra = PROJECT["optional-dependencies"]["dev"]
    assert PYPROJECT["dependency-groups"]["dev"] == [text for text in extra if not text.startswith("heldout")]


def test_classifiers_name_the_versions_of_python_from_the_oldest_on() -> None:
    minors = [match[1] for text in PROJECT["classifiers"] if (match := re.search(r":: 3\.(\d+)$", text))]
    oldest = int(PROJECT["requires-python"].removeprefix(">=3."))
    assert [int(minor) for minor in minors] == list(range(oldest, oldest + len(minors)))


def test_wheels_are_of_the_oldest_python_of_the_stable_abi_and_without_the_gil() -> None:
    oldest, stable, free = PYPROJECT["tool"]["cibuildwheel"]["build"].split()
    assert oldest == f"cp{PROJECT['requires-python'].removeprefix('>=').replace('.', '')}-*"
    assert stable == f"{PYPROJECT['tool']['scikit-build']['wheel']['py-api']}-*"
    assert re.fullmatch(r"cp3\d+t-\*", free)


@needs_workflows
def test_as_many_wheels_are_checked_as_are_built() -> None:
    workflow = read(".github/workflows/wheels.yml")["jobs"]
    machines = workflow["wheels"]["strategy"]["matrix"]["os"]
    kinds = sum(2 if name.startswith("ubuntu") else 1 for name in machines)  # manylinux and musllinux
    counted = re.search(r"dist/\*\.whl \| wc -l\)\" = (\d+)", str(workflow["check"]["steps"]))
    assert counted is not None
    of_papers = 1
    assert int(counted[1]) == kinds * len(PYPROJECT["tool"]["cibuildwheel"]["build"].split()) + of_papers


@needs_workflows
def test_workflows_call_what_exists() -> None:
    commands = "\n".join(step.get("run", "") for step in steps())
    called = set(re.findall(r"(?<![\w/])(?:\.ci|tests)/[\w./-]+", commands))
    assert {
        ".ci/run",
        ".ci/site",
        ".ci/oldest-versions",
        ".ci/older-scikit-learn",
        ".ci/scikit-learn-searches",
        "tests/packages/smoke.py",
    } <= called
    assert not [path for path in called if not (ROOT / path).exists()]


@needs_workflows
def test_actions_are_pinned() -> None:
    used = [step["uses"] for step in steps() if "uses" in step]
    assert used
    assert not [name for name in used if not re.search(r"@(v\d+(\.\d+)*|release/v\d+|[0-9a-f]{40})$", name)]


@needs_workflows
def test_only_the_job_that_publishes_may_write() -> None:
    assert [read(str(path))["permissions"] for path in WORKFLOWS] == [{"contents": "read"}] * len(WORKFLOWS)
    with_rights = [(name, key, job["permissions"]) for name, key, job in jobs() if "permissions" in job]
    assert with_rights == [("wheels.yml", "publish", {"id-token": "write"})]


@needs_workflows
def test_hooks_have_versions_that_the_project_allows() -> None:
    revisions = {repo["repo"].rsplit("/", 1)[1]: repo["rev"] for repo in read(".pre-commit-config.yaml")["repos"]}
    allowed = {one.name: one.specifier for one in map(Requirement, PROJECT["optional-dependencies"]["dev"])}
    assert allowed["ruff"].contains(revisions["ruff-pre-commit"].removeprefix("v"))
    assert allowed["mypy"].contains(revisions["mirrors-mypy"].removeprefix("v"))
