"""``heldout estimate`` on tables with a line for each row and configuration, as caret and tidymodels save them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import heldout as ho

Command = Callable[..., Any]
N = 60
FEW = ["--n-bootstraps", "50"]


@dataclass(frozen=True)
class Made:
    """What ``ho.estimate`` takes, and the same as a long table."""

    y: Any
    share: Any  # (N, C, R, n_classes)
    folds: Any  # (N, R)
    frame: pd.DataFrame


def made(labels: str, settings: list[dict[str, float]], repeats: int = 1) -> Made:
    rng = np.random.default_rng(4)
    code = rng.integers(0, len(labels), N)
    noise = rng.normal(size=(N, len(settings), repeats, len(labels)))
    power = np.exp(np.eye(len(labels))[code][:, None, None] + noise)
    share = power / power.sum(axis=3, keepdims=True)
    folds = np.stack([rng.permutation(N) % 5 for _ in range(repeats)], axis=1)
    y = np.array(list(labels))[code]
    parts = [
        pd.DataFrame({"number": np.arange(1, N + 1), "y": y, "fold": folds[:, r], "rep": r + 1, **settings[c]})
        .assign(**{label: share[:, c, r, k] for k, label in enumerate(labels)})
        .assign(label=np.array(list(labels))[share[:, c, r].argmax(axis=1)], c=c)
        for r in range(repeats)
        for c in range(len(settings))
    ]
    return Made(y, share, folds, pd.concat(parts, ignore_index=True))


def tidymodels(found: Made) -> pd.DataFrame:
    """As ``collect_predictions(summarize = FALSE)``."""
    frame = found.frame
    classes = {label: frame[label] for label in sorted(set(found.y))}
    return pd.DataFrame(
        {
            "id": [f"Fold{k + 1}" for k in frame["fold"]], ".pred_class": frame["label"],
            **{f".pred_{label}": values for label, values in classes.items()},
            ".row": frame["number"], "penalty": frame["penalty"], "mixture": frame["mixture"],
            "Class": frame["y"],
            ".config": [f"pre0_mod{c + 1}_post0" for c in frame["c"]],
        }
    ).sort_values(["id", ".config", ".row"])  # fmt: skip


def caret(found: Made) -> pd.DataFrame:
    """As ``fit$pred`` of ``savePredictions = "all"`` with repeats."""
    frame = found.frame
    classes = {label: frame[label] for label in sorted(set(found.y))}
    resample = [f"Fold{k + 1}.Rep{r}" for k, r in zip(frame["fold"], frame["rep"], strict=True)]
    return pd.DataFrame(
        {
            "pred": frame["label"], "obs": frame["y"], **classes, "rowIndex": frame["number"],
            "mtry": frame["mtry"], "Resample": resample,
        }
    ).sort_values(["Resample", "mtry", "rowIndex"])  # fmt: skip


GRID = [{"penalty": penalty, "mixture": mixture} for penalty in (0.001, 0.01) for mixture in (0.0, 0.5, 1.0)]
TIDY = ["--target", "Class", "--row", ".row", "--fold", "id"]
CARET = ["--target", "obs", "--row", "rowIndex", "--fold", "Resample", "--configuration", "mtry"]


def document(ended: Any) -> dict[str, Any]:
    assert ended.code == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return {name: value for name, value in found.items() if name != "selected_name"}


def expected(found: Made, predictions: Any, **settings: Any) -> dict[str, Any]:
    estimate = ho.estimate(found.y, predictions, n_bootstraps=50, random_state=0, **settings)
    return {name: value for name, value in estimate.to_dict().items() if name != "selected_name"}


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("order", ["as saved", "shuffled"])
def test_tidymodels(command: Command, tmp_path: Path, suffix: str, order: str) -> None:
    found = made("BM", GRID)
    table = tidymodels(found) if order == "as saved" else tidymodels(found).sample(frac=1, random_state=0)
    path = f"p.{suffix}"
    table.to_csv(path, index=False) if suffix == "csv" else table.to_parquet(path, index=False)
    known = expected(found, found.share[:, :, 0, 1], metric="roc_auc", folds=found.folds[:, 0], aggregate="folds")

    by_name = command("estimate", path, *TIDY, "--configuration", ".config", "--aggregate", "folds", *FEW, "--json")
    by_grid = command(
        "estimate", path, *TIDY, "--configuration", "penalty", "--configuration", "mixture",
        "--prediction", ".pred_M", "--aggregate", "folds", *FEW, "--json",
    )  # fmt: skip

    assert document(by_name) == known and document(by_grid) == known
    assert "60 rows, 6 configurations ('pre0_mod1_post0' to 'pre0_mod6_post0'), binary target" in by_name.err
    assert "Excluded 'penalty', 'mixture': one value in each configuration" in by_name.err
    assert "the labels '.pred_class' are not used; to use them: --prediction .pred_class." in by_name.err
    assert "('penalty=0.001, mixture=0.0' to 'penalty=0.01, mixture=1.0')" in by_grid.err


def test_labels_of_tidymodels(command: Command, tmp_path: Path) -> None:
    found = made("BM", GRID)
    tidymodels(found).to_csv("p.csv", index=False)
    labels = np.array(["B", "M"])[found.share[:, :, 0].argmax(axis=2)]

    asked = ["--configuration", ".config", "--prediction", ".pred_class", "--metric", "accuracy"]
    ended = command("estimate", "p.csv", *TIDY, *asked, *FEW, "--json")

    assert document(ended) == expected(found, labels, metric="accuracy", folds=found.folds[:, 0])


def test_the_other_class_is_no_score_of_the_positive_one(command: Command, tmp_path: Path) -> None:
    found = made("BM", GRID)
    tidymodels(found).to_csv("p.csv", index=False)
    asked = ["estimate", "p.csv", *TIDY, "--configuration", ".config", "--prediction", ".pred_B", *FEW, "--json"]

    refused = command(*asked)
    other = command(*asked, "--positive", "B")

    assert refused.code == 2 and "must be one column for each class of the target ('B', 'M')" in refused.last
    known = expected(found, found.share[:, :, 0, 0], metric="roc_auc", folds=found.folds[:, 0], pos_label="B")
    assert document(other) == known


@pytest.mark.parametrize("order", ["as saved", "shuffled"])
def test_caret_with_repeats_and_three_classes(command: Command, tmp_path: Path, order: str) -> None:
    found = made("pqr", [{"mtry": 2}, {"mtry": 10}, {"mtry": 4}], repeats=2)
    table = caret(found) if order == "as saved" else caret(found).sample(frac=1, random_state=1)
    table.to_csv("p.csv", index=False)
    by_number = found.share[:, [0, 2, 1]]  # mtry 2, 4, 10

    ended = command("estimate", "p.csv", *CARET, "--metric", "log_loss", "--aggregate", "folds", *FEW, "--json")

    known = expected(found, by_number, metric="log_loss", folds=found.folds, aggregate="folds")
    assert document(ended) == known
    assert "2 repeats were found in the names of the folds (column 'Resample': 'Fold1.Rep1', ...)" in ended.err
    assert "60 rows, 3 configurations ('mtry=2' to 'mtry=10'), 2 repeats, multiclass target" in ended.err


def test_numbers_of_caret_with_weights_and_groups(command: Command, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    y, weights, site = rng.normal(size=N), rng.random(N), np.arange(N) // 4
    pred = y[:, None] + rng.normal(size=(N, 3))
    base = pd.DataFrame({"obs": y, "weights": weights, "site": site, "rowIndex": np.arange(N) + 1})
    long = pd.concat([base.assign(pred=pred[:, j], k=k) for j, k in enumerate((1, 5, 9))])
    long.to_parquet("p.parquet", index=False)

    asked = [
        "--target",
        "obs",
        "--row",
        "rowIndex",
        "--configuration",
        "k",
        "--weight",
        "weights",
        "--group",
        "site",
    ]
    ended = command("estimate", "p.parquet", *asked, *FEW, "--json")

    known = ho.estimate(y, pred, metric="r2", groups=site, sample_weight=weights, n_bootstraps=50, random_state=0)
    assert document(ended) == {name: value for name, value in known.to_dict().items() if name != "selected_name"}


def test_one_configuration_of_a_long_table_is_bound(command: Command, tmp_path: Path) -> None:
    found = made("BM", GRID)
    tidymodels(found).to_csv("p.csv", index=False)
    asked = ["--configuration", ".config", "--method", "delong", "--evaluation-share", "1", "--fixed-configuration"]

    ended = command("estimate", "p.csv", *TIDY, *asked, "pre0_mod3_post0", "--json")
    unknown = command("estimate", "p.csv", *TIDY, *asked, "mod3")

    assert ended.code == 0 and json.loads(ended.out)["selected_name"] == "pre0_mod3_post0"
    assert unknown.code == 2 and "--fixed-configuration must name a configuration of the file" in unknown.last


def test_a_column_that_the_user_names_stays_in_the_names(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 20)
    parts = [
        pd.DataFrame({"i": np.arange(20), "y": y, "model": model, "depth": 3, "p": rng.random(20)})
        for model in "ab"
    ]
    found = ho.read_predictions(pd.concat(parts), target="y", row="i", configuration=["model", "depth"])
    assert ho.estimate(found, metric="roc_auc", random_state=0).selected_name in {
        "model=a, depth=3",
        "model=b, depth=3",
    }


def test_only_the_named_columns_of_a_wide_table_are_predictions(command: Command, tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    y, scores = rng.integers(0, 2, N), rng.random((N, 3))
    pd.DataFrame({"y": y, "note": ["x"] * N, **{f"m{j}": scores[:, j] for j in range(3)}}).to_csv(
        "p.csv", index=False
    )

    ended = command(
        "estimate", "p.csv", "--target", "y", "--prediction", "m0", "--prediction", "m2", *FEW, "--json"
    )

    known = ho.estimate(y, scores[:, [0, 2]], metric="roc_auc", n_bootstraps=50, random_state=0)
    assert document(ended) == {name: value for name, value in known.to_dict().items() if name != "selected_name"}
