"""The group of commands, each imported when it is called, and the exit code of each way of failing.

Nothing heavy is imported here, so that ``heldout --help`` answers at once.
"""

import difflib
import errno
import importlib
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import click

from heldout._papers import of_papers
from heldout._text import printable, wrapped
from heldout.cli.console import discard, echo
from heldout.cli.options import in_options, options_by_argument
from heldout.errors import HeldoutError, MissingPapersError, shown_path, text_of

COMMANDS = {
    "tune": "heldout.cli.tune",
    "compare": "heldout.cli.compare",
    "estimate": "heldout.cli.estimate",
    "validate": "heldout.cli.validate",
    "advise": "heldout.cli.advise",
    "predict": "heldout.cli.predict",
    "report": "heldout.cli.report",
    "status": "heldout.cli.status",
    "open": "heldout.cli.open",
}
STUDY = "study"
"""The command that heldout-papers brings."""

_COMMAND = f"{__name__}.command"
"""Where click's contexts, that of a group and those of its commands, keep the command that the user called."""

EXIT_FAULT, EXIT_BAD_INPUT, EXIT_INTERRUPTED = 1, 2, 130

_OF_THE_DISK = {
    errno.ENOSPC: "the disk is full; free some space and try again",
    errno.EDQUOT: "your disk quota is used up; free some space and try again",
    errno.EROFS: "it cannot be written to; choose another folder with --out",
    errno.EACCES: "permission denied; choose another folder with --out, or change its permissions",
    errno.ENAMETOOLONG: "the name is too long for a file; use a shorter one",
    errno.ELOOP: "the link leads in a circle; use the file or folder itself",
    errno.EPERM: "permission denied; choose another folder with --out, or change its permissions",
}


class LazyGroup(click.Group):
    """Loads a command's module, which holds it as ``command``, when it is called.

    ``modules`` are the modules by the commands' names; ``nouns`` say what such a command is, singular and plural.
    """

    def __init__(
        self, *arguments: Any, modules: Mapping[str, str], nouns: tuple[str, str], **settings: Any
    ) -> None:
        super().__init__(*arguments, **settings)
        self._modules = modules
        self._noun, self._nouns = nouns

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._modules:
            return None
        command: click.Command = importlib.import_module(self._modules[cmd_name]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            names = self.list_commands(ctx)
            close = difflib.get_close_matches(args[0], names, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise click.UsageError(
                f"there is no {self._noun} {args[0]!r}; the {self._nouns} are {', '.join(names)}.{hint}"
            )
        name, command, others = super().resolve_command(ctx, args)
        ctx.meta[_COMMAND] = command
        return name, command, others


class Group(LazyGroup):
    """Has the commands of heldout-papers too, and turns every error into a sentence and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *of_papers("heldout.commands")]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = super().get_command(ctx, cmd_name) or of_papers("heldout.commands").get(cmd_name)
        if command is None and cmd_name == STUDY:
            raise MissingPapersError(f"heldout {STUDY}")
        return command

    def main(self, *arguments: Any, **settings: Any) -> Any:
        """As click's, but with a sentence where stdout cannot be written to, even for help."""
        try:
            return super().main(*arguments, **settings)
        except OSError as error:
            discard()
            with suppress(OSError):
                why = (error.strerror or str(error)).lower()
                click.echo(f"Error: the output could not be written ({why}).", err=True)
            raise SystemExit(EXIT_BAD_INPUT) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.Abort):
            raise
        except click.ClickException as error:
            text = wrapped(f"Error: {error.format_message()}", sys.stderr).removeprefix("Error: ")
            error.format_message = lambda: text  # type: ignore[method-assign]
            raise
        except HeldoutError as error:
            options = options_by_argument(ctx.meta.get(_COMMAND, self))
            text = in_options(str(error), options, getattr(error, "argument", None))
            _end(ctx, error, wrapped(f"Error: {printable(text)}", sys.stderr), EXIT_BAD_INPUT)
        except KeyboardInterrupt as error:
            _end(ctx, error, f"\n{printable(str(error), keep=chr(10)) or 'Interrupted.'}", EXIT_INTERRUPTED)
        except Exception as error:
            if isinstance(error, OSError) and _while_printing(error):
                raise  # while click prints help: main handles it; the Console handles the rest
            known = isinstance(error, OSError) and _OF_THE_DISK.get(error.errno or 0)
            if known:
                where = shown_path(getattr(error, "filename", None) or "the output folder", most=200)
                _end(ctx, error, f"Error: {printable(where)}: {known}.", EXIT_BAD_INPUT)
            if isinstance(error, MemoryError):
                text = "Error: out of memory; use fewer --n-jobs, --preset quick, or fewer rows."
                _end(ctx, error, text, EXIT_BAD_INPUT)
            _end(ctx, error, _fault(error), EXIT_FAULT)


def _while_printing(error: OSError) -> bool:
    """Whether click was printing when the error occurred: the error itself does not name stdout."""
    return any(frame.f_code is click.echo.__code__ for frame, _ in traceback.walk_tb(error.__traceback__))


def _end(ctx: click.Context, error: BaseException, text: str, code: int) -> None:
    if ctx.params.get("debug") and not isinstance(error, KeyboardInterrupt):
        echo(printable("".join(traceback.format_exception(error)).rstrip(), keep="\n"), err=True)
    with suppress(OSError):  # the exit code remains
        echo(text, err=True)
    ctx.exit(code)


def _fault(error: Exception) -> str:
    text = printable(text_of(error))
    return (
        f"heldout failed with {type(error).__name__}: {text}\n"
        "This is a fault of heldout, not of your input. Please report it to the project with what the same command "
        "prints as `heldout --debug ...` and with `heldout --version`."
    )


def _print_version(ctx: click.Context, option: click.Parameter, is_given: bool) -> None:
    if not is_given or ctx.resilient_parsing:
        return
    from importlib.metadata import version
    from platform import python_version

    from heldout._version import __version__
    from heldout.kernels.dispatch import KERNELS

    kernels = {
        "compiled": "compiled kernels (C++)",
        "numpy": "NumPy kernels (no compiled ones: same numbers, slower)",
    }[KERNELS]
    others = f"Python {python_version()}, scikit-learn {version('scikit-learn')}"
    click.echo(f"heldout {__version__}, {kernels}, {others}")
    ctx.exit()


@click.group(
    cls=Group,
    modules=COMMANDS,
    nouns=("command", "commands"),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--debug", is_flag=True, help="Print the traceback of an error.")
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_print_version,
    help="Versions, and which kernels are in use.",
)
def heldout(debug: bool) -> None:
    """Tune as many models as you like, and report a performance you can believe.

    \b
    heldout tune data.csv --target outcome --out results
    heldout compare data.csv --target outcome --models forest,boosting
    heldout estimate predictions.csv --target truth --fold fold
    heldout validate data.csv --target outcome --model logistic
    heldout advise data.csv --target outcome
    heldout predict results new.csv
    heldout open results
    heldout study bias --quick                  (with heldout-papers)
    """
