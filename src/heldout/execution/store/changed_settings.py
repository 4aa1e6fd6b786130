"""What differs between a run in a file and the one that would continue it, in the words of a refusal."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heldout.data.declared import from_json
from heldout.execution.store import RunIdentity
from heldout.execution.store.runs import StoredRun

_PARTS = {"rows", "folds", "configurations"}


_MOST_CHARACTERS = 40


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
        found.append(f"other settings{_changed_settings(stored.row['settings'], wanted.settings)}")
    if stored.entropy != wanted.entropy:
        found.append(f"random_state {stored.entropy} then, {wanted.entropy} now")
    return found


def _both(there: str | None, here: str | None) -> str:
    if there is None or here is None:
        return ""
    return f" ({there} then and now, but not the same)" if there == here else f" ({there} then, {here} now)"


def _changed_settings(there: str, here: str) -> str:
    try:
        old, new = (from_json(Mapping[str, Any], settings) for settings in (there, here))
    except ValueError:
        return ""
    changed = (name for name in {**new, **old} if old.get(name) != new.get(name))
    words = [_changed_setting(name, old.get(name), new.get(name)) for name in changed]
    return f" ({', '.join(words)})" if words else ""


def _changed_setting(name: str, old: object, new: object) -> str:
    plain = all(
        isinstance(value, str | bool | int | float) and len(str(value)) <= _MOST_CHARACTERS for value in (old, new)
    )
    return f"{name} {old} then, {new} now" if plain else name


def _changed_options(there: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    """The options in which two runs differ, with both values.

    Examples
    --------
    >>> _changed_options({"--preset": "quick", "--cv": "5"}, {"--preset": "standard", "--cv": "5"})
    ['--preset quick then, standard now']
    """
    if not there.keys() - _PARTS or not here.keys() - _PARTS:
        return []  # started from Python
    return [
        f"{name} {there.get(name, 'not given')} then, {here.get(name, 'not given')} now"
        for name in dict.fromkeys((*here, *there))
        if name not in _PARTS and there.get(name) != here.get(name)
    ]


def other_run(path: Path, stored: StoredRun, wanted: RunIdentity, found: list[str]) -> str:
    """The sentence for a file that holds only other runs."""
    options = _changed_options(stored.terms, wanted.terms)
    if any(option.startswith("--seed ") for option in options):
        found = [part for part in found if not part.startswith("random_state ")]
    return (
        f"the run file {path} holds a run that was started with other settings: {'; '.join([*options, *found])}. "
        f"Resume it with the same settings, or use another folder for a new run."
    )
