"""Nested cross-validation: the whole search, cross-validated.

Each outer fold is held out once while the search runs on the other rows; the winner there is fitted on all of these
and scored on the fold. No row scores a winner that it helped to choose, at the cost of K times the fits of a
search. The deployed model comes from one more search, on all rows.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from heldout import _defaults
from heldout.arguments.search import SearchArguments
from heldout.configurations import are_same
from heldout.errors import InputError
from heldout.estimates.question import AnyAggregate
from heldout.estimates.types import Alternative
from heldout.execution.run import RunSettings
from heldout.execution.search import Search
from heldout.execution.sharing.groups import Share
from heldout.protocols.branches import BranchWinner, run_branches
from heldout.protocols.nested.conclusion import nested_estimate
from heldout.protocols.nested.estimate import NestedEstimate
from heldout.protocols.nested.intervals import AUTO, BATES, BatesHastieTibshirani
from heldout.protocols.nested.plan import REMAINING, Across, NestedSettings, have_remaining, nested_folds
from heldout.selection import NONE_CHOSEN
from heldout.selection.replay import chosen_columns
from heldout.spaces.procedure import procedure_of


def nested_cv(
    estimator: Any,
    X: Any,
    y: Any,
    param_grid: Any = None,
    *,
    scoring: Any = None,
    pos_label: Any = None,
    cv: Any = None,
    inner: Any = _defaults.INNER,
    repeats: int = 1,
    across: Across = _defaults.ACROSS,
    interval: str | BatesHastieTibshirani | None = AUTO,
    aggregate: AnyAggregate = _defaults.AGGREGATE,
    selection: Any = _defaults.SELECTION,
    drop: Any = None,
    confidence_level: float = _defaults.LEVEL,
    alternative: Alternative = _defaults.ALTERNATIVE,
    groups: Any = None,
    sample_weight: Any = None,
    refit: Any = True,
    n_jobs: int | None = None,
    fit_timeout: float | None = None,
    share: Share = _defaults.SHARE,
    imputation: Any = None,
    store: Any = None,
    random_state: Any = None,
    verbose: int = 0,
) -> NestedEstimate:
    """Estimate a whole search by nested cross-validation, and run it on all rows too.

    With K folds, R repeats and C configurations, and ``inner="remaining"``, it takes exactly R(K²C + K) + 1 fits
    (Tsamardinos, Greasidou & Borboudakis 2018, algorithm 3; section 2.2 counts them for R = 1). A single
    configuration, such as a halving search, needs no inner folds: RK + 1 fits.

    Parameters
    ----------
    estimator : estimator, list of (name, estimator, grid), search, or function
        A search of ``ho``, ``GridSearchCV`` or ``RandomizedSearchCV``, fitted or not; a random search draws once,
        and all folds try what it drew. The grid and the settings of a search apply to every argument left at its
        default here (confidence level, store and seed included); the search is not changed. An argument with
        another value than the search's is refused. The exception is ``cv``: the search's ``cv`` makes the outer
        folds, and if you pass another ``cv`` here, it makes the inner ones (an equal ``cv`` of at least 3 folds
        that test every row once changes nothing: name it as ``inner`` for new folds inside each outer fold, at KC
        more fits). Any other estimator that selects (a halving search, a search by Optuna, a pipeline around a
        search) is one configuration, and every fit repeats its selection with its own ``cv``. So is any function of
        X and y that returns one fitted model
        (``ho.spaces.TuningProcedure`` says what it may take, and wraps a ``GridSearchCV`` in the same way).
    X : array-like of shape (N, n_features)
    y : array-like of shape (N,)
    param_grid : dict or list of dict, optional
    scoring : str, metric, callable, list or dict, optional
        As in ``HeldOutSearchCV``. With several scorers, the one that ``refit`` names selects, by default the first.
    pos_label : int, float, bool or str, optional
        The positive class of a binary task, as in ``HeldOutSearchCV``.
    cv : int, "auto", plan, splitter or iterable, optional
        The outer folds, 5 by default. An integer keeps groups whole where there are groups.
    inner : "remaining", "holdout", int or splitter, default="remaining"
        The splits of the inner searches. "remaining": the other outer folds, each in turn. "holdout": the next
        outer fold alone, as a development set of N/K rows. An integer or splitter: new folds, shuffled by the seed
        of the run, with groups kept whole. With new folds the search on all rows has new folds too; otherwise it
        has the outer folds. With a single outer split (``cv=ho.protocols.hold_out(0.25)``), "holdout" divides the
        rows into training, tuning and estimation rows, the last two of equal size (C + 2 fits). There is then no
        search on all rows: the deployed model is the tested configuration, fitted on all rows.
    repeats : int, default=1
        How often the outer folds are drawn.
    across : {"folds", "all"}, default="folds"
        "folds": every outer fold fits its own winner. "all": all fit the one configuration with the best mean over
        all inner folds (repeated grid-search nested cross-validation), which is about as optimistic as an
        uncorrected score, and flagged; not with ``drop``.
    interval : {"auto", "nadeau_bengio", "bates_hastie_tibshirani", "test_part", "bootstrap", None}, default="auto"
        "nadeau_bengio" uses the scores of the outer folds, without further fits. "bates_hastie_tibshirani", for
        means of one loss per row, searches again without each pair of folds of a repeat: R·K(K-1)/2·((K-2)C + 1)
        more fits with ``inner="remaining"``, and it needs many repeats.
        ``ho.protocols.BatesHastieTibshirani(further_draws=10)`` has its authors' bias term, from ten further draws
        of the folds. "test_part", for a single outer split, uses its test rows (exact binomial for accuracy,
        DeLong's for an area under the ROC curve, otherwise a bootstrap of the rows). "bootstrap" resamples the rows
        that the outer folds predicted, and widens the spread because their models share training rows. "auto" is
        "test_part" for a single outer split; for several it is "bootstrap" if the score is computed on all outer
        rows together (see ``aggregate``), else "nadeau_bengio".
    aggregate : {"auto", "folds", "pooled", "within"}, default="auto"
        How a score is computed, in inner and outer folds: as the mean over folds; on all held-out rows of a repeat
        together; or, for metrics made of pairs, from the pairs of rows of the same fold. With "auto" means over
        folds choose, and the estimate of a metric that is neither a mean over rows nor made of pairs (R2, RMSE, F1)
        is computed on all outer rows of a repeat together, unless the interval is one of fold scores.
    selection : str or selection rule, default="best"
        How each search chooses its winner.
    drop : str, rule of ``ho.dropping`` or None, optional
        Drops configurations early, in each search separately.
    confidence_level : float, default=0.95
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
    groups : array-like of shape (N,), optional
        Kept whole by outer and inner folds.
    sample_weight : array-like of shape (N,), optional
        Passed to every ``fit`` and to the scorers.
    refit : bool, str or callable, default=True
        Whether to fit the model to deploy. A name says which scorer chooses; a callable chooses itself.
    n_jobs, verbose
        As in ``GridSearchCV``; a configuration that failed is never chosen.
    fit_timeout : float, optional
        Seconds after which a fit is stopped and fails.
    share : {"exact", "tolerance"} or False, default="exact"
        What is fitted once for several configurations, as in ``HeldOutSearchCV``.
    imputation : int or Imputation, optional
        How many times missing values are imputed, or how, within every fit, as in ``HeldOutSearchCV``.
    store : str, path or Store, optional
        A file that keeps every finished fit; the same call continues where it stopped.
    random_state : int, RandomState or Generator, optional

    Returns
    -------
    NestedEstimate

    Raises
    ------
    InputError
        When data or settings cannot be used, or every configuration failed on all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = nested_cv(KNeighborsClassifier(), X, y, {"n_neighbors": [1, 5, 9]}, random_state=0)
    >>> print(found)
    accuracy 0.9315 [0.8733, 0.9896] (95%) by nested_cv (uncorrected 0.9315, KNeighborsClassifier (n_neighbors=9))
    >>> found.n_fits  # 5 · 5 · 3 + 5 + 1
    81
    >>> [fold.selected_name for fold in found.outer_folds][0], found.agreement.share
    ('KNeighborsClassifier (n_neighbors=9)', 1.0)

    The same with a search object:

    >>> from heldout import HeldOutSearchCV
    >>> search = HeldOutSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, random_state=0)
    >>> nested_cv(search, X, y).value == found.value
    True
    """
    estimator = procedure_of(estimator, y)
    passed = SearchArguments(
        estimator, param_grid, scoring=scoring, cv=cv, repeats=repeats, aggregate=aggregate, selection=selection,
        drop=drop, confidence_level=confidence_level, alternative=alternative, refit=refit,
        n_jobs=n_jobs, fit_timeout=fit_timeout, share=share, store=store,
        imputation=imputation, random_state=random_state, verbose=verbose, pos_label=pos_label,
    )  # fmt: skip
    arguments = passed.with_search(free=["cv"])
    both = cv is not None and passed.is_fixed_search and estimator.cv is not None
    inner_of_search = both and isinstance(inner, str) and inner == REMAINING
    if inner_of_search and not are_same(cv, estimator.cv):
        inner = estimator.cv
    settings = NestedSettings(inner, across, interval)
    try:
        drawn = arguments
        if settings.further_draws and isinstance(arguments.repeats, int | np.integer):  # others are refused below
            drawn = replace(arguments, repeats=arguments.repeats + settings.further_draws)
        search = drawn.search_on(X, y, groups, sample_weight)
    except InputError as error:
        if not settings.further_draws or error.argument != "repeats":
            raise
        raise InputError(
            f"further draws of the folds need outer folds that are drawn at random: {error}", argument="cv"
        ) from error
    if inner_of_search and not have_remaining(search.folds):  # an equal cv whose folds cannot be the inner ones
        settings = replace(settings, inner=estimator.cv)
    return nested_of_search(search, settings, arguments.running())


def nested_of_search(search: Search, settings: NestedSettings, running: RunSettings) -> NestedEstimate:
    """Nested cross-validation of a search whose folds are the outer ones, and further draws of them."""
    settings.check(search)
    outer, further = settings.divided(search.folds)
    search = replace(search, folds=outer)
    settings = settings.of_outer(search)
    if (
        len(search.configurations) == 1 or outer.n_splits == 1
    ):  # one choice in any case, by no row that it is scored on
        settings = replace(settings, across="folds")
    nested = nested_folds(
        search.task,
        search.folds,
        settings.inner,
        pairs=settings.interval_name == BATES,
        further=further,
        selects=len(search.configurations) > 1,
        entropy=search.entropy,
    )
    across = partial(_best_across, search) if settings.across == "all" else None
    whole = replace(search, folds=nested.search)
    return nested_estimate(search, settings, nested, run_branches(whole, nested.branches, running, across=across))


def _best_across(search: Search, chosen: Sequence[BranchWinner]) -> int:
    """The choice of the rule by the mean inner score over all outer folds; candidates ran in all of them."""
    metric = search.scoring.metrics.get(search.scoring.refit_metric)
    sign = 1.0 if metric is None or metric.greater_is_better else -1.0
    by_fold = sign * np.stack([one.scores for one in chosen])
    values = by_fold.mean(axis=0)
    names, params = [search.scoring.refit_metric], search.configurations.params
    # A rule that reads folds or repeats takes an outer fold as one.
    by_fold = by_fold[None, :, :, None]
    rule, every = search.rule, np.arange(len(params))
    winner = int(chosen_columns(rule, values[None, :, None], every, params, names, by_fold, by_fold)[0])
    if winner == NONE_CHOSEN:
        raise InputError(
            "`across='all'` found no configuration with a score in every outer fold; use `across='folds'`."
        )
    return winner
