"""``HeldOutSearchCV``: scikit-learn's grid search, with a score that you can believe.

It chooses like ``GridSearchCV``, and keeps every held-out prediction that the search makes anyway. From these it
estimates the score of the winner on new data, without further training.
"""

from __future__ import annotations

import copy
import numbers
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import _fit_context, is_classifier
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions
from sklearn.utils.metadata_routing import MethodMapping
from sklearn.utils.validation import _check_method_params, check_is_fitted

from heldout._text import argument
from heldout.arguments import (
    SearchArguments,
    checked_target,
    deciding_scorer,
    rows_of,
    scorers_of,
    scoring_with_metrics,
    task_of,
)
from heldout.configurations import checked_entries, checked_model, refuses_random_search
from heldout.data.task import Task
from heldout.dropping import DropRule, SearchStrategy, drop_rule_of
from heldout.errors import InputError
from heldout.estimates.question import Aggregate
from heldout.estimates.types import Alternative
from heldout.evaluate import evaluate
from heldout.execution.collect import RaceResults
from heldout.execution.fit import Routing, make_scoring
from heldout.execution.listeners.callbacks import SklearnCallbacks
from heldout.execution.sharing.groups import Share
from heldout.execution.store import entropy_of_run
from heldout.execution.table import ResultsTable, mean_over_splits
from heldout.folds.splits import Folds, make_folds
from heldout.predictions import ranks
from heldout.result import Evaluation

_RESPONSES = ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform")


class HeldOutSearchCV(BaseSearchCV):  # type: ignore[misc]
    """Exhaustive search with a bias-corrected estimate of the winner's performance.

    The winner, ``best_score_`` and ``cv_results_`` are those of ``GridSearchCV``. If scores are equal except for
    rounding errors, the first configuration wins; if ``GridSearchCV``, which compares the last bit, would select
    another, the flag ``tied_winner`` names it. ``best_score_`` is the best of many scores on the same folds and
    therefore optimistic; ``estimate_`` corrects this optimism by replaying the selection on bootstrapped held-out
    predictions (Tsamardinos, Greasidou & Borboudakis 2018, algorithm 5).

    Parameters
    ----------
    estimator : estimator, or list of (name, estimator, grid)
        A list searches all its estimators together; ``params`` then hold ``model``.
    param_grid : dict or list of dict, optional
        As in ``GridSearchCV``; none for a list of estimators.
    scoring : str, callable, list, tuple or dict, optional
        As in ``GridSearchCV``, or the name of any metric of ``ho.metrics`` ("concordance_index"; losses are
        negative). With several scorers there is one estimate for each, all for the configuration that ``refit``
        selects.
    cv : int, splitter or iterable, optional
        As in ``GridSearchCV``.
    repeats : int, default=1
        Repeats of the whole partition, shuffled anew each time.
    aggregate : {"folds", "pooled", "within"}, default="folds"
        How held-out predictions become a configuration's score: the mean over folds; the metric on all held-out
        rows together; or, for metrics made of pairs (AUC, concordance, Somers' D), the share of correctly ordered
        pairs among all pairs of rows of the same fold.
    selection : str or selection rule, default="best"
        How the winner is chosen, replayed in every bootstrap.
    drop : str, rule of ``ho.dropping`` or None, optional
        Which configurations to drop early: "bootstrap" drops after every fold those that are worse than the current
        best in 99 % of bootstraps of the predictions so far. None fits every configuration on every fold.
        "sequential" is a different search, on more and more training rows: it plans the splits (``cv`` must be
        None) and chooses the winner by its ranks in the last three of them, on which ``best_score_`` and the
        estimate are then based.
    method : str, method or None, default="bbc"
        How the estimate is made; None makes none (inside ``cross_val_score``).
    n_bootstraps : int, default=1000
    confidence_level : float, default=0.95
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
    n_jobs, refit, pre_dispatch, error_score, return_train_score, verbose
        As in ``GridSearchCV``, except that a configuration that failed is never chosen, whatever ``error_score``
        says.
    keep_predictions : bool, default=True
        Whether ``predictions_`` and ``evaluation_`` are kept.
    store : str, path or Store, optional
        A file that keeps every finished fit. Fitting again on the same data continues where it stopped.
    random_state : int, RandomState or Generator, optional
        Seeds bootstraps and shuffles, and, when set, every ``random_state=None`` inside the estimators.
    fit_timeout : float, optional
        Seconds after which a fit is stopped; its configuration has then failed. Nothing is shared then.
    share : {"exact", "tolerance", "check"} or False, default="exact"
        Whether work that configurations have in common is done once. Equal leading steps of pipelines are fitted
        once on a split, and one fit serves all numbers of rounds of a boosted model, of trees of a forest, of
        neighbours, all penalties of a ridge and more (``ho.spaces.register_submodels`` adds others). "exact":
        predictions are those of separate fits, to the last bit for steps and ensembles of trees, elsewhere to
        1e-12 of the largest. "tolerance" also shares along the penalties of logistic regression, LASSO and elastic
        net and the costs of support vector machines, within the tolerance of their solvers. "check" is "exact" and
        then fits a sample of the configurations separately and compares. False fits every configuration alone.
    share_memory : int, optional
        Bytes that the output of shared steps may take; by default a quarter of the memory. What does not fit is
        computed again.

    Attributes
    ----------
    cv_results_ : dict
        As in ``GridSearchCV``, with ``pooled_test_{name}`` and ``rank_pooled_test_{name}`` besides. With ``drop``
        also ``n_splits_evaluated`` and ``dropped_at_split``, the last split of a dropped configuration (-1 for the
        others); its later scores are NaN.
    best_estimator_, best_params_, best_index_, best_score_, scorer_, n_splits_, refit_time_, multimetric_
        As in ``GridSearchCV``; ``best_score_`` is uncorrected. With ``aggregate="pooled"`` it is the pooled score,
        with "within" the share of pairs within folds (``within_test_{name}`` of ``cv_results_``).
    estimate_ : Estimate or None
        For the metric that selected the winner.
    estimates_ : dict of str to Estimate
        One a scorer, each of the same winner.
    corrected_score_ : float or None
        ``estimate_.value``, with the sign of ``best_score_``.
    confidence_interval_ : Interval or None
    optimism_ : float or None
        How much better the uncorrected score looks.
    predictions_ : HeldOutPredictions or None
    n_fits_, n_fits_saved_, n_fits_shared_ : int
        Fits of the search without the refit, fits that dropping saved, and those of the first that were not made
        alone. ``mean_fit_time`` of a configuration contains its part of the time of what it shared.
    evaluation_ : Evaluation or None
        The record of every stage.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = HeldOutSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}, random_state=0).fit(X, y)
    >>> print(search.best_params_, f"{search.best_score_:.3f}")
    {'n_neighbors': 9} 0.931
    >>> print(search.estimate_)
    accuracy 0.9293 [0.8993, 0.9552] (95%) by bbc (uncorrected 0.9315, KNeighborsClassifier (n_neighbors=9))
    """

    _parameter_constraints = {  # noqa: RUF012
        **BaseSearchCV._parameter_constraints,
        "estimator": [HasMethods(["fit"]), list, tuple],
        "param_grid": [dict, list, tuple, None],
        "scoring": [str, callable, list, tuple, dict, None],
        "repeats": [Interval(numbers.Integral, 1, None, closed="left")],
        "aggregate": [StrOptions({"folds", "pooled", "within"})],
        "keep_predictions": ["boolean"],
        "store": [str, os.PathLike, HasMethods(["open"]), None],
        "n_bootstraps": [Interval(numbers.Integral, 1, None, closed="left")],
        "confidence_level": [Interval(numbers.Real, 0, 1, closed="neither")],
        "alternative": [StrOptions({"two-sided", "greater", "less"})],
        "fit_timeout": [Interval(numbers.Real, 0, None, closed="neither"), None],
        "share": [StrOptions({"exact", "tolerance", "check"}), Options(bool, {False})],
        "share_memory": [Interval(numbers.Integral, 1, None, closed="left"), None],
    }

    @refuses_random_search
    def __init__(
        self,
        estimator: Any,
        param_grid: Any = None,
        *,
        scoring: Any = None,
        cv: Any = None,
        repeats: int = 1,
        aggregate: Aggregate = "folds",
        selection: Any = "best",
        drop: Any = None,
        method: Any = "bbc",
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
    ) -> None:
        super().__init__(
            estimator=estimator, scoring=scoring, n_jobs=n_jobs, refit=refit, cv=cv, verbose=verbose,
            pre_dispatch=pre_dispatch, error_score=error_score, return_train_score=return_train_score,
        )  # fmt: skip
        self.param_grid = param_grid
        self.repeats = repeats
        self.aggregate = aggregate
        self.selection = selection
        self.drop = drop
        self.method = method
        self.n_bootstraps = n_bootstraps
        self.confidence_level = confidence_level
        self.alternative = alternative
        self.keep_predictions = keep_predictions
        self.store = store
        self.random_state = random_state
        self.fit_timeout = fit_timeout
        self.share = share
        self.share_memory = share_memory

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, **params: Any) -> HeldOutSearchCV:
        """Search, choose, estimate, refit.

        Parameters
        ----------
        X : array-like of shape (N, n_features)
        y : array-like of shape (N,), or events and times
            Of survival models scikit-survival's structured array, a table of two columns or a tuple of two, the
            event first; models are fitted on the structured array, and folds are not stratified.
        **params : dict
            ``groups``, ``sample_weight`` and what else the estimators' ``fit``, the scorers and the splitter
            take; routed as in ``GridSearchCV``. Groups are also drawn whole by the bootstrap. Weights that reach
            the scorers weigh the bootstrap too.

        Returns
        -------
        self

        Raises
        ------
        InputError
            When data or settings cannot be used, or every configuration failed.
        """
        arguments = SearchArguments.of(self)
        drop = drop_rule_of(self.drop)
        scorers, _ = self._get_scorers()
        model = checked_model(self._of_first_model().estimator, "estimator")
        X, y = rows_of(X, checked_target(model, y, type(self).__name__))
        params = _check_method_params(X, params=params)
        metadata = self._get_routed_params_for_fit(params)
        # The bootstrap replays the choice, and so weighs rows exactly where the scorers weighed them.
        weights = metadata.scorer.score.get("sample_weight")
        task = task_of(model, X, y, metadata.splitter.split.get("groups"), weights)
        # scikit-learn has callbacks since 1.9.
        callbacks = [SklearnCallbacks(self, bool(self.refit))] if hasattr(self, "set_callbacks") else []
        running = arguments.running(callbacks)
        entropy = entropy_of_run(self.random_state, running.store)
        configurations = arguments.configurations
        folds = self._folds(task, drop, entropy, metadata, len(configurations))
        several = isinstance(scorers, _MultimetricScorer)
        table = ResultsTable(self._format_results, configurations.params, several, self.error_score)
        scoring = make_scoring(task.truth, scorers, deciding_scorer(scorers, self.scoring, self.refit))
        if several and not self.refit:  # no winner, so no estimate
            arguments = replace(arguments, method=None)
        search = arguments.search(
            task, configurations, folds, scoring, entropy=entropy, routed=self._routed(metadata)
        )
        choose = partial(self._choice_of_refit, table) if callable(self.refit) else None
        evaluation = evaluate(search, running, choose=choose)
        self.scorer_ = scorers._scorers if several else scorers
        self.multimetric_ = several or tuple(evaluation.fold_scores) != ("score",)
        self._adopt(evaluation, table)
        return self

    def report(self, path: Any) -> Path:
        """Write the report of the search as one self-contained HTML file.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        Path

        Raises
        ------
        InputError
            When ``keep_predictions=False``: the report shows the held-out predictions.
        MissingExtraError
            When the packages of the extra ``app`` are missing.
        """
        check_is_fitted(self, "cv_results_")
        if self.evaluation_ is None:
            raise InputError("a report needs the held-out predictions; search with keep_predictions=True.")
        from heldout.report import report_content, write_report

        write_report(report_content(self.evaluation_), Path(path))
        return Path(path)

    # What scikit-learn needs of ``estimator``, if that is a list.

    def __sklearn_tags__(self) -> Any:
        tags = BaseSearchCV.__sklearn_tags__(self._of_first_model())
        tags.target_tags.required = True
        return tags

    def __getattr__(self, name: str) -> Any:
        # scikit-learn checks for ``predict`` before fitting too: the search has what every model has.
        models = self.__dict__.get("estimator")
        if name in _RESPONSES and isinstance(models, list | tuple) and "best_estimator_" not in self.__dict__:
            for _, model, _ in checked_entries(models):
                getattr(model, name)
            return getattr(self._of_first_model(), name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _get_scorers(self) -> tuple[Any, Any]:
        single = copy.copy(self._of_first_model())
        single.scoring = scoring_with_metrics(self.scoring)
        return scorers_of(single)

    def get_metadata_routing(self) -> Any:
        """Where parameters of ``fit`` go: to the estimators, the scorers and the splitter."""
        router = BaseSearchCV.get_metadata_routing(self._of_first_model())
        if isinstance(self.estimator, list | tuple):
            to_fit = MethodMapping().add(caller="fit", callee="fit")
            router.add(method_mapping=to_fit, **{_route(name): model for name, model, _ in self.estimator})
        return router

    def _sk_visual_block_(self) -> Any:
        return BaseSearchCV._sk_visual_block_(self._of_first_model())

    def _of_first_model(self) -> HeldOutSearchCV:
        """This search with one estimator, as scikit-learn expects it: the first of a list."""
        if not isinstance(self.estimator, list | tuple):
            return self
        single = copy.copy(self)
        single.estimator = checked_entries(self.estimator)[0][1]
        return single

    # From scikit-learn's nouns to ours, and back.

    def _folds(
        self, task: Task, drop: DropRule | None, entropy: int, metadata: Any, n_configurations: int
    ) -> Folds:
        if isinstance(drop, SearchStrategy):
            if self.cv is not None or self.repeats != 1:
                raise InputError(
                    f"{argument('drop', drop.name)} plans its own splits, so cv must be None and repeats 1, got "
                    f"{argument('cv', self.cv)} and {argument('repeats', self.repeats)}; leave them out, or use "
                    f"{argument('drop', 'bootstrap')}.",
                    argument="drop",
                )
            return drop.folds(task, entropy)
        return make_folds(
            task, self.cv, repeats=self.repeats, entropy=entropy, classifier=is_classifier(self),
            split_params=metadata.splitter.split, small_classes="allow", n_configurations=n_configurations,
        )  # fmt: skip

    def _routed(self, metadata: Any) -> Routing:
        models = [entry[0] for entry in self.estimator] if isinstance(self.estimator, list | tuple) else []
        of_model = {name: metadata[_route(name)].fit for name in models if _route(name) in metadata}
        return Routing(metadata.estimator.fit, of_model, metadata.scorer.score)

    def _choice_of_refit(self, table: ResultsTable, found: RaceResults) -> int:
        """The choice of a callable ``refit``."""
        self.cv_results_ = table(found.cells, found.fold_scores, found.failures)
        try:
            winner = int(self._select_best_index(self.refit, None, self.cv_results_))
        except (IndexError, TypeError) as error:
            n = len(self.cv_results_["params"])
            raise InputError(
                f"the callable refit must return the number of a configuration, from 0 to {n - 1}: {error}."
            ) from error
        if winner in found.failures:
            raise InputError(
                f"the callable refit chose configuration {winner}, which failed ({found.failures[winner]}); let it "
                "choose among configurations with a finite score."
            )
        return winner

    def _adopt(self, evaluation: Evaluation, table: ResultsTable) -> None:
        """Set the fitted attributes."""
        if self.multimetric_ and callable(self.scoring):
            self._check_refit_for_multimetric(tuple(evaluation.fold_scores))
        if not callable(self.refit):
            dropped_at = None if drop_rule_of(self.drop) is None else evaluation.dropped_at_split
            out = evaluation.predictions.out
            self.cv_results_ = table(evaluation.cells, evaluation.fold_scores, out, dropped_at)
        for aggregate, whole_scores in (("pooled", evaluation.pooled_scores), ("within", evaluation.within_scores)):
            for name, scores in whole_scores.items():
                self.cv_results_[f"{aggregate}_test_{name}"] = scores
                self.cv_results_[f"rank_{aggregate}_test_{name}"] = ranks(scores)
        self.n_splits_ = evaluation.folds.n_splits
        self.n_fits_, self.n_fits_saved_ = evaluation.n_fits, evaluation.n_fits_saved
        self.n_fits_shared_ = evaluation.n_fits_shared
        name = evaluation.refit_metric
        if self.refit or not self.multimetric_:
            self.best_index_ = evaluation.winner
            self.best_params_ = self.cv_results_["params"][self.best_index_]
            if not callable(self.refit):
                of_folds = mean_over_splits(evaluation.fold_scores_read[name].oriented())
                whole = evaluation.whole_scores(self.aggregate)
                self.best_score_ = (of_folds if whole is None else whole[name])[self.best_index_]
        if self.refit:
            self.best_estimator_ = evaluation.model
            self.refit_time_ = evaluation.seconds["refit"]
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_
        self.estimates_ = dict(evaluation.estimates)
        self.estimate_ = evaluation.estimate
        self.corrected_score_ = None if self.estimate_ is None else self.estimate_.value
        self.confidence_interval_ = None if self.estimate_ is None else self.estimate_.interval
        self.optimism_ = None if self.estimate_ is None else self.estimate_.optimism
        # The rows themselves are not kept, so that a saved search does not carry its training data.
        kept = replace(evaluation, task=replace(evaluation.task, X=None, y=None)) if self.keep_predictions else None
        self.evaluation_ = kept
        self.predictions_ = None if kept is None else kept.predictions


def _route(model: str) -> str:
    return f"model {model}"
