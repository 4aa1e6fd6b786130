"""Copies of a row stay together: what divides the rows of a bootstrap sample inside a model divides original rows.

A search, or any estimator with a ``cv`` of its own, would otherwise train on one copy of a row and be tested on
another, and choose what remembers rows best.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.model_selection import PredefinedSplit, check_cv
from sklearn.utils import _safe_indexing

from heldout.columns import distinct
from heldout.fold_plans import seeded
from heldout.folds import Rows

_LEAVES_ONE_OUT_BY_ITSELF = ("RidgeCV", "RidgeClassifierCV")
"""With ``cv=None`` these have a closed form for leaving one row out, and no folds that could be set."""


class CopiesTogether:
    """A splitter over the original rows of a sample; the copies of a row go where it goes.

    Parameters
    ----------
    cv : int, splitter, iterable of (train, test), or None
        As the estimator had it. A list of splits is of the original rows.
    origin : ndarray of shape (n,)
        The original row of each row of the sample. Where other rows are split (a search within a search splits
        parts of it), rows of the same content are taken for copies.
    classifier : bool
        Whether an integer makes stratified folds.
    random_state : int, optional
        Of a splitter that shuffles.

    Examples
    --------
    >>> splitter = CopiesTogether(2, np.array([0, 0, 1, 2, 2, 2, 3]), classifier=False)
    >>> [test.tolist() for _, test in splitter.split(np.zeros((7, 1)), np.zeros(7))]
    [[0, 1, 2], [3, 4, 5, 6]]
    """

    def __init__(
        self, cv: Any, origin: NDArray[np.intp], classifier: bool, random_state: int | None = None
    ) -> None:
        listed = cv is None or hasattr(cv, "split") or isinstance(cv, int | np.integer)
        self.cv = cv if listed else list(cv)
        self.origin = origin
        self.classifier = classifier
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there will be."""
        return int(check_cv(self.cv, y, classifier=self.classifier).get_n_splits(X, y, groups))

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Positions in the sample that train and that test."""
        originals, first, place = np.unique(self._origin_of(X, y), return_index=True, return_inverse=True)
        place = place.reshape(-1)
        if isinstance(self.cv, list | PredefinedSplit):
            for train, test in check_cv(self.cv).split():
                drawn = (np.flatnonzero(np.isin(originals, rows)[place]) for rows in (train, test))
                yield next(drawn), next(drawn)
            return
        mine = None if y is None else _safe_indexing(y, first)
        cv = self._splitter(mine)
        own_groups = None if groups is None else _safe_indexing(groups, first)
        for train, test in cv.split(_safe_indexing(X, first), mine, own_groups):
            yield np.flatnonzero(np.isin(place, train)), np.flatnonzero(np.isin(place, test))

    def _splitter(self, y: Any) -> Any:
        if self.random_state is None:
            return check_cv(self.cv, y, classifier=self.classifier)
        if self.cv is None or isinstance(self.cv, int | np.integer):
            kind = type(check_cv(self.cv, y, classifier=self.classifier))
            return kind(5 if self.cv is None else int(self.cv), shuffle=True, random_state=self.random_state)
        return seeded(self.cv, self.random_state)

    def _origin_of(self, X: Any, y: Any) -> NDArray[np.intp]:
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        return self.origin if n_rows == len(self.origin) else _alike(X, y)


def _alike(X: Any, y: Any) -> NDArray[np.intp]:
    """A number a row, the same for rows of the same content."""
    table = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    columns = table.reshape(len(table), -1).T
    if y is not None:
        columns = [*columns, *np.asarray(y).reshape(len(table), -1).T]
    number = np.zeros(len(table), dtype=np.intp)
    for column in columns:
        codes = distinct(np.asarray(column.tolist()), "a column")[1] if column.dtype.kind == "O" else _codes(column)
        number = np.unique(number * (codes.max() + 1) + codes, return_inverse=True)[1].reshape(-1)
    return number


def _codes(column: NDArray[Any]) -> NDArray[np.intp]:
    return np.unique(column, return_inverse=True)[1].reshape(-1)


def with_copies_together(model: BaseEstimator, origin: NDArray[np.intp]) -> BaseEstimator:
    """The model with every ``cv`` inside it dividing original rows; the model itself where it has none.

    Parameters
    ----------
    model : estimator
        Changed in place.
    origin : ndarray of shape (n,)
        The original row of each row of the sample that it is fitted on.
    """
    params = model.get_params(deep=True)
    changed = {}
    for name, cv in params.items():
        place, _, last = name.rpartition("__")
        owner = params[place] if place else model
        if last != "cv" or isinstance(cv, str) or not hasattr(owner, "fit"):
            continue
        if cv is None and type(owner).__name__ in _LEAVES_ONE_OUT_BY_ITSELF:
            continue
        changed[name] = CopiesTogether(cv, origin, is_classifier(owner))
    return model.set_params(**changed) if changed else model
