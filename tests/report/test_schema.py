"""What results write as JSON is as the published schemas say, and has nothing that they do not name."""

import json
import warnings
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import jsonschema
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.report import facts
from heldout.report.entries import facts_of_json
from heldout.result import Evaluation

Make = Callable[..., Evaluation]


def validator(name: str) -> jsonschema.Draft202012Validator:
    text = (files("heldout.report") / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    jsonschema.Draft202012Validator.check_schema(json.loads(text))
    return jsonschema.Draft202012Validator(json.loads(text))


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60) > 0
    settings = {"cv": 3, "n_bootstraps": 20, "random_state": 0}
    model, grid = KNeighborsClassifier(), {"n_neighbors": [1, 5, 500]}
    several = {"scoring": ["roc_auc", "neg_log_loss"], "refit": "roc_auc", "error_score": np.nan}
    search = ho.HeldOutSearchCV(model, grid, keep_models="winner", return_train_score=True, **several, **settings)
    with warnings.catch_warnings(action="ignore"):
        search.fit(X, y)
        nested = ho.nested_cv(model, X, y, {"n_neighbors": [1, 5]}, cv=3, random_state=0)
    dropping = ho.dropping.Bootstrap(min_predictions=20, threshold=0.5)
    raced = ho.HeldOutSearchCV(LogisticRegression(), {"C": [1e-6, 1, 10]}, drop=dropping, **settings)
    return {
        "search": search.evaluation_,
        "dropping": raced.fit(X, y),
        "nested": nested,
        "estimate": ho.estimate(y, rng.random((60, 4)), metric="roc_auc", n_bootstraps=20, random_state=0),
        "validation": ho.bootstrap_validate(LogisticRegression(), X, y, n_bootstraps=10, random_state=0),
    }


@pytest.mark.parametrize("name", ["search", "dropping", "nested", "estimate", "validation"])
def test_facts_are_as_the_schema_of_report_json_says(name: str, results: dict[str, Any]) -> None:
    document = facts(results[name], title="data.csv", command="heldout tune data.csv").to_dict()
    validator("report").validate(document)
    assert facts_of_json(json.dumps(document, allow_nan=False)).to_dict() == document


@pytest.mark.parametrize(
    ("kind", "metrics", "settings"),
    [
        ("binary", ("roc_auc", "accuracy"), {"repeats": 2, "failures": {1: "boom"}}),
        ("multiclass", ("accuracy",), {"classes": ("a", "b", "c")}),
        ("regression", ("r2",), {"method": None}),
    ],
)
def test_searches_of_every_kind_of_task_are(
    kind: str, metrics: tuple[str, ...], settings: dict[str, Any], make_evaluation: Make
) -> None:
    validator("report").validate(facts(make_evaluation(kind, metrics, **settings)).to_dict())


def test_estimates_are_as_the_schema_of_estimate_json_says(results: dict[str, Any]) -> None:
    schema = validator("estimate")
    for estimate in (results["estimate"], results["nested"], *results["search"].estimates.values()):
        schema.validate(estimate.to_dict())
    with pytest.raises(jsonschema.ValidationError):
        schema.validate({**results["estimate"].to_dict(), "value": "high"})
