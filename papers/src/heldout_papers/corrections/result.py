"""The result of a test bed: what every method gave in every repetition, and what that says of each cell."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from heldout._record import frame_of
from heldout_papers.corrections.matrix import BedCell
from heldout_papers.corrections.summary import rows_of_cell
from heldout_papers.engine.batches import Columns
from heldout_papers.engine.results import StudyResult

PLACE = ("part", "kind", "metric", "rows", "configurations")
NARROW = {"rows": "int32", "configurations": "int32", "repetition": "int32"}


@dataclass(frozen=True, eq=False)
class CorrectionsStudy(StudyResult):
    """The result of a test bed.

    Attributes
    ----------
    cells : tuple of BedCell
    methods : tuple of str
        Labels.
    columns : tuple of mapping
        One a cell: arrays of shape (repetitions, methods), as ``score_methods`` gives them.
    levels : tuple of float
    reference : str
        The method that the others are compared with.
    n_bootstraps : int
    aggregate : str or None
    entropy : int
    """

    cells: tuple[BedCell, ...]
    methods: tuple[str, ...]
    columns: tuple[Columns, ...]
    levels: tuple[float, ...]
    reference: str
    n_bootstraps: int
    aggregate: str | None
    entropy: int
    left_out: ClassVar[dict[str, str]] = {}
    name: ClassVar[str] = "corrections"
    page_function: ClassVar[str] = "corrections.page:corrections_page"

    @property
    def part(self) -> str:
        return self.cells[0].part

    def parameters(self) -> dict[str, Any]:
        return {
            "part": self.part,
            "methods": list(self.methods),
            "reference": self.reference,
            "repetitions": max(len(found["value"]) for found in self.columns),
            "n_bootstraps": self.n_bootstraps,
            "aggregate": self.aggregate,
            "levels": list(self.levels),
        }

    @cached_property
    def _rows(self) -> list[dict[str, Any]]:
        return [
            row
            for cell, found in zip(self.cells, self.columns, strict=True)
            for row in rows_of_cell(cell, self.methods, found, reference=self.reference, levels=self.levels)
        ]

    def rows(self) -> list[dict[str, Any]]:
        """A row a cell and method; its columns are described in papers/pages/study-corrections.md."""
        return self._rows

    def repetition_rows(self) -> Iterator[dict[str, Any]]:
        """A row a cell, repetition and method."""
        for cell, found in zip(self.cells, self.columns, strict=True):
            place = asdict(cell)
            for repetition in range(len(found["value"])):
                for n, method in enumerate(self.methods):
                    values = {name: column[repetition, n].item() for name, column in found.items()}
                    yield {**place, "repetition": repetition, "method": method, **values}

    def to_frame(self, *, each: bool = False) -> Any:
        """The rows as a pandas DataFrame; with ``each`` every repetition and method in a row of its own."""
        if not each:
            return super().to_frame()
        names = list(self.columns[0])
        counts = [len(found["value"]) for found in self.columns]
        lengths = [count * len(self.methods) for count in counts]
        long: dict[str, Any] = {
            one: np.repeat([getattr(cell, one) for cell in self.cells], lengths) for one in PLACE
        }
        long["repetition"] = np.concatenate([np.repeat(np.arange(count), len(self.methods)) for count in counts])
        long["method"] = np.tile(self.methods, sum(counts))
        long |= {name: np.concatenate([found[name].ravel() for found in self.columns]) for name in names}
        frame = frame_of(long, f"{type(self).__name__}.to_frame")
        return frame.astype(dict(self.repetition_types(frame)))

    def repetition_types(self, frame: Any) -> dict[str, str]:
        texts = dict.fromkeys(("part", "kind", "metric", "method", "failure"), "category")
        return {name: texts.get(name) or NARROW.get(name, "float32") for name in frame.columns}

    def small_frames(self) -> dict[str, Any]:
        """The rows, from which every claim follows."""
        return {"cells": self.to_frame()}
