"""``heldout estimate`` on tables of repeats, classes and times to an event."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import heldout as ho

Command = Callable[..., Any]
N = 90
FEW = ["--n-bootstraps", "100"]


def document(ended: Any) -> dict[str, Any]:
    assert ended.code == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


@pytest.fixture
def classes(tmp_path: Path) -> tuple[Any, Any]:
    """Labels and probabilities (N, 3 configurations, 1 repeat, 3 classes), also as a file."""
    rng = np.random.default_rng(8)
    y = rng.integers(0, 3, N)
    power = np.exp(np.eye(3)[y][:, None, :] * [[0.5], [1.0], [1.5]] + rng.normal(size=(N, 3, 3)))
    share = power / power.sum(axis=2, keepdims=True)
    frame = pd.DataFrame({"truth": np.array(["x", "y", "z"])[y]})
    for j, name in enumerate(("low", "middle", "high")):
        for code in (2, 0, 1):
            frame[f"{name}[{'xyz'[code]}]"] = share[:, j, code]
    frame.to_csv(tmp_path / "p.csv", index=False)
    return frame["truth"].to_numpy().astype(str), share[:, :, None, :]


@pytest.mark.parametrize("metric", ["log_loss", "accuracy", "roc_auc_ovr"])
def test_a_column_for_each_class(command: Command, classes: tuple[Any, Any], metric: str) -> None:
    y, share = classes
    ended = command("estimate", "p.csv", "--target", "truth", "--metric", metric, *FEW, "--json")
    expected = ho.estimate(y, share, metric=metric, n_bootstraps=100, random_state=0).to_dict()

    assert document(ended) == expected | {"selected_name": "high"}
    assert "3 configurations ('low' to 'high'), multiclass target" in ended.err


def test_two_columns_of_two_classes(command: Command, tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    y, share = rng.integers(0, 2, N), rng.random((N, 2))
    both = {f"{name}[{label}]": share[:, j] if label else 1 - share[:, j]
            for j, name in enumerate("ab") for label in (0, 1)}  # fmt: skip
    pd.DataFrame({"truth": y, **both}).to_csv(tmp_path / "both.csv", index=False)
    pd.DataFrame({"truth": y, "a": share[:, 0], "b": share[:, 1]}).to_csv(tmp_path / "one.csv", index=False)

    two = command("estimate", "both.csv", "--target", "truth", *FEW, "--json")
    one = command("estimate", "one.csv", "--target", "truth", *FEW, "--json")
    other = command("estimate", "both.csv", "--target", "truth", "--positive", "0", *FEW, "--json")

    assert document(two) == document(one)
    assert "Metric: roc_auc" in two.err
    assert document(other)["uncorrected"] == pytest.approx(document(two)["uncorrected"])  # both rank alike


@pytest.fixture
def repeats(tmp_path: Path) -> dict[str, Any]:
    """What ``ho.estimate`` takes, also as a long file in which every repeat has its own order."""
    rng = np.random.default_rng(10)
    y = rng.normal(size=N)
    predictions = y[:, None, None] + rng.normal(size=(N, 3, 2)) * np.array([1.0, 1.5, 2.0])[:, None]
    folds, weights = np.stack([rng.permutation(N) % 9, rng.permutation(N) % 9], axis=1), rng.random(N)
    parts = []
    for repeat in range(2):
        part = pd.DataFrame({"patient": np.arange(N), "rep": repeat, "f": folds[:, repeat], "y": y, "w": weights})
        for j in range(3):
            part[f"m{j}"] = predictions[:, j, repeat]
        parts.append(part.sample(frac=1, random_state=1) if repeat else part)
    pd.concat(parts).to_parquet(tmp_path / "p.parquet", index=False)
    return {"y_true": y, "predictions": predictions, "folds": folds, "sample_weight": weights}


def test_repeats_of_the_same_rows(
    command: Command, repeats: dict[str, Any], as_estimate_prints: Callable[[Any], Any]
) -> None:
    named = ["--target", "y", "--fold", "f", "--repeat", "rep", "--row", "patient", "--weight", "w"]
    ended = command("estimate", "p.parquet", *named, "--aggregate", "folds", *FEW, "--json")
    expected = ho.estimate(**repeats, metric="r2", aggregate="folds", n_bootstraps=100, random_state=0).to_dict()

    for flag in expected["flags"]:  # the library is given no names here
        flag["message"] = flag["message"].replace(" of configuration 0 is", " of m0 is")
    assert document(ended) == as_estimate_prints(expected) | {"selected_name": "m0"}
    assert expected["selected"] == 0
    assert "90 rows, 3 configurations ('m0' to 'm2'), 2 repeats, regression target" in ended.err


def test_rows_matched_by_order_are_noted(command: Command, tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    y = np.tile(rng.normal(size=N), 2)
    pd.DataFrame({"y": y, "rep": np.repeat([1, 2], N), "m": y + rng.normal(size=2 * N)}).to_csv(
        tmp_path / "p.csv", index=False
    )
    ended = command("estimate", "p.csv", "--target", "y", "--repeat", "rep", *FEW)

    assert ended.code == 0
    assert "Note: The rows of the 2 repeats were matched by their order in the file; --row COL" in ended.err


@pytest.fixture
def survival(tmp_path: Path) -> pd.DataFrame:
    rng = np.random.default_rng(12)
    months = rng.exponential(12, N)
    frame = pd.DataFrame({"months": months, "died": (rng.random(N) < 0.7).astype(int)})
    for j in range(3):
        frame[f"cox {j}"] = -np.log(months) + rng.normal(size=N) * (1 + j)
    frame.to_csv(tmp_path / "p.csv", index=False)
    return frame


def test_times_to_an_event(command: Command, survival: pd.DataFrame) -> None:
    ended = command("estimate", "p.csv", "--target", "months", "--event", "died", *FEW, "--json")
    y = np.empty(N, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = survival["died"] == 1, survival["months"]
    expected = ho.estimate(
        y, survival[["cox 0", "cox 1", "cox 2"]], metric="concordance_index", n_bootstraps=100, random_state=0
    )

    assert document(ended) == expected.to_dict()
    assert "Metric: concordance_index." in ended.err and "survival target" in ended.err


def test_counts_with_predictions_that_have_decimals_are_a_regression(command: Command, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    counts = np.minimum(rng.poisson(2.5, N), 5)
    frame = pd.DataFrame({"y": counts, "a": counts + rng.normal(size=N), "b": 2.5 + rng.normal(size=N)})
    frame.to_csv(tmp_path / "wide.csv", index=False)
    frame.assign(row=range(N)).melt(["row", "y"], var_name="m").to_csv(tmp_path / "long.csv", index=False)
    frame.assign(a=counts, b=rng.permutation(counts)).to_csv(tmp_path / "labels.csv", index=False)
    of_lines = ["--configuration", "m", "--row", "row", "--prediction", "value"]
    for file, more, metric in (
        ("wide.csv", [], "r2"),
        ("long.csv", of_lines, "r2"),
        ("labels.csv", [], "accuracy"),
    ):
        ended = command("estimate", tmp_path / file, "--target", "y", *more, "--json", *FEW)
        assert document(ended)["metric"] == metric
