"""Tables as people have them: words for nothing, marks between thousands, dates, codes, labels that look alike."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from heldout.errors import InputError
from heldout.readers.cells import cleaned, date_columns
from heldout.readers.missing_codes import remarks_on_codes
from heldout.readers.tables import Table, read_table

Run = Callable[..., Any]
Columns = dict[str, list[str]]
N = 60
TUNE = "tune data.csv --target ill --n-jobs 1 --cv 2 --out out"
VALIDATE = "validate data.csv --n-bootstraps 3 --metric roc_auc --n-jobs 1 --out out --target"
PREDICT = "predict out new.csv --out found.csv --overwrite"
pytestmark = pytest.mark.usefixtures("tiny_space")


def german(number: float) -> str:
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


@pytest.fixture
def columns(command: Run) -> Columns:
    rng = np.random.default_rng(0)
    pay, noise = rng.normal(2000, 500, N), rng.normal(size=N)
    return {
        "pay": [german(amount) for amount in pay],
        "pressure": ["k.A." if i % 17 == 3 else german(120 + 10 * noise[i]) for i in range(N)],
        "seen": [f"{1 + i % 28}.{1 + i % 12}.{2000 + i % 20}" for i in range(N)],
        "stage": [str(1 + i % 4) for i in range(N)],
        "ill": ["ja" if pay[i] / 500 + noise[i] > 4 else "nein" for i in range(N)],
    }


@pytest.fixture
def study(command: Run) -> Columns:
    rng = np.random.default_rng(1)
    age, noise, luck = rng.normal(60, 10, N).round(), rng.normal(size=N), 2 * rng.normal(size=N)
    return {
        "age": [f"{years:g}" for years in age],
        "seen": [f"{1 + i % 28}.{1 + (i * 7) % 12}.{2000 + (i * 13) % 20}" for i in range(N)],
        "albumin": ["999" if i % 15 == 4 else f"{38 + 5 * noise[i]:.1f}" for i in range(N)],
        "ill ": ["ja" if age[i] / 10 + luck[i] > 6 else "nein" for i in range(N)],
    }


def written(columns: Columns, name: str = "data.csv") -> Path:
    lines = [";".join(columns), *(";".join(row) for row in zip(*columns.values(), strict=True))]
    Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Path(name)


def table(columns: Columns) -> Table:
    return read_table(written(columns))


def share_of_ill() -> list[float]:
    return list(pd.read_csv("found.csv")["probability ja"])


def test_numbers_dates_and_codes_of_a_german_table(run: Run, columns: Columns) -> None:
    """A model of it predicts the same file, read in the same way."""
    columns["ill"][7] = ""
    written(columns)
    ended = run(f"{TUNE} --date seen --factor stage --drop-missing-target")
    for said in (
        "59 rows, 6 columns to predict from. 1 of them holds categories: 'stage'.",
        "Numbers are written with a decimal comma.",
        "'k.A.' was read as a missing value (4 cells of 'pressure').",
        "The numbers of 'pay' are written with a mark between thousands.",
        "1 row without a target left out (first: row 8); the others are counted anew.",
    ):
        assert said in ended.out + ended.err, said
    run("predict out data.csv --out found.csv")
    found = pd.read_csv("found.csv")
    assert len(found) == N and "seen" in found and "pay" not in found
    assert (found["prediction"] == columns["ill"]).mean() > 0.8


def test_percentages_are_numbers_where_every_cell_has_the_sign(run: Run, columns: Columns) -> None:
    plain = columns.pop("pressure")
    columns["share"] = [text if text == "k.A." else f"{text} %" for text in plain]
    columns["some"] = [f"{i % 6}%" if i % 2 else str(i % 6) for i in range(N)]
    written(columns)
    ended = run(TUNE)
    assert "The numbers of 'share' are percentages: 12 % is 12." in ended.err
    assert "1 of them holds categories: 'some'." in ended.out + ended.err
    predicted = []
    for cell in ("120,5 %", "120,5%", "120,5"):
        written({**{name: cells[:1] for name, cells in columns.items()}, "share": [cell]}, "new.csv")
        run(PREDICT)
        predicted.append(share_of_ill())
    assert predicted[0] == predicted[1] == predicted[2]


def test_a_model_remembers_the_words_for_missing_values_and_the_numbers_of_its_table(
    run: Run, columns: Columns
) -> None:
    """In a new table alone nothing would show what they mean; options of predict win."""
    columns.pop("seen")
    columns["score"] = ["999" if i % 9 == 4 else str(i % 10) for i in range(N)]
    columns["stage"][5] = "None"
    written(columns)
    ended = run(f"{TUNE} --missing 999 --not-missing None --missing stage=4")
    assert "'4' was read as a missing value (15 cells of 'stage')" in ended.err
    new = {"pay": ["2.500", "1.250"], "pressure": ["120,5", "k.A."], "stage": ["None", "4"], "score": ["4", "999"]}
    plain = new | {"pay": ["2500,0", "1250,0"], "stage": ["None", ""], "score": ["4", ""]}

    def predicted(rows: Columns, options: str = "") -> tuple[str, list[float]]:
        written(rows, "new.csv")
        return run(f"{PREDICT} {options}").err, share_of_ill()

    said, found = predicted(new)
    assert "'999' was read as a missing value (1 cell of 'score')" in said and "do not know" not in said
    assert found == predicted(plain)[1]
    said, given = predicted(new, "--not-missing 999 --missing None")
    assert "'999'" not in said and given[1] != found[1]
    assert given[0] == predicted(new | {"stage": ["", "4"]})[1][0]


def test_a_date_of_a_regression_is_one_column_and_names_are_read_without_blanks_around(
    run: Run, study: Columns
) -> None:
    """Year, month and days together have no coefficients of their own."""
    written(study)
    ended = run(f"{VALIDATE} 'ill ' --date ' seen' --missing 999")
    assert "'seen': the days since 1970 alone, on which year and month depend." in ended.err
    shown = ended.out[ended.out.index("Coefficients of the model") :]
    assert "seen days" in shown and "seen year" not in shown and "No intervals" not in shown
    ended = run("predict out data.csv --out new.csv")
    assert "'999' was read as a missing value (4 cells of 'albumin')" in ended.err, ended.err


def test_a_usual_code_far_from_other_values_is_noted(refused: Run, run: Run, study: Columns) -> None:
    written(study)
    ended = run(f"{VALIDATE} ill")
    said = "999 is far from all other values of 'albumin' (4 rows; the others are"
    assert said in ended.err and "use --missing 999, or --missing albumin=999 in one column." in ended.err
    assert said in run("predict out data.csv --out new.csv").err
    sentence = refused("tune data.csv --target ill --missing age=999 --out t")
    assert "--missing age=999: no cell of 'age' holds 999; write it as the file does." in sentence


def test_the_methods_text_says_what_was_missing_how_it_was_filled_and_what_the_event_is(
    refused: Run, run: Run, study: Columns
) -> None:
    written(study)
    run(f"{VALIDATE} ill --missing 999 --metric calibration_intercept,somers_d,emax")
    text = Path("out/methods.md").read_text(encoding="utf-8")
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
    written(study)
    event = "--target time --event status --event-value 2 --time 9"
    run(f"validate data.csv {event} --n-bootstraps 2 --n-jobs 1 --out surv")
    text = Path("surv/methods.md").read_text(encoding="utf-8")
    assert "a time-to-event outcome (time, with the event marked by status = 2; 30 events;" in text
    assert "Brier score at time 9 (" in text
    # The saved model remembers the time.
    found = {}
    for name, more in (("all", ""), ("other", "--time 5")):
        ended = run(f"predict surv data.csv --out {name}.csv {more}")
        assert "'log hazard' is the log hazard, of which only differences" in ended.err
        found[name] = pd.read_csv(f"{name}.csv")
    late = refused("predict surv data.csv --out late.csv --time 1000")
    assert "--time 1000.0: times must be a list of times until 18" in late
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
    found = remarks_on_codes(pd.DataFrame({"a b": values}))
    assert sorted(remark.partition(" is far")[0] for remark in found) == codes
    assert all("--missing 'a b=" in remark for remark in found)


def test_a_regression_refuses_numbers_that_are_read_as_text(refused: Run, run: Run, study: Columns) -> None:
    study["age"] = [age.replace(".", ",") + ",0" for age in study["age"]]
    study["albumin"] = ["2.6", *study["albumin"][1:]]
    written(study)
    sentence = refused(f"{VALIDATE} ill --missing 999")
    assert "'age' would have a coefficient for each text, as '" in sentence
    assert "use --factor age." in sentence
    run(f"{VALIDATE} ill --missing 999 --factor age")


def test_marks_between_thousands_are_numbers_only_where_one_shows_what_they_are(command: Run) -> None:
    found = cleaned(table({"a": ["1,234.56", "12"], "b": ["x", "2"]}))
    assert found.frame.to_dict("list") == {"a": [1234.56, 12.0], "b": ["x", "2"]}
    for other in ("1,000", "1.000"):  # of whole numbers nothing shows what the sign means
        said = f"holds '{other}', whose (comma|point) can mark thousands or decimals"
        with pytest.raises(InputError, match=said):
            table({"a": ["1.234,56" if "." in other else "x"], "b": [other]})
    found = cleaned(table({"a": ["1.234,56", "12"], "b": ["2.442", "1.5"]}))
    assert found.frame.to_dict("list") == {"a": [1234.56, 12.0], "b": [2.442, 1.5]}
    found = cleaned(table({"a": ["x", "y"], "b": ["1,000", "2.5"]}))
    assert found.frame["b"].tolist() == ["1,000", "2.5"]


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
    found = date_columns(pd.Series([text or None for text in texts], name="d"))
    np.testing.assert_array_equal(np.column_stack([*found.values()]), parts)
    assert [*found] == ["d year", "d month", "d days"]


def test_what_is_odd_about_a_table_is_said_and_options_decide(run: Run, columns: Columns) -> None:
    more = {"sex": ["f", "F", "m"] * 20, "remark": [f"text {i % 59}" for i in range(N)]}
    written(columns | {"ill": ["Ja", "ja", "None"] * 20})
    merged = "--alike-labels merge --not-missing None --method none --json --out merged"
    assert "2 different labels" in run(f"{TUNE} {merged}").err
    written(columns | more)
    ended = run(f"{TUNE} --method none")
    assert "'sex' holds 'f', 'F': texts that differ in capitals or blanks only" in ended.err
    assert "Excluded 'remark' (59 different texts in 60 rows, like remarks; to use it: --keep remark)." in ended.err


def test_a_typed_column_is_checked_before_the_usual_folder(command: Run, columns: Columns) -> None:
    written(columns)
    Path("heldout-out").mkdir()
    Path("heldout-out/run.db").write_bytes(b"")
    assert "no column 'il'" in command("tune", "data.csv", "--target", "il").err
    assert "heldout-out already holds a run" in command("tune", "data.csv", "--target", "ill").err


def test_dates_with_a_time_zone_are_those_of_the_clock_there() -> None:
    moments = pd.Series(pd.to_datetime(["2024-05-31 23:30", None])).dt.tz_localize("America/New_York").rename("d")
    assert date_columns(moments)["d days"].iloc[0] == 19874


def test_codes_and_words_mean_the_same_when_a_model_predicts(command: Run, run: Run, columns: Columns) -> None:
    """Codes that are written otherwise, a new table without a word for missing values, and ambiguous numbers."""
    columns["stage"] = [f"0{code}" for code in columns["stage"]]
    columns["pressure"] = ["999" if cell == "k.A." else cell for cell in columns["pressure"]]
    written(columns)
    run(f"{TUNE} --factor stage --missing 999")
    columns["stage"] = [code.removeprefix("0") for code in columns["stage"]]
    columns["pressure"] = ["120,0" if cell == "999" else cell for cell in columns["pressure"]]
    written(columns, "new.csv")
    assert "does not know" not in run(f"{PREDICT} --missing 999").err
    columns["pay"] = [f"1.{row + 100}" for row in range(N)]
    written(columns | {"limit": ["1.234,56"] * N}, "new.csv")
    ended = command(*PREDICT.split())
    assert ended.code == 2 and "'1.100', whose point can mark thousands or decimals" in ended.err, ended.err


@pytest.mark.parametrize("method", ["DL10p", "BBC-CV(control=False)", "hm"])
def test_names_of_articles_choose_the_method(command: Run, columns: Columns, method: str) -> None:
    """Where the method does not fit, the sentence is about its own name."""
    written(columns)
    ended = command(*f"{TUNE} --n-bootstraps 50 --method {method}".split())
    assert ended.code == 0 or "does not fit" in ended.err or "is for one development set" in ended.err, ended.err
