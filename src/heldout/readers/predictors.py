"""The columns of a table to predict from, and remarks on columns of text.

A row number predicts perfectly whatever the rows were sorted by, but for no new row. So columns that look like row
numbers are excluded, with a note, unless the user keeps them.
"""

import re
import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np

from heldout.data.task import TaskKind, shortened
from heldout.errors import InputError
from heldout.readers.cells import DATE, alike
from heldout.readers.columns import quoted, reads_as_number
from heldout.spaces.preprocessing import MOST_CATEGORIES, column_kinds

_IDENTIFIER = re.compile(
    r"(?:^|[\W_]|patient|subject|customer|client|user|person|student|sample|record|case|order|row)[\W_]*(?:id|nr|no)",
    re.IGNORECASE,
)
_WRITTEN_NUMBER = re.compile(r"[+-]?[\d.,'\s]*\d[\d.,'\s]*\s*%?")


def excluded_columns(frame: Any, keep: Sequence[str] = ()) -> dict[str, str]:
    """The columns that cannot help to predict, or that the preset models cannot read, with the reason.

    Parameters
    ----------
    keep : sequence of str
        Columns to use even if they look like row numbers, names or dates. One that cannot be used is refused.

    Examples
    --------
    >>> import pandas as pd
    >>> excluded_columns(pd.DataFrame({"row": [0, 1, 2, 3], "x": [0.1, 0.4, 0.2, 0.9]}))
    {'row': 'whole numbers that count the rows; to use it: --keep row'}
    """
    reasons = {}
    for name in frame.columns:
        reason = _why_unreadable(frame[name])
        if reason and name in keep:
            raise InputError(f"--keep {name}: this column cannot be used ({reason}); leave the option out.")
        doubt = "" if reason or name in keep else _why_doubtful(frame[name], str(name))
        if reason or doubt:
            how = "--date" if (reason or doubt) == "dates" else "" if reason else "--keep"
            reasons[name] = (reason or doubt) + (f"; to use it: {how} {shlex.quote(name)}" if how else "")
    return reasons


def telling_columns(frame: Any, target: Any, kind: TaskKind) -> dict[str, str]:
    """The columns that are the target under another name, or its classes in other words."""

    def tells(column: Any, of: Any) -> bool:
        if not kind.is_classification:
            return column.dtype.kind in "iuf" and np.array_equal(column, of)
        return bool(column.notna().all()) and np.array_equal(column.factorize()[0], of.factorize()[0])

    return {
        name: f"tells the target of every row; to use it: --keep {shlex.quote(name)}"
        for name in frame.columns
        if tells(frame[name].head(100), target.head(100)) and tells(frame[name], target)
    }


def columns_in_doubt(frame: Any) -> list[str]:
    """The columns that are excluded unless the user keeps them."""
    return [
        name for name in frame.columns if not _why_unreadable(frame[name]) and _why_doubtful(frame[name], str(name))
    ]


def _why_unreadable(column: Any) -> str:
    """Why no model of a preset can learn from a column."""
    present = column.dropna()
    if not len(present):
        return "all missing"
    if column.dtype.kind != "O" and (stranger := neither_labels_nor_numbers(column)):
        return stranger
    if column.dtype.kind == "O" and not all(isinstance(value, str | bool | int | float) for value in present):
        return f"values of type {type(present.iloc[0]).__name__}"
    return "constant" if present.nunique() == 1 and len(present) == len(column) else ""


def neither_labels_nor_numbers(column: Any) -> str:
    """What a column holds if it holds dates, as text too, durations or complex numbers; else empty."""
    if column.dtype.kind == "O":
        present = column.dropna()
        return "dates" if all(isinstance(value, str) and DATE.fullmatch(value.strip()) for value in present) else ""
    return {"M": "dates", "m": "durations", "c": "complex numbers"}.get(column.dtype.kind, "")


def _why_doubtful(column: Any, name: str) -> str:
    """Why a column is probably not meant as a predictor: it identifies rows, or holds dates."""
    present = column.dropna()
    if column.dtype.kind == "O" and all(isinstance(value, str) for value in present):
        if dates := neither_labels_nor_numbers(column):
            return dates
        if present.nunique() == len(present) > 2:
            return "text that differs in every row, like a name or number of the row"
        if present.nunique() > max(MOST_CATEGORIES, len(present) / 2) and not _mostly_numbers(present.unique()):
            return f"{present.nunique()} different texts in {len(present)} rows, like remarks"
    if column.dtype.kind in "iu" and len(column) > 2 and column.nunique() == len(column):
        values = column.to_numpy()
        all_ranks = values.min() in (0, 1) and values.max() - values.min() == len(values) - 1
        if all_ranks or counts_lines(values):
            return "whole numbers that count the rows"
        if names_an_identifier(name):
            return "whole numbers that differ in every row, and the name of an identifier"
    return ""


def names_an_identifier(name: str) -> bool:
    """Whether a column's name is one of identifiers, such as ``patient_nr`` or ``sampleId``."""
    return bool(_IDENTIFIER.fullmatch(name) or re.search(r"[a-z]I[dD]$", name))


def counts_lines(values: Any) -> bool:
    """Whether whole numbers go up by one from line to line."""
    return len(values) > 2 and bool((values[1:] - values[:-1] == 1).all())


def categories_sentence(frame: Any) -> str:
    """A sentence on the columns that are read as categories; empty if there are none."""
    categorical = column_kinds(frame).categorical
    if not categorical:
        return ""
    hold = "holds" if len(categorical) == 1 else "hold"
    return f" {len(categorical)} of them {hold} categories: {quoted(categorical)}."


def unread_numbers(frame: Any) -> dict[str, str]:
    """The columns of text that mostly hold written numbers, and of each a text that cannot be read as one.

    Numbers that are text throughout are codes, written so on purpose.
    """
    unread = {}
    for name in column_kinds(frame).categorical:
        texts = [value for value in frame[name].dropna().unique() if isinstance(value, str)]
        strangers = (text for text in texts if not reads_as_number(text))
        if (stranger := next(strangers, None)) is not None and _mostly_numbers(texts):
            unread[name] = stranger
    return unread


def remarks_on_text(frame: Any) -> list[str]:
    """Remarks on columns of text that hold written numbers, or more distinct texts than categories are kept."""
    remarks, examples = [], unread_numbers(frame)
    many: dict[str, int] = {}
    similar: list[str] = []
    for name in (each for each in column_kinds(frame).categorical if each not in examples):
        texts = [value for value in frame[name].dropna().unique() if isinstance(value, str)]
        if len(texts) > MOST_CATEGORIES:
            many[name] = len(texts)
        elif sets := alike(texts):
            similar.append(f"{name!r} holds {quoted(sets[0])}")
    if examples:
        listed = ", ".join(f"{shortened(name)} ({shortened(text)})" for name, text in [*examples.items()][:5])
        looks, they_are = ("looks", "it is") if len(examples) == 1 else ("look", "they are")
        remarks.append(
            f"{listed} {looks} like numbers, but some cells are none, so {they_are} read as categories; write "
            "numbers like 1234.5, and leave missing cells empty, or name the text of missing ones with --missing."
        )
    if similar:
        remarks.append(
            f"{'; '.join(similar[:5])}: texts that differ in capitals or blanks only are categories of their own."
        )
    if many:
        counts = ", ".join(f"{name!r} holds {number} different texts" for name, number in [*many.items()][:5])
        remarks.append(
            f"{counts}: in training, all but the {MOST_CATEGORIES} most frequent of a column count as one."
        )
    return remarks


def _mostly_numbers(texts: Sequence[str]) -> bool:
    return sum(bool(_WRITTEN_NUMBER.fullmatch(text.strip())) for text in texts) > 0.8 * len(texts)
