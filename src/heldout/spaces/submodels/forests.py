"""Forests and bagging, whose first members are a smaller ensemble, and single trees, which are pruned.

scikit-learn itself prunes one tree for each value of ``ccp_alpha``. Trees of different values must not be pruned
one from another: the rounding of a path of pruning would differ.
"""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from heldout._sklearn import prune, rows_of_forest
from heldout._types import Array
from heldout.spaces.submodels import base


def fit_forest(estimator: Any, values: Sequence[base.Value], X: Any, y: Any, **fit_params: Any) -> base.Views:
    """The largest forest: scikit-learn draws the seeds of the trees in order."""
    sizes = base.counts(values, "n_estimators")
    model = base.fitted_copy(estimator, {"n_estimators": base.largest(sizes)}, X, y, base.weights_only(fit_params))
    if model.n_outputs_ != 1:
        raise base.SeparateFitsError("several outputs")
    return base.Views(model, sizes, _forest_views)


def fit_bagging(estimator: Any, values: Sequence[base.Value], X: Any, y: Any, **fit_params: Any) -> base.Views:
    """The largest ensemble."""
    sizes = base.counts(values, "n_estimators")
    model = base.fitted_copy(estimator, {"n_estimators": base.largest(sizes)}, X, y, base.weights_only(fit_params))
    return base.Views(model, sizes, _bagging_views)


def _forest_views(model: Any, X: Any, sizes: list[int]) -> dict[int, Any]:
    rows = rows_of_forest(model, X)
    response = _mean_response(model)
    answers = (getattr(tree, response)(rows, check_input=False) for tree in model.estimators_)
    return {
        size: base.view_of(model, **{response: base.Answer(mean)}) for size, mean in _means(answers, sizes).items()
    }


def _bagging_views(model: Any, X: Any, sizes: list[int]) -> dict[int, Any]:
    """Each member predicts once, through an ensemble of this one member, which knows its columns and classes."""

    @cache
    def means(response: str) -> Mapping[int, Any]:
        return _means(_alone(model, response, X), sizes)

    def answer(response: str, size: int, X: Any) -> Any:
        return means(response)[size].copy()

    offered = [name for name in (_mean_response(model), "decision_function") if hasattr(model, name)]
    return {size: base.view_of(model, **{name: partial(answer, name, size) for name in offered}) for size in sizes}


def _alone(model: Any, response: str, X: Any) -> Any:
    for member, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        yield getattr(
            base.view_of(model, estimators_=[member], estimators_features_=[columns], n_estimators=1), response
        )(X)


def _means(answers: Any, sizes: list[int]) -> dict[int, Any]:
    """The means of the first answers, from one running sum in the order in which scikit-learn adds them."""
    wanted, means, total = set(sizes), {}, None
    for done, answer in enumerate(answers, start=1):
        total = (0 if total is None else total) + answer  # in the precision of the members
        if done in wanted:
            means[done] = total / done
    return means


def _mean_response(model: Any) -> str:
    """The method whose answers are averaged; the class of a classifier follows from it."""
    return "predict_proba" if hasattr(model, "predict_proba") else "predict"


def _forest_applies(estimator: Any) -> bool:
    return base.is_seeded(estimator) and not estimator.oob_score and not estimator.warm_start


def _bagging_applies(estimator: Any) -> bool:
    # With several jobs the members are added in blocks, whose sizes depend on their number.
    return _forest_applies(estimator) and estimator.n_jobs in (None, 1)


FOREST = base.SubmodelFamily(object, ("n_estimators",), fit_forest, _forest_applies, "bitwise", cost="proportional")
BAGGING = base.SubmodelFamily(
    object, ("n_estimators",), fit_bagging, _bagging_applies, "bitwise", cost="proportional"
)


class PrunedTrees:
    """One tree a value, None where it was not pruned."""

    def __init__(self, trees: Sequence[Any]) -> None:
        self.trees = trees

    def predict_many(self, X: Any, response: str) -> list[Array | None]:
        return [None if tree is None else getattr(tree, response)(X) for tree in self.trees]


def fit_tree(estimator: Any, values: Sequence[base.Value], X: Any, y: Any, **fit_params: Any) -> PrunedTrees:
    """The tree without pruning, and the pruned ones."""
    tree = base.fitted_copy(estimator, {"ccp_alpha": 0.0}, X, y, base.weights_only(fit_params))
    return PrunedTrees([_pruned(tree, value["ccp_alpha"]) for value in values])


def _pruned(tree: Any, alpha: Any) -> Any:
    number = isinstance(alpha, int | float | np.integer | np.floating) and type(alpha) is not bool
    if not (number and 0.0 <= alpha < np.inf):
        return None
    view = base.view_of(tree, ccp_alpha=alpha)
    prune(view)
    return view


PRUNING = base.SubmodelFamily(object, ("ccp_alpha",), fit_tree, base.is_seeded, "bitwise", cost="equal")
