"""The methods that ``heldout estimate`` was asked for, with the settings that they have."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.cli.estimate_options import Options
    from heldout.cli.estimate_reading import Reading
    from heldout.estimates.base import Method


def check_names(wanted: Options) -> None:
    """Refuse names of no method or selection rule, before anything is read.

    Raises
    ------
    InputError
    """
    from heldout.estimates import METHODS
    from heldout.selection import rule_of

    if wanted.method != "all" and wanted.method not in METHODS:
        raise InputError(f"--method must be one of all, {', '.join(METHODS)}, got {wanted.method!r}.")
    rule_of(wanted.selection)


def methods_wanted(wanted: Options, reading: Reading) -> dict[str, Method]:
    """The methods by name, each with those of the options that are its settings.

    Raises
    ------
    InputError
        When an option is a setting of none of them, or has a value that it cannot have.
    """
    from heldout.estimates import METHODS

    names = list(METHODS) if wanted.method == "all" else [wanted.method]
    given = _settings(wanted, reading)
    for setting in given:
        able = [name for name, make in METHODS.items() if setting in _fields(make())]
        if not set(able) & set(names):
            option = "--fixed-configuration" if setting == "configuration" else f"--{setting.replace('_', '-')}"
            of = f"it is one of {', '.join(able)}" if able else "no method of this version has it"
            raise InputError(f"{option} is no setting of --method {wanted.method}; {of}: leave it out.")
    return {name: _configured(METHODS[name](), given) for name in names}


def _settings(wanted: Options, reading: Reading) -> dict[str, Any]:
    settings = {
        "stratify": wanted.stratify or None,
        "interval": wanted.interval or _interval_of_file(wanted, reading),
        "control": control_of(wanted.control),
        "candidates": _candidates(wanted.candidates),
        "evaluation_share": wanted.evaluation_share,
        "configuration": _configuration(wanted, reading),
    }
    return {name: value for name, value in settings.items() if value is not None}


def _interval_of_file(wanted: Options, reading: Reading) -> str | None:
    """That of the run that wrote the file, where the method is the same."""
    roles = reading.table.roles
    return None if roles is None or wanted.method != "bbc" else roles.settings.get("interval")


def control_of(text: str | None) -> Literal["auto"] | bool | None:
    """What ``BBC`` calls it; None where nothing was said.

    Raises
    ------
    InputError
    """
    if text is None or text == "auto":
        return cast('Literal["auto"] | None', text)
    if text not in ("on", "off"):
        raise InputError(f"--control must be auto, on or off, got {text!r}.")
    return text == "on"


def _candidates(text: str | None) -> str | float | None:
    if text is None or text == "best":
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--candidates must be best or a share such as 0.1, got {text!r}.") from None


def _configuration(wanted: Options, reading: Reading) -> str | None:
    """The configuration to bound; without --row, which a long table needs, --configuration names it too."""
    from heldout.readers.columns import quoted

    name = wanted.fixed_configuration
    if wanted.configuration and not reading.long:
        if name is not None or len(wanted.configuration) > 1:
            raise InputError(
                "--configuration names the column that says of which configuration a line is, which needs --row "
                "COL: "
                "the column that says of which row it is."
            )
        (name,) = wanted.configuration
    if name is None or name in reading.held.names:
        return name
    raise InputError(
        f"--fixed-configuration must name a configuration of the file, got {name!r}; they are "
        f"{quoted(reading.held.names)} (to say which column tells configurations apart: --configuration COL --row "
        "COL)."
    )


def _fields(method: Method) -> set[str]:
    return {field.name for field in fields(method) if field.init}  # type: ignore[arg-type]


def _configured(method: Method, given: dict[str, Any]) -> Method:
    mine: dict[str, Any] = {name: value for name, value in given.items() if name in _fields(method)}
    return replace(method, **mine) if mine else method  # type: ignore[type-var]
