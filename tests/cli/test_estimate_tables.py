"""``heldout estimate`` on tables of repeats, classes, times to an event, and a line a row and configuration."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

import heldout as ho

Run = Callable[..., Any]
N = 90
FEW = "--n-bootstraps 100"


@pytest.mark.parametrize("metric", ["log_loss", "accuracy"])
def test_a_column_for_each_class(document: Run, metric: str) -> None:
    rng = np.random.default_rng(8)
    y = rng.integers(0, 3, N)
    power = np.exp(np.eye(3)[y][:, None, :] * [[0.5], [1.0], [1.5]] + rng.normal(size=(N, 3, 3)))
    share = power / power.sum(axis=2, keepdims=True)
    frame = pd.DataFrame({"truth": np.array(["x", "y", "z"])[y]})
    for j, name in enumerate(("low", "middle", "high")):
        for code in (2, 0, 1):
            frame[f"{name}[{'xyz'[code]}]"] = share[:, j, code]
    frame.to_csv("p.csv", index=False)
    expected = ho.estimate(frame["truth"], share[:, :, None, :], metric=metric, n_bootstraps=100, random_state=0)
    found = document(f"estimate p.csv --target truth --metric {metric} {FEW}")
    assert found == expected.to_dict() | {"selected_name": "high"}


def test_two_columns_of_two_classes(document: Run) -> None:
    rng = np.random.default_rng(9)
    y, share = rng.integers(0, 2, N), rng.random((N, 2))
    both = {f"{name}[{label}]": share[:, j] if label else 1 - share[:, j]
            for j, name in enumerate("ab") for label in (0, 1)}  # fmt: skip
    pd.DataFrame({"truth": y, **both}).to_csv("both.csv", index=False)
    pd.DataFrame({"truth": y, "a": share[:, 0], "b": share[:, 1]}).to_csv("one.csv", index=False)
    two, one = (document(f"estimate {name}.csv --target truth {FEW}") for name in ("both", "one"))
    other = document(f"estimate both.csv --target truth --positive 0 {FEW}")
    assert two == one and two["metric"] == "roc_auc"
    assert other["uncorrected"] == pytest.approx(two["uncorrected"])  # both rank alike


def test_repeats_of_the_same_rows(document: Run, as_estimate_prints: Callable[[Any], Any]) -> None:
    """In a long file in which every repeat has its own order."""
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
    pd.concat(parts).to_parquet("p.parquet", index=False)
    named = "--target y --fold f --repeat rep --row patient --weight w --aggregate folds"
    expected = ho.estimate(
        y, predictions, folds=folds, sample_weight=weights, metric="r2", aggregate="folds", n_bootstraps=100,
        random_state=0,
    ).to_dict()  # fmt: skip
    for flag in expected["flags"]:  # the library is given no names here
        flag["message"] = flag["message"].replace(" of configuration 0 is", " of m0 is")
    found = document(f"estimate p.parquet {named} {FEW}")
    assert found == as_estimate_prints(expected) | {"selected_name": "m0"}


def test_times_to_an_event(document: Run) -> None:
    rng = np.random.default_rng(12)
    months, died = rng.exponential(12, N), rng.random(N) < 0.7
    frame = pd.DataFrame({f"cox {j}": -np.log(months) + rng.normal(size=N) * (1 + j) for j in range(3)})
    frame.assign(months=months, died=died.astype(int)).to_csv("p.csv", index=False)
    y = np.array([*zip(died, months, strict=True)], dtype=[("event", bool), ("time", float)])
    expected = ho.estimate(y, frame, metric="concordance_index", n_bootstraps=100, random_state=0)
    assert document(f"estimate p.csv --target months --event died {FEW}") == expected.to_dict()


def test_counts_with_predictions_that_have_decimals_are_a_regression(document: Run) -> None:
    rng = np.random.default_rng(0)
    counts = np.minimum(rng.poisson(2.5, N), 5)
    frame = pd.DataFrame({"y": counts, "a": counts + rng.normal(size=N), "b": 2.5 + rng.normal(size=N)})
    frame.to_csv("wide.csv", index=False)
    frame.assign(row=range(N)).melt(["row", "y"], var_name="m").to_csv("long.csv", index=False)
    frame.assign(a=counts, b=rng.permutation(counts)).to_csv("labels.csv", index=False)
    of_lines = "--configuration m --row row --prediction value"
    for asked, metric in (("wide.csv", "r2"), (f"long.csv {of_lines}", "r2"), ("labels.csv", "accuracy")):
        assert document(f"estimate {asked} --target y {FEW}")["metric"] == metric


LINES = 60


@dataclass(frozen=True)
class Made:
    """What ``ho.estimate`` takes, and the same as a long table."""

    y: Any
    share: Any  # (N, C, R, n_classes)
    folds: Any  # (N, R)
    frame: pd.DataFrame


def made(labels: str, settings: list[dict[str, float]], repeats: int = 1) -> Made:
    rng = np.random.default_rng(4)
    code = rng.integers(0, len(labels), LINES)
    noise = rng.normal(size=(LINES, len(settings), repeats, len(labels)))
    power = np.exp(np.eye(len(labels))[code][:, None, None] + noise)
    share = power / power.sum(axis=3, keepdims=True)
    folds = np.stack([rng.permutation(LINES) % 5 for _ in range(repeats)], axis=1)
    y = np.array(list(labels))[code]
    parts = [
        pd.DataFrame({"number": np.arange(1, LINES + 1), "y": y, "fold": folds[:, r], "rep": r + 1, **settings[c]})
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
FIFTY = "--n-bootstraps 50"
TIDY = f"estimate p.csv --target Class --row .row --fold id {FIFTY}"


def unnamed(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name != "selected_name"}


def expected(y: Any, predictions: Any, **settings: Any) -> dict[str, Any]:
    return unnamed(ho.estimate(y, predictions, n_bootstraps=50, random_state=0, **settings).to_dict())


def test_tidymodels(document: Run, refused: Run) -> None:
    """By names, by settings, and by labels or the other class in place of probabilities, in any order of lines."""
    found = made("BM", GRID)
    tidymodels(found).sample(frac=1, random_state=0).to_csv("p.csv", index=False)
    folds = found.folds[:, 0]
    of_folds = expected(found.y, found.share[:, :, 0, 1], metric="roc_auc", folds=folds, aggregate="folds")
    by_name = document(f"{TIDY} --configuration .config --aggregate folds")
    by_grid = document(
        f"{TIDY} --configuration penalty --configuration mixture --prediction .pred_M --aggregate folds"
    )
    assert unnamed(by_name) == unnamed(by_grid) == of_folds
    tidymodels(found).to_parquet("p.parquet", index=False)
    of_parquet = document(TIDY.replace("csv", "parquet"), "--configuration", ".config", "--aggregate", "folds")
    assert unnamed(of_parquet) == of_folds

    labels = np.array(["B", "M"])[found.share[:, :, 0].argmax(axis=2)]
    by_label = document(f"{TIDY} --configuration .config --prediction .pred_class --metric accuracy")
    assert unnamed(by_label) == expected(found.y, labels, metric="accuracy", folds=folds)

    asked = f"{TIDY} --configuration .config --prediction .pred_B"
    sentence = refused(asked)
    assert "must be one column for each class of the target ('B', 'M')" in sentence
    known = expected(found.y, found.share[:, :, 0, 0], metric="roc_auc", folds=folds, pos_label="B")
    assert unnamed(document(f"{asked} --positive B")) == known


def test_caret_with_repeats_and_three_classes(run: Run) -> None:
    found = made("pqr", [{"mtry": 2}, {"mtry": 10}, {"mtry": 4}], repeats=2)
    caret(found).sample(frac=1, random_state=1).to_csv("p.csv", index=False)
    by_number = found.share[:, [0, 2, 1]]  # mtry 2, 4, 10
    named = "--target obs --row rowIndex --fold Resample --configuration mtry --metric log_loss --aggregate folds"
    ended = run(f"estimate p.csv {named} {FIFTY} --json")
    known = expected(found.y, by_number, metric="log_loss", folds=found.folds, aggregate="folds")
    assert unnamed(json.loads(ended.out)) == known
    assert "2 repeats were found in the names of the folds (column 'Resample': 'Fold1.Rep1', ...)" in ended.err
    assert "60 rows, 3 configurations ('mtry=2' to 'mtry=10'), 2 repeats, multiclass target" in ended.err


def test_numbers_of_caret_with_weights_and_groups(document: Run) -> None:
    rng = np.random.default_rng(5)
    y, weights, site = rng.normal(size=LINES), rng.random(LINES), np.arange(LINES) // 4
    pred = y[:, None] + rng.normal(size=(LINES, 3))
    base = pd.DataFrame({"obs": y, "weights": weights, "site": site, "rowIndex": np.arange(LINES) + 1})
    long = pd.concat([base.assign(pred=pred[:, j], k=k) for j, k in enumerate((1, 5, 9))])
    long.to_parquet("p.parquet", index=False)
    named = "--target obs --row rowIndex --configuration k --weight weights --group site"
    known = expected(y, pred, metric="r2", groups=site, sample_weight=weights)
    assert unnamed(document(f"estimate p.parquet {named} {FIFTY}")) == known


def test_one_configuration_of_a_long_table_is_bound(document: Run, refused: Run) -> None:
    tidymodels(made("BM", GRID)).to_csv("p.csv", index=False)
    asked = f"{TIDY} --configuration .config --method delong --evaluation-share 1 --fixed-configuration"
    assert document(f"{asked} pre0_mod3_post0")["selected_name"] == "pre0_mod3_post0"
    unknown = refused(f"{asked} mod3")
    assert "--fixed-configuration must name a configuration of the file" in unknown


def test_a_column_that_the_user_names_stays_in_the_names() -> None:
    rng = np.random.default_rng(0)
    rows = {"i": np.arange(20), "y": rng.integers(0, 2, 20), "depth": 3}
    parts = [pd.DataFrame({**rows, "model": model, "p": rng.random(20)}) for model in "ab"]
    found = ho.read_predictions(pd.concat(parts), target="y", row="i", configuration=["model", "depth"])
    selected = ho.estimate(found, metric="roc_auc", random_state=0).selected_name
    assert selected in ("model=a, depth=3", "model=b, depth=3")


def test_only_the_named_columns_of_a_wide_table_are_predictions(document: Run) -> None:
    rng = np.random.default_rng(6)
    y, scores = rng.integers(0, 2, LINES), rng.random((LINES, 3))
    columns = {f"m{j}": scores[:, j] for j in range(3)}
    pd.DataFrame({"y": y, "note": "x", **columns}).to_csv("p.csv", index=False)
    found = document(f"estimate p.csv --target y --prediction m0 --prediction m2 {FIFTY}")
    assert unnamed(found) == expected(y, scores[:, [0, 2]], metric="roc_auc")
