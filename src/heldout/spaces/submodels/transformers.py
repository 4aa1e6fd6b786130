"""Selection of columns and principal components for all sizes: one ranking, one decomposition."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from heldout._sklearn import keeps_scores_of_fit, n_rows_of
from heldout._types import Array
from heldout.spaces.submodels import base

_FIXED_SCORES = ("f_classif", "f_regression", "r_regression", "chi2")
_SEEDED_SCORES = ("mutual_info_classif", "mutual_info_regression")


class TransformerViews:
    """Fitted transformers that share a fit, and what each makes of the training rows."""

    def __init__(self, views: Sequence[Any], transform: Callable[[Any], Any]) -> None:
        self.views = views
        self.transform = transform

    def fit_transform_many(self) -> list[tuple[Any, Any] | None]:
        return [None if view is None else (self.transform(view), view) for view in self.views]

    def predict_many(self, X: Any, response: str) -> list[Array | None]:
        """For a selection that predicts by its inner model."""
        return [None if view is None else getattr(view, response)(X) for view in self.views]


def fit_selection(
    estimator: Any, values: Sequence[base.Value], X: Any, y: Any, **fit_params: Any
) -> TransformerViews:
    """One score of each column; the columns with the best ones follow from them."""
    base.without_weights(fit_params)
    name = "k" if hasattr(estimator, "k") else "percentile"
    sizes = [_size(value[name], name) for value in values]
    if name == "k":  # a separate fit warns of more columns than there are
        sizes = [None if isinstance(size, int | np.integer) and size > np.shape(X)[1] else size for size in sizes]
    possible = [size for size in sizes if size is not None]
    if not possible:
        raise base.SeparateFitsError("no value can be shared")
    model = base.fitted_copy(estimator, {name: possible[0]}, X, y, {})
    views = [None if size is None else base.view_of(model, **{name: size}) for size in sizes]
    return TransformerViews(views, lambda view: view.transform(X))


def _size(value: Any, name: str) -> Any:
    kinds = (int, np.integer) if name == "k" else (int, float, np.integer, np.floating)
    if isinstance(value, kinds) and type(value) is not bool:
        return value if value >= 0 and (name == "k" or value <= 100) else None
    return "all" if name == "k" and isinstance(value, str) and value == "all" else None


def _selection_applies(estimator: Any) -> bool:
    score = estimator.score_func
    seeded = isinstance(score, partial) and score.keywords.get("random_state") is not None
    function = score.func if isinstance(score, partial) else score
    if not function.__module__.startswith("sklearn."):
        return False  # it may draw at random
    return function.__name__ in _FIXED_SCORES or (seeded and function.__name__ in _SEEDED_SCORES)


def fit_elimination(
    estimator: Any, values: Sequence[base.Value], X: Any, y: Any, **fit_params: Any
) -> TransformerViews:
    """Recursive elimination down to the smallest number of columns: its ranking contains all larger numbers."""
    base.without_weights(fit_params)
    name = "n_features_to_select"
    sizes = base.counts(values, name)
    fewest = base.smallest(sizes)
    model = base.fitted_copy(estimator, {name: fewest}, X, y, {})
    columns = len(model.support_)
    views = [
        None if size is None or size > columns else _eliminated(model, size, size - fewest, X, y) for size in sizes
    ]
    return TransformerViews(views, lambda view: view.transform(X))


def _eliminated(model: Any, size: int, steps: int, X: Any, y: Any) -> Any:
    """The elimination so many steps earlier, with its inner model."""
    ranking = np.maximum(model.ranking_ - steps, 1)
    support = ranking == 1
    attributes = {"n_features_to_select": size, "n_features_": support.sum(), "support_": support}
    view = base.view_of(model, ranking_=ranking, **attributes)
    if steps:
        inner = clone(model.estimator)
        view.estimator_ = inner.fit(_plain(view.transform(X)), y)
    return view


def _plain(columns: Any) -> Any:
    """The columns as an array: the inner model sees no names."""
    return columns.to_numpy() if hasattr(columns, "to_numpy") else columns


def _elimination_applies(estimator: Any) -> bool:
    seeds = (
        value
        for name, value in estimator.estimator.get_params().items()
        if name == "random_state" or name.endswith("__random_state")
    )
    one_by_one = isinstance(estimator.step, int | np.integer) and estimator.step == 1
    return one_by_one and all(seed is not None for seed in seeds)


def fit_components(
    estimator: Any, values: Sequence[base.Value], X: Any, y: Any, **fit_params: Any
) -> TransformerViews:
    """All principal components; a separate fit keeps the first ones."""
    base.without_weights(fit_params)
    rows, columns = n_rows_of(X), np.shape(X)[1]
    # Elsewhere "auto" means a randomized decomposition for some numbers of components.
    tall = columns <= 1000 and rows >= 10 * columns
    if hasattr(X, "tocsr") or (estimator.svd_solver == "auto" and not tall and max(rows, columns) > 500):
        raise base.SeparateFitsError("another decomposition")
    model = clone(estimator).set_params(n_components=None)
    transformed = model.fit_transform(X, y)
    sizes = [base.count(value["n_components"]) for value in values]
    views = [
        None if size is None or size > model.n_components_ else _first_components(model, size) for size in sizes
    ]
    if keeps_scores_of_fit(model):
        return TransformerViews(views, lambda view: _columns(transformed, view.n_components_))
    return TransformerViews(views, lambda view: view.transform(X))


def _columns(transformed: Any, size: int) -> Any:
    if hasattr(transformed, "iloc") or not isinstance(transformed, np.ndarray):
        raise base.SeparateFitsError("the output is a table")
    return transformed[:, :size]


def _first_components(model: Any, size: int) -> Any:
    kept = ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_")
    rest = model.explained_variance_[size:]
    attributes = {name: getattr(model, name)[:size].copy(order="K") for name in kept}
    return base.view_of(
        model,
        n_components=size,
        n_components_=size,
        noise_variance_=rest.mean() if len(rest) else 0.0,
        **attributes,
    )


def _components_apply(estimator: Any) -> bool:
    return estimator.svd_solver in ("full", "covariance_eigh", "auto") and estimator.copy


def _selection(parameter: str) -> base.SubmodelFamily:
    return base.SubmodelFamily(object, (parameter,), fit_selection, _selection_applies, "bitwise", cost="equal")


COMPONENTS = base.SubmodelFamily(
    object, ("n_components",), fit_components, _components_apply, "bitwise", cost="equal"
)
ELIMINATION = base.SubmodelFamily(
    object, ("n_features_to_select",), fit_elimination, _elimination_applies, "bitwise"
)
K_BEST, PERCENTILE = _selection("k"), _selection("percentile")
