"""What a protocol is asked: an estimator with its grid, or a whole search, and the data, as one ``Search``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV
from sklearn.utils import indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, has_fit_parameter

from heldout._seeding import entropy_of, numpy_seed
from heldout.configurations import checked_entries, make_configurations
from heldout.dropping import SearchStrategy, drop_rule_of
from heldout.errors import InputError
from heldout.estimates.evidence.question import Aggregate
from heldout.estimates.of_search import Estimation
from heldout.evaluate import Search
from heldout.fitting import Routed, make_scoring
from heldout.fold_plans import KFolds, seeded
from heldout.folds import make_folds
from heldout.run.events import Listener
from heldout.run.session import Running
from heldout.run.watching.verbose import Printed
from heldout.selection import CallableRefit
from heldout.store.base import Store
from heldout.store.memory import MemoryStore
from heldout.survival_target import has_fields
from heldout.task import Task, TaskKind, checked_groups, checked_weights, target_column, truth_of


@dataclass(frozen=True, eq=False)
class Asked:
    """A search as the arguments of a protocol describe it; the fields are those of ``HeldOutSearchCV``.

    ``estimator`` may be a search that was not fitted (``HeldOutSearchCV``, ``GridSearchCV``): ``unwrapped`` takes
    its settings over.
    """

    estimator: Any
    param_grid: Any = None
    scoring: Any = None
    cv: Any = None
    repeats: int = 1
    aggregate: Aggregate = "folds"
    selection: Any = "best"
    drop: Any = None
    refit: Any = True
    error_score: float | Literal["raise"] = np.nan
    n_jobs: int | None = None
    pre_dispatch: int | str = "2*n_jobs"
    fit_timeout: float | None = None
    store: Any = None
    random_state: Any = None
    verbose: int = 0

    @property
    def is_search(self) -> bool:
        """Whether the estimator is itself a search."""
        return (
            hasattr(self.estimator, "estimator")
            and hasattr(self.estimator, "fit")
            and any(hasattr(self.estimator, name) for name in ("param_grid", "param_distributions"))
        )

    def unwrapped(self) -> Asked:
        """With the settings of the search that was given, wherever an argument was left at its default.

        Raises
        ------
        InputError
            For a search that draws its configurations, or thins them out, in its own way.
        """
        if not self.is_search:
            return self
        given, kind = self.estimator, type(self.estimator).__name__
        if self.param_grid is not None:
            raise InputError(f"{kind} brings its own grid; leave param_grid out.")
        if not hasattr(given, "param_grid") or hasattr(given, "factor"):
            raise InputError(
                f"a protocol repeats a search over fixed configurations, which {kind} has not; give an estimator "
                "with its param_grid, GridSearchCV or HeldOutSearchCV."
            )
        defaults = {field.name: field.default for field in fields(self)}
        taken = {"estimator": given.estimator, "param_grid": given.param_grid}
        for name, default in defaults.items():
            mine = getattr(self, name)
            untouched = mine is None if default is None else _is_nan(mine) or mine == default
            if name not in taken and hasattr(given, name) and untouched:
                taken[name] = getattr(given, name)
        return replace(self, **taken)

    def search(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Search:
        """The search on all rows, checked, without an estimate of its own.

        Raises
        ------
        InputError
        """
        models = self._models()
        first = models[0]
        drop = drop_rule_of(self.drop)
        if isinstance(drop, SearchStrategy):
            raise InputError(
                f"drop='{drop.name}' plans its own splits, and here the protocol plans them; use another rule, "
                "such as drop='bootstrap'."
            )
        X, y = indexable(X, _target(y))
        truth = _truth(first, y)
        weights = checked_weights(sample_weight, truth.n_rows)
        task = Task(X, truth, checked_groups(groups, truth.n_rows), weights, y)
        scorers, _ = GridSearchCV(first, {}, scoring=self.scoring, refit=_refit_of_scorers(self))._get_scorers()
        scoring = make_scoring(truth, scorers, self._deciding(scorers))
        entropy, cv = self.entropy(), self.cv
        if task.groups is not None and (cv is None or isinstance(cv, int | np.integer)):
            cv = KFolds(5 if cv is None else int(cv))  # which keeps groups whole
        search = Search(
            task,
            make_configurations(self.estimator, self.param_grid),
            make_folds(
                task,
                seeded(cv, numpy_seed(entropy, "folds", 0)),
                repeats=self.repeats,
                entropy=entropy,
                classifier=is_classifier(first),
            ),
            scoring,
            Estimation(
                method=None,
                selection=CallableRefit(self.refit) if callable(self.refit) else self.selection,
                aggregate=self.aggregate,
            ),
            drop=drop,
            routed=_routed(models, truth.n_rows, sample_weight),
            error_score=self.error_score,
            refit=bool(self.refit),
            entropy=entropy,
            seed_estimators=self.random_state is not None,
        )
        search.check()
        return search

    def running(self) -> Running:
        """Where its cells are done and kept. A store that holds the run already is gone on with."""
        listeners: Sequence[Listener] = [Printed(self.verbose)] if self.verbose > 0 else []
        return Running(
            store=store_of(self.store),
            resume=True,
            n_jobs=self.n_jobs,
            pre_dispatch=self.pre_dispatch,
            fit_timeout=self.fit_timeout,
            listeners=listeners,
        )

    def entropy(self) -> int:
        """Of ``random_state``; without one that of the run that the store holds, or else the system's."""
        stored = store_of(self.store).stored_entropy() if self.random_state is None else None
        return entropy_of(self.random_state) if stored is None else stored

    def _models(self) -> list[Any]:
        if isinstance(self.estimator, list | tuple):
            return [model for _, model, _ in checked_entries(self.estimator)]
        return [self.estimator]

    def _deciding(self, scorers: Any) -> str:
        if hasattr(scorers, "_scorers"):
            return self.refit if isinstance(self.refit, str) else next(iter(scorers._scorers))
        return self.refit if callable(self.scoring) and isinstance(self.refit, str) else "score"


def _refit_of_scorers(asked: Asked) -> Any:
    """``refit`` as scikit-learn checks it against several scorers: True names none, and the first decides."""
    return False if asked.refit is True else asked.refit


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and bool(np.isnan(value))


def _target(y: Any) -> Any:
    if y is None:
        raise InputError("y is None; without the target there is no score to estimate.")
    if has_fields(y):
        raise InputError("survival models are not searched yet, and the target holds events and times.")
    column = y if getattr(y, "ndim", 0) == 1 else column_or_1d(y, warn=True)
    target_column(column)
    return column


def _truth(model: Any, y: Any) -> Any:
    if is_classifier(model):
        check_classification_targets(y)
        return truth_of(y, TaskKind.MULTICLASS)
    return truth_of(y, TaskKind.REGRESSION if is_regressor(model) else None)


def _routed(models: Sequence[Any], n_rows: int, sample_weight: Any) -> Routed:
    if sample_weight is None:
        return Routed()
    unable = next((model for model in models if not has_fit_parameter(model, "sample_weight")), None)
    if unable is not None:
        raise InputError(
            f"sample_weight goes to fit and to the scorer, and {type(unable).__name__}.fit does not take it; leave "
            "it out, or give an estimator that does."
        )
    weights = np.asarray(sample_weight, dtype=np.float64).reshape(n_rows)
    return Routed(fit={"sample_weight": weights}, score={"sample_weight": weights})


def store_of(store: Any) -> Store:
    """A store from a path, a store, or None for the memory."""
    if store is None:
        return MemoryStore()
    if isinstance(store, str | os.PathLike):
        from heldout.store.sqlite import SQLiteStore

        return SQLiteStore(Path(store))
    opened: Store = store
    return opened
