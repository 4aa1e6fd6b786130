"""A least-squares support vector machine whose Gaussian kernel may have a length scale for each column."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from heldout._types import Floats
from heldout.data.task import shortened
from heldout.errors import InputError
from heldout_papers.spaces.classifiers import CodedClassifier, Codes, check_number, rows_to_predict


class LeastSquaresSVM(CodedClassifier):
    """A least-squares support vector machine (Suykens and Vandewalle 1999) with a Gaussian kernel.

    With y in {-1, 1} the score of a row is the sum over training rows of alpha_i k(x_i, x), plus an intercept b,
    where k(x, z) = exp(-1/2 sum_j ((x_j - z_j) / l_j)²). alpha and b solve (K + I / C) alpha + b = y with
    sum alpha = 0. With one length scale l_j for each column (automatic relevance determination) a column counts
    less the longer its scale is; that is as many hyper-parameters as there are columns (Cawley and Talbot 2010).

    Parameters
    ----------
    length_scales : float or sequence of float
        One for all columns, or one for each; above 0. An infinite one leaves its column out.
    C : float
        The weight of the errors against the size of the weights; above 0.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (1, N) or (n_classes, N)
        alpha; with more than two classes each is compared with all others.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (p,)
        Set if the training table names its columns.

    Notes
    -----
    Columns should be on one scale. Training takes time and memory like the third and second power of the rows.

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [1.0, -5.0], [4.0, 5.0], [5.0, -5.0]])
    >>> y = ["low", "low", "high", "high"]
    >>> LeastSquaresSVM(length_scales=[2.0, np.inf]).fit(X, y).predict([[0.5, 5.0], [4.5, -5.0]])
    array(['low', 'high'], dtype='<U4')
    """

    sources: ClassVar[tuple[str, ...]] = ("suykens1999", "cawley2010")

    def __init__(self, length_scales: float | Sequence[float] = 1.0, C: float = 1.0) -> None:
        self.length_scales = length_scales
        self.C = C

    def _check_parameters(self) -> None:
        check_number("C", self.C, 0.0, above=True)
        try:
            scales = np.asarray(self.length_scales, dtype=np.float64)
        except (TypeError, ValueError):
            scales = np.array([np.nan])
        if scales.ndim > 1 or not scales.size or not (scales > 0).all():
            raise InputError(
                "length_scales must be a number above 0, or one for each column, got "
                f"{shortened(self.length_scales)}.",
                argument="length_scales",
            )

    def _fit_codes(self, X: Floats, codes: Codes) -> None:
        scales = np.asarray(self.length_scales, dtype=np.float64)
        if scales.ndim and len(scales) != X.shape[1]:
            raise InputError(
                f"length_scales must have a number for each of the {X.shape[1]} columns, got {len(scales)}.",
                argument="length_scales",
            )
        self._rows = X / scales
        kernel = self._kernel(self._rows)
        n = len(X)
        system = np.zeros((n + 1, n + 1))
        system[0, 1:] = system[1:, 0] = 1.0
        system[1:, 1:] = kernel
        system[np.arange(1, n + 1), np.arange(1, n + 1)] += 1 / self.C
        positive = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        targets = np.array([np.where(codes == code, 1.0, -1.0) for code in positive])
        solution = np.linalg.solve(system, np.vstack([np.zeros(len(targets)), targets.T]))
        self.intercept_, self.dual_coef_ = solution[0], solution[1:].T

    def decision_function(self, X: Any) -> Floats:
        """The scores.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            For two classes above 0 means the second; otherwise the largest score is the class.
        """
        rows = rows_to_predict(self, X) / np.asarray(self.length_scales, dtype=np.float64)
        scores: Floats = self._kernel(rows) @ self.dual_coef_.T + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _kernel(self, rows: Floats) -> Floats:
        return np.asarray(np.exp(-0.5 * cdist(rows, self._rows, "sqeuclidean")))

    def _scores(self, X: Any) -> Floats:
        return self.decision_function(X)
