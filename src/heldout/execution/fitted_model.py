"""A fitted model as a part of a result: it is pickled only if it travels to another process."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

from heldout.errors import text_of

try:
    from cloudpickle import dumps as dumps  # type: ignore[import-untyped,unused-ignore]
except ImportError:  # joblib before 1.6 contains its own
    from joblib.externals.cloudpickle import dumps as dumps


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A model that made held-out predictions.

    Attributes
    ----------
    estimator : estimator or None
        None if it could not be sent here.
    problem : str
        Why it could not.
    n_bytes_sent : int
        Its size in the process that received it; 0 where it was fitted.
    """

    estimator: Any
    problem: str = ""
    n_bytes_sent: int = 0

    @property
    def n_bytes(self) -> int:
        """About the memory that it takes; 0 if nothing tells."""
        if self.n_bytes_sent or self.estimator is None:
            return self.n_bytes_sent
        arrays: list[pickle.PickleBuffer] = []
        try:
            rest = dumps(self.estimator, protocol=5, buffer_callback=arrays.append)
        except Exception:
            return 0
        return len(rest) + sum(array.raw().nbytes for array in arrays)

    def __reduce__(self) -> tuple[Any, ...]:
        # An error here would reach the pool, which takes it for one of the whole batch.
        try:
            return _received, (dumps(self.estimator, protocol=5),)
        except Exception as error:
            return FittedModel, (None, f"it cannot be sent between processes ({_line(error)}); use `n_jobs=1`")


def _received(packed: bytes) -> FittedModel:
    try:
        return FittedModel(pickle.loads(packed), n_bytes_sent=len(packed))
    except Exception as error:
        return FittedModel(None, f"it cannot be read from another process ({_line(error)}); use `n_jobs=1`")


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {text_of(error)}"
