"""From a finished search to its methods text."""

from __future__ import annotations

from typing import Any

from heldout.dropping.words import race_sentence
from heldout.estimates.types import Estimate
from heldout.flags import Flag
from heldout.methods_text import MethodsText, cited
from heldout.metrics.named import metric_words
from heldout.protocols.nested.estimate import NestedEstimate
from heldout.protocols.search_bootstrap.estimate import SearchBootstrapEstimate
from heldout.report.facts import drop_text
from heldout.report.paper.data import counted_of, groups_sentence, missing_sentence, rows_sentence
from heldout.report.paper.estimation import (
    estimate_sentences,
    no_estimate_sentence,
    selection_sentence,
    sources_by_use,
)
from heldout.report.paper.resampling import nested_words, resampling_sentence
from heldout.report.paper.software import seed_sentence, software_sentence, unseeded_sentence
from heldout.report.paper.space import space_sentences, winner_words
from heldout.report.race import sources_of
from heldout.result import Evaluation


def evaluation_of_protocol(result: object) -> Evaluation | None:
    """The search on all rows that a protocol repeated; None of any other result."""
    return result.evaluation if isinstance(result, NestedEstimate | SearchBootstrapEstimate) else None


def text_of_search(evaluation: Evaluation, estimate: Estimate | None = None) -> MethodsText:
    """The methods text of a search.

    Parameters
    ----------
    evaluation : Evaluation
    estimate : Estimate, optional
        In place of that of the search: that of the protocol that repeated it.
    """
    estimate = evaluation.estimate if estimate is None else estimate
    unfinished = "" if estimate is None else estimate.flags.get(Flag.UNFINISHED_SEARCH, "")
    sentences = [
        unfinished,
        *_data(evaluation),
        *_search(evaluation),
        _selection(evaluation, estimate),
        *_estimation(evaluation, estimate),
        _model(evaluation),
        *_software(evaluation),
    ]
    return MethodsText(" ".join(sentence for sentence in sentences if sentence))


def _data(evaluation: Evaluation) -> list[str]:
    task, provenance = evaluation.task, evaluation.provenance
    return [
        rows_sentence(task.truth, provenance.get("n_columns")),
        missing_sentence(provenance.get("missing")),
        _imputation(provenance.get("n_imputations")),
        groups_sentence(task.groups),
        "Rows were weighted." if task.sample_weight is not None else "",
    ]


def _imputation(n_imputations: Any) -> str:
    if not n_imputations:
        return ""
    times = counted_of(int(n_imputations), "time")
    return f"Every fit imputed the missing values of its own training rows {times} and pooled the predictions."


def _search(evaluation: Evaluation) -> list[str]:
    provenance = evaluation.provenance
    planned = int(provenance.get("n_splits_planned") or evaluation.folds.n_splits)
    failed = len({**evaluation.predictions.failed, **evaluation.failures})
    return [
        *space_sentences(evaluation.configurations, provenance.get("configurations_from")),
        resampling_sentence(evaluation.folds, evaluation.task.truth, planned, len(evaluation.configurations)),
        _drop(evaluation),
        f"{counted_of(failed, 'configuration')} failed and could not be selected." if failed else "",
    ]


def _drop(evaluation: Evaluation) -> str:
    settings = evaluation.provenance.get("drop") or {}
    if not settings:
        return ""
    least = settings.get("min_predictions")
    could = any(barrier.n_rows >= (least or 0) for barrier in evaluation.barriers)
    how = race_sentence(str(settings.get("rule", "")), least, could_drop=could)
    failed = {**evaluation.predictions.failed, **evaluation.failures}
    n_dropped = len(set(evaluation.predictions.dropped) - set(failed))
    which = counted_of(n_dropped, "configuration") if n_dropped else "no configuration"
    dropped = f"{which} {'was' if n_dropped < 2 else 'were'} dropped early"
    used = {name: value for name, value in settings.items() if value not in (None, False)}
    return f"{how} The rule was {drop_text(used)}{cited(sources_of(evaluation))}; {dropped}."


def _selection(evaluation: Evaluation, estimate: Estimate | None) -> str:
    name, provenance = evaluation.refit_metric, {} if estimate is None else estimate.provenance
    scores, metric = evaluation.fold_scores.get(name), evaluation.metrics.get(name)
    declared, ideal = metric if metric is not None else scores, None if metric is None else metric.ideal
    out = len({**evaluation.predictions.failed, **evaluation.failures, **evaluation.predictions.dropped})
    return selection_sentence(
        str(evaluation.provenance.get("selection", provenance.get("selection", "best"))),
        str(evaluation.provenance.get("aggregate", "folds")),
        name if metric is None else metric.name,
        greater_is_better=None if declared is None or ideal is not None else declared.greater_is_better,
        n_candidates=len(evaluation.configurations) - out,
        is_single=len(evaluation.configurations) == 1,
        winner=winner_words(evaluation.configurations[evaluation.winner]),
        settings=provenance.get("selection_settings"),
        sources=() if estimate is None else sources_by_use(estimate).rule,
    )


def _estimation(evaluation: Evaluation, estimate: Estimate | None) -> list[str]:
    name = evaluation.refit_metric
    if estimate is None:
        metric = evaluation.metrics.get(name)
        return [no_estimate_sentence(metric_words(name if metric is None else metric.name)[0])]
    winner = evaluation.configurations[evaluation.winner].name
    other = f"The estimate is of {estimate.selected_name}." if estimate.selected_name != winner else ""
    others = [each.metric for key, each in evaluation.estimates.items() if key != name]
    return [
        nested_words(estimate.provenance),
        *estimate_sentences(estimate, others, sizes_known=evaluation.estimates.get(name) is estimate),
        other,
    ]


def _model(evaluation: Evaluation) -> str:
    name = winner_words(evaluation.configurations[evaluation.winner])
    if evaluation.model is None:
        return f"No final model was fitted of {name}."
    if evaluation.provenance.get("deploy") == "bounded":
        rows = counted_of(evaluation.folds.splits[0].n_training_rows, "training row")
        return f"The final model, {name}, is the one that the hold-out tested: it was fitted on the {rows}."
    return f"The final model, {name}, was fitted on all {counted_of(evaluation.task.n_rows, 'row')}."


def _software(evaluation: Evaluation) -> list[str]:
    provenance = evaluation.provenance
    winner = evaluation.configurations[evaluation.winner].template
    seeded = bool(provenance.get("seeds_models"))
    return [
        software_sentence(provenance.get("versions", {}), winner),
        seed_sentence(provenance.get("entropy")),
        "" if seeded else unseeded_sentence(winner),
    ]
