"""``heldout tune --method nested``: the protocols among the methods, which search more than once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from heldout.cli.console import Console

if TYPE_CHECKING:
    from heldout.cli.tune_plan import Options, Plan
    from heldout.estimates.types import Alternative, Estimate
    from heldout.evaluate import Search
    from heldout.protocols.nested import Across, NestedSettings
    from heldout.protocols.nested_plan import NestedFolds
    from heldout.result import Evaluation
    from heldout.run.session import Running

NESTED = ("nested", "nested_cv")
PROTOCOLS = NESTED
"""What ``--method`` takes besides the methods that need no fits of their own."""
DEFAULTS = {"inner": "remaining", "across": "folds", "interval": "nadeau_bengio"}


def is_protocol(wanted: Options) -> bool:
    """Whether the search itself is repeated."""
    return wanted.method in PROTOCOLS


def check_protocol_options(wanted: Options) -> None:
    """Refuse options of a protocol that was not asked for, and values that they cannot have.

    Raises
    ------
    InputError
    """
    from heldout.errors import InputError

    if not is_protocol(wanted):
        for option, default in DEFAULTS.items():
            if getattr(wanted, option) != default:
                raise InputError(
                    f"--{option} is for --method nested, and here the method is {wanted.method}; leave it out, or "
                    "use --method nested."
                )
        return
    _settings(wanted)


def _settings(wanted: Options) -> NestedSettings:
    from heldout.errors import InputError
    from heldout.protocols.nested import NestedSettings
    from heldout.protocols.nested_intervals import INTERVALS
    from heldout.protocols.nested_plan import HOLD_OUT, REMAINING

    words = (REMAINING, HOLD_OUT)
    if wanted.inner not in words and not wanted.inner.isdecimal():
        raise InputError(f"--inner must be {' or '.join(words)}, or a number of folds, got {wanted.inner!r}.")
    if wanted.across not in ("folds", "all"):
        raise InputError(f"--across must be folds or all, got {wanted.across!r}.")
    if wanted.interval not in (*INTERVALS, "none"):
        raise InputError(f"--interval must be one of {', '.join(INTERVALS)}, none, got {wanted.interval!r}.")
    return NestedSettings(
        wanted.inner if wanted.inner in words else int(wanted.inner),
        cast("Across", wanted.across),
        None if wanted.interval == "none" else wanted.interval,
        wanted.confidence_level,
        cast("Alternative", wanted.alternative),
    )


def _folds(wanted: Options, plan: Plan) -> NestedFolds:
    from heldout.protocols.nested_intervals import BATES
    from heldout.protocols.nested_plan import nested_folds

    settings = _settings(wanted)
    pairs = settings.interval == BATES
    return nested_folds(plan.task, plan.folds, settings.inner, pairs=pairs, entropy=wanted.seed)


def times_predicted(wanted: Options, plan: Plan, console: Console) -> int:
    """How often each row is predicted, of what a single search does; says how many fits there will be."""
    if not is_protocol(wanted):
        return 1
    from heldout.adapters.tables import counted

    nested = _folds(wanted, plan)
    fits = nested.n_fits(len(plan.configurations))
    console.say(
        f"Nested cross-validation: the search is repeated for each of {counted(len(nested.outer), 'outer fold')}"
        + (f" and for each of {counted(len(nested.pairs), 'pair')} of them" if nested.pairs else "")
        + f", {counted(fits, 'fit')} in all."
    )
    return 1 + len(nested.branches)


def run_protocol(wanted: Options, search: Search, running: Running) -> Evaluation:
    """The search on all rows, with the protocol's estimate for its own, and all fits counted."""
    from heldout.protocols.nested import nested_of_search

    estimate = nested_of_search(search, _settings(wanted), running)
    evaluation = estimate.evaluation
    assert evaluation is not None, "the protocol made it"
    return replace(
        evaluation,
        estimates={evaluation.refit_metric: replace(estimate, evaluation=None, model=None)},
        n_fits=estimate.n_fits,
        n_fits_saved=estimate.n_fits_saved,
    )


def protocol_rows(estimate: Estimate | None) -> list[tuple[str, str]]:
    """What the outer folds chose, for the table that ends a run."""
    from heldout.protocols.nested_estimate import NestedEstimate

    if not isinstance(estimate, NestedEstimate) or not estimate.agreement.wins:
        return []
    chosen = [
        f"{times} of {len(estimate.outer_folds)}: {estimate.agreement.names[configuration]}"
        for configuration, times in estimate.agreement.wins.items()
    ]
    more = [f"and {len(chosen) - 3} more"] if len(chosen) > 4 else []
    return [("outer folds", "\n".join(chosen[:3] + more if more else chosen))]
