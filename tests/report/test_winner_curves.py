"""Precision against recall, net benefit and the choice of a threshold, against scikit-learn and by hand."""

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score, precision_recall_curve

import heldout as ho
from heldout.errors import InputError
from heldout.estimates.inputs import read_inputs
from heldout.kernels.reference_curves import precision_recall_points
from heldout.metrics.base import Response
from heldout.report.diagnostics import PredictedRows, class_curves
from heldout.report.displays.curves import DecisionCurveDisplay
from heldout.report.displays.threshold import ThresholdChoiceDisplay
from heldout.result import Evaluation

Make = Callable[..., Evaluation]


def rows_of(evaluation: Evaluation) -> PredictedRows:
    return PredictedRows(evaluation.task.truth, evaluation.predictions, 0)


@pytest.mark.parametrize("weighted", [False, True])
def test_precision_and_recall_are_scikit_learns(make_evaluation: Make, weighted: bool) -> None:
    evaluation = make_evaluation()
    truth, predictions = evaluation.task.truth, evaluation.predictions
    weights = np.random.default_rng(0).integers(0, 4, truth.n_rows).astype(float) if weighted else None
    (found,) = class_curves(PredictedRows(truth, predictions, 2, weights), precision_recall_points)
    y = truth.values == truth.positive
    scores = predictions.responses[Response.PROBABILITIES][:, 2, 0]
    precision, recall, _ = precision_recall_curve(y, scores, sample_weight=weights, drop_intermediate=False)
    shown = dict(zip(found.x[1:], found.y[1:], strict=True))
    theirs = dict(zip(recall[:-1][::-1], precision[:-1][::-1], strict=True))
    assert found.area == pytest.approx(average_precision_score(y, scores, sample_weight=weights))
    assert sorted(shown) == pytest.approx(sorted(theirs))
    assert found.x[0] == 0 and found.x[-1] == 1
    assert found.prevalence == pytest.approx(np.average(y, weights=weights))


def test_a_curve_for_each_repeat_or_class(make_evaluation: Make) -> None:
    twice = make_evaluation(repeats=2)
    curves = class_curves(rows_of(twice), precision_recall_points)
    assert [curve.repeat for curve in curves] == [0, 1]
    several = make_evaluation("multiclass", ("accuracy",), classes=("a", "b", "c"))
    curves = class_curves(rows_of(several), precision_recall_points)
    assert [curve.name for curve in curves] == ["a", "b", "c"]
    numbers = make_evaluation("regression", ("r2",))
    assert class_curves(rows_of(numbers), precision_recall_points) == ()
    with pytest.raises(InputError, match=r"^DecisionCurveDisplay is for binary tasks, and this one is multiclass"):
        DecisionCurveDisplay.from_search(several)


def test_net_benefit_by_hand(make_evaluation: Make) -> None:
    evaluation = make_evaluation(repeats=2)
    truth, predictions = evaluation.task.truth, evaluation.predictions
    display = DecisionCurveDisplay.from_search(evaluation, configuration=3)
    (line,) = display.lines
    assert line.x[::49] == pytest.approx((0.01, 0.5, 0.99))
    y = truth.values == truth.positive
    for place, threshold in enumerate(line.x):
        acted = predictions.responses[Response.PROBABILITIES][:, 3] >= threshold
        odds = threshold / (1 - threshold)
        each = [((acted[:, r] & y).sum() - odds * (acted[:, r] & ~y).sum()) / len(y) for r in range(2)]
        assert line.y[place] == pytest.approx(np.mean(each))
        assert display.act_on_all[place] == pytest.approx(y.mean() - (1 - y.mean()) * odds)


def test_the_choice_of_a_threshold_is_that_of_the_estimate() -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(120) < 0.3).astype(int)
    scores = rng.normal(size=(120, 2)) + 1.5 * y[:, None]
    settings = {"metric": "f1", "selection": "threshold", "n_bootstraps": 100, "random_state": 3}
    estimate = ho.estimate(y, scores, method="bbc", **settings)  # type: ignore[arg-type]
    found = ThresholdChoiceDisplay.of_inputs(read_inputs(y, scores, **settings), "bbc")  # type: ignore[arg-type]
    assert found.estimate.value == estimate.value and found.threshold == estimate.provenance["threshold"]
    own = scores[:, estimate.selected]
    theirs = [f1_score(y, own > threshold, zero_division=0) for threshold in found.thresholds]
    assert found.scores == pytest.approx(theirs)
    assert (
        found.scores.max()
        == estimate.uncorrected
        == pytest.approx(found.scores[found.thresholds == found.threshold][0])
    )
    assert (found.low <= found.scores + 1e-12).all() and len(found.chosen) == 100
    assert np.isin(found.chosen[found.chose_winner], found.thresholds).all()
    assert found.response is Response.DECISION
    with pytest.raises(InputError, match="selection must tune a threshold, got 'best'"):
        ThresholdChoiceDisplay.of_inputs(read_inputs(y, scores > 0.5, metric="f1"))
