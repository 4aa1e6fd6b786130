"""What the numbers mean for the delivered model, and what shows calibration."""

from collections.abc import Callable
from dataclasses import replace

from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from heldout.report import facts
from heldout.report.headline import calibration_advice, delivered_sentence
from heldout.result import Evaluation

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
    assert estimate is not None
    nested = replace(estimate, method="nested_cv")
    assert "of the whole search" in delivered_sentence(nested, 120, source="search")


def test_calibration_is_shown_or_the_page_says_what_shows_it(make_evaluation: Make) -> None:
    assert facts(make_evaluation()).no_calibration == ""
    assert "gives decision values and no probabilities" in calibration_advice(SVC(), "search")
    assert "kept no probabilities" in calibration_advice(LogisticRegression(), "search")
    assert "give a file of predicted probabilities" in calibration_advice(None, "file")
