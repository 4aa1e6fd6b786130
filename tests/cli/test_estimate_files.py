"""``heldout estimate --out``: what is left in the folder, and the report drawn from it again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

Run = Callable[..., Any]
N = 100
READ = "estimate p.csv --target truth --fold fold --n-bootstraps 100"
FOUND = Path("found")

pytestmark = pytest.mark.draws_report


@pytest.fixture(autouse=True)
def scores(command: Run) -> None:
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, N)
    frame = pd.DataFrame({"truth": np.where(y, "yes", "no"), "fold": np.arange(N) % 5})
    for name in ("one", "two", "three"):
        frame[name] = 1 / (1 + np.exp(-(y + rng.normal(size=N))))
    frame.to_csv("p.csv", index=False)


def read(name: str) -> Any:
    return json.loads((FOUND / name).read_text())


def test_a_comparison_and_its_report_and_an_estimate_in_their_place(document: Run, run: Run) -> None:
    found = document(f"{READ} --method all")
    assert [path.name for path in Path().iterdir()] == ["p.csv"]  # nothing is written unless told
    ended = run(f"{READ} --method all --out found")
    page, content = (FOUND / "report.html").read_bytes(), read("report.json")
    assert read("comparison.json") == found
    assert read("estimate.json") == found["estimates"]["shrinkage"]
    assert [row["name"] for row in content["methods"]] == list(found["estimates"])
    assert [row["name"] for row in content["methods"] if row["is_main"]] == ["shrinkage"]
    assert len(content["refused"]) == len(found["refused"])
    assert b"Other estimates" in page and b"Tibshirani, R. J." in page and b"DeLong, E. R." in page
    for name in ("estimate.json", "comparison.json", "report.html"):
        assert str(FOUND / name) in ended.out
    (FOUND / "report.html").unlink()
    run("report found")
    assert (FOUND / "report.html").read_bytes() == page

    single = document(f"{READ} --out found")
    left = {path.name for path in FOUND.iterdir()}
    assert left == {"estimate.json", "report.json", "report.html", "methods.md", "card.md"}
    assert read("estimate.json") == single
    text = (FOUND / "report.html").read_text(encoding="utf-8")
    assert "Other estimates" not in text and "Methods that do not apply" not in text
    for heading in ("The bootstrap", "Configurations", "ROC curve", "Calibration", "How the number was computed"):
        assert heading in text
    assert f"heldout {READ} --out found --json" in text


@pytest.mark.parametrize("kind", ["classes", "regression"])
def test_reports_of_other_targets(run: Run, kind: str) -> None:
    rng = np.random.default_rng(7)
    codes = np.arange(N) % 3
    if kind == "classes":
        share = rng.dirichlet(np.ones(3), size=(N, 2)) * 0.5 + 0.5 * np.eye(3)[codes][:, None]
        columns = {f"m{j}[{label}]": share[:, j, code] for j in range(2) for code, label in enumerate("abc")}
        frame = pd.DataFrame({"truth": np.array(list("abc"))[codes], **columns})
    else:
        y = rng.normal(size=N)
        frame = pd.DataFrame({"truth": y, "one": y + rng.normal(size=N), "two": y + rng.normal(size=N)})
    frame.to_csv("q.csv", index=False)
    more = " --metric log_loss" if kind == "classes" else ""
    run(f"estimate q.csv --target truth --n-bootstraps 50 --out found{more}")
    page = (FOUND / "report.html").read_text(encoding="utf-8")
    assert ("Residuals" if kind == "regression" else "ROC curve") in page
