"""Which columns are predictors, and what is said of columns of text."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from heldout.readers.predictors import categories_sentence, excluded_columns, remarks_on_text

N = 60
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
