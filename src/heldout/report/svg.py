"""Figures as static SVG inside a page, from Vega-Lite charts, and their colours.

Every series differs from the others in more than its colour (dash, shape, fill or label), and colours are those
of Okabe and Ito. Text and lines use a few fixed colours that the page's style sheet replaces in dark mode.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from heldout.errors import MissingExtraError

INK, MUTED, GRID, BAND = "#1c2024", "#58616b", "#e4e7ea", "#d7e6f1"
BLUE, VERMILLION, GREEN, ORANGE = "#0072b2", "#d55e00", "#009e73", "#e69f00"
SKY, PURPLE, BLACK = "#56b4e9", "#cc79a7", "#1c2024"
SERIES = ((BLUE, ()), (VERMILLION, (6, 3)), (GREEN, (2, 2)), (PURPLE, (8, 3, 2, 3)), (ORANGE, (10, 4)))
MORE_SERIES = ((SKY, (4, 2, 1, 2)), (BLACK, (1, 3)))

WIDTH, TALL = 390, 370
_SVG = "http://www.w3.org/2000/svg"


def altair() -> Any:
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError:
        raise MissingExtraError("the report", "app") from None
    return altair


def inline_svg(chart: Any, key: str, title: str, description: str, *, fit: bool = True) -> str:
    """A chart as one inline <svg> with its own ids and its text alternative."""
    import vl_convert

    styled = (
        chart.configure(background="transparent", aria=False, font="sans-serif", padding=4)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=MUTED, titleColor=INK, domainColor=MUTED, tickColor=MUTED, gridColor=GRID,
            labelFontSize=12, titleFontSize=12.5, titleFontWeight="normal", titlePadding=8, labelPadding=4,
            tickSize=4, labelFlush=False,
        )
    )  # fmt: skip
    spec = styled.to_dict(
        validate=False
    )  # every chart here is drawn in a test, and validation takes most of the time
    if fit:  # width and height include the labels; a column of charts cannot be fitted
        spec["autosize"] = {"type": "fit", "contains": "padding"}
    drawn = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    return _inlined(drawn, key, title, description)


def _inlined(drawn: str, key: str, title: str, description: str) -> str:
    """The SVG with ids of its own counted from 1, without roles and classes, with title and description first."""
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(drawn)
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


def _without_empty_paths(root: ElementTree.Element) -> None:
    for parent in root.iter():
        for node in list(parent):
            if node.tag == f"{{{_SVG}}}path" and node.get("d", "") in ("", "M0,0h0v0h0Z"):
                parent.remove(node)


def inline_data(rows: list[dict[str, Any]]) -> Any:
    return altair().InlineData(values=rows)


def diagonal(low: float, high: float, x: Any, y: Any) -> Any:
    alt = altair()
    ends = [{"x": low, "y": low}, {"x": high, "y": high}]
    return (
        alt.Chart(inline_data(ends)).mark_line(color=MUTED, strokeWidth=1.2, strokeDash=[1.5, 3]).encode(x=x, y=y)
    )
