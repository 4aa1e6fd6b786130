"""The matrices of kept searches, as the study takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heldout._random import stream
from heldout.errors import InputError
from heldout_papers.corrections.kept import KINDS, SearchFile, searches_in
from heldout_papers.corrections.matrix import BedCell, KnownMatrix
from heldout_papers.corrections.of_tables import CANDIDATES, Candidates, cells_of, matrix_of
from heldout_papers.corrections.table_search import METRICS, Kind
from heldout_papers.engine.arguments import checked_names, checked_sizes


@dataclass(frozen=True)
class KeptSource:
    """Searches of one kind and size.

    Attributes
    ----------
    file : SearchFile
    kind : "classification" or "regression"
    rows : int
    metrics : tuple of str
    candidates : tuple of str
        Of "one", "alike" and "varied".
    """

    file: SearchFile
    kind: Kind
    rows: int
    metrics: tuple[str, ...]
    candidates: tuple[Candidates, ...]

    @property
    def cells(self) -> tuple[BedCell, ...]:
        return tuple(
            cell
            for cell in cells_of(self.kind, self.rows)
            if cell.metric in self.metrics and cell.kind in self.candidates
        )

    def matrices(self, entropy: int, repetition: int) -> tuple[KnownMatrix | None, ...]:
        """One a cell; None where the search of that number is not in the file, or has too few candidates."""
        found = searches_in(self.file, self.kind, self.rows).get(repetition)
        if found is None:
            return (None,) * len(self.cells)
        seed = stream(entropy, "study corrections tables draws", self.kind, self.rows, repetition)
        return tuple(
            matrix_of(found.search, self.kind, cell.metric, choice, repetition, seed)
            for cell in self.cells
            for choice in self.candidates
            if choice == cell.kind
        )


def kept_sources(file: SearchFile, rows: Any, candidates: Any, metrics: Any) -> tuple[KeptSource, ...]:
    """A source for each kind and size of a file, checked."""
    able = [metric for kind in KINDS for metric in METRICS[kind]]
    named = checked_names("metrics", able if metrics is None else metrics, able, ' of part "tables"')
    chosen = checked_names("candidates", CANDIDATES if candidates is None else candidates, CANDIDATES)
    sizes = sorted({group.rows for group in file.groups})
    wanted = checked_sizes("rows", tuple(sizes) if rows is None else rows, 2)
    lacking = next((n for n in wanted if n not in sizes), None)
    if lacking is not None:
        raise InputError(
            f"rows must be some of {', '.join(map(str, sizes))}, which the searches have, got {lacking}.",
            argument="rows",
        )
    sources = tuple(
        KeptSource(
            file,
            group.kind,
            group.rows,
            tuple(metric for metric in METRICS[group.kind] if metric in named),
            tuple(one for one in CANDIDATES if one in chosen),
        )
        for group in file.groups
        if group.rows in wanted and set(METRICS[group.kind]) & set(named)
    )
    if not sources:
        raise InputError(f"the searches have none of the metrics {', '.join(named)}.", argument="metrics")
    return sources
