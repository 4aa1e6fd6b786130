"""``facts``: what a result says, as one dictionary, over which page, card and texts are templates."""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from heldout._record import json_number
from heldout._sklearn import BaseSearchCV
from heldout._text import bytes_text, counted, number_text
from heldout._types import Floats
from heldout.configurations import NotHashableError
from heldout.data.task import TaskKind, shortened
from heldout.errors import InputError
from heldout.estimates.comparison import SEEN_IN_THE_ROW, Comparison
from heldout.estimates.evidence import Candidates
from heldout.estimates.from_matrix import gather
from heldout.estimates.inputs import Inputs
from heldout.estimates.paired.leaderboard import Leaderboard
from heldout.estimates.question import Aggregate
from heldout.estimates.types import Estimate
from heldout.execution.cells import SharedFits
from heldout.execution.listeners.words import duration, shared_line, work_words
from heldout.execution.sharing.prefixes import STEPS
from heldout.imputation.coefficients import PooledCoefficients
from heldout.imputation.imputed_model import member_of
from heldout.metrics.base import Metric, Response, oriented
from heldout.metrics.named import in_sentence
from heldout.protocols.algorithms.comparison import AlgorithmComparison, ComparedAlgorithm
from heldout.protocols.nested.estimate import (
    ALONE,
    NestedEstimate,
    agreement_sentence,
    inner_against_outer_sentence,
    outer_folds_sentence,
)
from heldout.protocols.validation.corrections import memorising
from heldout.protocols.validation.curves import CALIBRATION_SOURCES, CONFIDENCE_LEVEL, DECISION_SOURCES, ROC_SOURCES
from heldout.protocols.validation.estimate import Candidate, Validation, ValidationRow
from heldout.protocols.validation.replicates import Replicates
from heldout.protocols.words import frequency_sentence, method_words
from heldout.report import labels
from heldout.report.columns import columns_of
from heldout.report.configuration_scores import search_scale
from heldout.report.diagnostics import PredictedRows, class_names, predictions_facts, two_classes
from heldout.report.displays.curves import CalibrationDisplay, CurvesDisplay, DecisionCurveDisplay, RocCurveDisplay
from heldout.report.displays.race import race_of, sources_of
from heldout.report.displays.ranking import leaderboard_facts
from heldout.report.entries import OPTIONAL, Facts
from heldout.report.headline import (
    delivered_sentence,
    distribution_of,
    headline_of,
    is_choice,
    is_ensemble,
    method_sentences,
    number_facts,
    what_is_estimated,
)
from heldout.report.importance import coefficients_of, importance_of, own_importances_of
from heldout.report.ranking import (
    MOST_SHOWN,
    column_means,
    failure_groups,
    parameters_of,
    parts_in_name,
    parts_of,
    rank_configurations,
)
from heldout.report.study import evaluation_of_protocol, record_of_deployed, study, text_of
from heldout.report.templating import sentence, sentences
from heldout.result import Evaluation
from heldout.scales import Scale, plain, scale_of_estimate, scale_of_metric


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
        return _comparison_facts(result)
    evaluation = evaluation_of_result(result)
    if evaluation is not None:
        return _search_facts(evaluation)
    if isinstance(result, Validation):
        return _validation_facts(result)
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
    contest = {"winner": estimate.selected_name, "candidates": n, "rows": rows, "classes": ()}
    folds = "held-out predictions" if rows else "scores of splits"
    return Facts(
        OPTIONAL,
        kind="estimate",
        headline=headline_of(estimate, scale, estimate.uncorrected, folds=folds, **contest),
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


NO_FINGERPRINT = "none: a parameter has no canonical form"


def _search_facts(evaluation: Evaluation) -> Facts:
    name, estimate, winner = evaluation.refit_metric, evaluation.estimate, evaluation.winner
    truth, model = evaluation.task.truth, evaluation.model
    scale = search_scale(evaluation, name)
    failures = {**evaluation.predictions.failed, **evaluation.failures}
    dropped = set(evaluation.predictions.dropped) - set(failures)
    provenance = {} if estimate is None else estimate.provenance
    of_search = {
        "dropping": labels.drop_text(evaluation.provenance.get("drop")),
        "n_imputations": evaluation.provenance.get("n_imputations"),
    }
    ranking = _ranking_of_search(evaluation, scale, failures, dropped)
    chosen = next((row for row in ranking.shown if row.is_winner), None)
    shown = None if chosen is None else chosen.pooled if chosen.mean is None else chosen.mean
    of_shown, held, weights = evaluation.shown_rows
    predictions = predictions_facts(PredictedRows(of_shown, held, winner, weights))
    diagnostics = predictions["diagnostics"]
    several = evaluation.estimates if len(evaluation.estimates) > 1 else ()
    contest: dict[str, Any] = {
        # A two-part method may have selected another configuration than the search; the number is of that one.
        "winner": evaluation.configurations.names[winner] if estimate is None else estimate.selected_name,
        "candidates": len(evaluation.configurations) - len(failures) - len(dropped),
        "rows": evaluation.task.n_rows,
        "folds": _folds_text(evaluation),
        "dropped": len(dropped),
        "classes": two_classes(truth),
    }
    headline = headline_of(estimate, scale, None if shown is None else scale.sign * shown, **contest)
    sources = [*sources_of(evaluation), *evaluation.provenance.get("sources_of_imputation", ())]
    return Facts(
        OPTIONAL,
        kind="search",
        headline=headline,
        facts=_labels_of_search(evaluation, len(failures), len(dropped), contest["folds"]),
        distribution=distribution_of(estimate, scale),
        metrics=tuple(_metric_row(evaluation, key) for key in several),
        race=race_of(evaluation, scale),
        outer=_outer(estimate, scale),
        ranking=ranking,
        parameters=_parameters(evaluation),
        **predictions,
        shared=tuple(_shared_row(what, each) for what, each in evaluation.shared_fits.items()),
        method=method_sentences(estimate),
        settings=labels.settings_of([provenance, of_search]),
        flags=labels.flag_facts(evaluation.estimates, name),
        citations=labels.citations_of(evaluation.estimates.values(), diagnostics, sources),
        reproduction=labels.reproduction_of([evaluation.provenance, provenance]) | _fingerprint(evaluation),
        delivered=delivered_sentence(
            estimate,
            evaluation.task.n_rows,
            source="search",
            is_corrected=headline.label != "uncorrected" or not is_choice(contest),
            is_fitted=model is not None,
            is_bounded=evaluation.provenance.get("deploy") == "bounded",
        ),
        no_calibration=_no_calibration(evaluation, diagnostics),
        columns=columns_of(evaluation.task.X),
        treatment=evaluation.provenance.get("columns"),
        overtuning=_overtuning(evaluation),
        importance=importance_of(evaluation),
        coefficients=coefficients_of(model, evaluation.fold_models, class_names(truth)),
        own_importances=own_importances_of(model, evaluation.fold_models),
    )


def _ranking_of_search(
    evaluation: Evaluation, scale: Scale, failures: Mapping[int, str], dropped: set[int]
) -> Facts:
    name, estimate = evaluation.refit_metric, evaluation.estimate
    fold_scores, training_scores = evaluation.fold_scores.get(name), evaluation.cells.train_scores.get(name)
    train = None
    if training_scores is not None and not np.isnan(training_scores["value"]).all():
        train = column_means(training_scores["value"].T)
    return rank_configurations(
        evaluation.configurations.names,
        scale,
        fold_scores=None if fold_scores is None else fold_scores.values,
        pooled=evaluation.within_scores.get(name, evaluation.pooled_scores.get(name)),
        # How often outer folds selected a configuration is shown with them; it is not a replay on resampled rows.
        selected=None if estimate is None or isinstance(estimate, NestedEstimate) else estimate.selection_frequency,
        winner=evaluation.winner,
        failures=failures,
        by_mean=evaluation.estimation.aggregate not in ("pooled", "within"),  # the scale that chose
        within=name in evaluation.within_scores,
        dropped=dropped,
        parts=parts_of(evaluation.configurations),
        train=train,
    )


def _overtuning(evaluation: Evaluation) -> Facts | None:
    """What further search bought; None where it is not known, and of fewer than two configurations.

    By how much the best of so many is better than the first, on the rows that chose it and on those left out: a
    second level beside the estimate of the search would answer no question of its own.
    """
    try:
        overtuning = evaluation.overtuning
    except InputError:
        return None
    if len(overtuning.n_configurations) < 2:
        return None
    sign = 1 if overtuning.greater_is_better else -1
    scores = {"uncorrected": overtuning.uncorrected, "corrected": overtuning.corrected}
    return Facts(
        {name: tuple(map(json_number, (sign * (of - of[0])).tolist())) for name, of in scores.items()},
        scale=search_scale(evaluation, evaluation.refit_metric),
        n_configurations=tuple(overtuning.n_configurations.tolist()),
        in_order=overtuning.in_order,
        sentences=tuple(evaluation.overtuning_sentences),
    )


def _no_calibration(evaluation: Evaluation, diagnostics: Facts | None) -> str:
    is_binary = evaluation.task.truth.kind is TaskKind.BINARY
    if not is_binary or (diagnostics is not None and diagnostics.calibration is not None):
        return ""
    model = evaluation.configurations[evaluation.winner].fresh()
    return sentence("calibration", {"source": "search", "has_probabilities": hasattr(model, "predict_proba")})


def _metric_row(evaluation: Evaluation, name: str) -> Facts:
    """One of several metrics of a search."""
    numbers = number_facts(evaluation.estimates[name], search_scale(evaluation, name))
    return Facts(numbers, name=name, chose=name == evaluation.refit_metric)


def _folds_text(evaluation: Evaluation) -> str:
    """Folds and repeats; for a search that stopped early, how many of the splits were used."""
    done, held = evaluation.folds.n_splits, evaluation.predictions
    planned = evaluation.provenance.get("n_splits_planned", done)
    return f"{done} of {planned} splits" if done < planned else labels.folds_text(held.folds, done)


def _labels_of_search(evaluation: Evaluation, failed: int, dropped: int, folds: str) -> dict[str, str]:
    fits = evaluation.part_for_estimate or (f"{evaluation.n_fits:,}" if evaluation.n_fits else "")
    if fits and evaluation.n_fits_saved:
        fits += f", {evaluation.n_fits_saved:,} saved"
    # Summed over all fits, so a resumed run shows the same as an uninterrupted one.
    columns = evaluation.cells.columns
    seconds = float(columns["fit_seconds"].sum() + columns["score_seconds"].sum())
    what = "all fits" if evaluation.is_one_search else "the search on all rows"
    of_what = "" if evaluation.is_one_search else f" of {what}"
    shared = evaluation.shared_fits
    in_all = shared_line(evaluation.n_fits_shared, evaluation.n_fits_of_search, shared) if shared else ""
    return labels.with_text(
        {
            **labels.data_facts(evaluation.task.truth, evaluation.metrics.values()),
            "Configurations": labels.configurations_text(len(evaluation.configurations), failed, dropped),
            "Folds": folds,
            "Fits": fits,
            f"Shared fits{of_what}": in_all,
            f"Time of {what}": work_words(seconds) if seconds else "",
        }
    )


def _shared_row(what: str, shared: SharedFits) -> Facts:
    seconds = "not estimated" if shared.seconds is None else "none"
    if shared.seconds is not None and shared.seconds > 0:
        seconds = duration(shared.seconds) if what == STEPS else f"about {duration(shared.seconds)}"
    return Facts(
        name="Equal steps" if what == STEPS else what,
        fits=shared.n_fits,
        seconds=seconds,
        n_bytes=bytes_text(shared.n_bytes) if shared.n_bytes else "–",
    )


def _parameters(evaluation: Evaluation) -> tuple[Facts, ...]:
    """All parameters of the winner, those that the search set first."""
    winner = evaluation.configurations[evaluation.winner]
    searched = winner.own_params
    rows = {**({"model": winner.model} if winner.model else {}), **dict(sorted(searched.items()))}
    return (
        *(Facts(name=name, text=plain(value), searched=True, is_default=False) for name, value in rows.items()),
        *(row for row in parameters_of(winner.fresh()) if row.name not in searched),
    )


def _fingerprint(evaluation: Evaluation) -> dict[str, str]:
    """That of the configurations: provenance lists those of rows and folds."""
    try:
        ids = "".join(key for key, _ in evaluation.configurations.identities())
    except NotHashableError:
        return {"Fingerprint of configurations": NO_FINGERPRINT}
    return {"Fingerprint of configurations": hashlib.sha256(ids.encode()).hexdigest()}


MOST_CHOSEN = 10


def _outer(estimate: Estimate | None, scale: Scale) -> Facts | None:
    """The outer folds of nested cross-validation: the winners that they selected, and their scores; else None."""
    if not isinstance(estimate, NestedEstimate):
        return None
    folds, agreement, wins = estimate.outer_folds, estimate.agreement, estimate.agreement.wins
    n_repeats, of_all = len({fold.repeat for fold in folds}), estimate.provenance.get("across") == "all"
    is_alone, n_folds = len(folds[0].inner_scores) == 1, sum(wins.values())
    rows = tuple(
        Facts(
            place=f"{fold.fold + 1}" + (f" of repeat {fold.repeat + 1}" if n_repeats > 1 else ""),
            **Facts.of(fold, "rows=n_test_rows winner=tested_name", scale, "inner=inner_score outer=score"),
        )
        for fold in folds
    )
    agreement_text = agreement_sentence(
        agreement.share,
        len(wins),
        len(folds),
        is_deployed=next(iter(wins), None) == estimate.selected,
        one_for_all=of_all,
    )
    means = estimate.mean_inner_scores.tolist() if of_all else []
    return Facts(
        how=outer_folds_sentence(len(folds), n_repeats, one_for_all=of_all, is_alone=is_alone),
        chosen=tuple(
            Facts(name=agreement.names[j], wins=n, share=n / n_folds, is_deployed=j == estimate.selected)
            for j, n in [*wins.items()][:MOST_CHOSEN]
        ),
        unnamed=max(len(wins) - MOST_CHOSEN, 0),
        agreement=ALONE if is_alone else agreement_text,
        folds=rows,
        means=_means(rows, scale, one_for_all=of_all),
        inner_means=tuple(
            Facts(name=estimate.names[j], mean=scale.shown(means[j]), is_deployed=j == estimate.selected)
            for j in (estimate.ranked[:MOST_CHOSEN] if of_all else ())
        ),
        inner_means_more=max(len(means) - MOST_CHOSEN, 0),
    )


def _means(rows: tuple[Facts, ...], scale: Scale, *, one_for_all: bool) -> str:
    scores = [[row[of] for row in rows if row[of] is not None] for of in ("inner", "outer")]
    if not all(scores):
        return ""
    texts = (number_text(float(np.mean(known)), scale.decimals) for known in scores)
    return inner_against_outer_sentence(scale.title, *texts, one_for_all=one_for_all)


def _comparison_facts(comparison: AlgorithmComparison) -> Facts:
    """Those of the search over all algorithms, whose number is corrected for the choice among all of them."""
    content = _search_facts(record_of_deployed(comparison))
    works = {work.text: work for work in (*content.citations, *labels.citations_of([], None, comparison.sources))}
    algorithms = _algorithms(comparison, content.headline.metric)
    return Facts(content, algorithms=algorithms, citations=tuple(works.values()))


def _algorithms(comparison: AlgorithmComparison, scale: Scale) -> Facts:
    """The three scores of compared algorithms, what these select, and the differences."""
    differences = tuple(
        Facts.of(
            each, "first second words is_relevant", interval=tuple(each.interval),
            adjusted_interval=tuple(each.adjusted_interval),
        )
        for each in comparison.differences
    )  # fmt: skip
    return Facts(
        n_folds=comparison.n_folds,
        rows=tuple(_algorithm(each, scale, comparison.deployed) for each in comparison.algorithms),
        selections=comparison.selections.sentence,
        relevance=str(comparison.relevance),
        level=comparison.differences[0].interval.confidence_level if differences else None,
        differences=differences,
        overall=comparison.flattery,
        notes=tuple(note[0].upper() + note[1:] for note in comparison.notes),
    )


def _algorithm(algorithm: ComparedAlgorithm, scale: Scale, deployed: str) -> Facts:
    return Facts.of(
        algorithm,
        "name configurations=n_configurations flat_fits=costs.flat_fits nested_fits=costs.nested_fits reason",
        scale,
        "flat corrected=corrected_value nested",
        is_deployed=algorithm.name == deployed,
        corrected_interval=scale.ends(algorithm.corrected_interval),
        nested_interval=scale.ends(algorithm.nested_interval),
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
    contest = {
        "winner": estimate.selected_name, "candidates": evidence.n_candidates, "rows": estimate.n_rows_used,
        "folds": folds, "dropped": len(dropped), "classes": two_classes(truth),
    }  # fmt: skip
    headline = headline_of(estimate, scale, estimate.uncorrected, **contest)
    # A single configuration of a binary task that has decision values and no probabilities.
    is_uncalibrated = contest["classes"] and diagnostics and diagnostics.roc and not diagnostics.calibration
    delivered = "" if not metric.reads_truth else delivered_sentence(
        estimate, estimate.n_rows_used, source="file",
        is_corrected=headline.label != "uncorrected" or not is_choice(contest),
    )  # fmt: skip
    return Facts(
        {**OPTIONAL, **_methods(comparison, scale)},
        leaderboard=None if leaderboard is None else leaderboard_facts(leaderboard),
        kind="estimate",
        headline=headline,
        facts=_labels_of_file(inputs, len(failures), len(dropped), folds),
        distribution=distribution_of(estimate, scale),
        ranking=_ranking_of_file(estimate, evidence, pooled, failures, dropped, scale),
        **drawn,
        method=method_sentences(estimate),
        settings=labels.settings_of([_with_members(estimate, predictions.names)]),
        flags=labels.flag_facts({"": estimate}, ""),
        citations=labels.citations_of([estimate, *(comparison or {}).values()], diagnostics),
        **study_facts(estimate),
        reproduction=labels.reproduction_of([estimate.provenance]),
        delivered=delivered,
        no_calibration=sentence("calibration", {"source": "file"}) if is_uncalibrated else "",
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


def _ranking_of_file(
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


def _labels_of_file(inputs: Inputs, failed: int, dropped: int, folds: str) -> dict[str, str]:
    predictions, is_of_models = inputs.predictions, inputs.question.metric.reads_truth
    several = predictions.folds is None and predictions.n_repeats > 1
    return labels.with_text(
        {
            **labels.data_facts(inputs.truth, [inputs.question.metric]),
            "Configurations": labels.configurations_text(predictions.n_configurations, failed, dropped),
            "Folds": folds if is_of_models and predictions.folds is not None else "",
            "Runs": "" if is_of_models else str(predictions.n_repeats),
            "Repeats": str(predictions.n_repeats) if several else "",
        }
    )


INTERVAL_WORDS = {
    "location_shifted": "shifted percentiles",
    "double": "double bootstrap",
    "percentile": "percentiles of the rows left out",
}
_IN_THE_TABLE = {
    "apparent", "out_of_bag", "optimism", "n", "n_successful", "n_redraws", "confidence_level", "alternative",
}  # fmt: skip


def _validation_facts(validation: Validation) -> Facts:
    first = next(iter(validation.rows))
    estimate, replicates, model = validation.estimates[first], validation.replicates, validation.model
    scales = {name: _scale_of_validation(validation, name) for name in validation.rows}
    curves = _curves_of_validation(replicates)
    works = zip((ROC_SOURCES, CALIBRATION_SOURCES, DECISION_SOURCES), curves.values(), strict=True)
    sources = [key for keys, displays in works if displays for key in keys]
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
        facts=_labels_of_validation(validation),
        metrics=tuple(
            _validated_metric(row, scales[name], validation.estimates[name], several=len(methods) > 1)
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
        method=_method_of_validation(estimate, validation),
        settings=labels.settings_of([_settings_of_validation(validation, estimate)]),
        flags=labels.flag_facts(validation.estimates, first),
        citations=labels.citations_of(validation.estimates.values(), None, sources),
        reproduction=labels.reproduction_of([estimate.provenance]),
        treatment=estimate.provenance.get("columns"),
    )


def _scale_of_validation(validation: Validation, name: str) -> Scale:
    metric, estimate = validation.metrics[name], validation.estimates[name]
    # Without an interval the spread of the replicates' scores shows which digits are meaningful.
    spread = [] if estimate.interval is not None else validation.replicates.scores(metric).on_original.tolist()
    return scale_of_metric(metric, estimate, spread)


def _labels_of_validation(validation: Validation) -> dict[str, str]:
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


def _validated_metric(row: ValidationRow, scale: Scale, estimate: Estimate, *, several: bool) -> Facts:
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
    coefficients = validation.coefficients
    if coefficients is None:
        return None
    table = validation.coefficient_table()
    values = {
        "title": table.title,
        "is_pooled": isinstance(coefficients, PooledCoefficients),
        "has_intervals": isinstance(coefficients, PooledCoefficients) or not coefficients.reason,
        "are_ratios": coefficients.ratio and "p" in table.headings,
    }
    text = sentence("coefficients", values)
    return Facts(sentence=text, headings=table.headings[1:], rows=table.rows, notes=table.notes)


def _method_of_validation(estimate: Estimate, validation: Validation) -> tuple[str, ...]:
    """How the number was computed, and what it estimates."""
    provenance, methods = estimate.provenance, map(method_words, validation.methods)
    values = {
        "methods": [words.sentence(validation.n_bootstraps) for words in methods],
        "is_adjusted": provenance.get("optimism_adjusted"),
        "interval": None if estimate.interval is None else provenance.get("interval"),
        "quantity": what_is_estimated(estimate),
    }
    return sentences("sentences/validation_method.jinja", values)


def _settings_of_validation(validation: Validation, estimate: Estimate) -> dict[str, Any]:
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


def _curves_of_validation(replicates: Replicates) -> dict[type[CurvesDisplay], tuple[CurvesDisplay, ...]]:
    """The curves that responses and rows allow: one a class, or of survival one at the middle time."""
    truth, times, responses = replicates.truth, replicates.times, replicates.on_original.keys()
    kind = truth.kind
    of_classes = kind.is_classification and Response.PROBABILITIES in responses
    of_survival = kind is TaskKind.SURVIVAL and Response.SURVIVAL in responses
    of_values = kind is TaskKind.REGRESSION and Response.VALUES in responses
    is_possible: dict[type[CurvesDisplay], bool] = {
        RocCurveDisplay: of_classes or (kind.is_classification and Response.DECISION in responses),
        CalibrationDisplay: of_classes or of_survival or of_values,
        DecisionCurveDisplay: of_survival or (of_classes and kind is TaskKind.BINARY),
    }
    parts: list[dict[str, Any]] = [{"of_class": None}]
    if kind is TaskKind.SURVIVAL:
        parts = [{"time": times[len(times) // 2]}] if times else []
    elif kind is TaskKind.MULTICLASS and truth.classes is not None:
        parts = [{"of_class": label} for label in truth.classes.tolist()[:MOST_CLASSES]]
    curves: dict[type[CurvesDisplay], tuple[CurvesDisplay, ...]] = dict.fromkeys(is_possible, ())
    for display in (display for display, holds in is_possible.items() if holds):
        with suppress(InputError):  # ten rows or fewer allow no calibration curve
            curves[display] = tuple(display.of_replicates(replicates, **part) for part in parts)
    return curves


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
