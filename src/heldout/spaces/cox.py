"""Cox's proportional hazards regression, with the covariance of its coefficients and fast enough for a bootstrap.

The hazard of a row is the baseline hazard times exp(x'b). The coefficients b maximise the partial likelihood: at
each event, the probability that it happens to this row among those at risk (Cox 1972). For the reasons to have our
own see ``notes/decisions/0011-cox-regression.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from heldout._sklearn import checked_weight
from heldout._types import Array, Booleans, Floats
from heldout.data.checks import check_number
from heldout.data.task import TaskKind, array_of, numbers_listed, survival_target, truth_of
from heldout.errors import InputError, MissingExtraError
from heldout.kernels.reference_cox import RiskSets, Steps, Ties
from heldout.metrics.base import check_among
from heldout.metrics.survival import ConcordanceIndex

CLOSE_ENOUGH = 1e-9
"""The search ends when a step changes no log hazard by more than this part; Newton's next error is its square."""
MOST_HALVINGS = 30
MOST_STEPS = 50
"""A likelihood with a maximum needs fewer."""
LEAST_SHARE = 1e-250
"""With a smaller part of the largest hazard at risk no digits remain."""
SINGULAR = 1e-11
"""A column whose information given the others is below this part of its own depends on them."""


class Maximum(NamedTuple):
    coefficients: Floats
    covariance: Floats
    log_likelihood: float
    n_steps: int


class _LikelihoodTerms(NamedTuple):
    """The terms of the likelihood at some coefficients."""

    value: float
    relative: Floats
    """(n,): weighted hazards relative to the largest."""
    of_steps: Floats
    """(P,): their sum before each step."""


@dataclass(frozen=True, eq=False)
class PartialLikelihood:
    """The penalised partial likelihood of n rows by descending time, columns centred and of one spread."""

    x: Floats
    weight: Floats
    risk_sets: RiskSets
    steps: Steps
    times: Floats
    means: Floats
    spreads: Floats
    penalty: Floats

    @classmethod
    def of(cls, X: Floats, target: Array, weight: Floats, ties: Ties, alpha: float) -> PartialLikelihood:
        risk_sets = RiskSets.of(target["event"], target["time"])
        order = risk_sets.order
        weight = weight[order]
        means = np.average(X[order], axis=0, weights=weight)
        centred = X[order] - means
        spreads = np.sqrt(np.average(centred**2, axis=0, weights=weight))
        # A constant column differs from its mean only by rounding.
        spreads = np.where(spreads > 1e-13 * np.abs(means), spreads, 0.0)
        scales = np.where(spreads > 0, spreads, 1.0)
        # As in R: one step per row with the event, each with their mean weight.
        number = risk_sets.of_events(np.ones((1, len(order))))
        steps = Steps.of(number, ties)
        mean_weight = (risk_sets.of_events(weight[None]) / number)[0]
        steps = steps._replace(weight=steps.weight * mean_weight[steps.time])
        return cls(
            np.where(spreads > 0, centred / scales, 0.0), weight, risk_sets, steps, target["time"][order], means,
            scales, alpha / scales**2,
        )  # fmt: skip

    def maximised(self, names: list[str], most_steps: int = MOST_STEPS) -> Maximum:
        """The maximum, by Newton's method from 0; a step that lowers the likelihood is halved.

        Columns that leave no finite or no unique maximum are refused by name.
        """
        at, sums = np.zeros(self.x.shape[1]), self._terms(np.zeros(self.x.shape[1]))
        for number in range(1, most_steps + 1):
            gradient, information = self._derivatives(at, sums)
            factor = self._factor(information, names, at)
            step = cho_solve(factor, gradient)
            close = np.abs(step).max(initial=0.0) <= CLOSE_ENOUGH * (1.0 + np.abs(at).max(initial=0.0))
            if close:
                at = at + step
                covariance = cho_solve(factor, np.eye(len(at))) / np.outer(self.spreads, self.spreads)
                coefficients = at / self.spreads
                return Maximum(coefficients, covariance, self.value(coefficients), number)
            onward = self._onward(at, sums, step)
            if onward is None:
                break
            at, sums = onward
        raise self._endless(at, names)

    def _onward(self, at: Floats, sums: _LikelihoodTerms, step: Floats) -> tuple[Floats, _LikelihoodTerms] | None:
        """A point in the step's direction where the likelihood is not lower; None if there is none."""
        now = sums.value - self.penalty @ at**2 / 2
        for _ in range(MOST_HALVINGS):
            there = self._terms(at + step)
            if there.value - self.penalty @ (at + step) ** 2 / 2 >= now - 1e-12 * abs(now):
                return at + step, there
            step = step / 2
        return None

    def value(self, coefficients: Floats) -> float:
        """The log-likelihood at coefficients of the original columns."""
        return self._terms(coefficients * self.spreads).value

    def baseline(self, coefficients: Floats) -> tuple[Floats, Floats]:
        """The distinct times, and Breslow's cumulative hazard at each for a row with the means."""
        log_hazards = self.x @ (coefficients * self.spreads)
        highest = log_hazards.max()
        at_risk = self.risk_sets.at_risk((self.weight * np.exp(log_hazards - highest))[None])[0]
        events = self.risk_sets.of_events(self.weight[None])[0]
        times = np.unique(self.times)
        steps = np.zeros(len(times))
        with np.errstate(over="ignore", divide="ignore"):
            steps[np.searchsorted(times, self.times[self.risk_sets.ends])] = events / at_risk * np.exp(-highest)
        return times, np.cumsum(steps)

    def _terms(self, at: Floats) -> _LikelihoodTerms:
        log_hazards = self.x @ at
        highest = log_hazards.max(initial=-np.inf)
        relative = self.weight * np.exp(log_hazards - highest)
        of_steps = self._of_steps(relative[:, None])[:, 0]
        events = self.risk_sets.events
        if of_steps.min() < LEAST_SHARE:
            return _LikelihoodTerms(-np.inf, relative, of_steps)
        taken = self.steps.weight @ (np.log(of_steps) + highest)
        return _LikelihoodTerms(float(self.weight[events] @ log_hazards[events] - taken), relative, of_steps)

    def _of_steps(self, values: Floats) -> Floats:
        """Sums of (n, k) over the rows at risk, without the tied events that are removed before a step: (P, k)."""
        sets, (_, time, left, _) = self.risk_sets, self.steps
        at_risk = np.cumsum(values, axis=0)[sets.ends[time]]
        if not left.any():
            return at_risk
        of_events = np.add.reduceat(values[sets.events], sets.starts, axis=0)
        sums: Floats = at_risk - left[:, None] * of_events[time]
        return sums

    def _derivatives(self, at: Floats, sums: _LikelihoodTerms) -> tuple[Floats, Floats]:
        """The gradient (p,) and the information (p, p), including the penalty."""
        sets, (_, time, left, weight) = self.risk_sets, self.steps
        rates = weight / sums.of_steps
        # Each row is in the sums of its own time and all earlier ones, without the removed part of tied events.
        n_times = len(sets.ends)
        later = np.cumsum(np.bincount(time, rates, n_times)[::-1])[::-1]
        shares = np.r_[later, 0.0][np.searchsorted(sets.ends, np.arange(len(self.x)))]
        leaving = np.bincount(time, rates * left, n_times)
        shares[sets.events] -= np.repeat(leaving, np.diff(np.r_[sets.starts, len(sets.events)]))
        standing = sums.relative * shares
        means = self._of_steps(sums.relative[:, None] * self.x) / sums.of_steps[:, None]
        gradient = self.weight[sets.events] @ self.x[sets.events] - standing @ self.x - self.penalty * at
        information = self.x.T @ (standing[:, None] * self.x) - means.T @ (weight[:, None] * means)
        return gradient, information + np.diag(self.penalty)

    def _factor(self, information: Floats, names: list[str], at: Floats) -> Any:
        """Cholesky's factor of the information."""
        try:
            factor = cho_factor(information, lower=True)
        except (LinAlgError, ValueError):
            factor = None
        own = np.diagonal(information)
        if factor is not None and (np.diagonal(factor[0]) ** 2 > SINGULAR * own).all() and (own > SINGULAR).all():
            return factor
        if np.abs(at).max(initial=0.0) > 0:  # not singular at 0, but on the way to infinity
            raise self._endless(at, names)
        dependent = [name for name, one in zip(names, _dependent(information), strict=True) if one]
        raise InputError(
            f"CoxRegression finds no single best coefficient of {_listed(dependent)}: constant among the rows at "
            "risk, or the sum of other columns; leave such columns out, or give alpha above 0, such as "
            "CoxRegression(alpha=0.1)."
        )

    def _endless(self, at: Floats, names: list[str]) -> InputError:
        worst = np.abs(at) > 0.5 * np.abs(at).max(initial=0.0)
        growing = [name for name, one in zip(names, worst, strict=True) if one]
        return InputError(
            f"CoxRegression finds no finite best coefficient of {_listed(growing)}: it seems to separate the "
            "events perfectly, so the likelihood rises without end; leave it out, or give alpha above 0, such as "
            "CoxRegression(alpha=0.1)."
        )


def _dependent(information: Floats) -> Booleans:
    """Columns that depend on those before them: (p,)."""
    dependent = np.zeros(len(information), dtype=bool)
    kept: list[int] = []
    for j in range(len(information)):
        left = information[j, j]
        if kept:
            left = left - information[j, kept] @ np.linalg.solve(
                information[np.ix_(kept, kept)], information[kept, j]
            )
        if left > SINGULAR * max(information[j, j], 1.0):
            kept.append(j)
        else:
            dependent[j] = True
    return dependent


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:5])
    return f"{shown} and {len(names) - 5} others" if len(names) > 5 else shown


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

    def _checked_rows(self, X: Any, y: Any) -> tuple[Floats, Array]:
        """The columns and the survival target to fit, of equally many rows."""
        X = validate_data(self, X, dtype=np.float64)
        target = survival_target(y)
        if len(target) != len(X):
            raise InputError(f"X and y must have as many rows as each other, got {len(X)} and {len(target)}.")
        return X, target

    def _checked_times(self, times: Sequence[float]) -> Floats:
        values = numbers_listed(array_of(times, "times"))
        last = self.unique_times_[-1]
        if values.ndim != 1 or not (values <= last).all():
            raise InputError(
                f"times must be a list of times until {last:g}, the last of the training rows, got {times!r:.80}; "
                "later times are unknown."
            )
        return values


class CoxRegression(CoxModel):
    """Cox regression by maximum partial likelihood, like ``coxph`` of R's survival package.

    Parameters
    ----------
    ties : {"efron", "breslow"}, default="efron"
        How the likelihood of events at the same time is approximated (Efron 1977; Breslow 1974).
    alpha : float, default=0
        A ridge penalty: alpha / 2 times the sum of the squared coefficients is subtracted from the log-likelihood.
        0 is no penalty. With a penalty, scale the columns first.

    Attributes
    ----------
    coef_ : ndarray of shape (p,)
        The change of the log hazard per unit of each column.
    covariance_ : ndarray of shape (p, p)
        Covariance of the coefficients: the inverse of the observed information. A penalised model lacks this
        attribute, because its coefficients are biased on purpose.
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
    Repeated rows, as in a bootstrap sample, are ties. A *sample weight* is a case weight as in ``coxph``: with
    Efron's approximation an event of weight 2 differs a little from two tied events.

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
        """Fit the coefficients and the baseline hazard.

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
        check_number("alpha", self.alpha, least=0, usual="0 is no penalty")
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


def _check_weights(weight: Floats, event: Booleans) -> None:
    if (weight < 0).any():
        raise InputError(
            f"sample_weight must be at least 0, got {weight.min():g} in row {int(weight.argmin())}, counted from 0."
        )
    if not (event & (weight > 0)).any():
        raise InputError("all rows with an event have sample_weight 0, so there is nothing to fit.")


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
