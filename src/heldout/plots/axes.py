"""Axes that several displays have."""

from __future__ import annotations

from typing import Any

from heldout.plots.base import plain_text
from heldout.report.parameters import ParameterAxis
from heldout.report.svg import shortened_name

MANY = 60
"""Of more configurations the axis is logarithmic."""
LETTERS_ACROSS = 48
"""Letters of all levels together that fit beside each other."""
MOST_LEVELS = 14
"""Levels of which each is named on an axis."""


def configurations_axis(ax: Any, n: int, label: str) -> None:
    """The number of configurations, on a logarithmic axis where there are many."""
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    if n > MANY:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        label += ", logarithmic"
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel(label)


def parameter_ticks(ax: Any, axis: ParameterAxis, side: str) -> None:
    """The values of a parameter on the x or y axis of a plot, with its name."""
    suffix = " (logarithmic)" if axis.is_logarithmic else ""
    getattr(ax, f"set_{side}label")(plain_text(f"{axis.title}{suffix}"))
    if axis.is_numeric:
        if axis.is_logarithmic:
            getattr(ax, f"set_{side}scale")("log")
        return
    level_ticks(ax, axis.levels, side)


def level_ticks(ax: Any, levels: tuple[str, ...], side: str) -> None:
    """Texts at the places 0, 1, 2 .. of an axis."""
    texts = [plain_text(shortened_name(level, 18)) for level in levels]
    every = -(-len(levels) // MOST_LEVELS)
    getattr(ax, f"set_{side}ticks")(range(0, len(levels), every), texts[::every])
    getattr(ax, f"set_{side}lim")(-0.5, len(levels) - 0.5)
    if side == "x" and sum(map(len, texts[::every])) > LETTERS_ACROSS:
        for label in ax.get_xticklabels():
            label.set(rotation=30, ha="right", rotation_mode="anchor")
