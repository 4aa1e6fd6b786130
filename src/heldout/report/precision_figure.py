"""The figure of precision over recall."""

from __future__ import annotations

from heldout.report.svg import (
    DOTTED,
    TALL,
    WIDTH,
    inline_svg,
    key_of_lines,
    layered,
    line,
    shortened_name,
    texts,
    unit_axes,
)
from heldout.report.winner_curves import PrecisionRecallPoints
from heldout.scales import BLUE, MORE_SERIES, MUTED, SERIES


def precision_recall_svg(curves: tuple[PrecisionRecallPoints, ...], *, key: str) -> str:
    """One curve per repeat for a binary task, or one per class; the dotted line is the precision of guessing."""
    by_class = any(curve.name for curve in curves)
    x, y = unit_axes("recall", "precision")
    styles = (SERIES + MORE_SERIES) if by_class else ((BLUE, ()),)
    opacity = 1.0 if by_class or len(curves) == 1 else 0.55
    layers = []
    if not by_class:
        share = curves[0].prevalence
        layers.append(line([{"x": 0.0, "y": share}, {"x": 1.0, "y": share}], x, y, MUTED, DOTTED, 1.2))
    for number, curve in enumerate(curves):
        points = [
            {"x": a, "y": b, "n": n} for n, (a, b) in enumerate(zip(curve.recall, curve.precision, strict=True))
        ]
        colour, dash = styles[number % len(styles)]
        # Steps, whose area is the average precision: precision between two recalls is not on a straight line.
        steps = {"interpolate": "step-before", "strokeJoin": "round"}
        layers.append(line(points, x, y, colour, dash, 2, opacity=opacity, **steps))
    if by_class:
        entries = [
            (
                f"{shortened_name(curve.name, 16)} {curve.average_precision:.3f}",
                *(SERIES + MORE_SERIES)[number % 7],
                0.05 + 0.062 * (len(curves) - 1 - number),
            )
            for number, curve in enumerate(curves)
        ]
        layers += key_of_lines(entries, x, y, ends=(0.04, 0.13), beside=0.15)
    else:
        mean = sum(curve.average_precision for curve in curves) / len(curves)
        of_repeats = f", mean of {len(curves)} repeats" if len(curves) > 1 else ""
        text = [{"x": 0.03, "y": 0.05, "text": f"average precision {mean:.3f}{of_repeats}"}]
        layers.append(texts(text, x, y, align="left", baseline="bottom"))
    chart = layered(*layers, width=WIDTH, height=TALL)
    averages = ", ".join(f"{curve.name} {curve.average_precision:.3f}".strip() for curve in curves)
    return inline_svg(chart, key, "Precision and recall", f"Precision over recall; average precision: {averages}.")
