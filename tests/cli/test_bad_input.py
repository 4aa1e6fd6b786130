"""Bad input: exit code 2, one clear sentence on stderr, no traceback, nothing fitted."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

Command = Callable[..., Any]
Write = Callable[..., Path]

N = 60


def refused(ended: Any, said: str) -> None:
    assert ended.code == 2, ended
    assert "Traceback" not in ended.err
    assert ended.last.startswith("Error: "), ended.err
    assert said in ended.last, ended.last
    assert ended.last.endswith(".") or ended.last.endswith("?"), ended.last


@pytest.fixture(autouse=True)
def nothing_is_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    def fit(*_: Any, **__: Any) -> None:
        raise AssertionError("a search was started")

    monkeypatch.setattr("heldout.cli.tune._evaluate", fit)


def test_missing_file(command: Command) -> None:
    refused(command("tune", "nofile.csv", "--target", "y"), "there is no file nofile.csv")
    refused(command("estimate", "nofile.csv", "--target", "y"), "there is no file nofile.csv")


def test_unreadable_csv(command: Command, tmp_path: Path) -> None:
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n3,4,5\n")
    (tmp_path / "binary.csv").write_bytes(b"\x89PNG\0")

    refused(command("tune", "ragged.csv", "--target", "b"), "line 3 has 3 fields where 2 were expected")
    refused(command("tune", "binary.csv", "--target", "b"), "neither text nor Parquet")


def test_unknown_target_names_the_nearest_columns(command: Command, table: Write) -> None:
    refused(command("tune", table(), "--target", "Outcom"), "the nearest name is 'outcome'")


def test_a_target_with_one_class(command: Command, table: Write) -> None:
    refused(command("tune", table(outcome="no"), "--target", "outcome"), "has one value in all 60 rows, 'no'")


def test_a_target_with_missing_values(command: Command, table: Write) -> None:
    outcome = [None, *["no", "yes"] * 29, "no"]

    refused(command("tune", table(outcome=outcome), "--target", "outcome"), "1 missing value in 60 rows")


def test_a_class_with_fewer_rows_than_folds(command: Command, table: Write) -> None:
    outcome = ["rare"] * 3 + ["no"] * 30 + ["yes"] * 27

    refused(
        command("tune", table(outcome=outcome), "--target", "outcome"),
        "class 'rare' has 3 rows, fewer than the 5 folds; use at most --cv 3",
    )


def test_duplicate_column_names(command: Command, tmp_path: Path) -> None:
    (tmp_path / "twice.csv").write_text("a,b,a\n1,2,3\n4,5,6\n")

    refused(command("tune", "twice.csv", "--target", "b"), "more than one column called 'a'")


def test_no_usable_column_left(command: Command, table: Write) -> None:
    path = table(drop=["a", "text", "site"])

    refused(command("tune", path, "--target", "outcome"), "no usable column left")
    assert "'constant' (constant)" in command("tune", path, "--target", "outcome").last


def test_groups_that_leave_a_fold_empty(command: Command, table: Write) -> None:
    path = table(site=np.repeat(np.arange(3), 20))

    refused(
        command("tune", path, "--target", "outcome", "--groups", "site"), "5 folds need at least 5 groups, got 3"
    )


def test_zero_configurations(command: Command, table: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heldout.spaces.preset", lambda *_: [])

    refused(command("tune", table(), "--target", "outcome"), "no model of the preset can be scored by roc_auc")


@pytest.mark.parametrize("cv", [1, 0, -3])
def test_fewer_than_two_folds(command: Command, table: Write, cv: int) -> None:
    refused(
        command("tune", table(), "--target", "outcome", "--cv", cv),
        f"--cv must be an integer of at least 2, got {cv}",
    )


def test_a_metric_that_does_not_fit_the_task(command: Command, table: Write) -> None:
    path = table()

    refused(command("tune", path, "--target", "outcome", "--metric", "r2"), "does not fit a binary target")
    refused(command("tune", path, "--target", "a_number", "--metric", "r2"), "no column 'a_number'")
    refused(command("tune", path, "--target", "outcome", "--metric", "rocauc"), "the nearest are roc_auc")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--preset", "huge"], "--preset must be one of quick, standard, boosted"),
        (["--method", "magic"], "--method must be one of"),
        (["--task", "ranking"], "--task must be one of"),
        (["--drop", "losers"], "--drop must be one of never, bootstrap, hoeffding_race"),
        (["--drop", "bootstrap(level=0.9)"], "--drop 'bootstrap' has no parameter 'level'; it has against"),
        (["--engine", "there"], "--engine must be local, threads, or the address of a Dask scheduler"),
        (["--fit-timeout", "0"], "--fit-timeout must be a number of seconds above 0"),
        (["--fit-timeout", "9", "--engine", "threads"], "--fit-timeout needs worker processes"),
        (["--n-jobs", "0"], "--n-jobs must be a number of processes"),
        (["--seed", "-1"], "--seed must be from 0"),
        (["--repeats", "0"], "--repeats must be an integer of at least 1"),
        (["--confidence-level", "95"], "between 0 and 1, got 95"),
        (["--n-bootstraps", "0"], "--n-bootstraps must be"),
        (["--positive", "maybe"], "--positive must be one of the classes 'no', 'yes', got 'maybe'"),
        (["--groups", "sites"], "the nearest name is 'site'"),
    ],
)
def test_options_out_of_range(command: Command, table: Write, options: list[str], said: str) -> None:
    refused(command("tune", table(), "--target", "outcome", *options), said)


def test_click_finds_the_same_end(command: Command) -> None:
    assert command("tune", "data.csv").code == 2
    assert command("tune", "data.csv", "--target", "y", "--cv", "five").code == 2
    ended = command("tnue", "data.csv")
    assert ended.code == 2 and "Did you mean tune?" in ended.last


def test_an_output_folder_that_is_a_file(command: Command, table: Write) -> None:
    path = table()

    refused(command("tune", path, "--target", "outcome", "--out", path), "cannot be written to (it is a file)")
    refused(command("tune", path, "--target", "outcome", "--out", path / "sub"), "cannot be written to")


def test_a_read_only_output_folder(command: Command, table: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", deny)  # whoever runs the tests may be allowed everything

    refused(command("tune", table(), "--target", "outcome"), "cannot be written to (permission denied)")


def test_a_full_disk_before_the_work(command: Command, table: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1000))

    refused(command("tune", table(), "--target", "outcome"), "0 MB free, but this run needs about")


def test_a_run_that_is_there_already(command: Command, table: Write, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run.db").write_bytes(b"")

    refused(
        command("tune", table(), "--target", "outcome", "--out", "out"),
        "already holds a run; continue it with --resume",
    )


def predictions(tmp_path: Path, **columns: Any) -> str:
    rng = np.random.default_rng(1)
    base = {
        "truth": rng.choice(["no", "yes"], N),
        "fold": np.arange(N) % 5,
        "m1": rng.random(N),
        "m2": rng.random(N),
    }
    pd.DataFrame({**base, **columns}).to_csv(tmp_path / "p.csv", index=False)
    return "p.csv"


def test_predictions_of_the_wrong_shape(command: Command, tmp_path: Path) -> None:
    path = predictions(tmp_path)

    refused(
        command("estimate", path, "--target", "truth", "--fold", "fold", "--exclude", "m1", "--exclude", "m2"),
        "no column of predictions besides 'truth', 'fold'",
    )
    refused(command("estimate", path, "--target", "truth"), "column 'fold' would be read as a configuration")
    refused(command("estimate", path), "--target is needed")
    refused(command("estimate", path, "--target", "Truth"), "the nearest name is 'truth'")


def test_predictions_that_are_all_missing(command: Command, tmp_path: Path) -> None:
    path = predictions(tmp_path, m2=np.nan)

    refused(command("estimate", path, "--target", "truth", "--fold", "fold"), "'m2' of p.csv has no predictions")


def test_scores_that_are_no_numbers(command: Command, tmp_path: Path) -> None:
    path = predictions(tmp_path, m2=["high", *np.linspace(0, 1, N - 1).astype(str)])

    refused(
        command("estimate", path, "--target", "truth", "--fold", "fold", "--metric", "roc_auc"),
        "column 'm2' must hold numbers, got 'high' in row 1",
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--method", "magic"], "--method must be one of"),
        (["--metric", "r2"], "a regression target must be numbers"),
        (["--metric", "rocauc"], "the nearest are roc_auc"),
        (["--aggregate", "mean"], "aggregate must be one of"),
        (["--alternative", "both"], "alternative"),
        (["--response", "guess"], "response must be one of"),
        (["--positive", "maybe"], "--positive must be one of the classes 'no', 'yes', got 'maybe'"),
    ],
)
def test_options_of_estimate_out_of_range(command: Command, tmp_path: Path, options: list[str], said: str) -> None:
    refused(command("estimate", predictions(tmp_path), "--target", "truth", "--fold", "fold", *options), said)


def test_fold_by_fold_methods_ask_for_the_folds(command: Command, tmp_path: Path) -> None:
    path = predictions(tmp_path)

    refused(
        command("estimate", path, "--target", "truth", "--exclude", "fold", "--method", "tt"),
        "--method tt compares scores fold by fold; name the column of folds with --fold",
    )


def test_a_folder_without_a_finished_run_has_no_report(command: Command, tmp_path: Path) -> None:
    refused(command("report", "nowhere"), "there is no folder nowhere")
    refused(command("report", "."), "holds no report.json: give the folder")
    (tmp_path / "run.db").write_bytes(b"")
    refused(command("report", "."), "holds no run yet; try again once its search has begun")
    (tmp_path / "report.json").write_text('{"title": "old"}')
    refused(command("report", "."), "damaged or of another version")


def test_tune_refuses_rules_and_methods_that_it_has_no_use_for_before_reading(command: Command) -> None:
    asked = ["tune", "nofile.csv", "--target", "outcome"]
    refused(command(*asked, "--selection", "top_k(k=3)"), "use it with heldout estimate DIR/predictions.parquet")
    refused(command(*asked, "--selection", "bets"), "--selection must be one of best, one_standard_error")
    refused(
        command(*asked, "--method", "hoeffding"), "--method hoeffding is for one development set, and here are 5"
    )


def test_where_nothing_can_be_written_is_said_before_the_work(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def estimated(*_: Any, **__: Any) -> None:
        raise AssertionError("the work was done")

    monkeypatch.setattr("heldout.estimates.methods.answer", estimated)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"truth": np.arange(40) % 2, "a": rng.random(40), "b": rng.random(40)})
    frame.to_csv(tmp_path / "p.csv", index=False)
    (tmp_path / "taken").write_text("a file")

    refused(
        command("estimate", "p.csv", "--target", "truth", "--out", "taken"), "cannot be written to (it is a file)"
    )
    refused(command("estimate", "p.csv", "--target", "truth", "--seed", "-1"), "--seed must be from 0 to 2**64 - 1")


def test_methods_of_repeated_subsampling_ask_for_no_folds(command: Command, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"truth": np.arange(40) % 2, "a": rng.random(40), "b": rng.random(40)})
    frame.to_csv(tmp_path / "p.csv", index=False)

    ended = command("estimate", "p.csv", "--target", "truth", "--method", "wmc")
    refused(ended, "it reads the errors of repeated subsampling")
    assert "--fold" not in ended.last and ", wmc" not in ended.last


@pytest.mark.parametrize("out", ["", " "], ids=["nothing", "a blank"])
def test_an_output_folder_without_a_name_is_not_the_present_one(command: Command, table: Write, out: str) -> None:
    said = f"is empty, got {out!r}; name a folder, or . for the one you are in."
    path = predictions(Path(), y=1)
    for asked in (["tune", table()], ["validate", table()], ["estimate", path]):
        refused(command(*asked, "--target", "outcome", "--out", out), f"--out {said}")
    refused(command("status", out), f"DIR {said}")
    refused(command("report", out), f"DIR {said}")
    refused(command("report", ".", "--to", out), f"--to {said}")


def test_a_report_is_not_written_in_the_place_of_a_folder(command: Command) -> None:
    refused(command("report", "nowhere", "--to", "."), "--to . is a folder; name a file, such as report.html")
