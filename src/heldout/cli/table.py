"""From a table and the options that name its columns to a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from heldout.cli.console import Console

if TYPE_CHECKING:
    from heldout.estimates.types import Estimate
    from heldout.readers.table_task import TableTask
    from heldout.readers.tables import Table


def read_task(
    data: str,
    target: str,
    console: Console,
    *,
    event: str | None = None,
    event_value: str | None = None,
    kind: str | None = None,
    groups: str | None = None,
    weight: str | None = None,
    positive: str | None = None,
    keep: Sequence[str] = (),
    predictors: Sequence[str] = (),
    copies: str | None = None,
) -> tuple[TableTask, str]:
    """The task of a table and the name of the table; prints what was read and decided.

    ``data`` is a file or an example. Where there are ``predictors``, they are the only columns to predict from,
    however they look. With ``copies`` equal rows are one group. The rest is as for ``task_from_table``.
    """
    from heldout._text import counted
    from heldout.data.equal_rows import linked, row_numbers
    from heldout.readers.columns import quoted
    from heldout.readers.predictors import categories_sentence, columns_in_doubt
    from heldout.readers.table_task import task_from_table
    from heldout.readers.tables import read_table

    table = read_table(data)
    if predictors:
        uses = [(target, "the target"), (event, "the event"), (groups, "the groups"), (weight, "the weights")]
        table = _of_columns(table, predictors, {name: use for name, use in uses if name is not None})
        keep = [*keep, *columns_in_doubt(table.frame[list(dict.fromkeys(predictors))])]
    found = task_from_table(
        table,
        target,
        event=event,
        event_value=event_value,
        kind=kind,
        groups=groups,
        weight=weight,
        positive=positive,
        keep=keep,
    )
    if copies is not None:
        found = replace(
            found, task=replace(found.task, groups=linked(row_numbers(found.task.X), found.task.groups))
        )
    task = found.task
    console.say(
        f"{table.name}: {counted(task.n_rows, 'row')}, {counted(task.X.shape[1], 'column')} to predict from."
        + categories_sentence(task.X)
    )
    for remark in found.columns["remarks"]:
        console.note(remark)
    for reason in dict.fromkeys(found.excluded.values()):
        names = [name for name, why in found.excluded.items() if why == reason]
        console.note(f"Excluded {quoted(names)} ({reason}).")
    console.say(found.why)
    if weight is not None and task.sample_weight is None:
        console.note(f"All weights in {weight!r} are equal, so they change nothing.")
    return found, table.name


def with_columns(estimate: Estimate, found: TableTask) -> Estimate:
    """The estimate with what was done to the columns of the table in its record."""
    return replace(estimate, provenance={**estimate.provenance, "columns": found.columns})


def _of_columns(table: Table, predictors: Sequence[str], uses: Mapping[str, str]) -> Table:
    """The table with only the predictors and the columns that have another use."""
    from heldout.errors import InputError

    for name in predictors:
        table.column(name, "a predictor")
        if name in uses:
            raise InputError(f"--predictor {name}: the column is {uses[name]}; name another one.")
    names = {*predictors, *uses}
    return replace(table, frame=table.frame[[name for name in table.frame.columns if name in names]])
