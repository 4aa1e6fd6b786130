"""The configurations of a leaderboard with their corrected scores and tiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from heldout.estimates.paired.leaderboard import Leaderboard, LeaderboardRow, first_and_named
from heldout.metrics import metric_named
from heldout.report.displays.base import Display, checked_result, name_text, score_axis
from heldout.report.entries import Facts
from heldout.scales import BLUE, MUTED, Scale, scale_of_metric

MOST_DRAWN = 30
"""Configurations, of which each has a line."""


@dataclass(eq=False, repr=False)
class LeaderboardDisplay(Display):
    """Corrected scores with their intervals, the best first; filled points cannot be told from the best.

    Made by ``from_leaderboard``. Small marks are the uncorrected scores, and the dotted line is the score of the
    configuration that differences are from.

    Parameters
    ----------
    metric : Scale
    reference : str
    rows : sequence of Facts
        Of each configuration its name, value, low, high, uncorrected score and tier, as they are shown.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> right = np.random.default_rng(0).random((100, 4)) < [0.5, 0.5, 0.5, 0.8]
    >>> compared = ho.compare_configurations(right.astype(float), metric="mean_score", random_state=0)
    >>> display = ho.plots.LeaderboardDisplay.from_leaderboard(ho.estimates.leaderboard(compared))
    >>> [label.get_text() for label in display.ax_.get_yticklabels()][:2]
    ['configuration 3', 'configuration 1']
    """

    metric: Scale
    reference: str
    rows: Sequence[Facts]

    @classmethod
    def from_leaderboard(cls, leaderboard: Leaderboard, *, ax: Any = None) -> Self:
        """Draw what ``ho.estimates.leaderboard`` returned.

        Parameters
        ----------
        leaderboard : Leaderboard
        ax : matplotlib Axes, optional

        Raises
        ------
        MissingExtraError
            When matplotlib is missing.
        """
        board = checked_result(leaderboard, Leaderboard, "leaderboard", "ho.estimates.leaderboard")
        return cls.of_facts(leaderboard_facts(board)).plot(ax)

    @classmethod
    def of_facts(cls, board: Facts) -> Self:
        return cls(board.metric, board.reference, board.rows)

    def __post_init__(self) -> None:
        self._size = 7.2, 1.6 + 0.28 * min(len(self.rows), MOST_DRAWN + 1)

    def _draw(self, ax: Any) -> None:
        rows = first_and_named(self.rows, MOST_DRAWN, self.reference)
        labels = {True: "corrected: not distinguishable from the best", False: "corrected: worse than the best"}
        for place, row in enumerate(rows):
            is_best = row.tier == 1
            low, high, value, uncorrected = np.array([row.low, row.high, row.value, row.uncorrected], dtype=float)
            ax.plot([low, high], [place, place], color=MUTED, linewidth=1.2)
            label, labels[is_best] = labels[is_best], ""
            ax.plot([value], [place], "o", color=BLUE, mfc=BLUE if is_best else "white", label=label)
            ax.plot([uncorrected], [place], "|", color=MUTED, label="" if place else "uncorrected")
            if row.name == self.reference and place:
                ax.axvline(value, color=MUTED, linestyle=":")
        ax.set_yticks(range(len(rows)), [name_text(row.name) for row in rows])
        ax.set_ylim(len(rows) - 0.4, -0.6)
        score_axis(ax, "x", self.metric)
        ax.set_ylabel("configuration")


def leaderboard_facts(board: Leaderboard) -> Facts:
    """What a page shows of it, with losses positive."""
    scale = scale_of_metric(metric_named(board.metric))
    rows = tuple(_row_facts(row, scale.sign) for row in board.rows)
    return Facts(metric=scale, reference=board.reference, rows=rows, sentences=board.sentences)


def _row_facts(row: LeaderboardRow, sign: int) -> Facts:
    low, high = (None, None) if row.interval is None else sorted(sign * end for end in row.interval)
    ends = "difference_low=difference.interval.low difference_high=difference.interval.high"
    return Facts(
        name=row.name,
        value=sign * row.value,
        low=low,
        high=high,
        uncorrected=sign * row.uncorrected,
        **Facts.of(row, f"tier difference=difference.value {ends}"),
    )
