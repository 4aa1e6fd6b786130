"""``file_facts``: what an estimate says from predictions that others made, beside those of other methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heldout._text import counted
from heldout._types import Floats
from heldout.data.task import TaskKind
from heldout.estimates.comparison import SEEN_IN_THE_ROW, Comparison
from heldout.estimates.evidence import Candidates
from heldout.estimates.from_matrix import gather
from heldout.estimates.inputs import Inputs
from heldout.estimates.paired.leaderboard import Leaderboard
from heldout.estimates.question import Aggregate
from heldout.estimates.types import Estimate
from heldout.metrics.named import in_sentence
from heldout.protocols.words import method_words
from heldout.report.configuration_parts import parts_in_name
from heldout.report.diagnostics import predictions_facts, two_classes
from heldout.report.displays.leaderboard import leaderboard_facts
from heldout.report.entries import OPTIONAL, Facts
from heldout.report.facts import study_facts
from heldout.report.headline import (
    calibration_advice,
    delivered_sentence,
    distribution_of,
    headline_of,
    is_ensemble,
    method_sentences,
    number_facts,
)
from heldout.report.ranking import MOST_SHOWN, rank_configurations
from heldout.report.settings import (
    citations_of,
    configurations_text,
    flag_facts,
    folds_text,
    positive_text,
    reproduction_of,
    rows_text,
    settings_of,
    with_text,
)
from heldout.scales import Scale, scale_of_metric

NO_CANDIDATE = "it lacks predictions that others have, so it was not a candidate"


def file_facts(
    estimate: Estimate,
    inputs: Inputs,
    *,
    comparison: Comparison | None = None,
    leaderboard: Leaderboard | None = None,
    command: str = "",
    title: str = "",
) -> Facts:
    """What an estimate from predictions alone says.

    ``inputs`` is the question that it answers, and ``comparison`` holds the answers of all methods where there are
    several, ``leaderboard`` that of all configurations. ``command`` is the command line or call that made it,
    ``title`` such as the name of the file.
    """
    truth, predictions = inputs.truth, inputs.predictions
    within = estimate.provenance.get("aggregate") == "within"
    shown_in: Aggregate = "within" if within else "pooled"
    evidence = gather(truth, predictions, replace(inputs.question, aggregate=shown_in))
    out = set(range(len(evidence.names))) - set(evidence.candidates.tolist())
    dropped = out & predictions.dropped.keys() - predictions.failed.keys()
    failures = {index: predictions.failed.get(index, NO_CANDIDATE) for index in sorted(out - dropped)}
    pooled = _pooled(evidence)
    metric, weights = inputs.question.metric, inputs.question.sample_weight
    scale = scale_of_metric(metric, estimate, pooled[evidence.candidates].tolist())
    # The figures show the predictions of one configuration; an ensemble is not one of them, and scores are none.
    configuration = estimate.selected if metric.reads_truth and not is_ensemble(estimate) else None
    drawn = predictions_facts(truth, predictions, configuration, weights)
    diagnostics = drawn["diagnostics"]
    runs = counted(predictions.n_repeats, "run")
    folds = folds_text(predictions.folds, None) if metric.reads_truth else runs
    headline = headline_of(
        estimate,
        scale,
        uncorrected=estimate.uncorrected,
        winner=estimate.selected_name,
        candidates=evidence.n_candidates,
        rows=estimate.n_rows_used,
        folds=folds,
        dropped=len(dropped),
        classes=two_classes(truth),
    )
    return Facts(
        {**OPTIONAL, **_methods(comparison, scale)},
        leaderboard=None if leaderboard is None else leaderboard_facts(leaderboard),
        kind="estimate",
        headline=headline,
        facts=_labelled(inputs, len(failures), len(dropped), folds),
        distribution=distribution_of(estimate, scale),
        ranking=_ranking(estimate, evidence, pooled, failures, dropped, scale),
        **drawn,
        method=method_sentences(estimate),
        settings=settings_of([_with_members(estimate, predictions.names)]),
        flags=flag_facts({"": estimate}, ""),
        citations=citations_of([estimate, *(() if comparison is None else comparison.values())], diagnostics),
        **study_facts(estimate),
        reproduction=reproduction_of([estimate.provenance]),
        delivered=""
        if not metric.reads_truth
        else delivered_sentence(
            estimate,
            estimate.n_rows_used,
            source="file",
            is_corrected=headline.label != "uncorrected" or evidence.n_candidates + len(dropped) == 1,
        ),
        no_calibration=calibration_advice(None, "file") if _lacks_calibration(inputs, diagnostics) else "",
        command=command,
        title=title,
    )


def _methods(comparison: Comparison | None, scale: Scale) -> dict[str, Any]:
    """The answers of several methods, what their intervals covered, and why others do not apply."""
    if comparison is None:
        return {}
    main, measured = comparison[comparison.main], comparison.coverage_sentences
    lead = ["How often intervals held the truth was measured where it is known."] if measured else []
    return {
        "methods": tuple(
            Facts(
                number_facts(estimate, scale),
                name=name,
                title=method_words(name).title,
                is_main=name == comparison.main,
                winner="" if estimate.selected == main.selected else estimate.selected_name,
                notes=tuple(text for flag, text in estimate.flags.items() if flag not in SEEN_IN_THE_ROW),
                how=method_sentences(estimate),
            )
            for name, estimate in comparison.items()
        ),
        "methods_sentence": (
            f"The {in_sentence(scale.title)} of the selected configuration by every method that applies, all on "
            f"the same predictions; this report is about the one by {method_words(comparison.main).name}. The "
            "methods estimate different quantities, explained below: choose one before looking at the numbers."
        ),
        "methods_coverage": " ".join([*lead, *measured]),
        "refused": {
            method_words(name).title: f"{reason[:1].upper()}{reason[1:].rstrip('.')}."
            for name, reason in comparison.refused.items()
        },
    }


def _lacks_calibration(inputs: Inputs, diagnostics: Facts | None) -> bool:
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
    evidence: Candidates,
    pooled: Floats,
    failures: dict[int, str],
    dropped: set[int],
    scale: Scale,
) -> Facts:
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


def _pooled(evidence: Candidates) -> Floats:
    """Each configuration's score on all rows (C,); NaN for those that are not candidates."""
    return _over_all(evidence.scores.observed()[None, :], evidence)[0]


def _over_all(scores: Floats, evidence: Candidates) -> Floats:
    """Scores (splits, columns) as (splits, C); NaN for those that are not candidates."""
    spread = np.full((len(scores), len(evidence.names)), np.nan)
    columns = evidence.best_columns
    spread[:, evidence.candidates[columns]] = scores[:, columns]
    return spread


def _labelled(inputs: Inputs, failed: int, dropped: int, folds: str) -> dict[str, str]:
    predictions, trained = inputs.predictions, inputs.question.metric.reads_truth
    several = predictions.folds is None and predictions.n_repeats > 1
    return with_text(
        {
            "Rows": rows_text(inputs.truth),
            "Positive class": positive_text(inputs.truth, [inputs.question.metric]),
            "Configurations": configurations_text(predictions.n_configurations, failed, dropped),
            "Folds": folds if trained and predictions.folds is not None else "",
            "Runs": "" if trained else str(predictions.n_repeats),
            "Repeats": str(predictions.n_repeats) if several else "",
        }
    )
