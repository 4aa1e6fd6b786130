"""The metadata of heldout's own Parquet files: the roles of the columns, checked like any input.

Anybody with the file can change it, so the type and range of every entry are checked.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any, NoReturn

from heldout.data.arrays import shortened
from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.estimates.methods.bbc import INTERVALS
from heldout.metrics.base import Response

METADATA_KEY = b"heldout"
REMEDY = "write the file again with heldout tune, or save it as CSV, which has no metadata, and name its columns"

_RESPONSES = {
    TaskKind.REGRESSION: {Response.VALUES},
    TaskKind.SURVIVAL: {Response.RISK, Response.SURVIVAL},
    TaskKind.BINARY: {Response.LABELS, Response.PROBABILITIES, Response.DECISION},
    TaskKind.MULTICLASS: {Response.LABELS, Response.PROBABILITIES, Response.DECISION},
}


@dataclass(frozen=True)
class ColumnRoles:
    """The role of each column in a table that ``heldout tune`` wrote.

    Attributes
    ----------
    target : str
        Column of true values; of times in a survival task, which also has ``event``.
    kind : TaskKind
    metric : str
    response : Response
        What the predictions are.
    names : tuple of str
        Names of the C configurations.
    columns : tuple of C tuples of str
        The columns of each configuration: one, or one per class or time.
    classes : tuple or None
        The labels of a classification, in the order of their codes.
    positive : int or None
    times : tuple of float
    failed, dropped : mapping of int to str
    exchangeable, grouped : bool
    training_rows, test_share : float or None
    training_range : (int, int) or None
        As in ``HeldOutPredictions``.
    rows, repeats : int or None
        Numbers of rows and repeats; None in files of earlier versions.
    settings : mapping
        Settings of the search: ``aggregate``, ``entropy``, ``n_bootstraps``, ``confidence_level``, ``interval``.
    """

    target: str
    kind: TaskKind
    metric: str
    response: Response
    names: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    event: str | None = None
    classes: tuple[Any, ...] | None = None
    positive: int | None = None
    times: tuple[float, ...] = ()
    failed: Mapping[int, str] = field(default_factory=dict)
    dropped: Mapping[int, str] = field(default_factory=dict)
    exchangeable: bool = True
    training_rows: float | None = None
    training_range: tuple[int, int] | None = None
    grouped: bool = False
    test_share: float | None = None
    rows: int | None = None
    repeats: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def several(self) -> bool:
        """Whether a configuration has an axis of classes or times."""
        return len(self.columns[0]) > 1 or self.response is Response.SURVIVAL


def roles_of_metadata(metadata: Mapping[bytes, bytes] | None, path: str) -> ColumnRoles | None:
    """The column roles in the metadata of a Parquet file; None if heldout did not write the file."""
    if not metadata or METADATA_KEY not in metadata:
        return None
    try:
        found = json.loads(metadata[METADATA_KEY].decode("utf-8"))
    except (ValueError, RecursionError) as error:  # ValueError: no JSON, no UTF-8, or a number of 5 000 digits
        why = "too many brackets in each other" if isinstance(error, RecursionError) else str(error).splitlines()[0]
        raise InputError(f"{path}: its metadata 'heldout' cannot be read as JSON ({why}); {REMEDY}.") from None
    return roles_of_json(found, path)


def roles_of_json(found: Any, path: str) -> ColumnRoles:
    """The column roles in decoded JSON; wrong types and values that contradict each other are refused."""
    if not isinstance(found, dict):
        raise InputError(
            f"{path}: its metadata 'heldout' must be a JSON object of what the columns are, got "
            f"{shortened(found)}; {REMEDY}."
        )
    entries = _Entries(found, path)
    roles = ColumnRoles(
        target=entries.entry("target", _is_text, "the name of a column"),
        event=entries.optional("event", _is_text, "the name of a column"),
        kind=TaskKind(entries.entry("kind", _one_of(TaskKind), f"one of {', '.join(TaskKind)}")),
        metric=entries.entry("metric", _is_text, "the name of a metric"),
        response=Response(entries.entry("response", _one_of(Response), f"one of {', '.join(Response)}")),
        names=tuple(entries.entry("names", _is_list_of(_is_text), "the names of the configurations")),
        columns=tuple(
            tuple(own)
            for own in entries.entry("columns", _is_list_of(_is_list_of(_is_text)), "lists of column names")
        ),
        classes=_tuple(entries.optional("classes", _are_labels, "two or more different labels of one type")),
        positive=entries.optional("positive", _is_count, "the number of a class"),
        times=tuple(entries.optional("times", _are_times, "ascending numbers") or ()),
        failed=entries.reasons("failed"),
        dropped=entries.reasons("dropped"),
        exchangeable=entries.entry("exchangeable", _is_flag, "true or false"),
        training_rows=entries.optional("training_rows", _is_number, "a number"),
        training_range=_tuple(entries.optional("training_range", _is_range, "two whole numbers, ascending")),
        grouped=bool(entries.optional("grouped", _is_flag, "true or false")),
        test_share=entries.optional("test_share", _is_share, "a number between 0 and 1"),
        rows=entries.optional("rows", _is_count, "how many rows there are"),
        repeats=entries.optional("repeats", _is_count, "how many repeats there are"),
        settings=_settings(entries),
    )
    _check_together(roles, entries)
    return roles


@dataclass(frozen=True)
class _Entries:
    """The entries of the metadata, each read with a check of its value."""

    found: Mapping[str, Any]
    path: str

    def entry(self, name: str, allowed: Callable[[Any], bool], wanted: str) -> Any:
        value = self.found.get(name)
        if not allowed(value):
            self.refuse(name, f"must be {wanted}, got {shortened(value) if name in self.found else 'nothing'}")
        return value

    def optional(self, name: str, allowed: Callable[[Any], bool], wanted: str) -> Any:
        return None if self.found.get(name) is None else self.entry(name, allowed, wanted)

    def reasons(self, name: str) -> dict[int, str]:
        """Sentences by the number of a configuration, which JSON writes as text."""
        written = self.optional(name, _are_reasons, "sentences by the number of a configuration") or {}
        return {int(number): reason for number, reason in written.items()}

    def refuse(self, name: str, why: str) -> NoReturn:
        raise InputError(f"{self.path}: {name!r} of its metadata 'heldout' {why}; {REMEDY}.")


def _settings(entries: _Entries) -> dict[str, Any]:
    settings = entries.optional("settings", lambda value: isinstance(value, dict), "an object of settings") or {}
    within = _Entries(settings, entries.path)
    found = {
        "aggregate": within.optional("aggregate", _is_text, "the name of an aggregate"),
        "entropy": within.optional("entropy", _is_entropy, "a whole number from 0 to 2**64 - 1"),
        "n_bootstraps": within.optional("n_bootstraps", lambda n: _is_count(n) and n > 0, "a number of bootstraps"),
        "confidence_level": within.optional("confidence_level", _is_share, "a number between 0 and 1"),
        "interval": within.optional("interval", lambda value: value in INTERVALS, f"one of {', '.join(INTERVALS)}"),
    }
    return {name: value for name, value in found.items() if value is not None}


def _check_together(roles: ColumnRoles, entries: _Entries) -> None:
    """Refuse entries that contradict each other."""
    n_classes = None if roles.classes is None else len(roles.classes)
    if roles.response not in _RESPONSES[roles.kind]:
        entries.refuse("response", f"must fit a {roles.kind} target, got {roles.response!s}")
    if roles.kind.is_classification != (n_classes is not None) or (
        roles.kind is TaskKind.BINARY and n_classes != 2
    ):
        entries.refuse("classes", f"must be the labels of a {roles.kind} target, got {n_classes or 'none'}")
    if roles.positive is not None and roles.positive >= (n_classes or 0):
        entries.refuse("positive", f"must be the number of a class, got {roles.positive}")
    if roles.kind is TaskKind.BINARY and roles.positive is None:
        entries.refuse("positive", "must be 0 or 1, got nothing")
    if (roles.kind is TaskKind.SURVIVAL) != (roles.event is not None):
        entries.refuse("event", f"must be given for survival alone, got {roles.event!r} for a {roles.kind} target")
    if not roles.names or len(roles.names) != len(roles.columns):
        entries.refuse(
            "columns", f"must be a list for each of {len(roles.names)} configurations, got {len(roles.columns)}"
        )
    each = _columns_of_each(roles)
    odd = next((own for own in roles.columns if len(own) != each), None)
    if odd is not None:
        entries.refuse(
            "columns", f"must have {each} for each configuration, got {len(odd)}: {shortened(list(odd))}"
        )
    _check_distinct(roles, entries)
    for name, reasons in (("failed", roles.failed), ("dropped", roles.dropped)):
        beyond = [number for number in reasons if number >= len(roles.names)]
        if beyond:
            entries.refuse(name, f"must number configurations from 0 to {len(roles.names) - 1}, got {beyond[0]}")


def _check_distinct(roles: ColumnRoles, entries: _Entries) -> None:
    uses = [*chain(*roles.columns), roles.target, "row", "repeat", "fold", "group", "weight"]
    uses += [] if roles.event is None else [roles.event]
    twice = [name for name, times in Counter(uses).items() if times > 1]
    if twice:
        entries.refuse("columns", f"must give each column one use, got {twice[0]!r} twice")


def _columns_of_each(roles: ColumnRoles) -> int:
    if roles.response is Response.SURVIVAL:
        return len(roles.times)
    by_class = roles.kind is TaskKind.MULTICLASS and roles.response is not Response.LABELS
    return len(roles.classes or ()) if by_class else 1


def _tuple(values: Any) -> Any:
    return None if values is None else tuple(values)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= 1e300 and not math.isnan(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62


def _is_entropy(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**64


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 < value < 1


def _is_range(value: Any) -> bool:
    return _is_list_of(_is_count)(value) and len(value) == 2 and value[0] <= value[1]


def _are_times(value: Any) -> bool:
    return _is_list_of(_is_number)(value) and all(low < high for low, high in pairwise(value))


def _are_labels(value: Any) -> bool:
    of_one_type = any(_is_list_of(check)(value) for check in (_is_text, _is_flag, _is_number))
    return of_one_type and len(set(value)) == len(value) >= 2


def _are_reasons(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return all(
        number.isascii() and number.isdigit() and len(number) < 16 and isinstance(reason, str)
        for number, reason in value.items()
    )


def _is_list_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(check(entry) for entry in value)


def _one_of(kinds: Any) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in list(kinds)
