"""Shrinkage and BBC on a table that is read in blocks: survey, sums, and the estimate that they give."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._defaults import DEFAULT_METHOD
from heldout._random import RandomState, stream
from heldout.errors import InputError
from heldout.estimates.base import Method, conclude
from heldout.estimates.bootstrap import (
    Control,
    control_from,
    flags_of_control,
    flags_of_draws,
    places_of,
    provenance_of_control,
)
from heldout.estimates.candidates import adaptive_sentence
from heldout.estimates.data_flags import flag_of_clipping, flag_of_errors, flags_of_choice
from heldout.estimates.evidence import Evidence
from heldout.estimates.intervals import percentile_interval, within_range
from heldout.estimates.least_width import with_least_width
from heldout.estimates.methods import method_of
from heldout.estimates.methods.bbc import BBC, QUANTITY
from heldout.estimates.methods.shrinkage import Shrinkage
from heldout.estimates.optimism import optimism_of_scores
from heldout.estimates.out_of_core.binned_areas import BinnedAreas, cuts_of, ties_in_range
from heldout.estimates.out_of_core.block_sums import (
    BootstrapScores,
    Keeps,
    Plan,
    TableScores,
    observe,
    over_ranges,
    resample,
)
from heldout.estimates.out_of_core.blocks import (
    BlockReading,
    BlockSource,
    Survey,
    block_reading,
    check_classes,
    joined,
    survey_range,
)
from heldout.estimates.out_of_core.whole_sums import (
    ZERO_ONE,
    WholeSums,
    extremes_in_range,
    extremes_joined,
    grid_for,
    losses_of,
    typical_loss,
)
from heldout.estimates.question import Settings, settings_of
from heldout.estimates.responses import ResponseName
from heldout.estimates.types import Alternative, Estimate
from heldout.flags import Flag
from heldout.kernels.block_draws import BlockDraws
from heldout.metrics import check_fits
from heldout.metrics.base import Metric, needed_codes
from heldout.metrics.constant import constant_of_rows
from heldout.metrics.named import DECLARED
from heldout.metrics.ranking import RocAuc
from heldout.metrics.row_losses import OfRowLosses
from heldout.metrics.signed import Signed

MOST_ROWS = 2**31 - 1
MOST_BINS = 32_768


@dataclass(frozen=True, eq=False)
class _Summed:
    """Everything that the table was read for."""

    plan: Plan
    observed: TableScores
    outcome: BootstrapScores
    redraws: int


def estimate_from_blocks(
    source: BlockSource,
    metric: Metric,
    *,
    method: Any = DEFAULT_METHOD,
    response: ResponseName = "auto",
    threshold: float | None = None,
    n_bootstraps: int = 1000,
    confidence_level: float = 0.95,
    alternative: Alternative = "two-sided",
    random_state: RandomState = None,
    n_jobs: int | None = None,
    n_bins: int = 1024,
) -> Estimate:
    """Shrinkage or BBC on a table of which a few blocks at a time are in memory.

    Parameters
    ----------
    source : BlockSource
    metric : Metric
        A mean of one loss per row, or the ROC AUC of two classes.
    method : str or method
        "shrinkage" or "bbc", whose ``control`` may be set.
    response, threshold
        As ``heldout.estimate`` takes them.
    n_bootstraps, confidence_level, alternative, random_state
        As ``heldout.estimate`` takes them.
    n_jobs : int, optional
        Workers: threads, or what ``joblib.parallel_config`` says.
    n_bins : int
        Of the scores of each configuration, for the ROC AUC.

    Returns
    -------
    Estimate
    """
    chosen = block_method_of(method)
    settings = settings_of(n_bootstraps, confidence_level, alternative, random_state, n_jobs)
    _check_size(source, n_bins)
    check_summable(metric)
    survey = joined(over_ranges(survey_range, source, n_jobs=n_jobs))
    check_classes(survey)
    measured = check_fits(metric, survey.sample.truth)
    reading = block_reading(survey, measured, response, threshold)
    plan = _plan(source, reading, survey, n_bins, n_jobs, _keeps(chosen, measured))
    observed = plan.observed(observe(source, plan, n_jobs))
    draws = BlockDraws(stream(settings.entropy, "draws"), source.n_rows, source.block_rows)
    outcome, redraws = resample(source, plan, draws, n_bootstraps, n_jobs)
    summed = _Summed(plan, observed, outcome, redraws)
    evidence = _evidence(source, reading, settings, summed, survey)
    if isinstance(chosen, Shrinkage):
        return _shrinkage(chosen, evidence, source, reading, summed, survey)
    return _bbc(chosen, evidence, source, reading, summed, survey)


def block_method_of(method: Any) -> Shrinkage | BBC:
    """The method of its name, or with settings that sums over blocks suffice for."""
    chosen: Method = method_of(method)
    if isinstance(chosen, Shrinkage) and chosen == Shrinkage():
        return chosen
    if isinstance(chosen, BBC) and chosen == BBC(control=chosen.control):
        return chosen
    raise InputError(
        "a table that is read in blocks is estimated by shrinkage, or by bbc with any control and no other "
        f"setting; got {method!r}.",
        argument="method",
    )


def _keeps(method: Shrinkage | BBC, metric: Metric) -> Keeps:
    if isinstance(method, Shrinkage):
        return "in the bag"
    unbiased = metric.row_wise or _is_area(metric)
    return "out of the bag" if method.control is True or (method.control == "auto" and not unbiased) else "nothing"


def check_summable(metric: Metric) -> None:
    """Refuse a metric whose sums do not add up over blocks."""
    inner = metric.metric if isinstance(metric, Signed) else metric
    if isinstance(inner, OfRowLosses) or _is_area(metric):
        return
    fitting = sorted(known.name for known in DECLARED if isinstance(known, OfRowLosses | RocAuc))
    raise InputError(
        f"metric '{metric.name}' cannot be summed over blocks of rows; metrics that can: {', '.join(fitting)}; or "
        "use heldout.estimate on as many rows as the memory holds."
    )


def _is_area(metric: Metric) -> bool:
    return isinstance(metric.metric if isinstance(metric, Signed) else metric, RocAuc)


def _check_size(source: BlockSource, n_bins: int) -> None:
    if not 2 <= source.n_rows <= MOST_ROWS:
        raise InputError(f"{source.name} has {source.n_rows} rows; from 2 to {MOST_ROWS} can be drawn from.")
    whole = isinstance(n_bins, int | np.integer) and not isinstance(n_bins, bool)
    if not whole or not 2 <= n_bins <= MOST_BINS:
        raise InputError(
            f"n_bins must be an integer from 2 to {MOST_BINS}, got {n_bins!r}; 1024 is usual.", argument="n_bins"
        )


def _plan(
    source: BlockSource, reading: BlockReading, survey: Survey, n_bins: int, n_jobs: int | None, keeps: Keeps
) -> Plan:
    if isinstance(reading.metric, RocAuc):
        positive = survey.sample.truth.positive
        assert positive is not None, "check_fits says so"
        scores = np.asarray(reading.of(survey.sample), dtype=np.float64)
        cuts = cuts_of(scores, n_bins)
        ties = np.zeros(len(cuts), dtype=bool)
        if np.isinf(cuts[:, -1]).any():  # few distinct scores, in the sample at least
            ties = np.logical_and.reduce(over_ranges(ties_in_range, source, reading, cuts, n_jobs=n_jobs))
        return BinnedAreas(reading, cuts, ties, positive, keeps)
    losses = losses_of(reading, survey.sample)
    if losses.dtype.kind == "b":
        return WholeSums(reading, ZERO_ONE, len(source.names), keeps)
    extremes = extremes_joined(over_ranges(extremes_in_range, source, reading, n_jobs=n_jobs))
    grid = grid_for(extremes.largest, typical_loss(losses))
    return WholeSums(reading, grid, len(source.names), keeps, extremes)


def _evidence(
    source: BlockSource, reading: BlockReading, settings: Settings, summed: _Summed, survey: Survey
) -> Evidence:
    evidence = Evidence(
        reading.metric,
        source.names,
        np.arange(len(source.names)),
        summed.observed.winner,
        settings,
        selection="best",
        aggregate="pooled",
        n_rows_used=source.n_rows,
        flags={Flag.ADAPTIVE_SEARCH: adaptive_sentence(len(source.names), source.n_rows)}
        if source.adaptive
        else {},
        details=_provenance(source, reading, survey) | _provenance_of_sums(source, summed),
        baseline=_constant(reading.metric, survey),
    )
    return replace(evidence, flags={**evidence.flags, **_flags_of_rows(evidence, summed.plan)})


def _constant(metric: Metric, survey: Survey) -> float | None:
    """The best constant model's score, from a sample: with the class shares of all rows."""
    truth = survey.sample.truth
    if truth.classes is None:
        return constant_of_rows(metric, truth)
    weights = survey.class_counts / np.maximum(truth.class_counts(), 1)
    return constant_of_rows(metric, truth, sample_weight=weights[truth.values])


def _shrinkage(
    method: Shrinkage,
    evidence: Evidence,
    source: BlockSource,
    reading: BlockReading,
    summed: _Summed,
    survey: Survey,
) -> Estimate:
    observed, metric = summed.observed, evidence.metric
    of_classes = survey.class_counts[needed_codes(metric, survey.sample.truth)].tolist()
    optimism = optimism_of_scores(evidence, observed.scores, summed.outcome.every, of_classes, summed.redraws)
    bound = float(observed.bounds[observed.winner])
    if bound > 0:
        said = Flag.BINNED_SCORES.filled(
            score=f"uncorrected {metric.name}", bound=bound, selections="the optimism is that of the binned scores"
        )
        evidence = replace(evidence, flags={**evidence.flags, Flag.BINNED_SCORES: said})
    uncorrected = float(observed.scores[observed.winner])
    return method.concluded(evidence, optimism, uncorrected, _units(source, reading, survey))


def _bbc(
    method: BBC, evidence: Evidence, source: BlockSource, reading: BlockReading, summed: _Summed, survey: Survey
) -> Estimate:
    outcome, observed, settings = summed.outcome, summed.observed, evidence.settings
    control = _control(summed)
    scores = outcome.scores if control is None else outcome.scores - control.size
    value = float(scores.mean())
    flags = flags_of_draws(
        evidence, total=settings.n_bootstraps, undefined=0, redraws=summed.redraws, needs=reading.metric.needs
    )
    flags |= flags_of_choice(evidence) | flags_of_control(evidence, control, value)
    bound, certain = float(outcome.bounds.mean()), float(outcome.certain.mean())
    if bound > 0:
        flags[Flag.BINNED_SCORES] = Flag.BINNED_SCORES.filled(
            score=f"mean {reading.metric.name} of what was selected",
            bound=bound,
            selections=f"{certain:.0%} of the bootstraps certainly select as exact scores would",
        )
    reached = with_least_width(
        within_range(percentile_interval(scores, reading.metric, settings), reading.metric),
        evidence,
        value=float(observed.scores[observed.winner]),
        units=_units(source, reading, survey),
    )
    return conclude(
        evidence,
        method,
        value,
        uncorrected=float(observed.scores[observed.winner]),
        interval=reached.interval,
        distribution=scores,
        flags=flags | reached.flags,
        selection_frequency=_frequencies(outcome.chosen, len(source.names)),
        provenance={
            "quantity": QUANTITY,
            "n_bootstraps": settings.n_bootstraps,
            "redrawn": summed.redraws,
            "error_bound": bound,
            "selections_certain": certain,
            "control": method.control,
            **provenance_of_control(control),
        },
    )


def _control(summed: _Summed) -> Control | None:
    """As ``BBC`` computes it; None where it is not wanted."""
    outcome, observed = summed.outcome, summed.observed
    if summed.plan.keeps == "nothing":
        return None
    competing = np.union1d(outcome.chosen, [observed.winner])
    assigned = competing[places_of(len(outcome.chosen), len(competing))]
    left_out = outcome.every[np.arange(len(assigned)), assigned]
    return control_from(left_out, observed.scores[assigned], outcome.scores, len(competing))


def _flags_of_rows(evidence: Evidence, plan: Plan) -> dict[Flag, str]:
    """As ``heldout.estimate`` flags rows that decide a score by themselves."""
    extremes = plan.extremes if isinstance(plan, WholeSums) else None
    if extremes is None:
        return {}
    metric, winner, name = evidence.metric, evidence.winner, evidence.winner_name
    clipped = int(extremes.clipped[winner]), int(np.median(extremes.clipped))
    flags = flag_of_clipping(metric, *clipped, evidence.n_rows_used, name)
    if metric.squares_errors:
        effective = extremes.effective
        typical = float(np.nanmedian(effective)) if not np.isnan(effective).all() else float("nan")
        flags |= flag_of_errors(metric, float(effective[winner]), typical, evidence.n_rows_used, name)
    return flags


def _units(source: BlockSource, reading: BlockReading, survey: Survey) -> float:
    """On how many rows the score rests: on all, or of an area on those of the smaller class."""
    areas = isinstance(reading.metric, RocAuc)
    return float(survey.class_counts.min() if areas else source.n_rows)


def _frequencies(chosen: NDArray[np.intp], n_configurations: int) -> NDArray[np.float64]:
    shares: NDArray[np.float64] = np.bincount(chosen, minlength=n_configurations) / len(chosen)
    return shares


def _provenance(source: BlockSource, reading: BlockReading, survey: Survey) -> dict[str, Any]:
    truth = survey.sample.truth
    return {
        "task": str(truth.kind),
        "pos_label": truth.pos_label,
        "n_rows": source.n_rows,
        "n_repeats": 1,
        "training_rows": None,
        "grouped": False,
        "weighted": False,
        "response": str(reading.response),
    }


def _provenance_of_sums(source: BlockSource, summed: _Summed) -> dict[str, Any]:
    plan, observed = summed.plan, summed.observed
    return {
        "block_rows": source.block_rows,
        "n_blocks": -(-source.n_rows // source.block_rows),
        "n_bins": plan.n_bins if isinstance(plan, BinnedAreas) else None,
        "error_bound_uncorrected": float(observed.bounds[observed.winner]),
    }
