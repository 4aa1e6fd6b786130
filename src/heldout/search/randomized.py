"""``HeldOutRandomizedSearchCV``: scikit-learn's random search, with a score that you can believe."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np

from heldout import _defaults
from heldout._sklearn import Interval
from heldout.configurations import refuses
from heldout.estimates.block_length import BlockLength
from heldout.estimates.question import AnyAggregate
from heldout.estimates.types import Alternative
from heldout.execution.fold_models import DeployedModel, KeepModels
from heldout.execution.inner_split import InnerSplit
from heldout.execution.sharing.groups import Share
from heldout.search.base import BaseHeldOutSearch


class HeldOutRandomizedSearchCV(BaseHeldOutSearch):
    """Random search with a bias-corrected estimate of the winner's performance.

    The configurations are drawn once, before anything is fitted, and then searched as ``HeldOutSearchCV`` searches
    a grid. With an integer ``random_state`` they are those of ``RandomizedSearchCV``; if the estimator has a
    ``random_state`` of its own, the winner, ``best_score_`` and ``cv_results_`` are too. A run that continues from
    its ``store`` has the same draws, also with ``random_state=None``.

    Parameters
    ----------
    estimator : estimator, or list of (name, estimator, distributions)
        A list searches all its estimators together; ``params`` then hold ``model``.
    param_distributions : dict or list of dict, optional
        As in ``RandomizedSearchCV``: lists of values, or distributions with a method ``rvs``; none for a list of
        estimators.
    n_iter : int or dict of str to int, default=10
        How many configurations are drawn. If all values are lists, none is drawn twice; if there are fewer
        combinations, all are searched, with a warning. For a list of estimators it is the number in all, divided at
        random as ``ParameterSampler`` divides it among a list of dicts, each with its ``model``: if all values are
        lists, every combination of every model is equally likely; otherwise every dict of every model is, and a
        model without distributions may be drawn several times. A dict gives the number of each model by its name;
        the draws of a model then do not depend on the others.
    scoring, pos_label, cv, repeats, aggregate, selection, drop, method, n_bootstraps, confidence_level, \
alternative, n_jobs, refit, pre_dispatch, error_score, return_train_score, keep_predictions, store, verbose, \
fit_timeout, share, share_memory, early_stopping, keep_models, deploy, default, stop_when_width, imputation, \
training_size_correction, block_length
        As in ``HeldOutSearchCV``.
    random_state : int, RandomState or Generator, optional
        Seeds the draws too.

    Attributes
    ----------
    cv_results_, best_estimator_, best_params_, best_index_, best_score_, estimate_, corrected_score_, ...
        As in ``HeldOutSearchCV``.

    Examples
    --------
    >>> from scipy.stats import randint
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> distributions = {"n_neighbors": randint(1, 30), "weights": ["uniform", "distance"]}
    >>> search = HeldOutRandomizedSearchCV(KNeighborsClassifier(), distributions, n_iter=5, random_state=0)
    >>> search = search.fit(X, y)
    >>> print(search.best_params_, f"{search.best_score_:.3f}")
    {'n_neighbors': 22, 'weights': 'uniform'} 0.930
    >>> print(f"{search.corrected_score_:.3f} {search.confidence_interval_}")
    0.926 [0.8955, 0.9528] (95%)
    """

    _proposer = "random"
    _parameter_constraints = {  # noqa: RUF012
        **BaseHeldOutSearch._parameter_constraints,
        "param_distributions": [dict, list, tuple, None],
        "n_iter": [Interval(numbers.Integral, 1, None, closed="left"), dict],
    }

    @refuses("space", "param_grid", why="is named `param_distributions=` here, and takes distributions or lists")
    @refuses("n_trials", why="is named `n_iter=` here")
    def __init__(
        self,
        estimator: Any,
        param_distributions: Any = None,
        *,
        n_iter: int | Mapping[str, int] = 10,
        scoring: Any = None,
        pos_label: Any = None,
        cv: Any = None,
        repeats: int = 1,
        aggregate: AnyAggregate = _defaults.AGGREGATE,
        selection: Any = _defaults.SELECTION,
        drop: Any = None,
        method: Any = _defaults.METHOD,
        n_bootstraps: int = _defaults.BOOTSTRAPS,
        confidence_level: float = _defaults.LEVEL,
        alternative: Alternative = _defaults.ALTERNATIVE,
        n_jobs: int | None = None,
        refit: Any = True,
        pre_dispatch: int | str = _defaults.PRE_DISPATCH,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        keep_predictions: bool = True,
        store: Any = None,
        random_state: Any = None,
        verbose: int = 0,
        fit_timeout: float | None = None,
        share: Share = _defaults.SHARE,
        share_memory: int | None = None,
        early_stopping: InnerSplit | None = None,
        keep_models: KeepModels = _defaults.KEEP_MODELS,
        deploy: DeployedModel = _defaults.DEPLOY,
        imputation: Any = None,
        default: Any = None,
        stop_when_width: float | None = None,
        training_size_correction: bool = False,
        block_length: BlockLength = None,
    ) -> None:
        super().__init__(
            estimator, param_distributions=param_distributions, n_iter=n_iter, scoring=scoring, cv=cv,
            repeats=repeats, aggregate=aggregate, selection=selection, drop=drop, method=method,
            n_bootstraps=n_bootstraps, confidence_level=confidence_level, alternative=alternative, n_jobs=n_jobs,
            refit=refit, pre_dispatch=pre_dispatch, error_score=error_score, return_train_score=return_train_score,
            keep_predictions=keep_predictions, store=store, random_state=random_state, verbose=verbose,
            fit_timeout=fit_timeout, share=share, share_memory=share_memory, early_stopping=early_stopping,
            keep_models=keep_models, deploy=deploy, imputation=imputation, default=default,
            stop_when_width=stop_when_width, training_size_correction=training_size_correction,
            block_length=block_length, pos_label=pos_label,
        )  # fmt: skip
