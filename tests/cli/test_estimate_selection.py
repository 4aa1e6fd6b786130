"""``heldout estimate --selection``: the command chooses as ``ho.estimate`` does."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import heldout as ho
from heldout.cli.group import heldout

N = 90
NAMES = ["one", "two", "three"]


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, N)
    frame = pd.DataFrame({"truth": y, "fold": np.arange(N) % 3})
    for name in NAMES:
        frame[name] = 1 / (1 + np.exp(-(y + rng.normal(size=N))))
    frame.to_csv(tmp_path / "p.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return pd.read_csv("p.csv")


def command(*options: str) -> str:
    shown = ["estimate", "p.csv", "--target", "truth", "--fold", "fold", "--n-bootstraps", "50", *options]
    ended = CliRunner().invoke(heldout, shown)
    assert ended.exit_code == 0, ended.output
    return ended.stdout


@pytest.mark.parametrize(
    "metric, selection, more",
    [
        ("f1", "threshold", {}),
        ("roc_auc", "greedy_ensemble", {}),
        ("accuracy", "greedy_ensemble", {"threshold": 0.6}),
        ("roc_auc", "one_standard_error", {}),
    ],
    ids=["threshold", "ensemble", "ensemble_cut", "one_standard_error"],
)
def test_the_command_chooses_as_the_function(table: pd.DataFrame, metric: str, selection: str, more: dict) -> None:
    options = [option for name, value in more.items() for option in (f"--{name}", str(value))]
    said = json.loads(command("--metric", metric, "--selection", selection, "--json", *options))
    expected = ho.estimate(
        table["truth"],
        table[NAMES],
        metric=metric,
        selection=selection,
        folds=table["fold"],
        n_bootstraps=50,
        random_state=0,
        **more,
    )
    assert said["value"] == expected.value and said["selected_name"] == expected.selected_name
    assert said["uncorrected"] == expected.uncorrected


def test_the_report_shows_each_configuration_at_its_best_threshold(table: pd.DataFrame) -> None:
    command("--metric", "f1", "--selection", "threshold", "--out", "out")
    report = json.loads(Path("out/report.json").read_text())
    best = [
        ho.estimate(
            table["truth"], table[[name]], metric="f1", selection="threshold", method="cv", n_bootstraps=50
        ).value
        for name in NAMES
    ]
    shown = {row["name"]: row["pooled"] for row in report["ranking"]["shown"]}
    assert [shown[name] for name in NAMES] == pytest.approx(best)
    assert report["headline"]["sentence"].startswith("Tuning the decision threshold of 3 configurations")


@pytest.mark.parametrize(
    "written, rule",
    [
        ("top_k(k=2)", ho.selection.TopK(2)),
        ("within(tolerance=0.05)", ho.selection.Within(0.05)),
        ("average_rank(metrics=['roc_auc', 'log_loss'])", ho.selection.AverageRank(["roc_auc", "log_loss"])),
    ],
    ids=["top_k", "within", "average_rank"],
)
def test_a_name_may_say_its_parameters(table: pd.DataFrame, written: str, rule: object) -> None:
    said = json.loads(command("--metric", "roc_auc", "--selection", written, "--json"))
    expected = ho.estimate(
        table["truth"], table[NAMES], metric="roc_auc", selection=rule, folds=table["fold"], n_bootstraps=50,
        random_state=0,
    )  # fmt: skip
    assert said == expected.to_dict()


def refused(*options: str) -> str:
    shown = ["estimate", "p.csv", "--target", "truth", "--fold", "fold", *options]
    ended = CliRunner().invoke(heldout, shown)
    assert ended.exit_code == 2 and "Traceback" not in ended.output
    return ended.output.strip().splitlines()[-1]


@pytest.mark.parametrize("rule, metric", [("threshold", "f1"), ("top_k(k=2)", "accuracy")])
@pytest.mark.parametrize("words", [False, True], ids=["0 and 1", "text"])
def test_labels_are_neither_cut_nor_averaged(table: pd.DataFrame, rule: str, metric: str, words: bool) -> None:
    labels = (table[NAMES] > 0.5).astype(int)
    labels.insert(0, "truth", table["truth"])
    labels = labels.replace({0: "no", 1: "yes"}) if words else labels
    labels.assign(fold=table["fold"]).to_csv("p.csv", index=False)

    assert "but the predictions are labels" in refused("--selection", rule, "--metric", metric)
    if not words:
        command("--selection", rule, "--metric", metric, "--response", "probabilities")
