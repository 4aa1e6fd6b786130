"""Tables as people have them: words for nothing, marks between thousands, dates, codes, labels that look alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

Command = Callable[..., Any]
N = 60
pytestmark = pytest.mark.usefixtures("tiny_space")


def german(number: float) -> str:
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


@pytest.fixture
def columns() -> dict[str, list[str]]:
    rng = np.random.default_rng(0)
    pay, noise = rng.normal(2000, 500, N), rng.normal(size=N)
    return {
        "pay": [german(amount) for amount in pay],
        "pressure": ["k.A." if i % 17 == 3 else german(120 + 10 * noise[i]) for i in range(N)],
        "seen": [f"{1 + i % 28}.{1 + i % 12}.{2000 + i % 20}" for i in range(N)],
        "stage": [str(1 + i % 4) for i in range(N)],
        "ill": ["ja" if pay[i] / 500 + noise[i] > 4 else "nein" for i in range(N)],
    }


def written(columns: dict[str, list[str]], path: Path, separator: str = ";") -> Path:
    lines = [separator.join(columns), *(separator.join(row) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def tune(command: Command, tmp_path: Path) -> Callable[..., Any]:
    def tune(columns: dict[str, list[str]], *options: Any) -> Any:
        data = written(columns, tmp_path / "data.csv")
        return command("tune", data, "--n-jobs", 1, "--cv", 2, "--out", tmp_path / "out", *options)

    return tune


def test_numbers_dates_and_codes_of_a_german_table(
    tune: Callable[..., Any], command: Command, columns: dict[str, list[str]], tmp_path: Path
) -> None:
    """A model of it predicts the same file, read in the same way."""
    columns["ill"][7] = ""
    ended = tune(columns, "--target", "ill", "--date", "seen", "--factor", "stage", "--drop-missing-target")
    assert ended.code == 0, ended.err
    for said in (
        "59 rows, 6 columns to predict from. 1 of them holds categories: 'stage'.",
        "Numbers are written with a decimal comma.",
        "'k.A.' was read as a missing value (4 cells of 'pressure').",
        "The numbers of 'pay' have a '.' between thousands.",
        "1 row without a target left out (first: row 8); the others are counted anew.",
    ):
        assert said in ended.out + ended.err, said
    ended = command("predict", tmp_path / "out", tmp_path / "data.csv", "--out", tmp_path / "new.csv")
    assert ended.code == 0, ended.err
    found = pd.read_csv(tmp_path / "new.csv")
    assert len(found) == N and "seen" in found and "pay" not in found
    assert (found["prediction"] == columns["ill"]).mean() > 0.8


def test_marks_between_thousands_are_numbers_only_where_one_shows_what_they_are(
    columns: dict[str, list[str]], tmp_path: Path
) -> None:
    from heldout.readers.cells import cleaned
    from heldout.readers.tables import read_table

    table = cleaned(read_table(written({"a": ["1,234.56", "12"], "b": ["1,000", "2"]}, tmp_path / "a.csv")))
    assert table.frame.to_dict("list") == {"a": [1234.56, 12.0], "b": [1000.0, 2.0]}
    table = cleaned(read_table(written({"a": ["x", "y"], "b": ["1,000", "2.5"]}, tmp_path / "b.csv")))
    assert table.frame["b"].tolist() == ["1,000", "2.5"]


@pytest.mark.parametrize(
    ("texts", "parts"),
    [
        (["2024-05-31", "1970-01-02 12:00"], [[2024, 5, 19874], [1970, 1, 1]]),
        (["31.5.2024", "2.1.1970"], [[2024, 5, 19874], [1970, 1, 1]]),
        (["31/5/2024", "2/1/1970"], [[2024, 5, 19874], [1970, 1, 1]]),
        (["5/31/2024", "1/2/1970"], [[2024, 5, 19874], [1970, 1, 1]]),
        (["2024/05/31", ""], [[2024, 5, 19874], [np.nan] * 3]),
    ],
)
def test_parts_of_dates(texts: list[str], parts: list[list[float]]) -> None:
    from heldout.readers.cells import date_columns

    found = date_columns(pd.Series([text or None for text in texts], name="d"))
    np.testing.assert_array_equal(np.column_stack([*found.values()]), parts)
    assert [*found] == ["d year", "d month", "d days"]


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        ({"ill": ["Ja", "ja", "nein"] * 20}, (), "holds 'Ja', 'ja', which differ in capitals or blanks only"),
        ({"ill": ["None", "mild", "None"] * 20}, (), "if the text 'None' is a class, use --not-missing None"),
        (
            {"status": ["0", "1"] * 30, "days": [str(i * 3) for i in range(N)]},
            ("--target", "days"),
            "--event status",
        ),
        ({"seen": ["1/2/2020"] * N}, ("--date", "seen"), "day and month cannot be told apart"),
        ({"seen": ["2020-01-02"] * 59 + ["May"]}, ("--date", "seen"), "'May' in row 60 is no date"),
        ({}, ("--date", "ill"), "--date ill: the column is the target; name a predictor."),
        ({}, ("--factor", "stge"), "no column 'stge' to use as a column of --factor; the nearest names are"),
        ({}, ("--missing", "unknown"), "--missing unknown: no cell of"),
        ({"seen year": ["1"] * N}, ("--date", "seen"), "--date seen makes the column 'seen year'"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused_with_the_option(
    tune: Callable[..., Any], columns: dict[str, list[str]], change: Any, options: tuple[str, ...], said: str
) -> None:
    ended = tune(columns | change, "--target", "ill", *options)
    assert ended.code == 2 and said in " ".join(ended.err.split()), ended.err


def test_the_options_decide(tune: Callable[..., Any], columns: dict[str, list[str]]) -> None:
    classes = {"ill": ["Ja", "ja", "None"] * 20}
    ended = tune(columns | classes, "--target", "ill", "--alike-labels", "merge", "--not-missing", "None", "--json")
    assert ended.code == 0 and "2 different labels" in ended.err, ended.err


def test_like_texts_of_a_predictor_and_remarks_are_said(
    tune: Callable[..., Any], columns: dict[str, list[str]]
) -> None:
    more = {"sex": ["f", "F", "m"] * 20, "remark": [f"text {i % 59}" for i in range(N)]}
    ended = tune(columns | more, "--target", "ill")
    assert "'sex' holds 'f', 'F': texts that differ in capitals or blanks only" in ended.err
    assert "Excluded 'remark' (59 different texts in 60 rows, like remarks; to use it: --keep remark)." in ended.err


def test_a_typed_column_is_checked_before_the_usual_folder(
    command: Command, columns: dict[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = written(columns, tmp_path / "data.csv")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "heldout-out").mkdir()
    (tmp_path / "heldout-out" / "run.db").write_bytes(b"")
    assert "no column 'il'" in command("tune", data, "--target", "il").err
    assert "heldout-out already holds a run" in command("tune", data, "--target", "ill").err
