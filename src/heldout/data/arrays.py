"""Convert array-likes to arrays: lists, columns and tables of any library, masked arrays.

Masked and missing values stay missing, text never counts as a number, and values of two types are not sorted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from numbers import Integral, Number, Real
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError, plain_values

_NEITHER = {"c": "complex numbers", "m": "time differences", "M": "dates", "V": "records"}
"""Kinds of array that hold neither labels nor numbers."""


def array_of(values: Any, what: str) -> NDArray[Any]:
    """An array of what is array-like, masked, or has ``to_numpy``; the values unchanged, masked ones missing.

    Objects that are all booleans, all whole numbers or all numbers become an array of those. ``what`` names them in
    errors.

    Examples
    --------
    >>> array_of(["a", 1], "groups").tolist()  # NumPy alone would make it ["a", "1"]
    ['a', 1]
    >>> array_of(np.ma.masked_array([1.0, 2.0], mask=[False, True]), "predictions").tolist()
    [1.0, nan]
    """
    if isinstance(values, np.ma.MaskedArray):
        return _typed(_unmasked(values))
    try:
        array = _as_numpy(values)
    except ValueError:
        raise InputError(
            f"{what} must be an array, got rows of different lengths; give each row as many values."
        ) from None
    # NumPy turns [1, "a"] into text and [True, 2] into numbers, after which nobody can tell what was meant.
    if isinstance(values, list | tuple) and _has_lost_types(values, array):
        array = np.asarray(values, dtype=object)
    return _typed(array)


def column_of(values: Any, what: str) -> NDArray[Any]:
    """Like ``array_of``; one column of a table is an array, and numbers that equal the same float stay objects."""
    array = array_of(values, what)
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    if array.ndim == 1 and array.dtype.kind == "f":
        # Labels such as 2**60 and 2**60 + 1 are one number as floats; the objects still tell them apart.
        written = _written_objects(values)
        if written is not None and len(set(written)) > len(np.unique(array[~np.isnan(array)])):
            return np.asarray(values, dtype=object)
    return array


def check_labels_or_numbers(array: NDArray[Any], what: str) -> None:
    """Refuse complex numbers, dates and records."""
    if array.dtype.kind in _NEITHER:
        kind = _NEITHER[array.dtype.kind]
        lead = "Complex data not supported: " if array.dtype.kind == "c" else ""
        raise InputError(
            f"{lead}{what} must be real numbers or labels, got {kind} ({array.dtype}); convert them first."
        )


def missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values are None or NaN (of any type that has such a value)."""
    if column.dtype.kind in "fc":
        return np.isnan(column)
    if column.dtype.kind in "mM":
        return np.isnat(column)
    if column.dtype.kind != "O":
        return np.zeros(column.shape, dtype=bool)
    return np.array([_is_missing(value) for value in column.ravel()], dtype=bool).reshape(column.shape)


def shortened(value: Any, most: int = 60) -> str:
    """A value for an error message, shortened: it may be a whole table.

    Examples
    --------
    >>> shortened("yes"), shortened(list(range(100)), most=12)
    ("'yes'", '[0, 1, 2, 3…')
    """
    text = " ".join(plain_values(repr(value)).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def numbers_of(
    array: NDArray[Any], what: str, otherwise: str = "convert them with astype(float)"
) -> NDArray[np.float64]:
    """The array as float64, NaN where missing; unchanged if it is float64, because a matrix may take most of the
    memory. ``what`` names them in errors, and ``otherwise`` says what to do instead.
    """
    if array.dtype.kind in "biuf":
        return array.astype(np.float64, copy=False)
    if array.dtype.kind == "c":
        raise InputError(f"{what} must be real numbers, got complex ones; {otherwise}.")
    present = ~missing(array)
    strangers = [
        value for value in array[present].ravel().tolist() if not isinstance(value, Real | Decimal | np.bool_)
    ]
    if strangers:
        raise InputError(f"{what} must be numbers, got values like {shortened(strangers[0])}; {otherwise}.")
    numbers = np.full(array.shape, np.nan)
    try:
        # Decimals and fractions become floats; a whole number of 400 digits cannot.
        numbers[present] = array[present].astype(np.float64)
    except OverflowError:
        raise InputError(f"{what} hold a whole number beyond the greatest float, 1.8e308; scale them.") from None
    return numbers


def distinct(column: NDArray[Any], what: str) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The sorted distinct values (k,) and which of them each value is, in the column's shape."""
    check_told_apart(column, what)
    try:
        _refuse_truth_among_numbers(column)
        values, inverse = np.unique(column, return_inverse=True)
    except TypeError:
        types = sorted({type(value).__name__ for value in column.ravel()})
        raise InputError(f"{what} must be of one type, got {' and '.join(types)}; convert them first.") from None
    return values, inverse.reshape(column.shape)


def check_told_apart(
    column: NDArray[Any], what: str, otherwise: str = "give labels as integers or text, and amounts as a regression"
) -> None:
    """Refuse floats that may each stand for several numbers: infinite ones, and those from 2**53 on (of float64),
    where not every whole number is a float. ``what`` and ``otherwise`` as in ``numbers_of``.

    Examples
    --------
    >>> check_told_apart(np.array([1e19, 3.0]), "labels")
    Traceback (most recent call last):
        ...
    heldout.errors.InputError: labels hold 1e+19 (row 0, counted from 0), but a float64 that is infinite ...
    """
    if column.dtype.kind != "f":
        return
    # From here on not every whole number has a float of its own: 2**53 of float64.
    least = np.ldexp(1.0, np.finfo(column.dtype).nmant + 1)
    wrong = (np.abs(column) >= least).ravel()
    if wrong.any():
        place = int(wrong.argmax())
        raise InputError(
            f"{what} hold {column.ravel()[place]!s} (row {place}, counted from 0), but a {column.dtype} that is "
            f"infinite or at least {least:.3g} may stand for several numbers, which would become one label; "
            f"{otherwise}."
        )


def _as_numpy(values: Any) -> NDArray[Any]:
    if not hasattr(values, "to_numpy"):
        return np.asarray(values)
    try:
        return np.asarray(values.to_numpy())
    except (TypeError, ValueError):  # Arrow's arrays say so where it takes a copy
        return np.asarray(values)


def _has_lost_types(values: Sequence[Any], array: NDArray[Any]) -> bool:
    """Whether NumPy made one type of several: the 1 of ["a", 1] is text then, NaN "nan", and True a number."""
    if array.dtype.kind in "US":
        kinds = {type(value) for value in np.asarray(values, dtype=object).ravel()}
        return not (all(issubclass(kind, str) for kind in kinds) or all(issubclass(kind, bytes) for kind in kinds))
    if array.ndim != 1 or array.dtype.kind not in "iuf":
        return False
    return any(isinstance(value, bool | np.bool_) for value in values)


def _written_objects(values: Any) -> list[Any] | None:
    """The values that are not missing, unchanged, if they are not all floats: of lists and object columns."""
    array = values.to_numpy() if hasattr(values, "to_numpy") else values
    is_column = isinstance(array, np.ndarray) and array.dtype.kind == "O" and array.ndim == 1
    if not is_column and not isinstance(values, list | tuple):
        return None
    # What was written as floats lost nothing when it became floats.
    if all(issubclass(kind, float | np.floating) for kind in set(map(type, array))):
        return None
    return [value for value in array if not _is_missing(value)]


def _refuse_truth_among_numbers(column: NDArray[Any]) -> None:
    """True equals 1, and would be one label with it."""
    if column.dtype.kind == "O" and {"boolean"} < {_kind(value) for value in column.ravel()} - {"missing", "other"}:
        raise TypeError("booleans among numbers")


def _is_missing(value: Any) -> bool:
    # pandas.NA answers neither == nor != with a bool, so a type's name has to tell it.
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, Number | np.generic) and bool(value != value)


def _unmasked(values: Any) -> NDArray[Any]:
    if values.dtype.kind == "f":
        return np.asarray(values.filled(np.nan))
    masked = np.ma.getmaskarray(values)
    # Whole numbers with a mask need objects, and without one they stay as they are.
    if not masked.any():
        return np.asarray(values.data)
    array = values.data.astype(object)
    array[masked] = None
    return np.asarray(array)


def _typed(array: NDArray[Any]) -> NDArray[Any]:
    """Objects as booleans or numbers if all of them are; whole numbers with gaps stay objects."""
    if array.dtype.kind != "O" or not array.size:
        return array
    kinds = {_kind(value) for value in array.ravel()}
    if kinds == {"boolean"}:
        return array.astype(bool)
    # Objects that are all whole numbers may still be beyond int64; then they stay objects.
    if kinds == {"whole"}:
        try:
            return array.astype(np.int64)
        except OverflowError:
            return array
    if "number" in kinds and kinds <= {"whole", "number", "missing"}:
        return numbers_of(array, "numbers")
    return array


def _kind(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, Integral):
        return "whole"
    if _is_missing(value):
        return "missing"
    return "number" if isinstance(value, Real | Decimal) else "other"


def has_fields(y: Any) -> bool:
    """Whether ``y`` is a structured array, which only survival targets are."""
    return isinstance(y, np.ndarray) and y.dtype.names is not None


def row_labels(values: Any) -> Any:
    """The index of a column or table of pandas, of (event, time) the first; None of what has none."""
    if isinstance(values, tuple):
        values = next((column for column in values if row_labels(column) is not None), None)
    index = getattr(values, "index", None)
    return index if hasattr(values, "iloc") and hasattr(index, "get_indexer") else None


def in_one_order(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays by their names, with rows in the order of the first that has labels.

    Raises InputError where labels contradict each other (``in_order_of`` says when).

    Examples
    --------
    >>> import pandas as pd
    >>> y, groups = pd.Series([0, 1, 1], index=list("abc")), pd.Series([7, 8, 9], index=list("cba"))
    >>> in_one_order({"y": y, "groups": groups})["groups"].tolist()
    [9, 8, 7]
    """
    first = next((name for name, values in arrays.items() if row_labels(values) is not None), "")
    labels = row_labels(arrays.get(first))
    return {name: in_order_of(labels, first, values, name) for name, values in arrays.items()}


def in_order_of(labels: Any, of: str, values: Any, name: str) -> Any:
    """The values with their rows in the order of ``labels``, the index of ``of``; unchanged if they have none.

    Equal unique labels in another order are matched, unless one side counts 0 … n-1: its labels may have been lost.
    Where the labels differ, such a side is taken by position, and other labels are refused, as are repeated ones in
    another order.
    """
    index = row_labels(values)
    if index is None or labels is None or len(index) != len(labels) or index.equals(labels):
        return values  # other checks refuse another number of rows
    position = f"remove the labels ({name}.to_numpy() in Python) to take rows by their position"
    # A label that occurs twice has two places, so no order can be found.
    for side in (index, labels):
        if not side.is_unique:
            again = side[side.duplicated()][0]
            _refuse(
                of,
                name,
                f"repeat row labels ({again!r}) and are not in the same order",
                f"give both with the same labels, or {position}",
            )
    # 0 to n-1 is what pandas writes where it had no labels: such a side may be in any order.
    counts = any(np.array_equal(side, np.arange(len(side))) for side in (index, labels))
    # as objects: pandas cannot look up intervals that overlap, and a missing label equals itself
    here, there = (side.to_flat_index().astype(object) for side in (index, labels))
    strange = [*here[there.get_indexer(here) < 0], *there[here.get_indexer(there) < 0]]
    if strange and not counts:
        shown = f"{', '.join(map(repr, strange[:3]))}{' …' if len(strange) > 3 else ''} in one only"
        _refuse(of, name, f"have different row labels ({shown})", f"give both with the same labels, or {position}")
    if strange:
        return values
    if counts:
        what = "have the same row labels in another order, and one of them counts from 0, as where labels were lost"
        _refuse(
            of, name, what, f"pass {name}.to_numpy() to take rows by their position, or {name}.reindex({of}.index)"
        )
    return values.iloc[here.get_indexer(there)]


def _refuse(of: str, name: str, what: str, remedy: str) -> NoReturn:
    raise InputError(f"{of} and {name} {what}; {remedy}.", argument=name)
