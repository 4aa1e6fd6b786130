"""The plan of a validation: its models, samples and splits, a check of the memory, and the fits on each split."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

from heldout import _defaults
from heldout._sklearn import params_at, rows_at, split_rows
from heldout._streams import stream
from heldout._types import Array, Counts, Floats
from heldout.configurations import Configuration, Configurations
from heldout.data.limits import MOST_FITS, refuse_beyond_memory, refuse_more_than
from heldout.data.task import Task, Truth
from heldout.errors import NoExit
from heldout.execution.cells import CellKey, CellResult, CellState, check_predictions
from heldout.execution.copies import with_copies_together
from heldout.execution.fit import FitsOfSplit, Routing, Work, cell_model, error_line, seeded_model
from heldout.execution.plan import BYTES_A_CELL, Race, bytes_a_row
from heldout.execution.responses import coded_responses
from heldout.execution.run import OpenRun
from heldout.execution.sharing.groups import Share, Sharing
from heldout.execution.sharing.steps import own_copy
from heldout.execution.split_fits import NOTHING_SHARED, SplitFits
from heldout.execution.threads import on_one_thread
from heldout.flags import Flag
from heldout.folds.splits import Folds, Place, Rows, Split
from heldout.imputation.coefficients import PooledCoefficients, coefficients_of, pool_coefficients
from heldout.imputation.imputed_model import with_completions
from heldout.imputation.pooled import PooledModel
from heldout.imputation.settings import Imputation
from heldout.imputation.tables import stacked
from heldout.metrics.base import Metric, Response
from heldout.protocols.drawn_rows import Demands, draw, drawn_rows
from heldout.protocols.validation.coefficients import FittedCoefficients, fitted_coefficients, why_not_pooled
from heldout.protocols.validation.corrections import Correction
from heldout.protocols.validation.replicates import Replicates
from heldout.selection.bootstrap_draws import UndefinedDrawsError, always, inner_counts

ALL_ROWS = 0
"""The repeat of the split that trains on all rows, each once."""
FIRST, SECOND, INNER = 0, 1, 2
"""Fold numbers within the repeat of a sample: first stage, second stage, and the first of its inner samples."""


@dataclass(frozen=True, eq=False)
class SampleSplit:
    """A ``Split`` that keeps the count of each row, which needs an eighth of the memory of row numbers."""

    repeat: int
    counts: Counts
    """Of shape (N,)."""
    test: Rows
    """(N,): all rows; the same array in all splits."""
    fold: int = 0

    @property
    def place(self) -> Place:
        """The (repeat, fold) by which cells name it."""
        return self.repeat, self.fold

    @property
    def train(self) -> Rows:
        """The drawn rows, each as often as it was drawn."""
        return drawn_rows(self.counts)


def sample_splits(counts: Sequence[Counts] | Counts, fold: int = 0) -> tuple[Split, ...]:
    """A split a sample, each a repeat, numbered from 1.

    - ``counts`` (N,).
    - ``fold``: one number for each stage, so that the place of a sample gives its seed.

    Examples
    --------
    >>> (split,) = sample_splits(np.array([[2, 0, 1]], dtype=np.uint8))
    >>> split.place, split.train.tolist(), split.test.tolist()
    ((1, 0), [0, 0, 2], [0, 1, 2])
    """
    every_row = np.arange(len(counts[0])) if len(counts) else np.empty(0, dtype=np.intp)
    splits = (SampleSplit(ALL_ROWS + 1 + b, mine, every_row, fold) for b, mine in enumerate(counts))
    return tuple(cast("Split", split) for split in splits)


def inner_splits(counts: Sequence[Counts] | Counts, repeat: int, first_fold: int) -> tuple[Split, ...]:
    """A split for each sample of one sample: its repeat, and folds from ``first_fold`` on."""
    every_row = np.arange(len(counts[0])) if len(counts) else np.empty(0, dtype=np.intp)
    splits = (SampleSplit(repeat, mine, every_row, first_fold + i) for i, mine in enumerate(counts))
    return tuple(cast("Split", split) for split in splits)


def split_of_all_rows(n_rows: int) -> Split:
    """Trains on all rows and predicts them."""
    return cast("Split", SampleSplit(ALL_ROWS, np.ones(n_rows, dtype=np.uint8), np.arange(n_rows)))


Predictions = dict[Response, Array]
Known = TypeVar("Known")


@dataclass(frozen=True, eq=False)
class ReplicateFit:
    """Fits models on a bootstrap sample of complete rows, and predicts all rows.

    The predictions are of shape (N, 1[, outputs]).
    """

    flags: Mapping[Flag, str] = field(default_factory=dict, kw_only=True)
    """What a reader of the estimate must know of how rows were completed."""

    @property
    def n_completions(self) -> int:
        """How many times a cell says something of a row."""
        return 1

    @property
    def identity(self) -> Any:
        """Names the work of the cells; a resumed run must have the same."""
        return "replicate"

    def sharing(self, work: Work, share: Share) -> Sharing | None:
        """What the models share."""
        return work.shared(share)

    def __call__(self, work: Work, split: Split, positions: tuple[int, ...]) -> FitsOfSplit:
        split = Split(*split.place, split.train, split.test)
        # All later stages are of one model.
        work = work if split.fold == FIRST else replace(work, sharing=None)
        # The model of all rows is fitted as the user would, without weights in place of copies.
        weighed = tuple(j for j in positions if split.repeat != ALL_ROWS and _weighs(work, work.configurations[j]))
        others = tuple(j for j in positions if j not in weighed)
        parts = ((work, split, others), (*_weights_for_copies(work, split), weighed))
        return ReplicateFits(
            tuple(SplitFits(given, rows, own, is_scored=False) for given, rows, own in parts if own)
        )

    @property
    def sources(self) -> tuple[str, ...]:
        """Keys of ``heldout.references``, of how rows are completed."""
        return ()

    def deployed(
        self, work: Work, configuration: Configuration, split: Split
    ) -> tuple[Any, FittedCoefficients | PooledCoefficients | str | None]:
        """The model of all rows as the cell fitted it, and its coefficients if it has any; or why not."""
        model = seeded_model(configuration.fresh(), work.seeds, *split.place)
        X, y = split_rows(model, work.task.X, work.task.target, split.train)
        params = params_at(work.task.X, params=dict(work.routed.to_fit(configuration)), indices=split.train)
        fitted = model.fit(X, y, **params)
        return fitted, _read(lambda: fitted_coefficients(fitted, X, y, params.get("sample_weight")))


@dataclass(frozen=True, eq=False)
class ReplicateFits:
    """The fits on one split.

    Attributes
    ----------
    parts : tuple of SplitFits
        One of the models that receive copies of rows, and one of those that receive weights.
    """

    parts: tuple[SplitFits, ...]

    @property
    def units(self) -> list[tuple[int, ...]]:
        return [unit for part in self.parts for unit in part.units]

    def results(self, unit: Sequence[int]) -> list[CellResult]:
        """The results of a unit, with an axis for completions."""
        (part,) = (part for part in self.parts if unit[0] in part.positions)
        return [
            replace(result, predictions={name: values[:, None] for name, values in result.predictions.items()})
            for result in part.results(unit)
        ]

    def scored(self, results: Sequence[CellResult]) -> list[CellResult]:
        """The same: they are scored when all are done, under several weights of the rows."""
        return list(results)


@dataclass(frozen=True, eq=False)
class ImputedFit(ReplicateFit):
    """... of rows with missing values, completed H times; the models of the completions are pooled.

    The predictions are of shape (N + n_drawn, H[, outputs]): of all rows as they are evaluated, then of the rows of
    the sample as they trained.
    """

    imputation: Imputation
    truth: Truth
    trained_on: tuple[Any, ...]
    """All rows, completed as rows that train."""
    evaluated_on: tuple[Any, ...]
    """All rows, completed as rows that are evaluated: once, before any sample is drawn."""
    entropy: int
    weights: Floats | None
    """(N,): importance weights, for the coefficients."""

    @property
    def n_completions(self) -> int:
        return 2 * self.imputation.n_imputations

    @property
    def identity(self) -> Any:
        return self.imputation

    def sharing(self, work: Work, share: Share) -> Sharing | None:
        """The completions of a sample, and no step: the models of all completions predict together."""
        n_models = len(work.configurations)
        return Sharing((NOTHING_SHARED,) * n_models, {}, {}) if share and n_models > 1 else None

    def __call__(self, work: Work, split: Split, positions: tuple[int, ...]) -> FitsOfSplit:
        return ImputedFits(self, work, split, positions)

    @property
    def sources(self) -> tuple[str, ...]:
        return self.imputation.sources

    def deployed(
        self, work: Work, configuration: Configuration, split: Split
    ) -> tuple[Any, PooledCoefficients | str | None]:
        samples = self.samples(work, split)
        pooled = self.pooled_model(work, configuration, split, samples)
        pairs = list(zip(pooled.members, samples, strict=True))
        each = _read(lambda: [coefficients_of(*pair, work.task.target, self.weights) for pair in pairs])
        coefficients = each if isinstance(each, str) else pool_coefficients(each, self.truth.n_rows)
        if coefficients is None:
            coefficients = _read(lambda: why_not_pooled(pairs, work.task.target, self.weights))
        if self.imputation.imputer is not None and not hasattr(self.imputation.imputer, "transform"):
            return pooled, coefficients  # it cannot fill the gaps of other rows
        imputers = self.imputation.imputers(work.task.X, self.entropy, "new rows")
        deployed = with_completions(pooled.members, imputers)
        deployed.selection_ = pooled.selection_
        return deployed, coefficients

    def pooled_model(
        self, work: Work, configuration: Configuration, split: Split, samples: Sequence[Any]
    ) -> PooledModel:
        """The configuration fitted on the completions of the training rows of a split."""
        models = [unfitted_model(work, configuration, split, number) for number in range(len(samples))]
        given = dict(work.routed.to_fit(configuration))
        params = params_at(work.task.X, params=given, indices=split.train)
        weights = None if self.weights is None else self.weights[split.train]
        return self.imputation.fitted(models, samples, rows_at(work.task.target, split.train), params, weights)

    def samples(self, work: Work, split: Split) -> Sequence[Any]:
        """The rows of a sample, imputed now, or drawn from rows imputed before."""
        if self.imputation.order == "boot_mi" and split.repeat != ALL_ROWS:
            drawn = rows_at(work.task.X, split.train)
            return self.imputation.completed(drawn, self.truth.rows(split.train), self.entropy, *split.place)
        return [rows_at(table, split.train) for table in self.trained_on]


@dataclass(frozen=True, eq=False)
class ImputedFits:
    """The fits on the completions of one sample, which is completed once for all models."""

    do: ImputedFit
    work: Work
    split: Split
    positions: tuple[int, ...]

    @property
    def units(self) -> list[tuple[int, ...]]:
        return [(position,) for position in self.positions]

    def results(self, unit: Sequence[int]) -> list[CellResult]:
        """The result of a model; an exception of the estimator makes it a failed one."""
        (position,) = unit
        key = CellKey(position, *self.split.place)
        with on_one_thread():
            began = time.perf_counter()
            try:
                with NoExit():
                    samples = [own_copy(sample) for sample in self._samples]
                    model = self.work.configurations[position]
                    pooled = self.do.pooled_model(self.work, model, self.split, samples)
                    fitted = time.perf_counter()
                    predictions = self._predictions(pooled)
            except Exception as error:
                return [CellResult(key, CellState.FAILED, error_line(error), time.perf_counter() - began)]
        asking = time.perf_counter() - fitted
        kept = {} if pooled.selection_ is None else pooled.selection_.kept_or_not
        done = CellResult(key, CellState.DONE, "", fitted - began, asking, predictions=predictions)
        return [replace(done, complexity=kept)]

    def scored(self, results: Sequence[CellResult]) -> list[CellResult]:
        """The same: they are scored when all are done, under several weights of the rows."""
        return list(results)

    @cached_property
    def _samples(self) -> Sequence[Any]:
        return self.do.samples(self.work, self.split)

    @cached_property
    def _tables(self) -> Sequence[Any]:
        """What the models predict, for each completion: all rows, and under them those of the sample."""
        return [stacked(pair) for pair in zip(self.do.evaluated_on, self._samples, strict=True)]

    def _predictions(self, pooled: PooledModel) -> Predictions:
        work, models = self.work, pooled.members
        if self.do.imputation.order == "naive":
            found = [
                coded_responses(work.task.truth, work.scoring, model, own_copy(table))
                for model, table in zip(models, self._tables, strict=True)
            ]
            return {response: np.stack([each[response] for each in found], axis=1) for response in found[0]}
        # All completions in one call, because a call costs more than its rows.
        at_once = coded_responses(work.task.truth, work.scoring, pooled, stacked(self._tables))
        return {response: np.stack(np.split(answer, len(models)), axis=1) for response, answer in at_once.items()}


def _read(coefficients: Callable[[], Known]) -> Known | str:
    """Coefficients, or the error of reading them: models of all makes have them, in any shape."""
    try:
        return coefficients()
    except Exception as error:
        return error_line(error)


def unfitted_model(work: Work, configuration: Configuration, split: Split, completion: int) -> Any:
    """The model for a completion of the training rows of a split: each completion gives it another seed."""
    place = (*split.place, completion) if completion else split.place
    model = cell_model(configuration, work.seeds, *place)
    return model if split.repeat == ALL_ROWS else with_copies_together(model, split.train)


def _weighs(work: Work, configuration: Configuration) -> bool:
    """Whether weights take the place of copies in the fit of a configuration."""
    given = work.routed.to_fit(configuration).keys()
    return given <= {"sample_weight"} and weighs_copies(configuration.fresh())


def _weights_for_copies(work: Work, split: Split) -> tuple[Work, Split]:
    """The work and the split of fits in which each row has the weight of its copies."""
    rows, own = weighted_rows(split.train, work.routed.fit.get("sample_weight"))
    weights = np.zeros(work.task.truth.n_rows)
    weights[rows] = own
    weighted = replace(work, routed=Routing(fit={"sample_weight": weights}))
    return weighted, Split(*split.place, rows, split.test)


_SOLVERS = {
    LinearRegression: None,
    Ridge: ("solver", ("auto", "cholesky", "svd")),
    LogisticRegression: ("solver", ("lbfgs", "newton-cg", "newton-cholesky")),
}
"""Models whose loss is a sum over rows, so that weight 2 equals two rows; with solvers that ignore the order."""


def weighs_copies(model: Any) -> bool:
    """Whether the model fitted on weighted rows equals the one fitted on as many copies of them.

    A sample holds .632 N distinct rows, so weights make its fit faster. It is true only for classes known to have
    this property: weights may mean something else to a forest, which draws rows itself, or to a model that balances
    classes by counting rows.

    Examples
    --------
    >>> weighs_copies(LogisticRegression()), weighs_copies(LogisticRegression(class_weight="balanced"))
    (True, False)
    """
    if type(model) not in _SOLVERS or getattr(model, "class_weight", None) is not None:
        return False
    limit = _SOLVERS[type(model)]
    return limit is None or getattr(model, limit[0]) in limit[1]


def weighted_rows(rows: Rows, weights: Any = None) -> tuple[Rows, Floats]:
    """The distinct ones of sorted rows, and how often each occurs, times its weight in all rows.

    Examples
    --------
    >>> distinct, counts = weighted_rows(np.array([0, 0, 3]))
    >>> distinct.tolist(), counts.tolist()
    ([0, 3], [2.0, 1.0])
    """
    distinct, counts = np.unique(rows, return_counts=True)
    return distinct, counts * (1.0 if weights is None else np.asarray(weights)[distinct])


@dataclass(frozen=True, eq=False)
class Stage:
    """Bootstrap samples that are fitted together."""

    counts: Counts
    """(B, N): how often each sample drew each row."""
    splits: tuple[Split, ...]
    """One a sample."""
    redraws: int = 0
    """Draws that lacked something the metrics or the model need."""


@dataclass(frozen=True, eq=False)
class ValidationPlan:
    """Models, rows, and the settings of their validation."""

    fits: Work
    """What all fits share, without their splits; its scoring holds the metrics."""
    do: ReplicateFit
    """Makes the fits on a split."""
    correction: Correction
    n_bootstraps: int
    """Samples of the first stage."""
    n_second: int = 0
    """New samples on which the selected model is bootstrapped once more; 0 for no second stage."""
    n_inner: int = 0
    """Bootstraps of each bootstrap of the last stage, for the double bootstrap; 0 for none."""
    adjusts: bool = False
    """Whether the optimism is adjusted by the double bootstrap."""
    share: Share = _defaults.SHARE
    """Whether equal steps are fitted once, and one fit serves several models."""

    @property
    def task(self) -> Task:
        return self.fits.task

    @property
    def models(self) -> Configurations:
        return self.fits.configurations

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """By name, in the given order."""
        return {name: metric for name, metric in self.fits.scoring.metrics.items() if metric is not None}

    @property
    def two_stages(self) -> bool:
        return self.n_second > 0

    @property
    def n_last(self) -> int:
        """Samples of the last stage."""
        return self.n_second or self.n_bootstraps

    @cached_property
    def demands(self) -> Demands:
        """The requirements on every sample."""
        return Demands(self.task, list(self.metrics.values()))

    @cached_property
    def all_rows(self) -> Split:
        """The split of the apparent scores."""
        return split_of_all_rows(self.task.n_rows)

    @cached_property
    def first(self) -> Stage:
        """The samples that all models share."""
        return self._stage("draws", FIRST, self.n_bootstraps)

    @cached_property
    def last(self) -> Stage:
        """The samples of the estimates: those of the first stage, unless there is a second."""
        if not self.two_stages:
            return self.first
        return self._stage("draws of the second stage", SECOND, self.n_second)

    @cached_property
    def inner(self) -> tuple[Stage, ...]:
        """For each sample of the last stage the samples drawn from it."""
        found = []
        left_out = self.demands.of_left_out if self.correction.reads_left_out else always
        for b, outer in enumerate(self.last.splits if self.n_inner else ()):
            counts = self.last.counts[b]
            try:
                drawn = inner_counts(
                    counts, self.n_inner, stream(self.fits.entropy, "inner draws", b),
                    unit_of_row=self.demands.units, in_bag=self.demands.of_drawn, left_out=left_out,
                )  # fmt: skip
            except UndefinedDrawsError:  # the sample holds too little, so it has no corrected score
                drawn = counts[None, :][:0]
            found.append(Stage(drawn, inner_splits(drawn, outer.repeat, first_fold=INNER)))
        return tuple(found)

    @cached_property
    def work(self) -> Work:
        """The parts that its cells share."""
        splits = [self.all_rows, *self.first.splits]
        if self.two_stages:
            splits += self.last.splits
        for stage in self.inner:
            splits += stage.splits
        folds = Folds(tuple(splits), self.task.n_rows, grouped=self.task.groups is not None)
        return replace(self.fits, folds=folds, do=self.do, sharing=self.do.sharing(self.fits, self.share))

    @property
    def n_cells(self) -> int:
        """The number of cells if every model can be fitted on all rows."""
        return self._n_outer_cells + sum(len(stage.splits) for stage in self.inner)

    @property
    def most_cells(self) -> int:
        """An upper bound of ``n_cells`` without drawing: some samples may hold too little for inner samples."""
        return self._n_outer_cells + self.n_last * self.n_inner

    @property
    def most_fits(self) -> int:
        """An upper bound of the cells and the last fit of the selected model on all rows."""
        return self.most_cells + 1

    @property
    def _n_outer_cells(self) -> int:
        return len(self.models) * (1 + self.n_bootstraps) + self.n_second

    def _stage(self, domain: str, fold: int, n_bootstraps: int) -> Stage:
        seed, reads = stream(self.fits.entropy, domain), self.correction.reads_left_out
        drawn = draw(self.demands, n_bootstraps, seed, scores_left_out=reads)
        return Stage(drawn.counts, sample_splits(drawn.counts, fold), drawn.redraws)


WHILE_SCORING = 8
"""A metric of all replicates together needs up to so many numbers a row and replicate, as measured."""


def bytes_recorded(plan: ValidationPlan) -> int:
    """Bytes of all predictions, as a run file holds them."""
    return plan.most_cells * _bytes_of_fit(plan)


def check_memory(plan: ValidationPlan, *, keeps_fits: bool) -> None:
    """Refuse a plan whose samples and predictions would take more than half of the machine's memory.

    ``keeps_fits``: whether the predictions of every fit stay in memory until the end, as without a store.
    """
    n_rows, n_bootstraps = plan.task.n_rows, max(plan.n_bootstraps, plan.n_last)
    what = f"fits ({n_bootstraps:,} bootstraps)"
    refuse_more_than(MOST_FITS, plan.most_fits, what, "fewer bootstraps: 200 are usual")
    drawn = plan.most_cells * (n_rows + BYTES_A_CELL)
    kept = bytes_recorded(plan) if keeps_fits else n_bootstraps * _bytes_of_fit(plan)
    arrays = n_bootstraps * max(2 * n_rows * _bytes_a_row(plan), _bytes_of_fit(plan))
    scored = WHILE_SCORING * 8 * n_bootstraps * n_rows
    refuse_beyond_memory(
        drawn + kept + arrays + scored,
        f"the samples and predictions of {plan.most_fits:,} fits on {n_rows:,} rows",
        f"{'a store, ' if keeps_fits else ''}fewer bootstraps or fewer metrics",
    )


def _bytes_of_fit(plan: ValidationPlan) -> int:
    return plan.task.n_rows * plan.do.n_completions * _bytes_a_row(plan)


def _bytes_a_row(plan: ValidationPlan) -> int:
    return bytes_a_row(plan.task.truth, plan.fits.scoring)


class NoModelError(ValueError):
    """A model could not be fitted on all rows; the message says why."""


@dataclass(frozen=True, eq=False)
class Fits:
    """The cells of a plan, run stage by stage."""

    plan: ValidationPlan
    run: OpenRun

    def first(self) -> None:
        """Do the cells of the first stage, those of all models side by side.

        All rows come first: a model that cannot be fitted on them is not fitted on the samples.
        """
        self.run.run_races([Race((self.plan.all_rows,))])
        if fitted := self._fitted:
            self.run.run_races([Race((self.plan.all_rows, *self.plan.first.splits), configurations=fitted)])

    @property
    def _fitted(self) -> tuple[int, ...]:
        """The models that could be fitted on all rows."""
        cells = self.run.cell_results(Race((self.plan.all_rows,)))
        return tuple(j for j, cell in enumerate(cells) if cell.state is not CellState.FAILED)

    def of_first(self, model: int) -> Replicates:
        """The replicates of a model in the first stage."""
        return self._replicates(model, self.plan.first.splits, self.plan.first.counts)

    def of_last(self, model: int) -> Replicates:
        """The replicates of the selected model in the second stage, which this runs."""
        last = self.plan.last
        self.run.run_races([Race(last.splits, configurations=(model,))])
        return self._replicates(model, last.splits, last.counts)

    def doubles(self, model: int, outer: Replicates) -> Iterator[tuple[int, Replicates]]:
        """For each sample of the last stage that has a model, the replicates drawn from it."""
        every_split = tuple(split for inner in self.plan.inner for split in inner.splits)
        self.run.run_races([Race(every_split, configurations=(model,))])
        for b in outer.kept.tolist():
            inner = self.plan.inner[b]
            if not inner.splits:
                continue
            predictions, own, failed = _side_by_side(self._results(model, inner.splits), self.plan.task.n_rows)
            if predictions:
                yield b, outer.of_samples_of(b, inner.counts, predictions, failed, own)

    def _results(self, model: int, splits: Sequence[Split]) -> list[CellResult]:
        results = self.run.cell_results(Race(tuple(splits), configurations=(model,)))
        task, n_times = self.plan.task, len(self.plan.fits.scoring.times)
        completions = next((array.shape[1:2] for each in results for array in each.predictions.values()), ())
        for result, split in zip(results, splits, strict=True):
            # All rows, and those of the sample if they were imputed again.
            rows = [task.n_rows, task.n_rows + len(split.train)]
            check_predictions(str(result.key), result.predictions, task.truth, n_times, rows, completions)
        return results

    def _replicates(self, model: int, splits: Sequence[Split], counts: Counts) -> Replicates:
        (whole,) = self._results(model, (self.plan.all_rows,))
        if whole.state is CellState.FAILED:
            raise NoModelError(whole.message)
        results, n = self._results(model, splits), self.plan.task.n_rows
        predictions, own, failed = _side_by_side(results, n)
        apparent = {response: values[-n:] for response, values in whole.predictions.items()}
        return Replicates(
            truth=self.plan.task.truth,
            counts=counts,
            apparent=apparent,
            on_original=predictions
            or {response: values[:, :, None][:, :, :0] for response, values in apparent.items()},
            in_sample=own,
            terms=_shares_kept(each for each in results if each.state is CellState.DONE),
            weights=self.plan.task.sample_weight,
            times=self.plan.fits.scoring.times,
            failed=failed,
        )


def _shares_kept(results: Iterable[CellResult]) -> dict[str, float]:
    """The share of the models that kept each term; empty where none selected any."""
    selected = [each.complexity for each in results if each.complexity]
    terms = dict.fromkeys(term for kept in selected for term in kept)
    return {term: sum(kept.get(term, 0.0) for kept in selected) / len(selected) for term in terms}


def _side_by_side(
    results: Sequence[CellResult], n: int
) -> tuple[dict[Response, Floats], dict[Response, list[Array]] | None, dict[int, str]]:
    """The predictions (N, H, B[, outputs]) of B replicates for all N rows, those for their own samples if these
    were imputed again, and the messages of those that failed."""
    failed = {b: each.message for b, each in enumerate(results) if each.state is CellState.FAILED}
    arrays: dict[Response, Floats] = {}
    own: dict[Response, list[Array]] = {}
    for b, result in enumerate(results):
        if b in failed:
            continue
        for response, values in result.predictions.items():
            if response not in arrays:
                shape = (n, values.shape[1], len(results), *values.shape[2:])
                arrays[response] = np.zeros(shape, dtype=values.dtype)
                own[response] = [np.empty((0, 0))] * len(results)
            arrays[response][:, :, b], own[response][b] = values[:n], values[n:]
    completed_anew = any(array.size for parts in own.values() for array in parts)
    return arrays, own if completed_anew else None, failed
