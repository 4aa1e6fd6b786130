"""Lines of plots: what each is of, and how lines are told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from heldout.plots.base import percent
from heldout.scales import BLUE, MORE_SERIES, MUTED, SERIES, VERMILLION

UNCORRECTED = "held-out, uncorrected"
"""What a curve of the winner of a search is."""


@dataclass(frozen=True)
class CurveLine:
    """One line of a plot."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    """The ends of its band, or of the bar of each point; empty without one."""
    is_corrected: bool = False
    as_points: bool = False
    """Whether its points are groups of rows, each with a bar."""


def looks(lines: Sequence[CurveLine]) -> list[dict[str, Any]]:
    """Colour and dashes of each line: no two kinds differ by colour alone."""
    found: list[tuple[str, tuple[float, ...]]]
    marks: list[dict[str, Any]] = [{"marker": "o", "markersize": 6} if line.as_points else {} for line in lines]
    if any(line.is_corrected for line in lines):
        found = [(BLUE, ()) if line.is_corrected else (VERMILLION, (5, 2)) for line in lines]
    elif all(line.label.startswith("_") for line in lines[1:]):  # repeats, of which the first has a label
        alpha = 1.0 if len(lines) == 1 else 0.55
        return [{"color": BLUE, "alpha": alpha, **mark} for mark in marks]
    else:
        series = SERIES + MORE_SERIES
        found = [series[place % len(series)] for place in range(len(lines))]
    return [
        {"color": colour, "linestyle": (0, dash) if dash else "-", **mark}
        for (colour, dash), mark in zip(found, marks, strict=True)
    ]


def repeats_label(label: str, repeat: int) -> str:
    """The label of a repeat's curve: the first has one, the others none."""
    return label if repeat == 0 else f"_repeat {repeat}"


def corrected_label(confidence_level: float) -> str:
    """The label of a validation's corrected curve."""
    return f"corrected for optimism, with {percent(confidence_level)} band"


def probability_axes(ax: Any, x: str, y: str) -> None:
    """Two axes from 0 to 1 of the same scale."""
    ax.set_xlim(-0.01, 1.01)
    ax.set_ylim(-0.01, 1.01)
    ax.set_aspect("equal")
    ax.set_xlabel(x)
    ax.set_ylabel(y)


def reference_line(ax: Any, x: Sequence[float], y: Sequence[float], label: str) -> None:
    """What a curve is compared with, dotted."""
    ax.plot(x, y, color=MUTED, linestyle=":", linewidth=1.4, label=label, zorder=1)
