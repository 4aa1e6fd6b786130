"""A matplotlib figure as SVG inside a page: few bytes, text as text, and the colours of the page's style sheet.

matplotlib's own SVG has ids, fonts and clip paths of its own, and several times as many bytes. Here lines are
clipped before they are written, so that nothing needs an id; a dot of a linked line holds its configuration.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from matplotlib.backend_bases import FigureCanvasBase, RendererBase
from matplotlib.colors import to_hex
from matplotlib.path import Path
from matplotlib.transforms import Affine2D, Bbox

from heldout.scales import PAGE_COLOURS

_LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}
_ANCHORS = {"left": "", "center": ' text-anchor="middle"', "right": ' text-anchor="end"'}
_OF_A_LETTER = 0.55
"""Mean width of a letter, of the size of the font: fonts are those of the reader."""


class PageCanvas(FigureCanvasBase):
    """A canvas that draws as SVG."""

    def __init__(self, figure: Any) -> None:
        super().__init__(figure)
        width, height = figure.get_size_inches() * figure.dpi
        self.renderer = PageRenderer(float(width), float(height))

    def body(self) -> str:
        """The elements of the figure; neighbours of one look are in a group that has it."""
        self._lay_out()
        self.figure.draw(self.renderer)
        parts = []
        for look, elements in groupby(self.renderer.elements, key=lambda element: element[0]):
            drawn = [f"<{element}/>" if not text else f"<{element}>{text}</text>" for _, element, text in elements]
            single = len(drawn) == 1
            parts.append(drawn[0].replace(" ", f"{look} ", 1) if single else f"<g{look}>{''.join(drawn)}</g>")
        return "".join(parts)

    def _lay_out(self) -> None:
        """Give the axes the room that their labels and the legend below them leave.

        A constrained layout, which plots outside pages have, takes more than half of the time of a picture.
        """
        renderer = self.renderer
        ax: Any = self.figure.axes[0]
        below = sum(legend.get_window_extent(renderer).height + 8 for legend in self.figure.legends)
        whole, frame = ax.get_tightbbox(renderer), ax.bbox
        left, right = frame.x0 - whole.x0 + 4, whole.x1 - frame.x1 + 6
        bottom, top = frame.y0 - whole.y0 + below + 2, whole.y1 - frame.y1 + 6
        width, height = renderer.get_canvas_width_height()
        ax.set_position([left / width, bottom / height, 1 - (left + right) / width, 1 - (bottom + top) / height])


class PageRenderer(RendererBase):
    """Writes paths, dots and texts as SVG elements."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__()
        self.width, self.height = width, height
        self.elements: list[tuple[str, str, str]] = []
        """Look, element with its other attributes, and text of each."""
        self._links: Sequence[int] | None = None
        self._down = Affine2D().scale(1, -1).translate(0, height)

    def get_canvas_width_height(self) -> tuple[float, float]:
        return self.width, self.height

    def get_text_width_height_descent(self, s: str, prop: Any, ismath: Any) -> tuple[float, float, float]:
        size = prop.get_size_in_points()
        letters = sum(2 if ord(letter) > 0x2E80 else 1 for letter in s)
        return _OF_A_LETTER * size * letters, size, 0.22 * size

    def open_group(self, s: str, gid: Any = None) -> None:
        if gid is not None:
            self._links = gid

    def close_group(self, s: str) -> None:
        if s == "line2d":
            self._links = None

    def draw_path(self, gc: Any, path: Any, transform: Any, rgbFace: Any = None) -> None:
        if look := _look(gc, rgbFace):
            for part in self._clipped(gc, path, transform + self._down, is_filled=rgbFace is not None):
                if d := _written(part):
                    self.elements.append((look, f'path d="{d}"', ""))

    def draw_markers(
        self, gc: Any, marker_path: Any, marker_trans: Any, path: Any, trans: Any, rgbFace: Any = None
    ) -> None:  # fmt: skip
        if marker_path is not Path.unit_circle():
            super().draw_markers(gc, marker_path, marker_trans, path, trans, rgbFace)
            return
        look = _look(gc, rgbFace)
        places = (trans + self._down).transform(path.vertices)
        radius = _number(marker_path.get_extents(marker_trans).width / 2)
        links = [""] * len(places) if self._links is None else [f' data-c="{n}"' for n in self._links]
        for (x, y), link in zip(places.tolist(), links, strict=True):
            if look and np.isfinite(x) and np.isfinite(y):
                circle = f'circle cx="{_number(x)}" cy="{_number(y)}" r="{radius}"{link}'
                self.elements.append((look, circle, ""))

    def draw_text(
        self, gc: Any, x: float, y: float, s: str, prop: Any, angle: float, ismath: Any = False, mtext: Any = None
    ) -> None:  # fmt: skip
        anchor = ""
        if mtext is not None and (angle == 0 or mtext.get_rotation_mode() == "anchor"):
            # Anchored where matplotlib was told, for the font of a page is not the one that it laid out.
            at = mtext.get_transform().transform(mtext.get_unitless_position())
            across = np.array([np.cos(np.radians(angle)), -np.sin(np.radians(angle))])
            start = np.array([x, y])
            x, y = start + across * (across @ (np.array([at[0], self.height - at[1]]) - start))
            anchor = _ANCHORS[mtext.get_horizontalalignment()]
        place = f'x="{_number(x)}" y="{_number(y)}"'
        if angle:
            place += f' transform="rotate({_number(-angle)} {_number(x)} {_number(y)})"'
        bold = ' font-weight="600"' if prop.get_weight() in ("bold", 700) else ""
        look = f' font-size="{_number(prop.get_size_in_points())}" fill="{_colour(gc.get_rgb())}"{anchor}{bold}'
        self.elements.append((look, f"text {place}", escape(s)))

    def _clipped(self, gc: Any, path: Any, transform: Any, *, is_filled: bool) -> Iterator[Any]:
        """The path as it is drawn, without what lies beyond the axes."""
        bounds = gc.get_clip_rectangle()
        if bounds is None:
            yield path.transformed(transform)
            return
        x0, y0, x1, y1 = bounds.x0, self.height - bounds.y1, bounds.x1, self.height - bounds.y0
        if is_filled:
            area = path.transformed(transform)
            extents = area.get_extents()
            inside = extents.x0 >= x0 and extents.x1 <= x1 and extents.y0 >= y0 and extents.y1 <= y1
            yield area if inside else area.clip_to_bbox(Bbox([[x0, y0], [x1, y1]]))
        else:
            yield path.cleaned(transform, remove_nans=True, clip=(x0 - 1, y0 - 1, x1 + 1, y1 + 1), simplify=None)


def _look(gc: Any, face: Any) -> str:
    """Fill and stroke as attributes; empty for what cannot be seen."""
    width, ink = gc.get_linewidth(), gc.get_rgb()
    parts = []
    for kind, colour, seen in (("fill", face, face is not None and face[3]), ("stroke", ink, width and ink[3])):
        if not seen:
            continue
        opacity = gc.get_alpha() if gc.get_forced_alpha() else colour[3]
        parts.append(f' {kind}="{_colour(colour)}"')
        if opacity < 1:
            parts.append(f' {kind}-opacity="{opacity:.2g}"')
    if not parts:
        return ""
    if face is None or not face[3]:
        parts.append(' fill="none"')
    if width and ink[3]:
        parts.append(f' stroke-width="{_number(width)}"')
        dashes = gc.get_dashes()[1]
        if dashes is not None:
            parts.append(f' stroke-dasharray="{" ".join(_number(length) for length in dashes)}"')
    return "".join(parts)


def _colour(rgb: Any) -> str:
    code = to_hex(rgb[:3])
    return PAGE_COLOURS.get(code, code)


def _written(path: Any) -> str:
    return "".join(
        _LETTERS[code] + ",".join(map(_number, vertices.tolist() if code != Path.CLOSEPOLY else []))
        for vertices, code in path.iter_segments(simplify=False)
        if code in _LETTERS
    )


def _number(value: float) -> str:
    text = f"{value:.1f}"
    return text.removesuffix(".0")
