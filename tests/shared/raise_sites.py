"""The errors in the sources of a package, and the arguments that users can pass."""

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import click
from sources import nodes_of

import heldout as ho
from heldout.cli.group import heldout as heldout_command

ERRORS = ("InputError", "StoreError", "ArgumentError")


@cache
def public_parameters(*more: ModuleType) -> frozenset[str]:
    """The parameters of all public callables, methods and functions of modules included, and of the commands."""
    modules = [ho, ho.estimates, ho.metrics, ho.selection, ho.dropping, ho.plots, ho.protocols, ho.spaces, *more]
    found = {name for module in modules for one in members(module) for name in parameters(one)}
    commands = [heldout_command.get_command(click.Context(heldout_command), name) for name in ("tune", "validate")]
    options = {option.name for command in commands if command for option in command.params if option.name}
    return frozenset(found | options)


def members(owner: ModuleType | type) -> Iterator[object]:
    for name in dir(owner):
        one = getattr(owner, name, None)
        if name.startswith("_") or not callable(one):
            continue
        yield one
        if isinstance(one, type) and isinstance(owner, ModuleType):
            yield from members(one)


def parameters(one: object) -> list[str]:
    try:
        return list(inspect.signature(one).parameters)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return []


@cache
def calls(package: ModuleType) -> tuple[tuple[str, ast.Call, str], ...]:
    """File and line, the call, and the name of what is called, for every call in the sources of a package."""
    return tuple(
        (f"{path.name}:{node.lineno}", node, getattr(node.func, "id", getattr(node.func, "attr", "")))
        for path, nodes in nodes_of(folder_of(package)).items()
        for node in nodes
        if isinstance(node, ast.Call)
    )


def folder_of(package: ModuleType) -> Path:
    return Path(str(package.__file__)).parent


def texts(package: ModuleType) -> Iterator[tuple[str, str]]:
    """File and line, and the text, for every part of a text in the sources that is no docstring."""
    for path, nodes in nodes_of(folder_of(package)).items():
        docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                yield f"{path.name}:{node.lineno}", node.value


def unknown_arguments(package: ModuleType, public: frozenset[str]) -> list[str]:
    """Where errors, and names in backquotes within sentences, name an argument that no user can pass."""
    named = [
        (where, keyword.value.value)
        for where, call, called in calls(package)
        for keyword in call.keywords
        if keyword.arg == "argument" and called.endswith("Error") and isinstance(keyword.value, ast.Constant)
    ]
    named += [
        (where, begun[1] or begun[2])
        for where, call, called in calls(package)
        if called in ERRORS and call.args and not any(one.arg for one in call.keywords)
        if (begun := re.match(r"`([a-z]\w*)=|([a-z]\w*) must ", beginning(call.args[0])))
    ]  # the argument of an error is by default the one that its sentence begins with
    quoted = [(where, name) for where, text in texts(package) for name in re.findall(r"`([a-z]\w*)[=`]", text)]
    assert named and quoted, "the sources name arguments"
    return [f"{where}: {name}" for where, name in (*named, *quoted) if name and name not in public]


def errors_without_their_argument(package: ModuleType, public: frozenset[str]) -> list[str]:
    """Where a sentence is on an argument, which the error does not know."""
    unknown = []
    for where, call, called in calls(package):
        if called in ERRORS and call.args:
            subject = re.match(r"([a-z]\w*) cannot ", beginning(call.args[0]))
            name = subject and subject[1]
            if name in public and not any(one.arg for one in call.keywords):
                unknown.append(f"{where}: {name}")
    return unknown


def beginning(node: ast.expr) -> str:
    """The literal text that a sentence begins with."""
    if isinstance(node, ast.JoinedStr):
        node = node.values[0]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
