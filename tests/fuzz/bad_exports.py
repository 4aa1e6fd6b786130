"""Exports of tools that have files of their own: real ones, of which bytes, lines or cells were changed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from bad_values import NUMBERS, TEXTS, Generator, changed, damaged, pick
from oracle import Case, command, fault_of_printed

EXPORTS = Path(__file__).parents[1] / "readers" / "exports"
SOURCES = (
    ("weka", ("weka/ibk1.csv", "weka/ibk5.csv"), ()),
    ("weka/cpu.csv", ("weka/cpu.csv",), ()),
    ("weka/printed.txt", ("weka/printed.txt",), ()),
    ("h2o/models", ("h2o/models/gbm.csv", "h2o/models/glm.csv"), ("--target", "diagnosis")),
    ("h2o/numbers.csv", ("h2o/numbers.csv",), ("--target", "progression")),
    ("mljar/two_classes", ("mljar/two_classes",), ()),
    ("mljar/numbers", ("mljar/numbers",), ()),
    ("orange/iris.tab", ("orange/iris.tab",), ()),
    ("orange/housing.csv", ("orange/housing.csv",), ("--prediction", "mean")),
    ("autogluon/cells", ("autogluon/cells",), ("--target", "diagnosis")),
    ("openml/runs", ("openml/runs",), ()),
    ("openml/numbers", ("openml/numbers",), ()),
    ("r/fit.rds", ("r/fit.rds",), ()),
    ("r/pred.rda", ("r/pred.rda",), ()),
    ("r/workflows.rds", ("r/workflows.rds",), ()),
)
"""What the command reads, the files of it, and its options."""


def make(rng: Generator, folder: Path) -> Case:
    """An export with one file damaged."""
    source, files, options = pick(rng, SOURCES)
    paths = sorted(path for name in files for path in _copied(name, folder))
    path = pick(rng, paths)
    content, words = _damaged(rng, path.read_bytes(), path.suffix)
    path.write_bytes(content)
    arguments = ["estimate", source, *options, "--json", "--n-bootstraps", "10"]
    return Case(
        f"{' '.join(arguments)}: {path.relative_to(folder)}: {words}", lambda: command(*arguments), fault_of_printed
    )


def _copied(name: str, folder: Path) -> Iterable[Path]:
    origin = EXPORTS / name
    for path in [origin] if origin.is_file() else [each for each in origin.rglob("*") if each.is_file()]:
        place = folder / path.relative_to(EXPORTS)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())
        yield place


def _damaged(rng: Generator, content: bytes, suffix: str) -> tuple[bytes, str]:
    if suffix == ".json":
        document, words = changed(rng, json.loads(content))
        return json.dumps(document).encode(), words
    if suffix in (".rds", ".rda", ".npy") or pick(rng, (True, False)):
        return damaged(rng, content)
    lines = content.decode().splitlines(keepends=True)
    where = int(rng.integers(len(lines)))
    act = pick(rng, ("remove", "repeat", "swap", "cell", "cell", "column"))
    mark = "\t" if "\t" in lines[where] else ","
    if act == "remove":
        del lines[where]
    elif act == "repeat":
        lines.insert(where, lines[where])
    elif act == "swap":
        other = int(rng.integers(len(lines)))
        lines[where], lines[other] = lines[other], lines[where]
    elif act == "cell":
        cells = lines[where].rstrip("\n").split(mark)
        place = int(rng.integers(len(cells)))
        cells[place] = str(pick(rng, (*TEXTS, *NUMBERS)))
        lines[where] = mark.join(cells) + "\n"
        act = f"cell {place} became {cells[place]!r:.40}"
    else:
        place = int(rng.integers(1 + lines[0].count(mark)))
        lines = [
            mark.join(c for i, c in enumerate(line.rstrip("\n").split(mark)) if i != place) + "\n" for line in lines
        ]
        act = f"column {place} removed"
    return "".join(lines).encode(errors="replace"), f"{act} at line {where + 1}"
