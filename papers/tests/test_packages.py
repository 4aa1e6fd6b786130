"""What describes the distribution heldout-papers agrees with heldout's."""

import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement

import heldout

ROOT = Path(__file__).parents[2]
LIBRARY, PAPERS = (
    tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8")) for folder in (ROOT, ROOT / "papers")
)
VERSION = heldout.__version__
SAME = ("version", "requires-python", "license", "authors")


def test_both_have_one_version_and_papers_requires_it() -> None:
    assert [LIBRARY["project"][key] for key in SAME] == [PAPERS["project"][key] for key in SAME]
    assert PAPERS["project"]["version"] == VERSION
    assert PAPERS["project"]["dependencies"] == [f"heldout[app]=={VERSION}"]
    assert (ROOT / "papers" / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


CONDA_NAMES = {"matplotlib": "matplotlib-base"}


def test_the_recipe_builds_both_and_requires_what_papers_requires() -> None:
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
    library, papers = recipe["outputs"]
    assert [output["package"]["name"] for output in (library, papers)] == ["heldout", "heldout-papers"]
    python = f"python {PAPERS['project']['requires-python']}"
    asked = map(Requirement, LIBRARY["project"]["optional-dependencies"]["app"])
    app = {f"{CONDA_NAMES.get(one.name, one.name)} {one.specifier}" for one in asked}
    assert set(papers["requirements"]["run"]) == {python, "heldout ==${{ version }}", *app}
    (backend,) = map(Requirement, PAPERS["build-system"]["requires"])
    assert papers["requirements"]["host"] == [python, "pip", f"{backend.name} {backend.specifier}"]
