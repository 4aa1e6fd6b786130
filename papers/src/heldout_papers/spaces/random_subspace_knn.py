"""k nearest neighbours in many random choices of the columns: the majority decides.

Irrelevant columns disturb distances over all columns; with few columns at a time they have no influence on most
votes. ``BaggingClassifier`` of scikit-learn averages the neighbours' shares instead of voting, cannot set the
number of columns by the table's, and takes twenty times as long on a small table.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from heldout._streams import RandomState, entropy_of, stream
from heldout._types import Floats
from heldout.data.checks import check_count, is_number
from heldout.errors import InputError
from heldout_papers.spaces.classifiers import CodedClassifier, Codes, rows_to_predict

BLOCK = 4_000_000
"""Distances in memory at a time."""

Share: TypeAlias = int | float | Literal["sqrt"]


class RandomSubspaceKNN(CodedClassifier):
    """Random k-nearest neighbours (Li, Harner and Adjeroh 2011), as R's package rknn.

    Parameters
    ----------
    n_neighbors : int
        Neighbours in each choice of columns.
    n_estimators : int
        Choices of columns that are drawn.
    max_features : int, float or "sqrt"
        Columns in each choice: a number, a share above 0 and at most 1 (rounded down, but at least one column), or
        the square root of their number, rounded down. 1 is one column and 1.0 are all.
    random_state : int, RandomState, Generator or None
        Draws the columns.

    Attributes
    ----------
    subspaces_ : ndarray of shape (n_estimators, n_columns)
        The columns of each choice.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (p,)
        Set if the training table names its columns.

    Notes
    -----
    Distances are Euclidean: columns should be on one scale. Of equally distant rows the first in the training table
    counts as nearer.

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

    def _check_parameters(self) -> None:
        check_count("n_neighbors", self.n_neighbors)
        check_count("n_estimators", self.n_estimators)

    def _fit_codes(self, X: Floats, codes: Codes) -> None:
        if self.n_neighbors > len(X):
            raise InputError(
                f"n_neighbors must be at most the {len(X)} rows, got {self.n_neighbors}.", argument="n_neighbors"
            )
        rng = np.random.default_rng(stream(entropy_of(self.random_state), "random-subspace-knn"))
        n_columns = self._n_columns(X.shape[1])
        self.subspaces_ = np.array(
            [np.sort(rng.permutation(X.shape[1])[:n_columns]) for _ in range(self.n_estimators)]
        )
        self._X, self._codes = X, codes

    def predict_proba(self, X: Any) -> Floats:
        """The share of the choices that vote for each class.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        return self.votes(X, [self.n_neighbors])[0] / self.n_estimators

    def votes(self, X: Any, n_neighbors: Sequence[int]) -> Floats:
        """The votes of the choices for each class, for several numbers of neighbours at once.

        Parameters
        ----------
        X : array-like of shape (n, p)
        n_neighbors : sequence of int
            Each at most the number of training rows.

        Returns
        -------
        ndarray of shape (len(n_neighbors), n, n_classes)
        """
        rows = rows_to_predict(self, X)
        n_classes = len(self.classes_)
        votes = np.zeros((len(n_neighbors), len(rows), n_classes))
        size = max(1, BLOCK // len(self._X))
        for first in range(0, len(rows), size):
            block = slice(first, first + size)
            every = np.arange(len(rows[block]))
            for columns in self.subspaces_:
                distances = cdist(rows[block][:, columns], self._X[:, columns], "sqeuclidean")
                near = self._codes[nearest(distances, max(n_neighbors))]
                for place, k in enumerate(n_neighbors):
                    counts = np.stack([(near[:, :k] == code).sum(axis=1) for code in range(n_classes)])
                    votes[place, block][every, counts.argmax(axis=0)] += 1
        return votes

    def _scores(self, X: Any) -> Floats:
        return self.predict_proba(X)

    def _n_columns(self, p: int) -> int:
        value = self.max_features
        if isinstance(value, str) and value == "sqrt":
            return int(np.sqrt(p))
        if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 1:
            if value > p:
                raise InputError(
                    f"max_features must be at most the {p} columns, got {value}; a share always fits.",
                    argument="max_features",
                )
            return int(value)
        if is_number(value) and 0 < value <= 1:
            return max(1, int(value * p))
        raise InputError(
            "max_features must be a whole number of at least 1, a share above 0 and at most 1, or 'sqrt', got "
            f"{value!r}.",
            argument="max_features",
        )


def nearest(distances: Floats, k: int) -> NDArray[np.intp]:
    """The columns of the k smallest distances of each row, smallest first; of equal ones the first.

    ``distances`` (n, m); ``k``: at most m. Returns (n, k).
    """
    if k == distances.shape[1]:
        return np.argsort(distances, axis=1, kind="stable")
    some = np.sort(np.argpartition(distances, k - 1, axis=1)[:, :k], axis=1)
    order = np.argsort(np.take_along_axis(distances, some, axis=1), axis=1, kind="stable")
    found = np.take_along_axis(some, order, axis=1)
    farthest = np.take_along_axis(distances, found[:, -1:], axis=1)
    # A partition takes arbitrary rows among those at the largest distance.
    tied = (distances <= farthest).sum(axis=1) > k
    found[tied] = np.argsort(distances[tied], axis=1, kind="stable")[:, :k]
    return found
