"""``heldout estimate`` on a folder of evaluations and on a table of scores without a target."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import heldout as ho

Command = Callable[..., Any]
RNG = np.random.default_rng(11)
SYSTEMS = ("alpha", "beta", "gamma", "delta")
RIGHT = (RNG.random((40, 4)) < [0.5, 0.6, 0.6, 0.7]).astype(float)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for task, rows in (("arc", RIGHT), ("law", RIGHT[:10])):
        for system, scores in zip(SYSTEMS, rows.T, strict=True):
            path = tmp_path / "evals" / system / f"samples_{task}_2026-01-02T03-04-05.6.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = [
                {"doc_id": i, "doc": {"topic": i % 12}, "filter": "none", "metrics": ["acc"], "acc": score}
                for i, score in enumerate(scores)
            ]
            path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return tmp_path / "evals"


def test_a_folder_of_evaluations_needs_no_option(command: Command, folder: Path) -> None:
    done = command("estimate", str(folder), "--json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    found = ho.estimate(ho.read_predictions(folder), random_state=0)
    assert (document["value"], document["selected_name"]) == (found.value, found.selected_name)
    board = document["leaderboard"]
    assert board["rows"][0]["value"] == found.value
    assert {row["name"] for row in board["rows"]} == {*SYSTEMS}


def test_the_leaderboard_is_printed_with_differences_from_the_baseline(command: Command, folder: Path) -> None:
    done = command("estimate", str(folder), "--baseline", "alpha", "--group", "topic")
    assert done.code == 0, done.err
    assert "Differences are from alpha, row by row" in done.out
    assert "cannot be told from the best (tier 1)" in done.out
    assert "rows would tell the two" in done.out


def test_tasks_are_drawn_whole_where_that_is_asked(command: Command, folder: Path) -> None:
    whole = json.loads(command("estimate", str(folder), "--json", "--tasks", "whole").out)
    within = json.loads(command("estimate", str(folder), "--json").out)
    assert whole["uncorrected"] == pytest.approx(within["uncorrected"])
    assert "few_groups" in {each["flag"] for each in whole["flags"]}
    assert within["provenance"]["stratified"]


@pytest.mark.draws_report
def test_the_report_has_the_leaderboard_and_is_drawn_again(command: Command, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert command("estimate", str(folder), "--out", str(out)).code == 0
    page = (out / "report.html").read_text(encoding="utf-8")
    assert '<h2 id="leaderboard">' in page
    assert "Residuals" not in page and "hold-out" not in page and "share training rows" not in page
    text = (out / "methods.md").read_text(encoding="utf-8")
    assert text.startswith("The analysis was based on the scores of 4 systems on 50 items. ")
    assert 'id="leaderboard-title"' in page
    assert "Positive class" not in page
    assert "leaderboard" in json.loads((out / "estimate.json").read_text(encoding="utf-8"))
    assert command("report", str(out)).code == 0
    assert (out / "report.html").read_text(encoding="utf-8") == page


def test_proposals_that_saw_the_scores_are_flagged_with_what_to_do(command: Command, folder: Path) -> None:
    document = json.loads(command("estimate", str(folder), "--json", "--adaptive").out)
    (message,) = [each["message"] for each in document["flags"] if each["flag"] == "adaptive_search"]
    assert "ho.split_items" in message


def test_a_table_of_scores_needs_no_target(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    text = "\n".join(",".join(map(str, row)) for row in RIGHT.astype(int).tolist())
    path.write_text(",".join(SYSTEMS) + "\n" + text + "\n", encoding="utf-8")
    document = json.loads(command("estimate", str(path), "--metric", "mean_score", "--json").out)
    assert document["uncorrected"] == pytest.approx(RIGHT.mean(axis=0).max())
    assert command("estimate", str(path)).code == 2


def test_an_unknown_baseline_is_refused(command: Command, folder: Path) -> None:
    done = command("estimate", str(folder), "--baseline", "omega")
    assert done.code == 2
    assert "--baseline" in done.err
    assert "omega" in done.err


def test_a_baseline_gives_other_metrics_a_leaderboard(command: Command, tmp_path: Path) -> None:
    y = RNG.integers(0, 2, 60)
    columns = {"y": y, "one": RNG.random(60) + 0.3 * y, "two": RNG.random(60)}
    path = tmp_path / "predictions.csv"
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    path.write_text(",".join(columns) + "\n" + "\n".join(",".join(map(str, row)) for row in rows), encoding="utf-8")
    asked = str(path), "--target", "y", "--metric", "roc_auc", "--positive", "1", "--json"
    assert "leaderboard" not in json.loads(command("estimate", *asked).out)
    document = json.loads(command("estimate", *asked, "--baseline", "two").out)
    assert document["leaderboard"]["reference"] == "two"


def test_all_methods_have_the_corrected_leaderboard_of_the_default(command: Command, folder: Path) -> None:
    one = json.loads(command("estimate", str(folder), "--json").out)["leaderboard"]
    of_all = json.loads(command("estimate", str(folder), "--method", "all", "--json").out)["leaderboard"]
    assert of_all == one
