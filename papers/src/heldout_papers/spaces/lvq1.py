"""Kohonen's learning vector quantization: prototypes move towards rows of their class, and away from others."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heldout._streams import RandomState, entropy_of, stream
from heldout._types import Floats
from heldout.data.checks import check_count
from heldout_papers.spaces.classifiers import Codes, check_number
from heldout_papers.spaces.prototypes import NearestPrototype, first_prototypes


class LVQ1(NearestPrototype):
    """Learning vector quantization (Kohonen 1990), as ``lvq1`` of R's package class.

    At each step a row is drawn, and the nearest prototype moves towards it by the learning rate times the distance
    if it is of the same class, and away from it otherwise. The rate falls linearly to 0.

    Parameters
    ----------
    n_prototypes : int
        Prototypes per class, at least 1.
    learning_rate : float
        The rate of the first step, above 0 and at most 1.
    steps_per_prototype : int
        Rows drawn per prototype.
    random_state : int, RandomState, Generator or None
        Draws the initial rows (a single prototype per class starts at the mean) and the rows of the steps.

    Attributes
    ----------
    prototypes_ : ndarray of shape (n_all, p)
    prototype_labels_ : ndarray of shape (n_all,)
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (p,)
        Set if the training table names its columns.

    Notes
    -----
    Distances are Euclidean: columns should be on one scale.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]])
    >>> model = LVQ1(random_state=0).fit(X, ["low", "low", "low", "high", "high", "high"])
    >>> model.prototypes_.round(1).ravel(), model.prototype_labels_
    (array([8., 1.]), array(['high', 'low'], dtype='<U4'))
    >>> model.predict([[3.0], [6.0]])
    array(['low', 'high'], dtype='<U4')
    """

    sources: ClassVar[tuple[str, ...]] = ("kohonen1990",)

    def __init__(
        self,
        n_prototypes: int = 1,
        learning_rate: float = 0.03,
        steps_per_prototype: int = 100,
        random_state: RandomState = None,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.learning_rate = learning_rate
        self.steps_per_prototype = steps_per_prototype
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_count("n_prototypes", self.n_prototypes)
        check_number("learning_rate", self.learning_rate, 0.0, 1.0, above=True)
        check_count("steps_per_prototype", self.steps_per_prototype)

    def _fit_codes(self, X: Floats, codes: Codes) -> None:
        entropy = entropy_of(self.random_state)
        start = np.random.default_rng(stream(entropy, "lvq", "start"))
        first, labels = first_prototypes(X, codes, self.n_prototypes, start)
        n_steps = self.steps_per_prototype * len(first)
        drawn = np.random.default_rng(stream(entropy, "lvq", "rows")).integers(len(X), size=n_steps)
        self.prototypes_ = learned(X, codes, first, labels, drawn, float(self.learning_rate))
        self.prototype_labels_ = self.classes_[labels]


def learned(
    X: Floats, codes: Codes, first: Floats, labels: Codes, drawn: NDArray[np.integer[Any]], learning_rate: float
) -> Floats:
    """The prototypes after one step per drawn row."""
    prototypes = first.copy()
    rates = learning_rate * (1 - np.arange(len(drawn)) / len(drawn))
    for row, rate in zip(drawn, rates, strict=True):
        difference = X[row] - prototypes
        nearest = np.einsum("ij,ij->i", difference, difference).argmin()
        prototypes[nearest] += (rate if labels[nearest] == codes[row] else -rate) * difference[nearest]
    return prototypes
