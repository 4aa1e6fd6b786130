"""From an estimate from predictions alone, and those of other methods, to the content of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heldout._types import Floats
from heldout.data.task import TaskKind
from heldout.estimates.comparison import Comparison
from heldout.estimates.evidence import Evidence
from heldout.estimates.from_matrix import gather
from heldout.estimates.inputs import Inputs
from heldout.estimates.question import Aggregate
from heldout.estimates.types import Estimate
from heldout.protocols.words import method_words
from heldout.report.configuration_parts import parts_in_name
from heldout.report.content import Fact, MethodRow, ReportContent
from heldout.report.diagnostics import Diagnostics, diagnose, precision_recall_of
from heldout.report.estimate_parts import (
    calibration_advice,
    delivered_sentence,
    distribution_of,
    headline_of,
    is_ensemble,
    method_row,
    method_sentences,
)
from heldout.report.facts import (
    citations_of,
    configurations_text,
    facts_with_text,
    folds_text,
    positive_text,
    reproduction_of,
    rows_text,
    settings_of,
)
from heldout.report.ranking import MOST_SHOWN, Ranking, rank_configurations
from heldout.report.thresholds import drawn_curves, threshold_table
from heldout.report.words import NO_CANDIDATE, coverage_paragraph, reason_sentence, several_methods_sentence
from heldout.scales import Scale, scale_of_metric


def estimate_content(
    estimate: Estimate,
    inputs: Inputs,
    *,
    comparison: Comparison | None = None,
    command: str | None = None,
    title: str | None = None,
) -> ReportContent:
    """The content of the report on an estimate from predictions alone.

    ``inputs`` is the question that it answers, and ``comparison`` holds the answers of all methods where there are
    several. ``command`` is the command line or call that made it, ``title`` such as the name of the file.
    """
    within = estimate.provenance.get("aggregate") == "within"
    shown_in: Aggregate = "within" if within else "pooled"
    evidence = gather(inputs.truth, inputs.predictions, replace(inputs.question, aggregate=shown_in))
    out = set(range(len(evidence.names))) - set(evidence.candidates.tolist())
    dropped = out & inputs.predictions.dropped.keys() - inputs.predictions.failed.keys()
    failures = {index: inputs.predictions.failed.get(index, NO_CANDIDATE) for index in sorted(out - dropped)}
    pooled = _pooled(evidence)
    metric, weights = inputs.question.metric, inputs.question.sample_weight
    shown = pooled[evidence.candidates].tolist()
    scale = scale_of_metric(metric, estimate, shown)
    # The figures show the predictions of one configuration; an ensemble is not one of them.
    single = not is_ensemble(estimate)
    diagnostics = diagnose(inputs.truth, inputs.predictions, estimate.selected, weights) if single else None
    folds = folds_text(inputs.predictions.folds, None)
    estimates = [estimate] if comparison is None else [estimate, *comparison.values()]
    headline = headline_of(
        estimate,
        scale,
        uncorrected=estimate.uncorrected,
        winner=estimate.selected_name,
        candidates=evidence.n_candidates,
        rows=estimate.n_rows_used,
        folds=folds,
        dropped=len(dropped),
    )
    ranking = _ranking(estimate, evidence, pooled, failures, dropped, scale)
    shown_predictions = inputs.truth, inputs.predictions, estimate.selected, weights
    content = ReportContent(
        title=title or "",
        headline=headline,
        facts=_facts(inputs, len(failures), len(dropped), folds),
        distribution=distribution_of(estimate, scale),
        ranking=ranking,
        diagnostics=diagnostics,
        method=method_sentences(estimate),
        settings=settings_of([_with_members(estimate, inputs.predictions.names)]),
        flags=tuple(estimate.flags.values()),
        citations=citations_of(estimates, diagnostics),
        methods_text=estimate.methods_text(),
        command=command or "",
        reproduction=reproduction_of([estimate.provenance]),
        delivered=delivered_sentence(
            estimate,
            estimate.n_rows_used,
            source="file",
            is_corrected=headline.is_corrected or headline.is_named or evidence.n_candidates + len(dropped) == 1,
        ),
        precision_recall=drawn_curves(precision_recall_of(*shown_predictions)) if single else (),
        thresholds=threshold_table(*shown_predictions) if single else None,
        no_calibration=calibration_advice(None, "file") if _lacks_calibration(inputs, diagnostics) else "",
    )
    if comparison is None:
        return content
    return replace(
        content,
        methods=_method_rows(comparison, scale),
        methods_sentence=several_methods_sentence(scale.title, comparison.main),
        methods_coverage=coverage_paragraph(comparison.coverage_sentences),
        refused=_refused(comparison),
    )


def _lacks_calibration(inputs: Inputs, diagnostics: Diagnostics | None) -> bool:
    """Whether a single configuration of a binary task has decision values and no probabilities."""
    is_binary = inputs.truth.kind is TaskKind.BINARY
    return is_binary and diagnostics is not None and bool(diagnostics.roc) and diagnostics.calibration is None


def _with_members(estimate: Estimate, names: Sequence[str]) -> dict[str, Any]:
    """The provenance, with the weights of an ensemble beside the names of its members."""
    weights = estimate.provenance.get("weights") or ()
    members = sorted((-weight, place) for place, weight in enumerate(weights) if weight)
    shown = {names[place]: -weight for weight, place in members[:MOST_SHOWN]}
    more = f" and {len(members) - MOST_SHOWN} more" if len(members) > MOST_SHOWN else ""
    text = ", ".join(f"{name} ({weight:.3g})" for name, weight in shown.items())
    return {**estimate.provenance, **({"weights": text + more} if members else {})}


def _ranking(
    estimate: Estimate,
    evidence: Evidence,
    pooled: Floats,
    failures: dict[int, str],
    dropped: set[int],
    scale: Scale,
) -> Ranking:
    folds = evidence.fold_scores
    return rank_configurations(
        evidence.names,
        scale,
        fold_scores=None if folds is None else _over_all(folds, evidence),
        pooled=pooled,
        selected=estimate.selection_frequency,
        winner=None if is_ensemble(estimate) else estimate.selected,
        failures=failures,
        by_mean=estimate.provenance.get("aggregate") == "folds",
        within=estimate.provenance.get("aggregate") == "within",
        weighs="weights" in estimate.provenance,
        dropped=dropped,
        parts=tuple(parts_in_name(name) for name in evidence.names),
    )


def _pooled(evidence: Evidence) -> Floats:
    """Each configuration's score on all rows (C,); NaN for those that are not candidates."""
    assert evidence.matrix is not None, "evidence gathered from predictions holds a matrix"
    return _over_all(evidence.matrix.scores.observed()[None, :], evidence)[0]


def _over_all(scores: Floats, evidence: Evidence) -> Floats:
    """Scores (splits, columns) as (splits, C); NaN for those that are not candidates."""
    spread = np.full((len(scores), len(evidence.names)), np.nan)
    columns = evidence.best_columns
    spread[:, evidence.candidates[columns]] = scores[:, columns]
    return spread


def _method_rows(comparison: Comparison, scale: Scale) -> tuple[MethodRow, ...]:
    main = comparison[comparison.main]
    return tuple(
        method_row(
            name, estimate, scale, main=name == comparison.main, same_winner=estimate.selected == main.selected
        )
        for name, estimate in comparison.items()
    )


def _refused(comparison: Comparison) -> tuple[Fact, ...]:
    return tuple(
        Fact(method_words(name).title, reason_sentence(reason)) for name, reason in comparison.refused.items()
    )


def _facts(inputs: Inputs, failed: int, dropped: int, folds: str) -> tuple[Fact, ...]:
    predictions = inputs.predictions
    configurations = configurations_text(predictions.n_configurations, failed, dropped)
    facts = [
        ("Rows", rows_text(inputs.truth)),
        ("Positive class", positive_text(inputs.truth, [inputs.question.metric])),
        ("Configurations", configurations),
    ]
    if predictions.folds is not None:
        facts.append(("Folds", folds))
    elif predictions.n_repeats > 1:
        facts.append(("Repeats", str(predictions.n_repeats)))
    return facts_with_text(facts)
