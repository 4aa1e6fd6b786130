"""Results as notebooks show them: small pieces of HTML that need no file, no script and no style sheet.

They take the colours and the font of the page around them, so that they are light or dark as it is. Every text is
escaped here.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_LEFT = " style='text-align:left'"


class Strong(str):
    """A text that is shown in bold."""

    __slots__ = ()


def table(rows: Iterable[Sequence[Any]], *, head: Sequence[str] = (), caption: str = "") -> str:
    """A table, of which the first cell of a row is a name and the others are values.

    - ``rows``: texts; ``Strong`` ones in bold.

    Examples
    --------
    >>> table([("a<b", Strong("0.5"))])
    "<table><tr><th style='text-align:left'>a&lt;b</th><td><strong>0.5</strong></td></tr></table>"
    """
    titled = f"<caption>{_text(caption)}</caption>" if caption else ""
    headed = f"<tr>{''.join(f'<th{_LEFT}>{_text(each)}</th>' for each in head)}</tr>" if head else ""
    body = "".join(
        f"<tr>{''.join(_cell(cell, is_name=not number) for number, cell in enumerate(row))}</tr>" for row in rows
    )
    return f"<table>{titled}{headed}{body}</table>"


def notes(sentences: Iterable[str], warnings: Iterable[str] = ()) -> str:
    """A list of sentences, warnings in bold; empty without any.

    Examples
    --------
    >>> notes(["Few rows."], ["Stop."]), notes([])
    ('<ul><li>Few rows.</li><li><strong>Stop.</strong></li></ul>', '')
    """
    items = [_text(each) for each in sentences] + [_text(Strong(each)) for each in warnings]
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>" if items else ""


def line(text: str) -> str:
    """A line that stands by itself, in bold where it is ``Strong``.

    Examples
    --------
    >>> line(Strong("accuracy 0.93"))
    '<p><strong>accuracy 0.93</strong></p>'
    """
    return f"<p>{_text(text)}</p>"


def record(values: Mapping[str, Any]) -> str:
    """The fields of one record, a row each; lists and arrays are left out, as they have frames of their own.

    Examples
    --------
    >>> record({"outer_score": 0.81234, "rows": [1, 2]})
    "<table><tr><th style='text-align:left'>outer score</th><td>0.8123</td></tr></table>"
    """
    shown = {
        name.replace("_", " "): f"{value:.4g}" if isinstance(value, float) else value
        for name, value in values.items()
        if isinstance(value, str | int | float) and value != ""
    }
    return table(list(shown.items()))


def _cell(text: Any, is_name: bool) -> str:
    return f"<th{_LEFT}>{_text(text)}</th>" if is_name else f"<td>{_text(text)}</td>"


def _text(text: Any) -> str:
    shown = html.escape(str(text))
    return f"<strong>{shown}</strong>" if isinstance(text, Strong) else shown
