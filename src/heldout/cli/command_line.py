"""What the user typed, as it could be typed again."""

from __future__ import annotations

import shlex

import click


def command_line(ctx: click.Context) -> str:
    """The command as the user could type it again, without what was left at its default."""
    words = ["heldout", *ctx.command_path.split()[1:]]
    for parameter in ctx.command.params:
        name, value = str(parameter.name), ctx.params.get(str(parameter.name))
        if ctx.get_parameter_source(name) is not click.core.ParameterSource.COMMANDLINE:
            continue
        if isinstance(parameter, click.Argument):
            words.append(str(value))
        elif value is True:
            words.append(parameter.opts[0])
        else:
            for each in value if isinstance(value, tuple) else (value,):
                words += [parameter.opts[0], str(each)]
    return shlex.join(words)
