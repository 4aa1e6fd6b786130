"""k nearest neighbours, asked in many random choices of the columns: the majority decides.

Distances over all columns are led astray by those that tell nothing; in a few columns at a time these have no say
in most votes. The neighbours and the drawing are scikit-learn's. What is added is what its ``BaggingClassifier``
lacks: the vote itself (there the neighbours' shares are averaged), and a number of columns that follows the
table's.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import BaggingClassifier
from sklearn.neighbors import KNeighborsClassifier

from heldout._seeding import RandomState, entropy_of, numpy_seed
from heldout.errors import InputError
from heldout.kernels.reference import Floats
from heldout.metrics.base import is_number
from heldout.spaces.classifiers import check_count, rows_to_predict, training_rows

Share: TypeAlias = int | float | Literal["sqrt"]


class RandomSubspaceKNN(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Random k-nearest neighbours (Li, Harner and Adjeroh 2011): what ``rknn`` of R's package of that name does.

    Parameters
    ----------
    n_neighbors : int
        In each choice of columns.
    n_estimators : int
        How many choices of columns are drawn.
    max_features : int, float or "sqrt"
        Columns in each choice: a number, a share above 0 and at most 1 (rounded down, but at least one column), or
        the square root of how many there are, rounded down. 1 is one column and 1.0 are all.
    random_state : int, RandomState, Generator or None
        Which columns are drawn.

    Attributes
    ----------
    subspaces_ : ndarray of shape (n_estimators, n_columns)
        The columns of each choice.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (p,)
        Where the training table names its columns.

    Notes
    -----
    Distances are Euclidean: columns should have been brought to one scale.

    Examples
    --------
    >>> X = np.array([[0, 5, 9], [1, 3, 8], [0, 4, 7], [8, 4, 1], [9, 5, 0], [7, 3, 2]])
    >>> model = RandomSubspaceKNN(3, n_estimators=9, max_features=2, random_state=0)
    >>> model.fit(X, ["a", "a", "a", "b", "b", "b"]).predict([[1, 4, 8], [8, 4, 2]])
    array(['a', 'b'], dtype='<U1')
    """

    sources: ClassVar[tuple[str, ...]] = ("li2011",)

    def __init__(
        self,
        n_neighbors: int = 1,
        n_estimators: int = 500,
        max_features: Share = "sqrt",
        random_state: RandomState = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : array-like of shape (n,)
            Class labels.

        Raises
        ------
        InputError
            When a parameter has no meaning, there are fewer rows than neighbours or fewer columns than asked for,
            or there is one class.
        """
        check_count("n_neighbors", self.n_neighbors)
        check_count("n_estimators", self.n_estimators)
        X, codes = training_rows(self, X, y)
        if self.n_neighbors > len(X):
            raise InputError(f"n_neighbors must be at most the {len(X)} rows, got {self.n_neighbors}.")
        self._members = BaggingClassifier(
            KNeighborsClassifier(self.n_neighbors),
            n_estimators=self.n_estimators,
            max_samples=len(X),
            max_features=self._n_columns(X.shape[1]),
            bootstrap=False,
            random_state=numpy_seed(entropy_of(self.random_state), "random-subspace-knn"),
        ).fit(X, codes)
        self.subspaces_ = np.array(self._members.estimators_features_)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The share of the choices that vote for each class.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        rows = rows_to_predict(self, X)
        votes = np.zeros((len(rows), len(self.classes_)))
        every = np.arange(len(rows))
        for member, columns in zip(self._members.estimators_, self.subspaces_, strict=True):
            votes[every, member.predict(rows[:, columns])] += 1
        return votes / self.n_estimators

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the most votes; of equal ones the first in ``classes_``.

        Returns
        -------
        ndarray of shape (n,)
        """
        most = self.predict_proba(X).argmax(axis=1)
        return self.classes_[most]

    def _n_columns(self, p: int) -> int:
        asked = self.max_features
        if isinstance(asked, str) and asked == "sqrt":
            return int(np.sqrt(p))
        if isinstance(asked, int | np.integer) and not isinstance(asked, bool) and asked >= 1:
            if asked > p:
                raise InputError(f"max_features must be at most the {p} columns, got {asked}; a share always fits.")
            return int(asked)
        if is_number(asked) and 0 < asked <= 1:
            return max(1, int(asked * p))
        raise InputError(
            "max_features must be a whole number of at least 1, a share above 0 and at most 1, or 'sqrt', got "
            f"{asked!r}."
        )
