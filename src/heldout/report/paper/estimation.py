"""The sentences on the selection and on the estimate of what it selected."""

from __future__ import annotations

from typing import Any

from heldout.estimates.question import AGGREGATE_WORDS
from heldout.estimates.types import Estimate
from heldout.methods_text import cited
from heldout.metrics.named import in_sentence, metric_words
from heldout.report.estimate_parts import method_sentences
from heldout.report.paper.data import counted_of, listed
from heldout.report.words import level_and_sides
from heldout.selection import SELECTION_WORDS

_OPEN = {"greater": "it is open towards better values", "less": "it is open towards worse values"}
"""Of one-sided intervals."""


def selection_sentence(
    rule: str,
    aggregate: str,
    metric: str,
    *,
    greater_is_better: bool | None,
    n_candidates: int,
    winner: str,
    settings: Any = None,
) -> str:
    """By which rule the winner was selected among how many, and which it is.

    ``greater_is_better``: None where neither direction is, or where it is not known.

    Examples
    --------
    >>> selection_sentence("best", "pooled", "neg_log_loss", greater_is_better=True, n_candidates=9, winner="SVC")
    'The configuration with the lowest log loss (all held-out rows together) was selected: SVC.'
    """
    title = in_sentence(metric_words(metric)[0])
    if n_candidates == 1:
        return f"There was one configuration and no selection; its metric is {title}."
    read = f"{title} ({AGGREGATE_WORDS.get(aggregate, aggregate)})"
    if rule == "best":
        # scikit-learn's neg_ scores are shown as the losses that they are
        lower = metric.startswith("neg_") or greater_is_better is False
        best = "lowest" if lower else "best" if greater_is_better is None else "highest"
        return f"The configuration with the {best} {read} was selected: {winner}."
    words = SELECTION_WORDS.get(rule, "")
    how = f"'{rule}'" + (f" ({words}{_settings(settings)})" if words else "")
    return f"Selected by the rule {how} on {read}: {winner}."


def _settings(settings: Any) -> str:
    known = [f"{name} {value}" for name, value in dict(settings or {}).items() if value is not None]
    return f"; {', '.join(known)}" if known else ""


def estimate_sentences(estimate: Estimate, others: list[str]) -> list[str]:
    """How the performance was estimated, with its interval; ``others`` are further metrics with an estimate."""
    title = in_sentence(metric_words(estimate.metric)[0])
    # in a paragraph "it" would be what the sentence before is about, such as the interval
    how = " ".join(method_sentences(estimate)).replace("It estimates ", "The number estimates ")
    more = (
        f" The same was done for {listed([in_sentence(metric_words(each)[0]) for each in others])}."
        if others
        else ""
    )
    return [
        f"The {title} on new data was estimated as follows{cited(estimate.provenance.get('sources', ()))}. {how}",
        f"{_interval(estimate)}{more}",
    ]


def _interval(estimate: Estimate) -> str:
    interval = estimate.interval
    if interval is None:
        return "There is no confidence interval."
    drawn = estimate.provenance.get("n_bootstraps")
    # bootstraps that a method did not draw are in the settings all the same
    by = f", from {counted_of(int(drawn), 'bootstrap')}" if drawn and estimate.distribution is not None else ""
    side = _OPEN.get(interval.alternative, "")
    return f"The interval is a {level_and_sides(interval.confidence_level, interval.alternative)}{by}" + (
        f"; {side}." if side else "."
    )


def no_estimate_sentence(title: str) -> str:
    """For a search without an estimate."""
    name = in_sentence(title)
    return f"The cross-validated {name} of the selected configuration was not corrected for the selection."
