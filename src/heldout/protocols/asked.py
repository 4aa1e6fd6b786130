"""What a protocol is asked: an estimator with its grid, or a whole search, and the data, as one ``Search``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import GridSearchCV
from sklearn.utils.validation import has_fit_parameter

from heldout._random import numpy_seed
from heldout.arguments import (
    deciding_scorer,
    entropy_given,
    rows_of,
    scorers_of,
    scoring_given,
    store_given,
    target_given,
    truth_given,
)
from heldout.configurations import checked_entries, checked_model, make_configurations
from heldout.data.task import Task, checked_groups, checked_weights
from heldout.dropping import SearchStrategy, drop_rule_of
from heldout.errors import InputError
from heldout.estimates.evidence.question import Aggregate
from heldout.estimates.of_search import Estimation
from heldout.execution.fit import Routed, make_scoring
from heldout.execution.listeners.verbose import printed
from heldout.execution.search import Search
from heldout.execution.session import Running
from heldout.folds.plans import KFolds, seeded
from heldout.folds.splits import Folds, make_folds
from heldout.selection import CallableRefit


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
        X, y = rows_of(X, target_given(first, y, "protocol"))
        truth = truth_given(first, y)
        weights = checked_weights(sample_weight, truth.n_rows)
        task = Task(X, truth, checked_groups(groups, truth.n_rows), weights, y)
        asked = scoring_given(self.scoring)
        scorers, _ = scorers_of(GridSearchCV(first, {}, scoring=asked, refit=_refit_of_scorers(self)))
        scoring = make_scoring(truth, scorers, deciding_scorer(scorers, self.scoring, self.refit))
        entropy, classifier = self.entropy(), is_classifier(first)
        search = Search(
            task,
            make_configurations(self.estimator, self.param_grid),
            seeded_folds(
                task, self.cv, entropy, repeats=self.repeats, classifier=classifier, small_classes="refuse"
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
        return Running(
            store=store_given(self.store),
            resume=True,
            n_jobs=self.n_jobs,
            pre_dispatch=self.pre_dispatch,
            fit_timeout=self.fit_timeout,
            listeners=printed(self.verbose),
        )

    def entropy(self) -> int:
        """Of ``random_state``; without one that of the run that the store holds, or else the system's."""
        return entropy_given(self.random_state, store_given(self.store))

    def _models(self) -> list[Any]:
        if isinstance(self.estimator, list | tuple):
            return [model for _, model, _ in checked_entries(self.estimator)]
        several = "several are given as a list of (name, estimator, grid)"
        return [checked_model(self.estimator, "the estimator of a protocol", several)]


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
    return make_folds(
        task,
        seeded(cv, numpy_seed(entropy, "folds", 0)),
        repeats=repeats,
        entropy=entropy,
        classifier=classifier,
        small_classes=small_classes,
    )


def _refit_of_scorers(asked: Asked) -> Any:
    """``refit`` as scikit-learn checks it against several scorers: True names none, and the first decides."""
    return False if asked.refit is True else asked.refit


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and bool(np.isnan(value))


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
