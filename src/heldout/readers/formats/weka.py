"""Predictions that WEKA prints as CSV: ``-classifications "weka.classifiers.evaluation.output.prediction.CSV"``.

A line for each row: ``inst#`` counts from 1 in each fold, ``actual`` and ``predicted`` are ``number:class``
(numbers in a regression), ``error`` is ``+`` where they differ (in a regression their difference), and with
``-distribution`` there is a probability for each class, a star before that of the predicted one; the attributes of
``-p`` follow. A file holds one model. WEKA draws the folds from the seed, so files of several models have the same
rows in the same places if they were made with the same data, ``-x`` and ``-s``.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, ClassVar

import numpy as np

from heldout.data.task import shortened
from heldout.errors import InputError
from heldout.readers.columns import free_name, reads_as_number
from heldout.readers.formats.tool import Export, Tool, parts_of
from heldout.readers.long_table import ColumnUses
from heldout.readers.tables import Table
from heldout.readers.text_lines import all_lines, numbers_of, opening_lines, records

_KEYS = ("inst#", "actual", "predicted", "error")
_HEADER = ",".join(_KEYS)
_CLASS = re.compile(r"([0-9]{1,18}):(.*)", re.DOTALL)
_OPENING_LINES = 2000
"""The model may be printed before the predictions."""
_ROUNDED = 0.0021
"""WEKA writes three decimals: an error may differ by this from the difference of two other numbers."""
_MATCHED = (
    "The rows of the {n} files were matched by fold and inst#, which is right if all were made from the same data "
    "with the same -x and -s."
)
_NO_DISTRIBUTION = (
    "The files hold labels without probabilities; for those, add -distribution behind the name of the CSV output."
)
_THREE_DECIMALS = (
    "The probabilities are rounded to 3 decimals, which makes ties that change scores such as roc_auc; for more, "
    "add -decimals 9 behind the name of the CSV output."
)


class Weka(Tool):
    """A file, or a folder, list or mapping of one file for each model."""

    name = "weka"
    title = "predictions of WEKA"
    signs = "a line inst#,actual,predicted,error"
    needs = ("inst#", "actual", "predicted")
    columns: ClassVar = {"target": ("actual",), "row": ("inst#",), "fold": ("fold",)}
    endings = (".csv", ".txt")

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        parts = parts_of(export, *self.endings).values()
        return any(_start(opening_lines(part.path, _OPENING_LINES)) >= 0 for part in parts)

    def tables(self, export: Export, uses: ColumnUses) -> tuple[dict[str, Table], ColumnUses]:
        printed = {model: _printed(part) for model, part in parts_of(export, *self.endings).items()}
        classes = _classes(printed)
        remarks = [_MATCHED.format(n=len(printed))] * (len(printed) > 1)
        remarks += [_NO_DISTRIBUTION] * bool(classes and not all(map(_shares, printed.values())))
        remarks += [_THREE_DECIMALS] * any(map(_is_rounded, printed.values()))
        tables = {model: _read(model, frame, classes) for model, frame in printed.items()}
        return {model: Table(export.name, frame, tuple(remarks)) for model, frame in tables.items()}, uses

    def roles(self, export: Export, table: Table, uses: ColumnUses) -> ColumnUses:
        frame, shares = table.frame, _shares(table.frame)
        is_text = frame["predicted"].dtype.kind == "O"
        return uses.with_roles(
            probabilities={name[2:-1]: name for name in shares},
            attributes=tuple(uses.others(table, *_KEYS, *shares)),
            labels="predicted" if is_text else None,
            values=None if is_text else "predicted",
        )


def _printed(part: Export) -> Any:
    """The lines after the header, to the end or the first blank line, as a data frame of text."""
    import pandas as pd

    lines = all_lines(part.path) if part.path is not None and part.path.is_file() else []
    start = _start(lines)
    header = [] if start < 0 else records(part.name, [lines[start]])[0]
    rows = records(part.name, takewhile(str.strip, lines[start + 1 :]), width=len(header), first=start + 2)
    if start < 0 or not rows:
        raise InputError(
            f"{part.name} has no predictions after a line {_HEADER}; give the CSV that WEKA wrote (-file), or a "
            "folder of such files. Is it complete?"
        )
    if any("training" in line.lower() for line in lines[max(start - 4, 0) : start]):
        raise InputError(
            f"{part.name} holds predictions of the training data, which were not held out; cross-validate with -x."
        )
    after = header[4:]
    n_classes = 0
    if after[:1] == ["distribution"]:
        n_classes = next((place for place, name in enumerate(after[1:]) if name), len(after) - 1) + 1
    names = [*_KEYS, *(f"P({number})" for number in range(1, n_classes + 1))]
    for name in after[n_classes:]:
        names.append(free_name(f"attribute {name}" if name.startswith("P(") else name, (*names, "fold")))
    return pd.DataFrame(rows, columns=names).drop(columns="prediction" if after[:1] == ["prediction"] else [])


def _start(lines: Sequence[str]) -> int:
    """The number of the header among the lines, -1 if it is not there."""
    return next((place for place, line in enumerate(lines) if line.startswith(_HEADER)), -1)


def _shares(frame: Any) -> list[str]:
    """The columns of probabilities."""
    return [name for name in frame if name.startswith("P(")]


def _is_rounded(printed: Any) -> bool:
    """Whether there are probabilities, all with three decimals at most."""
    cells = [cell for name in _shares(printed) for cell in printed[name]]
    return bool(cells) and all(len(cell.partition(".")[2]) <= 3 and "e" not in cell.lower() for cell in cells)


def _classes(printed: Mapping[str, Any]) -> dict[int, str]:
    """The text of each class that occurs, by its number; none in a regression."""
    classes: dict[int, str] = {}
    for model, frame in printed.items():
        cells = {*frame["actual"], *frame["predicted"]} - {"?"}
        if not _shares(frame) and all(map(reads_as_number, cells)):
            continue
        for cell in sorted(cells):
            parts = _CLASS.fullmatch(cell)
            if parts is None:
                raise InputError(f"{model} holds the class {shortened(cell)}, where WEKA writes NUMBER:CLASS.")
            number, text = int(parts[1]), parts[2]
            if classes.setdefault(number, text) != text:
                raise InputError(
                    f"class {number} is {shortened(text)} in {model}, but {shortened(classes[number])} before; all "
                    "files must be of the same data."
                )
    return classes


def _read(model: str, printed: Any, classes: Mapping[int, str]) -> Any:
    """Labels and numbers in place of texts, with the folds and a name for each row, such as 2.15."""
    import pandas as pd

    def numbers(name: str) -> Any:
        return numbers_of(model, printed[name].str.removeprefix("*").replace("?", None).tolist())

    number = numbers("inst#")
    fold = (number == 1).cumsum()
    _check_counted(model, number, fold)
    columns: dict[str, Any] = {"inst#": [f"{k}.{n:.0f}" for k, n in zip(fold, number, strict=True)]}
    if len(np.unique(fold)) > 1:
        columns["fold"] = fold
    for name in ("actual", "predicted"):
        columns[name] = (
            printed[name].str.partition(":")[2].where(printed[name] != "?") if classes else numbers(name)
        )
    columns["error"] = printed["error"]
    for place, name in enumerate(_shares(printed), start=1):
        columns[f"P({classes.get(place, f'class {place}')})"] = numbers(name)
    for name in printed.columns.difference([*_KEYS, *_shares(printed)], sort=False):
        cells = printed[name]
        columns[name] = cells.astype(float) if cells.map(reads_as_number).all() else cells
    read = pd.DataFrame(columns)
    if not classes:
        _check_errors(model, read, numbers("error"))
    return read


def _check_errors(model: str, read: Any, errors: Any) -> None:
    """Refuse lines of a regression with an error that is not the difference of the other two numbers."""
    off = np.abs(read["predicted"] - read["actual"] - errors)
    wrong = off > _ROUNDED * np.maximum(1, np.abs(read["actual"]))
    if wrong.any():
        actual, predicted, error = read.loc[int(np.argmax(wrong)), ["actual", "predicted", "error"]]
        raise InputError(
            f"{model} has the error {error} for the actual value {actual:g} and the predicted value {predicted:g}, "
            "and WEKA writes their difference; give the file as WEKA wrote it."
        )


def _check_counted(model: str, numbers: Any, folds: Any) -> None:
    """Refuse lines that are missing or were moved: WEKA counts from 1 in folds that differ by a row at most."""
    before = np.r_[0, numbers[:-1]]
    odd = (numbers != before + 1) & ((numbers != 1) | (before == 0))
    sizes = np.bincount(folds)[1:]
    if odd.any() or np.ptp(sizes) > 1:
        place = int(odd.argmax())
        what = f"inst# {numbers[place]:g} follows {before[place]:g}"
        if not odd.any():
            what = f"one fold has {sizes.min()} rows and another {sizes.max()}"
        raise InputError(
            f"in {model} {what}, and WEKA counts the rows of each fold from 1, in folds that differ by one row at "
            "most: lines are missing or were moved; give the file as WEKA printed it."
        )
