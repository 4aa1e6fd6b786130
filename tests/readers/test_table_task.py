"""From a table to a task: what the target is read as, what is set aside, and what is refused."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.readers.table_task import check_folds_fit, task_from_table
from heldout.readers.tables import Table

N = 60


def table(**columns: Any) -> Table:
    base = {"x": np.arange(N) / 7, "y": ["no", "yes"] * (N // 2)}
    return Table("t.csv", pd.DataFrame({**base, **columns}))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["no", "yes"] * 30, TaskKind.BINARY),
        ([True, False] * 30, TaskKind.BINARY),
        ([0, 1] * 30, TaskKind.BINARY),
        ([1.0, 2.0] * 30, TaskKind.BINARY),
        (["a", "b", "c"] * 20, TaskKind.MULTICLASS),
        ([0, 1, 2] * 20, TaskKind.MULTICLASS),
        (np.arange(N), TaskKind.REGRESSION),
        (np.arange(N) % 15, TaskKind.REGRESSION),  # 15 values in 60 rows: 4 rows each are no classes
        (np.arange(N) / 2, TaskKind.REGRESSION),
        ([0.5, 1.5] * 30, TaskKind.REGRESSION),
    ],
)
def test_the_kind_is_guessed_from_the_values(values: Any, kind: TaskKind) -> None:
    assert task_from_table(table(y=values), "y").task.truth.kind is kind


def test_a_guess_is_reported_with_the_option_that_overrides_it() -> None:
    assert task_from_table(table(y=[0, 1, 2] * 20), "y").why == (
        "Target 'y' holds whole numbers with only 3 different values, so this is 3-class classification (to "
        "override: `task='regression'`)."
    )
    assert "binary classification (positive class 'yes')" in task_from_table(table(), "y").why


def test_the_positive_class_is_the_given_one() -> None:
    found = task_from_table(table(), "y", positive="no")

    assert found.task.truth.pos_label == "no" and "(positive class 'no')" in found.why
    assert task_from_table(table(y=[1.0, 2.0] * 30), "y", positive="1.0").task.truth.pos_label == 1
    with pytest.raises(InputError, match="must be one of the classes 'no', 'yes', got 'maybe'"):
        task_from_table(table(), "y", positive="maybe")
    with pytest.raises(InputError, match="needs a target of two classes, got a regression one"):
        task_from_table(table(y=np.arange(N) / 2), "y", positive="1")


def test_the_user_overrides_the_guess() -> None:
    scores = table(y=[0, 1, 2] * 20)

    assert task_from_table(scores, "y", kind="regression").task.truth.kind is TaskKind.REGRESSION
    assert task_from_table(scores, "y", kind="classification").task.truth.kind is TaskKind.MULTICLASS
    with pytest.raises(InputError, match="needs 2 classes, got 3"):
        task_from_table(scores, "y", kind="binary")
    with pytest.raises(InputError, match="task must be one of"):
        task_from_table(scores, "y", kind="ranking")
    with pytest.raises(
        InputError, match="`task='regression'` needs a target of numbers, but column 'y' holds 'no'"
    ):
        task_from_table(table(), "y", kind="regression")


def test_whole_floats_are_labels_without_a_point() -> None:
    truth = task_from_table(table(y=[1.0, 2.0] * 30), "y").task.truth

    assert truth.classes is not None and truth.classes.dtype.kind == "i"


def test_a_kept_column_is_used() -> None:
    rows = table(
        number=np.arange(N), day=[f"2020-01-{i % 28 + 1:02}" for i in range(N)], empty=np.nan, g=[0, 0, 1] * 20
    )

    assert list(task_from_table(rows, "y").task.X.columns) == ["x", "g"]
    assert list(task_from_table(rows, "y", keep=["number", "day"]).task.X.columns) == ["x", "number", "day", "g"]
    with pytest.raises(InputError, match=r"--keep empty: this column cannot be used \(all missing\)"):
        task_from_table(rows, "y", keep=["empty"])
    with pytest.raises(InputError, match="no column 'dy' to use as a column of --keep"):
        task_from_table(rows, "y", keep=["dy"])
    with pytest.raises(InputError, match="--keep g: the column is the groups"):
        task_from_table(rows, "y", keep=["g"], groups="g")


def test_a_column_that_tells_the_target_is_excluded() -> None:
    """Other words for the classes, or the same numbers; a near copy is a predictor."""
    codes = np.array([1, 0] * 30)
    found = task_from_table(table(code=codes, near=[0, *codes[1:]]), "y")
    assert dict(found.excluded) == {"code": "tells the target of every row; to use it: --keep code"}
    amounts = np.arange(N) / 7 + 1
    found = task_from_table(table(y=amounts, same=amounts, twice=2 * amounts), "y")
    assert list(found.excluded) == ["same"] and list(found.task.X.columns) == ["x", "twice"]
    assert "code" in task_from_table(table(code=codes), "y", keep=["code"]).task.X


def test_target_and_groups_are_no_predictors() -> None:
    found = task_from_table(table(g=np.repeat(np.arange(6), 10)), "y", groups="g")

    assert list(found.task.X.columns) == ["x"]
    assert found.task.groups is not None and len(np.unique(found.task.groups)) == 6


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"y": "no"}, r"the target column 'y' has one value in all 60 rows, 'no'"),
        ({"y": [None, *["no", "yes"] * 29, "no"]}, r"has 1 missing value in 60 rows \(the first in row 1\)"),
        ({"y": pd.date_range("2020-01-01", periods=N)}, "must hold labels or numbers"),
        ({"y": [*[f"{i}.5" for i in range(N - 1)], "12o"]}, r"except for 1 value such as '12o' \(row 60\)"),
        ({"x": 1}, r"no usable column left to predict 'y' from: 'x' \(constant\)"),
        (
            {"x": [0.5, np.inf, *range(N - 2)]},
            r"column 'x' holds 1 number .* infinite or beyond .*: inf in row 2 is",
        ),
        (
            {"x": [0.5, 1e161, -1e200, *range(N - 3)]},
            r"column 'x' holds 2 numbers .*: 1e\+161 in row 2 is the first",
        ),
        ({"y": [0.5, 1e161, *range(N - 2)]}, r"the target column 'y' holds 1 number"),
        ({"y": [0.5, -np.inf, *range(N - 2)]}, r"the target column 'y' holds 1 number"),
    ],
)
def test_what_cannot_be_learned_is_refused(columns: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        task_from_table(table(**columns), "y")


def test_groups_need_a_value_in_every_row_and_another_column_than_the_target() -> None:
    with pytest.raises(InputError, match=r"column 'g' .the groups. has 2 missing values"):
        task_from_table(table(g=[None, None, *range(N - 2)]), "y", groups="g")
    with pytest.raises(InputError, match="both the target and the groups"):
        task_from_table(table(), "y", groups="y")


def test_folds_need_as_many_groups_and_every_class_in_two_of_them() -> None:
    groups = np.repeat(np.arange(4), 15)

    with pytest.raises(InputError, match="5 folds need at least 5 groups, got 4"):
        check_folds_fit(task_from_table(table(g=groups), "y", groups="g"), 5)
    one_sided = task_from_table(table(g=groups, y=np.where(groups == 0, "yes", "no")), "y", groups="g")
    with pytest.raises(InputError, match="class 'yes' of 'y' occurs in 1 group only"):
        check_folds_fit(one_sided, 4)


DAYS, DIED = np.arange(N) + 0.5, ([1, 0, 0] * N)[:N]


def test_a_target_with_an_event_is_survival_and_neither_column_predicts() -> None:
    found = task_from_table(table(y=DAYS, died=DIED), "y", event="died")

    assert found.task.truth.kind is TaskKind.SURVIVAL and list(found.task.X.columns) == ["x"]
    assert found.task.truth.values["time"].tolist() == DAYS.tolist()
    assert found.task.truth.values["event"].tolist() == [died == 1 for died in DIED]
    assert found.why == (
        "Target 'y' holds times and 'died' marks the events among them (20 events in 60 rows), so this is survival."
    )
    check_folds_fit(found, 5)


@pytest.mark.parametrize(
    ("values", "event_value", "meaning"),
    [
        ([1, 2], "2", "'2' is the event, '1' is censored"),
        ([1.0, 2.0], "2", "'2.0' is the event, '1.0' is censored"),
        (["alive", "dead"], "dead", "'dead' is the event, 'alive' is censored"),
        ([1, 0], "0", "'0' is the event, '1' is censored"),
        ([False, True], "True", "'True' is the event, 'False' is censored"),
    ],
)
def test_one_value_may_be_named_as_the_event(values: list[Any], event_value: str, meaning: str) -> None:
    died = np.array(values)[DIED]
    found = task_from_table(table(y=DAYS, died=died), "y", event="died", event_value=event_value)
    assert found.task.truth.values["event"].tolist() == [died == 1 for died in DIED]
    assert f"(20 events in 60 rows; {meaning})" in found.why


@pytest.mark.parametrize(
    ("columns", "asked", "said"),
    [
        ({}, {"kind": "survival"}, "`task='survival'` needs the column of events at the"),
        (
            {},
            {"event": "died", "kind": "regression"},
            "`event='died'` is for times to an event, got `task='regression'`",
        ),
        ({}, {"event": "y"}, "column 'y' cannot be both the target and the event; name two columns"),
        ({}, {"event": "died", "groups": "died"}, "column 'died' cannot be both the event and the groups"),
        ({}, {"event": "died", "positive": "1"}, "needs a target of two classes, got a survival one"),
        ({}, {"event": "dead"}, "no column 'dead' to use as the event"),
        ({}, {"event": "died", "keep": ("died",)}, "--keep died: the column is the event"),
        ({"died": [2, 0, 1] * 20}, {"event": "died"}, "must hold 1 .* or 0 .*, got 2 in row 1"),
        ({"died": [0] * N}, {"event": "died"}, "60 rows and no event"),
        (
            {"died": [None, 1.0, 0.0] * 20},
            {"event": "died"},
            r"'died' \(the event\) has 20 missing values in 60 rows",
        ),
        ({"y": ["soon"] * N}, {"event": "died"}, "the target .times. column 'y' must hold numbers, got 'soon'"),
        ({"y": -DAYS}, {"event": "died"}, "finite and at least 0, got -0.5 in row 0"),
    ],
    ids=str,
)
def test_what_is_no_survival_target_is_refused(columns: Any, asked: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        task_from_table(table(**{"y": DAYS, "died": DIED, **columns}), "y", **asked)


def test_folds_need_two_events() -> None:
    found = task_from_table(table(y=DAYS, died=[1] + [0] * (N - 1)), "y", event="died")
    with pytest.raises(InputError, match="'y' has 1 event, and folds need at least 2"):
        check_folds_fit(found, 5)


@pytest.mark.parametrize("values", [(1e19, 2e19, 3.0), (np.inf, 1.0, 2.0), (2.0**53, 2.0**54, 1.0)])
@pytest.mark.parametrize("kind", [None, "classification"])
def test_numbers_beyond_whole_floats_are_no_labels(values: tuple[float, ...], kind: str | None) -> None:
    with pytest.raises(InputError, match=r"the labels of the target column 'y' hold .* use `task='regression'`"):
        task_from_table(table(y=list(values) * 20), "y", kind=kind)


def test_texts_that_numpy_makes_one_are_refused() -> None:
    with pytest.raises(InputError, match="column 'y' holds texts that differ only in NUL characters"):
        task_from_table(table(y=["a", "a\0"] * 30), "y")
    with pytest.raises(InputError, match="column 'g' holds texts that differ only in NUL characters"):
        task_from_table(table(g=["a", "a\0", "b"] * 20), "y", groups="g")


def test_times_that_are_equal_as_floats_are_refused() -> None:
    columns = table(y=2**53 + np.arange(N), died=[0, 1] * 30)
    with pytest.raises(InputError, match="several of which would become one time"):
        task_from_table(columns, "y", event="died")
