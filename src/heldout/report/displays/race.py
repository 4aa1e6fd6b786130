"""The race of a search: what was dropped when, and its pictures."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from heldout._record import json_number
from heldout._text import counted
from heldout.data.checks import check_count
from heldout.dropping import RULES
from heldout.dropping.base import RULE_TITLES, Barrier, drop_reason
from heldout.errors import InputError
from heldout.report.configuration_scores import ConfigurationScores, configuration_scores, search_scale
from heldout.report.displays.base import Display, evaluation_of, rows_of_names, score_label
from heldout.report.entries import Facts
from heldout.report.ranking import MOST_SHOWN
from heldout.result import Evaluation
from heldout.scales import BLUE, MUTED, SKY, VERMILLION, Scale


def race_of(evaluation: Evaluation, scale: Scale) -> Facts | None:
    """The decisions of a search; None if no configuration could be dropped."""
    barriers = evaluation.barriers
    if not barriers or not evaluation.provenance.get("drop"):
        return None
    settings: Mapping[str, Any] = evaluation.provenance.get("drop") or {}
    least = settings.get("min_predictions")
    failed = {**evaluation.predictions.failed, **evaluation.failures}
    planned = int(evaluation.provenance.get("n_splits_planned") or evaluation.folds.n_splits)
    busy = [barrier for barrier in barriers if barrier.dropped]
    quiet = [barrier for barrier in barriers if not barrier.dropped]
    risks = [barrier.risk for barrier in busy if any(left.configuration not in failed for left in barrier.dropped)]
    risk = min(1.0, sum(share for share in risks if not math.isnan(share))) if risks else None
    last = next((barrier for barrier in reversed(barriers) if barrier.folds_needed), None)
    alive = _alive(barriers, planned)
    # The counts of the evaluation include all searches of a protocol; these are of this search alone.
    fits, configurations = sum(alive), len(evaluation.configurations)
    saved = configurations * planned - fits
    rule = str(settings.get("rule", ""))
    return Facts(
        rule=RULE_TITLES.get(rule, rule),
        min_predictions=least,
        could_drop=max(barrier.n_rows for barrier in barriers) >= (least or 0),
        is_one_search=evaluation.is_one_search,
        barriers=tuple(_row(barrier, evaluation, failed) for barrier in busy),
        quiet=len(quiet),
        quiet_before_minimum=sum(barrier.n_rows < (least or 0) for barrier in quiet),
        judged=sum(barrier.judged for barrier in barriers),
        planned=planned,
        stopped=_stopped(barriers[-1], evaluation.provenance.get("stop_when_width")),
        alive=alive,
        configurations=configurations,
        fits=fits,
        saved=saved,
        risk=risk,
        risks_unknown=sum(math.isnan(share) for share in risks),
        dropped=_dropped(evaluation, scale, failed, rule),
        needed=None if last is None else _needed(last, evaluation),
    )


def sources_of(evaluation: Evaluation) -> tuple[str, ...]:
    """Keys of the sources of the drop rule."""
    rule: Any = RULES.get(str((evaluation.provenance.get("drop") or {}).get("rule")))
    return () if rule is None else tuple(rule.sources)


def _row(barrier: Barrier, evaluation: Evaluation, failed: Mapping[int, str]) -> Facts:
    n_failed = sum(left.configuration in failed for left in barrier.dropped)
    dropped = len(barrier.dropped) - n_failed
    return Facts.of(
        barrier,
        "after rows=n_rows before=n_before",
        dropped=dropped,
        failed=n_failed,
        go_on=barrier.n_before - len(barrier.dropped),
        leader=evaluation.configurations.names[barrier.leader],
        risk=float(barrier.risk) if dropped and math.isfinite(barrier.risk) else None,
    )


def _stopped(last: Barrier, most: float | None) -> Facts | None:
    """After how many splits the rule ended the search, or a width of the interval that was reached; else None."""
    if not last.stopped:
        return None
    return Facts(after=last.after, remaining=last.n_before - len(last.dropped), width=most)


def _alive(barriers: tuple[Barrier, ...], planned: int) -> tuple[int, ...]:
    """Configurations on each planned split; 0 after the search was stopped."""
    on = [barriers[0].n_before]
    for barrier in barriers:
        on.append(0 if barrier.stopped else barrier.n_before - len(barrier.dropped))
    # There is no barrier after the last split, nor once a single configuration remains.
    return tuple((on + [on[-1]] * planned)[:planned])


def _dropped(evaluation: Evaluation, scale: Scale, failed: Mapping[int, str], rule: str) -> tuple[Facts, ...]:
    scores, names = evaluation.fold_scores.get(evaluation.refit_metric), evaluation.configurations.names
    statistic_name = getattr(RULES.get(rule), "statistic_name", "")
    rows = []
    for j, left in evaluation.dropped.items():
        if j in failed:
            continue
        # Mean and spread over the splits on which it was fitted.
        values = np.empty(0) if scores is None else scores.values[~np.isnan(scores.values[:, j]), j]
        mean, spread = (values.mean(), values.std()) if values.size else (None, None)
        why = drop_reason(rule, left.statistic, left.reason, statistic_name)
        spread = None if spread is None else scale.sign * spread
        shown = {"mean": scale.shown(mean), "spread": scale.shown(spread)}
        rows.append(Facts(index=j, name=names[j], after=left.after, why=why, **shown))
    towards_better = -1 if scale.greater_is_better else 1

    def place(row: Facts) -> tuple[int, float, int]:
        return -row.after, math.inf if row.mean is None else towards_better * row.mean, row.index

    return tuple(sorted(rows, key=place))


def _needed(barrier: Barrier, evaluation: Evaluation) -> Facts | None:
    """Splits that would separate the others from the leader; None if no difference was tested."""
    known = {j: folds for j, folds in barrier.folds_needed.items() if not math.isnan(folds)}
    if not known:
        return None
    finite = {j: int(folds) for j, folds in known.items() if math.isfinite(folds)}
    nearest, names = sorted(finite, key=lambda j: (finite[j], j))[:MOST_SHOWN], evaluation.configurations.names
    near = tuple(Facts(name=names[j], folds=finite[j]) for j in nearest)
    return Facts(after=barrier.after, nearest=near, finite=len(finite), endless=len(known) - len(finite))


def race_lines(evaluation: Evaluation, race: Facts, scores: ConfigurationScores) -> tuple[Facts, ...]:
    """All configurations: the winner, the others that finished from best to worst, then the last dropped first."""
    done = sum(alive > 0 for alive in race.alive)
    failed = {**evaluation.predictions.failed, **evaluation.failures}
    left = {j: each.after for j, each in evaluation.dropped.items()}
    lines = [
        Facts(
            index=j,
            name=name,
            splits=left.get(j, done),
            ending="failed" if j in failed else "dropped" if j in left else "finished",
            score=json_number(scores.scores[j]),
            is_winner=j == scores.winner,
        )
        for j, name in enumerate(scores.names)
    ]

    def place(line: Facts) -> tuple[Any, ...]:
        ending = ("finished", "dropped", "failed").index(line.ending)
        return not line.is_winner, ending, -line.splits, scores.losses[line.index], line.index

    return tuple(sorted(lines, key=place))


MOST_DRAWN = 30


@dataclass(eq=False, repr=False)
class RaceDisplay(Display):
    """Each configuration of a search that dropped some: the splits on which it was fitted, and its score there.

    Made by ``from_search``. The winner and the others that finished come first, then those dropped last.

    Parameters
    ----------
    lines : tuple of Facts
        All configurations, in the order in which they are drawn: of each its ``index``, ``name``, the ``splits`` on
        which it was fitted, its ``ending`` ("finished", "dropped" or "failed"), its uncorrected ``score`` on these
        splits or None, and ``is_winner``.
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

    lines: tuple[Facts, ...]
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

    def _draw(self, ax: Any, drawn: Sequence[Facts]) -> None:
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
