"""The metadata of heldout's own Parquet files: the roles of the columns, checked like any input.

Anybody with the file can change it, so the type and range of every entry are checked.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import chain, pairwise
from typing import Annotated, Any, TypeAlias

from heldout.data.checks import AGGREGATES, ALTERNATIVES
from heldout.data.declared import Between, of_type
from heldout.data.task import TaskKind, shortened
from heldout.errors import InputError, reason_of
from heldout.estimates.block_length import blocks_of
from heldout.estimates.methods import method_named
from heldout.metrics.base import Response, check_among
from heldout.selection import configuration_rule_of

METADATA_KEY = b"heldout"
REMEDY = "write the file again with heldout tune, or save it as CSV, which has no metadata, and name its columns"

_RESPONSES = {
    TaskKind.REGRESSION: {Response.VALUES},
    TaskKind.SURVIVAL: {Response.RISK, Response.SURVIVAL},
    TaskKind.BINARY: {Response.LABELS, Response.PROBABILITIES, Response.DECISION},
    TaskKind.MULTICLASS: {Response.LABELS, Response.PROBABILITIES, Response.DECISION},
}


Count: TypeAlias = Annotated[int, Between(0, 2**62)]
Share: TypeAlias = Annotated[float, Between(0, 1)]


@dataclass(frozen=True)
class SearchSettings:
    """Settings of the search that wrote the table; None where it recorded none."""

    aggregate: str | None = None
    entropy: Annotated[int, Between(0, 2**64 - 1)] | None = None
    n_bootstraps: Annotated[int, Between(1, 2**62)] | None = None
    confidence_level: Share | None = None
    alternative: str | None = None
    method: str | None = None
    block_length: str | None = None
    selection: str | None = None
    """How the winner was selected; None too for a rule that no text names, as ``beyond`` then says."""
    drop: str | None = None
    flags: Mapping[str, str] = field(default_factory=dict)
    beyond: str = ""
    winner: Count | None = None
    """The number of the configuration of the model that was fitted on all rows."""


@dataclass(frozen=True)
class ColumnRoles:
    """The role of each column in a table that ``heldout tune`` wrote."""

    target: str
    """Column of true values; of times in a survival task, which also has ``event``."""
    kind: TaskKind
    metric: str
    response: Response
    """What the predictions are."""
    names: tuple[str, ...]
    """Names of the C configurations."""
    columns: tuple[tuple[str, ...], ...]
    """The columns of each configuration: one, or one per class or time."""
    exchangeable: bool
    event: str | None = None
    classes: tuple[str, ...] | tuple[bool, ...] | tuple[int | float, ...] | None = None
    """The labels of a classification, in the order of their codes."""
    positive: Count | None = None
    times: tuple[float, ...] = ()
    failed: Mapping[int, str] = field(default_factory=dict)
    dropped: Mapping[int, str] = field(default_factory=dict)
    training_rows: float | None = None
    training_range: tuple[Count, Count] | None = None
    grouped: bool = False
    adaptive: bool = False
    test_share: Share | None = None
    """``failed``, ``dropped``, ``exchangeable``, ``training_rows``, ``training_range``, ``grouped``,
    ``adaptive``, ``test_share``: as in ``HeldOutPredictions``."""
    rows: Count | None = None
    repeats: Count | None = None
    """``rows``, ``repeats``: numbers of rows and repeats; None in files of earlier versions."""
    settings: SearchSettings = SearchSettings()

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
    entries = _known_entries(ColumnRoles, found)
    if isinstance(entries.get("settings"), dict):
        entries["settings"] = _known_entries(SearchSettings, entries["settings"])
    try:
        roles: ColumnRoles = of_type(ColumnRoles, entries)
    except ValueError as error:
        raise InputError(
            f"{path}: its metadata 'heldout' does not say what the columns are ({error}); {REMEDY}."
        ) from None
    wrong = next(_contradictions(roles), None)
    if wrong is not None:
        raise InputError(f"{path}: {wrong[0]!r} of its metadata 'heldout' {wrong[1]}; {REMEDY}.")
    return roles


READERS: Mapping[str, Callable[[str], Any]] = {
    "aggregate": partial(check_among, "aggregate", allowed=AGGREGATES),
    "alternative": partial(check_among, "alternative", allowed=ALTERNATIVES),
    "method": method_named,
    "block_length": blocks_of,
    "selection": configuration_rule_of,
}
"""From the text of a setting to what it names."""


def _known_entries(kind: Any, found: Mapping[str, Any]) -> dict[str, Any]:
    """The entries that this version knows, without those that are null."""
    return {one.name: found[one.name] for one in fields(kind) if found.get(one.name) is not None}


def _contradictions(roles: ColumnRoles) -> Iterator[tuple[str, str]]:
    """Entries that cannot be, or that contradict others, each with what it must be."""
    kind, classes, settings, n = roles.kind, roles.classes, roles.settings, len(roles.names)
    n_classes = None if classes is None else len(classes)
    is_binary, is_survival = kind is TaskKind.BINARY, kind is TaskKind.SURVIVAL
    if kind not in _RESPONSES:
        yield "kind", f"must be that of a target of one column, got {kind.value!r}"
        return
    if classes is not None and not len(set(classes)) == len(classes) >= 2:
        yield "classes", f"must be two or more different labels of one type, got {shortened(list(classes))}"
    if kind.is_classification != (classes is not None) or (is_binary and n_classes != 2):
        yield "classes", f"must be the labels of a {kind} target, got {n_classes or 'none'}"
    if roles.response not in _RESPONSES[kind]:
        yield "response", f"must fit a {kind} target, got {roles.response!s}"
    if roles.positive is not None and roles.positive >= (n_classes or 0):
        yield "positive", f"must be the number of a class, got {roles.positive}"
    if is_binary and roles.positive is None:
        yield "positive", "must be 0 or 1, got nothing"
    if is_survival != (roles.event is not None):
        yield "event", f"must be given for survival alone, got {roles.event!r} for a {kind} target"
    if not all(low < high for low, high in pairwise(roles.times)):
        yield "times", f"must be ascending numbers, got {shortened(list(roles.times))}"
    if roles.training_range is not None and roles.training_range[0] > roles.training_range[1]:
        yield "training_range", f"must be two whole numbers, ascending, got {list(roles.training_range)}"
    for name, share in (("test_share", roles.test_share), ("confidence_level", settings.confidence_level)):
        if share in (0, 1):
            yield name, f"must be a number between 0 and 1, got {share}"
    for name, reader in READERS.items():
        text = getattr(settings, name)
        try:
            None if text is None else reader(text)
        except (InputError, TypeError, ValueError) as error:  # of a parameter that is none
            yield name, f"cannot be read ({reason_of(error)})"
    if settings.winner is not None and settings.winner >= n:
        yield "winner", f"must be the number of a configuration, from 0 to {n - 1}, got {settings.winner}"
    yield from _contradictions_of_columns(roles)
    for name, reasons in (("failed", roles.failed), ("dropped", roles.dropped)):
        beyond = [number for number in reasons if number >= n]
        if beyond:
            yield name, f"must number configurations from 0 to {n - 1}, got {beyond[0]}"


def _contradictions_of_columns(roles: ColumnRoles) -> Iterator[tuple[str, str]]:
    if not roles.names or len(roles.names) != len(roles.columns):
        yield "columns", f"must be a list for each of {len(roles.names)} configurations, got {len(roles.columns)}"
    each = _columns_of_each(roles)
    odd = next((own for own in roles.columns if len(own) != each), None)
    if odd is not None:
        yield "columns", f"must have {each} for each configuration, got {len(odd)}: {shortened(list(odd))}"
    uses = [*chain(*roles.columns), roles.target, roles.event, "row", "repeat", "fold", "group", "weight"]
    twice = [name for name, times in Counter(uses).items() if times > 1]
    if twice:
        yield "columns", f"must give each column one use, got {twice[0]!r} twice"


def _columns_of_each(roles: ColumnRoles) -> int:
    if roles.response is Response.SURVIVAL:
        return len(roles.times)
    by_class = roles.kind is TaskKind.MULTICLASS and roles.response is not Response.LABELS
    return len(roles.classes or ()) if by_class else 1
