"""Logistic regression along C, to a tolerance: Newton's method, each C starting from the one before.

The solvers of scikit-learn stop early, so that separate fits differ from the optimum and from each other. Here each
solution comes with a certificate that its objective exceeds the smallest possible one by 1e-10 of it at most.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.special import expit, log_expit, logsumexp
from sklearn.utils import compute_sample_weight

from heldout._types import Floats
from heldout.spaces.submodels.base import SeparateFitsError, SubmodelFamily, Value, fitted_copy, weights_only
from heldout.spaces.submodels.linear import (
    PenaltyCoefficients,
    dense,
    matrix,
    positions,
    positives,
    row_weights,
    target,
)

_UNKNOWNS = 400
_UNKNOWNS_OF_SPARSE = 100
"""With more of them, one step costs more than a separate fit."""
_STEPS = 50
_SHRINKS = 0.1
"""While decrements shrink by more than this, a step with the same curvature costs less than a new curvature."""
_EXCESS = 1e-10
"""The largest share of the objective by which it may exceed the smallest one."""


@dataclass(frozen=True, eq=False)
class LogisticLoss:
    """The penalised loss ``C·Σ weight·loss + ½·‖coefficients‖²``; the last row of ``B`` is the intercept.

    Attributes
    ----------
    X : ndarray, shape (rows, unknowns of one class)
    Y : ndarray, shape (rows, outputs)
        One output for two classes, otherwise one a class.
    weights : ndarray, shape (rows, 1)
    penalty : ndarray, shape (unknowns, 1)
        One for coefficients, zero for an intercept.
    """

    X: Floats
    Y: Floats
    weights: Floats
    penalty: Floats

    def value(self, B: Floats, linear: Floats, C: float) -> float:
        if self.Y.shape[1] == 1:
            losses = -log_expit(-linear) - self.Y * linear
        else:
            losses = logsumexp(linear, axis=1, keepdims=True) - (self.Y * linear).sum(axis=1, keepdims=True)
        return float(C * (self.weights * losses).sum() + 0.5 * (self.penalty * B**2).sum())

    def probabilities(self, linear: Floats) -> Floats:
        if self.Y.shape[1] == 1:
            return np.asarray(expit(linear))
        return np.exp(linear - logsumexp(linear, axis=1, keepdims=True))

    def gradient(self, B: Floats, P: Floats, C: float) -> Floats:
        return C * (self.X.T @ (self.weights * (P - self.Y))) + self.penalty * B

    def curvature(self, P: Floats) -> Floats:
        """The Hessian for C=1 without the penalty, of the unknowns of one output after another."""
        size, outputs = self.X.shape[1], P.shape[1]
        blocks = np.empty((outputs, size, outputs, size))
        for a in range(outputs):
            for b in range(a + 1):
                of_rows = self.weights[:, 0] * P[:, a] * (float(a == b) - P[:, b])
                blocks[a, :, b] = blocks[b, :, a] = self.X.T @ (of_rows[:, np.newaxis] * self.X)
        curvature = blocks.reshape(outputs * size, outputs * size)
        if outputs > 1 and not self.penalty[-1, 0]:
            # A number added to all intercepts changes nothing: keep their sum zero, as other solvers do.
            intercepts = np.arange(1, outputs + 1) * size - 1
            curvature[np.ix_(intercepts, intercepts)] += self.weights.sum() / outputs**2
        return curvature


def fit_logistic(estimator: Any, values: Sequence[Value], X: Any, y: Any, **fit_params: Any) -> PenaltyCoefficients:
    """The coefficients for all values of ``C``."""
    fit_params = weights_only(fit_params)
    rows, labels, Cs = matrix(dense(X)), target(y), positives(values, "C")
    distinct = sorted({C for C in Cs if C is not None})
    loss = _loss(estimator, rows, labels, row_weights(fit_params, len(rows)))
    if not distinct or loss.X.shape[1] * loss.Y.shape[1] > (_UNKNOWNS_OF_SPARSE if sp.issparse(X) else _UNKNOWNS):
        raise SeparateFitsError("too many unknowns")
    model = fitted_copy(estimator, {"C": distinct[0]}, X, y, fit_params)
    solutions: dict[float, Floats] = {}
    B = np.zeros((loss.X.shape[1], loss.Y.shape[1]))
    curvature = None
    for C in distinct:
        B, curvature = _minimum(loss, B, curvature, C)
        if curvature is None:
            break
        solutions[C] = B
    return _coefficients(model, solutions, positions(Cs, list(solutions)), rows.shape[1])


def _coefficients(
    model: Any, solutions: Mapping[float, Floats], places: Sequence[int | None], features: int
) -> PenaltyCoefficients:
    if not solutions:
        raise SeparateFitsError("no convergence")
    stacked = np.stack(list(solutions.values()), axis=-1)
    intercepts = stacked[features] if len(stacked) > features else np.zeros(stacked.shape[1:])
    return PenaltyCoefficients(model, stacked[:features], intercepts, places)


def _loss(estimator: Any, rows: Floats, labels: Any, weights: Floats | None) -> LogisticLoss:
    classes = np.unique(labels)
    Y = (labels[:, np.newaxis] == classes).astype(np.float64)
    weights = np.ones(len(rows)) if weights is None else weights
    if estimator.class_weight is not None:
        if estimator.class_weight == "balanced" and np.ptp(weights):
            raise SeparateFitsError("balanced classes of weighted rows")
        weights = weights * compute_sample_weight(estimator.class_weight, labels)
    features = rows.shape[1]
    design = np.column_stack([rows, np.ones(len(rows))]) if estimator.fit_intercept else rows
    penalty = np.ones((design.shape[1], 1))
    penalty[features:] = 0.0
    return LogisticLoss(design, Y[:, 1:] if len(classes) == 2 else Y, weights[:, np.newaxis], penalty)


def _minimum(loss: LogisticLoss, B: Floats, curvature: Floats | None, C: float) -> tuple[Floats, Floats | None]:
    """The minimum from a start nearby, and the last curvature; None instead of it where the certificate fails."""
    linear, is_current = loss.X @ B, False
    for attempt in range(_STEPS):
        if attempt or curvature is None:
            curvature, is_current = loss.curvature(loss.probabilities(linear)), True
        start = B
        B, linear, is_certain = _descent(loss, B, linear, curvature, C, is_current=is_current)
        if is_certain:
            return B, curvature
        if is_current and B is start:
            break
    return B, None


def _descent(
    loss: LogisticLoss, B: Floats, linear: Floats, curvature: Floats, C: float, *, is_current: bool
) -> tuple[Floats, Floats, bool]:
    """Steps with one curvature while the squared Newton decrement shrinks fast, and whether the certificate holds.

    Half the decrement is the excess of the objective, up to terms of higher order. With the curvature of another
    place that is so up to a factor, which is near one where the decrement shrinks fast.
    """
    value, last, solve = loss.value(B, linear, C), np.inf, _solver(loss, curvature, C)
    while True:
        gradient = loss.gradient(B, loss.probabilities(linear), C)
        step = solve(gradient)
        decrement = float((gradient * step).sum())
        is_fast = decrement < _SHRINKS * last
        if decrement <= _EXCESS * value and (is_current or (is_fast and last < np.inf)):
            return B - step, linear, True
        if not is_fast:
            return B, linear, False
        B, linear, value, moved = _line_search(loss, B, linear, step, C, value, decrement)
        if not moved:
            return B, linear, False
        last = decrement


def _solver(loss: LogisticLoss, curvature: Floats, C: float) -> Callable[[Floats], Floats]:
    """The solution of the Newton equation as a function of the gradient."""
    hessian = C * curvature
    hessian[np.diag_indices_from(hessian)] += np.tile(loss.penalty[:, 0], loss.Y.shape[1])
    scale = 1.0 / np.sqrt(np.diag(hessian))
    factor, failure = dpotrf(hessian * np.outer(scale, scale), lower=1)
    if failure:
        raise SeparateFitsError("no Newton step")

    def solve(gradient: Floats) -> Floats:
        solution, _ = dpotrs(factor, scale * gradient.T.ravel(), lower=1)
        return np.asarray((scale * solution).reshape(gradient.shape[::-1]).T)

    return solve


def _line_search(
    loss: LogisticLoss, B: Floats, linear: Floats, step: Floats, C: float, value: float, decrement: float
) -> tuple[Floats, Floats, float, bool]:
    """The first of shorter and shorter steps that lowers the objective enough."""
    length, of_rows = 1.0, loss.X @ step
    while length > 1e-6:
        candidate, moved = B - length * step, linear - length * of_rows
        reached = loss.value(candidate, moved, C)
        if reached <= value - 0.1 * length * decrement + 1e-15 * value:
            return candidate, moved, reached, True
        length *= 0.5
    return B, linear, value, False


def _applies(estimator: Any) -> bool:
    squared = estimator.penalty in ("l2", "deprecated") and not estimator.l1_ratio
    jointly = getattr(estimator, "multi_class", "auto") in ("auto", "deprecated")
    return (
        squared and jointly and estimator.solver != "liblinear" and not estimator.dual and not estimator.warm_start
    )


LOGISTIC = SubmodelFamily(object, ("C",), fit_logistic, _applies, False)
