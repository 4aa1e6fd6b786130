"""TabRepo's memory-mapped predictions of one task: ``metadata.json``, ``pred-val.dat`` and ``label-val.csv.zip``.

``pred-val.dat`` is an array of float16 or float32 of shape (models, rows) in a regression or for two classes, and
(models, rows, classes) for more; ``metadata.json`` has its shape, type and the names of the models. The labels are
a column of a CSV file whose index numbers the rows of the data set: classes are codes from 0. With bagged models
the predictions are out-of-fold ones of the training rows; in which fold a row was held out is not stored.
Source: D. Salinas and N. Erickson, TabRepo (AutoML 2024), and its code.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np

from heldout._text import counted
from heldout._types import Floats
from heldout.data.declared import Between, of_type
from heldout.errors import InputError
from heldout.flags import Flag
from heldout.readers.columns import check_complete, damage_refused
from heldout.readers.formats.tool import Export, Tool, check_target, with_values
from heldout.readers.long_table import ColumnUses, ResponseColumns
from heldout.readers.tables import Table
from heldout.readers.text_lines import json_of

_MATRIX, _METADATA, _LABELS = "pred-val.dat", "metadata.json", "label-val.csv.zip"
_COMPLETE = "is the copy complete?"
_HEAD = re.compile(r"(.*)\[(\d*)\]")


class TabRepo(Tool):
    """The folder of a task, or its pred-val.dat."""

    name = "tabrepo"
    title = "the predictions of a task in TabRepo"
    signs = f"a folder with {_MATRIX} and {_METADATA}"
    columns: ClassVar = {"row": (), "fold": ()}
    by_label = True

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        return bool(_tasks(export))

    def tables(self, export: Export, uses: ColumnUses) -> tuple[dict[str, Table], ColumnUses]:
        import pandas as pd

        tasks, path = _tasks(export), export.path
        if path is None or tasks not in ([path], [path.parent]):
            raise InputError(
                f"{export.name} holds {counted(len(tasks), 'task')}, each with other training rows; give the "
                "folder of one, such as model_predictions/DATASET/0."
            )
        models, matrix = _matrix(tasks[0])
        table = Table(export.name, pd.DataFrame(index=pd.RangeIndex(matrix.shape[1])))
        if (tasks[0] / _LABELS).is_file():
            labels = _labels(tasks[0] / _LABELS, matrix.shape[1])
            table = replace(table, labels=labels.index)
            if uses.target is None:
                table = replace(table, frame=labels.reset_index(drop=True).to_frame(_LABELS))
                uses = replace(uses, target=_LABELS)
        check_target(uses, f"{export.name} (without {_LABELS})")
        table, uses = with_values(table, uses, by_label=True)
        check_complete(table.frame[uses.target], "the target")
        return {"": _with_predictions(table, uses.target, models, matrix)}, uses

    def roles(self, export: Export, table: Table, uses: ColumnUses) -> ColumnUses:
        columns: dict[str, dict[str, str]] = {}
        for name in table.frame:
            if head := _HEAD.fullmatch(name):
                columns.setdefault(head[1], {})[head[2]] = name
        heads = {
            model: ResponseColumns(values=of_class[""]) if "" in of_class else ResponseColumns(None, of_class)
            for model, of_class in columns.items()
        }
        in_order = table.labels is None or table.labels.is_monotonic_increasing
        flags = {} if in_order else Flag.ROWS_OUT_OF_ORDER.of(source=_tasks(export)[0] / _LABELS)
        return uses.with_roles(heads=heads, flags=flags)


def _tasks(export: Export) -> list[Path]:
    """The folder of the task that is named itself or by its file, or those one or two levels below."""
    if export.path is None:
        return []
    own = export.path.parent if export.path.name in (_MATRIX, _METADATA) else export.path
    if (own / _MATRIX).is_file() and (own / _METADATA).is_file():
        return [own]
    return sorted(matrix.parent for pattern in ("*", "*/*") for matrix in export.path.glob(f"{pattern}/{_MATRIX}"))


class _Type(StrEnum):
    FLOAT16 = "float16"
    FLOAT32 = "float32"
    FLOAT64 = "float64"


@dataclass(frozen=True)
class _About:
    """What ``metadata.json`` says of the predictions."""

    models: tuple[str, ...]
    pred_val_shape: tuple[Annotated[int, Between(1, 2**62)], ...]
    dtype: _Type = _Type.FLOAT32


_ABOUT = [entry.name for entry in fields(_About)]


def _matrix(folder: Path) -> tuple[Sequence[str], Floats]:
    """The models, and their predictions (models, rows) or (models, rows, classes)."""
    path = folder / _METADATA
    try:
        about = of_type(_About, {name: value for name, value in json_of(path).items() if name in _ABOUT})
    except ValueError as error:
        raise InputError(f"{path} does not describe the predictions ({error}); {_COMPLETE}") from None
    models, sizes, kind = about.models, about.pred_val_shape, np.dtype(about.dtype.value)
    file, needed = folder / _MATRIX, math.prod(sizes) * kind.itemsize
    if len(sizes) not in (2, 3) or not sizes[0] == len(models) == len({*models}) or file.stat().st_size != needed:
        raise InputError(
            f"{file} has {file.stat().st_size:,} bytes, and an array of {kind} of shape {sizes} has {needed:,}; "
            f"the shape of {path} must be [models, rows] or [models, rows, classes], and there are "
            f"{len({*models})} different names of models; {_COMPLETE}"
        )
    return models, np.fromfile(file, dtype=kind.newbyteorder("<")).reshape(sizes).astype(np.float64)


def _labels(path: Path, n_rows: int) -> Any:
    """The labels in the only CSV file of an archive, with the numbers of their rows."""
    import pandas as pd

    with damage_refused(path, "a table of labels", _COMPLETE):
        frame = pd.read_csv(path, index_col=0)
    if frame.shape != (n_rows, 1) or frame.index.has_duplicates:
        raise InputError(
            f"{path} holds {frame.index.nunique()} rows of {frame.shape[1]} labels, and {_MATRIX} predicts "
            f"{n_rows} rows; both must be of one task."
        )
    return frame.iloc[:, 0]


def _with_predictions(table: Table, target: str, models: Sequence[str], matrix: Floats) -> Table:
    """The table with a column for each model and class, ``model[class]``, or for each model, ``model[]``."""
    import pandas as pd

    truth = table.frame[target]
    is_binary = matrix.ndim == 2 and {*truth.unique()} == {0, 1}
    by_class = np.stack([1 - matrix, matrix], axis=2) if is_binary else matrix.reshape(*matrix.shape[:2], -1)
    texts = range(by_class.shape[2]) if is_binary or matrix.ndim == 3 else [""]
    columns = [f"{model}[{text}]" for model in models for text in texts]
    predicted = pd.DataFrame(by_class.swapaxes(0, 1).reshape(len(truth), -1), columns=columns)
    frame = table.frame.assign(**{target: truth.astype(int) if truth.dtype == bool else truth})
    return replace(table, frame=pd.concat([frame, predicted], axis=1))
