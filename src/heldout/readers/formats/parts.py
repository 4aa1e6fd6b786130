"""Exports with a part for each model: a folder, a list of files, or a mapping from names to files or tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from heldout.errors import InputError
from heldout.readers.columns import first_line, free_name, quoted
from heldout.readers.formats.base import Export
from heldout.readers.tables import Table


def parts_of(export: Export, *endings: str) -> dict[str, Export]:
    """The parts of an export by the names of their models; a single file or table is one part.

    Parameters
    ----------
    endings : str
        The files of a folder that are parts are those whose names end so. Where all have one name, as in
        ``run_7/predictions.arff``, those of its folders are, and the model has the name of the folder.
    """
    if isinstance(export.value, Mapping):
        parts = {str(name): Export.of(part) for name, part in export.value.items()}
        return {name: replace(part, name=name) if part.path is None else part for name, part in parts.items()}
    if isinstance(export.value, list | tuple):
        if not all(isinstance(part, str | Path) for part in export.value):
            return {}
        return _named([Path(part) for part in export.value], export.name)
    if export.path is not None and export.path.is_dir():
        own = [path for path in sorted(export.path.iterdir()) if _ends(path, endings)]
        nested = [] if own else [path for path in sorted(export.path.glob("*/*")) if _ends(path, endings)]
        return _named(own or (nested if len({path.name for path in nested}) == 1 else []), export.name)
    if export.path is not None:
        return dict.fromkeys(_named([export.path], export.name), export)  # whose table is read once
    return {"the model": export}


def json_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file, whose entries may be of any type."""
    content: dict[str, Any] = json_of(path, dict)
    return content


def json_of(path: Path, kind: type) -> Any:
    """The object or list in a JSON file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:  # a number of 5 000 digits is a ValueError too
        raise InputError(f"{path} cannot be read as JSON: {first_line(error)}; is the file complete?") from None
    if not isinstance(content, kind):
        raise InputError(f"{path} holds no {'list' if kind is list else 'object'}; is the file complete?")
    return content


def entry(document: Any, *keys: str) -> Any:
    """What objects in objects hold under these keys; None where there is no such object or key."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def stacked(tables: Mapping[str, Table], name: str) -> tuple[Table, str]:
    """The tables of all models as one, and the name of the column that says which model a line is of.

    Tables with different columns or of different lengths are refused: they are not of the same target and rows.
    """
    import pandas as pd

    frames = {model: table.frame for model, table in tables.items()}
    first, *others = frames
    columns = list(frames[first].columns)
    for other in others:
        if set(frames[other].columns) != set(columns):
            odd = sorted({*frames[other].columns} ^ {*columns}, key=str)
            raise InputError(
                f"{other} and {first} of {name} have different columns ({quoted(odd)} in one only); all models "
                "must predict the same target."
            )
        if len(frames[other]) != len(frames[first]):
            raise InputError(
                f"{other} of {name} has {len(frames[other])} lines and {first} has {len(frames[first])}; all "
                "models must predict the same rows. Is a file incomplete?"
            )
        for column in columns:
            kinds = [frames[each][column].dtype.kind in "iufb" for each in (first, other)]
            if kinds[0] != kinds[1]:
                raise InputError(
                    f"column {column!r} of {name} holds {'numbers' if kinds[0] else 'text'} in {first} and "
                    f"{'numbers' if kinds[1] else 'text'} in {other}; is a file damaged?"
                )
    model = free_name("model", columns)
    frame = pd.concat([frame[columns].assign(**{model: key}) for key, frame in frames.items()], ignore_index=True)
    return Table(name, frame, tables[first].remarks), model


def _named(paths: Sequence[Path], name: str) -> dict[str, Export]:
    names = [path.stem for path in paths]
    if len(set(names)) < len(names) or (paths and all(path.name == "predictions.arff" for path in paths)):
        names = [path.resolve().parent.name for path in paths]
    again = [each for each, count in Counter(names).items() if count > 1]
    if again:
        raise InputError(
            f"two files of {name} have the name {again[0]!r}, which names a configuration; rename one, or in "
            "Python give a mapping from names to files."
        )
    return {each: Export.of(path) for each, path in zip(names, paths, strict=True)}


def _ends(path: Path, endings: Sequence[str]) -> bool:
    return path.is_file() and path.name.lower().endswith(tuple(endings)) and not path.name.startswith(".")
