"""``facts``: what a result says, as one dictionary, over which page, card and texts are templates."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from heldout._record import json_number
from heldout._sklearn import BaseSearchCV
from heldout._text import bytes_text
from heldout._types import Floats
from heldout.configurations import NotHashableError
from heldout.data.task import TaskKind, shortened
from heldout.errors import InputError
from heldout.estimates.types import Estimate
from heldout.execution.cells import SharedFits
from heldout.execution.listeners.words import duration, shared_line, work_words
from heldout.execution.sharing.prefixes import STEPS
from heldout.protocols.algorithms.comparison import AlgorithmComparison
from heldout.protocols.validation.estimate import Validation
from heldout.report.algorithms import algorithms_of, record_of_deployed
from heldout.report.columns import columns_of
from heldout.report.configuration_parts import parameters_of, parts_of
from heldout.report.configuration_scores import search_scale
from heldout.report.diagnostics import class_names, predictions_facts, two_classes
from heldout.report.entries import OPTIONAL, Facts
from heldout.report.headline import (
    calibration_advice,
    delivered_sentence,
    distribution_of,
    headline_of,
    method_sentences,
    number_facts,
)
from heldout.report.importance import coefficients_of, importance_of, own_importances_of
from heldout.report.nested import outer_of
from heldout.report.race import race_of, sources_of
from heldout.report.ranking import column_means, rank_configurations
from heldout.report.settings import (
    citations_of,
    configurations_text,
    drop_text,
    flag_facts,
    folds_text,
    positive_text,
    reproduction_of,
    rows_text,
    settings_of,
    with_text,
)
from heldout.report.study import evaluation_of_protocol, study, text_of
from heldout.report.validation_facts import validation_facts
from heldout.result import Evaluation
from heldout.scales import Scale, plain, scale_of_estimate

NO_FINGERPRINT = "none: a parameter has no canonical form"


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
    headline = headline_of(
        estimate,
        scale,
        uncorrected=estimate.uncorrected,
        winner=estimate.selected_name,
        candidates=n,
        rows=rows,
        folds="held-out predictions" if rows else "scores of splits",
    )
    return Facts(
        OPTIONAL,
        kind="estimate",
        headline=headline,
        facts=with_text(
            {
                "Rows": f"{rows:,}" if rows else "",
                "Configurations": f"{int(provenance.get('n_configurations', n)):,}",
            }
        ),
        method=method_sentences(estimate),
        settings=settings_of([provenance]),
        flags=flag_facts({"": estimate}, ""),
        citations=citations_of([estimate], None),
        reproduction=reproduction_of([provenance]),
    )


def _search_facts(evaluation: Evaluation) -> Facts:
    name, estimate, winner = evaluation.refit_metric, evaluation.estimate, evaluation.winner
    truth, model = evaluation.task.truth, evaluation.model
    scale = search_scale(evaluation, name)
    failures = {**evaluation.predictions.failed, **evaluation.failures}
    dropped = set(evaluation.predictions.dropped) - set(failures)
    folds = _folds_text(evaluation)
    provenance = {} if estimate is None else estimate.provenance
    dropping = {"dropping": drop_text(evaluation.provenance.get("drop"))}
    imputing = {key: evaluation.provenance[key] for key in ("n_imputations",) if key in evaluation.provenance}
    outer = outer_of(estimate, scale)
    ranking = _ranking(evaluation, scale, failures, dropped, is_nested=outer is not None)
    chosen = next((row for row in ranking.shown if row.is_winner), None)
    shown = None if chosen is None else chosen.pooled if chosen.mean is None else chosen.mean
    of_shown, held, weights = evaluation.shown_rows
    predictions = predictions_facts(of_shown, held, winner, weights)
    diagnostics = predictions["diagnostics"]
    candidates = len(evaluation.configurations) - len(failures) - len(dropped)
    headline = headline_of(
        estimate,
        scale,
        uncorrected=None if shown is None else scale.sign * shown,
        # A two-part method may have selected another configuration than the search; the number is of that one.
        winner=evaluation.configurations.names[winner] if estimate is None else estimate.selected_name,
        candidates=candidates,
        rows=evaluation.task.n_rows,
        folds=folds,
        dropped=len(dropped),
        classes=two_classes(truth),
    )
    return Facts(
        OPTIONAL,
        kind="search",
        headline=headline,
        facts=_labelled(evaluation, len(failures), len(dropped), folds),
        distribution=distribution_of(estimate, scale),
        metrics=_metric_rows(evaluation),
        race=race_of(evaluation, scale),
        outer=outer,
        ranking=ranking,
        parameters=_parameters(evaluation),
        **predictions,
        shared=tuple(_shared_row(what, each) for what, each in evaluation.shared_fits.items()),
        method=method_sentences(estimate),
        settings=settings_of([provenance, dropping, imputing]),
        flags=flag_facts(evaluation.estimates, name),
        citations=citations_of(evaluation.estimates.values(), diagnostics, _further_sources(evaluation)),
        reproduction=reproduction_of([evaluation.provenance, provenance]) | _fingerprints(evaluation),
        delivered=delivered_sentence(
            estimate,
            evaluation.task.n_rows,
            source="search",
            is_corrected=headline.label != "uncorrected" or candidates + len(dropped) == 1,
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


def _ranking(
    evaluation: Evaluation, scale: Scale, failures: Mapping[int, str], dropped: set[int], *, is_nested: bool
) -> Facts:
    name, estimate = evaluation.refit_metric, evaluation.estimate
    fold_scores = evaluation.fold_scores.get(name)
    return rank_configurations(
        evaluation.configurations.names,
        scale,
        fold_scores=None if fold_scores is None else fold_scores.values,
        pooled=evaluation.within_scores.get(name, evaluation.pooled_scores.get(name)),
        # How often outer folds selected a configuration is shown with them; it is not a replay on resampled rows.
        selected=None if estimate is None or is_nested else estimate.selection_frequency,
        winner=evaluation.winner,
        failures=failures,
        by_mean=evaluation.estimation.aggregate not in ("pooled", "within"),  # the scale that chose
        within=name in evaluation.within_scores,
        dropped=dropped,
        parts=parts_of(evaluation.configurations),
        train=_train_means(evaluation, name),
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
    gains = {
        name: tuple(json_number(sign * (score - scores[0])) for score in scores.tolist())
        for name, scores in (("uncorrected", overtuning.uncorrected), ("corrected", overtuning.corrected))
    }
    return Facts(
        gains,
        scale=search_scale(evaluation, evaluation.refit_metric),
        n_configurations=tuple(overtuning.n_configurations.tolist()),
        in_order=overtuning.in_order,
        sentences=tuple(evaluation.overtuning_sentences),
    )


def _no_calibration(evaluation: Evaluation, diagnostics: Facts | None) -> str:
    is_binary = evaluation.task.truth.kind is TaskKind.BINARY
    if not is_binary or (diagnostics is not None and diagnostics.calibration is not None):
        return ""
    return calibration_advice(evaluation.configurations[evaluation.winner].fresh(), "search")


def _train_means(evaluation: Evaluation, name: str) -> Floats | None:
    """Each configuration's mean score on the rows that trained it (C,); None if these scores were not computed."""
    column = evaluation.cells.train_scores.get(name)
    return None if column is None or np.isnan(column.values).all() else column_means(column.values.T)


def _further_sources(evaluation: Evaluation) -> list[str]:
    return [*sources_of(evaluation), *evaluation.provenance.get("sources_of_imputation", ())]


def _metric_rows(evaluation: Evaluation) -> tuple[Facts, ...]:
    """The estimates of a search with several metrics; empty for a single one."""
    if len(evaluation.estimates) < 2:
        return ()
    return tuple(
        Facts(
            number_facts(estimate, search_scale(evaluation, name)),
            name=name,
            chose=name == evaluation.refit_metric,
        )
        for name, estimate in evaluation.estimates.items()
    )


def _folds_text(evaluation: Evaluation) -> str:
    """Folds and repeats; for a search that stopped early, how many of the splits were used."""
    done = evaluation.folds.n_splits
    planned = evaluation.provenance.get("n_splits_planned", done)
    if done < planned:
        return f"{done} of {planned} splits"
    return folds_text(evaluation.predictions.folds, done)


def _labelled(evaluation: Evaluation, failed: int, dropped: int, folds: str) -> dict[str, str]:
    fits = evaluation.part_for_estimate or (f"{evaluation.n_fits:,}" if evaluation.n_fits else "")
    if fits and evaluation.n_fits_saved:
        fits += f", {evaluation.n_fits_saved:,} saved"
    # Summed over all fits, so a resumed run shows the same as an uninterrupted one.
    columns = evaluation.cells.columns
    seconds = float(columns["fit_seconds"].sum() + columns["score_seconds"].sum())
    n_timed = evaluation.n_fits_of_search
    is_whole = evaluation.is_one_search
    what = "all fits" if is_whole else "the search on all rows"
    shared = evaluation.shared_fits
    in_all = shared_line(evaluation.n_fits_shared, n_timed, shared) if shared else ""
    return with_text(
        {
            "Rows": rows_text(evaluation.task.truth),
            "Positive class": positive_text(evaluation.task.truth, evaluation.metrics.values()),
            "Configurations": configurations_text(len(evaluation.configurations), failed, dropped),
            "Folds": folds,
            "Fits": fits,
            "Shared fits" if is_whole else "Shared fits of the search on all rows": in_all,
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


def _fingerprints(evaluation: Evaluation) -> dict[str, str]:
    """The fingerprints of rows, folds and configurations that provenance does not list already."""

    def configurations() -> str:
        try:
            ids = "".join(key for key, _ in evaluation.configurations.identities())
        except NotHashableError:
            return NO_FINGERPRINT
        return hashlib.sha256(ids.encode()).hexdigest()

    parts = {
        "rows": evaluation.task.fingerprint,
        "folds": evaluation.folds.fingerprint,
        "configurations": configurations,
    }
    listed = " ".join(str(key) for key in evaluation.provenance if "fingerprint" in str(key))
    return {f"Fingerprint of {name}": make() for name, make in parts.items() if name not in listed}


def _comparison_facts(comparison: AlgorithmComparison) -> Facts:
    """Those of the search over all algorithms, whose number is corrected for the choice among all of them."""
    content = _search_facts(record_of_deployed(comparison))
    known = {citation.text for citation in content.citations}
    further = [each for each in citations_of([], None, comparison.sources) if each.text not in known]
    return Facts(
        content,
        algorithms=algorithms_of(comparison, content.headline.metric),
        citations=(*content.citations, *further),
    )
