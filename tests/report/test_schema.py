"""What results write as JSON is as the published schemas say, and has nothing that they do not name."""

import json
import warnings
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.report import facts
from heldout.report.entries import facts_of_json


def validator(name: str) -> jsonschema.Draft202012Validator:
    text = (files("heldout.report") / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")
    jsonschema.Draft202012Validator.check_schema(json.loads(text))
    return jsonschema.Draft202012Validator(json.loads(text))


def test_what_a_search_and_estimates_write_is_as_the_schemas_say() -> None:
    """Facts of other results are read back by the same schema in ``test_page_texts.py``."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60) > 0
    several = {"scoring": ["roc_auc", "neg_log_loss"], "refit": "roc_auc", "error_score": np.nan}
    search = ho.HeldOutSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1, 5, 500]}, keep_models="winner", return_train_score=True,
        cv=3, n_bootstraps=20, random_state=0, **several,
    )  # fmt: skip
    with warnings.catch_warnings(action="ignore"):
        search.fit(X, y)
        nested = ho.nested_cv(KNeighborsClassifier(), X, y, {"n_neighbors": [1, 5]}, cv=3, random_state=0)
    document = facts(search.evaluation_, title="data.csv", command="heldout tune data.csv").to_dict()
    validator("report").validate(document)
    assert facts_of_json(json.dumps(document, allow_nan=False)).to_dict() == document

    schema, estimate = validator("estimate"), search.estimate_.to_dict()
    for each in (nested, *search.evaluation_.estimates.values()):
        schema.validate(each.to_dict())
    with pytest.raises(jsonschema.ValidationError):
        schema.validate({**estimate, "value": "high"})
