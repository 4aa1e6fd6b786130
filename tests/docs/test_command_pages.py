"""Pages on commands: their command lines do what the pages say, in a folder of their own."""

import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

Command = Callable[..., Any]
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXPORTS = ROOT / "tests" / "readers" / "exports"
TOOLS = {
    "h2o": "h2o/models", "mljar": "mljar/two_classes", "autogluon": "autogluon/cells", "openml": "openml/runs",
    "orange.tab": "orange/iris.tab", "cells.csv": "cells.csv", "fit.rds": "r/fit.rds",
    "tuned.rds": "r/tidymodels.rda",
}  # fmt: skip
"""The exports by their names on the page."""


pytestmark = pytest.mark.usefixtures("short_page")


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Modules leave nothing behind."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield
    for module in ("models", "ridge"):
        sys.modules.pop(module, None)


def text_of(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def python_of(text: str) -> list[str]:
    return re.findall(r"```python[^\n]*\n(.*?)```", text, flags=re.DOTALL)


def run(code: str) -> None:
    exec(compile(code, "page", "exec"), {})


def ended(command: Command, line: str, *small: str) -> Any:
    """What a command line of a page does; of options that are named twice the last counts."""
    result = command(*shlex.split(line), *small)
    assert result.code == 0, (line, result.err)
    return result


def lines_of(text: str) -> list[str]:
    return re.findall(r"^\$ heldout (.*)$", text, flags=re.MULTILINE)


def folders(folder: Path, file: str) -> set[str]:
    return {path.name for path in folder.iterdir() if (path / file).exists()}


def test_the_first_page(command: Command, tmp_path: Path) -> None:
    page = text_of("start.md")
    run(python_of(page)[0])  # writes the file
    (line,) = lines_of(page)
    tune = ended(command, line, "--models", "neighbours", "--cv", "2", "--n-bootstraps", "5", "--n-jobs", "1")

    assert "4 columns to predict from" in tune.out
    assert "Excluded 'patient' (whole numbers that count the rows" in tune.err
    written = {path.name for path in (tmp_path / "demo").iterdir()}
    assert {"report.html", "model.skops", "predictions.parquet", "methods.md"} <= written


def test_tune(command: Command, tmp_path: Path) -> None:
    page = text_of("how-to/tune-command.md")
    (models,) = re.findall(r"```python\n# models.py\n(.*?)```", page, flags=re.DOTALL)
    (tmp_path / "models.py").write_text(models.replace("RandomForestClassifier(200", "RandomForestClassifier(5"))
    load_breast_cancer(as_frame=True).frame.iloc[::5, [0, 1, 2, 30]].to_csv(tmp_path / "few.csv", index=False)
    rows = np.arange(60)
    columns = {"a": np.random.default_rng(0).normal(size=60), "y": rows % 2, "w": 1 + rows % 3}
    pd.DataFrame(columns).to_csv(tmp_path / "weighted.csv", index=False)
    (printed,) = re.findall(r"```text no-run\n(example.*?)```", page, flags=re.DOTALL)

    planned = printed.replace("x 5 folds = 200 fits", "x 2 folds = 4 fits").replace("Plan: 40", "Plan: 2")
    said = (
        planned,
        "",
        "Plan: 6 configurations (DecisionTreeClassifier) x 5 folds x 3 repeats = 90 fits",
        "the search is repeated for each of 6 outer folds, 91 fits in all.",  # 6 · 2 · 6 + 6 + 2 · 6 + 1
        "inner means",
        "the winner of a search on the other rows is tested once, 8 fits in all.",  # 6 + 1 + 1
        "Bootstrap of the search: it is repeated on each of 5 samples, 114 fits in all.",  # (6 · 3 + 1) (5 + 1)
        "saved model",
        "",
    )
    for line, expected in zip(lines_of(page), said, strict=True):
        small = ["--n-bootstraps", "5"]
        if "models.py" in line:
            line = line.replace("example:breast_cancer", "few.csv")
        if line.startswith("tune"):
            small += ["--n-jobs", "1", *([] if "--cv" in line else ["--cv", "2"])]
            small += ["--n-iter", "2"] if "random" in line else []
            small += ["--models", "logistic"] if "--models" in line else []
        out = ended(command, line, *small).out
        assert expected in out, (line, out)
    written = {"drawn", "own", "repeated", "nested", "across", "parts", "samples", "weighted"}
    assert folders(tmp_path, "estimate.json") == written


def test_validate(command: Command, tmp_path: Path) -> None:
    page = text_of("how-to/validate-command.md")
    _, study, models = python_of(page)
    run(study)
    (tmp_path / "ridge.py").write_text(models)
    lines = lines_of(page)
    for line in lines:
        ended(command, line, "--n-bootstraps", "3", "--n-jobs", "1")
    assert len(lines) == 4
    assert folders(tmp_path, "report.html") == {"texture", "filled", "imputed", "both"}


def test_estimate_from_a_file(command: Command, tmp_path: Path) -> None:
    page = text_of("how-to/file.md")
    run(python_of(page)[0].replace("in range(1, 9)", "in range(3, 5)"))  # writes the files, here of fewer trees
    lines = lines_of(page)
    for line in lines:
        ended(command, line)
    assert len(lines) == 8
    assert {path.name for path in (tmp_path / "found").iterdir()} >= {"estimate.json", "comparison.json"}


def test_estimate_from_exports_of_tools(command: Command, tmp_path: Path) -> None:
    for name, export in TOOLS.items():
        origin = EXPORTS / export
        shutil.copytree(origin, tmp_path / name) if origin.is_dir() else shutil.copy(origin, tmp_path / name)
    (tmp_path / "weka").mkdir()
    for k in (1, 5, 15):
        shutil.copy(EXPORTS / "weka" / f"ibk{k}.csv", tmp_path / "weka")
    lines = re.findall(r"^\$ heldout (.*)\n(?=(.*))", text_of("how-to/other-tools.md"), flags=re.MULTILINE)

    for line, printed in lines:
        first = ended(command, line, "--n-bootstraps", "10").out.splitlines()[0]
        assert " is read as " in first
        assert first == printed or printed.startswith(("$", "```")), first
    assert len(lines) == 9
