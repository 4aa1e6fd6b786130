"""The rows of a new table as a saved model takes them, and what it predicts for them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from heldout._text import counted
from heldout.data.task import shortened
from heldout.errors import InputError, UnusablePredictionError, reason_of
from heldout.imputation.imputed_model import Completion, member_of
from heldout.metrics.survival_model import gives_survival, last_step, risks, survival
from heldout.readers.cells import DATE_PARTS, code_of, date_columns
from heldout.readers.columns import free_name, plain, quoted, reads_as_number
from heldout.readers.csv_table import DECIMAL_COMMA, read_cells
from heldout.readers.missing_codes import remarks_on_codes
from heldout.readers.saved_model import parts_of
from heldout.readers.tables import Table, kind_of_file
from heldout.spaces.cox import CoxModel


@dataclass(frozen=True, eq=False)
class NewRows:
    """Rows to predict for.

    Attributes
    ----------
    X : DataFrame
        The columns that the model was fitted on, in their order.
    others : DataFrame
        The other columns of the table, such as identifiers, as the file has them.
    notes : tuple of str
        What a reader of the predictions must know of the columns.
    """

    X: Any
    others: Any
    notes: tuple[str, ...]


def rows_for_model(model: Any, table: Table) -> NewRows:
    """The rows of a table for a fitted model.

    Raises InputError when a column that the model was fitted on is missing, or holds text where it takes numbers.
    """
    names = [*map(str, _names_of(model, table))]
    frame = _with_dates(table.frame, names)
    lacking = [name for name in names if name not in frame.columns]
    if lacking:
        raise InputError(
            f"{table.name} lacks {counted(len(lacking), 'column')} that the model was fitted on: "
            f"{quoted(lacking)}; its columns are {quoted(list(table.frame.columns), 12)}."
        )
    notes = list(table.remarks)
    X, cells = frame[names].copy(), _cells(table)
    categories, numbers = _uses(model)
    for name in names:
        if name in categories:
            values, missing = cells.get(name, X[name]), table.format.missing
            X[name], unknown = _categories(X[name], values.mask(values.isin(missing)), categories[name])
            if unknown:
                notes.append(f"{name!r} holds values that the model does not know ({quoted(unknown)}).")
        elif name in numbers and X[name].dtype.kind not in "biuf":
            X[name] = _numbers(X[name], table)
    notes += remarks_on_codes(X)
    return NewRows(X, cells.drop(columns=names, errors="ignore"), tuple(notes))


def _with_dates(frame: Any, names: Sequence[str]) -> Any:
    """The table with the parts of dates on which the model was fitted."""
    lacking = {name for name in names if name not in frame.columns}
    for name in dict.fromkeys(name.rpartition(" ")[0] for name in names if name in lacking):
        if name in frame.columns and lacking & {f"{name} {part}" for part in DATE_PARTS}:
            frame = frame.assign(**date_columns(frame[name]))
    return frame


LOG_HAZARD, RISK = "log hazard", "risk"
_RISK_WORDS = {
    LOG_HAZARD: "the log hazard, of which only differences between rows mean something; the greater, the earlier "
    "the event. Its exponential is proportional to the hazard",
    RISK: "a risk in units of the model: the greater, the earlier the event",
}


def table_of_predictions(
    model: Any, rows: NewRows, times: Sequence[float] = (), usual_times: Sequence[float] = ()
) -> tuple[Any, tuple[str, ...]]:
    """The other columns of the table, and beside them what the model predicts for each row; and notes on it.

    ``prediction``, or one column per output; of a classifier of one output also ``probability LABEL`` of each
    class, if it has probabilities. Of a survival model ``log hazard`` or ``risk``, and the probability of no event
    until each of ``times`` (by default ``usual_times``). A name that the table has already gets a number behind it.

    Raises InputError when the model cannot predict these rows.
    """
    notes: tuple[str, ...] = ()
    is_survival = gives_survival(model)
    if times and not is_survival:
        raise InputError(
            "--time is for models that give survival probabilities, and this one does not; leave it out."
        )
    try:
        predicted = risks(model, rows.X) if is_survival else model.predict(rows.X)
        outputs = getattr(predicted, "columns", None)
        values = predicted.toarray() if hasattr(predicted, "toarray") else np.asarray(predicted)
        several = values.ndim == 2 and values.shape[1] > 1
        if several:
            outputs = range(1, values.shape[1] + 1) if outputs is None else outputs
            columns = {f"prediction {name}": values[:, k] for k, name in enumerate(outputs)}
        elif is_survival:
            last = last_step(member_of(getattr(model, "pooled_", model)))
            name = LOG_HAZARD if isinstance(last, CoxModel) else RISK
            columns, notes = {name: values.reshape(len(values))}, (f"{name!r} is {_RISK_WORDS[name]}.",)
            if wanted := times or usual_times:
                columns |= _survival(model, rows.X, wanted)
        else:
            columns = {"prediction": values.reshape(len(values))}
        if hasattr(model, "predict_proba"):
            if several:
                notes = ("The model has several outputs: their probabilities are left out.",)
            else:
                columns |= _probabilities(model, rows.X)
    except InputError:
        raise
    except Exception as error:
        reason = plain(reason_of(error), 160)
        gaps = rows.X.isna()
        if gaps.to_numpy().any() and re.search(r"\bnan\b|missing", str(error), re.I):
            with_gaps = [*gaps.columns[gaps.any()]]
            places = [f"{name!r} (row {int(gaps[name].to_numpy().argmax()) + 1})" for name in with_gaps[:5]]
            more = f" and {len(with_gaps) - 5} more columns" if len(with_gaps) > 5 else ""
            raise InputError(
                f"the model takes no missing values, and there are some in {', '.join(places)}{more}; fill these "
                "cells or leave their rows out, or fit a model that fills them: heldout validate --imputations 5."
            ) from error
        raise InputError(
            f"the model cannot predict these rows ({type(error).__name__}: {reason}); give a table with columns as "
            "in the one that it was fitted on."
        ) from error
    found = rows.others.copy()
    for name, column in columns.items():
        found[free_name(name, found.columns)] = column
    return found, notes


def _survival(model: Any, X: Any, times: Sequence[float]) -> dict[str, Any]:
    try:
        values = survival(model, X, times)
    except (InputError, UnusablePredictionError) as error:
        raise InputError(f"--time {', '.join(map(str, times))}: {error}") from error
    return {f"probability of no event until {time:g}": values[:, k] for k, time in enumerate(times)}


def _probabilities(model: Any, X: Any) -> dict[str, Any]:
    probabilities, labels = model.predict_proba(X), model.classes_
    if isinstance(probabilities, list):  # a model of several outputs that has one
        probabilities, labels = probabilities[0], labels[0]
    values = np.asarray(probabilities)
    return {f"probability {label}": values[:, k] for k, label in enumerate(labels)}


def _cells(table: Table) -> Any:
    """The table with cells as its file has them: of a text file the text, of Parquet its own types."""
    path, found = Path(table.name), table.frame.copy()
    kind = "example" if table.name.startswith("example:") else kind_of_file(path)
    if kind == "parquet":
        cells = _parquet_cells(path)
    elif kind == "text":
        cells = read_cells(path)
    else:
        return found
    for name in found.columns.intersection(cells.columns):
        found[name] = cells[name]
    return found


def _parquet_cells(path: Path) -> Any:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    # A float of 32 bits in Arrow's own type has the digits of one of 64 in a CSV file.
    return pq.read_table(path).to_pandas(
        types_mapper=lambda kind: None if pa.types.is_floating(kind) else pd.ArrowDtype(kind), ignore_metadata=True
    )


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


def _uses(model: Any) -> tuple[dict[str, Any], set[str]]:
    """The categories that a model found in training, by column, and the columns in which it takes only numbers."""
    parts, names_of, later = [*parts_of(model)], {}, set()
    for part in parts:
        if isinstance(part, Pipeline):
            keeps = True
            for _, step in part.steps:
                if keeps:
                    names_of[id(step)] = getattr(part, "feature_names_in_", None)
                else:  # its columns can have the names of the table, and other values
                    later |= {id(inner) for inner in parts_of(step)}
                keeps = keeps and isinstance(step, Completion | SimpleImputer | str)
    found: dict[str, Any] = {}
    numbers: set[str] = set()
    for part in parts:
        names = getattr(part, "feature_names_in_", names_of.get(id(part)))
        if names is None or id(part) in later:
            continue
        categories = getattr(part, "categories_", None)
        if isinstance(categories, Mapping):
            found |= {str(name): values for name, values in categories.items()}
            numbers |= {*map(str, names)} - {*found}
        elif isinstance(categories, Sequence) and len(categories) == len(names):
            found |= zip(map(str, names), categories, strict=True)
        if isinstance(part, StandardScaler) or (
            isinstance(part, SimpleImputer) and part.strategy in ("mean", "median")
        ):
            numbers |= {*map(str, names)}
    return found, numbers


def _categories(column: Any, cells: Any, known: Any) -> tuple[Any, list[str]]:
    """A column of categories as in training, and the values in it that were not among them."""
    known = {value for value in known if value is not None and value == value}  # without NaN
    present = column.notna() | cells.isin([*known])
    if known and all(isinstance(value, str) for value in known):
        pairs = zip(cells[present], column[present], strict=True)
        texts = [_text(cell, value, known) for cell, value in pairs]
        column = column.astype(object)
        column[present] = texts
    return column, sorted({str(value) for value in column[present].unique() if value not in known})


def _text(cell: Any, value: Any, known: set[str]) -> str:
    """The text of a cell; whole numbers are codes, also where a gap made them floats as the file was written."""
    if isinstance(value, bool | np.bool_) and cell not in known:
        return str(value)
    texts = str(cell), code_of(cell), code_of(value)
    return next((text for text in texts if text in known), texts[1])


def _numbers(column: Any, table: Table) -> Any:
    """A column of numbers as in training, which may be empty, or hold them as text."""
    strange = column.notna() & ~column.map(reads_as_number).astype(bool)
    if DECIMAL_COMMA in table.remarks:  # 1.685 can be 1685 there
        strange |= column.map(lambda value: isinstance(value, str) and "." in value)
    if not strange.any():
        return column.astype("float64")
    row = int(strange.to_numpy().argmax())
    raise InputError(
        f"column {column.name!r} of {table.name} holds {shortened(column.iloc[row])} in row {row + 1}, and the "
        "model was fitted on numbers; write them like 1234.5, and leave missing cells empty, or use --missing TEXT."
    )
