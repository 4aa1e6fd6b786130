"""The protocols among the methods of ``heldout tune``, which search more than once: nested, bootstrap_search."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from heldout.cli.console import Console, Row

if TYPE_CHECKING:
    from heldout.cli.tune_plan import Options, Plan
    from heldout.estimates.types import Alternative, Estimate
    from heldout.execution.run import RunSettings
    from heldout.execution.search import Search
    from heldout.protocols.nested.estimate import NestedEstimate
    from heldout.protocols.nested.plan import Across, NestedFolds, NestedSettings
    from heldout.protocols.search_bootstrap.estimate import SearchBootstrapEstimate
    from heldout.result import Evaluation

NESTED = ("nested", "nested_cv")
BOOTSTRAP = ("bootstrap_search",)
PROTOCOLS = NESTED + BOOTSTRAP
"""What ``--method`` takes besides the methods that need no fits of their own."""
DEFAULTS = {"inner": "remaining", "across": "folds"}
BOOTSTRAP_DEFAULTS = {"scheme": "cvt"}


def is_protocol(wanted: Options) -> bool:
    """Whether the search itself is repeated."""
    return wanted.method in PROTOCOLS


def check_protocol_options(wanted: Options) -> None:
    """Refuse options of a protocol that was not asked for, and values that they cannot have.

    Raises
    ------
    InputError
    """
    from heldout.dropping import strategy_of
    from heldout.errors import InputError

    for methods, defaults in ((NESTED, DEFAULTS), (BOOTSTRAP, BOOTSTRAP_DEFAULTS)):
        for option, default in defaults.items():
            if wanted.method not in methods and getattr(wanted, option) != default:
                raise InputError(
                    f"--{option} is for --method {methods[0]}, and here the method is {wanted.method}; leave it "
                    f"out, or use --method {methods[0]}."
                )
    if is_protocol(wanted) and strategy_of(wanted.drop) is not None:
        raise InputError(f"--drop {wanted.drop} plans its own splits; use --drop bootstrap, or leave it out.")
    if wanted.method in NESTED:
        _settings(wanted)
    elif wanted.method in BOOTSTRAP:
        _check_bootstrap(wanted)


def _check_bootstrap(wanted: Options) -> None:
    from heldout.errors import InputError
    from heldout.protocols.search_bootstrap.protocol import SCHEMES

    if wanted.scheme not in SCHEMES:
        raise InputError(f"--scheme must be one of {', '.join(SCHEMES)}, got {wanted.scheme!r}.")
    untouched = wanted.cv == "5" and wanted.repeats == 1 and wanted.drop in ("never", "none")
    if wanted.scheme == "models" and not untouched:
        raise InputError(
            "--scheme models fits every configuration on each whole sample, without folds; leave out --cv, "
            "--repeats and --drop, or use --scheme cvt."
        )


def _settings(wanted: Options) -> NestedSettings:
    from heldout.errors import InputError
    from heldout.protocols.nested.intervals import INTERVALS, NADEAU_BENGIO
    from heldout.protocols.nested.plan import HOLD_OUT, REMAINING, NestedSettings

    words = (REMAINING, HOLD_OUT)
    if wanted.inner not in words and not (wanted.inner.isdecimal() and int(wanted.inner) >= 2):
        raise InputError(
            f"--inner must be {' or '.join(words)}, or a number of folds of at least 2, got {wanted.inner!r}."
        )
    if wanted.across not in ("folds", "all"):
        raise InputError(f"--across must be folds or all, got {wanted.across!r}.")
    interval = wanted.interval or NADEAU_BENGIO
    if interval not in (*INTERVALS, "none"):
        raise InputError(f"--interval must be one of {', '.join(INTERVALS)}, none, got {wanted.interval!r}.")
    return NestedSettings(
        wanted.inner if wanted.inner in words else int(wanted.inner),
        cast("Across", wanted.across),
        None if interval == "none" else interval,
        wanted.confidence_level,
        cast("Alternative", wanted.alternative),
    )


def _folds(wanted: Options, plan: Plan) -> NestedFolds:
    from heldout.protocols.nested.intervals import BATES
    from heldout.protocols.nested.plan import nested_folds

    settings = _settings(wanted)
    pairs = settings.interval == BATES
    return nested_folds(plan.task, plan.folds, settings.inner, pairs=pairs, entropy=wanted.seed)


def times_predicted(wanted: Options, plan: Plan, console: Console) -> int:
    """How often each row is predicted, of what a single search does; says how many fits there will be."""
    if not is_protocol(wanted):
        return 1
    from heldout._text import counted

    if wanted.method in BOOTSTRAP:
        return _bootstraps_said(wanted, plan, console)
    nested = _folds(wanted, plan)
    fits = nested.n_fits(len(plan.configurations))
    console.say(
        f"Nested cross-validation: the search is repeated for each of {counted(len(nested.outer), 'outer fold')}"
        + (f" and for each of {counted(len(nested.pairs), 'pair')} of them" if nested.pairs else "")
        + f", {counted(fits, 'fit')} in all."
    )
    return 1 + len(nested.branches)


def run_protocol(wanted: Options, search: Search, running: RunSettings) -> Evaluation:
    """The search on all rows, with the protocol's estimate for its own, and all fits counted."""
    from heldout.protocols.nested.protocol import nested_of_search

    estimate: NestedEstimate | SearchBootstrapEstimate
    if wanted.method in BOOTSTRAP:
        estimate = _bootstrapped(wanted, search, running)
    else:
        estimate = nested_of_search(search, _settings(wanted), running)
    evaluation = estimate.evaluation
    assert evaluation is not None, "the protocol made it"
    return replace(
        evaluation,
        estimates={evaluation.refit_metric: replace(estimate, evaluation=None, model=None)},
        n_fits=estimate.n_fits,
        n_fits_saved=estimate.n_fits_saved,
    )


def _bootstraps_said(wanted: Options, plan: Plan, console: Console) -> int:
    """How often each row is predicted, of what a single search does."""
    from heldout._text import counted

    n_configurations, n_splits, times = len(plan.configurations), plan.folds.n_splits, wanted.n_bootstraps
    if wanted.scheme == "models":
        fits = times * n_configurations + 1
        console.say(
            f"Bootstrap: every configuration on each of {counted(times, 'sample')}, {counted(fits, 'fit')}."
        )
        return times
    fits = (times + 1) * (n_configurations * n_splits + 1)
    console.say(
        f"Bootstrap of the search: it is repeated on each of {counted(times, 'sample')}, {counted(fits, 'fit')} "
        "in all."
    )
    return 1 + times


def _bootstrapped(wanted: Options, search: Search, running: RunSettings) -> SearchBootstrapEstimate:
    from heldout.estimates.question import Settings
    from heldout.folds.plans import plan_named
    from heldout.kernels.blocks import effective_threads
    from heldout.protocols.search_bootstrap.protocol import BootstrapPlan

    settings = Settings(
        wanted.n_bootstraps,
        wanted.confidence_level,
        cast("Alternative", wanted.alternative),
        search.entropy,
        effective_threads(wanted.n_jobs),
    )
    classifier = search.task.truth.kind.is_classification
    plan = BootstrapPlan(search, settings, plan_named(wanted.cv), wanted.repeats, classifier)
    return plan.run_models(running) if wanted.scheme == "models" else plan.run_cvt(running)


def protocol_rows(estimate: Estimate | None) -> list[Row]:
    """What the outer folds chose, for the table that ends a run."""
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
    more = [f"and {len(chosen) - 3} more"] if len(chosen) > 4 else []
    return [("outer folds", chosen[:3] + more if more else chosen)]


def _chosen_by_bootstraps(estimate: SearchBootstrapEstimate) -> list[Row]:
    names = [each.selected_name for each in estimate.bootstraps if each.selected is not None]
    counts = sorted(Counter(names).items(), key=lambda item: -item[1])
    if not counts:
        return []
    lines = [f"{times} of {len(estimate.bootstraps)}: {name}" for name, times in counts[:3]]
    return [("bootstraps", lines + ([f"and {len(counts) - 3} more"] if len(counts) > 3 else []))]
