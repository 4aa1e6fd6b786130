"""The race: which configuration was dropped after which split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias

from heldout._record import json_number
from heldout._text import counted
from heldout.data.checks import check_count
from heldout.errors import InputError
from heldout.report.configuration_scores import ConfigurationScores, configuration_scores, search_scale
from heldout.report.displays.base import Display, evaluation_of, rows_of_names, score_label
from heldout.report.entries import Facts
from heldout.report.race import race_of
from heldout.result import Evaluation
from heldout.scales import BLUE, MUTED, SKY, VERMILLION, Scale

Ending: TypeAlias = Literal["finished", "dropped", "failed"]


@dataclass(frozen=True)
class RaceLine:
    """One configuration."""

    index: int
    """Its position in the search, from 0."""
    name: str
    splits: int
    """Splits on which it was fitted."""
    ending: Ending
    score: float | None
    """Its uncorrected score on these splits."""
    is_winner: bool


def race_lines(evaluation: Evaluation, race: Facts, scores: ConfigurationScores) -> tuple[RaceLine, ...]:
    """All configurations: the winner, the others that finished from best to worst, then the last dropped first."""
    done = sum(alive > 0 for alive in race.alive)
    failed = {**evaluation.predictions.failed, **evaluation.failures}
    left = {j: each.after for j, each in evaluation.dropped.items()}

    def line(j: int) -> RaceLine:
        ending: Ending = "failed" if j in failed else "dropped" if j in left else "finished"
        score = json_number(scores.scores[j])
        return RaceLine(j, scores.names[j], left.get(j, done), ending, score, j == scores.winner)

    def place(line: RaceLine) -> tuple[Any, ...]:
        ending = ("finished", "dropped", "failed").index(line.ending)
        return not line.is_winner, ending, -line.splits, scores.losses[line.index], line.index

    return tuple(sorted(map(line, range(len(scores.names))), key=place))


MOST_DRAWN = 30


@dataclass(eq=False, repr=False)
class RaceDisplay(Display):
    """Each configuration of a search that dropped some: the splits on which it was fitted, and its score there.

    Made by ``from_search``. The winner and the others that finished come first, then those dropped last.

    Parameters
    ----------
    lines : tuple of RaceLine
        All configurations, in the order in which they are drawn.
    race : Facts
        The decisions at every barrier, and the fits saved.
    metric : Scale

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    bars_ : matplotlib artist

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> import heldout as ho
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = {"n_neighbors": [1, 9, 130]}
    >>> search = ho.HeldOutSearchCV(KNeighborsClassifier(), grid, cv=10, drop="bootstrap", random_state=0)
    >>> display = ho.plots.RaceDisplay.from_search(search.fit(X, y))
    >>> [(line.splits, line.ending, line.is_winner) for line in display.lines]
    [(10, 'finished', True), (10, 'finished', False), (4, 'dropped', False)]
    """

    lines: tuple[RaceLine, ...]
    race: Facts
    metric: Scale

    @classmethod
    def from_search(cls, search: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the race of a search.

        Parameters
        ----------
        search : fitted search or Evaluation
        ax : matplotlib Axes, optional
        **kwargs : dict
            Of ``plot``.

        Raises
        ------
        InputError
            When no configuration could be dropped.
        MissingExtraError
            When matplotlib is missing.
        """
        evaluation = evaluation_of(search)
        scale = search_scale(evaluation, evaluation.refit_metric)
        race = race_of(evaluation, scale)
        if race is None:
            raise InputError(
                "the search could drop no configuration, so there was no race; search with `drop='bootstrap'`."
            )
        scores = configuration_scores(evaluation, finds_set=False)
        return cls(race_lines(evaluation, race, scores), race, scale).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, max_configurations: int = MOST_DRAWN) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure's by default, high enough for all names.
        max_configurations : int
            Those dropped first are left out beyond so many.

        Returns
        -------
        self
        """
        check_count("max_configurations", max_configurations)
        drawn = self.lines[:max_configurations]
        self._size = 7.2, 1.4 + 0.27 * (len(drawn) + 1)
        return self._drawn(ax, drawn=drawn)

    def _draw(self, ax: Any, drawn: Sequence[RaceLine]) -> None:
        colours = {"finished": BLUE, "dropped": SKY, "failed": "white"}
        style = {
            "color": [colours[line.ending] for line in drawn], "edgecolor": MUTED, "height": 0.72, "linewidth": 0.6,
            "hatch": ["///" if line.ending == "failed" else "" for line in drawn],
        }  # fmt: skip
        self.bars_ = ax.barh(range(len(drawn)), [line.splits for line in drawn], **style)
        for row, line in enumerate(drawn):
            score = "" if line.score is None else f" {self.metric.text(line.score)}"
            mark = {"finished": "", "dropped": " × dropped", "failed": " failed"}[line.ending]
            text = f"{' winner' if line.is_winner else mark}{score}"
            colour = VERMILLION if line.is_winner else MUTED
            ax.text(line.splits, row, text, va="center", fontsize="small", color=colour)
        rows_of_names(ax, [line.name for line in drawn], len(self.lines) - len(drawn))
        planned = len(self.race.alive)
        ax.set_xlim(0, planned * 1.28)
        ax.set_xticks([tick for tick in ax.get_xticks() if tick <= planned and tick == int(tick)])
        numbers = f"numbers: {score_label(self.metric, 'uncorrected, on these splits')}"
        ax.set_xlabel(f"splits on which it was fitted, of {planned}\n{numbers}")
        done = f"{self.race.fits:,} of {self.race.configurations * planned:,} fits made"
        ax.set_title(f"{done}, {counted(len(self.race.dropped), 'configuration')} dropped", fontsize="medium")
