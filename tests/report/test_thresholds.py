"""Tables of thresholds, and curves with few points."""

from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier

from heldout.data.task import truth_of
from heldout.metrics.base import Response
from heldout.predictions import HeldOutPredictions
from heldout.report.diagnostics import (
    MOST_PRECISION_POINTS,
    PROBABILITIES,
    PredictedRows,
    thinned_curve,
    threshold_table,
)
from heldout.report.entries import Facts


def table_of(positive: Any, scores: Any, response: Response, weights: Any = None) -> Facts | None:
    held = HeldOutPredictions({response: np.asarray(scores)[:, None, None]}, ("c0",))
    return threshold_table(PredictedRows(truth_of(np.asarray(positive).astype(int)), held, 0, weights))


def thresholds(positive: Any, scores: Any, response: Response = Response.PROBABILITIES) -> dict[float, Facts]:
    table = table_of(positive, scores, response)
    assert table is not None and table.of_probabilities == (response is Response.PROBABILITIES)
    return {row.threshold: row for row in table.rows}


def test_a_class_alone_has_no_thresholds() -> None:
    positive = np.array([1, 1, 0, 0])
    assert table_of(positive, np.arange(4.0) / 4, Response.PROBABILITIES, positive.astype(float)) is None


def test_long_curves_keep_both_ends_and_short_ones_all_points() -> None:
    share = tuple(np.linspace(0, 1, 5000).tolist())
    curve = Facts(name="", repeat=0, x=share, y=share[::-1], area=0.5, prevalence=0.5)
    found = thinned_curve(curve)
    assert len(found.x) <= MOST_PRECISION_POINTS
    assert (found.x[0], found.x[-1], found.y[-1]) == (0.0, 1.0, 0.0)
    short = Facts(name="", repeat=0, x=(0.0, 0.5, 1.0), y=(1.0, 1.0, 0.5), area=0.5, prevalence=0.5)
    assert thinned_curve(short) == short


def test_a_threshold_by_hand() -> None:
    positive = np.array([True, True, False, False, False])
    rows = thresholds(positive, [0.9, 0.45, 0.55, 0.5, np.nan])
    assert tuple(rows) == PROBABILITIES
    names = ("flagged", "recall", "specificity", "precision", "negative_predictive_value", "f1")
    assert [rows[0.5][name] for name in names] == [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    assert [rows[0.95][name] for name in names] == [0.0, 0.0, 1.0, None, 0.5, 0.0]
    assert rows[0.05].negative_predictive_value is None


def test_at_one_half_the_table_says_what_predict_does() -> None:
    X, y = make_classification(80, 3, n_informative=2, n_redundant=0, flip_y=0.3, random_state=0)
    model = KNeighborsClassifier(2).fit(X, y)
    shares = model.predict_proba(X)[:, 1]
    assert (shares == 0.5).any()
    assert thresholds(y == 1, shares)[0.5].flagged == model.predict(X).mean()


def test_thresholds_of_decision_values_leave_round_shares_above() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=1000)
    rows = thresholds(rng.random(1000) < 0.5, scores, Response.DECISION)
    at_zero = rows[0.0]  # as the models themselves call them
    assert at_zero.flagged == (scores > 0).mean()
    shares = [round(row.flagged, 2) for row in rows.values() if row is not at_zero]
    assert shares == [0.95, *(tenth / 10 for tenth in range(9, 0, -1)), 0.05]
