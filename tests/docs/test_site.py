"""What breaks a site before Sphinx runs, or without a word of it: tables of contents, versions, links."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import heldout

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MADE = {"auto_gallery/index"}
"""Pages that the build makes."""
LEFT_OUT = ("api/generated/", "auto_gallery/", "gallery/", "_build/")


def pages() -> dict[str, str]:
    """The text of each page of the site, by its name in a table of contents."""
    sources = [*sorted(DOCS.rglob("*.md")), *sorted(DOCS.glob("api/*.rst"))]
    files = {str(file.relative_to(DOCS).with_suffix("")): file for file in sources}
    return {name: file.read_text(encoding="utf-8") for name, file in files.items() if not name.startswith(LEFT_OUT)}


def entries(name: str, text: str) -> list[str]:
    """What the tables of contents of a page name."""
    found = []
    for table in re.findall(r"```\{toctree\}\n(.*?)```", text, flags=re.DOTALL):
        lines = [line for line in table.split("\n") if line and not line.startswith(":")]
        targets = [re.sub(r".*<(.*)>$", r"\1", line) for line in lines]
        found += [str(Path(name).parent / target) for target in targets]
    return found


def test_each_page_is_in_one_table_of_contents() -> None:
    texts = pages()
    listed = [entry for name, text in texts.items() for entry in entries(name, text)]
    assert sorted(listed) == sorted({*texts, *MADE} - {"index"})


def test_the_site_can_be_read() -> None:
    """Pages of prose are those in Markdown; the tables of the API and what the build makes are not counted."""
    texts = [page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md") if "auto_gallery" not in page.parts]
    assert len(texts) <= 100
    assert sum(len(text.split()) for text in texts) <= 75_000


def test_the_switcher_knows_this_version() -> None:
    versions = json.loads((DOCS / "_static" / "switcher.json").read_text(encoding="utf-8"))
    assert heldout.__version__ in [entry["version"] for entry in versions]
    assert all(set(entry) == {"name", "version", "url"} for entry in versions)


def of_conf(name: str) -> Any:
    """A function of conf.py, which itself needs Sphinx."""
    tree = ast.parse((DOCS / "conf.py").read_text(encoding="utf-8"))
    (function,) = [node for node in tree.body if getattr(node, "name", "") == name]
    names: dict[str, Any] = {"re": re}
    exec(compile(ast.Module([function], []), "conf.py", "exec"), names)
    return names[name]


def test_numbers_of_a_table_stay_on_one_line() -> None:
    text = "A mean, .1 ± .2.\n\n| mean ± error | C = 1 |\n| --- | --- |\n| .1 ± .2 (N = 20) | C = 5 |\n"
    assert of_conf("with_whole_numbers")(text).replace("\u00a0", "~") == (
        "A mean, .1 ± .2.\n\n| mean~±~error | C~=~1 |\n| --- | --- |\n| .1~±~.2 (N~=~20) | C~=~5 |\n"
    )


def test_each_page_begins_with_a_title_and_a_paragraph() -> None:
    """llms.txt takes the paragraph."""
    first_paragraph = of_conf("first_paragraph")
    texts = {
        name: text for name, text in pages().items() if name != "changelog" and not text.startswith("``heldout")
    }
    assert not [name for name, text in texts.items() if not text.startswith("# ")]
    assert not [name for name, text in texts.items() if len(first_paragraph(text)) < 20]
    assert first_paragraph("# A title\n\nSee [here](there.md),\nor not.\n\nMore.") == "See here, or not."


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "site_links.py"), str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<p id="x"></p><a href="b.html#y">1</a> <a href="#x">2</a> <a href="https://no.where">3</a>'
    )
    (tmp_path / "b.html").write_text('<p id="y"></p><a href="a.html">4</a>')
    assert check(tmp_path).returncode == 0
    (tmp_path / "c.html").write_text('<a href="a.html#z">5</a> <a href="d.html">6</a> <img src="a.html">')
    found = check(tmp_path)
    assert found.returncode == 1
    assert "a.html#z has no such place" in found.stderr
    assert "d.html is not there" in found.stderr
    assert "no text for the picture a.html" in found.stderr
    assert "3 pages, 3 links" in found.stdout
