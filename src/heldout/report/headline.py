"""An estimate as page and card show it, and its headline: what it means for a layman, the number, and a quote."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from heldout._record import json_number
from heldout._text import counted, ends_text, number_text
from heldout._types import Floats
from heldout.estimates.base import quantity_sentence
from heldout.estimates.bootstrap import CONTROL
from heldout.estimates.methods.bbc import CALIBRATED_INTERVAL
from heldout.estimates.types import Estimate, is_uncorrected, optimism_beyond_rounding, was_named
from heldout.flags import Flag
from heldout.metrics.named import direction_sentence, in_sentence, metric_words
from heldout.protocols.nested.estimate import INTERVAL_SENTENCES, nested_sentence
from heldout.protocols.words import how_sentence, method_words
from heldout.report.entries import Facts
from heldout.scales import Scale

HISTOGRAM_BINS = 40
NEGLIGIBLE = 0.05
"""Of the width of the interval: a smaller optimism changes nothing that one would report."""


_WITHOUT_ESTIMATE = {
    "method": "", "method_title": "", "label": "uncorrected", "value": None, "low": None, "high": None,
    "interval_label": "", "interval_text": "", "optimism": None, "constant": None, "coverage": "",
}  # fmt: skip


def number_facts(estimate: Estimate | None, scale: Scale, uncorrected: float | None = None) -> Facts:
    """The numbers of an estimate in the metric's own units; without one the uncorrected score."""
    direction = direction_sentence(scale.greater_is_better, scale.ideal)
    facts = Facts(_WITHOUT_ESTIMATE, metric=scale, direction=direction, uncorrected=scale.shown(uncorrected))
    if estimate is None or not np.isfinite(estimate.value):
        return facts
    low, high = scale.ends(estimate.interval)
    # Of a cross-fitted search the method scored one column, which other searches made.
    method = "cross_fitted" if Flag.CROSS_FITTED in estimate.flags else estimate.method
    shown = Facts.of(estimate, "", scale, "value uncorrected constant")
    return Facts(
        facts | shown,
        method=method,
        method_title=method_words(method).title,
        label=label_of(estimate),
        low=low,
        high=high,
        interval_label=interval_label(estimate),
        interval_text=ends_text(low, high, scale.decimals),
        optimism=json_number(optimism_beyond_rounding(estimate)),
        coverage="" if estimate.coverage is None else str(estimate.coverage),
    )


def label_of(estimate: Estimate) -> str:
    """What its value is."""
    if was_named(estimate):
        return "named beforehand"
    return "uncorrected" if estimate.method == "cv" or is_uncorrected(estimate) else "corrected"


@dataclass(frozen=True)
class Contest:
    """What a winner was selected from, and on which rows."""

    winner: str
    candidates: int
    rows: int
    folds: str
    dropped: int = 0
    """Configurations that the search dropped before: they are no candidates."""
    classes: tuple[str, ...] = ()
    """The positive and the negative one of two."""

    @property
    def is_choice(self) -> bool:
        return self.candidates + self.dropped > 1


def headline_of(estimate: Estimate | None, scale: Scale, contest: Contest, uncorrected: float | None) -> Facts:
    """The headline of an estimate, or of the uncorrected score if there is no estimate."""
    numbers = number_facts(estimate, scale, uncorrected)
    if estimate is None or numbers.value is None:
        sentence = (
            f"No corrected {in_sentence(scale.title)} was computed. The uncorrected one is the winner's own "
            "cross-validated score, which is optimistic if there was a choice."
        )
        return Facts(numbers, winner=contest.winner, effect="", sentence=sentence, quote="")
    return Facts(
        numbers,
        winner=contest.winner,
        effect=effect_sentence(estimate.metric, numbers.value, contest.classes),
        sentence=_lead(numbers, estimate, contest),
        quote=_quote(numbers, estimate, contest),
    )


def _lead(numbers: Facts, estimate: Estimate, contest: Contest) -> str:
    """What the correction means."""
    scale, title = numbers.metric, in_sentence(numbers.metric.title)
    if numbers.label == "named beforehand":
        return (
            "The configuration was named before its predictions were seen, so selection cannot have made its "
            f"{title} of {scale.text(numbers.value)} optimistic."
        )
    if numbers.label != "corrected" or numbers.uncorrected is None:
        return _how(estimate)
    correction = estimate.provenance.get("training_size_correction")
    if correction is None:
        return _optimism_sentence(numbers, estimate, contest)
    without = replace(estimate, value=correction["value_without"], optimism=correction["optimism_without"])
    of_selection = _optimism_sentence(number_facts(without, scale), without, contest)
    return f"{of_selection} With training on all rows it is {scale.text(numbers.value)}."


_CHOOSING = {
    "top_k": "Building an ensemble from",
    "greedy_ensemble": "Building an ensemble from",
    "threshold": "Tuning the decision threshold of",
    "best": "Choosing the best of",
}
_AFTER = {
    "shrinkage": "after the correction",
    "bbc": "when the choice is replayed on resampled rows",
    "bbc_f": "when the choice is replayed on resampled folds",
    "tt": "after the correction",
    "nested_cv": "when the whole search is repeated without the rows that score it",
    "cross_fitted": "when a shorter search is repeated without the rows that score it",
}


def _optimism_sentence(numbers: Facts, estimate: Estimate, contest: Contest) -> str:
    """What the correction means, for a reader who knows no statistics.

    A two-part method selects among finalists on the rows that give the value.
    """
    candidates, dropped = contest.candidates, contest.dropped
    scale, metric, optimism = numbers.metric, in_sentence(numbers.metric.title), numbers.optimism
    selection, finalists = str(estimate.provenance.get("selection", "best")), _finalists(estimate)
    width = 0.0 if estimate.interval is None else estimate.interval.high - estimate.interval.low
    configurations = counted(candidates, "configuration")
    if dropped:
        configurations += f" ({dropped:,} more {'was' if dropped == 1 else 'were'} dropped early)"
    choice = f"{_CHOOSING.get(selection, 'Choosing among')} {configurations}"
    before, after = scale.text(numbers.uncorrected), scale.text(numbers.value)
    if candidates == 1 and selection != "threshold":
        if dropped:
            return (
                f"All {dropped:,} others were dropped, so no choice remained to replay: the {metric} of {after} is "
                "not corrected for the choice by dropping, and is optimistic in this respect."
            )
        return (
            f"One configuration was evaluated, so selection cannot have made its {metric} of {before} optimistic."
        )
    if finalists > 1:
        return (
            f"Of {configurations}, {finalists} finalists were selected on one part of the rows, and the {metric} "
            f"of the best of them is {after} on the others ({before} on all rows, uncorrected). The best one was "
            "selected there too, so the value is still optimistic; only the interval allows for that."
        )
    if optimism <= 0:
        how = _AFTER.get(numbers.method, "on rows that were not used for the choice")
        return f"{choice} did not make its {metric} optimistic: {before} uncorrected, {after} {how}."
    if optimism < NEGLIGIBLE * width:
        return (
            f"There is nothing to correct here: {choice[0].lower()}{choice[1:]} changed its {metric} by "
            f"{scale.text(optimism)}, far less than the interval is wide."
        )
    if before == after:
        return f"{choice} hardly made its {metric} optimistic: {before} before and after the correction."
    return (
        f"{choice} made its {metric} look {scale.text(optimism)} better than it is likely to be: "
        f"{before} uncorrected, {after} after the correction."
    )


def _quote(numbers: Facts, estimate: Estimate, contest: Contest) -> str:
    """The result as a sentence to quote."""
    winner, candidates, dropped = contest.winner, contest.candidates, contest.dropped
    is_named, finalists = numbers.label == "named beforehand", _finalists(estimate)
    if is_named and candidates > 1:
        chosen = f"{winner}, named beforehand among {candidates:,} configurations"
    elif not contest.is_choice:
        chosen = f"the only configuration evaluated, {winner}"
    else:
        among = f"selected among {candidates:,}" + (f" (another {dropped:,} dropped early)" if dropped else "")
        chosen = f"the {winner} {among}" if is_ensemble(estimate) else f"the configuration {among}, {winner}"
    corrected = "uncorrected for selection"
    if is_named:
        corrected = "with no selection to correct for"
    elif numbers.label == "corrected":
        corrected = f"corrected for selection by {method_words(numbers.method).name}"
        corrected += f", the choice among {finalists} finalists in the interval only" if finalists > 1 else ""
    elif numbers.method == "hoeffding":
        corrected += ", with an interval that holds for all configurations at once (Hoeffding)"
    value = numbers.metric.text(numbers.value)
    interval = f" ({numbers.interval_label} {numbers.interval_text})" if numbers.interval_text else ""
    where = f"from {contest.folds} of {contest.rows:,} rows"
    return f"{numbers.metric.title} of {chosen}: {value}{interval}, {corrected}, {where}."


def _finalists(estimate: Estimate) -> int:
    return int(estimate.provenance.get("n_finalists", 1))


def is_ensemble(estimate: Estimate) -> bool:
    """Whether the estimate is of an ensemble rather than of one configuration."""
    return sum(weight != 0 for weight in estimate.provenance.get("weights") or ()) > 1


def interval_label(estimate: Estimate) -> str:
    """Level and sides of an estimate's interval, before its two ends; empty without one."""
    interval = estimate.interval
    if interval is None:
        return ""
    sided = "" if interval.alternative == "two-sided" else "one-sided "
    return f"{interval.confidence_level * 100:.4g} % {sided}confidence interval"


def distribution_of(estimate: Estimate | None, scale: Scale) -> Facts | None:
    """The histogram of an estimate's bootstrapped scores; None if there are none."""
    if estimate is None or estimate.distribution is None or not np.isfinite(estimate.value):
        return None
    finite = scale.sign * estimate.distribution[np.isfinite(estimate.distribution)]
    if not finite.size:
        return None
    scores = np.clip(finite, *scale.range)  # a control may carry a score beyond it
    counts, edges = np.histogram(scores, bins=_bins(scores, scale))
    return Facts(edges=tuple(edges.tolist()), counts=tuple(counts.tolist()), bootstraps=len(estimate.distribution))


def _bins(scores: Floats, scale: Scale) -> Floats:
    """Equal bins over the scores, wide enough for floating point and within the metric's range."""
    low, high = float(scores.min()), float(scores.max())
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-300):
        half = max(abs(low), 1.0) * 1e-3
        low, high = scale.within(low - half), scale.within(high + half)
    return np.linspace(low, high, HISTOGRAM_BINS + 1)


def distribution_label(bootstraps: int, method: str) -> str:
    """What the bootstrapped scores are, in the key of a figure."""
    what = {
        "shrinkage": "score less what chance added",
        "bbc": "score on rows left out",
        "bbc_f": "score on folds left out",
        "naive_bootstrap": "score of the winner",
    }.get(method, "score")
    return f"{what}, in each of {bootstraps:,} bootstraps"


FITS_WITHOUT_TWO = (
    " What competes was also fitted without two folds at a time, which showed by how much training on all rows "
    "improves the score."
)
"""Of a method with a correction for training size."""


def method_sentences(estimate: Estimate | None) -> tuple[str, ...]:
    """How the number was computed, and what it estimates; empty without a number."""
    if estimate is None or not np.isfinite(estimate.value):
        return ()
    provenance: Mapping[str, Any] = estimate.provenance
    shrinkage = provenance.get("shrinkage") if estimate.method == "bbc" else None
    drawn_in = "" if shrinkage is None else CALIBRATED_INTERVAL.format(shrinkage=shrinkage)
    kind = provenance.get("interval_of_test_part", provenance.get("interval"))
    interval = INTERVAL_SENTENCES.get(str(kind), "")
    what = what_is_estimated(estimate)
    return tuple(filter(None, (_how(estimate), _control(estimate), drawn_in, interval, what)))


def what_is_estimated(estimate: Estimate) -> str:
    """The quantity in a sentence; empty where it is not said."""
    quantity = estimate.provenance.get("quantity")
    return quantity_sentence(str(quantity), estimate.provenance.get("training_rows")) if quantity else ""


def _how(estimate: Estimate) -> str:
    """How the method computes its number."""
    if Flag.CROSS_FITTED in estimate.flags:  # the method scored one column, made by several searches
        return estimate.flags[Flag.CROSS_FITTED]
    if estimate.method == "nested_cv" and (sentence := nested_sentence(estimate.provenance)):
        return sentence
    how = how_sentence(estimate)
    return how + FITS_WITHOUT_TWO if Flag.TRAINING_SIZE_CORRECTED in estimate.flags else how


def _control(estimate: Estimate) -> str:
    """What was subtracted for few rows; empty if nothing was."""
    size, choices = (estimate.provenance.get(key) for key in ("control_size", "control_choices"))
    if size is None or choices is None:
        return ""
    metric = in_sentence(metric_words(estimate.metric)[0])
    return CONTROL.format(metric=metric, size=f"{abs(size):.2g}", choices=counted(int(choices), "configuration"))


Source = Literal["search", "file"]
_OF_THE_WHOLE_SEARCH = ("nested_cv", "bootstrap_search")


def delivered_sentence(
    estimate: Estimate | None,
    rows: int,
    *,
    source: Source,
    is_corrected: bool = True,
    is_fitted: bool = True,
    is_bounded: bool = False,
) -> str:
    """What the estimate means for the model that is used afterwards; empty without an estimate.

    - ``is_corrected``: whether it is corrected for selection, or nothing was selected.
    - ``is_fitted``: whether the search fitted a model to deliver.
    - ``is_bounded``: whether this is the one that a hold-out tested rather than one of all rows.
    """
    if estimate is None or not np.isfinite(estimate.value):
        return ""
    if is_bounded:
        return "The delivered model is the one that the hold-out tested, so the estimate is of that very model."
    trained = estimate.provenance.get("training_rows")
    size = "part of the rows" if not trained else f"about {trained:,.0f} rows"
    on_all = (
        "is expected to score the same on new rows of the same kind, or a little better where more rows help."
        if is_corrected
        else "may score worse on new rows, as the estimate is not corrected for the selection."
    )
    if source == "file":
        return (
            f"The file holds predictions and no model: the estimate is of models fitted on {size}, and a model of "
            f"the same configuration fitted on all rows {on_all}"
        )
    model = f"{'The delivered model is' if is_fitted else 'No model was'} fitted on all {rows:,} rows"
    if estimate.method in _OF_THE_WHOLE_SEARCH:
        return (
            f"{model}; the estimate is of the whole search, repeated without the rows that score it, and so of "
            "what it delivers."
        )
    if Flag.TRAINING_SIZE_CORRECTED in estimate.flags:
        return f"{model}, and the estimate is of models of that size, from models fitted on {size} and on fewer."
    subject = "the delivered one" if is_fitted else "such a model"
    return f"{model}; the estimate is of models fitted on {size}, and {subject} {on_all}"


def calibration_advice(model: Any, source: Source) -> str:
    """Why calibration is not shown, and what shows it; ``model``: the winner, or None if there is none."""
    if source == "file":
        return (
            "The file holds no probabilities of the winner, so calibration is not shown; give a file of predicted "
            "probabilities."
        )
    how = (
        "with a metric of probabilities among the metrics (heldout tune --metric roc_auc,neg_log_loss, or "
        'scoring=["roc_auc", "neg_log_loss"] and refit="roc_auc")'
    )
    if model is not None and not hasattr(model, "predict_proba"):
        return (
            "The winner gives decision values and no probabilities, so calibration is not shown. "
            "CalibratedClassifierCV around such a model turns its decision values into probabilities, and a search "
            f"{how} keeps them."
        )
    return (
        f"The search kept no probabilities of the winner, so calibration is not shown; a search {how} keeps them."
    )


_OF_TWO = {
    "roc_auc": "Of a row of class {positive} and one of class {negative}, the model ranks the right one higher in "
    "{hundred} of 100 such pairs.",
    "precision": "Of 100 rows that the model calls {positive}, {hundred} are.",
    "recall": "Of 100 rows of class {positive}, the model finds {hundred}.",
}
"""Of metrics of two classes."""
_OF_ANY = {
    "accuracy": "Of 100 new rows, the model gets {hundred} right.",
    "zero_one_loss": "Of 100 new rows, the model gets {hundred} wrong.",
    "balanced_accuracy": "Of 100 new rows of a class, the model gets {hundred} right, on average over the classes.",
    "concordance_index": "Of two rows of which one has the event first, the model expects the right one to have it "
    "first in {hundred} of 100 such pairs.",
    "mean_absolute_error": "On new rows, predictions are off by {number} on average.",
    "median_absolute_error": "On new rows, half of the predictions are off by less than {number}.",
    "root_mean_squared_error": "On new rows, predictions are typically off by {number}.",
    "r2": "On new rows, predictions explain {percent} of the variance of the target.",
}


def _of_hundred(share: float) -> str:
    """As a whole number; what is not quite all, or none, is not called so."""
    text = f"{100 * share:.0f}"
    if text == "100" and share < 1:
        return "more than 99"
    return "fewer than 1" if text == "0" and share > 0 else text


def effect_sentence(metric: str, value: float, classes: tuple[str, ...] = ()) -> str:
    """What the score of a model means; empty for metrics that no such sentence explains.

    ``classes``: the positive and the negative one of two, as words.

    Examples
    --------
    >>> effect_sentence("recall", 0.993, ("malignant", "benign"))
    'Of 100 rows of class malignant, the model finds 99.'
    >>> effect_sentence("accuracy", 0.932), effect_sentence("r2", -0.2)
    ('Of 100 new rows, the model gets 93 right.', '')
    """
    name = metric.removeprefix("neg_")
    sentence = _OF_ANY.get(name) or (_OF_TWO.get(name, "") if len(classes) == 2 else "")
    if not sentence or value < 0:
        return ""
    positive, negative = classes if len(classes) == 2 else ("", "")
    return sentence.format(
        hundred=_of_hundred(value),
        percent=f"{100 * value:.3g} %",
        number=number_text(value, 0) if value >= 1000 else f"{value:.3g}",
        positive=positive,
        negative=negative,
    )
