"""``ho.optuna.objective``: an objective for a study of one's own, which keeps held-out predictions."""

import threading
from typing import Any

from heldout import _defaults
from heldout.configurations import checked_entries, checked_model
from heldout.errors import InputError
from heldout.estimates.question import AnyAggregate
from heldout.execution.adaptive import ProposalScore
from heldout.execution.inner_split import InnerSplit
from heldout.readers.finished_search import keep_evaluation
from heldout.result import Evaluation
from heldout.search.open import OpenSearch
from heldout.search.optuna.proposals import check_direction, report_scores
from heldout.search.optuna.sampler import optuna_package
from heldout.search.optuna.space import Space, checked_proposal, space_of


class Objective:
    """Scores the trials of a study, and keeps their held-out predictions; made by ``ho.optuna.objective``."""

    def __init__(self, space: Space, run: OpenSearch, *, has_store: bool) -> None:
        self._space, self._run, self._has_store = space, run, has_store
        self._lock = threading.Lock()
        self._study_name: str | None = None
        self._earlier: list[Any] = []

    def __call__(self, trial: Any) -> float:
        """Score a trial on all splits, and report the score of each.

        Raises TrialPruned when the drop rule drops it, and whatever ``suggest`` raises.
        """
        with self._lock:
            self._begin(getattr(trial, "study", None))
        score = self._scored(trial)
        report_scores(trial, score)
        if score.dropped:
            raise optuna_package().TrialPruned(score.dropped)
        return score.value

    def finish(self) -> Evaluation:
        """Choose the winner, estimate its performance, and fit it on all rows; no further trial can be scored."""
        return self._run.finish()

    def close(self) -> None:
        """Close the store, so that another objective can use it; it keeps the finished fits."""
        self._run.close()

    def _begin(self, study: Any) -> None:
        """Before the first trial: the study, and its trials of an earlier process, whose fits are in the store."""
        if study is None:
            return
        if self._study_name is None:
            check_direction(study)
            keep_evaluation(study, self._run.evaluation)
            known = [trial for trial in study.trials if self._has_store and "configuration" in trial.user_attrs]
            self._earlier = sorted(known, key=lambda trial: -trial.user_attrs["configuration"])
            self._study_name = study.study_name
        if study.study_name != self._study_name:
            raise InputError(
                f"an objective keeps the predictions of one study, here {self._study_name!r}, got "
                f"{study.study_name!r}; make another with ho.optuna.objective."
            )
        while self._earlier:  # from the last one; what an error leaves is read before the next trial
            self._scored(optuna_package().trial.FixedTrial(self._earlier[-1].params, self._earlier[-1].number))
            self._earlier.pop()

    def _scored(self, trial: Any) -> ProposalScore:
        return self._run.scored(checked_proposal(self._space.proposal(trial)))


def objective(
    estimator: Any,
    X: Any,
    y: Any,
    suggest: Any = None,
    *,
    scoring: Any = None,
    pos_label: Any = None,
    cv: Any = None,
    repeats: int = 1,
    groups: Any = None,
    sample_weight: Any = None,
    aggregate: AnyAggregate = _defaults.AGGREGATE,
    drop: Any = None,
    n_jobs: int | None = None,
    store: Any = None,
    random_state: Any = None,
    early_stopping: InnerSplit | None = None,
) -> Objective:
    """Make an objective for ``study.optimize`` that keeps the held-out predictions of all trials.

    ``ho.correct(study)`` then bootstraps these predictions, as the searches of heldout do; other studies have only
    the scores of their splits. The study must maximize: scores are greater-is-better.

    Parameters
    ----------
    estimator : estimator, or list of (name, estimator, space)
        A list has its own spaces; ``suggest`` is then None.
    X, y : array-like
        As in ``HeldOutSearchCV.fit``.
    suggest : dict or callable, optional
        The space, as in ``HeldOutOptunaSearchCV``.
    scoring, pos_label, cv, repeats, aggregate, drop, n_jobs, store, random_state, early_stopping
        As in ``HeldOutSearchCV``. A trial that ``drop`` drops is pruned; the study's own pruner is not used. With a
        ``store``, the trials of a study that is loaded again are scored from it.
    groups : array-like of shape (N,), optional
        Kept whole by the folds of an integer ``cv``, and drawn whole by the bootstrap.
    sample_weight : array-like of shape (N,), optional
        For fits, scores and the bootstrap.

    Returns
    -------
    Objective
        Its ``finish()`` returns the evaluation: the winner fitted on all rows, its estimate, and the record for a
        report.

    Raises
    ------
    InputError
        When an argument is not allowed. The data are checked at the first trial.
    MissingExtraError
        Without Optuna.

    Examples
    --------
    >>> import optuna
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> import heldout as ho
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> def suggest(trial):
    ...     return {"n_neighbors": trial.suggest_int("n_neighbors", 1, 30)}
    >>> objective = ho.optuna.objective(KNeighborsClassifier(), X, y, suggest, random_state=0)
    >>> study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    >>> study.optimize(objective, n_trials=10)
    >>> estimate = ho.correct(study, random_state=0)
    >>> print(f"{study.best_value:.4f} {estimate.value:.3f} by {estimate.method}")
    0.9332 0.930 by shrinkage
    """
    arguments = {**locals(), "method": _defaults.METHOD}
    del arguments["estimator"], arguments["suggest"]
    if isinstance(estimator, list | tuple):
        checked_entries(estimator)
    else:
        checked_model(estimator, "estimator")
    space = space_of(estimator, suggest)
    run = OpenSearch(arguments, ["objective", space.identity])
    return Objective(space, run, has_store=store is not None)
