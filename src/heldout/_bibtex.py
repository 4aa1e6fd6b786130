"""References as BibTeX entries."""

from __future__ import annotations

import re
from collections.abc import Iterable

from heldout.references import REFERENCES, Reference

_ARTICLE = re.compile(
    r"(?P<journal>.+?) (?P<volume>\d+)(?: \((?P<number>[\w-]+)\))?(?:, (?P<pages>[\w:]+(?:-[\w:]+)?))?"
)
_PREPRINT = re.compile(r"arXiv:(?P<eprint>[\d.]+)")
_MEETING = re.compile(
    r"(?P<booktitle>.*(?:Conference|Advances in).*?)(?: (?P<volume>\d+))?(?:, (?P<pages>\d+-\d+))?"
)
_PACKAGE = re.compile(r"(?P<howpublished>Python package, version .+)")
_BOOK = re.compile(r"(?P<publisher>[^,]+)(?:, (?P<note>.+))?")


def bibtex_of(keys: Iterable[str]) -> str:
    """The entries of some references, each once, by their keys of ``references.REFERENCES``.

    Examples
    --------
    >>> print(bibtex_of(["efron1979"]))
    @article{efron1979,
      author = {Efron, B.},
      title = {{Bootstrap methods: another look at the jackknife}},
      journal = {Annals of Statistics},
      year = {1979},
      volume = {7},
      pages = {1--26},
      doi = {10.1214/aos/1176344552},
    }
    """
    return "\n\n".join(_entry(key, REFERENCES[key]) for key in dict.fromkeys(keys))


def _entry(key: str, work: Reference) -> str:
    kind, where = _kind_and_place(work.where)
    first = next(iter(where))
    fields = {
        "author": " and ".join(
            f"{family}, {given}" if given else f"{{{family}}}" for family, given in authors_of(work.authors)
        ),
        "title": f"{{{work.title}}}",  # the inner braces keep capitals
        first: where.pop(first),
        "year": str(work.year),
        **where,
        "doi": work.doi,
    }
    lines = [f"  {name} = {{{_escaped(text, name)}}}," for name, text in fields.items() if text]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def authors_of(authors: str) -> list[tuple[str, str]]:
    """The authors as (family name, initials); a group has no initials.

    Examples
    --------
    >>> authors_of("Rad, K. R. and Maleki, A."), authors_of("van Buuren, S., Li, H. and Wu, X.")[0]
    ([('Rad', 'K. R.'), ('Maleki', 'A.')], ('van Buuren', 'S.'))
    """
    names = authors.replace(" and ", ", ").split(", ")
    if len(names) == 1:
        return [(names[0], "")]
    return list(zip(names[::2], names[1::2], strict=True))


def _kind_and_place(where: str) -> tuple[str, dict[str, str]]:
    """The kind of an entry, and what it says of the place, the name of the place first."""
    kinds = {_PREPRINT: "misc", _PACKAGE: "misc", _MEETING: "inproceedings", _ARTICLE: "article", _BOOK: "book"}
    for pattern, kind in kinds.items():
        if found := pattern.fullmatch(where):
            place = {name: text.replace("-", "--") if name == "pages" else text
                     for name, text in found.groupdict().items() if text}  # fmt: skip
            return kind, {**place, **({"archiveprefix": "arXiv"} if pattern is _PREPRINT else {})}
    raise ValueError(f"no kind of BibTeX entry has the place {where!r}")


def _escaped(text: str, field: str) -> str:
    """The text with the characters that LaTeX reads as commands escaped; a DOI is read as it is."""
    return text if field == "doi" else re.sub(r"([&%#_])", r"\\\1", text)
