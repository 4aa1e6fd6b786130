"""Reading tables: the same rows from every spelling of a file, and a sentence for each file that is none."""

import gzip
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from heldout.errors import InputError
from heldout.readers.tables import EXAMPLES, read_table, table_of_frame

ROWS = [(1.5, "x", True), (2.25, "y", False), (3.0, "z,;", True)]


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("comma.csv", 'a,b,c\n1.5,x,True\n2.25,y,False\n3,"z,;",True\n'),
        ("semicolon.csv", 'a;b;c\n1.5;x;True\n2.25;y;False\n3;"z,;";True\n'),
        ("decimal_comma.csv", 'a;b;c\n1,5;x;True\n2,25;y;False\n3;"z,;";True\n'),
        ("tab.tsv", "a\tb\tc\n1.5\tx\tTrue\n2.25\ty\tFalse\n3\tz,;\tTrue\n"),
        ("bar.txt", "a|b|c\n1.5|x|True\n2.25|y|False\n3|z,;|True\n"),
        ("windows.csv", 'a,b,c\r\n1.5,x,True\r\n2.25,y,False\r\n3,"z,;",True\r\n'),
        ("bom.csv", '\ufeffa,b,c\n1.5,x,True\n2.25,y,False\n3,"z,;",True\n'),
        ("spaces.csv", 'a, b, c\n1.5, x, True\n2.25, y, False\n3, "z,;", True\n'),
        ("blank_first.csv", '\na,b,c\n1.5,x,True\n2.25,y,False\n3,"z,;",True\n'),
        ("index.csv", ',a,b,c\n0,1.5,x,True\n1,2.25,y,False\n2,3,"z,;",True\n'),
        ("utf16.csv", 'a,b,c\n1.5,x,True\n2.25,y,False\n3,"z,;",True\n'.encode("utf-16")),
        ("zipped.csv.gz", gzip.compress(b'a,b,c\n1.5,x,True\n2.25,y,False\n3,"z,;",True\n', mtime=0)),
    ],
)
def test_every_spelling_of_a_csv_gives_the_same_table(tmp_path: Path, name: str, content: str | bytes) -> None:
    frame = read_table(written(tmp_path / name, content)).frame

    assert list(frame.columns) == ["a", "b", "c"]
    assert [tuple(row) for row in frame.itertuples(index=False)] == ROWS
    assert frame["a"].dtype == np.float64 and frame["c"].dtype == bool


def test_missing_tokens_are_missing_and_numbers_beside_them_stay_numbers(tmp_path: Path) -> None:
    frame = read_table(written(tmp_path / "t.csv", "a,b\n?,x\n1,NA\n.,\n2,y\n")).frame

    assert frame["a"].isna().tolist() == [True, False, True, False]
    assert frame["a"].dtype == np.float64
    assert frame["b"].isna().tolist() == [False, True, True, False]


def test_numbers_are_read_to_the_last_bit(tmp_path: Path) -> None:
    numbers = np.random.default_rng(0).random(2000) * 10.0 ** np.arange(-10, 10).repeat(100)
    pd.DataFrame({"a": numbers}).to_csv(tmp_path / "t.csv", index=False)

    np.testing.assert_array_equal(read_table(tmp_path / "t.csv").frame["a"], numbers)


def test_a_file_in_another_encoding_is_read_with_a_remark(tmp_path: Path) -> None:
    table = read_table(written(tmp_path / "latin.csv", "name,y\nJosé,1\nZoë,0\n".encode("cp1252")))

    assert table.frame["name"].tolist() == ["José", "Zoë"]
    assert any("Windows-1252" in remark for remark in table.remarks)


@pytest.mark.parametrize("dtype", ["category", "string", "object"])
def test_parquet_text_of_any_type_is_plain_text_with_nan(tmp_path: Path, dtype: str) -> None:
    pd.DataFrame({"t": pd.Series(["x", None, "y"], dtype=dtype)}).to_parquet(tmp_path / "t.parquet")

    column = read_table(tmp_path / "t.parquet").frame["t"]

    assert column.dtype == object
    assert column[0] == "x" and np.isnan(column[1])


def test_parquet_nullable_numbers_are_floats_and_booleans_survive(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "i": pd.Series([1, None, 3], dtype="Int64"),
            "b": pd.Series([True, False, None], dtype="boolean"),
            "full": pd.Series([True, False, True], dtype="boolean"),
            "n": pd.Series([1, 2, 3], dtype="category"),
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")

    read = read_table(tmp_path / "t.parquet").frame

    assert read["i"].dtype == np.float64 and np.isnan(read["i"][1])
    assert read["b"].tolist()[:2] == [True, False] and np.isnan(read["b"][2])
    assert read["full"].dtype == bool
    assert read["n"].dtype.kind == "i"


def test_a_parquet_index_with_a_name_becomes_a_column(tmp_path: Path) -> None:
    pd.DataFrame({"a": [1, 2]}, index=pd.Index(["p", "q"], name="patient")).to_parquet(tmp_path / "t.parquet")

    assert list(read_table(tmp_path / "t.parquet").frame.columns) == ["patient", "a"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_have_a_target_and_no_missing_values(name: str) -> None:
    frame = read_table(f"example:{name}").frame

    assert "target" in frame and len(frame) > 100
    assert not frame.isna().any().any()


def test_the_classes_of_breast_cancer_have_names() -> None:
    counts = read_table("example:breast_cancer").frame["target"].value_counts()

    assert counts.to_dict() == {"benign": 357, "malignant": 212}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.csv", "", "is empty"),
        ("blank.csv", "\n \n", "only blank lines"),
        ("head.csv", "a,b\n", "no rows"),
        ("binary.csv", b"\x89PNG\r\n\0\0\0", "neither text nor Parquet"),
        ("ragged.csv", "a,b\n1,2\n3,4,5\n", "line 3 has 3 fields where 2 were expected"),
        ("wide.csv", "a,b\n1,2,3\n4,5,6\n", "line 2 has 3 fields where 2 were expected; name every column"),
        ("quote.csv", 'a,b\n1,"2\n3,4\n', "never closed"),
        ("twice.csv", "a,b,a\n1,2,3\n", "more than one column called 'a'"),
        ("spaced_twice.csv", "a, a\n1,2\n", "more than one column called 'a'"),
        ("broken.parquet", b"PAR1 and then nothing", "cannot be read as Parquet"),
        ("broken.csv.gz", b"no gzip at all", "cannot be read"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, name: str, content: str | bytes, said: str) -> None:
    path = written(tmp_path / name, content)

    with pytest.raises(InputError, match=name) as refused:
        read_table(path)

    assert said in str(refused.value)


def test_a_missing_file_names_the_nearest(tmp_path: Path) -> None:
    written(tmp_path / "patients.csv", "a\n1\n")

    with pytest.raises(InputError, match=r"there is no file .*patient\.csv.* Did you mean .*patients\.csv"):
        read_table(tmp_path / "patient.csv")
    with pytest.raises(InputError, match="does not exist either"):
        read_table(tmp_path / "nowhere" / "patient.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(InputError, match="Did you mean example:breast_cancer"):
        read_table("example:breastcancer")


def test_an_unknown_column_names_the_nearest(tmp_path: Path) -> None:
    table = read_table(written(tmp_path / "t.csv", "Outcome,age\n1,2\n"))

    with pytest.raises(InputError, match="no column 'outcome' to use as the target; the nearest name is 'Outcome'"):
        table.column("outcome", "the target")
    with pytest.raises(InputError, match="its columns are 'Outcome', 'age'"):
        table.column("zzz", "the target")
    with pytest.raises(InputError, match="it has 'age', 'Outcome': give each by itself"):
        table.column("age, Outcome", "a predictor")


def test_a_file_without_names_is_distinguished_from_a_wrong_name(tmp_path: Path) -> None:
    table = read_table(written(tmp_path / "t.csv", "5.1,3.5,0\n4.9,3.0,1\n"))

    with pytest.raises(InputError, match="looks like data"):
        table.column("target", "the target")


def test_decimals_of_parquet_are_numbers(tmp_path: Path) -> None:
    pd.DataFrame({"price": [Decimal("1.50"), None, Decimal("2.25")]}).to_parquet(tmp_path / "d.parquet")

    column = read_table(tmp_path / "d.parquet").frame["price"]

    assert column.dtype == np.float64 and column.dropna().tolist() == [1.5, 2.25]


def test_a_file_without_names_is_refused(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("0,1,0\n1,2,3\n")

    with pytest.raises(
        InputError, match=r"more than one column called '0'.*\(does its first line hold the names\?\)"
    ):
        read_table(tmp_path / "n.csv")


def test_a_file_that_is_one_quoted_blank_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text('"\r \r')
    with pytest.raises(InputError, match="holds one quoted blank; close or remove its quotation mark"):
        read_table(tmp_path / "t.csv")


@pytest.mark.parametrize("cells", [[[1], [2]], [b"a", "b"], [1 + 2j, 3], [pd.Timestamp("2020-01-01"), 5]])
def test_a_frame_with_cells_that_are_no_number_text_or_date_is_refused(cells: list[object]) -> None:
    frame = pd.DataFrame({"y": [1, 2], "odd": pd.Series(cells, dtype=object)})
    with pytest.raises(InputError, match=r"'odd' holds cells of type .*; the cells of a column must be"):
        table_of_frame(frame)


@pytest.mark.parametrize(
    "error", [MemoryError(), pd.errors.ParserError("Error tokenizing data. C error: out of memory")]
)
def test_a_table_that_does_not_fit_in_memory_is_refused_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")

    def short_of_memory(*args: object, **settings: object) -> None:
        raise error

    monkeypatch.setattr(pd, "read_csv", short_of_memory)
    with pytest.raises(InputError, match=r"t\.csv did not fit in memory; use a sample of the rows"):
        read_table(tmp_path / "t.csv")
