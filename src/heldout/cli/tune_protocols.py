"""The methods of ``heldout tune`` that repeat the whole search: nested, bootstrap_search."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from heldout.cli.console import Console, Row
from heldout.cli.tune_job import TuneJob
from heldout.cli.tune_options import BOOTSTRAP, TuneOptions, is_protocol, nested_settings

if TYPE_CHECKING:
    from heldout.estimates.types import Alternative, Estimate
    from heldout.execution.run import RunSettings
    from heldout.execution.search import Search
    from heldout.protocols.nested.estimate import NestedEstimate
    from heldout.protocols.nested.plan import NestedFolds
    from heldout.protocols.search_bootstrap.estimate import SearchBootstrapEstimate
    from heldout.result import Evaluation


def _nested_folds(options: TuneOptions, job: TuneJob) -> NestedFolds:
    from heldout.protocols.nested.intervals import BATES
    from heldout.protocols.nested.plan import nested_folds

    settings = nested_settings(options)
    pairs = settings.interval == BATES
    selects = len(job.configurations) > 1
    return nested_folds(job.task, job.folds, settings.inner, pairs=pairs, selects=selects, entropy=options.seed)


def times_predicted(options: TuneOptions, job: TuneJob, console: Console) -> int:
    """How many times as many predictions as a single search the method makes; prints the number of fits."""
    if not is_protocol(options):
        return 1
    from heldout._text import counted

    if options.method in BOOTSTRAP:
        return _times_bootstrapped(options, job, console)
    nested = _nested_folds(options, job)
    fits = nested.n_fits(len(job.configurations))
    if nested.is_one_split:
        console.say(
            f"Hold-out: the winner of a search on the other rows is tested once, {counted(fits, 'fit')} in all."
        )
        return 2
    console.say(
        f"Nested cross-validation: the search is repeated for each of {counted(len(nested.outer), 'outer fold')}"
        + (f" and for each of {counted(len(nested.pairs), 'pair')} of them" if nested.pairs else "")
        + f", {counted(fits, 'fit')} in all."
    )
    return 1 + len(nested.branches)


def run_protocol(options: TuneOptions, search: Search, running: RunSettings) -> Evaluation:
    """The search on all rows, with the estimate of the protocol and the fits of both."""
    from heldout.protocols.nested.protocol import nested_of_search

    estimate: NestedEstimate | SearchBootstrapEstimate
    if options.method in BOOTSTRAP:
        estimate = _bootstrapped(options, search, running)
    else:
        estimate = nested_of_search(search, nested_settings(options), running)
    evaluation = estimate.evaluation
    assert evaluation is not None, "the protocol ran the search"
    return replace(
        evaluation,
        estimates={evaluation.refit_metric: replace(estimate, evaluation=None, model=None)},
        n_fits=estimate.n_fits,
        n_fits_saved=estimate.n_fits_saved,
    )


def _times_bootstrapped(options: TuneOptions, job: TuneJob, console: Console) -> int:
    """The same, of a bootstrap."""
    from heldout._text import counted

    n_configurations, n_splits, times = len(job.configurations), job.folds.n_splits, options.n_bootstraps
    if options.scheme == "models":
        fits = times * n_configurations + 1
        console.say(
            f"Bootstrap: every configuration on each of {counted(times, 'sample')}, {counted(fits, 'fit')}."
        )
        return times
    searched = n_configurations * n_splits
    fits = (searched + 1) + times * ((searched if n_configurations > 1 else 0) + 1)
    console.say(
        f"Bootstrap of the search: it is repeated on each of {counted(times, 'sample')}, {counted(fits, 'fit')} "
        "in all."
    )
    return 1 + times


def _bootstrapped(options: TuneOptions, search: Search, running: RunSettings) -> SearchBootstrapEstimate:
    from heldout.data.limits import effective_threads
    from heldout.estimates.question import Settings
    from heldout.protocols.search_bootstrap.schemes import BootstrapPlan

    settings = Settings(
        options.n_bootstraps,
        options.confidence_level,
        cast("Alternative", options.alternative),
        search.entropy,
        effective_threads(options.n_jobs),
    )
    classifier = search.task.truth.kind.is_classification
    plan = BootstrapPlan(search, settings, options.fold_plan, options.repeats, classifier)
    return plan.run_models(running) if options.scheme == "models" else plan.run_cvt(running)


def protocol_rows(estimate: Estimate | None) -> list[Row]:
    """Which configurations the outer folds or bootstraps chose, for the table of results."""
    from heldout.protocols.nested.estimate import NestedEstimate
    from heldout.protocols.search_bootstrap.estimate import SearchBootstrapEstimate

    if isinstance(estimate, SearchBootstrapEstimate):
        return _chosen_by_bootstraps(estimate)
    if not isinstance(estimate, NestedEstimate) or not estimate.agreement.wins:
        return []
    chosen = [
        f"{times} of {len(estimate.outer_folds)}: {estimate.agreement.names[configuration]}"
        for configuration, times in estimate.agreement.wins.items()
    ]
    rows: list[Row] = [("outer folds", _first(chosen))]
    if estimate.provenance["across"] == "all":
        means = estimate.mean_inner_scores
        rows.append(("inner means", _first([f"{means[j]:.4g}: {estimate.names[j]}" for j in estimate.ranked])))
    return rows


def _first(lines: list[str]) -> list[str]:
    """The first lines, and how many more there are."""
    return [*lines[:3], f"and {len(lines) - 3} more"] if len(lines) > 4 else lines


def _chosen_by_bootstraps(estimate: SearchBootstrapEstimate) -> list[Row]:
    names = [each.selected_name for each in estimate.bootstraps if each.selected is not None]
    counts = sorted(Counter(names).items(), key=lambda item: -item[1])
    if not counts:
        return []
    lines = [f"{times} of {len(estimate.bootstraps)}: {name}" for name, times in counts[:3]]
    return [("bootstraps", lines + ([f"and {len(counts) - 3} more"] if len(counts) > 3 else []))]
