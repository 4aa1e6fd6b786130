"""``HeldOutOptunaSearchCV``: Optuna proposes the configurations, with a score that you can believe."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval

from heldout._defaults import DEFAULT_METHOD
from heldout.arguments import SearchArguments
from heldout.configurations import Configurations, refuses
from heldout.estimates.block_length import BlockLength
from heldout.estimates.question import AnyAggregate
from heldout.estimates.types import Alternative
from heldout.execution.conclusion import Choose
from heldout.execution.fold_models import DeployedModel, KeepModels
from heldout.execution.inner_split import InnerSplit
from heldout.execution.run import RunSettings
from heldout.execution.search import Search
from heldout.execution.sharing.groups import Share
from heldout.result import Evaluation
from heldout.search.base import BaseHeldOutSearch
from heldout.search.optuna.evaluate import StudySettings, evaluate_study
from heldout.search.optuna.space import space_of


class HeldOutOptunaSearchCV(BaseHeldOutSearch):
    """Search with Optuna, and a bias-corrected estimate of the winner's performance.

    A sampler of Optuna proposes each configuration after it has seen the scores of those before. Folds are made
    once, so that all configurations are compared on the same rows. The search is adaptive: the estimate replays the
    selection among the configurations that were tried, but not how the search came to them, and has the flag
    ``adaptive_search``; ``ho.nested_cv(search, X, y)`` repeats the whole search in every fold.

    Equal seeds propose equal trials for every ``n_jobs``: a batch of trials is proposed before any of its scores is
    known, and its scores are told in order. A search that continues from its ``store`` proposes what it would have
    without the interruption. Both hold for Optuna's own samplers, which are seeded before each trial. With a
    sampler of your own, the trials in the store are repeated, and later ones may differ.

    Parameters
    ----------
    estimator : estimator, or list of (name, estimator, space)
        A list searches all its estimators together; ``params`` then hold ``model``.
    space : dict or callable, optional
        By the name of each parameter: a distribution of Optuna or SciPy, or a list of values. SciPy's distributions
        other than uniform, log-uniform and integers are proposed by their quantile, from 0.001 to 0.999. Or a
        function ``suggest(trial)`` that returns a dict of parameters of ``estimator``, or an estimator of the same
        kind. None for a list of estimators.
    n_trials : int, default=100
        How many trials are asked.
    timeout : float, optional
        Seconds after which no batch of trials begins; what began is finished. How far the search comes then depends
        on the machine.
    sampler : optuna.samplers.BaseSampler, optional
        TPE by default. ``fit`` uses a copy. A seed of its own counts where ``random_state`` is None.
    study : optuna.Study, optional
        Continues this study, which must maximize, with its sampler; by default every ``fit`` makes a new one. Its
        pruner is not asked: ``drop`` decides, by the predictions.
    batch_size : int, optional
        How many trials are proposed at once, so that their fits run in parallel; by default one, whose folds do.
    feedback : {"all", "cross-fitted"} or ho.optuna.CrossFitting, default="all"
        "all": the sampler receives the scores of all folds, and the estimate is flagged ``adaptive_search``,
        because part of the optimism remains. "cross-fitted": the same search, and beside it one short search for
        each fold, which never sees the rows of the fold. The estimate is of what their winners predict, and has no
        such optimism. It takes at most .3 more fits.
    stop_when_useless : bool, default=False
        Whether to stop when the estimated regret falls below the standard error of the winner's score, so that the
        folds could not show a further gain: from 20 trials with a score on, every 5 trials, by a Gaussian process
        of the scores (Makarova et al. 2022). ``stop_reason_`` says so.
    scoring, pos_label, cv, repeats, aggregate, selection, drop, method, n_bootstraps, confidence_level, \
alternative, n_jobs, refit, pre_dispatch, error_score, return_train_score, keep_predictions, store, verbose, \
fit_timeout, share, share_memory, early_stopping, keep_models, deploy, imputation, default, block_length
        As in ``HeldOutSearchCV``. With ``drop`` each batch is compared with the best configuration so far; dropped
        trials are pruned.
    random_state : int, RandomState or Generator, optional
        Seeds the sampler too.

    Attributes
    ----------
    study_ : optuna.Study
        Its trials have the score of each split as intermediate value, and their row of ``cv_results_`` as user
        attribute ``configuration``. Failed ones have ``failure``, pruned ones ``dropped``, each in words.
    stop_reason_ : str
        Why the search stopped before its last trial; empty if it did not.
    cv_results_, best_estimator_, best_params_, best_index_, best_score_, estimate_, corrected_score_, ...
        As in ``HeldOutSearchCV``; trials that proposed nothing that can be fitted have no row.

    Examples
    --------
    >>> from scipy.stats import randint
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> space = {"n_neighbors": randint(1, 30), "weights": ["uniform", "distance"]}
    >>> search = HeldOutOptunaSearchCV(KNeighborsClassifier(), space, n_trials=12, random_state=0).fit(X, y)
    >>> print(search.best_params_, f"{search.best_score_:.3f}")
    {'n_neighbors': 13, 'weights': 'uniform'} 0.933
    >>> print(f"{search.corrected_score_:.3f} {search.confidence_interval_}")
    0.929 [0.903, 0.9523] (95%)
    """

    space: Any
    n_trials: int
    timeout: float | None
    sampler: Any
    study: Any
    batch_size: int | None
    feedback: Any
    stop_when_useless: bool

    _proposer = "optuna"
    _parameter_constraints = {  # noqa: RUF012
        **BaseHeldOutSearch._parameter_constraints,
        "space": "no_validation",
        "n_trials": [Interval(numbers.Integral, 1, None, closed="left")],
        "timeout": [Interval(numbers.Real, 0, None, closed="neither"), None],
        "sampler": "no_validation",
        "study": "no_validation",
        "feedback": "no_validation",
        "stop_when_useless": ["boolean"],
        "batch_size": [Interval(numbers.Integral, 1, None, closed="left"), None],
    }

    @refuses("param_distributions", "param_grid", why="is named space= here, and takes distributions or lists")
    @refuses("n_iter", why="is named n_trials= here")
    @refuses("enable_pruning", "pruner", why="is no argument here; drop='bootstrap' prunes trials between folds")
    @refuses("subsample", "max_iter", "callbacks", "catch", why="is an argument of OptunaSearchCV that is not here")
    def __init__(
        self,
        estimator: Any,
        space: Any = None,
        *,
        n_trials: int = 100,
        timeout: float | None = None,
        sampler: Any = None,
        study: Any = None,
        batch_size: int | None = None,
        feedback: Any = "all",
        stop_when_useless: bool = False,
        scoring: Any = None,
        pos_label: Any = None,
        cv: Any = None,
        repeats: int = 1,
        aggregate: AnyAggregate = "auto",
        selection: Any = "best",
        drop: Any = None,
        method: Any = DEFAULT_METHOD,
        n_bootstraps: int = 1000,
        confidence_level: float = 0.95,
        alternative: Alternative = "two-sided",
        n_jobs: int | None = None,
        refit: Any = True,
        pre_dispatch: int | str = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: bool = False,
        keep_predictions: bool = True,
        store: Any = None,
        random_state: Any = None,
        verbose: int = 0,
        fit_timeout: float | None = None,
        share: Share = "exact",
        share_memory: int | None = None,
        early_stopping: InnerSplit | None = None,
        keep_models: KeepModels = "none",
        deploy: DeployedModel = "all",
        imputation: Any = None,
        default: Any = None,
        block_length: BlockLength = None,
    ) -> None:
        super().__init__(
            estimator, space=space, n_trials=n_trials, timeout=timeout, sampler=sampler, study=study,
            batch_size=batch_size, feedback=feedback, stop_when_useless=stop_when_useless,
            scoring=scoring, cv=cv, repeats=repeats, aggregate=aggregate,
            selection=selection, drop=drop, method=method, n_bootstraps=n_bootstraps,
            confidence_level=confidence_level, alternative=alternative, n_jobs=n_jobs, refit=refit,
            pre_dispatch=pre_dispatch, error_score=error_score, return_train_score=return_train_score,
            keep_predictions=keep_predictions, store=store, random_state=random_state, verbose=verbose,
            fit_timeout=fit_timeout, share=share, share_memory=share_memory, early_stopping=early_stopping,
            keep_models=keep_models, deploy=deploy, imputation=imputation, default=default,
            block_length=block_length, pos_label=pos_label,
        )  # fmt: skip

    def _configurations(self, arguments: SearchArguments, entropy: int) -> Configurations:
        return Configurations(())  # each is proposed when its turn comes

    def _evaluation(self, search: Search, running: RunSettings, choose: Choose | None) -> Evaluation:
        settings = StudySettings(
            n_trials=self.n_trials, timeout=self.timeout, batch_size=self.batch_size, sampler=self.sampler,
            study=self.study, feedback=self.feedback, stop_when_useless=self.stop_when_useless,
            random_state=self.random_state,
        )  # fmt: skip
        space = space_of(self.estimator, self.space)
        found, proposals = evaluate_study(search, space, settings, running, choose=choose)
        self.study_, self.stop_reason_ = proposals.study, proposals.stop_reason
        return found
