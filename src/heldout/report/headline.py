"""An estimate as page and card show it, and its headline: what it means for a layman, the number, and a quote."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from heldout._record import json_number
from heldout._text import counted, ends_text, number_text
from heldout._types import Floats
from heldout.estimates.base import quantity_sentence
from heldout.estimates.control import CONTROL
from heldout.estimates.methods.bbc import CALIBRATED_INTERVAL
from heldout.estimates.types import Estimate, is_uncorrected, optimism_beyond_rounding, was_named
from heldout.flags import Flag
from heldout.metrics.named import direction_sentence, in_sentence, metric_words
from heldout.protocols.nested.estimate import INTERVAL_SENTENCES, nested_sentence
from heldout.protocols.words import how_sentence, method_words
from heldout.report.entries import Facts
from heldout.report.templating import sentence
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


def headline_of(estimate: Estimate | None, scale: Scale, uncorrected: float | None, **contest: Any) -> Facts:
    """The headline of an estimate, or of the uncorrected score if there is no estimate.

    ``contest`` is what the winner was selected from, and on which rows:

    - ``winner``: its name; ``rows``: how many; ``folds``: in words.
    - ``candidates``, ``dropped``: configurations, and those dropped before, which are no candidates.
    - ``classes``: the positive and the negative one of two.
    - ``bootstraps``: of a validation, which has an apparent score, and neither candidates nor folds.
    """
    numbers, kind = number_facts(estimate, scale, uncorrected), "validation_" if "bootstraps" in contest else ""
    title, classes = in_sentence(scale.title), contest.pop("classes")
    values = {"candidates": 1, "dropped": 0, "title": title, "on_all_rows": "", **contest, **numbers}
    if estimate is None or numbers.value is None or (kind and numbers.uncorrected is None):
        lead = sentence(f"{kind}lead", values | {"value": None, "before": "", "after": "", "selection": "best"})
        return Facts(numbers, winner=contest["winner"], effect="", sentence=lead, quote="")
    provenance, interval = estimate.provenance, estimate.interval
    values |= {
        "how": _how(estimate),
        "selection": str(provenance.get("selection", "best")),
        "finalists": int(provenance.get("n_finalists", 1)),
        "is_choice": is_choice(contest),
        "is_ensemble": is_ensemble(estimate),
        "negligible": 0.0 if interval is None else NEGLIGIBLE * (interval.high - interval.low),
    } | _texts(numbers)
    quote = sentence(f"{kind}quote", values)
    correction = provenance.get("training_size_correction")
    if correction is not None and numbers.label == "corrected" and numbers.uncorrected is not None:
        without = replace(estimate, value=correction["value_without"], optimism=correction["optimism_without"])
        of_selection = number_facts(without, scale)
        values |= {**of_selection, **_texts(of_selection), "on_all_rows": values["after"]}
    return Facts(
        numbers,
        winner=contest["winner"],
        effect=effect_sentence(estimate.metric, numbers.value, classes),
        sentence=sentence(f"{kind}lead", values),
        quote=quote,
    )


def is_choice(contest: Mapping[str, Any]) -> bool:
    """Whether there was more than one configuration."""
    return bool(contest.get("candidates", 1) + contest.get("dropped", 0) > 1)


def _texts(numbers: Facts) -> dict[str, str]:
    """The numbers of a lead with the decimals that their uncertainty allows."""
    names = {"before": "uncorrected", "after": "value", "much": "optimism"}
    return {text: numbers.metric.text(numbers[name]) for text, name in names.items()}


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


def delivered_sentence(
    estimate: Estimate | None,
    rows: int,
    *,
    source: Literal["search", "file"],
    is_corrected: bool = True,
    **more: Any,
) -> str:
    """What the estimate means for the model that is used afterwards; empty without an estimate.

    - ``is_corrected``: whether it is corrected for selection, or nothing was selected.
    - ``is_fitted``: whether the search fitted a model to deliver.
    - ``is_bounded``: whether this is the one that a hold-out tested rather than one of all rows.
    """
    if estimate is None or not np.isfinite(estimate.value):
        return ""
    values = {"is_fitted": True, "is_bounded": False, "method": estimate.method, "flags": [*estimate.flags], **more}
    values |= {"rows": rows, "source": source, "is_corrected": is_corrected}
    return sentence("delivered", values | {"training_rows": estimate.provenance.get("training_rows")})


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
    hundred = f"{100 * value:.0f}"
    if hundred == "100" and value < 1:  # not quite all
        hundred = "more than 99"
    elif hundred == "0" and value > 0:
        hundred = "fewer than 1"
    values = {"metric": metric.removeprefix("neg_"), "value": value, "classes": classes, "hundred": hundred}
    return sentence("effect", values | {"number": number_text(value, 0) if value >= 1000 else f"{value:.3g}"})
