"""Which columns belong to a configuration, and their numbers as held-out predictions.

A configuration has one column, or one for each class, named ``name[class]``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.arrays import array_of, numbers_of
from heldout.data.task import Truth, labels_text
from heldout.errors import InputError
from heldout.estimates.input_arrays import TWO_DECIMALS, read_predictions
from heldout.estimates.responses import ResponseName
from heldout.metrics.base import Metric
from heldout.predictions import HeldOutPredictions
from heldout.readers.table_predictions import TablePredictions
from heldout.readers.tables import quoted, reads_as_number

_OF_CLASS = re.compile(r"(.+)\[([^\[\]]*)\]")


@dataclass(frozen=True)
class Heads:
    """The columns of each configuration.

    Attributes
    ----------
    names : tuple of str
    columns : tuple of tuple of str
        One each, or one for each class in the target's order.
    per_class : bool
        Whether the columns say of which class they are.
    """

    names: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    per_class: bool = False


def heads_of(found: TablePredictions, truth: Truth) -> Heads:
    """Find the columns of each configuration.

    ``name[class]`` is a column of a class where the text in brackets is a class of the target; of two classes the
    positive one's column is enough.

    Raises
    ------
    InputError
        When classes are lacking, or some columns are of classes and others not.
    """
    if found.held is not None:
        return Heads(found.held.names, ())
    frame = found.predictions
    if found.configurations is not None:
        names = tuple(name for name, _ in found.configurations)
        plain = Heads(names, tuple(tuple(own) for _, own in found.configurations))
        stems = {
            name: {column: label for column, label in own.items() if label} for name, own in found.configurations
        }
    else:
        plain = Heads(tuple(frame.columns), tuple((name,) for name in frame.columns))
        stems = _stems(frame.columns)
    codes = {column: class_code(truth, label) for labels in stems.values() for column, label in labels.items()}
    if truth.classes is None or all(code is None for code in codes.values()):
        _check_no_classes(frame, stems, truth)
        _check_a_column_each(plain)
        return plain
    _check_all_are_classes(frame.columns, codes, truth)
    held = {stem: {codes[column]: column for column in labels} for stem, labels in stems.items()}
    complete = all(len(by_code) == truth.n_classes for by_code in held.values())
    needed: Sequence[int] = range(truth.n_classes)
    if not complete and truth.positive is not None and all(set(by) == {truth.positive} for by in held.values()):
        needed = [truth.positive]
    for stem, by_code in held.items():
        _check_classes(stem, by_code, stems[stem], needed, truth)
    return Heads(tuple(held), tuple(tuple(by[code] for code in needed) for by in held.values()), True)


def _stems(columns: Sequence[str]) -> dict[str, dict[str, str]]:
    """By configuration the columns that are named ``name[class]``, with the class."""
    stems: dict[str, dict[str, str]] = {}
    for column in columns:
        match = _OF_CLASS.fullmatch(column)
        if match:
            stems.setdefault(match[1], {})[column] = match[2]
    return stems


def _check_a_column_each(heads: Heads) -> None:
    several = next((own for own in heads.columns if len(own) > 1), None)
    if several is not None:
        raise InputError(
            f"{quoted(several)} are of classes, but the target is read as numbers; name one column of predictions "
            "with "
            "--prediction COL, or use a metric of labels."
        )


def class_code(truth: Truth, label: str) -> int | None:
    """The code of the class that a text names, None where it names none; ``1.0`` is the class 1 too.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> class_code(truth_of([0, 1, 1]), "1.0"), class_code(truth_of(["no", "yes"]), "maybe")
    (1, None)
    """
    known = [] if truth.classes is None else truth.classes.tolist()
    for code, found in enumerate(known):
        same_number = not isinstance(found, str | bool) and reads_as_number(label) and float(label) == found
        if label.strip() == str(found) or same_number:
            return code
    return None


def held_out(
    found: TablePredictions,
    heads: Heads,
    truth: Truth,
    metric: Metric,
    *,
    response: ResponseName = "auto",
    threshold: float | None = None,
) -> HeldOutPredictions:
    """The predictions that ``metric`` reads, under the names of their configurations.

    Raises
    ------
    InputError
        When they cannot be used, or can be read in two ways.
    """
    if found.held is not None:
        return found.held
    assert found.places is not None, "a table that is not our own says where its rows are"
    if len(heads.columns[0]) == 1:
        lines = array_of(found.predictions[[column for (column,) in heads.columns]], "predictions")
        array = np.moveaxis(lines[found.places], 2, 1)[..., None]  # (N, R, C) as (N, C, R, 1)
    else:
        of_each = [
            numbers_of(array_of(found.predictions[list(own)], "predictions"), own[0]) for own in heads.columns
        ]
        array = np.stack([lines[found.places] for lines in of_each], axis=1)
    held = read_predictions(truth, array, metric, response=response, threshold=threshold, folds=found.folds)
    return replace(held, names=heads.names)


def _check_no_classes(frame: Any, stems: Mapping[str, Mapping[str, str]], truth: Truth) -> None:
    """Columns that look like classes, by their brackets and by summing to 1, but name none of the target's."""
    if truth.classes is None:
        return
    for columns in stems.values():
        if len(columns) == truth.n_classes and _sums_to_one(frame[list(columns)]):
            raise InputError(
                f"{quoted(list(columns))} sum to 1 as the probabilities of classes do, but the brackets name no "
                f"class of the target ({labels_text(truth.classes)}); name them name[class]."
            )


def _sums_to_one(columns: Any) -> bool:
    if any(dtype.kind not in "iuf" for dtype in columns.dtypes):
        return False
    sums: NDArray[np.float64] = columns.to_numpy(dtype=np.float64).sum(axis=1)
    present = sums[~np.isnan(sums)]
    return bool(present.size and (np.abs(present - 1) <= TWO_DECIMALS).all())


def _check_all_are_classes(columns: Sequence[str], codes: Mapping[str, int | None], truth: Truth) -> None:
    of_class = next(column for column, code in codes.items() if code is not None)
    other = next((column for column in columns if codes.get(column) is None), None)
    if other is not None:
        raise InputError(
            f"column {of_class!r} is of a class of the target and {other!r} of none (its classes are "
            f"{labels_text(truth.classes)}); name every column of predictions name[class], or none, or leave "
            "columns out (--exclude)."
        )


def _check_classes(
    stem: str, by_code: Mapping[int | None, str], columns: Mapping[str, str], needed: Sequence[int], truth: Truth
) -> None:
    assert truth.classes is not None
    if len(by_code) < len(columns):
        raise InputError(f"{quoted(list(columns))} name a class of the target twice; leave one out (--exclude).")
    lacking = [truth.classes[code] for code in needed if code not in by_code]
    if lacking:
        own = next(iter(columns))
        hint = (
            f" (of two classes the column of the positive one, {labels_text([truth.pos_label])}, is enough; "
            "--positive LABEL says which that is)"
            if truth.positive is not None
            else ""
        )
        raise InputError(
            f"configuration {stem!r} has no column of class {labels_text(lacking)} beside {own!r}; it needs one "
            f"for each class of the target: {labels_text(truth.classes)}{hint}."
        )
