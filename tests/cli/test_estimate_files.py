"""``heldout estimate --out``: what is left in the folder, and the report drawn from it again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

Command = Callable[..., Any]
N = 100
READ = ["estimate", "p.csv", "--target", "truth", "--fold", "fold", "--n-bootstraps", "100"]

pytestmark = pytest.mark.draws_report


@pytest.fixture(autouse=True)
def scores(tmp_path: Path) -> pd.DataFrame:
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, N)
    frame = pd.DataFrame({"truth": np.where(y, "yes", "no"), "fold": np.arange(N) % 5})
    for name in ("one", "two", "three"):
        frame[name] = 1 / (1 + np.exp(-(y + rng.normal(size=N))))
    frame.to_csv(tmp_path / "p.csv", index=False)
    return frame


def test_nothing_is_written_unless_told(command: Command, tmp_path: Path) -> None:
    assert command(*READ, "--method", "all").code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]


def test_a_single_estimate_and_its_report(command: Command, tmp_path: Path) -> None:
    ended = command(*READ, "--out", "found", "--json")
    left = {path.name for path in (tmp_path / "found").iterdir()}
    page = (tmp_path / "found" / "report.html").read_text(encoding="utf-8")

    assert left == {"estimate.json", "report.json", "report.html", "methods.md", "card.md"}
    assert json.loads((tmp_path / "found" / "estimate.json").read_text()) == json.loads(ended.out)
    assert "Other estimates" not in page and "Methods that do not apply" not in page
    for heading in ("The bootstrap", "Configurations", "ROC curve", "Calibration", "How the number was computed"):
        assert heading in page
    assert "heldout estimate p.csv --target truth --fold fold --n-bootstraps 100 --out found --json" in page


def test_a_comparison_and_its_report(command: Command, tmp_path: Path) -> None:
    ended = command(*READ, "--method", "all", "--out", "found")
    document = json.loads(command(*READ, "--method", "all", "--json").out)
    folder = tmp_path / "found"
    page = (folder / "report.html").read_text(encoding="utf-8")
    content = json.loads((folder / "report.json").read_text())

    assert json.loads((folder / "comparison.json").read_text()) == document
    assert json.loads((folder / "estimate.json").read_text()) == document["estimates"]["shrinkage"]
    assert [row["name"] for row in content["methods"]] == list(document["estimates"])
    assert [row["name"] for row in content["methods"] if row["is_main"]] == ["shrinkage"]
    assert len(content["refused"]) == len(document["refused"])
    assert "Other estimates" in page and "Tibshirani, R. J." in page and "DeLong, E. R." in page
    for name in ("estimate.json", "comparison.json", "report.html"):
        assert str(Path("found") / name) in ended.out


def test_the_report_is_drawn_again_from_its_folder(command: Command, tmp_path: Path) -> None:
    command(*READ, "--method", "all", "--out", "found")
    page = tmp_path / "found" / "report.html"
    before = page.read_bytes()
    page.unlink()

    assert command("report", "found").code == 0
    assert page.read_bytes() == before


def test_a_later_estimate_takes_the_place_of_an_earlier_one(command: Command, tmp_path: Path) -> None:
    command(*READ, "--method", "all", "--out", "found")
    command(*READ, "--method", "cv", "--out", "found")

    assert {path.name for path in (tmp_path / "found").iterdir()} == {
        "estimate.json",
        "report.json",
        "report.html",
        "methods.md",
        "card.md",
    }
    assert json.loads((tmp_path / "found" / "estimate.json").read_text())["method"] == "cv"
    assert "uncorrected" in (tmp_path / "found" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["classes", "regression"])
def test_reports_of_other_targets(command: Command, tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(7)
    codes = np.arange(N) % 3
    if kind == "classes":
        share = rng.dirichlet(np.ones(3), size=(N, 2)) * 0.5 + 0.5 * np.eye(3)[codes][:, None]
        columns = {f"m{j}[{label}]": share[:, j, code] for j in range(2) for code, label in enumerate("abc")}
        frame = pd.DataFrame({"truth": np.array(list("abc"))[codes], **columns})
    else:
        y = rng.normal(size=N)
        frame = pd.DataFrame({"truth": y, "one": y + rng.normal(size=N), "two": y + rng.normal(size=N)})
    frame.to_csv(tmp_path / "q.csv", index=False)
    more = ["--metric", "log_loss"] if kind == "classes" else []
    ended = command("estimate", "q.csv", "--target", "truth", "--n-bootstraps", "50", "--out", "found", *more)

    assert ended.code == 0, ended.err
    page = (tmp_path / "found" / "report.html").read_text(encoding="utf-8")
    assert ("Residuals" if kind == "regression" else "ROC curve") in page
