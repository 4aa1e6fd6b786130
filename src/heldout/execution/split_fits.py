"""The fits on one split: its rows are cut once, equal steps are fitted once, scores are computed together.

Where a formula predicts each row by the model of all the others, leave-one-out is one block, made before the loop.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from heldout._sklearn import params_at, rows_at, split_rows
from heldout._types import Array, Floats, Indices
from heldout.configurations import Configuration
from heldout.data.task import Truth
from heldout.errors import InputError, NoExit, StrangeLabelError
from heldout.execution.cells import CellKey, CellResult, CellState, CellTable, FittedModel, Saving, given_scores
from heldout.execution.complexity import measured
from heldout.execution.copies import with_copies_together
from heldout.execution.fit import Work, cell_model, error_line, fitted, scores_by_scorer
from heldout.execution.inner_split import RowsOfModel
from heldout.execution.responses import (
    coded_answers,
    coded_response,
    fold_scores,
    forget_responses,
    has_responses,
    is_computable,
    is_computable_by_row,
    remember_responses,
    responses_to_record,
)
from heldout.execution.sharing.groups import FitGroup, LeftOutGroup
from heldout.execution.sharing.prefixes import Account, Prefixes, Stopwatch, saving_of_group
from heldout.execution.sharing.steps import StepChain, changes_its_rows, for_reader, member_at, own_copy, size_of
from heldout.execution.threads import on_one_thread, threads_of_boosters
from heldout.folds.splits import Split
from heldout.metrics.base import Metric, Response

LARGE = 1_000_000
"""Bytes of training rows that estimators which change no rows do not copy."""

NOTHING_SHARED = StepChain((), "", ())


@dataclass(frozen=True, eq=False)
class SplitFits:
    """The fits of some configurations on one split.

    Attributes
    ----------
    work : Work
        With all configurations of the run, and what they share.
    split : Split
    positions : tuple of int
        Of those that are to be fitted.
    seed_place : tuple of int or str
        Where the seeds of the models come from; the place of the split if it is empty.
    is_scored : bool
        Whether scores are wanted, and not predictions alone.
    """

    work: Work
    split: Split
    positions: tuple[int, ...]
    seed_place: tuple[int | str, ...] = ()
    is_scored: bool = True

    @property
    def units(self) -> list[tuple[int, ...]]:
        """The positions that are computed together, one unit after another."""
        if self.work.sharing is None:
            return [(position,) for position in self.positions]
        units = self.work.sharing.units(self.positions)
        # An estimator may keep what it computes for the next configuration of the user's order.
        return sorted(units) if self._keeps_all_steps else units

    def results(self, unit: Sequence[int]) -> list[CellResult]:
        """The results of a unit; ``scored`` adds the scores."""
        group = (
            None
            if self.work.sharing is None or self._is_separate(unit[0])
            else self.work.sharing.models.get(unit[0])
        )
        with on_one_thread():
            served = self._of_group(group, unit) if group is not None and self._needs_no_scorer else {}
            return [served[position] if position in served else self._alone(position) for position in unit]

    def scored(self, results: Sequence[CellResult]) -> list[CellResult]:
        """The same results, with the scores that come from their predictions."""
        by_kernels = self.is_scored and self._needs_no_scorer
        done = [result for result in results if by_kernels and result.state is CellState.DONE]
        waiting = [result for result in done if not result.test_scores and not result.message]
        if not waiting:
            return list(results)
        started = time.perf_counter()
        # Kernels score many columns at once, but only where all have the same responses.
        alike: dict[tuple[Response, ...], list[CellResult]] = {}
        for result in waiting:
            alike.setdefault(tuple(result.predictions), []).append(result)
        scored = {result.key: result for results in alike.values() for result in self._with_scores(results)}
        seconds = (time.perf_counter() - started) / len(waiting)
        return [
            replace(scored[result.key], score_seconds=result.score_seconds + seconds)
            if result.key in scored
            else result
            for result in results
        ]

    def _with_scores(self, alike: Sequence[CellResult]) -> list[CellResult]:
        """Results that hold the same responses, with their scores."""
        metrics = self.work.scoring.metrics
        # Together first; where a metric refuses one configuration's predictions, each by itself.
        try:
            return [replace(result, test_scores=scores) for result, scores in self._scores(alike, metrics)]
        except InputError:
            return [self._with_possible_scores(result) for result in alike]

    def _with_possible_scores(self, result: CellResult) -> CellResult:
        """A result with the scores of the metrics that can read its predictions, and why another cannot."""
        scores: dict[str, float] = {}
        complaint = ""
        for name, metric in self.work.scoring.metrics.items():
            try:
                ((_, score),) = self._scores([result], {name: metric})
            except InputError as error:
                if self.work.error_score == "raise":
                    raise
                complaint = complaint or error_line(error)
            else:
                scores |= score
        return replace(result, test_scores=scores, message=complaint)

    def _scores(
        self, alike: Sequence[CellResult], metrics: Mapping[str, Metric | None]
    ) -> list[tuple[CellResult, dict[str, float]]]:
        """The scores of results that hold the same responses."""
        predictions = {
            response: np.stack([result.predictions[response] for result in alike], axis=1)
            for response in alike[0].predictions
        }
        one_fold = np.zeros(len(self.split.test), dtype=np.int32)
        times = self.work.scoring.times
        scores = fold_scores(metrics, self._test, predictions, one_fold, self._test_weight, times)
        return [
            (result, {name: float(column[number, 0]) for name, column in scores.items()})
            for number, result in enumerate(alike)
        ]

    def _alone(self, position: int) -> CellResult:
        """Train and test one configuration; an exception becomes a failed result, unless errors are raised."""
        model = self._model(position)
        result = self._tested(model, position)
        if self.work.measures_complexity and result.state is CellState.DONE:
            result = replace(result, complexity=measured(model))
        # What is remembered refers to the model, so that both would wait for the collector of cycles.
        forget_responses(model)
        if not self.work.keeps_models or not self._is_separate(position) or result.state is CellState.FAILED:
            return result
        with suppress(Exception):  # CatBoost takes no parameters after the fit
            model.set_params(**threads_of_boosters(self.work.configurations[position].fresh()))
        return replace(result, model=FittedModel(model))

    def _tested(self, model: Any, position: int) -> CellResult:
        """The result of a model that is not yet fitted."""
        work, key = self.work, CellKey(position, *self.split.place)
        fit_params = self._fit_params(self.work.configurations[position])
        account = Account()
        watch, fit_seconds = Stopwatch(account), None
        try:
            with NoExit():
                X_train, y_train, X_test = self._rows_for(model, position, account)
                place = self.seed_place or self.split.place
                fitted(work, model, X_train, y_train, fit_params, self.split.train, place)
                fit_seconds = watch.lap()
                remember_responses(model, X_test)
                predictions, unusable = self._predictions(model, X_test)
                refused = {name for name, error in unusable.items() if not isinstance(error, StrangeLabelError)}
                if refused and refused == work.scoring.metrics.keys():
                    raise next(iter(unusable.values()))
        except Exception as error:
            if work.error_score == "raise":
                raise
            seconds = (watch.lap(), 0.0) if fit_seconds is None else (fit_seconds, watch.lap())
            return CellResult(key, CellState.FAILED, error_line(error), *seconds, ahead_seconds=account.ahead)
        done = CellResult(
            key,
            CellState.DONE,
            fit_seconds=fit_seconds,
            score_seconds=watch.lap(),
            predictions=predictions,
            ahead_seconds=account.ahead,
            shared=account.savings,
        )
        if not self.is_scored or (self._needs_no_scorer and self._has_responses(predictions)):
            return done
        test_scores, complaint = scores_by_scorer(work, model, X_test, self._target_of_test, self.split.test)
        test_scores = {name: score for name, score in test_scores.items() if name not in refused}
        score_seconds = done.score_seconds + watch.lap()
        train_scores: Mapping[str, float] = {}
        if work.return_train_score:
            train_scores, _ = scores_by_scorer(work, model, X_train, y_train, self.split.train)
        return replace(
            done,
            state=CellState.DONE if test_scores or not unusable else CellState.FAILED,
            message=next(
                (error_line(error) for name, error in unusable.items() if name not in test_scores), complaint
            ),
            score_seconds=score_seconds,
            test_scores=test_scores,
            train_scores=train_scores,
        )

    def _predictions(self, model: Any, X_test: Any) -> tuple[dict[Response, Array], dict[str, Exception]]:
        """The responses that can be recorded, and why others cannot, by the scorers that read these.

        Other scorers stand, as in scikit-learn, and so does a scorer that counts a strange label as wrong.
        """
        responses: dict[Response, Array] = {}
        unusable: dict[str, Exception] = {}
        for response in responses_to_record(self.work.task.truth, self.work.scoring, model):
            try:
                responses[response] = coded_response(
                    self.work.task.truth, self.work.scoring, model, response, X_test
                )
            except Exception as error:
                metrics = self.work.scoring.metrics.items()
                read = [name for name, metric in metrics if metric is not None and response in metric.responses]
                is_asked_for = read and self.work.error_score == "raise"
                if not self.is_scored or (is_asked_for and not isinstance(error, StrangeLabelError)):
                    raise
                unusable |= dict.fromkeys(read, error)
        return responses, unusable

    def _of_group(self, group: FitGroup, unit: Sequence[int]) -> dict[int, CellResult]:
        """By position: the results of the configurations that one fit serves; the others are fitted alone."""
        try:
            with NoExit():
                return self._served(group.part(unit), unit)
        except Exception:
            return {}

    def _served(self, part: FitGroup, unit: Sequence[int]) -> dict[int, CellResult]:
        account, n = Account(len(unit)), len(unit)
        watch = Stopwatch(account)
        rows = self._rows_of_group(unit[0], account)
        before = watch.lap()
        submodels: Any = part.family.fit_many(rows.model, part.values, rows.X, rows.y, **rows.fit_params)
        fitting = watch.lap()
        answers = coded_answers(
            self.work.task.truth, self.work.scoring, rows.model, rows.y,
            lambda method: submodels.predict_many(rows.X_test, method),
        )  # fmt: skip
        predicting = watch.lap()
        costs = part.family.costs(part.values)
        is_lone = len(part.members) > sum(map(self._has_responses, answers)) == 1  # the others are fitted alone
        served = {
            member: (predictions, cost)
            for member, predictions, cost in zip(part.members, answers, costs, strict=True)
            if member in unit and self._has_responses(predictions)
        }
        return {
            member: CellResult(
                CellKey(member, *self.split.place),
                CellState.DONE,
                fit_seconds=before / n + fitting / len(served),
                score_seconds=predicting / len(served),
                predictions=predictions,
                ahead_seconds=account.ahead,
                shared={
                    **account.savings,
                    **({} if is_lone else {part.family.type.__name__: saving_of_group(fitting, cost, len(served))}),
                },
            )
            for member, (predictions, cost) in served.items()
        }

    def _rows_of_group(self, position: int, account: Account) -> RowsOfModel:
        """The model of a configuration, unfitted, with the rows that arrive there."""
        model, chain = self._model(position), self._chain(position)
        X_train, y_train, X_test = self._rows_for(model, position, account)
        rows = RowsOfModel(member_at(model, chain.model))
        if chain.model:
            model.steps[-1] = (chain.model[-1], rows)
        else:
            model = rows
        model.fit(X_train, y_train, **self._fit_params(self.work.configurations[position]))
        model.predict(X_test)
        return rows

    def _model(self, position: int) -> BaseEstimator:
        place = self.seed_place or self.split.place
        model = cell_model(self.work.configurations[position], self.work.seeds, *place)
        return with_copies_together(model, self.split.train) if self.split.has_copies else model

    def _chain(self, position: int) -> StepChain:
        if self.work.sharing is None or self._is_separate(position):
            return NOTHING_SHARED
        return self.work.sharing.chains[position]

    def _is_separate(self, position: int) -> bool:
        """Whether a configuration shares nothing."""
        return self.work.sharing is None or position in self.work.sharing.separate

    def _rows_for(self, model: Any, position: int, account: Account) -> tuple[Any, Any, Any]:
        """Training rows, their target and test rows for an unfitted model; ``account``: of its shared steps."""
        if get_tags(model).input_tags.pairwise:
            X, y = self.work.task.X, self.work.task.target
            X_train, y_train = split_rows(model, X, y, self.split.train)
            return X_train, y_train, split_rows(model, X, y, self.split.test, self.split.train)[0]
        if self._is_separate(position):
            X_train, y_train, X_test = self._rows
            # A copy protects from any estimator; of many rows it is most of the memory.
            is_large = size_of(X_train) >= LARGE
            own = for_reader if is_large and not changes_its_rows(model) else own_copy
            return own(X_train), own_copy(y_train), own(X_test)
        X_train, X_test = self._prefixes.rows_for(model, self._chain(position), account)
        return X_train, self._prefixes.y, X_test

    def _fit_params(self, configuration: Configuration) -> Mapping[str, Any]:
        params = dict(self.work.routed.to_fit(configuration))
        return params_at(self.work.task.X, params=params, indices=self.split.train) if params else {}

    @property
    def _keeps_all_steps(self) -> bool:
        """Whether the outputs of all steps fit in the memory, as far as the rows tell."""
        keys = {key for position in self.positions for key in self._chain(position).keys}
        return self.work.share_memory is None or 4 * len(keys) * size_of(self.work.task.X) <= self.work.share_memory

    def _has_responses(self, predictions: Mapping[Response, Array]) -> bool:
        return has_responses(self.work.scoring.metrics.values(), predictions)

    @cached_property
    def _prefixes(self) -> Prefixes:
        assert self.work.sharing is not None
        chains = [self._chain(position) for position in self.positions]
        return Prefixes(*self._rows, chains, self.work.sharing.steps, self.work.share_memory)

    @cached_property
    def _needs_no_scorer(self) -> bool:
        work = self.work
        return not self.is_scored or (
            not work.return_train_score
            and set(work.routed.score) <= {"sample_weight"}
            and not work.scoring.weights
            and is_computable(work.scoring.metrics.values(), self._test, self._test_weight)
        )

    @cached_property
    def _test(self) -> Truth:
        return self.work.task.truth.rows(self.split.test)

    @cached_property
    def _test_weight(self) -> Floats | None:
        weight = self.work.routed.score.get("sample_weight")
        return None if weight is None else np.asarray(weight, dtype=np.float64)[self.split.test]

    @cached_property
    def _rows(self) -> tuple[Any, Any, Any]:
        """Training rows, their target and test rows."""
        X, y, train = self.work.task.X, self.work.task.target, self.split.train
        return rows_at(X, train), None if y is None else rows_at(y, train), rows_at(X, self.split.test)

    @cached_property
    def _target_of_test(self) -> Any:
        return None if self.work.task.target is None else rows_at(self.work.task.target, self.split.test)


Watch: TypeAlias = Callable[[CellKey], AbstractContextManager[object]]
SECONDS_BETWEEN_SCORES = 0.1


def do_task(work: Work, cells: Sequence[CellKey], watch: Watch = nullcontext) -> Iterator[CellResult]:
    """Fit and score cells of one split, one after another; those that share a fit come together.

    ``watch`` is entered with a cell before its fit, and left after it.
    """
    split = work.split_of[cells[0].place]
    positions = tuple(cell.configuration for cell in cells)
    fits = (work.do or SplitFits)(work, split, positions)
    unscored: list[CellResult] = []
    began = time.perf_counter()
    try:
        for unit in fits.units:
            with watch(CellKey(unit[0], *split.place)):
                unscored += fits.results(unit)
            # Scores of several cells at once are cheaper, but results should not wait long to be stored.
            if time.perf_counter() - began >= SECONDS_BETWEEN_SCORES:
                done, unscored = fits.scored(unscored), []
                yield from arriving_together(done)
                began = time.perf_counter()
    except (Exception, KeyboardInterrupt):
        yield from arriving_together(fits.scored(unscored))  # nothing that is done is lost
        raise
    yield from arriving_together(fits.scored(unscored))


def task_results(work: Work, cells: Sequence[CellKey], watch: Watch = nullcontext) -> list[CellResult]:
    return arriving_together(list(do_task(work, cells, watch)))


def arriving_together(results: Sequence[CellResult]) -> list[CellResult]:
    """The results, each with the number of those behind it."""
    return [replace(result, n_following=len(results) - n) for n, result in enumerate(results, start=1)]


def left_out_blocks(
    work: Work, splits: Sequence[Split], positions: Collection[int], done: Collection[CellKey]
) -> Iterator[CellTable]:
    """A block for each group of configurations that a formula serves on the splits; the others must be fitted.

    - ``positions``: of the configurations that run on these splits.
    - ``done``: cells that need no work; a configuration with one of them is left to the loop.
    """
    if work.sharing is None or not work.sharing.left_out or not work.folds.part(splits).leaves_one_out:
        return
    rows = np.concatenate([split.test for split in splits])
    weight = work.routed.score.get("sample_weight")
    weight = None if weight is None else np.asarray(weight, dtype=np.float64)[rows]
    # Scores of training rows, or other weights for some scorer, need fits of their own.
    if work.return_train_score or work.scoring.weights or not set(work.routed.score) <= {"sample_weight"}:
        return
    if not is_computable_by_row(work.scoring.metrics.values(), work.task.truth.rows(rows), weight):
        return
    # A configuration that a run has begun is not begun again by another way.
    open_ones = set(positions) - {cell.configuration for cell in done}
    for group in work.sharing.left_out:
        block = None
        # A formula may fail where a fit does not; then the loop fits the configuration.
        with suppress(Exception), NoExit(), on_one_thread():
            block = _block(work, splits, group, open_ones, rows, weight)
        if block is not None:
            yield block


def _block(
    work: Work,
    splits: Sequence[Split],
    group: LeftOutGroup,
    open_ones: Collection[int],
    rows: Indices,
    weight: Floats | None,
) -> CellTable | None:
    """The block of a group, without the configurations that must be fitted; None if these are all.

    ``rows``, ``weight``: the row that each split leaves out, and its weight in the score.
    """
    task, scoring, started = work.task, work.scoring, time.perf_counter()
    fit_params = work.routed.to_fit(work.configurations[group.members[0]])
    estimator = work.configurations[group.members[0]].fresh()
    answers = coded_answers(
        task.truth,
        scoring,
        estimator,
        task.target,
        lambda method: group.form.predict_left_out(
            estimator, group.values, task.X, task.target, method, **fit_params
        ),
    )
    metrics = scoring.metrics
    served = {
        j: answer
        for j, answer in zip(group.members, answers, strict=True)
        if j in open_ones and has_responses(metrics.values(), answer)
    }
    if not served:
        return None
    fitted = time.perf_counter()
    predictions = {
        response: np.stack([answer[response][rows] for answer in served.values()], axis=1)
        for response in next(iter(served.values()))
    }
    tests, row_splits = task.truth.rows(rows), np.arange(len(rows), dtype=np.int32)
    scores = fold_scores(metrics, tests, predictions, row_splits, weight, scoring.times)
    block = CellTable.empty(
        list(served),
        (split.place for split in splits),
        test_scores={name: given_scores(values) for name, values in scores.items()},
        predictions=predictions,
        sizes=(1,) * len(rows),
    )
    shared, n_cells = {f"{group.form.type.__name__} by formula": Saving(None)}, len(block)
    # All fits at once have one time, which is divided evenly.
    seconds = (fitted - started) / n_cells, (time.perf_counter() - fitted) / n_cells
    block.columns[...] = np.array((CellState.DONE, "", *seconds, 1, shared, {}), dtype=block.columns.dtype)
    return block
