"""How Sphinx makes the site. ``.ci/site`` builds it; notes/decisions/0039-site.md says why it is made this way."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib.metadata import version as version_of
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from docutils.nodes import Element, SkipNode
from latex2mathml.converter import convert

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent

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
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates", "gallery", "images/*.py"]

# Pages are Markdown that GitHub shows as well.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

# A page for each public name, from its docstring.
autosummary_generate = [str(page) for page in sorted((HERE / "api").glob("*.rst"))]
autodoc_typehints = "none"  # numpydoc lists the parameters with their types
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": "/plot_",
    "abort_on_example_error": True,
    "show_memory": False,
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
html_show_sourcelink = False
html_sidebars = {"index": [], "start": [], "choose": [], "changelog": []}
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navbar_end": ["version-switcher", "theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "switcher": {"json_url": "_static/switcher.json", "version_match": release},
}


def mathml(node: Element, display: Literal["inline", "block"]) -> str:
    """A formula as MathML; of the two backslashes, more fonts have the plain one."""
    return convert(node.astext(), display=display).replace("&#x02216;", "&#x0005C;")


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
    app.connect("autodoc-skip-member", leave_out)
    app.connect("autodoc-process-docstring", add_inherited_fields, priority=400)  # before numpydoc reads it
    app.connect("autodoc-process-docstring", list_flags, priority=400)
    app.connect("build-finished", write_llms_txt)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
