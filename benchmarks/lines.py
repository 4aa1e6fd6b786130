"""Lines of code of a package: neither blank, nor comment, nor docstring.

python benchmarks/lines.py src/heldout             the total, shares of imports and comments, and each folder
python benchmarks/lines.py src/heldout --files 20  the longest files too
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip
WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Lines:
    """Lines of one file or of several."""

    code: int = 0
    imports: int = 0
    comments: int = 0
    files: int = 0

    def __add__(self, other: Lines) -> Lines:
        return Lines(
            self.code + other.code,
            self.imports + other.imports,
            self.comments + other.comments,
            self.files + other.files,
        )

    def __str__(self) -> str:
        code = max(self.code, 1)
        return (
            f"{self.code:7,d} lines of code  {self.files:4d} files  imports {self.imports / code:5.1%}"
            f"  comments {1000 * self.comments / code:3.0f} in 1000"
        )


def lines_of(path: Path) -> Lines:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    strings, imports = set[int](), set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports |= _span(node)
        body = node.body[:1] if isinstance(node, WITH_DOCSTRING) else []
        strings |= {line for first in body if _is_string(first) for line in _span(first)}
    code, comments = set[int](), set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in LAYOUT:
            code |= set(range(token.start[0], token.end[0] + 1))
    return Lines(len(code - strings), len(imports), len(comments), 1)


def _span(node: ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _is_string(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("package", type=Path)
    parser.add_argument("--files", type=int, default=0, help="how many of the longest files to print")
    arguments = parser.parse_args()
    files = {path: lines_of(path) for path in sorted(arguments.package.rglob("*.py"))}
    for path in sorted(files, key=lambda path: -files[path].code)[: arguments.files]:
        print(f"{files[path].code:7,d} {path}")
    folders: dict[str, Lines] = defaultdict(Lines)
    for path, lines in files.items():
        place = path.relative_to(arguments.package).parts
        folders[place[0] if len(place) > 1 else "."] += lines
    for folder, lines in sorted(folders.items()):
        print(f"{lines}  {folder}")
    print(f"{sum(files.values(), Lines())}  in all")


if __name__ == "__main__":
    main()
