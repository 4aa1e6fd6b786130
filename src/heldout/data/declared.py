"""Check the contents of a file against declared types: dataclasses, named tuples and plain values.

A damaged or changed file is refused here, in one sentence that names the place, before a value of another type
causes an error elsewhere.
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache, partial
from itertools import repeat
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from heldout._text import counted

MOST = 2**63
"""Whole numbers must be below this; all counts and positions are."""

UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""The errors that a damaged file causes in its readers."""


@dataclass(frozen=True)
class Between:
    """That a number lies between two, both included: ``Annotated[int, Between(0, 9)]``."""

    low: int
    high: int


def from_json(kind: Any, text: str) -> Any:
    """JSON as a declared type.

    Examples
    --------
    >>> from_json(tuple[int, ...], "[3, 2]")
    (3, 2)
    >>> from_json(tuple[int, ...], '[3, "2"]')
    Traceback (most recent call last):
        ...
    ValueError: [1] must be a whole number, got '2'
    """
    if not isinstance(text, str):
        raise ValueError(f"JSON must be text, got {_shown(text)}")
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    return of_type(kind, value)


def of_type(kind: Any, value: Any, place: str = "") -> Any:
    """A value of JSON, or of a row of a table, as a declared type; ``place`` says in errors where it is.

    Types are bool, int, float, str, bytes, None, an enumeration of texts, a dataclass, a named tuple, or a tuple,
    mapping or union of such. A key that is an int may be written as text, as JSON does.
    """
    try:
        return _reader(kind)(value)
    except _MismatchError as wrong:
        raise ValueError(f"{(place + wrong.place).lstrip('.') or 'it'} {wrong.what}") from None


class _MismatchError(Exception):
    """What is wrong, and where; each level of nesting adds its place."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what
        self.place = ""

    def inside(self, place: str) -> _MismatchError:
        self.place = place + self.place
        return self


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """The function that turns a value into one of this type."""
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        others = [_reader(one) for one in get_args(kind) if one is not type(None)]
        return partial(_one_of, others, type(None) in get_args(kind))
    if origin is Annotated:
        return partial(_between, *get_args(kind))
    if is_dataclass(kind):
        needed = {one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING}
        hints = get_type_hints(kind, include_extras=True)
        return partial(_record, kind, {one.name: _reader(hints[one.name]) for one in fields(kind)}, needed)
    if hasattr(kind, "_fields"):
        return partial(_named, kind, [(f".{name}", _reader(hint)) for name, hint in get_type_hints(kind).items()])
    if origin is tuple:
        return partial(_sequence, [_reader(one) for one in get_args(kind) if one is not ...], ... in get_args(kind))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        key, item = get_args(kind)
        return partial(_mapping, _whole_key if key is int else _reader(key), _reader(item))
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return partial(_member, kind)
    return (lambda value: value) if kind is Any else partial(_leaf, kind, *_LEAVES[kind])


def _one_of(readers: Sequence[Callable[[Any], Any]], may_lack: bool, value: Any) -> Any:
    if value is None and may_lack:
        return None
    # The last reader is not tried here but below, so that its own message is raised.
    for reader in readers[:-1]:
        try:
            return reader(value)
        except _MismatchError:
            continue
    return readers[-1](value)


def _between(kind: Any, bounds: Between, value: Any) -> Any:
    number = value if type(value) is int else _reader(kind)(value)
    if not bounds.low <= number <= bounds.high:
        raise _wrong(f"from {bounds.low} to {bounds.high}", value)
    return value


def _member(kind: type[StrEnum], value: Any) -> StrEnum:
    try:
        return kind(value)
    except ValueError:
        raise _wrong(f"one of {', '.join(kind)}", value) from None


def _record(kind: Any, readers: Mapping[str, Callable[[Any], Any]], needed: set[str], value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise _wrong("a record", value)
    for names, what in ((needed - set(value), "lacks"), (set(value) - set(readers), "has besides what it should")):
        if names:
            raise _MismatchError(f"({kind.__name__}) {what} {', '.join(map(_shown, sorted(names)[:5]))}")
    return kind(**{name: _inside(f".{name}", readers[name], item) for name, item in value.items()})


def _named(kind: Any, readers: Sequence[tuple[str, Callable[[Any], Any]]], value: Any) -> Any:
    _check_length(value, len(readers))
    return kind(*[_inside(place, reader, item) for (place, reader), item in zip(readers, value, strict=True)])


def _sequence(readers: Sequence[Callable[[Any], Any]], any_number: bool, value: Any) -> tuple[Any, ...]:
    _check_length(value, None if any_number else len(readers))
    each = repeat(readers[0], len(value)) if any_number else readers
    return tuple(
        [_inside(f"[{n}]", reader, item) for n, (reader, item) in enumerate(zip(each, value, strict=True))]
    )


def _check_length(value: Any, n: int | None) -> None:
    if not isinstance(value, list | tuple):
        raise _wrong("a list", value)
    if n is not None and len(value) != n:
        raise _MismatchError(f"must hold {counted(n, 'value')}, got {len(value)}")


def _mapping(key: Callable[[Any], Any], item: Callable[[Any], Any], value: Any) -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        raise _wrong("a record", value)
    return {key(name): _inside(f".{name}", item, one) for name, one in value.items()}


def _whole_key(value: Any) -> int:
    is_written = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16
    return int(value) if is_written else int(_reader(int)(value))


def _inside(place: str, reader: Callable[[Any], Any], value: Any) -> Any:
    try:
        return reader(value)
    except _MismatchError as wrong:
        raise wrong.inside(place) from None


# ``type`` and not ``isinstance``, as True is an int; JSON may write a float as a whole number.
_LEAVES: Mapping[type, tuple[str, Callable[[Any], bool]]] = {
    bool: ("true or false", lambda value: type(value) is bool),
    int: ("a whole number", lambda value: type(value) is int and abs(value) < MOST),
    float: (
        "a finite number",
        lambda value: math.isfinite(value) if type(value) is float else type(value) is int and abs(value) < MOST,
    ),
    str: ("text", lambda value: type(value) is str),
    bytes: ("bytes", lambda value: type(value) is bytes),
}


def _leaf(kind: type, words: str, is_one: Callable[[Any], bool], value: Any) -> Any:
    if not is_one(value):
        raise _wrong(words, value)
    if kind is not str:
        return kind(value)
    try:
        # Lone halves of surrogate pairs cannot be encoded, and so not stored again.
        value.isascii() or value.encode()
    except UnicodeEncodeError:
        raise _wrong("text without halves of characters", value) from None
    return value


def _wrong(wanted: str, value: Any) -> _MismatchError:
    return _MismatchError(f"must be {wanted}, got {_shown(value)}")


def _shown(value: Any) -> str:
    """A value for a sentence, shortened."""
    if value is None or isinstance(value, bool | float):
        return json.dumps(value)
    if isinstance(value, str | bytes):
        return ascii(value[:40]) + ("…" if len(value) > 40 else "")
    if isinstance(value, int):
        # Python refuses to print numbers of thousands of digits.
        return str(value) if abs(value) < 2**99 else "a whole number of more than 29 digits"
    return "a record" if isinstance(value, Mapping) else "a list" if isinstance(value, list | tuple) else "no value"
