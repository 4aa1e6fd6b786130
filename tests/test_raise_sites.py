"""Sources name arguments that users can pass, and two of them read the private names of other packages."""

import ast
from pathlib import Path

from raise_sites import errors_without_their_argument, public_parameters, unknown_arguments
from sources import nodes_of

import heldout as ho

PACKAGE = Path(ho.__file__).parent
ADAPTERS = ("_sklearn.py", "_loky.py")
HOOKS = {"_parameter_constraints", "_repr_html_inner", "_repr_mimebundle_", "_sk_visual_block_", "_score"}
"""Names that classes of ours define for scikit-learn, and pass on to its classes by ``super()``."""


def test_named_arguments_are_parameters_of_public_callables_or_commands() -> None:
    assert not unknown_arguments(ho, public_parameters())


def test_a_sentence_on_an_argument_knows_it() -> None:
    assert not errors_without_their_argument(ho, public_parameters())


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def private_imports(nodes: list[ast.AST]) -> list[str]:
    names = [
        f"{node.module}.{alias.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        and node.module
        and node.module.partition(".")[0] in ("sklearn", "joblib")
        for alias in node.names
    ]
    return [name for name in names if "loky" in name or any(map(is_private, name.split(".")))]


def private_attributes(nodes: list[ast.AST]) -> set[str]:
    """Private attributes, by name or in quotes, that the module does not define itself."""
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    quoted = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    defined = {node.attr for node in attributes if isinstance(node.ctx, ast.Store) and is_self(node.value)}
    defined |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    names = {node.attr for node in attributes} | {name for name in quoted if name.isidentifier()}
    return {name for name in names - defined if is_private(name)}


def is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def test_two_files_read_private_names() -> None:
    sources = dict(nodes_of(PACKAGE))
    adapters = [sources.pop(PACKAGE / name) for name in ADAPTERS]
    theirs = set[str]().union(*map(private_attributes, adapters)) - HOOKS
    assert {"_predictors", "_scorers", "_fit_method", "_workers"} <= theirs
    for path, nodes in sources.items():
        assert not private_imports(nodes), path
        assert not private_attributes(nodes) & theirs, path
