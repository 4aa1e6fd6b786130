"""Foreign tables of predictions, of classes, repeats and lines, are read as told, and what cannot be is refused."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import heldout as ho
from heldout.data.task import Truth, truth_of
from heldout.errors import InputError
from heldout.metrics import metric_named
from heldout.metrics.base import Response
from heldout.readers.columns import columns_of_classes, texts_of_classes
from heldout.readers.formats.plain import MATCHED_BY_ORDER, check_no_setting, check_uses
from heldout.readers.prediction_columns import (
    ColumnPredictions,
    check_kinds,
    check_no_probabilities_of_classes,
    held_out,
    prediction_columns_of,
    remarks_on_whole_numbers,
)
from heldout.readers.prediction_table import PredictionTable

N = 12


def foreign(**columns: Any) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    base = {
        "truth": rng.integers(0, 2, N),
        "fold": np.arange(N) % 4,
        "site": np.arange(N) // 2,
        "w": rng.random(N),
        "m1": rng.random(N),
        "m2": rng.random(N),
    }
    return pd.DataFrame({**base, **columns})


def wide(frame: pd.DataFrame, **uses: Any) -> PredictionTable:
    return ho.read_predictions(frame, "wide", target="truth", **uses)


def test_every_column_that_is_not_named_is_a_configuration() -> None:
    found = wide(foreign(), fold="fold", group="site", weight="w", exclude=["m2"])

    assert list(found.columns.frame) == ["m1"]
    np.testing.assert_array_equal(found.folds, np.arange(N) % 4)
    assert found.groups is not None and found.sample_weight is not None


@pytest.mark.parametrize(
    ("columns", "arguments", "said"),
    [
        ({}, {"fold": "Folds"}, "no column 'Folds' to use as the folds; the nearest name is 'fold'"),
        ({}, {"fold": "fold", "group": "fold"}, "column 'fold' cannot be both"),
        ({"m2": np.nan}, {"fold": "fold"}, "'m2' of the table has no predictions at all"),
    ],
)
def test_what_cannot_be_read_is_refused(columns: dict[str, Any], arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        wide(foreign(**columns), **arguments)


def test_rows_of_no_fold_were_not_held_out() -> None:
    held_out = np.arange(N) < 4
    some = {name: np.where(held_out, 0.5, np.nan) for name in ("fold", "m1", "m2")}
    found = wide(foreign(**some), fold="fold", exclude=["site", "w"])
    assert np.isnan(found.folds[~held_out]).all() and (found.folds[held_out] == 0.5).all()

    predicted = wide(foreign(fold=some["fold"]), fold="fold", exclude=["site", "w"])
    with pytest.raises(InputError, match=r"folds has a missing value in 8 rows with predictions"):
        ho.estimate(predicted, metric="accuracy")


def test_events_and_times_are_one_structured_target() -> None:
    seen = [1, 0, True, "TRUE", "false", 0.0] * 2
    found = wide(
        foreign(truth=np.arange(1, N + 1), died=np.array(seen, dtype=object)), event="died", fold="fold",
        exclude=["site", "w"],
    )  # fmt: skip

    assert found.truth.dtype.names == ("event", "time")
    assert found.truth["event"].tolist() == [True, False, True, True, False, False] * 2
    assert found.truth["time"].tolist() == list(range(1, N + 1))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"died": [2] + [1] * (N - 1)}, "event column 'died' must hold 1 .* got 2 in row 1"),
        ({"died": ["yes"] * N}, "event column 'died' must hold 1 .* got yes in row 1"),
        ({"died": [None] + [1.0] * (N - 1)}, r"column 'died' \(the event\) has 1 missing value in 12 rows"),
    ],
)
def test_events_that_are_none_are_refused(columns: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        wide(foreign(**columns), event="died", fold="fold", exclude=["site", "w"])


def checked(found: Any, truth: Truth, metric: str) -> None:
    check_kinds(found.columns, prediction_columns_of(found.columns, truth), truth, metric_named(metric))


def read(**columns: Any) -> Any:
    return wide(foreign(**columns), fold="fold", exclude=["site", "w"])


def test_text_among_numbers_is_refused_with_its_row() -> None:
    mixed = [str(i / N) for i in range(N - 1)] + ["high"]
    found = read(m2=mixed)
    truth = truth_of(found.truth)

    with pytest.raises(InputError, match="column 'm2' must hold numbers, got 'high' in row 12"):
        checked(found, truth, "roc_auc")
    with pytest.raises(InputError, match="column 'm2' must hold numbers, got 'high' in row 12"):
        checked(found, truth, "accuracy")


def test_labels_beside_scores_are_refused() -> None:
    found = read(m2=["yes", "no"] * 6)

    with pytest.raises(InputError, match=r"'m1' holds numbers .* and 'm2' holds text"):
        checked(found, truth_of(found.truth), "accuracy")


def test_the_metric_is_guessed_from_target_and_predictions() -> None:
    scores, labels = read(), read(m1=[0, 1] * 6, m2=[1, 0] * 6)

    assert scores.guessed_metric(truth_of(scores.truth)) == "roc_auc"
    assert labels.guessed_metric(truth_of(labels.truth)) == "accuracy"
    assert scores.guessed_metric(truth_of(np.arange(N) + 0.5)) == "r2"
    assert scores.guessed_metric(truth_of(["a", "b", "c"] * 4)) == "accuracy"


def test_whole_numbers_among_scores_are_remarked_on() -> None:
    found = wide(foreign(age=np.arange(N)[::-1]), fold="fold")
    site, age = remarks_on_whole_numbers(found.columns)

    assert site.startswith("Column 'site' is read as a configuration, although it holds whole numbers")
    assert age.startswith("Column 'age' is read")


@pytest.mark.parametrize(
    "columns",
    [
        {"site": np.arange(N) / 2 + 0.1},
        {"site": np.arange(N) % 2},  # may be labels
        {"w": np.arange(N)[::-1], "m1": np.arange(N)[::-1]},  # whole predictions, as of counts
    ],
    ids=["scores", "labels", "counts"],
)
def test_what_may_be_predictions_is_not_remarked_on(columns: dict[str, Any]) -> None:
    found = wide(foreign(**columns), fold="fold")
    assert remarks_on_whole_numbers(found.columns) == ()


@pytest.mark.parametrize("column", [{"patient_nr": np.arange(N) * 7 % 5}, {"place": np.arange(N) + 1000}])
def test_an_identifier_is_never_a_configuration(column: dict[str, Any]) -> None:
    (name,) = column
    with pytest.raises(InputError, match=rf"column '{name}' holds whole numbers that identify or count lines"):
        wide(foreign(**column), fold="fold")
    for use in (
        {"row": name} if name == "place" else {"group": name},
        {"exclude": [name]},
        {"prediction": ["m1"]},
    ):
        wide(foreign(**column), fold="fold", **use)


@pytest.mark.parametrize("name, option", [("rep", "repeat"), ("Patient_ID", "group"), ("row_id", "row")])
def test_names_that_no_configuration_has_are_refused_with_their_option(name: str, option: str) -> None:
    with pytest.raises(
        InputError, match=f"column '{name}' would be read as a configuration.*use --{option} {name}"
    ):
        wide(foreign(**{name: np.arange(N)}), fold="fold", group="site")


@pytest.mark.parametrize("name", ["Fold_ID", "cv fold", "Fold#", "Falte"])
def test_a_name_that_speaks_of_folds_is_no_configuration(name: str) -> None:
    with pytest.raises(InputError, match=rf"column '{name}' would be read as a configuration.*use --fold "):
        wide(foreign(**{name: np.arange(N) % 5}), fold="fold", group="site")
    wide(foreign(**{name: np.linspace(0, 1, N)}), fold="fold", group="site")  # scores, whatever their name


def test_a_column_that_is_named_twice_is_refused_as_such() -> None:
    frame = pd.DataFrame({"y": [0.1, 0.2, 0.3], "m0": [0.1, 0.3, 0.2]})
    with pytest.raises(ho.InputError, match="column 'm0' is named twice as the predictions; name it once"):
        ho.read_predictions(frame, target="y", prediction=["m0", "m0"])


def test_true_and_false_are_weights() -> None:
    frame = pd.DataFrame({"y": [0.1, 0.2, 0.3], "m0": [0.1, 0.3, 0.2], "w": [True, False, True]})
    table = ho.read_predictions(frame, target="y", weight="w")
    np.testing.assert_array_equal(table.sample_weight, [1, 0, 1])


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
        (TWO, ["one[0]"], r"'one\[0\]' of 'one' must be .*positive one, 1, is enough; --positive LABEL"),
        (TWO, ["one[0]", "one[1]", "two[1]"], r"'two\[1\]' of 'two' must be one column for each class"),
        (TWO, ["one[1]", "one[1.0]"], r"'one\[1\]', 'one\[1.0\]' name a class of the target twice"),
    ],
    ids=["negative only", "uneven", "twice"],
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


@pytest.mark.parametrize(
    ("columns", "said"),
    [
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


ROWS, R = 10, 3


def rows_of_repeats() -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """A table of rows with their predictions (N, C, R) and folds (N, R)."""
    rng = np.random.default_rng(4)
    rows = pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(ROWS)],
            "y": rng.normal(size=ROWS),
            "site": np.arange(ROWS) // 2,
        }
    )
    folds = np.stack([rng.permutation(ROWS) % 5 for _ in range(R)], axis=1)
    return rows, rng.normal(size=(ROWS, 2, R)), folds


def long(shuffled: bool) -> pd.DataFrame:
    rows, predictions, folds = rows_of_repeats()
    rng, parts = np.random.default_rng(5), []
    for repeat in range(R):
        part = rows.assign(
            rep=f"r{repeat}", fold=folds[:, repeat], m1=predictions[:, 0, repeat], m2=predictions[:, 1, repeat]
        )
        parts.append(part.iloc[rng.permutation(ROWS)] if shuffled and repeat else part)
    return pd.concat(parts, ignore_index=True)


def read_repeats(frame: pd.DataFrame, row: str | None = "id", **more: Any) -> PredictionTable:
    exclude = [] if row else ["id"]
    return ho.read_predictions(
        frame, "wide", target="y", fold="fold", repeat="rep", row=row, group="site", exclude=exclude, **more
    )


@pytest.mark.parametrize(("shuffled", "row"), [(True, "id"), (False, "id"), (False, None)])
def test_repeats_are_the_same_rows(shuffled: bool, row: str | None) -> None:
    rows, predictions, folds = rows_of_repeats()
    found = read_repeats(long(shuffled), row)
    truth = truth_of(found.truth, "regression")
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
    found = read_repeats(frame, None)

    assert found.folds is not None and found.folds.shape == (ROWS,) and found.remarks == ()


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
        read_repeats(frame.reset_index(drop=True), row)


def test_rows_that_recur_without_a_repeat_are_refused() -> None:
    table = long(False)

    with pytest.raises(InputError, match=r"row p0 is in two lines, 1 and 11; .* `repeat=`"):
        ho.read_predictions(table, "wide", target="y", fold="fold", row="id", exclude=["rep", "site"])
    with pytest.raises(
        InputError, match=r"column 'id' would be read as a configuration.* use --row id, or --exclude id"
    ):
        ho.read_predictions(table, "wide", target="y", fold="fold", repeat="rep")


RNG = np.random.default_rng(0)
LINES = 40
Y = RNG.integers(0, 2, LINES)


def copied(k: int, order: str) -> tuple[pd.DataFrame, pd.Series]:
    """Lines of N rows for each of k penalties."""
    frame = pd.DataFrame(
        {"penalty": np.repeat(np.arange(k) / 10, LINES), "p": RNG.random(k * LINES), "y": np.tile(Y, k)}
    )
    if order == "by row":
        frame = (
            frame.assign(row=np.tile(np.arange(LINES), k)).sort_values("row", kind="stable").reset_index(drop=True)
        )
    return frame[["penalty", "p"]], frame["y"]


@pytest.mark.parametrize("order", ["by configuration", "by row"])
def test_a_setting_divides_the_lines_into_copies(order: str) -> None:
    predictions, target = copied(3, order)

    with pytest.raises(InputError, match="the same rows once for each of the 3 values of column 'penalty'"):
        check_no_setting(predictions, target)
    check_no_setting(predictions[["p"]], target)


def test_numbers_tell_the_copies_in_any_order() -> None:
    y = pd.Series(np.tile(RNG.normal(size=LINES), 3))
    order = RNG.permutation(len(y))
    frame = pd.DataFrame({"k": np.repeat([1, 2, 3], LINES)}).iloc[order].reset_index(drop=True)

    with pytest.raises(InputError, match="of column 'k'"):
        check_no_setting(frame, y.iloc[order].reset_index(drop=True))


@pytest.mark.parametrize(
    "column",
    [
        Y,
        1 - Y,
        np.zeros(LINES),
        RNG.integers(0, 2, LINES),
        np.where(RNG.random(LINES) < 0.5, 0.3, 0.7),
        np.full(LINES, np.nan),
    ],
    ids=["right", "wrong", "constant", "labels", "two scores", "missing"],
)
def test_predictions_of_few_values_are_no_settings(column: Any) -> None:
    check_no_setting(pd.DataFrame({"m": column}), pd.Series(Y))


def test_sorted_rows_that_alternate_between_two_scores_are_predictions() -> None:
    target = pd.Series(np.repeat([0, 1], LINES // 2))

    check_no_setting(pd.DataFrame({"m": np.tile([0.2, 0.8], LINES // 2)}), target)


def shares(k: int) -> pd.DataFrame:
    return pd.DataFrame(RNG.dirichlet(np.ones(k), LINES), columns=[f"m{j}" for j in range(k)])


@pytest.mark.parametrize(
    ("predictions", "classes"),
    [
        (shares(2), ["a", "b"]),
        (shares(3), ["a", "b", "c"]),
        (shares(2).round(2), ["a", "b"]),
        (pd.concat([shares(2)["m0"].rename("first"), shares(2)], axis=1), ["a", "b"]),
        (shares(2).set_axis([".pred_a", ".pred_b"], axis=1).assign(x=0.5)[[".pred_a", "x", ".pred_b"]], ["a", "b"]),
    ],
    ids=["two", "three", "rounded", "beside another", "by name"],
)
def test_columns_that_sum_to_one_are_classes(predictions: pd.DataFrame, classes: list[str]) -> None:
    with pytest.raises(InputError, match=r"sum to 1 in every row, as the probabilities of the target's classes"):
        check_no_probabilities_of_classes(predictions, classes)


@pytest.mark.parametrize(
    ("predictions", "classes"),
    [
        (pd.DataFrame(RNG.random((LINES, 4)), columns=list("abcd")), ["a", "b"]),
        (pd.DataFrame({"never": np.zeros(LINES), "always": np.ones(LINES)}), ["a", "b"]),
        (pd.DataFrame({"m": 1.0 * Y, "n": 1.0 - Y}), ["a", "b"]),
        (pd.DataFrame({"m": RNG.normal(size=LINES)}).assign(n=lambda it: 1 - it["m"]), ["a", "b"]),
        (shares(3), ["a", "b"]),
        (shares(2).assign(m0=lambda it: it["m0"].where(it.index > 0, 0.5)), ["a", "b"]),
    ],
    ids=["scores", "constants", "labels", "no probabilities", "other number", "but for a row"],
)
def test_columns_that_do_not_are_configurations(predictions: pd.DataFrame, classes: list[str]) -> None:
    check_no_probabilities_of_classes(predictions, classes)


def test_columns_that_identify_lines_cannot_be_excluded() -> None:
    frame = pd.DataFrame(
        {".config": ["a", "b"], ".row": [1, 1], "penalty": [0.1, 0.2], "rep": [1, 2], "row": [3, 4]}
    )

    with pytest.raises(InputError, match=r"'\.config' distinguishes 2 configurations, .* --configuration \.config"):
        check_uses(frame, [".config"], None)
    with pytest.raises(InputError, match=r"'\.row' holds 1 in several lines, .* --row \.row"):
        check_uses(frame, [".row"], None)
    with pytest.raises(InputError, match=r"--repeat penalty: the column holds 0\.1, which is not the number"):
        check_uses(frame, [], "penalty")
    check_uses(frame, ["row", "penalty", ".row"], "rep")


def test_columns_are_of_classes_by_their_names() -> None:
    assert columns_of_classes(["A", "B", "k"], ["A", "B"]) == [{"A": "A", "B": "B"}]
    assert columns_of_classes(["prob.no", "prob.yes"], ["no", "yes"]) == [{"prob.no": "no", "prob.yes": "yes"}]
    assert columns_of_classes(["p0", "p1"], ["0", "1"]) == [{"p0": "0", "p1": "1"}]
    assert columns_of_classes([".pred_TRUE", ".pred_FALSE"], ["False", "True"]) == [
        {".pred_FALSE": "False", ".pred_TRUE": "True"}
    ]
    assert columns_of_classes([".pred_A", "k"], ["A", "B"]) == columns_of_classes(["A"], ["A"]) == []
    assert texts_of_classes(pd.Series([0.5, 1.0])) == texts_of_classes(pd.Series(range(60))) == []
    assert texts_of_classes(pd.Series([1, 0, 1])) == ["0", "1"]
