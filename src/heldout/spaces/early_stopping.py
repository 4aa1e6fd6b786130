"""Early stopping of boosted models: how each package takes the rows on which it stops.

All of them stop when the score on these rows has not improved for some rounds, and then predict with the best
number of rounds. Packages are matched by the name of the class, so that none is imported before a model of it is
there.
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import is_classifier

from heldout._sklearn import keep_rounds
from heldout.errors import InputError

STOPPING_MODELS = "LightGBM, XGBoost, CatBoost and, from scikit-learn 1.7 on, HistGradientBoosting"
"""For sentences: the models that can stop early."""


@dataclass(frozen=True, eq=False)
class FitRows:
    """Rows as ``fit`` receives them: X, y and its other parameters."""

    X: Any
    y: Any
    params: Mapping[str, Any] = field(default_factory=dict)


Pair: TypeAlias = tuple[Any, Any]
"""X and y."""


@dataclass(frozen=True, eq=False)
class Stopper:
    """How the models of one package stop early.

    Attributes
    ----------
    fit : callable
        ``fit(model, train, stop, rounds)``: the model fitted on ``train``; it stops when the score of ``stop`` has
        not improved for so many rounds. Its parameters are afterwards as before.
    applies : callable
        Of an unfitted model: whether it can stop early.
    pairs : callable
        ``pairs(model, fit_params, n_rows)``: the (X, y) on which a user's own parameters of ``fit`` make it stop.
    """

    fit: Callable[[Any, FitRows, FitRows, int], Any]
    applies: Callable[[Any], bool]
    pairs: Callable[[Any, Mapping[str, Any], int], list[Pair]]


def stopper_of(model: Any) -> Stopper | None:
    """How an unfitted model stops early; None for a model that cannot."""
    stopper = _STOPPERS.get(f"{type(model).__module__.partition('.')[0]}.{type(model).__qualname__}")
    return stopper if stopper is not None and stopper.applies(model) else None


def _fit_lightgbm(model: Any, train: FitRows, stop: FitRows, rounds: int) -> Any:
    from lightgbm import early_stopping

    own = _of_stopping(train, stop, {"sample_weight": "eval_sample_weight", "init_score": "eval_init_score"})
    callbacks = [*(train.params.get("callbacks") or ()), early_stopping(rounds, verbose=False)]
    if "eval_X" not in inspect.signature(model.fit).parameters:  # before 4.7
        rows: dict[str, Any] = {"eval_set": [(stop.X, stop.y)]}
    elif is_classifier(model) and not _reads_labels():
        codes = np.searchsorted(np.unique(np.asarray(train.y)), np.asarray(stop.y))
        rows = {"eval_X": (stop.X,), "eval_y": (codes,)}
    else:
        rows = {"eval_X": (stop.X,), "eval_y": (stop.y,)}
    return model.fit(train.X, train.y, **{**train.params, **rows, **own, "callbacks": callbacks})


@functools.cache
def _reads_labels() -> bool:
    """Whether LightGBM reads ``eval_y`` as labels; 4.7 takes them for codes of the classes."""
    from lightgbm import LGBMClassifier

    X, y = np.array([[0.0], [1.0]]), np.array(["a", "b"])
    try:
        LGBMClassifier(n_estimators=1, verbosity=-1, n_jobs=1).fit(X, y, eval_X=(X,), eval_y=(y,))
    except ValueError:
        return False
    return True


def _fit_xgboost(model: Any, train: FitRows, stop: FitRows, rounds: int) -> Any:
    own = _of_stopping(
        train, stop, {"sample_weight": "sample_weight_eval_set", "base_margin": "base_margin_eval_set"}
    )
    params = {"verbose": False, **train.params, "eval_set": [(stop.X, stop.y)], **own}
    return _fit_with(model, {"early_stopping_rounds": rounds}, train, params)


def _fit_catboost(model: Any, train: FitRows, stop: FitRows, rounds: int) -> Any:
    from catboost import Pool

    own = _of_stopping(train, stop, {"sample_weight": "weight", "baseline": "baseline"})
    kinds = ("cat_features", "text_features", "embedding_features")
    columns = {name: train.params.get(name) or model.get_param(name) for name in kinds}
    eval_set = Pool(stop.X, stop.y, **columns, **{name: value for name, (value,) in own.items()})
    settings = {"eval_set": eval_set, "early_stopping_rounds": rounds, "use_best_model": True}
    return model.fit(train.X, train.y, **{**train.params, **settings})


def _fit_histogram(model: Any, train: FitRows, stop: FitRows, rounds: int) -> Any:
    own = _of_stopping(train, stop, {"sample_weight": "sample_weight_val"})
    params = {**train.params, "X_val": stop.X, "y_val": stop.y, **{name: value for name, (value,) in own.items()}}
    _fit_with(model, {"early_stopping": True, "n_iter_no_change": rounds}, train, params)
    # scikit-learn keeps the rounds after the best one; the first score is that of no round.
    best = 1 + int(np.argmax(model.validation_score_[1:]))
    keep_rounds(model, best)
    return model


def _fit_with(model: Any, settings: Mapping[str, Any], train: FitRows, fit_params: Mapping[str, Any]) -> Any:
    """The model fitted with other settings, which are its own again afterwards."""
    before = {name: getattr(model, name) for name in settings}
    try:
        return model.set_params(**settings).fit(train.X, train.y, **fit_params)
    finally:
        model.set_params(**before)


def _of_stopping(train: FitRows, stop: FitRows, names: Mapping[str, str]) -> dict[str, list[Any]]:
    """Parameters of the stopping rows, by the names that ``fit`` has for them, for each of those of training."""
    found = {}
    for name, theirs in names.items():
        if train.params.get(name) is None:
            continue
        if name not in stop.params:
            raise InputError(f"{name} cannot be divided between the rows that train and those that stop.")
        found[theirs] = [stop.params[name]]
    return found


def _lightgbm_pairs(model: Any, fit_params: Mapping[str, Any], n_rows: int) -> list[Pair]:
    names = ("early_stopping_round", "early_stopping_rounds", "early_stopping", "n_iter_no_change")
    by_callback = any("EarlyStopping" in type(each).__name__ for each in fit_params.get("callbacks") or ())
    if not by_callback and not any(model.get_params().get(name) for name in names):
        return []
    X, y = fit_params.get("eval_X"), fit_params.get("eval_y")
    listed = [] if _is_cut(X, n_rows) else zip(_listed(X), _listed(y), strict=False)
    return [*_pairs(fit_params.get("eval_set")), *listed]


def _xgboost_pairs(model: Any, fit_params: Mapping[str, Any], n_rows: int) -> list[Pair]:
    params = model.get_params()
    by_callback = any("EarlyStopping" in type(each).__name__ for each in params.get("callbacks") or ())
    stops = by_callback or params.get("early_stopping_rounds") is not None
    return _pairs(fit_params.get("eval_set"))[-1:] if stops else []  # the last set decides


def _catboost_pairs(model: Any, fit_params: Mapping[str, Any], n_rows: int) -> list[Pair]:
    params = {**model.get_params(), **{name: value for name, value in fit_params.items() if value is not None}}
    stops = params.get("early_stopping_rounds") or params.get("od_wait") or params.get("od_pval")
    return _pairs(fit_params.get("eval_set")) if stops or params.get("use_best_model", True) else []


def _histogram_pairs(model: Any, fit_params: Mapping[str, Any], n_rows: int) -> list[Pair]:
    X, y = fit_params.get("X_val"), fit_params.get("y_val")
    stops = model.early_stopping is True or (model.early_stopping == "auto" and n_rows > _ROWS_OF_AUTO)
    return [(X, y)] if stops and X is not None and y is not None and not _is_cut(X, n_rows) else []


def _is_cut(X: Any, n_rows: int) -> bool:
    """Whether a search cuts it to the training rows, because it has as many rows as the data."""
    return not isinstance(X, list | tuple) and hasattr(X, "shape") and X.shape[0] == n_rows


_ROWS_OF_AUTO = 10_000
"""Above these ``early_stopping="auto"`` stops early."""


def _pairs(eval_set: Any) -> list[Pair]:
    """The pairs of an ``eval_set``: a list of them, or one; what is neither (CatBoost's ``Pool``) is unknown."""
    if isinstance(eval_set, tuple) and len(eval_set) == 2 and not isinstance(eval_set[0], tuple):
        return [eval_set]
    return [(each[0], each[1]) for each in _listed(eval_set) if isinstance(each, tuple | list) and len(each) == 2]


def _listed(value: Any) -> Iterator[Any]:
    return iter(value if isinstance(value, list | tuple) else () if value is None else (value,))


def _is_not_dart(model: Any) -> bool:
    params = model.get_params()
    return "dart" not in (params.get("boosting_type"), params.get("boosting"), params.get("boost"))


def _takes_rows(model: Any) -> bool:
    return "X_val" in inspect.signature(model.fit).parameters


_LIGHTGBM = Stopper(_fit_lightgbm, _is_not_dart, _lightgbm_pairs)
_XGBOOST = Stopper(_fit_xgboost, lambda model: True, _xgboost_pairs)
_CATBOOST = Stopper(_fit_catboost, lambda model: True, _catboost_pairs)
_HISTOGRAM = Stopper(_fit_histogram, _takes_rows, _histogram_pairs)
_STOPPERS: Mapping[str, Stopper] = {
    "lightgbm.LGBMClassifier": _LIGHTGBM,
    "lightgbm.LGBMRegressor": _LIGHTGBM,
    "xgboost.XGBClassifier": _XGBOOST,
    "xgboost.XGBRegressor": _XGBOOST,
    "heldout.LabelledXGBClassifier": _XGBOOST,
    "catboost.CatBoostClassifier": _CATBOOST,
    "catboost.CatBoostRegressor": _CATBOOST,
    "sklearn.HistGradientBoostingClassifier": _HISTOGRAM,
    "sklearn.HistGradientBoostingRegressor": _HISTOGRAM,
}
