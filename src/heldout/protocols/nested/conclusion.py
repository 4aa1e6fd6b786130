"""The estimate of a nested cross-validation from all its fits.

Its interval may be one of rows. Those of a single outer split took no part in training or selection, so that any
interval of independent rows holds for them. The first of these that fits is taken: the exact binomial one of an
accuracy, DeLong's of an area under the ROC curve, and the bootstrap of the rows (of whole groups, with their
weights), which is for every metric. An area of 1 gives DeLong's formula no spread; the bootstrap has a least width
there.

The rows of several outer folds were predicted by models that share training rows. The bootstrap of such rows, with
its spread widened for that, is the one of ``Shrinkage`` for a single candidate.
"""

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from heldout._types import Array, Codes, Floats, Indices
from heldout.errors import HeldoutWarning, InputError, reason_of
from heldout.estimates.base import Method, final_estimate
from heldout.estimates.data_flags import flag_of_failed, flag_of_incomplete, flag_of_undefined_folds
from heldout.estimates.evidence import TIES, Candidates, settings_provenance
from heldout.estimates.from_matrix import gather
from heldout.estimates.intervals import Spread, interval_around
from heldout.estimates.methods.corrected_t import nadeau_bengio
from heldout.estimates.methods.naive_bootstrap import NaiveBootstrap
from heldout.estimates.methods.shrinkage import Shrinkage
from heldout.estimates.methods.two_part.closed_forms import ClopperPearson, DeLong
from heldout.estimates.question import AnyAggregate, Question, Scale, Scales, Settings
from heldout.estimates.types import Interval
from heldout.execution.cells import CellState
from heldout.execution.collect import mean_over_splits
from heldout.execution.conclusion import flags_of_order
from heldout.execution.search import Search
from heldout.flags import Flag
from heldout.metrics.base import Metric, Response, at_times_of, is_undefined, quiet_if_foreign
from heldout.metrics.constant_model import constant_of_rows
from heldout.predictions import UNPREDICTED_LABEL, HeldOutPredictions
from heldout.protocols.branches import BranchedSearch, BranchScore
from heldout.protocols.nested.estimate import NestedEstimate, OuterFold, agreement_of
from heldout.protocols.nested.intervals import (
    BATES,
    BOOTSTRAP,
    NADEAU_BENGIO,
    TEST_PART,
    USUAL_REPEATS,
    Bates,
    bates_hastie_tibshirani,
)
from heldout.protocols.nested.plan import HOLD_OUT, NestedBranch, NestedFolds, NestedSettings
from heldout.protocols.words import QUANTITY_NESTED, QUANTITY_ONE_SPLIT
from heldout.selection import Best

SOURCES = ("tsamardinos2018", "varma2006")
SOURCES_OF_INTERVAL = {NADEAU_BENGIO: ("nadeau2003",), BATES: ("bates2024",)}
SOURCES_ACROSS = ("krstajic2014",)
METHODS_OF_TEST_PART: tuple[Method, ...] = (
    ClopperPearson(evaluation_share=1.0),
    DeLong(evaluation_share=1.0),
    NaiveBootstrap(),
)
"""The first that fits is used."""
METHODS_OF_FOLDS: tuple[Method, ...] = (Shrinkage(),)

TestPredictions: TypeAlias = Mapping[Response, Array]
"""What the winner of an outer fold predicts for its rows: (n,) or (n, outputs) for each response that it has."""


@dataclass(frozen=True)
class OuterInterval:
    """The interval of the outer scores, or of the outer rows."""

    interval: Interval
    standard_error: float | None = None
    method: str = ""
    """Of an interval of rows; empty if there is none."""
    sources: tuple[str, ...] = ()
    flags: dict[Flag, str] = field(default_factory=dict)
    reason: str = ""
    """Why there is no interval; empty if there is one."""
    bates: Bates | None = None
    """What the scheme with pairs measured."""


def nested_estimate(
    search: Search, settings: NestedSettings, nested: NestedFolds, run: BranchedSearch
) -> NestedEstimate:
    name = run.evaluation.refit_metric
    metric = search.scoring.metric(name)
    rows, unread = _evidence_of_rows(search, settings, metric, nested, run)
    # Without predictions of all outer rows nothing can be resampled; the spread of fold scores is left.
    if rows is None and settings.interval_name == BOOTSTRAP:
        settings = replace(settings, interval=NADEAU_BENGIO)
    return _Conclusion(search, settings, nested, run, metric, rows, unread).estimate()


def _evidence_of_rows(
    search: Search, settings: NestedSettings, metric: Metric, nested: NestedFolds, run: BranchedSearch
) -> tuple[Candidates | None, str]:
    """The evidence of the outer rows, or None and why: empty where the score is of folds alone."""
    cells = [tested.cell for tested in run.tested[: len(nested.outer)]]
    predictions = [cell.predictions for cell in cells if cell is not None and cell.state is not CellState.FAILED]
    asked = search.estimation.aggregate
    by_rows = settings.interval_name in (TEST_PART, BOOTSTRAP) or settings.scales(asked, metric).value != "folds"
    if not by_rows or len(predictions) < len(nested.outer):
        return None, ""
    if settings.interval_name == TEST_PART:
        asked = "pooled"  # the same as the others: the rows are those of one fold
    try:
        return outer_evidence(search, metric, nested.outer, predictions, asked, _drawn(search)), ""
    except InputError as error:
        return None, reason_of(error)


def _drawn(search: Search) -> Settings:
    level, alternative = search.confidence_level, search.alternative
    return Settings(confidence_level=level, alternative=alternative, entropy=search.entropy)


@dataclass(frozen=True, eq=False)
class _Conclusion:
    search: Search
    settings: NestedSettings
    nested: NestedFolds
    run: BranchedSearch
    metric: Metric
    rows: Candidates | None  # of the outer folds, where they are read
    unread: str  # why they cannot be

    def estimate(self) -> NestedEstimate:
        search, metric, evaluation = self.search, self.metric, self.run.evaluation
        names = search.configurations.names
        value, reason, flags = self._value()
        outer_interval = None if reason else self._interval(value)
        if reason:
            flags |= Flag.UNDEFINED.of(reason=reason)
        if outer_interval is not None:
            flags |= outer_interval.flags
        flags |= self._flags()
        constant = constant_of_rows(metric, search.task.truth, self._segments(), search.task.sample_weight)
        agreement = agreement_of([fold.selected for fold in self.outer], names)
        selected = [fold.selected for fold in self.outer if fold.selected is not None]
        frequency = np.bincount(selected, minlength=len(names)) / max(len(selected), 1)
        estimate = final_estimate(
            metric,
            "nested_cv",
            value,
            uncorrected=self._uncorrected(),
            interval=None if outer_interval is None else outer_interval.interval,
            standard_error=None if outer_interval is None else outer_interval.standard_error,
            selected=evaluation.winner,
            selected_name=names[evaluation.winner],
            n_rows_used=int((search.folds.labels >= 0).any(axis=1).sum()),
            selection_frequency=frequency,
            flags=flags,
            provenance=self._provenance(outer_interval),
            constant=constant,
        )
        if reason or (outer_interval is not None and outer_interval.reason):
            message = f"{metric.name}: {' '.join(estimate.flags.values())}"
            warnings.warn(HeldoutWarning(message), stacklevel=5)
        return estimate.extended(
            NestedEstimate,
            outer_folds=self.outer,
            names=tuple(names),
            greater_is_better=metric.greater_is_better,
            agreement=agreement,
            model=evaluation.model,
            evaluation=evaluation,
            n_fits=self.run.n_fits,
            n_fits_saved=self.run.n_fits_saved,
        )

    @cached_property
    def outer(self) -> tuple[OuterFold, ...]:
        names, run = self.search.configurations.names, self.run
        return tuple(
            OuterFold(
                repeat=branch.repeat,
                fold=branch.left_out[0],
                selected=chosen.winner,
                selected_name="" if chosen.winner is None else names[chosen.winner],
                tested=(j := tested.configuration),
                tested_name="" if j is None else names[j],
                inner_scores=chosen.scores,
                inner_score=float("nan") if j is None else float(chosen.scores[j]),
                score=tested.score,
                training_rows=branch.refit.train,
                test_rows=branch.refit.test,
                scores=tested.scores,
                failures=chosen.failures,
                barriers=chosen.barriers,
                reason=tested.reason,
            )
            for branch, chosen, tested in zip(self.nested.outer, run.chosen, run.tested, strict=False)
        )

    @property
    def scales(self) -> Scales:
        """Of the choice, and of the value: all outer rows together only where that was possible."""
        asked = self.search.estimation.aggregate
        if asked != "auto":
            scale: Scale = asked
        elif self.rows is None or self.settings.scales(asked, self.metric).value == "folds":
            scale = "folds"
        else:
            scale = self.rows.details.get("scale_of_value", "folds")
        return Scales(self.search.estimation.scale_of_selection, scale)

    def _value(self) -> tuple[float, str, dict[Flag, str]]:
        """The estimate, or NaN and the reason: without the score of a fold the mean is not that of all rows."""
        # A fold that failed is no gap at random: the mean of the others would be of easier data.
        for fold, tested in zip(self.outer, self.run.tested, strict=False):
            if tested.cell is None or tested.cell.state is CellState.FAILED:
                what = "has no winner" if tested.configuration is None else "has a winner that failed"
                return float("nan"), f"{_place(fold)} {what} ({fold.reason})", {}
        if self.scales.value != "folds":
            return *((float("nan"), self.unread) if self.rows is None else _score_of_rows(self.rows)), {}
        flags = dict[Flag, str]()
        if self.rows is not None and Flag.INCOMPARABLE_FOLDS in self.rows.flags:
            flags[Flag.INCOMPARABLE_FOLDS] = self.rows.flags[Flag.INCOMPARABLE_FOLDS]
        scores = np.array([fold.score for fold in self.outer])
        undefined = np.isnan(scores)
        # Undefined for lack of a class is the fold's fault; a missing score otherwise is an error.
        for number in np.flatnonzero(undefined).tolist():
            if is_defined(self.search, self.metric, self.outer[number].test_rows):
                why = f"{_place(self.outer[number])} has no score ({self.outer[number].reason})"
                return float("nan"), why, flags
        if undefined.all():
            return float("nan"), f"{self.metric.name} is undefined in every outer fold", flags
        if undefined.any():
            places = [(fold.repeat, fold.fold) for fold in self.outer if np.isnan(fold.score)]
            flags |= flag_of_undefined_folds(self.metric, self.search.task.truth, places, len(scores))
        return float(scores[~undefined].mean()), "", flags

    def _segments(self) -> Codes:
        """(N, R): by what the value is scored: codes of the outer folds, or of repeats."""
        repeats = list(dict.fromkeys(branch.repeat for branch in self.nested.outer))
        segments = np.full((self.search.task.n_rows, len(repeats)), -1, dtype=np.int32)
        for number, branch in enumerate(self.nested.outer):
            column = repeats.index(branch.repeat)
            segments[branch.refit.test, column] = number if self.scales.value == "folds" else column
        return segments

    def _interval(self, value: float) -> OuterInterval | None:
        """The interval of a value; None without ``interval``."""
        name, search = self.settings.interval_name, self.search
        if name is None:
            return None
        if name in (TEST_PART, BOOTSTRAP):
            methods = METHODS_OF_TEST_PART if name == TEST_PART else METHODS_OF_FOLDS
            return (
                unknown_ends(_drawn(search), self.unread)
                if self.rows is None
                else interval_of_rows(self.rows, methods)
            )
        bates = None
        if name == NADEAU_BENGIO:
            spread = nadeau_bengio(np.array([fold.score for fold in self.outer]), self.nested.test_share, value)
        elif lacking := self._without_winner():
            spread = Spread(value, float("nan"), reason=f"a search without {lacking} has no winner that fits")
        else:
            bates = self._bates()
            spread = bates.spread
        interval = interval_around(spread, self.metric, search.confidence_level, search.alternative)
        flags = Flag.NO_BOUND.of(reason=spread.reason) if spread.reason else {}
        return OuterInterval(interval, spread.standard_error, flags=flags, reason=spread.reason, bates=bates)

    def _tested(self, branches: Sequence[NestedBranch], first: int) -> Iterator[tuple[NestedBranch, BranchScore]]:
        """Branches with what they gave; ``first``: the number of the first of them in the order of the run."""
        return zip(branches, self.run.tested[first : first + len(branches)], strict=True)

    @property
    def _pairs(self) -> Iterator[tuple[NestedBranch, BranchScore]]:
        # Branches were run in this order: outer folds, pairs of folds, further draws.
        return self._tested(self.nested.pairs, len(self.nested.outer))

    @property
    def _further(self) -> Iterator[tuple[NestedBranch, BranchScore]]:
        return self._tested(self.nested.further, len(self.nested.outer) + len(self.nested.pairs))

    def _without_winner(self) -> str:
        """What a search left out that has no winner; empty where all have one."""
        for branches, left_out in (
            (self._pairs, "two of the folds"),
            (self._further, "a fold of the further draws"),
        ):
            if any(tested.cell is None or tested.cell.state is CellState.FAILED for _, tested in branches):
                return left_out
        return ""

    def _bates(self) -> Bates:
        outside: dict[tuple[int, int], Floats] = {}
        inside: dict[tuple[int, int], list[Floats]] = {}
        by_repeat: dict[int, list[tuple[int, int]]] = {}
        for branch, tested in self._tested(self.nested.outer, 0):
            place = branch.repeat, branch.left_out[0]
            outside[place], inside[place] = self._row_values(branch, tested), []
            by_repeat.setdefault(branch.repeat, []).append(place)
        for branch, tested in self._pairs:
            values = self._row_values(branch, tested)
            first, second = branch.left_out
            # The test rows of a pair are those of its first fold, then those of its second.
            cut = len(outside[branch.repeat, first])
            # The rows of one fold, by a model trained on neither, are inner values of the other fold.
            inside[branch.repeat, second].append(values[:cut])
            inside[branch.repeat, first].append(values[cut:])
        further = [self._row_values(branch, tested) for branch, tested in self._further]
        return bates_hastie_tibshirani(
            [[outside[place] for place in places] for places in by_repeat.values()],
            [[np.concatenate(inside[place]) for place in places] for places in by_repeat.values()],
            float(np.concatenate(further).mean()) if further else None,
        )

    def _row_values(self, branch: NestedBranch, tested: BranchScore) -> Floats:
        """The metric of each row by itself, in the order of the test rows."""
        assert tested.cell is not None, "called for fitted cells only"
        metric, held = self.metric, tested.cell.predictions
        response = next(response for response in metric.responses if response in held)
        predictions = held[response]
        if response is Response.SURVIVAL:
            predictions = at_times_of(metric, predictions, self.search.scoring.times)
        predictions = predictions[:, None]
        truth, values = self.search.task.truth.rows(branch.refit.test), []
        # A weighting of one row for each row is an identity matrix, which is made in parts.
        for start in range(0, len(predictions), _ROWS_AT_A_TIME):
            rows = slice(start, start + _ROWS_AT_A_TIME)
            part = np.arange(len(predictions))[rows]
            with quiet_if_foreign([metric]):
                statistic = metric.statistic(truth.rows(part), predictions[rows])
                values.append(statistic.all(np.eye(len(part), dtype=np.uint8))[:, 0])
        return np.concatenate(values).astype(np.float64)

    def _flags(self) -> dict[Flag, str]:
        search, settings, nested = self.search, self.settings, self.nested
        predictions, labels = self.run.evaluation.predictions, search.folds.labels
        flags = {**search.flags, **flags_of_order(search, predictions, self.run.evaluation.winner)}
        if settings.across == "all":
            flags |= Flag.SELECTION_UNCORRECTED.of()
        if settings.interval_name == BATES and nested.n_repeats < USUAL_REPEATS:
            drawn = "one draw" if nested.n_repeats == 1 else f"{nested.n_repeats} draws"
            flags |= Flag.FEW_REPEATS.of(repeats=f"{drawn} of the folds")
        development_sets = isinstance(settings.inner, str) and settings.inner == HOLD_OUT
        if development_sets and nested.n_folds is not None and len(search.configurations) > 1:
            flags |= Flag.OTHER_CHOICE_DEPLOYED.of(folds=nested.n_folds)
        flags |= flag_of_failed(predictions.names, predictions.failed)
        if len(search.configurations) == 1:
            flags |= Flag.SINGLE_CONFIGURATION.of()
        if not search.folds.exchangeable:
            flags |= Flag.NOT_EXCHANGEABLE.of()
        return flags | flag_of_incomplete(labels >= 0)

    def _uncorrected(self) -> float:
        """The score of the deployed configuration in the search on all rows, on the scale of the value."""
        evaluation = self.run.evaluation
        name = evaluation.refit_metric
        whole = evaluation.whole_scores(self.scales.value)
        if whole is not None:
            return float(whole[name][evaluation.winner])
        return float(mean_over_splits(evaluation.fold_scores[name].values)[evaluation.winner])

    def _provenance(self, interval: OuterInterval | None) -> dict[str, Any]:
        search, settings, nested, scales = self.search, self.settings, self.nested, self.scales
        sources = [*SOURCES, *SOURCES_OF_INTERVAL.get(settings.interval_name or "", ())]
        sources += () if interval is None else interval.sources
        sources += SOURCES_ACROSS if settings.across == "all" else ()
        sources += search.drop.sources if search.drop is not None else ()
        sources += () if search.imputation is None else search.imputation.sources_of_fits
        sources += [*search.estimation.rule.sources, *self.metric.sources]
        provenance: dict[str, Any] = {
            "quantity": QUANTITY_ONE_SPLIT if nested.is_one_split else QUANTITY_NESTED,
            **settings_provenance(search.entropy),
            "task": str(search.task.truth.kind),
            "aggregate": scales.selection,
            **({} if scales.value == scales.selection else {"scale_of_value": scales.value}),
            "selection": search.estimation.rule.name,
            "ties": TIES,
            "inner": settings.inner if isinstance(settings.inner, str | int) else repr(settings.inner),
            "across": settings.across,
            "interval": settings.interval_name,
            "drop": None if search.drop is None else search.drop.name,
            "n_rows": search.task.n_rows,
            "n_configurations": len(search.configurations),
            "n_candidates": len(search.configurations) - len(self.run.evaluation.predictions.out),
            "n_folds": nested.n_folds,
            "n_repeats": nested.n_repeats,
            "n_outer_folds": len(nested.outer),
            "training_rows": search.folds.n_training_rows,
            "grouped": search.task.groups is not None,
            "weighted": search.task.sample_weight is not None,
            "sources": list(dict.fromkeys(sources)),
        }
        if search.imputation is not None:
            provenance["n_imputations"] = search.imputation.n_imputations
        if settings.interval_name == NADEAU_BENGIO:
            provenance["test_to_training_rows"] = nested.test_share
        if interval is not None and settings.interval_name == TEST_PART:
            provenance["interval_of_test_part"] = interval.method or None
        if interval is not None and (bates := interval.bates) is not None:
            provenance["bates_hastie_tibshirani"] = {
                "center": bates.spread.center, "inner": bates.inner, "outer": bates.outer, "plain": bates.plain,
                "bias": bates.bias, "further_draws": settings.further_draws,
                "inflation": bates.inflation, "unlimited_inflation": bates.unlimited_inflation,
                "mean_square": bates.mean_square,
            }  # fmt: skip
        return provenance


_ROWS_AT_A_TIME = 512


def _place(fold: OuterFold) -> str:
    return f"outer fold {fold.fold} of repeat {fold.repeat}"


def is_defined(search: Search, metric: Metric, rows: Indices) -> bool:
    """Whether the metric has a definition on these rows, so that a score that is not there is an error."""
    weights = search.task.sample_weight
    return not is_undefined(metric, search.task.truth.rows(rows), None if weights is None else weights[rows])


def pooled_score(
    search: Search, metric: Metric, outer: Sequence[NestedBranch], predictions: Sequence[TestPredictions]
) -> tuple[float, str]:
    """The metric on all outer predictions of a repeat, mean over repeats; or NaN and why there is none.

    With ``aggregate="within"``, of the pairs of rows of one outer fold.
    """
    asked = search.estimation.aggregate
    scale: AnyAggregate = asked if asked in ("within", "auto") else "pooled"
    try:
        return _score_of_rows(outer_evidence(search, metric, outer, predictions, scale, Settings()))
    except InputError as error:
        return float("nan"), reason_of(error)


def _score_of_rows(rows: Candidates) -> tuple[float, str]:
    value = rows.uncorrected
    return value, f"{rows.metric.name} is undefined on all outer rows together" if np.isnan(value) else ""


def outer_evidence(
    search: Search,
    metric: Metric,
    outer: Sequence[NestedBranch],
    cells: Sequence[TestPredictions],
    aggregate: AnyAggregate,
    settings: Settings,
) -> Candidates:
    """The evidence of the rows that outer folds predicted, as of one configuration.

    The folds have different winners, so what counts is a response that all of them have. Raises InputError where
    the metric reads none of these, or is not defined on the rows.
    """
    rows, held = _outer_predictions(search, outer, cells)
    if not any(response in held.responses for response in metric.responses):
        raise InputError(f"the winners have no response in common from which {metric.name} is computed.")
    task = search.task
    question = Question(
        metric=metric,
        selected_on={metric.name: metric},
        rule=Best(),
        aggregate=aggregate,
        settings=settings,
        groups=None if task.groups is None else task.groups[rows],
        sample_weight=None if task.sample_weight is None else task.sample_weight[rows],
        winner=0,
    )
    return gather(task.truth.rows(rows), held, question)


def _outer_predictions(
    search: Search, outer: Sequence[NestedBranch], cells: Sequence[TestPredictions]
) -> tuple[Indices, HeldOutPredictions]:
    """The rows of outer folds, in the order of these, and their predictions in the responses of all winners."""
    # Each row once, in the order in which folds test them: several repeats test the same rows.
    rows = np.array(list(dict.fromkeys(np.concatenate([branch.refit.test for branch in outer]).tolist())))
    place = np.zeros(search.task.n_rows, dtype=np.intp)
    place[rows] = np.arange(len(rows))
    repeats = list(dict.fromkeys(branch.repeat for branch in outer))
    folds = np.full((len(rows), len(repeats)), -1, dtype=np.int32)
    responses: dict[Response, Array] = {}
    for branch, held in zip(outer, cells, strict=True):
        at, column = place[branch.refit.test], repeats.index(branch.repeat)
        folds[at, column] = branch.left_out[0]
        # Winners may be of different kinds, such as a classifier without probabilities.
        for response in (response for response in cells[0] if all(response in other for other in cells)):
            if response not in responses:
                nothing = UNPREDICTED_LABEL if held[response].dtype.kind in "iu" else np.nan
                shape = (len(rows), 1, len(repeats), *held[response].shape[1:])
                responses[response] = np.full(shape, nothing, dtype=held[response].dtype)
            responses[response][at, 0, column] = held[response]
    predictions = HeldOutPredictions(
        responses=responses,
        names=("the winners of the outer folds",),
        folds=folds,
        classes=search.task.truth.classes,
        positive=search.task.truth.positive,
        training_rows=search.folds.n_training_rows,
        grouped=search.folds.grouped,
        exchangeable=search.folds.exchangeable,
        times=search.scoring.times,
    )
    return rows, predictions


def interval_of_rows(evidence: Candidates, methods: Sequence[Method]) -> OuterInterval:
    """The interval of the first method that fits and gives one; NaN ends and a flag where none does."""
    reason = f"the rows show no spread of {evidence.metric.name}"
    try:
        for method in methods:
            if method.unfit(evidence) is not None:
                continue
            estimate = method.estimate(evidence)
            if estimate.interval is not None and not np.isnan([*estimate.interval]).any():
                flags = dict(estimate.flags)
                # There were several configurations; only the column of their winners is one.
                flags.pop(Flag.SINGLE_CONFIGURATION, None)
                return OuterInterval(
                    estimate.interval, estimate.standard_error, method.name, method.sources[:1], flags
                )
    except InputError as error:
        reason = reason_of(error)
    return unknown_ends(evidence.settings, reason)


def unknown_ends(settings: Settings, reason: str) -> OuterInterval:
    """NaN ends and the flag that says why."""
    nothing = Interval(math.nan, math.nan, settings.level, settings.alternative)
    return OuterInterval(nothing, flags=Flag.NO_BOUND.of(reason=reason), reason=reason)
