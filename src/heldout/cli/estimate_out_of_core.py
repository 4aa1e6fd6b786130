"""``heldout estimate --out-of-core``: a Parquet file that is read in blocks, as it need not fit the memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from heldout.cli.console import Console
    from heldout.cli.estimate_options import Options
    from heldout.estimates.responses import ResponseName
    from heldout.estimates.types import Alternative, Estimate

_UNUSED = (
    "event",
    "fold",
    "repeat",
    "row",
    "group",
    "weight",
    "candidates",
    "evaluation_share",
    "configuration",
    "fixed_configuration",
    "prediction",
    "stratify",
    "interval",
    "out",
)
"""Options of a table in memory."""


def answer_out_of_core(wanted: Options, console: Console) -> Estimate:
    """The estimate of bbc from a file of which a few blocks at a time are in memory.

    Raises
    ------
    InputError
        When an option has no meaning there, or the file cannot be used.
    """
    from heldout._text import counted
    from heldout.cli.estimate_methods import control_of
    from heldout.estimates.out_of_core import estimate_from_blocks
    from heldout.estimates.out_of_core.estimating import check_summable
    from heldout.metrics import metric_named
    from heldout.readers.parquet_blocks import open_blocks
    from heldout.readers.table_task import code_of_text

    target, name = _check_options(wanted)
    control = control_of(wanted.control)
    metric = metric_named(name)
    check_summable(metric)
    source = open_blocks(wanted.file, target, metric, exclude=wanted.exclude)
    if wanted.positive is not None:
        source = replace(source, positive=code_of_text(source.no_rows(), wanted.positive))
    of_them = counted(len(source.names), "configuration")
    console.say(f"{wanted.file}: {counted(source.n_rows, 'row')}, {of_them}, read in blocks.")
    return estimate_from_blocks(
        source,
        metric,
        response=cast("ResponseName", wanted.response),
        threshold=wanted.threshold,
        n_bootstraps=1000 if wanted.n_bootstraps is None else wanted.n_bootstraps,
        confidence_level=0.95 if wanted.confidence_level is None else wanted.confidence_level,
        alternative=cast("Alternative", wanted.alternative),
        random_state=0 if wanted.seed is None else wanted.seed,
        n_jobs=wanted.n_jobs,
        control="auto" if control is None else control,
    )


def _check_options(wanted: Options) -> tuple[str, str]:
    """Target and metric; refuses what is for a table in memory."""
    from heldout.errors import InputError

    given = [option for option in _UNUSED if getattr(wanted, option)]
    given += ["method"] * (wanted.method != "bbc") + ["selection"] * (wanted.selection != "best")
    given += ["aggregate"] * (wanted.aggregate not in (None, "pooled"))
    if given:
        raise InputError(
            f"--{given[0].replace('_', '-')} has no meaning with --out-of-core, which is bbc on all rows together, "
            "of the best configuration; leave one of the two out."
        )
    if wanted.target is None or wanted.metric is None:
        raise InputError(
            f"--out-of-core needs --{'metric' if wanted.target is not None else 'target'}: nothing is guessed from "
            "a file that is not read whole."
        )
    return wanted.target, wanted.metric
