"""From a table to a task: the target, the positive class, what predicts, what is set aside, what is refused."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from heldout.data.task import TaskKind, truth_of
from heldout.errors import InputError
from heldout.readers.predictors import categories_sentence, excluded_columns, remarks_on_text
from heldout.readers.table_task import check_folds_fit, task_from_table, with_usual_positive
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
        ({"y": [*[f"{i}.5" for i in range(N - 1)], "12o"]}, r"except for 1 value such as '12o' \(row 60\)"),
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
        ({}, {"event": "died", "keep": ("died",)}, "--keep died: the column is the event"),
        ({"died": [2, 0, 1] * 20}, {"event": "died"}, "must hold 1 .* or 0 .*, got 2 in row 1"),
        ({"died": [0] * N}, {"event": "died"}, "60 rows and no event"),
        (
            {"died": [None, 1.0, 0.0] * 20},
            {"event": "died"},
            r"'died' \(the event\) has 20 missing values in 60 rows",
        ),
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


@pytest.mark.parametrize(
    ("one", "other", "positive"),
    [
        ("Ja", "Nein", "Ja"), ("yes", "no", "yes"), ("YES", "No ", "YES"), ("case", "control", "case"),
        ("ill", "healthy", "ill"), ("bad", "good", "bad"), ("abnormal", "normal", "abnormal"),
        ("malignant", "benign", "malignant"), ("krank", "gesund", "krank"), ("dead", "alive", "dead"),
        ("event", "no event", "event"), ("event", "non-event", "event"), ("-", "+", "+"),
        ("Kontrolle", "Fall", "Fall"),
        ("positiv", "negativ", "positiv"), ("spam", "ham", "spam"), ("b", "a", "b"), ("M", "F", "M"),
        ("no", "none", "none"), ("false", "true", "true"), ("notable", "dull", "notable"),
    ],
)  # fmt: skip
def test_the_case_is_positive(one: str, other: str, positive: str) -> None:
    for labels in ([one, other], [other, one]):
        assert with_usual_positive(truth_of(labels)).pos_label == positive
        assert truth_of(labels).pos_label == sorted(labels)[-1], "the Python API takes the last"


def test_numbers_and_several_classes_stay() -> None:
    for labels in ([0, 1], [True, False], ["no", "a", "b"]):
        truth = truth_of(labels)
        assert with_usual_positive(truth).positive == truth.positive


SHUFFLED = np.random.default_rng(0).permutation(N)


def test_useless_columns_are_excluded_with_the_reason() -> None:
    frame = pd.DataFrame(
        {
            "constant": 1,
            "empty": np.nan,
            "name": [f"patient {i}" for i in range(N)],
            "when": pd.date_range("2020-01-01", periods=N),
            "how_long": pd.to_timedelta(np.arange(N), unit="h"),
            "constant_or_missing": [1.0, np.nan] * 30,  # its gaps may tell something
            "number": SHUFFLED * 3,
            "flag": [True, False] * 30,
            "text": ["a", "b"] * 30,
        }
    )

    reasons = excluded_columns(frame)

    assert set(reasons) == {"constant", "empty", "name", "when", "how_long"}
    assert reasons["constant"] == "constant" and reasons["empty"] == "all missing"
    assert reasons["when"] == "dates; to use it: --date when" and reasons["how_long"] == "durations"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("n", np.arange(N)),
        ("n", np.arange(N) + 1),
        ("n", np.arange(N) + 1000),  # counts up from row to row
        ("n", SHUFFLED + 1),
        ("id", SHUFFLED * 3),
        ("PatientId", SHUFFLED * 3),
        ("patientid", SHUFFLED * 3),
        ("sample_id", SHUFFLED * 3),
    ],
)
def test_row_numbers_are_excluded(name: str, values: Any) -> None:
    reasons = excluded_columns(pd.DataFrame({name: values}))

    assert f"to use it: --keep {name}" in reasons[name]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("n", SHUFFLED * 3),
        ("acid", SHUFFLED * 3),
        ("n", SHUFFLED + 1000),
        ("n", np.arange(N) / 4),
        ("site_id", np.arange(N) % 10),
        ("n", [0, *range(N - 1)]),
    ],
)
def test_measurements_are_not(name: str, values: Any) -> None:
    assert excluded_columns(pd.DataFrame({name: values})) == {}


@pytest.mark.parametrize(
    "written", ["2020-02-{:02}", "{}.2.2020", "2020/02/{:02} 12:30", "2020-02-{:02}T01:02:03Z"]
)
def test_text_that_is_all_dates_is_dates(written: str) -> None:
    days = [written.format(i % 28 + 1) for i in range(N)]

    assert excluded_columns(pd.DataFrame({"day": days}))["day"].startswith("dates; to use it: --date day")
    assert excluded_columns(pd.DataFrame({"day": [*days[1:], "unknown"]})) == {}


def test_categories_are_counted_and_odd_ones_pointed_at() -> None:
    frame = pd.DataFrame(
        {
            "x": np.arange(N) / 7,
            "amount": [f"5{i % 9},{i % 4}96" for i in range(N)],
            "share": [f"{i % 30}%" for i in range(N)],
            "comment": [f"it was {i % 40}" for i in range(N)],
            "colour": ["red", "blue"] * 30,
        }
    )

    numbers, many = remarks_on_text(frame)

    assert categories_sentence(frame) == " 4 of them hold categories: 'amount', 'share', 'comment', 'colour'."
    assert numbers.startswith("'amount' ('50,096'), 'share' ('0%') look like numbers")
    assert many.startswith("'comment' holds 40 different texts: in training, all but the 20 most frequent")
    assert categories_sentence(frame[["x"]]) == "" and remarks_on_text(frame[["x", "colour"]]) == []
