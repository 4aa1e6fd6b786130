"""The command line: parse, call the library, print. One file a command."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command ``heldout`` and exit with its code: 0, 1 (our fault), 2 (bad input) or 130 (interrupted)."""
    try:
        from heldout.cli.group import heldout
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        from heldout.errors import MissingExtraError

        print(f"Error: {MissingExtraError('The command line', 'app')}", file=sys.stderr)
        sys.exit(2)
    heldout.main(args=None if arguments is None else list(arguments), prog_name="heldout")
