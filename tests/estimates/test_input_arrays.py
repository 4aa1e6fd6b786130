"""From arrays, tables and ready predictions to held-out predictions: shapes, gaps and folds."""

import numpy as np
import pandas as pd
import pytest

import heldout as ho
from heldout.errors import InputError
from heldout.estimates.input_arrays import folds_from_labels
from heldout.metrics.base import Response
from heldout.predictions import HeldOutPredictions

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 100)
P = np.clip(0.25 * Y[:, None] + 0.75 * RNG.random((100, 3)), 0, 1)
HARD = np.where(RNG.random((100, 2)) < 0.9, Y[:, None], 1 - Y[:, None])
TARGET = RNG.normal(size=100)
VALUES = TARGET[:, None] + RNG.normal(size=(100, 2))
TEXT = np.array(["no", "yes"])
FOLDS, GROUPS = np.arange(100) // 4 % 5, np.arange(100) // 4
FAST = {"n_bootstraps": 20, "random_state": 0}


def same(a, b):
    return a.value == b.value and np.array_equal(a.distribution, b.distribution) and a.interval == b.interval


# Masks


def masked(array, rows=20):
    mask = np.zeros(array.shape, dtype=bool)
    mask[:rows] = True
    return np.ma.masked_array(array, mask=mask)


@pytest.mark.parametrize(
    "y, predictions, metric",
    [
        (TARGET, np.where(np.arange(100)[:, None] < 20, 999, VALUES), "mean_squared_error"),
        (Y, P, "roc_auc"),
        (Y, HARD, "accuracy"),
        (Y == 1, HARD == 1, "accuracy"),
        (TEXT[Y], TEXT[HARD], "accuracy"),
    ],
    ids=["values", "probabilities", "codes", "booleans", "text"],
)
def test_masked_predictions_are_no_predictions(y, predictions, metric):
    found = ho.estimate(y, masked(predictions), metric=metric, **FAST)
    assert found.n_rows_used == 80
    assert same(found, ho.estimate(y[20:], predictions[20:], metric=metric, **FAST))


def test_masked_rows_of_other_columns_are_refused():
    with pytest.raises(InputError, match="the target has 20 missing values"):
        ho.estimate(masked(Y), P, metric="roc_auc")
    with pytest.raises(InputError, match="sample_weight must be finite"):
        ho.estimate(Y, P, metric="roc_auc", sample_weight=masked(np.ones(100)))
    with pytest.raises(InputError, match="groups has 1 missing value;"):
        ho.estimate(Y, P, metric="roc_auc", groups=masked(GROUPS, 1))


# Classes on the third axis


@pytest.mark.parametrize(
    "cube",
    [
        np.eye(2, dtype=int)[HARD],
        np.eye(2)[HARD].astype(object),
        np.eye(2, dtype=bool)[HARD].astype(int),
        np.round(np.stack([1 - P, P], axis=-1), 2) + np.array([0.01, 0]),
    ],
    ids=["int", "object", "from bool", "sums of 1.01"],
)
def test_three_axes_that_sum_to_one_are_refused_in_every_type(cube):
    with pytest.raises(InputError, match=r"sum to 1 .*predictions\[:, :, None, :\]"):
        ho.estimate(Y, cube, metric="accuracy")


# Rows behind a prediction


@pytest.mark.parametrize(
    "folds, rows",
    [
        (None, None),
        (np.zeros(100), None),
        (FOLDS, 80.0),
        (np.arange(100), 99.0),
        (np.where(np.arange(100) < 3, np.nan, FOLDS), None),
    ],
    ids=["unknown", "one fold", "five", "each row", "with rows of no fold"],
)
def test_training_rows_are_known_of_a_partition_into_folds(folds, rows):
    predictions = P if folds is None else np.where(np.isnan(folds)[:, None], np.nan, P)
    assert ho.estimate(Y, predictions, metric="accuracy", folds=folds, **FAST).provenance["training_rows"] == rows


def test_one_of_two_repeats_with_a_single_fold_is_no_partition():
    folds = np.stack([FOLDS, np.zeros(100)], axis=1)
    found = ho.estimate(Y, np.stack([P, P[:, ::-1]], axis=-1), metric="accuracy", folds=folds, **FAST)
    assert found.provenance["training_rows"] is None


# Predictions that are ready


def held(array=P[..., None], response=Response.PROBABILITIES, folds=None, names=("a", "b", "c")):
    return HeldOutPredictions({response: array}, names, folds, np.array([0, 1]), 1)


@pytest.mark.parametrize("settings", [{}, {"classes": [0, 1]}, {"pos_label": 1}, {"response": "probabilities"}])
def test_ready_predictions_are_used_as_they_are(settings):
    expected = ho.estimate(Y, P, metric="roc_auc", **FAST)
    assert same(ho.estimate(Y, held(), metric="roc_auc", **settings, **FAST), expected)


@pytest.mark.parametrize(
    "predictions, settings, said",
    [
        (held(), {"threshold": 0.99}, "`threshold=0.99` cuts an array of scores"),
        (held(), {"response": "decision"}, "`response='decision'` describes an array.*reads their probabilities"),
        (held(), {"classes": [5, 6]}, r"are of classes 0, 1, so classes cannot be \[5, 6\]"),
        (held(), {"classes": [1, 0]}, r"so classes cannot be \[1, 0\]"),
        (held(), {"pos_label": 0}, "point to class 1, so `pos_label` cannot be 0"),
        (held(P), {}, r"must have shape \(rows, 3 configurations, repeats\).*got \(100, 3\)"),
        (held(P[:, :2, None]), {}, r"3 configurations, repeats\).*got \(100, 2, 1\)"),
        (held(P[:50, :, None]), {}, "predictions are of 50 rows, y_true has 100"),
        (held(P[:1, :, None]), {}, "predictions are of 1 row, y_true has 100"),
        (held(P[..., None], Response.LABELS), {}, "labels of HeldOutPredictions must be class codes"),
        (
            held(np.ones((100, 3, 1), dtype=int)),
            {},
            "probabilities of HeldOutPredictions must be floats, got int64",
        ),
        (held(folds=FOLDS), {}, r"folds of HeldOutPredictions must have shape \(100, 1\), got \(100,\)"),
        (HeldOutPredictions({}, ()), {}, "hold no response"),
    ],
)
def test_ready_predictions_that_do_not_fit(predictions, settings, said):
    with pytest.raises(InputError, match=said):
        ho.estimate(Y, predictions, metric="roc_auc", **settings)


@pytest.mark.filterwarnings("ignore::heldout.errors.HeldoutWarning")
def test_an_infinite_value_fails_its_configuration_in_ready_predictions_too():
    array = P[..., None].copy()
    array[3, 1] = np.inf
    predictions = HeldOutPredictions(
        {Response.PROBABILITIES: array}, ("a", "b", "c"), None, np.array([0, 1]), 1, {0: "it raised"}
    )
    found = ho.estimate(Y, predictions, metric="roc_auc", **FAST)
    assert found.selected == 2
    assert "a (it raised); b (it predicted an infinite value)" in found.flags["failed_configurations"]
    assert array[3, 1] == np.inf


# Columns and tables of other libraries


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "category"])
def test_nullable_columns_of_pandas(dtype):
    found = ho.estimate(
        pd.Series(Y).astype(dtype),
        pd.DataFrame(P).astype("Float64"),
        metric="accuracy",
        groups=pd.Series(GROUPS, dtype="Int64"),
        folds=pd.Series(TEXT[FOLDS % 2] + pd.Series(FOLDS).astype(str), dtype="string"),
        sample_weight=pd.Series(np.arange(1, 101), dtype="Int64"),
        **FAST,
    )
    weights = np.arange(1, 101)
    assert same(
        found, ho.estimate(Y, P, metric="accuracy", groups=GROUPS, folds=FOLDS, sample_weight=weights, **FAST)
    )


def test_gaps_in_nullable_columns_are_rows_without_a_prediction():
    table = pd.DataFrame(HARD).astype("Int64")
    table.iloc[:5] = pd.NA
    found = ho.estimate(Y, table, metric="accuracy", pos_label=0, **FAST)
    assert found.n_rows_used == 95
    assert same(found, ho.estimate(Y[5:], HARD[5:], metric="accuracy", **FAST))


def test_a_column_is_not_a_table():
    with pytest.raises(InputError, match=r"predictions\.to_frame\(\)"):
        ho.estimate(Y, pd.Series(P[:, 0]), metric="roc_auc")


@pytest.mark.parametrize("as_table", [False, True])
def test_columns_and_tables_of_polars(as_table):
    pl = pytest.importorskip("polars")

    def column(values):
        return pl.DataFrame({"only": values}) if as_table else pl.Series(values)

    weights = np.arange(1, 101)
    settings = {"metric": "accuracy", **FAST}
    expected = ho.estimate(Y, P, groups=GROUPS, folds=FOLDS, sample_weight=weights, **settings)
    table = pl.DataFrame(P, schema=["a", "b", "c"])
    others = {"groups": column(GROUPS), "folds": column(FOLDS), "sample_weight": column(weights)}
    found = ho.estimate(column(Y), table, **others, **settings)
    assert same(found, expected)
    assert found.selected_name == "abc"[expected.selected]


def test_labels_of_polars_with_gaps():
    pl = pytest.importorskip("polars")
    said = TEXT[HARD].astype(object)
    said[:5] = None
    table = pl.DataFrame({"a": said[:, 0].tolist(), "b": said[:, 1].tolist()})
    y = pl.Series(TEXT[Y], dtype=pl.Categorical)
    found = ho.estimate(y, table, metric="accuracy", **FAST)
    assert same(found, ho.estimate(Y[5:], HARD[5:], metric="accuracy", **FAST))


def test_labels_of_any_type_become_folds() -> None:
    codes = folds_from_labels(["b", "a", None, "b"], 4, 2)
    assert codes.tolist() == [[1, 1], [0, 0], [-1, -1], [1, 1]]
    by_repeat = folds_from_labels(np.array([[5, 1], [7, 0]]), 2, 2)
    assert by_repeat.tolist() == [[0, 1], [1, 0]]
    with pytest.raises(InputError, match=r"folds must have shape \(4,\) or \(4, 2\)"):
        folds_from_labels([1, 2, 3], 4, 2)
