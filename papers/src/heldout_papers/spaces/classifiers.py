"""The base of the classifiers here: checks, the coding of classes, and predictions from scores."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from heldout._types import Floats
from heldout.data.checks import is_number
from heldout.errors import InputError

Codes = NDArray[np.intp]


def rows_to_predict(model: Any, X: Any) -> Floats:
    """Checked rows for a fitted model."""
    check_is_fitted(model)
    rows: Floats = validate_data(model, X, reset=False, dtype=np.float64)
    return rows


def check_number(parameter: str, value: Any, low: float, high: float = np.inf, *, above: bool = False) -> None:
    """Refuse anything but a finite number from ``low`` (or above it) to ``high``."""
    if is_number(value) and np.isfinite(value) and low <= value <= high and not (above and value == low):
        return
    least = f"above {low:g}" if above else f"of at least {low:g}"
    most = "" if high == np.inf else f" and at most {high:g}"
    raise InputError(f"{parameter} must be a number {least}{most}, got {value!r}.", argument=parameter)


class CodedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that checks its rows and codes its classes before ``_fit_codes``, and predicts from scores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    """

    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any) -> Self:
        """Fit.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,)
            Class labels, of at least two classes. Invalid parameters are refused before.
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(
                f"a classifier needs rows of at least two classes, got 1 class: all {len(y)} rows are of class "
                f"{self.classes_.tolist()[0]!r}."
            )
        self._fit_codes(X, codes)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest score; of equal ones the first in ``classes_``.

        Returns
        -------
        ndarray of shape (n,)
        """
        scores = self._scores(X)
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]

    def _check_parameters(self) -> None:
        """Refuse invalid parameters."""
        raise NotImplementedError

    def _fit_codes(self, X: Floats, codes: Codes) -> None:
        """Fit checked rows; ``codes`` are the positions of their classes in ``classes_``."""
        raise NotImplementedError

    def _scores(self, X: Any) -> Floats:
        """Scores of shape (n, n_classes), or (n,) for two classes, where a score above 0 means the second."""
        raise NotImplementedError


class LinearClassifier(CodedClassifier):
    """A classifier by linear scores: one per class, or a single one for two classes.

    Attributes
    ----------
    coef_ : ndarray of shape (1, p) or (n_classes, p)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    """

    coef_: Floats
    intercept_: Floats

    def decision_function(self, X: Any) -> Floats:
        """Linear scores.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            For two classes above 0 means the second; otherwise the largest score is the class.
        """
        scores: Floats = rows_to_predict(self, X) @ self.coef_.T + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _scores(self, X: Any) -> Floats:
        return self.decision_function(X)
