import numpy as np
import pandas as pd
import pytest

from heldout.errors import InputError
from heldout.task import Task, TaskKind, checked_groups, checked_weights, codes_of, missing, truth_of


@pytest.mark.parametrize(
    "y, kind, classes, pos_label",
    [
        (["b", "a", "b"], TaskKind.BINARY, ["a", "b"], "b"),
        ([True, False], TaskKind.BINARY, [False, True], True),
        ([2, 1, 2], TaskKind.BINARY, [1, 2], 2),
        ([3, 1, 2], TaskKind.MULTICLASS, [1, 2, 3], None),
        (pd.Series(["x", "y", "z"], dtype="category"), TaskKind.MULTICLASS, ["x", "y", "z"], None),
        (np.array([["a"], ["b"]]), TaskKind.BINARY, ["a", "b"], "b"),
    ],
)
def test_labels_become_codes(y, kind, classes, pos_label):
    truth = truth_of(y)
    assert truth.kind is kind
    assert truth.classes.tolist() == classes
    assert truth.labels().tolist() == np.ravel(np.asarray(y)).tolist()
    assert truth.pos_label == pos_label
    assert truth.class_counts().sum() == truth.n_rows


def test_numbers_with_fractions_are_a_regression():
    truth = truth_of([0.5, 1.25, 2.0])
    assert truth.kind is TaskKind.REGRESSION and truth.classes is None and truth.pos_label is None
    assert truth_of([1, 2, 3], "regression").values.dtype == np.float64


def test_classes_can_be_more_than_the_rows_hold_and_in_any_order():
    truth = truth_of(["b", "a"], classes=["c", "b", "a"])
    assert truth.kind is TaskKind.MULTICLASS
    assert truth.values.tolist() == [1, 2]


@pytest.mark.parametrize(
    "y, arguments, said",
    [
        ([], {}, "no rows"),
        ([[1, 2], [3, 4]], {}, r"one column of shape \(N,\), got shape \(2, 2\)"),
        ([1.0, np.nan], {}, r"1 missing values \(first in row 1"),
        (["a", None], {}, "1 missing values"),
        ([pd.NA, "a"], {}, "1 missing values"),
        (["a", "a"], {}, "at least 2 classes, got 1: 'a'"),
        (["a", 1], {}, "of one type, got int and str"),
        (["a", "b"], {"kind": "regression"}, "must be numbers, got values like 'a'"),
        ([1.0, np.inf], {"kind": "regression"}, "must be finite"),
        ([1, 2, 3], {"kind": "binary"}, "a binary task needs 2 classes, got 3: 1, 2, 3"),
        (["a", "b"], {"classes": ["a", "c"]}, "the target holds 'b', which classes='a', 'c' lacks"),
        (["a", "b"], {"classes": ["a", "b", "a"]}, "classes must be distinct"),
        (["a", "b"], {"pos_label": "z"}, "pos_label must be one of the classes 'a', 'b', got 'z'"),
        ([0, 1], {"kind": "survival"}, "not supported yet"),
    ],
)
def test_targets_that_cannot_be_used(y, arguments, said):
    with pytest.raises(InputError, match=said):
        truth_of(y, **arguments)


def test_missing_of_every_type():
    values = np.array([None, np.nan, pd.NA, pd.NaT, "a", 1.0], dtype=object)
    assert missing(values).tolist() == [True, True, True, True, False, False]
    assert missing(np.array([1, 2])).tolist() == [False, False]
    assert missing(np.array(["2020-01-01", "NaT"], dtype="datetime64[D]")).tolist() == [False, True]


def test_codes_of_keeps_shape_and_marks_strangers():
    assert codes_of(np.array([["a", "z"], ["b", "a"]]), np.array(["a", "b"])).tolist() == [[0, -1], [1, 0]]


def test_the_fingerprint_is_of_what_matters():
    truth, X = truth_of([0, 1, 0]), np.arange(6.0).reshape(3, 2)
    base = Task(X, truth).fingerprint()
    assert Task(X.copy(), truth_of([0, 1, 0])).fingerprint() == base
    changed = [
        Task(X + 1e-12, truth),
        Task(X, truth_of([0, 1, 1])),
        Task(X, truth, groups=np.array([1, 2, 3])),
        Task(X, truth, sample_weight=np.ones(3)),
        Task(pd.DataFrame(X, columns=["a", "b"]), truth),
        Task(pd.DataFrame(X, columns=["a", "c"]), truth),
    ]
    assert len({base, *(task.fingerprint() for task in changed)}) == len(changed) + 1


@pytest.mark.parametrize("weights", [[1, 2], [1, 2, np.nan], [1, 2, -1], [0, 0, 0]])
def test_weights_without_meaning(weights):
    with pytest.raises(InputError, match="sample_weight must"):
        checked_weights(weights, 3)


def test_groups_are_one_a_row_and_known():
    assert checked_groups(["a", "b"], 2).tolist() == ["a", "b"]
    with pytest.raises(InputError, match="groups must have shape"):
        checked_groups(["a"], 2)
    with pytest.raises(InputError, match="1 missing values"):
        checked_groups([1.0, np.nan], 2)
