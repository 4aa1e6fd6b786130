"""Logistic regression with the elastic net's penalty, whose strength is a position on the data's own path.

The path starts where all coefficients are 0 and ends at a small part of that strength, as in R's glmnet. So the
same ``lambda_index`` is a comparable penalty on every training set, which one fixed number would not be.
"""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import expit, log_expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path
from sklearn.utils import Tags

from heldout._types import Floats
from heldout.data.checks import check_count
from heldout.errors import InputError
from heldout_papers.spaces.classifiers import Codes, LinearClassifier, check_number
from heldout_papers.spaces.recent import Recent

LEAST_L1_RATIO = 1e-3
"""For a smaller ``l1_ratio`` the path starts where that of this value does: ridge has no finite start."""
LEAST_WEIGHT = 1e-5
"""The least weight of a row in a step of Newton's method, when its probability is nearly 0 or 1."""
CLOSE_ENOUGH = 1e-11
"""The search ends when a step lowers the penalised loss by less than this part of the loss without columns."""
MOST_STEPS = 200
MOST_PASSES = 50
"""Passes of coordinate descent per step."""
KEPT_PATHS = 8
"""Paths that a process keeps."""


class ElasticNetLogistic(LinearClassifier):
    """Elastic-net logistic regression of two classes, at one of the penalties of a path (Friedman et al. 2010).

    With coefficients b and an intercept that is not penalised, it minimises the mean of -log P(class) over the rows
    plus ``lambda ((1 - l1_ratio) / 2 sum b^2 + l1_ratio sum |b|)``. The penalties go from lambda_max, the least
    that makes every coefficient 0, in equal steps of the logarithm down to ``lambda_min_ratio`` times it.

    Parameters
    ----------
    l1_ratio : float, default=1.0
        From 0 to 1; 1 is the lasso, 0 ridge. It is glmnet's ``alpha``.
    lambda_index : int, default=5
        The position on the path, from 0 (all coefficients are 0) to ``n_lambdas`` - 1.
    n_lambdas : int, default=10
    lambda_min_ratio : float, optional
        By default 0.01 with fewer rows than columns and 0.0001 otherwise, as in glmnet.
    standardize : bool, default=True
        Whether the penalty applies to coefficients of columns scaled to variance 1, as in glmnet; ``coef_`` applies
        to the unscaled columns.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (1, p) and (1,)
    lambda_ : float
        The penalty.
    lambdas_ : ndarray of shape (n_lambdas,)
        The path, falling.
    classes_ : ndarray of shape (2,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (p,)
        Set if the training table names its columns.

    Notes
    -----
    glmnet ends a path early if the deviance hardly changes; here every path has ``n_lambdas`` positions. A constant
    column has the coefficient 0. For ``l1_ratio`` below 0.001 the path is that of 0.001, whose first position then
    has small coefficients.

    Fits to the same rows with the same settings but another ``lambda_index`` share the path, which a process
    keeps for a while; it is equal, to the last bit, to one computed again.

    Examples
    --------
    >>> X = np.array([[-1.0, 1.0], [0.0, -1.0], [0.5, -1.0], [1.0, 1.0]])
    >>> model = ElasticNetLogistic(lambda_index=2).fit(X, [0, 0, 1, 1])
    >>> model.lambdas_[:3].round(3), model.coef_.round(2)
    (array([0.423, 0.152, 0.055]), array([[4.27, 0.  ]]))
    """

    sources: ClassVar[tuple[str, ...]] = ("friedman2010", "zou2005")

    def __init__(
        self,
        l1_ratio: float = 1.0,
        lambda_index: int = 5,
        n_lambdas: int = 10,
        lambda_min_ratio: float | None = None,
        standardize: bool = True,
    ) -> None:
        self.l1_ratio = l1_ratio
        self.lambda_index = lambda_index
        self.n_lambdas = n_lambdas
        self.lambda_min_ratio = lambda_min_ratio
        self.standardize = standardize

    def _check_parameters(self) -> None:
        check_number("l1_ratio", self.l1_ratio, 0.0, 1.0)
        check_count("n_lambdas", self.n_lambdas)
        check_count("lambda_index", self.lambda_index, 0)
        if self.lambda_index >= self.n_lambdas:
            raise InputError(
                f"lambda_index must be below `n_lambdas={self.n_lambdas}`, got {self.lambda_index}; the last is "
                "the smallest penalty.",
                argument="lambda_index",
            )
        if self.lambda_min_ratio is not None:
            check_number("lambda_min_ratio", self.lambda_min_ratio, 0.0, 1.0, above=True)

    def _fit_codes(self, X: Floats, codes: Codes) -> None:
        if len(self.classes_) > 2:
            raise InputError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"{len(self.classes_)} classes; wrap the model in sklearn.multiclass.OneVsRestClassifier."
            )
        path = self._path(X, codes.astype(np.float64))
        found = path.at(self.lambda_index)
        self.lambdas_, self.lambda_ = path.lambdas.copy(), float(path.lambdas[self.lambda_index])
        self.coef_ = (found.slopes / path.spreads)[None, :]
        self.intercept_ = np.array([found.intercept - float(self.coef_[0] @ path.means)])

    def _path(self, X: Floats, y: Floats) -> _PenaltyPath:
        few_rows = len(X) < X.shape[1]
        least = self.lambda_min_ratio if self.lambda_min_ratio is not None else 0.01 if few_rows else 1e-4
        settings = (float(self.l1_ratio), int(self.n_lambdas), float(least), bool(self.standardize))
        key = hashlib.sha256(np.ascontiguousarray(X).data)
        key.update(y.tobytes() + repr((X.shape, settings)).encode())
        known = PATHS.get(key.digest())
        return PATHS.add(key.digest(), _PenaltyPath.of(X, y, *settings)) if known is None else known

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes.

        Returns
        -------
        ndarray of shape (n, 2)
        """
        scores = self.decision_function(X)
        return np.column_stack([expit(-scores), expit(scores)])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class _PathPoint(NamedTuple):
    """A minimum, of standardised columns."""

    slopes: Floats
    intercept: float


@dataclass(eq=False)
class _PenaltyPath:
    """A path of penalties, computed as far as needed: each minimum starts from the one before."""

    columns: Floats
    """(n, p), centred and scaled, by columns in memory."""
    means: Floats
    spreads: Floats
    y: Floats
    l1_ratio: float
    lambdas: Floats
    found: list[_PathPoint] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock, repr=False)

    @classmethod
    def of(
        cls, X: Floats, y: Floats, l1_ratio: float, n_lambdas: int, least: float, standardize: bool
    ) -> _PenaltyPath:
        means = X.mean(axis=0)
        # The mean of equal numbers may have a rounding error, which scaling would amplify.
        centred = np.where(X.min(axis=0) == X.max(axis=0), 0.0, X - means)
        spreads = np.sqrt((centred**2).mean(axis=0))
        spreads = np.where((spreads > 0) & standardize, spreads, 1.0)
        columns = np.asfortranarray(centred / spreads)
        steepest = float(np.abs((y - y.mean()) @ columns).max()) / len(y)
        # All columns are constant or unrelated: every penalty gives the same.
        steepest = steepest or 1.0
        lambdas = steepest / max(l1_ratio, LEAST_L1_RATIO) * np.geomspace(1.0, least, n_lambdas)
        return cls(columns, means, spreads, y, l1_ratio, lambdas)

    def at(self, index: int) -> _PathPoint:
        """The minimum at a position of the path."""
        with self._lock:
            while len(self.found) <= index:
                share = self.y.mean()
                start = _PathPoint(np.zeros(self.columns.shape[1]), float(np.log(share / (1 - share))))
                self.found.append(self._minimum(self.lambdas[len(self.found)], (self.found or [start])[-1]))
            return self.found[index]

    def _minimum(self, penalty: float, start: _PathPoint) -> _PathPoint:
        """Newton's method: each step is a weighted least-squares elastic net, by coordinate descent."""
        now, value = start, self._loss(start, penalty)
        share = self.y.mean()
        scale = -float(share * np.log(share) + (1 - share) * np.log(1 - share))
        for _ in range(MOST_STEPS):
            aim = self._step(now, penalty)
            part = 1.0
            while True:
                onward = _PathPoint(
                    now.slopes + part * (aim.slopes - now.slopes),
                    now.intercept + part * (aim.intercept - now.intercept),
                )
                lower = self._loss(onward, penalty)
                if lower <= value or part < 1e-6:
                    break
                part /= 2
            if lower > value:
                break
            gain, now, value = value - lower, onward, lower
            if gain <= CLOSE_ENOUGH * scale:
                break
        return now

    def _step(self, now: _PathPoint, penalty: float) -> _PathPoint:
        """The minimum of the quadratic approximation at a point."""
        scores = self.columns @ now.slopes + now.intercept
        p = expit(scores)
        weights = np.maximum(p * (1 - p), LEAST_WEIGHT)
        response = scores + (self.y - p) / weights
        total = weights.sum()
        centre, level = weights @ self.columns / total, float(weights @ response / total)
        roots = np.sqrt(weights)
        X = np.asfortranarray((self.columns - centre) * roots[:, None])
        target = (response - level) * roots
        slopes = self._descended(X, target, penalty, now.slopes)
        slopes = self._polished(X, target, penalty, slopes)
        return _PathPoint(slopes, level - float(centre @ slopes))

    def _descended(self, X: Floats, target: Floats, penalty: float, start: Floats) -> Floats:
        """Least squares with the penalty, by coordinate descent: approximate slopes."""
        with warnings.catch_warnings():
            # Descent is slow if columns nearly depend on each other; the following steps continue from here.
            warnings.simplefilter("ignore", ConvergenceWarning)
            slopes: Floats = enet_path(
                X,
                target,
                l1_ratio=self.l1_ratio,
                alphas=np.array([penalty]),
                precompute=np.ascontiguousarray(X.T @ X) if X.shape[1] <= len(X) else False,
                Xy=X.T @ target,
                copy_X=False,
                coef_init=start.copy(),
                check_input=False,
                tol=1e-8,
                max_iter=MOST_PASSES,
            )[1][:, 0]
        return slopes

    def _polished(self, X: Floats, target: Floats, penalty: float, slopes: Floats) -> Floats:
        """With the columns and signs known, least squares with the penalty is a linear system: solved exactly."""
        active = np.flatnonzero(slopes)
        if not 0 < len(active) <= len(X):
            return slopes
        signs = np.sign(slopes[active])
        few = X[:, active]
        system = few.T @ few / len(X) + penalty * (1 - self.l1_ratio) * np.eye(len(active))
        wanted = few.T @ target / len(X) - penalty * self.l1_ratio * signs
        try:
            exact = np.linalg.solve(system, wanted)
        except np.linalg.LinAlgError:
            return slopes
        if not (np.sign(exact) == signs).all():
            return slopes
        polished = np.zeros_like(slopes)
        polished[active] = exact
        return polished

    def _loss(self, found: _PathPoint, penalty: float) -> float:
        scores = self.columns @ found.slopes + found.intercept
        sizes = self.l1_ratio * np.abs(found.slopes).sum() + (1 - self.l1_ratio) / 2 * (found.slopes**2).sum()
        return float(-log_expit(np.where(self.y > 0, scores, -scores)).mean() + penalty * sizes)


PATHS = Recent[_PenaltyPath](KEPT_PATHS)
