"""Hand-worked and degenerate values of the start of the ROC curve."""

from typing import Any

import numpy as np
import pytest

from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.metrics import PartialRocAuc, SensitivityAtSpecificity
from heldout.metrics.base import Metric

Y = [0, 0, 0, 0, 0, 1, 1, 1, 1]
SCORES = [0.1, 0.2, 0.3, 0.4, 0.7, 0.35, 0.4, 0.8, 0.9]


def value(metric: Metric, scores: Any, y: Any = Y, counts: Any = None) -> float:
    truth = truth_of(y)
    weights = np.ones((1, len(y)), np.uint8) if counts is None else np.array([counts], np.uint8)
    found = metric.statistic(truth, np.asarray(scores, dtype=float)[:, None]).all(weights)
    return float(found[0, 0])


@pytest.mark.parametrize(
    ("specificity", "sensitivity"),
    [(1.0, 2 / 4), (0.9, 2 / 4), (0.8, 2 / 4), (0.6, 1.0), (0.61, 2 / 4), (0.0, 1.0)],
)
def test_sensitivity_by_hand(specificity: float, sensitivity: float) -> None:
    # .9 and .8 are above all negatives; the next positives come with the negatives of .7 and of .4.
    assert value(SensitivityAtSpecificity(specificity), SCORES) == sensitivity


def test_tied_rows_are_called_positive_together() -> None:
    assert value(SensitivityAtSpecificity(0.5), [0.5] * 9) == 0.0
    assert value(SensitivityAtSpecificity(0.0), [0.5] * 9) == 1.0


def test_partial_area_by_hand() -> None:
    # Height 1/2 up to .2, then from 1/2 to 3/4 over the tie that ends at .4.
    area, chance = 0.2 * 0.5 + 0.2 * (0.5 + 0.75) / 2, 0.4**2 / 2
    assert value(PartialRocAuc(0.4), SCORES) == pytest.approx(0.5 * (1 + (area - chance) / (0.4 - chance)))


@pytest.mark.parametrize("max_fpr", [0.05, 0.1, 0.5, 1])
def test_a_constant_has_half_and_the_perfect_all(max_fpr: float) -> None:
    assert value(PartialRocAuc(max_fpr), [0.5] * 9) == pytest.approx(0.5, abs=1e-15)
    assert value(PartialRocAuc(max_fpr), Y) == pytest.approx(1.0, abs=1e-15)
    assert value(PartialRocAuc(max_fpr), np.negative(Y)) == pytest.approx(PartialRocAuc(max_fpr).range[0])


def test_both_need_both_classes() -> None:
    for metric in (SensitivityAtSpecificity(), PartialRocAuc()):
        assert np.isnan(value(metric, SCORES, counts=[1, 1, 1, 1, 1, 0, 0, 0, 0]))
        assert np.isnan(value(metric, SCORES, counts=[0, 0, 0, 0, 0, 1, 1, 1, 1]))


@pytest.mark.parametrize("wrong", [-0.1, 1.5, np.nan, "high", None, True])
def test_parameters_have_their_sentences(wrong: Any) -> None:
    with pytest.raises(InputError, match="specificity must be a number from 0 to 1, got"):
        SensitivityAtSpecificity(wrong)
    with pytest.raises(InputError, match="max_fpr must be a number above 0"):
        PartialRocAuc(wrong)


def test_names_say_what_is_not_usual() -> None:
    assert SensitivityAtSpecificity().name == "sensitivity_at_specificity"
    assert SensitivityAtSpecificity(0.95).name == "sensitivity_at_specificity(specificity=0.95)"
    assert PartialRocAuc(0.2).name == "partial_roc_auc(max_fpr=0.2)"
