"""Cox's proportional hazards regression, with the covariance of its coefficients and fast enough for a bootstrap.

The hazard of a row is the baseline hazard times exp(x'b). The coefficients b maximise the partial likelihood: at
each event, the probability that it happens to this row among those at risk (Cox 1972). For the reasons to have our
own see ``docs/decisions/0011-cox-regression.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from heldout._sklearn import checked_weight
from heldout._types import Floats
from heldout.data.arrays import array_of
from heldout.data.survival_target import survival_target
from heldout.data.task import TaskKind, truth_of
from heldout.errors import InputError
from heldout.kernels.reference_cox import Ties
from heldout.metrics.parameters import check_among, is_number
from heldout.metrics.survival import ConcordanceIndex
from heldout.spaces.cox_fit import PartialLikelihood


class CoxModel(BaseEstimator):  # type: ignore[misc]
    """A Cox model by its coefficients and baseline hazard, which subclasses fit.

    Attributes
    ----------
    coef_, means_ : ndarray of shape (p,)
    unique_times_, baseline_cumulative_hazard_ : ndarray of shape (n_times,)
        As in ``CoxRegression``.
    """

    coef_: Floats
    means_: Floats
    unique_times_: Floats
    baseline_cumulative_hazard_: Floats

    def predict(self, X: Any) -> Floats:
        """The linear predictor x'b of each row: its log hazard relative to the baseline. Larger = an earlier event.

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
            At most the last time of the training rows; ``unique_times_`` by default.

        Returns
        -------
        ndarray of shape (n, n_times)
            The same as scikit-survival's with ``return_array=True``.
        """
        relative = self.predict(X) - self.means_ @ self.coef_
        steps = self.baseline_cumulative_hazard_
        if times is not None:
            checked = self._checked_times(times)
            steps = np.r_[0.0, steps][np.searchsorted(self.unique_times_, checked, side="right")]
        with np.errstate(over="ignore"):
            hazards: Floats = np.exp(relative)[:, None] * steps
        # 0 before the first event, also for a row whose relative hazard overflows.
        return np.where(steps == 0, 0.0, hazards)

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
        weight = checked_weight(sample_weight, risks, dtype=np.float64)[None]
        return float(ConcordanceIndex().statistic(truth, risks).all(weight)[0, 0])

    def _checked_rows(self, X: Any, y: Any) -> tuple[Floats, NDArray[Any]]:
        """The columns and the survival target to fit, of equally many rows."""
        X = validate_data(self, X, dtype=np.float64)
        target = survival_target(y)
        if len(target) != len(X):
            raise InputError(f"X and y must have as many rows as each other, got {len(X)} and {len(target)}.")
        return X, target

    def _checked_times(self, times: Sequence[float]) -> Floats:
        values = np.asarray(array_of(times, "times"), dtype=np.float64)
        last = self.unique_times_[-1]
        if values.ndim != 1 or not (values <= last).all():
            raise InputError(
                f"times must be a list of times until {last:g}, the last of the training rows, got {times!r:.80}; "
                "later times are unknown.",
                argument="times",
            )
        return values


class CoxRegression(CoxModel):
    """Cox regression by maximum partial likelihood, as ``coxph`` of R's survival package.

    Parameters
    ----------
    ties : "efron" or "breslow"
        How the likelihood of events at one time is approximated (Efron 1977; Breslow 1974).
    alpha : float
        A ridge penalty: alpha / 2 times the sum of the squared coefficients is subtracted from the log-likelihood.
        0 is none. With a penalty columns should be on one scale.

    Attributes
    ----------
    coef_ : ndarray of shape (p,)
        The change of the log hazard per unit of each column.
    covariance_ : ndarray of shape (p, p)
        Covariance of the coefficients: the inverse of the observed information. A penalised model does not have
        this attribute, as its coefficients are shrunk by design.
    log_likelihood_ : tuple of two floats
        The log partial likelihood without the columns, and with them (without the penalty).
    unique_times_ : ndarray of shape (n_times,)
        The distinct times of the training rows, ascending.
    baseline_cumulative_hazard_ : ndarray of shape (n_times,)
        Breslow's estimate at each of these times, for a row with the ``means_``.
    means_ : ndarray of shape (p,)
        Weighted means of the training columns.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (p,)
        Set if the training table names its columns.

    Notes
    -----
    Repeated rows, as in a bootstrap sample, are ties. A *sample weight* is a case weight as in ``coxph``: under
    Efron's approximation an event of weight 2 is not quite the same as two events, which are tied.

    The likelihood has no maximum if a column separates the events perfectly, and many maxima if columns depend on
    each other. Both are refused with the names of the columns; ``alpha`` above 0 fits them.

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

    def __init__(self, ties: Ties = "efron", alpha: float = 0.0) -> None:
        self.ties = ties
        self.alpha = alpha

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : survival target
            scikit-survival's structured array, or anything else with the event first and the time second.
        sample_weight : array-like of shape (n,), optional
            Case weights, at least 0.

        Raises
        ------
        InputError
            When a parameter is invalid, there is no event, or the likelihood has no finite maximum.
        """
        check_among("ties", self.ties, ("efron", "breslow"))
        if not (is_number(self.alpha) and 0 <= self.alpha < np.inf):
            raise InputError(
                f"alpha must be a finite number of at least 0, got {self.alpha!r}; 0 is no penalty.",
                argument="alpha",
            )
        X, target = self._checked_rows(X, y)
        weight = checked_weight(sample_weight, X, dtype=np.float64)
        _check_weights(weight, target["event"])
        rows = weight > 0
        likelihood = PartialLikelihood.of(X[rows], target[rows], weight[rows], self.ties, float(self.alpha))
        maximum = likelihood.maximised(self._names())
        self.coef_, self.n_iter_ = maximum.coefficients, maximum.n_steps
        if self.alpha == 0:
            self.covariance_ = maximum.covariance
        elif hasattr(self, "covariance_"):
            del self.covariance_
        self.log_likelihood_ = likelihood.value(np.zeros(X.shape[1])), maximum.log_likelihood
        self.means_ = likelihood.means
        self.unique_times_, self.baseline_cumulative_hazard_ = likelihood.baseline(maximum.coefficients)
        return self

    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if names is None else [str(name) for name in names]


def _check_weights(weight: Floats, event: NDArray[np.bool_]) -> None:
    if (weight < 0).any():
        raise InputError(
            f"sample_weight must be at least 0, got {weight.min():g} in row {int(weight.argmin())}, counted from "
            "0.",
            argument="sample_weight",
        )
    if not (event & (weight > 0)).any():
        raise InputError("all rows with an event have sample_weight 0, so there is nothing to fit.")
