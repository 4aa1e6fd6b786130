"""Configurations ranked, with the interval of each: of a search, or of a leaderboard with corrected scores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from heldout._text import counted
from heldout._types import Indices
from heldout.data.checks import check_count
from heldout.estimates.paired.compare import ConfigurationComparison
from heldout.estimates.paired.leaderboard import Leaderboard, LeaderboardRow, first_and_named
from heldout.estimates.types import Estimate
from heldout.metrics import metric_named
from heldout.report.configuration_scores import ConfigurationScores, compared_scores, configuration_scores
from heldout.report.displays.base import (
    Display,
    ScoredDisplay,
    checked_result,
    name_text,
    note,
    percent,
    rows_of_names,
    score_axis,
)
from heldout.report.entries import Facts
from heldout.report.headline import interval_label
from heldout.result import Evaluation
from heldout.scales import BLUE, MUTED, VERMILLION, Scale, scale_of_metric

MOST_DRAWN = 20


@dataclass(eq=False, repr=False)
class RankingDisplay(ScoredDisplay):
    """The configurations ranked by their held-out scores, each with the interval of its own score.

    Made by ``from_search`` or ``from_comparison``. The scores and intervals are uncorrected; below that of the
    winner the corrected estimate is drawn. Filled points are configurations that these rows cannot tell from the
    best.

    Parameters
    ----------
    scores : ConfigurationScores
        Of all configurations.
    estimate : Estimate or None
        Of the winner.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    drawn_ : ndarray of int
        The configurations drawn, from the top down.
    estimate_bar_ : matplotlib artist or None

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> import heldout as ho
    >>> X, y = load_iris(return_X_y=True)
    >>> search = ho.HeldOutSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 9, 99]}, random_state=0).fit(X, y)
    >>> display = ho.plots.RankingDisplay.from_search(search)
    >>> [display.scores.names[j] for j in display.drawn_[:1]]
    ['KNeighborsClassifier (n_neighbors=9)']
    """

    scores: ConfigurationScores
    estimate: Estimate | None = None

    @classmethod
    def _of_search(cls, evaluation: Evaluation, scorer: str) -> Self:
        return cls(configuration_scores(evaluation, scorer), evaluation.estimates.get(scorer))

    @classmethod
    def from_comparison(cls, comparison: ConfigurationComparison, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw what ``ho.compare_configurations`` returned.

        Parameters
        ----------
        comparison : ConfigurationComparison
        ax : matplotlib Axes, optional
        **kwargs : dict
            Of ``plot``.
        """
        compared = checked_result(comparison, ConfigurationComparison, "comparison", "ho.compare_configurations")
        return cls(compared_scores(compared)).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, max_configurations: int = MOST_DRAWN) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure's by default, high enough for all names.
        max_configurations : int
            So many of the best are drawn; the winner always is.

        Returns
        -------
        self
        """
        check_count("max_configurations", max_configurations)
        order = self.scores.order
        late = [j for j in order[max_configurations:] if j == self.scores.winner]
        self.drawn_ = np.concatenate([order[:max_configurations], late]).astype(np.intp)
        self._size = 7.2, 1.7 + 0.3 * (len(self.drawn_) + 1)
        return self._drawn(ax)

    def _draw(self, ax: Any) -> None:
        scores, drawn = self.scores, self.drawn_
        for rows, look in self._kinds():
            self._bars(ax, rows, look)
        self.estimate_bar_ = None
        if self.estimate is not None and np.isfinite(self.estimate.value) and scores.winner in drawn:
            self._draw_estimate(ax, int(np.flatnonzero(drawn == scores.winner)[0]))
        rows_of_names(ax, [scores.names[j] for j in drawn.tolist()], len(scores.order) - len(drawn), top=-0.9)
        ax.locator_params(axis="x", nbins=6)
        score_axis(ax, "x", scores.metric)
        for label, j in zip(ax.get_yticklabels(), drawn.tolist(), strict=False):
            label.set_fontweight("bold" if j == scores.winner else "normal")
        if n_out := int((~scores.is_candidate).sum()):
            note(ax, f"{counted(n_out, 'configuration')} dropped or failed: not ranked")

    def _kinds(self) -> Iterator[tuple[Indices, Mapping[str, Any]]]:
        """Rows that are drawn alike, and how."""
        own = "own score, uncorrected"
        if np.isfinite(self.scores.low).any():
            own += f", {percent(self.scores.confidence_level)} bootstrap interval"
        if self.scores.not_worse is None:
            yield np.arange(len(self.drawn_)), {"label": own}
            return
        members = self.scores.not_worse[self.drawn_]
        kinds = (members, BLUE, "not distinguishable from the best"), (~members, "white", "worse than the best")
        for of_kind, face, text in kinds:
            if of_kind.any():
                yield np.flatnonzero(of_kind), {"mfc": face, "label": f"{own}: {text}"}

    def _bars(self, ax: Any, rows: Indices, style: Mapping[str, Any]) -> None:
        drawn, scores = self.drawn_[rows], self.scores
        x = scores.scores[drawn]
        ends = np.stack([x - scores.low[drawn], scores.high[drawn] - x])
        bars = None if np.isnan(ends).all() else np.clip(np.nan_to_num(ends), 0, None)
        look = {"fmt": "o", "color": BLUE, "ecolor": MUTED, "elinewidth": 1.2, "markersize": 6}
        ax.errorbar(x, rows, xerr=bars, **{**look, **style})

    def _draw_estimate(self, ax: Any, row: int) -> None:
        """The corrected estimate, a little below the winner's own score."""
        assert self.estimate is not None, "called with one"
        scale = self.scores.metric
        value, (low, high) = scale.sign * self.estimate.value, scale.closed_ends(self.estimate.interval)
        bars = None
        if low is not None or high is not None:
            ends = value if low is None else low, value if high is None else high
            bars = np.array([[max(value - ends[0], 0.0)], [max(ends[1] - value, 0.0)]])
        text = f"winner, corrected: {scale.text(value)}"
        interval = scale.interval_text(interval_label(self.estimate), low, high)
        look = {
            "fmt": "D", "color": VERMILLION, "markersize": 6.5, "capsize": 3, "elinewidth": 1.8,
            "label": f"{text} ({interval})" if interval else text,
        }  # fmt: skip
        self.estimate_bar_ = ax.errorbar([value], [row + 0.32], xerr=bars, **look)


MOST_ON_A_BOARD = 30
"""Configurations of a leaderboard, of which each has a line."""


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
        self._size = 7.2, 1.6 + 0.28 * min(len(self.rows), MOST_ON_A_BOARD + 1)

    def _draw(self, ax: Any) -> None:
        rows = first_and_named(self.rows, MOST_ON_A_BOARD, self.reference)
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
