"""Selecting an algorithm: which of several estimators with their grids to deploy, and what that choice rests on.

A flat cross-validation gives each algorithm the score of its best configuration, which flatters algorithms with
many configurations. A corrected score estimates what it would be without that, and a nested one measures it, with
more fits. All three come from the same folds here, so that they differ by the procedure only.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np

from heldout import _defaults
from heldout._text import counted
from heldout._types import Floats
from heldout.arguments.search import SearchArguments
from heldout.configurations import checked_entries
from heldout.data.checks import COMPARED_SCORES, check_choice, check_interval_settings, checked_flag, is_number
from heldout.errors import InputError
from heldout.estimates.question import AnyAggregate
from heldout.estimates.types import Alternative, Estimate
from heldout.evaluate import evaluation_of
from heldout.execution.conclusion import chosen_in
from heldout.execution.run import RunSettings
from heldout.execution.search import Search, check_search, warn_if_too_small, warn_of_settings
from heldout.execution.sharing.groups import Share
from heldout.flags import Flag
from heldout.metrics.base import Metric
from heldout.predictions import ranks
from heldout.protocols.algorithms import comparison
from heldout.protocols.algorithms.relevance import ARTICLE, Relevance, relevance_of
from heldout.protocols.algorithms.run import algorithm_plan, choice_of, n_dropped, part_of_results, run_algorithms

Deploy = Literal["flat", "corrected", "nested"]
DEPLOY = cast("tuple[Deploy, ...]", COMPARED_SCORES)


def compare_algorithms(
    algorithms: Any,
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    pos_label: Any = None,
    cv: Any = None,
    inner: Any = _defaults.INNER,
    repeats: int = 1,
    aggregate: AnyAggregate = _defaults.AGGREGATE,
    selection: Any = _defaults.SELECTION,
    drop: Any = None,
    method: Any = _defaults.METHOD,
    n_bootstraps: int = _defaults.BOOTSTRAPS,
    confidence_level: float = _defaults.LEVEL,
    alternative: Alternative = _defaults.ALTERNATIVE,
    relevant: float | None = None,
    deploy: Deploy = "nested",
    groups: Any = None,
    sample_weight: Any = None,
    refit: bool = True,
    n_jobs: int | None = None,
    fit_timeout: float | None = None,
    share: Share = _defaults.SHARE,
    store: Any = None,
    random_state: Any = None,
    verbose: int = 0,
) -> comparison.AlgorithmComparison:
    """Compare algorithms by flat, corrected and nested scores on the same folds, and choose one to deploy.

    With K folds, R repeats and C configurations it takes R·C·K(K + 1)/2 + 1 fits; separate flat and nested
    cross-validations of all algorithms take more than twice as many. Each configuration is fitted once on each
    outer fold, which flat, corrected and nested scores share, and once without each two folds, which serves the
    inner searches of both. ``inner`` other than "remaining", a scorer that cannot be opened, and ``share=False``
    need R·C·K(K - 1) inner fits in place of R·C·K(K - 1)/2. An algorithm with one configuration needs none.

    Parameters
    ----------
    algorithms : list of (name, estimator, grid)
        At least two. The grid is a dict, a list of dicts, or {} for an unchanged estimator.
    X : array-like of shape (N, n_features)
    y : array-like of shape (N,)
    scoring : str, metric or callable, optional
        One scorer, as in ``HeldOutSearchCV``.
    pos_label : int, float, bool or str, optional
        The positive class of a binary task, as in ``HeldOutSearchCV``.
    cv : int, "auto", plan, splitter or iterable, optional
        The folds of the flat scores, which are the outer folds of the nested ones; 5 by default. An integer keeps
        groups whole where there are groups.
    inner : "remaining", "holdout", int or splitter, default="remaining"
        The splits inside an outer fold, as in ``ho.nested_cv``.
    repeats : int, default=1
        How often the folds are drawn.
    aggregate : {"auto", "folds", "pooled", "within"}, default="auto"
        How a score is computed, flat, corrected and nested, and inside the outer folds: as the mean over folds; on
        all held-out rows of a repeat together; or, for metrics made of pairs, from the pairs of rows of the same
        fold. With "auto", as in ``ho.HeldOutSearchCV``, means over folds choose, and R2, F1 and the like are
        reported on all rows together.
    selection : str or selection rule, default="best"
        How the configuration of an algorithm is chosen. Among algorithms the best score is chosen.
    drop : str, rule of ``ho.dropping`` or None, optional
        Drops configurations early, in each search of each algorithm separately: on the folds, and inside each outer
        fold. Every inner search then needs its own fits.
    method : str or method, default="shrinkage"
        How flat scores are corrected.
    n_bootstraps : int, default=1000
    confidence_level : float, default=0.95
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        For the intervals of scores; intervals of differences are two-sided.
    relevant : float, optional
        The difference above which one algorithm is relevantly better. By default the threshold of Wainer and Cawley
        (appendix A): the absolute difference between nested and flat score, the smaller one of the two algorithms
        that nested and flat scores select.
    deploy : {"nested", "corrected", "flat"}, default="nested"
        Which score selects the algorithm of the model to deploy.
    groups : array-like of shape (N,), optional
        Kept whole by all folds of an integer ``cv``, and drawn whole by bootstraps.
    sample_weight : array-like of shape (N,), optional
        Passed to every ``fit`` and to the scorer.
    refit : bool, default=True
        Whether to fit the model to deploy.
    n_jobs, verbose
        As in ``GridSearchCV``; a configuration that failed is never chosen.
    fit_timeout : float, optional
        Seconds after which a fit is stopped and fails.
    share : {"exact", "tolerance"} or False, default="exact"
        What is fitted once for several configurations, of different algorithms too, as in ``HeldOutSearchCV``.
    store : str, path or Store, optional
        A file that keeps every finished fit; the same call continues where it stopped.
    random_state : int, RandomState or Generator, optional

    Returns
    -------
    AlgorithmComparison

    Raises
    ------
    InputError
        When data or settings cannot be used, or every configuration failed.

    References
    ----------
    Wainer and Cawley (2021), Nested cross-validation when selecting classifiers is overzealous for most practical
    applications. Nadeau and Bengio (2003), Inference for the generalization error.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> found = compare_algorithms(
    ...     [
    ...         ("neighbours", KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}),
    ...         ("tree", DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}),
    ...     ],
    ...     X, y, random_state=0,
    ... )
    >>> found.selections.nested, found.deployed_name
    ('neighbours', 'neighbours (n_neighbors=5)')
    >>> round(found["neighbours"].flat, 4), round(found["neighbours"].nested, 4)
    (0.9733, 0.9733)
    >>> found.n_fits  # 5 · 5 · 6 / 2 + 1
    76
    """
    entries = _checked_algorithms(algorithms)
    settings = AlgorithmSettings(inner, relevant, deploy)
    settings.check()
    checked_flag("refit", refit)
    if method is None:
        raise InputError(
            f"method must name how flat scores are corrected, got None; '{_defaults.METHOD}' is the default."
        )
    if scoring is not None and not (isinstance(scoring, str | Metric) or callable(scoring)):
        raise InputError(
            f"algorithms are compared by one scorer, got {scoring!r}; name one, such as 'roc_auc'.",
            argument="scoring",
        )
    arguments = SearchArguments(
        entries, scoring=scoring, cv=cv, repeats=repeats, aggregate=aggregate, selection=selection, drop=drop,
        method=method, n_bootstraps=n_bootstraps, confidence_level=confidence_level, alternative=alternative,
        refit=refit, n_jobs=n_jobs, fit_timeout=fit_timeout,
        share=share, store=store, random_state=random_state, verbose=verbose, pos_label=pos_label,
    )  # fmt: skip
    check_interval_settings(n_bootstraps, confidence_level, alternative)
    search = arguments.search_on(X, y, groups, sample_weight)
    search = replace(search, method=method)
    return algorithms_of_search(search, settings, arguments.running())


@dataclass(frozen=True)
class AlgorithmSettings:
    """The arguments of a comparison besides the search; the fields are those of ``compare_algorithms``."""

    inner: Any = _defaults.INNER
    relevant: float | None = None
    deploy: Deploy = "nested"

    def check(self) -> None:
        """Refuse wrong values."""
        check_choice("deploy", self.deploy, DEPLOY)
        given: Any = self.relevant
        if given is not None and not (is_number(given) and 0 <= given < math.inf):
            raise InputError(
                f"relevant must be a difference of scores of at least 0, got {given!r}; for accuracy .01 is a "
                "percentage point, and without it the threshold of Wainer and Cawley applies."
            )


def _checked_algorithms(algorithms: Any) -> list[tuple[str, Any, Any]]:
    if not isinstance(algorithms, list | tuple):
        raise InputError(
            f"algorithms must be a list of (name, estimator, grid), got {type(algorithms).__name__}; list at least "
            "two."
        )
    entries = checked_entries(algorithms)
    if len(entries) < 2:
        raise InputError(
            f"a comparison needs at least two algorithms, got {len(entries)} ({entries[0][0]!r}); add another, or "
            "use ho.nested_cv for one.",
            argument="algorithms",
        )
    return entries


def columns_of(search: Search) -> dict[str, list[int]]:
    """The configurations of each algorithm, by its name.

    Raises InputError where there are fewer than two algorithms.
    """
    found: dict[str, list[int]] = {}
    for each in search.configurations:
        found.setdefault(str(each.model), []).append(each.position)
    if len(found) < 2:
        raise InputError(
            f"a comparison needs at least two algorithms, got {len(found)}, of {search.configurations[0].name}; "
            "add another.",
            argument="algorithms",
        )
    return found


def algorithms_of_search(
    search: Search, settings: AlgorithmSettings, running: RunSettings
) -> comparison.AlgorithmComparison:
    """The comparison of a search over all algorithms, whose folds are the outer ones."""
    settings.check()
    columns = columns_of(search)
    check_search(search)
    warned = warn_if_too_small(search)
    warn_of_settings(search, running.n_jobs)
    run = run_algorithms(search, algorithm_plan(search, settings.inner, columns), running)
    found, metric, nested = run.flat, run.metric, run.plan.nested
    compared = tuple(run.algorithm(name, mine) for name, mine in columns.items())
    sign = 1.0 if metric.greater_is_better else -1.0
    by_score = {"flat": "flat", "corrected": "corrected_value", "nested": "nested"}
    scores = {by: sign * np.array([getattr(each, name) for each in compared]) for by, name in by_score.items()}
    best = {by: _best(values) for by, values in scores.items()}
    names = list(columns)
    relevance = relevance_of(scores["flat"], scores["nested"], best["flat"], best["nested"], settings.relevant)
    outer = sign * np.array([each.outer_scores for each in compared]).T
    # An algorithm without a nested score has scores of some folds, which would make differences of another mean.
    outer[:, np.isnan(scores["nested"])] = np.nan
    level = search.confidence_level
    # Of scores of all rows together the difference is that of the scores, and the folds give its spread only.
    pooled = None if run.scale == "folds" else scores["nested"]
    differences = comparison.differences_of(names, outer, nested.test_share, relevance.threshold, level, pooled)
    # The score that the user asked for may be missing for all; then the next of the three decides.
    by, place = next(((by, best[by]) for by in (settings.deploy, *DEPLOY) if best[by] is not None), ("flat", None))
    # The run makes the estimate of the deployed configuration, so none is made here.
    whole = replace(search, method=None)
    mine = [] if place is None else columns[names[place]]
    winner = choice_of(search, part_of_results(found, mine), mine)[0] if mine else None
    decided = chosen_in(
        whole, found, choose=None if winner is None else (lambda results, configurations: winner), warned=warned
    )
    evaluation = evaluation_of(decided, running, run.seconds)
    deployed, overall = search.configurations[evaluation.winner], run.overall(evaluation.winner)
    return comparison.AlgorithmComparison(
        metric=metric.name,
        greater_is_better=metric.greater_is_better,
        method=next((each.corrected.method for each in compared if each.corrected is not None), ""),
        algorithms=compared,
        selections=comparison.AlgorithmSelections(
            **{by: None if i is None else names[i] for by, i in best.items()}
        ),
        differences=differences,
        relevance=relevance,
        overall=overall,
        deployed=str(deployed.model),
        deployed_name=deployed.name,
        model=evaluation.model,
        evaluation=evaluation,
        n_folds=len(nested.outer),
        n_fits_saved=found.n_fits_saved + sum(n_dropped(each) for each in run.inner_fits),
        notes=_notes(compared, overall, by, settings, relevance, len(differences)),
    )


def _best(oriented: Floats) -> int | None:
    """The first of the best; None if all are NaN, which never wins."""
    return None if np.isnan(oriented).all() else int(np.argmin(ranks(oriented)))


def _notes(
    compared: Sequence[comparison.ComparedAlgorithm],
    overall: Estimate,
    by: str,
    settings: AlgorithmSettings,
    relevance: Relevance,
    n_pairs: int,
) -> tuple[str, ...]:
    n_algorithms = counted(len(compared), "algorithm")
    notes = [
        "the corrected and the nested score of an algorithm are for a choice among its configurations alone, as if "
        f"it had not been chosen among {n_algorithms}."
    ]
    if len(compared[0].outer_scores) == 1:
        notes.append(
            "one outer fold shows no spread, so that nested scores and their differences have no interval."
        )
    if n_pairs > 1:
        notes.append(
            f"the first interval of a difference is for that pair alone, the second (Bonferroni) for all "
            f"{counted(n_pairs, 'pair')} together."
        )
    if relevance.source == ARTICLE and relevance.threshold == 0:
        notes.append(
            "the flat and the nested score of a selected algorithm are equal, so that the threshold of Wainer and "
            "Cawley is 0; give your own with `relevant=0.01`."
        )
    if by != settings.deploy:
        notes.append(f"no algorithm has a {settings.deploy} score, so the {by} scores select the model.")
    notes += [f"{each.name}: {each.reason}." for each in compared if each.reason]
    notes += list(overall.flags.values())
    notes += [
        f"{each.name}: {message}"
        for each in compared
        if each.corrected is not None
        for flag, message in each.corrected.flags.items()
        if flag is not Flag.SINGLE_CONFIGURATION and flag not in overall.flags
    ]
    return tuple(notes)
