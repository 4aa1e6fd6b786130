"""LASSO and elastic net along alpha, to a tolerance: coordinate descent, each penalty starting from the larger one.

The duality gap certifies each solution.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import enet_path

from heldout._types import Floats
from heldout.spaces.submodels import linear
from heldout.spaces.submodels.base import SeparateFitsError, SubmodelFamily, Value, fitted_copy, weights_only
from heldout.spaces.submodels.ridge import Centred

_EXCESS = 1e-9
"""The largest share of the objective by which it may exceed the smallest one."""


def fit_lasso(
    estimator: Any, values: Sequence[Value], X: Any, y: Any, **fit_params: Any
) -> linear.PenaltyCoefficients:
    """The coefficients for all values of ``alpha``."""
    fit_params = weights_only(fit_params)
    rows, numbers, alphas = (
        linear.matrix(linear.dense(X)),
        np.asarray(linear.target(y), dtype=np.float64),
        linear.positives(values, "alpha"),
    )
    distinct = sorted({alpha for alpha in alphas if alpha is not None}, reverse=True)
    if not distinct:
        raise SeparateFitsError("no value can be shared")
    weights = linear.row_weights(fit_params, len(rows))
    if weights is not None:
        weights = weights * (len(rows) / weights.sum())
    centred = Centred.of(rows, numbers[:, np.newaxis], weights, intercept=estimator.fit_intercept)
    model = fitted_copy(estimator, {"alpha": distinct[0]}, X, y, fit_params)
    path = _path(estimator, centred, distinct)
    served = [
        place for place, alpha in enumerate(distinct) if _is_certain(estimator, centred, path[:, place], alpha)
    ]
    if not served:
        raise SeparateFitsError("no convergence")
    coefficients = path[:, np.newaxis, served]
    intercepts = centred.Y_mean[:, np.newaxis] - np.einsum("f,fom->om", centred.X_mean, coefficients)
    return linear.PenaltyCoefficients(
        model, coefficients, intercepts, linear.positions(alphas, [distinct[place] for place in served])
    )


def _path(estimator: Any, centred: Centred, alphas: list[float]) -> Floats:
    """The coefficients (features, penalties)."""
    X, y = np.asfortranarray(centred.X), centred.Y[:, 0]
    _, coefficients, _ = enet_path(
        X,
        y,
        l1_ratio=_l1_ratio(estimator),
        alphas=np.array(alphas),
        precompute=X.shape[0] > X.shape[1],
        positive=estimator.positive,
        tol=_EXCESS / 1000,  # a share of the squared target, which the objective may be far below
        max_iter=max(estimator.max_iter, 10_000),
    )
    return np.asarray(coefficients)


def _is_certain(estimator: Any, centred: Centred, w: Floats, alpha: float) -> bool:
    """Whether the duality gap is small. The squared penalty acts as further rows, whose targets are zero."""
    n, y = len(centred.X), centred.Y[:, 0]
    absolute, squared = alpha * _l1_ratio(estimator) * n, alpha * (1.0 - _l1_ratio(estimator)) * n
    residual = y - centred.X @ w
    length = residual @ residual + squared * (w @ w)
    objective = 0.5 * length + absolute * np.abs(w).sum()
    slopes = centred.X.T @ residual - squared * w
    steepest = slopes.max() if estimator.positive else np.abs(slopes).max()
    scale = min(1.0, absolute / steepest) if steepest > 0.0 else 1.0
    dual = scale * (y @ residual) - 0.5 * scale**2 * length
    return bool(objective - dual <= _EXCESS * objective)


def _l1_ratio(estimator: Any) -> float:
    return float(getattr(estimator, "l1_ratio", 1.0))


def _lasso_applies(estimator: Any) -> bool:
    # In scikit-learn Lasso is an ElasticNet with l1_ratio=1, which is no parameter of it.
    return not estimator.warm_start


def _net_applies(estimator: Any) -> bool:
    return not estimator.warm_start and 0.01 < estimator.l1_ratio <= 1.0


LASSO = SubmodelFamily(object, ("alpha",), fit_lasso, _lasso_applies, False)
ELASTIC_NET = SubmodelFamily(object, ("alpha",), fit_lasso, _net_applies, False)
