"""The gallery: each script has a title, stands in a folder with a header, and draws. The site build runs all."""

import ast
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "gallery"
SCRIPTS = sorted(FOLDER.glob("*/plot_*.py"))
ALWAYS = ["plot_pure_noise", "plot_ordered_rows", "plot_two_models"]
"""Quick ones of different kinds; the others run with ``-m slow``, and whenever the site is built."""
PACKAGES = {"heldout", "matplotlib", "numpy", "optuna", "scipy", "sklearn"}
"""What the extra ``docs`` installs."""


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


@pytest.mark.parametrize(
    "script",
    [pytest.param(one, marks=[] if one.stem in ALWAYS else pytest.mark.slow, id=one.stem) for one in SCRIPTS],
)
def test_a_script_draws(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mpl = pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    with mpl.rc_context():
        pyplot = pytest.importorskip("matplotlib.pyplot")
        pyplot.switch_backend("agg")
        pyplot.close("all")
        runpy.run_path(str(script))
        assert pyplot.get_fignums()
        pyplot.gcf().canvas.draw()
        pyplot.close("all")
