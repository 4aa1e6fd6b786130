"""``feedback``: which scores the samplers of a search receive, and so what its estimate is worth."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from heldout._text import counted
from heldout.data.checks import FEEDBACK, check_count
from heldout.data.task import shortened
from heldout.errors import InputError
from heldout.execution.cross_fit import Obstacle, obstacle_of_folds
from heldout.folds.splits import Folds

Feedback: TypeAlias = Literal["auto", "all", "cross-fitted"]
MOST_SHARE = 0.3
"""Of the fits of the search, for the searches that give its estimate."""
FEWEST_TRIALS = 5
"""Of each of them. With fewer there is hardly a search."""


@dataclass(frozen=True)
class CrossFitting:
    """Estimate an Optuna search from short searches, each without the rows of one fold.

    The search itself comes first, as with ``feedback="all"``, and has the same winner. Then, for each of the K
    folds, a new sampler searches the rows outside the fold, by cross-validation on the other folds. Its winner is
    fitted on all rows outside the fold and predicts the fold. The estimate is computed from these predictions.

    With t trials for each sampler, it takes K (K - 1) t + K more fits. In simulations on noise with t = 14 the mean
    bias of the estimate is about .01 or less, and that of ``bbc`` after the same search .10. On other data the
    estimate is pessimistic, because the search itself has more trials: papers/pages/adaptive-searches.md has the
    figures.

    Parameters
    ----------
    n_trials : int, optional
        t, the trials of each sampler; by default as many as cost at most .3 times the fits of the search.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> import heldout as ho
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = ho.HeldOutOptunaSearchCV(
    ...     KNeighborsClassifier(), {"n_neighbors": range(1, 30)}, n_trials=10, random_state=0,
    ...     feedback=ho.optuna.CrossFitting(n_trials=5),
    ... ).fit(X, y)
    >>> search.n_fits_, search.evaluation_.cross_fit.n_trials
    (155, (5, 5, 5, 5, 5))
    """

    n_trials: int | None = None

    def __post_init__(self) -> None:
        if self.n_trials is not None:
            check_count("n_trials", self.n_trials, usual="15 is usual")

    def trials_of_each(self, folds: Folds, n_trials: int) -> int:
        """How many trials each sampler has, after a search of ``n_trials``."""
        if self.n_trials is not None:
            return int(self.n_trials)
        return affordable_trials(n_trials, len(folds.of_first_repeat), folds.n_splits)

    def n_fits(self, folds: Folds, n_trials: int) -> int:
        """How many fits the short searches take, after a search of ``n_trials``."""
        return _fits_of(len(folds.of_first_repeat), self.trials_of_each(folds, n_trials))

    def obstacle(self, folds: Folds, n_trials: int | None) -> Obstacle | None:
        """Why the folds, or too few trials, allow no short searches; None if they are possible.

        ``n_trials``: None if it is not known beforehand.
        """
        found = obstacle_of_folds(folds)
        if found is not None or n_trials is None:
            return found
        each = self.trials_of_each(folds, n_trials)
        if self.n_trials is not None or each >= FEWEST_TRIALS:
            return None
        return Obstacle(
            f"leaves each sampler {counted(max(each, 0), 'trial')}, of at least {FEWEST_TRIALS}, if it takes at "
            f"most {MOST_SHARE:.0%} more fits than {counted(n_trials, 'trial')} on "
            f"{counted(len(folds.of_first_repeat), 'fold')}",
            f"make {trials_needed(folds)} trials or more, or set the number of each sampler by "
            f"`feedback=ho.optuna.CrossFitting(n_trials={FEWEST_TRIALS})`",
        )


def trials_needed(folds: Folds) -> int:
    """The trials of a search that leave each sampler enough."""
    needed = _fits_of(len(folds.of_first_repeat), FEWEST_TRIALS)
    return int(np.ceil(needed / (MOST_SHARE * folds.n_splits) - 1e-9))


def _fits_of(n_folds: int, each: int) -> int:
    """Each sampler's trials on the folds that it sees, and its winner once."""
    return n_folds * (n_folds - 1) * each + n_folds


def affordable_trials(n_trials: int, n_folds: int, n_splits: int) -> int:
    """The trials of each sampler whose fits, with those of the winners, are at most .3 of the search's.

    Examples
    --------
    >>> affordable_trials(200, 5, 5), affordable_trials(200, 5, 10)
    (14, 29)
    """
    most = int(MOST_SHARE * n_trials * n_splits + 1e-9)
    return (most - n_folds) // (n_folds * (n_folds - 1))


def cross_fitting_of(feedback: Any) -> CrossFitting | None:
    """The settings of a ``feedback``; None for "all"."""
    if isinstance(feedback, CrossFitting):
        return feedback
    if isinstance(feedback, str) and feedback in FEEDBACK:
        return None if feedback == "all" else CrossFitting()
    raise InputError(
        f"feedback must be 'auto', 'all', 'cross-fitted' or ho.optuna.CrossFitting(...), got {shortened(feedback)}."
    )
