"""The result of a study: rows that sum it up, rows of every repetition, and both as tables."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from heldout._record import frame_of
from heldout.errors import InputError
from heldout_papers.engine.batches import Columns

if TYPE_CHECKING:
    from heldout_papers.engine.page import StudyPage


class Term(NamedTuple):
    """A protocol or method in pictures and tables, and what it is."""

    title: str
    meaning: str


class StudyResult(ABC):
    """The result of a study."""

    name: ClassVar[str]  # "bias"; the files of the study have this name
    page_function: ClassVar[str]  # Of ``heldout_papers``, as "bias.page:bias_page"
    entropy: int  # The seed that repeats the study

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """What all settings share, by the names of the arguments."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """The results, a row a setting and protocol or method."""

    @abstractmethod
    def repetition_rows(self) -> Iterable[dict[str, Any]]:
        """A row a repetition and protocol or method, before any summary."""

    def repetition_types(self, frame: Any) -> Mapping[str, str]:
        """Narrower pandas types for columns of the table of repetitions."""
        return {}

    def small_frames(self) -> Mapping[str, Any]:
        """By name, tables that are smaller than that of every repetition and still enough for every claim."""
        return {}

    def page(self, *, command: str = "") -> StudyPage:
        """What the report shows: ``.pictures`` (each with its ``svg``), ``.tables``, ``.claims`` and so on.

        ``command``: the command that repeats the study, which the page names. Pictures need the extra ``app``.
        """
        module, _, name = self.page_function.partition(":")
        made: StudyPage = getattr(import_module(f"heldout_papers.{module}"), name)(self, command=command)
        return made

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the report of ``heldout study`` as one HTML file, and return where it is."""
        from heldout_papers.engine.page import write_study

        return write_study(self.page(), path)

    def to_frame(self, *, each: bool = False) -> Any:
        """The rows as a pandas DataFrame (pandas comes with the extra ``app``).

        ``each``: every repetition in a row of its own instead of summaries.
        """
        name = f"{type(self).__name__}.to_frame"
        if not each:
            return frame_of(self.rows(), name)
        frame = frame_of(list(self.repetition_rows()), name)
        return frame.astype(dict(self.repetition_types(frame)))


def long_rows(
    places: Iterable[Mapping[str, Any]],
    columns: Iterable[Columns],
    entry: str,
    names: Sequence[str],
    what: Sequence[str],
) -> Iterator[dict[str, Any]]:
    """A row a place, name and repetition, of columns such as ``"bbc.low"``; ``entry``: the column of the names."""
    for place, found in zip(places, columns, strict=True):
        for name in names:
            for repetition in range(len(found[f"{name}.{what[0]}"])):
                values = {one: found[f"{name}.{one}"][repetition].item() for one in what}
                yield {**place, entry: name, "repetition": repetition, **values}


def check_columns(frame: Any, names: Sequence[str], what: str) -> None:
    """Refuse a table without one of the columns, or without rows."""
    missing = next((name for name in names if name not in frame), None)
    if missing is not None:
        raise InputError(f"the table of {what} needs a column {missing!r}, got {list(frame)}.")
    if not len(frame):
        raise InputError(f"the table of {what} needs rows, and has none.")
