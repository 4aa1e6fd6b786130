"""The responses of a survival model that a cell records."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from heldout.data.task import truth_of
from heldout.errors import UnusablePredictionError
from heldout.execution.fit import Scoring
from heldout.execution.responses import coded_responses, remember_responses
from heldout.metrics import ConcordanceIndex, IntegratedBrier
from heldout.metrics.base import Response

TRUTH = truth_of([(True, 1.0), (False, 2.0), (True, 3.0), (False, 5.0)], "survival")
X = np.array([[4.0], [3.0], [2.0], [1.0]])


class Exponential(BaseEstimator):
    """Survival exp(-x t), and how often it was asked."""

    def __init__(self) -> None:
        self.n_asked = 0

    def predict(self, X: Any) -> Any:
        return np.asarray(X)[:, 0]

    def predict_survival_function(self, X: Any) -> Any:
        self.n_asked += 1
        return [lambda times, rate=row[0]: np.exp(-rate * times) for row in X]


def scoring_of(*metrics: Any, **settings: Any) -> Scoring:
    return Scoring(lambda *_: 0.0, {str(i): metric for i, metric in enumerate(metrics)}, "0", **settings)


def test_survival_is_recorded_at_the_times_of_all_metrics() -> None:
    scoring = scoring_of(ConcordanceIndex(), IntegratedBrier(times=(2, 4)), IntegratedBrier(times=(1, 2)))
    assert scoring.times == (1.0, 2.0, 4.0)
    found = coded_responses(TRUTH, scoring, Exponential(), X)
    assert found.keys() == {Response.RISK, Response.SURVIVAL}
    assert found[Response.RISK].tolist() == [4, 3, 2, 1]
    np.testing.assert_allclose(found[Response.SURVIVAL], np.exp(-np.outer(X[:, 0], (1, 2, 4))))


def test_more_times_are_recorded_where_they_are_asked_for() -> None:
    scoring = scoring_of(ConcordanceIndex(), keep=(Response.SURVIVAL,), more_times=(3.0,))
    assert coded_responses(TRUTH, scoring, Exponential(), X)[Response.SURVIVAL].shape == (4, 1)


def test_risks_alone_are_recorded_without_a_metric_that_can_be_opened() -> None:
    assert coded_responses(TRUTH, scoring_of(None), Exponential(), X).keys() == {Response.RISK}


def test_survival_is_computed_once() -> None:
    model = Exponential()
    remember_responses(model, X)
    scoring = scoring_of(IntegratedBrier(times=(1, 2)))
    first, second = (coded_responses(TRUTH, scoring, model, X)[Response.SURVIVAL] for _ in range(2))
    assert model.n_asked == 1 and (first == second).all()


def test_infinite_risks_are_unusable() -> None:
    with pytest.raises(UnusablePredictionError, match="NaN or infinite risk for 1 of 4"):
        coded_responses(TRUTH, scoring_of(ConcordanceIndex()), Exponential(), np.array([[np.inf], [1], [1], [1]]))


class ByKeyword(BaseEstimator):
    """Predicts from its own probabilities, which it asks for by keyword, as LightGBM does."""

    n_asked = 0

    def predict_proba(self, X: Any, raw: bool = False) -> Any:
        self.n_asked += 1
        return np.asarray(X)

    def predict(self, X: Any) -> Any:
        return self.predict_proba(X=X, raw=False)[:, 0]


def test_a_model_may_ask_itself_by_keyword() -> None:
    model = ByKeyword()
    remember_responses(model, X)
    assert model.predict(X).tolist() == [4, 3, 2, 1]
    model.predict_proba(X), model.predict_proba(X)
    assert model.n_asked == 2, "once by itself and once by others"
