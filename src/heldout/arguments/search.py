"""The arguments of a whole search as users pass them, made into a ``Search``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import GridSearchCV

from heldout import _defaults
from heldout.arguments.parts import (
    check_weights_fit,
    checked_target,
    deciding_scorer,
    repeatable,
    routed_to_fit,
    rows_of,
    running_of,
    scorers_of,
    scoring_with_metrics,
    seeded_folds,
    task_of,
)
from heldout.arguments.sampling import sample_configurations
from heldout.configurations import Configurations, are_same, checked_entries, checked_model, make_configurations
from heldout.data.task import Task, Truth, in_one_order
from heldout.errors import InputError
from heldout.execution.copies import CopiesTogether
from heldout.execution.events import Listener
from heldout.execution.fit import Routing, Scoring, make_scoring
from heldout.execution.run import RunSettings
from heldout.execution.search import Search, SearchSpec, imputed
from heldout.execution.search_check import check_repeated
from heldout.execution.sharing.groups import check_share
from heldout.execution.store import entropy_of_run, store_of
from heldout.folds.splits import Folds
from heldout.metrics.from_scorer import scorer_of_class
from heldout.spaces.procedure import TuningProcedure

PARTS_OF_A_SPACE = ("estimator", "param_grid", "param_distributions", "n_iter")
"""Arguments that decide which configurations are tried."""

PARTS_OF_A_SEARCH = (
    "scoring", "pos_label", "cv", "repeats", "aggregate", "selection", "drop", "refit", "error_score",
    "confidence_level", "alternative", "imputation",
)  # fmt: skip
"""Arguments that decide what is estimated: a search and the call that repeats it must not name two values."""

OF_THE_SEARCH_ALONE = (
    "method", "n_bootstraps", "block_length", "n_rows_of_bootstrap", "return_train_score", "keep_models",
    "training_size_correction",
)  # fmt: skip
"""Arguments of a search that a protocol, which repeats it, does not take over."""


@dataclass(frozen=True, eq=False)
class SearchArguments(SearchSpec):
    """The arguments of a search as users pass them; the fields are those of the search classes.

    Every ``Search`` is built here: ``search`` builds it from its parts, ``search_on`` from the rows too. A protocol
    takes a search object as ``estimator``; ``with_search`` then takes the settings of that object over.
    """

    estimator: Any
    param_grid: Any = None
    param_distributions: Any = None
    n_iter: Any = None
    """How many configurations are drawn; None tries a whole grid."""
    scoring: Any = None
    pos_label: Any = None
    cv: Any = None
    repeats: int = 1
    method: Any = field(default=None, kw_only=True)
    random_state: Any = None
    n_jobs: int | None = None
    pre_dispatch: int | str = _defaults.PRE_DISPATCH
    fit_timeout: float | None = None
    store: Any = None
    verbose: int = 0

    @classmethod
    def of(cls, search: Any) -> SearchArguments:
        """The settings of a search object, fitted or not; those that it lacks have their defaults."""
        return cls(**{each.name: getattr(search, each.name) for each in fields(cls) if hasattr(search, each.name)})

    def configurations(self, entropy: int) -> Configurations:
        """Everything that is tried; ``entropy`` decides the draws of a random search."""
        if self.n_iter is None:
            tried = make_configurations(self.estimator, self.param_grid)
        else:
            tried = sample_configurations(self.estimator, self.param_distributions, self.n_iter, entropy)
        imputation = self.imputation_within_a_fit
        return tried if imputation is None else Configurations(tuple(imputed(one, imputation) for one in tried))

    @property
    def is_search(self) -> bool:
        """Whether ``estimator`` is itself a search."""
        return (
            hasattr(self.estimator, "estimator")
            and hasattr(self.estimator, "fit")
            and any(hasattr(self.estimator, name) for name in ("param_grid", "param_distributions", "space"))
        )

    @property
    def is_fixed_search(self) -> bool:
        """Whether ``estimator`` is a search with configurations that no score decides; those of halving are not."""
        its = self.estimator
        return (
            self.is_search and not hasattr(its, "factor") and (hasattr(its, "param_grid") or hasattr(its, "n_iter"))
        )

    def with_search(self, *, free: Sequence[str] = ()) -> SearchArguments:
        """With the settings of the search that ``estimator`` is, where an argument is at its default.

        What is ``OF_THE_SEARCH_ALONE`` is not taken over.
        Of an adaptive search only the scorer is: it stays an estimator, and every fit repeats all of it.

        ``free``: parts that may differ from those of the search.

        Raises InputError for a part that differs from that of the search.
        """
        if not self.is_search:
            return self
        kind, own = type(self.estimator).__name__, SearchArguments.of(self.estimator)
        if not self.is_fixed_search:
            scoring = own.scoring if self.scoring is None else self.scoring
            return replace(
                self, scoring=scoring, pos_label=own.pos_label if self.pos_label is None else self.pos_label
            )
        is_random = own.n_iter is not None
        if self.param_grid is not None:
            space = "distributions" if is_random else "grid"
            raise InputError(f"{kind} has its own {space}; leave param_grid out.")
        # The seed of a random search decides which configurations it tries.
        fixed = {*PARTS_OF_A_SEARCH, *(["random_state"] if is_random else [])} - {*free}
        taken = {name: getattr(own, name) for name in PARTS_OF_A_SPACE}
        for each in fields(self):
            if each.name in {*taken, *OF_THE_SEARCH_ALONE}:
                continue
            passed, its = getattr(self, each.name), getattr(own, each.name)
            if are_same(passed, each.default):
                taken[each.name] = its
            elif each.name in fixed:
                _check_agrees(kind, each.name, its, passed, each.default)
        return replace(self, **taken)

    def search_on(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Search:
        """The search on all rows as a protocol repeats it: checked, and without an estimate of its own."""
        self = replace(self, estimator=self._repeatable())
        check_share(self.share)
        search = replace(self, method=None).unchecked_on(X, y, groups, sample_weight, "protocol", "refuse")
        search = replace(search, configurations=self.configurations(search.entropy))
        check_repeated(search)
        return search

    def unchecked_on(
        self,
        X: Any,
        y: Any,
        groups: Any,
        sample_weight: Any,
        purpose: str,
        small_classes: Literal["allow", "refuse"] = "allow",
    ) -> Search:
        """The search on all rows, without configurations; ``purpose``: what needs the target, in one word."""
        models = self._models()
        first = models[0]
        rows = {"y": y, "X": X, "groups": groups, "sample_weight": sample_weight}
        y, X, groups, sample_weight = in_one_order(rows).values()
        X, y = rows_of(X, checked_target(first, y, purpose))
        task = task_of(first, X, y, groups, sample_weight).with_pos_label(self.pos_label)
        scoring = self._scoring(task.truth, first)
        entropy = entropy_of_run(self.random_state, store_of(self.store))
        folds = seeded_folds(
            task,
            self.cv,
            entropy,
            repeats=self.repeats,
            classifier=is_classifier(first),
            small_classes=small_classes,
        )
        routed = self._routed(task, sample_weight)
        return self.search(task, Configurations(()), folds, scoring, entropy=entropy, routed=routed)

    def search(
        self,
        task: Task,
        configurations: Configurations,
        folds: Folds,
        scoring: Scoring,
        *,
        entropy: int,
        routed: Routing | None = None,
    ) -> Search:
        """The search of these arguments, with its parts made."""
        return Search(
            task,
            configurations,
            folds,
            scoring,
            routed or Routing(),
            entropy,
            seed_estimators=self.random_state is not None,
            origin=self.cv.origin_of(task.X, task.target) if isinstance(self.cv, CopiesTogether) else None,
            **{one.name: getattr(self, one.name) for one in fields(SearchSpec)},
        )

    def running(self, listeners: Sequence[Listener] = ()) -> RunSettings:
        """Where its fits run and are kept."""
        return running_of(
            n_jobs=self.n_jobs,
            pre_dispatch=self.pre_dispatch,
            fit_timeout=self.fit_timeout,
            store=self.store,
            verbose=self.verbose,
            listeners=listeners,
        )

    def _models(self) -> list[Any]:
        if isinstance(self.estimator, list | tuple):
            return [model for _, model, _ in checked_entries(self.estimator)]
        several = "several are given as a list of (name, estimator, grid)"
        return [checked_model(self.estimator, "the estimator of a protocol", several)]

    def _routed(self, task: Task, sample_weight: Any) -> Routing:
        models = self._models()
        names = [name for name, _, _ in self.estimator] if isinstance(self.estimator, list | tuple) else [""]
        named = zip(names, models, strict=True)
        if sample_weight is None:
            return routed_to_fit(named, None, task.groups)
        check_weights_fit((type(model).__name__, model) for model in models)
        weights = np.asarray(sample_weight, dtype=np.float64).reshape(task.n_rows)
        return replace(routed_to_fit(named, weights, task.groups), score={"sample_weight": weights})

    def _repeatable(self) -> Any:
        """The models as every fit repeats them."""
        if isinstance(self.estimator, list | tuple):
            return [(name, repeatable(model), space) for name, model, space in checked_entries(self.estimator)]
        return repeatable(self._models()[0])

    def _scoring(self, truth: Truth, model: Any) -> Scoring:
        # To scikit-learn, refit=True among several scorers names none; here the first decides.
        refit = False if self.refit is True else self.refit
        scoring = self.scoring
        if scoring is None and isinstance(model, TuningProcedure):
            model, scoring = model.scored_as()
        grid_search = GridSearchCV(model, {}, scoring=scoring_with_metrics(scoring), refit=refit)
        scorers = scorer_of_class(scorers_of(grid_search)[0], truth, self.pos_label)
        return make_scoring(truth, scorers, deciding_scorer(scorers, self.scoring, self.refit))


def _check_agrees(kind: str, name: str, its: Any, passed: Any, default: Any) -> None:
    if not are_same(its, default) and not are_same(its, passed):
        raise InputError(
            f"{kind} has `{name}={its!r}`, and `{name}={passed!r}` is passed beside it; leave `{name}` out, or set "
            f"it in the {kind}."
        )
