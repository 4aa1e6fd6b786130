"""The sentences on the selection and on the estimate of what it selected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from heldout.data.task import Truth
from heldout.errors import InputError
from heldout.estimates.methods import METHODS
from heldout.estimates.ordered_rows import CHOSEN_AUTOMATICALLY, SOURCES_OF_KIND, SOURCES_OF_LENGTH
from heldout.estimates.question import AGGREGATE_WORDS
from heldout.estimates.types import Estimate
from heldout.flags import Flag
from heldout.folds.splits import Folds
from heldout.metrics.named import in_sentence, metric_named, metric_words
from heldout.protocols.nested.estimate import INNER_WORDS
from heldout.protocols.words import method_words
from heldout.references import PACKAGE
from heldout.report.headline import level_and_sides, method_sentences
from heldout.report.paper.marks import cited
from heldout.report.paper.parts import counted_of, listed
from heldout.report.settings import setting_text
from heldout.selection import RULES, SELECTION_WORDS


def resampling_sentence(folds: Folds, truth: Truth, planned: int, n_configurations: int) -> str:
    """How the held-out predictions were made; ``planned``: the splits there would have been without stopping."""
    subject, whose = ("It was", "its") if n_configurations == 1 else ("Configurations were", "their")
    sizes = [split.n_training_rows for split in folds.splits]
    low, high = min(sizes), max(sizes)
    size = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    rows = "distinct rows" if any(split.has_copies for split in folds.splits) else "rows"
    early = (
        f" The search stopped after {folds.n_splits:,} of {planned:,} splits." if folds.n_splits < planned else ""
    )
    notes = [
        "each test fold has its share of every class" if _has_shares(folds, truth) else "",
        "groups of rows are held out whole" if folds.grouped else "",
        "" if folds.exchangeable else "test rows come after their training rows",
        _tested(folds),
    ]
    told = listed([note for note in notes if note])
    return (
        f"{subject} evaluated by {scheme_words(folds)}{f' ({told})' if told else ''}: {whose} models "
        f"were trained on {size} {rows} and predicted rows that they had not seen.{early}"
    )


def scheme_words(folds: Folds) -> str:
    """The plan of the splits, in a sentence.

    Examples
    --------
    >>> from heldout.data.task import Task, truth_of
    >>> from heldout.folds.splits import make_folds
    >>> scheme_words(make_folds(Task([[0.0]] * 12, truth_of([0, 1] * 6)), 3))
    '3-fold cross-validation'
    """
    n = folds.n_splits
    if folds.leaves_one_out:
        return "leave-one-out cross-validation"
    if any(split.has_copies for split in folds.splits):
        return f"{counted_of(n, 'bootstrap sample')}, tested on the rows that a sample leaves out"
    if n == 1:
        return f"one hold-out of {counted_of(len(folds.splits[0].test), 'row')}"
    if (share := folds.test_share) is not None:
        return f"{n:,} random splits, each of which tests {100 * share:.3g} % of the rows"
    each, rest = divmod(n, folds.n_repeats)
    if rest or not folds.is_partition:
        return f"{n:,} splits"
    return f"{each}-fold cross-validation" + (
        "" if folds.n_repeats == 1 else f", repeated {folds.n_repeats:,} times"
    )


def _tested(folds: Folds) -> str:
    """How many rows any split tests, if not all; a hold-out says that by itself."""
    tested = len(np.unique(np.concatenate([split.test for split in folds.splits])))
    return (
        "" if tested == folds.n_rows or folds.n_splits == 1 else f"{tested:,} of {folds.n_rows:,} rows are tested"
    )


def _has_shares(folds: Folds, truth: Truth) -> bool:
    """Whether the test folds of a repeat have equally many rows of each class, to a row."""
    if truth.classes is None or not folds.is_partition or folds.leaves_one_out or folds.n_splits == 1:
        return False
    counts: dict[int, list[Any]] = {}
    for split in folds.splits:
        of_fold = np.bincount(truth.values[split.test], minlength=truth.n_classes)
        counts.setdefault(split.repeat, []).append(of_fold)
    return all(bool((np.ptp(each, axis=0) <= 1).all()) for each in counts.values())


def nested_words(provenance: Mapping[str, Any]) -> str:
    """The outer and inner folds of nested cross-validation, as a sentence; empty for another protocol."""
    outer = provenance.get("n_outer_folds")
    if outer is None:
        return ""
    repeats = int(provenance.get("n_repeats", 1))
    inner = str(provenance.get("inner"))
    of_inner = INNER_WORDS.get(inner, f"{inner} new ones" if inner.isdigit() else inner)
    if outer == 1:
        return f"The whole search was repeated without one part of the rows (inner folds: {of_inner})."
    times = "" if repeats == 1 else f", repeated {repeats:,} times"
    folds = f"{int(outer) // repeats:,} outer folds{times}"
    return f"The search was nested: it was repeated inside each of {folds} (inner folds: {of_inner})."


_OPEN = {"greater": "it is open towards better values", "less": "it is open towards worse values"}
"""Of one-sided intervals."""

_LIMITS = {
    Flag.ADAPTIVE_SEARCH: (
        "The estimate replays the selection among these configurations, not how the search came to them, so part "
        "of the optimism remains."
    ),
    Flag.SAMPLER_FITTED_FOLDS: (
        "The further searches scored better on the rows that they saw than their winners did on the others: the "
        "sampler seems to have fitted the folds."
    ),
    Flag.DROPPED_CONFIGURATIONS: (
        "The estimate replays the selection among the configurations that were not dropped, so it is a little more "
        "optimistic than without dropping."
    ),
    Flag.DROPPING_REPLAYED: "Every bootstrap repeated the dropping.",
    Flag.ONE_CONFIGURATION_KEPT: "If the configuration was the best of several, that is not corrected.",
    Flag.SCALE_OF_VALUE: "The score is of all held-out rows together.",
    Flag.STRATIFIED: "Bootstraps were drawn within classes.",
    Flag.NOT_EXCHANGEABLE: "Rows follow the order of time, and the estimate took them as exchangeable.",
    Flag.EARLY_STOPPING_ON_SCORED_ROWS: "Models stopped early on rows that score them, which no method corrects.",
}
"""What an estimate does not correct, or how it was drawn, by the flag that says so."""


def selection_sentence(
    rule: str,
    aggregate: str,
    metric: str,
    *,
    greater_is_better: bool | None,
    n_candidates: int,
    is_single: bool,
    winner: str,
    settings: Any = None,
    sources: Sequence[str] = (),
) -> str:
    """By which rule the winner was selected among how many, and which it is.

    ``greater_is_better``: None where neither direction is, or where it is not known. ``is_single``: whether the one
    candidate was the only configuration, so that none failed, was dropped, or is missing. ``sources``: of the rule.

    Examples
    --------
    >>> selection_sentence(
    ...     "best", "pooled", "neg_log_loss", greater_is_better=True, n_candidates=9, is_single=False, winner="SVC"
    ... )
    'The configuration with the lowest log loss (all held-out rows together) was selected: SVC.'
    """
    title = in_sentence(metric_words(metric)[0])
    if n_candidates == 1:
        if is_single:
            return f"There was one configuration and no selection; its metric is {title}."
        return f"One configuration could be selected: {winner}; its metric is {title}."
    read = f"{title} ({AGGREGATE_WORDS.get(aggregate, aggregate)})"
    if rule == "best":
        # scikit-learn's neg_ scores are shown as the losses that they are
        lower = metric.startswith("neg_") or greater_is_better is False
        best = "lowest" if lower else "best" if greater_is_better is None else "highest"
        return f"The configuration with the {best} {read} was selected: {winner}."
    words = SELECTION_WORDS.get(rule, "")
    how = f"'{rule}'" + (f" ({words}{_settings(settings)})" if words else "")
    return f"The configuration was selected by the rule {how}{cited(sources)} on {read}: {winner}."


def _settings(settings: Any) -> str:
    """The settings of a rule. Without a measure of complexity the order of the list is one."""
    texts = []
    for name, value in dict(settings or {}).items():
        if name == "complexity" and value is None:
            texts.append("the earlier in the list, the simpler")
        elif value is not None and value is not False:
            texts.append(f"{name} {setting_text(value)}")
    return f"; {', '.join(texts)}" if texts else ""


def _blocks(provenance: Mapping[str, Any], sources: Sequence[str]) -> str:
    """In which blocks rows in the order of time were drawn; empty where single rows were."""
    length, kind = provenance.get("block_length", 1), provenance.get("block_kind")
    if length == 1:
        return ""
    automatic = provenance.get("block_length_source") == CHOSEN_AUTOMATICALLY
    how = ", a length that the autocorrelation of their effects on the score gave" if automatic else ""
    average, name = ("on average ", "stationary") if kind == "stationary" else ("", "moving-block")
    return (
        f"Rows follow the order of time, and the bootstraps drew blocks of {average}{length} consecutive rows "
        f"({name} bootstrap{how}){cited(sources)}, so the interval is approximate."
    )


def estimate_sentences(estimate: Estimate, others: list[str], *, sizes_known: bool = False) -> list[str]:
    """How the performance was estimated, with its interval.

    ``others`` are further metrics with an estimate; ``sizes_known``: whether the text has the sizes of the training
    sets already.
    """
    title, provenance = in_sentence(metric_words(estimate.metric)[0]), estimate.provenance
    if not np.isfinite(estimate.value):
        reason = estimate.flags.get(Flag.UNDEFINED) or estimate.flags.get(Flag.SELECTION_NOT_REPLAYABLE, "")
        why = f": {reason.removeprefix('No estimate: ')}" if reason else "."
        return [f"The {title} on new data was not estimated{why}"]
    # in a paragraph "it" would be what the sentence before is about, such as the interval
    how = " ".join(method_sentences(estimate, with_training_rows=False)).replace(
        "It estimates ", "The number estimates "
    )
    size = None if sizes_known else provenance.get("training_rows")
    sources = sources_by_use(estimate)
    notes = [
        f"The {title}{cited(sources.metric)} on new data was estimated by {_by(estimate, sources.method)}",
        how,
        "Groups of rows were drawn whole." if provenance.get("grouped") and _drawn(estimate) else "",
        _blocks(provenance, sources.blocks),
        _parts(provenance),
        "" if size is None else f"The models behind it were trained on {size:,.0f} distinct rows on average.",
        *(sentence for flag, sentence in _LIMITS.items() if flag in estimate.flags),
        estimate.flags.get(Flag.TRAINING_SIZE_CORRECTED, ""),
    ]
    more = (
        f" The same was done for {listed([in_sentence(metric_words(each)[0]) for each in others])}."
        if others
        else ""
    )
    return [
        " ".join(note for note in notes if note),
        f"{_interval(estimate)}{more}",
    ]


def _by(estimate: Estimate, sources: Sequence[str]) -> str:
    """The method, with the works that define it; of one of this package, where it is described and tested."""
    name = "cross_fitting" if Flag.CROSS_FITTED in estimate.flags else estimate.method
    words = method_words(name)
    if PACKAGE not in sources:
        return f"{words.name}{cited(sources)}."
    parts = listed([f"{what}{cited(keys)}" for what, keys in words.parts])
    return (
        f"{words.name}, the method '{name}' of the package heldout{cited([PACKAGE])}, which describes it in "
        f"docs/methods/pages/{name}.md and tests it in {words.tested}."
        + (f" Published works define parts of it: {parts}." if parts else "")
    )


class SourcesByUse(NamedTuple):
    """The works that an estimate rests on, by what they define."""

    metric: Sequence[str]
    rule: Sequence[str]
    blocks: Sequence[str]
    method: Sequence[str]


def sources_by_use(estimate: Estimate) -> SourcesByUse:
    """The sources in the provenance of an estimate."""
    sources, selection = estimate.provenance.get("sources", ()), str(estimate.provenance.get("selection", ""))
    of_blocks = {*SOURCES_OF_LENGTH, *(key for keys in SOURCES_OF_KIND.values() for key in keys)}
    of_rule = RULES[selection]().sources if selection in RULES else ()
    of_method = METHODS[estimate.method]().sources if estimate.method in METHODS else ()
    metric, rule, blocks = (
        [key for key in sources if key in keys] for keys in (_sources_of_metric(estimate), of_rule, of_blocks)
    )
    method = [key for key in sources if key in of_method or key not in (*metric, *rule, *blocks)]
    return SourcesByUse(metric, rule, blocks, method)


def _sources_of_metric(estimate: Estimate) -> Sequence[str]:
    try:
        return metric_named(estimate.metric).sources
    except InputError:  # of the user's own
        return ()


def _drawn(estimate: Estimate) -> int:
    """The bootstraps behind an interval; 0 of a method that draws none, in whose settings they are all the same."""
    return 0 if estimate.distribution is None else int(estimate.provenance.get("n_bootstraps") or 0)


def _parts(provenance: Mapping[str, Any]) -> str:
    """The sizes of the parts of a two-part method."""
    choosing, scoring = provenance.get("n_rows_choosing"), provenance.get("n_rows_evaluated")
    if not choosing or not scoring:
        return ""
    return f"The first part has {counted_of(choosing, 'row')}, the second {scoring:,}."


def _interval(estimate: Estimate) -> str:
    interval = estimate.interval
    if interval is None:
        return "There is no confidence interval."
    drawn = _drawn(estimate)
    by = f", from {counted_of(drawn, 'bootstrap')}" if drawn else ""
    side = _OPEN.get(interval.alternative, "")
    return f"The interval is a {level_and_sides(interval.confidence_level, interval.alternative)}{by}" + (
        f"; {side}." if side else "."
    )


def no_estimate_sentence(title: str) -> str:
    """For a search without an estimate."""
    name = in_sentence(title)
    return f"The cross-validated {name} of the selected configuration was not corrected for the selection."
