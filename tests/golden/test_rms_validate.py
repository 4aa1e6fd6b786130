"""Regressions and their validation against R's rms 6.5.0, sample by sample: ``data/rms_validate.R`` is its script.

R fits on our bootstrap samples, so that every number must agree and not only on average. Two differ by definition:

- R's ``U`` of Cox models lacks on the original rows the 2 that it subtracts on a sample's own, over -2 l₀. Ours
  subtracts it on both, and Q is D - U.
- R prints the optimism of ``Emax`` without its sign.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import heldout as ho
from heldout.data.task import TaskKind
from heldout.protocols.validation.estimate import Validation
from heldout.spaces.regressions import regression

DATA = Path(__file__).parent / "data"
OF_R: dict[str, Any] = json.loads((DATA / "rms_validate.json").read_text())
KINDS = {"logistic": TaskKind.BINARY, "linear": TaskKind.REGRESSION, "cox": TaskKind.SURVIVAL}
COLUMNS = ["index.orig", "training", "test", "optimism", "index.corrected"]
SEED = 20261126


@cache
def validation(model: str) -> Validation:
    study = pd.read_csv(DATA / "rms_study.csv")
    X = study[["age", "sex", "stage", "marker"]]
    target = {
        "logistic": study["ill"],
        "linear": study["cost"],
        "cox": (study["died"].to_numpy(), study["years"].to_numpy()),
    }
    return ho.bootstrap_validate(
        regression(model, X, KINDS[model]), X, target[model], metric="rms", n_bootstraps=20, random_state=SEED
    )


def of_r(model: str) -> pd.DataFrame:
    table = pd.DataFrame(OF_R[model]["validate"], index=COLUMNS).T
    if model == "linear":
        return table
    if model == "cox":
        missing = 2 / likelihood_of_equal_hazards()
        table.loc["U", "test"] -= missing
        table.loc["Q", "test"] += missing
        for name in ("U", "Q"):
            table.loc[name, "optimism"] = table.loc[name, "training"] - table.loc[name, "test"]
            table.loc[name, "index.corrected"] = table.loc[name, "index.orig"] - table.loc[name, "optimism"]
    else:
        table.loc["Emax", "optimism"] *= -1
    return table


def likelihood_of_equal_hazards() -> float:
    """-2 l₀, from R's D of the model on its own rows: D = (χ² - 1) / (-2 l₀)."""
    return float((OF_R["cox"]["likelihood_ratio"][0] - 1) / OF_R["cox"]["validate"]["D"][0])


@pytest.mark.parametrize("model", list(KINDS))
def test_every_number_of_validate_is_that_of_rms(model: str) -> None:
    found = validation(model)
    drawn = "".join("".join(map(str, counts)) + "\n" for counts in found.replicates.counts.tolist())
    assert drawn == (DATA / "rms_samples.txt").read_text(), "other samples than R's: run its script again"
    ours, theirs = found.to_frame(names="rms"), of_r(model)
    assert list(ours.index) == list(theirs.index)
    np.testing.assert_allclose(ours[COLUMNS], theirs, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("model", list(KINDS))
def test_coefficients_and_their_test_are_those_of_rms(model: str) -> None:
    found, of_r = validation(model).coefficients, OF_R[model]
    assert found is not None
    renamed = {"Intercept": "intercept"} | {
        name: name.replace("=", "_") for name in of_r["coefficients"] if "=" in name
    }
    ours = found.to_frame().set_index("name")[["value", "standard_error", "low", "high"]]
    theirs = pd.DataFrame(of_r["coefficients"]).T.rename(renamed)
    assert set(ours.index) == set(theirs.index)
    np.testing.assert_allclose(ours, theirs.loc[ours.index], rtol=1e-8)
    test = found.likelihood_ratio
    np.testing.assert_allclose(test, of_r["likelihood_ratio"], rtol=1e-8, atol=1e-15)
    assert found.references == {"sex": "female", "stage": "I"}
