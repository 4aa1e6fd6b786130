"""The estimate from a Parquet file of which only a few blocks are in memory at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from heldout.cli.console import Console
    from heldout.cli.estimate_input import EstimateOptions
    from heldout.estimates.responses import ResponseName
    from heldout.estimates.types import Alternative, Estimate

_OUT_OF_CORE_METHODS = ("shrinkage", "bbc")
_NOT_OUT_OF_CORE = (
    "event", "fold", "repeat", "row", "group", "weight", "candidates", "evaluation_share", "configuration",
    "fixed_configuration", "prediction", "stratify", "interval", "ties", "out", "block_length",
)  # fmt: skip
"""Options for tables in memory only."""


def estimate_out_of_core(options: EstimateOptions, console: Console) -> Estimate:
    """The estimate from a file of which only a few blocks are in memory at a time."""
    from heldout._text import counted
    from heldout.cli.estimate_methods import control_of, methods_with
    from heldout.estimates.out_of_core import estimate_from_blocks
    from heldout.estimates.out_of_core.estimating import check_summable
    from heldout.metrics import metric_named
    from heldout.readers.parquet_blocks import open_blocks
    from heldout.readers.table_task import code_of_text, with_usual_positive

    target, name = _target_and_metric(options)
    control = control_of(options.control)
    methods = methods_with({} if control is None else {"control": control}, options.method)
    metric = metric_named(name)
    check_summable(metric)
    source = open_blocks(options.file, target, metric, exclude=options.exclude)
    no_rows = source.no_rows()
    usual = with_usual_positive(no_rows).positive
    positive = usual if options.positive is None else code_of_text(no_rows, options.positive)
    source = source if positive == no_rows.positive else replace(source, positive=positive)
    if options.adaptive:
        source = replace(source, adaptive=True)
    of_them = counted(len(source.names), "configuration")
    console.say(f"{options.file}: {counted(source.n_rows, 'row')}, {of_them}, read in blocks.")
    return estimate_from_blocks(
        source,
        metric,
        method=next(iter(methods.values())),
        response=cast("ResponseName", options.response),
        threshold=options.threshold,
        n_bootstraps=1000 if options.n_bootstraps is None else options.n_bootstraps,
        confidence_level=0.95 if options.confidence_level is None else options.confidence_level,
        alternative=cast("Alternative", options.alternative or "two-sided"),
        random_state=0 if options.seed is None else options.seed,
        n_jobs=options.n_jobs,
    )


def _target_and_metric(options: EstimateOptions) -> tuple[str, str]:
    """Target and metric; refuses options for tables in memory."""
    from heldout.errors import InputError

    used = [option for option in _NOT_OUT_OF_CORE if getattr(options, option)]
    used += ["method"] * (options.method not in (None, *_OUT_OF_CORE_METHODS))
    used += ["selection"] * (options.selection not in (None, "best"))
    used += ["aggregate"] * (options.aggregate not in (None, "pooled"))
    used += ["format"] * (options.format not in ("auto", "wide"))
    if used:
        methods = " or ".join(_OUT_OF_CORE_METHODS)
        raise InputError(
            f"--{used[0].replace('_', '-')} has no meaning with --out-of-core, which is {methods} on all rows "
            "together, of the best configuration; leave one of the two out."
        )
    if options.target is None or options.metric is None:
        lacking = "target" if options.target is None else "metric"
        raise InputError(f"--out-of-core needs --{lacking}: nothing is guessed from a file that is not read whole.")
    return options.target, options.metric
