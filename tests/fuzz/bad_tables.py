"""Tables: shapes, encodings, types, names and numbers that a file of rows can have."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from bad_values import NUMBERS, TEXTS, Generator, damaged, pick, some
from oracle import Case, command, fault_of_printed, of_json
from sklearn.metrics import roc_auc_score

METRICS = {
    "roc_auc": roc_auc_score,
    "neg_mean_squared_error": lambda y, p: -float(np.mean((y - p) ** 2)),
    "neg_mean_absolute_error": lambda y, p: -float(np.mean(np.abs(y - p))),
    "neg_brier_score": lambda y, p: -float(np.mean((y - p) ** 2)),
}


KINDS = ("string", "float16", "decimal", "list", "struct", "date", "binary", "category", "bool", "null")


def make(rng: Generator, folder: Path) -> Case:
    """A table of predictions for ``estimate`` or of columns for ``tune`` and ``validate``."""
    asked = pick(rng, ("plain", "export", "estimate", "estimate", "estimate", "tune", "validate"))
    if asked == "plain":
        return _plain(rng, folder)
    if asked == "export":
        return _export(rng, folder)
    frame = _predictions(rng) if asked == "estimate" else _columns(rng)
    frame, words = _changed(rng, frame)
    path, how = _written(rng, frame, folder)
    arguments = [asked, path, "--target", "y", "--json", *_rest(asked)]
    return Case(
        f"{' '.join(arguments)}: {'; '.join([*words, *how])}", lambda: command(*arguments), fault_of_printed
    )


def _plain(rng: Generator, folder: Path) -> Case:
    """Healthy predictions, whose uncorrected score is a computation of a line."""
    metric = pick(rng, list(METRICS))
    n, c = int(rng.integers(20, 80)), int(rng.integers(1, 8))
    y = np.r_[0, 1, 0, 1, rng.integers(0, 2, n - 4)].astype(float)
    p = 1 / (1 + np.exp(-(rng.normal(size=(n, c)) + y[:, None] * rng.uniform(0, 2, c))))
    if metric.startswith("neg_mean"):
        y = y + rng.normal(size=n)
    if pick(rng, (True, False)):
        p = p.round(1)  # ties
    frame = pd.DataFrame(p, columns=[f"m{j}" for j in range(c)]).assign(y=y if "mean" in metric else y.astype(int))
    name = pick(rng, ("t.csv", "t.parquet"))
    frame.to_csv(folder / name, index=False) if name.endswith("csv") else frame.to_parquet(folder / name)
    best = max(METRICS[metric](y, p[:, j]) for j in range(c))
    arguments = ["estimate", name, "--target", "y", "--metric", metric, "--json", "--n-bootstraps", "20"]

    words = f"{' '.join(arguments)} of {n} rows and {c} columns"
    return Case(words, lambda: command(*arguments), lambda ended: fault_of_printed(ended, best), healthy=True)


def _export(rng: Generator, folder: Path) -> Case:
    """An export of another tool, of which columns, names and lines were changed."""
    n, c, resamples = int(pick(rng, (1, 5, 20, 40))), int(pick(rng, (1, 3))), int(pick(rng, (1, 2, 5)))
    row, k = np.tile(np.arange(1, n + 1), c), np.repeat(np.arange(c), n)
    share, labels = rng.random(n * c).round(int(pick(rng, (1, 9)))), pick(rng, (("no", "yes"), (0, 1)))
    truth, predicted = np.where(row % 2 == 0, *labels), np.where(share < 0.5, *labels)
    resample = np.array([f"Fold{i}" for i in row % resamples])
    classes = dict(zip(map(str, labels), (1 - share, share), strict=True))
    columns = {
        "caret": {"pred": predicted, "obs": truth, **classes, "rowIndex": row, "k": k, "Resample": resample},
        "tidymodels": {
            "id": resample, ".pred_class": predicted, **{f".pred_{label}": p for label, p in classes.items()},
            ".row": row, "k": k, "outcome": truth, ".config": [f"pre0_mod{i}_post0" for i in k],
        },
        "mlr3": {
            "row_ids": row, "truth": truth, "response": predicted, "iteration": row % resamples, "learner_id": k,
            **{f"prob.{label}": p for label, p in classes.items()},
        },
    }[pick(rng, ("caret", "tidymodels", "mlr3"))]  # fmt: skip
    frame, words = _changed(rng, pd.DataFrame(columns))
    path, how = _written(rng, frame, folder)
    arguments = ["estimate", path, "--json", *_rest("estimate"), *pick(rng, ((), (), ("--metric", "accuracy")))]
    return Case(
        f"{' '.join(arguments)}: {'; '.join([*words, *how])}", lambda: command(*arguments), fault_of_printed
    )


def _rest(asked: str) -> list[str]:
    return {
        "estimate": ["--n-bootstraps", "10"],
        "tune": ["--n-bootstraps", "10", "--n-jobs", "1", "--cv", "2", "--out", "out"],
        "validate": ["--model", "logistic", "--n-bootstraps", "3", "--n-jobs", "1", "--out", "out"],
    }[asked]


def _predictions(rng: Generator) -> pd.DataFrame:
    n = int(pick(rng, (0, 1, 2, 5, 30, 60)))
    y = np.arange(n) % 2
    target = pick(rng, (y, y.astype(bool), np.where(y, "yes", "no"), y + rng.normal(size=n), np.arange(n) % 3))
    frame = pd.DataFrame({"y": target, "m1": rng.random(n), "m2": rng.random(n) / 2})
    if pick(rng, (True, False)):
        frame["fold"] = np.arange(n) % 5
    return frame


def _columns(rng: Generator) -> pd.DataFrame:
    n = int(pick(rng, (0, 1, 3, 12, 30)))
    a, y = rng.normal(size=n), np.arange(n) % 2
    target = pick(rng, (y, np.where(y, "yes", "no"), a + rng.normal(size=n), np.arange(n) % 3))
    return pd.DataFrame({"a": a, "b": rng.choice(["u", "v"], n), "y": target})


def _odd_column(rng: Generator, n: int) -> tuple[Any, str]:
    act = pick(rng, ("number", "numbers", "texts", "mixed", "missing", "huge", "dates", "integers", "constant"))
    if act == "number":
        value = pick(rng, NUMBERS)
        column = np.where(np.arange(n) == n // 2, value, rng.random(n)).astype(object)
        return column, f"numbers with {value!r}"
    made: dict[str, Any] = {
        "numbers": [pick(rng, NUMBERS) for _ in range(n)],
        "texts": [pick(rng, TEXTS) for _ in range(n)],
        "mixed": [pick(rng, (*NUMBERS, *TEXTS, None)) for _ in range(n)],
        "missing": [None] * n,
        "huge": [f"{'9' * int(pick(rng, (20, 310, 5000)))}"] * n,
        "dates": pd.date_range("2020", periods=n).astype(str).tolist(),
        "integers": [10**30 + i for i in range(n)],
        "constant": [pick(rng, (0, "x", None, float("inf")))] * n,
    }
    return pd.Series(made[act], dtype=object), act


def _changed(rng: Generator, frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    words = [f"{len(frame)} rows"]
    for _ in range(int(rng.integers(0, 3))):
        act = pick(rng, ("column", "column", "name", "twice", "drop", "order", "repeat"))
        names = [str(name) for name in frame.columns]
        at = int(rng.integers(len(names)))
        if act == "column":
            column, what = _odd_column(rng, len(frame))
            frame = frame.copy()
            frame.isetitem(at, column)
            words.append(f"{names[at]} holds {what}")
        elif act in ("name", "twice"):
            names[at] = pick(rng, TEXTS) if act == "name" else pick(rng, names)
            frame = frame.set_axis(names, axis=1)
            words.append(f"column {at} is called {names[at]!r:.40}")
        elif act == "drop" and len(names) > 1:
            frame = frame.iloc[:, [i for i in range(len(names)) if i != at]]
            words.append(f"column {at} is gone")
        elif len(frame):
            rows = rng.permutation(len(frame)) if act == "order" else rng.integers(0, len(frame), len(frame))
            frame = frame.iloc[rows].reset_index(drop=True)
            words.append(f"rows: {act}")
    return frame, words


def _written(rng: Generator, frame: pd.DataFrame, folder: Path) -> tuple[str, list[str]]:
    if pick(rng, (True, False, False)):
        return _parquet(rng, frame, folder)
    dialect: dict[str, Any] = {
        "sep": pick(rng, (",", ",", ";", "\t", "|", " ")),
        "lineterminator": pick(rng, ("\n", "\n", "\r\n", "\r")),
        "index": pick(rng, (False, False, True)),
        "header": pick(rng, (True, True, True, False)),
    }
    encoding = pick(rng, ("utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"))
    content = frame.to_csv(**dialect).encode(encoding, "replace")
    how = [of_json(dialect), encoding]
    for text in some(rng, ('"', "\0", "1,2,3,4,5,6\n", "\n\n\n", "x" * 140000, '"' + "y" * 140000 + '"'), 0, 1):
        at = int(rng.integers(len(content) + 1)) if rng.random() < 0.5 else len(content)
        content = content[:at] + text.encode(encoding) + content[at:]
        how.append(f"{text[:8]!r} at byte {at}")
    if rng.random() < 0.2:
        content, what = damaged(rng, content)
        how.append(what)
    name = pick(rng, ("t.csv", "t.csv", "t.csv.gz", "t", "t.parquet"))
    zipped = name.endswith("gz") and rng.random() < 0.8
    (folder / name).write_bytes(gzip.compress(content) if zipped else content)
    return name, [*how, name]


def _parquet(rng: Generator, frame: pd.DataFrame, folder: Path) -> tuple[str, list[str]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns, how = {}, []
    for at, name in enumerate(map(str, frame.columns)):
        column = frame.iloc[:, at]
        kind = pick(rng, (*[None] * 3, *KINDS))
        columns[f"{name}" if name not in columns else f"{name}_{at}"] = _arrow(pa, column, kind)
        how += [f"{name!r:.30} as {kind}"] if kind else []
    pq.write_table(pa.table(columns), folder / "t.parquet")
    if rng.random() < 0.15:
        content, what = damaged(rng, (folder / "t.parquet").read_bytes())
        (folder / "t.parquet").write_bytes(content)
        how.append(what)
    return "t.parquet", how


def _arrow(pa: Any, column: Any, kind: str | None) -> Any:
    n = len(column)
    made: dict[str | None, Any] = {
        "float16": lambda: pa.array(np.linspace(0, 1, n, dtype=np.float16)),
        "decimal": lambda: pa.array(np.arange(n)).cast(pa.decimal128(20, 3)),
        "list": lambda: pa.array([[i, 1] for i in range(n)]),
        "struct": lambda: pa.array([{"a": i} for i in range(n)], pa.struct([("a", pa.int64())])),
        "date": lambda: pa.array(np.arange(n), pa.timestamp("us")),
        "binary": lambda: pa.array([b"\xff\x00"] * n),
        "category": lambda: pa.array([str(value) for value in column]).dictionary_encode(),
        "bool": lambda: pa.array([i % 2 == 0 for i in range(n)]),
        "null": lambda: pa.nulls(n),
        "string": lambda: pa.array([str(value) for value in column], pa.string()),
    }
    try:
        return made.get(kind, lambda: pa.array(column))()
    except (pa.ArrowException, OverflowError, ValueError, TypeError):
        return pa.array([str(value) for value in column], pa.string())
