"""What a reader can explore in a report: all configurations in a table and in figures that mark each other.

The page works without its script: then the table is as it was written, and links lead to its rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout._text import counted, cut, number_text, printable
from heldout.report.displays.base import Display, embedded, plain_text
from heldout.report.displays.parameters import ParameterAxis, axis_of, parameter_ticks
from heldout.report.entries import Facts
from heldout.report.ranking import by_family
from heldout.scales import BLUE, INK, MORE_SERIES, MUTED, SERIES, VERMILLION, Scale, reach_of

MOST_SLICES = 24
MOST_TOGETHER = 6


def explore(ranking: Facts | None, scale: Scale) -> Facts:
    """The parts of the page on all configurations; all are empty of a single one."""
    families, rows = ((), ()) if ranking is None or len(ranking.shown) < 2 else (ranking.families, ranking.shown)
    scored = [row for row in rows if row.score is not None]
    parts = slices_of(scored)
    return Facts(
        colours=family_colours(scored),
        best=families if len(families) > 1 else (),
        ranked=ranked_svg(scored, scale, key="ranked") if len(scored) > 1 else "",
        ordered=ordered_svg(scored, scale, key="ordered") if len(scored) > 2 else "",
        trained=trained_svg(scored, scale, key="trained"),
        has_bars=0 < sum(map(has_bar, scored)) <= MOST_DOTS,
        slices=[(part, slice_svg(part, scale, key=f"slice-{n}")) for n, part in enumerate(parts[:MOST_SLICES])],
        slices_left_out=max(len(parts) - MOST_SLICES, 0),
        together=_together(parts, scale),
        parameters=(parameters := _varied(rows)),
        data=_data(rows, parameters, scale) if rows else "",
    )


def _together(parts: Sequence[FamilySlice], scale: Scale) -> tuple[tuple[str, str, str], ...]:
    """Figures of the families with several parameters; the first of a family are those of the largest reach."""
    several = [own for own in by_family(parts).values() if len(own) > 1 and shared_by(own[:2]) > 2]
    figures = []
    for number, own in enumerate(several[:MOST_TOGETHER]):
        beside = own[:MOST_BESIDE]
        is_wide = len(beside) > 2 and shared_by(beside) > 2
        plane = plane_svg(own[0], own[1], scale, key=f"plane-{number}")
        wide = beside_svg(beside, scale, key=f"beside-{number}") if is_wide else ""
        figures.append((own[0].family, plane, wide))
    return tuple(figures)


def _varied(rows: Sequence[Facts]) -> tuple[str, ...]:
    values: dict[str, set[str]] = {}
    for row in rows:
        for name, value in row.parameters.items():
            values.setdefault(name, set()).add(repr(value))
    return tuple(name for name, seen in values.items() if len(seen) > 1)


def _data(rows: Rows, parameters: Sequence[str], scale: Scale) -> str:
    """The table's columns as JSON that may stand inside a page: no text can end the element that holds it."""
    place = {family: number for number, family in enumerate(by_family(rows))}  # as the page offers them
    names = ("mean", "spread", "train", "pooled", "selected")
    document = {
        **{name: [row[name] and float(f"{row[name]:.7g}") for row in rows] for name in names},
        "index": [row.index for row in rows],
        "family": [place[row.family] for row in rows],
        "values": [
            [_plain(row.parameters[name]) if name in row.parameters else None for name in parameters]
            for row in rows
        ],
        "greater": scale.greater_is_better,
    }
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _plain(value: Any) -> Any:
    """A number unchanged, everything else as the text that is shown."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else printable(str(value))


@dataclass(frozen=True, eq=False)
class FamilySlice:
    """One parameter of one family: a point for each of its configurations, the best first."""

    family: str
    axis: ParameterAxis
    configurations: tuple[Facts, ...]
    leaders: tuple[int, ...]
    """Places of the best configuration of each step, in the order of the values."""

    @property
    def reach(self) -> float:
        """How far the best scores of the steps are apart."""
        best = [self.configurations[place].score for place in self.leaders]
        return float(max(best) - min(best))


def slices_of(rows: Sequence[Facts]) -> tuple[FamilySlice, ...]:
    """The slices of all parameters with several values; families by their best, parameters by their reach.

    Parameters
    ----------
    rows : sequence of Facts
        The best first; those without a score are left out.
    """
    slices: list[FamilySlice] = []
    for family, members in by_family(row for row in rows if row.score is not None).items():
        names = dict.fromkeys(name for row in members for name in row.parameters)
        of_family = [_slice(family, name, members) for name in names]
        slices += sorted((part for part in of_family if len(part.leaders) > 1), key=lambda part: -part.reach)
    return tuple(slices)


def _slice(family: str, name: str, members: Sequence[Facts]) -> FamilySlice:
    rows = [row for row in members if name in row.parameters]
    axis = axis_of(name, name, [row.index for row in rows], [row.parameters[name] for row in rows])
    # The rows are sorted, so the first place in each step is that of the best.
    leaders = sorted(np.unique(axis.steps, return_index=True)[1].tolist(), key=lambda place: axis.values[place])
    return FamilySlice(family, axis, tuple(rows), tuple(leaders))


MOST_DOTS = 250
"""Dots of a figure of a family, and bars of any figure: more would only be an area."""
MOST_COLOURS = 7
"""Families with a colour of their own; those after them share a grey."""
MOST_LINES = 50
"""Configurations that are lines from parameter to parameter."""
MOST_BESIDE = 5
"""Parameters beside each other."""
_SHADES = 5
_FAMILY_COLOURS = tuple(colour for colour, _ in SERIES + MORE_SERIES)
Rows = Sequence[Facts]


@dataclass(frozen=True)
class Dots:
    """Dots alike."""

    colour: str
    is_filled: bool
    x: Sequence[float]
    y: Sequence[float]
    configurations: Sequence[int]
    opacity: float = 0.85


@dataclass(eq=False, repr=False)
class ConfigurationsDisplay(Display):
    """Layers of dots, the best first, and what ``behind`` draws: axes, bars and lines."""

    layers: Sequence[Dots]
    behind: Callable[[Any], None]

    def _draw(self, ax: Any) -> None:
        self.behind(ax)
        for dots in reversed(self.layers):  # the best on top
            ax.plot(
                dots.x, dots.y, "o", markersize=6.4, markeredgewidth=1.4, color=dots.colour, alpha=dots.opacity,
                markerfacecolor=dots.colour if dots.is_filled else "none", gid=dots.configurations,
            )  # fmt: skip


def _figure(
    layers: Sequence[Dots], behind: Callable[[Any], None], key: str, title: str, words: str, **size: int
) -> str:
    return embedded(ConfigurationsDisplay(layers, behind), key, title, words, **size)


def _order_axis(ax: Any, last: float, label: str) -> None:
    ax.set(xlim=(0, last + 1), xlabel=label)
    ax.locator_params(axis="x", integer=True)


def ranked_svg(rows: Rows, scale: Scale, *, key: str) -> str:
    """The score of every configuration by its rank, with the standard deviation over its folds."""

    def behind(ax: Any) -> None:
        spreads = spread_bars(ax, [(row.rank, row) for row in rows if has_bar(row)], scale, MUTED)
        _order_axis(ax, len(rows), "rank")
        score_axis(ax, rows, scale, spreads)

    best, worst = (number_text(row.score, scale.decimals) for row in (rows[0], rows[-1]))
    words = f"{scale.title} of {counted(len(rows), 'configuration')} from {best} to {worst}, the best on the left."
    layers = _families(rows, {row.index: float(row.rank) for row in rows})
    return _figure(layers, behind, key, "Scores by rank", words)


def ordered_svg(rows: Rows, scale: Scale, *, key: str) -> str:
    """The score of every configuration in the order of the search, and the best so far."""
    places = {row.index: row.index + 1.0 for row in sorted(rows, key=lambda row: row.index)}
    scores = [row.score for row in sorted(rows, key=lambda row: row.index)]
    best = (np.maximum if scale.greater_is_better else np.minimum).accumulate(scores)

    def behind(ax: Any) -> None:
        ax.plot(list(places.values()), best, color=INK, linewidth=1.5, drawstyle="steps-post")
        _order_axis(ax, max(places.values()), "configuration in order")
        score_axis(ax, rows, scale)

    changes = counted(int((np.diff(best) != 0).sum()), "time")
    words = f"The best {scale.title} so far changed {changes} after the first configuration."
    return _figure(_families(rows, places), behind, key, "Scores in the order of the search", words)


def trained_svg(rows: Rows, scale: Scale, *, key: str) -> str:
    """The score on held-out rows over that on training rows."""
    both = [Facts(row, score=row.mean) for row in rows if row.train is not None and row.mean is not None]
    if not both:
        return ""
    places = {row.index: row.train for row in both}
    ends = reach_of([*places.values(), *_scores(both)], scale.range)

    def behind(ax: Any) -> None:
        ax.plot(ends, ends, color=MUTED, linestyle=":", linewidth=1.2)
        ax.set(xlim=ends, ylim=ends, xlabel="on training rows", ylabel="on held-out rows")

    words = f"{scale.title} of {counted(len(both), 'configuration')} on held-out rows over training rows."
    return _figure(_families(both, places), behind, key, "Training and held-out rows", words)


def slice_svg(part: FamilySlice, scale: Scale, *, key: str) -> str:
    """The score over one parameter, with a line through the best of each step and its standard deviation."""
    rows, places = part.configurations, part.axis.values.tolist()
    shown = sorted([*dict.fromkeys([*part.leaders, *range(len(rows))])][:MOST_DOTS])
    leaders = [(places[n], rows[n]) for n in part.leaders]

    def behind(ax: Any) -> None:
        spreads = spread_bars(ax, [(x, row) for x, row in leaders if has_bar(row)], scale, VERMILLION)
        if part.axis.is_numeric:
            ax.plot([x for x, _ in leaders], [row.score for _, row in leaders], color=VERMILLION, linewidth=1.5)
        parameter_ticks(ax, part.axis, "x")
        score_axis(ax, rows, scale, spreads)

    chosen = [rows[n] for n in shown]
    dots = Dots(BLUE, False, [places[n] for n in shown], _scores(chosen), [row.index for row in chosen])
    values = ", ".join(
        f"{_text(row.parameters[part.axis.name])} {number_text(row.score, scale.decimals)}" for _, row in leaders
    )
    title = f"{scale.title} by {part.axis.name}" + (f" of {part.family}" if part.family else "")
    return _figure([dots], behind, key, title, f"The best at each value: {values}.", width=300, height=235)


def plane_svg(across: FamilySlice, up: FamilySlice, scale: Scale, *, key: str) -> str:
    """The configurations that have both parameters, at their values; the better, the darker."""
    x, y = across.axis.value_of, up.axis.value_of
    rows = [row for row in across.configurations if row.index in y][:MOST_DOTS]

    def behind(ax: Any) -> None:
        for part, side in ((across, "x"), (up, "y")):
            parameter_ticks(ax, part.axis, side)

    layers = _shaded(rows, lambda row: [(x[row.index], y[row.index])])
    at = ", ".join(f"{part.axis.name} {_text(rows[0].parameters[part.axis.name])}" for part in (across, up))
    best = number_text(rows[0].score, scale.decimals)
    words = f"{counted(len(rows), 'configuration')}; the best has {at}: {best}."
    title = f"{scale.title} by {across.axis.name} and {up.axis.name}"
    return _figure(layers, behind, key, title, words)


def beside_svg(parts: Sequence[FamilySlice], scale: Scale, *, key: str) -> str:
    """The best configurations as lines over parameters beside each other, and the score; the better, the darker."""
    rows = [row for row in parts[0].configurations if all(row.index in part.axis.value_of for part in parts)]
    rows = rows[:MOST_LINES]
    columns = [[part.axis.value_of[row.index] for row in rows] for part in parts]
    heights = [_heights(column, part.axis.is_logarithmic) for column, part in zip(columns, parts, strict=True)]
    heights.append(_heights(_scores(rows), False))
    height_of = {row.index: [column[n] for column in heights] for n, row in enumerate(rows)}
    layers = _shaded(rows, lambda row: list(enumerate(height_of[row.index])))
    ends = [_ends(part.axis.name, column, rows) for part, column in zip(parts, columns, strict=True)]
    ends.append(tuple(number_text(end(_scores(rows)), scale.decimals) for end in (min, max)))

    def behind(ax: Any) -> None:
        for layer in layers:
            for n in range(0, len(layer.x), len(heights)):
                of_row = slice(n, n + len(heights))
                ax.plot(layer.x[of_row], layer.y[of_row], color=BLUE, linewidth=1, alpha=layer.opacity / 2)
        for place, pair in enumerate(ends):
            for y, text in zip((-0.08, 1.08), pair, strict=True):
                ax.text(place, y, plain_text(text), fontsize=11, ha="center", va="center")
        names = [plain_text(cut(part.axis.name, 14)) for part in parts]
        ax.set_xticks(range(len(heights)), [*names, scale.title])
        ax.set(xlim=(-0.3, len(heights) - 0.7), ylim=(-0.14, 1.14), yticks=[])
        ax.spines["left"].set_visible(False)

    words = f"{counted(len(rows), 'configuration')} as lines over {', '.join(part.axis.name for part in parts)}."
    return _figure(layers, behind, key, "Parameters beside each other", words, width=780)


def shared_by(parts: Sequence[FamilySlice]) -> int:
    """How many configurations have all of the parameters."""
    return len(set.intersection(*({row.index for row in part.configurations} for part in parts)))


def has_bar(row: Facts) -> bool:
    """Whether its score is a mean over folds, whose standard deviation can be drawn."""
    return row.spread is not None and row.mean is not None and row.score == row.mean


def spread_bars(ax: Any, placed: Sequence[tuple[float, Facts]], scale: Scale, colour: str) -> list[float]:
    """Bars of one standard deviation, and their ends; of very many none, which would only be a grey area."""
    ends = [scale.within(row.mean + sign * row.spread) for _, row in placed for sign in (-1, 1)]
    if len(placed) <= MOST_DOTS:
        x = [place for at, _ in placed for place in (at, at, np.nan)]
        y = [height for n in range(len(placed)) for height in (*ends[2 * n : 2 * n + 2], np.nan)]
        ax.plot(x, y, color=colour, linewidth=1, alpha=0.55)
    return ends


def score_axis(ax: Any, rows: Rows, scale: Scale, more: Sequence[float] = ()) -> None:
    """The axis of the score, with room for more, which ends where the range of the metric does."""
    ax.set_ylim(*reach_of([*_scores(rows), *more], scale.range))
    ax.set_ylabel(scale.title)


def family_colours(rows: Rows) -> dict[str, tuple[str, bool]]:
    """Of each family the colour of its dots, and whether they are filled; the best family first."""
    return {
        family: (_FAMILY_COLOURS[number] if number < MOST_COLOURS else MUTED, number % 2 == 0)
        for number, family in enumerate(dict.fromkeys(row.family for row in rows))
    }


def _families(rows: Rows, places: dict[int, float]) -> list[Dots]:
    """A layer of dots for each family, the best family first."""
    members = by_family(rows)
    indices = {family: [row.index for row in members[family]] for family in members}
    return [
        Dots(*look, [places[index] for index in indices[family]], _scores(members[family]), indices[family])
        for family, look in family_colours(rows).items()
    ]


def _shaded(rows: Rows, points: Callable[[Facts], list[tuple[float, float]]]) -> list[Dots]:
    """Layers of the best fifth of the rows, the second and so on; ``points``: the dots of a row."""
    layers = []
    for n in range(_SHADES):
        members = rows[n * len(rows) // _SHADES : (n + 1) * len(rows) // _SHADES]
        dots = [(*point, row.index) for row in members for point in points(row)]
        if dots:
            x, y, indices = zip(*dots, strict=True)
            layers.append(Dots(BLUE, True, x, y, indices, opacity=1 - 0.8 * n / (_SHADES - 1)))
    return layers


def _heights(values: Sequence[float], is_log: bool) -> list[float]:
    """The values from 0 to 1; 0.5 where they are all the same."""
    own = np.log10(values) if is_log else np.array(values)
    low, high = own.min(), own.max()
    heights: list[float] = ((own - low) / (high - low) if high > low else np.full(len(own), 0.5)).tolist()
    return heights


def _ends(name: str, values: Sequence[float], rows: Rows) -> tuple[str, ...]:
    """The least and the largest value in these rows, in words."""
    places = int(np.argmin(values)), int(np.argmax(values))
    return tuple(cut(_text(rows[place].parameters[name]), 12) for place in places)


def _scores(rows: Rows) -> list[float]:
    return [row.score for row in rows]


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
