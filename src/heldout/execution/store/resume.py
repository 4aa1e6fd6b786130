"""Whether a stored run is the one that is asked for, and how it differs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from heldout.data.declared import from_json
from heldout.execution.store import RunIdentity
from heldout.execution.store.runs import StoredRun

_PARTS = {"rows", "folds", "configurations"}


_MOST_CHARACTERS = 100


def differences(stored: StoredRun, wanted: RunIdentity, configuration_ids: frozenset[str]) -> list[str]:
    """The parts of the identity that differ, each in words with both values; empty for the same run."""
    found = []
    for part in ("rows", "folds", "configurations"):
        # The order of the configurations is no part of a run's identity.
        if part == "configurations" and configuration_ids == {member.id for member in stored.members}:
            continue
        if stored.row[part] != getattr(wanted, part):
            found.append(f"other {part}{_both(stored.terms.get(part), wanted.terms.get(part))}")
    if stored.row["settings"] != wanted.settings:
        changes: list[str] = []
        with suppress(ValueError):  # a store may be told settings that are no JSON
            changes = changes_of(
                *(from_json(Mapping[str, Any], text) for text in (stored.row["settings"], wanted.settings))
            )
        found.append(f"other settings ({', '.join(changes)})" if changes else "other settings")
    return found + changes_of({"random_state": stored.entropy}, {"random_state": wanted.entropy})


def _both(there: str | None, here: str | None) -> str:
    if there is None or here is None:
        return ""
    return f" ({there} then and now, but not the same)" if there == here else f" ({there} then, {here} now)"


def changes_of(there: Mapping[str, Any], here: Mapping[str, Any], lacking: str = "not given") -> list[str]:
    """The names under which two mappings differ, with both values where these are short.

    Examples
    --------
    >>> changes_of({"--preset": "quick", "--cv": "5", "fit": [1]}, {"--preset": "standard", "--cv": "5"})
    ['--preset quick then, standard now', 'fit']
    """
    changes = []
    for name in dict.fromkeys((*here, *there)):
        values = there.get(name, lacking), here.get(name, lacking)
        is_short = all(
            isinstance(each, str | int | float) and len(str(each)) <= _MOST_CHARACTERS for each in values
        )
        if values[0] != values[1]:
            changes.append("{} {} then, {} now".format(name, *values) if is_short else name)
    return changes


def other_run(path: Path, stored: StoredRun, wanted: RunIdentity, found: list[str]) -> str:
    """The sentence for a file that holds only other runs."""
    there, here = ({k: v for k, v in run.terms.items() if k not in _PARTS} for run in (stored, wanted))
    options = changes_of(there, here) if there and here else []  # a run that was started from Python has none
    if any(option.startswith("--seed ") for option in options):
        found = [part for part in found if not part.startswith("random_state ")]
    return (
        f"the run file {path} holds a run that was started with other settings: {'; '.join([*options, *found])}. "
        f"Resume it with the same settings, or use another folder for a new run."
    )
