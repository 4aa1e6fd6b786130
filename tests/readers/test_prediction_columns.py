"""Columns named ``name[class]``: read as probabilities of classes, or refused with what is lacking."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import heldout as ho
from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.metrics import metric_named
from heldout.metrics.base import Response
from heldout.readers.prediction_columns import ColumnPredictions, check_kinds, held_out, prediction_columns_of
from heldout.readers.prediction_table import PredictionTable

N = 12
THREE, TWO = ["a", "b", "c"] * 4, [0, 1] * 6


def table(columns: Any) -> ColumnPredictions:
    return ColumnPredictions(pd.DataFrame(columns), np.arange(N)[:, None])


def guessed(y: list[Any], found: ColumnPredictions) -> str:
    return PredictionTable(np.asarray(y), found).guessed_metric(truth_of(y))


def probabilities(labels: list[Any], *names: str) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    columns = {}
    for name in names:
        share = rng.dirichlet(np.ones(len(labels)), size=N)
        columns |= {f"{name}[{label}]": share[:, place] for place, label in enumerate(labels)}
    return columns


def test_classes_are_in_the_order_of_the_target() -> None:
    columns = probabilities(["c", "a", "b"], "one", "two")
    found, truth = table(columns), truth_of(THREE)
    heads = prediction_columns_of(found, truth)
    held = held_out(found, None, heads, truth, metric_named("log_loss"))

    assert heads.names == held.names == ("one", "two") and heads.per_class
    assert heads.columns[1] == ("two[a]", "two[b]", "two[c]")
    stored = held.responses[Response.PROBABILITIES]
    assert stored.shape == (N, 2, 1, 3)
    np.testing.assert_array_equal(stored[:, 1, 0, 2], columns["two[c]"])
    assert guessed(THREE, found) == "accuracy"


def test_several_classes_scored_by_labels_take_the_greatest() -> None:
    found, truth = table(probabilities(["a", "b", "c"], "one")), truth_of(THREE)
    held = held_out(found, None, prediction_columns_of(found, truth), truth, metric_named("accuracy"))

    greatest = found.frame.to_numpy().argmax(axis=1)
    np.testing.assert_array_equal(held.responses[Response.LABELS][:, 0, 0], greatest)


@pytest.mark.parametrize("labels", [["0", "1"], ["1.0", "0.0"], ["1"]], ids=["both", "as floats", "positive only"])
def test_of_two_classes_both_or_the_positive_one_will_do(labels: list[str]) -> None:
    columns = probabilities(["0", "1"], "one", "two")
    columns = {f"{name}[{label}]": columns[f"{name}[{label[0]}]"] for name in ("one", "two") for label in labels}
    found, truth = table(columns), truth_of(TWO)
    heads = prediction_columns_of(found, truth)
    held = held_out(found, None, heads, truth, metric_named("roc_auc"))

    assert held.names == ("one", "two")
    stored = held.responses[Response.PROBABILITIES]
    np.testing.assert_array_equal(stored[:, 0, 0], columns[f"one[{'1.0' if '1.0' in labels else '1'}]"])
    assert guessed(TWO, found) == "roc_auc"


def test_brackets_that_hold_no_class_belong_to_the_name() -> None:
    columns = {"svm[C=1]": 0.5, "svm[C=2]": 0.25, "forest": 0.75}
    heads = prediction_columns_of(table(pd.DataFrame(columns, index=range(N))), truth_of(TWO))

    assert heads.names == ("svm[C=1]", "svm[C=2]", "forest") and not heads.per_class
    numbers = prediction_columns_of(table({"svm[0]": np.ones(N)}), truth_of(np.arange(N) + 0.5))
    assert numbers.names == ("svm[0]",)


@pytest.mark.parametrize(
    ("y", "columns", "said"),
    [
        (
            THREE,
            ["one[a]", "one[b]"],
            r"'one\[a\]', 'one\[b\]' of 'one' must be one column for each class of the target \('a', 'b', 'c'\)",
        ),
        (
            THREE,
            ["one[a]", "one[b]", "one[c]", "two"],
            r"column 'two' belongs to no class of the target .*, as 'one\[a\]' does",
        ),
        (
            THREE,
            ["one[a]", "one[b]", "one[d]"],
            r"column 'one\[d\]' belongs to no class of the target",
        ),
        (TWO, ["one[0]"], r"'one\[0\]' of 'one' must be .*positive one, 1, is enough; --positive LABEL"),
        (TWO, ["one[0]", "one[1]", "two[1]"], r"'two\[1\]' of 'two' must be one column for each class"),
        (TWO, ["one[1]", "one[1.0]"], r"'one\[1\]', 'one\[1.0\]' name a class of the target twice"),
        (TWO, ["one[no]", "one[yes]"], r"'one\[no\]', 'one\[yes\]' sum to 1 in every row, .* \('0', '1'\)"),
    ],
    ids=["lacking", "mixed", "no class", "negative only", "uneven", "twice", "other labels"],
)
def test_classes_that_cannot_be_matched_are_refused(y: Any, columns: list[str], said: str) -> None:
    share = np.full(N, 1 / len(columns))
    with pytest.raises(InputError, match=said):
        found, truth = table(dict.fromkeys(columns, share)), truth_of(y)
        check_kinds(found, prediction_columns_of(found, truth), truth, metric_named("accuracy"))


def test_text_in_a_column_of_a_class_is_refused_with_its_row() -> None:
    columns = probabilities(["a", "b", "c"], "one")
    columns["one[b]"] = np.array([*map(str, columns["one[b]"][:-1]), "high"], dtype=object)
    found, truth = table(columns), truth_of(THREE)

    with pytest.raises(InputError, match=r"column 'one\[b\]' must hold numbers, got 'high' in row 12"):
        check_kinds(found, prediction_columns_of(found, truth), truth, metric_named("accuracy"))


def test_shares_that_do_not_sum_to_one_are_refused() -> None:
    columns = {name: values * 2 for name, values in probabilities(["a", "b", "c"], "one").items()}
    found, truth = table(columns), truth_of(THREE)

    with pytest.raises(InputError, match=r"log_loss needs probabilities, got numbers from .*, beyond \[0, 1\]"):
        held_out(found, None, prediction_columns_of(found, truth), truth, metric_named("log_loss"))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (["m0[yes]", "m1[yes]", "note"], r"column 'note' belongs to no class .*, as 'm0\[yes\]' does"),
        (["m0[no]x", "m0[yes]"], r"column 'm0\[no\]x' belongs to no class .*, as 'm0\[yes\]' does"),
        (["q[yes]", "q[ yes ]"], r"'q\[yes\]', 'q\[ yes \]' name a class of the target twice"),
    ],
)
def test_the_column_that_is_of_no_class_or_of_one_twice_is_named(columns: list[str], said: str) -> None:
    share = np.linspace(0.1, 0.9, 20)
    frame = pd.DataFrame({"y": ["no", "yes"] * 10, **dict.fromkeys(columns, share)})
    table = ho.read_predictions(frame, target="y", prediction=columns)
    with pytest.raises(ho.InputError, match=said):
        ho.estimate(table, metric="roc_auc")
