"""From two columns of a table, times and events, to a survival target."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._text import counted
from heldout.data.arrays import shortened
from heldout.data.survival_target import survival_target
from heldout.data.task import TaskKind, Truth, truth_of
from heldout.errors import InputError
from heldout.readers.table_words import plain
from heldout.readers.tables import reads_as_number

_MEANINGS = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False}


def survival_of_columns(time: Any, event: Any) -> Truth:
    """The target of two columns (pandas Series): the time, and whether the event was seen at it.

    Raises
    ------
    InputError
        When a value is missing, a time is no number of at least 0, an event is neither true nor false, or there is
        no event at all.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"days": [3, 5], "died": ["true", "false"]})
    >>> survival_of_columns(table["days"], table["died"]).values.tolist()
    [(True, 3.0), (False, 5.0)]
    """
    for column, what in ((time, "the target (times)"), (event, "the event")):
        absent = column.isna()
        if absent.any():
            lacking, first = counted(int(absent.sum()), "missing value"), int(absent.to_numpy().argmax()) + 1
            raise InputError(
                f"column {column.name!r} ({what}) has {lacking} in {counted(len(column), 'row')} (the first in row "
                f"{first}); every row needs its true value: leave these rows out."
            )
    if column_of_text(time):
        stranger = next((value for value in time if not reads_as_number(value)), time.iloc[0])
        raise InputError(
            f"the target column {time.name!r} must hold times, numbers of at least 0, as there is an event; got "
            f"{shortened(stranger)}."
        )
    return truth_of(survival_target((events_of_column(event), time.to_numpy())), TaskKind.SURVIVAL)


def column_of_text(column: Any) -> bool:
    """Whether a column holds no numbers."""
    return column.dtype.kind not in "iuf"


def events_of_column(column: Any) -> NDArray[np.bool_]:
    """Whether the event was seen, from 0 and 1, or from true and false as booleans or text."""
    words = column.map(lambda value: str(value).lower())
    strange = ~words.isin(list(_MEANINGS))
    if strange.any():
        first = int(strange.to_numpy().argmax())
        raise InputError(
            f"the event column {column.name!r} must hold 1 (the event was seen) or 0 (censored), or true and "
            f"false, got {plain(column.iloc[first])} in row {first + 1}."
        )
    return np.asarray(words.map(_MEANINGS).to_numpy().astype(bool))
