"""Tables from ARFF files, in which WEKA keeps data and OpenML the predictions of a run.

A header declares each attribute with its type; a line of values follows for each row. Source: I. H. Witten, E.
Frank and M. A. Hall, Data Mining, 3rd edition (2011), section 2.4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from heldout._sklearn import arff_document
from heldout.errors import InputError
from heldout.readers.columns import first_line, whole_numbers
from heldout.readers.text_lines import COMPLETE, all_lines

_ATTRIBUTE = re.compile(r"\s*@attribute\s+(.*)", re.IGNORECASE)
_INTEGER = re.compile(r"\sinteger\s*$", re.IGNORECASE)
_DATE = re.compile(r"\sdate(\s+[\"'].*)?$", re.IGNORECASE)


def read_arff(path: Path) -> Any:
    """The table of an ARFF file as a pandas data frame: numbers for numeric attributes, text for all others."""
    import pandas as pd

    try:
        document = arff_document(_lines(path))
    except ValueError as error:
        raise InputError(f"{path} cannot be read as ARFF: {first_line(error)}; {COMPLETE}") from None
    attributes = document["attributes"]
    columns: Any = zip(*document["data"], strict=True) if document["data"] else [()] * len(attributes)
    return pd.DataFrame(
        {
            name: whole_numbers(pd.Series(column, dtype="float64" if kind in ("NUMERIC", "REAL") else object))
            for (name, kind), column in zip(attributes, columns, strict=True)
        }
    )


def _lines(path: Path) -> Iterator[str]:
    """The lines in the dialect of the reader, which knows no dates and tabs, and cuts the decimals of integers."""
    in_header = True
    for number, line in enumerate(all_lines(path), start=1):
        in_header = in_header and not line.strip().lower().startswith("@data")
        if in_header and (attribute := _ATTRIBUTE.fullmatch(line)):
            line = "@attribute " + _DATE.sub(" string", _INTEGER.sub(" numeric", attribute[1]))
        if not in_header and line.startswith("{"):
            raise InputError(f"{path} holds sparse rows (line {number}), which are not read; write every value.")
        yield line
