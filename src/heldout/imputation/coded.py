"""The columns of a table for chained equations: numbers in standard units, categories as codes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats
from heldout.data.arrays import array_of, missing
from heldout.errors import InputError
from heldout.imputation.posterior import Equation, category_equation, linear_equation


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A column of numbers, in units of its observed standard deviation about the observed mean.

    ``mean``, ``scale``, ``low``, ``high``: of the observed values.
    """

    mean: float
    scale: float
    low: float
    high: float

    @property
    def width(self) -> int:
        """Predictors that it is."""
        return 1

    def coded(self, raw: NDArray[Any]) -> Floats:
        """In standard units; NaN where missing."""
        return (raw.astype(np.float64) - self.mean) / self.scale

    def predictors(self, coded: NDArray[Any]) -> Floats:
        """(n, width)."""
        return coded[:, None]

    def equation(self, Z: Floats, coded: NDArray[Any], rng: np.random.Generator) -> Equation:
        """The column given the others, drawn."""
        return linear_equation(Z, coded, rng)

    def written(self, coded: NDArray[Any], within: bool) -> NDArray[Any]:
        """Values in the column's own units, cut to the observed range if set."""
        values = coded * self.scale + self.mean
        return values.clip(self.low, self.high) if within else values


@dataclass(frozen=True, eq=False)
class CategoryColumn:
    """A column of k categories, or of two distinct numbers."""

    labels: NDArray[Any]
    """(k,): those that were observed, in order."""

    @property
    def width(self) -> int:
        """Predictors that it is."""
        return len(self.labels) - 1

    def coded(self, raw: NDArray[Any]) -> NDArray[np.intp]:
        """Codes; -1 where missing or never observed when the imputer was fitted."""
        place = {label: code for code, label in enumerate(self.labels.tolist())}
        values, absent = raw.tolist(), missing(raw)
        codes = [-1 if gone else place.get(value, -1) for value, gone in zip(values, absent, strict=True)]
        return np.array(codes, dtype=np.intp)

    def predictors(self, coded: NDArray[Any]) -> Floats:
        """(n, width): one of 0 and 1 for each category but the first."""
        return (coded[:, None] == np.arange(1, len(self.labels))).astype(np.float64)

    def equation(self, Z: Floats, coded: NDArray[Any], rng: np.random.Generator) -> Equation:
        """The column given the others, drawn."""
        return category_equation(Z, coded, len(self.labels), rng)

    def written(self, coded: NDArray[Any], within: bool) -> NDArray[Any]:
        """The labels; always such as were observed."""
        return self.labels[coded]


Column = NumberColumn | CategoryColumn


def raw_columns(X: Any) -> list[NDArray[Any]]:
    """The columns of a pandas table or an array, numbers as float64 and all else as objects."""
    if hasattr(X, "iloc"):
        return [_plain(X.iloc[:, j].to_numpy()) for j in range(X.shape[1])]
    return [_plain(X[:, j]) for j in range(X.shape[1])]


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    column = array_of(values, "a column")
    # Booleans and text stay objects, so that 1 and True are distinct when written back.
    return column.astype(np.float64) if column.dtype.kind in "iuf" else column.astype(object)


def declared_categorical(X: Any) -> set[int]:
    """Columns that are categories by their type."""
    if not hasattr(X, "dtypes"):
        return set()
    return {j for j, dtype in enumerate(X.dtypes) if str(dtype) == "category"}


def column_of_kind(raw: NDArray[Any], name: Any, categorical: bool, most: int) -> Column:
    """Read what a column is from its observed values.

    Raises InputError when it has none, holds dates or infinite numbers, or more categories than allowed.
    """
    seen = raw[~missing(raw)]
    if not len(seen):
        raise InputError(
            f"column {name!r} has no value at all in these {len(raw)} rows, so there is nothing to impute from; "
            "leave it out."
        )
    if raw.dtype.kind == "f" and not np.isfinite(seen).all():
        raise InputError(f"column {name!r} holds infinite values; make them missing, or leave the rows out.")
    labels = _labels(seen, name)
    if raw.dtype.kind == "f" and not categorical and len(labels) > 2:
        spread = float(seen.std())
        return NumberColumn(float(seen.mean()), spread or 1.0, float(seen.min()), float(seen.max()))
    if len(labels) > most:
        raise InputError(
            f"column {name!r} has {len(labels)} categories, more than {most}: each is a predictor of every other "
            "column; join rare ones, or leave the column out (in Python, max_categories allows more)."
        )
    return CategoryColumn(labels)


def _labels(seen: NDArray[Any], name: Any) -> NDArray[Any]:
    if seen.dtype.kind == "f":
        return np.unique(seen)
    try:
        # By type first, as text and numbers have no common order.
        ordered = sorted(set(seen.tolist()), key=lambda value: (type(value).__name__, value))
    except TypeError:
        kind = type(seen[0]).__name__
        raise InputError(
            f"column {name!r} holds values of type {kind}, which are not categories; convert them to text."
        ) from None
    if any(hasattr(value, "isoformat") for value in ordered):
        raise InputError(f"column {name!r} holds dates, which are not imputed; convert them to numbers.")
    labels = np.empty(len(ordered), dtype=object)
    labels[:] = ordered
    return labels


def checked_categorical(categorical: Collection[Any], names: list[Any]) -> set[int]:
    """Positions of the columns that a user declared, by name or by position."""
    if isinstance(categorical, str) or not isinstance(categorical, Collection):
        raise InputError(
            f"categorical must be a list of columns, got {categorical!r}; for instance ['stage'].",
            argument="categorical",
        )
    places = set()
    for column in categorical:
        if column in names:
            places.add(names.index(column))
        elif isinstance(column, int | np.integer) and 0 <= column < len(names):
            places.add(int(column))
        else:
            raise InputError(f"categorical names column {column!r}, which the table lacks; it has {names[:20]}.")
    return places
