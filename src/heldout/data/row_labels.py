"""Rows in one order: columns and tables of pandas are matched by the labels of their rows."""

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from heldout.errors import InputError


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
