"""Chained equations: every column with missing values is drawn from the others, in turn, until the draws settle.

Each column is given what suits it, a linear regression for numbers and a logistic one for categories, and each of
these is drawn, coefficients included (``posterior.py``).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from heldout._streams import RandomState, entropy_of
from heldout._types import Floats
from heldout.data.arrays import array_of
from heldout.errors import InputError
from heldout.imputation.coded import Column, checked_categorical, column_of_kind, declared_categorical, raw_columns
from heldout.imputation.posterior import Equation
from heldout.imputation.tables import Holes, columns_named, holes_of, is_frame


class ChainedImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Draw missing values from chained equations, numbers and categories alike.

    Text, booleans and pandas' categories are categories; so are numbers of which two values occur, and columns that
    ``categorical`` names. Other numbers are numbers, and are drawn about a line, beyond the observed range too.

    Parameters
    ----------
    n_iterations : int
        Rounds over the columns; one is enough, and done, where only one column has gaps.
    categorical : list of str or int
        Columns of numbers that are codes of categories, by name or position.
    within_observed_range : bool
        Cut drawn numbers to the observed range, for models that cannot take others (such as logarithms). It draws
        in the tails, so that means and associations are a little off.
    max_categories : int
        A column with more categories is refused.
    random_state : int, RandomState, Generator or None
        The same number draws the same values.

    Attributes
    ----------
    columns_ : list of NumberColumn or CategoryColumn
    equations_ : list
        One a column, with the coefficients drawn last.

    Raises
    ------
    InputError
        When a column has no value at all, too many categories, dates, or infinite values.

    References
    ----------
    van Buuren and Groothuis-Oudshoorn (2011), mice: multivariate imputation by chained equations in R, section 2.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [2.0, np.nan], [3.0, 6.1], [4.0, 7.9], [5.0, 10.0]])
    >>> whole = ChainedImputer(random_state=0).fit_transform(X)
    >>> bool(np.isnan(whole).any()), bool((whole[0] == X[0]).all())
    (False, True)
    """

    def __init__(
        self,
        n_iterations: int = 10,
        categorical: Collection[Any] = (),
        within_observed_range: bool = False,
        max_categories: int = 30,
        random_state: RandomState = None,
    ) -> None:
        self.n_iterations = n_iterations
        self.categorical = categorical
        self.within_observed_range = within_observed_range
        self.max_categories = max_categories
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> ChainedImputer:
        """Learn the equations that ``transform`` draws from.

        Parameters
        ----------
        X : array or pandas table of shape (N, columns)
        y : ignored
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[Any]:
        """The table with its gaps drawn: float64 where all columns are numbers, else objects."""
        table = self._checked(X, reset=True)
        raw, holes, names = raw_columns(table), holes_of(table), columns_named(table)
        chosen = checked_categorical(self.categorical, names) | declared_categorical(table)
        self.columns_: list[Column] = [
            column_of_kind(column, name, j in chosen, self.max_categories)
            for j, (column, name) in enumerate(zip(raw, names, strict=True))
        ]
        self._seed = entropy_of(self.random_state)
        rng = np.random.default_rng([self._seed, 0])
        coded = [column.coded(values) for column, values in zip(self.columns_, raw, strict=True)]
        self._observed = [values[~gaps] for values, gaps in zip(coded, holes.T, strict=True)]
        chain = _Chain(self.columns_, coded, holes, self._observed, rng)
        for _ in range(self._rounds(holes)):
            for j in chain.order:
                chain.draw(j, chain.learned(j))
        self.equations_: list[Equation] = [chain.learned(j) for j in range(len(self.columns_))]
        return self._written(raw, holes, chain.coded)

    def transform(self, X: Any) -> NDArray[Any]:
        """Another table's gaps drawn from the fitted equations; ``fit_transform`` is for the fitted rows."""
        check_is_fitted(self, "equations_")
        table = self._checked(X, reset=False)
        raw, holes = raw_columns(table), holes_of(table)
        self._refuse_other_kinds(raw)
        coded = [column.coded(values) for column, values in zip(self.columns_, raw, strict=True)]
        chain = _Chain(self.columns_, coded, holes, self._observed, np.random.default_rng([self._seed, 1]))
        for _ in range(self._rounds(holes)):
            for j in chain.order:
                chain.draw(j, self.equations_[j])
        return self._written(raw, holes, chain.coded)

    def _rounds(self, holes: Holes) -> int:
        n = self.n_iterations
        if not isinstance(n, int | np.integer) or n < 1:
            raise InputError(
                f"n_iterations must be a whole number of at least 1, got {n!r}.", argument="n_iterations"
            )
        return min(int(n), 1) if int(holes.any(axis=0).sum()) <= 1 else int(n)

    def _checked(self, X: Any, reset: bool) -> Any:
        if not is_frame(X) and not hasattr(X, "tocsr"):
            X = array_of(X, "X")
        if not is_frame(X) and getattr(X, "dtype", np.dtype(float)).kind in "OUSb":
            if X.ndim != 2:
                raise ValueError(f"Expected 2D array, got shape {X.shape}. Reshape your data to a table.")
            return validate_data(self, X, reset=reset, skip_check_array=True)
        if is_frame(X):
            return validate_data(self, X, reset=reset, skip_check_array=True)
        return validate_data(self, X, reset=reset, dtype="numeric", ensure_all_finite="allow-nan")

    def _refuse_other_kinds(self, raw: list[NDArray[Any]]) -> None:
        for j, (column, values) in enumerate(zip(self.columns_, raw, strict=True)):
            if not hasattr(column, "labels") and values.dtype.kind != "f":
                raise InputError(f"column {j} held numbers when the imputer was fitted, and now holds others.")

    def _written(self, raw: list[NDArray[Any]], holes: Holes, coded: list[NDArray[Any]]) -> NDArray[Any]:
        whole = np.empty(holes.shape, dtype=np.float64 if all(c.dtype.kind == "f" for c in raw) else object)
        for j, column in enumerate(self.columns_):
            whole[:, j] = raw[j]
            gaps = holes[:, j]
            whole[gaps, j] = column.written(coded[j][gaps], self.within_observed_range)
        return whole

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


@dataclass(eq=False)
class _Chain:
    """The state between two draws: every column complete, as codes and as predictors."""

    columns: list[Column]
    coded: list[NDArray[Any]]
    holes: Holes
    observed: list[NDArray[Any]]
    rng: np.random.Generator

    def __post_init__(self) -> None:
        # Those with the fewest gaps first: what is drawn early rests on the first guesses of the others.
        n_gaps = self.holes.sum(axis=0)
        self.order = [j for j in np.argsort(n_gaps, kind="stable").tolist() if n_gaps[j]]
        for j in self.order:
            self.coded[j][self.holes[:, j]] = self.rng.choice(self.observed[j], size=n_gaps[j])
        widths = [column.width for column in self.columns]
        self.ends = 1 + np.cumsum(widths)
        self.starts = self.ends - widths
        blocks = [column.predictors(values) for column, values in zip(self.columns, self.coded, strict=True)]
        self.predictors = np.column_stack([np.ones(len(self.holes)), *blocks])

    def learned(self, j: int) -> Equation:
        """Column j given the others, from the rows where it was observed."""
        seen = ~self.holes[:, j]
        return self.columns[j].equation(self._others(j, seen), self.coded[j][seen], self.rng)

    def draw(self, j: int, equation: Equation) -> None:
        """New values in the gaps of column j."""
        gaps = self.holes[:, j]
        self.coded[j][gaps] = equation.draw(self._others(j, gaps), self.rng)
        self.predictors[:, self.starts[j] : self.ends[j]] = self.columns[j].predictors(self.coded[j])

    def _others(self, j: int, rows: NDArray[np.bool_]) -> Floats:
        return np.delete(self.predictors[rows], slice(self.starts[j], self.ends[j]), axis=1)
