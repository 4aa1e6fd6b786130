"""Facts, settings, sources and provenance of a number, as labels with texts."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from heldout._record import json_safe
from heldout._types import Codes
from heldout.data.task import TaskKind, Truth
from heldout.estimates.question import AGGREGATE_WORDS
from heldout.estimates.types import Estimate
from heldout.metrics.base import Metric, positive_of
from heldout.protocols.nested.estimate import ACROSS_WORDS, INNER_WORDS, INTERVAL_WORDS, TEST_PART_WORDS
from heldout.references import REFERENCES
from heldout.report.entries import Facts
from heldout.selection import SELECTION_WORDS

_ELSEWHERE = {
    "quantity", "sources", "columns", "n_rows", "n_configurations", "n_candidates", "n_repeats", "n_folds",
    "training_rows",
}  # fmt: skip
_REPRODUCE = {
    "entropy", "kernels", "versions", "python", "platform", "started", "finished", "when", "date", "command",
}  # fmt: skip
_LABELS = {
    "entropy": "Seed",
    "when": "Date",
    "pos_label": "Positive class",
    "aggregate": "Score of a configuration",
    "selection": "Selection rule",
    "grouped": "Groups drawn whole",
    "weighted": "Rows weighted",
    "n_bootstraps": "Bootstraps",
    "n_imputations": "Imputations of every fit",
    "n_second_bootstraps": "Bootstraps of the second stage",
    "inner_optimism": "Optimism by bootstraps of the bootstraps",
    "redrawn": "Draws redrawn",
    "n_folds_used": "Folds used",
    "selection_settings": "Settings of the rule",
    "winner_chosen_on": "Winner chosen by",
    "n_rows_choosing": "Rows that choose",
    "n_rows_evaluated": "Rows that score",
    "evaluation_share": "Their share",
    "candidates": "Sent on to them",
    "n_finalists": "Finalists",
    "level_for_each": "Confidence level for each",
    "aggregate_of_value": "Value and interval from",
    "scale_of_value": "Value, interval and uncorrected score from",
    "aggregate_out_of_bag": "Score of rows left out",
    "unit": "What is drawn",
    "half_width": "Half width of the interval",
    "distance_to_best": "Distance to the best, at most",
    "n_draws": "Draws",
    "inner": "Inner folds",
    "across": "Fitted in the outer folds",
    "interval": "Interval by",
    "control": "Control for few rows",
    "control_size": "Subtracted for few rows",
    "control_choices": "Configurations it was measured on",
    "n_outer_folds": "Outer folds",
    "test_to_training_rows": "Test rows for each training row",
    "bates_hastie_tibshirani": "Measured for the interval",
    "interval_of_test_part": "Interval of the test part by",
    "monte_carlo_error": "Monte Carlo error",
    "averaged": "Rows left out averaged",
    "n_never_left_out": "Rows never left out",
    "no_information": "Score without information",
    "weight": "Weight of the rows left out",
    "training_size_correction": "Correction for training size",
    "as_published": "By the published formula",
}
_MOST_LISTED = 8
_NOTHING = [("redrawn", 0), ("n_never_left_out", 0), ("n_rows_choosing", 0), ("across", "folds")]
"""Settings that are not shown: nothing happened."""
_WORDS: dict[str, Mapping[str, str]] = {
    **dict.fromkeys(
        ("aggregate", "aggregate_of_value", "scale_of_value", "aggregate_out_of_bag", "winner_chosen_on"),
        AGGREGATE_WORDS,
    ),
    "selection": SELECTION_WORDS,
    "candidates": {"best": "the best one"},
    "inner": INNER_WORDS,
    "across": ACROSS_WORDS,
    "interval": INTERVAL_WORDS,
    "interval_of_test_part": TEST_PART_WORDS,
    "control": {"auto": "where few rows change the score", "True": "always"},
}


def folds_text(folds: Codes | None, n_splits: int | None) -> str:
    """Folds and repeats in words.

    Examples
    --------
    >>> import numpy as np
    >>> of_folds, hold_out = np.array([[0], [1]], dtype=np.int32), np.array([[0], [-1]], dtype=np.int32)
    >>> folds_text(of_folds, None), folds_text(hold_out, None)
    ('2 folds', 'one hold-out')
    """
    if folds is None:
        return "held-out predictions"
    repeats = folds.shape[1]
    each = int(folds[:, 0].max()) + 1
    if n_splits is not None and n_splits != each * repeats:
        return f"{n_splits} splits"
    if each == 1:
        return "one hold-out" if repeats == 1 else f"{repeats} hold-outs"
    return f"{each} folds" if repeats == 1 else f"{repeats} × {each} folds"


def drop_text(drop: Mapping[str, Any] | None) -> str:
    """The drop rule with its settings; empty without one.

    Examples
    --------
    >>> drop_text({"rule": "bootstrap", "threshold": 0.99, "shuffle_folds": False})
    'bootstrap (threshold 0.99, shuffle_folds no)'
    """
    if not drop:
        return ""
    settings = setting_text({key: value for key, value in drop.items() if key != "rule"})
    return f"{drop.get('rule', '')} ({settings})" if settings else str(drop.get("rule", ""))


def data_facts(truth: Truth, metrics: Iterable[Metric | None]) -> dict[str, str]:
    """The rows, and which class is positive."""
    return {"Rows": rows_text(truth), "Positive class": positive_text(truth, metrics)}


def configurations_text(total: int, failed: int, dropped: int) -> str:
    """The number of configurations, and how many of them were dropped or failed."""
    out = (f", {n:,} {how}" for n, how in ((dropped, "dropped"), (failed, "failed")) if n)
    return f"{total:,}{''.join(out)}"


def rows_text(truth: Truth) -> str:
    """The number of rows, in total and by class."""
    rows = f"{truth.n_rows:,}"
    if truth.kind is TaskKind.SURVIVAL:
        return f"{rows} ({int(truth.values['event'].sum()):,} with the event)"
    if truth.kind is TaskKind.REGRESSION or truth.classes is None:
        return rows
    counts = truth.class_counts()
    if len(counts) > 4:
        return f"{rows} in {len(counts)} classes"
    numbers = truth.classes.dtype.kind in "iufb"  # "65 1" would be two numbers side by side
    named = [f"class {label}" if numbers else str(label) for label in truth.classes.tolist()]
    of_class = ", ".join(f"{label}: {count:,}" for label, count in zip(named, counts.tolist(), strict=True))
    return f"{rows} ({of_class})"


def with_text(texts: Mapping[str, str]) -> dict[str, str]:
    """Texts by their labels, without the empty ones."""
    return {label: text for label, text in texts.items() if text}


def flag_facts(estimates: Mapping[str, Estimate], refit_metric: str) -> tuple[Facts, ...]:
    """The sentence of every flag once, first those of the refit metric; others name their metric."""
    first = estimates.get(refit_metric)
    said = set() if first is None else set(first.flags.values())
    return tuple(
        Facts(flag=flag.value, title=flag.heading, text=text if name == refit_metric else f"{name}: {text}")
        for name in sorted(estimates, key=lambda name: name != refit_metric)
        for flag, text in estimates[name].flags.items()
        if name == refit_metric or text not in said
    )


def positive_text(truth: Truth, metrics: Iterable[Metric | None]) -> str:
    """The positive class, and that of each metric which calls another one positive; empty if there is none."""
    if truth.positive is None or truth.classes is None:
        return ""
    others = [
        f"of {metric.name} {truth.classes[code]}"
        for metric in metrics
        if metric is not None and (code := positive_of(metric, truth)) not in (None, truth.positive)
    ]
    own = str(truth.pos_label)
    return f"of the curves and tables {own}, {', '.join(others)}" if others else own


def citations_of(
    estimates: Iterable[Estimate], diagnostics: Facts | None, others: Iterable[str] = ()
) -> tuple[Facts, ...]:
    """The sources of the numbers shown, each once; ``others`` are keys of further sources."""
    keys = [key for estimate in estimates for key in estimate.provenance.get("sources", ())]
    keys += others
    if diagnostics is not None and diagnostics.calibration is not None:
        keys.append("wilson1927")
    works = [REFERENCES[key] for key in dict.fromkeys(keys)]
    return tuple(Facts(text=str(work).removesuffix(f" doi:{work.doi}"), doi=work.doi) for work in works)


def settings_of(records: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The settings in provenance by their labels."""
    texts = {}
    for key, value in _items(records):
        if key in _ELSEWHERE or key in _REPRODUCE or "fingerprint" in key:
            continue
        text = _WORDS.get(key, {}).get(str(value)) or setting_text(f"{value:,}" if type(value) is int else value)
        if value is not False and (key, value) not in _NOTHING:
            texts[_label(key)] = text
    return with_text(texts)


def reproduction_of(records: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Seed, versions and times in provenance by their labels."""
    return with_text(
        {
            _label(key): _moment(setting_text(value))
            for key, value in _items(records)
            if key in _REPRODUCE or "fingerprint" in key
        }
    )


def _label(key: str) -> str:
    return _LABELS.get(key, key.replace("_", " ").capitalize())


def _moment(text: str) -> str:
    """A time of ISO 8601 in UTC in readable form; any other text unchanged."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?\+00:00", text)
    return f"{found[1]} {found[2]} UTC" if found else text


def _items(records: Sequence[Mapping[str, Any]]) -> list[tuple[str, Any]]:
    """Items of several records, each key once."""
    merged: dict[str, Any] = {}
    for record in records:
        for key, value in record.items():
            merged.setdefault(str(key), json_safe(value))
    return list(merged.items())


def setting_text(value: Any) -> str:
    """A setting as people read it; empty for None.

    Examples
    --------
    >>> setting_text({"relative": True, "complexity": [0.5] * 40 + [3]})
    'relative yes, complexity 41 numbers from 0.5 to 3'
    """
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case dict():
            return ", ".join(f"{key} {text}" for key, item in value.items() if (text := setting_text(item)))
        case list() if len(value) > _MOST_LISTED and all(type(item) in (int, float) for item in value):
            finite = [item for item in value if math.isfinite(item)] or [math.nan]
            return f"{len(value):,} numbers from {setting_text(min(finite))} to {setting_text(max(finite))}"
        case list():
            return ", ".join(setting_text(item) for item in value)
        case float():
            return f"{value:.6g}"
        case int():
            return str(value)
    return str(value)
