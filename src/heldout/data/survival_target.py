"""Convert events and times to a survival target: for each row whether the event was observed, and when.

scikit-survival's structured array is the usual form. Fields are taken by their order, event first and time second,
as names differ from study to study.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._text import counted
from heldout.data.arrays import array_of, check_labels_or_numbers, column_of, missing, numbers_of
from heldout.data.row_labels import in_one_order
from heldout.errors import InputError

SURVIVAL = np.dtype([("event", np.bool_), ("time", np.float64)])
"""``event``: whether it was seen at ``time``; else the row was censored then, and its event is later, if ever."""

FORMS = (
    "scikit-survival's structured array, a table of two columns, a list of (event, time), or a tuple of two "
    "columns, the event (true or false) first and the time second"
)


def has_two_columns(y: Any) -> bool:
    """Whether ``y`` is a tuple of two columns, or a table or list of two columns: perhaps events and times."""
    if isinstance(y, tuple) and len(y) == 2:
        return all(np.ndim(column) == 1 for column in y)
    shape = getattr(y, "shape", None)
    if shape is not None:
        return len(shape) == 2 and shape[1] == 2
    return isinstance(y, list) and bool(y) and all(isinstance(row, tuple | list) and len(row) == 2 for row in y)


def with_fields(values: NDArray[Any], names: tuple[str, ...]) -> NDArray[Any]:
    """A survival target with its two fields under other names."""
    return values.view(np.dtype([(name, SURVIVAL[place]) for place, name in enumerate(names)]))


def survival_target(y: Any, *, may_lack_events: bool = False) -> NDArray[Any]:
    """A survival target, checked, as an array (N,) with fields ``event`` (bool) and ``time`` (float64).

    ``y`` is a structured array (N,), a table of two columns, a list of N pairs, or a tuple of two columns: the
    event (true or false, or 1 and 0) and the time, in that order. ``may_lack_events`` accepts rows that are all
    censored, as for a score of a few rows.

    Examples
    --------
    >>> survival_target([(True, 3), (False, 5)]).tolist()
    [(True, 3.0), (False, 5.0)]
    >>> survival_target((["1", "0"], [3, 5]))
    Traceback (most recent call last):
        ...
    heldout.errors.InputError: the event of a survival target must be true or false (or 1 and 0), got '1'; ...
    """
    event, time = _two_columns(y)
    if event.shape != time.shape or event.ndim != 1:
        raise InputError(
            f"the event and the time of a survival target must be columns of one length, got shapes {event.shape} "
            f"and {time.shape}."
        )
    if not event.size:
        raise InputError("the target has no rows.")
    check_labels_or_numbers(event, "the event of a survival target")
    check_labels_or_numbers(time, "the time of a survival target")
    _refuse_missing(event, "event")
    _refuse_missing(time, "time")
    target = np.empty(len(event), dtype=SURVIVAL)
    target["event"] = _events(event, time)
    target["time"] = _times(time)
    if not may_lack_events and not target["event"].any():
        raise InputError(
            f"the target holds {counted(len(target), 'row')} and no event: all are censored, so no prediction "
            "can be checked; the event must be true for rows in which it happened."
        )
    return target


def _two_columns(y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    if isinstance(y, tuple) and len(y) == 2:
        event, time = in_one_order({"event": y[0], "time": y[1]}).values()
        return column_of(event, "the event"), column_of(time, "the time")
    array = array_of(y, "the target")
    if array.dtype.names is not None and array.ndim == 1:
        if len(array.dtype.names) == 2:
            event, time = array.dtype.names
            return array_of(array[event], "the event"), array_of(array[time], "the time")
        raise InputError(
            f"a survival target has two fields, the event and the time, got {len(array.dtype.names)}: "
            f"{', '.join(array.dtype.names)}; pass the two, event first."
        )
    if array.ndim == 2 and array.shape[1] == 2:
        return array_of(array[:, 0], "the event"), array_of(array[:, 1], "the time")
    raise InputError(f"a survival target must be {FORMS}; got an array of {array.dtype} of shape {array.shape}.")


def _refuse_missing(column: NDArray[Any], which: str) -> None:
    absent = missing(column)
    if absent.any():
        raise InputError(
            f"the {which} of the survival target has {counted(int(absent.sum()), 'missing value')} (first in row "
            f"{int(absent.argmax())}, counted from 0); leave these rows out."
        )


def _events(column: NDArray[Any], time: NDArray[Any]) -> NDArray[np.bool_]:
    if column.dtype.kind == "b":
        return column
    strange = np.array([value not in (0, 1) for value in column.tolist()])
    if strange.any():
        swapped = time.dtype.kind == "b" or (time.dtype.kind in "iuf" and bool(np.isin(time, (0, 1)).all()))
        advice = "swap the two, the event comes first" if swapped else "the event comes first, then the time"
        if set(column.tolist()) == {1, 2}:
            advice = "it holds 1 and 2: in R's survival package 2 is the event; if so here, pass event == 2"
        raise InputError(
            "the event of a survival target must be true or false (or 1 and 0), got "
            f"{column[strange].tolist()[0]!r}; {advice}."
        )
    return column.astype(np.float64) == 1


def _times(column: NDArray[Any]) -> NDArray[np.float64]:
    times = numbers_of(column, "the time of a survival target")
    if column.dtype.kind in "iuO" and len(np.unique(times)) < len(np.unique(column)):
        raise InputError(
            "the time of a survival target must be numbers that differ as floats, got whole numbers up to "
            f"{max(column.tolist())}, several of which would become one time; use a larger unit, or an earlier "
            "start."
        )
    wrong = ~np.isfinite(times) | (times < 0)
    if wrong.any():
        raise InputError(
            f"the time of a survival target must be finite and at least 0, got {times[wrong][0]} in row "
            f"{int(wrong.argmax())}, counted from 0; leave such rows out, or fix them."
        )
    return times + 0.0  # -0.0 becomes 0.0
