"""The columns of a table: names and values for sentences, checks, labels, events, and columns of classes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._text import counted, cut
from heldout._types import Array, Booleans, Codes, Indices
from heldout.data.task import codes_of, labels_text, no_labels, shortened
from heldout.errors import InputError, MissingExtraError
from heldout.metrics.base import Response

MOST_CLASSES = 50
"""Numbers with more distinct values are amounts."""
MOST_NUMBERED_CLASSES = 10
"""Numbers that are predicted with more distinct values are not labels."""
_ONLY_PYTHON = re.compile(r"_|[^\x00-\x7f]|nan", re.IGNORECASE)
"""Texts that Python's float accepts and readers of tables do not: 1_000, digits of other scripts, NaN."""
_MEANINGS = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False}


def quoted(names: Sequence[Any], most: int = 5) -> str:
    """Names for a sentence: the first few, and how many more."""
    shown = ", ".join(shortened(str(name), most=120) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def plain(value: Any, most: int = 60) -> str:
    """The text of a cell, without quotation marks, cut if it is long."""
    return cut(" ".join(str(value).split()), most)


def reads_as_number(value: Any) -> bool:
    """Whether a value is a number, or text that people and CSV readers read as one.

    Examples
    --------
    >>> [reads_as_number(value) for value in (1.5, "-2e3", "inf", "1,5", "1_000", "Nan", None)]
    [True, True, True, False, False, False, False]
    """
    if isinstance(value, str) and _ONLY_PYTHON.search(value):
        return False
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    except OverflowError:  # a whole number of 310 digits is one too
        return True
    return True


def first_line(error: Exception) -> str:
    """The first line of an error's message, without its full stop."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(".")


@contextmanager
def damage_refused(path: Any, kind: str, remedy: str = "is the file complete?") -> Iterator[None]:
    """Turn what a parser raises into a refusal: the file is untrusted, and parsing it can raise anything.

    ``kind``: what the file is read as.
    """
    try:
        yield
    except (InputError, MissingExtraError, MemoryError):
        raise
    except Exception as error:
        what = f"{getattr(error, 'strerror', None) or first_line(error)} ({type(error).__name__})"
        raise InputError(f"{path} cannot be read as {kind}: {what}; {remedy}") from error


def named_columns(names: Sequence[Any]) -> list[str]:
    """Names as text; a column without one is named after its place, as pandas does.

    Examples
    --------
    >>> named_columns(["", "y", 3])
    ['Unnamed: 0', 'y', '3']
    """
    return [str(name) or f"Unnamed: {place}" for place, name in enumerate(names)]


def check_names(path: Any, names: Sequence[str]) -> None:
    """Refuse two columns of one name."""
    twice = [name for name, times in Counter(names).items() if times > 1 and name]
    if twice:
        raise InputError(
            f"{path} has more than one column called {quoted(twice)}; give every column a name of its own"
            + (" (does its first line hold the names?)." if reads_as_number(twice[0]) else ".")
        )


def first_no_number(column: Any) -> int | None:
    """The place of the first cell that is there and is no number."""
    strange = (~column.map(reads_as_number).astype(bool) & column.notna()).to_numpy()
    return int(strange.argmax()) if strange.any() else None


def check_numbers(column: Any, purpose: str) -> None:
    """Refuse a column that does not hold numbers."""
    if column.dtype.kind not in "iuf":
        first = first_no_number(column) or 0
        raise InputError(
            f"{purpose} column {column.name!r} must hold numbers, got {shortened(column.iloc[first])} in row "
            f"{first + 1}; fix the file."
        )


def whole_numbers(column: Any) -> Any:
    """Numbers that are all whole as integers, where a file keeps all as floats: a CSV file of them has integers."""
    if column.dtype.kind != "f" or not column.map(float.is_integer).all() or (column.abs() >= 2**53).any():
        return column
    return column.astype("int64")


def check_no_dates(column: Any, purpose: str) -> None:
    """Refuse a column with dates, times or durations; ``purpose`` is what a value is for, as "a prediction"."""
    if column.dtype.kind in "iufb":
        return
    strange = column.map(lambda value: not isinstance(value, str | bool | int | float))
    if strange.any():
        value = column[strange].iloc[0]
        raise InputError(
            f"column {column.name!r} holds {plain(value)}, a {type(value).__name__}, where {purpose} must be a "
            "number or text; fix the file, or leave the column out (--exclude)."
        )


def check_complete(column: Any, purpose: str, need: str = "one: fill them in, or leave these rows out") -> None:
    """Refuse a column with missing values; ``need`` ends the sentence "every row needs"."""
    absent = column.isna()
    if absent.any():
        missing, first = counted(int(absent.sum()), "missing value"), int(absent.to_numpy().argmax()) + 1
        raise InputError(
            f"column {column.name!r} ({purpose}) has {missing} in {counted(len(column), 'row')} (the first in row "
            f"{first}); every row needs {need}."
        )


def labels_of_column(column: Any) -> Any:
    """A column as an array, with text in NumPy's own type."""
    if column is None:
        return None
    array = column.to_numpy()
    return text_of(column) if array.dtype == object and not column.isna().any() else array


def text_of(column: Any) -> NDArray[np.str_]:
    """A column of text in NumPy's own type.

    Texts that would become equal are refused: NumPy drops NUL characters at the end of a text.
    """
    objects = column.to_numpy()
    text = objects.astype(str)
    if len(set(text.tolist())) < len(set(map(str, objects))):
        raise InputError(
            f"column {column.name!r} holds texts that differ only in NUL characters at their end, which would "
            "become one label; remove these characters, or use other labels."
        )
    return np.asarray(text)


def events_of_column(column: Any, event_value: str | None = None) -> Booleans:
    """Events as booleans, from 0 and 1, or from true and false as booleans or text.

    ``event_value``: the value that means the event, as text; all others then mean that the row was censored.

    Examples
    --------
    >>> import pandas as pd
    >>> events_of_column(pd.Series([1, 2, 2], name="status"), "2").tolist()
    [False, True, True]
    >>> events_of_column(pd.Series([1, 2, 2], name="status"))
    Traceback (most recent call last):
        ...
    heldout.errors.InputError: the event column 'status' must hold 1 (the event was seen) or 0 (censored), or ...
    """
    if event_value is not None:
        return _equal_to(column, event_value)
    words = column.map(lambda value: str(value).lower())
    strange = ~words.isin(list(_MEANINGS))
    if strange.any():
        first = int(strange.to_numpy().argmax())
        raise InputError(
            f"the event column {column.name!r} must hold 1 (the event was seen) or 0 (censored), or true and "
            f"false, got {plain(column.iloc[first])} in row {first + 1}{_advice(words)}.",
            argument="event",
        )
    return np.asarray(words.map(_MEANINGS).to_numpy().astype(bool))


def _advice(words: Any) -> str:
    """How to say what the values of an event column mean."""
    is_of_r = set(words.str.removesuffix(".0")) == {"1", "2"}
    if is_of_r:
        return (
            ". It holds 1 and 2: in R's survival package 2 is the event and 1 is censored; if so here, write 1 for "
            "2 and 0 for 1 (or tell heldout tune, compare or validate --event-value 2)"
        )
    return "; heldout tune, compare and validate take the value that means the event as --event-value"


def _equal_to(column: Any, value: str) -> Booleans:
    same = np.array([_is_named(each, value) for each in column])
    if not same.any():
        values = quoted(sorted(column.unique().tolist(), key=str))
        raise InputError(
            f"`event_value={value!r}` does not occur in the event column {column.name!r}, which holds {values}; "
            "name one of them."
        )
    return same


def _is_named(value: Any, label: str) -> bool:
    """Whether a text names a value; ``1.0`` names 1 too, and ``TRUE`` names True."""
    if isinstance(value, bool | np.bool_):
        return label.lower() == str(value).lower()
    same_number = not isinstance(value, str) and reads_as_number(label) and float(label) == value
    return bool(label == str(value) or same_number)


def texts_of_classes(*columns: Any) -> list[str]:
    """The classes in a target column, or in columns of labels, as text; empty for amounts."""
    held = [column.dropna() for column in columns]
    # Numbers with fractions are amounts, of which nothing is a class.
    if any(column.dtype.kind == "f" and (column != column.round()).any() for column in held):
        return []
    values = sorted({value for column in held for value in column.unique().tolist()}, key=str)
    return [] if len(values) > MOST_CLASSES else [str(value) for value in values]


def is_setting(column: Any, configurations: Indices) -> bool:
    """Whether a column has one value in each configuration, by the numbers of these.

    Examples
    --------
    >>> import pandas as pd
    >>> [is_setting(pd.Series(column), np.array([0, 0, 1])) for column in ([3, 3, 5], [1, 2, 1], [3, 3, 3])]
    [True, False, True]
    """
    pairs = np.unique(np.stack([configurations, column.factorize()[0]]), axis=1)
    return pairs.shape[1] == len(np.unique(configurations))


def columns_of_classes(names: Sequence[str], classes: Sequence[str]) -> list[dict[str, str]]:
    """The sets of columns whose names differ only by a class, with one column per class: column → class.

    Examples
    --------
    >>> columns_of_classes([".pred_class", ".pred_no", ".pred_yes", "penalty"], ["no", "yes"])
    [{'.pred_no': 'no', '.pred_yes': 'yes'}]
    """
    if len(classes) < 2:
        return []
    by_lower = {name.lower(): name for name in names}
    first = classes[0].lower()
    found: list[dict[str, str]] = []
    for lower in by_lower:
        place = lower.find(first)
        # The class may occur several times in a name, as "a" does in "data_a".
        while place >= 0:
            head, tail = lower[:place], lower[place + len(first) :]
            members = [by_lower.get(f"{head}{label.lower()}{tail}") for label in classes]
            if all(name is not None for name in members) and len({*members}) == len(classes):
                found.append({str(name): label for name, label in zip(members, classes, strict=True)})
            place = lower.find(first, place + 1)
    return found


def place_of_class(text: str, classes: Sequence[Any]) -> int | None:
    """The place of the class that a text names, or None; ``1.0`` is the class 1 too, and ``TRUE`` the class True.

    Examples
    --------
    >>> place_of_class("1.0", [0, 1]), place_of_class("TRUE", [False, True]), place_of_class("b", ["a", "c"])
    (1, 1, None)
    """
    for place, known in enumerate(classes):
        if _is_named(known, text):
            return place
    return None


def free_names(names: Sequence[str], taken: Iterable[str] = ()) -> list[str]:
    """Names that differ from each other and from those in ``taken``: of two that are the same one gets a number.

    Examples
    --------
    >>> free_names(["m", "n", "m"])
    ['m', 'n', 'm #2']
    """
    used, distinct = {*taken}, []
    for name in names:
        distinct.append(free_name(name, used))
        used.add(distinct[-1])
    return distinct


def free_name(name: str, taken: Container[str]) -> str:
    """The name, or with a number behind it if another column has it.

    Examples
    --------
    >>> free_name("m", ["m", "m #2"])
    'm #3'
    """
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name} #{number}"
    return free


def classes_of_columns(
    frame: Any, target: str, labels: Sequence[str], probabilities: Mapping[str, str]
) -> tuple[Array, list[str]]:
    """The classes (K,) of a table, sorted, and the column of each one's probability, or none.

    ``probabilities``: the column of each class by the class's text.
    """
    values = class_values(frame[target], *(frame[name] for name in labels))
    places = {text: place_of_class(text, values) for text in probabilities}
    texts = {text: None if place is None else values[place] for text, place in places.items()}
    # A class that no row has can still have a probability.
    if all(isinstance(value, str) for value in values):
        texts = {text: text if found is None else found for text, found in texts.items()}
    elif not any(isinstance(value, bool) for value in values):
        texts = {text: int(text) if found is None and text.isdecimal() else found for text, found in texts.items()}
    values = sorted({*values, *(found for found in texts.values() if found is not None)})
    strange = [probabilities[text] for text, found in texts.items() if found is None]
    absent = [value for value in values if probabilities and value not in texts.values()]
    if strange or absent:
        what = f"column {quoted(strange)} belongs to no class of the target"
        if absent:
            beside = quoted([*probabilities.values()])
            what = f"class {labels_text(absent)} has no column of probabilities beside {beside}"
        raise InputError(f"{what} (the classes are {labels_text(values)}); export a column for each class.")
    known = np.asarray(values)
    if len(known) < 2:
        raise InputError(
            f"the target {target!r} holds one class, {labels_text(known)}; with one class there is nothing to "
            "predict."
        )
    if no_labels(known).any():
        raise InputError(
            f"the target {target!r} holds numbers with decimals ({known[no_labels(known)][0]:.6g}), but "
            "the predictions are labels or probabilities of classes; name another target."
        )
    by_class = {found: probabilities[text] for text, found in texts.items()}
    return known, [by_class[value] for value in values] if probabilities else []


def codes_of_column(column: Any, classes: Array) -> Codes:
    """The code of each label, -1 for a missing one; what is no class is refused."""
    absent = column.isna().to_numpy()
    codes = np.full(len(column), -1, dtype=np.int32)
    present = column[~absent]
    if present.dtype == object and classes.dtype.kind != "U":  # true and false beside missing values
        present = present.astype(classes.dtype)
    codes[~absent] = codes_of(labels_of_column(present), classes)
    strange = ~absent & (codes < 0)
    if strange.any():
        first = int(strange.argmax())
        raise InputError(
            f"column {column.name!r} holds {plain(column.iloc[first])} in row {first + 1}, which is none of "
            f"the classes {labels_text(classes)}; fix the file, leave the column out (--exclude), or give "
            "a column of probabilities for each class, named name[class]."
        )
    return codes


def class_values(*columns: Any) -> list[Any]:
    """The distinct labels in columns, sorted; text beside numbers, and dates, are refused.

    Examples
    --------
    >>> import pandas as pd
    >>> class_values(pd.Series(["no", None]), pd.Series(["yes", "no"]))
    ['no', 'yes']
    """
    check_one_kind(columns, "true values and predicted labels must be of one kind; fix the file")
    return sorted({value for column in columns for value in column.dropna().unique().tolist()})


def check_one_kind(columns: Iterable[Any], remedy: str) -> None:
    """Refuse dates, numbers beside text, and true and false beside other numbers, with a value of each."""
    kinds: dict[str, list[Any]] = {}
    for column in columns:
        check_no_dates(column, "a label or a prediction")
        for value in column.dropna().head(1):
            words = "text" if isinstance(value, str) else "numbers"
            kinds.setdefault("true and false" if isinstance(value, bool | np.bool_) else words, []).append(column)
    if len(kinds) > 1:
        held = [
            f"{quoted([column.name for column in of_kind])} hold{'s' * (len(of_kind) == 1)} {kind} (such as "
            f"{plain(of_kind[0].dropna().iloc[0])})"
            for kind, of_kind in kinds.items()
        ]
        raise InputError(f"{' and '.join(held)}; {remedy}.")


def kind_of_prediction(values: Any, truth: Any) -> Response:
    """What a column of predictions holds, by the column of true values.

    Labels are text, or few whole numbers that the target has. Other numbers are probabilities of a class where the
    target is text or of two values, else values.

    Examples
    --------
    >>> import pandas as pd
    >>> truth, columns = pd.Series([0, 1, 2]), ([0, 0, 1], [0.2, 0.0, 0.9])
    >>> [kind_of_prediction(pd.Series(column), truth).value for column in columns]
    ['labels', 'values']
    """
    if values.dtype.kind not in "iuf":
        return Response.LABELS
    known, is_text = {*truth.dropna().unique().tolist()}, truth.dtype.kind not in "iuf"
    if not is_text and len(known) <= MOST_NUMBERED_CLASSES and {*values.dropna().unique().tolist()} <= known:
        return Response.LABELS
    return Response.PROBABILITIES if is_text or len(known) == 2 else Response.VALUES
