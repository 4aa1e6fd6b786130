"""Searches, validations and predictions made small: of the searches most are synthetic, with no model fitted."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import heldout as ho
from heldout.configurations import make_configurations
from heldout.data.task import Task, TaskKind, truth_of
from heldout.estimates.comparison import compare, methods_of
from heldout.estimates.inputs import read_inputs
from heldout.estimates.of_search import Estimation, estimates_of_search
from heldout.execution.cells import CellTable
from heldout.folds.splits import make_folds
from heldout.metrics import metric_named
from heldout.metrics.aggregate import aggregate_score
from heldout.metrics.base import Response
from heldout.predictions import FoldScores, HeldOutPredictions
from heldout.protocols import NestedEstimate
from heldout.protocols.validation.estimate import Validation
from heldout.report import file_facts
from heldout.report.entries import Facts
from heldout.result import Evaluation


def evaluation_by_hand(
    kind: str = "binary",
    metrics: tuple[str, ...] = ("roc_auc",),
    *,
    rows: int = 120,
    configurations: int = 6,
    repeats: int = 1,
    classes: tuple[str, ...] = ("ill", "well"),
    failures: Mapping[int, str] | None = None,
    method: Any = "bbc",
    name: str = "model",
    alternative: str = "two-sided",
) -> Evaluation:
    """Configurations of rising skill, the last but one the best; failed ones predict nothing."""
    rng = np.random.default_rng(5)
    failed = dict(failures or {})
    if kind == "regression":
        y: Any = rng.normal(100, 20, rows)
    else:
        y = np.array(classes)[np.arange(rows) % len(classes)]
    task = Task(np.arange(rows, dtype=float)[:, None], truth_of(y, TaskKind(kind)))
    estimator: Any = Ridge() if kind == "regression" else LogisticRegression()
    grid = {"alpha" if kind == "regression" else "C": [float(c + 1) for c in range(configurations)]}
    made = make_configurations([(name, estimator, grid)])
    folds = make_folds(task, 4, repeats=repeats, entropy=3)
    responses = _responses(task, configurations, repeats, rng)
    for array in responses.values():
        array[:, list(failed)] = -1 if array.dtype.kind == "i" else np.nan
    predictions = HeldOutPredictions(
        responses, made.names, folds.labels, task.truth.classes, task.truth.positive,
        failed=failed, training_rows=folds.n_training_rows,
    )  # fmt: skip
    named = {metric: metric_named(metric) for metric in metrics}
    fold_scores, pooled = {}, {}
    repeat = np.arange(repeats, dtype=np.int32)
    for key, metric in named.items():
        array = predictions.for_metric(metric).copy()
        array[:, list(failed)] = 0
        by_fold = aggregate_score(metric, task.truth, array, (folds.labels + 10 * repeat).astype(np.int32))
        whole = aggregate_score(metric, task.truth, array, np.tile(repeat, (rows, 1)))
        values, pooled[key] = by_fold.observed_by_segment(), whole.observed()
        values[:, list(failed)] = np.nan
        pooled[key][list(failed)] = np.nan
        fold_scores[key] = FoldScores(
            values, metric.greater_is_better, np.array([split.repeat for split in folds.splits])
        )
    means = fold_scores[metrics[0]].oriented().mean(axis=0)
    winner = int(np.nanargmax(means))
    estimation = Estimation(method=method, n_bootstraps=200, alternative=alternative)  # type: ignore[arg-type]
    estimates = (
        {}
        if method is None
        else estimates_of_search(
            task.truth, predictions, estimation,
            metrics=named, fold_scores=fold_scores, refit_metric=metrics[0], winner=winner,
            entropy=11,
        )
    )  # fmt: skip
    return Evaluation(
        task, folds, made, CellTable.empty((), ()), predictions, fold_scores, named, pooled, metrics[0], winner,
        estimates, estimation=estimation, failures=failed,
        n_fits=configurations * folds.n_splits,
        provenance={
            "entropy": 11, "fingerprint_of_rows": task.fingerprint(), "fingerprint_of_folds": folds.fingerprint(),
        },
    )  # fmt: skip


def _responses(task: Task, columns: int, repeats: int, rng: np.random.Generator) -> dict[Response, Any]:
    rows, truth = task.n_rows, task.truth
    skill = np.linspace(0.2, 2.0, columns)
    skill[-1] = 0.1
    shape = (rows, columns, repeats)
    if truth.kind is TaskKind.REGRESSION:
        return {Response.VALUES: truth.values[:, None, None] + rng.normal(size=shape) * 20 / skill[:, None]}
    if truth.kind is TaskKind.BINARY:
        logits = (2.0 * truth.values[:, None, None] - 1) * skill[:, None] + rng.normal(size=shape)
        share = 1 / (1 + np.exp(-logits))
        return {Response.LABELS: (share > 0.5).astype(np.int32), Response.PROBABILITIES: share}
    hit = truth.values[:, None, None, None] == np.arange(truth.n_classes)
    logits = 2 * hit * skill[:, None, None] + rng.normal(size=(*shape, truth.n_classes))
    share = np.exp(logits) / np.exp(logits).sum(axis=3, keepdims=True)
    return {Response.LABELS: share.argmax(axis=3).astype(np.int32), Response.PROBABILITIES: share}


def asked_of(metric: str = "roc_auc", y: Any = None, **settings: Any) -> Any:
    """Five configurations' predictions in a file, as an estimate reads them."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 90) if y is None else y
    position = np.asarray(y["time"] if np.asarray(y).dtype.names else y, dtype=float)
    scores = 1 / (1 + np.exp(-position[:, None] / position.std() - rng.normal(size=(len(y), 5))))
    asked = {"folds": np.arange(len(y)) % 6, "n_bootstraps": 100, "random_state": 1, **settings}
    return read_inputs(y, scores, metric=metric, **asked)


def rows_to_validate(y: str = "labels") -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 3))
    labels = np.where(X[:, 0] + rng.normal(size=80) > 0, "ill", "well")
    time = rng.exponential(np.exp(-X[:, 0]))
    targets = {
        "labels": labels,
        "codes": (labels == "ill").astype(int),
        "survival": np.array(
            [*zip(time < 2, time.clip(max=2), strict=True)], dtype=[("event", bool), ("time", float)]
        ),
        "numbers": 100 * X[:, 0],
        "classes": np.array(["red", "green", "blue"])[np.arange(80) % 3],
    }
    return X, targets[y]


def model_validated(estimator: Any = None, *, y: str = "labels", **settings: Any) -> Validation:
    asked: dict[str, Any] = {"metric": ["roc_auc", "brier_score"], "n_bootstraps": 10, "random_state": 0}
    return ho.bootstrap_validate(estimator or LogisticRegression(), *rows_to_validate(y), **asked | settings)


def nested(model: Any = None, grid: Any = None, **settings: Any) -> NestedEstimate:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    settings = {"cv": 4, "random_state": 0} | settings
    return ho.nested_cv(model or KNeighborsClassifier(), X, y, grid or {"n_neighbors": [1, 3, 9, 21]}, **settings)


def algorithms(long: str = "near", **settings: Any) -> Any:
    """Three compared by their nested and flat scores."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 3))
    entries = [
        ("ridge", Ridge(), {"alpha": [0.1, 10.0, 1000.0]}),
        (long, KNeighborsRegressor(), {"n_neighbors": [1, 9]}),
        ("plain", Ridge(), {}),
    ]
    own = {"scoring": "neg_mean_squared_error", "cv": 4, "random_state": 0, "n_bootstraps": 50} | settings
    return ho.compare_algorithms(entries, X, X[:, 0] + rng.normal(size=80), **own)


def all_methods() -> Facts:
    asked = asked_of()
    found = compare(asked, methods_of("all"))
    return file_facts(found["shrinkage"], asked, comparison=found)


def with_imputations() -> Any:
    X, y = rows_to_validate()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    asked: dict[str, Any] = {"metric": "roc_auc", "n_bootstraps": 3, "imputation": 2, "random_state": 0}
    return ho.bootstrap_validate(LogisticRegression(C=np.inf), X, y, **asked)
