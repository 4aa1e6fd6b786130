"""From a finished search, or an estimate and its predictions, to the content of a report."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout import wording
from heldout.configurations import NotHashableError
from heldout.estimates.base import Settings
from heldout.estimates.gather import Question, gather
from heldout.estimates.types import Estimate, json_safe
from heldout.metrics.base import Metric
from heldout.predictions import HeldOutPredictions
from heldout.references import REFERENCES
from heldout.report.content import (
    Citation,
    Entry,
    Parameter,
    ReportContent,
    distribution_of,
    headline_of,
    method_sentences,
    metric_row,
)
from heldout.report.diagnostics import Diagnostics, diagnose
from heldout.report.numbers import Scale, plain, scale_of
from heldout.report.ranking import rank_configurations
from heldout.result import Evaluation
from heldout.selection.best import Best
from heldout.task import TaskKind, Truth

Floats = NDArray[np.float64]

_ELSEWHERE = {"quantity", "sources", "n_rows", "n_configurations", "n_candidates", "n_repeats", "training_rows"}
_CONTAINERS = ("steps", "transformers", "transformer_list", "estimators")
_REPRODUCE = {
    "entropy": "Seed",
    "kernels": "Kernels",
    "versions": "Versions",
    "python": "Python",
    "platform": "Platform",
    "started": "Started",
    "finished": "Finished",
    "when": "Date",
    "date": "Date",
    "command": "Command",
}
_SETTINGS = {
    "task": "Task",
    "pos_label": "Positive class",
    "aggregate": "Score of a configuration",
    "selection": "Selection rule",
    "ties": "Ties",
    "grouped": "Groups drawn whole",
    "weighted": "Rows weighted",
    "n_bootstraps": "Bootstraps",
    "redrawn": "Draws redrawn",
    "n_folds_used": "Folds used",
}


def report_content(
    evaluation: Evaluation, *, command: str | None = None, title: str | None = None
) -> ReportContent:
    """The content of a finished search's report.

    Parameters
    ----------
    evaluation : Evaluation
    command : str, optional
        The command line or call that made it, shown under how to reproduce it.
    title : str, optional
        What was searched on, for example the name of the data.
    """
    name, estimate, winner = evaluation.refit_metric, evaluation.estimate, evaluation.winner
    fold_scores, pooled = evaluation.fold_scores.get(name), evaluation.pooled_scores.get(name)
    scale = _search_scale(evaluation, name)
    failures = {**evaluation.predictions.failed, **evaluation.failures}
    aggregate = "folds" if estimate is None else estimate.provenance.get("aggregate", "folds")
    ranking = rank_configurations(
        evaluation.configurations.names,
        scale,
        fold_scores=None if fold_scores is None else fold_scores.values,
        pooled=pooled,
        selected=None if estimate is None else estimate.selection_frequency,
        winner=winner,
        failures=failures,
        by_mean=aggregate != "pooled",
    )
    chosen = next((row for row in ranking.shown if row.is_winner), None)
    uncorrected = None
    if chosen is not None:
        shown = chosen.mean if chosen.mean is not None else chosen.pooled
        uncorrected = None if shown is None else scale.sign * shown
    diagnostics = diagnose(evaluation.task.truth, evaluation.predictions, winner, evaluation.task.sample_weight)
    return ReportContent(
        title=title or "",
        headline=headline_of(
            estimate,
            scale,
            uncorrected=uncorrected,
            winner=evaluation.configurations.names[winner],
            candidates=len(evaluation.configurations) - len(failures),
            rows=evaluation.task.n_rows,
            folds=_folds_text(evaluation.predictions.folds, evaluation.folds.n_splits),
        ),
        facts=_search_facts(evaluation, len(failures)),
        distribution=distribution_of(estimate, scale),
        metrics=_metric_rows(evaluation),
        metrics_sentence=wording.several_metrics_sentence(scale.title) if len(evaluation.estimates) > 1 else "",
        ranking=ranking,
        parameters=_parameters(evaluation),
        diagnostics=diagnostics,
        method=method_sentences(estimate),
        settings=_settings([{} if estimate is None else estimate.provenance]),
        flags=_flags(evaluation.estimates, name),
        citations=_citations(evaluation.estimates.values(), diagnostics),
        command=command or "",
        reproduction=_reproduction([evaluation.provenance, {} if estimate is None else estimate.provenance])
        + _fingerprints(evaluation),
    )


def estimate_content(
    estimate: Estimate,
    truth: Truth,
    predictions: HeldOutPredictions,
    *,
    metric: Metric,
    sample_weight: Floats | None = None,
    command: str | None = None,
    title: str | None = None,
) -> ReportContent:
    """The content of the report on an estimate that was made from predictions alone.

    Parameters
    ----------
    estimate : Estimate
    truth : Truth of N rows
    predictions : HeldOutPredictions
        Those that the estimate was made from.
    metric : Metric
        The metric of the estimate.
    sample_weight : ndarray of shape (N,), optional
    """
    question = Question(metric, {metric.name: metric}, Best(), "pooled", Settings(), sample_weight=sample_weight)
    evidence = gather(truth, predictions, question)
    assert evidence.matrix is not None, "evidence gathered from predictions holds a matrix"
    columns = len(predictions.names)
    pooled = _over_all(evidence.matrix.scores.observed()[None, :], evidence.candidates, columns)[0]
    folds = evidence.fold_scores
    by_fold = None if folds is None else _over_all(folds, evidence.candidates, columns)
    failures = {
        index: predictions.failed.get(index, wording.NO_CANDIDATE)
        for index in sorted(set(range(columns)) - set(evidence.candidates.tolist()))
    }
    scale = scale_of(metric.name, metric.greater_is_better, estimate, pooled[evidence.candidates].tolist())
    diagnostics = diagnose(truth, predictions, estimate.selected, sample_weight)
    folds_text = _folds_text(predictions.folds, None)
    return ReportContent(
        title=title or "",
        headline=headline_of(
            estimate,
            scale,
            uncorrected=estimate.uncorrected,
            winner=estimate.selected_name,
            candidates=len(evidence.candidates),
            rows=estimate.n_rows_used,
            folds=folds_text,
        ),
        facts=_matrix_facts(truth, predictions, len(failures), folds_text),
        distribution=distribution_of(estimate, scale),
        ranking=rank_configurations(
            predictions.names,
            scale,
            fold_scores=by_fold,
            pooled=pooled,
            selected=estimate.selection_frequency,
            winner=estimate.selected,
            failures=failures,
            by_mean=estimate.provenance.get("aggregate") == "folds",
        ),
        diagnostics=diagnostics,
        method=method_sentences(estimate),
        settings=_settings([estimate.provenance]),
        flags=tuple(estimate.flags.values()),
        citations=_citations([estimate], diagnostics),
        command=command or "",
        reproduction=_reproduction([estimate.provenance]),
    )


def _over_all(scores: Floats, candidates: NDArray[np.intp], columns: int) -> Floats:
    """Scores (splits, candidates) as (splits, C), NaN for those that are no candidates."""
    spread = np.full((len(scores), columns), np.nan)
    spread[:, candidates] = scores
    return spread


def _search_scale(evaluation: Evaluation, name: str) -> Scale:
    fold_scores, metric = evaluation.fold_scores.get(name), evaluation.metrics.get(name)
    declared = metric if metric is not None else fold_scores
    greater = declared is None or declared.greater_is_better
    known = [] if fold_scores is None else fold_scores.values[:, evaluation.winner].tolist()
    return scale_of(name if metric is None else metric.name, greater, evaluation.estimates.get(name), known)


def _metric_rows(evaluation: Evaluation) -> tuple[Any, ...]:
    if len(evaluation.estimates) < 2:
        return ()
    return tuple(
        metric_row(name, estimate, _search_scale(evaluation, name), chose=name == evaluation.refit_metric)
        for name, estimate in evaluation.estimates.items()
    )


def _folds_text(folds: NDArray[np.int32] | None, n_splits: int | None) -> str:
    """Folds and repeats in words, for the facts and the quotation."""
    if folds is None:
        return "held-out predictions"
    repeats = folds.shape[1]
    each = int(folds[:, 0].max()) + 1
    if n_splits is not None and n_splits != each * repeats:
        return f"{n_splits} splits"
    return f"{each} folds" if repeats == 1 else f"{repeats} × {each} folds"


def _rows_text(truth: Truth) -> str:
    rows = f"{truth.n_rows:,}"
    if truth.kind is TaskKind.REGRESSION or truth.classes is None:
        return rows
    counts = truth.class_counts()
    if len(counts) > 4:
        return f"{rows} in {len(counts)} classes"
    numbers = truth.classes.dtype.kind in "iufb"  # "65 1" would be two numbers side by side
    named = [f"class {label}" if numbers else str(label) for label in truth.classes.tolist()]
    of_class = ", ".join(f"{label}: {count:,}" for label, count in zip(named, counts.tolist(), strict=True))
    return f"{rows} ({of_class})"


def _positive_text(truth: Truth) -> str:
    return "" if truth.positive is None else str(truth.pos_label)


def _search_facts(evaluation: Evaluation, failed: int) -> tuple[Entry, ...]:
    total = len(evaluation.configurations)
    fits = f"{evaluation.n_fits:,}" if evaluation.n_fits else ""
    if fits and evaluation.n_fits_saved:
        fits += f", {evaluation.n_fits_saved:,} spared"
    # Of all fits together: a run that was resumed says the same as one that was not.
    seconds = sum(cell.fit_seconds for cell in evaluation.cells)
    facts = [
        Entry("Rows", _rows_text(evaluation.task.truth)),
        Entry("Positive class", _positive_text(evaluation.task.truth)),
        Entry("Configurations", f"{total:,}" + (f", {failed:,} failed" if failed else "")),
        Entry("Folds", _folds_text(evaluation.predictions.folds, evaluation.folds.n_splits)),
        Entry("Fits", fits),
        Entry("Time of all fits", _duration(seconds) if seconds else ""),
    ]
    return tuple(fact for fact in facts if fact.text)


def _matrix_facts(truth: Truth, predictions: HeldOutPredictions, failed: int, folds: str) -> tuple[Entry, ...]:
    total = f"{predictions.n_configurations:,}" + (f", {failed:,} failed" if failed else "")
    facts = [Entry("Rows", _rows_text(truth)), Entry("Configurations", total)]
    if positive := _positive_text(truth):
        facts.insert(1, Entry("Positive class", positive))
    if predictions.folds is not None:
        facts.append(Entry("Folds", folds))
    elif predictions.n_repeats > 1:
        facts.append(Entry("Repeats", str(predictions.n_repeats)))
    return tuple(facts)


def _duration(seconds: float) -> str:
    if seconds < 0.1:
        return "< 0.1 s"
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {rest} s"


def _parameters(evaluation: Evaluation) -> tuple[Parameter, ...]:
    """Everything that ``get_params`` of the winner says, what the search set first."""
    winner = evaluation.configurations[evaluation.winner]
    searched = {name: value for name, value in winner.params.items() if not (name == "model" and winner.model)}
    rows = [Parameter("model", plain(winner.model), True)] if winner.model else []
    rows += [Parameter(name, plain(value), True) for name, value in sorted(searched.items())]
    whole = winner.fresh().get_params(deep=True)
    for name in sorted(whole):
        holds_more = hasattr(whole[name], "get_params") or name.rpartition("__")[2] in _CONTAINERS
        if name not in searched and not holds_more:
            rows.append(Parameter(name, plain(whole[name]), False))
    return tuple(rows)


def _flags(estimates: Mapping[str, Estimate], refit_metric: str) -> tuple[str, ...]:
    """Every flag's sentence once, the refit metric's first; those of others alone name their metric."""
    first = estimates.get(refit_metric)
    sentences = [] if first is None else list(first.flags.values())
    for name, estimate in estimates.items():
        sentences += [f"{name}: {text}" for text in estimate.flags.values() if text not in sentences]
    return tuple(sentences)


def _citations(estimates: Any, diagnostics: Diagnostics | None) -> tuple[Citation, ...]:
    keys = [key for estimate in estimates for key in estimate.provenance.get("sources", ())]
    if diagnostics is not None and diagnostics.calibration is not None:
        keys.append("wilson1927")
    works = [REFERENCES[key] for key in dict.fromkeys(keys)]
    return tuple(Citation(str(work).removesuffix(f" doi:{work.doi}"), work.doi) for work in works)


def _settings(records: Sequence[Mapping[str, Any]]) -> tuple[Entry, ...]:
    rows = []
    for key, value in _items(records):
        if key in _ELSEWHERE or key in _REPRODUCE or "fingerprint" in key:
            continue
        words = {"aggregate": wording.AGGREGATE_WORDS, "selection": wording.SELECTION_WORDS}.get(key, {})
        text = words.get(str(value)) or _setting_text(f"{value:,}" if type(value) is int else value)
        if text and value is not False and (key, value) != ("redrawn", 0):
            rows.append(Entry(_SETTINGS.get(key, key.replace("_", " ").capitalize()), text))
    return tuple(rows)


def _reproduction(records: Sequence[Mapping[str, Any]]) -> tuple[Entry, ...]:
    return tuple(
        Entry(_REPRODUCE.get(key, key.replace("_", " ").capitalize()), _moment(text))
        for key, value in _items(records)
        if (key in _REPRODUCE or "fingerprint" in key) and (text := _setting_text(value))
    )


def _moment(text: str) -> str:
    """A time of ISO 8601 in UTC as people write it; any other text as it is."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?\+00:00", text)
    return f"{found[1]} {found[2]} UTC" if found else text


def _items(records: Sequence[Mapping[str, Any]]) -> list[tuple[str, Any]]:
    """Items of several records, each key once."""
    merged: dict[str, Any] = {}
    for record in records:
        for key, value in record.items():
            merged.setdefault(str(key), json_safe(value))
    return list(merged.items())


def _setting_text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case dict():
            return ", ".join(f"{key} {_setting_text(item)}" for key, item in value.items())
        case list():
            return ", ".join(_setting_text(item) for item in value)
        case float():
            return f"{value:.6g}"
        case int():
            return str(value)
    return str(value)


def _fingerprints(evaluation: Evaluation) -> tuple[Entry, ...]:
    """What rows, folds and configurations a run must have to be this one, less those that provenance says."""

    def configurations() -> str:
        try:
            ids = "".join(key for key, _ in evaluation.configurations.identities())
        except NotHashableError:
            return wording.NO_FINGERPRINT
        return hashlib.sha256(ids.encode()).hexdigest()

    parts = {
        "rows": evaluation.task.fingerprint,
        "folds": evaluation.folds.fingerprint,
        "configurations": configurations,
    }
    told = " ".join(str(key) for key in evaluation.provenance if "fingerprint" in str(key))
    return tuple(Entry(f"Fingerprint of {name}", make()) for name, make in parts.items() if name not in told)
