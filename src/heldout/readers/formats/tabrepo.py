"""TabRepo's memory-mapped predictions of one task: ``metadata.json``, ``pred-val.dat`` and ``label-val.csv.zip``.

``pred-val.dat`` is an array of float16 or float32 of shape (models, rows) in a regression or for two classes, and
(models, rows, classes) for more; ``metadata.json`` has its shape, type and the names of the models. The labels are
a column of a CSV file whose index numbers the rows of the data set: classes are codes from 0. With bagged models
the predictions are out-of-fold ones of the training rows; in which fold a row was held out is not stored.
Source: D. Salinas and N. Erickson, TabRepo (AutoML 2024), and its code.
"""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._text import counted
from heldout.data.task import checked_groups, checked_weights, shortened
from heldout.errors import InputError
from heldout.flags import Flag
from heldout.readers.columns import check_complete, first_line, labels_of_column, quoted
from heldout.readers.formats.base import ColumnUses, Export, PredictionFormat
from heldout.readers.formats.given import needed_truth, with_given
from heldout.readers.formats.parts import json_object
from heldout.readers.prediction_arrays import PredictionArrays
from heldout.readers.prediction_table import PredictionTable, Source

_MATRIX, _METADATA, _LABELS = "pred-val.dat", "metadata.json", "label-val.csv.zip"
_TYPES = ("float16", "float32", "float64")
_COMPLETE = "is the copy complete?"


class TabRepo(PredictionFormat):
    """The folder of a task, or its pred-val.dat."""

    name = "tabrepo"
    title = "the predictions of a task in TabRepo"
    signs = f"a folder with {_MATRIX} and {_METADATA}"

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        return export.path is not None and (_holds(_folder(export.path)) or bool(_tasks(export.path)))

    def read(self, export: Export, uses: ColumnUses) -> PredictionTable:
        uses.check_agree(self.title, row=None, fold=None)
        if export.path is None:
            raise InputError(
                f"{export.name} is no folder; give that of a task, such as model_predictions/DATASET/0."
            )
        folder = _folder(export.path)
        if not _holds(folder) and (tasks := _tasks(export.path)):
            raise InputError(
                f"{export.name} holds {counted(len(tasks), 'task')}, each with other training rows; give the "
                f"folder of one, such as {tasks[0]}."
            )
        models, matrix = _matrix(folder)
        import pandas as pd

        labels = _labels(folder / _LABELS, matrix.shape[1]) if (folder / _LABELS).is_file() else None
        frame = pd.DataFrame(index=pd.RangeIndex(matrix.shape[1]) if labels is None else labels.index)
        by_label = labels is not None
        if uses.target is None and labels is not None:
            truth, where = np.asarray(labels), _LABELS
        else:
            given = needed_truth(uses, f"{export.name} (without {_LABELS})")
            frame, where = with_given(frame, given, "target", export.name, by_label=by_label)
            check_complete(frame[where], "the target")
            truth = labels_of_column(frame[where])
        kept: dict[str, NDArray[Any]] = {}
        for use in ("group", "weight"):
            if (value := getattr(uses, use)) is not None:
                frame, column = with_given(frame, value, use, export.name, by_label=by_label)
                kept[use] = frame[column].to_numpy()
        flags = {Flag.FOLDS_UNKNOWN: Flag.FOLDS_UNKNOWN.filled(source=export.name)}
        if labels is not None and not labels.index.is_monotonic_increasing:
            flags[Flag.ROWS_OUT_OF_ORDER] = Flag.ROWS_OUT_OF_ORDER.filled(source=folder / _LABELS)
        truth, arrays = _arrays(models, matrix, truth, flags, export.name)
        source = Source(export.name, self.name, self.title, {"truth": where, "predictions": _MATRIX})
        return PredictionTable.of_arrays(
            truth,
            arrays,
            source,
            groups=checked_groups(kept.get("group"), len(truth)),
            sample_weight=checked_weights(kept.get("weight"), len(truth)),
        )


def _folder(path: Path) -> Path:
    return path.parent if path.name in (_MATRIX, _METADATA) else path


def _holds(folder: Path) -> bool:
    return (folder / _MATRIX).is_file() and (folder / _METADATA).is_file()


def _tasks(path: Path) -> list[Path]:
    """The folders of tasks one or two levels below."""
    if not path.is_dir():
        return []
    return sorted(found.parent for pattern in ("*", "*/*") for found in path.glob(f"{pattern}/{_MATRIX}"))


def _matrix(folder: Path) -> tuple[list[str], NDArray[np.float64]]:
    """The models, and their predictions (models, rows) or (models, rows, classes)."""
    path = folder / _METADATA
    about = json_object(path)
    models, shape, kind = about.get("models"), about.get("pred_val_shape"), about.get("dtype", "float32")
    if not (isinstance(models, list) and models and all(isinstance(name, str) for name in models)):
        raise InputError(f"{path} has no list of models; {_COMPLETE}")
    if len(set(models)) < len(models):
        raise InputError(f"{path} names a model twice; each names a configuration.")
    sizes = shape if isinstance(shape, list) and all(type(size) is int and size > 0 for size in shape) else []
    if len(sizes) not in (2, 3) or sizes[0] != len(models):
        raise InputError(
            f"{path} has the pred_val_shape {shortened(shape)}; it must be [models, rows] or [models, rows, "
            f"classes], and it names {len(models)} models."
        )
    if kind not in _TYPES:
        raise InputError(f"{path} has the dtype {shortened(kind)}; it must be one of {quoted(_TYPES)}.")
    file, needed = folder / _MATRIX, math.prod(sizes) * np.dtype(kind).itemsize
    if file.stat().st_size != needed:
        raise InputError(
            f"{file} has {file.stat().st_size:,} bytes, and an array of {kind} of shape {tuple(sizes)} has "
            f"{needed:,}; {_COMPLETE}"
        )
    return models, np.fromfile(file, dtype=np.dtype(kind).newbyteorder("<")).reshape(sizes).astype(np.float64)


def _labels(path: Path, n_rows: int) -> Any:
    """The labels in the only CSV file of an archive, with the numbers of their rows."""
    import pandas as pd

    try:
        with zipfile.ZipFile(path) as archive:
            (name,) = archive.namelist()
            with archive.open(name) as stream:
                frame = pd.read_csv(stream, index_col=0)
    except MemoryError:
        raise
    except Exception as error:  # it may be damaged, encrypted, or packed in a way that Python cannot read
        raise InputError(f"{path} cannot be read: {first_line(error)}; {_COMPLETE}") from None
    if frame.shape != (n_rows, 1) or frame.isna().any(axis=None):
        raise InputError(
            f"{path} holds {len(frame)} rows of {frame.shape[1]} labels, some may be missing, and {_MATRIX} "
            f"predicts {n_rows} rows; both must be of one task."
        )
    if frame.index.has_duplicates:
        again = frame.index[frame.index.duplicated()][0]
        raise InputError(f"{path} holds row {again} a second time; each row has one label: is it of one task?")
    return frame.iloc[:, 0]


def _arrays(
    models: list[str], matrix: NDArray[np.float64], truth: NDArray[Any], flags: dict[Flag, str], name: str
) -> tuple[NDArray[Any], PredictionArrays]:
    """The true values, and the predictions as (N, C, 1[, K]): of two classes if those are 0 and 1, else numbers."""
    names, by_row = tuple(models), np.ascontiguousarray(matrix.swapaxes(0, 1))[:, :, None]
    n_classes = matrix.shape[2] if matrix.ndim == 3 else 2 if set(np.unique(truth).tolist()) == {0, 1} else 0
    if not n_classes:
        if truth.dtype.kind not in "iuf":
            raise InputError(
                f"{name} holds a number for each row, and the true values are text ({shortened(truth[0])}); "
                "TabRepo writes the second of two classes as 1: give them as 0 and 1."
            )
        return truth, PredictionArrays(names, values=by_row, flags=flags)
    strange = [label for label in np.unique(truth).tolist() if label not in range(n_classes)]
    if strange:
        raise InputError(
            f"{name} predicts {n_classes} classes, and the true values hold {shortened(strange[0])}; give the "
            f"codes of the classes, from 0 to {n_classes - 1}, as in TabRepo's {_LABELS}."
        )
    if matrix.ndim == 2:
        by_row = np.stack([1 - by_row, by_row], axis=-1)
    arrays = PredictionArrays(names, np.arange(n_classes), probabilities=by_row, flags=flags)
    return truth.astype(np.int64), arrays
