"""Command lines as text: which command they name, and whether it takes their words."""

from __future__ import annotations

import shlex

import click

from heldout.cli.group import heldout


def arguments_of(command: str) -> tuple[click.Command, click.Context, list[str]]:
    """The command that a line names, and the words after its name."""
    words = shlex.split(command)[1:]
    found: click.Command = heldout
    context = click.Context(heldout, info_name="heldout")
    while isinstance(found, click.Group):
        name = words.pop(0)
        subcommand = found.get_command(context, name)
        assert subcommand is not None, f"no command {name!r} in {command!r}"
        found, context = subcommand, click.Context(subcommand, info_name=name, parent=context)
    return found, context, words


def check_read(command: str) -> None:
    """Check that a command takes the words of a line, without running it."""
    found, context, words = arguments_of(command)
    values, rest, _ = found.make_parser(context).parse_args(list(words))
    assert not rest
    for parameter in found.params:
        given = values.get(parameter.name)
        if parameter.required and parameter.name is not None:
            assert given is not None, f"{command!r} lacks {parameter.name}"
        if isinstance(given, str) and isinstance(
            parameter.type, click.Choice | click.types.IntParamType | click.types.FloatParamType
        ):
            parameter.type_cast_value(context, given)
