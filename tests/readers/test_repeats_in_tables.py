"""Long tables of repeats: the rows are matched by name or by order, or refused."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import heldout as ho
from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.metrics import metric_named
from heldout.readers.formats.plain import MATCHED_BY_ORDER
from heldout.readers.prediction_columns import held_out, prediction_columns_of
from heldout.readers.prediction_table import PredictionTable

N, R = 10, 3


def wide() -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """A table of rows with their predictions (N, C, R) and folds (N, R)."""
    rng = np.random.default_rng(4)
    rows = pd.DataFrame({"id": [f"p{i}" for i in range(N)], "y": rng.normal(size=N), "site": np.arange(N) // 2})
    folds = np.stack([rng.permutation(N) % 5 for _ in range(R)], axis=1)
    return rows, rng.normal(size=(N, 2, R)), folds


def long(shuffled: bool) -> pd.DataFrame:
    rows, predictions, folds = wide()
    rng, parts = np.random.default_rng(5), []
    for repeat in range(R):
        part = rows.assign(
            rep=f"r{repeat}", fold=folds[:, repeat], m1=predictions[:, 0, repeat], m2=predictions[:, 1, repeat]
        )
        parts.append(part.iloc[rng.permutation(N)] if shuffled and repeat else part)
    return pd.concat(parts, ignore_index=True)


def read(frame: pd.DataFrame, row: str | None = "id", **more: Any) -> PredictionTable:
    exclude = [] if row else ["id"]
    return ho.read_predictions(
        frame, "wide", target="y", fold="fold", repeat="rep", row=row, group="site", exclude=exclude, **more
    )


@pytest.mark.parametrize(("shuffled", "row"), [(True, "id"), (False, "id"), (False, None)])
def test_repeats_are_the_same_rows(shuffled: bool, row: str | None) -> None:
    rows, predictions, folds = wide()
    found = read(long(shuffled), row)
    truth = truth_of(found.truth, "regression")
    assert found.columns is not None
    held = held_out(
        found.columns, found.folds, prediction_columns_of(found.columns, truth), truth, metric_named("r2")
    )

    np.testing.assert_array_equal(found.truth, rows["y"])
    np.testing.assert_array_equal(found.groups, rows["site"])
    np.testing.assert_array_equal(held.for_metric(metric_named("r2")), predictions)
    np.testing.assert_array_equal(held.folds, folds)
    assert held.names == ("m1", "m2")
    assert found.remarks == (() if row else (MATCHED_BY_ORDER.format(repeats=R),))


def test_a_single_repeat_is_a_plain_table() -> None:
    frame = long(False).query("rep == 'r0'").reset_index(drop=True)
    found = read(frame, None)

    assert found.folds is not None and found.folds.shape == (N,) and found.remarks == ()


def changed(line: int, column: str, value: Any) -> pd.DataFrame:
    frame = long(True)
    frame.loc[line, column] = value
    return frame


@pytest.mark.parametrize(
    ("frame", "row", "said"),
    [
        (
            long(True),
            None,
            "row 1 has two values of the target .column 'y'.: .* with --row COL",
        ),
        (
            long(False).drop(index=25),
            "id",
            "row p5 of repeat r2 is in no line, but others predicted it",
        ),
        (
            long(False).drop(index=25),
            None,
            "row 10 of repeat r2 is in no line, but others predicted it",
        ),
        (changed(3, "id", "p4"), "id", "row p4 of repeat r0 is in two lines, 4 and 5"),
        (
            changed(17, "y", 0.5),
            "id",
            "two values of the target .column 'y'.: .* in line 10 and 0.5 in line 18",
        ),
        (changed(17, "site", 9), "id", "two values of the groups .column 'site'."),
        (changed(17, "rep", None), "id", "column 'rep' .the repeats. has 1 missing value in 30 rows"),
    ],
    ids=["order", "absent by name", "absent by order", "twice", "two targets", "two groups", "no repeat"],
)
def test_repeats_of_other_rows_are_refused(frame: pd.DataFrame, row: str | None, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(frame.reset_index(drop=True), row)


def test_rows_that_recur_without_a_repeat_are_refused() -> None:
    table = long(False)

    with pytest.raises(InputError, match=r"row p0 is in two lines, 1 and 11; .* `repeat=`"):
        ho.read_predictions(table, "wide", target="y", fold="fold", row="id", exclude=["rep", "site"])
    with pytest.raises(
        InputError, match=r"column 'id' would be read as a configuration.* use --row id, or --exclude id"
    ):
        ho.read_predictions(table, "wide", target="y", fold="fold", repeat="rep")
