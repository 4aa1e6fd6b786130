"""Figures as static SVG inside a page, from Vega-Lite charts.

Text and lines use a few fixed colours that the page's style sheet replaces in dark mode.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any, TypeAlias
from xml.etree import ElementTree

from heldout.errors import MissingExtraError
from heldout.scales import GRID, INK, MUTED, SKY, Dash

WIDTH, TALL = 390, 370
_WITH_BARS, _UPPER, _LOWER = 318, 246, 54
"""Width of a figure with bars below it, height of its upper part, and of its bars."""
DOTTED = (1.5, 3)

NOTHING_LINKED: Mapping[str, Sequence[int]] = MappingProxyType({})
DOT_RADIUS = "3.2"

KeyEntry: TypeAlias = tuple[str, str, Dash, float]
"""Name, colour and dash of a line, and the height of its entry in the key."""

Spec: TypeAlias = dict[str, Any]
"""A chart as Vega-Lite has it."""

_SVG = "http://www.w3.org/2000/svg"
_CONFIG: Spec = {
    "background": "transparent", "aria": False, "font": "sans-serif", "padding": 4, "view": {"stroke": None},
    "axis": {
        "labelColor": MUTED, "titleColor": INK, "domainColor": MUTED, "tickColor": MUTED, "gridColor": GRID,
        "labelFontSize": 12, "titleFontSize": 12.5, "titleFontWeight": "normal", "titlePadding": 8,
        "labelPadding": 4, "tickSize": 4, "labelFlush": False,
    },
}  # fmt: skip


def altair() -> Any:
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError:
        raise MissingExtraError("the report", "app") from None
    return altair


def layered(*layers: Any, width: int, height: int) -> Spec:
    """Charts over each other with axes in common, as Vega-Lite has them.

    altair's own function copies each chart with its data several times, which took half the time of a report.
    """
    datasets: Spec = {}
    context = {"top_level": False, "datasets": datasets}
    # Every chart here is drawn in a test, and validation takes most of the time.
    specs = [layer.to_dict(validate=False, context=context) for layer in layers]
    return {"layer": specs, "width": width, "height": height, "datasets": datasets}


def inline_svg(
    chart: Spec,
    key: str,
    title: str,
    description: str,
    *,
    fit: bool = True,
    linked: Mapping[str, Sequence[int]] = NOTHING_LINKED,
) -> str:
    """A chart as one inline <svg> with its own ids and its text alternative.

    ``linked``: for layers of dots, by their name, the configuration of each dot, so that a page can mark it.
    """
    import vl_convert

    spec = {"$schema": altair().SCHEMA_URL, "config": _CONFIG, **chart}
    if fit:  # width and height include the labels; a column of charts cannot be fitted
        spec["autosize"] = {"type": "fit", "contains": "padding"}
    drawn = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    return _inlined(drawn, key, title, description, linked)


def _inlined(drawn: str, key: str, title: str, description: str, linked: Mapping[str, Sequence[int]]) -> str:
    """The SVG with ids of its own counted from 1, without roles and classes, with title and description first."""
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(drawn)
    _link_dots(root, linked)
    ids = {node.get("id"): f"{key}-{n}" for n, node in enumerate((e for e in root.iter() if e.get("id")), start=1)}
    for node in root.iter():
        for name in [a for a in node.attrib if a in ("class", "role", "pointer-events") or a.startswith("aria-")]:
            del node.attrib[name]
        for name, value in node.attrib.items():
            if name == "id":
                node.set(name, ids[value])
            elif "url(#" in value:
                node.set(name, re.sub(r"url\(#([^)]+)\)", lambda match: f"url(#{ids[match.group(1)]})", value))
    _without_empty_paths(root)
    for place, (tag, text) in enumerate((("title", title), ("desc", description))):
        node = ElementTree.Element(f"{{{_SVG}}}{tag}", {"id": f"{key}-{tag}"})
        node.text = text
        root.insert(place, node)
    for name in ("version", "width", "height"):
        root.attrib.pop(name, None)
    width = float(root.attrib["viewBox"].split()[2])
    root.attrib.update(
        {"role": "img", "aria-labelledby": f"{key}-title {key}-desc", "style": f"max-width:{width:.0f}px"}
    )
    return ElementTree.tostring(root, encoding="unicode")


def _link_dots(root: ElementTree.Element, linked: Mapping[str, Sequence[int]]) -> None:
    """Turn the dots of named layers into circles that hold their configuration, and their group its style."""
    for group in root.iter(f"{{{_SVG}}}g"):
        name = next((name for name in linked if f"{name}_marks" in group.get("class", "").split()), None)
        if name is None:
            continue
        dots = list(group)
        for attribute in ("fill", "stroke", "opacity", "stroke-width"):
            if dots and attribute in dots[0].attrib:
                group.set(attribute, dots[0].attrib[attribute])
        for dot, configuration in zip(dots, linked[name], strict=True):
            x, y = (f"{float(part):.1f}" for part in dot.attrib["transform"][10:-1].split(","))
            dot.tag = f"{{{_SVG}}}circle"
            dot.attrib.clear()
            dot.attrib.update({"cx": x, "cy": y, "r": DOT_RADIUS, "data-c": str(configuration)})


def _without_empty_paths(root: ElementTree.Element) -> None:
    for parent in root.iter():
        for node in list(parent):
            if node.tag == f"{{{_SVG}}}path" and node.get("d", "") in ("", "M0,0h0v0h0Z"):
                parent.remove(node)


def inline_data(rows: list[dict[str, Any]]) -> Any:
    return altair().InlineData(values=rows)


def diagonal(low: float, high: float, x: Any, y: Any) -> Any:
    return line([{"x": low, "y": low}, {"x": high, "y": high}], x, y, MUTED, DOTTED, 1.2)


def unit_axes(x_title: str | None, y_title: str) -> tuple[Any, Any]:
    """The encodings of x and y for shares, from 0 to 1; without a title x has no labels either."""
    alt = altair()
    unit = alt.Scale(domain=[0, 1], nice=False)
    labels = {"labels": False, "ticks": False} if x_title is None else {"format": ".1f"}
    x = alt.X("x:Q", scale=unit, axis=alt.Axis(title=x_title, tickCount=5, **labels))
    return x, alt.Y("y:Q", scale=unit, axis=alt.Axis(title=y_title, tickCount=5, format=".1f"))


def line(points: list[dict[str, Any]], x: Any, y: Any, colour: str, dash: Dash, width: float, **mark: Any) -> Any:
    """A line through points, in their order where they have a number ``n``, else by their x."""
    alt = altair()
    style = {"strokeDash": list(dash)} if dash else {}
    order = {"order": alt.Order("n:Q")} if points and "n" in points[0] else {}
    chart = alt.Chart(inline_data(points)).mark_line(color=colour, strokeWidth=width, **style, **mark)
    return chart.encode(x=x, y=y, **order)


def texts(places: list[dict[str, Any]], x: Any, y: Any, *, size: float = 13, **mark: Any) -> Any:
    """The ``text`` of each place."""
    alt = altair()
    chart = alt.Chart(inline_data(places)).mark_text(color=INK, fontSize=size, **mark)
    return chart.encode(x=x, y=y, text=alt.Text("text:N"))


def key_of_lines(
    entries: Iterable[KeyEntry],
    x: Any,
    y: Any,
    *,
    ends: tuple[float, float],
    beside: float,
    width: float = 2.5,
    size: float = 12,
) -> list[Any]:
    """A piece of each line, with its ends at these x, and the line's name beside it."""
    layers = []
    for name, colour, dash, height in entries:
        layers.append(line([{"x": end, "y": height} for end in ends], x, y, colour, dash, width))
        place = [{"x": beside, "y": height, "text": name}]
        layers.append(texts(place, x, y, size=size, align="left", baseline="middle"))
    return layers


def shortened_name(name: str, letters: int) -> str:
    return name if len(name) <= letters else name[: letters - 1] + "…"


def histogram(edges: Sequence[float], counts: Sequence[int], x_scale: Any, y_scale: Any, axis: Any) -> Any:
    """The bars of the steps that are not empty."""
    alt = altair()
    bars = [
        {"from": low, "to": high, "count": count, "zero": 0}
        for (low, high), count in zip(pairwise(edges), counts, strict=True)
        if count
    ]
    return (
        alt.Chart(inline_data(bars))
        .mark_bar(color=SKY, x2Offset=-1)
        .encode(
            x=alt.X("from:Q", scale=x_scale, axis=axis),
            x2=alt.X2("to:Q"),
            y=alt.Y("count:Q", scale=y_scale, axis=None),
            y2=alt.Y2("zero:Q"),
        )
    )


def rows_below(upper: Sequence[Any], rows: Sequence[float], low: float, span: float, scale: Any, axis: Any) -> Spec:
    """The layers of a figure with bars below it: rows by prediction, in equal steps from ``low`` over ``span``."""
    alt = altair()
    steps = len(rows)
    bars = [
        {"from": low + span * step / steps, "to": low + span * (step + 1) / steps, "rows": count, "zero": 0}
        for step, count in enumerate(rows)
        if count
    ]
    y = alt.Y("rows:Q", axis=alt.Axis(title="rows", tickCount=2, grid=False, format=",.0f"))
    lower = (
        alt.Chart(inline_data(bars))
        .mark_bar(color=MUTED, x2Offset=-1)
        .encode(x=alt.X("from:Q", scale=scale, axis=axis), x2=alt.X2("to:Q"), y=y, y2=alt.Y2("zero:Q"))
    )
    parts = [layered(*upper, width=_WITH_BARS, height=_UPPER), layered(lower, width=_WITH_BARS, height=_LOWER)]
    datasets = {name: rows for part in parts for name, rows in part.pop("datasets").items()}
    return {"vconcat": parts, "spacing": 14, "datasets": datasets}
