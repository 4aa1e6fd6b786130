"""The predictions of Test and Score in Orange, saved as .tab or .csv.

A line for each tested row: the class, the original columns, and as meta columns for each learner its prediction
(``LEARNER``), in a classification the probability of each class (``LEARNER (CLASS)``), and ``Fold``. Orange writes
three lines of header (names; types; roles) unless it is asked not to. It writes no numbers of rows, so that the
lines of random sampling, which tests rows several times, cannot be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from heldout.errors import InputError
from heldout.readers.columns import check_names, free_name, holds_labels, quoted
from heldout.readers.formats.base import ColumnUses, Export, PredictionFormat
from heldout.readers.formats.line_roles import LineRoles, predictions_of_lines
from heldout.readers.formats.parts import stacked
from heldout.readers.prediction_table import PredictionTable
from heldout.readers.tables import Table
from heldout.readers.text_lines import all_lines, numbers_of, opening_lines, records

_FOLD = "Fold"
_ROLES = {"", "class", "meta", "ignore"}
_NUMBERS = ("continuous", "c")
_MISSING = ("", "?", ".", "~", "nan", "NA")
_MOST_TWINS = 0.5
"""The share of lines with a twin in another fold from which they are taken for the same row, tested again."""
_ORDER = (
    "Orange writes no numbers of rows, so each line counts as another row; that is right for cross-validation, "
    "and wrong for random sampling."
)


class Orange(PredictionFormat):
    name = "orange"
    title = "the predictions of Orange's Test and Score"
    signs = "a column Fold, and for each learner its name and NAME (CLASS)"

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        head = _Header.of(export)
        return _FOLD in head.names and (head.role(_FOLD) == "meta" or bool(_learners(head.names)[0]))

    def read(self, export: Export, uses: ColumnUses) -> PredictionTable:
        head = _Header.of(export)
        table = _typed_table(export, head) if head.roles else export.table_with(_FOLD)
        own = [name for name in head.names if head.role(name) == "class"]
        target = uses.target if uses.target is not None else own[0] if len(own) == 1 else None
        uses.check_agree(self.title, ["predictions"], fold=_FOLD, **({"target": own[0]} if own else {}))
        uses.check_names(self.title, ("group", "weight"))
        if not isinstance(target, str):
            raise InputError(
                f"target is needed: which column of {export.name} is the class, which Orange predicted?",
                argument="target",
            )
        table.column(target, "the target")
        row = uses.row or free_name("row", table.frame.columns)
        frames, probabilities, labels = _of_learners(table, target, row, uses, head)
        lines, model = stacked(frames, export.name)
        roles = LineRoles(
            target=target,
            row=row,
            configuration=(model,),
            fold=(_FOLD,),
            labels="predicted" if labels else None,
            probabilities=probabilities,
            values=None if labels else "predicted",
        )
        lines = replace(lines, remarks=table.remarks)
        read = predictions_of_lines(lines, roles, self, uses, remarks=() if uses.row else (_ORDER,))
        columns = {"truth": target, "folds": _FOLD, "learners": quoted([*frames])}
        return replace(read, source=replace(read.source, columns=columns))


@dataclass(frozen=True)
class _Header:
    """The first lines of the file: names, and types and roles where Orange wrote them."""

    names: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    delimiter: str = "\t"

    @classmethod
    def of(cls, export: Export) -> _Header:
        if export.path is None:
            return cls(names=tuple(export.columns))
        lines = opening_lines(export.path, 3)
        if not lines:
            return cls()
        delimiter = "\t" if "\t" in lines[0] else ","
        rows = [tuple(cell.strip() for cell in row) for row in records(export.name, lines, delimiter)]
        typed = len(rows) == 3 and {len(row) for row in rows} == {len(rows[0])} and _are_roles(rows[2])
        return cls(rows[0], *((rows[1], rows[2]) if typed else ((), ())), delimiter)

    def role(self, name: str) -> str:
        return self.roles[self.names.index(name)] if self.roles else ""


def _are_roles(row: Sequence[str]) -> bool:
    """Whether a line holds roles of columns: class or meta, nothing, or settings such as ``key=value``."""
    return "meta" in row and all(cell.split(" ")[0] in _ROLES or "=" in cell for cell in row)


def _learners(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The columns that have one for each class beside them, ``NAME (CLASS)``, and these classes."""
    ends = {
        name: [
            other[len(name) + 2 : -1] for other in names if other.startswith(f"{name} (") and other.endswith(")")
        ]
        for name in names
    }
    learners = [name for name, found in ends.items() if len(found) > 1]
    classes = [end for end in ends[learners[0]] if all(end in ends[name] for name in learners)] if learners else []
    return (learners, classes) if len(classes) > 1 else ([], [])


def _typed_table(export: Export, head: _Header) -> Table:
    """The table below the three lines of the header."""
    import pandas as pd

    assert export.path is not None, "a header is of a file"
    check_names(export.name, head.names)
    lines = all_lines(export.path)[3:]
    rows = [row for row in records(export.name, lines, head.delimiter, width=len(head.names), first=4) if row]
    if not rows:
        raise InputError(f"{export.name} has a header but no rows; is the file complete?")
    columns = {
        name: _column(export, name, [row[place].strip() for row in rows], head.types[place] in _NUMBERS)
        for place, name in enumerate(head.names)
    }
    return Table(export.name, pd.DataFrame(columns))


def _column(export: Export, name: str, cells: list[str], is_number: bool) -> Any:
    values = [None if cell in _MISSING else cell for cell in cells]
    return numbers_of(f"column {name!r} of {export.name}", values) if is_number else np.array(values, dtype=object)


def _of_learners(
    table: Table, target: str, row: str, uses: ColumnUses, head: _Header
) -> tuple[dict[str, Any], dict[str, str], bool]:
    """The table of each learner, the columns of its probabilities by class, and whether it predicts labels."""
    frame = table.frame
    learners, classes = _named_learners(table, uses, head)
    of_classes = {f"{name} ({text})" for name in learners for text in classes}
    if uses.row is None:
        _check_tested_once(frame, [name for name in frame if name not in {*learners, *of_classes, _FOLD}], target)
        frame = frame.assign(**{row: np.arange(1, len(frame) + 1)})
    kept = [name for name in (target, _FOLD, row, uses.group, uses.weight) if name is not None]
    own = {text: f"P({text})" for text in classes}
    frames = {
        name: frame[kept].assign(
            predicted=frame[name], **{column: frame[f"{name} ({text})"] for text, column in own.items()}
        )
        for name in learners
    }
    kinds = {name: bool(classes) or holds_labels(frame[target], frame[name]) for name in learners}
    if len(set(kinds.values())) > 1:
        labels, numbers = ([name for name, held in kinds.items() if held is kind] for kind in (True, False))
        raise InputError(f"{quoted(labels)} hold labels and {quoted(numbers)} numbers; name learners of one kind.")
    return frames, own, next(iter(kinds.values()))


def _named_learners(table: Table, uses: ColumnUses, head: _Header) -> tuple[list[str], list[str]]:
    """The learners that the user named, or else those with columns of classes, and the classes."""
    learners, classes = _learners(list(table.frame.columns))
    for name in uses.predictions:
        table.column(name, "one of predictions")
    if uses.predictions:
        return list(uses.predictions), classes if set(uses.predictions) <= set(learners) else []
    if not learners:
        metas = [name for name in head.names if head.role(name) == "meta" and name != _FOLD]
        raise InputError(
            f"{table.name} does not say which columns are predictions; name those of learners, such as "
            f"`prediction={metas or ''}`.",
            argument="prediction",
        )
    return learners, classes


def _check_tested_once(frame: Any, original: list[str], target: str) -> None:
    """Refuse lines that are mostly the same rows in several folds."""
    if original in ([], [target]):
        return
    lines = frame[[*original, _FOLD]].drop_duplicates()
    again = lines.duplicated(original, keep=False)
    if again.mean() > _MOST_TWINS:
        raise InputError(
            f"{int(again.sum())} of {len(lines)} lines hold the same values as a line of another fold, as those of "
            "random sampling do; number the rows in Orange before Test and Score, and name the column with `row=`."
        )
