"""The result of methods on real searches: a row a draw, size, metric and method, and their sums over a cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heldout._record import frame_of
from heldout.errors import InputError
from heldout.estimates.coverage import ALIKE, ONE, TABLES, VARIED
from heldout_papers.corrections.designs import DESIGNS
from heldout_papers.corrections.draw_scores import ROW
from heldout_papers.corrections.matrix import BedCell, moderate
from heldout_papers.corrections.scores import ORACLE
from heldout_papers.corrections.summary import rows_of_cell
from heldout_papers.engine.batches import Columns
from heldout_papers.engine.results import StudyResult, check_columns

CELL = ("half", "design", "size", "metric")
LEVEL = 0.95
KINDS = {"one": ONE, "ten": ALIKE, "all": VARIED}
MOST = 50.0
"""In place of the infinite end of an interval of a log loss, before widths are averaged."""


@dataclass(frozen=True, eq=False)
class TablesStudy(StudyResult):
    """Methods on real searches.

    Attributes
    ----------
    draws : mapping of str to ndarray
        Columns of ``draw_scores.ROW``, a row a draw, size, metric and method.
    checks : mapping of str to ndarray
        Columns of ``draw_scores.CHECK``: searches that were repeated with a single metric.
    reference : str
        The method that the others are compared with.
    n_bootstraps : int
    aggregate : str
    left_out : mapping of str to str
        Designs without any search, and why.
    entropy : int
        No draw depends on it: each has a seed of its own.
    """

    draws: Columns
    checks: Columns = field(default_factory=dict)
    reference: str = "bbc"
    n_bootstraps: int = 1000
    aggregate: str = "auto"
    left_out: Mapping[str, str] = field(default_factory=dict)
    entropy: int = 0
    name: ClassVar[str] = "corrections"
    page_function: ClassVar[str] = "corrections.page:corrections_page"
    part: ClassVar[str] = TABLES

    @classmethod
    def from_frame(cls, frame: Any, *, reference: str = "bbc") -> TablesStudy:
        """From its ``to_frame(each=True)``, or several of them together."""
        check_columns(frame, tuple(ROW), "methods on real searches")
        return cls({name: frame[name].to_numpy() for name in ROW}, reference=reference)

    @property
    def methods(self) -> tuple[str, ...]:
        return (*dict.fromkeys(map(str, self.draws["method"])), ORACLE)

    @property
    def n_checks(self) -> int:
        return len(self.checks["is_equal"]) if self.checks else 0

    def parameters(self) -> dict[str, Any]:
        return {
            "part": self.part,
            "designs": list(dict.fromkeys(map(str, self.draws["design"]))),
            "half": list(dict.fromkeys(map(str, self.draws["half"]))),
            "methods": list(self.methods),
            "reference": self.reference,
            "n_bootstraps": self.n_bootstraps,
            "aggregate": self.aggregate,
            "searched_again": self.n_checks,
            "left_out": dict(self.left_out),
        }

    @cached_property
    def _rows(self) -> list[dict[str, Any]]:
        frame = self.to_frame(each=True)
        return [
            row
            for place, part in frame.groupby(list(CELL), sort=False)
            for row in self._rows_of(dict(zip(CELL, map(str, place), strict=True)), part)
        ]

    def _rows_of(self, place: dict[str, str], part: Any) -> Iterator[dict[str, Any]]:
        labels, design = self.methods[:-1], DESIGNS[place["design"]]
        if len(part) % len(labels) or list(part["method"][: len(labels)]) != list(labels):
            raise InputError(f"cell {' '.join(place.values())} lacks a method that others have.")
        columns = {name: part[name].to_numpy().reshape(-1, len(labels)) for name in ROW if ROW[name] is not str}
        configurations = int(np.median(columns["configurations"]))
        cell = BedCell(self.part, KINDS[place["size"]], place["metric"], design.rows, configurations)
        found = _with_oracle(place["metric"], _in_cell(place["metric"], columns), labels.index(self.reference))
        for row in rows_of_cell(cell, (*labels, ORACLE), found, reference=self.reference, levels=(LEVEL,)):
            yield row | place | {"rarer": int(np.median(columns["rarer"]))}

    def rows(self) -> list[dict[str, Any]]:
        """A row a cell and method."""
        return self._rows

    def repetition_rows(self) -> Iterator[dict[str, Any]]:
        """A row a draw, size, metric and method."""
        yield from self.to_frame(each=True).to_dict("records")

    def to_frame(self, *, each: bool = False) -> Any:
        """The rows as a pandas DataFrame; with ``each`` every draw, size, metric and method in a row of its own."""
        return frame_of(dict(self.draws), "TablesStudy.to_frame") if each else super().to_frame()

    def small_frames(self) -> dict[str, Any]:
        """The cells, from which every claim follows, and the searches that were repeated."""
        checks = {"checks": frame_of(dict(self.checks), "TablesStudy.to_frame")} if self.n_checks else {}
        return {"cells": self.to_frame(), **checks}


def _in_cell(metric: str, columns: Columns) -> dict[str, NDArray[Any]]:
    """The columns of a cell as ``rows_of_cell`` takes them."""
    found = {name: columns[name] for name in ("value", "truth", "uncorrected", "scale", "seconds")}
    found |= {"low_95": columns["low"], "high_95": columns["high"]}
    if metric == "log_loss":
        # A draw whose winner errs evenly would weigh more than any other, were it divided by its own deviation.
        mean = np.nanmean(found["scale"], axis=0) if np.isfinite(found["scale"]).any() else np.nan
        found["scale"] = np.broadcast_to(mean, found["scale"].shape)
        found["high_95"] = np.minimum(found["high_95"], MOST)
    return found


def _with_oracle(metric: str, columns: Mapping[str, NDArray[Any]], reference: int) -> dict[str, NDArray[Any]]:
    """One method more, which knows how far uncorrected scores of the cell are from the truth.

    Its value is the score less the mean of these gaps, its interval the score less 95 % of them.
    """
    of = {name: values[:, reference] for name, values in columns.items()}
    observed, truth = (moderate(metric, of[name], of["scale"]) for name in ("uncorrected", "truth"))
    gaps = (observed - truth)[np.isfinite(observed - truth)]
    mean, most, least = (gaps.mean(), *np.quantile(gaps, (0.975, 0.025))) if len(gaps) else (np.nan,) * 3
    ends = {"value": mean, "low_95": most, "high_95": least}
    of |= {name: of["scale"] * (observed - gap) for name, gap in ends.items()}
    of["seconds"] = np.full(len(observed), np.nan)
    return {name: np.column_stack([values, of[name]]) for name, values in columns.items()}
