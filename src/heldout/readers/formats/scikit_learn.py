"""Arrays of scikit-learn's ``cross_val_predict``, one for each configuration, in a mapping from its name.

An array has one prediction a row (labels, numbers, scores), or one column for each class (``predict_proba``), in
the order of ``numpy.unique(y)``. Arrays have neither true values nor folds: both are passed beside them.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from heldout._types import Array
from heldout.data.row_labels import in_one_order
from heldout.data.task import array_of, column_of
from heldout.errors import InputError
from heldout.estimates.input_arrays import distinct_names
from heldout.readers.formats.autogluon import holds_ensemble
from heldout.readers.formats.plain import WideFormat
from heldout.readers.formats.tool import Export, is_frame
from heldout.readers.long_table import ColumnUses
from heldout.readers.tables import Table, table_of_frame

_OF_CROSS_VALIDATE = {"fit_time", "score_time"}


class ScikitLearn(WideFormat):
    name = "scikit_learn"
    title = "arrays of cross_val_predict of scikit-learn"
    signs = "a mapping from names to arrays or Series"

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        value = export.value
        return (
            isinstance(value, Mapping)
            and bool(value)
            and all(isinstance(array, np.ndarray | list) or hasattr(array, "to_numpy") for array in value.values())
            and not any(map(is_frame, value.values()))
            and not holds_ensemble(value)
        )

    def tables(self, export: Export, uses: ColumnUses) -> tuple[dict[str, Table], ColumnUses]:
        import pandas as pd

        if not self.recognises(export, uses):
            raise InputError(
                f"`format={self.name!r}` reads {self.signs}, and {export.name} is none; name another format."
            )
        parts = {f"source[{name!r}]": name for name in export.value}
        own = {use: getattr(uses, use) for use in ("target", "fold", "group", "weight")}
        own = {use: values for use, values in own.items() if values is not None and not isinstance(values, str)}
        values = in_one_order(own | {part: export.value[name] for part, name in parts.items()})
        given: dict[str, Any] = {use: column_of(values[use], use) for use in own}
        uses = replace(uses, **given)
        arrays: Mapping[Any, Array] = {name: array_of(values[part], part) for part, name in parts.items()}
        if {*arrays} >= _OF_CROSS_VALIDATE:
            raise InputError(
                "the result of cross_validate holds scores and models, not predictions; pass its scores to "
                "ho.estimate_from_scores, or the arrays of cross_val_predict here."
            )
        if uses.target is None or isinstance(uses.target, str):
            raise InputError(
                f"arrays of predictions hold no true values; pass them as `target=y`, got {uses.target!r}.",
                argument="target",
            )
        names = zip(distinct_names(arrays), arrays.values(), strict=True)
        columns = [column for name, array in names for column in _columns(name, array, uses.target)]
        rows = {len(values) for _, values in columns}
        if len(rows) > 1:
            sizes = ", ".join(f"{name}: {len(array)}" for name, array in arrays.items())
            raise InputError(f"the arrays must be of the same rows, got {sizes} rows.")
        return self.checked(table_of_frame(pd.DataFrame(dict(columns)), "the arrays"), uses)


def _columns(name: str, array: Array, target: Any) -> list[tuple[str, Array]]:
    """The column, or the columns of each class, of a configuration."""
    if array.ndim == 1:
        return [(name, array)]
    classes = np.unique(np.asarray(target))
    if array.ndim != 2 or array.shape[1] != len(classes):
        raise InputError(
            f"the array of {name!r} must have one prediction a row, or a column for each of the {len(classes)} "
            f"classes of the target, got shape {array.shape}."
        )
    return [(f"{name}[{label}]", array[:, place]) for place, label in enumerate(classes)]
