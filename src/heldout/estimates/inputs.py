"""Inputs: a user's arrays and settings, read and checked, and the evidence that each method needs of them."""

import warnings
from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np

from heldout import _defaults
from heldout._streams import DrawnSeed, RandomState
from heldout._text import counted
from heldout.configurations import are_same
from heldout.data.checks import call_text, check_aggregate, checked_flag
from heldout.data.limits import FEWER, check_room, enough_memory
from heldout.data.row_labels import in_one_order
from heldout.data.task import (
    TaskKind,
    Truth,
    array_of,
    checked_groups,
    checked_weights,
    has_fields,
    labels_text,
    no_labels,
    target_column,
    truth_of,
)
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates import input_arrays
from heldout.estimates.base import Method
from heldout.estimates.candidates import Matrix, matrix_of
from heldout.estimates.data_flags import flag_of_upside_down
from heldout.estimates.evidence import Candidates
from heldout.estimates.from_matrix import evidence_of, on_scale_of_folds, select
from heldout.estimates.input_arrays import ResponseName
from heldout.estimates.question import AnyAggregate, BlockLength, Question, Scales, settings_of
from heldout.estimates.types import Alternative, Estimate
from heldout.flags import Flag
from heldout.metrics import check_fits, metric_named
from heldout.metrics.aggregate import unfit_within
from heldout.metrics.base import Metric, Response, is_pair_based, positive_of, reads_as_numbers
from heldout.metrics.named import DECLARED
from heldout.predictions import HeldOutPredictions, SearchQuestion
from heldout.selection import AverageRank, Rule, Threshold, WeightRule, rule_of

WARNED = (Flag.FAILED_CONFIGURATIONS, Flag.UNDEFINED, Flag.SELECTION_NOT_REPLAYABLE, Flag.NO_BOUND)
"""Flags that are warnings too."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """A target, held-out predictions of it and a question about them, read and checked."""

    truth: Truth  # of N rows
    predictions: HeldOutPredictions
    question: Question
    method: Method | None = None  # None where neither the user nor the predictions name one
    default_aggregate: bool = False  # whether the user left ``aggregate`` out; then the question has "pooled"
    is_of_search: bool = False  # whether the aggregate is that of the search that made the predictions
    flags: Mapping[Flag, str] = field(default_factory=dict)  # of that search
    _gathered: dict[tuple[Scales, bool], Candidates] = field(default_factory=dict, repr=False)

    @cached_property
    def _matrix(self) -> Matrix:
        return matrix_of(self.truth, self.predictions, self.question)

    @cached_property
    def _part(self) -> Matrix:
        return self._matrix.of_part()

    def evidence(self, method: Method) -> Candidates:
        """The evidence that the method reads: gathered once for each aggregate that a winner is selected in."""
        scales = self._scales(method)
        # By both scales: methods with the same scales share one evidence, and so the draws.
        if (scales, method.draws_rows) not in self._gathered:
            with enough_memory("what the metric reads of the predictions", FEWER):
                chosen = select(self._part if method.draws_rows else self._matrix, scales)
                if scales == ("pooled", "pooled") and self._may_count_within:
                    chosen = on_scale_of_folds(chosen)
                evidence = evidence_of(chosen)
            evidence = replace(evidence, flags={**evidence.flags, **self.flags})
            self._gathered[scales, method.draws_rows] = evidence
        return self._gathered[scales, method.draws_rows]

    def _scales(self, method: Method) -> Scales:
        aggregate, metric = self.question.aggregate, self.question.metric
        if self.is_of_search or aggregate == "auto":  # as the search itself would with this method
            return Scales.of(aggregate, metric, method.scored)
        reads_folds = method.scored in ("folds", "folds if known") and self.predictions.folds is not None
        # A method that scores fold by fold takes fold means, whatever scale the user left to it.
        if reads_folds and not (
            aggregate == "within" and method.scored == "folds if known" and is_pair_based(metric)
        ):
            aggregate = "folds"
        return Scales.of(aggregate, metric)

    @property
    def _may_count_within(self) -> bool:
        """Whether the user left the aggregate open, and pairs within folds may be counted."""
        pairs = self.predictions.folds is not None and is_pair_based(self.question.metric)
        return self.default_aggregate and pairs and all(unfit_within(one) is None for one in self.question.metrics)


def read_inputs(
    y_true: Any,
    predictions: Any = None,
    *,
    metric: Any = None,
    method: Method | None = None,
    folds: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    aggregate: AnyAggregate | None = None,
    selection: Any = None,
    n_bootstraps: int | None = None,
    confidence_level: float | None = None,
    alternative: Alternative | None = None,
    classes: Any = None,
    pos_label: Any = None,
    response: ResponseName = _defaults.RESPONSE,
    threshold: float | None = None,
    adaptive: bool = False,
    block_length: BlockLength = None,
    n_rows_of_bootstrap: int | Literal["auto"] | None = "auto",
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Inputs:
    """Read and check the arguments of ``heldout.estimate``, where they are described.

    What is None is as the predictions remember it of their search, and the usual otherwise.
    """
    # Before anything is filled in: what the user named is told from what the predictions remember.
    given = {
        "metric": metric, "method": method, "folds": folds, "groups": groups, "sample_weight": sample_weight,
        "aggregate": aggregate, "selection": selection, "n_bootstraps": n_bootstraps,
        "confidence_level": confidence_level, "alternative": alternative, "random_state": random_state,
        "block_length": block_length, "n_rows_of_bootstrap": "auto",
    }  # fmt: skip
    if isinstance(y_true, input_arrays.FittedSearch):
        y_true, predictions = input_arrays.parts_of_search(y_true, predictions)
    elif hasattr(type(y_true), "fit") or hasattr(type(y_true), "trials"):  # a table may have columns of these names
        raise InputError(
            f"y_true must be true values, or a fitted search of heldout, got {type(y_true).__name__}; a finished "
            "search of another package is for `ho.correct(search)`, one of heldout must be fitted first."
        )
    source = y_true.predictions if isinstance(y_true, input_arrays.KnownPredictions) else predictions
    asked = source.remembered if isinstance(source, HeldOutPredictions) else SearchQuestion()
    # Blocks of the search are no setting of a method that draws no rows, and must not be refused for it.
    if method is not None and not method.draws_rows:
        asked = replace(asked, block_length=None)
    settings = settings_of(
        _first(n_bootstraps, asked.n_bootstraps, _defaults.BOOTSTRAPS),
        _first(confidence_level, asked.confidence_level, _defaults.LEVEL),
        _first(alternative, asked.alternative, _defaults.ALTERNATIVE),
        _first(random_state, asked.entropy),
        n_jobs,
        _first(block_length, asked.block_length),
        # None is a value here, so that the usual number stands for what was not named.
        asked.n_rows_of_bootstrap
        if isinstance(n_rows_of_bootstrap, str) and n_rows_of_bootstrap == "auto"
        else n_rows_of_bootstrap,
    )
    if aggregate is not None:
        check_aggregate(aggregate)
    if metric is None and asked.metric is None:
        instead = f" (the search itself has one: {asked.beyond})" if asked.beyond else ""
        raise InputError(f"metric must be given beside y_true, got None; a store alone needs neither{instead}.")
    named, rule = metric_named(_first(metric, asked.metric)), rule_of(_first(selection, asked.rule, "best"))
    if not (named.reads_truth or isinstance(source, HeldOutPredictions)):
        y_true, predictions, folds = _scores_alone(named, y_true, predictions, folds)
    y_true, predictions, folds, groups, sample_weight = in_one_order(
        {"y": y_true, "predictions": predictions, "folds": folds, "groups": groups, "sample_weight": sample_weight}
    ).values()
    # What was handed over as held-out predictions says itself which class its scores are of.
    knows_direction = isinstance(predictions, HeldOutPredictions)
    if isinstance(y_true, input_arrays.KnownPredictions):
        table = _arguments_of_table(y_true, predictions, named, rule, classes, pos_label, response, threshold)
        groups, sample_weight = _first(groups, table["groups"]), _first(sample_weight, table["sample_weight"])
        y_true, predictions, response, threshold = table["y_true"], table["predictions"], "auto", table["threshold"]
    elif predictions is None:
        raise InputError("predictions must be given beside y_true, got None.")
    truth = _truth(asked, y_true, named, predictions, classes, pos_label)
    check_room(predictions)
    question = Question(
        # The metric of the search was checked there, for the same target.
        metric=named if named is asked.metric else check_fits(named, truth),
        selected_on={},
        rule=rule,
        aggregate=_first(aggregate, asked.aggregate, "pooled"),
        settings=settings,
        groups=checked_groups(_first(groups, asked.groups), truth.n_rows),
        sample_weight=checked_weights(_first(sample_weight, asked.sample_weight), truth.n_rows),
        threshold=threshold if isinstance(rule, WeightRule) else None,
    )
    # Only what the user passed can contradict the search: a default is no question.
    differences = _differences(asked, question, method, source, folds, truth)
    differences = {name: pair for name, pair in differences.items() if given[name] is not None}
    # No search can select an average or a threshold: whoever asks for one knows that it is another question.
    if asked.of_search and not isinstance(rule, Threshold | WeightRule):
        _warn_of_differences(asked, differences)
    question = _with_selection(question, asked, differences, truth, getattr(source, "out", ()))
    with enough_memory("copies of the predictions", FEWER):
        held = _held_out(truth, predictions, question, response, threshold, folds)
    # Searches know which class their scores are of; arrays of others may be of the other one.
    if not knows_direction and asked.truth is None:
        held = replace(held, flags={**held.flags, **flag_of_upside_down(truth, held)})
    flags = dict(asked.flags)
    if question.winner is None:
        flags.pop(Flag.TIED_WINNER, None)
    return Inputs(
        truth,
        replace(held, adaptive=checked_flag("adaptive", adaptive) or held.adaptive),
        question,
        _first(method, asked.method),
        default_aggregate=aggregate is None and asked.aggregate is None,
        is_of_search=asked.truth is not None and asked.aggregate is not None and "aggregate" not in differences,
        flags=flags,
    )


DECISIVE = {"metric", "aggregate", "selection", "groups", "sample_weight", "folds"}
"""Arguments that decide which configuration wins."""


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _scores_alone(metric: Metric, scores: Any, predictions: Any, folds: Any) -> tuple[Any, Any, Any]:
    """A target for scores that have none, the scores, and their folds: by default nothing was trained on a part."""
    if predictions is not None:
        raise InputError(
            f"metric '{metric.name}' is of scores, which need no true values; pass the scores alone, in place of "
            "y_true.",
            argument="predictions",
        )
    n_rows = len(array_of(scores, "predictions"))
    return np.full(n_rows, metric.range[1]), scores, np.zeros(n_rows) if folds is None else folds


def _arguments_of_table(
    table: input_arrays.KnownPredictions, predictions: Any, metric: Metric, rule: Rule, *readings: Any
) -> dict[str, Any]:
    if predictions is not None:
        raise InputError(
            "predictions must be left out beside a table that holds them; pass the true values as an array to give "
            "other predictions."
        )
    classes, pos_label, response, threshold = readings
    return table.arguments(
        metric, rule, classes=classes, pos_label=pos_label, response=response, threshold=threshold
    )


def _truth(
    asked: SearchQuestion, y_true: Any, metric: Metric, predictions: Any, classes: Any, pos_label: Any
) -> Truth:
    if asked.truth is not None:
        truth = _truth_of_search(asked.truth, y_true, classes, pos_label)
    else:
        truth = truth_for(y_true, metric, predictions, classes, pos_label)
    if metric.reads_truth or truth.classes is None:
        return truth
    return replace(truth, kind=TaskKind.MULTICLASS, positive=None)  # classes are tasks, of which none is positive


def _truth_of_search(aim: Truth, y_true: Any, classes: Any, pos_label: Any) -> Truth:
    """The target of the search, which ``y_true`` must repeat."""
    if aim.kind is TaskKind.OTHER:
        truth = replace(aim, values=np.asarray(y_true.toarray() if hasattr(y_true, "toarray") else y_true))
    elif aim.classes is not None:
        truth = _truth_of_held(y_true, aim.classes, aim.positive, classes, pos_label)
    else:
        truth = truth_of(y_true, aim.kind, classes=classes, pos_label=pos_label)
    if truth.n_rows != aim.n_rows:
        return truth  # refused where the predictions are read
    is_number = aim.kind is TaskKind.REGRESSION  # rounded to float32 in one of the two, maybe
    same = np.isclose(truth.values, aim.values, rtol=1e-6, atol=0) if is_number else truth.values == aim.values
    same = same.reshape(aim.n_rows, -1).all(axis=1)
    if not same.all():
        raise InputError(
            "y_true is not the target of the search that made these predictions: "
            f"{counted(int((~same).sum()), 'row')} of {aim.n_rows} differ, the first is row {int(same.argmin())}, "
            "counted from 0; pass the y of its fit in the same order (with another target, the arrays of "
            "predictions.responses).",
            argument="y_true",
        )
    return aim


def _differences(
    asked: SearchQuestion, question: Question, method: Method | None, source: Any, folds: Any, truth: Truth
) -> dict[str, tuple[Any, Any]]:
    """What the predictions remember and what is asked instead, by argument, where they differ."""
    settings = question.settings
    pairs: dict[str, tuple[Any, Any]] = {
        "metric": (_with_positive(asked.metric, truth), _with_positive(question.metric, truth)),
        "method": (asked.method, method),
        "aggregate": (asked.aggregate, question.aggregate),
        "selection": (asked.selection, question.rule),
        "n_bootstraps": (asked.n_bootstraps, settings.n_bootstraps),
        "confidence_level": (asked.confidence_level, settings.level),
        "alternative": (asked.alternative, settings.alternative),
        "random_state": (asked.entropy, settings.entropy),
    }
    if asked.truth is not None:  # all of the question is known, and what is None was none
        size = source.n_rows, source.n_repeats
        pairs |= {
            "block_length": (asked.block_length, settings.blocks),
            "n_rows_of_bootstrap": (asked.n_rows_of_bootstrap, settings.n_rows),
            "groups": (asked.groups, question.groups),
            "sample_weight": (asked.sample_weight, question.sample_weight),
            "folds": (source.folds, None if folds is None else input_arrays.folds_from_labels(folds, *size)),
        }
    scales = [Scales.of(aggregate or question.aggregate, question.metric) for aggregate in pairs["aggregate"]]
    if scales[0] == scales[1]:
        del pairs["aggregate"]  # "auto" and "folds" are the same for a mean over rows
    # None was remembered as "none" for these, so a value beside it is another question.
    comparable = {name: pair for name, pair in pairs.items() if pair[0] is not None or name in _MAY_BE_NONE}
    return {name: (its, value) for name, (its, value) in comparable.items() if not _is_same(its, value)}


def _with_positive(metric: Metric | None, truth: Truth) -> Any:
    """The metric with the name of its positive class: "f1" is the same as f1 of the task's own positive class."""
    fields: Mapping[str, Any] = getattr(metric, "__dataclass_fields__", {})
    if metric is None or "pos_label" not in fields:
        return metric
    code = positive_of(metric, truth)
    return metric if code is None else replace(cast(Any, metric), pos_label=truth.label_of(code))


_MAY_BE_NONE = ("block_length", "n_rows_of_bootstrap", "groups", "sample_weight")


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        # A column (N, 1) and an array (N,) of the same labels are the same groups.
        return np.array_equal(np.squeeze(one), np.squeeze(other))
    return are_same(one, other) or repr(one) == repr(other)  # metrics that call a function equal themselves only


def _warn_of_differences(asked: SearchQuestion, differences: Mapping[str, tuple[Any, Any]]) -> None:
    """Warn that another question is asked than that of the search, or that its own estimate rests on more."""
    if differences:
        words = [_words(name, *pair) for name, pair in differences.items()]
        settings, given = (", ".join(texts) for texts in zip(*words, strict=True))
        message = (
            f"The search that made these predictions has {settings}. With {given} the answer is not its own "
            "(search.estimate_ in Python)."
        )
        warnings.warn(HeldoutWarning(message), stacklevel=4)
    elif asked.beyond:
        message = (
            f"The search's own estimate (search.estimate_ in Python) rests on {asked.beyond}; this answer, on its "
            "predictions alone."
        )
        warnings.warn(HeldoutWarning(message), stacklevel=4)


def _words(name: str, *values: Any) -> list[str]:
    """A value, and the one in its place, as arguments of a call; by their names where these tell them apart."""
    if any(isinstance(value, np.ndarray | list | tuple) or hasattr(value, "columns") for value in values):
        return [f"`{name}={'None' if value is None else ''}`" for value in values]
    names = [None if isinstance(value, DrawnSeed) else getattr(value, "name", value) for value in values]
    shown = [value if value is None or isinstance(value, int | float) else str(value) for value in names]
    return [f"`{name}={value!r}`" for value in (shown if len({*shown}) > 1 else map(call_text, values))]


def _with_selection(
    question: Question, asked: SearchQuestion, differences: Mapping[str, Any], truth: Truth, out: Container[int]
) -> Question:
    """The question with what its rule reads, and with the winner of the search where nothing decisive differs."""
    metric = question.metric if asked.metric is None or "metric" in differences else asked.metric
    rule = question.rule if asked.rule is None or "selection" in differences else asked.rule
    # Metric objects of the search are kept, so that what is equal is computed once and stays equal in bits.
    is_own = rule is asked.rule and (metric is asked.metric or rule.reads_all_metrics)
    selected_on = asked.selected_on if is_own and asked.selected_on else _selected_on(rule, metric, truth)
    # The winner of the search holds only for its own rows, metric and rule.
    winner = None if asked.winner in out or DECISIVE & differences.keys() else asked.winner
    return replace(question, metric=metric, rule=rule, selected_on=selected_on, params=asked.params, winner=winner)


def warn_of(*estimates: Estimate, stacklevel: int) -> None:
    """Warn of each flag that a user must not miss, once each."""
    sentences = [estimate.flags[flag] for estimate in estimates for flag in WARNED if flag in estimate.flags]
    for sentence in dict.fromkeys(sentences):
        warnings.warn(HeldoutWarning(sentence), stacklevel=stacklevel + 1)


def truth_for(y_true: Any, metric: Metric, predictions: Any, classes: Any, pos_label: Any) -> Truth:
    if metric.tasks == {TaskKind.SURVIVAL} or has_fields(y_true):
        return truth_of(y_true, TaskKind.SURVIVAL, classes=classes, pos_label=pos_label)
    if isinstance(predictions, HeldOutPredictions) and predictions.classes is not None:
        return _truth_of_held(y_true, predictions.classes, predictions.positive, classes, pos_label)
    if metric.tasks == {TaskKind.REGRESSION} or not metric.reads_truth:
        return truth_of(y_true, TaskKind.REGRESSION, classes=classes, pos_label=pos_label)
    column = target_column(y_true)
    # A metric of both kinds goes by the numbers themselves.
    if TaskKind.REGRESSION in metric.tasks:
        if classes is None and pos_label is None and reads_as_numbers(metric, column):
            return truth_of(column, TaskKind.REGRESSION)
        return truth_of(y_true, classes=classes, pos_label=pos_label)
    fractions = no_labels(column)
    if classes is None and fractions.any():
        fitting = sorted(entry.name for entry in DECLARED if TaskKind.REGRESSION in entry.tasks)
        raise InputError(
            f"metric '{metric.name}' is for labels, but y_true holds numbers with fractions (such as "
            f"{column[fractions][0]:.6g}); metrics that fit: {', '.join(fitting)}. If they are labels, "
            "list them as `classes=`.",
            argument="metric",
        )
    return truth_of(column, TaskKind.MULTICLASS, classes=classes, pos_label=pos_label)


def _truth_of_held(y_true: Any, labels: Any, positive: int | None, classes: Any, pos_label: Any) -> Truth:
    """The target coded as the predictions are; ``classes`` and ``pos_label`` may repeat their coding only."""
    if classes is not None and array_of(classes, "classes").tolist() != np.asarray(labels).tolist():
        raise InputError(f"the predictions are of classes {labels_text(labels)}, so classes cannot be {classes!r}.")
    if positive is not None:
        label = labels[positive]
        if pos_label is not None and (np.ndim(pos_label) or pos_label != label):
            raise InputError(
                f"the predictions point to class {labels_text([label])}, so `pos_label` cannot be {pos_label!r}.",
                argument="pos_label",
            )
        pos_label = label
    return truth_of(y_true, TaskKind.MULTICLASS, classes=labels, pos_label=pos_label)


def _selected_on(rule: Rule, measured: Metric, truth: Truth) -> dict[str, Metric]:
    """The metrics that a rule reads, by the names that it uses for them."""
    if isinstance(rule, Threshold) and rule.metric is not None:
        tuned = _same(check_fits(metric_named(rule.metric), truth), measured)
        return {tuned.name: tuned}
    if not isinstance(rule, AverageRank):
        return {measured.name: measured}
    if rule.metrics is None:
        raise InputError(
            "`selection='average_rank'` ranks by several metrics, but here there is only one; name them: "
            "\"average_rank(metrics=['roc_auc', 'log_loss'])\"."
        )
    metrics = [_same(check_fits(metric_named(metric), truth), measured) for metric in rule.metrics]
    return dict(zip(rule.metric_names or (), metrics, strict=True))


def _same(metric: Metric, measured: Metric) -> Metric:
    """``measured`` where the two are equal, so that it is computed once."""
    return measured if metric == measured else metric


def _held_out(
    truth: Truth,
    predictions: Any,
    question: Question,
    response: ResponseName,
    threshold: float | None,
    folds: Any,
) -> HeldOutPredictions:
    """Held-out predictions with every response that some metric reads."""
    rule, metrics = question.rule, question.metrics
    threshold = input_arrays.threshold_of_reading(rule, metrics, threshold)
    readers = [input_arrays.read_as(rule, metric, truth) for metric in metrics]
    input_arrays.refuse_labels(rule, truth, predictions, response)
    if isinstance(predictions, HeldOutPredictions):
        for metric in readers:
            predictions = input_arrays.checked_held_out(
                truth, predictions, metric, response=response, threshold=threshold, folds=folds
            )
        return predictions
    # Only metrics on labels take a threshold; without one of them it would do nothing, and is refused.
    cuts = [Response.LABELS in metric.responses for metric in readers]
    held = [
        input_arrays.read_predictions(
            truth,
            predictions,
            metric,
            response=response,
            threshold=threshold if cut or not any(cuts) else None,
            folds=folds,
        )
        for metric, cut in zip(readers, cuts, strict=True)
    ]
    if len(held) == 1:
        return held[0]
    # A probability and a label of the same configuration are one prediction in two responses.
    responses = {kind: array for part in held for kind, array in part.responses.items()}
    failed = {column: why for part in held for column, why in part.failed.items()}
    return replace(held[0], responses=responses, failed=failed)
