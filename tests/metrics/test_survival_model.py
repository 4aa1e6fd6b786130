"""What survival models are asked for: each way of saying survival, read by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline

from heldout.errors import InputError, UnusablePredictionError
from heldout.metrics import ConcordanceIndex, IntegratedBrier
from heldout.metrics.base import Signed, at_times_of, times_of
from heldout.metrics.survival_model import gives_survival, risks, survival

KNOWN = np.array([1.0, 2.0, 4.0])
HEIGHTS = np.array([[0.9, 0.6, 0.2], [0.8, 0.5, 0.1]])
ASKED = (0.5, 1.0, 1.9, 2.0, 4.0)
READ = [[1.0, 0.9, 0.9, 0.6, 0.2], [1.0, 0.8, 0.8, 0.5, 0.1]]
ROWS = np.zeros((2, 1))


class Step:
    """scikit-survival's, in what is read of it."""

    def __init__(self, y: Any, end: float = 4.0, a: float = 1.0) -> None:
        self.x, self.y, self.a, self.b, self.domain = KNOWN, y, a, 0.0, (0.0, end)


class Model(BaseEstimator):
    def __init__(self, answer: Any = None) -> None:
        self.answer = answer

    def fit(self, X: Any, y: Any) -> Model:
        self.fitted_ = True
        return self

    def predict_survival_function(self, X: Any) -> Any:
        return self.answer

    def predict(self, X: Any) -> Any:
        return np.asarray(X)[:, 0]


class Columns(Model):
    def __init__(self, answer: Any = None, known: Any = None) -> None:
        self.answer = answer
        self.event_times_ = known


class TakesTimes(Model):
    def predict_survival_function(self, X: Any, times: Any) -> Any:
        return np.exp(-np.outer(np.asarray(X)[:, 0], times))


class Doubling(TransformerMixin, BaseEstimator):
    def fit(self, X: Any, y: Any = None) -> Doubling:
        return self

    def transform(self, X: Any) -> Any:
        return 2 * np.asarray(X)


@pytest.mark.parametrize(
    "model",
    [
        Model(np.array([Step(row) for row in HEIGHTS], dtype=object)),
        Model([Step(row / 2, a=2.0) for row in HEIGHTS]),
        Columns(HEIGHTS, KNOWN),
    ],
    ids=["steps", "scaled steps", "columns"],
)
def test_steps_are_right_continuous_and_begin_at_one(model: Any) -> None:
    np.testing.assert_allclose(survival(model, ROWS, ASKED), READ, rtol=0, atol=1e-15)


def test_a_function_of_time_is_called() -> None:
    found = survival(Model([lambda t: np.exp(-t), lambda t: np.exp(-2 * t)]), ROWS, (1.0, 3.0))
    np.testing.assert_allclose(found, np.exp([[-1, -3], [-2, -6]]))


def test_a_method_that_takes_times_is_given_them_through_a_pipeline_too() -> None:
    X = np.array([[0.5], [1.0]])
    np.testing.assert_allclose(survival(TakesTimes(), X, (1, 2)), np.exp([[-0.5, -1], [-1, -2]]))
    piped = make_pipeline(Doubling(), "passthrough", TakesTimes())
    np.testing.assert_allclose(survival(piped, X, (1, 2)), np.exp([[-1, -2], [-2, -4]]))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Model([Step(row) for row in HEIGHTS]), "no survival after time 4, .* needs 4.5"),
        (Columns(HEIGHTS, KNOWN), "no survival after time 4"),
        (Columns(HEIGHTS, KNOWN[:2]), "3 columns, and it does not say of which times"),
        (Model([0.5, 0.25]), "not functions of time"),
        (TakesTimes(), None),
    ],
    ids=["steps", "columns", "other columns", "numbers", "takes times"],
)
def test_what_cannot_be_read_is_an_error(model: Any, message: str | None) -> None:
    if message is None:  # whoever takes times answers for them
        assert survival(model, ROWS, (4.5,)).tolist() == [[1.0], [1.0]]
        return
    with pytest.raises(UnusablePredictionError, match=message):
        survival(model, ROWS, (1.0, 4.5))


def test_steps_that_last_longer_are_read_to_their_end() -> None:
    model = Model([Step(row, end=9.0) for row in HEIGHTS])
    assert survival(model, ROWS, (8.0,)).ravel().tolist() == [0.2, 0.1]
    with pytest.raises(UnusablePredictionError, match="after time 9"):
        survival(model, ROWS, (9.5,))


def test_a_wrong_number_of_columns_is_refused() -> None:
    class Wrong(Model):
        def predict_survival_function(self, X: Any, times: Any) -> Any:
            return np.ones(len(X))

    with pytest.raises(UnusablePredictionError, match="2 times, but gave an array of shape"):
        survival(Wrong(), ROWS, (1.0, 2.0))


def test_predicted_times_are_turned_to_risks() -> None:
    class Times(Model):
        _predict_risk_score = False

    X = np.array([[3.0], [5.0]])
    assert risks(Model(), X).tolist() == [3, 5]
    assert risks(make_pipeline(Doubling(), Times()).fit(X, X), X).tolist() == [-6, -10]


def test_who_gives_survival() -> None:
    assert gives_survival(Model()) and gives_survival(make_pipeline(Doubling(), Model()))
    assert not gives_survival(Doubling())


def test_a_metric_reads_its_own_times() -> None:
    brier = Signed(IntegratedBrier(times=(1, 4)), -1)
    assert times_of(brier) == (1.0, 4.0) and times_of(ConcordanceIndex()) == ()
    array = np.arange(6.0).reshape(1, 2, 3)
    assert at_times_of(brier, array, (1.0, 2.0, 4.0)).tolist() == [[[0, 2], [3, 5]]]
    assert at_times_of(ConcordanceIndex(), array, (1.0, 2.0, 4.0)) is array
    with pytest.raises(InputError, match="at time 4, but the predictions are of times 1, 2"):
        at_times_of(brier, array[..., :2], (1.0, 2.0))
