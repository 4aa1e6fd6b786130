"""The methods that the options of ``heldout estimate`` name, with their settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from heldout._defaults import DEFAULT_METHOD
from heldout.cli.method_text import configured, fields_of, method_of_text
from heldout.cli.options import about_option
from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.cli.estimate_input import EstimateInput, EstimateOptions
    from heldout.estimates.base import Method


def check_names(options: EstimateOptions) -> None:
    """Refuse unknown methods and selection rules before anything is read."""
    from heldout.selection import rule_of

    if options.method not in (None, "all"):
        method_of_text(options.method)
    if options.selection is not None:
        with about_option("--selection", options.selection):
            rule_of(options.selection)


def methods_of_options(options: EstimateOptions, found: EstimateInput) -> dict[str, Method]:
    """All methods, or the one named, each with those of the options that are its settings.

    Where none is named, that of the search that made the predictions.
    """
    from heldout.data.calls import call_in
    from heldout.estimates import METHODS

    settings, method, own = _settings(options, found), options.method, found.held.remembered.method
    is_own, method = method is None and own is not None, method or (own.name if own else DEFAULT_METHOD)
    if method != "all":
        chosen = own if is_own and own is not None else method_of_text(method)
        made, names = {chosen.name: chosen}, [chosen.name]
        twice = next((name for name in (call_in(method) or ("", {}))[1] if name in settings), None)
        if twice is not None:
            raise InputError(f"--method {method} says {twice}, and so does an option; leave one of them out.")
    else:
        made, names = {name: make() for name, make in METHODS.items()}, list(METHODS)
        made |= {} if own is None else {own.name: own}
    for setting in settings:
        able = [name for name, make in METHODS.items() if setting in fields_of(make())]
        if not set(able) & set(names):
            option = "--fixed-configuration" if setting == "configuration" else f"--{setting.replace('_', '-')}"
            of = f"it is one of {', '.join(able)}" if able else "no method of this version has it"
            use = f"use --method {able[0]}, or " if able else ""
            raise InputError(f"{option} is not a setting of --method {method}; {of}: {use}leave it out.")
    return {name: configured(made[name], settings) for name in names}


def _settings(options: EstimateOptions, found: EstimateInput) -> dict[str, Any]:
    settings = {
        "stratify": options.stratify or None,
        "interval": options.interval,
        "control": _control(options.control),
        "ties": options.ties,
        "candidates": _candidates(options.candidates),
        "evaluation_share": options.evaluation_share,
        "configuration": _configuration(options, found),
    }
    return {name: value for name, value in settings.items() if value is not None}


def _control(text: str | None) -> Literal["auto"] | bool | None:
    """The value that ``BBC`` takes; None by default."""
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


def _configuration(options: EstimateOptions, found: EstimateInput) -> str | None:
    """The configuration to bound; of a file with columns for each configuration, --configuration names it too."""
    from heldout.readers.columns import quoted

    name = options.fixed_configuration
    if options.configuration and not found.names_columns:
        if name is not None or len(options.configuration) > 1:
            raise InputError(
                "--configuration names the column that identifies the configuration of a line, and needs --row "
                "COL, the column that identifies its row."
            )
        (name,) = options.configuration
    if name is None or name in found.held.names:
        return name
    raise InputError(
        f"--fixed-configuration must name a configuration of the file, got {name!r}; they are "
        f"{quoted(found.held.names)} (to name the column that identifies configurations: --configuration COL "
        "--row COL)."
    )
