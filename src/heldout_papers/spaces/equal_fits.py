"""The same model fitted to the same numbers is fitted once, while a process still remembers it.

Different selections often keep the same columns, and a few columns leave no choice of how many a forest tries: then
configurations that differ by name are one and the same fit.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from threading import Lock
from typing import Any

import numpy as np

from heldout.configurations import NotHashableError, canonical_form

KEPT_FITS = 8
"""Fitted models that a process remembers, the latest used."""
MOST_BYTES = 200_000
"""Larger tables are not compared: selections that keep so much are rarely the same."""


def fitted_once(model: Any, X: Any, y: Any) -> Any:
    """The model fitted to the rows, or one that was fitted to the same; it is shared and must not be changed.

    A model is fitted anew where its ``random_state`` is None, as it is then another every time, where its
    parameters have no canonical form, or where X is no array of numbers.

    Parameters
    ----------
    model : estimator
        Not yet fitted.
    X : array-like of shape (n, p)
    y : array-like of shape (n,)
    """
    key = _key(model, X, y)
    if key is None:
        return model.fit(X, y)
    remembered = _FITS.get(key)
    return _FITS.kept(key, model.fit(X, y)) if remembered is None else remembered


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
        said = [canonical_form(model), type(y).__name__, target.dtype.str, classes.tolist(), X.dtype.str, X.shape]
        # Sums over rows round otherwise where columns lie together in memory.
        key = hashlib.sha256(json.dumps([*said, X.strides]).encode())
    except (NotHashableError, TypeError, ValueError, RecursionError):
        return None
    key.update(codes.tobytes() + X.tobytes())
    return key.digest()


class _Fits:
    """The fitted models that this process remembers."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._fits: OrderedDict[bytes, Any] = OrderedDict()
        self._lock = Lock()

    def get(self, key: bytes) -> Any:
        with self._lock:
            if key in self._fits:
                self._fits.move_to_end(key)
            return self._fits.get(key)

    def kept(self, key: bytes, model: Any) -> Any:
        """The model that is kept for the key: another thread may have been first."""
        with self._lock:
            model = self._fits.setdefault(key, model)
            while len(self._fits) > self._most:
                self._fits.popitem(last=False)
            return model


_FITS = _Fits(KEPT_FITS)
