"""Text files: odd ones are read rightly or refused in a sentence, and nothing is guessed in silence."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from heldout.errors import InputError
from heldout.readers.tables import check_file, read_table


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


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
