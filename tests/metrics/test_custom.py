"""A function as a metric: what it is handed, and what becomes of its failures."""

import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import sklearn.metrics as skm
from sklearn.exceptions import UndefinedMetricWarning

from heldout.data.task import TaskKind, truth_of
from heldout.errors import InputError
from heldout.metrics.base import Metric, Needs, Response, Signed
from heldout.metrics.classification import LogLoss
from heldout.metrics.custom import CustomMetric, custom

COUNTS = np.array([[1, 1, 1, 1], [2, 0, 1, 1], [0, 0, 0, 0]], dtype=np.uint8)


def share_right(y_true: Any, y_pred: Any) -> float:
    return float(np.mean(y_true == y_pred))


def test_labels_are_handed_over_as_the_user_wrote_them() -> None:
    seen: list[Any] = []

    def look(y_true: Any, y_pred: Any) -> float:
        seen.append((y_true.tolist(), y_pred.tolist()))
        return 0.0

    metric = custom(look, greater_is_better=True, response="labels")
    bound = metric.statistic(truth_of(["b", "a", "c", "a"]), np.array([[0], [0], [2], [1]]))
    bound.all(COUNTS)
    assert seen == [
        (["b", "a", "c", "a"], ["a", "a", "c", "b"]),
        (["b", "b", "c", "a"], ["a", "a", "c", "b"]),
    ]


def test_rows_are_repeated_for_a_function_without_weights_and_weighted_for_one_with_them() -> None:
    truth, predicted = truth_of([0, 1, 1, 0]), np.array([[0, 1], [1, 1], [0, 1], [0, 0]])
    plain = custom(share_right, greater_is_better=True, response="labels")
    weighted = custom(skm.accuracy_score, greater_is_better=True, response="labels")
    assert (plain.takes_weights, weighted.takes_weights) == (False, True)
    for metric in (plain, weighted):
        bound = metric.statistic(truth, predicted)
        np.testing.assert_allclose(bound.all(COUNTS), [[0.75, 0.75], [0.75, 0.5], [np.nan, np.nan]])
        np.testing.assert_allclose(bound.selected(COUNTS, np.array([1, 1, 0])), [0.75, 0.5, np.nan])
    with pytest.raises(InputError, match="takes whole counts only"):
        plain.statistic(truth, predicted).all(COUNTS * 0.5)


def test_takes_weights_can_be_passed_where_the_signature_is_unknown() -> None:
    def keywords(y_true: Any, y_pred: Any, **more: Any) -> float:
        return float(np.average(y_true == y_pred, weights=more["sample_weight"]))

    metric = custom(keywords, greater_is_better=True, response="labels", takes_weights=True)
    bound = metric.statistic(truth_of([0, 1, 1, 0]), np.array([[0], [1], [0], [1]]))
    np.testing.assert_allclose(bound.all(COUNTS[:2])[:, 0], [0.5, 0.5])


def test_what_raises_or_is_not_finite_is_nan_and_its_message_is_kept() -> None:
    def moody(y_true: Any, y_pred: Any) -> Any:
        if y_pred[0] == 1:
            raise ZeroDivisionError("no rows of that kind")
        return [np.inf, None, 0.25][int(y_pred[0] / 2)]

    metric = custom(moody, greater_is_better=True, response="values")
    bound = metric.statistic(truth_of([0.5, 1.5], "regression"), np.array([[0, 1, 2, 4], [0, 0, 0, 0]]))
    counts = np.array([[1, 1], [2, 0]], dtype=np.uint8)
    np.testing.assert_array_equal(bound.all(counts), [[np.nan, np.nan, np.nan, 0.25]] * 2)
    assert bound.failures["ZeroDivisionError: no rows of that kind"] == 2
    assert bound.failures["the value inf"] == 2
    assert sum(times for message, times in bound.failures.items() if "TypeError" in message) == 2


def test_filters_of_the_process_are_left_alone_so_warnings_pass_through() -> None:
    # catch_warnings in a thread may put back the filters of another thread, for good.
    metric = custom(skm.precision_score, greater_is_better=True, response="labels")
    bound = metric.statistic(truth_of([0, 1, 1, 0]), np.zeros((4, 1), dtype=np.int32))
    with pytest.warns(UndefinedMetricWarning):
        np.testing.assert_array_equal(bound.all(COUNTS[:1]), [[0.0]])


class SlowToRead(dict[str, int]):
    """A dict whose readers are overtaken."""

    def get(self, key: str, default: Any = None) -> Any:
        value = super().get(key, default)
        time.sleep(1e-4)
        return value


def test_failures_are_counted_in_any_number_of_threads() -> None:
    def fails(y_true: Any, y_pred: Any) -> float:
        raise ValueError("no")

    metric = custom(fails, greater_is_better=True, response="labels")
    bound = metric.statistic(truth_of([0, 1, 1, 0]), np.zeros((4, 1), dtype=np.int32))
    bound = replace(bound, failures=SlowToRead())
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: bound.all(COUNTS[:2]), range(40)))
    assert bound.failures == {"ValueError: no": 80}


def test_arguments_that_neither_hash_nor_compare_are_no_obstacle() -> None:
    def make() -> CustomMetric:
        return replace(
            custom(share_right, greater_is_better=True, response="labels"),
            arguments=(("labels", np.array([0, 1])), ("average", ["macro"])),
        )

    one, other = make(), make()
    assert one == one
    assert one != other
    assert Signed(one, -1) == Signed(one, -1) != Signed(other, -1)
    assert len({one, other, Signed(one, -1), Signed(one, -1)}) == 3


def test_it_declares_that_it_runs_code_of_others_and_what_it_needs() -> None:
    metric = custom(share_right, greater_is_better=True, response="labels", needs=Needs.EVERY_CLASS)
    assert metric.calls_foreign_code and Signed(metric, -1).calls_foreign_code
    assert not Signed(LogLoss(), -1).calls_foreign_code
    assert (metric.needs, metric.undefined_without) == (Needs.EVERY_CLASS, Needs.EVERY_CLASS)


def test_probabilities_point_to_the_class_that_the_function_calls_positive() -> None:
    metric = custom(lambda y, p: p[0], greater_is_better=True, response="probabilities", name="first")
    truth, given = truth_of([1, 2]), np.array([[0.2], [0.9]])
    assert metric.statistic(truth, given).all(np.ones((1, 2), np.uint8)) == 0.2
    turned = replace(metric, pos_label=1)
    assert turned.statistic(truth, given).all(np.ones((1, 2), np.uint8)) == 0.8
    decided = replace(turned, responses=(Response.DECISION, Response.PROBABILITIES))
    assert decided.statistic(truth, given).all(np.ones((1, 2), np.uint8)) == -0.2
    with pytest.raises(InputError, match="pos_label=7"):
        replace(metric, pos_label=7).for_truth(truth)


def test_it_declares_itself() -> None:
    metric = custom(
        partial(skm.fbeta_score, beta=2),
        greater_is_better=True,
        response=("decision", "probabilities"),
        range=(0, 1),
        needs="a row of every class",
    )
    assert isinstance(metric, Metric)
    assert metric.name == "fbeta_score"
    assert metric.responses == (Response.DECISION, Response.PROBABILITIES)
    assert metric.needs is Needs.EVERY_CLASS
    assert metric.range == (0.0, 1.0)
    assert metric.tasks == {TaskKind.BINARY, TaskKind.MULTICLASS}
    assert not metric.row_wise
    assert custom(share_right, greater_is_better=True, response="values").tasks == {TaskKind.REGRESSION}
    assert pickle.loads(pickle.dumps(metric)).name == "fbeta_score"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"f": 3}, "needs a function"),
        (
            {"response": "proba"},
            "response must be one of labels, probabilities, decision, values, risk, survival, got 'proba'",
        ),
        ({"response": ()}, "response must be one of"),
        ({"response": ("labels", "decision")}, "cannot read both"),
        ({"response": ("risk", "values")}, "one of risk and survival, alone"),
        ({"range": (1, 0)}, "least < greatest"),
        ({"needs": "luck"}, "needs must be one of 'a row'"),
    ],
    ids=lambda p: next(iter(p)) if isinstance(p, dict) else "",
)
def test_wrong_arguments_have_their_sentence(wrong: dict[str, Any], sentence: str) -> None:
    arguments = {"f": share_right, "greater_is_better": True, "response": "labels"} | wrong
    with pytest.raises(InputError, match=sentence):
        custom(**arguments)
