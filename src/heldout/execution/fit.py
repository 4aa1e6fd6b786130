"""What the fits of a run share, and what each does: train a configuration, compute each response once, score these.

The responses are recorded for the estimates; the scorers run on the same recorded arrays, so that the scores are
those of scikit-learn's own search and no response is computed twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Number
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from heldout._sklearn import params_at
from heldout._streams import numpy_seed
from heldout._types import Floats, Indices
from heldout.configurations import Configuration, Configurations
from heldout.data.task import Task, TaskKind, Truth
from heldout.errors import ExitError, InputError, NoExit, UnusablePredictionError, text_of
from heldout.execution.cells import CellKey, CellResult
from heldout.execution.inner_split import EarlyStopping, can_stop
from heldout.execution.sharing.groups import Share, Sharing, sharing_of
from heldout.execution.threads import single_threaded, with_one_thread
from heldout.folds.splits import Folds, Place, Split
from heldout.metrics.base import Metric, Response, times_of
from heldout.metrics.custom import OpaqueMetric
from heldout.metrics.from_scorer import members_of, metric_from_scorer, metric_of_outputs, scorer_for, title_of
from heldout.metrics.named import check_fits

TASKS_A_WORKER = 3
"""So many parts at least, so that no worker waits long for another at the end."""


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
    weights: Mapping[str, Floats | None] = field(default_factory=dict)
    """Of scorers that weigh rows otherwise than the one that chooses, or not at all."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """What people call a single scorer that cannot be opened."""

    def metric(self, name: str) -> Metric:
        """What a scorer computes; of one that cannot be opened, its title."""
        return self.metrics.get(name) or OpaqueMetric(self.titles.get(name, name))

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
    titles = {"score": title_of(scorer)} if metrics == {"score": None} else {}
    return Scoring(scorer, metrics, refit_metric, keep, titles=titles)


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


class FitsOfSplit(Protocol):
    """The fits of some configurations on one split; ``SplitFits`` is this."""

    @property
    def units(self) -> list[tuple[int, ...]]:
        """The positions that are computed together, one unit after another."""

    def results(self, unit: Sequence[int]) -> list[CellResult]:
        """The results of a unit."""

    def scored(self, results: Sequence[CellResult]) -> list[CellResult]:
        """The same results, with all their scores."""


class DoSplit(Protocol):
    """Makes the fits of some configurations on a split; a frozen dataclass."""

    @property
    def identity(self) -> Any:
        """Names what it does; a resumed run must have the same."""

    def __call__(self, work: Work, split: Split, positions: tuple[int, ...]) -> FitsOfSplit: ...


@dataclass(frozen=True, eq=False)
class Work:
    """What all fits of a run share: rows, scorers, configurations and splits, and how a fit is made."""

    task: Task
    scoring: Scoring
    configurations: Configurations = Configurations(())  # noqa: RUF009 - frozen
    folds: Folds = Folds((), 0)  # noqa: RUF009 - frozen
    """With every split that a cell may name."""
    routed: Routing = field(default_factory=Routing)
    entropy: int = 0
    """64 bits that seed the run."""
    seeds: int | None = None
    """Fills ``random_state=None`` inside estimators; None leaves them."""
    seeds_only_repeat: bool = False
    """Whether these seeds are there only so that fits can be repeated: a run is then the same without them."""
    error_score: float | str = np.nan
    return_train_score: bool = False
    stopping: EarlyStopping | None = None
    """On which training rows models that can stop early do so."""
    keeps_models: bool = False
    """Whether results of configurations that are fitted alone hold their models."""
    measures_complexity: bool = False
    """Whether results say how complex their models are."""
    do: DoSplit | None = None
    """Makes the fits on a split, where these are not ``SplitFits``."""
    sharing: Sharing | None = None
    """What its configurations share; None where each is fitted by itself."""
    share_memory: int | None = None
    """Bytes for the output of shared steps, in all workers together."""
    base: Work | None = None
    """The same work before it had these configurations, which other processes receive once for all batches of an
    adaptive search."""

    @property
    def to_send(self) -> Work:
        """What other processes receive once."""
        return self.base or self

    @property
    def addition(self) -> dict[str, Any]:
        """What other processes replace in it for each task: what came later."""
        later = () if self.base is None else ("configurations", "sharing", "share_memory")
        return {name: getattr(self, name) for name in later}

    def tasks(self, cells: Sequence[CellKey], n_workers: int) -> list[tuple[CellKey, ...]]:
        """The cells in parts that a worker does as a whole: each of one split, and of what is shared there.

        With ``n_workers=0`` each cell by itself, as a time limit needs it.
        """
        # Nothing is shared, so the smallest tasks spread best.
        if not n_workers or (self.sharing is None and n_workers > 1):
            return [(cell,) for cell in cells]
        at: dict[Place, list[int]] = {}
        for cell in cells:
            at.setdefault(cell.place, []).append(cell.configuration)
        # Parts of all splits together are some for each worker, so that the last one does not wait alone.
        n_parts = 1 if n_workers == 1 else math.ceil(TASKS_A_WORKER * n_workers / len(at))
        return [
            tuple(CellKey(position, *place) for position in part)
            for place, positions in at.items()
            for part in (self.sharing.tasks(positions, n_parts) if self.sharing else [positions])
        ]

    @cached_property
    def split_of(self) -> Mapping[Place, Split]:
        """The splits by (repeat, fold)."""
        folds = self.folds
        return {split.place: split for split in (*folds.splits, *folds.halves, *folds.without_two)}

    def shared(self, share: Share, folds: Folds | None = None) -> Sharing | None:
        """What the configurations share on every split; None where that is nothing.

        ``folds``: where they leave out one row each, formulas may serve configurations.
        """
        seeds = None if self.seeds_only_repeat else self.seeds
        receives = {name: f"of {name}" for name in self.routed.fit_of_model}
        return sharing_of(
            self.configurations,
            lambda configuration: seeded_model(configuration.fresh(), seeds, 0, 0),
            share,
            receives,
            folds,
            # What stops early is fitted on fewer rows than the others.
            fits_alone=(lambda estimator: False) if self.stopping is None else can_stop,
        )


def final_model(work: Work, configuration: Configuration) -> BaseEstimator:
    """The configuration fitted on all rows, with a seed of its own."""
    model, task = seeded_model(configuration.fresh(), work.seeds, "refit"), work.task
    with single_threaded(), NoExit():
        every_row, fit_params = np.arange(task.n_rows), work.routed.to_fit(configuration)
        return fitted(work, model, task.X, task.target, fit_params, every_row, ("refit",))


def fitted(
    work: Work,
    model: Any,
    X: Any,
    y: Any,
    fit_params: Mapping[str, Any],
    train: Indices,
    place: tuple[int | str, ...],
) -> Any:
    """A model fitted on training rows of the task; with an inner split it may stop early on some of them.

    Nothing relies on what ``fit`` returns, as in scikit-learn's searches.
    """
    if work.stopping is None or not can_stop(model):
        model.fit(X, *([] if y is None else [y]), **fit_params)
        return model
    return work.stopping.fit(model, X, y, fit_params, train=train, place=place)


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


def scores_by_scorer(work: Work, model: Any, X: Any, y: Any, rows: Indices) -> tuple[dict[str, float], str]:
    """The scores without those of scorers that raised, and the message of the first that raised."""
    params = params_at(work.task.X, params=dict(work.routed.score), indices=rows)
    try:
        with NoExit():
            answer = work.scoring.scorer(model, X, *([] if y is None else [y]), **params)
    except Exception as error:
        if work.error_score == "raise":
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
            raise InputError(f"scoring must return a number, got {value!r} ({type(value)}) from scorer '{name}'.")
        scores[name] = float(number)  # type: ignore[arg-type]
    return scores, complaint
