"""A search: all settings that decide its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.utils.metadata_routing import MetadataRequest

from heldout import _defaults
from heldout.configurations import Configuration, Configurations
from heldout.data.task import Task
from heldout.dropping.base import DropRule, SearchStrategy
from heldout.errors import InputError
from heldout.estimates.of_search import Estimation
from heldout.estimates.types import Estimate
from heldout.execution.executors.base import Work
from heldout.execution.fit import CellContext, Routing, Scoring
from heldout.execution.fold_models import DeployedModel, KeepModels
from heldout.execution.inner_split import EarlyStopping, InnerSplit
from heldout.execution.plan import Race, race_of_search
from heldout.execution.row_order import flags_of_table
from heldout.execution.sharing.groups import Share, Sharing, shared_in
from heldout.execution.stopping_rows import flags_of_stopping
from heldout.execution.threads import THREAD_PARAMETERS, threads_of_boosters
from heldout.flags import Flag
from heldout.folds.splits import Folds, with_splits_without_two
from heldout.imputation.imputed_model import ImputedModel
from heldout.imputation.settings import Imputation
from heldout.selection import Best
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
    catch: tuple[type[Exception], ...] = ()
    """With "raise", of an adaptive search: exceptions that fail their configuration and do not end the search."""
    return_train_score: bool = False
    refit: bool = True
    """Whether to fit the winner on all rows."""
    entropy: int = 0
    """64 bits that seed the search."""
    seed_estimators: bool = False
    """Whether to fill ``random_state=None`` inside estimators."""
    share: Share = _defaults.SHARE
    """Whether equal steps are fitted once, and one fit serves several configurations."""
    share_memory: int | None = None
    """Bytes for the output of shared steps; None for a part of this machine's memory."""
    early_stopping: InnerSplit | None = None
    """Which part of the training rows tells models when to stop."""
    origin: NDArray[np.intp] | None = None
    """The original row of each row, where some are copies that early stopping keeps together."""
    training_size_correction: bool = False
    """Whether the value is corrected for training on a part of the rows, by fits without two folds."""
    stop_when_width: float | None = None
    """Whether to stop after a fold or repeat when the interval of the estimate is no wider than this."""
    keep_models: KeepModels = _defaults.KEEP_MODELS
    """Of which configurations the models of the splits are kept; no part of a run's identity."""
    imputation: Imputation | None = None
    """How each fit of a proposed configuration completes its rows; those given beforehand are models that do."""
    deploy: DeployedModel = _defaults.DEPLOY
    """Whether the winner's model is one fitted on all rows, or that of a single hold-out ("bounded")."""

    weights_reached: Mapping[str, str] | None = None
    """``reach_of_weights`` by scorer, of a search whose parameters of ``fit`` are not known."""

    def __post_init__(self) -> None:
        if self.training_size_correction:
            object.__setattr__(self, "folds", with_splits_without_two(self.folds))
        if self.deploy == "bounded" and self.keep_models == "none":
            object.__setattr__(self, "keep_models", "winner")
        strategy = self.strategy
        if strategy is None:
            return
        if self.estimation.rule not in (Best(), strategy.selection):
            raise InputError(
                f"`drop={strategy.name!r}` chooses the winner itself, by the mean rank over its last "
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

    @property
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
