"""Boosting of scikit-learn, XGBoost, LightGBM and CatBoost: a model of many rounds contains those of fewer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from heldout._sklearn import RAW_PREDICTION, n_rows_of, raw_stages, rows_of_boosting
from heldout._types import Array
from heldout.spaces.submodels import base

_ROWS_OF_EARLY_STOPPING = 10_000
"""Above these, ``early_stopping="auto"`` holds out rows and stops early."""
_ROWS_OF_BINNING = 200_000
"""Above these, the bins are those of rows drawn at random."""


def fit_histogram_rounds(
    estimator: Any, values: Sequence[base.Value], X: Any, y: Any, **fit_params: Any
) -> base.Views:
    """Histogram-based gradient boosting with the largest ``max_iter``."""
    rows = n_rows_of(X)
    if estimator.early_stopping == "auto" and rows > _ROWS_OF_EARLY_STOPPING:
        raise base.SeparateFitsError("early stopping depends on max_iter")
    if estimator.random_state is None and rows > _ROWS_OF_BINNING:
        raise base.SeparateFitsError("the bins are drawn at random")
    return _fit_rounds(estimator, "max_iter", values, X, y, fit_params, _raw_views)


def fit_rounds(estimator: Any, values: Sequence[base.Value], X: Any, y: Any, **fit_params: Any) -> base.Views:
    """Gradient boosting with the largest ``n_estimators``."""
    return _fit_rounds(estimator, "n_estimators", values, X, y, fit_params, _raw_views)


def fit_adaboost(estimator: Any, values: Sequence[base.Value], X: Any, y: Any, **fit_params: Any) -> base.Views:
    """AdaBoost with the largest ``n_estimators``."""
    return _fit_rounds(estimator, "n_estimators", values, X, y, fit_params, _adaboost_views)


def _fit_rounds(
    estimator: Any,
    name: str,
    values: Sequence[base.Value],
    X: Any,
    y: Any,
    fit_params: Mapping[str, Any],
    make_views: Callable[[Any, Any, list[int]], Mapping[int, Any]],
) -> base.Views:
    sizes = base.counts(values, name)
    model = base.fitted_copy(estimator, {name: base.largest(sizes)}, X, y, base.weights_only(fit_params))
    return base.Views(model, sizes, make_views)


def _raw_views(model: Any, X: Any, sizes: list[int]) -> dict[int, Any]:
    """Views whose raw predictions are those after so many rounds; all responses are computed from these."""
    wanted = set(sizes)
    stages = enumerate(raw_stages(model, X), start=1)
    raw = {done: predictions for done, predictions in stages if done in wanted}
    return {size: base.view_of(model, **{RAW_PREDICTION: base.Answer(raw[size])}) for size in sizes}


def _adaboost_views(model: Any, X: Any, sizes: list[int]) -> dict[int, Any]:
    """Views of the first members, each of which has predicted once. Boosting may have ended early."""
    rows = rows_of_boosting(model, X)
    members = [_Member(member.predict(rows)) for member in model.estimators_]
    views = {}
    for size in sizes:
        # Their sum depends on the zeros at the end, because NumPy adds pairwise.
        weights = model.estimator_weights_[:size].copy()
        views[size] = base.view_of(model, estimators_=members[:size], estimator_weights_=weights)
    return views


class _Member:
    """A member of an ensemble that has predicted."""

    def __init__(self, predictions: Any) -> None:
        self.predictions = predictions

    def predict(self, X: Any) -> Any:
        return self.predictions


def _histogram_applies(estimator: Any) -> bool:
    same_draws = base.is_seeded(estimator) or estimator.max_features == 1.0
    return estimator.early_stopping in (False, "auto") and not estimator.warm_start and same_draws


def _rounds_apply(estimator: Any) -> bool:
    return estimator.n_iter_no_change is None and not estimator.warm_start and base.is_seeded(estimator)


HISTOGRAM = base.SubmodelFamily(
    object, ("max_iter",), fit_histogram_rounds, _histogram_applies, "bitwise", cost="proportional"
)
ROUNDS = base.SubmodelFamily(object, ("n_estimators",), fit_rounds, _rounds_apply, "bitwise", cost="proportional")
ADABOOST = base.SubmodelFamily(
    object, ("n_estimators",), fit_adaboost, base.is_seeded, "bitwise", cost="proportional"
)


# Other names of n_estimators, and what depends on it; the wrappers of scikit-learn take any of them.
_OF_LIGHTGBM = frozenset((
    "num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees", "num_round", "num_rounds", "nrounds",
    "num_boost_round", "max_iter", "early_stopping_round", "early_stopping_rounds", "early_stopping",
    "n_iter_no_change", "boosting", "boost", "input_model", "data_sample_strategy",
))  # fmt: skip
_OF_CATBOOST = ("iterations", "n_estimators", "num_boost_round", "num_trees")
# Early stopping, and models whose older trees shrink as new ones come.
_OF_CATBOOST_SHRINKING = frozenset((
    "od_type", "od_wait", "od_pval", "early_stopping_rounds", "use_best_model", "best_model_min_trees",
    "langevin", "diffusion_temperature", "posterior_sampling", "model_shrink_rate", "model_shrink_mode",
))  # fmt: skip


class FirstRounds:
    """Models that predict with so many rounds of their own; one a value, None where it is fitted alone."""

    def __init__(
        self, models: Sequence[Any], sizes: Sequence[int | None], first: Callable[[int], dict[str, Any]]
    ) -> None:
        self.models = models
        self.sizes = sizes
        self.first = first

    def predict_many(self, X: Any, response: str) -> list[Array | None]:
        return [
            None if size is None else getattr(model, response)(X, **self.first(size))
            for model, size in zip(self.models, self.sizes, strict=True)
        ]


def fit_xgboost(estimator: Any, values: Sequence[base.Value], X: Any, y: Any, **fit_params: Any) -> FirstRounds:
    """XGBoost with the largest ``n_estimators``."""
    sizes = base.counts(values, "n_estimators")
    model = base.fitted_copy(estimator, {"n_estimators": base.largest(sizes)}, X, y, base.weights_only(fit_params))
    return FirstRounds([model] * len(sizes), sizes, lambda size: {"iteration_range": (0, size)})


def fit_lightgbm(estimator: Any, values: Sequence[base.Value], X: Any, y: Any, **fit_params: Any) -> FirstRounds:
    """LightGBM with the largest ``n_estimators``. A round in which no leaf can be split adds no tree."""
    sizes = base.counts(values, "n_estimators")
    trees = []  # after each round

    def count_trees(state: Any) -> None:
        trees.append(state.model.current_iteration())

    fit_params = {**base.weights_only(fit_params), "callbacks": [count_trees]}
    model = base.fitted_copy(estimator, {"n_estimators": base.largest(sizes)}, X, y, fit_params)
    return FirstRounds([model] * len(sizes), sizes, lambda size: {"num_iteration": trees[size - 1]})


def fit_catboost(estimator: Any, values: Sequence[base.Value], X: Any, y: Any, **fit_params: Any) -> FirstRounds:
    """CatBoost with the largest number of rounds, under the name by which it is set.

    CatBoost chooses other defaults for fewer rounds, for instance of ``leaf_estimation_iterations``: one model is
    fitted for each choice.
    """
    fit_params = base.weights_only(fit_params)
    names = {name for value in values for name in value if value[name] is not None}
    if len(names) != 1:
        raise base.SeparateFitsError("several names of the number of rounds")
    (name,) = names
    sizes = base.counts(values, name)
    choices = {size: _choices(estimator, {name: size}, X, y, fit_params) for size in set(sizes) if size is not None}
    models = {
        chosen: base.fitted_copy(
            estimator, {name: base.largest(size for size in choices if choices[size] == chosen)}, X, y, fit_params
        )
        for chosen in set(choices.values())
    }
    return FirstRounds(
        [None if size is None else models[choices[size]] for size in sizes],
        sizes,
        lambda size: {"ntree_end": size},
    )


def _choices(estimator: Any, rounds: Mapping[str, int], X: Any, y: Any, fit_params: Mapping[str, Any]) -> str:
    """All parameters that CatBoost chooses for so many rounds, beside their number; from its first round."""
    model = base.fitted_copy(estimator, rounds, X, y, {**fit_params, "callbacks": [_StopsAtOnce()]})
    return repr(sorted((name, value) for name, value in model.get_all_params().items() if name != "iterations"))


class _StopsAtOnce:
    """A callback of CatBoost."""

    def after_iteration(self, info: Any) -> bool:
        return False


def _xgboost_applies(estimator: Any) -> bool:
    parameters = estimator.get_params()
    plain = ("early_stopping_rounds", "callbacks", "process_type", "updater", "num_boost_round")
    trees = parameters.get("booster") in (None, "gbtree")
    return trees and all(parameters.get(name) is None for name in plain)


def _lightgbm_applies(estimator: Any) -> bool:
    parameters = estimator.get_params()
    # GOSS uses all rows in the first rounds, as many as the learning rate says: that nests, too.
    trees = parameters.get("boosting_type") in ("gbdt", "goss")
    return trees and not _OF_LIGHTGBM & _present(parameters)


def _catboost_applies(estimator: Any) -> bool:
    parameters = estimator.get_params()
    if parameters.get("learning_rate") is None and parameters.get("eta") is None:
        return False  # CatBoost derives it from the number of rounds
    present = _present(parameters)
    return len(present & set(_OF_CATBOOST)) <= 1 and not _OF_CATBOOST_SHRINKING & present


def _present(parameters: Mapping[str, Any]) -> set[str]:
    return {name for name, value in parameters.items() if value is not None}


XGBOOST = base.SubmodelFamily(
    object, ("n_estimators",), fit_xgboost, _xgboost_applies, "bitwise", cost="proportional"
)
LIGHTGBM = base.SubmodelFamily(
    object, ("n_estimators",), fit_lightgbm, _lightgbm_applies, "bitwise", cost="proportional"
)
CATBOOST = base.SubmodelFamily(
    object, _OF_CATBOOST, fit_catboost, _catboost_applies, "bitwise", cost="proportional"
)
