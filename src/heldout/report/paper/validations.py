"""From a validation to its methods text."""

from __future__ import annotations

from heldout.estimates.types import Estimate
from heldout.flags import Flag
from heldout.methods_text import MethodsText, cited
from heldout.metrics.named import in_sentence, metric_words
from heldout.protocols.validation.estimate import Validation
from heldout.protocols.words import method_words
from heldout.report import validation_words as words
from heldout.report.paper.data import counted_of, listed, missing_sentence, rows_sentence
from heldout.report.paper.software import seed_sentence, software_sentence
from heldout.report.paper.space import model_words
from heldout.report.words import level_and_sides

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
    return MethodsText(" ".join(sentence for sentence in sentences if sentence))


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
