"""The work of a cell of a validation: complete a sample, fit the model on it, and predict all rows."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params

from heldout.configurations import Configuration
from heldout.data.task import Truth
from heldout.errors import NoExit
from heldout.execution.cells import CellKey, CellResult, CellState
from heldout.execution.copies import with_copies_together
from heldout.execution.fit import CellContext, error_line, seeded_model
from heldout.execution.responses import coded_responses
from heldout.execution.threads import on_one_thread
from heldout.flags import Flag
from heldout.folds.splits import Rows, Split
from heldout.imputation.coefficients import coefficients_of
from heldout.imputation.pooled import PooledModel
from heldout.imputation.rubin import PooledCoefficients, pool_coefficients
from heldout.imputation.settings import Imputation
from heldout.imputation.tables import stacked
from heldout.metrics.base import Response
from heldout.protocols.validation.samples import ALL_ROWS

Predictions = dict[Response, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class ReplicateFit:
    """Fits a model on a bootstrap sample of complete rows, and predicts all rows.

    The predictions are of shape (N, 1[, outputs]).
    """

    flags: Mapping[Flag, str] = field(default_factory=dict, kw_only=True)
    """What a reader of the estimate must know of how rows were completed."""

    @property
    def n_completions(self) -> int:
        """How many times a cell says something of a row."""
        return 1

    @property
    def identity(self) -> Any:
        """Names the work of the cells; a resumed run must have the same."""
        return "replicate"

    def __call__(self, context: CellContext, configuration: Configuration, split: Split) -> CellResult:
        """Do a cell; an exception of the estimator makes it a failed one."""
        with on_one_thread():
            began = time.perf_counter()
            try:
                with NoExit():
                    tables = self.samples(context, split)
                    models = self.models(context, configuration, split, tables)
                    fitted = time.perf_counter()
                    predictions = self.predictions(context, models, split, tables)
            except Exception as error:
                key = CellKey(configuration.position, *split.place)
                return CellResult(key, CellState.FAILED, error_line(error), time.perf_counter() - began)
        key = CellKey(configuration.position, *split.place)
        asking = time.perf_counter() - fitted
        return CellResult(key, CellState.DONE, "", fitted - began, asking, predictions=predictions)

    def samples(self, context: CellContext, split: Split) -> Sequence[Any]:
        """The rows of the sample, once for each of their completions."""
        return [None]  # of complete rows the fit itself takes some

    def models(
        self, context: CellContext, configuration: Configuration, split: Split, samples: Sequence[Any]
    ) -> Sequence[Any]:
        """The model of each completion."""
        return [fitted_model(context, configuration, split, sample, h) for h, sample in enumerate(samples)]

    def predictions(
        self, context: CellContext, models: Sequence[Any], split: Split, samples: Sequence[Any]
    ) -> Predictions:
        """What the models say of all rows."""
        (model,) = models
        X = _safe_split(model, context.X, None, split.test, split.train)[0]
        return {response: values[:, None] for response, values in coded_responses(context, model, X).items()}

    @property
    def sources(self) -> tuple[str, ...]:
        """Keys of ``heldout.references``, of how rows are completed."""
        return ()

    def deployed(self, models: Sequence[Any]) -> Any:
        """One model in place of those of all completions."""
        return models[0]

    def coefficients(
        self, models: Sequence[Any], samples: Sequence[Any], y: Any, sample_weight: Any
    ) -> PooledCoefficients | None:
        """Those of the models pooled, where there are several models with the same."""
        return None


@dataclass(frozen=True, eq=False)
class ImputedFit(ReplicateFit):
    """... of rows with missing values, completed H times; the models of the completions are pooled.

    The predictions are of shape (N + n_drawn, H[, outputs]): of all rows as they are evaluated, then of the rows of
    the sample as they trained.
    """

    imputation: Imputation
    truth: Truth
    trained_on: tuple[Any, ...]
    """All rows, completed as rows that train."""
    evaluated_on: tuple[Any, ...]
    """All rows, completed as rows that are evaluated: once, before any sample is drawn."""
    entropy: int

    @property
    def n_completions(self) -> int:
        return 2 * self.imputation.n_imputations

    @property
    def identity(self) -> Any:
        return self.imputation

    def predictions(
        self, context: CellContext, models: Sequence[Any], split: Split, samples: Sequence[Any]
    ) -> Predictions:
        both = [stacked(pair) for pair in zip(self.evaluated_on, samples, strict=True)]
        if self.imputation.order == "naive":
            found = [coded_responses(context, model, table) for model, table in zip(models, both, strict=True)]
            return {response: np.stack([each[response] for each in found], axis=1) for response in found[0]}
        # All completions in one call, because a call costs more than its rows.
        at_once = coded_responses(context, self.deployed(models), stacked(both))
        return {response: np.stack(np.split(answer, len(models)), axis=1) for response, answer in at_once.items()}

    @property
    def sources(self) -> tuple[str, ...]:
        return self.imputation.sources

    def deployed(self, models: Sequence[Any]) -> Any:
        return PooledModel(tuple(models))

    def coefficients(
        self, models: Sequence[Any], samples: Sequence[Any], y: Any, sample_weight: Any
    ) -> PooledCoefficients | None:
        each = [
            coefficients_of(model, sample, y, sample_weight) for model, sample in zip(models, samples, strict=True)
        ]
        return pool_coefficients(each, self.truth.n_rows)

    def samples(self, context: CellContext, split: Split) -> Sequence[Any]:
        """The rows of a sample, imputed now, or drawn from rows imputed before."""
        if self.imputation.order == "boot_mi" and split.repeat != ALL_ROWS:
            drawn = _safe_indexing(context.X, split.train)
            return self.imputation.completed(drawn, self.truth.rows(split.train), self.entropy, *split.place)
        return [_safe_indexing(table, split.train) for table in self.trained_on]


def fitted_model(
    context: CellContext, configuration: Configuration, split: Split, sample: Any = None, completion: int = 0
) -> Any:
    """The configuration fitted on the training rows of a split.

    - ``sample``: these rows, if they were imputed.
    - ``completion``: which one of several: each gives its model another seed.
    """
    place = (*split.place, completion) if completion else split.place
    model, rows = seeded_model(configuration.fresh(), context.entropy, *place), split.train
    if split.repeat != ALL_ROWS:
        model = with_copies_together(model, rows)
    given = dict(context.routed.to_fit(configuration))
    if sample is not None:
        params = _check_method_params(context.X, params=given, indices=rows)
        return model.fit(sample, _safe_indexing(context.y, rows), **params)
    if split.repeat != ALL_ROWS and weighs_copies(model) and given.keys() <= {"sample_weight"}:
        rows, given["sample_weight"] = weighted_rows(rows, given.get("sample_weight"))
        return model.fit(_safe_indexing(context.X, rows), _safe_indexing(context.y, rows), **given)
    params = _check_method_params(context.X, params=given, indices=rows)
    X_train, y_train = _safe_split(model, context.X, context.y, rows)
    return model.fit(X_train, y_train, **params)


_SOLVERS = {
    LinearRegression: None,
    Ridge: ("solver", ("auto", "cholesky", "svd")),
    LogisticRegression: ("solver", ("lbfgs", "newton-cg", "newton-cholesky")),
}
"""Models whose loss is a sum over rows, so that weight 2 equals two rows; with solvers that ignore the order."""


def weighs_copies(model: Any) -> bool:
    """Whether the model fitted on weighted rows equals the one fitted on as many copies of them.

    A sample holds .632 N distinct rows, so weights make its fit faster. It is true only for classes known to have
    this property: weights may mean something else to a forest, which draws rows itself, or to a model that balances
    classes by counting rows.

    Examples
    --------
    >>> weighs_copies(LogisticRegression()), weighs_copies(LogisticRegression(class_weight="balanced"))
    (True, False)
    """
    if type(model) not in _SOLVERS or getattr(model, "class_weight", None) is not None:
        return False
    limit = _SOLVERS[type(model)]
    return limit is None or getattr(model, limit[0]) in limit[1]


def weighted_rows(rows: Rows, weights: Any = None) -> tuple[Rows, NDArray[np.float64]]:
    """The distinct ones of sorted rows, and how often each occurs, times its weight in all rows.

    Examples
    --------
    >>> distinct, counts = weighted_rows(np.array([0, 0, 3]))
    >>> distinct.tolist(), counts.tolist()
    ([0, 3], [2.0, 1.0])
    """
    distinct, counts = np.unique(rows, return_counts=True)
    return distinct, counts * (1.0 if weights is None else np.asarray(weights)[distinct])
