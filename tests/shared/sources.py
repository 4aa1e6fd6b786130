"""The sources of a folder, read once."""

import ast
from functools import cache
from pathlib import Path


@cache
def trees_of(folder: Path) -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.py"))}


@cache
def nodes_of(folder: Path) -> dict[Path, list[ast.AST]]:
    return {path: list(ast.walk(tree)) for path, tree in trees_of(folder).items()}
