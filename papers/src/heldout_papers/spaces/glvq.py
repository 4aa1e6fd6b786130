"""Generalized learning vector quantization: prototypes that minimise a cost."""

from typing import ClassVar

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from scipy.special import expit

from heldout._streams import RandomState, entropy_of, stream
from heldout._types import Floats
from heldout.data.checks import check_count
from heldout_papers.spaces.classifiers import Codes, check_number
from heldout_papers.spaces.prototypes import NearestPrototype, first_prototypes


class GLVQ(NearestPrototype):
    """Generalized learning vector quantization (Sato and Yamada 1996).

    A row with squared distance a to the nearest prototype of its class, and b to the nearest of another, has the
    relative distance m = (a - b) / (a + b), between -1 and 1, and below 0 if it is classified correctly. The
    prototypes minimise the mean of 1 / (1 + exp(-steepness m)), a smooth count of errors. The paper descends row by
    row; here the mean is minimised by L-BFGS, which needs no learning rate.

    Parameters
    ----------
    n_prototypes : int
        Prototypes per class, at least 1.
    steepness : float
        Above 0. With larger values the cost depends more on errors and rows near the border, and less on the
        distances of other rows to their prototypes.
    max_iter : int
        The maximum of L-BFGS iterations. Reaching it is not an error: stopping early regularises.
    random_state : int, RandomState, Generator or None
        Draws the initial rows; a single prototype per class starts at the mean.

    Attributes
    ----------
    prototypes_ : ndarray of shape (n_all, p)
    prototype_labels_ : ndarray of shape (n_all,)
    cost_ : float
        The cost of the prototypes, between 0 and 1.
    n_iter_ : int
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (p,)
        Set if the training table names its columns.

    Notes
    -----
    Distances are Euclidean: columns should be on one scale. Shifting or stretching all columns alike changes
    nothing. With several prototypes per class the cost has several minima, and the initial prototypes decide which
    is found.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]])
    >>> model = GLVQ().fit(X, ["low", "low", "low", "high", "high", "high"])
    >>> model.predict([[3.0], [6.0]]), model.prototype_labels_
    (array(['low', 'high'], dtype='<U4'), array(['high', 'low'], dtype='<U4'))
    """

    sources: ClassVar[tuple[str, ...]] = ("sato1996",)

    def __init__(
        self,
        n_prototypes: int = 1,
        steepness: float = 10.0,
        max_iter: int = 200,
        random_state: RandomState = None,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.steepness = steepness
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_count("n_prototypes", self.n_prototypes)
        check_number("steepness", self.steepness, 0.0, above=True)
        check_count("max_iter", self.max_iter)

    def _fit_codes(self, X: Floats, codes: Codes) -> None:
        # The cost does not depend on the scale, but L-BFGS does: large columns would make its gradient tiny.
        centre = X.mean(axis=0)
        scale = float(np.sqrt(((X - centre) ** 2).mean())) or 1.0
        rows = (X - centre) / scale
        start = np.random.default_rng(stream(entropy_of(self.random_state), "lvq", "start"))
        first, labels = first_prototypes(rows, codes, self.n_prototypes, start)
        found = minimize(
            lambda flat: _flat(cost_and_gradient(rows, codes, flat.reshape(first.shape), labels, self.steepness)),
            first.ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": int(self.max_iter)},
        )
        self.prototypes_ = found.x.reshape(first.shape) * scale + centre
        self.prototype_labels_ = self.classes_[labels]
        self.cost_, self.n_iter_ = float(found.fun), int(found.nit)


def cost_and_gradient(
    X: Floats, codes: Codes, prototypes: Floats, labels: Codes, steepness: float
) -> tuple[float, Floats]:
    """The mean cost of prototypes, and its gradient of shape (n_all, p)."""
    distances = cdist(X, prototypes, "sqeuclidean")
    own = labels == codes[:, None]
    rows = np.arange(len(X))
    right = np.where(own, distances, np.inf).argmin(axis=1)
    wrong = np.where(own, np.inf, distances).argmin(axis=1)
    a, b = distances[rows, right], distances[rows, wrong]
    # A row that coincides with prototypes of both classes has no gradient.
    total = np.where(a + b > 0, a + b, np.inf)
    cost = expit(steepness * (a - b) / total)
    slope = steepness * cost * (1 - cost) / len(X)
    pull = np.zeros_like(distances)
    pull[rows, right] = slope * 2 * b / total**2
    pull[rows, wrong] = -slope * 2 * a / total**2
    return float(cost.mean()), 2 * (pull.sum(axis=0)[:, None] * prototypes - pull.T @ X)


def _flat(found: tuple[float, Floats]) -> tuple[float, Floats]:
    return found[0], found[1].ravel()
