"""A paragraph for the methods section of an article, with the sources that it cites.

It is written once, with control characters around each citation (``cited``), and shown in the form that a
manuscript needs: plain text, LaTeX, or Markdown. What looks like a citation in the name of a model is text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from heldout._registry import function_of
from heldout._text import markdown_text, printable
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


_OPEN, _CLOSE = "\x02", "\x03"
"""Around the keys of a citation."""

_CITATION = re.compile(f"{_OPEN}([\\w ]+){_CLOSE}")
_OF_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}",
}  # fmt: skip


@dataclass(frozen=True)
class MethodsText:
    """What was done, as a paragraph for an article. ``print`` shows it as plain text.

    Attributes
    ----------
    source : str
        The paragraph with citations as ``cited`` marks them, from which the forms below are made.

    Examples
    --------
    >>> text = MethodsText(f"The rows were resampled{cited(['efron1979', 'tibshirani2009'])}.")
    >>> print(text)
    The rows were resampled (Efron, 1979; Tibshirani and Tibshirani, 2009).
    >>> print(text.latex)
    The rows were resampled \\citep{efron1979,tibshirani2009}.
    >>> print(text.markdown)
    The rows were resampled [@efron1979; @tibshirani2009].
    >>> text.keys
    ('efron1979', 'tibshirani2009')
    """

    source: str

    @property
    def text(self) -> str:
        """Plain text, with authors and years."""
        return self._shown(printable, lambda keys: f"({'; '.join(map(_author_and_year, keys))})")

    @property
    def latex(self) -> str:
        r"""LaTeX, with ``\citep`` of natbib; the keys are those of ``bibtex``."""
        return self._shown(_latex, lambda keys: f"\\citep{{{','.join(keys)}}}")

    @property
    def markdown(self) -> str:
        """Markdown, with sources as pandoc, Quarto and R Markdown cite them: ``[@tsamardinos2018]``."""
        return self._shown(markdown_text, lambda keys: f"[{'; '.join(f'@{key}' for key in keys)}]")

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the cited works, in the order in which they are cited."""
        return tuple(dict.fromkeys(key for part in self._parts for key in part if not isinstance(part, str)))

    @property
    def bibtex(self) -> str:
        """The cited works as BibTeX entries."""
        return bibtex_of(self.keys)

    def to_markdown(self) -> str:
        """The paragraph and the entries as a Markdown document, which ``heldout tune`` writes as methods.md."""
        entries = f"\n\n```bibtex\n{self.bibtex}\n```" if self.keys else ""
        return f"{markdown_text(self.text)}{entries}\n"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        entries = f"<pre>{html.escape(self.bibtex)}</pre>" if self.keys else ""
        return f"<p>{html.escape(self.text)}</p>{entries}"

    @property
    def _parts(self) -> list[str | list[str]]:
        """The text in order, with citations as lists of keys; marks that enclose no known work are text."""
        parts: list[str | list[str]] = []
        for place, part in enumerate(_CITATION.split(self.source)):
            keys = part.split() if place % 2 else []
            parts.append(keys if keys and REFERENCES.keys() >= set(keys) else part)
        return parts

    def _shown(self, words: Callable[[str], str], citation: Callable[[list[str]], str]) -> str:
        return "".join(words(part) if isinstance(part, str) else citation(part) for part in self._parts)


class WithMethodsText:
    """A result that can say what was done."""

    def methods_text(self) -> MethodsText:
        """What was done, as a paragraph for the methods section of an article, every number from this result.

        Returns
        -------
        MethodsText
            ``print`` shows the paragraph; ``.latex`` and ``.markdown`` cite by key, ``.bibtex`` has the entries.
        """
        written: MethodsText = function_of("methods text")(self)
        return written


def cited(keys: Sequence[str]) -> str:
    r"""Works as a marked citation, with a space before it; empty without any.

    Examples
    --------
    >>> cited(["efron1979", "ghosh1992"]), cited([])
    (' \x02efron1979 ghosh1992\x03', '')
    """
    return f" {_OPEN}{' '.join(dict.fromkeys(keys))}{_CLOSE}" if keys else ""


def _author_and_year(key: str) -> str:
    work = REFERENCES[key]
    families = [family for family, _ in authors_of(work.authors)]
    names = " and ".join(families) if len(families) < 3 else f"{families[0]} et al."
    return f"{names}, {work.year}"


def _latex(text: str) -> str:
    return "".join(_OF_LATEX.get(character, character) for character in printable(text))
