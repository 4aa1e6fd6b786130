"""The page on which a file of predictions is dropped, the form for what the file does not say, and the band above
its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from heldout._text import bytes_text
from heldout.report.render import filled


@dataclass(frozen=True)
class FormField:
    """A field of the form.

    - ``choices``: what can be chosen; empty where the value is typed. Only columns are chosen from a list.
    - ``default``: what holds if nothing is typed.
    - ``always_shown``: whether it stands in the form at once, and not among the others.
    - ``is_asked``: whether the sentence above the form is about it.
    """

    name: str
    label: str
    option: str
    help: str
    values: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    of_columns: bool = False
    is_flag: bool = False
    multiple: bool = False
    default: str = ""
    always_shown: bool = False
    is_asked: bool = False


def drop_html(most_bytes: int) -> str:
    """The page for a file."""
    size = {"most_bytes": most_bytes, "most": bytes_text(most_bytes)}
    return filled("drop.html.jinja", {"page_title": "heldout: a file of predictions", **size})


def options_html(name: str, lines: Sequence[str], fields: Sequence[FormField], why_not: str) -> str:
    """The page of a file that has no report yet: why, and the form."""
    shown = {"name": name, "lines": lines, "fields": fields, "why_not": why_not}
    return filled("options.html.jinja", {"page_title": f"heldout: {name}", **shown})


def answer_band(name: str, lines: Sequence[str], fields: Sequence[FormField], alone: str) -> str:
    """What stands above the report on a file: what was recognised, and the form to read it in another way.

    ``alone`` is the address of the report without it.
    """
    return filled("answer_band.html.jinja", {"name": name, "lines": lines, "fields": fields, "alone": alone})


def drop_script() -> str:
    """The script of the page for a file."""
    return (files("heldout.report") / "templates" / "drop.js").read_text(encoding="utf-8")
