"""``heldout estimate``: the command says what ``ho.estimate`` says."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import heldout as ho

Command = Callable[..., Any]
N = 80


@pytest.fixture
def scores(tmp_path: Path) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, N)
    frame = pd.DataFrame({"truth": y, "fold": np.arange(N) // 8 % 4, "site": np.arange(N) // 8, "w": rng.random(N)})
    for name in ("one", "two", "three"):
        frame[name] = 1 / (1 + np.exp(-(y + rng.normal(size=N))))
    frame.to_csv(tmp_path / "p.csv", index=False)
    return frame


NOT_PREDICTIONS = ["--exclude", "site", "--exclude", "w"]


def test_the_command_says_what_the_function_says(command: Command, scores: pd.DataFrame) -> None:
    ended = command("estimate", "p.csv", "--target", "truth", "--fold", "fold", *NOT_PREDICTIONS, "--json")
    expected = ho.estimate(
        scores["truth"], scores[["one", "two", "three"]], metric="roc_auc", folds=scores["fold"], random_state=0
    )

    assert ended.code == 0
    assert json.loads(ended.out) == expected.to_dict()


def test_groups_weights_and_settings_reach_the_function(
    command: Command, scores: pd.DataFrame, as_estimate_prints: Callable[[Any], Any]
) -> None:
    options = [
        "--group",
        "site",
        "--weight",
        "w",
        "--fold",
        "fold",
        "--metric",
        "brier_score",
        "--aggregate",
        "folds",
    ]
    more = ["--n-bootstraps", "200", "--confidence-level", "0.9", "--alternative", "greater", "--seed", "4"]
    more += ["--n-jobs", "2"]
    ended = command("estimate", "p.csv", "--target", "truth", *options, *more, "--positive", "0", "--json")
    expected = ho.estimate(
        scores["truth"],
        scores[["one", "two", "three"]],
        metric="brier_score",
        folds=scores["fold"],
        groups=scores["site"].to_numpy(),
        sample_weight=scores["w"].to_numpy(),
        aggregate="folds",
        n_bootstraps=200,
        confidence_level=0.9,
        alternative="greater",
        pos_label=0,
        random_state=4,
    )

    assert ended.code == 0
    assert json.loads(ended.out) == as_estimate_prints(expected.to_dict())


def test_the_table_for_people(command: Command, scores: pd.DataFrame) -> None:
    ended = command("estimate", "p.csv", "--target", "truth", "--fold", "fold", *NOT_PREDICTIONS)

    assert "Metric: roc_auc. To choose another: --metric NAME." in ended.out
    assert "p.csv: 80 rows, 3 configurations ('one' to 'three'), binary target" in ended.out
    assert "(positive class 1; --positive LABEL says otherwise)." in ended.out
    for label in ("winner", "corrected", "interval", "uncorrected", "optimism"):
        assert f"\n{label}" in ended.out


def test_labels_of_text(command: Command, tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    labels = rng.choice(["a", "b", "c"], (N, 3))
    pd.DataFrame(labels, columns=["truth", "one", "two"]).to_csv(tmp_path / "labels.csv", index=False)

    ended = command("estimate", "labels.csv", "--target", "truth", "--json")

    document = json.loads(ended.out)
    assert document["metric"] == "accuracy"
    assert document["uncorrected"] == max((labels[:, 0] == labels[:, j]).mean() for j in (1, 2))


def test_numbers_with_decimals_are_a_regression(command: Command, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    y = rng.normal(size=N)
    pd.DataFrame({"y": y, "one": y + rng.normal(size=N), "two": 0.0}).to_csv(tmp_path / "r.csv", index=False)

    document = json.loads(command("estimate", "r.csv", "--target", "y", "--json").out)

    assert (document["metric"] == "r2" and document["selected_name"] == "one") or document["value"] < 0


def test_scores_that_point_to_the_other_class_are_said_to(command: Command, scores: pd.DataFrame) -> None:
    options = ["estimate", "p.csv", "--target", "truth", "--fold", "fold", *NOT_PREDICTIONS]

    wrong = command(*options, "--positive", "0")
    right = command(*options)

    assert "positive class 0" in wrong.out and "positive class 1" in right.out
    said = "rank rows of class 1 above those of class 0"
    assert said in wrong.err + wrong.out and said not in right.err + right.out


def test_scores_of_a_case_are_of_the_case(command: Command, tmp_path: Path) -> None:
    """Columns of P(case) beside the labels case and control, of which control is the last in order."""
    rng = np.random.default_rng(5)
    y = np.where(rng.random(200) < 0.5, "case", "control")
    scores = {f"model {j}": (y == "case") * 0.9 + rng.normal(size=200) for j in range(6)}
    pd.DataFrame({"y": y, **scores}).to_csv(tmp_path / "case.csv", index=False)
    plain = ["--target", "y", "--metric", "roc_auc", "--n-bootstraps", "50"]
    usual = command("estimate", "case.csv", *plain)
    assert usual.code == 0 and "positive class 'case'" in usual.out

    # Labels that are no words for no: the last is positive, and these scores are not of it.
    pd.DataFrame({"y": np.where(y == "case", "a", "b"), **scores}).to_csv(tmp_path / "ab.csv", index=False)
    stopped = command("estimate", "ab.csv", *plain)
    assert stopped.code == 2 and "--positive" in stopped.err and "above those of class 'b'" in stopped.err
    same = command("estimate", "ab.csv", *plain, "--positive", "a", "--json")
    json_usual = command("estimate", "case.csv", *plain, "--json")
    assert json.loads(same.out)["value"] == json.loads(json_usual.out)["value"] > 0.6
    insisted = command("estimate", "ab.csv", *plain, "--positive", "b", "--json")
    assert "upside_down" in insisted.out


def test_a_class_may_be_written_as_in_the_file(command: Command, scores: pd.DataFrame, tmp_path: Path) -> None:
    scores.assign(truth=scores["truth"] + 1.0).to_csv(tmp_path / "floats.csv", index=False)
    options = ["--target", "truth", "--fold", "fold", *NOT_PREDICTIONS]

    assert "positive class 1.0" in command("estimate", "floats.csv", *options, "--positive", "1").out
    refused = command("estimate", "floats.csv", *options, "--positive", "3")
    assert refused.code == 2 and "must be one of the classes 1.0, 2.0, got '3'" in refused.err


def test_an_adaptive_search_is_said_and_flagged(command: Command, scores: pd.DataFrame) -> None:
    options = ["p.csv", "--target", "truth", "--fold", "fold", *NOT_PREDICTIONS, "--n-bootstraps", "60"]

    assert "The search was adaptive" not in command("estimate", *options).out
    assert "The search was adaptive" in command("estimate", *options, "--adaptive").out
    document = json.loads(command("estimate", *options, "--adaptive", "--json").out)
    assert [flag for flag in document["flags"] if flag["flag"] == "adaptive_search"]


@pytest.mark.usefixtures("tiny_space")
def test_our_own_file_may_be_told_what_it_knows(command: Command, table: Callable[..., Path]) -> None:
    assert command("tune", table(), "--target", "outcome", "--n-jobs", "1", "--n-bootstraps", "50").code == 0
    path = "heldout-out/predictions.parquet"

    told = command("estimate", path, "--target", "outcome", "--fold", "fold", "--exclude", "row", "--json")
    untold = command("estimate", path, "--json")

    assert told.code == 0 and told.out == untold.out
    refused = command("estimate", path, "--target", "outcome", "--positive", "no")
    assert refused.code == 2 and "point to class 'yes'" in refused.err


def test_labels_of_several_classes_that_are_numbers(command: Command, tmp_path: Path) -> None:
    y = np.arange(60) % 3
    pd.DataFrame({"truth": y, "one": np.where(np.arange(60) < 50, y, np.nan), "two": 0}).to_csv(
        tmp_path / "p.csv", index=False
    )

    assert command("estimate", "p.csv", "--target", "truth").code == 0
