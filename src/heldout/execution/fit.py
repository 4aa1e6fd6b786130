"""Fit one cell: train a configuration on a split, compute each response once, score the responses.

The responses are recorded for the estimates; the scorers run on the same recorded arrays, so that the scores are
those of scikit-learn's own search and no response is computed twice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from heldout._sklearn import params_at
from heldout._streams import numpy_seed
from heldout.configurations import Configuration
from heldout.data.task import Task, TaskKind, Truth
from heldout.errors import ExitError, InputError, NoExit, UnusablePredictionError, text_of
from heldout.execution.inner_split import EarlyStopping, can_stop
from heldout.execution.threads import single_threaded, with_one_thread
from heldout.metrics.base import Metric, Response, times_of
from heldout.metrics.from_scorer import members_of, metric_from_scorer, metric_of_outputs, scorer_for
from heldout.metrics.named import check_fits


@dataclass(frozen=True, eq=False)
class Scoring:
    """The scorers, and the one that chooses the winner."""

    scorer: Callable[..., Any]
    """``scorer(estimator, X, y, **params)`` to a number, or to a dict of numbers by name."""
    metrics: Mapping[str, Metric | None]
    """The metric that each scorer computes; None for one that cannot be opened. ``score`` is the name of a single
    scorer."""
    refit_metric: str = "score"
    keep: tuple[Response, ...] = ()
    """Further responses to record where a model offers them."""
    more_times: tuple[float, ...] = ()
    """Further times at which to record survival probabilities."""
    weights: Mapping[str, NDArray[np.float64] | None] = field(default_factory=dict)
    """Of scorers that weigh rows otherwise than the one that chooses, or not at all."""

    @property
    def times(self) -> tuple[float, ...]:
        """Ascending: where survival probabilities are recorded."""
        read = (time for metric in self.metrics.values() if metric is not None for time in times_of(metric))
        return tuple(sorted({*read, *self.more_times}))

    @property
    def wanted(self) -> tuple[tuple[Response, ...], ...]:
        """Responses to record: of each group the first that a model offers."""
        read = [metric.responses for metric in self.metrics.values() if metric is not None]
        # Without an opened scorer the output of "predict" is still recorded where it is one a row.
        read = read or [(Response.LABELS, Response.VALUES, Response.RISK)]
        return tuple(dict.fromkeys(read + [(response,) for response in self.keep]))


def make_scoring(
    truth: Truth,
    scorer: Any,
    refit_metric: str = "score",
    keep: tuple[Response, ...] = (),
    routed: Collection[str] | None = None,
) -> Scoring:
    """Open a scorer, or several that scikit-learn has combined into one, for a target.

    - ``scorer``: of ``check_scoring`` (one scorer or several), or any ``callable(estimator, X, y)``.
    - ``routed``: of a search, what its scorers receive of ``fit``. A user's function that is told more of a row
      than its weight cannot be called by a bootstrap, which knows predictions. A metric of numbers that is asked of
      labels 0 and 1 is the scorer's affair, as in scikit-learn.

    Raises InputError when a metric does not fit the target.
    """
    scorer = scorer_for(scorer, truth)
    metrics: dict[str, Metric | None] = {}
    for name, member in members_of(scorer).items():
        if truth.kind is TaskKind.OTHER:
            metrics[name] = metric_of_outputs(member) if truth.values.ndim > 1 else None
            continue
        metric = metric_from_scorer(member, survival=truth.kind is TaskKind.SURVIVAL)
        if metric is None or (routed is not None and _is_left_to_scorer(metric, truth, routed)):
            metrics[name] = None
        else:
            metrics[name] = check_fits(metric, truth)
    return Scoring(scorer, metrics, refit_metric, keep)


def _is_left_to_scorer(metric: Metric, truth: Truth, routed: Collection[str]) -> bool:
    of_numbers = truth.classes is not None and metric.tasks == {TaskKind.REGRESSION}
    told_more = metric.calls_foreign_code and bool({*routed} - {"sample_weight"})
    return told_more or (of_numbers and np.asarray(truth.classes).dtype.kind in "biuf")


@dataclass(frozen=True, eq=False)
class Routing:
    """Parameters beyond X and y, by their destination."""

    fit: Mapping[str, Any] = field(default_factory=dict)
    """To every estimator's ``fit``."""
    fit_of_model: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """To one estimator of a list of them, in place of ``fit``."""
    score: Mapping[str, Any] = field(default_factory=dict)
    """To the scorer."""

    def to_fit(self, configuration: Configuration) -> Mapping[str, Any]:
        """The parameters for the configuration's ``fit``."""
        return self.fit_of_model.get(configuration.model or "", self.fit)


@dataclass(frozen=True, eq=False)
class CellContext:
    """The parts that the cells of a search share."""

    X: Any
    y: Any
    truth: Truth
    """The target as metrics read it."""
    scoring: Scoring
    routed: Routing = field(default_factory=Routing)
    error_score: float | str = np.nan
    return_train_score: bool = False
    entropy: int | None = None
    """Fills ``random_state=None`` inside estimators; None leaves them."""
    stopping: EarlyStopping | None = None
    """On which training rows models that can stop early do so."""
    seeds_only_repeat: bool = False
    """Whether these seeds are there only so that fits can be repeated: a run is then the same without them."""
    keeps_models: bool = False
    """Whether results of configurations that are fitted alone hold their models."""
    measures_complexity: bool = False
    """Whether results say how complex their models are."""

    @property
    def classes(self) -> NDArray[Any] | None:
        """Labels in the order of their codes; None for a regression."""
        return self.truth.classes

    @property
    def positive(self) -> int | None:
        """Code of the class that binary probabilities and decisions refer to."""
        return self.truth.positive

    @property
    def survival(self) -> bool:
        """Whether the target holds events and times, so that ``predict`` gives risks."""
        return self.truth.kind is TaskKind.SURVIVAL

    @classmethod
    def of_task(
        cls,
        task: Task,
        scoring: Scoring,
        routed: Routing,
        error_score: float | str,
        return_train_score: bool,
        entropy: int | None,
        stopping: EarlyStopping | None = None,
    ) -> CellContext:
        X, y, truth = task.X, task.target, task.truth
        return cls(X, y, truth, scoring, routed, error_score, return_train_score, entropy, stopping)


def final_model(context: CellContext, configuration: Configuration) -> BaseEstimator:
    """The configuration fitted on all rows, with a seed of its own."""
    model = seeded_model(configuration.fresh(), context.entropy, "refit")
    with single_threaded(), NoExit():
        every_row = np.arange(context.truth.n_rows)
        fit_params = context.routed.to_fit(configuration)
        return fitted(context, model, context.X, context.y, fit_params, every_row, ("refit",))


def fitted(
    context: CellContext,
    model: Any,
    X: Any,
    y: Any,
    fit_params: Mapping[str, Any],
    train: NDArray[np.intp],
    place: tuple[int | str, ...],
) -> Any:
    """A model fitted on training rows of the task; with an inner split it may stop early on some of them.

    Nothing relies on what ``fit`` returns, as in scikit-learn's searches.
    """
    if context.stopping is None or not can_stop(model):
        model.fit(X, *([] if y is None else [y]), **fit_params)
        return model
    return context.stopping.fit(model, X, y, fit_params, train=train, place=place)


def error_line(error: BaseException) -> str:
    """An exception as one line: its type and text; our own by its text alone."""
    text = text_of(error)
    if isinstance(error, UnusablePredictionError | ExitError | InputError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def seeded_model(model: BaseEstimator, entropy: int | None, *place: int | str) -> BaseEstimator:
    """Fill every ``random_state=None`` inside, by its parameter name and the place in the search.

    Configurations share these seeds, so that they differ by their parameters and not by luck.
    """
    if entropy is None:
        return model
    seeds = {
        name: numpy_seed(entropy, "cells", name, *place)
        for name, value in sorted(model.get_params(deep=True).items())
        if value is None and name.rpartition("__")[2] == "random_state"
    }
    return model.set_params(**seeds) if seeds else model


def cell_model(configuration: Configuration, entropy: int | None, *place: int | str) -> BaseEstimator:
    """The unfitted model of a cell: with seeds, and with one thread unless the search varies their number."""
    return seeded_model(with_one_thread(configuration.fresh(), configuration.params), entropy, *place)


def scores_by_scorer(
    context: CellContext, model: Any, X: Any, y: Any, rows: NDArray[np.intp]
) -> tuple[dict[str, float], str]:
    """The scores without those of scorers that raised, and the message of the first that raised."""
    params = params_at(context.X, params=dict(context.routed.score), indices=rows)
    try:
        with NoExit():
            answer = context.scoring.scorer(model, X, *([] if y is None else [y]), **params)
    except Exception as error:
        if context.error_score == "raise":
            raise
        return {}, error_line(error)
    answers = answer if isinstance(answer, dict) else {"score": answer}
    scores, complaint = {}, ""
    for name, value in answers.items():
        if isinstance(value, str):  # scikit-learn's result for one of several scorers that raised
            complaint = complaint or f"{name}: {value.strip().splitlines()[-1]}"
            continue
        number = value.item() if hasattr(value, "item") and np.size(value) == 1 else value
        if not isinstance(number, Number):
            raise InputError(
                f"scoring must return a number, got {value!r} ({type(value)}) from scorer '{name}'.",
                argument="scoring",
            )
        scores[name] = float(number)  # type: ignore[arg-type]
    return scores, complaint
