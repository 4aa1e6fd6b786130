"""The texts of an advice, from ``advice.toml``: those are said whose facts are known."""

from __future__ import annotations

import re
import string
import tomllib
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

from heldout._text import counted, number_text
from heldout.execution.listeners.words import duration

TEXTS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    (files("heldout.advice") / "advice.toml").read_text(encoding="utf-8")
)


def said(part: str, facts: Mapping[str, Any]) -> tuple[str, ...]:
    """The sentences of a part that apply: all facts are there that the text names, and the one of its name."""
    return tuple(
        _FORMATTER.vformat(text, (), facts)
        for name, text in TEXTS[part].items()
        if facts.get(name, True) and all(facts[fact] for fact in re.findall(r"{(\w+)", text))
    )


class _Formatter(string.Formatter):
    """Format as ``str.format`` does, and numbers with a unit: ``{n:row}`` is "1 row" or "2 rows"."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if value != value:
            return number_text(None, 3)
        if format_spec in FORMATS:
            return FORMATS[format_spec](value)
        return counted(value, format_spec) if format_spec.isalpha() else format(value, format_spec)


def signed(value: float) -> str:
    """A difference with its sign."""
    return ("" if value == 0 else "+" if value > 0 else "−") + number_text(abs(value), 3)


FORMATS: dict[str, Callable[[float], str]] = {
    "time": duration,
    "signed": signed,
    "small": lambda value: number_text(value, 3),
}
_FORMATTER = _Formatter()


def between(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"
