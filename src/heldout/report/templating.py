"""Templates of pages and of Markdown, and how they write values: numbers, names, and our own markup."""

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from heldout._text import counted, ends_text, markdown_text, number_text, printable
from heldout.metrics.named import in_sentence
from heldout.protocols.words import method_words
from heldout.references import CITATIONS
from heldout.report.entries import Facts
from heldout.report.labels import setting_text
from heldout.report.ranking import share_text
from heldout.scales import PAGE_COLOURS

_TICKS_WIDTH, _MOST_TICKS = 120, 40_000
"""Width of the fold scores of a configuration, and how many of them a page draws."""


def number(value: float | None, decimals: int) -> str:
    """A number as the page shows it."""
    return minus(number_text(value, decimals))


def minus(text: str) -> str:
    """Text with minus signs in place of the hyphens of negative numbers."""
    words = text.split(" ")
    return " ".join("−" + word[1:] if word[:1] == "-" and word[1:2].isdigit() else word for word in words)


def digits(value: float) -> str:
    """A number with four significant digits, without an exponent where that is short."""
    return minus(f"{value:,.0f}" if value == int(value) and abs(value) < 1e15 else f"{value:.4g}")


def headings(body: str) -> list[tuple[str, Any]]:
    """The anchor and the title of every section of a page."""
    return [(anchor, safe(title)) for anchor, title in re.findall(r'<h2 id="([^"]+)">(.*?)</h2>', body)]


def count_text(count: float) -> str:
    """A number of rows, with a decimal if it is a mean over repeats."""
    return f"{count:,.0f}" if count == int(count) else f"{count:,.1f}"


def lines(text: str) -> Any:
    """Text of several lines, which stay lines."""
    return safe(escaped(text, keep="\n"))


def escaped(text: str, keep: str = "") -> str:
    """Text in which nothing is markup, without control characters other than those to keep."""
    from markupsafe import escape

    return str(escape(printable(text, keep)))


def breakable(name: str) -> Any:
    """A parameter's name that may break after double underscores."""
    return safe("__<wbr>".join(map(escaped, name.split("__"))))


def ticks(row: Facts, ranking: Facts) -> Any:
    """Fold scores as ticks and their mean as a dot, on one scale for all rows."""
    low, high = ranking.low, ranking.high
    if low is None or high is None:
        return ""
    span = high - low

    def place(value: float) -> float:
        return 4 + (_TICKS_WIDTH - 8) * ((value - low) / span if span else 0.5)

    known = [place(score) for score in row.fold_scores if score is not None]
    if len(known) * len(ranking.shown) > _MOST_TICKS:  # then their range
        lines = f"M{min(known):.1f} 8H{max(known):.1f}"
    else:
        lines = "".join(f"M{at:.1f} 2v12" for at in known)
    dot = "" if row.mean is None else f'<circle cx="{place(row.mean):.1f}" cy="8" r="3.2"/>'
    return safe(f'<svg viewBox="0 0 {_TICKS_WIDTH} 16" aria-hidden="true"><path d="{lines}"/>{dot}</svg>')


def bars(counts: Sequence[int]) -> Any:
    """Counts as bars beside each other, the highest as high as the line."""
    if not counts:
        return ""
    most, width = max(counts), 84 / len(counts)
    drawn = [(n * width, 15 * count / most) for n, count in enumerate(counts) if count]
    path = "".join(f"M{x:.1f} 16v{-height:.1f}h{width - 1:.1f}V16z" for x, height in drawn)
    return safe(f'<svg class="bars" viewBox="0 0 84 16" aria-hidden="true"><path d="{path}"/></svg>')


def code(text: str) -> Any:
    """A sentence, with what stands in its backquotes as code."""
    return safe(re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped(text)))


def safe(text: str) -> Any:
    """Our own markup, made of numbers and constants, which is not escaped."""
    from markupsafe import Markup

    return Markup(text)


def listed(texts: Sequence[str], last: str = "and") -> str:
    """Texts as a list in a sentence.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    return f"{', '.join(texts[:-1])} {last} {texts[-1]}" if len(texts) > 1 else "".join(texts)


def signed(value: float) -> str:
    """A difference with its sign and three decimals."""
    if value != value:
        return number_text(None, 3)
    return ("" if value == 0 else "+" if value > 0 else "−") + number_text(abs(value), 3)


def script_hash(script: str) -> str:
    """What a content security policy calls a script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


FILTERS: Mapping[str, Callable[..., Any]] = {
    "number": number,
    "minus": minus,
    "ends": lambda low, high, decimals: minus(ends_text(low, high, decimals)) or "–",
    "share": lambda part: minus(share_text(part)),
    "ticks": ticks,
    "bars": bars,
    "count_text": count_text,
    "counted": counted,
    "signed": signed,
    "spec": lambda value, spec: number_text(None, 3) if value != value else format(value, spec),
    "breakable": breakable,
    "code": code,
    "risk": lambda part: "–" if part is None else f"{number(100 * part, 1)} %",
    "digits": digits,
    "percent": lambda part: "–" if part is None else f"{100 * part:.1f} %",
    "markup": safe,
    "page_colour": lambda colour: PAGE_COLOURS.get(colour, colour),
    "in_sentence": in_sentence,
    "headings": headings,
    "script_hash": script_hash,
    "lines": lines,
    "decimals": number_text,
    "ends_text": ends_text,
    "method_name": lambda method: method_words(method).name,
    "code_line": lambda text: safe(printable(text)),
    "share_in_text": lambda share, digits=4: f"{100 * share:.{digits}g}%",
    "four_digits": lambda value: f"{value:.4g}",
    "listed": listed,
    "set": lambda settings: listed(
        [f"{name}={setting_text(value)}" for name, value in settings.items() if value not in (None, False, "")]
    ),
}


_OF_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
        ">": r"\textgreater{}", "|": r"\textbar{}", **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)  # fmt: skip
_FORMS: Mapping[str, Callable[[str], str]] = {
    "html": escaped,
    "text": printable,
    "latex": lambda text: printable(text).translate(_OF_LATEX),
    "markdown": markdown_text,
}
"""How each form writes values, without control characters."""


def filled(template: str | Path, values: Mapping[str, Any], form: str = "html") -> str:
    """A template of the package by its name, or of another file; a page has the style of all pages."""
    environment = _environment()
    if isinstance(template, Path):
        read = environment.from_string(template.read_text(encoding="utf-8"))
    else:
        read = environment.get_template(template)
    text: str = read.render(css=safe(source("report.css").strip()), **values, form=form)
    return text


def sentences(template: str | Path, values: Mapping[str, Any]) -> tuple[str, ...]:
    """The lines of a template of plain text."""
    lines = filled(template, values, "text").split("\n")
    return tuple(line.strip() for line in lines if line.strip())


def sentence(template: str, values: Mapping[str, Any]) -> str:
    """What a template of the folder ``sentences`` says, on one line."""
    return " ".join(sentences(f"sentences/{template}.jinja", values))


@cache
def _environment() -> Any:
    """The templates, each read once, which escape values and cite works as the form that is filled needs it."""
    import jinja2

    @jinja2.pass_context
    def written(context: Any, value: Any) -> Any:
        if hasattr(value, "__html__"):  # our own markup
            return value
        form = context.get("form", "html")
        return safe(_FORMS[form](f"{value:,}" if type(value) is int and form != "html" else str(value)))

    @jinja2.pass_context
    def cite(context: Any, keys: str | Iterable[str]) -> Any:
        """A space and works by their keys; nothing without any."""
        keys = [keys] if isinstance(keys, str) else list(dict.fromkeys(keys))
        context["cited"].update(dict.fromkeys(keys))
        return safe(f" {CITATIONS[context['form']](keys)}" if keys else "")

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=written,
        loader=jinja2.FunctionLoader(source),
    )  # fmt: skip
    environment.globals["cite"] = cite
    environment.filters |= FILTERS
    return environment


def source(name: str) -> str:
    """The text of a template."""
    return (files("heldout.report") / "templates" / name).read_text(encoding="utf-8")
