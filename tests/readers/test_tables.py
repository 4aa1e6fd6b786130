"""Tables from text, Parquet and ARFF files: the same rows from every spelling, and a sentence for what is none."""

import csv
import datetime
import gzip
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.io.arff import loadarff

import heldout as ho
from heldout.data.limits import Memory
from heldout.errors import InputError
from heldout.readers.tables import EXAMPLES, check_file, read_table, table_of_frame

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
        ("wide.csv", "a,b\n1,2,3\n4,5,6\n", "line 2 has 3 fields where 2 were expected; name every column"),
        ("quote.csv", 'a,b\n1,"2\n3,4\n', "never closed"),
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


def test_a_wrong_name_is_distinguished_from_several_and_from_a_file_without_names(tmp_path: Path) -> None:
    table = read_table(written(tmp_path / "t.csv", "Outcome,age\n1,2\n"))
    with pytest.raises(InputError, match="it has 'age', 'Outcome': give each by itself"):
        table.column("age, Outcome", "a predictor")
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


READ_RIGHTLY = {
    "long field": ('a,b\n1,{long}\n2,y\n'.format(long="x" * 200_000), [1, 2], ["x" * 200_000, "y"]),
    "lone carriage returns": ("a,b\r1,x\r2,y\r", [1, 2], ["x", "y"]),
    "mixed line ends": ("a,b\r\n1,x\r2,y\n", [1, 2], ["x", "y"]),
    "blank lines": ("a,b\n\n1,x\n   \n2,y\n\n", [1, 2], ["x", "y"]),
    "UTF-32": ("a,b\n1,x\n2,y\n".encode("utf-32"), [1, 2], ["x", "y"]),
    "separators that end no line": ("a,b\n1,x\x0c\u2028\x85z\n2,y\n", [1, 2], ["x\x0c\u2028\x85z", "y"]),
    "a line break in a field": ('a,b\n1,"x\nz"\n2,y\n', [1, 2], ["x\nz", "y"]),
    "whole numbers beyond 64 bits": (f"a,b\n{10**30},x\n2,y\n", [1e30, 2.0], ["x", "y"]),
    "unsigned beside negative": (f"a,b\n{2**64 - 1},x\n-2,y\n", [2.0**64, -2.0], ["x", "y"]),
    "decimal commas between tabs": ("a\tb\n1,5\tx\n2,25\ty\n", [1.5, 2.25], ["x", "y"]),
}  # fmt: skip


@pytest.mark.parametrize(("content", "a", "b"), READ_RIGHTLY.values(), ids=READ_RIGHTLY.keys())
def test_odd_files_are_read_rightly(tmp_path: Path, content: str | bytes, a: list[float], b: list[str]) -> None:
    limit = csv.field_size_limit()

    frame = read_table(written(tmp_path / "t.csv", content)).frame

    assert frame["a"].tolist() == a and frame["b"].tolist() == b
    assert csv.field_size_limit() == limit


def test_a_name_of_any_length_and_with_a_line_break_is_a_name(tmp_path: Path) -> None:
    long = "é" * 150_000
    frame = read_table(written(tmp_path / "t.csv", f'a,"b\nc",{long}\n1,2,3\n')).frame

    assert list(frame.columns) == ["a", "b\nc", long]


def test_text_files_of_any_name(tmp_path: Path) -> None:
    assert read_table(written(tmp_path / "t.zip", "a,b\n1,2\n")).frame.shape == (1, 2)


def test_infinities_are_read_and_other_spellings_of_nan_are_text(tmp_path: Path) -> None:
    frame = read_table(written(tmp_path / "t.csv", "a,b,c\ninf,Nan,1_0\n-Infinity,1,２\n")).frame

    assert frame["a"].tolist() == [np.inf, -np.inf]
    assert frame["b"].tolist() == ["Nan", "1"] and frame["c"].tolist() == ["1_0", "２"]


REFUSED = {
    "short": ("a,b,c\n1,2,3\n4,5\n", "line 3 has 2 fields where 3 were expected; write every field"),
    "cut": ("a,b,c\n1,2,3\n4,5,6\n7,", "line 4 has 2 fields where 3 were expected; .*is the file complete"),
    "trailing": ("a,b\n1,2,\n3,4,\n", "line 2 has 3 fields where 2 were expected; name every column"),
    "open quote": ('a,b,c\n1,"2,3\n4,5,6\n', "the record from line 2 to line 3 has 2 fields .* quotation mark"),
    "late NUL": (f"a,b\n{'1,2' + chr(10)}" * 1 + "1,2\n" * 80_000 + "3,\0\n", "a NUL character in line 80003"),
    "late twice": (",".join(f"a_rather_long_name_{i}" for i in range(14_000)) + ",z,z\n", "one column called 'z'"),
    "digits": (f"a,b\n{'9' * 310},1\n2,3\n", "'a' holds a whole number of over 308 digits in row 1, .* n123"),
    "many digits": (f"a,b\n1,2\n{'9' * 5000},3\n", "'a' holds a whole number of over 308 digits in row 2"),
    "thousands": ("a;b\n1,234;x\n5,678;y\n", "holds '1,234', whose comma can mark thousands or decimals"),
    "odd UTF-16": ("a,b\n1,2\n".encode("utf-16") + b"x", "cannot be read as text: 'utf-16.*' codec can't decode"),
    "late latin": (b"a,b\n" + b"1,2\n" * 80_000 + b"3,\xe9\n", "'utf-8' codec can't decode byte 0xe9 .* Save it"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_what_can_be_read_in_two_ways_is_refused(tmp_path: Path, content: str | bytes, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        read_table(written(tmp_path / "t.csv", content))

    assert len(str(refused.value)) < 600 + len(str(tmp_path)) and "\n" not in str(refused.value)


@pytest.mark.parametrize("damage", [slice(0, 300), slice(0, -9)])
def test_a_damaged_archive_is_refused(tmp_path: Path, damage: slice) -> None:
    packed = gzip.compress("".join(f"{i},{i * i}\n" for i in range(500)).encode(), mtime=0)[damage]

    with pytest.raises(InputError, match=r"cannot be read as text: .* is the file complete"):
        read_table(written(tmp_path / "t.csv.gz", packed))


def test_an_archive_with_a_changed_byte_is_refused(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress("".join(f"{i},{i * i}\n" for i in range(500)).encode(), mtime=0))
    packed[40] ^= 255

    with pytest.raises(InputError, match="cannot be read"):
        read_table(written(tmp_path / "t.csv.gz", bytes(packed)))


def test_a_comma_that_cannot_mark_thousands_is_a_decimal_comma(tmp_path: Path) -> None:
    table = read_table(written(tmp_path / "t.csv", "a;b\n1,234;0,125\n5,678;0,5\n"))

    assert table.frame["a"].tolist() == [1.234, 5.678]
    assert table.remarks == ("Numbers are written with a decimal comma.",)


def test_names_that_no_file_can_have_are_refused_in_short(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    for path, said in (
        (Path("a" * 5000), "file name too long"),
        (Path("a/" * 2500), "file name too long"),
        (Path("a\0b"), "null"),
        (tmp_path / "circle", "symbolic links"),
        (tmp_path, "is a folder"),
        (Path("/dev/null"), "is not a file but a pipe or device"),
    ):
        with pytest.raises(InputError, match=said) as refused:
            check_file(path)
        assert len(str(refused.value)) < 400


def as_parquet(path: Path, column: pa.Array, metadata: dict[bytes, bytes] | None = None) -> Path:
    table = pa.table({"y": np.arange(len(column)) % 2, "m": column})
    pq.write_table(table if metadata is None else table.replace_schema_metadata(metadata), path)
    return path


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1.0, 2.0], [3.0]]),
        pa.array([{"a": 1}, {"a": 2}]),
        pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
        pa.array([b"a", b"b"]),
        pa.array([b"a", b"b"], pa.binary(1)),
        pa.array([[b"a"], [b"b"]]),
    ],
    ids=["list", "struct", "map", "binary", "fixed", "list of binary"],
)
def test_cells_with_parts_are_refused(tmp_path: Path, column: pa.Array) -> None:
    path = as_parquet(tmp_path / "p.parquet", column)

    with pytest.raises(
        InputError, match=r"column 'm' holds cells of type .*; the cells of a column must be all numbers"
    ):
        read_table(path)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array([Decimal("0.5"), None]), "f"),
        (pa.array([Decimal(10) ** 70, Decimal(1)], pa.decimal256(76)), "f"),
        (pa.array(np.array([0.5, 1.5], dtype=np.float16)), "f"),
        (pa.array([1, None]), "f"),
        (pa.nulls(2), "O"),
        (pa.array(["a", "b"]).dictionary_encode(), "O"),
        (pa.array(["a", "b"], pa.string_view()), "O"),
        (pa.array([1, 2], pa.duration("s")), "m"),
        (pa.array([1, 2], pa.timestamp("s")), "M"),
        (pa.array([datetime.date(2020, 1, 1), None]), "O"),
    ],
)
def test_plain_cells_are_read(tmp_path: Path, column: pa.Array, kind: str) -> None:
    dtype = read_table(as_parquet(tmp_path / "p.parquet", column)).frame["m"].dtype

    assert dtype.kind == kind and dtype != np.float16


@pytest.mark.parametrize(
    "metadata",
    [
        b"[]", b"{}", b"{", b"\xff", b"[" * 100_000,
        b'{"index_columns": ["z"], "columns": [], "column_indexes": []}',
        b'{"index_columns": [{"kind": "range", "start": "x"}], "columns": [], "column_indexes": []}',
    ],
)  # fmt: skip
def test_damaged_metadata_of_pandas_is_refused(tmp_path: Path, metadata: bytes) -> None:
    path = as_parquet(tmp_path / "p.parquet", pa.array([0.5, 1.5]), {b"pandas": metadata})

    with pytest.raises(InputError, match=r"cannot be read as Parquet: .* If it is, save it as CSV") as refused:
        read_table(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("names", [["y", "m", "m"], ["y", "y", "m"]])
def test_columns_of_one_name_are_refused(tmp_path: Path, names: list[str]) -> None:
    arrays: list[Any] = [pa.array([0, 1]), pa.array([0.5, 1.5]), pa.array([0.1, 0.2])]
    pq.write_table(pa.Table.from_arrays(arrays, names), tmp_path / "p.parquet")

    with pytest.raises(InputError, match="more than one column called"):
        read_table(tmp_path / "p.parquet")


def test_more_rows_than_fit_in_memory_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = as_parquet(tmp_path / "p.parquet", pa.array(np.zeros(1000, dtype=np.float32)))
    needed = 2 * 1000 * (8 + 4)  # the bytes of a whole number and a float32, as they are read and in pandas
    monkeypatch.setattr("heldout.data.limits.memory_there", lambda: Memory(needed, "this machine's few bytes"))

    assert ho.read_predictions(path, target="y").predictions.frame["m"].dtype == np.float32
    monkeypatch.setattr("heldout.data.limits.memory_there", lambda: Memory(needed - 1, "this machine's few bytes"))
    with pytest.raises(InputError, match=r"the 1,000 rows of 2 columns in .*p\.parquet need") as refused:
        ho.read_predictions(path, target="y")
    assert str(refused.value).endswith(
        "GiB, more than this machine's few bytes; use a sample of the rows, or fewer columns: with millions of "
        "rows there is nothing to correct."
    )


EXPORTS = Path(__file__).parent / "exports"
WHOLE = r"""% a comment
@RELATION 'a name'

@ATTRIBUTE row INTEGER
@attribute 'with space' numeric
@ATTRIBUTE "it's" {yes, 'don\'t know', "a, b"}
@ATTRIBUTE	text	STRING
@attribute day date "yyyy-MM-dd"
@DATA
1,0.5,yes,plain,2020-01-01
% between
2, ?, 'don\'t know' ,"a ""b", ?
3,-1e3,"a, b",'?',"x\\y"
"""


def as_arff(folder: Path, text: str) -> Path:
    path = folder / "t.arff"
    path.write_text(text, encoding="utf-8")
    return path


def test_names_types_missing_values_and_quotation_marks(tmp_path: Path) -> None:
    frame = read_table(as_arff(tmp_path, WHOLE.replace('"a ""b"', '"a \\"b"'))).frame
    assert list(frame) == ["row", "with space", "it's", "text", "day"]
    assert frame["row"].dtype == np.int64 and frame["with space"].dtype == np.float64
    assert frame["with space"].fillna(7).tolist() == [0.5, 7, -1000]
    assert frame["it's"].tolist() == ["yes", "don't know", "a, b"]
    assert frame["text"].tolist() == ["plain", 'a "b', "?"]
    assert frame["day"].isna().tolist() == [False, True, False] and frame["day"].iloc[2] == "x\\y"


def test_the_values_are_those_that_scipy_reads() -> None:
    path = EXPORTS / "openml" / "numbers" / "predictions.arff"
    data, _ = loadarff(path)
    frame = read_table(path).frame
    assert list(frame) == list(data.dtype.names)
    for name in frame:
        np.testing.assert_array_equal(frame[name].to_numpy(), data[name])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("@DATA\n", "", "line 9 is '1,0.5,.*', where @data was expected"),
        ("@ATTRIBUTE row INTEGER", "@ATTRIBUTE row INT", "line 4 is '@ATTRIBUTE row INT', .* the type numeric"),
        ("@ATTRIBUTE row INTEGER", "@ATTRIBUTE text INTEGER", "more than one column called 'text'"),
        ("@ATTRIBUTE row", "@ATTRIBUT row", "line 4 is '@ATTRIBUT row INTEGER', where @data"),
        ("1,0.5,yes,plain,2020-01-01", "1,0.5,yes,plain", "line 10 has 4 fields where 5 were expected"),
        ("1,0.5,yes", "1,half,yes", "'with space' of .* holds 'half' where a number was"),
        ("1,0.5,yes", "1,0.5,'yes", "line 10 has an open quotation mark"),
        ("1,0.5,yes,plain,2020-01-01", "{0 1, 2 yes}", "line 10 has 2 fields where 5 were expected"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in WHOLE
    path = as_arff(tmp_path, WHOLE.replace('"a ""b"', "b").replace(old, new, 1))
    with pytest.raises(ho.InputError, match=said):
        read_table(path)


def test_bytes_that_are_no_text_and_a_table_without_rows_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.arff"
    path.write_bytes(b"@relation r\n@attribute caf\xe9 numeric\n@data\n1\n")
    with pytest.raises(ho.InputError, match="cannot be read as text: 'utf-8' codec can't decode byte 0xe9"):
        read_table(path)
    path.write_text(WHOLE[: WHOLE.index("@DATA")])
    with pytest.raises(ho.InputError, match="it ends before @data; is the file complete"):
        read_table(path)
    path.write_text("@relation r\n@attribute a numeric\n@data\n")
    with pytest.raises(ho.InputError, match="has column names but no rows"):
        read_table(path)
