"""Cox's proportional hazards regression, with the covariance of its coefficients and quick enough for a bootstrap.

The hazard of a row is that of the baseline times exp(x'b). The coefficients b maximise the partial likelihood: at
each event, how likely it was that of those at risk this row had it (Cox 1972). Why it is here and not taken from
another package stands in ``docs/decisions/0011-cox-regression.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from heldout.columns import array_of
from heldout.errors import InputError
from heldout.kernels.reference import Floats
from heldout.kernels.reference_cox import Ties
from heldout.metrics.base import check_among, is_number
from heldout.metrics.survival import ConcordanceIndex
from heldout.spaces.cox_fit import PartialLikelihood
from heldout.survival_target import survival_target
from heldout.task import TaskKind, truth_of


class CoxRegression(BaseEstimator):  # type: ignore[misc]
    """Cox regression by maximum partial likelihood: what ``coxph`` of R's survival package fits.

    Parameters
    ----------
    ties : "efron" or "breslow"
        How the likelihood of events at one time is approximated (Efron 1977; Breslow 1974).
    alpha : float
        A ridge penalty: alpha / 2 times the sum of the squared coefficients is taken from the log-likelihood. 0 is
        none. Columns should then have been brought to one scale.
    max_iter : int
        Newton's steps at most.

    Attributes
    ----------
    coef_ : ndarray of shape (p,)
        By how much each column raises the log hazard.
    covariance_ : ndarray of shape (p, p)
        Of the coefficients: the inverse of the observed information. A penalised model has none (no attribute), as
        its coefficients are shrunk by design.
    log_likelihood_ : tuple of two floats
        The log partial likelihood without the columns, and with them (without the penalty).
    unique_times_ : ndarray of shape (n_times,)
        The distinct times of the training rows, ascending.
    baseline_cumulative_hazard_ : ndarray of shape (n_times,)
        At each of them, of a row with the ``means_``: Breslow's estimate.
    means_ : ndarray of shape (p,)
        Weighted means of the training columns.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (p,)
        Where the training table names its columns.

    Notes
    -----
    Rows may recur, as in a bootstrap sample: they tie. A *sample weight* is a case weight as in ``coxph``: under
    Efron's approximation an event of weight 2 is not quite the same as two events, as the latter tie.

    A column that tells the events entirely has a likelihood without a maximum, and columns that depend on each
    other have many maxima. Both are refused with their names; ``alpha`` above 0 fits them.

    Examples
    --------
    >>> X = np.array([[1.0], [0.0], [1.0], [0.0]])
    >>> model = CoxRegression().fit(X, [(True, 1), (True, 2), (True, 3), (False, 4)])
    >>> model.coef_.round(4), model.covariance_.round(4)
    (array([0.9406]), array([[1.5382]]))
    >>> model.predict_survival_function(X[:2], times=[1.5, 3]).round(3)
    array([[0.698, 0.194],
           [0.869, 0.527]])
    """

    def __init__(self, ties: Ties = "efron", alpha: float = 0.0, max_iter: int = 50) -> None:
        self.ties = ties
        self.alpha = alpha
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : survival target
            scikit-survival's structured array, or anything else of which the event comes first and the time second.
        sample_weight : array-like of shape (n,), optional
            Case weights, at least 0.

        Raises
        ------
        InputError
            When a parameter has no meaning, there is no event, or no finite coefficients are best.
        """
        check_among("ties", self.ties, ("efron", "breslow"))
        if not (is_number(self.alpha) and 0 <= self.alpha < np.inf):
            raise InputError(f"alpha must be a finite number of at least 0, got {self.alpha!r}; 0 is no penalty.")
        if not (isinstance(self.max_iter, int | np.integer) and self.max_iter >= 1):
            raise InputError(f"max_iter must be a whole number of at least 1, got {self.max_iter!r}; 50 is plenty.")
        X = validate_data(self, X, dtype=np.float64)
        target = survival_target(y)
        if len(target) != len(X):
            raise InputError(f"X and y must have as many rows as each other, got {len(X)} and {len(target)}.")
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        _check_weights(weight, target["event"])
        rows = weight > 0
        likelihood = PartialLikelihood.of(X[rows], target[rows], weight[rows], self.ties, float(self.alpha))
        found = likelihood.maximised(self.max_iter, self._names())
        self.coef_, self.n_iter_ = found.coefficients, found.n_steps
        if self.alpha == 0:
            self.covariance_ = found.covariance
        elif hasattr(self, "covariance_"):
            del self.covariance_
        self.log_likelihood_ = likelihood.value(np.zeros(X.shape[1])), found.log_likelihood
        self.means_ = likelihood.means
        self.unique_times_, self.baseline_cumulative_hazard_ = likelihood.baseline(found.coefficients)
        return self

    def predict(self, X: Any) -> Floats:
        """The linear predictor x'b of each row: its log hazard, but for the baseline's. Greater = an earlier event.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        risks: Floats = validate_data(self, X, dtype=np.float64, reset=False) @ self.coef_
        return risks

    def predict_cumulative_hazard_function(self, X: Any, times: Sequence[float] | None = None) -> Floats:
        """The cumulative hazard of each row until each time.

        Parameters
        ----------
        X : array-like of shape (n, p)
        times : sequence of float, optional
            Until the last of the training rows; ``unique_times_`` by default.

        Returns
        -------
        ndarray of shape (n, n_times)
            scikit-survival gives it with ``return_array=True``.
        """
        relative = self.predict(X) - self.means_ @ self.coef_
        steps = self.baseline_cumulative_hazard_
        if times is not None:
            asked = self._checked_times(times)
            steps = np.r_[0.0, steps][np.searchsorted(self.unique_times_, asked, side="right")]
        with np.errstate(over="ignore"):
            hazards: Floats = np.exp(relative)[:, None] * steps
        return np.where(steps == 0, 0.0, hazards)  # no hazard yet, of a row whose relative hazard overflows too

    def predict_survival_function(self, X: Any, times: Sequence[float] | None = None) -> Floats:
        """The probability of no event until each time: exp of minus the cumulative hazard.

        Parameters and shapes are those of ``predict_cumulative_hazard_function``.
        """
        survival: Floats = np.exp(-self.predict_cumulative_hazard_function(X, times))
        return survival

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Harrell's concordance index of the predicted risks."""
        truth = truth_of(y, TaskKind.SURVIVAL)
        risks = self.predict(X)[:, None]
        weight = _check_sample_weight(sample_weight, risks, dtype=np.float64)[None]
        return float(ConcordanceIndex().statistic(truth, risks).all(weight)[0, 0])

    def _names(self) -> list[str]:
        given = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if given is None else [str(name) for name in given]

    def _checked_times(self, times: Sequence[float]) -> Floats:
        asked = np.asarray(array_of(times, "times"), dtype=np.float64)
        last = self.unique_times_[-1]
        if asked.ndim != 1 or not (asked <= last).all():
            raise InputError(
                f"times must be a list of times until {last:g}, the last of the training rows, got {times!r:.80}; "
                "later, nothing is known."
            )
        return asked


def _check_weights(weight: Floats, event: NDArray[np.bool_]) -> None:
    if (weight < 0).any():
        raise InputError(
            f"sample_weight must be at least 0, got {weight.min():g} in row {int(weight.argmin())}, counted from 0."
        )
    if not (event & (weight > 0)).any():
        raise InputError("all rows with an event have sample_weight 0, so that there is nothing to fit.")
