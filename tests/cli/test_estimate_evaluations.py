"""``heldout estimate`` on a folder of evaluations and on a table of scores without a target."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import heldout as ho

Run = Callable[..., Any]
RNG = np.random.default_rng(11)
SYSTEMS = ("alpha", "beta", "gamma", "delta")
RIGHT = (RNG.random((40, 4)) < [0.5, 0.6, 0.6, 0.7]).astype(float)


@pytest.fixture
def folder(command: Run) -> None:
    for task, rows in (("arc", RIGHT), ("law", RIGHT[:10])):
        for system, scores in zip(SYSTEMS, rows.T, strict=True):
            path = Path() / "evals" / system / f"samples_{task}_2026-01-02T03-04-05.6.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = [
                {"doc_id": i, "doc": {"topic": i % 12}, "filter": "none", "metrics": ["acc"], "acc": score}
                for i, score in enumerate(scores)
            ]
            path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.mark.usefixtures("folder")
def test_a_folder_of_evaluations_needs_no_option(document: Run) -> None:
    within = document("estimate evals")
    found = ho.estimate(ho.read_predictions(Path("evals")), random_state=0)
    assert (within["value"], within["selected_name"]) == (found.value, found.selected_name)
    board = within["leaderboard"]
    assert board["rows"][0]["value"] == found.value and {row["name"] for row in board["rows"]} == {*SYSTEMS}
    assert within["provenance"]["stratified"]
    whole = document("estimate evals --tasks whole")
    assert whole["uncorrected"] == pytest.approx(within["uncorrected"])
    assert "few_groups" in {each["flag"] for each in whole["flags"]}
    adaptive = document("estimate evals --adaptive")["flags"]
    (message,) = [each["message"] for each in adaptive if each["flag"] == "adaptive_search"]
    assert "ho.split_items" in message
    assert document("estimate evals --method all")["leaderboard"] == board


@pytest.mark.usefixtures("folder")
def test_the_leaderboard_is_printed_with_differences_from_the_baseline(command: Run, run: Run) -> None:
    ended = run("estimate evals --baseline alpha --group topic")
    assert "Differences are from alpha, row by row" in ended.out
    assert "cannot be told from the best (tier 1)" in ended.out
    assert "rows would tell the two" in ended.out
    refused = command("estimate", "evals", "--baseline", "omega")
    assert refused.code == 2 and "--baseline" in refused.err and "omega" in refused.err


@pytest.mark.draws_report
@pytest.mark.usefixtures("folder")
def test_the_report_has_the_leaderboard_and_is_drawn_again(run: Run) -> None:
    run("estimate evals --out out")
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert '<h2 id="leaderboard">' in page and 'id="leaderboard-title"' in page
    for absent in ("Residuals", "hold-out", "share training rows", "Positive class"):
        assert absent not in page
    text = Path("out/methods.md").read_text(encoding="utf-8")
    assert text.startswith("The analysis was based on the scores of 4 systems on 50 items. ")
    assert "leaderboard" in json.loads(Path("out/estimate.json").read_text(encoding="utf-8"))
    run("report out")
    assert Path("out/report.html").read_text(encoding="utf-8") == page


def test_a_table_of_scores_needs_no_target(command: Run, document: Run) -> None:
    pd.DataFrame(RIGHT.astype(int), columns=SYSTEMS).to_csv("scores.csv", index=False)
    found = document("estimate scores.csv --metric mean_score")
    assert found["uncorrected"] == pytest.approx(RIGHT.mean(axis=0).max())
    assert command("estimate", "scores.csv").code == 2


def test_a_baseline_gives_other_metrics_a_leaderboard(document: Run) -> None:
    y = RNG.integers(0, 2, 60)
    columns = {"y": y, "one": RNG.random(60) + 0.3 * y, "two": RNG.random(60)}
    pd.DataFrame(columns).to_csv("predictions.csv", index=False)
    asked = "estimate predictions.csv --target y --metric roc_auc --positive 1"
    assert "leaderboard" not in document(asked)
    assert document(f"{asked} --baseline two")["leaderboard"]["reference"] == "two"
