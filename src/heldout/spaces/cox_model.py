"""The predictions of a fitted Cox model: risks, cumulative hazards, survival."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from heldout.data.arrays import array_of
from heldout.data.task import TaskKind, truth_of
from heldout.errors import InputError
from heldout.kernels.reference import Floats
from heldout.metrics.survival import ConcordanceIndex


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
        weight = _check_sample_weight(sample_weight, risks, dtype=np.float64)[None]
        return float(ConcordanceIndex().statistic(truth, risks).all(weight)[0, 0])

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
