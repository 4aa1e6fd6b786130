"""The sources that methods, metrics and rules cite by key: the entries of ``references.bib``, read once."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files

from heldout._version import __version__

PACKAGE = "heldout"
"""The key of this package, among the sources of its own methods."""


@dataclass(frozen=True)
class Reference:
    """A published work.

    Attributes
    ----------
    authors : str
        As a bibliography lists them.
    year : int
    title, where : str
    doi : str
        Empty without one.
    cited : str
        As a text cites it: family names and the year.
    entry : str
        As BibTeX.

    Examples
    --------
    >>> print(REFERENCES["wald1947"])
    Wald, A. (1947). Sequential analysis. Wiley, New York.
    >>> REFERENCES["tsamardinos2018"].cited
    'Tsamardinos et al., 2018'
    """

    authors: str
    year: int
    title: str
    where: str
    doi: str
    cited: str
    entry: str

    def __str__(self) -> str:
        link = f" doi:{self.doi}" if self.doi else ""
        return f"{self.authors} ({self.year}). {self.title}. {self.where}.{link}"


def bibtex_of(keys: Iterable[str]) -> str:
    """The entries of some references, each once."""
    return "\n\n".join(REFERENCES[key].entry for key in dict.fromkeys(keys))


def _read(text: str) -> dict[str, Reference]:
    """The entries of a file that has one field a line and an empty line between two entries."""
    entries = text.strip().replace("VERSION", __version__).split("\n\n")
    return {entry[entry.index("{") + 1 : entry.index(",")]: _reference(entry) for entry in entries}


def _reference(entry: str) -> Reference:
    lines = [line.strip().removesuffix(",").split(" = ", 1) for line in entry.splitlines()[1:-1]]
    fields = {name: text[1:-1] for name, text in lines}
    people = [name.strip("{}") for name in fields["author"].split(" and ")]
    families = [name.partition(",")[0] for name in people]
    cited = " and ".join(families) if len(families) < 3 else f"{families[0]} et al."
    year = fields["year"]
    return Reference(
        authors=" and ".join([", ".join(people[:-1]), people[-1]]) if len(people) > 1 else people[0],
        year=int(year),
        title=fields["title"].strip("{}"),
        where=_place(fields),
        doi=fields.get("doi", ""),
        cited=f"{cited}, {year}",
        entry=entry,
    )


def _place(fields: Mapping[str, str]) -> str:
    """Where a work appeared, as a bibliography prints it."""
    if "eprint" in fields:
        return f"arXiv:{fields['eprint']}"
    names = ("journal", "booktitle", "publisher", "howpublished")
    place = next(fields[name] for name in names if name in fields)
    volume = f" {fields['volume']}" if "volume" in fields else ""
    number = f" ({fields['number']})" if "number" in fields else ""
    rest = [fields[name].replace("--", "-") for name in ("pages", "note") if name in fields]
    return ", ".join([f"{place}{volume}{number}", *rest])


REFERENCES: Mapping[str, Reference] = _read((files("heldout") / "references.bib").read_text(encoding="utf-8"))

CITATIONS: Mapping[str, Callable[[Iterable[str]], str]] = {
    "text": lambda keys: f"({'; '.join(REFERENCES[key].cited for key in keys)})",
    "latex": lambda keys: rf"\citep{{{','.join(keys)}}}",
    "markdown": lambda keys: f"[{'; '.join(f'@{key}' for key in keys)}]",
}
"""How each form of a text cites works, by their keys."""
