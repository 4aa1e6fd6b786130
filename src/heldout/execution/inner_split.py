"""Early stopping on rows of the training part: each fit stops on rows of its own, and never on those that score it.

The fit on a split divides its training rows once more. The larger part trains, the steps before the model included;
the smaller part passes these steps and tells the model when to stop. The refit does the same on all rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from heldout._sklearn import params_at, rows_at
from heldout._streams import numpy_seed
from heldout._types import Array, Booleans, Codes, Indices
from heldout.data.checks import check_count, check_number
from heldout.data.task import Task
from heldout.errors import InputError
from heldout.folds.plans import GroupsHeldOut
from heldout.spaces.early_stopping import FitRows, stopper_of


class RowsOfModel(BaseEstimator):  # type: ignore[misc]
    """Stands in the place of a pipeline's model, and keeps the rows that arrive there."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> RowsOfModel:
        """Keep the training rows."""
        self.X, self.y, self.fit_params = X, y, fit_params
        return self

    def predict(self, X: Any) -> Any:
        """Keep the test rows."""
        self.X_test = X
        return X

    def get_metadata_routing(self) -> Any:
        """That of the model."""
        return self.model.get_metadata_routing()

    def __sklearn_tags__(self) -> Any:
        return self.model.__sklearn_tags__()

    def __sklearn_is_fitted__(self) -> bool:
        return True


@dataclass(frozen=True)
class InnerSplit:
    """Which share of the training rows tells a model when to stop, and how many rounds it waits."""

    share: float = 0.1
    rounds: int = 20

    def __post_init__(self) -> None:
        share, rounds = self.share, self.rounds
        check_number("share", share, above=0, below=1, usual=".1 is usual")
        check_count("rounds", rounds, usual="20 is usual")
        # NumPy's numbers would be refused by LightGBM and would make the repr of a search another.
        object.__setattr__(self, "share", float(share))
        object.__setattr__(self, "rounds", int(rounds))

    @property
    def words(self) -> str:
        """The call that makes it."""
        return f"inner_split({self.share:g}, rounds={self.rounds})"


def inner_split(share: float = InnerSplit.share, *, rounds: int = InnerSplit.rounds) -> InnerSplit:
    """Early stopping on a part of each training part; the ``early_stopping`` of a search.

    Of the training rows of each split a share is set apart: of each class if there are classes, whole groups if
    there are groups, copies of a row together. The model and the steps before it are fitted on the other rows, and
    the model stops when its score on the rows set apart has not improved for ``rounds`` rounds. It predicts with
    the best number of rounds. The winner is fitted on all rows in the same way.

    Parameters
    ----------
    share : float, default=0.1
        Of the rows; of the groups where there are groups.
    rounds : int, default=20
        How many rounds without improvement end the fit. The model's own number of rounds is the most it makes.
        Small learning rates need more patience.

    Returns
    -------
    InnerSplit

    Raises
    ------
    InputError
        When one of them is out of range.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from heldout import HeldOutSearchCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = HeldOutSearchCV(
    ...     HistGradientBoostingClassifier(max_iter=1000), {"max_leaf_nodes": [4, 16]},
    ...     scoring="neg_log_loss", early_stopping=inner_split(0.1), random_state=0,
    ... ).fit(X, y)
    >>> search.best_estimator_.n_iter_ < 1000
    True
    """
    return InnerSplit(share, rounds)


@dataclass(frozen=True, eq=False)
class EarlyStopping:
    """An inner split on the rows of a task.

    Attributes
    ----------
    split : InnerSplit
    entropy : int
        Of the run; each place (a split, or the refit) has a seed of its own, the same for all configurations.
    classes : array of shape (N,), optional
        Codes of the classes.
    groups : array of shape (N,), optional
        Groups that stay whole.
    """

    split: InnerSplit
    entropy: int
    classes: Codes | None = None
    groups: Array | None = None

    @classmethod
    def of_task(cls, split: InnerSplit, task: Task, entropy: int, origin: Indices | None = None) -> EarlyStopping:
        """The inner split on the rows of a task; ``origin``: the original row of each, where some are copies."""
        classes = task.truth.values if task.truth.kind.is_classification else None
        return cls(split, entropy, classes, origin if task.groups is None else task.groups)

    def fit(
        self,
        model: Any,
        X: Any,
        y: Any,
        fit_params: Mapping[str, Any],
        *,
        train: Indices,
        place: Sequence[int | str],
    ) -> Any:
        """An unfitted model that can stop early, fitted on some of its training rows.

        ``X``, ``y`` and ``fit_params`` are those of the rows ``train`` of the task.
        """
        stops = self.stopping_rows(train, place)
        of_training, of_stopping = (
            FitRows(
                rows_at(X, rows),
                rows_at(y, rows),
                params_at(X, params=dict(fit_params), indices=rows) if fit_params else {},
            )
            for rows in (np.flatnonzero(~stops), np.flatnonzero(stops))
        )
        _fit_model(model, of_training, of_stopping, self.split.rounds)
        return model

    def stopping_rows(self, train: Indices, place: Sequence[int | str]) -> Booleans:
        """Which of the training rows tell the model when to stop.

        Raises InputError when every such choice would take all rows of a class, or all rows, from training.
        """
        # By the place of the fit, so that a resumed run stops on the same rows.
        seed = numpy_seed(self.entropy, "inner split", *place)
        classes = np.zeros(len(train), dtype=np.intp) if self.classes is None else self.classes[train]
        if self.groups is not None:
            drawn = self._whole_groups(self.groups[train], classes, seed)
        else:
            # Copies of a row go together, or a model would stop on rows that it was trained on.
            _, first, unit = np.unique(train, return_index=True, return_inverse=True)
            drawn = self._shares_of_classes(classes[first], seed)[unit.reshape(-1)]
        # A class that does not train has no probabilities, and every score of it fails.
        if not drawn.any() or len(np.unique(classes[~drawn])) < len(np.unique(classes)):
            what = "rows" if self.groups is None else "whole groups"
            raise InputError(
                f"`early_stopping={self.split.words}` finds no {what} among {len(train)} training rows that leave "
                "rows of every class to train; use larger training parts, or no early stopping."
            )
        return drawn

    def _shares_of_classes(self, classes: Array, seed: int) -> Booleans:
        """A share of each class, and at least one row of each that has three."""
        drawn = np.zeros(len(classes), dtype=bool)
        order = np.random.default_rng(seed).permutation(len(classes))
        for code in np.unique(classes):
            members = order[classes[order] == code]
            # Of two rows of a class one would be half of it.
            least = int(len(members) >= 3)
            number = max(int(self.split.share * len(members) + 0.5), least)
            drawn[members[: min(number, len(members) - 1)]] = True
        return drawn

    def _whole_groups(self, groups: Array, classes: Array, seed: int) -> Booleans:
        drawn = np.zeros(len(groups), dtype=bool)
        if len(np.unique(groups)) > 1:
            draws = GroupsHeldOut(self.split.share, seed, stratified=self.classes is not None)
            ((_, stop),) = draws.split(groups, classes, groups)
            drawn[stop] = True
        return drawn


def can_stop(model: Any) -> bool:
    """Whether an unfitted model, or the last step of a pipeline, can stop early."""
    return stopper_of(model_within(model)) is not None


def model_within(model: Any) -> Any:
    """The model at the end of a pipeline, or of several inside each other."""
    while isinstance(model, Pipeline):
        model = model.steps[-1][1]
    return model


def _fit_model(model: Any, train: FitRows, stop: FitRows, rounds: int) -> None:
    if isinstance(model, Pipeline):
        _fit_model(model.steps[-1][1], *_behind_steps(model, train, stop), rounds)
        return
    stopper = stopper_of(model)
    assert stopper is not None, "the caller asks can_stop"
    stopper.fit(model, train, stop, rounds)


def _behind_steps(pipeline: Pipeline, train: FitRows, stop: FitRows) -> tuple[FitRows, FitRows]:
    """The rows behind the steps of a pipeline, which are fitted on the rows that train."""
    name, model = pipeline.steps[-1]
    rows = RowsOfModel(model)
    pipeline.steps[-1] = (name, rows)
    try:
        pipeline.fit(train.X, train.y, **train.params)
        pipeline.predict(stop.X)
    finally:
        pipeline.steps[-1] = (name, model)
    # The pipeline passes its parameters on as they are: those of the stopping rows have the same origin.
    passed = {
        name: stop.params[origin]
        for name, value in rows.fit_params.items()
        for origin in train.params
        if train.params[origin] is value
    }
    return FitRows(rows.X, rows.y, rows.fit_params), FitRows(rows.X_test, stop.y, passed)
