"""Cells: the columns of many give back every cell as it was put, and what they record of a survival model."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from heldout.data.task import truth_of
from heldout.errors import StoreError, UnusablePredictionError
from heldout.execution.cells import COLUMNS, CellKey, CellResult, CellState, CellTable, Saving, given_scores
from heldout.execution.fit import Scoring
from heldout.execution.responses import coded_responses, remember_responses
from heldout.metrics import ConcordanceIndex, IntegratedBrier
from heldout.metrics.base import Response

PLACES = ((0, 0), (0, 1), (1, 0))


def cells() -> list[CellResult]:
    """Two configurations on three splits, no two cells alike."""
    return [
        CellResult(CellKey(0, 0, 0), CellState.DONE, "", 0.5, 0.25, {"a": 1.0, "b": float("nan")}, {"a": 0.75}),
        CellResult(CellKey(0, 0, 1), CellState.FAILED, "it failed", 1.5, attempts=3),
        CellResult(CellKey(0, 1, 0), CellState.DONE, "b: no", 2.5, test_scores={"a": 2.0}),
        CellResult(CellKey(1, 0, 0), CellState.DONE, shared={"steps": Saving(1.0, 8.0)}, test_scores={"b": -0.0}),
        CellResult(CellKey(1, 0, 1), CellState.DONE, test_scores={"a": 3.0, "b": 4.0}),
        CellResult(CellKey(1, 1, 0), CellState.DROPPED),
    ]


def table(results: list[CellResult]) -> CellTable:
    made = CellTable.empty((0, 1), PLACES)
    for result in results:
        made.put((result.key.configuration, PLACES.index(result.key.place)), result)
    return made


def same(one: CellResult, other: CellResult) -> bool:
    return all(repr(getattr(one, each.name)) == repr(getattr(other, each.name)) for each in fields(CellResult))


def test_every_field_but_places_scores_and_predictions_is_a_column() -> None:
    beside = {"key", "test_scores", "train_scores", "predictions"}
    not_kept = {"ahead_seconds", "n_following", "model"}
    assert {each.name for each in fields(CellResult)} == beside | not_kept | COLUMNS.keys()


@pytest.mark.parametrize("order", [1, -1])
def test_cells_come_back_configuration_by_configuration(order: int) -> None:
    found = table(cells()[::order])
    assert len(found) == 6
    assert all(same(one, other) for one, other in zip(found, cells(), strict=True))
    assert same(found[-1], cells()[-1])
    assert [cell.key for cell in found[2:4]] == [(0, 1, 0), (1, 0, 0)]
    with pytest.raises(IndexError):
        found[6]


def test_a_score_that_is_lacking_is_not_one_that_is_nan() -> None:
    column = table(cells()).test_scores["b"]
    filled = np.where(column["given"], column["value"], 9.0)
    assert np.array_equal(filled, [[np.nan, 9.0, 9.0], [0.0, 4.0, 9.0]], equal_nan=True)


def test_splits_in_another_order_and_those_of_dropped_configurations() -> None:
    found = table(cells()).of_splits([(1, 0), (0, 0)], {0: {(1, 0)}})
    assert [cell.key for cell in found] == [(0, 1, 0), (0, 0, 0), (1, 1, 0), (1, 0, 0)]
    assert same(found[0], CellResult(CellKey(0, 1, 0), CellState.DROPPED))
    assert same(found[1], cells()[0])


def test_a_table_is_put_as_its_cells_one_by_one() -> None:
    block = CellTable.empty(
        (1, 0),
        ((1, 0), (0, 1)),
        predictions={Response.VALUES: np.arange(6.0).reshape(3, 2)},
        sizes=(2, 1),
        test_scores={"a": given_scores(np.array([[1.0, 2.0], [3.0, 4.0]]))},
    )
    block.columns[...] = np.array((CellState.DONE, "", 0.1, 0.0, 1, {}, {}), dtype=block.columns.dtype)
    block.columns["fit_seconds"] = [[0.1, 0.2], [0.3, 0.4]]
    one, other = table(cells()), table(cells())
    one.put(np.ix_([1, 0], [2, 1]), block)
    for cell in block:
        other.put((cell.key.configuration, PLACES.index(cell.key.place)), cell)
    assert all(same(mine, theirs) for mine, theirs in zip(one, other, strict=True))
    assert [cell.key for cell in block] == list(block.keys) == [(1, 1, 0), (1, 0, 1), (0, 1, 0), (0, 0, 1)]
    assert [cell.predictions[Response.VALUES].tolist() for cell in block] == [[0, 2], [4], [1, 3], [5]]


def test_a_block_of_splits_of_other_sizes_is_refused() -> None:
    labels = {Response.LABELS: np.zeros((3, 2), dtype=np.int32)}
    good = CellTable.empty((0, 1), PLACES[:2], predictions=labels, sizes=(2, 1))
    good.check([2, 1], truth_of([0, 1]), 0)
    with pytest.raises(
        StoreError, match=r"the block of 2 configurations on 2 splits holds .* 2 rows where 3 are due"
    ):
        replace(good, sizes=(1, 1)).check([2, 1], truth_of([0, 1]), 0)


# The responses of a survival model that a cell records.


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
