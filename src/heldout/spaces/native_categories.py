"""Tables for models that split on categories themselves: no indicators, no codes that pretend an order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from heldout._sklearn import check_feature_names, check_n_features
from heldout.errors import MissingExtraError
from heldout.spaces.preprocessing import column_kinds

OTHER, MISSING = "(other)", "(missing)"
"""The categories of rare and unknown values, and of missing ones."""
MOST_CATEGORIES = 200
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
        most_frequent = sorted(counted.index, key=lambda name: (-counted[name], name))[:MOST_CATEGORIES]
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
