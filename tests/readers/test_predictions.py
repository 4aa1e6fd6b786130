"""Foreign tables of predictions are read as told, and what cannot be is refused."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import heldout as ho
from heldout.data.task import Truth, truth_of
from heldout.errors import InputError
from heldout.metrics import metric_named
from heldout.readers.prediction_columns import check_kinds, prediction_columns_of, remarks_on_whole_numbers
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
        ({}, {}, "column 'fold' would be read as a configuration.* use --fold fold, or --exclude fold"),
        ({}, {"fold": "Folds"}, "no column 'Folds' to use as the folds; the nearest name is 'fold'"),
        ({}, {"fold": "fold", "group": "fold"}, "column 'fold' cannot be both"),
        ({}, {"fold": "fold", "exclude": ["m1", "m2", "site", "w"]}, "no column of predictions besides"),
        ({"m2": np.nan}, {"fold": "fold"}, "'m2' of the table has no predictions at all"),
        ({"w": "heavy"}, {"fold": "fold", "weight": "w"}, "weights column 'w' must hold numbers, got 'heavy'"),
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
        ({"died": [2] + [1] * (N - 1)}, "It holds 1 and 2: .*; if so here, write 1 for 2 and 0 for 1."),
        ({"died": ["yes"] * N}, "event column 'died' must hold 1 .* got yes in row 1"),
        ({"died": [None] + [1.0] * (N - 1)}, r"column 'died' \(the event\) has 1 missing value in 12 rows"),
        ({"died": 1, "truth": "long"}, "the target .times. column 'truth' must hold numbers, got 'long'"),
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


def test_a_column_that_is_not_there_is_named_before_the_target_is_asked_for() -> None:
    frame = pd.DataFrame({"y": [0.1, 0.2, 0.3], "m0": [0.1, 0.3, 0.2]})
    with pytest.raises(ho.InputError, match="has no column 'zzz' to use as the groups"):
        ho.read_predictions(frame, group="zzz")
