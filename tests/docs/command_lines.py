"""Command lines as text: which command they name, and whether it takes their words."""

import re
import shlex
from pathlib import Path

import click

from heldout.cli.group import heldout

LINE = re.compile(r"^\s*\$ (heldout (?:.*\\\n)*.*)$", flags=re.MULTILINE)
ROOT = Path(__file__).parents[2]


def lines_of_pages() -> list[tuple[str, str]]:
    """The command lines of the documentation, each with the name of its page."""
    pages = [
        ROOT / "README.md",
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((ROOT / "papers/pages").glob("*.md")),
    ]
    lines = (
        (page.name, re.sub(r"\s*(#.*|[|&>] .*)$", "", line.replace("\\\n", " ")))
        for page in pages
        if page.exists()
        for line in LINE.findall(page.read_text(encoding="utf-8"))
    )
    return list(dict.fromkeys(lines))


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
