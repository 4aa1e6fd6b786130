"""Every form of a survival target becomes one; what cannot be used has its sentence."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from heldout.data.task import SURVIVAL, Task, TaskKind, survival_target, truth_of
from heldout.errors import InputError

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
