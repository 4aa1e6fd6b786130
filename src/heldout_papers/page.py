"""The page of a study: claims beside our figures, pictures, tables, and what reproduces them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from heldout.references import REFERENCES
from heldout.report.content import Citation, Entry
from heldout.report.render import filled, safe, written
from heldout_papers.claims import Claim


@dataclass(frozen=True)
class Picture:
    """An SVG with a heading and a caption."""

    title: str
    svg: str
    caption: str


@dataclass(frozen=True)
class StudyTable:
    """Cells as text, the first of a row its head."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class StudyPage:
    """What the page of a study shows.

    Attributes
    ----------
    name, title, lead : str
        "bias", the heading, and the main thing in a sentence.
    facts : tuple of Entry
    claims_sentence : str
    claims : tuple of Claim
    pictures : tuple of Picture
    words : tuple of Entry
        What the names in pictures and tables stand for.
    tables : tuple of StudyTable
    method : tuple of str
        How it was done, a paragraph each.
    sources : tuple of str
        Keys of references.
    command : str
        What reproduces it; empty where nobody typed one.
    reproduction : tuple of Entry
    """

    name: str
    title: str
    lead: str
    facts: tuple[Entry, ...]
    claims_sentence: str
    claims: tuple[Claim, ...]
    pictures: tuple[Picture, ...]
    words: tuple[Entry, ...]
    tables: tuple[StudyTable, ...]
    method: tuple[str, ...]
    sources: tuple[str, ...]
    command: str = ""
    reproduction: tuple[Entry, ...] = ()

    @property
    def citations(self) -> tuple[Citation, ...]:
        works = [REFERENCES[key] for key in self.sources]
        return tuple(Citation(str(work).removesuffix(f" doi:{work.doi}"), work.doi) for work in works)


def render_study(page: StudyPage) -> str:
    """The page as text; the same content gives the same text.

    Raises
    ------
    MissingExtraError
        Without the packages of the extra ``app``.
    """
    values = {
        "content": page,
        "page_title": f"heldout study {page.name}",
        "svgs": [safe(p.svg) for p in page.pictures],
    }
    return filled("study.html.jinja", values)


def write_study(page: StudyPage, path: str | os.PathLike[str]) -> Path:
    """Write the page as one self-contained HTML file.

    Raises
    ------
    InputError
        When it cannot be written.
    MissingExtraError
    """
    return written(render_study(page), path, "the report of the study")
