"""The classes of a table: true values, predicted labels, and columns of probabilities that are named after them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout._types import Array, Codes, Floats
from heldout.data.task import codes_of, labels_text, no_labels
from heldout.errors import InputError
from heldout.metrics.base import Response
from heldout.readers.columns import (
    MOST_NUMBERED_CLASSES,
    check_no_dates,
    check_numbers,
    labels_of_column,
    place_of_class,
    plain,
    quoted,
)


@dataclass(frozen=True, eq=False)
class KnownClasses:
    """The classes, and the column of each one's probability."""

    labels: Array
    """(K,): sorted."""
    columns: tuple[str, ...] = ()
    """(K,): the columns of their probabilities, or none."""

    @classmethod
    def of_columns(
        cls, frame: Any, target: str, labels: str | None, probabilities: Mapping[str, str]
    ) -> KnownClasses:
        """The classes of a table; ``probabilities`` has the column of each class by the class's text."""
        values = class_values(frame[target], *([] if labels is None else [frame[labels]]))
        places = {text: place_of_class(text, values) for text in probabilities}
        texts = {text: None if place is None else values[place] for text, place in places.items()}
        # A class that no row has can still have a probability.
        if all(isinstance(value, str) for value in values):
            texts = {text: text if found is None else found for text, found in texts.items()}
        elif not any(isinstance(value, bool) for value in values):
            texts = {
                text: int(text) if found is None and text.isdecimal() else found for text, found in texts.items()
            }
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
        return cls(known, tuple(by_class[value] for value in values) if probabilities else ())

    def codes(self, column: Any) -> Codes:
        """The code of each label, -1 for a missing one; what is no class is refused."""
        absent = column.isna().to_numpy()
        codes = np.full(len(column), -1, dtype=np.int32)
        present = column[~absent]
        if present.dtype == object and self.labels.dtype.kind != "U":  # true and false beside missing values
            present = present.astype(self.labels.dtype)
        codes[~absent] = codes_of(labels_of_column(present), self.labels)
        strange = ~absent & (codes < 0)
        if strange.any():
            first = int(strange.argmax())
            raise InputError(
                f"column {column.name!r} holds {plain(column.iloc[first])} in row {first + 1}, which is none of "
                f"the classes {labels_text(self.labels)}; fix the file, leave the column out (--exclude), or give "
                "a column of probabilities for each class, named name[class]."
            )
        return codes

    def scores(self, frame: Any) -> Floats:
        """(lines, K): the probabilities."""
        for name in self.columns:
            check_numbers(frame[name], "the probabilities")
        return np.asarray(frame[list(self.columns)].to_numpy(dtype=np.float64))


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
