"""The rows of a new table as a saved model takes them, and what it predicts for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout._text import counted
from heldout.data.task import shortened
from heldout.errors import InputError, reason_of
from heldout.readers.columns import free_name, plain, quoted, reads_as_number
from heldout.readers.saved_model import parts_of
from heldout.readers.tables import Table


@dataclass(frozen=True, eq=False)
class NewRows:
    """Rows to predict for.

    Attributes
    ----------
    X : DataFrame
        The columns that the model was fitted on, in their order.
    others : DataFrame
        The other columns of the table, such as identifiers.
    notes : tuple of str
        What a reader of the predictions must know of the columns.
    """

    X: Any
    others: Any
    notes: tuple[str, ...]


def rows_for_model(model: Any, table: Table) -> NewRows:
    """The rows of a table for a fitted model.

    Raises InputError when a column that the model was fitted on is missing, or holds values of another kind.
    """
    names = [*map(str, _names_of(model, table))]
    lacking = [name for name in names if name not in table.frame.columns]
    if lacking:
        raise InputError(
            f"{table.name} lacks {counted(len(lacking), 'column')} that the model was fitted on: "
            f"{quoted(lacking)}; its columns are {quoted(list(table.frame.columns), 12)}."
        )
    notes = list(table.remarks)
    X = table.frame[names].copy()
    prepared = _known_categories(model)
    for name in names:
        if name in prepared:
            X[name], unknown = _categories(X[name], prepared[name])
            if unknown:
                notes.append(
                    f"{name!r} holds values that the model was not fitted on ({quoted(unknown)}): it treats them "
                    "like rare ones."
                )
        elif prepared and X[name].dtype.kind not in "biuf":
            X[name] = _numbers(X[name], table.name)
    return NewRows(X, table.frame.drop(columns=names), tuple(notes))


def table_of_predictions(model: Any, rows: NewRows) -> Any:
    """The other columns of the table, and beside them what the model predicts for each row.

    ``prediction``; of a classifier also ``probability LABEL`` of each class, if it has probabilities. Of a survival
    model the prediction is a risk: the higher, the earlier the event. A name that the table has already gets a
    number behind it.

    Raises InputError when the model cannot predict these rows.
    """
    try:
        columns = {"prediction": model.predict(rows.X)}
        if hasattr(model, "predict_proba"):
            probabilities = np.asarray(model.predict_proba(rows.X))
            columns |= {f"probability {label}": probabilities[:, k] for k, label in enumerate(model.classes_)}
    except Exception as error:
        reason = plain(reason_of(error), 160)
        raise InputError(
            f"the model cannot predict these rows ({type(error).__name__}: {reason}); give a table with columns as "
            "in the one that it was fitted on."
        ) from error
    found = rows.others.copy()
    for name, values in columns.items():
        found[free_name(name, found.columns)] = values
    return found


def _names_of(model: Any, table: Table) -> Any:
    """The names of the columns that a model was fitted on; of one that was fitted on an array, all of the table."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        return names
    n_columns = getattr(model, "n_features_in_", None)
    if not hasattr(model, "predict") or n_columns is None:
        raise InputError(f"a {type(model).__name__} is no fitted model that predicts; save one by ho.save_model.")
    if n_columns != table.frame.shape[1]:
        raise InputError(
            f"the model was fitted on {counted(n_columns, 'column')} without names, and {table.name} has "
            f"{table.frame.shape[1]}; give a table of the same columns in the same order."
        )
    return table.frame.columns


def _known_categories(model: Any) -> Mapping[str, Any]:
    """The categories of each column of categories, as a model found them in its training rows."""
    found: dict[str, Any] = {}
    for part in parts_of(model):
        categories = getattr(part, "categories_", None)
        if isinstance(categories, Mapping):
            found |= categories
        for _, transformer, columns in getattr(part, "transformers_", ()):
            of_columns = getattr(transformer, "categories_", None)
            if of_columns is not None and not isinstance(columns, str | slice):
                found |= dict(zip(columns, of_columns, strict=True))
    return {str(name): values for name, values in found.items()}


def _categories(column: Any, known: Any) -> tuple[Any, list[str]]:
    """A column of categories as in training, and the values in it that were not among them."""
    known = {value for value in known if value is not None and value == value}  # without NaN
    if known and all(isinstance(value, str) for value in known) and column.dtype.kind in "iuf":
        column = column.map(_text, na_action="ignore").astype(object)
    present = column[column.notna()]
    return column, sorted({str(value) for value in present.unique() if value not in known})


def _text(number: float) -> str:
    """A number as a table of texts has it: codes are whole numbers, also where a gap makes them floats."""
    return str(int(number)) if float(number).is_integer() else str(number)


def _numbers(column: Any, table: str) -> Any:
    """A column of numbers as in training, which may be empty."""
    if column.isna().all():
        return column.astype("float64")
    strange = column.notna() & ~column.map(reads_as_number)
    row = int(strange.to_numpy().argmax())
    raise InputError(
        f"column {column.name!r} of {table} holds {shortened(column.iloc[row])} in row {row + 1}, and the model "
        "was fitted on numbers; write them like 1234.5, and leave missing cells empty."
    )
