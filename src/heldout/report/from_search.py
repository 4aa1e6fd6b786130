"""From a finished search to the content of a report."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from heldout._text import bytes_text
from heldout._types import Floats
from heldout.configurations import NotHashableError
from heldout.data.task import TaskKind
from heldout.estimates.types import Estimate
from heldout.execution.listeners.words import duration, shared_line, work_words
from heldout.execution.sharing.accounts import STEPS, SharedFits
from heldout.protocols.algorithms.comparison import AlgorithmComparison
from heldout.report.algorithms import algorithms_of, record_of_deployed
from heldout.report.coefficients import coefficients_of, own_importances_of
from heldout.report.columns import columns_of
from heldout.report.configuration_parts import parts_of
from heldout.report.configuration_scores import search_scale
from heldout.report.content import Fact, Parameter, ReportContent, SharedRow, overtuning_curve_of
from heldout.report.diagnostics import Diagnostics, class_names, diagnose, precision_recall_of
from heldout.report.estimate_parts import (
    calibration_advice,
    delivered_sentence,
    distribution_of,
    headline_of,
    method_sentences,
    metric_row,
)
from heldout.report.estimator_parameters import parameters_of
from heldout.report.facts import (
    citations_of,
    configurations_text,
    drop_text,
    facts_with_text,
    folds_text,
    positive_text,
    reproduction_of,
    rows_text,
    settings_of,
)
from heldout.report.importance import importance_of
from heldout.report.nested import outer_of
from heldout.report.race import race_of, sources_of
from heldout.report.ranking import column_means, rank_configurations
from heldout.report.thresholds import drawn_curves, threshold_table
from heldout.report.words import NO_FINGERPRINT, several_metrics_sentence
from heldout.result import Evaluation
from heldout.scales import plain


def report_content(
    evaluation: Evaluation, *, command: str | None = None, title: str | None = None
) -> ReportContent:
    """The content of the report on a finished search.

    ``command`` is the command line or call that made it, ``title`` such as the name of the data.
    """
    name, estimate, winner = evaluation.refit_metric, evaluation.estimate, evaluation.winner
    fold_scores = evaluation.fold_scores.get(name)
    pooled = evaluation.within_scores.get(name, evaluation.pooled_scores.get(name))
    scale = search_scale(evaluation, name)
    failures = {**evaluation.predictions.failed, **evaluation.failures}
    dropped = set(evaluation.predictions.dropped) - set(failures)
    folds = _folds_text(evaluation)
    provenance = {} if estimate is None else estimate.provenance
    dropping = {"dropping": drop_text(evaluation.provenance.get("drop"))}
    imputing = {key: evaluation.provenance[key] for key in ("n_imputations",) if key in evaluation.provenance}
    outer = outer_of(estimate, scale)
    ranking = rank_configurations(
        evaluation.configurations.names,
        scale,
        fold_scores=None if fold_scores is None else fold_scores.values,
        pooled=pooled,
        # How often outer folds selected a configuration is shown with them; it is not a replay on resampled rows.
        selected=None if estimate is None or outer is not None else estimate.selection_frequency,
        winner=winner,
        failures=failures,
        by_mean=evaluation.estimation.aggregate not in ("pooled", "within"),  # the scale that chose
        within=name in evaluation.within_scores,
        dropped=dropped,
        parts=parts_of(evaluation.configurations),
        train=_train_means(evaluation, name),
    )
    chosen = ranking.winner
    uncorrected = None
    if chosen is not None:
        shown = chosen.mean if chosen.mean is not None else chosen.pooled
        uncorrected = None if shown is None else scale.sign * shown
    shown_predictions = evaluation.task.truth, evaluation.predictions, winner, evaluation.task.sample_weight
    diagnostics = diagnose(*shown_predictions)
    candidates = len(evaluation.configurations) - len(failures) - len(dropped)
    headline = headline_of(
        estimate,
        scale,
        uncorrected=uncorrected,
        # A two-part method may have selected another configuration than the search; the number is of that one.
        winner=evaluation.configurations.names[winner] if estimate is None else estimate.selected_name,
        candidates=candidates,
        rows=evaluation.task.n_rows,
        folds=folds,
        dropped=len(dropped),
    )
    return ReportContent(
        title=title or "",
        headline=headline,
        facts=_search_facts(evaluation, len(failures), len(dropped), folds),
        distribution=distribution_of(estimate, scale),
        metrics=_metric_rows(evaluation),
        metrics_sentence=several_metrics_sentence(scale.title) if len(evaluation.estimates) > 1 else "",
        race=race_of(evaluation, scale),
        outer=outer,
        ranking=ranking,
        parameters=_parameters(evaluation),
        diagnostics=diagnostics,
        shared=tuple(_shared_row(what, each) for what, each in evaluation.shared_fits.items()),
        method=method_sentences(estimate),
        settings=settings_of([provenance, dropping, imputing]),
        flags=flag_sentences(evaluation.estimates, name),
        citations=citations_of(evaluation.estimates.values(), diagnostics, _further_sources(evaluation)),
        methods_text=evaluation.methods_text(),
        command=command or "",
        reproduction=reproduction_of([evaluation.provenance, provenance]) + _fingerprints(evaluation),
        delivered=delivered_sentence(
            estimate,
            evaluation.task.n_rows,
            source="search",
            is_corrected=headline.is_corrected or headline.is_named or candidates + len(dropped) == 1,
            is_fitted=evaluation.model is not None,
            is_bounded=evaluation.provenance.get("deploy") == "bounded",
        ),
        precision_recall=drawn_curves(precision_recall_of(*shown_predictions)),
        thresholds=threshold_table(*shown_predictions),
        no_calibration=_no_calibration(evaluation, diagnostics),
        columns=columns_of(evaluation.task.X),
        overtuning=overtuning_curve_of(evaluation),
        importance=importance_of(evaluation),
        coefficients=coefficients_of(evaluation.model, evaluation.fold_models, class_names(evaluation.task.truth)),
        own_importances=own_importances_of(evaluation.model, evaluation.fold_models),
    )


def _no_calibration(evaluation: Evaluation, diagnostics: Diagnostics | None) -> str:
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


def _metric_rows(evaluation: Evaluation) -> tuple[Any, ...]:
    if len(evaluation.estimates) < 2:
        return ()
    return tuple(
        metric_row(name, estimate, search_scale(evaluation, name), chose=name == evaluation.refit_metric)
        for name, estimate in evaluation.estimates.items()
    )


def _folds_text(evaluation: Evaluation) -> str:
    """Folds and repeats; for a search that stopped early, how many of the splits were used."""
    done = evaluation.folds.n_splits
    planned = evaluation.provenance.get("n_splits_planned", done)
    if done < planned:
        return f"{done} of {planned} splits"
    return folds_text(evaluation.predictions.folds, done)


def _search_facts(evaluation: Evaluation, failed: int, dropped: int, folds: str) -> tuple[Fact, ...]:
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
    facts = [
        ("Rows", rows_text(evaluation.task.truth)),
        ("Positive class", positive_text(evaluation.task.truth, evaluation.metrics.values())),
        ("Configurations", configurations_text(len(evaluation.configurations), failed, dropped)),
        ("Folds", folds),
        ("Fits", fits),
        ("Shared fits" if is_whole else "Shared fits of the search on all rows", in_all),
        (f"Time of {what}", work_words(seconds) if seconds else ""),
    ]
    return facts_with_text(facts)


def _shared_row(what: str, shared: SharedFits) -> SharedRow:
    seconds = "not estimated" if shared.seconds is None else "none"
    if shared.seconds is not None and shared.seconds > 0:
        seconds = duration(shared.seconds) if what == STEPS else f"about {duration(shared.seconds)}"
    name = "Equal steps" if what == STEPS else what
    return SharedRow(name, shared.n_fits, seconds, bytes_text(shared.n_bytes) if shared.n_bytes else "–")


def _parameters(evaluation: Evaluation) -> tuple[Parameter, ...]:
    """All parameters of the winner, those that the search set first."""
    winner = evaluation.configurations[evaluation.winner]
    searched = {name: value for name, value in winner.params.items() if not (name == "model" and winner.model)}
    rows = [Parameter("model", plain(winner.model), True)] if winner.model else []
    rows += [Parameter(name, plain(value), True) for name, value in sorted(searched.items())]
    return (*rows, *(row for row in parameters_of(winner.fresh()) if row.name not in searched))


def flag_sentences(estimates: Mapping[str, Estimate], refit_metric: str) -> tuple[str, ...]:
    """The sentence of every flag once, first those of the refit metric; others name their metric."""
    first = estimates.get(refit_metric)
    sentences = [] if first is None else list(first.flags.values())
    for name, estimate in estimates.items():
        sentences += [f"{name}: {text}" for text in estimate.flags.values() if text not in sentences]
    return tuple(sentences)


def _fingerprints(evaluation: Evaluation) -> tuple[Fact, ...]:
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
    return tuple(Fact(f"Fingerprint of {name}", make()) for name, make in parts.items() if name not in listed)


def comparison_content(
    comparison: AlgorithmComparison, *, command: str | None = None, title: str | None = None
) -> ReportContent:
    """The content of the report on a comparison of algorithms.

    Its number is the score of the model to deploy, corrected for the choice among all algorithms. ``command`` is
    the command line or call that made it, ``title`` such as the name of the data.
    """
    content = report_content(record_of_deployed(comparison), command=command, title=title)
    known = {citation.text for citation in content.citations}
    further = [each for each in citations_of([], None, comparison.sources) if each.text not in known]
    return replace(
        content,
        algorithms=algorithms_of(comparison, content.headline.metric),
        methods_text=comparison.methods_text(),
        citations=(*content.citations, *further),
    )
