"""Preprocessing that turns any table of numbers, booleans and text into numbers for any model.

It is part of the pipeline and fitted inside each fold, so it never uses held-out rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from heldout.errors import InputError

MOST_CATEGORIES = 20
"""Rarer categories of a column share one indicator beyond this many."""


@dataclass(frozen=True)
class ColumnKinds:
    """Columns (names of a table, numbers of an array) by how they are prepared."""

    numeric: list[Any]
    categorical: list[Any]

    @property
    def n_columns(self) -> int:
        return len(self.numeric) + len(self.categorical)


def column_kinds(X: Any) -> ColumnKinds:
    """The numeric and the categorical columns of a pandas or polars table, or of an array.

    Booleans, text and pandas categories are categories; an array has numbers only. Dates, durations and nested
    values are refused.
    """
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        shape = getattr(X, "shape", None)
        if shape is None or len(shape) != 2:
            got = f"a {type(X).__name__}" if shape is None else f"shape {shape}"
            raise InputError(f"X must be a table or an array of shape (N, p), got {got}.", argument="X")
        return ColumnKinds(list(range(X.shape[1])), [])
    numeric, categorical, unreadable = [], [], []
    for name, dtype in frame.schema.items():
        if dtype.is_numeric():
            numeric.append(name)
        elif dtype in (nw.String, nw.Categorical, nw.Enum, nw.Boolean, nw.Object):
            categorical.append(name)
        else:
            unreadable.append(f"{name!r} ({dtype})")
    if unreadable:
        raise InputError(
            f"the preset models cannot read columns of dates or nested values, got {', '.join(unreadable[:5])}; "
            "leave these columns out, or turn them into numbers."
        )
    return ColumnKinds(numeric, categorical)


def default_preprocessing(X: Any, *, scale: bool = True) -> ColumnTransformer:
    """Make a transformer that fills in missing numbers and encodes categories.

    Missing numbers become the median of the training rows, with an indicator for columns with missing values; then
    numbers are standardised if ``scale``. Each category becomes an indicator, and a missing value is a category of
    its own; categories beyond the ``MOST_CATEGORIES`` most frequent, and those unknown in training, share one.

    Parameters
    ----------
    X : table or array of shape (N, p)
        Only its column names and types are used.
    scale : bool, default=True
        Whether to standardise numbers; trees do not need it.

    Returns
    -------
    ColumnTransformer
        Not fitted; the first step of a pipeline.

    Raises
    ------
    InputError
        When ``X`` is no table or array, or has columns of dates or nested values.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, np.nan], [3.0, 4.0]])
    >>> default_preprocessing(X, scale=False).fit_transform(X)
    array([[1., 4., 1.],
           [3., 4., 0.]])
    """
    kinds = column_kinds(X)
    # keep_empty_features: a column may have values in the table but none in one fold's training rows.
    impute = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    numbers = Pipeline([("impute", impute), ("scale", StandardScaler())]) if scale else impute
    categories = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES, sparse_output=False
    )
    parts = [("numbers", numbers, kinds.numeric), ("categories", categories, kinds.categorical)]
    return ColumnTransformer([part for part in parts if part[2]], verbose_feature_names_out=False)
