"""A model that imputes within its own fit: what cross-validation needs, whose folds must not learn from each other.

Every fit completes its training rows several times and fits the model on each completion. It also fits as many
imputers on the training rows without their outcome, and these complete the rows that are predicted. So no fold
tells another anything, whatever divides the rows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, TransformerMixin, clone, is_classifier, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from heldout._streams import RandomState, entropy_of
from heldout._types import Array, Floats
from heldout.data.task import TaskKind, Truth, has_fields, truth_of
from heldout.errors import InputError
from heldout.imputation.coefficients import PooledCoefficients, coefficients_of, pool_coefficients
from heldout.imputation.pooled import PooledModel
from heldout.imputation.settings import Imputation, imputation_of
from heldout.imputation.tables import filled, holes_of, is_frame, writable
from heldout.metrics.survival import ConcordanceIndex
from heldout.metrics.survival_model import risks


class Completion(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Fills the gaps of new rows, and nothing else, by an imputer that was fitted on other rows.

    Parameters
    ----------
    imputer : fitted transformer
        Each table that it fills has the same draws, so that all responses of a model are about the same rows.
    """

    def __init__(self, imputer: Any) -> None:
        self.imputer = imputer

    @property
    def feature_names_in_(self) -> Any:
        return self.imputer.feature_names_in_

    @property
    def n_features_in_(self) -> int:
        return int(self.imputer.n_features_in_)

    def fit(self, X: Any, y: Any = None) -> Completion:
        """The same: the imputer is fitted already."""
        return self

    def transform(self, X: Any) -> Any:
        """The table in its own type, without gaps.

        Raises InputError when the imputer leaves some.
        """
        holes = holes_of(X)
        if not holes.any():
            return X
        table = writable(X)
        # Some imputers draw on with every call.
        return filled(table, holes, deepcopy(self.imputer).transform(table), self.imputer)


def with_completions(models: Sequence[Any], imputers: Sequence[Any]) -> PooledModel:
    """The pooled model of fitted ones, in which an imputer of each completes the rows that it predicts."""
    return PooledModel(
        tuple(
            Pipeline([("completion", Completion(imputer)), ("model", model)])
            for imputer, model in zip(imputers, models, strict=True)
        )
    )


def member_of(model: Any) -> Any:
    """A fitted model of a pooled one, without what completes the rows that it predicts; any other model itself."""
    member = model.members[0] if isinstance(model, PooledModel) else model
    completes = isinstance(member, Pipeline) and isinstance(member.steps[0][1], Completion)
    return member.steps[-1][1] if completes else member


MOST_KEPT = 2**28
"""Bytes of completions that are kept for the next fit."""


class _RecentCompletions(threading.local):
    """The completions of the last fit.

    The configurations of a search are fitted one after another on the same rows with the same seeds, and so need
    the same completions.
    """

    def __init__(self) -> None:
        self._key = ""
        self._found: tuple[list[Any], list[Any]] = [], []

    def of(self, imputation: Imputation, X: Any, truth: Truth | None, entropy: int) -> tuple[list[Any], list[Any]]:
        """Completed training rows, each the caller's own, and imputers for other rows."""
        outcome = None if truth is None else truth.values
        try:
            key = joblib.hash((imputation, X, outcome, None if truth is None else truth.kind.value, entropy))
        except Exception:  # of an imputer that cannot be pickled
            key = ""
        if not key or key != self._key:
            self._key, self._found = "", ([], [])  # before others take its memory
            completed = imputation.completed(X, truth, entropy, "training rows")
            found = completed, imputation.imputers(X, entropy, "new rows")
            if not key or not _is_small(X, imputation.n_imputations):
                return found
            self._key, self._found = key, found
        completed, imputers = self._found
        # A model may write into its rows.
        return [table.copy() for table in completed], list(imputers)


_RECENT = _RecentCompletions()


def _is_small(X: Any, n_imputations: int) -> bool:
    one = X.memory_usage(deep=True).sum() if is_frame(X) else getattr(X, "nbytes", 0)
    return int(one) * n_imputations <= MOST_KEPT


def _has(method: str) -> Callable[[Any], bool]:
    return lambda self: hasattr(getattr(self, "pooled_", self.estimator), method)


def _has_score(self: Any) -> bool:
    return hasattr(self.estimator, "score")


class ImputedModel(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Estimator that imputes missing values H times, fits a model on each completion, and pools the predictions.

    ``HeldOutSearchCV(imputation=...)`` and ``ho.nested_cv(imputation=...)`` wrap every configuration in one.
    ``fit`` completes the training rows H times, using their outcome, and fits the model on each completion.
    ``predict`` and the like complete the rows H times by imputers fitted on the training rows without their
    outcome. Member h predicts completion h, and ``PooledModel`` pools the predictions: for logistic and Cox
    regressions on the scale of the linear predictor.

    Parameters
    ----------
    estimator : estimator
        Any estimator; the rows that it receives have no missing values.
    imputation : int or Imputation, default=5
        The number of completions, or an ``Imputation`` with ``order="boot_mi"`` and without
        ``outcome_in_evaluation``.
    random_state : int, RandomState or Generator, optional
        Seeds the imputations.

    Attributes
    ----------
    pooled_ : PooledModel
        Its members are pipelines of a ``Completion`` and a fitted model, one per imputation.
    coefficients_ : PooledCoefficients or None
        By Rubin's rules, if the models have coefficients with a covariance.
    selection_ : Selection or None
        Which terms a backward selection kept and removed; None without one.
    classes_ : ndarray
        The class labels, for classifiers.

    Raises
    ------
    InputError
        When a column has no observed value among the training rows, or the settings need the outcome of new rows.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.array([[1.0, 2.0], [2.0, np.nan], [3.0, 6.1], [4.0, 7.9], [np.nan, 10.0]])
    >>> model = ImputedModel(LinearRegression(), imputation=3, random_state=0).fit(X, [1.0, 2.0, 3.1, 3.9, 5.0])
    >>> model.predict([[3.0, np.nan]]).shape, len(model.pooled_.members)
    ((1,), 3)
    """

    def __init__(self, estimator: Any, imputation: Any = 5, random_state: RandomState = None) -> None:
        self.estimator = estimator
        self.imputation = imputation
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, **params: Any) -> ImputedModel:
        """Impute, fit and pool.

        Parameters
        ----------
        X : array or pandas table of shape (N, columns)
        y : array-like of shape (N,)
        **params : dict
            Passed to every ``fit`` of the estimator.
        """
        imputation = checked_within_a_fit(imputation_of(self.imputation) or Imputation())
        X = X if hasattr(X, "tocsr") else writable(X)
        entropy, holes = entropy_of(self.random_state), holes_of(X)
        completed, imputers = _RECENT.of(imputation, X, _truth(self.estimator, y), entropy)
        if not holes.any() and imputation.selection is None:
            completed = completed[:1]  # all are the same
        fitted = imputation.fitted(
            [clone(self.estimator) for _ in completed], completed, y, params, params.get("sample_weight")
        )
        repeated = imputation.n_imputations // len(completed)
        models = tuple(fitted.members) * repeated
        self.pooled_ = with_completions(models, imputers)
        if hasattr(self.pooled_, "classes_"):
            self.classes_ = self.pooled_.classes_
        self.selection_ = self.pooled_.selection_ = fitted.selection_
        if hasattr(models[0], "feature_names_in_"):
            self.feature_names_in_ = models[0].feature_names_in_
        self.n_features_in_ = holes.shape[1] or X.shape[1]
        self.coefficients_ = self._coefficients(models, completed * repeated, y, params.get("sample_weight"))
        return self

    @available_if(_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Array:
        """Labels, or the mean of values or risks: shape (n,)."""
        return self._fitted().predict(X)

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """(n, n_classes), columns as ``classes_``."""
        return self._fitted().predict_proba(X)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """The mean of the members' decisions: (n,) for two classes, else (n, n_classes)."""
        return self._fitted().decision_function(X)

    @available_if(_has("predict_survival_function"))  # type: ignore[untyped-decorator]
    def predict_survival_function(self, X: Any, times: Any) -> Floats:
        """(n, n_times): probabilities of no event until each of some times."""
        return self._fitted().predict_survival_function(X, times)

    def _fitted(self) -> PooledModel:
        check_is_fitted(self, "pooled_")
        return self.pooled_

    @available_if(_has_score)  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The same score as the estimator's own ``score``: accuracy, R², or the concordance index."""
        if is_classifier(self.estimator):
            return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))
        if is_regressor(self.estimator) and not has_fields(y):
            return float(r2_score(y, self.predict(X), sample_weight=sample_weight))
        metric, truth = ConcordanceIndex(), truth_of(y, TaskKind.SURVIVAL)
        weights = np.ones((1, len(y))) if sample_weight is None else np.asarray(sample_weight)[None, :]
        return float(metric.statistic(truth, risks(self._fitted(), X)[:, None]).all(weights)[0, 0])

    def _coefficients(self, models: Any, completed: Any, y: Any, weights: Any) -> PooledCoefficients | None:
        if y is None or hasattr(completed[0], "tocsr"):
            return None
        each = [coefficients_of(model, table, y, weights) for model, table in zip(models, completed, strict=True)]
        return pool_coefficients(each, np.shape(completed[0])[0])

    def __sklearn_tags__(self) -> Any:
        tags = self.estimator.__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def checked_within_a_fit(imputation: Imputation) -> Imputation:
    """An imputation that a single fit can do.

    Raises InputError for one that imputes before rows are divided, or with the outcome of rows that are predicted.
    """
    if imputation.order != "boot_mi":
        raise InputError(
            f"imputation with `order={imputation.order!r}` completes all rows before they are divided, so that "
            "test rows would inform the training rows; folds need `order='boot_mi'`, which imputes each training "
            "part.",
            argument="imputation",
        )
    if imputation.outcome_in_evaluation:
        raise InputError(
            "imputation with `outcome_in_evaluation=True` needs the outcome of the rows that are predicted, and a "
            "model never receives it; leave it out.",
            argument="imputation",
        )
    return imputation


def _truth(estimator: Any, y: Any) -> Truth | None:
    """The outcome of training rows, as imputations read it."""
    if y is None:
        return None
    if has_fields(y):
        return truth_of(y, TaskKind.SURVIVAL)
    if is_classifier(estimator):
        return truth_of(y, TaskKind.MULTICLASS)
    return truth_of(np.asarray(y), TaskKind.REGRESSION if is_regressor(estimator) else None)
