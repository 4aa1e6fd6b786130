"""The coefficients of a fitted model and their covariance, and those of several imputations, pooled by Rubin.

Only models whose maximum of likelihood has the usual covariance are read: a penalised coefficient is shrunk, and
no inverse of an information tells how uncertain it is.

The variance of a pooled coefficient has two parts: what it would be with complete rows (within), and what it owes
to not knowing the missing values (between). Few imputations, or few rows, leave few degrees of freedom.
"""

from collections.abc import Sequence
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
from heldout.data.checks import check_number
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
        # Infinite degrees of freedom are the normal distribution.
        return np.asarray(2 * student.sf(np.abs(self.values) / self.standard_errors, self.df))

    def intervals(self, level: float = _defaults.LEVEL) -> Floats:
        """(p, 2): low and high of each coefficient; NaN where there are none.

        Raises
        ------
        InputError
            When ``level`` is not between 0 and 1.
        """
        check_number("level", level, above=0, below=1, usual=".95 is usual")
        reach = student.ppf((1 + level) / 2, self.df) * self.standard_errors
        return np.column_stack([self.values - reach, self.values + reach])

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


@dataclass(frozen=True, eq=False)
class PooledCoefficients(LinearCoefficients):
    """The p coefficients of a model, pooled over H imputations by Rubin's rules.

    Attributes
    ----------
    names : tuple of str
    values : ndarray of shape (p,)
        Means over the imputations.
    covariance : ndarray of shape (p, p)
        T = W + (1 + 1/H) V.
    within : ndarray of shape (p, p)
        W, the mean over the imputations of the covariance within each.
    between : ndarray of shape (p, p)
        V, the covariance of the values over the imputations.
    df : ndarray of shape (p,)
        Degrees of freedom (Barnard and Rubin 1999).
    variance_from_missing : ndarray of shape (p,)
        λ, the share of the variance that is due to missing values; not the share of values that are missing.
    fmi : ndarray of shape (p,)
        Fraction of missing information: λ, increased for few degrees of freedom.
    n_imputations : int
        H.
    ratio : str
        What exp(value) is: ``odds ratio``, ``hazard ratio``, or empty.
    caveats : tuple of str
        Sentences on what the intervals assume.
    """

    names: tuple[str, ...]
    values: Floats
    covariance: Floats
    within: Floats
    between: Floats
    df: Floats
    variance_from_missing: Floats
    fmi: Floats
    n_imputations: int
    ratio: str = ""
    caveats: tuple[str, ...] = ()

    _without = "covariance within between caveats"
    _more = "standard_errors p_values"
    _more_shown = "df variance_from_missing"
    _columns = "df variance_from_missing fmi"

    @property
    def _title(self) -> str:
        return f"Coefficients of the model of all rows, pooled over {self.n_imputations} imputations"

    @property
    def _notes(self) -> tuple[str, ...]:
        """What the intervals take for granted."""
        return self.caveats


def pool_coefficients(each: Sequence[Coefficients | None], n_rows: int) -> PooledCoefficients | None:
    """Rubin's rules with the degrees of freedom of Barnard and Rubin.

    ``n_rows``: rows that each model was fitted on. Where the coefficients say how many count (``n_informative``,
    the events of a Cox model), these are taken.

    Returns None where the sets do not agree (a model has none, or others than the first), or there are no more
    rows than coefficients, so that no degrees of freedom are left.

    Raises InputError with fewer than two sets.

    References
    ----------
    Rubin (1987), Multiple imputation for nonresponse in surveys, section 3.1; Barnard and Rubin (1999),
    Small-sample degrees of freedom with multiple imputation, equation 3. With λ = (1 + 1/H) V / T and
    ν_c = n - p: ν_old = (H - 1)/λ², ν_obs = (ν_c + 1)/(ν_c + 3) ν_c (1 - λ), df = 1/(1/ν_old + 1/ν_obs), and ν_obs
    where V is 0.

    Examples
    --------
    Means of 1 and 3 with variance .5 each: W = .5, V = 2, T = .5 + 1.5 · 2.

    >>> each = [Coefficients(("x",), np.array([value]), np.array([[0.5]])) for value in (1.0, 3.0)]
    >>> pooled = pool_coefficients(each, n_rows=11)
    >>> pooled.values.tolist(), pooled.covariance.tolist(), round(float(pooled.df[0]), 3)
    ([2.0], [[3.5]], 0.64)
    """
    if len(each) < 2:
        raise InputError(f"pooling needs at least 2 imputations, got {len(each)}.")
    known = [one for one in each if one is not None]
    if len(known) < len(each) or any(one.names != known[0].names for one in known):
        return None
    counting = [one.n_informative for one in known if one.n_informative is not None]
    rows, p = min(counting) if counting else n_rows, len(known[0].names)
    if rows <= p:
        return None
    values = np.array([one.values for one in known])
    within = np.mean([one.covariance for one in known], axis=0)
    between = np.atleast_2d(np.cov(values, rowvar=False))
    total = within + (1 + 1 / len(known)) * between
    V, T = np.diag(between), np.diag(total)
    share = np.divide((1 + 1 / len(known)) * V, T, out=np.zeros_like(T), where=V > 0)
    df = _degrees(share, len(known), rows - p)
    # riv = (1 + 1/H) V / W, so that 1/(riv + 1) is 1 - λ; so written it is defined for W = 0 too.
    fmi = share + (1 - share) * 2 / (df + 3)
    return PooledCoefficients(
        known[0].names,
        values.mean(axis=0),
        total,
        within,
        between,
        df,
        share,
        fmi,
        len(known),
        known[0].ratio,
    )


def _degrees(share: Floats, H: int, complete: int) -> Floats:
    """Barnard and Rubin's ν."""
    observed = (complete + 1) / (complete + 3) * complete * (1 - share)
    square = share**2  # 0 for the least shares too
    old = np.divide(H - 1, square, out=np.full_like(share, np.inf), where=square > 0)
    # 1/(1/old + 1/observed), where old may be infinite and observed 0.
    return np.divide(observed, 1 + observed / old)
