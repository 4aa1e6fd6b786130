"""``facts``: what a result says, as one dictionary, over which page, card and texts are templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heldout._sklearn import BaseSearchCV
from heldout._text import counted
from heldout._types import Floats
from heldout.data.task import shortened
from heldout.errors import InputError
from heldout.estimates.comparison import SEEN_IN_THE_ROW, Comparison
from heldout.estimates.evidence import Candidates
from heldout.estimates.from_matrix import gather
from heldout.estimates.inputs import Inputs
from heldout.estimates.paired.leaderboard import Leaderboard
from heldout.estimates.question import Aggregate
from heldout.estimates.types import Estimate
from heldout.metrics.named import in_sentence
from heldout.protocols.algorithms.comparison import AlgorithmComparison
from heldout.protocols.validation.estimate import Validation
from heldout.protocols.words import method_words
from heldout.report import labels
from heldout.report.configuration_parts import parts_in_name
from heldout.report.diagnostics import PredictedRows, predictions_facts, two_classes
from heldout.report.displays.leaderboard import leaderboard_facts
from heldout.report.entries import OPTIONAL, Facts
from heldout.report.headline import (
    Contest,
    calibration_advice,
    delivered_sentence,
    distribution_of,
    headline_of,
    is_ensemble,
    method_sentences,
    number_facts,
)
from heldout.report.ranking import MOST_SHOWN, rank_configurations
from heldout.report.search_facts import comparison_facts, search_facts
from heldout.report.study import evaluation_of_protocol, study, text_of
from heldout.report.validation_facts import validation_facts
from heldout.result import Evaluation
from heldout.scales import Scale, scale_of_estimate, scale_of_metric


def facts(result: Any, *, command: str = "", title: str = "") -> Facts:
    """What a result says, in JSON's types, scales of metrics and a methods text apart.

    Parameters
    ----------
    result : fitted search, Evaluation, Estimate, Validation or AlgorithmComparison
    command : str
        The command line or call that made it.
    title : str
        Such as the name of the data.

    Raises
    ------
    InputError
        When it is no result, or a search that is not fitted or kept no predictions.
    """
    return Facts(_shown(result), command=command, title=title, **study_facts(result))


def study_facts(result: Any) -> dict[str, Any]:
    """What was done, and the text for an article made of it alone."""
    done = study(getattr(result, "evaluation_", result))
    return {"study": done, "methods_text": text_of(done)}


def _shown(result: Any) -> Facts:
    if isinstance(result, AlgorithmComparison):
        return comparison_facts(result)
    evaluation = evaluation_of_result(result)
    if evaluation is not None:
        return search_facts(evaluation)
    if isinstance(result, Validation):
        return validation_facts(result)
    if isinstance(result, Estimate):
        return _estimate_facts(result)
    remedy = ""
    if isinstance(result, BaseSearchCV):
        ours = hasattr(result, "keep_predictions")
        remedy = "; fit it first" if ours else "; ho.correct makes an estimate of a search of scikit-learn"
    raise InputError(
        "a fitted search of heldout, an estimate, a validation or a comparison of algorithms is needed, got "
        f"{shortened(result)}{remedy}."
    )


def evaluation_of_result(result: Any) -> Evaluation | None:
    """The record of the search behind a result; None if there is none.

    Raises InputError for a search that kept no record.
    """
    if isinstance(result, Evaluation):
        return result
    if isinstance(result, AlgorithmComparison):
        return result.evaluation
    repeated = evaluation_of_protocol(result)
    if repeated is not None:
        return replace(repeated, estimates={repeated.refit_metric: result})
    if not hasattr(result, "evaluation_"):
        return None
    if result.evaluation_ is None:
        raise InputError("this needs the held-out predictions of the search; search with `keep_predictions=True`.")
    evaluation: Evaluation = result.evaluation_
    return evaluation


def _estimate_facts(estimate: Estimate) -> Facts:
    """What is known of an estimate without the predictions behind it."""
    provenance, rows = estimate.provenance, estimate.n_rows_used
    scale, _ = scale_of_estimate(estimate)
    n = int(provenance.get("n_candidates", 1))
    contest = Contest(estimate.selected_name, n, rows, "held-out predictions" if rows else "scores of splits")
    return Facts(
        OPTIONAL,
        kind="estimate",
        headline=headline_of(estimate, scale, contest, estimate.uncorrected),
        facts={
            **({"Rows": f"{rows:,}"} if rows else {}),
            "Configurations": f"{int(provenance.get('n_configurations', n)):,}",
        },
        method=method_sentences(estimate),
        settings=labels.settings_of([provenance]),
        flags=labels.flag_facts({"": estimate}, ""),
        citations=labels.citations_of([estimate], None),
        reproduction=labels.reproduction_of([provenance]),
    )


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
    rows = None if configuration is None else PredictedRows(truth, predictions, configuration, weights)
    drawn = predictions_facts(rows)
    diagnostics = drawn["diagnostics"]
    runs = counted(predictions.n_repeats, "run")
    folds = labels.folds_text(predictions.folds, None) if metric.reads_truth else runs
    contest = Contest(
        estimate.selected_name, evidence.n_candidates, estimate.n_rows_used, folds, len(dropped), two_classes(truth)
    )
    headline = headline_of(estimate, scale, contest, estimate.uncorrected)
    # A single configuration of a binary task that has decision values and no probabilities.
    is_uncalibrated = bool(contest.classes and diagnostics and diagnostics.roc and not diagnostics.calibration)
    delivered = "" if not metric.reads_truth else delivered_sentence(
        estimate, contest.rows, source="file", is_corrected=headline.label != "uncorrected" or not contest.is_choice
    )  # fmt: skip
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
        settings=labels.settings_of([_with_members(estimate, predictions.names)]),
        flags=labels.flag_facts({"": estimate}, ""),
        citations=labels.citations_of([estimate, *(comparison or {}).values()], diagnostics),
        **study_facts(estimate),
        reproduction=labels.reproduction_of([estimate.provenance]),
        delivered=delivered,
        no_calibration=calibration_advice(None, "file") if is_uncalibrated else "",
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
    return labels.with_text(
        {
            **labels.data_facts(inputs.truth, [inputs.question.metric]),
            "Configurations": labels.configurations_text(predictions.n_configurations, failed, dropped),
            "Folds": folds if trained and predictions.folds is not None else "",
            "Runs": "" if trained else str(predictions.n_repeats),
            "Repeats": str(predictions.n_repeats) if several else "",
        }
    )
