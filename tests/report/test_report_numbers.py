"""Digits, directions and text of numbers, and what they mean for the delivered model."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from heldout._text import number_text
from heldout.configurations import make_configurations
from heldout.estimates.types import Estimate, Interval, decimals_for
from heldout.metrics.base import Response
from heldout.metrics.named import direction_sentence, in_sentence, metric_words
from heldout.report import facts
from heldout.report.headline import delivered_sentence, headline_of
from heldout.report.templating import sentence
from heldout.result import Evaluation
from heldout.scales import plain, scale_of


def estimate(value: float, low: float, high: float, optimism: float) -> Estimate:
    return Estimate(value, Interval(low, high, 0.95), value + optimism, optimism, None, 0, "a", "m", "bbc", 10)


@pytest.mark.parametrize(
    ("low", "high", "optimism", "decimals"),
    [
        (0.80, 0.95, 0.03, 3),
        (0.80, 0.95, 0.1, 2),
        (0.98, 0.995, 0.02, 3),
        (0.98, 0.995, 0.0017, 4),
        (50000, 61000, 200, 0),
        (50, 60, 0.2, 1),
        (50, 61, 2.0, 1),
        (50, 61, 20.0, 0),
    ],
)
def test_decimals_follow_the_interval_and_show_the_optimism(
    low: float, high: float, optimism: float, decimals: int
) -> None:
    assert scale_of("roc_auc", True, estimate((low + high) / 2, low, high, optimism)).decimals == decimals


def test_without_an_interval_decimals_follow_the_spread_of_the_scores() -> None:
    assert scale_of("roc_auc", True, scores=[0.90, 0.91, 0.92]).decimals == 3
    assert scale_of("mean_squared_error", False, scores=[2900.0, 3100.0, float("nan")]).decimals == 0


def test_no_width_is_no_reason_for_decimals() -> None:
    assert decimals_for(float("nan")) == decimals_for(0.0) == 0


def test_negated_losses_are_shown_as_losses() -> None:
    scale = scale_of("neg_mean_absolute_error", True, estimate(-3.0, -4.0, -2.0, 0.5))
    assert (scale.title, scale.greater_is_better, scale.sign) == ("Mean absolute error", False, -1)
    assert scale.shown(-3.0) == 3.0
    assert scale.ends(Interval(-4.0, -2.0, 0.95)) == (2.0, 4.0)
    assert scale.many(np.array([-1.0, np.nan])) == (1.0, None)


def test_an_unknown_metric_keeps_its_own_name() -> None:
    scale = scale_of("my_score", True)
    assert (scale.title, scale.definition) == ("my score", "")


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [(0.12345, 3, "0.123"), (54321.9, 0, "54,322"), (1.5e9, 2, "1.5e+09"), (2e-7, 3, "2e-07"), (None, 2, "–"),
     (float("nan"), 2, "–"), (float("inf"), 2, "∞"), (-float("inf"), 2, "−∞"), (0.0, 3, "0.000"),
     (-0.25, 2, "-0.25")],
)  # fmt: skip
def test_number_text(value: float | None, decimals: int, text: str) -> None:
    assert number_text(value, decimals) == text


def test_titles_within_sentences() -> None:
    assert [in_sentence(title) for title in ("ROC AUC", "Log loss", "Brier score", "F1", "R²", "my score")] == [
        "ROC AUC", "log loss", "Brier score", "F1", "R²", "my score",
    ]  # fmt: skip


def test_parameters_say_nothing_of_addresses() -> None:
    assert plain(print) == "<built-in function print>"
    assert plain(object()) == "<object object>"
    assert plain(np.float64(0.5)) == "0.5"
    assert plain("rbf") == "rbf"
    assert len(plain("x" * 1000)) == 300


def test_parameters_stand_behind_a_metric_s_name() -> None:
    title, definition = metric_words("neg_mean_pinball_loss(alpha=0.9)")
    assert title == "Mean pinball loss (alpha=0.9)"
    assert definition == metric_words("mean_pinball_loss")[1]
    assert metric_words("my_cost(x=1)") == ("my cost (x=1)", "")


def test_a_metric_that_is_best_at_one_value_has_no_better_direction() -> None:
    assert direction_sentence(True, scale_of("calibration_slope", True, ideal=1.0).ideal) == (
        "1 is best; neither direction is."
    )
    assert direction_sentence(True, scale_of("roc_auc", True).ideal) == "Higher is better."


@pytest.mark.parametrize(
    ("value", "optimism", "half", "said"),
    [
        (0.88827, 7e-5, 5e-4, "hardly made its accuracy optimistic: 0.888"),
        (
            0.9066,
            0.0011,
            0.015,
            "nothing to correct here: choosing the best of 8 configurations changed its accuracy",
        ),
        (0.87, 0.02, 0.05, "look 0.020 better"),
    ],
)
def test_an_optimism_too_small_to_be_shown_is_said_in_words(
    value: float, optimism: float, half: float, said: str
) -> None:
    found = replace(estimate(value, value - half, value + half, optimism), metric="accuracy")
    contest = {"winner": "a", "candidates": 8, "rows": 10, "folds": "5 folds", "classes": ()}
    scale = replace(scale_of("accuracy", True), decimals=3)
    assert said in headline_of(found, scale, None, **contest).sentence


Make = Callable[..., Evaluation]


def test_what_the_estimate_means_for_the_model(make_evaluation: Make) -> None:
    evaluation = make_evaluation()
    assert facts(evaluation).delivered == (
        "No model was fitted on all 120 rows; the estimate is of models fitted on about 90 rows, and such a model "
        "is expected to score the same on new rows of the same kind, or a little better where more rows help."
    )
    assert facts(make_evaluation(method="cv")).delivered.endswith(
        "such a model may score worse on new rows, as the estimate is not corrected for the selection."
    )
    fitted = replace(evaluation, model=LogisticRegression())
    assert facts(fitted).delivered.startswith("The delivered model is fitted on all 120 rows; the estimate")
    assert "of that very model" in delivered_sentence(evaluation.estimate, 120, source="search", is_bounded=True)
    assert delivered_sentence(evaluation.estimate, 120, source="file").startswith(
        "The file holds predictions and no"
    )
    assert delivered_sentence(None, 120, source="search") == ""
    estimate = evaluation.estimate
    nested = replace(estimate, method="nested_cv")
    assert "of the whole search" in delivered_sentence(nested, 120, source="search")


def evaluation_of_decisions(make_evaluation: Make, model: Any) -> Evaluation:
    """A search that kept decision values of configurations of this model."""
    evaluation = make_evaluation()
    decisions = {Response.DECISION: evaluation.predictions.responses[Response.PROBABILITIES]}
    predictions = replace(evaluation.predictions, responses=decisions)
    configurations = make_configurations(
        [("model", model, {"C": [1.0 + n for n in range(len(predictions.names))]})]
    )
    return replace(evaluation, predictions=predictions, configurations=configurations)


def test_calibration_is_shown_or_the_page_says_what_shows_it(make_evaluation: Make) -> None:
    assert facts(make_evaluation()).no_calibration == ""
    values = {"source": "search", "has_probabilities": False}
    assert "gives decision values and no probabilities" in sentence("calibration", values)
    assert "kept no probabilities" in sentence("calibration", {**values, "has_probabilities": True})
    assert "give a file of predicted probabilities" in sentence("calibration", {"source": "file"})
    svc, logistic = (evaluation_of_decisions(make_evaluation, model) for model in (SVC(), LogisticRegression()))
    assert "gives decision values and no" in facts(svc).no_calibration
    assert "kept no probabilities" in facts(logistic).no_calibration
