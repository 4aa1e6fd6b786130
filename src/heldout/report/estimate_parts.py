"""The parts of a report on one estimate: headline, histogram, rows of tables, and sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from heldout._record import json_number
from heldout._text import counted, number_text
from heldout.estimates.base import quantity_sentence
from heldout.estimates.bootstrap import CONTROL
from heldout.estimates.comparison import SEEN_IN_THE_ROW
from heldout.estimates.methods.bbc import CALIBRATED_INTERVAL
from heldout.estimates.types import Estimate, is_uncorrected, optimism_beyond_rounding, was_named
from heldout.flags import Flag
from heldout.metrics.named import in_sentence, metric_words
from heldout.protocols.nested.estimate import INTERVAL_SENTENCES, nested_sentence
from heldout.protocols.words import method_words
from heldout.report.content import Distribution, Headline, MethodRow, MetricRow
from heldout.report.words import (
    level_and_sides,
    named_sentence,
    no_estimate_sentence,
    optimism_sentence,
    quotable_sentence,
)
from heldout.scales import Scale

HISTOGRAM_BINS = 40
WITHOUT_FITS = " No model was trained for it."
FITS_WITHOUT_TWO = (
    " What competes was also fitted without two folds at a time, which showed by how much training on all rows "
    "improves the score."
)
"""Of a method with a correction for training size, in place of ``WITHOUT_FITS``."""


def headline_of(
    estimate: Estimate | None,
    scale: Scale,
    *,
    uncorrected: float | None,
    winner: str,
    candidates: int,
    rows: int,
    folds: str,
    dropped: int = 0,
) -> Headline:
    """The headline of an estimate, or of the uncorrected score if there is no estimate.

    The winner was selected from the ``candidates``; the search had ``dropped`` so many others before.
    """
    if estimate is None or not np.isfinite(estimate.value):
        known = scale.shown(uncorrected)
        return Headline(
            metric=scale, method="", value=None, low=None, high=None, interval_label="", uncorrected=known,
            optimism=None, is_corrected=False, winner=winner, quote="",
            sentence=no_estimate_sentence(scale.title),
        )  # fmt: skip
    is_named = was_named(estimate)
    is_corrected = estimate.method != "cv" and not is_uncorrected(estimate) and not is_named
    headline = Headline(
        metric=scale,
        # The method scored one column, which other searches made.
        method="cross_fitted" if Flag.CROSS_FITTED in estimate.flags else estimate.method,
        **shown_numbers(estimate, scale),
        interval_label=interval_label(estimate),
        is_corrected=is_corrected,
        winner=winner,
        sentence="",
        quote="",
        is_named=is_named,
        coverage="" if estimate.coverage is None else str(estimate.coverage),
    )
    return replace(
        headline,
        sentence=_lead(headline, estimate, candidates, dropped),
        quote=_quote(headline, estimate, candidates, rows, folds, dropped),
    )


def _lead(headline: Headline, estimate: Estimate, candidates: int, dropped: int) -> str:
    scale, value, before = headline.metric, headline.value, headline.uncorrected
    if headline.is_named and value is not None:
        return named_sentence(in_sentence(scale.title), value, scale.decimals)
    if not headline.is_corrected or before is None or value is None:
        return _how(estimate)
    on_all_rows = ""
    if (correction := estimate.provenance.get("training_size_correction")) is not None:
        on_all_rows = f" With training on all rows it is {number_text(value, scale.decimals)}."
        without = scale.shown(correction["value_without"])
        value = value if without is None else without
        estimate = replace(estimate, value=correction["value_without"], optimism=correction["optimism_without"])
    of_selection = optimism_sentence(
        in_sentence(scale.title),
        before,
        value,
        optimism_beyond_rounding(estimate),
        candidates,
        decimals=scale.decimals,
        method=headline.method,
        selection=str(estimate.provenance.get("selection", "best")),
        finalists=_finalists(estimate),
        dropped=dropped,
        width=0.0 if estimate.interval is None else estimate.interval.high - estimate.interval.low,
    )
    return of_selection + on_all_rows


def _finalists(estimate: Estimate) -> int:
    return int(estimate.provenance.get("n_finalists", 1))


def _how(estimate: Estimate) -> str:
    """How the method computes its number."""
    if Flag.CROSS_FITTED in estimate.flags:  # the method scored one column, made by several searches
        return estimate.flags[Flag.CROSS_FITTED]
    if estimate.method == "nested_cv" and (sentence := nested_sentence(estimate.provenance)):
        return sentence
    words = method_words(estimate.method)
    drawn = estimate.provenance.get("n_bootstraps")  # of a method that keeps no distribution
    bootstraps = drawn if estimate.distribution is None else len(estimate.distribution)
    how = words.sentence(
        bootstraps,
        finalists=_finalists(estimate),
        named=was_named(estimate),
        alone=estimate.provenance.get("n_candidates") == 1,
    )
    return (
        how.removesuffix(WITHOUT_FITS) + FITS_WITHOUT_TWO if Flag.TRAINING_SIZE_CORRECTED in estimate.flags else how
    )


def is_ensemble(estimate: Estimate) -> bool:
    """Whether the estimate is of an ensemble rather than of one configuration."""
    return sum(weight != 0 for weight in estimate.provenance.get("weights") or ()) > 1


def _quote(headline: Headline, estimate: Estimate, candidates: int, rows: int, folds: str, dropped: int) -> str:
    interval = f" ({headline.interval_label} {headline.interval_text})" if headline.interval_text else ""
    return quotable_sentence(
        headline.metric.title,
        number_text(headline.value, headline.metric.decimals),
        interval,
        headline.method,
        candidates,
        folds,
        rows,
        headline.winner,
        ensemble=is_ensemble(estimate),
        is_corrected=headline.is_corrected,
        finalists=_finalists(estimate),
        named=headline.is_named,
        dropped=dropped,
    )


def shown_numbers(estimate: Estimate, scale: Scale) -> dict[str, Any]:
    """Value, ends of the interval, uncorrected score and optimism in the metric's own units; None if unknown."""
    low, high = scale.ends(estimate.interval)
    return {
        "value": scale.shown(estimate.value),
        "low": low,
        "high": high,
        "uncorrected": scale.shown(estimate.uncorrected),
        "optimism": json_number(optimism_beyond_rounding(estimate)),
        "constant": scale.shown(estimate.constant),
    }


def interval_label(estimate: Estimate) -> str:
    """Level and sides of an estimate's interval; empty without one."""
    if estimate.interval is None:
        return ""
    return level_and_sides(estimate.interval.confidence_level, estimate.interval.alternative)


def distribution_of(estimate: Estimate | None, scale: Scale) -> Distribution | None:
    """The histogram of an estimate's bootstrapped scores; None if there are none."""
    if estimate is None or estimate.distribution is None or not np.isfinite(estimate.value):
        return None
    finite = scale.sign * estimate.distribution[np.isfinite(estimate.distribution)]
    if not finite.size:
        return None
    scores = np.clip(finite, *scale.range)  # a control may carry a score beyond it
    counts, edges = np.histogram(scores, bins=_bins(scores, scale))
    return Distribution(tuple(edges.tolist()), tuple(counts.tolist()), len(estimate.distribution))


def _bins(scores: NDArray[np.float64], scale: Scale) -> NDArray[np.float64]:
    """Equal bins over the scores, wide enough for floating point and within the metric's range."""
    low, high = float(scores.min()), float(scores.max())
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-300):
        half = max(abs(low), 1.0) * 1e-3
        low, high = scale.within(low - half), scale.within(high + half)
    return np.linspace(low, high, HISTOGRAM_BINS + 1)


def metric_row(name: str, estimate: Estimate, scale: Scale, *, chose: bool) -> MetricRow:
    """One metric's line in the table of several."""
    return MetricRow(name=name, metric=scale, **shown_numbers(estimate, scale), chose=chose)


def method_row(name: str, estimate: Estimate, scale: Scale, *, main: bool, same_winner: bool) -> MethodRow:
    """One method's line in the table of several."""
    return MethodRow(
        name=name,
        title=method_words(name).title,
        is_main=main,
        **shown_numbers(estimate, scale),
        winner="" if same_winner else estimate.selected_name,
        notes=tuple(text for flag, text in estimate.flags.items() if flag not in SEEN_IN_THE_ROW),
        how=method_sentences(estimate),
    )


def method_sentences(estimate: Estimate | None, *, with_training_rows: bool = True) -> tuple[str, ...]:
    """How the number was computed, and what it estimates; empty without a number."""
    if estimate is None or not np.isfinite(estimate.value):
        return ()
    provenance: Mapping[str, Any] = estimate.provenance
    how = _how(estimate)
    shrinkage = provenance.get("shrinkage") if estimate.method == "bbc" else None
    drawn_in = "" if shrinkage is None else CALIBRATED_INTERVAL.format(shrinkage=shrinkage)
    quantity = provenance.get("quantity")
    rows = provenance.get("training_rows") if with_training_rows else None
    what = quantity_sentence(str(quantity), rows) if quantity else ""
    kind = provenance.get("interval_of_test_part", provenance.get("interval"))
    interval = INTERVAL_SENTENCES.get(str(kind), "")
    return tuple(sentence for sentence in (how, _control(estimate), drawn_in, interval, what) if sentence)


def _control(estimate: Estimate) -> str:
    """What was subtracted for few rows; empty if nothing was."""
    size, choices = (estimate.provenance.get(key) for key in ("control_size", "control_choices"))
    if size is None or choices is None:
        return ""
    of = counted(int(choices), "configuration")
    metric = in_sentence(metric_words(estimate.metric)[0])
    return CONTROL.format(metric=metric, size=f"{abs(size):.2g}", choices=of)


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
    if estimate is None or math.isnan(estimate.value):
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
