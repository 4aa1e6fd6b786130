"""Logistic regression along C, to a tolerance: Newton's method, each C starting from the one before.

The solvers of scikit-learn stop early, so that separate fits differ from the optimum and from each other. Here each
solution comes with a certificate that its objective exceeds the smallest possible one by 1e-10 of it at most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.special import expit, log_expit, logsumexp
from sklearn.utils import compute_sample_weight

from heldout.spaces.submodels.base import SeparateFitsError, SubmodelFamily, Value
from heldout.spaces.submodels.linear import (
    Floats,
    PenaltyCoefficients,
    dense,
    matrix,
    positions,
    positives,
    row_weights,
    target,
)
from heldout.spaces.submodels.parts import fitted_copy, weights_only

_UNKNOWNS = 400
_UNKNOWNS_OF_SPARSE = 100
"""With more of them, one step costs more than a separate fit."""
_STEPS = 50
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

    def value(self, B: Floats, C: float) -> float:
        linear = self.X @ B
        if self.Y.shape[1] == 1:
            losses = -log_expit(-linear) - self.Y * linear
        else:
            losses = logsumexp(linear, axis=1, keepdims=True) - (self.Y * linear).sum(axis=1, keepdims=True)
        return float(C * (self.weights * losses).sum() + 0.5 * (self.penalty * B**2).sum())

    def probabilities(self, B: Floats) -> Floats:
        linear = self.X @ B
        if self.Y.shape[1] == 1:
            return np.asarray(expit(linear))
        return np.exp(linear - logsumexp(linear, axis=1, keepdims=True))

    def gradient(self, B: Floats, P: Floats, C: float) -> Floats:
        return C * (self.X.T @ (self.weights * (P - self.Y))) + self.penalty * B

    def hessian(self, P: Floats, C: float) -> Floats:
        """Of the unknowns of one output after another."""
        size, outputs = self.X.shape[1], P.shape[1]
        blocks = np.empty((outputs, size, outputs, size))
        for a in range(outputs):
            for b in range(a + 1):
                curvature = C * self.weights[:, 0] * P[:, a] * (float(a == b) - P[:, b])
                blocks[a, :, b] = blocks[b, :, a] = self.X.T @ (curvature[:, np.newaxis] * self.X)
        hessian = blocks.reshape(outputs * size, outputs * size)
        hessian[np.diag_indices_from(hessian)] += np.tile(self.penalty[:, 0], outputs)
        if outputs > 1 and not self.penalty[-1, 0]:
            # A number added to all intercepts changes nothing: keep their sum zero, as other solvers do.
            intercepts = np.arange(1, outputs + 1) * size - 1
            hessian[np.ix_(intercepts, intercepts)] += C * self.weights.sum() / outputs**2
        return hessian


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
    for C in distinct:
        B, converged = _minimum(loss, B, C)
        if not converged:
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


def _minimum(loss: LogisticLoss, B: Floats, C: float) -> tuple[Floats, bool]:
    """The minimum from a start nearby, and whether the certificate holds.

    One Hessian serves several steps while these shrink fast. Half the squared Newton decrement is the excess of the
    objective, up to terms of higher order.
    """
    value = loss.value(B, C)
    for _ in range(_STEPS):
        P = loss.probabilities(B)
        solve = _solver(loss.hessian(P, C))
        last = np.inf
        while True:
            gradient = loss.gradient(B, P, C)
            step = solve(gradient)
            decrement = float((gradient * step).sum())
            if decrement <= _EXCESS * value:
                return B - step, True
            if not decrement < 0.05 * last:
                break
            B, value, moved = _line_search(loss, B, step, C, value, decrement)
            if not moved:
                return B, False
            P, last = loss.probabilities(B), decrement
    return B, False


def _solver(hessian: Floats) -> Callable[[Floats], Floats]:
    """The solution of the Newton equation as a function of the gradient."""
    scale = 1.0 / np.sqrt(np.diag(hessian))
    factor, failure = dpotrf(hessian * np.outer(scale, scale), lower=1)
    if failure:
        raise SeparateFitsError("no Newton step")

    def solve(gradient: Floats) -> Floats:
        solution, _ = dpotrs(factor, scale * gradient.T.ravel(), lower=1)
        return np.asarray((scale * solution).reshape(gradient.shape[::-1]).T)

    return solve


def _line_search(
    loss: LogisticLoss, B: Floats, step: Floats, C: float, value: float, decrement: float
) -> tuple[Floats, float, bool]:
    """The first of shorter and shorter steps that lowers the objective enough."""
    length = 1.0
    while length > 1e-6:
        candidate = B - length * step
        reached = loss.value(candidate, C)
        if reached <= value - 0.1 * length * decrement + 1e-15 * value:
            return candidate, reached, True
        length *= 0.5
    return B, value, False


def _applies(estimator: Any) -> bool:
    squared = estimator.penalty in ("l2", "deprecated") and not estimator.l1_ratio
    jointly = getattr(estimator, "multi_class", "auto") in ("auto", "deprecated")
    return (
        squared and jointly and estimator.solver != "liblinear" and not estimator.dual and not estimator.warm_start
    )


FAMILIES: Mapping[str, tuple[SubmodelFamily, ...]] = {
    "LogisticRegression": (SubmodelFamily(object, ("C",), fit_logistic, _applies, False),)
}
