"""``validation_facts``: what a validation says."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from heldout._record import json_number
from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.estimates.types import Estimate
from heldout.imputation.coefficients import PooledCoefficients
from heldout.imputation.imputed_model import member_of
from heldout.metrics.base import Metric, Response, oriented
from heldout.protocols.validation.corrections import memorising
from heldout.protocols.validation.curves import (
    CALIBRATION_SOURCES,
    CONFIDENCE_LEVEL,
    DECISION_SOURCES,
    ROC_SOURCES,
)
from heldout.protocols.validation.estimate import Candidate, Validation, ValidationRow
from heldout.protocols.validation.replicates import Replicates
from heldout.protocols.words import frequency_sentence, method_words
from heldout.report import labels
from heldout.report.diagnostics import two_classes
from heldout.report.displays.curves import (
    CalibrationDisplay,
    CurvesDisplay,
    DecisionCurveDisplay,
    RocCurveDisplay,
)
from heldout.report.entries import Facts
from heldout.report.headline import headline_of, what_is_estimated
from heldout.report.ranking import failure_groups, parameters_of
from heldout.scales import Scale, scale_of_metric

INTERVAL_SENTENCES = {
    "location_shifted": (
        "The ends of the interval are percentiles of the scores that the models of the bootstraps have on their "
        "own samples, shifted by the estimated optimism (Noma and others)."
    ),
    "double": (
        "The ends of the interval are percentiles of the corrected score: for every bootstrap sample the whole "
        "correction was computed again, with bootstraps of that sample (Noma and others)."
    ),
    "percentile": "The ends of the interval are percentiles of the scores on rows that the bootstraps left out.",
}
INTERVAL_WORDS = {
    "location_shifted": "shifted percentiles",
    "double": "double bootstrap",
    "percentile": "percentiles of the rows left out",
}
ADJUSTED_SENTENCE = (
    "The optimism was adjusted by the double bootstrap: each sample's optimism was estimated by bootstraps of the "
    "sample alone, compared with what it is on all rows, and the mean difference was added."
)
POOLED_SENTENCE = (
    "Coefficients of the model of all rows, pooled over the imputations by Rubin's rules, with intervals by "
    "Student's t. \"Variance from missing\" is the share of a coefficient's variance that is due to missing values "
    "(λ), not the share of values that are missing."
)
RATIO_SENTENCE = " The intervals are those of the ratios."
_IN_THE_TABLE = {
    "apparent", "out_of_bag", "optimism", "n", "n_successful", "n_redraws", "confidence_level", "alternative",
}  # fmt: skip


def validation_facts(validation: Validation) -> Facts:
    first = next(iter(validation.rows))
    estimate, replicates, model = validation.estimates[first], validation.replicates, validation.model
    scales = {name: _scale(validation, name) for name in validation.rows}
    curves = _curves_by_sources(replicates)
    sources = [key for keys, displays in curves.items() if displays for key in keys]
    roc, calibration, decision = (tuple(Facts(vars(display)) for display in shown) for shown in curves.values())
    methods = validation.methods
    row = validation.rows.get(estimate.metric)
    headline = headline_of(
        estimate, scales[first], None, winner=validation.selected_name, rows=estimate.n_rows_used,
        classes=two_classes(replicates.truth),
        bootstraps=validation.n_bootstraps if row is None else row.n_successful,
    )  # fmt: skip
    several = validation.candidates if len(validation.candidates) > 1 else ()
    return Facts(
        kind="validation",
        # The uncorrected score of the headline is the apparent one.
        headline=Facts(headline, label="corrected" if headline.quote else headline.label),
        facts=_labelled(validation),
        metrics=tuple(
            _metric_row(row, scales[name], validation.estimates[name], several=len(methods) > 1)
            for name, row in validation.rows.items()
        ),
        adjusts=validation.adjusts,
        methods=tuple(Facts(method=method, name=method_words(method).name) for method in validation.methods),
        candidates=tuple(
            _candidate(candidate, first, scales[first], is_selected=place == validation.selected)
            for place, candidate in enumerate(several)
        ),
        two_stages=validation.n_second_bootstraps > 0,
        imputation=_imputation(validation),
        coefficients=_coefficients(validation),
        curves_level=CONFIDENCE_LEVEL,
        memorises=bool(memorising(replicates).score),
        roc=roc,
        calibration=calibration,
        decision=decision,
        optimism=_optimism(replicates, validation.metrics[first], scales[first], estimate.method),
        failures=failure_groups(validation.failures, lambda number: f"{number + 1}"),
        n_failures=len(validation.failures),
        n_bootstraps=replicates.n_replicates,
        parameters=parameters_of(member_of(model)),
        method=_method(estimate, validation),
        settings=labels.settings_of([_settings(validation, estimate)]),
        flags=labels.flag_facts(validation.estimates, first),
        citations=labels.citations_of(validation.estimates.values(), None, sources),
        reproduction=labels.reproduction_of([estimate.provenance]),
        treatment=estimate.provenance.get("columns"),
    )


def _scale(validation: Validation, name: str) -> Scale:
    metric, estimate = validation.metrics[name], validation.estimates[name]
    # Without an interval the spread of the replicates' scores shows which digits are meaningful.
    spread = [] if estimate.interval is not None else validation.replicates.scores(metric).on_original.tolist()
    return scale_of_metric(metric, estimate, spread)


def _labelled(validation: Validation) -> dict[str, str]:
    failed, completions = len(validation.failures), validation.replicates.n_completions
    bootstraps = f"{validation.replicates.n_replicates:,}" + (f", {failed:,} failed" if failed else "")
    if validation.n_second_bootstraps:
        bootstraps = f"{validation.n_bootstraps:,} to choose the model; {bootstraps} to estimate it"
    n_models = len(validation.candidates)
    return labels.with_text(
        {
            **labels.data_facts(validation.replicates.truth, validation.metrics.values()),
            "Models": f"{n_models:,}" if n_models > 1 else "",
            "Bootstraps": bootstraps,
            "Imputations": f"{completions:,}" if completions > 1 else "",
            "Fits": f"{validation.n_fits:,}" if validation.n_fits else "",
        }
    )


def _metric_row(row: ValidationRow, scale: Scale, estimate: Estimate, *, several: bool) -> Facts:
    """One metric's line in the table that users of R's rms know; ``several`` methods corrected the metrics."""
    low, high = scale.ends(row.interval)
    scores = "apparent in_bootstrap on_original out_of_bag no_information value=corrected uncorrected=apparent"
    return Facts.of(
        row,
        "name=metric n=n_successful",
        scale,
        scores,
        metric=scale,
        method_title=method_words(row.method).title if several else "",
        optimism=json_number(row.optimism),
        inner_optimism=json_number(row.inner_optimism),
        low=low,
        high=high,
        weight=json_number(row.weight),
        constant=scale.shown(estimate.constant),
    )


def _candidate(candidate: Candidate, metric: str, scale: Scale, *, is_selected: bool) -> Facts:
    """One of the models of which one was chosen."""
    row = candidate.rows.get(metric)
    low, high = scale.ends(None if row is None else row.interval)
    return Facts.of(
        row,
        "",
        scale,
        "apparent value=corrected",
        name=candidate.name,
        is_selected=is_selected,
        optimism=None if row is None else json_number(row.optimism),
        low=low,
        high=high,
        failed=len(candidate.failures),
        reason=candidate.reason,
    )


def _imputation(validation: Validation) -> Facts | None:
    """How often missing values were imputed and when, and what backward selection kept; None of complete data."""
    imputation, number = validation.settings.get("imputation"), validation.replicates.n_completions
    if not imputation or number < 2:
        return None
    selection = frequency = ""
    if validation.selection is not None:
        selection, frequency = str(validation.selection), frequency_sentence(validation.selection_frequency)
    return Facts(number=number, order=str(imputation["order"]), selection=selection, frequency=frequency)


def _coefficients(validation: Validation) -> Facts | None:
    found = validation.coefficients
    if found is None:
        return None
    table = validation.coefficient_table()
    sentence = f"{table.title}."
    if isinstance(found, PooledCoefficients):
        sentence = POOLED_SENTENCE
    elif not found.reason:
        sentence = f"{table.title}, with intervals by Wald."
    if found.ratio and "p" in table.headings:
        sentence += RATIO_SENTENCE
    return Facts(sentence=sentence, headings=table.headings[1:], rows=table.rows, notes=table.notes)


def _method(estimate: Estimate, validation: Validation) -> tuple[str, ...]:
    """How the number was computed, and what it estimates."""
    provenance, kind = estimate.provenance, str(estimate.provenance.get("interval"))
    sentences = (
        *(method_words(method).sentence(validation.n_bootstraps) for method in validation.methods),
        ADJUSTED_SENTENCE if provenance.get("optimism_adjusted") else "",
        "" if estimate.interval is None else INTERVAL_SENTENCES.get(kind, ""),
        what_is_estimated(estimate),
    )
    return tuple(filter(None, sentences))


def _settings(validation: Validation, estimate: Estimate) -> dict[str, Any]:
    """Provenance without the numbers in the table."""
    settings = {
        key: f"{value:.3g}" if isinstance(value, float) and np.isfinite(value) else value
        for key, value in estimate.provenance.items()
        if key not in _IN_THE_TABLE
    }
    words = INTERVAL_WORDS.get(str(settings.get("interval")), "")
    return {**settings, "interval": words if estimate.interval else ""}


MOST_CLASSES = 4
"""Classes that are drawn if there are several."""
MOST_OPTIMISM_BINS = 30
FROM_OWN_SAMPLES = ("optimism", "two_stage")
"""Methods whose optimism is the score on a model's own sample minus the score on all rows."""


def _curves_by_sources(replicates: Replicates) -> dict[tuple[str, ...], tuple[CurvesDisplay, ...]]:
    """The curves that the responses allow, by their sources.

    There is one for each class, or of survival one at the middle time.
    """
    kind, responses = replicates.truth.kind, replicates.on_original.keys()
    of_classes = kind.is_classification and Response.PROBABILITIES in responses
    of_survival = kind is TaskKind.SURVIVAL and Response.SURVIVAL in responses
    acts = of_survival or (of_classes and kind is TaskKind.BINARY)
    ranks = of_classes or (kind.is_classification and Response.DECISION in responses)
    calibration: tuple[CurvesDisplay, ...] = ()
    with suppress(InputError):  # ten rows or fewer allow no curve
        of_values = kind is TaskKind.REGRESSION and Response.VALUES in responses
        calibration = _curves(CalibrationDisplay, replicates, of_classes or of_survival or of_values)
    return {
        ROC_SOURCES: _curves(RocCurveDisplay, replicates, ranks),
        CALIBRATION_SOURCES: calibration,
        DECISION_SOURCES: _curves(DecisionCurveDisplay, replicates, acts),
    }


def _curves(display: type[CurvesDisplay], replicates: Replicates, is_possible: bool) -> tuple[CurvesDisplay, ...]:
    """One display a class or time."""
    parts = _curve_settings(replicates) if is_possible else ()
    return tuple(display.of_replicates(replicates, **part) for part in parts)


def _curve_settings(replicates: Replicates) -> Sequence[dict[str, Any]]:
    """The arguments of each curve: a class, a time, or none."""
    if replicates.truth.kind is TaskKind.SURVIVAL:
        times = replicates.times
        return [{"time": times[len(times) // 2]}] if times else []
    truth = replicates.truth
    if truth.kind is not TaskKind.MULTICLASS or truth.classes is None:
        return [{"of_class": None}]
    return [{"of_class": each} for each in truth.classes.tolist()[:MOST_CLASSES]]


def _optimism(replicates: Replicates, metric: Metric, scale: Scale, method: str) -> Facts | None:
    """The distribution of the optimism over the bootstraps; None if it is always unknown."""
    scores = replicates.scores(metric)
    own = method in FROM_OWN_SAMPLES
    optimism = oriented(metric, scores.in_bootstrap - (scores.on_original if own else scores.out_of_bag))
    optimism = optimism[np.isfinite(optimism)]
    if not optimism.size:
        return None
    low, high = float(optimism.min()), float(optimism.max())
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
        low, high = low - 0.5, high + 0.5
    bins = int(np.clip(2 * np.sqrt(optimism.size), 5, MOST_OPTIMISM_BINS))
    counts, edges = np.histogram(optimism, bins=bins, range=(low, high))
    return Facts(
        metric=scale,
        edges=tuple(edges.tolist()),
        counts=tuple(counts.tolist()),
        mean=float(optimism.mean()),
        is_of_own_samples=own,
    )
