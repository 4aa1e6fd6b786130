"""The twelve families of classifiers with small grids of Wainer and Cawley (2021).

Each has one to three hyper-parameters. The article's grids are in a separate report and refer to R's packages;
these are of a similar size, for the estimators of scikit-learn and of ``heldout.spaces``. Numbers of trees, of
iterations and of neighbours are adjacent in the grid, so one fit serves all of them. ``random_state`` is None, so a
search sets it from its own seed.
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from heldout.errors import InputError
from heldout.spaces.preprocessing import default_preprocessing
from heldout.spaces.presets import Entry
from heldout_papers.spaces.boosted_linear import BoostedLinear
from heldout_papers.spaces.lvq1 import LVQ1
from heldout_papers.spaces.random_subspace_knn import RandomSubspaceKNN
from heldout_papers.spaces.shrinkage_discriminant import ShrinkageDiscriminant

TOP3 = ("rf", "svmRadial", "gbm")
FULL = ("bst", "gbm", "knn", "lvq", "nb", "nnet", "rf", "rknn", "sda", "svmLinear", "svmPoly", "svmRadial")
MOST_STEPS = 200_000
"""Steps of a support vector machine: with dependent columns libsvm may run for hours without progress."""


def wainer_cawley2021(X: Any, y: Any, *, small: bool = False) -> list[Entry]:
    """The twelve families, after the same preprocessing: gaps filled, indicators of categories, standardised.

    ``bst`` boosted linear classifiers, ``gbm`` boosted trees, ``knn`` nearest neighbours, ``lvq`` learning vector
    quantization, ``nb`` naive Bayes, ``nnet`` a neural network with one hidden layer, ``rf`` random forest,
    ``rknn`` nearest neighbours in random choices of columns, ``sda`` shrinkage discriminant analysis,
    ``svmLinear``, ``svmPoly`` and ``svmRadial`` support vector machines.

    Parameters
    ----------
    X : table or array of shape (N, p)
        Its number of columns after encoding sets the unit of kernels and of the forest's choices of columns.
    y : array-like of shape (N,)
        Classes; neighbours are at most a third of the rows.
    small : bool
        Whether to use fewer trees and smaller grids, which take a tenth of the time on a few hundred rows.

    Returns
    -------
    list of (name, estimator, grid)
        The ``estimator`` of ``HeldOutSearchCV``.

    Raises
    ------
    InputError
        When ``small`` is no boolean, or a column holds dates or nested values.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from heldout.configurations import make_configurations
    >>> cancer = load_breast_cancer(return_X_y=True)
    >>> [name for name, _, _ in wainer_cawley2021(*cancer)] == list(FULL)
    True
    >>> [len(make_configurations(wainer_cawley2021(*cancer, small=small))) for small in (False, True)]
    [165, 108]
    """
    if not isinstance(small, bool | np.bool_):
        raise InputError(f"small must be True or False, got {small!r}.", argument="small")
    prepare = default_preprocessing(X)
    p = prepare.fit_transform(X).shape[1]
    models = _models(p, len(y), small)
    return [
        (name, Pipeline([("prepare", prepare), ("fit", model)]), _named(grid))
        for name, (model, grid) in models.items()
    ]


def _models(p: int, n_rows: int, small: bool) -> dict[str, tuple[BaseEstimator, dict[str, list[Any]]]]:
    trees, forest = ([10, 20, 40], [25, 50]) if small else ([50, 100, 150, 200, 250], [100, 200, 300, 400, 500])
    iterations = [5, 10, 20, 40, 80, 160] if small else [10, 20, 40, 80, 160, 320, 640]
    return {
        "bst": (BoostedLinear("hinge"), {"learning_rate": [0.05, 0.2], "n_iterations": iterations}),
        "gbm": (
            GradientBoostingClassifier(),
            {
                "learning_rate": [0.1, 0.3] if small else [0.05, 0.1],
                "max_depth": [1, 3] if small else [1, 2, 3, 5],
                "n_estimators": trees,
            },
        ),
        "knn": (
            KNeighborsClassifier(algorithm="brute"),
            {"n_neighbors": _neighbours([1, 3, 5, 7, 9, 11, 15, 21, 29, 37], n_rows)},
        ),
        "lvq": (LVQ1(), {"n_prototypes": [1, 2, 4, 8] if small else [1, 2, 4, 8, 16, 32]}),
        "nb": (GaussianNB(), {"var_smoothing": [1e-9, 1e-4, 1e-3, 1e-2, 1e-1, 1.0]}),
        "nnet": (
            MLPClassifier(activation="logistic", solver="lbfgs", max_iter=100),
            {
                "hidden_layer_sizes": [(3,), (8,)] if small else [(3,), (8,), (20,)],
                "alpha": [0.01, 0.1, 1.0] if small else [0.0, 0.01, 0.1, 1.0],
            },
        ),
        "rf": (RandomForestClassifier(), {"max_features": _shares(p), "n_estimators": forest}),
        "rknn": (
            RandomSubspaceKNN(n_estimators=50 if small else 200),
            {
                "max_features": ["sqrt", 0.5] if small else ["sqrt", 0.3, 0.6],
                "n_neighbors": _neighbours([1, 3, 5, 9, 15, 21], n_rows),
            },
        ),
        "sda": (ShrinkageDiscriminant(), {"shrinkage": ["auto", 0.05, 0.2, 0.4, 0.7, 1.0]}),
        "svmLinear": (SVC(kernel="linear", max_iter=MOST_STEPS), {"C": _powers_of_2(-9, -7, -5, -3, -1, 1)}),
        "svmPoly": (
            SVC(kernel="poly", coef0=1.0, gamma=1 / p, max_iter=MOST_STEPS),
            {"degree": [2, 3] if small else [2, 3, 4], "C": _powers_of_2(-5, -2, 1, 4)},
        ),
        "svmRadial": (
            SVC(max_iter=MOST_STEPS),
            {"gamma": [factor / p for factor in _powers_of_2(-6, -4, -2, 0, 2)], "C": _powers_of_2(-2, 1, 4, 7)},
        ),
    }


def _named(grid: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {f"fit__{name}": values for name, values in grid.items()}


def _neighbours(numbers: list[int], n_rows: int) -> list[int]:
    return [number for number in numbers if number <= n_rows // 3] or [1]


def _shares(p: int) -> list[float]:
    """Half the square root of the number of columns, the root and its double, as shares that fit any fold."""
    shares = [min(1.0, float(f"{factor * np.sqrt(p) / p:.3g}")) for factor in (0.5, 1.0, 2.0)]
    return list(dict.fromkeys(shares))


def _powers_of_2(*exponents: int) -> list[float]:
    return [2.0**exponent for exponent in exponents]
