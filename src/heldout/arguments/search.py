"""What users pass in scikit-learn's terms, as our nouns: a target, scorers, weights, folds, a whole search."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    LeaveOneGroupOut,
    LeavePGroupsOut,
    StratifiedGroupKFold,
)
from sklearn.utils.validation import has_fit_parameter

from heldout import _defaults
from heldout._sklearn import BaseSearchCV, gathered_scorers, scorers_of_search
from heldout._streams import numpy_seed
from heldout.arguments.random_search import sample_configurations
from heldout.arguments.target import checked_target, rows_of, task_of
from heldout.configurations import Configurations, are_same, checked_entries, checked_model, make_configurations
from heldout.data.row_labels import in_one_order
from heldout.data.task import Task, Truth
from heldout.errors import InputError, input_error, reason_of
from heldout.execution.copies import CopiesTogether
from heldout.execution.events import Listener
from heldout.execution.fit import Routing, Scoring, make_scoring
from heldout.execution.listeners import progress_listeners
from heldout.execution.run import RunSettings
from heldout.execution.search import Search, SearchSpec, check_repeated, imputed
from heldout.execution.sharing.groups import check_share
from heldout.execution.store import entropy_of_run, store_of
from heldout.folds.plans import FoldPlan, KFolds, seeded
from heldout.folds.splits import Folds, make_folds
from heldout.metrics.base import Metric
from heldout.metrics.from_scorer import scorer_of_class
from heldout.metrics.named import metric_named, scorer
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
        return tried if imputation is None else Configurations(imputed(one, imputation) for one in tried)

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
        return self.search(task, Configurations(), folds, scoring, entropy=entropy, routed=routed)

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
        """Where its fits run and are kept; a stored run is continued."""
        told = [*progress_listeners(self.verbose), *listeners]
        return RunSettings(
            store_of(self.store), True, self.n_jobs, self.pre_dispatch, self.fit_timeout, listeners=told
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


def repeatable(model: Any) -> Any:
    """The model as every fit of a protocol repeats it: each search inside it begins anew.

    A search of ours keeps no fits of its own in a store, where it would find those of other rows, and makes no
    estimate.

    Raises InputError for a search that would continue a study, which holds the scores of other rows.
    """
    params = model.get_params(deep=True)
    changed: dict[str, None] = {}
    for name, value in params.items():
        place, _, own = name.rpartition("__")
        owner = params.get(place) if place else model
        if value is None or not hasattr(owner, "fit"):
            continue
        if own == "study" and hasattr(value, "trials"):
            raise InputError(
                f"{type(owner).__name__} has a study, and every fit would continue it with the scores of other "
                "rows; leave study out, and each fit makes one of its own."
            )
        if own in ("store", "method") and _OF_OUR_SEARCHES <= owner.get_params(deep=False).keys():
            changed[name] = None
    return clone(model).set_params(**changed) if changed else model


_OF_OUR_SEARCHES = {"store", "method", "n_bootstraps", "keep_predictions"}
_BY_GROUP = (GroupKFold, GroupShuffleSplit, LeaveOneGroupOut, LeavePGroupsOut, StratifiedGroupKFold, FoldPlan)


def routed_to_fit(models: Iterable[tuple[str, Any]], weights: Any, groups: Any) -> Routing:
    """What ``fit`` receives: weights go to every model, groups to searches whose folds need them.

    ``models``: each with its name in a list, "" for one that is no list.
    """
    fit = {} if weights is None else {"sample_weight": weights}
    if groups is None:
        return Routing(fit=fit)
    divides = {name for name, model in models if isinstance(getattr(model, "cv", None), _BY_GROUP)}
    return Routing(fit=fit, fit_of_model={name: {**fit, "groups": groups} for name in divides})


def _is_metric(scoring: Any) -> bool:
    """Whether it is a metric of ours, or the class of one, which ``metric_named`` refuses."""
    return isinstance(scoring, Metric) or (isinstance(scoring, type) and issubclass(scoring, Metric))


def scoring_with_metrics(scoring: Any) -> Any:
    """What scikit-learn's searches take as ``scoring``: metrics of ours, or names that it lacks, as scorers.

    Examples
    --------
    >>> scorers = scoring_with_metrics({"r2": "r2", "c": "concordance_index"})
    >>> scorers["r2"], scorers["c"]._score_func.__name__
    ('r2', 'concordance_index')
    """
    if isinstance(scoring, str):
        return scoring if scoring in get_scorer_names() else scorer(scoring)
    if _is_metric(scoring):
        return scorer(scoring)
    if isinstance(scoring, Mapping):
        return {name: scoring_with_metrics(one) for name, one in scoring.items()}
    if not isinstance(scoring, list | tuple | set):
        _check_is_scorer(scoring)
        return scoring
    if not all(isinstance(one, str) or _is_metric(one) for one in scoring):
        return scoring
    names = [one if isinstance(one, str) else metric_named(one).name for one in scoring]
    if set(names) <= set(get_scorer_names()) and all(isinstance(one, str) for one in scoring):
        return scoring
    if len(set(names)) < len(names):
        raise InputError(
            f"scoring lists metrics of one name, got {', '.join(names)}; name each yourself in a dict.",
            argument="scoring",
        )
    return {name: scoring_with_metrics(one) for name, one in zip(names, scoring, strict=True)}


def _check_is_scorer(scoring: Any) -> None:
    """Refuse a function that cannot be called as a scorer, with the model, X and y: it is probably a metric."""
    if not inspect.isroutine(scoring):
        return
    try:
        inspect.signature(scoring).bind_partial(None, None, None)
    except TypeError:
        name = getattr(scoring, "__name__", "it")
        raise InputError(
            f"scoring must be a name or a scorer that takes the model, X and y, got the function {name!r}, which "
            f"takes fewer; give the name of a metric, or make_scorer({name})."
        ) from None
    except ValueError:  # a function without a known signature
        return


def scorers_of(search: BaseSearchCV) -> tuple[Any, Any]:
    """The scorers of a search as scikit-learn gathers them, and what chooses.

    Raises InputError when ``scoring`` or ``refit`` is nothing that it knows.
    """
    try:
        scorers = scorers_of_search(search)
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        reason = reason_of(error)
        raise input_error(
            f"`scoring={search.scoring!r}` with `refit={search.refit!r}` cannot be used: {reason}.",
            error,
            argument="scoring",
        ) from error
    return scorers


def deciding_scorer(scorers: Any, scoring: Any, refit: Any) -> str:
    """The name of the scorer that chooses the winner, of scorers as scikit-learn has gathered them."""
    if (members := gathered_scorers(scorers)) is not None:
        return refit if isinstance(refit, str) else str(next(iter(members)))
    # A callable may turn out to return several scores; ``refit`` then names one of them.
    return refit if callable(scoring) and isinstance(refit, str) else "score"


def check_weights_fit(models: Iterable[tuple[str, Any]]) -> None:
    """Refuse ``sample_weight`` where the ``fit`` of a (name, estimator) does not take it."""
    unable = next((name for name, model in models if not has_fit_parameter(model, "sample_weight")), None)
    if unable is not None:
        raise InputError(
            f"sample_weight goes to every fit, and {unable}.fit does not take it; leave it out, or give an "
            "estimator that does.",
            argument="sample_weight",
        )


def seeded_folds(
    task: Task,
    cv: Any,
    entropy: int,
    *,
    repeats: int = 1,
    classifier: bool | None = None,
    small_classes: Literal["refuse", "allow"] = "allow",
) -> Folds:
    """``make_folds`` with an integer that keeps groups whole and a seed for a splitter that shuffles with none."""
    cv = cv if task.groups is None else keeping_groups(cv)
    cv = seeded(cv, numpy_seed(entropy, "folds", 0))
    return make_folds(
        task, cv, repeats=repeats, entropy=entropy, classifier=classifier, small_classes=small_classes
    )


def keeping_groups(cv: Any) -> Any:
    """An integer as a plan that keeps groups whole; a splitter unchanged."""
    return KFolds(5 if cv is None else int(cv)) if cv is None or isinstance(cv, int | np.integer) else cv
