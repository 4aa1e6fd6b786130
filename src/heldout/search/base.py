"""What the searches have in common.

They choose like scikit-learn's, and keep every held-out prediction that the search makes anyway. From these they
estimate the score of the winner on new data, without further training.
"""

import copy
import numbers
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.metadata_routing import MethodMapping
from sklearn.utils.validation import check_is_fitted

from heldout import _defaults
from heldout._record import notes
from heldout._sklearn import (
    CALLBACKS,
    CONSTRAINTS_OF_SEARCH,
    BaseSearchCV,
    HasMethods,
    Interval,
    Options,
    StrOptions,
    fit_context,
    gathered_scorers,
    params_at,
)
from heldout._text import is_one_of
from heldout.arguments.search import (
    SearchArguments,
    deciding_scorer,
    keeping_groups,
    scorers_of,
    scoring_with_metrics,
)
from heldout.arguments.target import groups_of, rows_of, target_of_search, task_of
from heldout.configurations import Configurations, checked_entries, checked_model
from heldout.data.row_labels import in_one_order
from heldout.data.task import Task, checked_weights
from heldout.dropping import DropRule, SearchStrategy, drop_rule_of, planned_folds
from heldout.errors import InputError, input_error
from heldout.estimates.question import AnyAggregate, BlockLength, Blocks
from heldout.estimates.types import Alternative
from heldout.evaluate import default_configuration, evaluate
from heldout.execution import events
from heldout.execution.cells import CellTable
from heldout.execution.collect import RaceResults, mean_over_splits, results_table
from heldout.execution.complexity import mean_complexities
from heldout.execution.conclusion import Choose
from heldout.execution.fit import Routing, make_scoring
from heldout.execution.inner_split import InnerSplit
from heldout.execution.run import RunSettings
from heldout.execution.search import DeployedModel, KeepModels, Search, check_search
from heldout.execution.sharing.groups import Share
from heldout.execution.store import entropy_of_run
from heldout.folds.plans import AUTO, plan_of_cv
from heldout.folds.splits import Folds, make_folds
from heldout.methods_text import MethodsText
from heldout.metrics.from_scorer import members_of, metric_from_scorer, scorer_of_class, weights_of
from heldout.predictions import ranks
from heldout.result import Evaluation

_RESPONSES = ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform")


def without_callbacks(running: RunSettings) -> RunSettings:
    """For fits beside the search: scikit-learn's callbacks are told of one search."""
    kept = [each for each in running.listeners if not isinstance(each, SklearnCallbacks)]
    return replace(running, listeners=kept)


@dataclass(kw_only=True, eq=False, repr=False)
class BaseHeldOutSearch(BaseSearchCV):  # type: ignore[misc]
    """What the searches have in common: everything except how the configurations are made.

    Its fields are their parameters, from which comes the signature that scikit-learn reads; ``HeldOutSearchCV``
    documents what all have.
    """

    estimator: Any = field(kw_only=False)
    scoring: Any = None
    pos_label: Any = None
    cv: Any = None
    repeats: int = 1
    aggregate: AnyAggregate = _defaults.AGGREGATE
    selection: Any = _defaults.SELECTION
    drop: Any = None
    method: Any = _defaults.METHOD
    n_bootstraps: int = _defaults.BOOTSTRAPS
    confidence_level: float = _defaults.LEVEL
    alternative: Alternative = _defaults.ALTERNATIVE
    n_jobs: int | None = None
    refit: Any = True
    pre_dispatch: int | str = _defaults.PRE_DISPATCH
    error_score: Any = np.nan
    return_train_score: bool = False
    keep_predictions: bool | Literal["auto"] = "auto"
    store: Any = None
    random_state: Any = None
    verbose: int = 0
    fit_timeout: float | None = None
    share: Share = _defaults.SHARE
    share_memory: int | None = None
    early_stopping: InnerSplit | None = None
    keep_models: KeepModels = _defaults.KEEP_MODELS
    deploy: DeployedModel = _defaults.DEPLOY
    imputation: Any = None
    default: Any = None
    block_length: BlockLength = None
    n_rows_of_bootstrap: int | None = _defaults.ROWS_OF_BOOTSTRAP

    _proposer: ClassVar[str] = "list"
    """Where the configurations come from."""

    _parameter_constraints = {  # noqa: RUF012
        **CONSTRAINTS_OF_SEARCH,
        "estimator": [HasMethods(["fit"]), list, tuple],
        "scoring": [str, callable, list, tuple, dict, HasMethods(["statistic"]), None],
        "pos_label": [numbers.Real, str, "boolean", None],
        "repeats": [Interval(numbers.Integral, 1, None, closed="left")],
        "cv": [*CONSTRAINTS_OF_SEARCH["cv"], StrOptions({AUTO})],
        "aggregate": [StrOptions({"auto", "folds", "pooled", "within"})],
        "keep_predictions": ["boolean", StrOptions({"auto"})],
        "store": [str, os.PathLike, HasMethods(["open"]), None],
        "n_bootstraps": [Interval(numbers.Integral, 1, None, closed="left")],
        "confidence_level": [Interval(numbers.Real, 0, 1, closed="neither")],
        "alternative": [StrOptions({"two-sided", "greater", "less"})],
        "fit_timeout": [Interval(numbers.Real, 0, None, closed="neither"), None],
        "share": [StrOptions({"exact", "tolerance"}), Options(bool, {False})],
        "share_memory": [Interval(numbers.Integral, 1, None, closed="left"), None],
        "stop_when_width": [Interval(numbers.Real, 0, None, closed="neither"), None],
        "keep_models": [StrOptions({"none", "winner", "all"})],
        "deploy": [StrOptions({"all", "bounded"})],
        "default": "no_validation",
        "training_size_correction": ["boolean"],
        "block_length": [numbers.Integral, str, Blocks, None],
        "n_rows_of_bootstrap": [numbers.Integral, None],
    }

    @fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit all configurations on all splits, choose the winner, estimate its performance, and refit it.

        Parameters
        ----------
        X : array-like of shape (N, n_features)
        y : array-like of shape (N,) or (N, n_outputs), or events and times, optional
            With several columns, errors, R2, subset accuracy, Hamming loss and the Jaccard score of samples are
            estimated from predictions, and every other scorer from fold scores. None is allowed for models that
            need no target. For survival models: scikit-survival's structured array, a table of two columns or a
            tuple of two, the event first; models are fitted on the structured array, and folds are not stratified.
        **params : dict
            ``groups``, ``sample_weight`` and other arguments of the estimators' ``fit``, the scorers and the
            splitter, routed as in ``GridSearchCV``. The bootstrap draws groups whole. Weights that reach a scorer
            weigh its bootstrap too; if weights do not reach all of fits, scores and bootstrap, the flag
            ``weights_reached`` says which they reach. ``groups="copies"`` makes one group of the rows with equal
            predictors; an integer ``cv`` then keeps groups whole.

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
        # Of a list the first estimator stands for all, as scikit-learn reads one.
        model = checked_model(self._of_scikit_learn().estimator, "estimator")
        rows = in_one_order({"y": y, "X": X, **params})
        X, y = rows_of(rows.pop("X"), target_of_search(model, rows.pop("y"), type(self).__name__))
        together = isinstance(rows.get("groups"), str)
        if together:
            rows["groups"] = groups_of(X, rows["groups"])
        params = params_at(X, params=rows)
        metadata = self._get_routed_params_for_fit(params)
        # The bootstrap replays the choice, and so weighs rows exactly where the scorers weighed them.
        deciding = deciding_scorer(scorers, self.scoring, self.refit)
        weights, others = weights_of(scorers, deciding, metadata.scorer.score)
        metric = metric_from_scorer(members_of(scorers).get(deciding))
        task = task_of(model, X, y, metadata.splitter.split.get("groups"), weights, metric)
        task = task.with_pos_label(self.pos_label)
        scorers = scorer_of_class(scorers, task.truth, self.pos_label)
        callbacks = [SklearnCallbacks(self, bool(self.refit), X, y, params)] if getattr(self, CALLBACKS, ()) else []
        running = replace(arguments.running(callbacks), keep_predictions=self.keep_predictions)
        entropy = entropy_of_run(self.random_state, running.store)
        configurations = self._configurations(arguments, entropy)
        cv = keeping_groups(self.cv) if together else self.cv
        folds = self._folds(task, cv, drop, entropy, metadata, len(configurations))
        members = gathered_scorers(scorers)
        several = members is not None
        table = partial(results_table, self._format_results, several=several, error_score=self.error_score)
        scoring = make_scoring(task.truth, scorers, deciding, routed=metadata.scorer.score)
        others = {name: checked_weights(one, task.n_rows) for name, one in others.items()}
        scoring = replace(scoring, weights=others)
        if several and not self.refit:  # no winner, so no estimate
            if self.keep_models != "none":
                raise InputError(
                    f"`keep_models={self.keep_models!r}` needs a winner, and with several scorers `refit=False` "
                    "chooses none; name the scorer that decides in refit."
                )
            arguments = replace(arguments, method=None)
        search = arguments.search(
            task, configurations, folds, scoring, entropy=entropy, routed=self._routed(metadata)
        )
        choose = partial(self._choice_of_refit, table) if callable(self.refit) else None
        default = None
        if self.default is not None:  # nothing is fitted for a search that will be refused
            check_search(search, None if len(configurations) else 0)
            default = default_configuration(self.default, self.estimator, search, without_callbacks(running))
        evaluation = self._evaluation(search, running, choose)
        if default is not None:
            default = default.among(evaluation.configurations).on(evaluation.folds_read)
            evaluation = replace(evaluation, default=default, n_fits=evaluation.n_fits + default.n_fits)
        self.scorer_ = scorers if members is None else members
        self.multimetric_ = several or tuple(evaluation.fold_scores) != ("score",)
        self._adopt(evaluation, table)
        return self

    def report(self, path: Any, *, X: Any = None, importance: str = "auto") -> Path:
        """Write the report of the search as one self-contained HTML file.

        Parameters
        ----------
        path : str or path
        X : array-like of shape (N, n_features), optional
            The rows that the search was fitted on, which it does not keep. With them the report shows the columns
            of the data, and what the winner relies on.
        importance : {"auto", "refit", "none"}, default="auto"
            Which models give the permutation importance of the columns on held-out rows, which needs ``X``. "auto":
            the fold models, if the search kept them (``keep_models``); "refit": these, or else the winner fitted
            again on each split; "none": it is not computed.

        Returns
        -------
        Path

        Raises
        ------
        InputError
            When ``keep_predictions=False``: the report shows the held-out predictions. When ``X`` holds other rows
            than the search was fitted on, or the winner fitted again gives other predictions than in the search.
        MissingExtraError
            When the packages of the extra ``app`` are missing.
        """
        check_is_fitted(self, "cv_results_")
        if not is_one_of(importance, ("auto", "refit", "none")):
            raise InputError(f"importance must be 'auto', 'refit' or 'none', got {importance!r}.")
        kept = self._kept_evaluation("a report")
        if importance == "refit" and X is None:
            raise InputError("`importance='refit'` needs the rows, which a search does not keep; give `X`.")
        from heldout.report import write_report
        from heldout.report.importance import refitted_winner, unfit_for_importance, with_rows

        evaluation = kept if X is None else with_rows(kept, X)
        if importance == "refit" and (reason := unfit_for_importance(evaluation)):
            raise InputError(f"`importance='refit'`: {reason}.")
        if importance == "refit" and evaluation.fold_models is None:
            evaluation = replace(evaluation, fold_models=refitted_winner(evaluation))
        if importance == "none":
            evaluation = replace(evaluation, fold_models=None)
        write_report(evaluation, Path(path))
        return Path(path)

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the corrected score beside the uncorrected one; without an estimate the ranking of configurations.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure's by default.
        **kwargs : dict
            Arguments of the display's ``from_search``: ``scorer``, and those of its ``plot``.

        Returns
        -------
        CorrectedScoreDisplay or RankingDisplay
            See ``ho.plots`` for more displays.

        Raises
        ------
        InputError
            When there is neither an estimate nor the held-out predictions.
        MissingExtraError
            When matplotlib (extra ``plot``) is missing.
        """
        check_is_fitted(self, "cv_results_")
        from heldout.report.displays.corrected_score import most_useful_plot

        return most_useful_plot(self, ax, **kwargs)

    def methods_text(self) -> MethodsText:
        """Describe the search as a paragraph for the methods section of an article, with its numbers.

        It covers data, folds, configurations, drop rule, selection, estimate, final model, software and seed, as
        TRIPOD+AI requires, and only what was done.

        Returns
        -------
        MethodsText
            ``print`` shows the paragraph; ``.latex`` and ``.markdown`` cite by key, ``.bibtex`` has the entries.

        Raises
        ------
        InputError
            When ``keep_predictions=False``: the record of the search was not kept.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> import heldout as ho
        >>> X, y = load_iris(return_X_y=True)
        >>> search = ho.HeldOutSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, random_state=0).fit(X, y)
        >>> text = search.methods_text()
        >>> print(text)  # doctest: +ELLIPSIS
        The data comprised 150 observations with 4 predictors and an outcome of 3 classes (0: 50 observations;...
        >>> print(text.bibtex.splitlines()[0])
        @misc{heldout,
        """
        return self._kept_evaluation("a methods text").methods_text()

    def _kept_evaluation(self, what: str) -> Evaluation:
        """The record of the search, which ``what`` needs."""
        check_is_fitted(self, "cv_results_")
        if self.evaluation_ is None:
            raise InputError(f"{what} needs the held-out predictions; search with `keep_predictions=True`.")
        evaluation: Evaluation = self.evaluation_
        return evaluation

    # What an adaptive search makes otherwise.

    def _configurations(self, arguments: SearchArguments, entropy: int) -> Configurations:
        return arguments.configurations(entropy)

    def _evaluation(self, search: Search, running: RunSettings, choose: Choose | None) -> Evaluation:
        return evaluate(search, running, choose=choose)

    # What scikit-learn needs of ``estimator``, if that is a list.

    def __sklearn_tags__(self) -> Any:
        return BaseSearchCV.__sklearn_tags__(self._of_scikit_learn())

    def __getattr__(self, name: str) -> Any:
        # scikit-learn checks for ``predict`` before fitting too: the search has what every model has.
        if name == "predictions_" and self.__dict__.get("evaluation_") is not None:
            raise AttributeError(
                "the search kept only the predictions that its estimates read; search with "
                "`keep_predictions=True`, or with a store (`store='run.db'`), to have those of all rows."
            )
        models = self.__dict__.get("estimator")
        if name in _RESPONSES and isinstance(models, list | tuple) and "best_estimator_" not in self.__dict__:
            for _, model, _ in checked_entries(models):
                getattr(model, name)
            return getattr(self._of_scikit_learn(), name)
        return object.__getattribute__(self, name)  # raises again, with scikit-learn's own reason

    def _get_scorers(self) -> tuple[Any, Any]:
        single = self._of_scikit_learn()
        single.scoring = scoring_with_metrics(self.scoring)
        return scorers_of(single)

    def get_metadata_routing(self) -> Any:
        """Where parameters of ``fit`` go: to the estimators, the scorers and the splitter."""
        router = BaseSearchCV.get_metadata_routing(self._of_scikit_learn())
        if isinstance(self.estimator, list | tuple):
            to_fit = MethodMapping().add(caller="fit", callee="fit")
            router.add(method_mapping=to_fit, **{_route(name): model for name, model, _ in self.estimator})
        return router

    def _repr_html_inner(self) -> str:
        return self._estimates_as_html() + str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def _estimates_as_html(self) -> str:
        """The estimates of a fitted search, that of the deciding scorer first; empty without any."""
        estimates = self.__dict__.get("estimates_") or {}
        if self.__dict__.get("estimate_") is None:
            return ""
        others = [one for one in estimates.values() if one is not self.estimate_]
        shown = "".join(each._repr_html_() for each in (self.estimate_, *others))
        kept = self.__dict__.get("evaluation_")
        return shown + ("" if kept is None else notes(kept.overtuning_sentences))

    def _sk_visual_block_(self) -> Any:
        block = BaseSearchCV._sk_visual_block_(self._of_scikit_learn())
        if isinstance(self.estimator, list | tuple) and "best_estimator_" not in self.__dict__:
            models = {name: model for name, model, _ in checked_entries(self.estimator)}
            block.estimators = list(models.values())
            block.names = [f"{name}: {type(model).__name__}" for name, model in models.items()]
            block.name_details = [str(model) for model in models.values()]
        return block

    def _of_scikit_learn(self) -> Self:
        """This search as scikit-learn expects it: the first estimator of a list, a plan for ``cv="auto"``."""
        single = copy.copy(self)
        single.cv = plan_of_cv(self.cv)
        if isinstance(self.estimator, list | tuple):
            single.estimator = checked_entries(self.estimator)[0][1]
        return single

    # From scikit-learn's nouns to ours, and back.

    def _folds(
        self, task: Task, cv: Any, drop: DropRule | None, entropy: int, metadata: Any, n_configurations: int
    ) -> Folds:
        if isinstance(drop, SearchStrategy):
            if self.cv is not None or self.repeats != 1:
                raise InputError(
                    f"`drop={drop.name!r}` plans its own splits, so cv must be None and repeats 1, got "
                    f"`cv={self.cv!r}` and `repeats={self.repeats!r}`; leave them out, or use `drop='bootstrap'`."
                )
            return planned_folds(drop, task, entropy)
        return make_folds(
            task, cv, repeats=self.repeats, entropy=entropy, classifier=is_classifier(self),
            split_params=metadata.splitter.split, small_classes="allow", n_configurations=n_configurations,
        )  # fmt: skip

    def _routed(self, metadata: Any) -> Routing:
        models = [entry[0] for entry in self.estimator] if isinstance(self.estimator, list | tuple) else []
        of_model = {name: metadata[_route(name)].fit for name in models if _route(name) in metadata}
        return Routing(metadata.estimator.fit, of_model, metadata.scorer.score)

    def _choice_of_refit(
        self, table: Callable[..., dict[str, Any]], found: RaceResults, configurations: Configurations
    ) -> int:
        self.cv_results_ = table(configurations.params, found.cells, found.fold_scores, found.failures)
        try:
            winner = int(self._select_best_index(self.refit, None, self.cv_results_))
        except (IndexError, TypeError) as error:
            n = len(self.cv_results_["params"])
            raise input_error(
                f"the callable refit must return the number of a configuration, from 0 to {n - 1}: {error}.", error
            ) from error
        if winner in found.failures:
            raise InputError(
                f"the callable refit chose configuration {winner}, which failed ({found.failures[winner]}); let it "
                "choose among configurations with a finite score."
            )
        return winner

    def _adopt(self, evaluation: Evaluation, table: Callable[..., dict[str, Any]]) -> None:
        """Set the fitted attributes."""
        if self.multimetric_ and callable(self.scoring):
            self._check_refit_for_multimetric(tuple(evaluation.fold_scores))
        if not callable(self.refit):
            dropped_at = None if drop_rule_of(self.drop) is None else evaluation.dropped_at_split
            params, out = evaluation.configurations.params, evaluation.predictions.out
            self.cv_results_ = table(params, evaluation.cells, evaluation.fold_scores, out, dropped_at)
        aggregate = evaluation.estimation.scale_of_selection
        for name, scores in (evaluation.whole_scores(aggregate) or {}).items():  # by which it chose
            self.cv_results_[f"{aggregate}_test_{name}"] = scores
            self.cv_results_[f"rank_{aggregate}_test_{name}"] = ranks(scores)
        if evaluation.cells.columns["complexity"].any():
            self.cv_results_["mean_complexity"] = mean_complexities(
                evaluation.cells, evaluation.configurations.names, evaluation.predictions.out
            )
        self.n_splits_ = evaluation.folds.n_splits
        self.n_fits_, self.n_fits_saved_ = evaluation.n_fits, evaluation.n_fits_saved
        self.n_fits_shared_ = evaluation.n_fits_shared
        name = evaluation.refit_metric
        if self.refit or not self.multimetric_:
            self.best_index_ = np.int64(evaluation.winner)  # as argmin gives it to scikit-learn
            self.best_params_ = self.cv_results_["params"][self.best_index_]
            if not callable(self.refit):
                of_folds = mean_over_splits(evaluation.fold_scores_read[name].oriented())
                whole = evaluation.whole_scores(evaluation.estimation.scale_of_selection)
                self.best_score_ = (of_folds if whole is None else whole[name])[self.best_index_]
        if self.refit:
            self.best_estimator_ = evaluation.model
            self.refit_time_ = evaluation.seconds["refit"]
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_
        self.fold_models_ = evaluation.fold_models
        evaluation = evaluation.with_provenance(configurations_from=self._proposer)
        self.estimates_ = dict(evaluation.estimates)
        self.estimate_ = evaluation.estimate
        self.corrected_score_ = None if self.estimate_ is None else self.estimate_.value
        self.confidence_interval_ = None if self.estimate_ is None else self.estimate_.interval
        self.optimism_ = None if self.estimate_ is None else self.estimate_.optimism
        # The rows themselves are not kept, so that a saved search does not carry its training data.
        kept = replace(evaluation, task=replace(evaluation.task, X=None, y=None)) if self.keep_predictions else None
        self.evaluation_ = kept
        if kept is None or kept.predictions.part is None:
            self.predictions_ = None if kept is None else kept.predictions
        else:
            self.__dict__.pop("predictions_", None)  # of an earlier fit


def _route(model: str) -> str:
    return f"model {model}"


class SklearnCallbacks:
    """A listener that passes events on to the callbacks of ``set_callbacks``; the search has its mixin."""

    def __init__(self, search: Any, refits: bool, X: Any, y: Any, metadata: Mapping[str, Any]) -> None:
        self._search = search
        self._given = {"estimator": search, "X": X, "y": y, "metadata": dict(metadata)}
        self._refits = refits
        self._open: list[Any] = []
        self._finished = 0
        self._tells_fits = True

    def __call__(self, event: events.Event) -> None:
        match event:
            case events.SearchStarted():
                root = self._search._init_callback_context(max_subtasks=1 + self._refits)
                self._open = [root.call_on_fit_task_begin(**self._given)]
                self._begin("search", max_subtasks=event.n_cells, sequential_subtasks=False)
                self._finished = event.n_resumed
            case events.CellFinished(result):
                n_fits = len(result) if isinstance(result, CellTable) else 1
                for _ in range(n_fits if self._tells_fits else 0):
                    self._begin("candidate-split-evaluation", task_id=self._finished)
                    self._end()
                    self._finished += 1
            case events.FitsAdded():  # scikit-learn's searches have no such fits
                self._tells_fits = False
            case events.StageStarted(stage="estimate" | "fold models"):
                self._close_search()
            case events.StageStarted(stage="refit"):
                self._close_search()
                self._begin("refit-with-best-params")
            case events.SearchFinished():
                while self._open:
                    self._end()

    def _begin(self, name: str, **settings: Any) -> None:
        context = self._open[-1].subcontext(task_name=name, **settings)
        self._open.append(context.call_on_fit_task_begin(**self._given))

    def _end(self) -> None:
        self._open.pop().call_on_fit_task_end(**self._given)

    def _close_search(self) -> None:
        if len(self._open) > 1:
            self._end()
