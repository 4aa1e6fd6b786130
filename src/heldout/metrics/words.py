"""Metrics in words: their names for people, and which way is better."""

from __future__ import annotations


def metric_words(name: str) -> tuple[str, str]:
    """A metric's title and definition by its name; the definition of a metric of the user's own is empty."""
    from heldout.metrics.named import METRICS

    own, bracket, parameters = name.removeprefix("neg_").partition("(")
    metric = METRICS.get(own)
    title, definition = (own.replace("_", " "), "") if metric is None else (metric.title, metric.definition)
    return (f"{title} {bracket}{parameters}" if bracket else title), definition


def in_sentence(title: str) -> str:
    """A metric's name within a sentence: small letters, except for abbreviations and names of people."""
    first = title.split(" ")[0]
    is_word = first[1:].isalpha() and first[1:].islower()
    return title[:1].lower() + title[1:] if is_word and first not in ("Brier", "Matthews", "Spearman") else title


def direction_sentence(greater_is_better: bool, ideal: float | None = None) -> str:
    """Which way is better, if not one value is best."""
    if ideal is not None:
        return f"{ideal:g} is best; neither direction is."
    return "Higher is better." if greater_is_better else "Lower is better."
