"""The private names of scikit-learn that heldout reads: imports, attributes and methods. No other file reads one.

All were read in scikit-learn 1.6 to 1.9; tests/contracts/test_private_names.py runs with oldest and newest. A
comment says what replaces a name if it goes. The names that scikit-learn looks up on classes of ours stand there:
``_parameter_constraints``, ``_repr_html_inner`` and ``_sk_visual_block_`` of searches.
"""

from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any, NamedTuple

from sklearn.base import _fit_context
from sklearn.metrics._scorer import _MultimetricScorer, _PassthroughScorer, _Scorer
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import (
    _check_feature_names,
    _check_method_params,
    _check_n_features,
    _check_sample_weight,
    _num_samples,
)

from heldout._types import Array, Floats, Indices

# Rows of any table. If they go: what ``sklearn.model_selection.cross_validate`` calls then.
rows_at = _safe_indexing
split_rows = _safe_split
params_at = _check_method_params
n_rows_of = _num_samples

# Checks of estimators. If they go: ``validate_data``, which is public and does more than each.
checked_weight = _check_sample_weight
check_n_features, check_feature_names = _check_n_features, _check_feature_names

# Constraints of parameters. If they go: checks of ours.
__all__ = ["BaseSearchCV", "HasMethods", "Interval", "Options", "StrOptions"]
CALLBACKS = "_skl_callbacks"
"""The attribute with the callbacks of an estimator, from scikit-learn 1.9 on; absent where it has none."""
CONSTRAINTS_OF_SEARCH: Mapping[str, Any] = BaseSearchCV._parameter_constraints
fit_context = _fit_context


def takes_splitter(estimator: Any) -> bool:
    """Whether ``cv`` of an estimator may be a splitter, as far as its constraints say."""
    constraints = getattr(type(estimator), "_parameter_constraints", {})
    return "cv_object" in constraints.get("cv", ["cv_object"])


def scorers_of_search(search: Any) -> tuple[Any, Any]:
    """The scorers of a search as scikit-learn gathers them, and what chooses.

    If it goes: ``sklearn.metrics.check_scoring``, which takes several scorers since 1.6.
    """
    scorers: tuple[Any, Any] = BaseSearchCV._get_scorers(search)
    return scorers


class ScorerParts(NamedTuple):
    """What a scorer of ``make_scorer`` holds. If they go: scorers give fold scores alone."""

    scorer: Any
    function: Any
    sign: int
    arguments: dict[str, Any]
    methods: tuple[str, ...]
    """Names of the methods of models that it calls, in order of preference."""
    is_its_function: bool
    """False of a derived class that scores otherwise than its function."""

    @property
    def pos_label(self) -> Any:
        """Of the arguments or the function's default; a ValueError where the function has no signature."""
        return self.scorer._get_pos_label()


def scorer_parts(scorer: Any) -> ScorerParts | None:
    """The parts of a scorer of ``make_scorer``; None of any other."""
    if not isinstance(scorer, _Scorer):
        return None
    methods = scorer._response_method
    return ScorerParts(
        scorer,
        scorer._score_func,
        scorer._sign,
        scorer._kwargs,
        (methods,) if isinstance(methods, str) else tuple(methods),
        type(scorer)._score is _Scorer._score,
    )


def scorer_with(scorer: Any, function: Any, arguments: Mapping[str, Any] | None = None) -> Any:
    """A copy of a scorer of ``make_scorer`` with another function, and other arguments if given."""
    changed = copy(scorer)
    changed._score_func = function
    if arguments is not None:
        changed._kwargs = dict(arguments)
    return changed


def scoring_model(scorer: Any) -> Any:
    """The model whose own method ``score`` a scorer calls; None of any other."""
    return scorer._estimator if isinstance(scorer, _PassthroughScorer) else None


def gathered_scorers(scorer: Any) -> Mapping[str, Any] | None:
    """The scorers of a multi-metric scorer by name; None of a single one. If they go: ``scoring`` itself."""
    return scorer._scorers if isinstance(scorer, _MultimetricScorer) else None


def with_members(scorer: Any, members: Mapping[str, Any]) -> Any:
    """A copy of a multi-metric scorer with other members."""
    changed = copy(scorer)
    changed._scorers = dict(members)
    return changed


def takes_weights(member: Any) -> bool:
    """Whether a member of a multi-metric scorer receives weights without metadata routing; none does in 1.6."""
    return bool(getattr(member, "_accept_sample_weight", bool)())


class DerivedScorer(_Scorer):  # type: ignore[misc]
    """A scorer that may score otherwise than its function. If it goes: a callable, which gives fold scores."""

    def __init__(self, function: Any, sign: int, methods: tuple[str, ...]) -> None:
        super().__init__(function, sign, {}, methods[0] if len(methods) == 1 else methods)

    def score_of(self, function: Any, estimator: Any, X: Any, y_true: Any, **params: Any) -> float | None:
        """The function of a fitted model's response; None where scikit-learn's way does."""
        raise NotImplementedError

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **params: Any) -> float:
        score = self.score_of(self._score_func, estimator, X, y_true, **params)
        if score is None:
            return float(super()._score(method_caller, estimator, X, y_true, **params))
        return float(self._sign * score)


# Fitted models, for the fits that configurations share: without a name, its configurations are fitted one by one.

RAW_PREDICTION = "_raw_predict"
"""The method of gradient boosting that all its responses are computed from."""


def raw_stages(model: Any, X: Any) -> Iterator[Array]:
    """The raw predictions of gradient boosting after each round. If it goes: ``staged_decision_function``."""
    stages: Iterator[Array] = model._staged_raw_predict(X)
    return stages


def keep_rounds(model: Any, number: int) -> None:
    """Remove the rounds of a histogram boosting after so many."""
    del model._predictors[number:]


def n_leaves_of_rounds(model: Any) -> int | None:
    """The leaves of all trees of a histogram boosting; None of another model."""
    rounds = getattr(model, "_predictors", None)
    return None if rounds is None else sum(tree.get_n_leaf_nodes() for trees in rounds for tree in trees)


def rows_of_boosting(model: Any, X: Any) -> Any:
    """The rows as AdaBoost passes them to its members."""
    return model._check_X(X)


def rows_of_forest(model: Any, X: Any) -> Any:
    """The rows as a forest passes them to its trees."""
    return model._validate_X_predict(X)


def prune(tree: Any) -> None:
    """Prune a fitted tree by its ``ccp_alpha``. If it goes: one fit a value."""
    tree._prune_tree()


def kernel_of(model: Any, X: Any, Y: Any = None) -> Array:
    """The kernel of a kernel ridge regression. If it goes: ``sklearn.metrics.pairwise.pairwise_kernels``."""
    kernel: Array = model._get_kernel(X, Y)
    return kernel


def class_codes(model: Any) -> Indices:
    """Of the training rows of a classifier by neighbours. If they go: ``searchsorted`` in ``classes_``."""
    codes: Indices = model._y
    return codes


def is_brute(model: Any) -> bool:
    """Whether a fitted model searches neighbours by brute force, where ``algorithm`` may be "auto"."""
    return bool(model._fit_method == "brute")


WITHOUT_BRUTE_FORCE: Mapping[str, Any] = {"_fit_method": "kd_tree"}
"""Attributes of a view that takes the neighbours it is given: brute force predicts classes in a way of its own."""


def indexed_rows(model: Any) -> Any:
    """The training rows of a search of neighbours."""
    return model._fit_X


def scales_of_pls(model: Any) -> tuple[Floats, Floats]:
    """Standard deviations of the columns, and of the target, that partial least squares divided by."""
    return model._x_std, model._y_std


def check_params(model: Any) -> None:
    """Refuse parameters as the model's ``fit`` does. If it goes: a fit."""
    model._validate_params()


def keeps_scores_of_fit(model: Any) -> bool:
    """Whether ``fit_transform`` of principal components returns columns of the full decomposition."""
    return bool(model._fit_svd_solver == "full")
