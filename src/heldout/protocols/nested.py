"""Nested cross-validation: the whole search, cross-validated.

Each outer fold is held out once while the search runs on the other rows; the winner there is fitted on all of these
and scored on the fold. No row takes part in choosing what it scores, at the price of K times the fits of a search.
What is deployed comes from one more search, on all rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from heldout import wording
from heldout.cells import CellState
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates.base import Settings
from heldout.estimates.evidence.provenance import TIES, settings_provenance
from heldout.estimates.evidence.question import Aggregate
from heldout.estimates.evidence.race import failed_sentence, incomplete_sentence
from heldout.estimates.intervals import check_interval_settings
from heldout.estimates.types import Alternative
from heldout.metrics.base import Metric, sources_of
from heldout.metrics.opaque import OpaqueMetric
from heldout.protocols.asked import Asked
from heldout.protocols.base import Branched, Chosen, run_branches
from heldout.protocols.nested_estimate import NestedEstimate, OuterFold, agreement_of
from heldout.protocols.nested_intervals import (
    BATES,
    INTERVALS,
    NADEAU_BENGIO,
    USUAL_REPEATS,
    Bates,
    Spread,
    bates_hastie_tibshirani,
    interval_around,
    nadeau_bengio,
)
from heldout.protocols.nested_plan import REMAINING, Branch, NestedFolds, nested_folds
from heldout.protocols.nested_scores import is_defined, pooled_score, row_values
from heldout.run.session import Running
from heldout.run.table import mean_over_splits
from heldout.searching import Search
from heldout.selection import NONE_CHOSEN, ScoreTable
from heldout.wording import Flag

SOURCES = ("tsamardinos2018", "varma2006")
SOURCES_OF_INTERVAL = {NADEAU_BENGIO: ("nadeau2003",), BATES: ("bates2024",)}
SOURCES_ACROSS = ("krstajic2014",)

Across = Literal["folds", "all"]


def nested_cv(
    estimator: Any,
    X: Any,
    y: Any,
    param_grid: Any = None,
    *,
    scoring: Any = None,
    cv: Any = None,
    inner: Any = REMAINING,
    repeats: int = 1,
    across: Across = "folds",
    interval: str | None = NADEAU_BENGIO,
    aggregate: Aggregate = "folds",
    selection: Any = "best",
    drop: Any = None,
    confidence_level: float = 0.95,
    alternative: Alternative = "two-sided",
    groups: Any = None,
    sample_weight: Any = None,
    refit: Any = True,
    error_score: float | Literal["raise"] = np.nan,
    n_jobs: int | None = None,
    pre_dispatch: int | str = "2*n_jobs",
    fit_timeout: float | None = None,
    store: Any = None,
    random_state: Any = None,
    verbose: int = 0,
) -> NestedEstimate:
    """Estimate a whole search by nested cross-validation, and make it on all rows.

    With K folds, R repeats and C configurations, and ``inner="remaining"``, it takes exactly R(K²C + K) + 1 fits
    (Tsamardinos, Greasidou & Borboudakis 2018, algorithm 3; the count of section 2.2 is that of R = 1).

    Parameters
    ----------
    estimator : estimator, list of (name, estimator, grid), GridSearchCV or HeldOutSearchCV
        A search that was not fitted brings its grid, and its settings wherever an argument here is left at its
        default. Its ``cv`` divides the outer folds; given besides ``cv`` here, it is the inner one.
    X : array-like of shape (N, n_features)
    y : array-like of shape (N,)
    param_grid : dict or list of dict, optional
    scoring : str, callable, list or dict, optional
        As in ``GridSearchCV``. Of several scorers ``refit`` names the one that decides, or else the first does.
    cv : int, plan, splitter or iterable, optional
        The outer folds, 5 by default. An integer keeps groups whole where there are groups.
    inner : "remaining", "holdout", int or splitter, default="remaining"
        What the inner searches are split by: the other outer folds, each in turn; the next outer fold alone, as a
        development set of N/K rows; or anew, shuffled by the seed of the run, with groups kept whole. Split anew,
        the search on all rows is split so too; otherwise by the outer folds.
    repeats : int, default=1
        How often the outer folds are drawn anew.
    across : {"folds", "all"}, default="folds"
        Every outer fold fits its own winner; or all fit the one configuration with the best mean over all inner
        folds (repeated grid-search nested cross-validation), which is about as optimistic as an uncorrected score,
        and flagged; without ``drop``.
    interval : {"nadeau_bengio", "bates_hastie_tibshirani", None}, default="nadeau_bengio"
        The first costs nothing. The second, for means of one loss a row, searches again without every two folds of
        a repeat: R·K(K-1)/2·((K-2)C + 1) more fits with ``inner="remaining"``, and it wants many repeats.
    aggregate : {"folds", "pooled"}, default="folds"
        A score is the mean over folds, or the metric on all held-out rows of a repeat together; inside and outside.
    selection : str or selection rule, default="best"
    drop : str, rule of ``ho.dropping`` or None, optional
        Who leaves a search early, in each search by itself.
    confidence_level : float, default=0.95
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
    groups : array-like of shape (N,), optional
        Kept whole by outer and inner folds.
    sample_weight : array-like of shape (N,), optional
        To every ``fit`` and to the scorers.
    refit : bool, str or callable, default=True
        Whether to fit the model that is deployed; a name decides which scorer chooses, a callable chooses itself.
    error_score, n_jobs, pre_dispatch, verbose
        As in ``GridSearchCV``; a configuration that failed is never chosen.
    fit_timeout : float, optional
        Seconds after which a fit is stopped, and has failed.
    store : str, path or Store, optional
        A file that keeps every finished fit; the same call goes on where it stopped.
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
    >>> print(found, found.n_fits)  # 5 · 5 · 3 + 5 + 1
    accuracy 0.9315 [0.8733, 0.9896] by nested_cv (uncorrected 0.9315, KNeighborsClassifier (n_neighbors=9)) 81
    >>> [fold.selected_name for fold in found.outer_folds][0], found.agreement.share
    ('KNeighborsClassifier (n_neighbors=9)', 1.0)
    """
    asked = Asked(
        estimator, param_grid, scoring, cv, repeats, aggregate, selection, drop, refit, error_score, n_jobs,
        pre_dispatch, fit_timeout, store, random_state, verbose,
    )  # fmt: skip
    taken = asked.unwrapped()
    if cv is not None and asked.is_search and isinstance(inner, str) and inner == REMAINING:
        inner = REMAINING if asked.estimator.cv is None else asked.estimator.cv
    settings = NestedSettings(inner, across, interval, confidence_level, alternative)
    return nested_of_search(taken.search(X, y, groups, sample_weight), settings, taken.running())


@dataclass(frozen=True)
class NestedSettings:
    """What nested cross-validation is asked besides the search; the fields are as in ``nested_cv``."""

    inner: Any = REMAINING
    across: Across = "folds"
    interval: str | None = NADEAU_BENGIO
    confidence_level: float = 0.95
    alternative: Alternative = "two-sided"

    def check(self, search: Search) -> None:
        """Refuse, before anything is fitted, what does not go together.

        Raises
        ------
        InputError
        """
        if self.across not in ("folds", "all"):
            raise InputError(f"across must be 'folds' or 'all', got {self.across!r}.")
        if self.interval is not None and self.interval not in INTERVALS:
            raise InputError(f"interval must be one of {', '.join(INTERVALS)}, or None, got {self.interval!r}.")
        check_interval_settings(1, self.confidence_level, self.alternative)
        if self.across == "all" and search.estimation.rule.reads_all_metrics:
            raise InputError(
                f"across='all' compares one score a configuration, and the selection rule "
                f"'{search.estimation.rule.name}' reads several; use across='folds'."
            )
        if self.across == "all" and search.drop is not None:
            raise InputError(
                f"across='all' compares scores over the inner folds of all outer folds, which "
                f"drop='{search.drop.name}' leaves to those whom no search dropped, and there may be none; use "
                "drop=None, or across='folds'."
            )
        if self.interval == BATES:
            self._check_bates(search)

    def _check_bates(self, search: Search) -> None:
        metric = search.scoring.metrics.get(search.scoring.refit_metric)
        name = search.scoring.refit_metric if metric is None else metric.name
        reason = None
        if metric is None or not metric.row_wise:
            reason = f"is for means of one loss a row, such as accuracy, and {name} is none that can be opened"
        elif search.task.groups is not None:
            reason = "takes rows as independent, and here they come in groups"
        elif search.task.sample_weight is not None:
            reason = "has no form for weighted rows"
        elif self.across == "all":
            reason = "repeats the whole search, choice included, and across='all' chooses once for all folds"
        if reason:
            raise InputError(f"interval='{BATES}' {reason}; use interval='{NADEAU_BENGIO}'.")


def nested_of_search(search: Search, settings: NestedSettings, running: Running) -> NestedEstimate:
    """Nested cross-validation of a search whose folds are the outer ones.

    Raises
    ------
    InputError
    """
    settings.check(search)
    pairs = settings.interval == BATES
    nested = nested_folds(search.task, search.folds, settings.inner, pairs=pairs, entropy=search.entropy)
    across = partial(_best_across, search) if settings.across == "all" else None
    whole = replace(search, folds=nested.search)
    return _concluded(search, settings, nested, run_branches(whole, nested.branches, running, across=across))


def _best_across(search: Search, chosen: Sequence[Chosen]) -> int:
    """What the rule chooses by the mean inner score over all outer folds; candidates ran in all of them."""
    metric = search.scoring.metrics.get(search.scoring.refit_metric)
    sign = 1.0 if metric is None or metric.greater_is_better else -1.0
    by_fold = sign * np.stack([one.scores for one in chosen])
    values = by_fold.mean(axis=0)
    names, params = [search.scoring.refit_metric], search.configurations.params
    # To a rule that looks at folds or repeats, an outer fold is one.
    by_fold = by_fold[None, :, :, None]
    table = ScoreTable(values[None, :, None], names, params, by_fold, by_fold)
    winner = int(search.estimation.rule(table)[0])
    if winner == NONE_CHOSEN:
        raise InputError(
            "across='all' found no configuration with a score in every outer fold; use across='folds'."
        )
    return winner


def _concluded(search: Search, settings: NestedSettings, nested: NestedFolds, run: Branched) -> NestedEstimate:
    """From all that was run to the estimate."""
    evaluation = run.evaluation
    name = evaluation.refit_metric
    metric = evaluation.metrics[name] or OpaqueMetric(name)
    names = search.configurations.names
    outer = [
        _outer_fold(branch, chosen, tested, names)
        for branch, chosen, tested in zip(nested.outer, run.chosen, run.tested, strict=False)
    ]
    flags: dict[Flag, str] = {}
    value, reason = _value(search, metric, nested, run, outer, flags)
    spread, bates = _spread(search, settings, metric, nested, run, outer, value)
    interval = None
    if reason:
        flags[Flag.UNDEFINED] = Flag.UNDEFINED.filled(reason=reason)
    elif spread is not None:
        interval = interval_around(spread, metric, settings.confidence_level, settings.alternative)
        if spread.reason:
            flags[Flag.NO_BOUND] = Flag.NO_BOUND.filled(reason=spread.reason)
    flags |= _flags(search, settings, nested, run)
    if reason or (spread is not None and spread.reason):
        warnings.warn(HeldoutWarning(f"{metric.name}: {' '.join(flags.values())}"), stacklevel=4)
    agreement = agreement_of([fold.selected for fold in outer], names)
    frequency = np.zeros(len(names))
    frequency[list(agreement.wins)] = np.array(list(agreement.wins.values())) / max(sum(agreement.wins.values()), 1)
    uncorrected = _uncorrected(search, run, metric)
    return NestedEstimate(
        value=value,
        interval=interval,
        uncorrected=uncorrected,
        optimism=uncorrected - value if metric.greater_is_better else value - uncorrected,
        standard_error=None if interval is None or spread is None else spread.standard_error,
        selected=evaluation.winner,
        selected_name=names[evaluation.winner],
        metric=metric.name,
        method="nested_cv",
        n_rows_used=int((search.folds.labels >= 0).any(axis=1).sum()),
        selection_frequency=frequency,
        flags=flags,
        provenance=_provenance(search, settings, nested, run, metric, bates),
        outer_folds=tuple(outer),
        agreement=agreement,
        model=evaluation.model,
        evaluation=evaluation,
        n_fits=run.n_fits,
        n_fits_saved=run.n_fits_saved,
    )


def _outer_fold(branch: Branch, chosen: Chosen, tested: Any, names: Sequence[str]) -> OuterFold:
    return OuterFold(
        repeat=branch.repeat,
        fold=branch.left_out[0],
        selected=chosen.winner,
        selected_name="" if chosen.winner is None else names[chosen.winner],
        inner_scores=chosen.scores,
        inner_score=float("nan") if chosen.winner is None else float(chosen.scores[chosen.winner]),
        score=tested.score,
        training_rows=branch.refit.train,
        test_rows=branch.refit.test,
        scores=tested.scores,
        failures=chosen.failures,
        barriers=chosen.barriers,
        reason=tested.reason,
    )


def _value(
    search: Search,
    metric: Metric,
    nested: NestedFolds,
    run: Branched,
    outer: Sequence[OuterFold],
    flags: dict[Flag, str],
) -> tuple[float, str]:
    """The estimate, or NaN and why: a fold without a fit has no score, and the others are not the whole."""
    for fold, tested in zip(outer, run.tested, strict=False):
        if tested.cell is None or tested.cell.state is CellState.FAILED:
            what = "has no winner" if tested.configuration is None else "has a winner that failed"
            return float("nan"), f"outer fold {fold.fold} of repeat {fold.repeat} {what} ({fold.reason})"
    if search.estimation.aggregate == "pooled":
        return pooled_score(search, metric, nested.outer, run.tested)
    scores = np.array([fold.score for fold in outer])
    undefined = np.isnan(scores)
    for number in np.flatnonzero(undefined).tolist():
        if is_defined(search, metric, outer[number].test_rows):
            where = f"outer fold {outer[number].fold} of repeat {outer[number].repeat}"
            return float("nan"), f"{where} has no score ({outer[number].reason})"
    if undefined.all():
        return float("nan"), f"{metric.name} is undefined in every outer fold"
    if undefined.any():
        flags[Flag.UNDEFINED_FOLDS] = Flag.UNDEFINED_FOLDS.filled(
            metric=metric.name, undefined=int(undefined.sum()), total=len(scores), needs=metric.undefined_without
        )
    return float(scores[~undefined].mean()), ""


def _spread(
    search: Search,
    settings: NestedSettings,
    metric: Metric,
    nested: NestedFolds,
    run: Branched,
    outer: Sequence[OuterFold],
    value: float,
) -> tuple[Spread | None, Bates | None]:
    """How far an interval reaches; None where none was asked for, or there is no value."""
    if settings.interval is None or np.isnan(value):
        return None, None
    if settings.interval == NADEAU_BENGIO:
        return nadeau_bengio(np.array([fold.score for fold in outer]), nested.test_share, value), None
    n_outer = len(nested.outer)
    pairs = list(zip(nested.pairs, run.tested[n_outer:], strict=True))
    if any(tested.cell is None or tested.cell.state is CellState.FAILED for _, tested in pairs):
        return Spread(value, float("nan"), reason="a search without two of the folds has no winner that fits"), None
    outside: dict[tuple[int, int], NDArray[np.float64]] = {}
    rows_of: dict[tuple[int, int], NDArray[np.intp]] = {}
    for branch, tested in zip(nested.outer, run.tested, strict=False):
        place = branch.repeat, branch.left_out[0]
        outside[place], rows_of[place] = row_values(search, metric, branch, tested), branch.refit.test
    inside: dict[tuple[int, int], list[NDArray[np.float64]]] = {place: [] for place in outside}
    for branch, tested in pairs:
        values = row_values(search, metric, branch, tested)
        first, second = branch.left_out
        cut = len(rows_of[branch.repeat, first])
        # The rows of one fold, by a model that saw neither: they belong to the inner values of the other fold.
        inside[branch.repeat, second].append(values[:cut])
        inside[branch.repeat, first].append(values[cut:])
    by_repeat: dict[int, list[tuple[int, int]]] = {}
    for place in outside:
        by_repeat.setdefault(place[0], []).append(place)
    bates = bates_hastie_tibshirani(
        [[outside[place] for place in places] for places in by_repeat.values()],
        [[np.concatenate(inside[place]) for place in places] for places in by_repeat.values()],
    )
    return bates.spread, bates


def _flags(search: Search, settings: NestedSettings, nested: NestedFolds, run: Branched) -> dict[Flag, str]:
    flags: dict[Flag, str] = {}
    predictions, labels = run.evaluation.predictions, search.folds.labels
    if settings.across == "all":
        flags[Flag.SELECTION_UNCORRECTED] = Flag.SELECTION_UNCORRECTED.filled()
    if settings.interval == BATES and nested.n_repeats < USUAL_REPEATS:
        drawn = "one draw" if nested.n_repeats == 1 else f"{nested.n_repeats} draws"
        flags[Flag.FEW_REPEATS] = Flag.FEW_REPEATS.filled(repeats=f"{drawn} of the folds")
    if predictions.failed:
        flags[Flag.FAILED_CONFIGURATIONS] = failed_sentence(predictions.names, predictions.failed)
    if len(search.configurations) == 1:
        flags[Flag.SINGLE_CONFIGURATION] = Flag.SINGLE_CONFIGURATION.filled()
    if not search.folds.exchangeable:
        flags[Flag.NOT_EXCHANGEABLE] = Flag.NOT_EXCHANGEABLE.filled()
    if (labels < 0).any():
        flags[Flag.INCOMPLETE_PREDICTIONS] = incomplete_sentence(labels >= 0)
    return flags


def _uncorrected(search: Search, run: Branched, metric: Metric) -> float:
    """The score of what is deployed in the search on all rows, in the search's aggregate."""
    evaluation, name = run.evaluation, run.evaluation.refit_metric
    if search.estimation.aggregate == "pooled":
        return float(evaluation.pooled_scores[name][evaluation.winner])
    return float(mean_over_splits(evaluation.fold_scores[name].values)[evaluation.winner])


def _provenance(
    search: Search,
    settings: NestedSettings,
    nested: NestedFolds,
    run: Branched,
    metric: Metric,
    bates: Bates | None,
) -> dict[str, Any]:
    sources = [*SOURCES, *SOURCES_OF_INTERVAL.get(settings.interval or "", ())]
    sources += SOURCES_ACROSS if settings.across == "all" else ()
    sources += search.drop.sources if search.drop is not None else ()
    sources += [*getattr(search.estimation.rule, "sources", ()), *sources_of(metric)]
    said: dict[str, Any] = {
        "quantity": wording.QUANTITY_NESTED,
        **settings_provenance(Settings(entropy=search.entropy)),
        "task": str(search.task.truth.kind),
        "aggregate": search.estimation.aggregate,
        "selection": search.estimation.rule.name,
        "ties": TIES,
        "inner": settings.inner if isinstance(settings.inner, str | int) else repr(settings.inner),
        "across": settings.across,
        "interval": settings.interval,
        "drop": None if search.drop is None else search.drop.name,
        "n_rows": search.task.n_rows,
        "n_configurations": len(search.configurations),
        "n_candidates": len(search.configurations) - len(run.evaluation.predictions.out),
        "n_folds": nested.n_folds,
        "n_repeats": nested.n_repeats,
        "n_outer_folds": len(nested.outer),
        "training_rows": search.folds.n_training_rows,
        "grouped": search.task.groups is not None,
        "weighted": search.task.sample_weight is not None,
        "sources": list(dict.fromkeys(sources)),
    }
    if settings.interval == NADEAU_BENGIO:
        said["test_to_training_rows"] = nested.test_share
    if bates is not None:
        said["bates_hastie_tibshirani"] = {
            "center": bates.spread.center, "inner": bates.inner, "outer": bates.outer, "bias": bates.bias,
            "inflation": bates.inflation, "unlimited_inflation": bates.unlimited_inflation,
            "mean_square": bates.mean_square,
        }  # fmt: skip
    return said
