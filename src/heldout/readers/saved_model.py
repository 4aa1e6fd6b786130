"""Models saved by skops: only reviewed types are loaded, and types that the user trusts by their full name.

Reading such a file runs none of its code, but using a model calls what it holds: a transformer calls its function,
a neighbours model its metric. So everything that a file names must be on a list, and the list is in this package
(``reviewed_types.py``), not beside the file.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from heldout.errors import InputError, MissingExtraError
from heldout.readers.reviewed_types import REVIEWED_TYPES

CACHE = "joblib.memory.Memory"
"""The cache of a pipeline with ``memory="folder"``, which unpickles that folder's files when it is fitted."""


def load_model(path: str | Path, trust: Iterable[str] = ()) -> Any:
    """Load a model saved by ``heldout tune`` or ``heldout validate``, or any other in a skops file.

    Using a model runs its code, so a file may hold reviewed types only: those of heldout and scikit-learn that
    compute and do nothing else. A function in it must be reviewed by its own name.

    Parameters
    ----------
    path : str or Path
        A ``.skops`` file.
    trust : sequence of str
        Full names of further types and functions that you have reviewed, such as ``"mypackage.models.MyModel"``.

    Returns
    -------
    estimator
        As it was saved.

    Raises
    ------
    InputError
        When there is no such file, it is damaged, or it holds types that are neither reviewed nor trusted.
    MissingExtraError
        Without skops, which is in the extra ``app``.

    Notes
    -----
    Only code is checked. Numbers are not: a crafted file can still predict nonsense or crash the process, as
    scikit-learn does not check the nodes of a tree. Load models of people you trust.

    Examples
    --------
    >>> import tempfile, skops.io
    >>> from sklearn.linear_model import LogisticRegression
    >>> path = Path(tempfile.mkdtemp()) / "model.skops"
    >>> skops.io.dump(LogisticRegression(C=3.0).fit([[0.0], [1.0]], ["no", "yes"]), path)
    >>> load_model(path).predict([[2.0]])
    array(['yes'], dtype='<U3')
    """
    trusted = _trusted(trust)
    data = _bytes_of(Path(path))
    _refuse(set(unreviewed_types(data, path)) - trusted, path)
    model = _constructed(data, path)
    if CACHE not in trusted and names_a_cache(model):
        _refuse({CACHE}, path)
    return model


def unreviewed_types(data: bytes, path: str | Path) -> list[str]:
    """Full names of the types and functions in the bytes of a skops file that are not reviewed, in order."""
    return [name for name in types_to_trust(data, path) if name not in REVIEWED_TYPES]


def types_to_trust(data: bytes, path: str | Path) -> list[str]:
    """Full names of the types and functions in the bytes of a skops file that skops does not trust by default."""
    try:
        return sorted(_skops().get_untrusted_types(data=data))
    except MissingExtraError:
        raise
    except Exception as error:
        raise _not_loaded(path, error) from error


def names_a_cache(model: Any) -> bool:
    """Whether some ``memory`` in the model, or in the grid of a search, is anything but None or a number.

    This examines the loaded model rather than the file, since two nodes of a file may share one value.
    """
    done, left = set(), [model]
    while left:
        part = left.pop()
        if id(part) in done:
            continue
        done.add(id(part))
        named = part if isinstance(part, dict) else getattr(part, "__dict__", {})
        if any(_is_memory(name) and not isinstance(value, int | float | None) for name, value in named.items()):
            return True
        left += named.values()
        if isinstance(part, list | tuple | set):
            left += part
        elif isinstance(part, np.ndarray) and part.dtype == object:
            left += part.ravel().tolist()
    return False


def _is_memory(name: Any) -> bool:
    return isinstance(name, str) and name.rpartition("__")[2] == "memory"


def _refuse(strangers: set[str], path: str | Path) -> None:
    if strangers:
        names = sorted(strangers)
        raise InputError(
            f"{path} holds types that are not reviewed: {', '.join(names)}; review them, and if you trust each, "
            f"load it with ho.load_model(path, trust={names}), or with --trust {' --trust '.join(names)}."
        )


def _constructed(data: bytes, path: str | Path) -> Any:
    io = _skops()
    try:
        return io.loads(data, trusted=io.get_untrusted_types(data=data))
    except Exception as error:
        raise _not_loaded(path, error) from error


def _trusted(trust: Iterable[str]) -> set[str]:
    names = [trust] if isinstance(trust, str) else list(trust)
    if isinstance(trust, str) or not all(isinstance(name, str) for name in names):
        raise InputError(
            f"trust must be a list of full names of types, such as ['mypackage.MyModel'], got {trust!r:.200}.",
            argument="trust",
        )
    return set(names)


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} could not be read ({(error.strerror or str(error)).lower()}).") from error


def _not_loaded(path: str | Path, error: Exception) -> InputError:
    reason = " ".join(str(error).split()).rstrip(".")
    return InputError(f"{path} could not be loaded ({type(error).__name__}: {reason}).")


def _skops() -> Any:
    try:
        from skops import io
    except ImportError:
        raise MissingExtraError("Loading or saving a model", "app") from None
    return io
