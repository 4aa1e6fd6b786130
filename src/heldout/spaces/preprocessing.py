"""Preprocessing that turns any table of numbers, booleans and text into numbers for any model.

It is part of the pipeline and fitted inside each fold, so it never uses held-out rows. ``NativeCategories`` is for
models that read categories themselves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from heldout._sklearn import check_feature_names, check_n_features
from heldout.errors import InputError, MissingExtraError

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


OTHER, MISSING = "(other)", "(missing)"
"""The categories of rare and unknown values, and of missing ones."""
MOST_NATIVE = 200
"""Values of a column that are categories of their own; HistGradientBoosting takes at most 255."""


class NativeCategories(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Transformer that turns a pandas table into numbers and pandas categories, as boosted models read them.

    Text and categories become the categories of the training rows: the most frequent values, one category for all
    others and for unknown values, and one for missing values. Numbers and booleans become floating-point numbers,
    in which missing values stay missing.

    Attributes
    ----------
    categories_ : dict
        The categories of each column.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"size": [1, None], "colour": ["red", "blue"]})
    >>> found = NativeCategories().fit(table).transform(pd.DataFrame({"size": [3], "colour": ["green"]}))
    >>> found["colour"].tolist(), list(found["colour"].cat.categories)
    (['(other)'], ['blue', 'red', '(other)', '(missing)'])
    """

    def fit(self, X: Any, y: Any = None) -> NativeCategories:
        """Find the categories of the training rows."""
        check_n_features(self, X, reset=True)
        check_feature_names(self, X, reset=True)
        columns = text_columns(X)
        table = _pandas(X)
        self.categories_ = {name: self._categories(table[name]) for name in columns}
        return self

    def transform(self, X: Any) -> Any:
        """The table, with column names that every package accepts."""
        check_is_fitted(self, "categories_")
        check_n_features(self, X, reset=False)
        check_feature_names(self, X, reset=False)
        import pandas as pd

        table = _pandas(X)
        parts = {
            name: _as_categories(table[name], self.categories_[name])
            if name in self.categories_
            else table[name].astype("float64").to_numpy(na_value=np.nan)
            for name in table.columns
        }
        found = pd.DataFrame(parts, index=table.index)
        return found.set_axis(self.get_feature_names_out(), axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the columns, of letters, digits and underscores."""
        return np.array(plain_names(self.feature_names_in_), dtype=object)

    def _categories(self, column: Any) -> list[str]:
        counted = _text(column[column.notna()]).value_counts()
        most_frequent = sorted(counted.index, key=lambda name: (-counted[name], name))[:MOST_NATIVE]
        return list(dict.fromkeys([*sorted(most_frequent), OTHER, MISSING]))


def text_columns(X: Any) -> list[Any]:
    """The columns of a table whose values are categories; booleans are numbers to trees."""
    schema = nw.from_native(X, eager_only=True).schema
    return [name for name in column_kinds(X).categorical if schema[name] != nw.Boolean]


def plain_names(names: Sequence[Any]) -> list[str]:
    """Names of letters, digits and underscores, each once: LightGBM and XGBoost refuse some other characters.

    Examples
    --------
    >>> plain_names(["age", "income [$]", "income <$>"])
    ['age', 'income_', 'income__2']
    """
    found: dict[str, None] = {}
    for name in names:
        plain = re.sub(r"\W+", "_", str(name)) or "_"
        number, free = 1, plain
        while free in found:
            number += 1
            free = f"{plain}_{number}"
        found[free] = None
    return list(found)


def _pandas(X: Any) -> Any:
    try:
        import pandas  # noqa: F401 - narwhals needs it
    except ImportError:
        raise MissingExtraError("native categories", "app") from None
    return nw.from_native(X, eager_only=True).to_pandas()


def _as_categories(column: Any, categories: list[str]) -> Any:
    import pandas as pd

    missing = column.isna()
    text = _text(column).mask(missing, MISSING)
    return pd.Categorical(text.where(text.isin(categories), OTHER), categories=categories)


def _text(column: Any) -> Any:
    return column.astype(object).map(str)
