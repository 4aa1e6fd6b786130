"""Results as dictionaries, frames and tables, by what their classes declare."""

import json
import math
import re
from dataclasses import replace
from html import unescape
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import heldout as ho
from heldout.protocols.algorithms.comparison import FitCosts
from heldout.protocols.power_law import PowerLaw

RNG = np.random.default_rng(0)
Y = np.arange(120) % 2
SCORES = pd.DataFrame(RNG.normal(size=(120, 4)) + Y[:, None], columns=[f"a model of number {j}" for j in range(4)])


@pytest.fixture(scope="module")
def estimate() -> ho.Estimate:
    return ho.estimate(Y, SCORES, metric="roc_auc", n_bootstraps=60, random_state=0)


@pytest.fixture(scope="module")
def comparison() -> Any:
    return ho.compare_estimates(Y, SCORES, metric="roc_auc", folds=np.arange(120) % 5, random_state=0)


@pytest.fixture(scope="module")
def validation() -> Any:
    model, X = LogisticRegression(C=1e300), SCORES.iloc[:, :2]
    metrics = ["roc_auc", "calibration_slope", "brier_score", "log_loss"]
    return ho.bootstrap_validate(model, X, Y, metric=metrics, n_bootstraps=6, random_state=0)


def test_json_holds_arrays_flags_and_null_for_what_is_not_finite(estimate: ho.Estimate) -> None:
    odd = replace(
        estimate,
        value=math.nan,
        interval=replace(estimate.interval, high=math.inf),
        distribution=np.array([0.5, np.nan]),
        selection_frequency=None,
    )
    document = json.loads(json.dumps(odd.to_dict(), allow_nan=False))

    assert document["value"] is None and document["selection_frequency"] is None
    assert document["interval"] == {**estimate.interval.to_dict(), "high": None}
    assert document["distribution"] == [0.5, None]
    assert document["flags"] == [{"flag": str(flag), "message": text} for flag, text in estimate.flags.items()]
    assert document["provenance"]["quantity"] == estimate.provenance["quantity"]


def test_a_frame_has_both_ends_of_an_interval_and_numbers_for_what_is_missing(estimate: ho.Estimate) -> None:
    frame = replace(estimate, interval=None, coverage=None, constant=None).to_frame()

    assert len(frame) == 1 and frame["value"][0] == estimate.value
    assert frame[["low", "high", "coverage", "constant"]].isna().all(axis=None)
    assert all(frame[name].dtype.kind == "f" for name in ("low", "high", "coverage", "constant"))
    assert estimate.to_frame().loc[0, ["low", "high"]].tolist() == list(estimate.interval)


def test_a_class_that_declares_nothing_shows_its_single_fields() -> None:
    costs = FitCosts(30, 1.5, 60, math.nan)

    assert costs.to_dict() == {"flat_fits": 30, "flat_seconds": 1.5, "nested_fits": 60, "nested_seconds": None}
    assert costs.to_frame().columns.tolist() == list(costs.to_dict())
    assert costs.text().splitlines() == [
        "flat fits       30", "flat seconds    1.5000", "nested fits     60", "nested seconds  none",
    ]  # fmt: skip


def test_parts_that_are_plain_dataclasses_are_dictionaries() -> None:
    curve = ho.protocols.learning_curve(
        LogisticRegression(), SCORES.iloc[:, :2], Y, {"C": [1.0]}, training_sizes=[0.3, 0.5, 0.7], n_subsamples=2,
        random_state=0,
    )  # fmt: skip
    document = curve.to_dict()

    assert document["curves"][0].keys() == vars(PowerLaw(1, 1, 1)).keys()
    assert document["points"][0]["mean"] == curve.rows[0].mean == curve.to_frame()["mean"][0]


@pytest.mark.parametrize("name", ["estimate", "comparison", "validation"])
def test_notebook_and_terminal_say_the_same(name: str, request: pytest.FixtureRequest) -> None:
    result = request.getfixturevalue(name)
    page = [unescape(text).strip() for text in re.split("<[^>]*>", result._repr_html_()) if text.strip()]
    lines = result.text(None)

    assert all(text in lines for text in page)
    assert set(" ".join(page).split()) == set(lines.replace("\n>", "\n ").split())


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("name", ["estimate", "comparison", "validation"])
def test_no_line_is_wider_than_the_terminal_and_no_word_is_broken(
    name: str, width: int, request: pytest.FixtureRequest
) -> None:
    result = request.getfixturevalue(name)
    narrow, wide = result.text(width), result.text(None)

    assert max(map(len, narrow.splitlines())) <= width
    assert set(narrow.split()) == set(wide.split())
    intervals = re.findall(r"[\d.]+ to [\d.]+", wide)
    assert intervals and all(interval in narrow for interval in intervals)
    assert str(result) == result.text(80) or name == "estimate"


def test_the_result_comes_first_and_the_row_to_report_is_marked(estimate: ho.Estimate, comparison: Any) -> None:
    first, second = estimate.text().splitlines()[1:3]
    assert first.split()[0] == "corrected" and second.startswith("interval (95%) ")
    (marked,) = [line for line in str(comparison).splitlines() if line.startswith(">")]
    assert marked.split()[0] == f">{comparison.main}"
    assert f"<strong>{comparison.main}</strong>" in comparison._repr_html_()


def test_a_note_has_no_column_of_one_word_at_80_columns(comparison: Any) -> None:
    lines = comparison.text(80).splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith(" cv "))
    assert lines[place + 1] == "    uncorrected" and max(map(len, lines)) <= 80
    assert "    uncorrected, selection ignored" in lines
