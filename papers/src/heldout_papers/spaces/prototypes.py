"""Classification by the nearest prototype: a few points represent each class, and the nearest decides."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from heldout._types import Floats
from heldout_papers.spaces.classifiers import CodedClassifier, Codes, rows_to_predict


class NearestPrototype(CodedClassifier):
    """A classifier by its prototypes, which subclasses fit.

    Attributes
    ----------
    prototypes_ : ndarray of shape (n_prototypes, p)
    prototype_labels_ : ndarray of shape (n_prototypes,)
        The class of each prototype.
    """

    prototypes_: Floats
    prototype_labels_: NDArray[Any]

    def decision_function(self, X: Any) -> Floats:
        """How much nearer each class is than the others: (b - a) / (b + a), between -1 and 1; larger = nearer.

        a is the squared distance to the class's nearest prototype and b that to the nearest of any other class.
        This is minus the relative distance of Sato and Yamada (1996). It is not a probability.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            For two classes that of the second, which is minus that of the first.
        """
        rows = rows_to_predict(self, X)
        distances = cdist(rows, self.prototypes_, "sqeuclidean")
        nearest = np.column_stack(
            [distances[:, self.prototype_labels_ == one].min(axis=1) for one in self.classes_]
        )
        least_two = np.partition(nearest, 1, axis=1)[:, :2]
        is_nearest = nearest == least_two[:, :1]
        other = np.where(is_nearest, least_two[:, 1:], least_two[:, :1])
        sums = other + nearest
        margins: Floats = np.divide(other - nearest, sums, out=np.zeros_like(sums), where=sums > 0)
        return margins[:, 1] if len(self.classes_) == 2 else margins

    def _scores(self, X: Any) -> Floats:
        return self.decision_function(X)


def first_prototypes(X: Floats, codes: Codes, per_class: int, rng: np.random.Generator) -> tuple[Floats, Codes]:
    """The initial prototypes: each class's mean, or ``per_class`` of its distinct rows, drawn far apart.

    A class with fewer distinct rows has fewer prototypes.
    """
    points, labels = [], []
    for code in range(int(codes.max()) + 1):
        rows = X[codes == code]
        if per_class == 1:
            chosen = rows.mean(axis=0, keepdims=True)
        else:
            chosen = _far_apart(np.unique(rows, axis=0), per_class, rng)
        points.append(chosen)
        labels.append(np.full(len(chosen), code, dtype=np.intp))
    return np.concatenate(points), np.concatenate(labels)


def _far_apart(rows: Floats, n: int, rng: np.random.Generator) -> Floats:
    """Rows drawn with probability proportional to the squared distance to the nearest drawn row (k-means++)."""
    drawn = [int(rng.integers(len(rows)))]
    nearest = np.full(len(rows), np.inf)
    while len(drawn) < min(n, len(rows)):
        nearest = np.minimum(nearest, ((rows - rows[drawn[-1]]) ** 2).sum(axis=1))
        if not nearest.any():  # distinct, but too near to each other for a number
            break
        drawn.append(int(rng.choice(len(rows), p=nearest / nearest.sum())))
    return rows[np.sort(drawn)]
