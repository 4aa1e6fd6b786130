"""``open_search``: a search whose configurations come from any loop of a user."""

import inspect
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Self

from sklearn.base import clone

from heldout import _defaults
from heldout.arguments.search import SearchArguments
from heldout.configurations import Configuration, are_same, checked_model, kind_of
from heldout.data.task import shortened
from heldout.errors import InputError
from heldout.estimates.question import AnyAggregate, BlockLength
from heldout.estimates.types import Alternative
from heldout.evaluate import evaluation_of
from heldout.execution.adaptive import AdaptiveRun, ProposalScore, open_adaptive
from heldout.execution.collect import RaceResults
from heldout.execution.conclusion import chosen_in
from heldout.execution.inner_split import InnerSplit
from heldout.execution.run import RunSettings
from heldout.execution.search import DeployedModel, KeepModels, Search, check_search, warn_if_too_small
from heldout.result import Evaluation


class OpenSearch:
    """A search that evaluates one configuration after the other; made by ``ho.open_search``.

    It is open until ``finish``, or to the end of a ``with`` block.
    """

    def __init__(self, arguments: Mapping[str, Any], identity: Any) -> None:
        """``arguments``: of ``open_search``, by name."""
        self._data = {name: arguments[name] for name in ("X", "y", "groups", "sample_weight")}
        self._settings = {name: value for name, value in arguments.items() if name not in self._data}
        self._identity = identity
        self._open = ExitStack()
        self._lock = threading.Lock()
        self._run: AdaptiveRun | None = None
        self._running = RunSettings()
        self._kind, self._warned = "", False
        self._found: Evaluation | None = None
        self._whole: tuple[Search, RaceResults] | None = None
        self._is_finished = False
        self._started = 0.0

    def _repr_html_(self) -> str:
        if self._found is not None:
            return self._found._repr_html_()
        return "<p>An open search: finish() chooses the winner and estimates its performance.</p>"

    def evaluate(self, estimator: Any, params: dict[str, Any] | None = None) -> float:
        """Fit a configuration on all splits, or find its fits in the store, and score it.

        Parameters
        ----------
        estimator : estimator
            With all its parameters set; it is cloned. All estimators of a search must be of one kind, such as
            classifiers.
        params : dict, optional
            The parameters that reports and ``configurations`` show; by default those that differ from the
            estimator's defaults.

        Returns
        -------
        float
            The score by which the search chooses; greater is better. NaN if a fit failed or the configuration was
            dropped.
        """
        model = checked_model(estimator, "estimator")
        if params is not None and not isinstance(params, Mapping):
            raise InputError(f"params must be a dict of what is shown, or None, got {shortened(params)}.")
        shown = changed_params(model) if params is None else dict(params)
        return self.scored(Configuration(0, shown, clone(model), has_params=True)).value

    def scored(self, proposal: Configuration) -> ProposalScore:
        """The result of a proposal."""
        # A user's loop may run in threads; proposals are numbered one after the other.
        with self._lock:
            if self._is_finished:
                raise InputError("this search is finished; open a new one with ho.open_search.")
            run = self._run or self._opened(proposal.template)
            kind = kind_of(proposal.template)
            # A classifier beside a regressor would be scored by other predictions.
            if kind != self._kind:
                raise InputError(
                    f"all estimators of a search must be of one kind, but the first is a {self._kind} and "
                    f"{type(proposal.template).__name__} is a {kind}; search them separately."
                )
            return run.evaluate([proposal])[0]

    def evaluation(
        self, *, refit: bool = True, entropy: int | None = None, adaptive: bool = True, **settings: Any
    ) -> Evaluation:
        """The record of the search so far; ``settings`` replace those of its estimation."""
        with self._lock:
            if self._run is None:
                raise InputError("no configuration was evaluated, so there is no winner.")
            if not self._is_finished:  # later the store is closed
                self._whole = self._run.finish()
            if self._whole is None:
                raise InputError("this search was closed before it was finished, so there is no winner.")
            search, found = self._whole
            search = replace(
                search,
                **settings,
                refit=search.refit and refit,
                keep_models=search.keep_models if refit else "none",
                deploy=search.deploy if refit else "all",
                entropy=search.entropy if entropy is None else entropy,
            )
            found = replace(found, predictions=replace(found.predictions, adaptive=adaptive))
            chosen = chosen_in(search, found, warned=self._warned)
            seconds = time.perf_counter() - self._started
            evaluation = evaluation_of(chosen, self._running, seconds)
            return evaluation.with_provenance(configurations_from="loop")

    def finish(self) -> Evaluation:
        """Choose the winner, estimate its performance, fit it on all rows, and close the search.

        Returns
        -------
        Evaluation
            Its ``estimate`` has the flag ``adaptive_search``. Every call returns the same record.
        """
        if self._found is None:
            self._found = self.evaluation()
            self.close()
        return self._found

    def close(self) -> None:
        """End the search without a result; its store keeps the finished fits."""
        self._is_finished = True
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _opened(self, estimator: Any) -> AdaptiveRun:
        """The run, for the kind of the first estimator."""
        arguments = SearchArguments(estimator, **self._settings)
        search = arguments.unchecked_on(**self._data, purpose="search")
        check_search(search, n_planned=0)
        self._warned, self._kind = warn_if_too_small(search), kind_of(estimator)
        self._started = time.perf_counter()
        self._running = arguments.running()
        self._run = self._open.enter_context(open_adaptive(search, self._running, self._identity, 0))
        return self._run


def open_search(
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    pos_label: Any = None,
    cv: Any = None,
    repeats: int = 1,
    groups: Any = None,
    sample_weight: Any = None,
    aggregate: AnyAggregate = _defaults.AGGREGATE,
    selection: Any = _defaults.SELECTION,
    drop: Any = None,
    method: Any = _defaults.METHOD,
    n_bootstraps: int = _defaults.BOOTSTRAPS,
    confidence_level: float = _defaults.LEVEL,
    alternative: Alternative = _defaults.ALTERNATIVE,
    n_jobs: int | None = None,
    refit: bool = True,
    store: Any = None,
    random_state: Any = None,
    early_stopping: InnerSplit | None = None,
    verbose: int = 0,
    keep_models: KeepModels = _defaults.KEEP_MODELS,
    deploy: DeployedModel = _defaults.DEPLOY,
    imputation: Any = None,
    block_length: BlockLength = None,
    n_rows_of_bootstrap: int | None = _defaults.ROWS_OF_BOOTSTRAP,
) -> OpenSearch:
    """Open a search whose configurations come from your own loop, or from any optimiser.

    Folds are made once. The predictions of every evaluated configuration are kept, so that ``finish`` can correct
    the winner's score. As your loop may choose the next configuration by earlier scores, the estimate has the flag
    ``adaptive_search``.

    Parameters
    ----------
    X, y : array-like
        As in ``HeldOutSearchCV.fit``.
    scoring, pos_label, cv, repeats, aggregate, selection, drop, method, n_bootstraps, confidence_level, \
alternative, n_jobs, store, random_state, early_stopping, verbose, keep_models, deploy, imputation, \
block_length, n_rows_of_bootstrap
        As in ``HeldOutSearchCV``. With a ``store``, the same loop does only the remaining fits when it runs again.
    groups : array-like of shape (N,), optional
        Kept whole by the folds of an integer ``cv``, and drawn whole by the bootstrap.
    sample_weight : array-like of shape (N,), optional
        For fits, scores and the bootstrap.
    refit : bool, default=True
        Whether ``finish`` fits the winner on all rows.

    Returns
    -------
    OpenSearch
        With ``evaluate(estimator)``, which returns the score, and ``finish()``, which returns the evaluation.

    Raises
    ------
    InputError
        When an argument is not allowed. The data are checked at the first ``evaluate``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> import heldout as ho
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> run = ho.open_search(X, y, random_state=0)
    >>> size, best = 1, 0.0
    >>> while (score := run.evaluate(KNeighborsClassifier(size))) > best:
    ...     size, best = size + 4, score
    >>> found = run.finish()
    >>> found.configurations[found.winner].name, round(float(found.estimate.value), 4)
    ('KNeighborsClassifier (n_neighbors=13)', 0.9298)
    """
    return OpenSearch(locals(), "open search")


def changed_params(estimator: Any) -> dict[str, Any]:
    """The parameters of an estimator and its parts that differ from their defaults, without the parts themselves.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> changed_params(make_pipeline(StandardScaler(), SVC(C=10)))
    {'svc__C': 10}
    """
    deep = estimator.get_params(deep=True)
    changed = {}
    for name, value in deep.items():
        # A parameter belongs to the part before its last double underscore, whose class has the default.
        owner, _, own = name.rpartition("__")
        parameter = inspect.signature(type(deep[owner] if owner else estimator)).parameters.get(own)
        default = inspect.Parameter.empty if parameter is None else parameter.default
        if not _has_parts(value) and not are_same(value, default):
            changed[name] = value
    return changed


def _has_parts(value: Any) -> bool:
    """Whether it is an estimator, or a list of named ones."""
    return hasattr(value, "get_params") or (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(isinstance(each, tuple) and len(each) > 1 and isinstance(each[0], str) for each in value)
    )
