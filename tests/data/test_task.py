from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from heldout._text import counted
from heldout.data.task import (
    SURVIVAL,
    Task,
    TaskKind,
    array_of,
    checked_groups,
    checked_weights,
    codes_of,
    column_of,
    distinct,
    missing,
    numbers_of,
    survival_target,
    truth_of,
)
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


# From whatever a user hands over to an array: nothing masked comes back, nothing is turned into text.


@pytest.mark.parametrize(
    "values, kind",
    [
        (np.array([True, False], dtype=object), "b"),
        (np.array([1, 2], dtype=object), "i"),
        (np.array([1, np.nan], dtype=object), "O"),  # whole numbers with gaps may be labels
        (np.array([1.5, None], dtype=object), "f"),
        (np.array([Decimal("1.5"), 2], dtype=object), "f"),
        (pd.array([1, 2], dtype="Int64"), "i"),
        (pd.Series([1.5, None], dtype="Float64"), "f"),
        (pd.array([True, False], dtype="boolean"), "b"),
        (pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [0.5, 1.5]}), "f"),
        (pd.array([True, None], dtype="boolean"), "O"),
        ([10**30, 1], "O"),
        (["a", "b"], "U"),
        (["a", None], "O"),
        (["a", np.nan], "O"),
        (pd.Series(["a", "b"], dtype="category"), "O"),
    ],
)
def test_objects_become_what_they_all_are(values, kind):
    array = array_of(values, "values")
    assert array.dtype.kind == kind
    assert missing(array).tolist() == pd.isna(np.asarray(values, dtype=object)).tolist()


@pytest.mark.parametrize("dtype", [float, np.float32, int, bool, object, "U3"])
def test_masked_values_are_missing_and_the_others_as_they_were(dtype):
    data = np.array([[1, 0], [0, 1]]).astype(dtype)
    array = array_of(np.ma.masked_array(data, mask=[[True, False], [False, False]]), "predictions")
    assert missing(array).tolist() == [[True, False], [False, False]]
    assert (array[~missing(array)] == data[[0, 1, 1], [1, 0, 1]]).all()
    unmasked = array_of(np.ma.masked_array(data), "predictions")
    np.testing.assert_array_equal(unmasked, data)


def test_what_is_missing_among_objects():
    values = np.array([None, np.nan, pd.NA, pd.NaT, Decimal("NaN"), np.float32("nan"), "nan", [1], 0], dtype=object)
    assert missing(values).tolist() == [True] * 6 + [False] * 3
    assert missing(np.array(["2020-01-01", "NaT"], dtype="datetime64[D]")).tolist() == [False, True]


@pytest.mark.parametrize("values", [["0.3"], [object()], [b"1"], [1 + 1j]])
def test_what_is_no_number_is_not_made_one(values):
    with pytest.raises(InputError, match="predictions must be numbers, got values like"):
        numbers_of(np.array(values, dtype=object), "predictions")


def test_numbers_of_objects():
    found = numbers_of(np.array([[1, None], [Decimal("0.5"), pd.NA]], dtype=object), "predictions")
    np.testing.assert_array_equal(found, [[1, np.nan], [0.5, np.nan]])


def test_distinct_values_keep_the_shape():
    values, which = distinct(np.array([["b", "a"], ["b", "b"]]), "labels")
    assert values.tolist() == ["a", "b"] and which.tolist() == [[1, 0], [1, 1]]


def test_a_table_of_one_column_is_a_column():
    assert column_of(pd.DataFrame({"a": [1, 2]}), "folds").tolist() == [1, 2]
    assert counted(1, "row") == "1 row" and counted(0, "row") == "0 rows"


def test_columns_of_polars():
    pl = pytest.importorskip("polars")
    assert array_of(pl.Series([1, None]), "y").tolist()[0] == 1.0
    assert missing(array_of(pl.Series(["a", None]), "y")).tolist() == [False, True]
    assert array_of(pl.Series(["a", "b"], dtype=pl.Categorical), "y").tolist() == ["a", "b"]
    assert array_of(pl.DataFrame({"a": [1.5, None], "b": [2, 3]}), "y").dtype.kind == "f"


def test_an_error_shows_only_the_beginning_of_what_it_got():
    with pytest.raises(InputError) as raised:
        numbers_of(np.array([{"a": np.arange(500)}], dtype=object), "scores")

    assert len(str(raised.value)) < 160
    assert "scores must be numbers, got values like {'a': array([ 0, 1, 2" in str(raised.value)


# Every form of a survival target becomes one; what cannot be used has its sentence.


SEEN, DAYS = [True, False, True], [3.0, 0.0, 7.5]
RECORDS = np.array(list(zip(SEEN, DAYS, strict=True)), dtype=[("death", "?"), ("time_to_death", "f8")])


@pytest.mark.parametrize(
    "y",
    [
        pytest.param(RECORDS, id="structured"),
        pytest.param(RECORDS.astype([("b", "i1"), ("a", "f4")]), id="structured of 1 and 0"),
        pytest.param(list(RECORDS), id="list of records"),
        pytest.param(list(zip(SEEN, DAYS, strict=True)), id="list of tuples"),
        pytest.param((SEEN, DAYS), id="tuple of two columns"),
        pytest.param((pd.Series([1, 0, 1]), pd.Series(DAYS)), id="tuple of two series"),
        pytest.param(pd.DataFrame({"z": SEEN, "a": DAYS}), id="table"),
        pytest.param(pd.DataFrame({"z": [1.0, 0.0, 1.0], "a": DAYS}), id="table of numbers"),
        pytest.param(np.column_stack([SEEN, DAYS]), id="array of two columns"),
    ],
)
def test_every_form_is_one_target(y: Any) -> None:
    target = survival_target(y)
    assert target.dtype == SURVIVAL
    assert target["event"].tolist() == SEEN
    assert target["time"].tolist() == DAYS


def test_a_truth_of_events_and_times() -> None:
    truth = truth_of(RECORDS)
    assert (truth.kind, truth.n_rows, truth.n_classes, truth.classes) == (TaskKind.SURVIVAL, 3, 0, None)
    assert truth.rows(np.array([2, 2])).values.tolist() == [(True, 7.5), (True, 7.5)]
    assert truth.labels()["time"].tolist() == DAYS
    assert truth_of((SEEN, DAYS), "survival").values.tolist() == truth.values.tolist()


def test_the_fingerprint_sees_events_and_times() -> None:
    X = np.zeros((3, 1))
    other_event, other_time = RECORDS.copy(), RECORDS.copy()
    other_event["death"][1] = True
    other_time["time_to_death"][1] = 1.0
    prints = [Task(X, truth_of(y)).fingerprint() for y in (RECORDS, RECORDS.copy(), other_event, other_time)]
    assert prints[0] == prints[1]
    assert len(set(prints)) == 3


ROWS = [(True, 3.0), (False, 5.0)]


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        pytest.param(
            [3.0, 5.0], "must be scikit-survival's structured array, .* array of float64 of shape", id="1-D"
        ),
        pytest.param(np.zeros((4, 3)), r"got an array of float64 of shape \(4, 3\)", id="three columns"),
        pytest.param(
            np.array([(True, 1.0, 2)], dtype="?,f8,i4"), "two fields, .* got 3: f0, f1, f2", id="three fields"
        ),
        pytest.param([(True, 3.0), (False, -1.0)], r"finite and at least 0, got -1\.0 in row 1", id="negative"),
        pytest.param([(True, 3.0), (False, np.inf)], "finite and at least 0, got inf in row 1", id="infinite"),
        pytest.param(
            [(True, 3.0), (False, np.nan)], "time .* has 1 missing value .first in row 1", id="missing time"
        ),
        pytest.param(([True, None], [1, 2]), "event .* has 1 missing value .first in row 1", id="missing event"),
        pytest.param([(False, 3.0), (False, 5.0)], "2 rows and no event: all are censored", id="all censored"),
        pytest.param(
            [(2, 3.0), (1, 5.0)], "true or false .or 1 and 0., got 2.0; it holds 1 and 2", id="event of 2"
        ),
        pytest.param((["dead", "alive"], [3.0, 5.0]), "got 'dead'; the event comes first", id="event of text"),
        pytest.param(([3.0, 5.0], [True, False]), "got 3.0; swap the two", id="swapped"),
        pytest.param(RECORDS[["time_to_death", "death"]], "got 3.0; swap the two", id="fields swapped"),
        pytest.param(
            ([True, False], ["3 days", "5 days"]), "time .* must be numbers, got values like '3 days'", id="text"
        ),
        pytest.param(([True, False], [1.0]), r"columns of one length, got shapes \(2,\) and \(1,\)", id="lengths"),
        pytest.param(np.empty(0, dtype=SURVIVAL), "the target has no rows", id="no rows"),
    ],
)
def test_what_cannot_be_used_has_its_sentence(y: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        truth_of(y, "survival")


@pytest.mark.parametrize("setting", [{"classes": [0, 1]}, {"pos_label": True}], ids=["classes", "pos_label"])
def test_settings_of_labels_are_refused(setting: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="is for labels, but the target is read as events and times; leave it out"):
        truth_of(RECORDS, **setting)


@pytest.mark.parametrize("time", [[2**53, 2**53 + 1, 3], np.array([2**63, 2**63 + 1, 3], dtype=np.uint64)])
def test_times_that_no_float_tells_apart_are_refused(time: Any) -> None:
    with pytest.raises(InputError, match="several of which would become one time; use a larger unit"):
        survival_target((SEEN, time))


def test_the_coding_of_r_is_named_and_not_guessed() -> None:
    with pytest.raises(
        InputError, match="it holds 1 and 2: in R's survival package 2 is the event; if so here, pass"
    ):
        survival_target(([1, 2, 2], [3, 4, 5]))


def test_complex_events_are_refused() -> None:
    with pytest.raises(InputError, match="Complex data not supported: the event"):
        survival_target(([1 + 0j, 0, 1], DAYS))
