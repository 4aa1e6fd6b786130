"""Recent results of this process, and fits that use them: equal models on equal numbers are fitted once.

Different selections often keep the same columns, and few columns leave a forest no choice of how many it tries.
Then configurations with different names are the same fit.
"""

import hashlib
import json
from collections import OrderedDict
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np

from heldout.configurations import NotHashableError, canonical_form

Result = TypeVar("Result")

KEPT_FITS = 8
"""Fitted models that a process keeps."""
MOST_BYTES = 200_000
"""Larger tables are not compared: selections that keep so much are rarely equal."""


class Recent(Generic[Result]):
    """The most recently used results of this process, by key; several threads may use it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._results: OrderedDict[bytes, Result] = OrderedDict()
        self._lock = Lock()

    def get(self, key: bytes) -> Result | None:
        """The result of a key; None if there is none."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
            return self._results.get(key)

    def add(self, key: bytes, result: Result) -> Result:
        """Keep a result, and return the one that is kept: another thread may have been first."""
        with self._lock:
            result = self._results.setdefault(key, result)
            while len(self._results) > self._most:
                self._results.popitem(last=False)
            return result


def fitted_once(model: Any, X: Any, y: Any) -> Any:
    """The fitted model, or an equal one fitted before on equal rows; it is shared and must not be changed.

    A model is always fitted again if its ``random_state`` is None, its parameters have no canonical form, or X is
    not an array of numbers.

    ``model``: an unfitted model; ``X`` (n, p); ``y`` (n,).
    """
    key = _key(model, X, y)
    if key is None:
        return model.fit(X, y)
    known = FITS.get(key)
    return FITS.add(key, model.fit(X, y)) if known is None else known


def _key(model: Any, X: Any, y: Any) -> bytes | None:
    if not (type(X) is np.ndarray and X.dtype.kind in "fiub" and X.nbytes <= MOST_BYTES):
        return None
    target = np.asarray(y)
    if target.ndim != 1:
        return None
    settings = model.get_params(deep=True)
    if any(value is None and name.rpartition("__")[2] == "random_state" for name, value in settings.items()):
        return None
    try:
        classes, codes = np.unique(target, return_inverse=True)
        parts = [canonical_form(model), type(y).__name__, target.dtype.str, classes.tolist(), X.dtype.str, X.shape]
        # The layout in memory changes how sums over rows are rounded.
        key = hashlib.sha256(json.dumps([*parts, X.strides]).encode())
    except (NotHashableError, TypeError, ValueError, RecursionError):
        return None
    key.update(codes.tobytes() + X.tobytes())
    return key.digest()


FITS = Recent[Any](KEPT_FITS)
