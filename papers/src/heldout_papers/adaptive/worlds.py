"""Problems whose truth is known, and spaces of configurations over them that a sampler can search.

- *noise*: labels that do not depend on the ten columns; a support vector machine with a weight for each column.
- *signal*: the same, with three columns that differ between the classes.
- *smooth*: as section 6.1 of Tsamardinos et al. (2018), true accuracies from a Beta distribution; but
  configurations have three parameters, and accuracies and errors are smooth functions of them. No model is trained.
- a table: a sample of its rows, with the others as the truth; a support vector machine on standardised columns.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import beta
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from heldout._streams import stream
from heldout_papers.tables import TableFile

Floats = NDArray[np.float64]
WORLDS = ("noise", "signal", "smooth")
N_COLUMNS = 10
SHIFT = 0.6
"""Half the distance of the classes in each of three columns of "signal", in standard deviations."""
N_NEW = 4000
"""New rows on which the truth of "signal" is measured."""
N_WAVES = 24
"""Of the smooth functions of "smooth"."""
N_PARAMETERS = 3
BETA = (24.0, 6.0)
"""True accuracies of "smooth": the article's Be(24, 6), whose mean is .8."""
ROUGHNESS = 4.0
"""Of these functions: the standard deviation of a wave's frequency, in radians across the space."""
MOST_REST = 5000
"""Rows of a table on which the truth is measured."""


@dataclass(frozen=True, eq=False)
class AdaptiveProblem:
    """Rows to search on, and what is known about them.

    Attributes
    ----------
    X, y : ndarray
    estimator : estimator
    space : mapping of str to (low, high, log)
        Of its parameters, all numbers.
    truth : callable
        From a model that was fitted on these rows to its true accuracy.
    """

    X: Any
    y: NDArray[np.intp]
    estimator: Any
    space: Mapping[str, tuple[float, float, bool]]
    truth: Callable[[Any], float]


class WeightedSVC(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A support vector machine on weighted columns: w0 to w9 are the weights."""

    def __init__(
        self, C: float = 1.0, w0: float = 1.0, w1: float = 1.0, w2: float = 1.0, w3: float = 1.0, w4: float = 1.0,
        w5: float = 1.0, w6: float = 1.0, w7: float = 1.0, w8: float = 1.0, w9: float = 1.0,
    ) -> None:  # fmt: skip
        self.C = C
        self.w0, self.w1, self.w2, self.w3, self.w4 = w0, w1, w2, w3, w4
        self.w5, self.w6, self.w7, self.w8, self.w9 = w5, w6, w7, w8, w9

    @property
    def _weights(self) -> Floats:
        return np.array([getattr(self, f"w{place}") for place in range(N_COLUMNS)])

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the machine on the weighted columns."""
        self.classes_ = np.unique(y)
        self.model_ = SVC(C=self.C, gamma=1 / N_COLUMNS).fit(X * self._weights, y)
        return self

    def predict(self, X: Any) -> Any:
        """Its predictions."""
        return self.model_.predict(X * self._weights)


@dataclass(frozen=True, eq=False)
class _Waves:
    """Random Fourier features of a smooth function on the unit cube."""

    frequencies: Floats  # (Q, 3)
    phases: Floats  # (Q,)

    def at(self, point: Floats) -> Floats:
        """(Q,): of unit length, so that a sum weighted by standard normal numbers is standard normal."""
        found = np.cos(self.frequencies @ point + self.phases)
        return np.asarray(found / np.linalg.norm(found))


@lru_cache(maxsize=16)
def _waves(seed: int) -> tuple[_Waves, _Waves, Floats]:
    """Those of the true accuracy with their weights, and those of errors."""
    rng = np.random.default_rng(seed)

    def drawn() -> _Waves:
        frequencies = ROUGHNESS * rng.standard_normal((N_WAVES, N_PARAMETERS))
        return _Waves(frequencies, rng.uniform(0, 2 * np.pi, N_WAVES))

    return drawn(), drawn(), rng.standard_normal(N_WAVES)


class SmoothClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts a row right where a smooth function of its parameters and of the row is low enough.

    A row is N_WAVES standard normal numbers and its label. Training changes nothing.
    """

    def __init__(self, a: float = 0.5, b: float = 0.5, c: float = 0.5, seed: int = 0) -> None:
        self.a, self.b, self.c, self.seed = a, b, c, seed

    @property
    def _point(self) -> Floats:
        return np.array([self.a, self.b, self.c])

    @property
    def accuracy(self) -> float:
        """The true one, exactly: that of the quantile of Be(24, 6) at a smooth function of the parameters."""
        waves, _, weights = _waves(self.seed)
        return float(beta.ppf(ndtr(waves.at(self._point) @ weights), *BETA))

    def fit(self, X: Any, y: Any) -> Self:
        """Nothing is learnt."""
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X: Any) -> Any:
        """Right with the true accuracy, on each row for itself."""
        X = np.asarray(X)
        own, label = X[:, :N_WAVES], X[:, N_WAVES].astype(np.intp)
        _, waves, _ = _waves(self.seed)
        right = own @ waves.at(self._point) < ndtri(self.accuracy)
        return np.where(right, label, 1 - label)


def problem_of(world: str | TableFile, n_rows: int, entropy: int, number: int) -> AdaptiveProblem:
    """The problem of one repetition."""
    if isinstance(world, TableFile):
        return _of_table(world, n_rows, entropy, number)
    rng = np.random.default_rng(stream(entropy, "adaptive", world, n_rows, number))
    y = rng.permutation(np.arange(n_rows) % 2)
    if world == "smooth":
        seed = int(rng.integers(2**31))
        X = np.column_stack([rng.standard_normal((n_rows, N_WAVES)), y])
        space = dict.fromkeys("abc", (0.0, 1.0, False))
        return AdaptiveProblem(X, y, SmoothClassifier(seed=seed), space, lambda model: float(model.accuracy))
    shift = SHIFT if world == "signal" else 0.0
    X = _shifted(rng, y, shift)
    y_new = np.arange(N_NEW) % 2
    X_new = _shifted(rng, y_new, shift)

    def truth(model: Any) -> float:
        return float((model.predict(X_new) == y_new).mean()) if shift else 0.5

    weights = {f"w{place}": (0.0, 1.0, False) for place in range(N_COLUMNS)}
    return AdaptiveProblem(X, y, WeightedSVC(), {"C": (1e-2, 1e2, True), **weights}, truth)


def _shifted(rng: np.random.Generator, y: NDArray[np.intp], shift: float) -> Floats:
    X = rng.standard_normal((len(y), N_COLUMNS))
    X[:, :3] += shift * (2 * y[:, None] - 1)
    return X


def _of_table(table: TableFile, n_rows: int, entropy: int, number: int) -> AdaptiveProblem:
    X, y = _arrays(table)
    rng = np.random.default_rng(stream(entropy, "adaptive table", table.digest, n_rows, number))
    order = rng.permutation(len(y))
    shares = [np.flatnonzero(y[order] == code) for code in (0, 1)]
    n_ones = round(n_rows * float(y.mean()))
    sample = order[np.sort(np.concatenate([shares[0][: n_rows - n_ones], shares[1][:n_ones]]))]
    rest = np.setdiff1d(order, sample, assume_unique=True)[:MOST_REST]

    def truth(model: Any) -> float:
        return float((model.predict(X[rest]) == y[rest]).mean())

    space = {"svc__C": (1e-2, 1e3, True), "svc__gamma": (1e-5, 10.0, True)}
    return AdaptiveProblem(X[sample], y[sample], make_pipeline(StandardScaler(), SVC()), space, truth)


@lru_cache(maxsize=2)
def _arrays(table: TableFile) -> tuple[Floats, NDArray[np.intp]]:
    X, y = table.read()
    return X.to_numpy(dtype=np.float64), np.asarray(y, dtype=np.intp)
