"""From a table and the options that name its columns to a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from heldout._text import counted
from heldout.cli.console import Console
from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.estimates.types import Estimate
    from heldout.readers.table_task import TableTask
    from heldout.readers.tables import Table


def read_task(options: Any, console: Console) -> tuple[TableTask, str]:
    """The task of a table and the name of the table; prints what was read and decided.

    ``options``: of a command on a table. Where they name predictors, these are the only columns to predict from,
    however they look.
    """
    from heldout.data.equal_rows import linked, row_numbers
    from heldout.readers.cells import DATE_PARTS, cleaned
    from heldout.readers.columns import quoted
    from heldout.readers.predictors import categories_sentence, columns_in_doubt
    from heldout.readers.table_task import task_from_table
    from heldout.readers.tables import read_table

    table = read_table(options.data, not_missing=options.not_missing)
    options = _with_names_of(table, options)
    target, keep = options.target, options.keep
    parts = DATE_PARTS[-1:] if getattr(options, "takes_regression", False) else DATE_PARTS
    predictors, weight = getattr(options, "predictor", ()), getattr(options, "weight", None)
    of_event, of_groups = (options.event, "the event"), (options.groups, "the groups")
    named = [(target, "the target"), of_event, of_groups, (weight, "the weights")]
    uses = {name: use for name, use in named if name is not None}
    told = {*predictors, *uses} if predictors else None
    table = cleaned(table, options.missing, options.not_missing, told=told)
    if predictors:
        table = _of_columns(table, predictors, uses)
        keep = (*keep, *columns_in_doubt(table.frame[list(dict.fromkeys(predictors))]))
    found = task_from_table(
        table, target, event=options.event, event_value=options.event_value, kind=options.task,
        groups=options.groups, weight=weight, positive=options.positive, keep=keep, factor=options.factor,
        date=options.date, date_parts=parts,
        alike_labels=options.alike_labels, drop_missing_target=options.drop_missing_target,
    )  # fmt: skip
    if options.copies is not None:
        groups = linked(row_numbers(found.task.X), found.task.groups)
        found = replace(found, task=replace(found.task, groups=groups))
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


def _with_names_of(table: Table, options: Any) -> Any:
    """The options with names of columns as the table has them: without blanks around, as headers of text files."""

    def named(name: str) -> str:
        return name if name in table.frame.columns else name.strip()

    names: dict[str, Any] = {}
    for part in fields(options):
        value = getattr(options, part.name)
        if part.metadata.get("metavar") == "COL" and value is not None:
            names[part.name] = named(value) if isinstance(value, str) else tuple(map(named, value))
    return replace(options, **names)


def with_columns(estimate: Estimate, found: TableTask) -> Estimate:
    """The estimate with what was done to the columns of the table in its record."""
    return replace(estimate, provenance={**estimate.provenance, "columns": found.columns})


def _of_columns(table: Table, predictors: Sequence[str], uses: Mapping[str, str]) -> Table:
    """The table with only the predictors and the columns that have another use."""
    for name in predictors:
        table.column(name, "a predictor")
        if name in uses:
            raise InputError(f"--predictor {name}: the column is {uses[name]}; name another one.")
    names = {*predictors, *uses}
    return replace(table, frame=table.frame[[name for name in table.frame.columns if name in names]])
