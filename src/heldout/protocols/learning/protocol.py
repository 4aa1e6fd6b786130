"""Learning curves of all configurations: one plan, one run file, and an estimate carried on to all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heldout.arguments.search import SearchArguments
from heldout.errors import InputError
from heldout.execution.collect import RaceResults
from heldout.execution.conclusion import warn_of_failures, with_constants
from heldout.execution.fit import final_model
from heldout.execution.run import RunSettings, open_run
from heldout.execution.search import Search
from heldout.execution.search_check import check_search
from heldout.execution.sharing.groups import Share
from heldout.execution.winner import winner_of
from heldout.metrics.opaque import OpaqueMetric
from heldout.protocols.learning.curve import LearningCurve
from heldout.protocols.learning.ipl import best_possible, estimate_of, laws_of
from heldout.protocols.learning.plan import SIZES, subsampled_folds, training_counts


def learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    param_grid: Any = None,
    *,
    training_sizes: Sequence[float] | Sequence[int] = SIZES,
    n_subsamples: int = 50,
    scoring: Any = None,
    pos_label: Any = None,
    selection: Any = "best",
    groups: Any = None,
    sample_weight: Any = None,
    refit: Any = True,
    n_jobs: int | None = None,
    share: Share = "exact",
    store: Any = None,
    random_state: Any = None,
) -> LearningCurve:
    """Score every configuration at several training sizes, and extend the winner's curve to all rows.

    In each of ``n_subsamples`` repetitions the rows are put into a random order that keeps classes in proportion.
    The first n of them train every configuration, for each training size n, and the others test it: S times
    ``n_subsamples`` times C fits, and one for ``model``. The training sets of a repetition lie within each other,
    so that sizes are compared on the same rows.

    ``estimate`` (method "ipl", Ding et al. 2014): with scores as distances from the best possible value, the mean
    errors of a configuration are fitted by a n^(-b) + c, where a, b and c are at least 0, by least squares with
    weights of one over the variance of each mean. The winner is chosen by its scores at the largest size, as a
    search with these splits would choose it; that score is ``uncorrected``, and ``value`` is the winner's curve at
    all N rows. It is for models trained on all rows, while other methods are for smaller training parts. So
    ``optimism`` also contains the gain from more rows, and is often negative.

    It needs a metric whose best possible value is known, and at least three training sizes. It has no interval:
    subsamples of the same rows show how subsamples differ, not how other rows would. And it corrects little of the
    optimism of the choice: the errors at other sizes come from the same rows and contain most of the winner's luck
    (a flag says so; docs/methods/learning-curves.md has figures). Use it to see the gain from more rows, and
    another method for the performance of the winner. On few rows the curve is unstable; a poor fit is flagged.

    Parameters
    ----------
    estimator : estimator, list of (name, estimator, grid), or search
        As ``ho.HeldOutSearchCV`` takes them, or a search (of ``ho``, ``GridSearchCV`` or ``RandomizedSearchCV``),
        fitted or not. Its settings hold for every argument that is at its default here, except its ``cv``
        and ``repeats``; a search with ``drop`` is refused, and so is an argument that differs from
        that of the search. A random search draws once. Any other estimator that selects (by Optuna, halving) is one
        configuration, and every fit repeats its selection.
    X : array-like of shape (N, n_features)
    y : array-like of shape (N,)
    param_grid : dict or list of dict, optional
    training_sizes : sequence of float or int, default=(.2, .3, .4, .5, .6, .7, .8)
        Shares of the rows, or numbers of rows; ascending.
    n_subsamples : int, default=50
        Of each size.
    scoring, pos_label, selection, refit, n_jobs, share, store
        As in ``ho.HeldOutSearchCV``. Of several scorers, the one that ``refit`` names.
    groups : array-like of shape (N,), optional
        Kept whole; sizes are then as close as groups allow.
    sample_weight : array-like of shape (N,), optional
        Importance weights, for fits and scores.
    random_state : int, RandomState or Generator, optional
        Repetition r does not depend on their number.

    Returns
    -------
    LearningCurve

    Raises
    ------
    InputError
        When sizes or settings cannot be used, a class has no row in a training or test part, or every
        configuration failed.

    References
    ----------
    Ding et al. (2014).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> curve = learning_curve(
    ...     KNeighborsClassifier(), X, y, {"n_neighbors": [1, 9]},
    ...     training_sizes=(0.2, 0.4, 0.6, 0.8), n_subsamples=5, random_state=0,
    ... )
    >>> curve.n_fits, curve.sizes.tolist(), curve.mean.shape  # 4 · 5 · 2 + 1
    (41, [30.0, 60.0, 90.0, 120.0], (4, 2))
    >>> print(f"{curve.estimate.uncorrected:.3f} {curve.estimate.value:.3f}", curve.names[curve.winner])
    0.973 0.975 KNeighborsClassifier (n_neighbors=9)
    """
    if isinstance(n_subsamples, bool) or not isinstance(n_subsamples, int | np.integer) or n_subsamples < 2:
        raise InputError(
            f"n_subsamples must be an integer of at least 2, got {n_subsamples!r}; 50 are usual.",
            argument="n_subsamples",
        )
    arguments = SearchArguments(
        estimator, param_grid, scoring=scoring, selection=selection, refit=refit, n_jobs=n_jobs, share=share,
        store=store, random_state=random_state, pos_label=pos_label,
    ).with_search()  # fmt: skip
    if arguments.drop is not None:
        raise InputError(
            "a learning curve fits every configuration at every size, so no configuration can be dropped, got a "
            f"search with `drop={arguments.drop!r}`; use `drop=None`."
        )
    search = replace(arguments, cv=2, repeats=1).search_on(X, y, groups, sample_weight)
    counts = training_counts(training_sizes, search.task.n_rows)
    folds = subsampled_folds(search.task, counts, int(n_subsamples), search.entropy)
    search = replace(search, folds=folds)
    check_search(search)
    return _curve_of(search, len(counts), arguments.running())


def _curve_of(search: Search, n_sizes: int, running: RunSettings) -> LearningCurve:
    """Fit every cell, choose at the largest size, fit the curves, and the winner on all rows."""
    with open_run(search.work, search.task, search.entropy, running) as run:
        (outcome,) = run.run_races([search.race])
        found = run.race_results(search.race, outcome)
    warn_of_failures(found, search)
    name = found.refit_metric
    metric = search.scoring.metrics.get(name) or OpaqueMetric(name)
    n_subsamples = found.folds.n_splits // n_sizes
    scores = found.fold_scores[name].values.reshape(n_sizes, n_subsamples, -1).copy()
    scores[:, :, list(found.failures)] = np.nan
    sizes = _mean_sizes(found, n_sizes)
    winner = _winner(search, found, n_subsamples)
    laws = laws_of(metric, sizes, scores, found.failures)
    return LearningCurve(
        metric=metric.name,
        greater_is_better=metric.greater_is_better,
        best_possible=best_possible(metric),
        names=search.configurations.names,
        sizes=sizes,
        n_rows=search.task.n_rows,
        scores=scores,
        laws=tuple(laws),
        winner=winner,
        estimate=estimate_of(
            search, metric, winner, sizes=sizes, scores=scores, laws=laws, failures=found.failures
        ),
        model=final_model(search.work.context, search.configurations[winner]) if search.refit else None,
        failures=found.failures,
        n_fits=found.n_fits + search.refit,
    )


def _mean_sizes(found: RaceResults, n_sizes: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    trained = np.array([split.n_training_rows for split in found.folds.splits], dtype=np.float64)
    return np.asarray(trained.reshape(n_sizes, -1).mean(axis=1))


def _winner(search: Search, found: RaceResults, n_subsamples: int) -> int:
    """The winner on the splits of the largest size alone, which are the last."""
    largest = found.last(n_subsamples)
    metrics = {name: search.scoring.metrics.get(name) for name in largest.fold_scores}
    return winner_of(
        largest, search.task, with_constants(search.estimation, largest), search.configurations, metrics
    )
