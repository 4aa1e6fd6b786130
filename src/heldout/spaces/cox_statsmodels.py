"""statsmodels' Cox regression as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgError

from heldout._types import Array, Floats
from heldout.errors import InputError, MissingExtraError
from heldout.kernels.reference_cox import Ties
from heldout.metrics.base import check_among
from heldout.spaces.cox import CoxModel, PartialLikelihood

STILL = 1e-6
"""At a maximum Newton's next step changes no row's log hazard by more than this part."""
COLLINEAR = 1e-6
"""A column depends on the others if its remainder is below this part of its spread."""


class StatsmodelsCox(CoxModel):
    """Cox regression by statsmodels' ``PHReg``, as an estimator that can be validated and tuned.

    It needs the extra ``survival``. ``CoxRegression`` finds the same coefficients without it, faster and with
    weights; use this class if your analysis uses statsmodels.

    Parameters
    ----------
    ties : {"efron", "breslow"}, default="efron"
        How the likelihood of events at the same time is approximated. statsmodels' default is "breslow"; bootstraps
        have many ties, because they draw rows several times.

    Attributes
    ----------
    coef_ : ndarray of shape (p,)
        The change of the log hazard per unit of each column.
    covariance_ : ndarray of shape (p, p)
        Covariance of the coefficients: the inverse of the observed information.
    unique_times_ : ndarray of shape (n_times,)
        The distinct times of the training rows, ascending.
    baseline_cumulative_hazard_ : ndarray of shape (n_times,)
        Breslow's estimate at each of these times, for a row with the ``means_``. It differs from statsmodels' own,
        which counts the events at a time only from the next time on.
    means_ : ndarray of shape (p,)
        Means of the training columns.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (p,)
        Set if the training table names its columns.

    Examples
    --------
    >>> StatsmodelsCox(ties="breslow")
    StatsmodelsCox(ties='breslow')
    """

    def __init__(self, ties: Ties = "efron") -> None:
        self.ties = ties

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the coefficients and the baseline hazard.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : survival target
            scikit-survival's structured array, or anything else with the event first and the time second. There
            are no sample weights: ``PHReg`` does not take any.

        Raises
        ------
        MissingExtraError
            Without statsmodels.
        InputError
            When ``ties`` is invalid, there is no event, or the likelihood has no finite or no unique maximum.
        """
        check_among("ties", self.ties, ("efron", "breslow"))
        X, target = self._checked_rows(X, y)
        self.coef_, self.covariance_ = _maximum(X, target, self.ties)
        likelihood = PartialLikelihood.of(X, target, np.ones(len(X)), self.ties, alpha=0.0)
        self.means_ = likelihood.means
        self.unique_times_, self.baseline_cumulative_hazard_ = likelihood.baseline(self.coef_)
        return self


def _maximum(X: Floats, target: Array, ties: Ties) -> tuple[Floats, Floats]:
    """The coefficients and their covariance, checked to be a maximum."""
    try:
        from statsmodels.duration.hazard_regression import PHReg
    except ImportError:
        raise MissingExtraError("StatsmodelsCox", "survival") from None
    # Without scaling a column far from 0, or with a large spread, overflows the hazards of the first step.
    means, spreads = X.mean(axis=0), X.std(axis=0)
    constant = spreads <= 1e-13 * np.abs(means)
    scales = np.where(constant, 1.0, spreads)
    Z = np.where(constant, 0.0, (X - means) / scales)
    if np.linalg.matrix_rank(Z, tol=COLLINEAR * np.sqrt(len(Z))) < Z.shape[1]:
        raise InputError(
            "statsmodels' PHReg has no single best coefficients here: a column is constant among these rows or "
            "follows from others; leave it out."
        )
    model = PHReg(target["time"], Z, status=target["event"].astype(np.float64), ties=ties)
    try:
        with np.errstate(all="ignore"):
            results = model.fit(disp=0, warn_convergence=False)
            found, covariance = np.asarray(results.params), np.asarray(results.cov_params())
            # PHReg does not report whether it converged.
            onward = Z @ (covariance @ np.asarray(model.score(found)))
            moved = np.abs(onward).max() / (1.0 + np.abs(Z @ found).max())
    except LinAlgError:
        moved = np.nan
    if not (moved <= STILL and (covariance.diagonal() > 0).all()):
        raise InputError(
            "statsmodels' PHReg found no finite best coefficients: columns seem to separate the events perfectly, "
            "as with few events; leave columns out, or use a penalised model."
        )
    return found / scales, covariance / np.outer(scales, scales)
