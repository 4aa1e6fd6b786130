"""A search: all settings that decide its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import sklearn
from sklearn.utils.metadata_routing import MetadataRequest

from heldout import _defaults
from heldout._types import Indices
from heldout.configurations import Configuration, Configurations
from heldout.data.task import Task
from heldout.dropping import SearchStrategy, drop_rule_of
from heldout.errors import InputError
from heldout.estimates.of_search import Estimation, method_for
from heldout.estimates.types import Estimate
from heldout.execution.fit import Routing, Scoring, Work
from heldout.execution.inner_split import EarlyStopping, checked_early_stopping
from heldout.execution.plan import Race, race_of_search
from heldout.execution.row_flags import flags_of_stopping, flags_of_table
from heldout.execution.sharing.groups import Share, Sharing
from heldout.execution.threads import THREAD_PARAMETERS, threads_of_boosters
from heldout.flags import Flag
from heldout.folds.splits import Folds, with_splits_without_two
from heldout.imputation.imputed_model import ImputedModel, checked_within_a_fit
from heldout.imputation.settings import Imputation, imputation_of
from heldout.selection import Best, CallableRefit, configuration_rule_of
from heldout.selection.base import metrics_read

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
                f"refit must be True, False, the name of a scorer or a function, got {self.refit!r}.",
                argument="refit",
            ) from None
        made: dict[str, Any] = {
            "drop": drop_rule_of(self.drop),
            "selection": CallableRefit(self.refit) if callable(self.refit) else self.selection,
            "refit": is_refitted,
            "early_stopping": checked_early_stopping(self.early_stopping),
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
                    f"'{rule.name}'.",
                    argument="drop",
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
