"""What the classifiers here share: how training rows come in, and how a linear score becomes a class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from heldout.errors import InputError
from heldout.kernels.reference import Floats
from heldout.metrics.base import is_number

Codes = NDArray[np.intp]


def training_rows(model: Any, X: Any, y: Any) -> tuple[Floats, Codes]:
    """Checked rows, and each row's class as its place in ``classes_``, which is set.

    Raises
    ------
    InputError
        When the rows are of one class.
    """
    X, y = validate_data(model, X, y, dtype=np.float64)
    check_classification_targets(y)
    model.classes_, codes = np.unique(y, return_inverse=True)
    if len(model.classes_) < 2:
        raise InputError(
            f"a classifier needs rows of at least two classes, got 1 class: all {len(y)} rows are of class "
            f"{model.classes_.tolist()[0]!r}."
        )
    return X, codes


def rows_to_predict(model: Any, X: Any) -> Floats:
    """Checked rows of a fitted model's columns."""
    check_is_fitted(model)
    rows: Floats = validate_data(model, X, reset=False, dtype=np.float64)
    return rows


def check_number(parameter: str, value: Any, low: float, high: float = np.inf, *, above: bool = False) -> None:
    """Refuse what is no finite number from ``low`` (or above it) to ``high``."""
    if is_number(value) and np.isfinite(value) and low <= value <= high and not (above and value == low):
        return
    least = f"above {low:g}" if above else f"of at least {low:g}"
    most = "" if high == np.inf else f" and at most {high:g}"
    raise InputError(f"{parameter} must be a number {least}{most}, got {value!r}.")


def check_count(parameter: str, value: Any, low: int = 1) -> None:
    """Refuse what is no whole number of at least ``low``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise InputError(f"{parameter} must be a whole number of at least {low}, got {value!r}.")


class LinearClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier by linear scores, one a class; of two classes one score, which favours the second.

    Attributes
    ----------
    coef_ : ndarray of shape (1, p) or (n_classes, p)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    classes_ : ndarray of shape (n_classes,)
    """

    coef_: Floats
    intercept_: Floats
    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> Floats:
        """Linear scores.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            Of two classes: above 0 for the second. Otherwise the greatest is the class.
        """
        scores: Floats = rows_to_predict(self, X) @ self.coef_.T + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the greatest score; of equal ones the first in ``classes_``.

        Returns
        -------
        ndarray of shape (n,)
        """
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]
