"""The paragraph of a result, of any kind."""

from __future__ import annotations

from typing import Any

from heldout._registry import registered
from heldout.dropping.words import race_sentence
from heldout.estimates.types import Estimate
from heldout.flags import Flag
from heldout.methods_text import MethodsText
from heldout.metrics.named import in_sentence, metric_words
from heldout.protocols.algorithms.comparison import AlgorithmComparison
from heldout.protocols.nested.estimate import NestedEstimate
from heldout.protocols.search_bootstrap.estimate import SearchBootstrapEstimate
from heldout.protocols.validation.estimate import Validation
from heldout.protocols.words import method_words
from heldout.report import validation_words as words
from heldout.report.algorithms import deployed_sentence, how_compared, record_of_deployed
from heldout.report.headline import level_and_sides
from heldout.report.paper.estimation import (
    estimate_sentences,
    nested_words,
    no_estimate_sentence,
    resampling_sentence,
    selection_sentence,
    sources_by_use,
)
from heldout.report.paper.marks import cited, written
from heldout.report.paper.parts import (
    counted_of,
    groups_sentence,
    listed,
    missing_sentence,
    model_words,
    rows_sentence,
    seed_sentence,
    software_sentence,
    space_sentences,
    unseeded_sentence,
    winner_words,
)
from heldout.report.race import sources_of
from heldout.report.settings import drop_text
from heldout.result import Evaluation


def text_of_comparison(comparison: AlgorithmComparison) -> MethodsText:
    """The methods text of a comparison of algorithms: that of the search over all, and how they were compared."""
    return written(
        f"{_of_search(record_of_deployed(comparison))} {how_compared(comparison).removesuffix('.')}"
        f"{cited(comparison.sources)}. {deployed_sentence(comparison)}"
    )


def text_of_estimate(estimate: Estimate) -> MethodsText:
    """The methods text of an estimate from predictions or scores alone."""
    provenance = estimate.provenance
    sentences = [
        _source(estimate),
        selection_sentence(
            str(provenance.get("selection", "best")),
            str(provenance.get("winner_chosen_on", provenance.get("aggregate", "folds"))),
            estimate.metric,
            greater_is_better=None,
            n_candidates=int(provenance.get("n_candidates", 1)),
            is_single=Flag.SINGLE_CONFIGURATION in estimate.flags,
            winner=estimate.selected_name,
            settings=provenance.get("selection_settings"),
            sources=sources_by_use(estimate).rule,
        ),
        nested_words(provenance),
        *estimate_sentences(estimate, []),
        software_sentence(provenance.get("versions", {}), None),
        seed_sentence(provenance.get("entropy")),
    ]
    return written(" ".join(sentence for sentence in sentences if sentence))


def _source(estimate: Estimate) -> str:
    """What the estimate was computed from."""
    provenance: Any = estimate.provenance
    configurations = counted_of(int(provenance.get("n_configurations", 1)), "configuration")
    repeats = int(provenance.get("n_repeats", 1))
    times = f" in {repeats:,} repeats" if repeats > 1 else ""
    weighted = " Rows were weighted." if provenance.get("weighted") else ""
    if not estimate.n_rows_used:
        splits = provenance.get("n_splits")
        on = "" if splits is None else f" on {counted_of(int(splits), 'split')}"
        from_what = f"the scores of {configurations}{on}{times}"
        return f"The estimate is from {from_what}; it does not record how they were made."
    positive = provenance.get("pos_label")
    of_class = "" if positive is None else f" The positive class is {positive}."
    rows = counted_of(estimate.n_rows_used, "row")
    return (
        f"The estimate is from held-out predictions of {configurations} for {rows}{times}; it does not record how "
        f"their models were trained.{of_class}{weighted}"
    )


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
    return written(_of_search(evaluation, estimate))


def _of_search(evaluation: Evaluation, estimate: Estimate | None = None) -> str:
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
    return " ".join(sentence for sentence in sentences if sentence)


def _data(evaluation: Evaluation) -> list[str]:
    task, provenance = evaluation.task, evaluation.provenance
    return [
        rows_sentence(task.truth, provenance.get("n_columns")),
        missing_sentence(provenance.get("missing")),
        _imputation_of_fits(provenance.get("n_imputations")),
        groups_sentence(task.groups),
        "Rows were weighted." if task.sample_weight is not None else "",
    ]


def _imputation_of_fits(n_imputations: Any) -> str:
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


_MEMORISES = "The model memorises its rows, for which the optimism bootstrap subtracts too little."


def text_of_validation(validation: Validation) -> MethodsText:
    """The methods text of the validation of one model, or of several of which one was chosen."""
    estimate = next(iter(validation.estimates.values()))
    model = getattr(validation.model, "members", [validation.model])[0]
    sentences = [
        rows_sentence(validation.replicates.truth, getattr(model, "n_features_in_", None)),
        missing_sentence(validation.settings.get("missing")),
        "Rows were weighted." if estimate.provenance.get("weighted") else "",
        "Groups of rows were resampled whole." if estimate.provenance.get("grouped") else "",
        _models(validation, model_words(model)),
        _imputation(validation),
        *_correction(validation, estimate),
        _interval(estimate),
        f"The final model was fitted on all {counted_of(estimate.n_rows_used, 'row')}.",
        software_sentence(estimate.provenance.get("versions", {}), model),
        seed_sentence(estimate.provenance.get("entropy")),
    ]
    return written(" ".join(sentence for sentence in sentences if sentence))


def _models(validation: Validation, model: str) -> str:
    n_models = len(validation.candidates)
    if n_models == 1:
        return f"One model ({model}) was validated."
    chosen = f"{validation.selected_name} ({model})"
    return f"Of {counted_of(n_models, 'model')}, {chosen} was chosen by its corrected score."


def _imputation(validation: Validation) -> str:
    imputation = validation.settings.get("imputation")
    if not imputation or validation.replicates.n_completions < 2:
        return ""
    return words.imputation_sentence(validation.replicates.n_completions, str(imputation["order"]))


def _correction(validation: Validation, estimate: Estimate) -> list[str]:
    failed = len(validation.failures)
    return [
        *(sentence for method in validation.methods for sentence in _by_method(validation, method)),
        _MEMORISES if Flag.MEMORISES in estimate.flags else "",
        words.ADJUSTED_SENTENCE if estimate.provenance.get("optimism_adjusted") else "",
        f"{counted_of(failed, 'bootstrap')} gave no model." if failed else "",
    ]


def _by_method(validation: Validation, method: str) -> tuple[str, str]:
    """What the metrics of a method were estimated by, and what that is."""
    estimates = {name: each for name, each in validation.estimates.items() if each.method == method}
    titles = listed([in_sentence(metric_words(name)[0]) for name in estimates])
    sources = [key for each in estimates.values() for key in each.provenance.get("sources", ())]
    return (
        f"Its {titles} on new data {'was' if len(estimates) == 1 else 'were'} estimated by "
        f"{method_words(method).name}{cited(sources)}.",
        method_words(method).sentence(validation.n_bootstraps),
    )


def _interval(estimate: Estimate) -> str:
    interval = estimate.interval
    if interval is None:
        return "No confidence interval was computed."
    kind = words.INTERVAL_OF_VALIDATION_SENTENCES.get(str(estimate.provenance.get("interval")), "")
    level = level_and_sides(interval.confidence_level, interval.alternative)
    return f"The interval is a {level}. {kind}".rstrip()


@registered("methods text")
def methods_text(result: Evaluation | Estimate | Validation | AlgorithmComparison) -> MethodsText:
    """What was done, as a paragraph for the methods section of an article.

    Parameters
    ----------
    result : Evaluation, Estimate, Validation or AlgorithmComparison

    Returns
    -------
    MethodsText
    """
    if isinstance(result, Evaluation):
        return text_of_search(result)
    if isinstance(result, Validation):
        return text_of_validation(result)
    if isinstance(result, AlgorithmComparison):
        return text_of_comparison(result)
    repeated = evaluation_of_protocol(result)
    return text_of_estimate(result) if repeated is None else text_of_search(repeated, result)
