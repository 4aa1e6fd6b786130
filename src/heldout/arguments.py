"""What users pass in scikit-learn's terms, as our nouns: a target, scorers, a store, a seed, and a whole search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import GridSearchCV
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, has_fit_parameter

from heldout._random import numpy_seed
from heldout._text import argument
from heldout.configurations import Configurations, checked_entries, checked_model, make_configurations
from heldout.data.arrays import has_fields
from heldout.data.survival_target import has_two_columns, survival_target, with_fields
from heldout.data.task import Task, TaskKind, Truth, checked_groups, checked_weights, target_column, truth_of
from heldout.dropping import SearchStrategy, drop_rule_of
from heldout.errors import InputError
from heldout.estimates.of_search import Estimation
from heldout.estimates.question import Aggregate
from heldout.estimates.types import Alternative
from heldout.execution.events import Listener
from heldout.execution.fit import Routing, Scoring, make_scoring
from heldout.execution.listeners.progress import verbose_listeners
from heldout.execution.run import RunSettings
from heldout.execution.search import Search
from heldout.execution.sharing.groups import Share, check_share
from heldout.execution.store import entropy_of_run, store_of
from heldout.folds.plans import KFolds, seeded
from heldout.folds.splits import Folds, make_folds
from heldout.metrics.survival_model import last_step
from heldout.metrics.to_scorer import scorer
from heldout.sampling import sample_configurations
from heldout.selection import CallableRefit


def checked_target(model: Any, y: Any, purpose: str) -> Any:
    """The target as one column, unchanged where it is one; events and times as a structured array.

    Two columns are events and times, unless ``model``, which learns them, is a classifier or a regressor.
    ``purpose`` is what needs the target, for the sentence "This ... requires y": "protocol".

    Raises InputError when there is none, it holds missing, complex or infinite values, or the model cannot learn
    it.
    """
    if y is None:
        raise InputError(
            f"This {purpose} requires y to be passed, but the target y is None; without it there is no score to "
            "estimate."
        )
    of_numbers = is_classifier(model) or is_regressor(model)
    if has_fields(y) or (not of_numbers and has_two_columns(y)):
        kind = type(last_step(model))
        if of_numbers and kind.__module__.startswith("sklearn."):
            raise InputError(
                f"the target holds events and times, which {kind.__name__} cannot learn; give a survival model "
                "(scikit-survival's, or ho.spaces.CoxRegression), or the one column to predict."
            )
        # Survival models want the event as booleans; what the user calls the two is left.
        target = survival_target(y)
        return with_fields(target, y.dtype.names) if has_fields(y) else target
    column = y if getattr(y, "ndim", 0) == 1 else _one_column(y)
    values = target_column(column)
    if values.dtype.kind == "c":
        raise InputError("Complex data not supported: the target must be real numbers or labels.")
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise InputError(
            "Input y contains infinity or a value too large for dtype('float64'). Every row needs a finite target."
        )
    # scikit-learn cannot take rows of pandas' own arrays (``y.values`` of text that Arrow keeps).
    return values if hasattr(column, "_from_sequence") else column


def rows_of(X: Any, y: Any) -> tuple[Any, Any]:
    """Data and target that can be indexed by row and have as many rows."""
    try:
        checked, target = indexable(X, y)
    except (ValueError, TypeError) as error:
        raise InputError(f"X and y cannot be used as rows: {error}.") from None
    return checked, target


def _one_column(y: Any) -> Any:
    try:
        return column_or_1d(y, warn=True)
    except (ValueError, TypeError) as error:
        raise InputError(f"the target must be one column of labels or numbers: {error}") from None


def truth_for(model: Any, y: Any) -> Truth:
    """The target as a model of its kind reads it."""
    if has_fields(y):
        return truth_of(y, TaskKind.SURVIVAL)
    if is_classifier(model):
        try:
            with np.errstate(invalid="ignore"):  # it casts amounts to whole numbers to see what they are
                check_classification_targets(y)
        except (ValueError, TypeError) as error:
            raise InputError(f"{str(error).rstrip('.')}. Give labels, or a regressor.") from None
        return truth_of(y, TaskKind.MULTICLASS)
    return truth_of(y, TaskKind.REGRESSION if is_regressor(model) else None)


def scoring_with_metrics(scoring: Any) -> Any:
    """What scikit-learn's searches take as ``scoring``: names that it lacks are metrics of ours, as scorers.

    Examples
    --------
    >>> scorers = scoring_with_metrics({"r2": "r2", "c": "concordance_index"})
    >>> scorers["r2"], scorers["c"]._score_func.__name__
    ('r2', 'concordance_index')
    """
    if isinstance(scoring, str):
        return scoring if scoring in get_scorer_names() else scorer(scoring)
    if isinstance(scoring, Mapping):
        return {name: scoring_with_metrics(one) for name, one in scoring.items()}
    if isinstance(scoring, list | tuple | set) and all(isinstance(name, str) for name in scoring):
        foreign = set(scoring) - set(get_scorer_names())
        return {name: scoring_with_metrics(name) for name in scoring} if foreign else scoring
    return scoring


def scorers_of(search: BaseSearchCV) -> tuple[Any, Any]:
    """The scorers of a search as scikit-learn gathers them, and what chooses.

    Raises InputError when ``scoring`` or ``refit`` is nothing that it knows.
    """
    try:
        scorers: tuple[Any, Any] = BaseSearchCV._get_scorers(search)
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise InputError(
            f"scoring={search.scoring!r} with refit={search.refit!r} cannot be used: {reason}."
        ) from error
    return scorers


def deciding_scorer(scorers: Any, scoring: Any, refit: Any) -> str:
    """The name of the scorer that chooses the winner, of scorers as scikit-learn has gathered them."""
    if hasattr(scorers, "_scorers"):
        return refit if isinstance(refit, str) else str(next(iter(scorers._scorers)))
    # A callable may turn out to return several scores; ``refit`` then names one of them.
    return refit if callable(scoring) and isinstance(refit, str) else "score"


def task_of(model: Any, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Task:
    """Rows, a target that ``checked_target`` passed, groups and weights as a task for such a model."""
    truth = truth_for(model, y)
    weights = checked_weights(sample_weight, truth.n_rows)
    return Task(X, truth, checked_groups(groups, truth.n_rows), weights, y)


def check_weights_fit(models: Iterable[tuple[str, Any]]) -> None:
    """Refuse ``sample_weight`` where the ``fit`` of a (name, estimator) does not take it."""
    unable = next((name for name, model in models if not has_fit_parameter(model, "sample_weight")), None)
    if unable is not None:
        raise InputError(
            f"sample_weight goes to every fit, and {unable}.fit does not take it; leave it out, or give an "
            "estimator that does."
        )


def running_of(
    *,
    n_jobs: int | None,
    pre_dispatch: int | str,
    fit_timeout: float | None,
    store: Any,
    verbose: int,
    listeners: Sequence[Listener] = (),
) -> RunSettings:
    """Where fits run and are kept, as the keywords of a search or a protocol say; a stored run is continued."""
    return RunSettings(
        store=store_of(store),
        resume=True,
        n_jobs=n_jobs,
        pre_dispatch=pre_dispatch,
        fit_timeout=fit_timeout,
        listeners=[*verbose_listeners(verbose), *listeners],
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
    if task.groups is not None and (cv is None or isinstance(cv, int | np.integer)):
        cv = KFolds(5 if cv is None else int(cv))
    cv = seeded(cv, numpy_seed(entropy, "folds", 0))
    return make_folds(
        task, cv, repeats=repeats, entropy=entropy, classifier=classifier, small_classes=small_classes
    )


PARTS_OF_A_SPACE = ("estimator", "param_grid", "param_distributions", "n_iter")
"""Arguments that decide which configurations are tried."""

PARTS_OF_A_SEARCH = (
    "scoring", "cv", "repeats", "aggregate", "selection", "drop", "refit", "error_score",
    "confidence_level", "alternative",
)  # fmt: skip
"""Arguments that decide what is estimated: a search and the call that repeats it must not name two values."""


@dataclass(frozen=True, eq=False)
class SearchArguments:
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
    cv: Any = None
    repeats: int = 1
    aggregate: Aggregate = "folds"
    selection: Any = "best"
    drop: Any = None
    method: Any = None
    n_bootstraps: int = 1000
    confidence_level: float = 0.95
    alternative: Alternative = "two-sided"
    refit: Any = True
    error_score: float | Literal["raise"] = np.nan
    return_train_score: bool = False
    share: Share = "exact"
    share_memory: int | None = None
    n_jobs: int | None = None
    pre_dispatch: int | str = "2*n_jobs"
    fit_timeout: float | None = None
    store: Any = None
    random_state: Any = None
    verbose: int = 0

    @classmethod
    def of(cls, search: Any) -> SearchArguments:
        """The settings of a search object, fitted or not; those that it lacks have their defaults."""
        return cls(**{each.name: getattr(search, each.name) for each in fields(cls) if hasattr(search, each.name)})

    def configurations(self, entropy: int) -> Configurations:
        """Everything that is tried; ``entropy`` decides the draws of a random search."""
        if self.n_iter is None:
            return make_configurations(self.estimator, self.param_grid)
        return sample_configurations(self.estimator, self.param_distributions, self.n_iter, entropy)

    @property
    def is_search(self) -> bool:
        """Whether ``estimator`` is itself a search."""
        return (
            hasattr(self.estimator, "estimator")
            and hasattr(self.estimator, "fit")
            and any(hasattr(self.estimator, name) for name in ("param_grid", "param_distributions"))
        )

    def with_search(self, *, free: Sequence[str] = ()) -> SearchArguments:
        """With the settings of the search that ``estimator`` is, where an argument is at its default.

        Method, number of bootstraps and training scores belong to the search alone and are not taken over.

        ``free``: parts that may differ from those of the search.

        Raises InputError for a search without fixed configurations, and for a part that differs from that of the
        search.
        """
        if not self.is_search:
            return self
        kind, own = type(self.estimator).__name__, SearchArguments.of(self.estimator)
        is_random = own.n_iter is not None
        if self.param_grid is not None:
            space = "distributions" if is_random else "grid"
            raise InputError(f"{kind} has its own {space}; leave param_grid out.")
        if hasattr(self.estimator, "factor") or not (is_random or hasattr(self.estimator, "param_grid")):
            raise InputError(
                f"a protocol repeats a search over fixed configurations, which {kind} has not; give an estimator "
                "with its param_grid, GridSearchCV, RandomizedSearchCV, or one of heldout's searches."
            )
        # The seed of a random search decides which configurations it tries.
        fixed = {*PARTS_OF_A_SEARCH, *(["random_state"] if is_random else [])} - {*free}
        taken = {name: getattr(own, name) for name in PARTS_OF_A_SPACE}
        for each in fields(self):
            if each.name in {*taken, "method", "n_bootstraps", "return_train_score"}:
                continue
            passed, its = getattr(self, each.name), getattr(own, each.name)
            if _are_same(passed, each.default):
                taken[each.name] = its
            elif each.name in fixed:
                _check_agrees(kind, each.name, its, passed, each.default)
        return replace(self, **taken)

    def search_on(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Search:
        """The search on all rows as a protocol repeats it: checked, and without an estimate of its own."""
        models = self._models()
        first = models[0]
        check_share(self.share)
        drop = drop_rule_of(self.drop)
        if isinstance(drop, SearchStrategy):
            raise InputError(
                f"{argument('drop', drop.name)} plans its own splits, and here the protocol plans them; use "
                f"another rule, such as {argument('drop', 'bootstrap')}.",
                argument="drop",
            )
        X, y = rows_of(X, checked_target(first, y, "protocol"))
        task = task_of(first, X, y, groups, sample_weight)
        scoring = self._scoring(task.truth, first)
        entropy = entropy_of_run(self.random_state, store_of(self.store))
        folds = seeded_folds(
            task, self.cv, entropy, repeats=self.repeats, classifier=is_classifier(first), small_classes="refuse"
        )
        routed = _routed(models, task.n_rows, sample_weight)
        own = replace(self, method=None)
        configurations = self.configurations(entropy)
        search = own.search(task, configurations, folds, scoring, entropy=entropy, routed=routed)
        search.check()
        return search

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
            Estimation(
                method=self.method,
                selection=CallableRefit(self.refit) if callable(self.refit) else self.selection,
                aggregate=self.aggregate,
                n_bootstraps=self.n_bootstraps,
                confidence_level=self.confidence_level,
                alternative=self.alternative,
            ),
            drop=drop_rule_of(self.drop),
            error_score=self.error_score,
            return_train_score=self.return_train_score,
            refit=bool(self.refit),
            routed=routed or Routing(),
            entropy=entropy,
            seed_estimators=self.random_state is not None,
            share=self.share,
            share_memory=self.share_memory,
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

    def _scoring(self, truth: Truth, model: Any) -> Scoring:
        # To scikit-learn, refit=True among several scorers names none; here the first decides.
        refit = False if self.refit is True else self.refit
        grid_search = GridSearchCV(model, {}, scoring=scoring_with_metrics(self.scoring), refit=refit)
        scorers, _ = scorers_of(grid_search)
        return make_scoring(truth, scorers, deciding_scorer(scorers, self.scoring, self.refit))


def _are_same(one: Any, other: Any) -> bool:
    if one is other or (isinstance(one, float) and isinstance(other, float) and one != one and other != other):
        return True
    try:
        return bool(one == other)
    except (TypeError, ValueError):  # arrays among them
        return False


def _check_agrees(kind: str, name: str, its: Any, passed: Any, default: Any) -> None:
    if not _are_same(its, default) and not _are_same(its, passed):
        raise InputError(
            f"{kind} has {name}={its!r}, and {name}={passed!r} is passed beside it; leave {name} out, or set it in "
            f"the {kind}."
        )


def _routed(models: Sequence[Any], n_rows: int, sample_weight: Any) -> Routing:
    if sample_weight is None:
        return Routing()
    check_weights_fit((type(model).__name__, model) for model in models)
    weights = np.asarray(sample_weight, dtype=np.float64).reshape(n_rows)
    return Routing(fit={"sample_weight": weights}, score={"sample_weight": weights})
