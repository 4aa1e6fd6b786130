"""Predictions that WEKA prints as CSV: ``-classifications "weka.classifiers.evaluation.output.prediction.CSV"``.

A line for each row: ``inst#`` counts from 1 in each fold, ``actual`` and ``predicted`` are ``number:class``
(numbers in a regression), ``error`` is ``+`` where they differ (in a regression their difference), and with
``-distribution`` there is a probability for each class, a star before that of the predicted one; the attributes of
``-p`` follow. A file holds one model. WEKA draws the folds from the seed, so files of several models have the same
rows in the same places if they were made with the same data, ``-x`` and ``-s``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np

from heldout.data.task import shortened
from heldout.errors import InputError
from heldout.readers.columns import free_name, reads_as_number
from heldout.readers.formats.base import ColumnUses, Export, PredictionFormat
from heldout.readers.formats.line_roles import LineRoles, predictions_of_lines
from heldout.readers.formats.parts import parts_of, stacked
from heldout.readers.prediction_table import PredictionTable
from heldout.readers.text_lines import all_lines, numbers_of, opening_lines, records

_HEADER = "inst#,actual,predicted,error"
_WHOLE = re.compile(r"[0-9]{1,18}")
_OPENING_LINES = 2000
"""The model may be printed before the predictions."""
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
_ROUNDED = 0.0021
"""WEKA writes three decimals: so far an error may be from the difference of two other numbers."""


class Weka(PredictionFormat):
    """A file, or a folder, list or mapping of one file for each model."""

    name = "weka"
    title = "predictions of WEKA"
    signs = "a line inst#,actual,predicted,error"

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        parts = parts_of(export, ".csv", ".txt").values()
        return any(_start(opening_lines(part.path, _OPENING_LINES)) >= 0 for part in parts)

    def read(self, export: Export, uses: ColumnUses) -> PredictionTable:
        uses.check_agree(self.title, target="actual", row="inst#", fold="inst#")
        files = {model: _PrintedFile.of(part) for model, part in parts_of(export, ".csv", ".txt").items()}
        texts = _class_texts(files.values())
        table, model = stacked({name: each.frame(texts) for name, each in files.items()}, export.name)
        one = next(iter(files.values()))
        folds = "fold" if table.frame["fold"].nunique() > 1 else None
        roles = LineRoles(
            target="actual",
            row="row",
            configuration=(model,),
            fold=(folds,) if folds else (),
            labels="predicted" if texts else None,
            probabilities=one.probabilities(texts),
            values=None if texts else "predicted",
            attributes=one.attributes,
        )
        remarks = [_MATCHED.format(n=len(files))] * (len(files) > 1)
        remarks += [_NO_DISTRIBUTION] * bool(texts and not one.n_classes)
        remarks += [_THREE_DECIMALS] * any(each.is_rounded for each in files.values())
        return predictions_of_lines(table, roles, self, uses, remarks=remarks)


@dataclass(frozen=True, eq=False)
class _PrintedFile:
    """The predictions of one model, as printed."""

    name: str
    rows: Sequence[Sequence[str]]
    """The fields of each line."""
    n_classes: int
    """Number of probabilities in a line; 0 without -distribution."""
    attributes: tuple[str, ...]
    """Of -p, the last fields of each line."""

    @classmethod
    def of(cls, part: Export) -> _PrintedFile:
        """The lines after the header, to the end or the first blank line."""
        lines = _all_lines(part)
        start = _start(lines)
        if start < 0:
            raise InputError(f"{part.name} has no line {_HEADER}; is it the CSV of WEKA's predictions?")
        if any("training" in line.lower() for line in lines[max(start - 4, 0) : start]):
            raise InputError(
                f"{part.name} holds predictions of the training data, which were not held out; cross-validate with "
                "-x."
            )
        header = records(part.name, [lines[start]])[0]
        after = header[4:]
        blanks = 0
        if after[:1] == ["distribution"]:
            blanks = next((place for place, name in enumerate(after[1:]) if name), len(after) - 1) + 1
        printed = after[blanks or (1 if after[:1] == ["prediction"] else 0) :]
        attributes = tuple(free_name(name, ("row", "fold", "actual", "predicted")) for name in printed)
        body = takewhile(str.strip, lines[start + 1 :])
        rows = records(part.name, body, width=len(header), first=start + 2)
        if not rows:
            raise InputError(f"{part.name} has no predictions after its header; is the file complete?")
        return cls(part.name, rows, blanks, attributes)

    @property
    def is_rounded(self) -> bool:
        """Whether there are probabilities, all with three decimals at most."""
        cells = (cell for row in self.rows for cell in row[4 : 4 + self.n_classes])
        return self.n_classes > 0 and all(
            len(cell.partition(".")[2]) <= 3 and "e" not in cell.lower() for cell in cells
        )

    def probabilities(self, texts: Mapping[int, str]) -> dict[str, str]:
        """The column of each class, by its text; a class that no row has goes by its number."""
        names = [texts.get(number, f"class {number}") for number in range(1, self.n_classes + 1)]
        return {name: f"P({name})" for name in names}

    def frame(self, texts: Mapping[int, str]) -> Any:
        """The table, with the folds and a name for each row, such as 2.15 for inst# 15 of fold 2."""
        import pandas as pd

        numbers = np.array([_whole(self.name, row[0]) for row in self.rows])
        _check_counted(self.name, numbers)
        folds = np.cumsum(numbers == 1)
        columns: dict[str, Any] = {
            "row": [f"{fold}.{number}" for fold, number in zip(folds, numbers, strict=True)],
            "fold": folds,
        }
        if texts:
            columns |= {
                name: [_class(row[place]) for row in self.rows] for name, place in (("actual", 1), ("predicted", 2))
            }
        else:
            columns |= {"actual": self._numbers(1), "predicted": self._numbers(2)}
            self._check_errors(columns["actual"], columns["predicted"])
        for place, name in enumerate(self.probabilities(texts).values()):
            columns[name] = self._numbers(4 + place)
        first = len(self.rows[0]) - len(self.attributes)
        for place, name in enumerate(self.attributes):
            cells = [row[first + place] for row in self.rows]
            columns[name] = list(map(float, cells)) if all(map(reads_as_number, cells)) else cells
        return pd.DataFrame(columns)

    def _numbers(self, place: int) -> Any:
        cells = [row[place].removeprefix("*") for row in self.rows]
        return numbers_of(self.name, [None if cell == "?" else cell for cell in cells])

    def _check_errors(self, actual: Any, predicted: Any) -> None:
        off = np.abs(predicted - actual - self._numbers(3)) > _ROUNDED * np.maximum(1, np.abs(actual))
        if off.any():
            row = self.rows[int(off.argmax())]
            raise InputError(
                f"{self.name} has the error {row[3]} for the actual value {row[1]} and the predicted value "
                f"{row[2]}, whose difference it is in a file of WEKA; which file is this?"
            )


def _all_lines(part: Export) -> list[str]:
    if part.path is None or not part.path.is_file():
        raise InputError(
            f"{part.name} is no file; give the CSV that WEKA wrote (-file), or a folder of such files."
        )
    return all_lines(part.path)


def _start(lines: Sequence[str]) -> int:
    """The number of the header among the lines, -1 if it is not there."""
    return next((place for place, line in enumerate(lines) if line.startswith(_HEADER)), -1)


def _whole(name: str, text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise InputError(f"{name} has {shortened(text)} in place of an inst#; is the file complete?")
    return int(text)


def _check_counted(name: str, numbers: Any) -> None:
    """Refuse lines that are missing or were moved: WEKA counts from 1 in folds that differ by a row at most."""
    before = np.r_[0, numbers[:-1]]
    odd = (numbers != before + 1) & ((numbers != 1) | (before == 0))
    sizes = np.bincount(np.cumsum(numbers == 1))[1:]
    if not odd.any() and np.ptp(sizes) <= 1:
        return
    place = int(odd.argmax())
    what = f"inst# {numbers[place]} follows {before[place]}, and WEKA counts the rows of each fold from 1"
    if not odd.any():
        what = f"one fold has {sizes.min()} rows and another {sizes.max()}, and WEKA's differ by one at most"
    raise InputError(f"in {name} {what}: lines are missing or were moved; give the file as WEKA printed it.")


def _class(cell: str) -> str | None:
    return None if cell == "?" else cell.partition(":")[2]


def _class_texts(files: Iterable[_PrintedFile]) -> dict[int, str]:
    """The text of each class that occurs, by its number; none in a regression."""
    texts: dict[int, str] = {}
    for each in files:
        cells = {cell for row in each.rows for cell in (row[1], row[2]) if cell != "?"}
        if not each.n_classes and all(reads_as_number(cell) for cell in cells):
            continue
        for cell in sorted(cells):
            number, colon, text = cell.partition(":")
            if not colon or not _WHOLE.fullmatch(number):
                raise InputError(f"{each.name} holds the class {shortened(cell)}, where WEKA writes NUMBER:CLASS.")
            if texts.setdefault(int(number), text) != text:
                raise InputError(
                    f"class {number} is {shortened(text)} in {each.name}, but {shortened(texts[int(number)])} "
                    "before; all files must be of the same data."
                )
    return texts
