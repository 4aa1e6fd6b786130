"""``report.json`` back into the report's plain data, field by field as the dataclasses declare it."""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.report import ReportContent
    from heldout.report.validation_content import ValidationContent


def read_content(path: Path) -> ReportContent | ValidationContent:
    """The content that ``heldout tune``, ``heldout validate`` or ``heldout estimate --out`` saved.

    Raises
    ------
    InputError
        When the file is missing, damaged, or of another version of the report.
    """
    from heldout.report import ReportContent
    from heldout.report.validation_content import ValidationContent

    if not path.parent.is_dir():
        raise InputError(
            f"there is no folder {path.parent}; give the folder that heldout tune, heldout validate, or "
            "heldout estimate --out, left its files in."
        )
    if not path.exists():
        unfinished = (path.parent / "run.db").exists()
        raise InputError(
            f"{path.parent} holds no {path.name}: "
            + (
                "its run is not finished; go on with it by the same command and --resume."
                if unfinished
                else "give the folder that heldout tune, heldout validate, or heldout estimate --out, left its "
                "files in."
            )
        )
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        kind = ValidationContent if "table_sentence" in document else ReportContent
        content: ReportContent | ValidationContent = _as(kind, document)
    except (ValueError, TypeError, KeyError) as error:
        said = " ".join(str(error).split())
        raise InputError(
            f"{path} is damaged or of another version of heldout ({type(error).__name__}: {said}); run the same "
            "heldout estimate again, or heldout tune or validate with --resume, to write it anew."
        ) from None
    return content


def _as(kind: Any, value: Any) -> Any:
    """``value`` of JSON as the declared type."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return None if value is None else _as(next(k for k in get_args(kind) if k is not type(None)), value)
    if is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        known = {field.name for field in fields(kind)}
        if set(value) - known:
            raise KeyError(f"{kind.__name__} has no {', '.join(sorted(set(value) - known))}")
        return kind(**{name: _as(hints[name], item) for name, item in value.items()})
    if origin in (tuple, list) or kind is tuple:
        of = get_args(kind) or (Any,)
        each = [of[0]] * len(value) if len(of) == 1 or of[-1] is Ellipsis else of
        return tuple(_as(item_kind, item) for item_kind, item in zip(each, value, strict=True))
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return {key: _as(get_args(kind)[1], item) for key, item in value.items()}
    return float(value) if kind is float and isinstance(value, int) else value
