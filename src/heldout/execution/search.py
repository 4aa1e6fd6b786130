"""A search: all settings that decide its result."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import sklearn
from joblib import cpu_count, effective_n_jobs
from sklearn.utils.metadata_routing import MetadataRequest

from heldout import _defaults
from heldout._text import counted
from heldout._types import Indices
from heldout.configurations import Configuration, Configurations
from heldout.data.checks import check_choice, check_number
from heldout.data.limits import check_fits
from heldout.data.task import Task, Truth, shortened
from heldout.dropping import SearchStrategy, drop_rule_of
from heldout.dropping.base import Course
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates.base import Method
from heldout.estimates.candidates import check_selects, undrawable
from heldout.estimates.methods import method_of
from heldout.estimates.of_search import Estimation, check_applicable, is_default, method_for, refused_on_splits
from heldout.estimates.ordered_rows import check_fits_rows, check_without_groups
from heldout.estimates.types import Estimate
from heldout.execution.fit import Routing, Scoring, Work
from heldout.execution.inner_split import EarlyStopping, InnerSplit, can_stop, model_within
from heldout.execution.plan import Race, race_of_search
from heldout.execution.row_flags import flags_of_stopping, flags_of_table, holds_rows
from heldout.execution.sharing.groups import Share, Sharing
from heldout.execution.threads import THREAD_PARAMETERS, asks_for_threads, threads_of_boosters
from heldout.flags import Flag
from heldout.folds.splits import FEWEST, MOST, Folds, with_splits_without_two
from heldout.imputation.imputed_model import ImputedModel, checked_within_a_fit
from heldout.imputation.settings import Imputation, imputation_of
from heldout.metrics.aggregate import unfit_within
from heldout.metrics.base import Metric, Needs, positive_of
from heldout.selection import Best, CallableRefit, configuration_rule_of
from heldout.selection.base import metrics_read
from heldout.spaces.early_stopping import STOPPING_MODELS

KeepModels: TypeAlias = Literal["none", "winner", "all"]
DeployedModel: TypeAlias = Literal["all", "bounded"]


@dataclass(frozen=True, eq=False, kw_only=True)
class SearchSpec(Estimation):
    """What a user decides of a search, beside its rows and what is tried: the fields of all searches are these."""

    drop: Any = None
    """Drops configurations early."""
    refit: Any = True
    """Whether to fit the winner on all rows; a function chooses it too."""
    error_score: float | Literal["raise"] = np.nan
    """With "raise" the first failure ends the search. A number only fills ``cv_results_``."""
    return_train_score: bool = False
    share: Share = _defaults.SHARE
    """Whether equal steps are fitted once, and one fit serves several configurations."""
    share_memory: int | None = None
    """Bytes for the output of shared steps; None for a part of this machine's memory."""
    early_stopping: Any = None
    """Which part of the training rows tells models when to stop."""
    imputation: Any = None
    """How each fit of a proposed configuration completes its rows; those given beforehand are models that do."""
    keep_models: KeepModels = _defaults.KEEP_MODELS
    """Of which configurations the models of the splits are kept; no part of a run's identity."""
    deploy: DeployedModel = _defaults.DEPLOY
    """Whether the winner's model is one fitted on all rows, or that of a single hold-out ("bounded")."""
    stop_when_width: float | None = None
    """Whether to stop after a fold or repeat when the interval of the estimate is no wider than this."""
    training_size_correction: bool = False
    """Whether the value is corrected for training on a part of the rows, by fits without two folds."""

    @property
    def imputation_within_a_fit(self) -> Imputation | None:
        """How every fit completes its rows; None where it does not.

        Raises InputError for one that a fit cannot do.
        """
        imputation = imputation_of(self.imputation)
        if imputation is None:
            return None
        if self.early_stopping is not None:
            raise InputError(
                "early_stopping divides the training rows of a boosted model, and imputation completes them "
                "before; use one of the two (boosted models accept missing values as they are).",
                argument="early_stopping",
            )
        return checked_within_a_fit(imputation)


@dataclass(frozen=True, eq=False)
class Search(SearchSpec):
    """A search: a specification with the rows, folds, configurations and scorers that it is for.

    What the specification names is made when the search is: ``drop`` is a rule, ``refit`` True or False.
    """

    task: Task
    configurations: Configurations
    folds: Folds
    scoring: Scoring
    routed: Routing = field(default_factory=Routing)
    """Parameters of ``fit`` and of the scorer."""
    entropy: int = 0
    """64 bits that seed the search."""
    seed_estimators: bool = False
    """Whether to fill ``random_state=None`` inside estimators."""
    catch: tuple[type[Exception], ...] = ()
    """With ``error_score="raise"``, of an adaptive search: exceptions that fail their configuration and do not end
    the search."""
    origin: Indices | None = None
    """The original row of each row, where some are copies that early stopping keeps together."""
    weights_reached: Mapping[str, str] | None = None
    """``reach_of_weights`` by scorer, of a search whose parameters of ``fit`` are not known."""

    def __post_init__(self) -> None:
        try:
            is_refitted = bool(self.refit)
        except (TypeError, ValueError):  # arrays among them
            raise InputError(
                f"refit must be True, False, the name of a scorer or a function, got {self.refit!r}."
            ) from None
        if not isinstance(self.early_stopping, InnerSplit | None):
            raise InputError(
                f"early_stopping must be ho.inner_split(share) or None, got {shortened(self.early_stopping)}; "
                "ho.inner_split(0.1) stops on a tenth of each training part."
            )
        check_choice("deploy", self.deploy, get_args(DeployedModel))
        check_choice("keep_models", self.keep_models, get_args(KeepModels))
        made: dict[str, Any] = {
            "drop": drop_rule_of(self.drop),
            "selection": CallableRefit(self.refit) if callable(self.refit) else self.selection,
            "refit": is_refitted,
            "imputation": self.imputation_within_a_fit,
        }
        if self.training_size_correction:
            made["folds"] = with_splits_without_two(self.folds)
        if self.deploy == "bounded" and self.keep_models == "none":
            made["keep_models"] = "winner"
        rule, strategy = configuration_rule_of(made["selection"]), made["drop"]
        if isinstance(strategy, SearchStrategy):
            if rule not in (Best(), strategy.selection):
                raise InputError(
                    f"`drop={strategy.name!r}` chooses the winner itself, by the mean rank over its last "
                    f"{strategy.window} steps, so selection must be 'best' and refit no function, got "
                    f"'{rule.name}'."
                )
            made["selection"] = strategy.selection
        made["method"] = method_for(self.method, self.scoring.metrics, rule, self.scoring.refit_metric)
        for name, value in made.items():
            object.__setattr__(self, name, value)

    @cached_property
    def estimation(self) -> Estimation:
        """How its winner is chosen and estimated."""
        return Estimation(**{one.name: getattr(self, one.name) for one in fields(Estimation)})

    @property
    def strategy(self) -> SearchStrategy | None:
        """The drop rule, if it also plans the splits and chooses the winner."""
        return self.drop if isinstance(self.drop, SearchStrategy) else None

    @cached_property
    def work(self) -> Work:
        """What its fits share."""
        # Fits must be repeatable to keep their models, and then the draws of unseeded estimators need a seed too.
        seeds = self.entropy if self.seed_estimators or self.keep_models != "none" else None
        split = self.early_stopping
        work = Work(
            self.task, self.scoring, self.configurations, self.folds, self.routed, self.entropy, seeds,
            not self.seed_estimators, self.error_score, self.return_train_score,
            stopping=None if split is None else EarlyStopping.of_task(split, self.task, self.entropy, self.origin),
            keeps_models=self.keep_models == "all", measures_complexity=self.rule.reads_models,
            share_memory=self.share_memory,
        )  # fmt: skip
        return replace(work, sharing=self.sharing(work))

    def sharing(self, work: Work) -> Sharing | None:
        """What configurations share; None where that is nothing."""
        if work.measures_complexity:
            return None  # a fit that serves several configurations gives no model of each
        sharing = work.shared(self.share, self.folds)
        return sharing.with_models() if sharing is not None and self.keep_models == "all" else sharing

    @property
    def metrics_read(self) -> list[str]:
        """The scorers that the selection reads."""
        return metrics_read(self.rule, self.scoring.metrics, self.scoring.refit_metric)

    @cached_property
    def flags(self) -> dict[Flag, str]:
        """What a reader of its estimate must know of the models and the rows."""
        flags = flags_of_stopping(self.task, self.folds, self.configurations, self.routed)
        flags |= flags_of_table(self.task, self.folds, self.entropy)
        varied = {
            name
            for configuration in self.configurations
            if any(name.rpartition("__")[2] in THREAD_PARAMETERS for name in configuration.params)
            for name in threads_of_boosters(configuration.fresh()).keys() & configuration.params.keys()
        }
        flag = Flag.THREADS_SEARCHED
        return {**flags, flag: flag.filled(names=" and ".join(sorted(varied)))} if varied else flags

    def with_flags_of_weights(self, estimates: Mapping[str, Estimate]) -> dict[str, Estimate]:
        """The estimates by scorer, each with what the weights of ``fit`` reached, if that is not everything."""
        reached = {name: self.reach_of_weights(name) for name in estimates}
        flags = {name: {Flag.WEIGHTS_REACHED: text} for name, text in reached.items() if text}
        return {name: replace(one, flags={**one.flags, **flags.get(name, {})}) for name, one in estimates.items()}

    def reach_of_weights(self, scorer: str) -> str:
        """What the weights of ``fit`` reached, as a sentence; empty if it was everything, or there were none."""
        if self.weights_reached is not None:
            return self.weights_reached.get(scorer, "")
        of_model = {f"the fits of {name}": params for name, params in self.routed.fit_of_model.items()}
        names = self._names_of_weights
        took = {
            where: any(value is not None and name.endswith(names) for name, value in params.items())
            for where, params in (of_model or {"the fits": self.routed.fit}).items()
        }
        if len(set(took.values())) == 1:
            took = {"the fits": any(took.values())}
        is_weighed = self.scoring.weights.get(scorer, self.task.sample_weight) is not None
        took |= {"the scores": is_weighed, "the bootstrap": is_weighed}
        reached, others = ([where for where, one in took.items() if one is taken] for taken in (True, False))
        if not reached or not others:
            return ""
        return Flag.WEIGHTS_REACHED.filled(reached=_enumerated(reached), others=_enumerated(others))

    @cached_property
    def _names_of_weights(self) -> tuple[str, ...]:
        """``sample_weight``, and what steps of pipelines call it that have it routed to them under another name."""
        routes = sklearn.get_config()["enable_metadata_routing"]
        models = {id(one.template): one.template for one in self.configurations}.values() if routes else []
        parts = [part for model in models for part in (model, *model.get_params().values())]
        parts = [part for part in parts if hasattr(part, "get_metadata_routing") and not isinstance(part, type)]
        requests = [part.get_metadata_routing() for part in parts]
        fits = [one.fit.requests for one in requests if isinstance(one, MetadataRequest)]
        names = [one.get("sample_weight") for one in fits]
        return ("sample_weight", *(name for name in names if isinstance(name, str)))

    @cached_property
    def race(self) -> Race:
        """All its configurations on all its splits."""
        return race_of_search(self.folds, self.drop, self.entropy, stops=self.stop_when_width is not None)


def _enumerated(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]


def imputed(configuration: Configuration, imputation: Imputation) -> Configuration:
    """The same configuration inside an ``ImputedModel``, called as it was.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> one = imputed(Configuration(0, {"alpha": 2.0}, Ridge()), Imputation(3))
    >>> one.name, one.fresh().estimator
    ('Ridge (alpha=2)', Ridge(alpha=2.0))
    """
    kind = configuration.kind or type(configuration.template).__name__
    return replace(
        configuration, template=ImputedModel(configuration.fresh(), imputation), has_params=True, kind=kind
    )


def unscored_splits(metric: Metric | None, truth: Truth, folds: Folds, *, all_of_them: bool = False) -> str:
    """What the metric needs of every split and some lack, as a sentence without its end; empty if none lacks it.

    By default one split that lacks what makes a score mean something is enough; with ``all_of_them`` every split
    must lack what scikit-learn needs for a score. The needs of a scorer that cannot be opened (None) are unknown.

    Examples
    --------
    >>> from heldout.folds.plans import leave_one_out
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
    bound = metric.for_truth(truth)
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


def too_few_to_draw(task: Task, scoring: Scoring) -> str | None:
    """Why no bootstrap can score this task, in one sentence; None where it can."""
    units = np.arange(task.n_rows) if task.groups is None else np.unique(task.groups, return_inverse=True)[1]
    metrics = [metric for metric in scoring.metrics.values() if metric is not None]
    reason = undrawable(task.truth, units, metrics, task.groups is not None)
    return None if reason is None else f"{reason}."


def warn_if_too_small(search: Search) -> bool:
    """Warn, before any fit, if no split has a score or no bootstrap can be drawn; returns whether it warned."""
    reason = too_few_to_draw(search.task, search.scoring) if search.draws else None
    if search.method is not None and search.scale_of_selection == "folds":
        metric = search.scoring.metrics.get(search.scoring.refit_metric)
        reason = unscored_splits(metric, search.task.truth, search.folds, all_of_them=True) or reason
    if reason:
        warnings.warn(HeldoutWarning(f"the search will have no estimate: {reason}"), stacklevel=3)
    return bool(reason)


OF_DATA = (Flag.COPIED_ROWS, Flag.SORTED_ROWS)
"""What rows show, which is said beside the estimate; a setting that was asked for is warned of before it costs."""


def warn_of_settings(search: Search, n_jobs: int | None) -> None:
    """Warn, before any fit, of what its estimate will be flagged for, and of models that are held to one thread."""
    for flag, sentence in search.flags.items():
        if flag not in OF_DATA:
            warnings.warn(HeldoutWarning(sentence), stacklevel=3)
    templates = {id(each.template): each.template for each in search.configurations}.values()
    if n_jobs is None and effective_n_jobs(None) == 1 < cpu_count() and any(map(asks_for_threads, templates)):
        sentence = (
            "every fit runs on one thread, whatever the model's own number of threads says, and the search is one "
            f"job; `n_jobs={cpu_count()!r}` would use all cores of this machine."
        )
        warnings.warn(HeldoutWarning(sentence), stacklevel=3)
    split = search.early_stopping
    if split is not None and not any(can_stop(each.fresh()) for each in search.configurations):
        sentence = f"`early_stopping={split.words}` had no effect: none of the models proposed can stop early."
        warnings.warn(HeldoutWarning(sentence), stacklevel=3)


def check_search(search: Search, n_planned: int | None = None) -> None:
    """Refuse, before anything is fitted, settings that do not go together.

    ``n_planned``: of an adaptive search, how many configurations will be proposed at most; 0 if unknown.
    """
    n_configurations = len(search.configurations) if n_planned is None else n_planned
    check_fits(n_configurations, search.folds.n_splits)
    _check_settings(search)
    if n_planned is None:
        search.rule.check(n_configurations, search.configurations.params, search.metrics_read)
    elif search.folds.halves:
        raise InputError(
            "an adaptive search cannot fit its winner in halves of the rows, which the splits of `cv=` have; use "
            "`cv=ho.protocols.repeated_hold_out(50, 0.2)`.",
            argument="cv",
        )
    metrics = [metric for name in search.metrics_read if (metric := search.scoring.metrics.get(name))]
    check_selects(metrics, n_configurations if n_planned is None else 2)
    for name in _asked_for(search, _WHY_NOT):
        if reason := _WHY_NOT[name](search, n_planned):
            raise _refusal(search, name, reason)
    if too_few_to_draw(search.task, search.scoring) is None:  # else a warning says that there will be no estimate
        _check_splits(search)


_OF_ONE_SEARCH = {
    "stop_when_width": "stops a search early, and a protocol repeats it with all its folds",
    "deploy": "deploys what one hold-out tested, and a protocol deploys the winner of its search on all rows",
    "training_size_correction": "is for the estimate of a search, and a protocol repeats the search",
    "block_length": "is for methods that draw rows of the held-out predictions, and a protocol draws none of them",
}


def check_repeated(search: Search) -> None:
    """Refuse, before anything is fitted, a search that a protocol cannot repeat."""
    if search.strategy is not None:
        reason = "plans its own splits, and here the protocol plans them; use another rule, such as"
        raise _refusal(search, "drop", f"{reason} `drop='bootstrap'`")
    for name in _asked_for(search, _OF_ONE_SEARCH):
        raise _refusal(search, name, f"{_OF_ONE_SEARCH[name]}; leave it out")
    if search.folds.halves:
        raise InputError(
            "splits of halves of the rows are for a search with `method='conservative_z'`, and a protocol does not "
            "read them; use `cv=ho.protocols.repeated_hold_out(50, 0.2)`.",
            argument="cv",
        )
    check_search(search)


def _asked_for(search: Search, names: Iterable[str]) -> Iterator[str]:
    """The options among these that a search has not at their defaults."""
    return (name for name in names if getattr(search, name) != getattr(SearchSpec, name))


def _refusal(search: Search, name: str, reason: str) -> InputError:
    """The error for an option that a search cannot have; ``reason``: the rest of the sentence."""
    value = getattr(search, name)
    plain = float(value) if isinstance(value, np.number) else getattr(value, "name", value)
    value = value.words if isinstance(value, InnerSplit) else repr(plain)
    return InputError(f"`{name}={value}` {reason}.")


def _check_settings(search: Search) -> None:
    """Refuse, before anything is fitted, settings that do not go together."""
    scoring, estimation = search.scoring, search.estimation
    estimation.check()
    check_applicable(estimation.method, scoring.metrics, search.metrics_read)
    if estimation.scale_of_selection != "folds" and scoring.metrics.get(scoring.refit_metric) is None:
        reason = f"scores rows of several folds, but the scorer '{scoring.refit_metric}' cannot be opened; use"
        raise _refusal(search, "aggregate", f"{reason} `aggregate='folds'`, or a scorer made by make_scorer")
    for name, metric in scoring.metrics.items() if estimation.scale_of_selection == "within" else ():
        unfit = unfit_within(metric) if metric is not None else f"the scorer '{name}' cannot be opened"
        if unfit:
            raise InputError(f"{unfit}.")


def _why_no_bounded_model(search: Search, _: int | None) -> str:
    """Why no model that was tested can be deployed: there is none, or there are several."""
    n_splits = search.folds.n_splits
    if n_splits != 1:
        several = f"deploys the model that one hold-out tested, and here are {n_splits} splits with a model each"
        return f"{several}; use `cv=ho.protocols.hold_out()`"
    return "" if search.refit else "needs a model to deploy, got `refit=False`; leave one of them out"


def _why_no_stopping(search: Search, _: int | None) -> str:
    """Why models cannot stop on an inner split: they never can, or were passed rows for the same end.

    The configurations of an adaptive search are not known yet.
    """
    configurations, routed = search.configurations, search.routed
    if configurations and not any(can_stop(configuration.fresh()) for configuration in configurations):
        kinds = dict.fromkeys(type(model_within(each.fresh())).__name__ for each in configurations)
        return f"is for {STOPPING_MODELS}, got {', '.join(kinds)}; leave it out"
    params = (name for fit_params in (routed.fit, *routed.fit_of_model.values()) for name in fit_params)
    passed = next(filter(holds_rows, params), None)
    return "" if passed is None else f"and `{passed}=` both give rows to stop on; leave one of them out"


def _why_no_dropping(search: Search, n_planned: int | None) -> str:
    """Why a drop rule cannot judge such a search."""
    scoring, rule, task, race = search.scoring, search.rule, search.task, search.race
    if n_planned is not None and search.strategy is not None:
        return (
            "races all configurations from the start, and an adaptive search proposes them one after another; use "
            "`drop='bootstrap'`"
        )
    metric = scoring.metrics.get(scoring.refit_metric)
    if metric is None:
        closed = f"compares held-out predictions, but the scorer '{scoring.refit_metric}' cannot be opened"
        return f"{closed}; use `drop=None`, or a scorer made by make_scorer"
    if isinstance(rule, CallableRefit) or rule.reads_models:
        what = "a callable refit" if isinstance(rule, CallableRefit) else "a rule that counts in fitted models"
        late = f"needs the current best at every barrier, and {what} chooses only at the end"
        return f"{late}; use `drop=None`, or a rule of `selection=`"
    course = Course(len(race.splits), race.n_folds, task.groups is not None, task.sample_weight is not None)
    reason = search.drop.unfit(metric, course)
    return f"does not fit: {reason}; `drop='bootstrap'` fits every metric" if reason else ""


def _why_no_end(search: Search, n_planned: int | None) -> str:
    """Why a search cannot end when an interval is tight."""
    most = search.stop_when_width
    check_number("stop_when_width", most, above=0, usual="it is in the units of the metric, None for no such end")
    reason = _why_it_cannot_stop(search, n_planned)
    return f"does not fit: {reason}; leave it out" if reason else ""


def _why_it_cannot_stop(search: Search, n_planned: int | None) -> str:
    """Why a search cannot stop early, as half a sentence; empty if it can."""
    estimation, folds = search.estimation, search.folds
    method = None if estimation.method is None else method_of(estimation.method)
    if method is None or not method.has_interval:
        return f"{'`method=None`' if method is None else method.name} has no interval"
    if method.needs_halves:
        return f"{method.name} reads fits of the winner that follow the search"
    if estimation.alternative != "two-sided":
        return f"an interval of `alternative={estimation.alternative!r}` is open at one side"
    if search.strategy is not None:
        return f"`drop={search.strategy.name!r}` has an end of its own"
    if n_planned is not None:
        return "an adaptive search finishes all folds of a configuration before it proposes the next"
    if isinstance(estimation.rule, CallableRefit):
        return "a callable refit chooses only at the end"
    if not folds.exchangeable:
        return "folds that follow time do not stand for those after them"
    if estimation.blocks is not None:
        return "the rows of the folds so far are no stretches of time, as `block_length` needs them"
    if folds.n_splits < 2:
        return "there is one split"
    return ""


def _why_no_size_correction(search: Search, n_planned: int | None) -> str:
    """Why a value cannot be corrected for training size."""
    closed = next((name for name, metric in search.scoring.metrics.items() if metric is None), None)
    if search.method is None:
        reason = "no estimate is made"
    elif n_planned is not None:
        reason = "an adaptive search knows only at its end which configurations compete"
    elif search.stop_when_width is not None:
        reason = "a search with `stop_when_width` may end before all folds are done"
    elif closed is not None:
        reason = f"it scores held-out predictions, and the scorer '{closed}' cannot be opened"
    elif not search.folds.without_two:
        reason = (
            f"it needs {FEWEST} to {MOST} folds that test every row once, by models of all others, such as `cv=5`, "
            f"and got {counted(len(search.folds.of_first_repeat), 'split')} of another kind or number"
        )
    else:
        return ""
    return f"does not fit: {reason}; leave it out"


_WHY_NOT: Mapping[str, Callable[[Search, int | None], str]] = MappingProxyType(
    {
        "deploy": _why_no_bounded_model,
        "early_stopping": _why_no_stopping,
        "drop": _why_no_dropping,
        "stop_when_width": _why_no_end,
        "training_size_correction": _why_no_size_correction,
    }
)
"""By option: why a search that asks for it cannot have it, as the rest of a sentence; empty if it can."""


def _check_splits(search: Search) -> None:
    """Refuse splits on which no configuration can be chosen, or that the method is not for."""
    task, estimation, folds = search.task, search.estimation, search.folds
    check_without_groups(estimation.blocks, task.groups)
    check_fits_rows(estimation.blocks, int((folds.labels >= 0).any(axis=1).sum()))
    metric = search.scoring.metrics.get(search.scoring.refit_metric)
    lacking = unscored_splits(metric, task.truth, folds, all_of_them=True)
    if estimation.method is None:
        if lacking and estimation.scale_of_selection != "pooled":
            raise InputError(
                f"{lacking}, so no configuration would have a score; use larger folds, or `aggregate='pooled'`, "
                "which scores all held-out rows together."
            )
        return
    method = method_of(estimation.method)
    if reason := _why_no_method(search, method, lacking):
        raise InputError(f"method '{method.name}' {reason}.", argument="method")
    # Of the default method the estimate says why it has no value.
    if is_default(estimation.method) or metric is None or search.drop:
        return
    names = search.configurations.names or ("one", "another")  # of an adaptive search they are not known yet
    refused = refused_on_splits(task, folds, estimation, metric, names)
    if refused:
        raise InputError(refused)


def _why_no_method(search: Search, method: Method, lacking: str) -> str:
    """Why a method is not for the splits; ``lacking``: what none of them has, of ``unscored_splits``."""
    folds, other = search.folds, f"or `method={_defaults.METHOD!r}`"
    if lacking and "predictions" not in method.reads:
        return f"compares scores of single splits, and {lacking}; use larger folds, {other}"
    if method.needs_test_share and folds.test_share is None:
        return (
            "is for repeated subsampling, in which each split draws its test rows anew, but here are "
            f"{folds.n_splits} other splits; use `cv=ho.protocols.repeated_hold_out(50, 0.2)`, {other}"
        )
    if method.needs_test_share and search.scale_of_selection != "folds":
        return (
            f"assumes that the winner has the best mean over splits, got `aggregate={search.aggregate!r}`; use "
            f"`aggregate='folds'`, {other}"
        )
    if method.needs_halves and not folds.halves:
        return (
            f"reads fits in halves of the rows, and here are {folds.n_splits} splits without halves; use "
            "`cv=ho.protocols.paired_hold_out()`, or `method='corrected_t'`"
        )
    return ""
