"""The gallery: each script has a title, stands in a folder with a header, and draws. The site build runs all."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "gallery"
SCRIPTS = sorted(FOLDER.glob("*/plot_*.py"))
ALWAYS = ["plot_pure_noise", "plot_ordered_rows", "plot_two_models"]
"""Quick ones of different kinds; the others run with ``-m slow``, and whenever the site is built."""
PACKAGES = {"heldout", "matplotlib", "numpy", "optuna", "scipy", "sklearn"}
"""What the extra ``docs`` installs."""
DRAWS = """
import runpy, sys
from matplotlib import pyplot as plt

for script in sys.argv[1:]:
    runpy.run_path(script)
    assert plt.get_fignums(), f"no figure of {script}"
    plt.gcf().canvas.draw()
    plt.close("all")
"""


def test_there_are_enough_and_names_differ() -> None:
    assert len(SCRIPTS) >= 25
    assert len({script.name for script in SCRIPTS}) == len(SCRIPTS)
    assert {script.stem for script in SCRIPTS} > set(ALWAYS)


@pytest.mark.parametrize("folder", ["", *sorted({script.parent.name for script in SCRIPTS})])
def test_a_folder_has_a_header(folder: str) -> None:
    title, line, *_ = (FOLDER / folder / "GALLERY_HEADER.rst").read_text(encoding="utf-8").splitlines()
    assert title and line in ("=" * len(title), "-" * len(title))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_has_a_title_and_needs_little(script: Path) -> None:
    tree = ast.parse(script.read_text(encoding="utf-8"))
    title, line, _, text, *_ = (ast.get_docstring(tree) or "").splitlines()
    assert line == "=" * len(title)
    assert text
    names = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert {str(name).split(".")[0] for name in names} <= PACKAGES


def draw(folder: Path, *scripts: Path) -> None:
    settings = {**os.environ, "MPLBACKEND": "agg", "MPLCONFIGDIR": str(folder)}
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", DRAWS, *map(str, scripts)],
        capture_output=True, text=True, check=False, cwd=folder, env=settings,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr


def test_some_scripts_draw(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    draw(tmp_path, *(script for script in SCRIPTS if script.stem in ALWAYS))


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_each_script_draws(script: Path, tmp_path: Path) -> None:
    draw(tmp_path, script)
