"""The result of intervals on real tables: of each method on each table, and over tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout_papers.engine.batches import Columns
from heldout_papers.engine.results import StudyResult, check_columns
from heldout_papers.intervals.inclusion import (
    Inclusion,
    average_ranks,
    inclusion_of,
    inclusion_rows,
    true_performance,
)
from heldout_papers.intervals.methods import SELECTORS

WHAT = ("low", "value", "truth", "percentile", "selected", "failure")


@dataclass(frozen=True)
class TablePlace:
    """A table, and how many of its rows each training set has."""

    table: str
    train_rows: int


@dataclass(frozen=True, eq=False)
class IntervalsOnTables(StudyResult):
    """The result of a study of intervals on real tables.

    Attributes
    ----------
    places : tuple of TablePlace
    methods : tuple of str
    columns : tuple of mapping
        One a place: ``low``, ``value`` (the method's point value), ``truth`` (the score on all other rows of what
        it chose), ``percentile`` (of the truth among what the method holds possible), ``selected`` (-1 where
        nothing was) and ``failure`` (why there is no bound), arrays of shape (repetitions, methods).
    confidence_level : float
    n_bootstraps : int
    space : str
    entropy : int
    left_out : mapping of str to str
        Tables that were not studied, and why.
    metric : str
    """

    places: tuple[TablePlace, ...]
    methods: tuple[str, ...]
    columns: tuple[Columns, ...]
    confidence_level: float
    n_bootstraps: int
    space: str
    entropy: int
    left_out: Mapping[str, str] = field(default_factory=dict)
    metric: str = "roc_auc"
    name: ClassVar[str] = "intervals-on-tables"
    page_function: ClassVar[str] = "intervals.tables_page:tables_page"

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        confidence_level: float = 0.95,
        n_bootstraps: int = 1000,
        space: str = "light",
        entropy: int = 0,
        metric: str = "roc_auc",
    ) -> IntervalsOnTables:
        """A study from its ``to_frame(each=True)``.

        Raises
        ------
        InputError
            When columns are missing, or tables differ in their methods or in how often they were studied.
        """
        needed = ("table", "train_rows", "repetition", "method", *WHAT)
        check_columns(frame, needed, "a study of intervals on tables")
        methods = tuple(str(name) for name in dict.fromkeys(frame["method"]))
        places, columns = [], []
        for (table, n_rows), part in frame.groupby(["table", "train_rows"], sort=False, observed=True):
            if len(part) % len(methods) or list(part["method"][: len(methods)]) != list(methods):
                raise InputError(f"table {table} lacks a method that others have, or has it less often.")
            places.append(TablePlace(str(table), int(n_rows)))
            columns.append({name: _values(part[name], name).reshape(-1, len(methods)) for name in WHAT})
        if len({len(found["low"]) for found in columns}) != 1:
            raise InputError("every table must have been studied equally often.")
        return cls(
            tuple(places), methods, tuple(columns), confidence_level, n_bootstraps, space, entropy, metric=metric
        )

    @property
    def repetitions(self) -> int:
        return len(self.columns[0]["low"])

    def parameters(self) -> dict[str, Any]:
        return {
            "repetitions": self.repetitions,
            "methods": list(self.methods),
            "n_bootstraps": self.n_bootstraps,
            "confidence_level": self.confidence_level,
            "space": self.space,
            "metric": self.metric,
            "left_out": dict(self.left_out),
        }

    def of_place(self, place: int) -> dict[str, Inclusion]:
        """Every method on a table."""
        found = self.columns[place]
        return {
            name: inclusion_of(
                found["low"][:, n],
                found["truth"][:, n],
                self.confidence_level,
                percentile=found["percentile"][:, n],
                failure=found["failure"][:, n],
            )
            for n, name in enumerate(self.methods)
        }

    @cached_property
    def inclusions(self) -> tuple[dict[str, Inclusion], ...]:
        """Every method on every table."""
        return tuple(self.of_place(place) for place in range(len(self.places)))

    @cached_property
    def average_ranks(self) -> tuple[dict[str, float], int]:
        """The mean rank of each method over tables in which all have a result, and how many tables these are."""
        return average_ranks(self.inclusions, self.confidence_level)

    @cached_property
    def true_performance(self) -> dict[str, float]:
        """The mean score, on rows that no search saw, of what each group of methods chose."""
        return true_performance(self.inclusions, SELECTORS)

    def rows(self) -> list[dict[str, Any]]:
        """A row a table and method."""
        return [
            line
            for place, row in zip(self.places, self.inclusions, strict=True)
            for line in inclusion_rows(asdict(place), row, self.confidence_level, ratio="ratio", share=".0%")
        ]

    def repetition_types(self, frame: Any) -> dict[str, str]:
        return {name: _KINDS.get(name, "float32") for name in frame.columns}

    def repetition_rows(self) -> Iterator[dict[str, Any]]:
        for place, columns in zip(self.places, self.columns, strict=True):
            for repetition in range(self.repetitions):
                for n, method in enumerate(self.methods):
                    yield {
                        "table": place.table,
                        "train_rows": place.train_rows,
                        "repetition": repetition,
                        "method": method,
                        **{what: columns[what][repetition, n].item() for what in WHAT},
                    }


_KINDS = {
    "table": "category",
    "method": "category",
    "failure": "category",
    "train_rows": "int32",
    "repetition": "int32",
    "selected": "int16",
}


def _values(column: Any, name: str) -> NDArray[Any]:
    kind = {"selected": np.int64, "failure": str}.get(name, np.float64)
    return np.asarray(column.to_numpy(), dtype=kind)
