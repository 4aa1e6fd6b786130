"""Compare a stored run with the one to open, and say in words how they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.data.declared import from_json
from heldout.execution.store.base import RunIdentity

_PARTS = {"rows", "folds", "configurations"}
_MOST_CHARACTERS = 40
_IN_WORDS = {
    "scorers": "scoring",
    "responses": "predictions that are kept",
    "positive": "positive class",
    "error_score": "error_score",
    "train_scores": "return_train_score",
    "seeded": "whether estimators are seeded",
    "fit": "parameters of fit",
    "fit_of_model": "parameters of fit",
    "score": "parameters of scoring",
    "do": "what is done in a fit",
    "share": "share",
    "early_stopping": "early_stopping",
    "complexity": "the complexity of the selection",
    "stop_when_width": "stop_when_width",
}
"""The settings of ``execution.identity`` as users know them."""


@dataclass(frozen=True, eq=False)
class StoredRun:
    """A run of a file."""

    number: int
    """Its key in the file."""
    identity: RunIdentity
    """Without versions."""
    versions: tuple[Mapping[str, str], ...]
    """Of the code that worked on it, in order of time; more than one if a change was accepted."""
    configuration_ids: frozenset[str]


def differences(stored: StoredRun, wanted: RunIdentity, configuration_ids: frozenset[str]) -> list[str]:
    """The parts of the identity that differ, each in words with both values; empty for the same run."""
    there = stored.identity
    found = []
    for part in ("rows", "folds", "configurations"):
        # The order of the configurations is no part of a run's identity.
        if part == "configurations" and stored.configuration_ids == configuration_ids:
            continue
        if getattr(there, part) != getattr(wanted, part):
            found.append(f"other {part}{_both(there.terms.get(part), wanted.terms.get(part))}")
    if there.settings != wanted.settings:
        found.append(f"other settings{_changed_settings(there.settings, wanted.settings)}")
    if there.entropy != wanted.entropy:
        found.append(f"random_state {there.entropy} then, {wanted.entropy} now")
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
    changed = [name for name in _IN_WORDS if old.get(name) != new.get(name)]
    words = [_changed_setting(_IN_WORDS[name], old.get(name), new.get(name)) for name in changed]
    words += sorted(name for name in (old.keys() | new.keys()) - _IN_WORDS.keys() if old.get(name) != new.get(name))
    return f" ({', '.join(dict.fromkeys(words))})" if words else ""


def _changed_setting(name: str, old: object, new: object) -> str:
    plain = all(
        isinstance(value, str | bool | int | float) and len(str(value)) <= _MOST_CHARACTERS for value in (old, new)
    )
    return f"{name} {old} then, {new} now" if plain else name


def changed_options(there: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    """The options in which two runs differ, with both values.

    Examples
    --------
    >>> changed_options({"--preset": "quick", "--cv": "5"}, {"--preset": "standard", "--cv": "5"})
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
    options = changed_options(stored.identity.terms, wanted.terms)
    if any(option.startswith("--seed ") for option in options):
        found = [part for part in found if not part.startswith("random_state ")]
    return (
        f"the run file {path} holds a run that was started with other settings: {'; '.join([*options, *found])}. "
        f"Resume it with the same settings, or use another folder for a new run."
    )


def changed_versions(path: Path, there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """The sentence for a run that other code started."""
    changed = [
        f"{name} {there.get(name, 'absent')} there, {here.get(name, 'absent')} here"
        for name in sorted(there.keys() | here.keys())
        if there.get(name) != here.get(name)
    ]
    return (
        f"the run in {path} was started by other code ({'; '.join(changed)}), so its cells may differ from new "
        f"ones. Go back to that code, accept the change (--accept-changed-code, or SQLiteStore(path, "
        f"accept_changed_code=True)), or use another folder for a new run."
    )


def already_there(path: Path, n_cells: int) -> str:
    """The sentence for a new run in a file that already holds it."""
    return (
        f"the run file {path} already holds a run with {n_cells} finished cells; resume it (--resume), or use "
        f"another folder for a new run."
    )
