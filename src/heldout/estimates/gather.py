"""Gathering evidence: which rows and configurations count, how scores are aggregated, who won."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.estimates.base import Evidence, Matrix, Settings
from heldout.kernels.dispatch import KERNELS
from heldout.metrics.aggregate import AggregateScore, aggregate_score
from heldout.metrics.base import Metric, Needs
from heldout.predictions import HeldOutPredictions
from heldout.selection.base import NONE_CHOSEN, SelectionRule
from heldout.selection.replay import SelectionReplay
from heldout.task import Truth, labels_text
from heldout.wording import Flag

Aggregate: TypeAlias = Literal["pooled", "folds"]
AGGREGATES = ("pooled", "folds")
FEWEST_IN_FOLD = 8
FEW_GROUPS = 10


@dataclass(frozen=True, eq=False)
class Question:
    """What is to be estimated, beside the predictions.

    Attributes
    ----------
    metric : Metric
        Reported.
    selected_on : mapping of str to Metric
        What the selection rule reads, the refit metric first.
    params : sequence of mapping
        Of each configuration, for rules that read them.
    winner : int or None
        The chosen configuration where the search has chosen already; else the rule chooses on the observed
        scores.
    """

    metric: Metric
    selected_on: Mapping[str, Metric]
    rule: SelectionRule
    aggregate: Aggregate
    settings: Settings
    groups: NDArray[Any] | None = None
    sample_weight: NDArray[np.float64] | None = None
    params: Sequence[Mapping[str, Any]] = ()
    winner: int | None = None


def gather(truth: Truth, predictions: HeldOutPredictions, question: Question) -> Evidence:
    """Bind predictions to a question.

    Raises
    ------
    InputError
        When no configuration or row is left, a class is too small to be drawn, folds are needed and not known, or
        a group stands in several folds.
    """
    flags: dict[Flag, str] = {}
    candidates, in_play = _race(predictions, _metrics_read(question), flags)
    used = np.flatnonzero(in_play.any(axis=1))
    if question.winner is not None and question.winner not in candidates:
        raise InputError(
            f"the winner, {predictions.names[question.winner]}, has no predictions that "
            f"{question.metric.name} can read"
        )
    _flag_incomplete(in_play, used, flags)
    unit_of_row = _units(question.groups, used, flags)
    mine = truth.rows(used)
    segments = _segmentations(predictions, in_play, used, question)
    _check_enough(mine, question, unit_of_row)
    _check_groups_in_folds(question.groups, used, segments["folds"])
    bound = _Binder(mine, predictions, candidates, used, question.sample_weight)
    matrix = _matrix(bound, segments, question, unit_of_row, flags)
    observed = np.ones((1, len(used)), dtype=np.uint8)
    winner = question.winner if question.winner is not None else _winner(matrix.replay, observed)
    if not predictions.exchangeable:
        flags[Flag.NOT_EXCHANGEABLE] = Flag.NOT_EXCHANGEABLE.filled()
    return Evidence(
        metric=question.metric,
        names=predictions.names,
        candidates=candidates,
        winner=winner,
        settings=question.settings,
        matrix=matrix,
        fold_scores=None if matrix.by_fold is None else matrix.by_fold.observed_by_segment(),
        n_rows_used=len(used),
        flags=flags,
        provenance=_provenance(truth, predictions, question, candidates),
    )


def _metrics_read(question: Question) -> list[Metric]:
    return list(dict.fromkeys([question.metric, *question.selected_on.values()]))


def _race(
    predictions: HeldOutPredictions, metrics: Sequence[Metric], flags: dict[Flag, str]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The candidates, and the cells (N, R) that all of them predicted."""
    predicted = np.logical_and.reduce([predictions.predicted(metric) for metric in metrics])
    reasons = dict(predictions.failed)
    for column in np.flatnonzero(~predicted.any(axis=(0, 2))).tolist():
        reasons.setdefault(column, "it predicted no row")
    for column in _missing_whole_folds(predicted, predictions.folds, frozenset(reasons)):
        reasons[column] = "it predicted no row of a fold that others predicted"
    candidates = np.array([j for j in range(predictions.n_configurations) if j not in reasons], dtype=np.intp)
    if not candidates.size:
        first = min(reasons)
        raise InputError(
            f"all {predictions.n_configurations} configurations failed, so nothing can be estimated; the first: "
            f"{predictions.names[first]}: {reasons[first]}."
        )
    if reasons:
        shown = "; ".join(f"{predictions.names[j]} ({reasons[j]})" for j in sorted(reasons)[:3])
        more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
        flags[Flag.FAILED_CONFIGURATIONS] = Flag.FAILED_CONFIGURATIONS.filled(
            failed=len(reasons), total=predictions.n_configurations, which=shown + more
        )
    in_play = predicted[:, candidates].all(axis=1)
    if not in_play.any():
        raise InputError(
            f"no row was predicted by all {len(candidates)} configurations; leave out the configurations that "
            "predicted few rows."
        )
    return candidates, in_play


def _missing_whole_folds(
    predicted: NDArray[np.bool_], folds: NDArray[np.int32] | None, failed: frozenset[int]
) -> list[int]:
    """Configurations without a prediction in a fold of which another has some: that fold failed."""
    if folds is None:
        return []
    missing: set[int] = set()
    for repeat in range(folds.shape[1]):
        for code in np.unique(folds[folds[:, repeat] >= 0, repeat]):
            has = predicted[folds[:, repeat] == code, :, repeat].any(axis=0)
            if has.any():
                missing |= set(np.flatnonzero(~has).tolist())
    return sorted(missing - failed)


def _flag_incomplete(in_play: NDArray[np.bool_], used: NDArray[np.intp], flags: dict[Flag, str]) -> None:
    if not in_play.all():
        flags[Flag.INCOMPLETE_PREDICTIONS] = Flag.INCOMPLETE_PREDICTIONS.filled(
            used=len(used), total=len(in_play), cells=in_play[used].mean()
        )


def _units(groups: NDArray[Any] | None, used: NDArray[np.intp], flags: dict[Flag, str]) -> NDArray[np.intp]:
    if groups is None:
        return np.arange(len(used))
    codes = np.unique(groups[used], return_inverse=True)[1].astype(np.intp)
    n_groups = int(codes.max()) + 1
    if n_groups < 2:
        raise InputError("all rows used are of one group, so none can be left out; at least 2 groups are needed.")
    if n_groups < FEW_GROUPS:
        flags[Flag.FEW_GROUPS] = Flag.FEW_GROUPS.filled(groups=n_groups)
    return codes


def _segmentations(
    predictions: HeldOutPredictions, in_play: NDArray[np.bool_], used: NDArray[np.intp], question: Question
) -> dict[str, NDArray[np.int32] | None]:
    """Segment codes (n, R) of both aggregates, on the rows used."""
    repeats = np.arange(in_play.shape[1], dtype=np.int32)[None, :]
    segments: dict[str, NDArray[np.int32] | None] = {
        "pooled": np.where(in_play, repeats, -1)[used].astype(np.int32),
        "folds": None,
    }
    if predictions.folds is not None:
        n_folds = int(predictions.folds.max()) + 1
        of_folds = predictions.folds + repeats * n_folds
        segments["folds"] = np.where(in_play & (predictions.folds >= 0), of_folds, -1)[used].astype(np.int32)
    elif question.aggregate == "folds":
        raise InputError("aggregate='folds' needs folds=, a fold label a row; or use aggregate='pooled'.")
    return segments


def _check_enough(truth: Truth, question: Question, unit_of_row: NDArray[np.intp]) -> None:
    """Something to draw and something to leave out, of every class that the metrics need."""
    units = "rows" if question.groups is None else "groups"
    n_units = int(unit_of_row.max()) + 1
    if n_units < 2:
        raise InputError(f"at least 2 {units} are needed to draw some and leave some out, got {n_units}.")
    needs = {metric.needs for metric in _metrics_read(question)}
    if truth.classes is None or not needs & {Needs.EVERY_CLASS, Needs.POSITIVE}:
        return
    wanted = range(truth.n_classes) if Needs.EVERY_CLASS in needs else [truth.positive or 0]
    for code in wanted:
        have = len(np.unique(unit_of_row[truth.values == code]))
        if have < 2:
            raise InputError(
                f"class {labels_text(truth.classes[code : code + 1])} has {have} {units}, and "
                f"{question.metric.name} needs at least 2, one to draw and one to leave out; gather more {units}."
            )


def _check_groups_in_folds(
    groups: NDArray[Any] | None, used: NDArray[np.intp], folds: NDArray[np.int32] | None
) -> None:
    if groups is None or folds is None:
        return
    for repeat in range(folds.shape[1]):
        tested = folds[:, repeat] >= 0
        pairs = np.unique(np.stack([_codes(groups[used][tested]), folds[tested, repeat]]), axis=1)
        twice = np.flatnonzero(np.bincount(pairs[0]) > 1)
        if twice.size:
            name = np.unique(groups[used][tested])[twice[:1]]
            raise InputError(
                f"group {labels_text(name)} stands in several folds of a repeat, so that its rows were predicted "
                "by models that had seen the group; use folds that keep groups whole, such as GroupKFold's."
            )


def _codes(labels: NDArray[Any]) -> NDArray[np.intp]:
    return np.unique(labels, return_inverse=True)[1]


@dataclass(frozen=True, eq=False)
class _Binder:
    """Binds metrics to the candidates' predictions of the rows used."""

    truth: Truth
    predictions: HeldOutPredictions
    candidates: NDArray[np.intp]
    used: NDArray[np.intp]
    sample_weight: NDArray[np.float64] | None

    def __call__(self, metric: Metric, segments: NDArray[np.int32]) -> AggregateScore:
        array = self.predictions.for_metric(metric)
        if len(self.used) < len(array):
            array = array[self.used]
        if len(self.candidates) < array.shape[1]:
            array = array[:, self.candidates]
        weights = None if self.sample_weight is None else self.sample_weight[self.used]
        return aggregate_score(metric, self.truth, array, segments, weights)


def _matrix(
    bind: _Binder,
    segments: Mapping[str, NDArray[np.int32] | None],
    question: Question,
    unit_of_row: NDArray[np.intp],
    flags: dict[Flag, str],
) -> Matrix:
    chosen, folds = segments[question.aggregate], segments["folds"]
    pooled = segments["pooled"]
    assert chosen is not None and pooled is not None
    selection = {metric: bind(metric, chosen) for metric in question.selected_on.values()}
    scores = selection.get(question.metric) or bind(question.metric, chosen)
    left_out = scores
    if question.aggregate == "folds":
        _flag_undefined_folds(scores, flags)
        least, what = _smallest_part(bind.truth, chosen)
        if least < FEWEST_IN_FOLD:
            left_out = bind(question.metric, pooled)
            flags[Flag.OUT_OF_BAG_POOLED] = Flag.OUT_OF_BAG_POOLED.filled(least=least, what=what)
    in_folds = question.aggregate == "folds"
    by_fold = None if folds is None else scores if in_folds else bind(question.metric, folds)
    read_by_fold: tuple[AggregateScore, ...] = ()
    if question.rule.reads_fold_scores and folds is not None:
        read_by_fold = tuple(
            selection[metric] if in_folds else bind(metric, folds) for metric in question.selected_on.values()
        )
    params = question.params or [{} for _ in bind.predictions.names]
    replay = SelectionReplay(
        question.rule, tuple(selection.values()), read_by_fold, bind.candidates, params, list(question.selected_on)
    )
    return Matrix(bind.truth, scores, left_out, by_fold, replay, unit_of_row)


def _flag_undefined_folds(scores: AggregateScore, flags: dict[Flag, str]) -> None:
    defined = scores.defined_segments(np.ones((1, scores.n_rows), dtype=np.uint8))[0]
    metric = scores.metric
    if not defined.any():
        raise InputError(
            f"{metric.name} is undefined in every fold (each needs {metric.needs}); use larger folds or "
            "aggregate='pooled'."
        )
    if not defined.all():
        flags[Flag.UNDEFINED_FOLDS] = Flag.UNDEFINED_FOLDS.filled(
            metric=metric.name, undefined=int((~defined).sum()), total=len(defined), needs=metric.needs
        )


def _smallest_part(truth: Truth, segments: NDArray[np.int32]) -> tuple[int, str]:
    """The fewest rows of a class (of all rows for a regression) in any fold, and of what."""
    least, what = truth.n_rows, "data"
    for repeat in range(segments.shape[1]):
        for code in np.unique(segments[segments[:, repeat] >= 0, repeat]):
            values = truth.values[segments[:, repeat] == code]
            if truth.classes is None:
                least = min(least, len(values))
                continue
            counts = np.bincount(values, minlength=truth.n_classes)
            if counts.min() < least:
                least = int(counts.min())
                what = f"class {labels_text([truth.classes[counts.argmin()]])}"
    return least, what


def _winner(replay: SelectionReplay, observed: NDArray[np.uint8]) -> int:
    column = int(replay.choose(observed)[0])
    if column == NONE_CHOSEN:
        said = "; ".join(message for score in replay.scores for message in score.failures)
        reason = f" ({said})" if said else ""
        raise InputError(f"no configuration has a defined score{reason}, so none could be chosen.")
    return int(replay.candidates[column])


def _provenance(
    truth: Truth, predictions: HeldOutPredictions, question: Question, candidates: NDArray[np.intp]
) -> dict[str, Any]:
    return {
        **settings_provenance(question.settings),
        "task": str(truth.kind),
        "pos_label": truth.pos_label,
        "aggregate": question.aggregate,
        "selection": question.rule.name,
        "ties": "the lowest index wins",
        "n_rows": predictions.n_rows,
        "n_configurations": predictions.n_configurations,
        "n_candidates": len(candidates),
        "n_repeats": predictions.n_repeats,
        "training_rows": predictions.training_rows,
        "grouped": question.groups is not None,
        "weighted": question.sample_weight is not None,
    }


def settings_provenance(settings: Settings) -> dict[str, Any]:
    """Seed, kernels and versions behind a number."""
    import sklearn

    from heldout._version import __version__

    return {
        "entropy": settings.entropy,
        "kernels": KERNELS,
        "versions": {"heldout": __version__, "scikit-learn": sklearn.__version__, "numpy": np.__version__},
    }


def with_flags(evidence: Evidence, flags: Mapping[Flag, str]) -> Evidence:
    """The same evidence with more to say."""
    return replace(evidence, flags={**evidence.flags, **flags})
