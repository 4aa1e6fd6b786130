"""Boosting of scikit-learn: a model of many rounds contains those of fewer rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from heldout._sklearn import RAW_PREDICTION, n_rows_of, raw_stages, rows_of_boosting
from heldout.spaces.submodels.base import (
    Answer,
    SeparateFitsError,
    SubmodelFamily,
    Value,
    Views,
    counts,
    fitted_copy,
    is_seeded,
    largest,
    view_of,
    weights_only,
)

_ROWS_OF_EARLY_STOPPING = 10_000
"""Above these, ``early_stopping="auto"`` holds out rows and stops early."""
_ROWS_OF_BINNING = 200_000
"""Above these, the bins are those of rows drawn at random."""


def fit_histogram_rounds(estimator: Any, values: Sequence[Value], X: Any, y: Any, **fit_params: Any) -> Views:
    """Histogram-based gradient boosting with the largest ``max_iter``."""
    rows = n_rows_of(X)
    if estimator.early_stopping == "auto" and rows > _ROWS_OF_EARLY_STOPPING:
        raise SeparateFitsError("early stopping depends on max_iter")
    if estimator.random_state is None and rows > _ROWS_OF_BINNING:
        raise SeparateFitsError("the bins are drawn at random")
    return _fit_rounds(estimator, "max_iter", values, X, y, fit_params, _raw_views)


def fit_rounds(estimator: Any, values: Sequence[Value], X: Any, y: Any, **fit_params: Any) -> Views:
    """Gradient boosting with the largest ``n_estimators``."""
    return _fit_rounds(estimator, "n_estimators", values, X, y, fit_params, _raw_views)


def fit_adaboost(estimator: Any, values: Sequence[Value], X: Any, y: Any, **fit_params: Any) -> Views:
    """AdaBoost with the largest ``n_estimators``."""
    return _fit_rounds(estimator, "n_estimators", values, X, y, fit_params, _adaboost_views)


def _fit_rounds(
    estimator: Any,
    name: str,
    values: Sequence[Value],
    X: Any,
    y: Any,
    fit_params: Mapping[str, Any],
    make_views: Callable[[Any, Any, list[int]], Mapping[int, Any]],
) -> Views:
    sizes = counts(values, name)
    model = fitted_copy(estimator, {name: largest(sizes)}, X, y, weights_only(fit_params))
    return Views(model, sizes, make_views)


def _raw_views(model: Any, X: Any, sizes: list[int]) -> dict[int, Any]:
    """Views whose raw predictions are those after so many rounds; all responses are computed from these."""
    wanted = set(sizes)
    stages = enumerate(raw_stages(model, X), start=1)
    raw = {done: predictions for done, predictions in stages if done in wanted}
    return {size: view_of(model, **{RAW_PREDICTION: Answer(raw[size])}) for size in sizes}


def _adaboost_views(model: Any, X: Any, sizes: list[int]) -> dict[int, Any]:
    """Views of the first members, each of which has predicted once. Boosting may have ended early."""
    rows = rows_of_boosting(model, X)
    members = [_Member(member.predict(rows)) for member in model.estimators_]
    views = {}
    for size in sizes:
        # Their sum depends on the zeros at the end, because NumPy adds pairwise.
        weights = model.estimator_weights_[:size].copy()
        views[size] = view_of(model, estimators_=members[:size], estimator_weights_=weights)
    return views


class _Member:
    """A member of an ensemble that has predicted."""

    def __init__(self, predictions: Any) -> None:
        self.predictions = predictions

    def predict(self, X: Any) -> Any:
        return self.predictions


def _histogram_applies(estimator: Any) -> bool:
    same_draws = is_seeded(estimator) or estimator.max_features == 1.0
    return estimator.early_stopping in (False, "auto") and not estimator.warm_start and same_draws


def _rounds_apply(estimator: Any) -> bool:
    return estimator.n_iter_no_change is None and not estimator.warm_start and is_seeded(estimator)


HISTOGRAM = SubmodelFamily(
    object, ("max_iter",), fit_histogram_rounds, _histogram_applies, "bitwise", cost="proportional"
)
ROUNDS = SubmodelFamily(object, ("n_estimators",), fit_rounds, _rounds_apply, "bitwise", cost="proportional")
ADABOOST = SubmodelFamily(object, ("n_estimators",), fit_adaboost, is_seeded, "bitwise", cost="proportional")
