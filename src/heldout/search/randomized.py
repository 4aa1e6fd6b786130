"""``HeldOutRandomizedSearchCV``: scikit-learn's random search, with a score that you can believe."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heldout._sklearn import Interval
from heldout.configurations import refuses
from heldout.search.base import BaseHeldOutSearch


@refuses("space", "param_grid", why="is named `param_distributions=` here, and takes distributions or lists")
@refuses("n_trials", why="is named `n_iter=` here")
@dataclass(kw_only=True, eq=False, repr=False)
class HeldOutRandomizedSearchCV(BaseHeldOutSearch):
    """Random search with a bias-corrected estimate of the winner's performance.

    The configurations are drawn once, before anything is fitted, and then searched as ``HeldOutSearchCV`` searches
    a grid. With an integer ``random_state`` they are the same as in ``RandomizedSearchCV``; if the estimator has
    its own ``random_state``, so are the winner, ``best_score_`` and ``cv_results_``. A run that continues from its
    ``store`` has the same draws, even with ``random_state=None``.

    Parameters
    ----------
    estimator : estimator, or list of (name, estimator, distributions)
        A list searches all its estimators together; ``params`` then hold ``model``.
    param_distributions : dict or list of dict, optional
        As in ``RandomizedSearchCV``: lists of values, or distributions with a method ``rvs``; None for a list of
        estimators, which has its own distributions.
    n_iter : int or dict of str to int, default=10
        How many configurations are drawn. If all values are lists, none is drawn twice; if there are fewer
        combinations, all are searched, with a warning. For a list of estimators it is the total, divided at random
        as ``ParameterSampler`` divides it among dicts: if all values are lists, every combination of every model is
        equally likely; otherwise every dict of every model is, and a model without distributions may be drawn
        several times. A dict gives the number for each model by its name; the draws of a model then do not depend
        on the others.
    scoring, pos_label, cv, repeats, aggregate, selection, drop, method, n_bootstraps, confidence_level, \
alternative, n_jobs, refit, pre_dispatch, error_score, return_train_score, keep_predictions, store, verbose, \
fit_timeout, share, share_memory, early_stopping, keep_models, deploy, default, stop_when_width, imputation, \
training_size_correction, block_length, n_rows_of_bootstrap
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

    param_distributions: Any = field(default=None, kw_only=False)
    n_iter: int | Mapping[str, int] = 10
    stop_when_width: float | None = None
    training_size_correction: bool = False

    _proposer = "random"
    _parameter_constraints = {  # noqa: RUF012
        **BaseHeldOutSearch._parameter_constraints,
        "param_distributions": [dict, list, tuple, None],
        "n_iter": [Interval(numbers.Integral, 1, None, closed="left"), dict],
    }
