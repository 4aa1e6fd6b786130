"""A classifier after a selection that may select nothing: without columns it predicts the class frequencies."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from heldout._sklearn import n_rows_of
from heldout._types import Floats
from heldout_papers.spaces.recent import fitted_once
from heldout_papers.spaces.ses import SES
from heldout_papers.spaces.square_root_forest import SquareRootForest


class QuietSES(SES):
    """``SES`` without a warning for an empty selection, for models that can do without columns."""

    def transform(self, X: Any) -> Any:
        """The selected columns, which may be none."""
        check_is_fitted(self)
        if self.support_.any():
            return super().transform(X)
        return validate_data(self, X, reset=False, dtype=np.float64)[:, :0]


def _wrapped_has(method: str) -> Any:
    return available_if(lambda self: hasattr(self.estimator, method))


class ConstantWithoutColumns(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The wrapped classifier, or without any column one that predicts the class frequencies.

    Without columns every row has the class frequencies of the training rows as probabilities, their log odds (for
    several classes, logarithms) as decision, and the most frequent class as prediction.

    Parameters
    ----------
    estimator : classifier

    Attributes
    ----------
    estimator_ : classifier or None
        None if there were no columns.
    frequencies_ : ndarray of shape (n_classes,)
    classes_ : ndarray of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> model = ConstantWithoutColumns(SVC()).fit(np.empty((4, 0)), ["a", "b", "b", "b"])
    >>> model.predict(np.empty((2, 0))), model.decision_function(np.empty((2, 0))).round(3)
    (array(['b', 'b'], dtype='<U1'), array([1.099, 1.099]))
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the wrapped classifier, or count the classes.

        Parameters
        ----------
        X : array-like of shape (n, p)
            p may be 0.
        y : array-like of shape (n,)
            Class labels.
        """
        if _has_columns(X):
            # Different selections of the same columns lead to the same model.
            model = self.estimator
            self.estimator_ = fitted_once(
                model.of_columns(np.shape(X)[1]) if isinstance(model, SquareRootForest) else clone(model), X, y
            )
            self.classes_ = self.estimator_.classes_
            self.n_features_in_ = self.estimator_.n_features_in_
            if hasattr(self.estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.estimator_.feature_names_in_
            return self
        check_consistent_length(X, y)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        self.classes_, counts = np.unique(y, return_counts=True)
        self.frequencies_ = counts / counts.sum()
        self.estimator_, self.n_features_in_ = None, 0
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels.

        Returns
        -------
        ndarray of shape (n,)
        """
        if self._wrapped(X) is not None:
            return np.asarray(self.estimator_.predict(X))
        return np.full(n_rows_of(X), self.classes_[self.frequencies_.argmax()])

    @_wrapped_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        if self._wrapped(X) is not None:
            return np.asarray(self.estimator_.predict_proba(X))
        return np.tile(self.frequencies_, (n_rows_of(X), 1))

    @_wrapped_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Scores: for two classes one, above 0 for the second; otherwise one per class.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
        """
        if self._wrapped(X) is not None:
            return np.asarray(self.estimator_.decision_function(X))
        logs = np.log(self.frequencies_)
        if len(logs) == 2:
            return np.full(n_rows_of(X), logs[1] - logs[0])
        return np.tile(logs, (n_rows_of(X), 1))

    def _wrapped(self, X: Any) -> Any:
        check_is_fitted(self)
        if self.estimator_ is None and _has_columns(X):
            raise ValueError(
                f"X has {np.shape(X)[1]} features, but {type(self).__name__} is expecting 0 features as input."
            )
        return self.estimator_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        wrapped = get_tags(self.estimator)
        tags.input_tags.sparse = wrapped.input_tags.sparse
        tags.input_tags.allow_nan = wrapped.input_tags.allow_nan
        tags.classifier_tags.multi_class = wrapped.classifier_tags.multi_class
        tags.classifier_tags.poor_score = wrapped.classifier_tags.poor_score
        return tags


def _has_columns(X: Any) -> bool:
    shape = getattr(X, "shape", None)
    return shape is None or len(shape) != 2 or shape[1] > 0
