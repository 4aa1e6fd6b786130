"""The coefficients of a fitted model and their covariance.

Only models whose maximum of likelihood has the usual covariance are read: a penalised coefficient is shrunk, and no
inverse of an information tells how uncertain it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from scipy.stats import t as student
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import Pipeline

from heldout import _defaults
from heldout._record import Record, TextTable, cells, frame_of, interval_text, points, rows_table
from heldout._types import Floats
from heldout.data.task import survival_target
from heldout.errors import InputError

INTERCEPT = "intercept"
ODDS_RATIO, HAZARD_RATIO = "odds ratio", "hazard ratio"


UNPENALISED_C = 1e300
"""From this value on, C means no penalty; scikit-learn 1.8 warns at every fit of C=inf."""


def is_unpenalised(strength: Any) -> bool:
    """Whether a ``C`` means no penalty; None of a model that chooses its own."""
    return strength is not None and bool(strength >= UNPENALISED_C)


@dataclass(frozen=True, eq=False)
class Coefficients:
    """p coefficients of one fitted model."""

    names: tuple[str, ...]
    values: Floats
    """Of shape (p,)."""
    covariance: Floats
    """(p, p): of the values, as estimates."""
    n_informative: int | None = None
    """How many rows count for degrees of freedom, where not all do: the events of a Cox model."""
    ratio: str = ""
    """What exp(value) is: ``odds ratio``, ``hazard ratio``, or empty."""


def student_intervals(values: Floats, errors: Floats, df: Floats | float, level: float) -> Floats:
    """(p, 2): low and high of values (p,) with standard errors (p,), by Student's t; infinite df are the normal.

    Raises InputError when ``level`` is not between 0 and 1.

    Examples
    --------
    >>> student_intervals(np.array([1.0]), np.array([0.5]), np.inf, 0.95).round(2)
    array([[0.02, 1.98]])
    """
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, got {level}; for instance .95.", argument="level")
    reach = student.ppf((1 + level) / 2, df) * errors
    return np.column_stack([values - reach, values + reach])


def student_p_values(values: Floats, errors: Floats, df: Floats | float) -> Floats:
    """(p,): two-sided, of values that are 0.

    Examples
    --------
    >>> student_p_values(np.array([1.96]), np.array([1.0]), np.inf).round(3)
    array([0.05])
    """
    found: Floats = 2 * student.sf(np.abs(values) / errors, df)
    return found


def coefficients_of(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Coefficients | None:
    """The coefficients of a fitted model, if it has them with a covariance.

    - ``model``: logistic regression of two classes without a penalty (``C`` from 1e300 to inf, or
      ``penalty=None``), ``LinearRegression``, a Cox model with ``coef_`` and ``covariance_``, fitted results with
      ``params`` and ``cov_params()`` (as statsmodels has), or a pipeline that ends in one of these and names its
      columns.
    - ``X`` (n, columns), ``y`` (n,): what it was fitted on.
    - ``sample_weight`` (n,): importance weights: the covariance is then the robust one (a sandwich), as weights say
      nothing of how many rows there are.

    Returns None for any other model; for a penalised one; for logistic regression of several classes or with class
    weights; for a Cox model with importance weights, which its information takes for rows; for least squares of
    several targets or ``positive=True``; where the information is singular, as with columns that depend on each
    other or no more rows than coefficients.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 2.0, 1.0, 3.0])
    >>> found = coefficients_of(LinearRegression().fit(X, y), X, y)
    >>> found.names, found.values.round(3).tolist(), found.covariance.diagonal().round(3).tolist()
    (('intercept', 'x0'), [0.3, 0.8], [0.63, 0.18])
    """
    if isinstance(model, Pipeline) and len(model.steps) > 1:
        return _of_pipeline(model, X, y, sample_weight)
    if isinstance(model, Pipeline):
        return coefficients_of(model.steps[0][1], X, y, sample_weight)
    if isinstance(model, LogisticRegression):
        return _of_logistic(model, X, y, sample_weight)
    if isinstance(model, LinearRegression):
        return _of_least_squares(model, X, y, sample_weight)
    if hasattr(model, "coef_") and hasattr(model, "covariance_"):
        return _of_cox(model, y) if sample_weight is None else None
    if hasattr(model, "params") and hasattr(model, "cov_params"):
        return _of_results(model)
    return None


def _of_pipeline(model: Any, X: Any, y: Any, sample_weight: Any) -> Coefficients | None:
    before, last = model[:-1], model.steps[-1][1]
    try:
        names = tuple(str(name) for name in before.get_feature_names_out())
    except (AttributeError, ValueError, TypeError):
        return None  # without names nothing says that the columns are those of the other imputations
    found = coefficients_of(last, before.transform(X), y, sample_weight)
    if found is None:
        return None
    head = (INTERCEPT,) if len(found.names) == len(names) + 1 else ()
    if len(head) + len(names) != len(found.names):
        return None
    return replace(found, names=(*head, *names))


def _of_logistic(model: Any, X: Any, y: Any, sample_weight: Any) -> Coefficients | None:
    unpenalised = getattr(model, "penalty", "l2") is None or is_unpenalised(getattr(model, "C", None))
    if not unpenalised or len(model.classes_) != 2 or model.class_weight is not None:
        return None
    design, values = _design(model, X), _with_intercept(model)
    p = expit(design @ values)
    w, residual = p * (1 - p), (np.asarray(y) == model.classes_[1]) - p
    covariance = _likelihood_covariance(design, w, residual, sample_weight)
    return _named(model, values, covariance, ratio=ODDS_RATIO)


def _of_least_squares(model: Any, X: Any, y: Any, sample_weight: Any) -> Coefficients | None:
    if np.ndim(model.coef_) != 1 or model.positive:
        return None
    design, values = _design(model, X), _with_intercept(model)
    residual = np.asarray(y, dtype=np.float64) - design @ values
    degrees = len(design) - design.shape[1]
    if degrees < 1:
        return None
    covariance = _likelihood_covariance(design, np.ones(len(design)), residual, sample_weight)
    if covariance is not None and sample_weight is None:
        covariance = covariance * (residual @ residual / degrees)
    return _named(model, values, covariance)


def _of_cox(model: Any, y: Any) -> Coefficients | None:
    values, covariance = np.asarray(model.coef_, dtype=np.float64), model.covariance_
    if values.ndim != 1 or np.shape(covariance) != (len(values), len(values)):
        return None
    try:
        target = survival_target(y)
    except InputError:  # another kind of model, which calls something else so
        return None
    return _named(model, values, np.asarray(covariance), int(target["event"].sum()), HAZARD_RATIO)


def _of_results(model: Any) -> Coefficients:
    names = getattr(model.params, "index", None)
    if names is None:
        names = getattr(getattr(model, "model", None), "exog_names", None)
    values = np.asarray(model.params, dtype=np.float64)
    listed = [f"x{j}" for j in range(len(values))] if names is None else list(names)
    return Coefficients(
        tuple(str(name) for name in listed), values, np.asarray(model.cov_params(), dtype=np.float64)
    )


def _design(model: Any, X: Any) -> Floats:
    table = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    return np.column_stack([np.ones(len(table)), table]) if model.fit_intercept else table


def _with_intercept(model: Any) -> Floats:
    values = np.asarray(model.coef_, dtype=np.float64).ravel()
    return np.append(np.ravel(model.intercept_), values) if model.fit_intercept else values


def _likelihood_covariance(design: Floats, w: Floats, residual: Floats, sample_weight: Any) -> Floats | None:
    """Inverse of the information Z'diag(w)Z; with importance weights v the sandwich around Z'diag(v²r²)Z."""
    v = np.ones(len(design)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    information = design.T @ (design * (v * w)[:, None])
    if not np.isfinite(information).all() or np.linalg.matrix_rank(information, hermitian=True) < len(information):
        return None
    inverse = np.linalg.inv(information).astype(np.float64)
    if sample_weight is None:
        return inverse
    return inverse @ (design.T @ (design * ((v * residual) ** 2)[:, None])) @ inverse


def _named(
    model: Any, values: Floats, covariance: Floats | None, n_informative: int | None = None, ratio: str = ""
) -> Coefficients | None:
    if covariance is None:
        return None
    named = getattr(model, "feature_names_in_", None)
    intercept = (INTERCEPT,) if getattr(model, "fit_intercept", False) else ()
    n = len(values) - len(intercept)
    columns = [f"x{j}" for j in range(n)] if named is None else [str(name) for name in named]
    covariance = np.asarray(covariance, dtype=np.float64)
    return Coefficients((*intercept, *columns), values, covariance, n_informative, ratio)


MOST_COEFFICIENTS = 30


class LinearCoefficients(Record):
    """p coefficients with what is known of their uncertainty, on which its subclasses say more."""

    names: tuple[str, ...]
    values: Floats
    covariance: Floats | None
    df: Floats | float
    ratio: str
    _more_shown: ClassVar[str] = ""

    @property
    def standard_errors(self) -> Floats:
        """(p,); NaN where there are none."""
        return np.full(len(self.names), np.nan) if self.covariance is None else np.sqrt(np.diag(self.covariance))

    @property
    def p_values(self) -> Floats:
        """(p,): of Student's t or the normal test that the coefficient is 0; NaN where there are none."""
        return student_p_values(self.values, self.standard_errors, self.df)

    def intervals(self, level: float = _defaults.LEVEL) -> Floats:
        """(p, 2): low and high of each coefficient; NaN where there are none.

        Raises
        ------
        InputError
            When ``level`` is not between 0 and 1.
        """
        return student_intervals(self.values, self.standard_errors, self.df, level)

    def to_frame(self, level: float = _defaults.LEVEL) -> Any:
        """A row a coefficient, as a pandas DataFrame (pandas comes with the extra ``app``)."""
        low, high = self.intervals(level).T
        columns = {"name": self.names, "value": self.values, "standard_error": self.standard_errors}
        columns |= {"low": low, "high": high, **cells(self, self._columns)}
        return frame_of(columns, f"{type(self).__name__}.to_frame")

    def tables(self) -> list[TextTable]:
        return [self.table()]

    def table(self, level: float = _defaults.LEVEL) -> TextTable:
        """A row a coefficient: value and uncertainty, and the odds or hazard ratio with the interval of that."""
        ends = self.intervals(level)
        with np.errstate(over="ignore"):
            ratios, ends = np.exp(self.values), np.exp(ends) if self.ratio else ends
        columns = {
            "name": np.array(self.names, dtype=object),
            "value": self.values,
            "standard_error": self.standard_errors,
            "p_value": self.p_values,
            "ratio": ratios,
            "low": ends[:, 0],
            "high": ends[:, 1],
            **{name: getattr(self, name) for name in self._more_shown.split()},
        }
        rows = points(columns, " ".join(columns))
        for row in rows:
            row["interval"] = interval_text(row["low"], row["high"])
            if self.ratio and row["name"] == INTERCEPT:  # its odds compare nothing
                row["ratio"] = row["interval"] = ""
        ratio = f"{self.ratio.replace(' ', '_')}=ratio" if self.ratio else ""
        shown = f"=name value {ratio}"
        if np.isfinite(self.standard_errors).any():
            shown = f"=name value standard_error {ratio} interval_({level * 100:.4g}%)=interval p=p_value"
        return rows_table(rows, f"{shown} {self._more_shown}", self._title, self._notes, most=MOST_COEFFICIENTS)

    def __str__(self) -> str:
        return self.text()
