"""The estimate of a nested cross-validation from all its fits."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.errors import HeldoutWarning, InputError, reason_of
from heldout.estimates.base import Spread, final_estimate, interval_around, nadeau_bengio
from heldout.estimates.data_flags import flag_of_failed, flag_of_incomplete, flag_of_undefined_folds
from heldout.estimates.evidence import TIES, Evidence, settings_provenance
from heldout.estimates.question import AnyAggregate, Scale, Scales, Settings
from heldout.execution.cells import CellState
from heldout.execution.collect import mean_over_splits
from heldout.execution.conclusion import flags_of_order
from heldout.execution.search import Search
from heldout.flags import Flag
from heldout.metrics.aggregate import constant_of_rows
from heldout.metrics.base import Metric, Response, at_times_of, is_undefined, quiet_if_foreign
from heldout.metrics.custom import OpaqueMetric
from heldout.protocols.branches import BranchedSearch, BranchScore, BranchWinner
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
from heldout.protocols.nested.part_interval import (
    METHODS_OF_FOLDS,
    METHODS_OF_TEST_PART,
    PartInterval,
    TestPredictions,
    interval_of_rows,
    no_interval,
    outer_evidence,
)
from heldout.protocols.nested.plan import HOLD_OUT, NestedBranch, NestedFolds, NestedSettings
from heldout.protocols.words import QUANTITY_NESTED, QUANTITY_ONE_SPLIT

SOURCES = ("tsamardinos2018", "varma2006")
SOURCES_OF_INTERVAL = {NADEAU_BENGIO: ("nadeau2003",), BATES: ("bates2024",)}
SOURCES_ACROSS = ("krstajic2014",)


def nested_estimate(
    search: Search, settings: NestedSettings, nested: NestedFolds, run: BranchedSearch
) -> NestedEstimate:
    evaluation = run.evaluation
    name = evaluation.refit_metric
    metric = evaluation.metrics[name] or OpaqueMetric(name)
    names = search.configurations.names
    outer = [
        _outer_fold(branch, chosen, tested, names)
        for branch, chosen, tested in zip(nested.outer, run.chosen, run.tested, strict=False)
    ]
    flags: dict[Flag, str] = {}
    rows, unread = _evidence_of_rows(search, settings, metric, nested, run)
    # Without predictions of all outer rows nothing can be resampled; the spread of fold scores is left.
    if rows is None and settings.interval_name == BOOTSTRAP:
        settings = replace(settings, interval=NADEAU_BENGIO)
    value, reason = _value(search, settings, metric, nested, run, outer, flags, rows, unread)
    part, spread, bates = None, None, None
    if not reason and settings.interval_name in (TEST_PART, BOOTSTRAP):
        methods = METHODS_OF_TEST_PART if settings.interval_name == TEST_PART else METHODS_OF_FOLDS
        part = no_interval(_drawn(search), unread) if rows is None else interval_of_rows(rows, methods)
    else:
        spread, bates = _spread(search, settings, metric, nested, run, outer, value)
    interval, standard_error, unbounded = None, None, ""
    if reason:
        flags |= Flag.UNDEFINED.of(reason=reason)
    elif part is not None:
        interval, standard_error, unbounded = part.interval, part.standard_error, part.reason
        flags |= part.flags
    elif spread is not None:
        interval = interval_around(spread, metric, search.confidence_level, search.alternative)
        standard_error, unbounded = spread.standard_error, spread.reason
        if unbounded:
            flags |= Flag.NO_BOUND.of(reason=unbounded)
    flags |= _flags(search, settings, nested, run)
    scales = Scales(search.estimation.scale_of_selection, _scale_of_value(search, settings, metric, rows))
    segments = _segments(search, nested, scales.value)
    constant = constant_of_rows(metric, search.task.truth, segments, search.task.sample_weight)
    agreement = agreement_of([fold.selected for fold in outer], names)
    frequency = np.zeros(len(names))
    frequency[list(agreement.wins)] = np.array(list(agreement.wins.values())) / max(sum(agreement.wins.values()), 1)
    estimate = final_estimate(
        metric,
        "nested_cv",
        value,
        uncorrected=_uncorrected(run, scales),
        interval=interval,
        standard_error=standard_error,
        selected=evaluation.winner,
        selected_name=names[evaluation.winner],
        n_rows_used=int((search.folds.labels >= 0).any(axis=1).sum()),
        selection_frequency=frequency,
        flags=flags,
        provenance=_provenance(search, settings, nested, run, metric, bates, part, scales),
        constant=constant,
    )
    if reason or unbounded:
        warnings.warn(HeldoutWarning(f"{metric.name}: {' '.join(estimate.flags.values())}"), stacklevel=4)
    return estimate.extended(
        NestedEstimate,
        outer_folds=tuple(outer),
        names=tuple(names),
        greater_is_better=metric.greater_is_better,
        agreement=agreement,
        model=evaluation.model,
        evaluation=evaluation,
        n_fits=run.n_fits,
        n_fits_saved=run.n_fits_saved,
    )


def _outer_fold(branch: NestedBranch, chosen: BranchWinner, tested: Any, names: Sequence[str]) -> OuterFold:
    return OuterFold(
        repeat=branch.repeat,
        fold=branch.left_out[0],
        selected=chosen.winner,
        selected_name="" if chosen.winner is None else names[chosen.winner],
        tested=tested.configuration,
        tested_name="" if tested.configuration is None else names[tested.configuration],
        inner_scores=chosen.scores,
        inner_score=float("nan") if tested.configuration is None else float(chosen.scores[tested.configuration]),
        score=tested.score,
        training_rows=branch.refit.train,
        test_rows=branch.refit.test,
        scores=tested.scores,
        failures=chosen.failures,
        barriers=chosen.barriers,
        reason=tested.reason,
    )


def _evidence_of_rows(
    search: Search, settings: NestedSettings, metric: Metric, nested: NestedFolds, run: BranchedSearch
) -> tuple[Evidence | None, str]:
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


def _scale_of_value(search: Search, settings: NestedSettings, metric: Metric, rows: Evidence | None) -> Scale:
    """Of all outer rows together only where that was possible."""
    asked = search.estimation.aggregate
    if asked != "auto":
        return asked
    scale: Scale = "folds" if rows is None else rows.details.get("scale_of_value", "folds")
    return scale if settings.scales(asked, metric).value != "folds" else "folds"


def _value(
    search: Search,
    settings: NestedSettings,
    metric: Metric,
    nested: NestedFolds,
    run: BranchedSearch,
    outer: Sequence[OuterFold],
    flags: dict[Flag, str],
    rows: Evidence | None,
    unread: str,
) -> tuple[float, str]:
    """The estimate, or NaN and the reason: without the score of a fold the mean is not that of all rows."""
    # A fold that failed is no gap at random: the mean of the others would be of easier data.
    for fold, tested in zip(outer, run.tested, strict=False):
        if tested.cell is None or tested.cell.state is CellState.FAILED:
            what = "has no winner" if tested.configuration is None else "has a winner that failed"
            return float("nan"), f"outer fold {fold.fold} of repeat {fold.repeat} {what} ({fold.reason})"
    if _scale_of_value(search, settings, metric, rows) != "folds":
        return (float("nan"), unread) if rows is None else _score_of_rows(rows)
    if rows is not None and Flag.INCOMPARABLE_FOLDS in rows.flags:
        flags[Flag.INCOMPARABLE_FOLDS] = rows.flags[Flag.INCOMPARABLE_FOLDS]
    scores = np.array([fold.score for fold in outer])
    undefined = np.isnan(scores)
    # Undefined for lack of a class is the fold's fault; a missing score otherwise is an error.
    for number in np.flatnonzero(undefined).tolist():
        if is_defined(search, metric, outer[number].test_rows):
            where = f"outer fold {outer[number].fold} of repeat {outer[number].repeat}"
            return float("nan"), f"{where} has no score ({outer[number].reason})"
    if undefined.all():
        return float("nan"), f"{metric.name} is undefined in every outer fold"
    if undefined.any():
        places = [(fold.repeat, fold.fold) for fold in outer if np.isnan(fold.score)]
        flags |= flag_of_undefined_folds(metric, search.task.truth, places, len(scores))
    return float(scores[~undefined].mean()), ""


def _segments(search: Search, nested: NestedFolds, scale: Scale) -> NDArray[np.int32]:
    """(N, R): by what the value is scored: codes of the outer folds, or of repeats."""
    repeats = list(dict.fromkeys(branch.repeat for branch in nested.outer))
    segments = np.full((search.task.n_rows, len(repeats)), -1, dtype=np.int32)
    for number, branch in enumerate(nested.outer):
        column = repeats.index(branch.repeat)
        segments[branch.refit.test, column] = number if scale == "folds" else column
    return segments


def _spread(
    search: Search,
    settings: NestedSettings,
    metric: Metric,
    nested: NestedFolds,
    run: BranchedSearch,
    outer: Sequence[OuterFold],
    value: float,
) -> tuple[Spread | None, Bates | None]:
    """The spread for the interval; None without ``interval`` or without a value."""
    if settings.interval_name in (None, TEST_PART) or np.isnan(value):
        return None, None
    if settings.interval_name == NADEAU_BENGIO:
        return nadeau_bengio(np.array([fold.score for fold in outer]), nested.test_share, value), None
    n_outer, n_pairs = len(nested.outer), len(nested.pairs)
    pairs = list(zip(nested.pairs, run.tested[n_outer : n_outer + n_pairs], strict=True))
    # Branches were run in this order: outer folds, pairs of folds, further draws.
    further = list(zip(nested.further, run.tested[n_outer + n_pairs :], strict=True))
    for branches, left_out in ((pairs, "two of the folds"), (further, "a fold of the further draws")):
        if any(tested.cell is None or tested.cell.state is CellState.FAILED for _, tested in branches):
            reason = f"a search without {left_out} has no winner that fits"
            return Spread(value, float("nan"), reason=reason), None
    outside: dict[tuple[int, int], NDArray[np.float64]] = {}
    rows_of: dict[tuple[int, int], NDArray[np.intp]] = {}
    for branch, tested in zip(nested.outer, run.tested, strict=False):
        place = branch.repeat, branch.left_out[0]
        outside[place], rows_of[place] = row_values(search, metric, branch, tested), branch.refit.test
    inside: dict[tuple[int, int], list[NDArray[np.float64]]] = {place: [] for place in outside}
    for branch, tested in pairs:
        values = row_values(search, metric, branch, tested)
        first, second = branch.left_out
        # The test rows of a pair are those of its first fold, then those of its second.
        cut = len(rows_of[branch.repeat, first])
        # The rows of one fold, by a model trained on neither, are inner values of the other fold.
        inside[branch.repeat, second].append(values[:cut])
        inside[branch.repeat, first].append(values[cut:])
    by_repeat: dict[int, list[tuple[int, int]]] = {}
    for place in outside:
        by_repeat.setdefault(place[0], []).append(place)
    bates = bates_hastie_tibshirani(
        [[outside[place] for place in places] for places in by_repeat.values()],
        [[np.concatenate(inside[place]) for place in places] for places in by_repeat.values()],
        _mean_of_rows(search, metric, further),
    )
    return bates.spread, bates


def _mean_of_rows(
    search: Search, metric: Metric, branches: Sequence[tuple[NestedBranch, BranchScore]]
) -> float | None:
    """The mean value of the rows that branches test; None without branches."""
    values = [row_values(search, metric, branch, tested) for branch, tested in branches]
    return float(np.concatenate(values).mean()) if values else None


def _flags(search: Search, settings: NestedSettings, nested: NestedFolds, run: BranchedSearch) -> dict[Flag, str]:
    predictions, labels = run.evaluation.predictions, search.folds.labels
    flags = {**search.flags, **flags_of_order(search, predictions, run.evaluation.winner)}
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


def _uncorrected(run: BranchedSearch, scales: Scales) -> float:
    """The score of the deployed configuration in the search on all rows, on the scale of the value."""
    evaluation, name = run.evaluation, run.evaluation.refit_metric
    whole = evaluation.whole_scores(scales.value)
    if whole is not None:
        return float(whole[name][evaluation.winner])
    return float(mean_over_splits(evaluation.fold_scores[name].values)[evaluation.winner])


def _provenance(
    search: Search,
    settings: NestedSettings,
    nested: NestedFolds,
    run: BranchedSearch,
    metric: Metric,
    bates: Bates | None,
    part: PartInterval | None,
    scales: Scales,
) -> dict[str, Any]:
    sources = [*SOURCES, *SOURCES_OF_INTERVAL.get(settings.interval_name or "", ())]
    sources += () if part is None else part.sources
    sources += SOURCES_ACROSS if settings.across == "all" else ()
    sources += search.drop.sources if search.drop is not None else ()
    sources += () if search.imputation is None else search.imputation.sources_of_fits
    sources += [*search.estimation.rule.sources, *metric.sources]
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
        "n_candidates": len(search.configurations) - len(run.evaluation.predictions.out),
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
    if part is not None and settings.interval_name == TEST_PART:
        provenance["interval_of_test_part"] = part.method or None
    if bates is not None:
        provenance["bates_hastie_tibshirani"] = {
            "center": bates.spread.center, "inner": bates.inner, "outer": bates.outer, "plain": bates.plain,
            "bias": bates.bias, "further_draws": settings.further_draws,
            "inflation": bates.inflation, "unlimited_inflation": bates.unlimited_inflation,
            "mean_square": bates.mean_square,
        }  # fmt: skip
    return provenance


_ROWS_AT_A_TIME = 512


def is_defined(search: Search, metric: Metric, rows: NDArray[np.intp]) -> bool:
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


def _score_of_rows(rows: Evidence) -> tuple[float, str]:
    value = rows.uncorrected
    return value, f"{rows.metric.name} is undefined on all outer rows together" if np.isnan(value) else ""


def _read(search: Search, metric: Metric, predictions: TestPredictions, response: Response) -> NDArray[Any]:
    """A response as the metric reads it: survival at the times of the metric."""
    held = predictions[response]
    return at_times_of(metric, held, search.scoring.times) if response is Response.SURVIVAL else held


def row_values(search: Search, metric: Metric, branch: NestedBranch, tested: BranchScore) -> NDArray[np.float64]:
    """The metric of each row by itself, in the order of the test rows."""
    assert tested.cell is not None, "called for fitted cells only"
    responses = [response for response in metric.responses if response in tested.cell.predictions]
    predictions = _read(search, metric, tested.cell.predictions, responses[0])[:, None]
    truth, values = search.task.truth.rows(branch.refit.test), []
    # A weighting of one row for each row is an identity matrix, which is made in parts.
    for start in range(0, len(predictions), _ROWS_AT_A_TIME):
        rows = slice(start, start + _ROWS_AT_A_TIME)
        part = np.arange(len(predictions))[rows]
        with quiet_if_foreign([metric]):
            statistic = metric.statistic(truth.rows(part), predictions[rows])
            values.append(statistic.all(np.eye(len(part), dtype=np.uint8))[:, 0])
    return np.concatenate(values).astype(np.float64)
