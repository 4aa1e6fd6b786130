"""Rubin's rules: one set of coefficients from those of H imputations, with their uncertainty.

The variance of a pooled coefficient has two parts: what it would be with complete rows (within), and what it owes
to not knowing the missing values (between). Few imputations, or few rows, leave few degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heldout._types import Floats
from heldout.errors import InputError
from heldout.imputation.coefficients import Coefficients, LinearCoefficients


@dataclass(frozen=True, eq=False)
class PooledCoefficients(LinearCoefficients):
    """Coefficients pooled over H imputations, p of them.

    Attributes
    ----------
    names : tuple of str
    values : ndarray of shape (p,)
        Means over the imputations.
    covariance : ndarray of shape (p, p)
        T = W + (1 + 1/H) V.
    within : ndarray of shape (p, p)
        W, the mean covariance of the imputations' own.
    between : ndarray of shape (p, p)
        V, the covariance of the values over the imputations.
    df : ndarray of shape (p,)
        Degrees of freedom (Barnard and Rubin 1999).
    variance_from_missing : ndarray of shape (p,)
        λ, the share of the variance that is owed to missing values; not the share of values that are missing.
    fmi : ndarray of shape (p,)
        Fraction of missing information: λ, and what the few degrees of freedom add.
    n_imputations : int
        H.
    ratio : str
        What exp(value) is: ``odds ratio``, ``hazard ratio``, or empty.
    caveats : tuple of str
        Sentences on what the intervals take for granted.
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
