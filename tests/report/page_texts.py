"""The words of a page, section by section, as a reader sees them."""

import html
import re

IN_LINES = re.compile(r"<(?=/?(?:p|div|tr|h\d|li|dt|summary|figcaption|section|caption|details|title)\b)")
OF_THE_MACHINE = ("For a paper", "To reproduce it", "The winner’s parameters", "The model’s parameters")
"""Sections that have tests of their own, or say what is installed."""


def sections_of(page: str) -> dict[str, str]:
    """Heading → text, a line for each paragraph and row of a table; ``head`` is before the first heading."""
    page = re.sub(r"<(style|script|svg|nav)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    page = re.sub(r"[\d.]+ m?s of fitting", "SECONDS of fitting", page)
    page = re.sub(r"<(td|th|dd)\b", r" | <\1", re.sub(r"\s+", " ", page))
    sections = re.split(r'<h2 id="[^"]*">(.*?)</h2>', page)
    texts = dict(zip(["head", *map(plain, sections[1::2])], sections[::2], strict=True))
    return {name: plain(IN_LINES.sub("\n<", text)) for name, text in texts.items() if name not in OF_THE_MACHINE}


def plain(text: str) -> str:
    lines = html.unescape(re.sub(r"<[^>]*>", "", text)).splitlines()
    kept = (re.sub(r"\s+", " ", line).strip() for line in lines)
    return "\n".join(line for line in kept if line)
