"""How Sphinx makes the site. ``.ci/site`` builds it; notes/decisions/0039-site.md says why it is made this way."""

from __future__ import annotations

import re
import shutil
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from importlib.metadata import version as version_of
from inspect import getdoc
from pathlib import Path
from socket import create_connection
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, urlsplit

from docutils.nodes import Element, SkipNode
from latex2mathml.converter import convert
from numpydoc.xref import DEFAULT_LINKS

from heldout.references import REFERENCES

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
ADDRESS = (HERE / "address").read_text(encoding="utf-8").strip()
"""Of the repository; ``.ci/release`` writes it."""

project = "heldout"
author = "the heldout developers"
copyright = "the heldout developers"
release = version_of("heldout")
version = ".".join(release.split(".")[:2])

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "gallery", "images/*.py"]

# Pages are Markdown that GitHub shows as well.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_url_schemes = {"http": None, "https": None, "mailto": None, "repository": "{{path}}"}  # see link_repository

# A page for each public name, from its docstring.
autosummary_generate = [str(page) for page in sorted((HERE / "api").glob("*.rst"))]
autodoc_typehints = "none"  # numpydoc lists the parameters with their types
toc_object_entries_show_parents = "hide"  # with them names are cut off
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # but the aliases


def is_reachable(address: str) -> bool:
    """Whether the host of an address answers."""
    try:
        create_connection((urlsplit(address).netloc, 443), timeout=2).close()
    except OSError:
        return False
    return True


INVENTORIES = {
    "python": "https://docs.python.org/3",
    "numpy": "https://numpy.org/doc/stable",
    "scipy": "https://docs.scipy.org/doc/scipy",
    "sklearn": "https://scikit-learn.org/stable",
    "pandas": "https://pandas.pydata.org/docs",
    "matplotlib": "https://matplotlib.org/stable",
    "optuna": "https://optuna.readthedocs.io/en/stable",
}
has_network = all(is_reachable(address) for address in INVENTORIES.values())
intersphinx_mapping = {name: (address, None) for name, address in INVENTORIES.items()} if has_network else {}

MODULES = (
    "heldout", "heldout.dropping", "heldout.estimates", "heldout.metrics", "heldout.plots", "heldout.protocols",
    "heldout.selection", "heldout.spaces",
)  # fmt: skip
numpydoc_xref_aliases = {} if has_network else {name: name for name in DEFAULT_LINKS}
"""Names of types that become links; without a network those of other packages stay text."""
for module in MODULES:
    names = [name for name in import_module(module).__all__ if name[0].isupper()]
    numpydoc_xref_aliases |= {name: f"{module}.{name}" for name in names if name not in numpydoc_xref_aliases}
    numpydoc_xref_aliases |= {
        f"ho.{f'{module}.{name}'.removeprefix('heldout.')}": f"{module}.{name}" for name in names
    }

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": "/plot_",
    "abort_on_example_error": True,
    "show_memory": False,
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": (),  # that of a display says nothing
    "min_reported_time": 5,  # seconds; none should take longer
    "remove_config_comments": True,
    "download_all_examples": False,
}

# What a reader copies is what they type.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

html_math_renderer = "mathml"  # browsers show it without a script from another site
html_theme = "pydata_sphinx_theme"
html_title = "heldout"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(HERE / "_static" / "scorer.js")
html_show_sourcelink = False
html_sidebars = {"index": [], "choose": [], "changelog": []}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "navbar_end": ["version-switcher", "theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "switcher": {"json_url": "_static/switcher.json", "version_match": release},
}


def mathml(node: Element, display: Literal["inline", "block"]) -> str:
    """A formula as MathML; of the backslashes, more fonts have the plain one."""
    return re.sub("&#x0(2216|29F5);", "&#x0005C;", convert(node.astext(), display=display))


def write_inline_formula(self: Any, node: Element) -> None:
    """Write a formula within a line."""
    self.body.append(mathml(node, "inline"))
    raise SkipNode


def write_formula(self: Any, node: Element) -> None:
    """Write a formula on a line of its own."""
    self.body.append(f'<div class="math">{mathml(node, "block")}</div>')
    raise SkipNode


def leave_out(app: Sphinx, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a class inherits from other packages, which document it."""
    function = getattr(member, "fget", member)  # of a property
    foreign = callable(function) and not (getattr(function, "__module__", None) or "").startswith("heldout")
    return True if foreign else None


HEADING = re.compile(r"^(Parameters|Attributes|Notes|References|Examples)\n-+\n", re.MULTILINE)


def add_inherited_fields(app: Sphinx, what: str, name: str, each: Any, options: Any, lines: list[str]) -> None:
    """Add the fields of a dataclass that a template above it explains, which readers of its page would miss."""
    if what != "class" or not is_dataclass(each):
        return
    text = "\n".join(lines)
    lacking = {field.name for field in fields(each) if field.init} - attributes_in(text).keys()
    found: dict[str, str] = {}
    for above in each.__mro__[1:]:
        if is_dataclass(above) and above.__doc__:
            found = {
                name: entry for name, entry in attributes_in(getdoc(above) or "").items() if name in lacking
            } | found
    if not found:
        return
    heads = {match[1]: match for match in HEADING.finditer(text)}
    entries = "".join(f"{entry}\n" for entry in found.values())
    if "Attributes" in heads:
        at = heads["Attributes"].end()
        text = text[:at] + entries + text[at:]
    else:
        at = min(
            (heads[head].start() for head in ("Notes", "References", "Examples") if head in heads),
            default=len(text),
        )
        text = f"{text[:at].rstrip()}\n\nAttributes\n----------\n{entries}\n{text[at:]}"
    lines[:] = text.split("\n")


def list_flags(app: Sphinx, what: str, name: str, each: Any, options: Any, lines: list[str]) -> None:
    """List the members of an Enum that have sentences: those are what its readers look for."""
    if what == "class" and issubclass(each, Enum) and "sentence" in each.__annotations__:
        lines += ["", "Attributes", "----------"]
        for member in each:
            sentence = member.sentence.replace("*", chr(92) + "*").replace("`", "``")
            sentence = re.sub(r"_(?![\w`])", r"\_", sentence)  # a name such as best_score_ is no link
            lines += [f"{member.name}", f"    ``{member.value!r}``: {sentence}"]


def attributes_in(text: str) -> dict[str, str]:
    """The entries of the section Attributes of a docstring, by name; of several names in one, each has it."""
    section = re.search(r"^Attributes\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", text, re.MULTILINE | re.DOTALL)
    entries = re.findall(r"^(\S[^\n]*\n?(?:[ \t]+[^\n]*\n?|\n)*)", section[1] if section else "", re.MULTILINE)
    return {
        name.strip(): entry.rstrip()
        for entry in entries
        for name in entry.split("\n")[0].split(" : ")[0].split(",")
    }


WORKS = {(work.authors.split(",")[0], str(work.year)): work.doi for work in REFERENCES.values() if work.doi}
CITATION = re.compile(
    rf"\b(?P<first>{'|'.join(sorted({re.escape(surname) for surname, _ in WORKS}))})"
    r"(?:,? (?:and )?[A-Z][\w-]+|,? et al\.)*,? \(?(?P<year>\d{4})\b\)?"
)


def link_citations(app: Sphinx, what: str, name: str, each: Any, options: Any, lines: list[str]) -> None:
    """Let works that a docstring cites by authors and year lead to their DOI."""

    def link(match: re.Match[str]) -> str:
        doi = WORKS.get((match["first"], match["year"]))
        text = " ".join(match[0].split())
        closed = text.removesuffix(")") if "(" not in text else text
        return f"`{closed} <https://doi.org/{quote(doi)}>`__{text[len(closed) :]}" if doi else match[0]

    lines[:] = [line if "`" in line or "<" in line else CITATION.sub(link, line) for line in lines]


def first_paragraph(text: str) -> str:
    """The first paragraph of a page, as one line without markup of links."""
    text = re.sub(r"<!--.*?-->|```.*?```", "", text, flags=re.DOTALL)
    parts = (part.strip() for part in text.split("\n\n"))
    found = next((part for part in parts if part and not part.startswith(("#", "|", "!", "(", ":", "<"))), "")
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(found.split()))


def write_llms_txt(app: Sphinx, failure: Exception | None) -> None:
    """Write llms.txt: each page with its first paragraph, and the address of its Markdown."""
    if failure or app.builder.name != "html":
        return
    found = (Path(app.env.doc2path(name)) for name in app.env.found_docs - {"index"})
    pages = sorted(found, key=lambda page: (page.parent, page))  # those of no folder first
    lines = [
        f"# {project} {release}",
        "",
        f"> {first_paragraph((HERE / 'index.md').read_text(encoding='utf-8'))}",
        "",
    ]
    section = "."
    for page in (page for page in pages if page.suffix == ".md"):
        name = page.relative_to(HERE)
        if str(name.parent) != section:
            section = str(name.parent)
            lines += ["", f"## {section}"]
        title = app.env.titles[str(name.with_suffix(""))].astext()
        summary = first_paragraph(page.read_text(encoding="utf-8"))
        lines.append(f"- [{title}](_sources/{name}.txt): {summary}".removesuffix(": "))
    (Path(app.outdir) / "llms.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")


OUTSIDE = re.compile(r"(\]\(|(?<=\w) <)(?:\.\./)*((?:notes|papers|benchmarks|src)/[\w/.-]+|[A-Z]+\.md)(#[\w-]*)?")
"""A link of a page to a file of the repository that is no page."""
linked_files: set[str] = set()


def link_repository(app: Sphinx, page: str, source: list[str]) -> None:
    """Let links that leave docs lead to the repository, or, before it has an address, to copies of these files."""
    if page == "changelog":
        source[0] = (HERE.parent / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")
    up = "../" * page.count("/")

    def link(match: re.Match[str]) -> str:
        if ADDRESS:
            return f"{match[1]}{ADDRESS}/blob/main/{match[2]}{match[3] or ''}"
        linked_files.add(match[2])
        return f"{match[1]}{'repository:' if match[1] == '](' else ''}{up}repository/{match[2]}"

    source[0] = OUTSIDE.sub(link, source[0])


def copy_linked_files(app: Sphinx, failure: Exception | None) -> None:
    """Copy the files of the repository to which pages lead."""
    for name in sorted(linked_files if app.builder.name == "html" else ()):
        target = Path(app.outdir) / "repository" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(HERE.parent / name, target)


def keep_numbers_whole(app: Sphinx, page: str, source: list[str]) -> None:
    """As Sphinx calls it for a page."""
    source[0] = with_whole_numbers(source[0])


def with_whole_numbers(text: str) -> str:
    """In tables a number stays on one line with its standard error, and N with its value."""
    rows = re.compile(r"^\|.*", flags=re.MULTILINE)
    return rows.sub(lambda row: re.sub(r" (±) |(?<=\b[NC]) (=) ", "\u00a0\\1\\2\u00a0", row[0]), text)


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx calls this once."""
    app.add_html_math_renderer("mathml", (write_inline_formula, None), (write_formula, None))
    app.connect("source-read", keep_numbers_whole)
    app.connect("source-read", link_repository)
    app.connect("autodoc-skip-member", leave_out)
    app.connect("autodoc-process-docstring", add_inherited_fields, priority=400)  # before numpydoc reads it
    app.connect("autodoc-process-docstring", list_flags, priority=400)
    app.connect("autodoc-process-docstring", link_citations, priority=600)  # after numpydoc
    app.connect("build-finished", write_llms_txt)
    app.connect("build-finished", copy_linked_files)
    return {"parallel_read_safe": False, "parallel_write_safe": True}  # what is read says which files to copy
