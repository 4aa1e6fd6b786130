"""Is it the same run? What a stored run has in common with the one that is wanted, and what to say if not."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.declared import from_json
from heldout.store.base import RunIdentity

_DIGITS = 12


@dataclass(frozen=True, eq=False)
class StoredRun:
    """A run of a file.

    Attributes
    ----------
    number : int
        Its key in the file.
    identity : RunIdentity
        Without versions.
    versions : tuple of mapping
        Of the code that worked on it, in time; more than one where a change was accepted.
    configuration_ids : frozenset of str
    """

    number: int
    identity: RunIdentity
    versions: tuple[Mapping[str, str], ...]
    configuration_ids: frozenset[str]


def differences(stored: StoredRun, wanted: RunIdentity, configuration_ids: frozenset[str]) -> list[str]:
    """Which parts of the identity differ, each with both sides; empty for the same run."""
    there = stored.identity
    found = []
    for part in ("rows", "folds", "configurations"):
        # The order of the configurations is no part of a run's identity.
        if part == "configurations" and stored.configuration_ids == configuration_ids:
            continue
        if getattr(there, part) != getattr(wanted, part):
            found.append(f"{part} {getattr(there, part)[:_DIGITS]} there, {getattr(wanted, part)[:_DIGITS]} here")
    if there.settings != wanted.settings:
        names = _changed_settings(there.settings, wanted.settings)
        found.append(f"settings{names} {_digest(there.settings)} there, {_digest(wanted.settings)} here")
    if there.entropy != wanted.entropy:
        found.append(f"random_state {there.entropy} there, {wanted.entropy} here")
    return found


def _digest(settings: str) -> str:
    return hashlib.sha256(settings.encode()).hexdigest()[:_DIGITS]


def _changed_settings(there: str, here: str) -> str:
    try:
        old, new = (from_json(Mapping[str, Any], settings) for settings in (there, here))
    except ValueError:
        return ""
    changed = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    return f" ({', '.join(changed)})" if changed else ""


def other_run(path: Path, found: list[str]) -> str:
    """The sentence for a file whose runs are all others."""
    return (
        f"the run file {path} holds a run of other {found[0].split()[0]}: {'; '.join(found)}. Resume it with what "
        f"it was started with, or use another folder for a new run."
    )


def changed_versions(path: Path, there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """The sentence for a run that other code began."""
    changed = [
        f"{name} {there.get(name, 'absent')} there, {here.get(name, 'absent')} here"
        for name in sorted(there.keys() | here.keys())
        if there.get(name) != here.get(name)
    ]
    return (
        f"the run in {path} was begun by other code ({'; '.join(changed)}), so that its cells need not equal new "
        f"ones. Go back to that code, accept the change (--accept-changed-code, or SQLiteStore(path, "
        f"accept_changed_code=True)), or use another folder for a new run."
    )


def already_there(path: Path, n_cells: int) -> str:
    """The sentence for a new run where one is already."""
    return (
        f"the run file {path} already holds a run with {n_cells} finished cells; resume it (--resume), or use "
        f"another folder for a new run."
    )
