"""Evaluations of language models: a score for each system, item and run. Systems are the configurations.

A tool yields ``ScoredAnswer``s, one for each score of an answer; the rest is the same for all tools. The items of
several tasks count so that their score is the mean over tasks. Nothing was trained on other items, so there are no
folds.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from heldout._text import counted
from heldout.data.task import shortened
from heldout.errors import InputError
from heldout.estimates.methods.shrinkage import Shrinkage
from heldout.metrics.row_losses import MeanScore
from heldout.predictions import SearchQuestion
from heldout.readers.columns import check_numbers, first_no_number, quoted
from heldout.readers.formats.base import ColumnUses, Export
from heldout.readers.formats.tool import Tool
from heldout.readers.long_table import LineRoles, natural_order
from heldout.readers.tables import Table

LOSSES = re.compile(
    r"(?:^|[^a-z])(?:perplexity|bits_per_byte|brier|loss|ter|wer|cer|error|errors|mse|rmse|mae|nll|toxicity)(?:$|[^a-z])"
)
"""Words in the names of scores of which less is better."""
PART, BEST = "(part)", "(best)"
"""Columns that tables of scores get; a system may be called part or best."""


class ScoredAnswer(NamedTuple):
    """A score of one system's answer to one item in one run."""

    system: str
    task: str
    item: Any
    run: Any
    metric: str
    score: float
    data: Mapping[str, Any]
    """What the tool keeps of the item, such as the document that it is about."""
    content: str = ""
    """What is the same wherever the item is the same, such as a hash of it; empty where the tool has none."""


class Evaluations(Tool):
    """The files of a tool, in a folder or any of its folders, or one of them."""

    free = ("predictions",)
    files: ClassVar[tuple[str, ...]] = ()
    """Patterns of the names of its files."""
    prefers: ClassVar[tuple[str, ...]] = ()
    """Of the scores of a task, the first of these is read, or else the first that there is."""

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        return any(self.wrote(path) for path in self.paths(export))

    def paths(self, export: Export) -> list[Path]:
        """The files that may be of the tool."""
        if export.path is None:
            return []
        if not export.path.is_dir():
            return [export.path] if any(export.path.match(pattern) for pattern in self.files) else []
        found = {path for pattern in self.files for path in export.path.rglob(pattern)}
        hidden = {path for path in found if any(part.startswith(".") for part in path.parts[-3:])}
        return sorted(found - hidden)

    def wrote(self, path: Path) -> bool:
        """Whether a file of such a name is the tool's."""
        return True

    @abstractmethod
    def answers(self, export: Export) -> Iterator[ScoredAnswer]:
        """All scores of all answers."""

    def tables(self, export: Export, uses: ColumnUses) -> tuple[dict[str, Table], ColumnUses]:
        import pandas as pd

        frame = pd.DataFrame.from_records(list(self.answers(export)), columns=ScoredAnswer._fields)
        if frame.empty:
            raise InputError(f"{export.name} holds no scores of {self.title} ({self.signs}).")
        frame, unscored = _scored(frame)
        systems = frame["system"].unique()
        frame, remarks = self._of_one_score(frame, uses)
        _check_tasks(frame, systems)
        frame, more = _of_equal_runs(frame)
        more = [*unscored, *more]
        if isinstance(uses.group, str):
            frame[uses.group] = _in_data(frame, uses.group)
        if frame["task"].nunique() > 1:
            frame["weight"] = 1 / frame.groupby("task")["item"].transform("nunique")
            frame["item"] = frame["task"] + "/" + frame["item"].astype(str)
            if uses.tasks == "whole":
                uses = replace(uses, group="task")
            elif uses.group is not None:  # drawn within tasks, so a group is of one
                frame[uses.group] = frame["task"] + "/" + frame[uses.group].astype(str)
            about = "tasks of their kind" if uses.tasks == "whole" else "these tasks"
            more.append(
                f"The score is the mean over {frame['task'].nunique()} tasks, and is about {about} (`tasks=`)."
            )
        best = frame.assign(**{PART: "all", BEST: MeanScore().range[1]})
        table = Table(export.name, best.drop(columns=["metric", "data"]), (*remarks, *more))
        return {"": table}, replace(uses, predictions=())

    def columns(self, names: list[str]) -> dict[str, str | None]:
        return {"row": "item", "repeat": "run"}

    def roles(self, export: Export, table: Table, uses: ColumnUses) -> LineRoles:
        stratified = table.frame["task"].nunique() > 1 and uses.tasks != "whole"
        return LineRoles(
            target="task" if stratified else BEST,
            of_classes=stratified,
            configuration=("system",),
            fold=(PART,),
            values="score",
            weight="weight" if "weight" in table.frame else None,
            attributes=("content",),
            shown={},
            question=SearchQuestion(
                metric=MeanScore(), method=Shrinkage(stratify=True) if stratified else None, of_search=False
            ),
        )

    def _of_one_score(self, frame: Any, uses: ColumnUses) -> tuple[Any, list[str]]:
        """The lines of one score for each task, and what was chosen where there are several."""
        import pandas as pd

        chosen, remarks = [], []
        for task, lines in frame.groupby("task", sort=False):
            known = list(dict.fromkeys(lines["metric"]))
            named = [name for name in uses.predictions if name in known]
            usual = [name for name in self.prefers if name in known]
            own = named or usual or [name for name in known if not _is_loss(name)]
            if (uses.predictions and not named) or not own or _is_loss(own[0]):
                raise InputError(
                    f"task {task} has the scores {quoted(known, 8)}; name one of which more is better with "
                    "`prediction=`.",
                    argument="prediction",
                )
            chosen.append(lines[lines["metric"] == own[0]])
            if not named and len(known) > 1:
                others = quoted([name for name in known if name != own[0]], 5)
                remarks.append(f"Task {task}: {own[0]!r} is the score (there is {others} too; `prediction=`).")
        return pd.concat(chosen, ignore_index=True), remarks


class Scores(Tool):
    """Scores without true values: a column for each system, or a line for each item and system."""

    name = "scores"
    title = "a table of scores without true values"
    signs = "its name"
    free = ("predictions", "repeat", "configuration")

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        return False

    def tables(self, export: Export, uses: ColumnUses) -> tuple[dict[str, Table], ColumnUses]:
        table = export.table_with()
        names = self._named(table, uses)
        if uses.configuration and len(names) != 1:
            raise InputError(
                f"{table.name} has a line for each item and system; name its one column of scores with "
                f"`prediction=` (there is {quoted(names) or 'none'}).",
                argument="prediction",
            )
        graded = {name: _graded(table.frame[name], is_named=bool(uses.predictions)) for name in names}
        frame = table.frame.assign(**graded, **{PART: "all", BEST: MeanScore().range[1]})
        return {"": replace(table, frame=frame)}, replace(uses, predictions=tuple(names))

    def columns(self, names: list[str]) -> dict[str, str | None]:
        return {"target": BEST}

    def roles(self, export: Export, table: Table, uses: ColumnUses) -> LineRoles:
        is_long = bool(uses.configuration)
        return LineRoles(
            fold=(PART,),
            values=uses.predictions[0] if is_long else None,
            heads={} if is_long else {name: {"": name} for name in uses.predictions},
            shown={},
            question=SearchQuestion(metric=MeanScore(), of_search=False),
        )

    def _named(self, table: Table, uses: ColumnUses) -> list[str]:
        """The columns of scores: those that the user names, or all that have no other use."""
        if uses.predictions:
            return list(uses.predictions)
        left = uses.others(table)
        if not uses.configuration:
            return left
        return [name for name in left if table.frame[name].dtype.kind in "biuf"]


_WORDS = {
    **dict.fromkeys(("true", "right", "correct", "yes", "pass", "passed"), 1.0),
    **dict.fromkeys(("false", "wrong", "incorrect", "no", "fail", "failed"), 0.0),
}
"""What says of an answer whether it is right."""


def _graded(column: Any, *, is_named: bool) -> Any:
    """Scores as numbers, where the column has numbers or says right and wrong in words."""
    if column.dtype.kind in "iuf":
        return column
    graded = column.astype(str).str.strip().str.lower().map(_WORDS)
    if (graded.notna() | column.isna()).all():
        return graded
    first = first_no_number(column.where(graded.isna()))
    if first is not None and not is_named:
        raise InputError(
            f"column {column.name!r} holds {shortened(column.iloc[first])} in row {first + 1}, which is no score "
            f"(a number, or right and wrong); name the item of a line with `row={column.name!r}`, leave a column "
            f"out with `exclude={column.name!r}`, or name the columns of scores with `prediction=`.",
            argument="exclude",
        )
    check_numbers(column, "the scores")
    return column


def _scored(frame: Any) -> tuple[Any, list[str]]:
    """The lines with a score, and how many answers have none; a task without any is refused."""
    absent = frame["score"].isna()
    whole = frame.groupby(["task", "metric"])["score"].transform("count") == 0
    tasks = set(frame["task"])
    if empty := sorted(tasks - set(frame.loc[~absent, "task"])):
        raise InputError(f"task {empty[0]} has no score that is a number; leave it out, or score its answers.")
    counts = frame[absent & ~whole].groupby(["task", "metric"], sort=False).size()
    remarks = [
        f"Task {task}: {counted(int(number), 'answer')} without {metric!r}; items that lack it everywhere are out."
        for (task, metric), number in counts.items()
    ]
    return frame[~absent].reset_index(drop=True), remarks


def _is_loss(name: str) -> bool:
    return bool(LOSSES.search(name.lower()))


def _of_equal_runs(frame: Any) -> tuple[Any, list[str]]:
    """The lines with runs numbered from 1, as many of each system and task as the least has."""
    labels = list(dict.fromkeys(frame["run"]))
    place = {labels[number]: rank for rank, number in enumerate(natural_order(labels))}
    order = frame["run"].map(place)
    cells = [frame["system"], frame["task"]]
    frame = frame.assign(run=order.groupby(cells).rank(method="dense").astype(int))
    of_cell = frame.groupby(["system", "task"], sort=False)["run"].max()
    fewest = int(of_cell.min())
    if of_cell.max() == fewest:
        return frame, []
    system, task = of_cell.idxmax()
    remark = (
        f"{system} has {counted(int(of_cell.max()), 'run')} of {task} and others have {fewest}; the first "
        f"{counted(fewest, 'run')} of each are read."
    )
    return frame[frame["run"] <= fewest].reset_index(drop=True), [remark]


def _check_tasks(frame: Any, systems: Iterable[str]) -> None:
    """Refuse systems that lack the score of a task, which others have."""
    cells = {*zip(frame["system"], frame["task"], strict=True)}
    for task, metric in dict(zip(frame["task"], frame["metric"], strict=True)).items():
        for system in systems:
            if (system, task) not in cells:
                raise InputError(
                    f"system {system} has no {metric!r} of task {task}, which others have; give the scores of "
                    "every system for every task, leave the task out, or name a score that all have with "
                    "`prediction=`.",
                    argument="prediction",
                )


def _in_data(frame: Any, name: str) -> Any:
    """What the tool keeps of each item under a name."""
    if name in frame:
        return frame[name]
    values = [data.get(name) for data in frame["data"]]
    if any(value is None or isinstance(value, dict | list) for value in values):
        known = dict.fromkeys(key for data in frame["data"].head(100) for key in data)
        raise InputError(
            f"group must be something that is kept of every item, got {name!r}; there is {quoted([*known], 8)}.",
            argument="group",
        )
    return values


def system_of(path: Path, root: Path) -> str:
    """The folder of a file below the root, which is named after the system; the root's own name for files in it."""
    below = path.parent.relative_to(root).as_posix() if root.is_dir() else "."
    return path.resolve().parent.name if below == "." else below
