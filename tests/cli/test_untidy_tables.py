"""Tables as people have them: words for nothing, marks between thousands, dates, codes, labels that look alike."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from heldout.errors import InputError

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
        "The numbers of 'pay' are written with a mark between thousands.",
        "1 row without a target left out (first: row 8); the others are counted anew.",
    ):
        assert said in ended.out + ended.err, said
    ended = command("predict", tmp_path / "out", tmp_path / "data.csv", "--out", tmp_path / "new.csv")
    assert ended.code == 0, ended.err
    found = pd.read_csv(tmp_path / "new.csv")
    assert len(found) == N and "seen" in found and "pay" not in found
    assert (found["prediction"] == columns["ill"]).mean() > 0.8


@pytest.mark.parametrize("per_cent", ["{} %", "{}%"])
def test_percentages_are_numbers_where_every_cell_has_the_sign(
    tune: Callable[..., Any], command: Command, columns: dict[str, list[str]], tmp_path: Path, per_cent: str
) -> None:
    plain = columns.pop("pressure")
    columns["share"] = [text if text == "k.A." else per_cent.format(text) for text in plain]
    columns["some"] = [per_cent.format(i % 6) if i % 2 else str(i % 6) for i in range(N)]
    ended = tune(columns, "--target", "ill")
    assert ended.code == 0, ended.err
    assert "The numbers of 'share' are percentages: 12 % is 12." in ended.err
    assert "1 of them holds categories: 'some'." in ended.out + ended.err
    predicted = []
    for number, cells in enumerate(([per_cent.format("120,5")], ["120,5"])):
        data = written(
            {**{name: cells[:1] for name, cells in columns.items()}, "share": cells}, tmp_path / "new.csv"
        )
        out = tmp_path / f"{number}.csv"
        assert command("predict", tmp_path / "out", data, "--out", out).code == 0
        predicted.append(pd.read_csv(out)["probability ja"].tolist())
    assert predicted[0] == predicted[1]


def test_a_model_remembers_the_words_for_missing_values_and_the_numbers_of_its_table(
    tune: Callable[..., Any], command: Command, columns: dict[str, list[str]], tmp_path: Path
) -> None:
    """In a new table alone nothing would show what they mean; options of predict win."""
    columns.pop("seen")
    columns["score"] = ["999" if i % 9 == 4 else str(i % 10) for i in range(N)]
    columns["stage"][5] = "None"
    words = ("--missing", "999", "--not-missing", "None", "--missing", "stage=4")
    ended = tune(columns, "--target", "ill", *words)
    assert ended.code == 0, ended.err
    assert "'4' was read as a missing value (15 cells of 'stage')" in ended.err
    new: dict[str, list[str]] = {
        "pay": ["2.500", "1.250"],
        "pressure": ["120,5", "k.A."],
        "stage": ["None", "4"],
        "score": ["4", "999"],
    }
    plain = new | {"pay": ["2500,0", "1250,0"], "stage": ["None", ""], "score": ["4", ""]}

    def predicted(rows: dict[str, list[str]], name: str, *options: str) -> tuple[str, list[float]]:
        out = tmp_path / f"out-{name}"
        ended = command("predict", tmp_path / "out", written(rows, tmp_path / name), "--out", out, *options)
        assert ended.code == 0, ended.err
        return ended.err, pd.read_csv(out)["probability ja"].tolist()

    said, found = predicted(new, "new.csv")
    assert "'999' was read as a missing value (1 cell of 'score')" in said and "do not know" not in said
    assert found == predicted(plain, "plain.csv")[1]
    said, given = predicted(new, "given.csv", "--not-missing", "999", "--missing", "None")
    assert "'999'" not in said and given[1] != found[1]
    assert given[0] == predicted(new | {"stage": ["", "4"]}, "nothing.csv")[1][0]


@pytest.fixture
def study() -> dict[str, list[str]]:
    rng = np.random.default_rng(1)
    age, noise, luck = rng.normal(60, 10, N).round(), rng.normal(size=N), 2 * rng.normal(size=N)
    return {
        "age": [f"{years:g}" for years in age],
        "seen": [f"{1 + i % 28}.{1 + (i * 7) % 12}.{2000 + (i * 13) % 20}" for i in range(N)],
        "albumin": ["999" if i % 15 == 4 else f"{38 + 5 * noise[i]:.1f}" for i in range(N)],
        "ill ": ["ja" if age[i] / 10 + luck[i] > 6 else "nein" for i in range(N)],
    }


@pytest.fixture
def validate(command: Command, tmp_path: Path) -> Callable[..., Any]:
    def validate(columns: dict[str, list[str]], *options: Any) -> Any:
        data = written(columns, tmp_path / "data.csv")
        kept = ("--n-bootstraps", 3, "--metric", "roc_auc", "--n-jobs", 1, "--out", tmp_path / "out")
        return command("validate", data, "--target", "ill ", *kept, *options)

    return validate


def test_a_date_of_a_regression_is_one_column_and_names_are_read_without_blanks_around(
    validate: Callable[..., Any], command: Command, study: dict[str, list[str]], tmp_path: Path
) -> None:
    """Year, month and days together have no coefficients of their own."""
    ended = validate(study, "--date", " seen", "--missing", "999")
    assert ended.code == 0, ended.err
    assert "'seen': the days since 1970 alone, on which year and month depend." in ended.err
    table = ended.out[ended.out.index("Coefficients of the model") :]
    assert "seen days" in table and "seen year" not in table and "No intervals" not in table
    ended = command("predict", tmp_path / "out", tmp_path / "data.csv", "--out", tmp_path / "new.csv")
    assert ended.code == 0 and "'999' was read as a missing value (4 cells of 'albumin')" in ended.err, ended.err


def test_a_usual_code_far_from_other_values_is_noted(
    validate: Callable[..., Any], command: Command, study: dict[str, list[str]], tmp_path: Path
) -> None:
    ended = validate(study)
    assert ended.code == 0, ended.err
    said = "999 is far from all other values of 'albumin' (4 rows; the others are"
    assert said in ended.err and "use --missing 999, or --missing albumin=999 in one column." in ended.err
    ended = command("predict", tmp_path / "out", tmp_path / "data.csv", "--out", tmp_path / "new.csv")
    assert ended.code == 0 and said in ended.err
    ended = command(
        "tune", tmp_path / "data.csv", "--target", "ill", "--missing", "age=999", "--out", tmp_path / "t"
    )
    assert "--missing age=999: no cell of 'age' holds 999; write it as the file does." in ended.err


def test_the_methods_text_says_what_was_missing_how_it_was_filled_and_what_the_event_is(
    validate: Callable[..., Any], command: Command, study: dict[str, list[str]], tmp_path: Path
) -> None:
    metrics = [word for name in ("calibration_intercept", "somers_d", "emax") for word in ("--metric", name)]
    assert validate(study, "--missing", "999", *metrics).code == 0
    text = (tmp_path / "out" / "methods.md").read_text(encoding="utf-8")
    for said in (
        "a binary outcome, ill (ja: ",
        "'999' was read as a missing value (4 cells of 'albumin').",
        "Missing values of numerical predictors were replaced by their median among the observations",
        "The corrected estimates were: ROC AUC 0.",
        "; Emax 0.",
    ):
        assert said in text, said
    assert re.search(r"; calibration intercept −?0\.\d+ \(apparent 0\.0+\); Somers' D −?0\.", text), text[-1500:]
    study |= {"time": [str(2 + i % 17) for i in range(N)], "status": [str(1 + i % 2) for i in range(N)]}
    study.pop("ill ")
    data, kept = (
        written(study, tmp_path / "data.csv"),
        ("--n-bootstraps", 2, "--n-jobs", 1, "--out", tmp_path / "surv"),
    )
    event = ("--target", "time", "--event", "status", "--event-value", 2, "--time", 9)
    assert command("validate", data, *event, *kept).code == 0
    text = (tmp_path / "surv" / "methods.md").read_text(encoding="utf-8")
    assert "a time-to-event outcome (time, with the event marked by status = 2; 30 events;" in text
    assert "Brier score at time 9 (" in text
    # The saved model remembers the time.
    found = {}
    for name, more in (("all", ()), ("other", ("--time", 5)), ("late", ("--time", 1000))):
        out = tmp_path / f"{name}.csv"
        ended = command("predict", tmp_path / "surv", data, "--out", out, *more)
        if name == "late":
            assert ended.code == 2 and "--time 1000.0: times must be a list of times until 18" in ended.last
            continue
        assert ended.code == 0 and "'log hazard' is the log hazard, of which only differences" in ended.err, (
            ended.err
        )
        found[name] = pd.read_csv(out)
    at = "probability of no event until "
    assert "log hazard" in found["all"] and "prediction" not in found["all"]
    assert (found["other"][f"{at}5"] >= found["all"][f"{at}9"]).all() and f"{at}9" not in found["other"]
    order = np.argsort(found["all"]["log hazard"])
    assert (np.diff(found["all"][f"{at}9"].to_numpy()[order]) <= 0).all()


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([1, 2, 3, 9, 9, 9], ["9"]),
        ([1, 2, 3, 9, 9], []),  # too few
        ([1, 5, 9, 9, 9], []),  # a part of the scale
        ([0, 600, 999, 999, 999], []),
        ([20.5, 40, -9, -9, -9, 888, 888, 888], ["-9", "888"]),
        ([9, 9, 9, 1, 1], []),  # of two values neither is far
        (["x", "9", "9", "9"], []),
    ],
)
def test_which_numbers_are_codes(values: list[Any], codes: list[str]) -> None:
    from heldout.readers.missing_codes import remarks_on_codes

    found = remarks_on_codes(pd.DataFrame({"a b": values}))
    assert sorted(remark.partition(" is far")[0] for remark in found) == codes
    assert all("--missing 'a b=" in remark for remark in found)


def test_a_regression_refuses_numbers_that_are_read_as_text(
    validate: Callable[..., Any], study: dict[str, list[str]]
) -> None:
    study["age"] = [age.replace(".", ",") + ",0" for age in study["age"]]
    study["albumin"] = ["2.6", *study["albumin"][1:]]
    ended = validate(study, "--missing", "999")
    assert ended.code == 2 and "'age' would have a coefficient for each text, as '" in ended.last
    assert "use --factor age." in ended.last
    assert validate(study, "--missing", "999", "--factor", "age").code == 0


def test_marks_between_thousands_are_numbers_only_where_one_shows_what_they_are(
    columns: dict[str, list[str]], tmp_path: Path
) -> None:
    from heldout.readers.cells import cleaned
    from heldout.readers.tables import read_table

    table = cleaned(read_table(written({"a": ["1,234.56", "12"], "b": ["x", "2"]}, tmp_path / "a.csv")))
    assert table.frame.to_dict("list") == {"a": [1234.56, 12.0], "b": ["x", "2"]}
    for other in ("1,000", "1.000"):  # of whole numbers nothing shows what the sign means
        with pytest.raises(
            InputError, match=f"holds '{other}', whose (comma|point) can mark thousands or decimals"
        ):
            read_table(written({"a": ["1.234,56" if "." in other else "x"], "b": [other]}, tmp_path / "d.csv"))
    table = cleaned(read_table(written({"a": ["1.234,56", "12"], "b": ["2.442", "1.5"]}, tmp_path / "c.csv")))
    assert table.frame.to_dict("list") == {"a": [1234.56, 12.0], "b": [2.442, 1.5]}
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
        (["31-05-2024 10:30", "9999-12-31"], [[2024, 5, 19874], [9999, 12, 2932896]]),
        (["2024-05-31T23:30-05:00", "1970-01-02"], [[2024, 5, 19874], [1970, 1, 1]]),
        (["", ""], [[np.nan] * 3] * 2),
    ],
)
def test_parts_of_dates(texts: list[str], parts: list[list[float]]) -> None:
    from heldout.readers.cells import date_columns

    found = date_columns(pd.Series([text or None for text in texts], name="d"))
    np.testing.assert_array_equal(np.column_stack([*found.values()]), parts)
    assert [*found] == ["d year", "d month", "d days"]


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


def test_dates_with_a_time_zone_are_those_of_the_clock_there() -> None:
    from heldout.readers.cells import date_columns

    moments = pd.Series(pd.to_datetime(["2024-05-31 23:30", None])).dt.tz_localize("America/New_York").rename("d")
    assert date_columns(moments)["d days"].iloc[0] == 19874


def test_codes_and_words_mean_the_same_when_a_model_predicts(
    command: Command, tune: Callable[..., Any], columns: dict[str, list[str]], tmp_path: Path
) -> None:
    """Codes that are written otherwise, and a new table without a word for missing values."""
    columns["stage"] = [f"0{code}" for code in columns["stage"]]
    columns["pressure"] = ["999" if cell == "k.A." else cell for cell in columns["pressure"]]
    ended = tune(columns, "--target", "ill", "--factor", "stage", "--missing", "999")
    assert ended.code == 0, ended.err
    columns["stage"] = [code.removeprefix("0") for code in columns["stage"]]
    columns["pressure"] = ["120,0" if cell == "999" else cell for cell in columns["pressure"]]
    new = written(columns, tmp_path / "new.csv")
    ended = command("predict", tmp_path / "out", new, "--missing", "999", "--out", tmp_path / "found.csv")
    assert ended.code == 0 and "does not know" not in ended.err, ended.err


def test_a_number_that_can_be_read_in_two_ways_is_refused_by_a_model(
    command: Command, tune: Callable[..., Any], columns: dict[str, list[str]], tmp_path: Path
) -> None:
    assert tune(columns, "--target", "ill").code == 0
    columns["pay"] = [f"1.{row + 100}" for row in range(N)]
    new = written(columns | {"pay": columns["pay"], "limit": ["1.234,56"] * N}, tmp_path / "new.csv")
    ended = command("predict", tmp_path / "out", new, "--out", tmp_path / "found.csv")
    assert ended.code == 2 and "'1.100', whose point can mark thousands or decimals" in ended.err, ended.err


@pytest.mark.parametrize("method", ["DL10p", "BBC-CV(control=False)", "hm"])
def test_names_of_articles_choose_the_method(
    tune: Callable[..., Any], columns: dict[str, list[str]], method: str
) -> None:
    """Where the method does not fit, the sentence is about its own name."""
    ended = tune(columns, "--target", "ill", "--method", method)
    assert ended.code == 0 or "does not fit" in ended.err or "is for one development set" in ended.err, ended.err
