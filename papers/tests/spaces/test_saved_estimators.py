"""Saved models with estimators of articles load without a question, and run files know these by their old names."""

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import heldout as ho
from heldout.configurations import canonical_form
from heldout_papers.spaces import REVIEWED_TYPES, SES, BoostedLinear, ShrinkageDiscriminant

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize(
    "model",
    [make_pipeline(SES(), LogisticRegression()), BoostedLinear(), ShrinkageDiscriminant()],
    ids=["signatures", "boosted-linear", "shrinkage"],
)
def test_a_saved_model_loads(model: Any, tmp_path: Path) -> None:
    fitted = model.fit(X, Y)
    assert ho.save_model(fitted, tmp_path / "model.skops") == []
    np.testing.assert_array_equal(ho.load_model(tmp_path / "model.skops").predict(X), fitted.predict(X))


def test_every_reviewed_name_exists_in_this_package() -> None:
    for name in REVIEWED_TYPES:
        module, _, attribute = name.rpartition(".")
        assert module.startswith("heldout_papers.spaces.") and callable(getattr(import_module(module), attribute))


def test_run_files_know_our_classes_by_the_names_of_version_0_1() -> None:
    names = re.findall(r'"(heldout\w*\.[\w.]+)"', json.dumps(canonical_form(SES())))
    assert names == ["heldout.spaces.ses.SES"]
