"""``heldout tune`` and ``heldout compare`` with the space of an article in place of a preset."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import heldout as ho

Command = Callable[..., Any]
Write = Callable[..., Path]
pytestmark = pytest.mark.usefixtures("short_page")
FEW = ["--target", "outcome", "--n-jobs", "1", "--cv", "3", "--n-bootstraps", "20"]


@pytest.fixture
def table(tmp_path: Path) -> Write:
    """Write sixty rows of two columns that tell of a target of two classes, or of another target."""

    def write(outcome: np.ndarray | None = None) -> Path:
        rng = np.random.default_rng(0)
        a = rng.normal(size=60)
        classes = np.where(a + rng.normal(size=60) > 0, "yes", "no")
        frame = pd.DataFrame(
            {"a": a, "text": rng.choice(["u", "v"], 60), "outcome": classes if outcome is None else outcome}
        )
        frame.to_csv(tmp_path / "data.csv", index=False)
        return Path("data.csv")

    return write


@pytest.mark.parametrize(
    ("preset", "models", "n_fits"),
    [
        ("tsamardinos2018(n_trees=3)", "linear svm,elastic net", 2 * 35),
        ("wainer_cawley2021", "nb,sda", 2 * 12),
    ],
)
def test_the_space_of_an_article_is_searched_and_its_model_loads(
    command: Command, table: Write, tmp_path: Path, preset: str, models: str, n_fits: int
) -> None:
    asked = ["tune", table(), *FEW, "--cv", "2", "--preset", preset, "--models", models, "--aggregate", "pooled"]
    ended = command(*asked, "--json")
    assert ended.code == 0, ended
    document = json.loads(ended.out)
    assert document["n_fits"] == n_fits and document["winner"]["name"].split(" (")[0] in models.split(",")
    assert ho.load_model(tmp_path / "heldout-out" / "model.skops") is not None
    again = command(*asked, "--resume")
    assert again.code == 0 and f"{n_fits} of them before" in again.out


def test_algorithms_of_an_article_are_compared(command: Command, table: Write) -> None:
    ended = command("compare", table(), *FEW, "--preset", "wainer_cawley2021", "--models", "nb,sda")
    assert ended.code == 0, ended
    assert (
        "roc_auc of 2 algorithms, each by itself, on the same 3 outer folds\n" in ended.out
        and "Deploy " in ended.out
    )


def test_a_target_that_the_article_has_not_is_refused(command: Command, table: Write) -> None:
    ended = command("tune", table(outcome=np.arange(60) * 1.5), *FEW, "--preset", "wainer_cawley2021")
    assert ended.code == 2
    assert (
        "preset 'wainer_cawley2021' is for binary classification or multiclass classification, and the" in ended.err
    )
