"""Names with parameters: "within(tolerance=0.01)" as text for a configured rule or metric."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from typing import Any

from heldout.errors import InputError


def call_in(name: str) -> tuple[str, dict[str, Any]] | None:
    """The name and the literals of a text such as "f(a=1, b='x')"; None for other texts."""
    try:
        call = ast.parse(name, mode="eval").body
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args:
            given = {key.arg: ast.literal_eval(key.value) for key in call.keywords if key.arg is not None}
            # Not "**", nor a parameter twice, of which the first would count for nothing.
            return (call.func.id, given) if len(given) == len(call.keywords) else None
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):  # nested too deep is one of the last
        pass
    return None


def called(text: str, kinds: Mapping[str, Any], argument: str) -> Any:
    """The dataclass of a name, made with the parameters that follow it; None for a name that ``kinds`` lacks.

    ``argument`` is the user's argument, which errors name.

    Examples
    --------
    >>> from dataclasses import make_dataclass
    >>> within = make_dataclass("Within", [("tolerance", float)])
    >>> called("within(tolerance=0.5)", {"within": within}, "selection"), called("best", {}, "selection")
    (Within(tolerance=0.5), None)
    """
    name, given = call_in(text) or (text, {})
    if name not in kinds:
        return None
    check_known(argument, name, given, [field.name for field in fields(kinds[name])])
    lacking = sorted({field.name for field in fields(kinds[name]) if _is_needed(field)} - set(given))
    if lacking:
        raise InputError(
            f"{argument} '{name}' needs its {lacking[0]}; write '{name}({lacking[0]}=...)'.", argument=argument
        )
    return kinds[name](**given)


def call_text(thing: Any) -> str:
    """The text by which ``called`` makes a named dataclass again: its name, and the fields that are not by default.

    Examples
    --------
    >>> from dataclasses import make_dataclass
    >>> within = make_dataclass("Within", [("tolerance", float, 0.1)], namespace={"name": "within"})
    >>> call_text(within()), call_text(within(0.5))
    ('within', 'within(tolerance=0.5)')
    """
    own = [field for field in fields(thing) if field.init]
    changed = [f"{field.name}={getattr(thing, field.name)!r}" for field in own if not _is_default(thing, field)]
    return f"{thing.name}({', '.join(changed)})" if changed else str(thing.name)


def check_known(argument: str, name: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Refuse parameters that the one of that name does not have, as a value of the argument."""
    unknown = sorted(set(given) - set(known))
    if unknown:
        has = f"has {', '.join(known)}" if known else "takes no parameters"
        raise InputError(f"{argument} '{name}' has no parameter {unknown[0]!r}; it {has}.", argument=argument)


def _is_needed(field: Field[Any]) -> bool:
    return field.init and field.default is MISSING and field.default_factory is MISSING


def _is_default(thing: Any, field: Field[Any]) -> bool:
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    return bool(getattr(thing, field.name) == default)
