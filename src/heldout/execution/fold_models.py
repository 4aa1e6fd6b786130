"""The models behind held-out predictions, by configuration and split."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from heldout._text import counted
from heldout.errors import text_of
from heldout.folds.splits import Place, Rows

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


KeepModels: TypeAlias = Literal["none", "winner", "all"]
DeployedModel: TypeAlias = Literal["all", "bounded"]


@dataclass(frozen=True, eq=False)
class FoldModels(Mapping[Place, Any]):
    """The fold models of a configuration: (repeat, fold) → the model that predicted the rows held out there.

    Its splits are those on which the configuration was fitted. A model is None where its fit failed, and where it
    could not be had.

    Attributes
    ----------
    configuration : int
        The winner, or the argument of ``of``.
    by_configuration : mapping of int to mapping of (repeat, fold) to estimator or None
    test_rows : mapping of (repeat, fold) to ndarray of int
        The held-out rows of each split.
    n_fits : int
        Fits that were made again for the models, after the search: they are not in ``n_fits_``.
    difference : float
        The largest difference between predictions of models that were fitted again and the held-out predictions,
        relative to the largest prediction of the same fit: 0 where all bits are equal, at most 1e-12 elsewhere, and
        more only for fits that ``share="tolerance"`` shared.

    Examples
    --------
    >>> import heldout as ho
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> search = ho.HeldOutSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, keep_models="winner", random_state=0).fit(X, y)
    >>> search.fold_models_
    FoldModels(5 of configuration 0)
    >>> [round(float(model.score(X[rows], y[rows])), 2) for model, rows in search.fold_models_.held_out()]
    [0.41, 0.52, 0.49, 0.44, 0.54]
    """

    configuration: int
    by_configuration: Mapping[int, Mapping[Place, Any]]
    test_rows: Mapping[Place, Rows]
    n_fits: int = 0
    difference: float = 0.0

    def of(self, configuration: int) -> FoldModels:
        """The fold models of another configuration, with ``keep_models="all"``; KeyError for one without."""
        if configuration not in self.by_configuration:
            kept = ", ".join(map(str, self.by_configuration))
            raise KeyError(f"fold models are kept of configuration {kept}, got {configuration}")
        return replace(self, configuration=configuration)

    def held_out(self) -> Iterator[tuple[Any, Rows]]:
        """Each model with the rows that it never saw; splits without a model are left out."""
        return ((model, self.test_rows[place]) for place, model in self.items() if model is not None)

    def __getitem__(self, place: Place) -> Any:
        return self.by_configuration[self.configuration][place]

    def __iter__(self) -> Iterator[Place]:
        return iter(self.by_configuration[self.configuration])

    def __len__(self) -> int:
        return len(self.by_configuration[self.configuration])

    def __repr__(self) -> str:
        n_others = len(self.by_configuration) - 1
        others = f", and those of {counted(n_others, 'other')}" if n_others else ""
        return f"FoldModels({len(self)} of configuration {self.configuration}{others})"
