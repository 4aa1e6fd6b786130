"""Pictures that only pages have: splits of a race, gains of a search, residuals, optimism and learning curves."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout._text import number_text
from heldout.metrics.named import in_sentence
from heldout.protocols.learning_curve import LearningCurve
from heldout.report.displays.base import Display, configurations_axis, name_text, plain_text, two_lines
from heldout.report.entries import Facts
from heldout.scales import BAND, BLUE, INK, MORE_SERIES, MUTED, SERIES, SKY, VERMILLION, Scale, reach_of

MOST_CURVES = 5
"""The number of configurations drawn: the winner, and those that are best at the largest size."""
MOST_NUMBERS = 12
"""Splits of which every bar has its number."""


@dataclass(eq=False, repr=False)
class FactsDisplay(Display):
    """A picture of one part of the facts."""

    facts: Facts


class SplitsDisplay(FactsDisplay):
    """A bar per split: the configurations fitted on it and, pale above them, those that had been dropped."""

    def _draw(self, ax: Any) -> None:
        alive, total = np.array(self.facts.alive), max(self.facts.configurations, 1)
        splits = np.arange(1, len(alive) + 1)
        style = {"width": 0.86, "linewidth": 0}
        ax.bar(splits, total - alive, bottom=alive, color=BAND, label="dropped before", **style)
        ax.bar(splits, alive, color=SKY, label="fitted", **style)
        changes = np.flatnonzero(np.diff(alive, prepend=-1)).tolist()
        last = -len(alive)
        for place in range(len(alive)) if len(alive) <= MOST_NUMBERS else changes:
            if place - last >= len(alive) / MOST_NUMBERS:  # else the numbers would run into each other
                ax.annotate(
                    f"{alive[place]:,}", (place + 1, alive[place]), (0, 3), textcoords="offset points", ha="center"
                )
                last = place
        ax.set(xlabel="split", ylabel="configurations", xlim=(0.4, len(alive) + 0.6), ylim=(0, 1.12 * total))
        ax.locator_params(integer=True)
        ax.grid(visible=False, axis="x")


class GainsDisplay(FactsDisplay):
    """By how much the best of so many configurations is better than the first: on two kinds of rows."""

    def _draw(self, ax: Any) -> None:
        curve = self.facts
        labels = "on the rows that chose it", "on rows left out"
        two_lines(ax, curve.n_configurations, (curve.uncorrected, curve.corrected), labels, drawstyle="steps-post")
        configurations_axis(ax, curve.n_configurations[-1], "configurations tried")
        ax.set_ylabel(f"gain in {in_sentence(curve.scale.title)}")


class FittedDisplay(FactsDisplay):
    """Truth over prediction."""

    def _draw(self, ax: Any) -> None:
        rows = self.facts
        ends = reach_of([*rows.predicted, *rows.truth])
        _row_dots(ax, rows.predicted, rows.truth)
        ax.plot(ends, ends, color=MUTED, linestyle=":", linewidth=1.2)
        ax.set(xlim=ends, ylim=ends, xlabel="prediction", ylabel="truth")


class ResidualsDisplay(FactsDisplay):
    """Truth minus prediction over prediction, with the medians of groups."""

    def _draw(self, ax: Any) -> None:
        rows = self.facts
        differences = np.subtract(rows.truth, rows.predicted)
        _row_dots(ax, rows.predicted, differences)
        ax.axhline(0, color=MUTED, linestyle=":", linewidth=1.2)
        style = {"color": VERMILLION, "linewidth": 2.2, "label": "median of a group of rows"}
        ax.plot(*zip(*rows.medians, strict=True), "o-", **style)
        reach = max(map(abs, reach_of([*differences.tolist()])))
        ax.set(xlim=reach_of(rows.predicted), ylim=(-reach, reach))
        ax.set(xlabel="prediction", ylabel="truth minus prediction")


def _row_dots(ax: Any, x: Any, y: Any) -> None:
    ax.plot(x, y, "o", color=BLUE, markersize=4, markeredgewidth=0, alpha=0.75 if len(x) < 200 else 0.45)


class OptimismDisplay(FactsDisplay):
    """Histogram of the optimism over the bootstraps, with its mean and 0 marked."""

    def _draw(self, ax: Any) -> None:
        optimism = self.facts
        ax.stairs(optimism.counts, optimism.edges, fill=True, color=SKY, label="bootstraps")
        ax.axvline(0, color=MUTED, linestyle=":", linewidth=1.4)
        mean = number_text(optimism.mean, optimism.metric.decimals).replace("-", "−")
        ax.axvline(optimism.mean, color=BLUE, linewidth=2, label=f"mean {mean}")
        ax.set(xlabel=f"optimism, {optimism.metric.title}", ylabel="bootstraps")
        ax.locator_params(axis="y", integer=True)
        ax.grid(visible=False, axis="x")


@dataclass(eq=False, repr=False)
class LearningCurveDisplay(Display):
    """Mean scores with their standard errors over training rows, and the curves through them up to all rows."""

    curve: LearningCurve
    scale: Scale

    @property
    def drawn(self) -> tuple[int, ...]:
        """The winner first, then the others that are best at the largest size."""
        curve = self.curve
        last = curve.mean[-1] if curve.greater_is_better else -curve.mean[-1]
        order = [int(j) for j in np.argsort(-last, kind="stable") if np.isfinite(last[j]) and j != curve.winner]
        return (curve.winner, *order[: MOST_CURVES - 1])

    def _draw(self, ax: Any) -> None:
        curve, scale = self.curve, self.scale
        sizes = np.linspace(curve.sizes[0], curve.n_rows, 60)
        at_sizes = np.array([curve.at(size) for size in sizes])
        errors = np.nan_to_num(curve.standard_error)
        shown = [at_sizes[-1, list(self.drawn)], np.array([curve.estimate.value])]
        for place, j in enumerate(self.drawn):
            colour, dash = (SERIES + MORE_SERIES)[place]
            low, high = (
                np.clip(scale.sign * (curve.mean[:, j] + e), *scale.range) for e in (-errors[:, j], errors[:, j])
            )
            ax.plot(curve.sizes, scale.sign * curve.mean[:, j], "o", color=colour, markersize=5 if place else 7)
            ax.vlines(curve.sizes, low, high, color=colour, linewidth=1.2)
            name = f"{name_text(curve.names[j])}{'' if place else ' (winner)'}"
            style = {"color": colour, "linestyle": (0, dash) if dash else "-", "linewidth": 1.6 if place else 2.6}
            ax.plot(sizes, np.clip(scale.sign * at_sizes[:, j], *scale.range), label=name, **style)
            shown += [scale.sign * low, scale.sign * high]
        ax.axvline(curve.n_rows, color=MUTED, linestyle=":", linewidth=1.2)
        if np.isfinite(curve.estimate.value):
            style = {"color": INK, "markersize": 9, "zorder": 4, "linestyle": "none"}
            ax.plot([curve.n_rows], [scale.sign * curve.estimate.value], "D", label="estimate", **style)
        values = scale.sign * np.concatenate(shown)
        ax.set(xlim=(0, None), ylim=reach_of(values[np.isfinite(values)].tolist(), scale.range, share=0.06))
        ax.set(xlabel="training rows", ylabel=plain_text(scale.title))
