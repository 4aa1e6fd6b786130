"""``HeldOutOptunaSearchCV``: Optuna proposes the configurations, with a score that you can believe."""

import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import Any

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from heldout._sklearn import Interval, params_at, rows_at
from heldout._streams import numpy_seed
from heldout._text import is_one_of
from heldout.arguments.search import SearchArguments
from heldout.configurations import Configurations, refuses
from heldout.data.task import Task, shortened
from heldout.errors import ArgumentError, InputError
from heldout.evaluate import evaluate_adaptive
from heldout.execution.conclusion import Choose
from heldout.execution.cross_fit import CrossFit, Obstacle, cross_fit
from heldout.execution.run import RunSettings
from heldout.execution.search import Search, check_search
from heldout.flags import Flag
from heldout.folds.splits import Folds
from heldout.result import Evaluation
from heldout.search.base import BaseHeldOutSearch, without_callbacks
from heldout.search.optuna.feedback import FEWEST_TRIALS, CrossFitting, cross_fitting_of, trials_needed
from heldout.search.optuna.proposals import StudyProposals, StudySettings
from heldout.search.optuna.regret import SOURCES, UselessSearch
from heldout.search.optuna.space import Space, space_of


@refuses("param_grid", why="is named `space=` here, and takes distributions or lists")
@refuses("n_iter", why="is named `n_trials=` here")
@refuses("training_size_correction", why="is for a grid or a random search, whose configurations are known at once")
@refuses("pruner", why="is no argument here; `drop='bootstrap'` prunes trials between folds")
@dataclass(kw_only=True, eq=False, repr=False)
class HeldOutOptunaSearchCV(BaseHeldOutSearch):
    """Search with Optuna, and a bias-corrected estimate of the winner's performance.

    A sampler of Optuna proposes each configuration after it has seen the scores of earlier ones. All configurations
    are compared on the same folds. The search is adaptive, and no bootstrap can replay the proposals. So the
    estimate comes from short further searches, one for each fold, which never see the rows of the fold
    (``feedback``); ``ho.nested_cv(search, X, y)`` repeats the whole search instead.

    It takes the arguments of optuna-integration's ``OptunaSearchCV``, and has its attributes. A trial that proposes
    the parameters of an earlier one is not fitted again: it gets the scores and predictions of the earlier one.

    Equal seeds propose equal trials for every ``n_jobs``: a batch of trials is proposed before any of its scores is
    known, and the sampler receives its scores in order. A search that continues from its ``store`` proposes the
    same trials as without the interruption. Both hold for Optuna's own samplers, which are seeded before each
    trial. With your own sampler, the trials in the store are repeated, and later ones may differ.

    Parameters
    ----------
    estimator : estimator, or list of (name, estimator, space)
        A list searches all its estimators together; ``params`` then hold ``model``.
    space : dict or callable, optional
        By the name of each parameter: a distribution of Optuna or SciPy, or a list of values. SciPy's distributions
        other than uniform, log-uniform and integers are proposed by their quantile, from 0.001 to 0.999. Or a
        function ``suggest(trial)`` that returns a dict of parameters of ``estimator``, or an estimator of the same
        kind. None for a list of estimators.
    param_distributions : dict or callable, optional
        Another name of ``space``, as in ``OptunaSearchCV``; give one of the two.
    n_trials : int or None, default=100
        How many trials the sampler proposes. None for no limit: ``timeout``, ``callbacks``, ``stop_when_useless``
        or the sampler ends the search.
    timeout : float, optional
        Seconds after which no batch of trials begins; a batch that began is finished. The limit includes the short
        searches, for which the search leaves 3/13 of it. The number of trials then depends on the machine.
    sampler : optuna.samplers.BaseSampler, optional
        TPE by default. ``fit`` uses a copy. The sampler's own seed is used if ``random_state`` is None.
    study : optuna.Study, optional
        Continues this study, which must maximize, with its sampler; by default every ``fit`` makes a new one. Its
        pruner is not used: ``drop`` decides, from the predictions.
    batch_size : int, optional
        How many trials are proposed at once, so that their fits run in parallel; by default one, whose folds run in
        parallel.
    feedback : {"auto", "all", "cross-fitted"} or ho.optuna.CrossFitting, default="auto"
        What the estimate is computed from; the search and its winner are the same. "cross-fitted": the predictions
        by the winners of short searches, one for each fold and without its rows, made after the search. They
        contain no optimism of the proposals (flag ``cross_fitted``). They add at most .3 times the fits of the
        search, which ``n_fits_`` counts and ``n_trials_`` does not. "all": the predictions of the search itself,
        whose scores the sampler received, so that part of the optimism remains (flag ``adaptive_search``). "auto":
        cross-fitted if ``study`` is None, at least three folds hold out every row once, and the search makes enough
        trials (70 with 5 folds); otherwise all, and the flag says why.
    stop_when_useless : bool, default=False
        Whether to stop when the estimated regret falls below the standard error of the winner's score, so that the
        folds could not show a further gain: from 20 trials with a score on, every 5 trials, by a Gaussian process
        of the scores (Makarova et al. 2022). ``stop_reason_`` says so.
    subsample : float or int, default=1.0
        The share or the number of rows, drawn at random, on which the search runs; groups are drawn whole, up to
        that number of rows. The winner is fitted on all rows. The estimate is computed on the sample, with models
        trained on parts of it (``n_rows_used``, flag ``incomplete_predictions``), and so is pessimistic if more
        rows make better models.
    callbacks : list of callable, optional
        Each is called with the study and the trial after every trial, as by ``study.optimize``; ``study.stop()``
        ends the search after the batch.
    catch : exception type or tuple of these, default=()
        With ``error_score="raise"``: exceptions of a fit or a score that only fail their trial. Others end the
        search. With another ``error_score`` none ends it.
    enable_pruning : bool, default=False
        True is refused, because it prunes by scores of unfinished fits, which give no held-out predictions. Use
        ``drop="bootstrap"``.
    max_iter : int, default=1000
        No effect: it belongs to ``enable_pruning`` in ``OptunaSearchCV``.
    scoring, pos_label, cv, repeats, aggregate, selection, drop, method, n_bootstraps, confidence_level, \
alternative, n_jobs, refit, pre_dispatch, error_score, return_train_score, keep_predictions, store, verbose, \
fit_timeout, share, share_memory, early_stopping, keep_models, deploy, imputation, default, block_length, \
n_rows_of_bootstrap
        As in ``HeldOutSearchCV``. With ``drop`` each batch is compared with the best configuration so far; dropped
        trials are pruned.
    random_state : int, RandomState or Generator, optional
        Seeds the sampler too.

    Attributes
    ----------
    study_ : optuna.Study
        Its trials have the score of each split as intermediate value. Their user attributes are ``configuration``,
        the row of ``cv_results_``; its scores and times (``mean_test_score``, ``split0_test_score``, ...); and the
        reason in words, ``failure`` of failed and ``dropped`` of pruned trials.
    best_trial_ : optuna.trial.FrozenTrial
        The winner's trial. Its number is ``best_index_`` if every trial of the study has a row in ``cv_results_``.
    trials_, n_trials_, user_attrs_, trials_dataframe, set_user_attr
        Those of ``study_``, as in ``OptunaSearchCV``; the short searches have their own studies.
    n_fits_ : int
        Fits of the search and of the short searches; ``evaluation_.cross_fit.n_fits`` counts the latter alone.
    sample_indices_ : ndarray of shape (n_sample,)
        The rows on which the search ran.
    stop_reason_ : str
        Why ``stop_when_useless`` stopped the search; empty if it did not.
    cv_results_, best_estimator_, best_params_, best_index_, best_score_, estimate_, corrected_score_, ...
        As in ``HeldOutSearchCV``; trials whose proposal cannot be fitted have no row.

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
    0.929 [0.8994, 0.9551] (95%)
    """

    space: Any = field(default=None, kw_only=False)
    param_distributions: Any = None
    n_trials: int | None = 100
    timeout: float | None = None
    sampler: Any = None
    study: Any = None
    batch_size: int | None = None
    feedback: Any = "auto"
    stop_when_useless: bool = False
    subsample: float = 1.0
    callbacks: Any = None
    catch: Any = ()
    enable_pruning: bool = False
    max_iter: int = 1000

    _proposer = "optuna"
    _parameter_constraints = {  # noqa: RUF012
        **BaseHeldOutSearch._parameter_constraints,
        **dict.fromkeys(("space", "param_distributions", "sampler", "study", "feedback", "catch"), "no_validation"),
        "n_trials": [Interval(numbers.Integral, 1, None, closed="left"), None],
        "timeout": [Interval(numbers.Real, 0, None, closed="neither"), None],
        "stop_when_useless": ["boolean"],
        "subsample": [Interval(numbers.Real, 0, None, closed="neither")],
        "callbacks": [list, tuple, None],
        "enable_pruning": ["boolean"],
        "max_iter": [Interval(numbers.Integral, 1, None, closed="left")],
        "batch_size": [Interval(numbers.Integral, 1, None, closed="left"), None],
    }

    def _configurations(self, arguments: SearchArguments, entropy: int) -> Configurations:
        return Configurations(())  # each is proposed when its turn comes

    def _evaluation(self, search: Search, running: RunSettings, choose: Choose | None) -> Evaluation:
        settings = StudySettings(**{one.name: getattr(self, one.name) for one in fields(StudySettings)})
        search = replace(search, catch=exceptions_of(self.catch))
        found, proposals = evaluate_study(search, self._space(), settings, running, choose=choose)
        self.study_, self.stop_reason_ = proposals.study, proposals.stop_reason
        self.best_trial_ = proposals.trial_of(found.winner)
        return found

    def _space(self) -> Space:
        if self.enable_pruning:
            raise InputError(
                "`enable_pruning=True` prunes by scores of unfinished fits, which give no held-out predictions; "
                "use `drop='bootstrap'`, which prunes trials between folds."
            )
        if self.param_distributions is None:
            return space_of(self.estimator, self.space)
        if self.space is not None:
            raise InputError(
                "param_distributions is another name of space, and both were given; leave one out.",
                argument="param_distributions",
            )
        return space_of(self.estimator, self.param_distributions, "param_distributions")

    def _folds(self, task: Task, cv: Any, drop: Any, entropy: int, metadata: Any, n_configurations: int) -> Folds:
        """Folds of the sample of rows that the search uses."""
        size = int(self.subsample * task.n_rows) if isinstance(self.subsample, float) else self.subsample
        # Whole groups: without some of its rows a group could not be drawn by the bootstrap.
        units = np.arange(task.n_rows) if task.groups is None else np.unique(task.groups, return_inverse=True)[1]
        order = np.random.default_rng(numpy_seed(entropy, "subsample")).permutation(units.max() + 1)
        # Whole units in a random order, as many as fit.
        sample = order[np.bincount(units)[order].cumsum() <= size]
        self.sample_indices_ = rows = np.flatnonzero(np.isin(units, sample))
        if len(rows) == task.n_rows:
            return super()._folds(task, cv, drop, entropy, metadata, n_configurations)
        groups = None if task.groups is None else task.groups[rows]
        X, y = rows_at(task.X, rows), rows_at(task.target, rows)
        part = Task(X, task.truth.rows(rows), groups, y=y)
        routed = Bunch(splitter=Bunch(split=params_at(task.X, metadata.splitter.split, rows)))
        folds = super()._folds(part, cv, drop, entropy, routed, n_configurations)
        # From places in the sample back to rows of all the data.
        splits = (replace(split, train=rows[split.train], test=rows[split.test]) for split in folds.splits)
        return replace(folds, splits=tuple(splits), n_rows=task.n_rows)

    def __getattr__(self, name: str) -> Any:
        if name in ("trials_", "n_trials_", "user_attrs_", "trials_dataframe", "set_user_attr"):  # properties
            check_is_fitted(self, "study_")
        return super().__getattr__(name)

    # What OptunaSearchCV has of its study.
    trials_ = property(attrgetter("study_.trials"))
    # scikit-learn expects n_iter_ of what has max_iter.
    n_trials_ = n_iter_ = property(lambda self: len(self.trials_))
    user_attrs_ = property(attrgetter("study_.user_attrs"))
    trials_dataframe = property(attrgetter("study_.trials_dataframe"))
    set_user_attr = property(attrgetter("study_.set_user_attr"))


def exceptions_of(catch: Any) -> tuple[type[Exception], ...]:
    """The types of exceptions of ``catch``; raises InputError for what is none."""
    kinds = tuple(catch) if isinstance(catch, Iterable) else (catch,)
    if not all(isinstance(kind, type) and issubclass(kind, Exception) for kind in kinds):
        raise ArgumentError(f"catch must be types of exceptions, got {shortened(catch)}.")
    return kinds


def evaluate_study(
    search: Search,
    space: Space,
    settings: StudySettings,
    running: RunSettings,
    *,
    beside: RunSettings | None = None,
    choose: Choose | None = None,
) -> tuple[Evaluation, StudyProposals]:
    """Search as the settings say, and estimate the performance of the winner.

    ``beside``: where the searches without the rows of a fold run; by default where the search does.

    Raises
    ------
    InputError
        When the settings do not go together, nothing was proposed, or every configuration failed.
    """
    useless = useless_search(search) if settings.stop_when_useless else None
    cross_fitting, obstacle = _cross_fitting(search, settings)
    is_optional = is_one_of(settings.feedback, ("auto",))
    enough = None if cross_fitting is None else trials_needed(search.folds) if is_optional else 0
    proposals = StudyProposals(space, settings, search.entropy, enough=enough, useless=useless)

    def beside_it() -> CrossFit | Obstacle | None:
        if cross_fitting is None:
            return obstacle
        n_trials = cross_fitting.trials_of_each(search.folds, proposals.n_asked)
        too_few = cross_fitting.obstacle(search.folds, proposals.n_asked)
        if too_few is not None and is_optional:  # the search stopped before its last trial
            return too_few
        settings_of_each = replace(settings, n_trials=n_trials if too_few is None else FEWEST_TRIALS)
        made = _cross_fit(search, space, settings_of_each, beside or running, choose, proposals.seconds_left)
        return replace(made, is_optional=is_optional)

    try:
        found = evaluate_adaptive(
            search, proposals, running, n_planned=settings.n_trials or 0, choose=choose, cross_fit=beside_it
        )
    finally:
        proposals.close()
    proposals.warn_of_failures()
    return (with_stop(found, proposals.stop_reason) if proposals.stop_reason else found), proposals


def useless_search(search: Search) -> UselessSearch:
    """What decides whether further trials are useless.

    Raises InputError with a single split.
    """
    if search.folds.n_splits < 2:
        raise InputError(
            "`stop_when_useless=True` needs at least 2 splits, which show the standard error of the winner's "
            "score, got 1; use `cv=5`, say, or leave it out."
        )
    shares = [len(split.test) / split.n_training_rows for split in search.folds.splits]
    return UselessSearch(float(np.mean(shares)), search.entropy)


def _cross_fitting(search: Search, settings: StudySettings) -> tuple[CrossFitting | None, Obstacle | None]:
    """The settings of the searches without the rows of a fold; None where there are none, and why.

    Raises InputError where they are asked for and not possible.
    """
    cross_fitting = cross_fitting_of(settings.feedback)
    if cross_fitting is None or search.method is None:
        return None, None
    if settings.study is not None:
        obstacle: Obstacle | None = Obstacle(
            "needs samplers that have seen no row of a fold, and the trials of a study may have seen all",
            "leave study out",
            "study",
        )
    else:
        check_search(search, settings.n_trials or 0)
        obstacle = cross_fitting.obstacle(search.folds, settings.n_trials)
    if obstacle is None:
        return cross_fitting, None
    if not is_one_of(settings.feedback, ("auto",)):
        raise obstacle.error
    return None, obstacle


def _cross_fit(
    search: Search,
    space: Space,
    settings: StudySettings,
    running: RunSettings,
    choose: Choose | None,
    seconds_left: Callable[[], float | None],
) -> CrossFit:
    """The searches without the rows of a fold, which share the time that is left."""
    n_folds, n_trials = len(search.folds.of_first_repeat), settings.n_trials or 0

    def proposals_of_fold(fold: int) -> StudyProposals:
        entropy, seconds = numpy_seed(search.entropy, "sampler of a fold", fold), seconds_left()
        timeout = None if seconds is None else seconds / (n_folds - fold)
        own = replace(settings, study=None, callbacks=None, timeout=timeout)
        return StudyProposals(space, own, entropy, fewest=min(n_trials, FEWEST_TRIALS))

    return cross_fit(search, proposals_of_fold, without_callbacks(running), n_trials=n_trials, choose=choose)


def with_stop(found: Evaluation, reason: str) -> Evaluation:
    """The record of a search that stopped as useless: its estimates say so."""
    flag = Flag.STOPPED_WHEN_USELESS
    estimates = {
        name: replace(
            one,
            flags={**one.flags, flag: flag.filled(reason=reason)},
            provenance={**one.provenance, "sources": [*one.provenance.get("sources", ()), *SOURCES]},
        )
        for name, one in found.estimates.items()
    }
    return replace(found, estimates=estimates).with_provenance(stop_reason=reason)
