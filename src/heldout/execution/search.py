"""A search: all settings that decide its result, and the checks before its first fit."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from heldout._defaults import DEFAULT_METHOD
from heldout._text import argument
from heldout.configurations import Configuration, Configurations
from heldout.data.limits import check_fits
from heldout.data.task import Task, Truth
from heldout.dropping.base import Course, DropRule, SearchStrategy
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates.candidates import check_drawable, check_selects
from heldout.estimates.methods import method_of
from heldout.estimates.of_search import Estimation, check_applicable, refused_on_splits
from heldout.execution.executors.base import Work
from heldout.execution.fit import CellContext, Routing, Scoring
from heldout.execution.fold_models import DeployedModel, KeepModels
from heldout.execution.inner_split import EarlyStopping, InnerSplit, can_stop
from heldout.execution.plan import Race, race_of_search
from heldout.execution.sharing.groups import Share, Sharing, shared_in
from heldout.execution.stopping_rows import check_stopping, flags_of_stopping
from heldout.flags import Flag
from heldout.folds.splits import Folds
from heldout.imputation.settings import Imputation
from heldout.metrics.base import Metric, Needs, fitted, positive_of
from heldout.metrics.within import unfit_within
from heldout.selection import Best, CallableRefit
from heldout.selection.base import metrics_read


@dataclass(frozen=True, eq=False)
class Search:
    """A search: all settings that decide its result."""

    task: Task
    configurations: Configurations
    folds: Folds
    scoring: Scoring
    estimation: Estimation = field(default_factory=Estimation)
    """How the winner is chosen and estimated."""
    drop: DropRule | None = None
    """Drops configurations early."""
    routed: Routing = field(default_factory=Routing)
    """Parameters of ``fit`` and of the scorer."""
    error_score: float | Literal["raise"] = np.nan
    """With "raise" the first failure ends the search. A number only fills ``cv_results_``."""
    return_train_score: bool = False
    refit: bool = True
    """Whether to fit the winner on all rows."""
    entropy: int = 0
    """64 bits that seed the search."""
    seed_estimators: bool = False
    """Whether to fill ``random_state=None`` inside estimators."""
    share: Share = "exact"
    """Whether equal steps are fitted once, and one fit serves several configurations."""
    share_memory: int | None = None
    """Bytes for the output of shared steps; None for a part of this machine's memory."""
    early_stopping: InnerSplit | None = None
    """Which part of the training rows tells models when to stop."""
    origin: NDArray[np.intp] | None = None
    """The original row of each row, where some are copies that early stopping keeps together."""
    stop_when_width: float | None = None
    """Whether to stop after a fold or repeat when the interval of the estimate is no wider than this."""
    keep_models: KeepModels = "none"
    """Of which configurations the models of the splits are kept; no part of a run's identity."""
    imputation: Imputation | None = None
    """How each fit of a proposed configuration completes its rows; those given beforehand are models that do."""
    deploy: DeployedModel = "all"
    """Whether the winner's model is one fitted on all rows, or that of a single hold-out ("bounded")."""

    def __post_init__(self) -> None:
        if self.deploy == "bounded" and self.keep_models == "none":
            object.__setattr__(self, "keep_models", "winner")
        strategy = self.strategy
        if strategy is None:
            return
        if self.estimation.rule not in (Best(), strategy.selection):
            raise InputError(
                f"{argument('drop', strategy.name)} chooses the winner itself, by the mean rank over its last "
                f"{strategy.window} steps, so selection must be 'best' and refit no function, got "
                f"'{self.estimation.rule.name}'.",
                argument="drop",
            )
        object.__setattr__(self, "estimation", replace(self.estimation, selection=strategy.selection))

    @property
    def strategy(self) -> SearchStrategy | None:
        """The drop rule, if it also plans the splits and chooses the winner."""
        return self.drop if isinstance(self.drop, SearchStrategy) else None

    @cached_property
    def context(self) -> CellContext:
        """What a fit needs beside its configuration and its split."""
        # Fits must be repeatable to keep their models, and then the draws of unseeded estimators need a seed too.
        seeds = self.entropy if self.seed_estimators or self.keep_models != "none" else None
        context = CellContext.of_task(
            self.task, self.scoring, self.routed, self.error_score, self.return_train_score, seeds, self._stopping
        )
        keeps_models = self.keep_models == "all"
        return replace(
            context,
            seeds_only_repeat=not self.seed_estimators,
            keeps_models=keeps_models,
            measures_complexity=self.estimation.rule.reads_models,
        )

    @cached_property
    def work(self) -> Work:
        """The parts that its cells share."""
        sharing = self.sharing(self.configurations)
        return Work(self.context, self.configurations, self.folds, sharing=sharing, share_memory=self.share_memory)

    def sharing(self, configurations: Sequence[Configuration]) -> Sharing | None:
        """What configurations share; None where that is nothing."""
        context = self.context
        if context.measures_complexity:
            return None  # a fit that serves several configurations gives no model of each
        if context.seeds_only_repeat:
            context = replace(context, entropy=None)
        sharing = shared_in(context, configurations, self.share, self.folds)
        return sharing.with_models() if sharing is not None and self.keep_models == "all" else sharing

    @property
    def metrics_read(self) -> list[str]:
        """The scorers that the selection reads."""
        return metrics_read(self.estimation.rule, self.scoring.metrics, self.scoring.refit_metric)

    @property
    def _stopping(self) -> EarlyStopping | None:
        split = self.early_stopping
        return None if split is None else EarlyStopping.of_task(split, self.task, self.entropy, self.origin)

    @cached_property
    def flags(self) -> dict[Flag, str]:
        """What a reader of its estimate must know of the models."""
        return flags_of_stopping(self.task, self.folds, self.configurations, self.routed)

    @property
    def race(self) -> Race:
        """All its configurations on all its splits."""
        return race_of_search(self.folds, self.drop, self.entropy, stops=self.stop_when_width is not None)

    def check(self, n_planned: int | None = None) -> None:
        """Refuse, before anything is fitted, settings that do not go together.

        ``n_planned``: of an adaptive search, how many configurations will be proposed at most; 0 if unknown.
        """
        n_configurations = len(self.configurations) if n_planned is None else n_planned
        check_fits(n_configurations, self.folds.n_splits)
        check_settings(self.scoring, self.estimation)
        if self.deploy == "bounded":
            _check_deployable(self)
        if self.early_stopping is not None:
            check_stopping(self.early_stopping, self.configurations, self.routed)
        metrics = [metric for name in self.metrics_read if (metric := self.scoring.metrics.get(name))]
        if n_planned is None:
            self.estimation.rule.check(n_configurations, self.configurations.params, self.metrics_read)
        elif self.strategy is not None:
            raise InputError(
                f"{argument('drop', self.strategy.name)} races all configurations from the start, and an adaptive "
                f"search proposes them one after another; use {argument('drop', 'bootstrap')}.",
                argument="drop",
            )
        elif self.folds.halves:
            raise InputError(
                "an adaptive search cannot fit its winner in halves of the rows, which the splits of "
                f"{argument('cv', ...)} have; use "
                f"{argument('cv', 'repeated_holdout:50:0.2', python='ho.protocols.repeated_hold_out(50, 0.2)')}.",
                argument="cv",
            )
        check_selects(metrics, n_configurations if n_planned is None else 2)
        if self.drop is not None:
            _check_droppable(self, self.drop)
        _check_stoppable(self, n_planned)
        if too_few_to_draw(self.task, self.scoring) is None:  # else a warning says that there will be no estimate
            _check_splits(self)


def check_settings(scoring: Scoring, estimation: Estimation) -> None:
    """Refuse, before anything is fitted, settings that do not go together."""
    estimation.check()
    read = metrics_read(estimation.rule, scoring.metrics, scoring.refit_metric)
    check_applicable(estimation.method, scoring.metrics, read)
    if estimation.aggregate != "folds" and scoring.metrics.get(scoring.refit_metric) is None:
        raise InputError(
            f"{argument('aggregate', estimation.aggregate)} scores rows of several folds, but the scorer "
            f"'{scoring.refit_metric}' cannot be opened; use {argument('aggregate', 'folds')}, or a scorer made "
            "by make_scorer.",
            argument="aggregate",
        )
    for name, metric in scoring.metrics.items() if estimation.aggregate == "within" else ():
        reason = unfit_within(metric) if metric is not None else f"the scorer '{name}' cannot be opened"
        if reason:
            raise InputError(f"{reason}.")


def _check_deployable(search: Search) -> None:
    """Refuse to deploy the model that was tested where there is none, or several."""
    n_splits = search.folds.n_splits
    if n_splits != 1:
        raise InputError(
            f"{argument('deploy', 'bounded')} deploys the model that one hold-out tested, and here are {n_splits} "
            f"splits with a model each; use {argument('cv', 'holdout', python='ho.protocols.hold_out()')}.",
            argument="deploy",
        )
    if not search.refit:
        raise InputError(
            f"{argument('deploy', 'bounded')} needs a model to deploy, got refit=False; leave one of them out.",
            argument="deploy",
        )


def _check_droppable(search: Search, drop: DropRule) -> None:
    """Refuse a drop rule that cannot judge such a search."""
    scoring = search.scoring
    metric = scoring.metrics.get(scoring.refit_metric)
    if metric is None:
        raise InputError(
            f"{argument('drop', drop.name)} compares held-out predictions, but the scorer "
            f"'{scoring.refit_metric}' cannot be opened; use {argument('drop', 'never', python='None')}, or a "
            "scorer made by make_scorer.",
            argument="drop",
        )
    rule = search.estimation.rule
    if isinstance(rule, CallableRefit) or rule.reads_models:
        what = "a callable refit" if isinstance(rule, CallableRefit) else "a rule that counts in fitted models"
        raise InputError(
            f"{argument('drop', drop.name)} needs the current best at every barrier, and {what} chooses only "
            f"at the end; use {argument('drop', 'never', python='None')}, or a rule of "
            f"{argument('selection', ...)}.",
            argument="drop",
        )
    task = search.task
    race = search.race
    course = Course(len(race.splits), race.n_folds, task.groups is not None, task.sample_weight is not None)
    reason = drop.unfit(metric, course)
    if reason:
        raise InputError(
            f"{argument('drop', drop.name)} does not fit: {reason}; {argument('drop', 'bootstrap')} fits every "
            "metric.",
            argument="drop",
        )


def _check_stoppable(search: Search, n_planned: int | None) -> None:
    """Refuse, before anything is fitted, a search that cannot stop early."""
    most = search.stop_when_width
    if most is None:
        return
    if isinstance(most, bool) or not isinstance(most, int | float | np.number) or not 0 < most < np.inf:
        raise InputError(
            f"stop_when_width must be a finite number above 0, in the units of the metric, or None, got {most!r}.",
            argument="stop_when_width",
        )
    reason = _why_it_cannot_stop(search, n_planned)
    if reason:
        raise InputError(
            f"{argument('stop_when_width', float(most))} does not fit: {reason}; leave it out.",
            argument="stop_when_width",
        )


def _why_it_cannot_stop(search: Search, n_planned: int | None) -> str:
    """Why a search cannot stop early, as half a sentence; empty if it can."""
    estimation, folds = search.estimation, search.folds
    method = None if estimation.method is None else method_of(estimation.method)
    if method is None or not method.has_interval:
        return f"{argument('method', 'none', python='None') if method is None else method.name} has no interval"
    if method.needs_halves:
        return f"{method.name} reads fits of the winner that follow the search"
    if estimation.alternative != "two-sided":
        return f"an interval of {argument('alternative', estimation.alternative)} is open at one side"
    if search.strategy is not None:
        return f"{argument('drop', search.strategy.name)} has an end of its own"
    if n_planned is not None:
        return "an adaptive search finishes all folds of a configuration before it proposes the next"
    if isinstance(estimation.rule, CallableRefit):
        return "a callable refit chooses only at the end"
    if not folds.exchangeable:
        return "folds that follow time do not stand for those after them"
    if folds.n_splits < 2:
        return "there is one split"
    return ""


def _check_splits(search: Search) -> None:
    """Refuse splits on which no configuration can be chosen, or that the method is not for."""
    task, estimation, folds = search.task, search.estimation, search.folds
    metric = search.scoring.metrics.get(search.scoring.refit_metric)
    lacking = unscored_splits(metric, task.truth, folds, all_of_them=True)
    if lacking and estimation.aggregate != "pooled":
        raise InputError(
            f"{lacking}, so no configuration would have a score; use larger folds, or "
            f"{argument('aggregate', 'pooled')}, which scores all held-out rows together."
        )
    if lacking and estimation.method is not None and "predictions" not in method_of(estimation.method).reads:
        raise InputError(
            f"method '{method_of(estimation.method).name}' compares scores of single splits, and {lacking}; use "
            f"larger folds, or {argument('method', DEFAULT_METHOD)}."
        )
    if estimation.method is not None and method_of(estimation.method).needs_test_share:
        _check_subsampled(search)
    if estimation.method is not None and method_of(estimation.method).needs_halves and not folds.halves:
        paired = argument("cv", "paired_holdout", python="ho.protocols.paired_hold_out()")
        raise InputError(
            f"method '{method_of(estimation.method).name}' reads fits in halves of the rows, and here are "
            f"{folds.n_splits} splits without halves; use {paired}, or {argument('method', 'corrected_t')}.",
            argument="method",
        )
    if estimation.method is None or metric is None or search.drop is not None:
        return
    if isinstance(estimation.rule, CallableRefit):
        return
    refused = refused_on_splits(
        task.truth, folds.labels, estimation, metric, search.configurations.params or [{}, {}],
        groups=task.groups, sample_weight=task.sample_weight, test_share=folds.test_share,
        n_halvings=folds.n_halvings, entropy=search.entropy,
    )  # fmt: skip
    if refused:
        raise InputError(refused)


def unscored_splits(metric: Metric | None, truth: Truth, folds: Folds, *, all_of_them: bool = False) -> str:
    """What the metric needs of every split and some lack, as a sentence without its end; empty if none lacks it.

    By default one split that lacks what makes a score mean something is enough; with ``all_of_them`` every split
    must lack what scikit-learn needs for a score. The needs of a scorer that cannot be opened (None) are unknown.

    Examples
    --------
    >>> from heldout.folds.leave_out import leave_one_out
    >>> from heldout.folds.splits import make_folds
    >>> from heldout.metrics import metric_named
    >>> from heldout.data.task import Task, truth_of
    >>> task = Task(np.zeros((6, 1)), truth_of([0, 1] * 3))
    >>> unscored_splits(metric_named("roc_auc"), task.truth, make_folds(task, leave_one_out()))
    'roc_auc needs a row of every class, which 6 of 6 test parts lack'
    >>> unscored_splits(metric_named("accuracy"), task.truth, make_folds(task, leave_one_out()))
    ''
    """
    if metric is None:
        return ""
    bound = fitted(metric, truth)
    needs = bound.undefined_without if all_of_them else bound.needs
    if needs is Needs.ROW:
        return ""  # no split tests nothing
    positive = positive_of(bound, truth)
    lacking = 0
    for split in folds.splits:
        rows = truth.rows(split.test)
        lacking += not needs.met(bound.truth_for_needs(rows), positive, np.ones((1, len(split.test))))[0]
    if lacking < (folds.n_splits if all_of_them else 1):
        return ""
    return f"{metric.name} needs {needs}, which {lacking} of {folds.n_splits} test parts lack"


def _check_subsampled(search: Search) -> None:
    """Refuse a method for repeated subsampling on other splits, or with a winner that is no best mean."""
    name = method_of(search.estimation.method).name
    if search.folds.test_share is None:
        raise InputError(
            f"method '{name}' is for repeated subsampling, in which each split draws its test rows anew, but "
            f"here are {search.folds.n_splits} other splits; use "
            f"{argument('cv', 'repeated_holdout:50:0.2', python='ho.protocols.repeated_hold_out(50, 0.2)')}, or "
            f"{argument('method', DEFAULT_METHOD)}.",
            argument="method",
        )
    if search.estimation.aggregate != "folds":
        raise InputError(
            f"method '{name}' assumes that the winner has the best mean over splits, got "
            f"{argument('aggregate', search.estimation.aggregate)}; use {argument('aggregate', 'folds')}, or "
            f"{argument('method', DEFAULT_METHOD)}."
        )


def too_few_to_draw(task: Task, scoring: Scoring) -> str | None:
    """Why no bootstrap can score this task, in one sentence; None where it can."""
    units = np.arange(task.n_rows) if task.groups is None else np.unique(task.groups, return_inverse=True)[1]
    metrics = [metric for metric in scoring.metrics.values() if metric is not None]
    try:
        check_drawable(task.truth, units, metrics, task.groups is not None)
    except InputError as error:
        return str(error)
    return None


def warn_if_too_small(search: Search) -> bool:
    """Warn, before any fit, if no bootstrap can be drawn; returns whether it warned."""
    reason = too_few_to_draw(search.task, search.scoring) if search.estimation.draws else None
    if reason:
        warnings.warn(HeldoutWarning(f"the search will have no estimate: {reason}"), stacklevel=3)
    return reason is not None


def warn_of_flags(search: Search) -> None:
    """Warn, before any fit, of what its estimate will be flagged for."""
    for sentence in search.flags.values():
        warnings.warn(HeldoutWarning(sentence), stacklevel=3)
    split = search.early_stopping
    if split is not None and not any(can_stop(each.fresh()) for each in search.configurations):
        sentence = f"early_stopping={split.words} had no effect: none of the models proposed can stop early."
        warnings.warn(HeldoutWarning(sentence), stacklevel=3)
