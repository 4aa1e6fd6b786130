"""The metadata of heldout's own Parquet files: the roles of the columns, checked like any input.

Anybody with the file can change it, so the type and range of every entry are checked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import chain, pairwise
from typing import Annotated, Any, TypeAlias

from heldout import _defaults
from heldout.data.checks import AGGREGATES, ALTERNATIVES
from heldout.data.declared import Between, of_type
from heldout.data.task import TaskKind, shortened
from heldout.errors import InputError
from heldout.estimates.block_length import blocks_of
from heldout.estimates.methods import method_of
from heldout.metrics.base import Response, check_among
from heldout.readers.columns import first_line
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
    n_rows_of_bootstrap: Count = _defaults.ROWS_OF_BOOTSTRAP
    """All rows of the table where bootstraps draw from all."""
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
        content = json.loads(metadata[METADATA_KEY].decode("utf-8"))
    except (ValueError, RecursionError) as error:  # ValueError: no JSON, no UTF-8, or a number of 5 000 digits
        raise InputError(
            f"{path}: its metadata 'heldout' cannot be read as JSON ({first_line(error)}); {REMEDY}."
        ) from None
    return roles_of_json(content, path)


def roles_of_json(content: Any, path: str) -> ColumnRoles:
    """The column roles in decoded JSON; wrong types and values that contradict each other are refused."""
    entries = _known_entries(ColumnRoles, content)
    if isinstance(entries, dict) and "settings" in entries:
        entries["settings"] = _known_entries(SearchSettings, entries["settings"])
    try:
        roles: ColumnRoles = of_type(ColumnRoles, entries)
    except ValueError as error:
        raise InputError(
            f"{path}: its metadata 'heldout' does not say what the columns are ({error}); {REMEDY}."
        ) from None
    for name, value, fits in _entries(roles):
        if not fits:
            raise InputError(
                f"{path}: {name!r} of its metadata 'heldout' does not fit the other entries, got "
                f"{shortened(value)}; {REMEDY}."
            )
    return roles


READERS: Mapping[str, Callable[[str], Any]] = {
    "aggregate": partial(check_among, "aggregate", allowed=AGGREGATES),
    "alternative": partial(check_among, "alternative", allowed=ALTERNATIVES),
    "method": method_of,
    "block_length": blocks_of,
    "selection": configuration_rule_of,
}
"""From the text of a setting to what it names."""


def _known_entries(kind: Any, content: Any) -> Any:
    """The entries of an object that this version knows, without those that are null."""
    if not isinstance(content, dict):
        return content
    return {one.name: content[one.name] for one in fields(kind) if content.get(one.name) is not None}


def _entries(roles: ColumnRoles) -> Iterator[tuple[str, Any, bool]]:
    """Entries with their values, and whether these can stand beside the others."""
    kind, classes, settings, n = roles.kind, roles.classes or (), roles.settings, len(roles.names)
    is_binary, is_survival = kind is TaskKind.BINARY, kind is TaskKind.SURVIVAL
    n_classes = len(classes) if len({*classes}) == len(classes) else 0
    yield "kind", kind.value, kind in _RESPONSES
    yield "response", str(roles.response), roles.response in _RESPONSES.get(kind, ())
    of_kind = n_classes >= 2 if kind.is_classification else not classes
    yield "classes", [*classes], of_kind and (n_classes == 2 or not is_binary)
    positive = -1 if roles.positive is None else roles.positive
    yield "positive", roles.positive, positive < max(n_classes, 0) and (positive >= 0 or not is_binary)
    yield "event", roles.event, is_survival == (roles.event is not None)
    yield "times", [*roles.times], all(low < high for low, high in pairwise(roles.times))
    fewest, most = roles.training_range or (0, 0)
    yield "training_range", [fewest, most], fewest <= most
    yield "test_share", roles.test_share, roles.test_share not in (0, 1)
    yield "confidence_level", settings.confidence_level, settings.confidence_level not in (0, 1)
    yield from ((name, getattr(settings, name), _is_read(name, getattr(settings, name))) for name in READERS)
    yield "winner", settings.winner, settings.winner is None or settings.winner < n
    yield "failed", [*roles.failed], all(number < n for number in roles.failed)
    yield "dropped", [*roles.dropped], all(number < n for number in roles.dropped)
    by_class = kind is TaskKind.MULTICLASS and roles.response is not Response.LABELS
    width = len(roles.times) if roles.response is Response.SURVIVAL else n_classes if by_class else 1
    uses = [*chain(*roles.columns), roles.target, roles.event, "row", "repeat", "fold", "group", "weight"]
    fit = len(roles.columns) == n > 0 and {*map(len, roles.columns)} == {width}
    yield "columns", [*map(list, roles.columns)], fit and len({*uses}) == len(uses)


def _is_read(name: str, text: str | None) -> bool:
    """Whether the text of a setting, if there is one, names something."""
    try:
        None if text is None else READERS[name](text)
    except (InputError, TypeError, ValueError):  # of a parameter that is none
        return False
    return True
