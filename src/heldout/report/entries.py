"""Facts of a result: one dictionary of plain values, over which page, card and texts are templates.

``report.json`` is this dictionary. Its schema is in the documentation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib.resources import files
from typing import Any

from heldout._record import json_safe, pairs, read
from heldout._text import printable
from heldout.scales import Scale


class Facts(dict[str, Any]):
    """A JSON object whose entries are attributes too.

    Examples
    --------
    >>> Facts(rows=3).rows
    3
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    @classmethod
    def of(cls, record: Any, words: str, scale: Scale | None = None, scores: str = "", **more: Any) -> Facts:
        """Attributes of a record in the words of ``heldout._record``, scores as the scale shows them, and more."""
        entries = {name: read(record, path) for name, path in pairs(words)}
        if scale is not None:
            entries |= {name: scale.shown(read(record, path)) for name, path in pairs(scores)}
        return cls(entries, **more)

    def to_dict(self) -> dict[str, Any]:
        """The same in JSON's own types, as report.json holds it."""
        plain: dict[str, Any] = json_safe(self)
        return plain


OPTIONAL: Mapping[str, Any] = {
    "distribution": None, "metrics": (), "methods": (), "methods_sentence": "", "methods_coverage": "",
    "refused": {}, "race": None, "algorithms": None, "outer": None, "ranking": None, "parameters": (),
    "diagnostics": None, "shared": (), "delivered": "", "precision_recall": (), "thresholds": None,
    "no_calibration": "", "columns": None, "treatment": None, "overtuning": None, "importance": None,
    "coefficients": None, "own_importances": None, "leaderboard": None,
}  # fmt: skip
"""What only some searches and estimates have."""


MOST_LETTERS = 250
"""Of what is said about a damaged file, in which a value may be a whole table."""
_OF_A_SCALE = {field.name for field in fields(Scale)}


def facts_of_json(text: str) -> Facts:
    """What ``Facts.to_dict`` gave, from JSON.

    Raises ValueError for what is not as ``schemas/report.schema.json`` says.
    """
    try:
        document = json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    kind = document.get("kind") if isinstance(document, dict) else None
    errors = _validator("validation" if kind == "validation" else "search").iter_errors(document)
    error = next(errors, None)
    if error is not None:
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
        raise ValueError(printable(f"{place.lstrip('.')} {error.message}".strip()[:MOST_LETTERS]))
    facts: Facts = _read(document)
    return facts


def _refuse(constant: str) -> float:
    raise ValueError(f"it holds {constant}")


@cache
def _validator(part: str) -> Any:
    """Of the whole document of a kind of result."""
    from jsonschema import Draft202012Validator

    schema = json.loads((files("heldout.report") / "schemas" / "report.schema.json").read_text(encoding="utf-8"))
    return Draft202012Validator({"$defs": schema["$defs"], "$ref": f"#/$defs/{part}"})


def _read(value: Any) -> Any:
    if isinstance(value, dict):
        entries = {name: _read(item) for name, item in value.items()}
        return Scale(**entries) if entries.keys() == _OF_A_SCALE else Facts(entries)
    return [_read(item) for item in value] if isinstance(value, list) else value
