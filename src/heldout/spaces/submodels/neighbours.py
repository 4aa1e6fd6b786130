"""Nearest neighbours: one query serves every number of neighbours and both kinds of weights."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.extmath import row_norms

from heldout._sklearn import WITHOUT_BRUTE_FORCE, class_codes, indexed_rows, is_brute, rows_at
from heldout._types import Array, Booleans, Floats
from heldout.spaces.submodels import base

_WEIGHTS = ("uniform", "distance", None)
Setting = tuple[int, str | None]
"""A number of neighbours, and their weights."""
_NEAR = 1e-12
"""Squared distances that differ by less than this share of the largest squared norms may change places."""


class Neighbours:
    """The neighbours of new rows, found once for the largest number.

    Rows with equal distances are queried again: which of several equally near rows are neighbours, and their order,
    depends on how many are searched.
    """

    def __init__(self, model: Any, settings: Sequence[Setting | None]) -> None:
        self.model = model
        self.settings = settings
        self._rows: Any = None
        self._distances: Array = np.empty((0, 0))
        self._indices: Array = np.empty((0, 0), dtype=int)
        self._equal: Booleans = np.empty((0, 0), dtype=bool)
        self._equal_so_far: Booleans = np.empty((0, 0), dtype=bool)

    def predict_many(self, X: Any, response: str) -> list[Array | None]:
        if self._rows is not X:
            self._find(X)
        found = {setting: answer for kind in _WEIGHTS for setting, answer in self._voted(X, response, kind)}
        for setting in filter(None, self.settings):
            if setting not in found:
                found[setting] = self._predict(X, response, *setting)
        return [None if setting is None else found[setting] for setting in self.settings]

    def _voted(self, X: Any, response: str, weights: str | None) -> Iterator[tuple[Setting, Array]]:
        """The settings with these weights of which running sums of votes for classes give the response."""
        model, weighs = self.model, weights == "distance"
        sizes = {k for k, kind in filter(None, self.settings) if kind == weights}
        sizes = {k for k in sizes if not self._must_search_again(k, weights)}
        if not sizes or not is_classifier(model) or model.outputs_2d_ or (weighs and response != "predict_proba"):
            return
        near = slice(0, max(sizes))
        labels = class_codes(model)[self._indices[:, near]]
        shares = _shares(self._distances[:, near]) if weighs else np.ones(labels.shape)
        for k, votes in enumerate(_running_votes(labels, shares, len(model.classes_)), start=1):
            if k in sizes and response == "predict_proba":
                answer = votes / votes.sum(axis=1)[:, np.newaxis]
                yield (k, weights), self._certain(answer, X, response, k, weights)
            elif k in sizes:
                yield (k, weights), self._certain(model.classes_[votes.argmax(axis=1)], X, response, k, weights)

    def predict_left_out(self, X: Any, response: str, k: int, weights: str | None) -> Array | None:
        """The training rows X, each predicted from the others; None where that is not certain."""
        model = self.model
        brute = is_brute(model)
        other_search = model.algorithm == "auto" and not brute and k >= (model.n_samples_fit_ - 1) // 2
        if k >= model.n_samples_fit_ or other_search or (brute and weights == "distance"):
            return None
        if self._rows is None:
            most = max(k for k, _ in filter(None, self.settings))
            found = model.kneighbors(None, min(most + 1, model.n_samples_fit_ - 1))
            self._keep(X, found)
        if self._doubtful(k, weights).any():
            return None
        found = _Found(self._distances[:, :k], self._indices[:, :k])
        view = base.view_of(model, n_neighbors=k, weights=weights, kneighbors=found, **WITHOUT_BRUTE_FORCE)
        return np.asarray(getattr(view, response)(X))

    def _find(self, X: Any) -> None:
        most = max(k for k, _ in filter(None, self.settings))
        searched = min(most + 1, self.model.n_samples_fit_)
        self._keep(X, self.model.kneighbors(X, searched))

    def _keep(self, X: Any, found: tuple[Array, Array]) -> None:
        if not np.isfinite(found[0]).all():  # of these no order is known
            raise base.SeparateFitsError("distances that are no numbers")
        self._rows, (self._distances, self._indices) = X, found
        self._equal = _equal_to_the_next(self._distances, self._tolerance(X))
        self._equal_so_far = np.logical_or.accumulate(self._equal, axis=1)

    def _tolerance(self, X: Any) -> float:
        """Of squared distances. Trees compute each distance by itself; brute force does so in several ways."""
        if not is_brute(self.model):
            return 0.0
        norms = (row_norms(rows, squared=True).max() for rows in (_numbers(X), indexed_rows(self.model)))
        return _NEAR * (1.0 + float(sum(norms)))

    def _predict(self, X: Any, response: str, k: int, weights: str | None) -> Array:
        alone = base.view_of(self.model, n_neighbors=k, weights=weights)
        if self._must_search_again(k, weights):
            return np.asarray(getattr(alone, response)(X))
        found = _Found(self._distances[:, :k], self._indices[:, :k])
        # Brute force has a way of its own to predict classes, which would search again.
        predictions = getattr(base.view_of(alone, kneighbors=found, **WITHOUT_BRUTE_FORCE), response)(X)
        return self._certain(predictions, X, response, k, weights)

    def _certain(self, predictions: Array, X: Any, response: str, k: int, weights: str | None) -> Array:
        """The predictions, with those of rows whose neighbours are not certain made by a search of their own."""
        doubtful = np.flatnonzero(self._doubtful(k, weights))
        if doubtful.size:
            alone = base.view_of(self.model, n_neighbors=k, weights=weights)
            predictions[doubtful] = getattr(alone, response)(rows_at(X, doubtful))
        return predictions

    def _must_search_again(self, k: int, weights: str | None) -> bool:
        return is_brute(self.model) and bool(self._doubtful(k, weights).any())

    def _doubtful(self, k: int, weights: str | None) -> Booleans:
        """Rows whose neighbours, or their order where it matters, are not certain."""
        if weights != "distance" and is_classifier(self.model):
            return np.asarray(self._equal[:, k - 1])  # counts of classes do not depend on the order
        return np.asarray(self._equal_so_far[:, k - 1])


def _equal_to_the_next(distances: Array, tolerance: float) -> Array:
    """Whether the neighbour after the j-th one is equally near; the last one of all rows has none after it."""
    equal = np.zeros(distances.shape, dtype=bool)
    near, far = distances[:, :-1], distances[:, 1:]
    if tolerance:
        equal[:, :-1] = (far - near <= 1e-9 * far) | (far**2 - near**2 <= tolerance)
    else:
        equal[:, :-1] = near == far
    return equal


def _numbers(X: Any) -> Any:
    return X if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)


class _Found:
    """In place of the method ``kneighbors``."""

    def __init__(self, distances: Array, indices: Array) -> None:
        self.distances = np.ascontiguousarray(distances)
        self.indices = np.ascontiguousarray(indices)

    def __call__(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        return (self.distances, self.indices) if return_distance else self.indices


def _shares(distances: Array) -> Array:
    """How much each neighbour counts: by the inverse of its distance; only those without a distance, if any."""
    with np.errstate(divide="ignore"):
        shares = 1.0 / distances
    if (shares[:, 0] == 0).any():
        raise base.SeparateFitsError("infinite distances")
    same = np.isinf(shares)
    of_some = same.any(axis=1)
    shares[of_some] = same[of_some]
    return shares


def _running_votes(labels: Array, shares: Array, n_classes: int) -> Iterator[Floats]:
    """The votes (rows, classes) after each neighbour, in the order in which scikit-learn adds them."""
    votes, rows = np.zeros((len(labels), n_classes)), np.arange(len(labels))
    for label, share in zip(labels.T, shares.T, strict=True):
        votes[rows, label] += share
        yield votes


def fit_neighbours(estimator: Any, values: Sequence[base.Value], X: Any, y: Any, **fit_params: Any) -> Neighbours:
    """Index the training rows once."""
    base.without_weights(fit_params)
    settings = [_setting(value, estimator) for value in values]
    fewest = base.smallest(None if setting is None else setting[0] for setting in settings)
    model = base.fitted_copy(estimator, {"n_neighbors": fewest}, X, y, {})
    return Neighbours(model, [setting if _is_served(setting, model) else None for setting in settings])


def _setting(value: base.Value, estimator: Any) -> Setting | None:
    k = base.count(value.get("n_neighbors", estimator.n_neighbors))
    weights = value.get("weights", estimator.weights)
    known = weights is None or (isinstance(weights, str) and weights in _WEIGHTS)
    return (k, weights) if k is not None and known else None


def _is_served(setting: Setting | None, model: Any) -> bool:
    if setting is None or setting[0] > model.n_samples_fit_:
        return False
    # With algorithm="auto" so many neighbours are searched by brute force.
    other_search = setting[0] >= model.n_samples_fit_ // 2
    return not (model.algorithm == "auto" and other_search and not is_brute(model))


def _applies(estimator: Any) -> bool:
    return not callable(estimator.weights) and estimator.metric != "precomputed"


NEIGHBOURS = base.SubmodelFamily(object, ("n_neighbors", "weights"), fit_neighbours, _applies, True)
