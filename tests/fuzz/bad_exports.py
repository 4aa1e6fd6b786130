"""Exports of tools that have files of their own: real ones, of which bytes, lines or cells were changed."""

import json
import zipfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
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
    ("tabrepo", ("tabrepo",), ()),
    ("r/fit.rds", ("r/fit.rds",), ()),
    ("r/pred.rda", ("r/pred.rda",), ()),
    ("r/workflows.rds", ("r/workflows.rds",), ()),
)
"""What the command reads, the files of it, and its options; the task of TabRepo is made here."""
HOSTILE = (
    "9" * 5000,
    f"Fold1.Rep{'9' * 5000}",
    f"{'9' * 5000}:a",
    f"1e{'9' * 5000}",
    "x" * 140_000,
    f'"{"y" * 140_000}"',
)
DOCUMENTS = (
    "[]", "null", "3", '"a"', "{}", "[[1]]", "[" * 200_000 + "]" * 200_000, '{"a":' * 200_000 + "1" + "}" * 200_000,
    "9" * 5000, f'{{"rows": {"9" * 5000}}}', '{"params": []}', '{"params": {"learner": 3}}',
)  # fmt: skip


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
    if name == "tabrepo":
        yield from _task_of_tabrepo(folder / name)
        return
    origin = EXPORTS / name
    for path in [origin] if origin.is_file() else [each for each in origin.rglob("*") if each.is_file()]:
        place = folder / path.relative_to(EXPORTS)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())
        yield place


def _task_of_tabrepo(folder: Path) -> Iterable[Path]:
    folder.mkdir()
    about = {"models": ["a", "b"], "pred_val_shape": [2, 40], "dtype": "float32"}
    (folder / "metadata.json").write_text(json.dumps(about))
    (folder / "pred-val.dat").write_bytes(np.random.default_rng(0).random((2, 40), dtype=np.float32).tobytes())
    lines = [",y", *(f"{row},{row % 2}" for row in range(40))]
    with zipfile.ZipFile(folder / "label-val.csv.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("label-val.csv"), "\n".join(lines), zipfile.ZIP_DEFLATED)
    return sorted(folder.iterdir())


def _other_archive(rng: Generator, content: bytes) -> tuple[bytes, str]:
    """The archive with its file said to be encrypted, packed in another way, or for a later version."""
    central = content.rfind(b"PK\x01\x02")
    places, value, words = pick(
        rng,
        (
            ((6, central + 8), b"\x01\x00", "encrypted"),
            ((8, central + 10), bytes([int(pick(rng, (12, 14, 99))), 0]), "of another compression"),
            ((central + 6,), b"\xff\x00", "of a later version"),
        ),
    )
    for place in places:
        content = content[:place] + value + content[place + len(value) :]
    return content, words


def _damaged(rng: Generator, content: bytes, suffix: str) -> tuple[bytes, str]:
    if suffix == ".zip" and pick(rng, (True, False)):
        return _other_archive(rng, content)
    if suffix == ".json" and pick(rng, (True, False)):
        document = pick(rng, DOCUMENTS)
        return document.encode(), f"became {document[:20]}"
    if suffix == ".json":
        document, words = changed(rng, json.loads(content))
        return json.dumps(document).encode(), words
    if suffix in (".rds", ".rda", ".npy", ".zip", ".dat") or pick(rng, (True, False)):
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
        cells[place] = str(pick(rng, (*TEXTS, *NUMBERS, *HOSTILE)))
        lines[where] = mark.join(cells) + "\n"
        act = f"cell {place} became {cells[place]!r:.40}"
    else:
        place = int(rng.integers(1 + lines[0].count(mark)))
        lines = [
            mark.join(c for i, c in enumerate(line.rstrip("\n").split(mark)) if i != place) + "\n" for line in lines
        ]
        act = f"column {place} removed"
    return "".join(lines).encode(errors="replace"), f"{act} at line {where + 1}"
