"""Hand-worked and degenerate values of Cohen's kappa."""

from typing import Any

import numpy as np
import pytest

from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.metrics import CohenKappa


def value(metric: CohenKappa, y: Any, predicted: Any, counts: Any = None) -> float:
    weights = np.ones((1, len(y)), np.uint8) if counts is None else np.atleast_2d(counts)
    return float(metric.statistic(truth_of(y, "multiclass"), np.array(predicted)[:, None]).all(weights)[0, 0])


def test_by_hand() -> None:
    # Agreement 3 of 5; by chance (3·2 + 2·3) / 25.
    assert value(CohenKappa(), [0, 0, 0, 1, 1], [0, 0, 1, 1, 0]) == pytest.approx((3 / 5 - 13 / 25) / (1 - 13 / 25))


def test_weighted_by_hand() -> None:
    y, predicted = [0, 0, 1, 2], [0, 2, 1, 1]
    # Shares (2, 1, 1) and (1, 2, 1) of 4: distances by chance, of the 16 pairs.
    linear, quadratic = (2 * (2 + 2) + (1 + 1) + (2 + 2)) / 16, (2 * (2 + 4) + (1 + 1) + (4 + 2)) / 16
    assert value(CohenKappa("linear"), y, predicted) == pytest.approx(1 - (3 / 4) / linear)
    assert value(CohenKappa("quadratic"), y, predicted) == pytest.approx(1 - (5 / 4) / quadratic)


def test_of_two_classes_the_weights_change_nothing() -> None:
    y, predicted = [0, 0, 0, 1, 1], [0, 0, 1, 1, 0]
    found = {value(CohenKappa(weights), y, predicted) for weights in (None, "linear", "quadratic")}
    assert max(found) - min(found) < 1e-15


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@pytest.mark.parametrize("real", [False, True], ids=["counts", "weights"])
def test_one_class_throughout_has_no_kappa(weights: Any, real: bool) -> None:
    counts = np.array([0, 0, 3, 1, 2]) * (np.array([0.1, 0.2, 0.3, 0.7, 0.11]) if real else 1)
    counts = counts if real else counts.astype(np.uint8)
    kappa = CohenKappa(weights)
    assert np.isnan(value(kappa, [0, 1, 2, 2, 2], [0, 1, 2, 2, 2], counts))
    assert np.isnan(value(kappa, [0, 1, 2, 2, 2], [0, 1, 2, 2, 2], 0 * counts))
    assert value(kappa, [0, 1, 2, 2, 2], [0, 1, 2, 2, 1], counts) == pytest.approx(0.0, abs=1e-15)


def test_a_class_that_is_absent_keeps_its_place_on_the_scale() -> None:
    truth = truth_of([0, 0, 2, 3], "multiclass", classes=[0, 1, 2, 3])
    predicted, once = np.array([[0], [2], [2], [3]]), np.ones((1, 4), np.uint8)
    keep, skip = (
        CohenKappa("quadratic", how).statistic(truth, predicted).all(once)[0, 0] for how in ("keep", "skip")
    )
    # The one error costs 4 or 1; what 16 pairs cost by chance is written out.
    assert keep == pytest.approx(1 - 4 * 4 / (2 * (2 * 4 + 9) + (4 + 1) + (9 + 2)))
    assert skip == pytest.approx(1 - 4 * 1 / (2 * (2 * 1 + 4) + (1 + 1) + (4 + 2)))


def test_parameters_have_their_sentences() -> None:
    with pytest.raises(InputError, match="weights must be one of None, 'linear', 'quadratic', got 'square'"):
        CohenKappa("square")  # type: ignore[arg-type]


def test_names_and_titles_say_the_weights():
    plain, linear = CohenKappa(), CohenKappa("linear")
    assert (plain.name, plain.title) == ("cohen_kappa", "Cohen's kappa")
    assert (linear.name, linear.title) == ("linear_weighted_kappa", "Kappa, linear weights")
