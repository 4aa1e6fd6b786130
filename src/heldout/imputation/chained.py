"""Chained equations: every column with missing values is drawn from the others, in turn, until the draws settle.

Each column is given what suits it, a linear regression for numbers and a logistic one for categories, and each of
these is drawn, coefficients included.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from heldout._streams import RandomState, entropy_of
from heldout._types import Array, Booleans, Floats, Indices
from heldout.data.checks import check_count
from heldout.data.task import array_of, missing
from heldout.errors import InputError
from heldout.imputation.tables import Holes, columns_named, holes_of, is_frame

SHRINKAGE = 0.1
_STEPS = 50


class Equation(Protocol):
    """A column's model with coefficients that were drawn."""

    def draw(self, Z: Floats, rng: np.random.Generator) -> Floats | Indices:
        """A value a row of the predictors."""
        ...


@dataclass(frozen=True, eq=False)
class LinearEquation:
    """Numbers: a drawn line, and noise of a drawn size about it."""

    coefficients: Floats
    """Of shape (P,)."""
    noise: float
    """Standard deviation."""

    def draw(self, Z: Floats, rng: np.random.Generator) -> Floats:
        return Z @ self.coefficients + self.noise * rng.standard_normal(len(Z))


@dataclass(frozen=True, eq=False)
class CategoryEquation:
    """Codes of k categories: drawn logits, the first category's being 0."""

    coefficients: Floats
    """Of shape (P, k - 1)."""

    def probabilities(self, Z: Floats) -> Floats:
        """(n, k)."""
        others, _ = _others_and_norm(Z @ self.coefficients)
        return np.column_stack([1 - others.sum(axis=1), others])

    def draw(self, Z: Floats, rng: np.random.Generator) -> Indices:
        below = np.cumsum(self.probabilities(Z), axis=1)[:, :-1]
        # The number of cumulated shares that a uniform number passes is the category drawn.
        return (rng.random(len(Z))[:, None] >= below).sum(axis=1)


def linear_equation(Z: Floats, y: Floats, rng: np.random.Generator) -> LinearEquation:
    """Draw a linear regression from its posterior.

    - ``Z`` (n, P): predictors of the rows whose value was observed, the first one the intercept.
    - ``y`` (n,).

    References
    ----------
    Rubin (1987), Multiple imputation for nonresponse in surveys, example 5.1: σ² = RSS/χ², coefficients normal
    about the least-squares ones with covariance σ²(Z'Z)⁻¹. Here with the prior, so that degrees of freedom are n
    less the trace of the hat matrix.
    """
    gram = Z.T @ Z
    information = gram + np.diag(_precision(Z))
    solved = np.linalg.solve(information, np.column_stack([gram, Z.T @ y]))
    best = solved[:, -1]
    residual = y - Z @ best
    # Penalised coefficients use up less than one degree of freedom each: the trace says how much.
    degrees = max(len(y) - float(np.trace(solved[:, :-1])), 1.0)
    noise = float(np.sqrt(residual @ residual / rng.chisquare(degrees)))
    return LinearEquation(best + noise * _spread(information, rng), noise)


def category_equation(Z: Floats, codes: Indices, k: int, rng: np.random.Generator) -> CategoryEquation:
    """Draw a multinomial logistic regression from the normal approximation of its posterior.

    - ``Z`` (n, P): as in ``linear_equation``.
    - ``codes`` (n,): from 0 to k - 1, each at least once.

    References
    ----------
    Rubin (1987), Multiple imputation for nonresponse in surveys, example 5.2 (two categories).
    """
    if k == 1:
        return CategoryEquation(np.zeros((Z.shape[1], 0)))
    shape, precision = (Z.shape[1], k - 1), _precision(Z)[:, None]
    seen = (codes[:, None] == np.arange(1, k)).astype(np.float64)

    def at(coefficients: Floats) -> tuple[Floats, float]:
        """Probabilities (n, k - 1), and the log posterior."""
        logits = Z @ coefficients
        p, norm = _others_and_norm(logits)
        return p, float((seen * logits).sum() - norm.sum() - 0.5 * (precision * coefficients**2).sum())

    coefficients = np.zeros(shape)
    p, now = at(coefficients)
    for _ in range(_STEPS):
        gradient = Z.T @ (seen - p) - precision * coefficients
        # One system for all coefficients, category by category as the information matrix has them.
        step = np.linalg.solve(_information(Z, p, precision), gradient.T.ravel()).reshape(shape[::-1]).T
        before = now
        p, now = at(coefficients + step)
        while now < before and np.abs(step).max() > 1e-9:  # it is concave: a shorter step always gains
            step = step / 2
            p, now = at(coefficients + step)
        coefficients = coefficients + step
        if now - before < 1e-8 * (1 + abs(now)):
            break
    drawn = _spread(_information(Z, p, precision), rng)
    return CategoryEquation(coefficients + drawn.reshape(shape[::-1]).T)


def _precision(Z: Floats) -> Floats:
    precision = np.full(Z.shape[1], SHRINKAGE * (Z.shape[1] - 1))
    # No prior on the intercept, but where all rows are of one category its logit must end somewhere.
    precision[0] = 1e-6
    return precision


def _others_and_norm(logits: Floats) -> tuple[Floats, Floats]:
    """Probabilities (n, k - 1) of all categories but the first, whose logit is 0, and the log of their norm."""
    # The greatest is taken out, so that no exponential overflows; the first category's logit is 0.
    top = logits.max(axis=1, initial=0.0)
    norm = top + np.log(np.exp(-top) + np.exp(logits - top[:, None]).sum(axis=1))
    return np.exp(logits - norm[:, None]), norm


def _information(Z: Floats, p: Floats, precision: Floats) -> Floats:
    """((k-1)P, (k-1)P), category by category."""
    P, others = Z.shape[1], p.shape[1]
    information = np.empty((others * P, others * P))
    for a in range(others):
        for b in range(a + 1):
            block = Z.T @ (Z * (p[:, a] * ((a == b) - p[:, b]))[:, None])
            information[a * P : (a + 1) * P, b * P : (b + 1) * P] = block
            information[b * P : (b + 1) * P, a * P : (a + 1) * P] = block.T
    return information + np.diag(np.tile(precision[:, 0], others))


def _spread(information: Floats, rng: np.random.Generator) -> Floats:
    """A normal draw whose covariance is the inverse of the information."""
    lower = np.linalg.cholesky(information)
    # The transposed factor gives the inverse's covariance without inverting.
    return np.linalg.solve(lower.T, rng.standard_normal(len(lower)))


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

    def coded(self, raw: Array) -> Floats:
        """In standard units; NaN where missing."""
        return (raw.astype(np.float64) - self.mean) / self.scale

    def predictors(self, coded: Array) -> Floats:
        """(n, width)."""
        return coded[:, None]

    def equation(self, Z: Floats, coded: Array, rng: np.random.Generator) -> Equation:
        """The column given the others, drawn."""
        return linear_equation(Z, coded, rng)

    def written(self, coded: Array, within: bool) -> Array:
        """Values in the column's own units, cut to the observed range if set."""
        values = coded * self.scale + self.mean
        return values.clip(self.low, self.high) if within else values


@dataclass(frozen=True, eq=False)
class CategoryColumn:
    """A column of k categories, or of two distinct numbers."""

    labels: Array
    """(k,): those that were observed, in order."""

    @property
    def width(self) -> int:
        """Predictors that it is."""
        return len(self.labels) - 1

    def coded(self, raw: Array) -> Indices:
        """Codes; -1 where missing or never observed when the imputer was fitted."""
        place = {label: code for code, label in enumerate(self.labels.tolist())}
        values, absent = raw.tolist(), missing(raw)
        codes = [-1 if gone else place.get(value, -1) for value, gone in zip(values, absent, strict=True)]
        return np.array(codes, dtype=np.intp)

    def predictors(self, coded: Array) -> Floats:
        """(n, width): one of 0 and 1 for each category but the first."""
        return (coded[:, None] == np.arange(1, len(self.labels))).astype(np.float64)

    def equation(self, Z: Floats, coded: Array, rng: np.random.Generator) -> Equation:
        """The column given the others, drawn."""
        return category_equation(Z, coded, len(self.labels), rng)

    def written(self, coded: Array, within: bool) -> Array:
        """The labels; always such as were observed."""
        return self.labels[coded]


Column = NumberColumn | CategoryColumn


def raw_columns(X: Any) -> list[Array]:
    """The columns of a pandas table or an array, numbers as float64 and all else as objects."""
    if hasattr(X, "iloc"):
        return [_plain(X.iloc[:, j].to_numpy()) for j in range(X.shape[1])]
    return [_plain(X[:, j]) for j in range(X.shape[1])]


def _plain(values: Array) -> Array:
    column = array_of(values, "a column")
    # Booleans and text stay objects, so that 1 and True are distinct when written back.
    return column.astype(np.float64) if column.dtype.kind in "iuf" else column.astype(object)


def declared_categorical(X: Any) -> set[int]:
    """Columns that are categories by their type."""
    if not hasattr(X, "dtypes"):
        return set()
    return {j for j, dtype in enumerate(X.dtypes) if str(dtype) == "category"}


def column_of_kind(raw: Array, name: Any, categorical: bool, most: int) -> Column:
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
        # Values may differ by so little that their spread is 0.
        spread = float(seen.std())
        return NumberColumn(float(seen.mean()), spread or 1.0, float(seen.min()), float(seen.max()))
    if len(labels) > most:
        raise InputError(
            f"column {name!r} has {len(labels)} categories, more than {most}: each is a predictor of every other "
            "column; join rare ones, or leave the column out (in Python, max_categories allows more)."
        )
    return CategoryColumn(labels)


def _labels(seen: Array, name: Any) -> Array:
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
    # Dates sort and compare, so nothing else would refuse them.
    if any(hasattr(value, "isoformat") for value in ordered):
        raise InputError(f"column {name!r} holds dates, which are not imputed; convert them to numbers.")
    labels = np.empty(len(ordered), dtype=object)
    labels[:] = ordered
    return labels


def checked_categorical(categorical: Collection[Any], names: list[Any]) -> set[int]:
    """Positions of the columns that a user declared, by name or by position."""
    if isinstance(categorical, str) or not isinstance(categorical, Collection):
        raise InputError(f"categorical must be a list of columns, got {categorical!r}; for instance ['stage'].")
    places = set()
    for column in categorical:
        if column in names:
            places.add(names.index(column))
        elif isinstance(column, int | np.integer) and 0 <= column < len(names):
            places.add(int(column))
        else:
            raise InputError(f"categorical names column {column!r}, which the table lacks; it has {names[:20]}.")
    return places


class ChainedImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Impute missing numbers and categories by random draws from chained equations.

    Text, booleans and pandas' categories are categories; so are numbers with only two values, and columns that
    ``categorical`` names. Other numbers are drawn from a linear regression, also beyond the observed range.

    Parameters
    ----------
    n_iterations : int, default=10
        Rounds over the columns; if only one column has missing values, one round is enough, and is made.
    categorical : list of str or int, default=()
        Columns of numbers that are codes of categories, by name or position.
    within_observed_range : bool, default=False
        Whether to cut drawn numbers at the observed range, for models that cannot use others (such as logarithms).
        Cutting moves the tails inwards, so that means and associations are slightly biased.
    max_categories : int, default=30
        A column with more categories is refused.
    random_state : int, RandomState or Generator, optional
        Seeds the draws.

    Attributes
    ----------
    columns_ : list of NumberColumn or CategoryColumn
        How each column is read.
    equations_ : list
        One per column, with the coefficients drawn last.

    Raises
    ------
    InputError
        When a column has no observed value, too many categories, dates, or infinite values.

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

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit, and return the table with missing values drawn: float64 if all columns are numbers, else objects."""
        table = self._checked(X, reset=True)
        raw, holes, names = raw_columns(table), holes_of(table), columns_named(table)
        chosen = checked_categorical(self.categorical, names) | declared_categorical(table)
        self.columns_: list[Column] = [
            column_of_kind(column, name, j in chosen, self.max_categories)
            for j, (column, name) in enumerate(zip(raw, names, strict=True))
        ]
        self._seed = entropy_of(self.random_state)
        # Another stream than that of ``transform``, or both would draw the same noise.
        rng = np.random.default_rng([self._seed, 0])
        coded = [column.coded(values) for column, values in zip(self.columns_, raw, strict=True)]
        self._observed = [values[~gaps] for values, gaps in zip(coded, holes.T, strict=True)]
        chain = _Chain(self.columns_, coded, holes, self._observed, rng)
        for _ in range(self._rounds(holes)):
            # A column is learned anew in every round, because the others have changed.
            for j in chain.order:
                chain.draw(j, chain.learned(j))
        self.equations_: list[Equation] = [chain.learned(j) for j in range(len(self.columns_))]
        return self._written(raw, holes, chain.coded)

    def transform(self, X: Any) -> Array:
        """Draw the missing values of another table; for the fitted rows use ``fit_transform``."""
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
        check_count("n_iterations", n)
        # With one incomplete column nothing else is drawn, so more rounds change nothing.
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

    def _refuse_other_kinds(self, raw: list[Array]) -> None:
        for j, (column, values) in enumerate(zip(self.columns_, raw, strict=True)):
            if not hasattr(column, "labels") and values.dtype.kind != "f":
                raise InputError(f"column {j} held numbers when the imputer was fitted, and now holds others.")

    def _written(self, raw: list[Array], holes: Holes, coded: list[Array]) -> Array:
        whole = np.empty(holes.shape, dtype=np.float64 if all(c.dtype.kind == "f" for c in raw) else object)
        for j, column in enumerate(self.columns_):
            whole[:, j] = raw[j]
            gaps = holes[:, j]
            # Only the gaps: observed values stay as they were, with their rounding.
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
    coded: list[Array]
    holes: Holes
    observed: list[Array]
    rng: np.random.Generator

    def __post_init__(self) -> None:
        # Those with the fewest gaps first: what is drawn early rests on the first guesses of the others.
        n_gaps = self.holes.sum(axis=0)
        self.order = [j for j in np.argsort(n_gaps, kind="stable").tolist() if n_gaps[j]]
        for j in self.order:
            # The first guess: a value that was observed, drawn at random.
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
        # In place, so that the next column sees the new values.
        self.predictors[:, self.starts[j] : self.ends[j]] = self.columns[j].predictors(self.coded[j])

    def _others(self, j: int, rows: Booleans) -> Floats:
        return np.delete(self.predictors[rows], slice(self.starts[j], self.ends[j]), axis=1)
