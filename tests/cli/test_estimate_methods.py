"""``heldout estimate``: any method and rule of selection with its settings, or all methods side by side."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import heldout as ho

Run = Callable[..., Any]
N = 120
NAMES = ["one", "two", "three", "four"]
READ = "estimate p.csv --target truth --fold fold --n-bootstraps 100"


@pytest.fixture
def scores(command: Run) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, N)
    frame = pd.DataFrame({"truth": y, "fold": np.arange(N) % 6})
    for name in NAMES:
        frame[name] = 1 / (1 + np.exp(-(y + rng.normal(size=N))))
    frame.to_csv("p.csv", index=False)
    return frame


def settings(scores: pd.DataFrame, **more: Any) -> dict[str, Any]:
    return {"metric": "roc_auc", "folds": scores["fold"], "n_bootstraps": 100, "random_state": 0, **more}


def compared(scores: pd.DataFrame, **more: Any) -> Any:
    return ho.compare_estimates(scores["truth"], scores[NAMES], **settings(scores, **more))


def estimate(scores: pd.DataFrame, **more: Any) -> Any:
    return ho.estimate(scores["truth"], scores[NAMES], **settings(scores, **more))


def test_all_methods_are_what_the_function_returns(
    document: Run, scores: pd.DataFrame, as_estimate_prints: Callable[[Any], Any]
) -> None:
    assert document(f"{READ} --method all") == as_estimate_prints(compared(scores).to_dict())


@pytest.mark.parametrize(
    ("options", "method"),
    [
        (
            "--method delong --candidates 0.5 --evaluation-share 0.4",
            ho.estimates.DeLong(candidates=0.5, evaluation_share=0.4),
        ),
        (
            "--method delong --fixed-configuration three --evaluation-share 1",
            ho.estimates.DeLong(configuration="three", evaluation_share=1.0),
        ),
        ("--stratify", ho.estimates.Shrinkage(stratify=True)),
        ("--method bbc --interval calibrated", ho.estimates.BBC(interval="calibrated")),
        ("--method bbc --control on", ho.estimates.BBC(control=True)),
        ("--method \"naive_bootstrap(unit='folds')\"", ho.estimates.NaiveBootstrap(unit="folds")),
        ("--method delong(within_classes=False)", ho.estimates.DeLong(within_classes=False)),
    ],
    ids=range(7),
)
def test_settings_of_a_method_reach_it(document: Run, scores: pd.DataFrame, options: str, method: Any) -> None:
    assert document(f"{READ} {options}") == compared(scores, methods=[method])[method.name].to_dict()


def test_settings_reach_every_method_that_has_them(document: Run, scores: pd.DataFrame) -> None:
    found = document(f"{READ} --method all --evaluation-share 0.4")["estimates"]
    expected = compared(scores, methods=[ho.estimates.DeLong(evaluation_share=0.4), "bbc"])
    assert {name: found[name] for name in expected} == {name: each.to_dict() for name, each in expected.items()}


def test_a_threshold_cuts_scores_into_labels(document: Run, scores: pd.DataFrame) -> None:
    found = document(f"{READ} --metric accuracy --threshold 0.3")
    assert found == estimate(scores, metric="accuracy", threshold=0.3).to_dict()
    assert document(f"{READ} --metric accuracy")["value"] != found["value"]


@pytest.mark.parametrize(
    ("written", "rule", "metric", "more"),
    [
        ("threshold", "threshold", "f1", {}),
        ("greedy_ensemble", "greedy_ensemble", "accuracy", {"threshold": 0.6}),
        ("one_standard_error", "one_standard_error", "roc_auc", {}),
        ("top_k(k=2)", ho.selection.TopK(2), "roc_auc", {}),
        ("within(tolerance=0.05)", ho.selection.Within(0.05), "roc_auc", {}),
        (
            "\"average_rank(metrics=['roc_auc', 'log_loss'])\"",
            ho.selection.AverageRank(["roc_auc", "log_loss"]),
            "roc_auc",
            {},
        ),
    ],
    ids=["threshold", "ensemble", "one_standard_error", "top_k", "within", "average_rank"],
)
def test_the_command_chooses_as_the_function(
    document: Run, scores: pd.DataFrame, written: str, rule: Any, metric: str, more: dict[str, Any]
) -> None:
    options = "".join(f" --{name} {value}" for name, value in more.items())
    found = document(f"{READ} --metric {metric} --selection {written}{options}")
    expected = estimate(scores, metric=metric, selection=rule, **more)
    for name in ("value", "selected_name", "uncorrected"):
        assert found[name] == getattr(expected, name)


def test_the_report_shows_each_configuration_at_its_best_threshold(run: Run, scores: pd.DataFrame) -> None:
    run(f"{READ} --metric f1 --selection threshold --out out")
    report = json.loads(Path("out/report.json").read_text())
    own = {"metric": "f1", "selection": "threshold", "method": "cv"}
    best = [ho.estimate(scores["truth"], scores[[name]], **own).value for name in NAMES]
    shown = {row["name"]: row["pooled"] for row in report["ranking"]["shown"]}
    assert [shown[name] for name in NAMES] == pytest.approx(best)
    assert report["headline"]["sentence"].startswith("Tuning the decision threshold of 4 configurations")


@pytest.mark.parametrize(("rule", "metric"), [("threshold", "f1"), ("top_k(k=2)", "accuracy")])
@pytest.mark.parametrize("words", [False, True], ids=["0 and 1", "text"])
def test_labels_are_neither_cut_nor_averaged(
    refused: Run, run: Run, scores: pd.DataFrame, rule: str, metric: str, words: bool
) -> None:
    labels = (scores[NAMES] > 0.5).astype(int)
    labels.insert(0, "truth", scores["truth"])
    labels = labels.replace({0: "no", 1: "yes"}) if words else labels
    labels.assign(fold=scores["fold"]).to_csv("p.csv", index=False)
    asked = f"{READ} --selection {rule} --metric {metric}"
    ended = refused(asked)
    assert "but the predictions are labels" in ended
    if not words:
        run(f"{asked} --response probabilities")
