"""Copies of a row stay together when a model splits its training rows: it splits the original rows.

A bootstrap sample holds a row several times, and so do training rows that a user's splits oversample. A search
inside a model, or any estimator with its own ``cv``, would otherwise train on one copy of a row and test on
another, and prefer models that memorise rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, is_classifier
from sklearn.model_selection import PredefinedSplit, StratifiedShuffleSplit, check_cv

from heldout._sklearn import rows_at, takes_splitter
from heldout._types import Indices
from heldout.data.equal_rows import row_numbers
from heldout.folds.plans import seeded
from heldout.folds.splits import Rows, listed_splits
from heldout.spaces.procedure import TuningProcedure

_LEAVES_ONE_OUT_BY_ITSELF = ("RidgeCV", "RidgeClassifierCV")
"""With ``cv=None`` these have a closed form for leaving one row out, and no folds to set."""


class CopiesTogether:
    """A splitter over the original rows of a sample; all copies of a row are on one side.

    - ``cv``: as the estimator had it. A list of splits is of the original rows.
    - ``origin`` (n,): the original row of each row of the sample. Parts of it that a splitter of the model gave (to
      a search within a search) are recognised by their targets, even if their columns were changed. Where other
      rows are split, as in a bagged search, rows of the same content count as copies.
    - ``classifier``: whether an integer makes stratified folds.
    - ``random_state``: of a splitter that shuffles.
    - ``parts``: the parts that the splitters of one model have returned; by default those of this one and its
      clones.

    Examples
    --------
    >>> splitter = CopiesTogether(2, np.array([0, 0, 1, 2, 2, 2, 3]), classifier=False)
    >>> [test.tolist() for _, test in splitter.split(np.zeros((7, 1)), np.zeros(7))]
    [[0, 1, 2], [3, 4, 5, 6]]
    """

    def __init__(
        self,
        cv: Any,
        origin: Indices,
        classifier: bool,
        random_state: int | None = None,
        parts: TrainingParts | None = None,
    ) -> None:
        # Lists of splits may be generators, which could be read once only.
        listed = cv is None or hasattr(cv, "split") or isinstance(cv, int | np.integer)
        self.cv = cv if listed else listed_splits(cv)
        self.origin = origin
        self.classifier = classifier
        self._seed = random_state
        if getattr(cv, "random_state", 0) is None:
            self.random_state = None  # stacking sets it, so that all its members have the same shuffled splits
        self._parts = TrainingParts() if parts is None else parts

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there will be."""
        return int(check_cv(self.cv, y, classifier=self.classifier).get_n_splits(X, y, groups))

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Positions in the sample that train and that test."""
        origin = self.origin_of(X, y)
        for train, test in self._split(X, y, groups, origin):
            self._parts.remember(None if y is None else rows_at(y, train), origin[train])
            yield train, test

    def _split(self, X: Any, y: Any, groups: Any, origin: Indices) -> Iterator[tuple[Rows, Rows]]:
        originals, first, place = np.unique(origin, return_index=True, return_inverse=True)
        place = place.reshape(-1)
        if isinstance(self.cv, list | PredefinedSplit):
            # A list of splits counts original rows, so it is translated to where their copies are.
            for train, test in check_cv(self.cv).split():
                drawn = (np.flatnonzero(np.isin(originals, rows)[place]) for rows in (train, test))
                yield next(drawn), next(drawn)
            return
        mine = None if y is None else rows_at(y, first)
        cv = self._splitter(mine)
        own_groups = None if groups is None else rows_at(groups, first)
        # The splitter sees each original row once, by its first copy; its copies follow it.
        for train, test in cv.split(rows_at(X, first), mine, own_groups):
            yield np.flatnonzero(np.isin(place, train)), np.flatnonzero(np.isin(place, test))

    def _splitter(self, y: Any) -> Any:
        seed = getattr(self, "random_state", None) if self._seed is None else self._seed
        if seed is None:
            return check_cv(self.cv, y, classifier=self.classifier)
        if self.cv is None or isinstance(self.cv, int | np.integer):
            kind = type(check_cv(self.cv, y, classifier=self.classifier))
            return kind(5 if self.cv is None else int(self.cv), shuffle=True, random_state=seed)
        return seeded(self.cv, seed)

    def origin_of(self, X: Any, y: Any) -> Indices:
        """The original row of each of these rows."""
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        known = self._parts.origin_of(n_rows, y)
        if known is not None:
            return known
        # As many rows may still be others: a bagged search receives rows that were drawn again.
        if n_rows == len(self.origin) and _same_within(self.origin, y):
            return self.origin
        return row_numbers(X, y)


class TrainingParts:
    """The training parts of a sample that splitters have returned, shared by all splitters of a model.

    A search within a search receives such a part, in order, and often with other columns. Its copies may differ,
    because each copy of a row may have been imputed separately. The targets identify the part; if several parts
    have the same targets, rows that are copies in any of them stay together.
    """

    def __init__(self) -> None:
        self._origins: dict[Hashable, dict[bytes, Indices]] = {}

    def __deepcopy__(self, memo: Any) -> TrainingParts:
        return self

    def remember(self, y: Any, origin: Indices) -> None:
        self._origins.setdefault(_key_of(len(origin), y), {})[origin.tobytes()] = origin

    def origin_of(self, n_rows: int, y: Any) -> Indices | None:
        found = list(self._origins.get(_key_of(n_rows, y), {}).values())
        if len(found) <= 1:
            return found[0] if found else None
        codes = [np.unique(origin, return_inverse=True)[1].reshape(-1) for origin in found]
        shifts = n_rows * np.arange(1, len(codes) + 1)
        rows = np.tile(np.arange(n_rows), len(codes))
        links = (np.ones(len(rows)), (rows, np.concatenate([c + by for c, by in zip(codes, shifts, strict=True)])))
        # Rows that share an original in any of the parts are joined, so that no copy is separated.
        graph = coo_array(links, shape=(n_rows * (1 + len(codes)),) * 2)
        return connected_components(graph, directed=False)[1][:n_rows].astype(np.intp)


def _key_of(n_rows: int, y: Any) -> Hashable:
    if y is None:
        return n_rows
    values = np.asarray(y)
    # Bytes of an object array are addresses, which differ between equal texts.
    return (n_rows, tuple(values.ravel().tolist()) if values.dtype.kind == "O" else values.tobytes())


def _same_within(origin: Indices, y: Any) -> bool:
    """Whether the targets of the copies of a row are one; true without targets."""
    if y is None:
        return True
    values = np.asarray(y)
    first, place = np.unique(origin, return_index=True, return_inverse=True)[1:]
    return bool(np.all(values == values[first[place.reshape(-1)]]))


def with_copies_together(model: BaseEstimator, origin: Indices) -> BaseEstimator:
    """The model, in which every ``cv`` now splits original rows; unchanged if it has none.

    - ``model``: changed in place.
    - ``origin`` (n,): the original row of each row of the sample that it is fitted on.
    """
    params = model.get_params(deep=True)
    changed: dict[str, Any] = {}
    # One for all splitters of the model, as an inner search sees rows that an outer one has split.
    parts = TrainingParts()
    for name, cv in params.items():
        place, _, last = name.rpartition("__")
        owner = params[place] if place else model
        if last == "groups" and isinstance(owner, TuningProcedure):
            changed[name] = origin
        if last != "cv" or isinstance(cv, str) or not hasattr(owner, "fit"):
            continue
        if cv is None and type(owner).__name__ in _LEAVES_ONE_OUT_BY_ITSELF:
            continue
        if not takes_splitter(owner):
            continue  # it takes no splitter: TargetEncoder of older versions of scikit-learn
        seed = getattr(owner, "random_state", None)
        if isinstance(cv, float):  # the share of the rows that trains; a threshold is tuned on the others
            cv = StratifiedShuffleSplit(1, test_size=1 - cv, random_state=seed)
        # For an integer, TargetEncoder shuffles, and stratifies where the targets are classes.
        shuffles = getattr(owner, "shuffle", False) in (True, "deprecated")
        fixed = (int(seed) if isinstance(seed, int | np.integer) else 0) if shuffles else None
        by_class = is_classifier(owner) or hasattr(owner, "target_type")
        changed[name] = CopiesTogether(cv, origin, by_class, fixed, parts)
    return model.set_params(**changed) if changed else model
