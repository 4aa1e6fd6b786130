"""Links, paths and names of code in the documentation exist."""

import os
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *ROOT.glob("*.md"),
    *(page for folder in ("docs", "notes", "papers") for page in ROOT.glob(f"{folder}/**/*.md")),
    *ROOT.glob("benchmarks/*.md"),
]
MADE_BY_COMMANDS = re.compile(r"(DIR|demo)\b|(methods|card)\.md$|.*\.(parquet|csv|npz|none)$|[A-Z]+\.\w+$")
"""Files that are not in the repository: output of commands."""
CODE_ON = ["notes/architecture.md", "notes/decisions/*.md", "CONTRIBUTING.md"]
"""Pages about the code, whose identifiers must exist in it."""
OF_OTHERS = {"_fit_and_score", "CoxPHFitter"}
"""Identifiers of other packages."""


@cache
def tracked_files() -> list[str]:
    """Every file of the repository, as a path from its root."""
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name == ".ci" or not name.startswith((".", "__", "build"))]
        found += [str((Path(folder) / name).relative_to(ROOT)) for name in files]
    return found


@cache
def known_endings() -> frozenset[str]:
    """Every file and folder of the repository, from each of the folders above it."""
    files = [Path(file) for file in tracked_files()]
    paths = {path for file in files for path in (file, *file.parents)}
    return frozenset("/".join(path.parts[place:]) for path in paths for place in range(len(path.parts)))


@cache
def words_of_code() -> set[str]:
    kinds = (".py", ".pyi", ".cpp", ".hpp", ".toml", ".txt")
    files = [file for file in tracked_files() if file.endswith(kinds) and file != "tests/docs/test_docs_paths.py"]
    texts = [(ROOT / file).read_text(encoding="utf-8") for file in files if (ROOT / file).exists()]
    return {word for text in [*texts, *tracked_files()] for word in re.findall(r"\w+", text)}


def without_code_blocks(page: Path) -> str:
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub writes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", without_code_blocks(page)):
        linked = page.parent / target if target else page
        if not target.startswith("http") and (not linked.exists() or (anchor and anchor not in anchors(linked))):
            broken.append(f"{target}#{anchor}")
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_exist(page: Path) -> None:
    missing = []
    for code in re.findall(r"`([^`\n]+)`", without_code_blocks(page)):
        path = code.split(":")[0].rstrip("/")
        is_path = re.fullmatch(r"[\w./-]+", path) and ("/" in path or re.search(r"\.(py|cpp|hpp|md|toml)$", path))
        if is_path and not MADE_BY_COMMANDS.match(path):
            missing += [] if path in known_endings() else [code]
    assert not missing


@pytest.mark.parametrize(
    "page", [page for pattern in CODE_ON for page in ROOT.glob(pattern)], ids=lambda page: page.name
)
def test_identifiers_exist(page: Path) -> None:
    codes = re.findall(r"`([^`\n]+)`", without_code_blocks(page))
    names = {name for code in codes for name in re.findall(r"\b[A-Za-z_]\w{3,}\b(?!\*)", code)}
    assert not names - words_of_code() - OF_OTHERS
