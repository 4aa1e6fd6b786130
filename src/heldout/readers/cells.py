"""What the cells of a table mean: words for a missing value, marks between thousands, codes, and dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._text import counted
from heldout.data.task import shortened
from heldout.errors import InputError
from heldout.readers.columns import quoted, reads_as_number
from heldout.readers.csv_table import DECIMAL_COMMA, NO_ANSWER
from heldout.readers.tables import Table

_SIGNS = {False: (".", ","), True: (",", ".")}
"""The decimal sign and the mark between thousands, by whether a table has a decimal comma."""
DATE_PARTS = ("year", "month", "days")


def cleaned(table: Table, missing: Sequence[str] = (), not_missing: Sequence[str] = ()) -> Table:
    """The table without words for missing values and marks between thousands; its remarks tell both.

    ``missing``: further texts that stand for a missing value; one that no cell holds is refused. ``not_missing``:
    those of ``NO_ANSWER`` that are values.

    Examples
    --------
    >>> import pandas as pd
    >>> table = cleaned(Table("t", pd.DataFrame({"pay": ["1,234.56", "k.A.", "950"]})))
    >>> table.frame["pay"].tolist(), table.remarks[0]
    ([1234.56, nan, 950.0], "'k.A.' was read as a missing value (1 cell of 'pay').")
    """
    frame, remarks, altered = table.frame.copy(), [*table.remarks], set()
    for text in (*missing, *(text for text in NO_ANSWER if text not in not_missing)):
        cells = {name: same for name, column in frame.items() if (same := _holds(column, text)).any()}
        if not cells and text in missing:
            raise InputError(
                f"--missing {text}: no cell of {table.name} holds this text; write it as the file does."
            )
        for name, same in cells.items():
            frame[name] = frame[name].mask(same)
        if cells:
            n_cells = counted(int(sum(same.sum() for same in cells.values())), "cell")
            remarks.append(f"{text!r} was read as a missing value ({n_cells} of {quoted([*cells])}).")
            altered |= {*cells}
    decimal, mark = _SIGNS[DECIMAL_COMMA in remarks]
    number = re.compile(rf"[+-]?(\d+|\d{{1,3}}([{mark}]\d{{3}})+)([{decimal}]\d+)?")
    written = {
        name: texts for name in frame if (texts := _texts(frame[name])) and all(map(number.fullmatch, texts))
    }
    with_mark = {name for name, texts in written.items() if any(mark in text for text in texts)}
    # 1.234 alone can be a decimal number; 1.234,56 shows what the point means, in its column and in others.
    is_clear = any(mark in text and decimal in text for name in with_mark for text in written[name])
    for name in written:
        if is_clear if name in with_mark else name in altered:
            plain = frame[name].str.replace(mark, "").str.replace(decimal, ".")
            frame[name] = plain.map(float, na_action="ignore").astype("float64")
    if is_clear:
        remarks.append(f"The numbers of {quoted(sorted(with_mark))} have a {mark!r} between thousands.")
    return replace(table, frame=frame, remarks=tuple(remarks))


def _holds(column: Any, text: str) -> NDArray[np.bool_]:
    if column.dtype.kind in "iuf":
        return np.asarray(column == float(text)) if reads_as_number(text) else np.zeros(len(column), dtype=bool)
    return np.asarray(column == text) if column.dtype == object else np.zeros(len(column), dtype=bool)


def _texts(column: Any) -> list[str]:
    """The different texts of a column of text; empty for any other column."""
    if column.dtype != object:
        return []
    values = column.dropna().unique().tolist()
    return values if all(isinstance(value, str) for value in values) else []


def as_categories(column: Any) -> Any:
    """Numbers as the text of categories; 2.0 is the category 2."""
    return column.map(_code, na_action="ignore").astype(object)


def _code(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def date_columns(column: Any) -> dict[str, Any]:
    """Year, month, and days since 1970 of a column of dates.

    Dates are those of pandas, or text as 2024-05-31 or 31.5.2024. Text with slashes is read where one of its dates
    shows which number is the day; else it is refused.

    Examples
    --------
    >>> import pandas as pd
    >>> {name: part.tolist() for name, part in date_columns(pd.Series(["31.1.1970", None], name="seen")).items()}
    {'seen year': [1970.0, nan], 'seen month': [1.0, nan], 'seen days': [30.0, nan]}
    """
    import pandas as pd

    dates = column
    if column.dtype.kind != "M":
        texts = column.dropna().map(str).str.strip()
        layout = _layout(texts.tolist(), str(column.name))
        try:
            dates = pd.to_datetime(texts, format=layout, utc=True).dt.tz_localize(None).reindex(column.index)
        except ValueError:
            read = pd.to_datetime(texts, format=layout, utc=True, errors="coerce")
            wrong = texts[read.isna()]
            raise InputError(
                f"--date {column.name}: {shortened(wrong.iloc[0])} in row {wrong.index[0] + 1} is no date as the "
                "others; write dates like 2024-05-31, and leave missing cells empty."
            ) from None
    days = (dates - pd.Timestamp(0)).dt.total_seconds() / 86400
    parts = dates.dt.year, dates.dt.month, np.floor(days)
    return {f"{column.name} {part}": each.astype("float64") for part, each in zip(DATE_PARTS, parts, strict=True)}


def _layout(texts: Sequence[str], name: str) -> str:
    """How dates are written, as pandas takes it."""
    if not texts or "/" not in texts[0]:
        return "%d.%m.%Y" if texts and re.match(r"\d{1,2}\.", texts[0]) else "ISO8601"
    if re.match(r"\d{4}/", texts[0]):
        return "%Y/%m/%d"
    parts = [re.match(r"(\d{1,2})/(\d{1,2})/", text) for text in texts]
    firsts, seconds = ({int(part[place]) for part in parts if part} for place in (1, 2))
    if (max(firsts, default=0) > 12) == (max(seconds, default=0) > 12):
        raise InputError(
            f"--date {name}: in {shortened(texts[0])} day and month cannot be told apart; write dates like "
            "2024-05-31."
        )
    return "%d/%m/%Y" if max(firsts) > 12 else "%m/%d/%Y"


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
