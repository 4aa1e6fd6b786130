"""From a file and the options that name its columns to a task, saying what was read and decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from heldout.cli.console import Console

if TYPE_CHECKING:
    from heldout.adapters.table_task import TableTask


class Read(NamedTuple):
    """A task, and the name of the table that it is of."""

    found: TableTask
    source: str


def read_task(
    data: str,
    target: str,
    console: Console,
    *,
    event: str | None = None,
    kind: str | None = None,
    groups: str | None = None,
    positive: str | None = None,
    keep: Sequence[str] = (),
) -> Read:
    """Read the table and find the task in it; the parameters are those of ``task_from_table``.

    Raises
    ------
    InputError
    """
    from heldout.adapters.predictors import categories_said, remarks_on_text
    from heldout.adapters.table_task import task_from_table
    from heldout.adapters.tables import quoted, read_table
    from heldout.wording import counted

    table = read_table(data)
    found = task_from_table(
        table, target, event=event, kind=kind, groups=groups, positive=positive, keep=keep
    )  # fmt: skip
    task = found.task
    console.say(
        f"{table.name}: {counted(task.n_rows, 'row')}, {counted(task.X.shape[1], 'column')} to predict from."
        + categories_said(task.X)
    )
    for remark in (*table.remarks, *remarks_on_text(task.X)):
        console.note(remark)
    for reason in dict.fromkeys(found.set_aside.values()):
        names = [name for name, why in found.set_aside.items() if why == reason]
        console.note(f"Set aside {quoted(names)} ({reason}).")
    console.say(found.why)
    return Read(found, table.name)
