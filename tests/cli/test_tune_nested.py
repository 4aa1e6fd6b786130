"""``heldout tune --method nested``, in this process with a space of two trees."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Command = Callable[..., Any]
Write = Callable[..., Path]

NESTED = ["--target", "outcome", "--n-jobs", "1", "--cv", "4", "--method", "nested", "--seed", "3"]

pytestmark = pytest.mark.usefixtures("bare_space")


def tune(command: Command, path: Path, *options: object, out: str = "out") -> Any:
    ended = command("tune", path, *NESTED, "--out", out, *options)
    assert ended.code == 0, ended
    return ended


@pytest.mark.draws_report
def test_it_leaves_the_files_of_a_search_and_resuming_gives_the_same(
    command: Command, table: Write, tmp_path: Path
) -> None:
    path = table(drop=["text"])
    ended = tune(command, path)

    assert "the search is repeated for each of 4 outer folds, 37 fits in all." in ended.out  # 16 · 2 + 4 + 1
    assert "by nested_cv" in ended.out and "\nouter folds\nrepeat " in ended.out
    assert "37 done" in ended.out
    document = json.loads((tmp_path / "out" / "estimate.json").read_text())
    assert document["method"] == "nested_cv" and document["n_fits"] == 37
    assert len(document["outer_folds"]) == 4 and document["provenance"]["interval"] == "nadeau_bengio"
    assert document["value"] == pytest.approx(np.mean([fold["score"] for fold in document["outer_folds"]]))
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Nested cross-validation" in page or "nested cross-validation" in page
    assert (tmp_path / "out" / "model.skops").exists()

    estimated = command("estimate", tmp_path / "out" / "predictions.parquet", "--json", "--n-bootstraps", "50")
    assert estimated.code == 0, estimated
    # The predictions are of the search on all rows; the estimate pools them, the search scores by fold.
    assert json.loads(estimated.out)["uncorrected"] == pytest.approx(document["uncorrected"], abs=0.1)

    again = json.loads(tune(command, path, "--json", "--resume").out)
    assert again["n_fits_resumed"] == 36
    assert {name: again[name] for name in document} == document


@pytest.mark.parametrize(
    "options, said, fits",
    [
        (["--inner", "2", "--repeats", "2"], "nadeau_bengio", 2 * 8 * 2 + 8 + 2 * 2 + 1),
        (["--across", "all", "--interval", "none"], None, 37),
        (
            ["--metric", "accuracy", "--interval", "bates_hastie_tibshirani"],
            "bates_hastie_tibshirani",
            37 + 6 * (2 * 2 + 1),
        ),
        (["--cv", "holdout:0.3", "--inner", "holdout:0.2", "--metric", "accuracy"], "test_part", 2 + 1 + 1),
    ],
    ids=["number", "across", "bates", "share"],
)
def test_options_reach_the_protocol(
    command: Command, table: Write, tmp_path: Path, options: list[str], said: str | None, fits: int
) -> None:
    ended = tune(command, table(drop=["text"]), *options)
    document = json.loads((tmp_path / "out" / "estimate.json").read_text())
    assert ("inner means" in ended.out) == ("--across" in options)
    assert document["n_fits"] == fits and document["provenance"]["interval"] == said
    assert (document["interval"] is None) == (said is None)


@pytest.mark.draws_report
def test_a_hold_out_inside_a_hold_out_is_one_search_whose_winner_is_tested_once(
    command: Command, table: Write, tmp_path: Path
) -> None:
    path = table(drop=["text"])
    options = ["--cv", "holdout", "--inner", "holdout", "--metric", "accuracy"]
    ended = tune(command, path, *options)
    assert "Hold-out: the winner of a search on the other rows is tested once, 4 fits in all." in ended.out
    document = json.loads((tmp_path / "out" / "estimate.json").read_text())
    (fold,) = document["outer_folds"]
    assert (fold["n_training_rows"], fold["n_test_rows"]) == (45, 15) and fold["tested"] == document["selected"]
    assert document["provenance"]["interval_of_test_part"] == "clopper_pearson"
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "There is one split. The winner of the search on the other rows was fitted" in page
    assert "exact binomial one (Clopper and Pearson)" in page and "the search on all rows" not in page
    again = json.loads(tune(command, path, *options, "--json", "--resume").out)
    assert again["n_fits_resumed"] == 3 and again["value"] == document["value"]
