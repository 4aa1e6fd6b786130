from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from heldout.data.task import Task, TaskKind, checked_groups, checked_weights, codes_of, missing, truth_of
from heldout.errors import InputError


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
    "y, arguments, message",
    [
        ([], {}, "no rows"),
        ([[1, 2], [3, 4]], {}, r"one column of shape \(N,\), got shape \(2, 2\)"),
        ([1.0, np.nan], {}, r"1 missing value \(first in row 1"),
        (["a", None], {}, "1 missing value"),
        ([pd.NA, "a"], {}, "1 missing value"),
        (["a", "a"], {}, "at least 2 classes, got 1: 'a'"),
        (["a", 1], {}, "of one type, got int and str"),
        (["a", "b"], {"kind": "regression"}, "must be numbers, got values like 'a'"),
        ([1.0, np.inf], {"kind": "regression"}, "must be finite"),
        ([1, 2, 3], {"kind": "binary"}, "a binary task needs 2 classes, got 3: 1, 2, 3"),
        (["a", "b"], {"classes": ["a", "c"]}, "the target holds 'b', which `classes=` lacks, got 'a', 'c'"),
        (["a", "b"], {"classes": ["a", "b", "a"]}, "classes must be distinct"),
        (["a", "b"], {"pos_label": "z"}, "pos_label must be one of the classes 'a', 'b', got 'z'"),
        ([0, 1], {"kind": "survival"}, "a survival target must be scikit-survival's structured array"),
        ([[1, 2], [3]], {}, "rows of different lengths"),
        ([1j, 2j], {}, "Complex data not supported: the target must be real numbers or labels"),
        (np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"), {}, "the target must be .* got dates"),
        (["0.5", "1.5"], {"kind": "regression"}, "must be numbers, got values like '0.5'"),
        ([10**400, 1.5], {"kind": "regression"}, "beyond the greatest float"),
        ([0, 1], {"classes": "ab"}, "classes must be a list of labels, got 'ab'"),
        ([0, 1], {"classes": 2}, "classes must be a list of labels, got 2"),
        ([0, 1], {"classes": [0, 1, None]}, "classes must be a list of labels"),
        (["a", "b"], {"classes": ["a", 1]}, "classes must be of one type, got int and str"),
        ([0, 1], {"pos_label": [0, 1]}, r"pos_label must be one of the classes 0, 1, got \[0, 1\]"),
        ([0, 1, 2], {"pos_label": 2}, "`pos_label=2` is for 2 classes, but there are 3: 0, 1, 2; leave it out"),
        ([0.5, 1.2], {"pos_label": 2}, "`pos_label=2` is for labels, but the target is read as numbers"),
        ([1, 2], {"kind": "regression", "classes": [1, 2]}, r"`classes=\[1, 2\]` is for labels"),
        (np.ma.masked_array([0, 1, 1], mask=[0, 1, 0]), {}, r"1 missing value \(first in row 1"),
    ],
)
def test_targets_that_cannot_be_used(y, arguments, message):
    with pytest.raises(InputError, match=message):
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


@pytest.mark.parametrize(
    "weights, message",
    [
        ([1, 2], r"sample_weight must have shape \(3,\)"),
        ([1, 2, np.nan], "sample_weight must be finite"),
        ([1, 2, -1], "sample_weight must be finite numbers of at least 0"),
        ([0, 0, 0], "positive sum"),
        (["1", "2", "3"], "sample_weight must be numbers, got values like '1'"),
        ([1j, 2, 3], "sample_weight must be real numbers"),
        (np.ma.masked_array([1.0, 2.0, 3.0], mask=[1, 0, 0]), "sample_weight must be finite"),
    ],
)
def test_weights_without_meaning(weights, message):
    with pytest.raises(InputError, match=message):
        checked_weights(weights, 3)


@pytest.mark.parametrize("unit", [1e-320, 1e-300, 1, 1e300, 4e307])
def test_only_the_ratios_of_weights_count(unit):
    with np.errstate(all="raise", under="ignore"):
        assert checked_weights(np.array([1.0, 2.0, 3.0]) * unit, 3) == pytest.approx([0.5, 1, 1.5], rel=1e-3)
    assert checked_weights(np.full(3, unit), 3) is None


def test_scaled_weights_are_scaled_to_themselves():
    once = checked_weights(np.random.default_rng(0).random(1000), 1000)
    assert once.mean() == pytest.approx(1, abs=1e-12)
    np.testing.assert_array_equal(checked_weights(once, 1000), once)


def test_groups_are_one_a_row_and_known():
    assert checked_groups(["a", "b"], 2).tolist() == ["a", "b"]
    assert checked_groups(pd.DataFrame({"g": [3, 4]}), 2).tolist() == [3, 4]
    for groups, message in [
        (["a"], "groups must have shape"),
        ([1.0, np.nan], "groups has 1 missing value;"),
        (["a", np.nan], "groups has 1 missing value;"),
        (["a", 1], "groups must be of one type, got int and str"),
    ]:
        with pytest.raises(InputError, match=message):
            checked_groups(groups, 2)


@pytest.mark.parametrize(
    "y",
    [
        [1e19, 2e19, 3.0],
        [np.inf, 1.0, 2.0],
        [2.0**53, 2.0**53 + 2, 3.0],
        np.array([1e8, 2e8, 3], dtype=np.float32),
        np.array([np.inf, 2, 3], dtype=np.float16),
        [2**63, -1, 3],
        pd.Series([1e19, 2e19, 3.0], dtype="Float64"),
    ],
)
def test_floats_that_may_stand_for_several_labels_are_refused(y):
    with pytest.raises(InputError, match="may stand for several numbers, which would become one label"):
        truth_of(y, "multiclass")
    with pytest.raises(InputError, match="groups hold"):
        checked_groups(y, 3)


@pytest.mark.parametrize(
    "y",
    [
        [2**53, 2**53 + 1, 3.0],
        np.array([2**53, 2**53 + 1, 3.0], dtype=object),
        [Decimal("1"), Decimal("1.00000000000000000001"), Decimal("2")],
        np.array([2**63 + 1, 2**63 + 2, 5], dtype=np.uint64),
        pd.Series([2**63 + 1, 2**63 + 2, 5], dtype="UInt64"),
        [10**30, 10**30 + 1, 3],
        [1.0, np.nextafter(2, 3), 2.0],
        np.array([b"a", b"b", b"c"]),
    ],
)
def test_labels_that_differ_stay_apart(y):
    truth = truth_of(y, "multiclass")
    assert truth.n_classes == 3 and len(set(truth.values.tolist())) == 3


@pytest.mark.parametrize(
    "y", [[True, 1, 2], np.array([True, 1, 2], dtype=object), [b"a", "a", "b"], [True, 1.0, 2.5], ["1", 1, 2]]
)
def test_labels_of_several_types_are_refused_though_they_may_be_equal(y):
    with pytest.raises(InputError, match="must be of one type, got"):
        truth_of(y, "multiclass")


def test_a_weight_that_would_become_zero_is_refused():
    with pytest.raises(InputError, match=r"from 4.94e-324 to 1e\+308, so the smallest would count as 0"):
        checked_weights([5e-324, 1.0, 1e308], 3)
    assert not np.signbit(checked_weights([-0.0, 1.0, 1.0], 3)).any()
