"""What a report says, as plain data: gathered once, rendered anywhere.

``report_content`` reads a finished search, ``estimate_content`` an estimate made from predictions alone. Both
give a ``ReportContent``, whose parts are None or empty where the input does not allow them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout import wording
from heldout.estimates.comparison import SEEN_IN_THE_ROW
from heldout.estimates.types import Estimate, json_safe, was_named
from heldout.report.diagnostics import Diagnostics
from heldout.report.numbers import Scale
from heldout.report.ranking import Ranking
from heldout.wording import Flag

HISTOGRAM_BINS = 40


@dataclass(frozen=True)
class Headline:
    """The number that the report is about.

    Attributes
    ----------
    value, low, high, uncorrected, optimism : float or None
        In the metric's own units; None where there is none.
    is_corrected : bool
        False where the value is the winner's cross-validated score as it stands.
    is_named : bool
        Whether it is of a configuration that was named beforehand, so that there is nothing to correct.
    sentence : str
        What the correction means.
    quote : str
        The result as one may quote it.
    """

    metric: Scale
    method: str
    value: float | None
    low: float | None
    high: float | None
    interval_label: str
    uncorrected: float | None
    optimism: float | None
    is_corrected: bool
    winner: str
    sentence: str
    quote: str
    is_named: bool = False

    @property
    def label(self) -> str:
        """What the value is."""
        return "named beforehand" if self.is_named else "corrected" if self.is_corrected else "uncorrected"

    @property
    def direction(self) -> str:
        """Which way is better."""
        return wording.direction_sentence(self.metric.greater_is_better, self.metric.ideal)

    @property
    def interval_text(self) -> str:
        """Both ends, empty where there is no interval."""
        if self.low is None and self.high is None:
            return ""
        low, high = (wording.number_text(end, self.metric.decimals) for end in (self.low, self.high))
        return f"{low} to {high}"


@dataclass(frozen=True)
class Distribution:
    """The bootstrapped scores as a histogram."""

    metric: Scale
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    value: float
    low: float | None
    high: float | None
    uncorrected: float | None
    bootstraps: int


@dataclass(frozen=True)
class MetricRow:
    """One metric's estimate, for searches with several."""

    name: str
    metric: Scale
    value: float | None
    low: float | None
    high: float | None
    uncorrected: float | None
    optimism: float | None
    chose: bool


@dataclass(frozen=True)
class MethodRow:
    """One method's answer, for reports that compare several.

    Attributes
    ----------
    title : str
        The method's name for people.
    is_main : bool
        Whether it is the estimate that the report is about.
    winner : str
        The configuration that it is of, where that is another than the report's.
    notes : tuple of str
        Sentences of its flags.
    how : tuple of str
        How it arrives at its number, and what it estimates.
    """

    name: str
    title: str
    is_main: bool
    value: float | None
    low: float | None
    high: float | None
    uncorrected: float | None
    optimism: float | None
    winner: str
    notes: tuple[str, ...]
    how: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """A label and what it says."""

    label: str
    text: str


@dataclass(frozen=True)
class Parameter:
    """A parameter of the winner; ``searched`` where the grid set it."""

    name: str
    text: str
    searched: bool


@dataclass(frozen=True)
class Citation:
    """A work that a method used here comes from."""

    text: str
    doi: str


@dataclass(frozen=True)
class ReportContent:
    """Everything that a report shows.

    Attributes
    ----------
    title : str
    headline : Headline
    facts : tuple of Entry
        Rows, configurations, folds, fits.
    distribution : Distribution or None
    metrics : tuple of MetricRow
        Empty for a single metric.
    metrics_sentence : str
    methods : tuple of MethodRow
        The same question answered by several methods; empty where one was asked.
    methods_sentence : str
    refused : tuple of Entry
        Methods that do not apply, and why.
    ranking : Ranking or None
    parameters : tuple of Parameter
    diagnostics : Diagnostics or None
    method : tuple of str
        How the number was computed, in sentences.
    settings : tuple of Entry
        ... and in settings.
    flags : tuple of str
    citations : tuple of Citation
    command : str
        What was run, empty where it is not known.
    reproduction : tuple of Entry
        Seed, versions, fingerprints.
    """

    title: str
    headline: Headline
    facts: tuple[Entry, ...]
    distribution: Distribution | None = None
    metrics: tuple[MetricRow, ...] = ()
    metrics_sentence: str = ""
    methods: tuple[MethodRow, ...] = ()
    methods_sentence: str = ""
    refused: tuple[Entry, ...] = ()
    ranking: Ranking | None = None
    parameters: tuple[Parameter, ...] = ()
    diagnostics: Diagnostics | None = None
    method: tuple[str, ...] = ()
    settings: tuple[Entry, ...] = ()
    flags: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    command: str = ""
    reproduction: tuple[Entry, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        plain: dict[str, Any] = json_safe(asdict(self))
        return plain


def headline_of(
    estimate: Estimate | None,
    scale: Scale,
    *,
    uncorrected: float | None,
    winner: str,
    candidates: int,
    rows: int,
    folds: str,
) -> Headline:
    """The headline of an estimate, or of the uncorrected score alone where there is none."""
    if estimate is None or not np.isfinite(estimate.value):
        known = scale.shown(uncorrected)
        return Headline(
            metric=scale, method="", value=None, low=None, high=None, interval_label="", uncorrected=known,
            optimism=None, is_corrected=False, winner=winner, quote="",
            sentence=wording.no_estimate_sentence(scale.title),
        )  # fmt: skip
    low, high = scale.ends(estimate.interval)
    is_named = was_named(estimate)
    is_corrected = estimate.method != "cv" and Flag.UNCORRECTED not in estimate.flags and not is_named
    value, before = scale.shown(estimate.value), scale.shown(estimate.uncorrected)
    headline = Headline(
        metric=scale,
        method=estimate.method,
        value=value,
        low=low,
        high=high,
        interval_label="" if estimate.interval is None else interval_label(estimate),
        uncorrected=before,
        optimism=_finite(estimate.optimism),
        is_corrected=is_corrected,
        winner=winner,
        sentence="",
        quote="",
        is_named=is_named,
    )
    return replace(
        headline,
        sentence=_lead(headline, estimate, candidates),
        quote=_quote(headline, estimate, candidates, rows, folds),
    )


def _lead(headline: Headline, estimate: Estimate, candidates: int) -> str:
    scale, value, before = headline.metric, headline.value, headline.uncorrected
    if headline.is_named and value is not None:
        return wording.named_sentence(wording.in_sentence(scale.title), value, scale.decimals)
    if not headline.is_corrected or before is None or value is None:
        return _how(estimate)
    return wording.optimism_sentence(
        wording.in_sentence(scale.title),
        before,
        value,
        estimate.optimism,
        candidates,
        decimals=scale.decimals,
        method=estimate.method,
        selection=str(estimate.provenance.get("selection", "best")),
        finalists=_finalists(estimate),
    )


def _finalists(estimate: Estimate) -> int:
    return int(estimate.provenance.get("n_finalists", 1))


def _how(estimate: Estimate) -> str:
    """How the method arrives at its number."""
    return wording.method_sentence(
        estimate.method, _bootstraps(estimate), finalists=_finalists(estimate), named=was_named(estimate)
    )


def is_ensemble(estimate: Estimate) -> bool:
    """Whether it is of weights over configurations rather than of one."""
    return sum(weight != 0 for weight in estimate.provenance.get("weights") or ()) > 1


def _quote(headline: Headline, estimate: Estimate, candidates: int, rows: int, folds: str) -> str:
    interval = f" ({headline.interval_label} {headline.interval_text})" if headline.interval_text else ""
    return wording.quotable_sentence(
        headline.metric.title,
        wording.number_text(headline.value, headline.metric.decimals),
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
    )


def interval_label(estimate: Estimate) -> str:
    """Level and sides of an estimate's interval."""
    assert estimate.interval is not None, "asked only where there is an interval"
    return wording.interval_label(estimate.interval.confidence_level, estimate.interval.alternative)


def distribution_of(estimate: Estimate | None, scale: Scale) -> Distribution | None:
    """The histogram of an estimate's bootstrapped scores; None where there are none."""
    if estimate is None or estimate.distribution is None or not np.isfinite(estimate.value):
        return None
    scores = scale.sign * estimate.distribution[np.isfinite(estimate.distribution)]
    if not scores.size:
        return None
    counts, edges = np.histogram(scores, bins=_bins(scores))
    low, high = scale.ends(estimate.interval)
    value = scale.shown(estimate.value)
    assert value is not None
    return Distribution(
        metric=scale,
        edges=tuple(edges.tolist()),
        counts=tuple(counts.tolist()),
        value=value,
        low=low,
        high=high,
        uncorrected=scale.shown(estimate.uncorrected),
        bootstraps=len(estimate.distribution),
    )


def _bins(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Equal bins over the scores, of at least the least number that floating point can tell apart."""
    low, high = float(scores.min()), float(scores.max())
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-300):
        half = max(abs(low), 1.0) * 1e-3
        low, high = low - half, high + half
    return np.linspace(low, high, HISTOGRAM_BINS + 1)


def metric_row(name: str, estimate: Estimate, scale: Scale, *, chose: bool) -> MetricRow:
    """One metric's line in the table of several."""
    low, high = scale.ends(estimate.interval)
    return MetricRow(
        name=name,
        metric=scale,
        value=scale.shown(estimate.value),
        low=low,
        high=high,
        uncorrected=scale.shown(estimate.uncorrected),
        optimism=_finite(estimate.optimism),
        chose=chose,
    )


def method_row(name: str, estimate: Estimate, scale: Scale, *, main: bool, same_winner: bool) -> MethodRow:
    """One method's line in the table of several."""
    low, high = scale.ends(estimate.interval)
    return MethodRow(
        name=name,
        title=wording.method_title(name),
        is_main=main,
        value=scale.shown(estimate.value),
        low=low,
        high=high,
        uncorrected=scale.shown(estimate.uncorrected),
        optimism=_finite(estimate.optimism),
        winner="" if same_winner else estimate.selected_name,
        notes=tuple(text for flag, text in estimate.flags.items() if flag not in SEEN_IN_THE_ROW),
        how=method_sentences(estimate),
    )


def _bootstraps(estimate: Estimate) -> int | None:
    return None if estimate.distribution is None else len(estimate.distribution)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def method_sentences(estimate: Estimate | None) -> tuple[str, ...]:
    """How the number was computed, and what it estimates."""
    if estimate is None:
        return ()
    provenance: Mapping[str, Any] = estimate.provenance
    how = _how(estimate)
    shrinkage = provenance.get("shrinkage") if estimate.method == "bbc" else None
    drawn_in = "" if shrinkage is None else wording.CALIBRATED_INTERVAL.format(shrinkage=shrinkage)
    quantity = provenance.get("quantity")
    rows = provenance.get("training_rows")
    what = wording.quantity_sentence(str(quantity), rows) if quantity else ""
    return tuple(sentence for sentence in (how, drawn_in, what) if sentence)
