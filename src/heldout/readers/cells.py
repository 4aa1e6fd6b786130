"""What the cells of a table mean: words for a missing value, marks between thousands, per cent, codes, dates."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np

from heldout._text import counted
from heldout._types import Booleans
from heldout.data.task import shortened
from heldout.errors import InputError
from heldout.readers.columns import quoted, reads_as_number
from heldout.readers.csv_table import DECIMAL_COMMA, MISSING_TOKENS, NO_ANSWER, CellFormat
from heldout.readers.tables import Table

DATE_PARTS = ("year", "month", "days")
DATE = re.compile(
    r"(\d{4}|\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{1,2})"
    r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?"
)


def with_words(like: CellFormat, missing: Sequence[str], not_missing: Sequence[str]) -> CellFormat:
    """The format of an earlier table with the words of a new one, which win.

    Examples
    --------
    >>> with_words(CellFormat(["999"], ["None"]), ["None", "-9"], ["999", "NA"])
    CellFormat(missing=['None', '-9'], not_missing=['999', 'NA'], decimal_comma=False, signs={})
    """
    return replace(
        like,
        missing=[*(word for word in like.missing if word not in not_missing), *missing],
        not_missing=[*not_missing, *(word for word in like.not_missing if word not in missing)],
    )


def cleaned(
    table: Table,
    missing: Sequence[str] = (),
    not_missing: Sequence[str] = (),
    *,
    like: CellFormat | None = None,
    told: Collection[str] | None = None,
) -> Table:
    """The table without words for missing values, marks between thousands and signs of per cent; its remarks tell
    each, of the columns in ``told``, by default of all.

    ``missing``: further texts that stand for a missing value, or ``COLUMN=TEXT``; one that no cell holds is
    refused, unless the table is for a model, whose own table was ``like`` this. ``not_missing``: those of
    ``NO_ANSWER`` that are values.

    Examples
    --------
    >>> import pandas as pd
    >>> table = cleaned(Table("t", pd.DataFrame({"pay": ["1,234.56", "k.A.", "950"]}, dtype=object), written=True))
    >>> table.frame["pay"].tolist(), table.remarks[0]
    ([1234.56, nan, 950.0], "'k.A.' was read as a missing value (1 cell of 'pay').")
    """
    frame, remarks, altered = table.frame.copy(deep=False), [*table.remarks], set()
    comma = DECIMAL_COMMA in remarks
    words = (*missing, *(word for word in NO_ANSWER if word not in not_missing))
    texts = {name: _texts(frame[name]) for name in frame}
    for given in dict.fromkeys(words):
        cells = {}
        name, _, word = given.rpartition("=")
        names = [name] if name in frame else [*frame]
        word = word if name in frame else given
        for name in names:
            if word in texts[name] or (not texts[name] and reads_as_number(_pointed(word, comma))):
                same = _holds(frame[name], word, comma)
                if same.any():
                    cells[name] = int(same.sum())
                    frame[name] = frame[name].mask(same)
        if not cells and given in missing and like is None and given not in MISSING_TOKENS + NO_ANSWER:
            where = quoted(names) if len(names) == 1 else table.name
            raise InputError(f"--missing {given}: no cell of {where} holds {word}; write it as the file does.")
        altered |= {*cells}
        if cells := {name: number for name, number in cells.items() if told is None or name in told}:
            n_cells = counted(sum(cells.values()), "cell")
            remarks.append(f"{word!r} was read as a missing value ({n_cells} of {quoted([*cells])}).")
    with_marks, signs = {}, {} if like is None else like.signs
    percentages = []
    for name in frame if table.written else ():
        present = texts[name] - {*words}
        numbers = [_pointed(text[:-1].rstrip(), comma) for text in present if text.endswith("%")]
        if numbers and len(numbers) == len(present) and all(map(reads_as_number, numbers)):
            percentages.append(name)
            plain = frame[name].map(lambda text: float(_pointed(text[:-1], comma)), na_action="ignore")
            frame[name] = plain.astype("float64")
            continue
        sign = _decimal_sign(present, signs.get(name, ""))
        if sign:
            with_marks[name] = sign
        elif (name in altered or name in signs) and all(reads_as_number(_pointed(text, comma)) for text in present):
            sign = "," if comma else "."
        if sign and present:
            mark = "." if sign == "," else ","
            plain = frame[name].str.replace(mark, "").str.replace(sign, ".")
            frame[name] = plain.map(float, na_action="ignore").astype("float64")
    for names, how in (
        ([*with_marks], "written with a mark between thousands"),
        (percentages, "percentages: 12 % is 12"),
    ):
        if names := [name for name in names if told is None or name in told]:
            remarks.append(f"The numbers of {quoted(names)} are {how}.")
    return replace(
        table,
        frame=frame,
        remarks=tuple(remarks),
        format=CellFormat(list(missing), list(not_missing), comma, with_marks),
    )


def _texts(column: Any) -> set[str]:
    """The different texts of a column; empty for one that holds anything else."""
    if column.dtype != object:
        return set()
    values = column.dropna().unique().tolist()
    return set(values) if all(isinstance(value, str) for value in values) else set()


def _pointed(text: str, comma: bool) -> str:
    return text.replace(",", ".") if comma else text


def _holds(column: Any, word: str, comma: bool) -> Booleans:
    if column.dtype.kind in "iuf":
        return np.asarray(column == float(_pointed(word, comma)))
    return np.asarray(column == word)


def _decimal_sign(texts: set[str], before: str) -> str:
    """The decimal sign of numbers of which one has a mark between thousands too; empty where none shows it.

    ``before``: the sign in an earlier table, which needs no such number.
    """
    for sign, mark in (".,", ",."):
        number = re.compile(rf"[+-]?(\d+|\d{{1,3}}([{mark}]\d{{3}})+)([{sign}]\d+)?")
        shown = sign == before or any(mark in text and sign in text for text in texts)
        if shown and all(map(number.fullmatch, texts)):
            return sign
    return ""


def as_categories(column: Any) -> Any:
    """Numbers as the text of categories; 2.0 is the category 2."""
    return column.map(code_of, na_action="ignore").astype(object)


def code_of(value: Any) -> str:
    """The text of a code.

    Examples
    --------
    >>> code_of(2.0), code_of(1.5), code_of("a")
    ('2', '1.5', 'a')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def date_columns(column: Any, wanted: Sequence[str] = DATE_PARTS) -> dict[str, Any]:
    """Year, month, and days since 1970 of a column of dates; the time of the day is left out.

    Dates are those of pandas, or text as 2024-05-31 or 31.5.2024. Text with slashes is read where one of its dates
    shows which number is the day; else it is refused.

    Examples
    --------
    >>> import pandas as pd
    >>> {name: part.tolist() for name, part in date_columns(pd.Series(["31.1.1970", None], name="seen")).items()}
    {'seen year': [1970.0, nan], 'seen month': [1.0, nan], 'seen days': [30.0, nan]}
    """
    import pandas as pd

    days = np.full(len(column), np.datetime64("NaT"), dtype="datetime64[D]")
    present = column.notna().to_numpy()
    if column.dtype.kind == "M":
        days[present] = [each.date() for each in column[present]]
    else:
        rows = np.flatnonzero(present)
        days[rows] = [*_dates(column.iloc[rows].map(str).tolist(), rows.tolist(), str(column.name))]
    months = days.astype("datetime64[M]").astype(float)
    parts = dict(zip(DATE_PARTS, (1970 + months // 12, months % 12 + 1, days.astype(float)), strict=True))
    return {
        f"{column.name} {part}": pd.Series(np.where(present, values, np.nan), index=column.index)
        for part, values in parts.items()
        if part in wanted
    }


def _dates(texts: Sequence[str], rows: Sequence[int], name: str) -> Iterator[date]:
    found = [DATE.fullmatch(text.strip()) for text in texts]
    with_slash = [match for match in found if match and match[2] == "/" and len(match[1]) < 3]
    month_first = False
    if with_slash:
        days, seconds = (max(int(match[place]) for match in with_slash) for place in (1, 3))
        if (days > 12) == (seconds > 12):
            raise InputError(
                f"in column {name!r}, {shortened(with_slash[0][0])} and the others do not show which number is the "
                "day; write dates like 2024-05-31."
            )
        month_first = seconds > 12
    for text, row, match in zip(texts, rows, found, strict=True):
        try:
            if match is None or max(len(match[1]), len(match[4])) != 4:
                raise ValueError
            first, second, third = int(match[1]), int(match[3]), int(match[4])
            if len(match[1]) == 4:
                yield date(first, second, third)
            elif month_first and match[2] == "/":
                yield date(third, first, second)
            else:
                yield date(third, second, first)
        except ValueError:
            raise InputError(
                f"column {name!r} holds {shortened(text)} in row {row + 1}, which is no date as the others; write "
                "dates like 2024-05-31, and leave missing cells empty."
            ) from None


def alike(labels: Sequence[str]) -> list[list[str]]:
    """The sets of texts that differ only in capitals and blanks.

    Examples
    --------
    >>> alike(["Yes", "no", "yes ", "maybe"])
    [['Yes', 'yes ']]
    """
    sets: dict[str, list[str]] = {}
    for label in labels:
        sets.setdefault(" ".join(label.split()).casefold(), []).append(label)
    return [each for each in sets.values() if len(each) > 1]
