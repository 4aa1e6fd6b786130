"""Hand-worked and degenerate values of the distances from a calibration curve."""

from typing import Any

import numpy as np
import pytest

from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.kernels.lowess import Lowess
from heldout.metrics import E90, ECI, ICI, Emax
from heldout.metrics.base import Metric, Needs
from heldout.metrics.calibration import _Kept

ALL = [Emax, ICI, E90, ECI]


def value(metric: Metric, y: Any, given: Any, counts: Any = None) -> float:
    weights = np.ones((1, len(y)), np.uint8) if counts is None else np.array([counts])
    truth = truth_of(y, classes=[0, 1])
    return float(metric.statistic(truth, np.asarray(given)[:, None]).all(weights)[0, 0])


def test_of_two_groups_by_hand() -> None:
    # The curve goes through .25 at .1 and .75 at .9, which is also the logistic regression.
    y, given = [1, 0, 0, 0, 1, 1, 1, 0], [0.1] * 4 + [0.9] * 4
    for smoother in ("lowess", "logistic"):
        assert value(Emax(smoother), y, given) == pytest.approx(0.15, abs=1e-12)
        assert value(ICI(smoother), y, given) == pytest.approx(0.15, abs=1e-12)
        assert value(E90(smoother), y, given) == pytest.approx(0.15, abs=1e-12)
        assert value(ECI(smoother), y, given) == pytest.approx(2.25, abs=1e-10)


def test_nine_tenths_by_weight() -> None:
    # Two groups at distances .1 and .2 from their shares: the further one is a tenth of the rows, or more.
    y, given = [1, 0, 1, 0], [0.4, 0.4, 0.7, 0.7]
    assert value(E90(), y, given, [9.0, 9.0, 1.0, 1.0]) == pytest.approx(0.1, abs=1e-12)
    assert value(E90(), y, given, [8.9, 8.9, 1.1, 1.1]) == pytest.approx(0.2, abs=1e-12)


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric().name)
def test_rows_of_one_class_have_a_curve_but_no_regression(metric: type[Any]) -> None:
    assert value(metric(), [1, 1, 1], [0.2, 0.5, 0.8]) > 0.1
    assert np.isnan(value(metric("logistic"), [1, 1, 1], [0.2, 0.5, 0.8]))
    assert np.isnan(value(metric("logistic"), [0, 0, 1], [0.2, 0.5, 0.8]))
    assert np.isnan(value(metric(), [0, 1, 1], [0.2, 0.5, 0.8], [0.0, 0.0, 0.0]))
    assert metric().needs is Needs.ROW and metric("logistic").needs is Needs.EVERY_CLASS


def test_one_probability_for_all_is_as_far_off_as_the_prevalence() -> None:
    y, given = [0, 1, 1, 1], [0.5] * 4
    assert [value(metric(), y, given) for metric in ALL] == pytest.approx([0.25, 0.25, 0.25, 6.25])


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"smoother": "spline"}, "smoother must be one of 'lowess', 'logistic', got 'spline'"),
    ],
)
def test_parameters_have_their_sentences(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Emax(**wrong)
    with pytest.raises(InputError, match="'ici' needs probabilities from 0 to 1, got values from -2"):
        value(ICI(), [0, 1], [-2.0, 3.0])


def test_names_say_the_parameters() -> None:
    assert Emax("logistic").name == "emax(smoother='logistic')"


def test_metrics_of_one_curve_compute_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(20)
    given = rng.random((40, 2))
    truth = truth_of((rng.random(40) < given[:, 0]).astype(int), classes=[0, 1])
    counts = rng.integers(0, 3, size=(5, 40)).astype(np.uint8)
    curves: list[int] = []
    at_rows = Lowess.at_rows
    monkeypatch.setattr(Lowess, "at_rows", lambda self, weights: curves.append(1) or at_rows(self, weights))

    together = [metric().statistic(truth, given).all(counts) for metric in ALL]
    assert len(curves) == 10  # 5 weightings of 2 columns, and not for each of the metrics
    monkeypatch.setattr("heldout.metrics.calibration.KEPT", _Kept(3))  # too few to be of use
    for metric, values in zip(ALL, together, strict=True):
        alone = metric().statistic(truth, given).all(counts)
        np.testing.assert_array_equal(alone, values)
    assert len(curves) == 50
