"""From a validation to the content of its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from heldout._record import json_number
from heldout._text import number_text
from heldout.estimates.base import quantity_sentence
from heldout.estimates.types import Estimate
from heldout.imputation.pooled import PooledModel
from heldout.imputation.rubin import PooledCoefficients
from heldout.metrics.named import in_sentence
from heldout.protocols.validation.corrections.memorising import memorising
from heldout.protocols.validation.curves import calibration as calibration_curves
from heldout.protocols.validation.curves import decision as decision_curves
from heldout.protocols.validation.curves import roc as roc_curves
from heldout.protocols.validation.curves.base import CONFIDENCE_LEVEL
from heldout.protocols.validation.estimate import Validation
from heldout.protocols.validation.rows import Candidate, ValidationRow
from heldout.protocols.words import frequency_sentence, method_words
from heldout.report import validation_words as words
from heldout.report.content import Fact, Headline
from heldout.report.estimate_parts import interval_label, shown_numbers
from heldout.report.estimator_parameters import parameters_of
from heldout.report.facts import (
    citations_of,
    facts_with_text,
    positive_text,
    reproduction_of,
    rows_text,
    settings_of,
)
from heldout.report.from_search import flag_sentences
from heldout.report.ranking import failure_groups
from heldout.report.validation_content import (
    CandidateRow,
    CoefficientsPart,
    ScoredRow,
    ValidationContent,
    calibration_displays,
    decision_displays,
    optimism_display,
    roc_displays,
)
from heldout.scales import Scale, scale_of_metric

_IN_THE_TABLE = {
    "apparent", "out_of_bag", "optimism", "n", "n_successful", "n_redraws", "confidence_level", "alternative",
}  # fmt: skip


def validation_content(
    validation: Validation, *, command: str | None = None, title: str | None = None
) -> ValidationContent:
    """The content of the report on a validated model.

    ``command`` is the command line or call that made it, ``title`` such as the name of the data.
    """
    first = next(iter(validation.rows))
    estimate, replicates, model = validation.estimates[first], validation.replicates, validation.model
    scales = {name: _scale(validation, name) for name in validation.rows}
    roc, calibration = roc_displays(replicates), calibration_displays(replicates)
    decision = decision_displays(replicates)
    several, adjusts = len(validation.candidates) > 1, validation.adjusts
    methods = validation.methods
    figures = {roc_curves.SOURCES: roc, calibration_curves.SOURCES: calibration, decision_curves.SOURCES: decision}
    sources = [key for keys, curves in figures.items() if curves for key in keys]
    return ValidationContent(
        title=title or "",
        headline=_headline(validation, estimate, scales[first]),
        facts=_facts(validation),
        table=tuple(
            _scored(row, scales[name], validation.estimates[name], is_named=len(methods) > 1, adjusts=adjusts)
            for name, row in validation.rows.items()
        ),
        table_sentence=words.validation_table_sentence(methods, adjusts=adjusts),
        candidates=_candidates(validation, first, scales[first]) if several else (),
        candidates_sentence=words.candidates_sentence(
            scales[first].title, len(validation.candidates), two_stages=validation.n_second_bootstraps > 0
        )
        if several
        else "",
        imputation_sentence=_imputation_sentence(validation),
        coefficients=_coefficients(validation),
        curves_sentence=words.corrected_curves_sentence(
            estimate.method, CONFIDENCE_LEVEL, memorises=bool(memorising(replicates).score)
        )
        if sources
        else "",
        roc=roc,
        calibration=calibration,
        decision=decision,
        optimism=optimism_display(replicates, validation.metrics[first], scales[first], estimate.method),
        failures=failure_groups(validation.failures, lambda number: f"{number + 1}"),
        failures_sentence=words.failures_sentence(len(validation.failures), replicates.n_replicates)
        if validation.failures
        else "",
        parameters=parameters_of(model.members[0] if isinstance(model, PooledModel) else model),
        method=_method(estimate, validation),
        settings=settings_of([_settings(validation, estimate)]),
        flags=flag_sentences(validation.estimates, first),
        citations=citations_of(validation.estimates.values(), None, sources),
        methods_text=validation.methods_text(),
        command=command or "",
        reproduction=reproduction_of([estimate.provenance]),
    )


def _scale(validation: Validation, name: str) -> Scale:
    metric, estimate = validation.metrics[name], validation.estimates[name]
    # Without an interval the spread of the replicates' scores shows which digits are meaningful.
    spread = [] if estimate.interval is not None else validation.replicates.scores(metric).on_original.tolist()
    return scale_of_metric(metric, estimate, spread)


def _headline(validation: Validation, estimate: Estimate, scale: Scale) -> Headline:
    numbers = shown_numbers(estimate, scale)
    value, apparent = numbers["value"], numbers["uncorrected"]
    headline = Headline(
        metric=scale,
        method=estimate.method,
        **numbers,
        interval_label=interval_label(estimate),
        is_corrected=value is not None,
        winner=validation.selected_name,
        sentence=words.no_validation_sentence(scale.title),
        quote="",
    )
    if value is None or apparent is None:
        return headline
    interval = f" ({headline.interval_label} {headline.interval_text})" if headline.interval_text else ""
    n = (
        validation.rows[estimate.metric].n_successful
        if estimate.metric in validation.rows
        else validation.n_bootstraps
    )
    texts = [number_text(each, scale.decimals) for each in (value, apparent)]
    return replace(
        headline,
        sentence=words.validation_sentence(
            in_sentence(scale.title), apparent, value, estimate.optimism, estimate.method, n,
            scale.decimals,
        ),
        quote=words.quotable_validation_sentence(
            scale.title, texts[0], interval, texts[1], estimate.method, n, estimate.n_rows_used,
            validation.selected_name,
        ),
    )  # fmt: skip


def _facts(validation: Validation) -> tuple[Fact, ...]:
    truth, failed = validation.replicates.truth, len(validation.failures)
    bootstraps = f"{validation.replicates.n_replicates:,}" + (f", {failed:,} failed" if failed else "")
    if validation.n_second_bootstraps:
        bootstraps = f"{validation.n_bootstraps:,} to choose the model; {bootstraps} to estimate it"
    n_models = len(validation.candidates)
    completions = validation.replicates.n_completions
    facts = [
        ("Rows", rows_text(truth)),
        ("Positive class", positive_text(truth, validation.metrics.values())),
        ("Models", f"{n_models:,}" if n_models > 1 else ""),
        ("Bootstraps", bootstraps),
        ("Imputations", f"{completions:,}" if completions > 1 else ""),
        ("Fits", f"{validation.n_fits:,}" if validation.n_fits else ""),
    ]
    return facts_with_text(facts)


def _scored(row: ValidationRow, scale: Scale, estimate: Estimate, *, is_named: bool, adjusts: bool) -> ScoredRow:
    low, high = scale.ends(row.interval)
    return ScoredRow(
        name=row.metric,
        metric=scale,
        apparent=scale.shown(row.apparent),
        in_bootstrap=scale.shown(row.in_bootstrap),
        on_original=scale.shown(row.on_original),
        out_of_bag=scale.shown(row.out_of_bag),
        optimism=json_number(row.optimism),
        corrected=scale.shown(row.corrected),
        low=low,
        high=high,
        n=row.n_successful,
        no_information=scale.shown(row.no_information),
        weight=json_number(row.weight),
        method=method_words(row.method).title if is_named else "",
        constant=scale.shown(estimate.constant),
        inner_optimism=json_number(row.inner_optimism) if adjusts else None,
    )


def _candidates(validation: Validation, metric: str, scale: Scale) -> tuple[CandidateRow, ...]:
    return tuple(
        _candidate(each, metric, scale, is_selected=place == validation.selected)
        for place, each in enumerate(validation.candidates)
    )


def _candidate(candidate: Candidate, metric: str, scale: Scale, *, is_selected: bool) -> CandidateRow:
    row = candidate.rows.get(metric)
    low, high = scale.ends(None if row is None else row.interval)
    return CandidateRow(
        name=candidate.name,
        is_selected=is_selected,
        apparent=None if row is None else scale.shown(row.apparent),
        optimism=None if row is None else json_number(row.optimism),
        corrected=None if row is None else scale.shown(row.corrected),
        low=low,
        high=high,
        failed=len(candidate.failures),
        reason=candidate.reason,
    )


def _imputation_sentence(validation: Validation) -> str:
    imputation = validation.settings.get("imputation")
    if not imputation or validation.replicates.n_completions < 2:
        return ""
    sentence = words.imputation_sentence(validation.replicates.n_completions, str(imputation["order"]))
    if validation.selection is None:
        return sentence
    frequency = frequency_sentence(validation.selection_frequency)
    return f"{sentence} {validation.selection} {words.SELECTED_ANEW} {frequency}"


def _coefficients(validation: Validation) -> CoefficientsPart | None:
    found = validation.coefficients
    if found is None:
        return None
    table = validation.coefficient_table()
    sentence = f"{table.title}."
    if isinstance(found, PooledCoefficients):
        sentence = words.POOLED_SENTENCE
    elif not found.reason:
        sentence = f"{table.title}, with intervals by Wald."
    if found.ratio and "p" in table.headings:
        sentence += words.RATIO_SENTENCE
    return CoefficientsPart(sentence, table.headings[1:], table.rows, table.notes)


def _method(estimate: Estimate, validation: Validation) -> tuple[str, ...]:
    """How the number was computed, and what it estimates."""
    provenance: Mapping[str, Any] = estimate.provenance
    quantity, rows = provenance.get("quantity"), provenance.get("training_rows")
    kind = str(provenance.get("interval"))
    sentences = (
        *(method_words(method).sentence(validation.n_bootstraps) for method in validation.methods),
        words.ADJUSTED_SENTENCE if provenance.get("optimism_adjusted") else "",
        "" if estimate.interval is None else words.INTERVAL_OF_VALIDATION_SENTENCES.get(kind, ""),
        quantity_sentence(str(quantity), rows) if quantity else "",
    )
    return tuple(sentence for sentence in sentences if sentence)


def _settings(validation: Validation, estimate: Estimate) -> dict[str, Any]:
    """Provenance without the numbers in the table."""
    settings = {
        key: f"{value:.3g}" if isinstance(value, float) and np.isfinite(value) else value
        for key, value in estimate.provenance.items()
        if key not in _IN_THE_TABLE
    }
    kind = str(settings.get("interval"))
    settings["interval"] = words.INTERVAL_OF_VALIDATION_WORDS.get(kind, "") if estimate.interval else ""
    return settings
