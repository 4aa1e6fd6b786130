"""What a reader can explore in a report: all configurations in a table and in figures that mark each other.

The page works without its script: then the table is as it was written, and links lead to its rows.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from heldout._text import printable
from heldout.report.displays import configurations as drawn
from heldout.report.displays.configurations import MOST_DOTS, FamilySlice, has_bar, slices_of
from heldout.report.entries import Facts
from heldout.scales import Scale

MOST_SLICES = 24
MOST_TOGETHER = 6


@dataclass(frozen=True)
class Exploration:
    """The parts of the page on all configurations."""

    colours: dict[str, tuple[str, bool]] = field(default_factory=dict)
    """Of each family: the colour of its dots, and whether they are filled."""
    best: tuple[Facts, ...] = ()
    """Of several families."""
    ranked: str = ""
    ordered: str = ""
    trained: str = ""
    """``ranked``, ``ordered``, ``trained``: figures of all configurations; empty where there is nothing to draw."""
    has_bars: bool = False
    """Whether the scores by rank have bars."""
    slices: tuple[tuple[FamilySlice, str], ...] = ()
    """Each with its figure."""
    slices_left_out: int = 0
    together: tuple[tuple[str, str, str], ...] = ()
    """Family, the figure of two parameters and that of several, which is empty without a third; the best first."""
    parameters: tuple[str, ...] = ()
    """That have several values."""
    data: str = ""
    """What the script reads, as JSON."""

    @property
    def script(self) -> str:
        """The script of the page; empty where it has nothing to do."""
        return page_script() if self.data else ""


def explore(ranking: Facts | None, scale: Scale) -> Exploration:
    """The exploration of a ranking; nothing of a single configuration."""
    if ranking is None or len(ranking.shown) < 2:
        return Exploration()
    scored = [row for row in ranking.shown if row.score is not None]
    best = ranking.families
    parts = slices_of(scored)
    return Exploration(
        colours=drawn.family_colours(scored),
        best=best if len(best) > 1 else (),
        ranked=drawn.ranked_svg(scored, scale, key="ranked") if len(scored) > 1 else "",
        ordered=drawn.ordered_svg(scored, scale, key="ordered") if len(scored) > 2 else "",
        trained=drawn.trained_svg(scored, scale, key="trained"),
        has_bars=0 < sum(map(has_bar, scored)) <= MOST_DOTS,
        slices=tuple(
            (part, drawn.slice_svg(part, scale, key=f"slice-{n}")) for n, part in enumerate(parts[:MOST_SLICES])
        ),
        slices_left_out=max(len(parts) - MOST_SLICES, 0),
        together=_together(parts, scale),
        parameters=_varied(ranking.shown),
        data=_data(ranking, scale),
    )


def _together(parts: Sequence[FamilySlice], scale: Scale) -> tuple[tuple[str, str, str], ...]:
    """Figures of the families with several parameters; the first of a family are those of the largest reach."""
    families: dict[str, list[FamilySlice]] = {}
    for part in parts:
        families.setdefault(part.family, []).append(part)
    several = [own for own in families.values() if len(own) > 1 and drawn.shared_by(own[:2]) > 2]
    figures = []
    for number, own in enumerate(several[:MOST_TOGETHER]):
        beside = own[: drawn.MOST_BESIDE]
        is_wide = len(beside) > 2 and drawn.shared_by(beside) > 2
        plane = drawn.plane_svg(own[0], own[1], scale, key=f"plane-{number}")
        wide = drawn.beside_svg(beside, scale, key=f"beside-{number}") if is_wide else ""
        figures.append((own[0].family, plane, wide))
    return tuple(figures)


def _varied(rows: Sequence[Facts]) -> tuple[str, ...]:
    values: dict[str, set[str]] = {}
    for row in rows:
        for name, value in row.parameters.items():
            values.setdefault(name, set()).add(repr(value))
    return tuple(name for name, seen in values.items() if len(seen) > 1)


def _data(ranking: Facts, scale: Scale) -> str:
    """The table's columns as JSON that may stand inside a page: no text can end the element that holds it."""
    rows, parameters = ranking.shown, _varied(ranking.shown)
    families = dict.fromkeys(row.family for row in rows)
    place = {family: number for number, family in enumerate(families)}  # as the page offers them
    columns = {
        name: [_rounded(row[name]) for row in rows] for name in ("mean", "spread", "train", "pooled", "selected")
    }
    document = {
        **columns,
        "index": [row.index for row in rows],
        "family": [place[row.family] for row in rows],
        "values": [
            [_plain(row.parameters.get(name)) if name in row.parameters else None for name in parameters]
            for row in rows
        ],
        "greater": scale.greater_is_better,
    }
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.7g}")


def _plain(value: Any) -> Any:
    """A number unchanged, everything else as the text that is shown."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else printable(str(value))


@cache
def page_script() -> str:
    """The script of the pages."""
    return (files("heldout.report") / "templates" / "explore.js").read_text(encoding="utf-8").strip()


@cache
def script_hash(script: str) -> str:
    """What a content security policy calls a script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
