"""ARFF files: names, types and quotation marks, the values that scipy reads, and files that are refused."""

from pathlib import Path

import numpy as np
import pytest
from scipy.io.arff import loadarff

import heldout as ho
from heldout.readers.tables import read_table

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


def written(folder: Path, text: str) -> Path:
    path = folder / "t.arff"
    path.write_text(text, encoding="utf-8")
    return path


def test_names_types_missing_values_and_quotation_marks(tmp_path: Path) -> None:
    frame = read_table(written(tmp_path, WHOLE.replace('"a ""b"', '"a \\"b"'))).frame
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
    path = written(tmp_path, WHOLE.replace('"a ""b"', "b").replace(old, new, 1))
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
