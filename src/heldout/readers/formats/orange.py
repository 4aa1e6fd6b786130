"""The predictions of Test and Score in Orange, saved as .tab or .csv.

A line for each tested row: the class, the original columns, and as meta columns for each learner its prediction
(``LEARNER``), in a classification the probability of each class (``LEARNER (CLASS)``), and ``Fold``. Orange writes
three lines of header (names; types; roles) unless it is asked not to. It writes no numbers of rows, so that the
lines of random sampling, which tests rows several times, cannot be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from heldout.errors import InputError
from heldout.metrics.base import Response
from heldout.readers.columns import kind_of_prediction
from heldout.readers.csv_table import MISSING_TOKENS
from heldout.readers.formats.tool import Export, Tool
from heldout.readers.long_table import ColumnUses, ResponseColumns
from heldout.readers.tables import Table, read_table, with_rows
from heldout.readers.text_lines import numbers_of, opening_lines, records

_FOLD = "Fold"
_ROLES = {"", "class", "meta", "ignore"}
_NUMBERS = ("continuous", "c")
_MISSING = ("", "?", ".", "nan", "NA")
"""Read as missing, and ``~``; other words can be classes."""
_MOST_TWINS = 0.5
"""The share of lines with a twin in another fold from which they are taken for the same row, tested again."""
_ORDER = (
    "Orange writes no numbers of rows, so each line counts as another row; that is right for cross-validation, "
    "and wrong for random sampling."
)


class Orange(Tool):
    name = "orange"
    title = "the predictions of Orange's Test and Score"
    signs = "a column Fold, and for each learner its name and NAME (CLASS)"
    needs = (_FOLD,)
    columns: ClassVar = {"fold": (_FOLD,)}
    free = ("predictions",)

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        head = _Header.of(export)
        return _FOLD in head.names and (head.role(_FOLD) == "meta" or bool(_learners(head.names)[0]))

    def tables(self, export: Export, uses: ColumnUses) -> tuple[dict[str, Table], ColumnUses]:
        head = _Header.of(export)
        table = _typed(export, head) if head.roles else export.table_with()
        table.column(_FOLD, "the folds")
        head = replace(head, names=(*table.frame.columns,))  # whose encoding was found
        own = [name for name in head.names if head.role(name) == "class"]
        if own:
            uses.check_agree(self.title, {"target": own[0]}, self.free)
            uses = replace(uses, target=own[0] if len(own) == 1 else uses.target)
        if not uses.predictions and not _learners(head.names)[0]:
            metas = [name for name in head.names if head.role(name) == "meta" and name != _FOLD]
            raise InputError(
                f"{table.name} does not say which columns are predictions; name those of learners, such as "
                f"`prediction={metas or ''}`.",
                argument="prediction",
            )
        remarks = (*table.remarks, _ORDER) if uses.row is None else table.remarks
        return {"": replace(table, remarks=remarks)}, uses

    def roles(self, export: Export, table: Table, uses: ColumnUses) -> ColumnUses:
        frame = table.frame
        learners, classes = _learners([*frame])
        if uses.predictions:
            classes = classes if {*uses.predictions} <= {*learners} else []
            learners = [*uses.predictions]
        of_class = {name: {text: f"{name} ({text})" for text in classes} for name in sorted(learners)}
        if _ORDER in table.remarks:
            known = {*learners, *(column for columns in of_class.values() for column in columns.values())}
            _check_tested_once(
                frame, [name for name in frame if name not in {*known, _FOLD, uses.row}], uses.target
            )
        truth = frame[uses.target]
        if not classes and any(kind_of_prediction(frame[name], truth) is not Response.LABELS for name in learners):
            return uses.with_roles(heads={name: ResponseColumns(values=name) for name in of_class})
        return uses.with_roles(heads={name: ResponseColumns(name, columns) for name, columns in of_class.items()})


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


def _typed(export: Export, head: _Header) -> Table:
    """The table below the three lines of the header, of which the first holds the names."""
    table = read_table(export.name, not_missing=[word for word in MISSING_TOKENS if word not in _MISSING])
    frame = table.frame.iloc[2:].reset_index(drop=True)
    frame = frame.map(lambda cell: cell.strip() if isinstance(cell, str) else cell)
    frame = frame.astype(object).where(frame.notna() & ~frame.isin(["~", *_MISSING]), None)
    for name, kind in zip(frame.columns, head.types, strict=False):
        if kind in _NUMBERS:
            frame[name] = numbers_of(f"column {name!r} of {table.name}", frame[name].tolist())
    return with_rows(replace(table, frame=frame))


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
