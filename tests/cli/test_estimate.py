"""``heldout estimate``: the command says what ``ho.estimate`` says."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import heldout as ho

Run = Callable[..., Any]
N = 80
NAMES = ["one", "two", "three"]
READ = "estimate p.csv --target truth --fold fold"
CARET = Path(__file__).parents[1] / "readers" / "exports" / "caret-cv.csv"


@pytest.fixture
def scores(command: Run) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, N)
    frame = pd.DataFrame({"truth": y, "fold": np.arange(N) // 8 % 4, "site": np.arange(N) // 8, "w": rng.random(N)})
    for name in NAMES:
        frame[name] = 1 / (1 + np.exp(-(y + rng.normal(size=N))))
    frame.to_csv("p.csv", index=False)
    return frame


def test_the_command_says_what_the_function_says(document: Run, scores: pd.DataFrame) -> None:
    found = document(f"{READ} --exclude site --exclude w")
    expected = ho.estimate(scores["truth"], scores[NAMES], metric="roc_auc", folds=scores["fold"], random_state=0)
    assert found == expected.to_dict()


def test_groups_weights_and_settings_reach_the_function(
    document: Run, scores: pd.DataFrame, as_estimate_prints: Callable[[Any], Any]
) -> None:
    options = (
        "--group site --weight w --metric brier_score --aggregate folds --n-bootstraps 200 --seed 4 --n-jobs 2"
    )
    found = document(f"{READ} {options} --confidence-level 0.9 --alternative greater --positive 0")
    expected = ho.estimate(
        scores["truth"], scores[NAMES], metric="brier_score", folds=scores["fold"],
        groups=scores["site"].to_numpy(), sample_weight=scores["w"].to_numpy(), aggregate="folds",
        n_bootstraps=200, confidence_level=0.9, alternative="greater", pos_label=0, random_state=4,
    )  # fmt: skip
    assert found == as_estimate_prints(expected.to_dict())


def test_scores_of_a_case_are_of_the_case(refused: Run, document: Run, run: Run) -> None:
    """Columns of P(case) beside the labels case and control, of which control is the last in order."""
    rng = np.random.default_rng(5)
    y = np.where(rng.random(200) < 0.5, "case", "control")
    scores = {f"model {j}": (y == "case") * 0.9 + rng.normal(size=200) for j in range(6)}
    pd.DataFrame({"y": y, **scores}).to_csv("case.csv", index=False)
    plain = "--target y --metric roc_auc --n-bootstraps 50"
    assert "positive class 'case'" in run(f"estimate case.csv {plain}").out

    # Labels that are no words for no: the last is positive, and these scores are not of it.
    pd.DataFrame({"y": np.where(y == "case", "a", "b"), **scores}).to_csv("ab.csv", index=False)
    stopped = refused(f"estimate ab.csv {plain}")
    assert "--positive" in stopped and "above those of class 'b'" in stopped
    same, usual = document(f"estimate ab.csv {plain} --positive a"), document(f"estimate case.csv {plain}")
    assert same["value"] == usual["value"] > 0.6
    assert "upside_down" in run(f"estimate ab.csv {plain} --positive b --json").out


def test_labels_of_several_classes_that_are_numbers(run: Run) -> None:
    y = np.arange(60) % 3
    some = np.where(np.arange(60) < 50, y, np.nan)
    pd.DataFrame({"truth": y, "one": some, "two": 0}).to_csv("p.csv", index=False)
    run("estimate p.csv --target truth")


def test_all_that_describes_the_estimate_applies_to_an_export(document: Run) -> None:
    shutil.copy(CARET, "caret.csv")
    table = ho.read_predictions(CARET)
    found = document("estimate caret.csv --n-bootstraps 50")
    same = ho.estimate(table, metric="roc_auc", n_bootstraps=50, random_state=0)
    assert (found["value"], found["selected_name"]) == (same.value, same.selected_name)
    found = document("estimate caret.csv --metric average_precision --positive no --target obs --method tt")
    same = ho.estimate(table, metric="average_precision", pos_label="no", method="tt")
    assert (found["value"], found["uncorrected"]) == (same.value, same.uncorrected)
    cut = document("estimate caret.csv --metric accuracy --threshold 0.3 --n-bootstraps 50")
    frame = pd.read_csv(CARET)
    right = ((frame["yes"] > 0.3) == (frame["obs"] == "yes")).groupby(frame["k"]).mean()
    assert cut["uncorrected"] == pytest.approx(right.max(), abs=1e-12)


@pytest.fixture
def series(command: Run) -> pd.DataFrame:
    """Two predictions of a series whose errors depend on the ones before."""
    rng = np.random.default_rng(0)
    errors = rng.normal(size=(N, 2))
    for t in range(1, N):
        errors[t] += 0.7 * errors[t - 1]
    y = rng.normal(size=N)
    frame = pd.DataFrame({"y": y, "m1": y + errors[:, 0], "m2": y + errors[:, 1]})
    frame.to_csv("p.csv", index=False)
    return frame


@pytest.mark.parametrize("length", ["auto", "stationary:6"])
def test_blocks_of_ordered_rows_are_those_of_the_library(
    document: Run, run: Run, series: pd.DataFrame, length: str
) -> None:
    asked = f"estimate p.csv --target y --metric mean_absolute_error --n-bootstraps 100 --block-length {length}"
    known = ho.estimate(
        series["y"], series[["m1", "m2"]], metric="mean_absolute_error", n_bootstraps=100, random_state=0,
        block_length=length,
    )  # fmt: skip
    found = document(asked)
    assert found["interval"] == known.to_dict()["interval"]
    assert found["provenance"]["block_length"] == known.provenance["block_length"] > 1
    assert "row_blocks" in [each["flag"] for each in found["flags"]]
    assert "bootstraps draw" in run(asked).out


@pytest.mark.usefixtures("tiny_space", "series")
def test_the_file_of_a_search_remembers_its_blocks(document: Run, run: Run) -> None:
    blocks = "--block-length stationary:5 --out out"
    tuned = document(f"tune p.csv --target y --n-jobs 1 --n-bootstraps 60 {blocks}")
    again = document("estimate out/predictions.parquet")
    assert again["provenance"]["block_kind"] == "stationary"
    assert again["provenance"]["block_length"] == tuned["provenance"]["block_length"] == 5
    assert again["interval"] == tuned["interval"]
    run("estimate out/predictions.parquet --method cv")
