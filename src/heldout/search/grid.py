"""``HeldOutSearchCV`` and ``HeldOutRandomizedSearchCV``: as in scikit-learn, with a score that you can believe."""

import numbers
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heldout._sklearn import Interval
from heldout.configurations import DRAW, refuses
from heldout.search.base import BaseHeldOutSearch


@refuses("n_iter", "param_distributions", why=f"is for a random search, but this search tries a whole grid; {DRAW}")
@dataclass(kw_only=True, eq=False, repr=False)
class HeldOutSearchCV(BaseHeldOutSearch):
    """Exhaustive search with a bias-corrected estimate of the winner's performance.

    The winner, ``best_score_`` and ``cv_results_`` are those of ``GridSearchCV``. If scores are equal except for
    rounding errors, the first configuration wins; if ``GridSearchCV``, which compares the last bit, would select
    another, the flag ``tied_winner`` names it. ``best_score_`` is the best of many scores on the same folds and
    therefore optimistic. ``estimate_`` corrects this optimism from the held-out predictions, without further fits
    (``heldout.estimates.Shrinkage``).

    Parameters
    ----------
    estimator : estimator, or list of (name, estimator, grid)
        A list searches all its estimators together; ``params`` then hold ``model``.
    param_grid : dict or list of dict, optional
        As in ``GridSearchCV``; None for a list of estimators, which has its own grids.
    scoring : str, metric, callable, list, tuple or dict, optional
        As in ``GridSearchCV``, or any metric of ``ho.metrics``, by its name ("concordance_index") or as an object
        (``ho.metrics.FScore(beta=2)``); losses are negative. With several scorers there is one estimate for each,
        all for the configuration that ``refit`` selects.
    pos_label : int, float, bool or str, optional
        The positive class of a binary task: scorers of one class (f1, precision, recall, jaccard,
        average_precision) score it, and predictions, estimates and reports refer to it. By default it is the last
        class in sorted order; but scikit-learn's scorers of one class then score the class 1, as in
        ``GridSearchCV``, and are refused for labels such as "no" and "yes". A scorer that names its own class keeps
        it; a different ``pos_label`` is then refused.
    cv : int, "auto", plan, splitter or iterable, optional
        As in ``GridSearchCV``, or a plan of ``ho.protocols``. "auto" makes one shuffled fold per row of the
        smallest class, at most 10.
    repeats : int, default=1
        How often the rows are divided into folds, each time with a new shuffle.
    aggregate : {"auto", "folds", "pooled", "within"}, default="auto"
        How held-out predictions become a configuration's score: the mean over folds; the metric on all held-out
        rows together; or, for metrics made of pairs (AUC, concordance, Somers' D), the share of correctly ordered
        pairs among all pairs of rows of the same fold. With "auto" the mean over folds selects, as in
        ``GridSearchCV``, and it is the value too for means over rows (accuracy, log loss) and metrics made of
        pairs. Every other metric (R2, RMSE, F1, average precision) has its value, uncorrected score and interval
        on all held-out rows together, because a mean over small folds is biased for it (flag ``scale_of_value``).
    selection : str or selection rule, default="best"
        How the winner is chosen, by name or as a rule of ``ho.selection``. Every bootstrap replays it.
    drop : str, rule of ``ho.dropping`` or None, optional
        Which configurations to drop early: "bootstrap" drops after every fold those that are worse than the current
        best in 99 % of bootstraps of the predictions so far. None fits every configuration on every fold.
        "sequential" is a different search, on more and more training rows: it plans the splits (``cv`` must be
        None), and the winner, ``best_score_`` and the estimate are based on the last three of them.
    method : str, method or None, default="shrinkage"
        The estimate's method, of ``ho.estimates``; None makes no estimate (use it inside ``cross_val_score``). For
        a scorer that is not a function of the predictions of single rows, the default becomes "bbc_f", which reads
        fold scores: a function of the model, the estimator's own ``score``, a target of several columns whose score
        is not a mean, or no target.
    n_bootstraps : int, default=1000
    confidence_level : float, default=0.95
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
    n_jobs, refit, pre_dispatch, error_score, return_train_score
        As in ``GridSearchCV``, except that a configuration that failed is never chosen, whatever ``error_score``
        says.
    verbose : int, default=0
        1 prints the plan, the progress and the dropped configurations; 2 prints a line for every fit in place of
        the progress.
    keep_predictions : bool or "auto", default="auto"
        Whether ``predictions_`` and ``evaluation_`` are kept. "auto" keeps the predictions of all rows while they
        take at most a quarter of the memory, and 500 MB as results and arrays. Of larger searches of more than
        50 000 rows only those rows are kept that the estimates read, if means over folds choose and are estimated;
        the numbers are the same bits. False keeps neither.
    store : str, path or Store, optional
        A file that keeps every finished fit. Calling ``fit`` again on the same data continues where it stopped.
    random_state : int, RandomState or Generator, optional
        Seeds bootstraps and shuffles, and, when set, every ``random_state=None`` inside the estimators.
    fit_timeout : float, optional
        Seconds after which a fit is stopped and its configuration fails. With it, configurations share no work.
    share : {"exact", "tolerance"} or False, default="exact"
        Whether work that configurations have in common is done once. Equal leading steps of pipelines are fitted
        once on a split, and one fit serves all numbers of rounds of a boosted model, of trees of a forest, of
        neighbours, all penalties of a ridge and more (``ho.spaces.register_submodels`` adds others). "exact":
        predictions equal those of separate fits, to the last bit for steps and ensembles of trees, elsewhere to
        1e-12 of the largest. "tolerance" also shares along the penalties of logistic regression, LASSO and elastic
        net and the costs of support vector machines, within the tolerance of their solvers. False fits every
        configuration alone.
    share_memory : int, optional
        Bytes that the output of shared steps may take; by default a quarter of the memory. Output that does not fit
        is computed again.
    early_stopping : inner split, optional
        ``ho.inner_split(0.1)`` stops boosted models of LightGBM, XGBoost, CatBoost and HistGradientBoosting early,
        each on a tenth of its own training rows, in the refit too. Other models in a list are fitted as usual.
    keep_models : {"none", "winner", "all"}, default="none"
        Whose models ``fold_models_`` holds, those that made the held-out predictions. "winner" fits the winner
        again on each split after the search, and compares the predictions. "all" keeps all models as they are
        fitted; a configuration that sharing serves to the last bit is then fitted alone. With ``random_state=None``
        estimators without a seed get one that is drawn anew in each run, so that their fits can be repeated. A
        model that cannot be repeated, such as one fitted in an earlier session with other random draws, is None,
        and a warning says why.
    deploy : {"all", "bounded"}, default="all"
        "all" fits ``best_estimator_`` on all rows. "bounded", for a single hold-out, fits it on the training rows
        only, so that it is the model that the hold-out tested and ``method="hoeffding"`` bounds; its predictions
        are compared with the held-out ones.
    default : dict, optional
        Parameters of the configuration with which tuning is compared; {} for the estimator unchanged. If it is not
        among the configurations, it is fitted on the same splits, and can never win. By default the estimator as
        passed is used, if it is among the configurations. See ``Evaluation.overtuning``.
    imputation : int or Imputation, optional
        How many times missing values are imputed, or how. Every fit imputes its own training rows and fits the
        configuration on each completed table; imputers fitted on the training rows complete the rows to predict.
        The predictions are pooled (``ho.protocols.ImputedModel``); ``ho.protocols.pooled_performance`` pools the
        scores of the completions instead. ``n_fits_`` counts all completions of a fit as one, and no work is
        shared. By default the models receive X unchanged.
    stop_when_width : float, optional
        Stop when the two-sided interval of the estimate is no wider than this, in the units of the metric. The
        width is checked after each fold of the first repeat, from 50 predicted rows on, and after each later
        repeat. The winner is refitted on all rows; the estimate rests on the folds so far (flag ``stopped_early``),
        and ``evaluation_.barriers`` holds the width at each. ``n_fits_saved_`` counts the fits that were not made.
    training_size_correction : bool, default=False
        Whether to correct the value for training size: to that of models trained on all rows, as the winner is,
        instead of K - 1 folds. The better half of the configurations is fitted K (K - 1) / 2 further times, each
        without two folds of the first repeat, and the gain in their mean score from K - 2 to K - 1 folds is
        extrapolated; the interval includes the standard error of the extrapolation (flag
        ``training_size_corrected``). For 3 to 10 folds that test every row once, and scorers that can be opened.
        The fits count in ``n_fits_``, and a ``store`` keeps them like others.
    n_rows_of_bootstrap : int or None, default=50000
        As in ``ho.estimate``.
    block_length : int, "auto", str or ``ho.estimates.Blocks``, optional
        Bootstraps of the estimate draw blocks of this many consecutive rows, which must be in the order of time. By
        default blocks of the automatic length are drawn if the folds follow time, as those of ``TimeSeriesSplit``,
        and single rows (or groups) otherwise; see ``ho.estimate``.

    Attributes
    ----------
    cv_results_ : dict
        As in ``GridSearchCV``; with ``aggregate="pooled"`` also ``pooled_test_{name}`` and its rank. With ``drop``
        also ``n_splits_evaluated`` and ``dropped_at_split``, the last split of a dropped configuration (-1 for the
        others); its later scores are NaN.
    best_estimator_, best_params_, best_index_, best_score_, scorer_, n_splits_, refit_time_, multimetric_
        As in ``GridSearchCV``; ``best_score_`` is uncorrected. With ``aggregate="pooled"`` it is the pooled score,
        with "within" the share of pairs within folds (``within_test_{name}`` of ``cv_results_``).
    estimate_ : Estimate or None
        The estimate in the metric that selected the winner; None with ``method=None``.
    estimates_ : dict of str to Estimate
        One estimate per scorer, all for the same winner.
    corrected_score_ : float or None
        ``estimate_.value``, with the sign of ``best_score_``.
    confidence_interval_ : Interval or None
    optimism_ : float or None
        How much better the uncorrected score looks than the corrected one; positive if it is too good.
    predictions_ : HeldOutPredictions or None
        They remember metric, rule, method and settings of the search, so that ``ho.estimate`` and
        ``ho.compare_configurations`` need no further argument.
    n_fits_, n_fits_saved_, n_fits_shared_ : int
        Fits of the search without the refit; fits that dropping saved; and those of ``n_fits_`` that shared work.
        ``mean_fit_time`` of a configuration includes its part of the time of shared work.
    fold_models_ : FoldModels or None
        With ``keep_models``: a mapping of (repeat, fold) to the winner's model of that split.
        ``fold_models_.held_out()`` gives each with its held-out rows, and ``fold_models_.of(3)`` is the mapping of
        configuration 3. ``fold_models_.n_fits`` counts fits made after the search; ``n_fits_`` does not.
    evaluation_ : Evaluation or None
        The record of the search: folds, configurations, cells, predictions, estimates.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = HeldOutSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, random_state=0).fit(X, y)
    >>> print(search.best_params_, f"{search.best_score_:.3f}")
    {'n_neighbors': 9} 0.931
    >>> print(search.estimate_)
    accuracy 0.9297 [0.8996, 0.9555] (95%) by shrinkage (uncorrected 0.9315, KNeighborsClassifier (n_neighbors=9))
    """

    param_grid: Any = field(default=None, kw_only=False)
    stop_when_width: float | None = None
    training_size_correction: bool = False

    _parameter_constraints = {  # noqa: RUF012
        **BaseHeldOutSearch._parameter_constraints,
        "param_grid": [dict, list, tuple, None],
    }


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
