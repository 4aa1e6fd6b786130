"""The page of a study: claims beside our figures, pictures, tables, and how to repeat it."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from heldout._text import counted
from heldout._version import __version__
from heldout.references import REFERENCES
from heldout.report.entries import Facts
from heldout.report.render import written
from heldout.report.templating import filled, safe
from heldout_papers.engine.claims import Claim
from heldout_papers.engine.pictures import Picture

TEMPLATE = Path(__file__).with_name("study.html.jinja")


@dataclass(frozen=True)
class StudyTable:
    """Cells as text, the first of a row its head."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Settings = Mapping[str, str | int | Sequence[float]]
"""What was studied, by labels: texts, numbers, and sizes that differ between settings."""
Cells = Mapping[str, str]
"""The cells of a row by the heads of their columns."""


def study_tables(
    title: str, rows: Sequence[tuple[str, Cells]], *, corner: str = "", width: int | None = None
) -> list[StudyTable]:
    """Rows with their labels as a table, or as several of ``width`` columns; none without rows or columns.

    Examples
    --------
    >>> study_tables("Bias", [("20 rows", {"CVT": "+0.1", "TT": "+0.0"})], width=1)[1]
    StudyTable(title='Bias', head=('', 'TT'), rows=(('20 rows', '+0.0'),))
    """
    heads = list(rows[0][1]) if rows else []
    step = width or max(len(heads), 1)
    parts = [heads[first : first + step] for first in range(0, len(heads), step)]
    return [
        StudyTable(title, (corner, *part), tuple((label, *(cells[head] for head in part)) for label, cells in rows))
        for part in parts
    ]


class ClaimsText(NamedTuple):
    """What the claims of a page are about, in words."""

    of: str  # Before the verb: "of section 5 that these settings can test"
    needed: str  # What a study needs to test a claim; shown where it can test none
    rest: str = ""  # After the verb
    # Of a study whose claims are no article's
    heading: str = "What the article claims, and what we found"
    claim: str = "claim of the article"
    published: str = "Published"


@dataclass(frozen=True, kw_only=True)
class StudyPage:
    """What the page of a study shows."""

    # "bias", the heading, and the main result in a sentence
    name: str
    title: str
    lead: str
    settings: Settings
    claims: tuple[Claim, ...]
    tested: ClaimsText
    pictures: Sequence[Picture]
    glossary: Mapping[str, str]  # What the names in pictures and tables stand for
    tables: Sequence[StudyTable]
    method: tuple[str, ...]  # How it was done, a paragraph each
    sources: tuple[str, ...]  # Keys of references
    entropy: int  # The seed that repeats the study
    versions: Mapping[str, str] = field(default_factory=dict)  # Of packages besides heldout and NumPy
    command: str = ""  # The command that repeats it; empty without one
    with_machine: bool = False  # Whether results depend on the machine

    @property
    def facts(self) -> dict[str, str]:
        """The settings as texts."""
        return {label: _text_of(value) for label, value in self.settings.items()}

    @property
    def claims_sentence(self) -> str:
        """How many claims hold, and what they are about."""
        if not self.claims:
            return f"No {self.tested.claim} can be tested with these settings: that takes {self.tested.needed}."
        n = sum(claim.holds is True for claim in self.claims)
        hold = "holds" if n == 1 else "hold"
        return f"{n} of {counted(len(self.claims), 'claim')} {self.tested.of} {hold}{self.tested.rest}."

    @property
    def citations(self) -> tuple[Facts, ...]:
        works = [REFERENCES[key] for key in self.sources]
        return tuple(Facts(text=str(work).removesuffix(f" doi:{work.doi}"), doi=work.doi) for work in works)

    @property
    def reproduction(self) -> dict[str, str]:
        versions = {"heldout": __version__, "NumPy": np.__version__, **self.versions}
        machine = {"Machine": f"{platform.machine()}, {platform.system()}"} if self.with_machine else {}
        return {
            "Seed": str(self.entropy),
            "Versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
            "Python": platform.python_version(),
            **machine,
        }


def shown(value: float, form: str) -> str:
    """A number, or a dash for NaN.

    Examples
    --------
    >>> shown(0.25, ".0%"), shown(-0.00001, "+.1%"), shown(float("nan"), ".0%")
    ('25%', '+0.0%', '-')
    """
    return format(round(value, 4) + 0.0, form) if np.isfinite(value) else "-"


def _text_of(value: str | int | Sequence[float]) -> str:
    """Sizes are in order, each once.

    Examples
    --------
    >>> _text_of([1000, 20, 20]), _text_of([0.25]), _text_of(1000), _text_of("all")
    ('20, 1,000', '0.25', '1,000', 'all')
    """
    if isinstance(value, str):
        return value
    sizes: Sequence[float] = [value] if isinstance(value, int) else value
    return ", ".join(f"{size:,g}" if size < 1 else f"{size:,}" for size in sorted(set(sizes)))


def render_study(page: StudyPage) -> str:
    """The page as text; the same content gives the same text."""
    values = {
        "content": page,
        "page_title": f"heldout study {page.name}",
        "svgs": [safe(picture.svg) for picture in page.pictures],
    }
    return filled(TEMPLATE, values)


def write_study(page: StudyPage, path: str | os.PathLike[str]) -> Path:
    """Write the page as one self-contained HTML file."""
    return written(render_study(page), path, "the report of the study")
