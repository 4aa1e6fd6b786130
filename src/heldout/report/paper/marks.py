"""Citations between control characters, until a form of the paragraph is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from heldout._text import markdown_text, printable
from heldout.methods_text import MethodsText
from heldout.references import REFERENCES, bibtex_of

_OPEN, _CLOSE = "\x02", "\x03"
_CITATION = re.compile(f"{_OPEN}([\\w ]+){_CLOSE}")
_OF_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}",
}  # fmt: skip


def cited(keys: Sequence[str]) -> str:
    """Works as a marked citation, with a space before it; empty without any."""
    return f" {_OPEN}{' '.join(dict.fromkeys(keys))}{_CLOSE}" if keys else ""


def written(source: str) -> MethodsText:
    """The forms of a paragraph with marked citations."""
    parts = [part.split() if place % 2 else part for place, part in enumerate(_CITATION.split(source))]
    keys = tuple(dict.fromkeys(key for part in parts for key in part if not isinstance(part, str)))

    def shown(words: Callable[[str], str], citation: Callable[[list[str]], str]) -> str:
        return "".join(words(part) if isinstance(part, str) else citation(part) for part in parts)

    return MethodsText(
        text=shown(printable, lambda keys: f"({'; '.join(REFERENCES[key].cited for key in keys)})"),
        latex=shown(_latex, lambda keys: f"\\citep{{{','.join(keys)}}}"),
        markdown=shown(markdown_text, lambda keys: f"[{'; '.join(f'@{key}' for key in keys)}]"),
        keys=keys,
        bibtex=bibtex_of(keys),
    )


def _latex(text: str) -> str:
    return "".join(_OF_LATEX.get(character, character) for character in printable(text))
