"""Tables of both studies of intervals, in parts of methods side by side: why there is no bound, and percentiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from heldout_papers.intervals import words as words
from heldout_papers.intervals.inclusion import Inclusion
from heldout_papers.intervals.published import Cell
from heldout_papers.page import StudyTable

SIDE_BY_SIDE = 5
"""Methods that a page has room for."""
Row = tuple[str, Mapping[str, Inclusion]]
"""What a row is called, and what was found there of each method."""


def by_side(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Methods in parts."""
    return [tuple(names[k : k + SIDE_BY_SIDE]) for k in range(0, len(names), SIDE_BY_SIDE)]


def head(names: Sequence[str]) -> tuple[str, ...]:
    """The head of a part."""
    return ("", *(words.METHOD_TITLES[name] for name in names))


def published_cell(cell: Cell | None) -> str:
    """Inclusion and tightness as an article prints them."""
    return "-" if cell is None else f"{cell.inclusion:.2f} ({cell.tightness:.2f})"


def failures(methods: Sequence[str], rows: Sequence[Row], title: str, decimals: int) -> tuple[StudyTable, ...]:
    """Shares without a bound, by row and by reason; methods that have none are left out."""
    failing = [name for name in methods if any(found[name].failed for _, found in rows)]
    tables = []
    for names in by_side(failing):
        body = [
            (f"{label}: {why}", *(_share(found[name].failures.get(why, 0.0), decimals) for name in names))
            for label, found in rows
            for why in dict.fromkeys(why for name in names for why in found[name].failures)
        ]
        tables.append(StudyTable(title, head(names), tuple(body)))
    return tuple(tables)


def uniformity(methods: Sequence[str], rows: Sequence[Row]) -> tuple[StudyTable, ...]:
    """p values of the Kolmogorov-Smirnov test for methods that have percentiles."""
    able = [name for name in methods if any(np.isfinite(found[name].uniformity) for _, found in rows)]
    return tuple(
        StudyTable(
            words.UNIFORMITY_TITLE,
            head(names),
            tuple((label, *(_p_text(found[name].uniformity) for name in names)) for label, found in rows),
        )
        for names in by_side(able)
    )


def sources(methods: Sequence[str]) -> tuple[str, ...]:
    """The works that the methods are of."""
    asked = set(methods)
    cited = [
        ("paraschakis2024", True),
        ("tsamardinos2018", "bbc" in asked),
        ("rink2022", bool(asked & {"tilting", "tilting_10p", "mabt"})),
        ("delong1988", bool(asked & {"delong", "delong_10p"})),
        ("hanley1982", bool(asked & {"hanley_mcneil", "hanley_mcneil_10p"})),
    ]
    return tuple(key for key, wanted in cited if wanted)


def _share(share: float, decimals: int) -> str:
    return f"{share:.{decimals}%}" if share else ""


def _p_text(p: float) -> str:
    return "-" if not np.isfinite(p) else "<0.001" if p < 0.001 else f"{p:.3f}"
