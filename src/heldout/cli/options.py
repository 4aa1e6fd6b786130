"""The options that commands share, the arguments that options set, and a command as it can be typed again."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, NamedTuple, TypeVar

import click

from heldout import _defaults

_OUTER_COMMA = re.compile(r",(?![^(\[]*[)\]])")
LOCAL, THREADS = "local", "threads"
_ADDRESSES = ("tcp://", "tls://")

Command = TypeVar("Command", bound=Callable[..., Any])
Option = Callable[[Any], Any]


_NO_TERMS = {
    "n_jobs", "out", "resume", "as_json", "quiet", "engine", "fit_timeout", "accept_changed_code", "trust",
    "verbose", "confidence_level", "alternative", "interval", "block_length", "timeout", "n_trials", "importance",
    "feedback", "stop_when_useless",
}  # fmt: skip
"""Options that change no fit."""


@dataclass(frozen=True, kw_only=True)
class WorkOptions:
    """The options of every command that works for a while."""

    n_jobs: int
    seed: int
    out: str
    resume: bool
    as_json: bool
    quiet: bool

    def check(self) -> None:
        """Refuse wrong values before anything is read."""
        from heldout._streams import entropy_of
        from heldout.data.limits import check_jobs

        check_jobs(self.n_jobs)
        entropy_of(self.seed)


@dataclass(frozen=True, kw_only=True)
class RunOptions(WorkOptions):
    """The options of every command that fits models."""

    confidence_level: float
    alternative: str
    engine: str
    fit_timeout: float | None
    accept_changed_code: bool
    verbose: bool

    @property
    def terms(self) -> dict[str, str]:
        """The options that can make two runs different, as they were typed."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in _NO_TERMS}
        return {
            "DATA" if name == "data" else "--" + name.replace("_", "-"): " ".join(map(str, value))
            if isinstance(value, tuple)
            else str(value)
            for name, value in values.items()
            if value is not None and value != ()
        }

    def check(self) -> None:
        """Refuse wrong values before anything is read."""
        from heldout.errors import InputError

        super().check()
        if self.verbose and self.quiet:
            raise InputError("--verbose prints more and --quiet less; leave one of them out.")
        _check_engine(self.engine, self.fit_timeout)


def _check_engine(engine: str, fit_timeout: float | None) -> None:
    """Refuse an unknown engine, and one that does not go with the other options."""
    from heldout.data.checks import check_fit_timeout
    from heldout.errors import InputError

    if engine not in (LOCAL, THREADS) and not engine.startswith(_ADDRESSES):
        raise InputError(
            f"--engine must be local, threads, or the address of a Dask scheduler, tcp://HOST:PORT or "
            f"tls://HOST:PORT, got {engine!r}."
        )
    check_fit_timeout(fit_timeout)
    if fit_timeout is not None and engine == THREADS:
        raise InputError(
            "--fit-timeout needs worker processes, which can be ended, and --engine threads has none; use --engine "
            "local, or leave --fit-timeout out."
        )


MOST_IMPUTATIONS = 1000


def check_imputations(number: int) -> None:
    """Refuse a wrong --imputations."""
    from heldout.errors import InputError

    if number != 0 and not 2 <= number <= MOST_IMPUTATIONS:
        raise InputError(
            f"--imputations must be 0 for none, or from 2 to {MOST_IMPUTATIONS}, got {number}; 5 is usual."
        )


def names_listed(option: str, *texts: str) -> tuple[str, ...]:
    """The names in texts that commas divide, each once; commas in parentheses belong to a name.

    Raises InputError for an empty name.

    Examples
    --------
    >>> names_listed("--metric", "roc_auc, accuracy", "brier_score_at(times=[1, 2])")
    ('roc_auc', 'accuracy', 'brier_score_at(times=[1, 2])')
    """
    from heldout.errors import InputError

    names = [name.strip() for text in texts for name in _OUTER_COMMA.split(text)]
    if "" in names:
        raise InputError(f"{option} has an empty name, got {', '.join(map(repr, texts))}; write one name, or a,b.")
    return tuple(dict.fromkeys(names))


@contextmanager
def about_option(option: str, value: str) -> Iterator[None]:
    """Begin sentences on a wrong value with the option, where they do not name it already."""
    from heldout.errors import InputError

    names = [option.removeprefix("--").replace("-", "_")]
    names += [name for name, other in _OTHER_NAMES.items() if other == option]
    try:
        yield
    except InputError as error:
        if option in in_options(str(error), {name: OptionText(option) for name in names}, error.argument):
            raise
        raise InputError(f"{option} {value}: {error}") from None


@contextmanager
def naming(options: Mapping[str, OptionText]) -> Iterator[None]:
    """Name these in sentences on wrong values, where the options of the command are others."""
    from heldout.errors import InputError

    try:
        yield
    except InputError as error:
        text = in_options(str(error), options, error.argument)
        raise type(error)(text, argument=error.argument) from error


def work_options(what: str, out: str) -> list[Option]:
    """The options of every command that works for a while.

    ``what`` is the kind of work that the command resumes (a run, a study), ``out`` the default folder.
    """
    return [
        click.option("--n-jobs", type=int, default=-1, show_default=True, help="Processes; -1 uses every core."),
        click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same result."),
        click.option("--out", default=out, show_default=True, metavar="DIR", help="The folder for the files."),
        click.option("--resume", is_flag=True, help=f"Continue the {what} in DIR: only what is missing is done."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else to stdout."),
        click.option("--quiet", is_flag=True, help="Print only the result."),
    ]


_OF_FITS: list[Option] = [
    click.option(
        "--confidence-level",
        type=float,
        default=_defaults.LEVEL,
        show_default=True,
        help="Confidence level of the interval.",
    ),
    click.option(
        "--alternative",
        default=_defaults.ALTERNATIVE,
        show_default=True,
        help="two-sided, greater (a lower bound) or less (an upper bound).",
    ),
    click.option(
        "--engine",
        default="local",
        show_default=True,
        help="Where to fit: local (processes), threads, or a Dask cluster, tcp://HOST:PORT of its scheduler.",
    ),
    click.option(
        "--fit-timeout", type=float, metavar="SECONDS", help="Stop fits that take longer; they count as failed."
    ),
    click.option("--verbose", "-v", is_flag=True, help="Print a line for every fit in place of the progress."),
    click.option("--accept-changed-code", is_flag=True, help="Resume although a version has changed since."),
]


EVENT_VALUE_HELP = (
    "Survival: the value in --event that means the event was seen, where it is not 1 or true (R's coding 1/2: 2)."
)
_OF_TABLES: list[Option] = [
    click.option("--target", required=True, metavar="COL", help="The column to predict."),
    click.option(
        "--event",
        metavar="COL",
        help="Survival: 1 where the event was seen at the time in --target, 0 where the row was censored then.",
    ),
    click.option("--event-value", metavar="VALUE", help=EVENT_VALUE_HELP),
    click.option(
        "--task",
        metavar="KIND",
        help="classification or regression (also binary, multiclass), by default guessed; survival with --event.",
    ),
    click.option(
        "--positive",
        metavar="LABEL",
        help="The positive one of two classes; the case by default.",
    ),
    click.option("--groups", metavar="COL", help="Rows of one group (a patient, a site) stay together."),
    click.option("--copies", type=click.Choice(["together"]), help="Rows with the same predictors stay together."),
    click.option(
        "--weight",
        metavar="COL",
        help="How much each row counts, in fits and in scores. Models that take no weights are left out.",
    ),
    click.option(
        "--keep",
        metavar="COL",
        multiple=True,
        help="A column to use although it looks like a row number; repeatable.",
    ),
]


grid_or_random: Option = click.option(
    "--search",
    metavar="KIND",
    help="grid: every combination of the listed values; random: --n-iter of them in all. By default grid.",
)
"""Of commands that read a search with fixed configurations only."""


def table_options(command: Command) -> Command:
    """A command with the options of every command that reads a table to search on it."""
    return with_options(command, _OF_TABLES)


def run_options(command: Command) -> Command:
    """A command with the options of every command that fits, after its own."""
    return with_options(command, [*_OF_FITS, *work_options("run", "heldout-out")])


def with_options(command: Command, options: Sequence[Option]) -> Command:
    """A command with options after its own."""
    for option in reversed(options):
        command = option(command)
    return command


class SectionedCommand(click.Command):
    """A command whose help shows its options in sections; those of none come last, under "Running"."""

    def __init__(self, *args: Any, sections: Mapping[str, Sequence[str]], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write every option once, below the title of its section."""
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        records = {str(option.name): option.get_help_record(ctx) for option in options}
        listed = {name for names in self.sections.values() for name in names}
        rest = [name for name in records if name not in listed]
        for title, names in (*self.sections.items(), ("Running", rest)):
            with formatter.section(title):
                formatter.write_dl([record for name in names if (record := records[name])])


_OTHER_NAMES = {
    "configuration": "--fixed-configuration",
    "deploy": "--deploy",
    "folds": "--fold",
    "groups": "--group",
    "n_bootstraps": "--bootstraps",
    "n_inner_bootstraps": "--inner-bootstraps",
    "n_second_bootstraps": "--second-bootstraps",
    "order": "--imputation-order",
    "pos_label": "--positive",
    "random_state": "--seed",
    "sample_weight": "--weight",
    "scoring": "--metric",
}
"""Options by the arguments that they set, where the names differ; a command has some of them."""


class OptionText(NamedTuple):
    """An option as its help shows it: ``--fold COL``."""

    name: str
    metavar: str = ""

    def assigned(self, code: str | None) -> str:
        """The option with the value that Python code means; empty where the command line cannot write it.

        ``code``: None for the option alone, empty for any value.
        """
        if code is None or code == "True":
            return self.name
        if not code:
            return f"{self.name} {self.metavar}".rstrip()
        try:
            values = _values_of(ast.parse(code, mode="eval").body)
        except (SyntaxError, ValueError, KeyError):
            return ""
        return " ".join(f"{self.name} {shlex.quote(value)}" for value in values)


def _values_of(code: ast.expr) -> list[str]:
    """The values that Python code means, as the command line writes them: those of a list each for itself."""
    if isinstance(code, ast.Call) and isinstance(code.func, ast.Attribute):
        values = [ast.literal_eval(part) for part in (*code.args, *(keyword.value for keyword in code.keywords))]
        return [":".join(filter(None, (_WORDS[code.func.attr], *map(str, values))))]
    value = ast.literal_eval(code)
    if isinstance(value, list):
        return list(map(str, value))
    return ["none" if value is None else "no" if value is False else str(value)]


def options_by_argument(command: click.Command) -> dict[str, OptionText]:
    """The options of a command by the arguments of the library that they set."""
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    texts = {
        option.opts[0]: OptionText(option.opts[0], "" if option.is_flag else option.metavar or "VALUE")
        for option in options
    }
    same_name = {str(option.name): texts[option.opts[0]] for option in options}
    return same_name | {name: texts[option] for name, option in _OTHER_NAMES.items() if option in texts}


_ARGUMENT = re.compile(r"`([a-z]\w*)(?:=([^`]*))?`")
_WORDS = {
    "hold_out": "holdout", "repeated_hold_out": "repeated_holdout", "paired_hold_out": "paired_holdout",
    "k_folds": "", "CrossFitting": "cross-fitted",
}  # fmt: skip
"""What the command line writes for a call of the library, before its values: holdout:0.25."""


def in_options(text: str, options: Mapping[str, OptionText], argument: str | None = None) -> str:
    """A sentence of the library, with options in place of the arguments that they set.

    Arguments that no option sets stay as they are.

    Parameters
    ----------
    text : str
    options : mapping
        The options by their arguments, as ``options_by_argument`` gives them.
    argument : str, optional
        The argument of an error: a sentence may begin with its bare name.

    Examples
    --------
    >>> options = {"cv": OptionText("--cv", "FOLDS"), "stratify": OptionText("--stratify")}
    >>> in_options("leave `stratify=True` and `refit` out, give `cv=`, or use `cv=5`", options)
    'leave --stratify and `refit` out, give --cv FOLDS, or use --cv 5'
    >>> in_options("cv must be at least 2; use `cv=ho.protocols.repeated_hold_out(50, 0.2)`", options, "cv")
    '--cv must be at least 2; use --cv repeated_holdout:50:0.2'
    """
    if argument is not None and argument in options and text.startswith(f"{argument} "):
        text = options[argument].name + text.removeprefix(argument)

    def option(place: re.Match[str]) -> str:
        name, code = place.groups()
        return options[name].assigned(code) or place[0] if name in options else place[0]

    return _ARGUMENT.sub(option, text)


def all_in_options(value: Any, options: Mapping[str, OptionText]) -> Any:
    """A document or facts of a report, with ``in_options`` of every text in it."""
    if isinstance(value, str):
        return in_options(value, options)
    if isinstance(value, Mapping):
        parts = {key: all_in_options(part, options) for key, part in value.items()}
        return type(value)(parts) if isinstance(value, dict) else parts
    if isinstance(value, list | tuple):
        return type(value)(all_in_options(part, options) for part in value)
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        return replace(value, **{name: all_in_options(part, options) for name, part in parts.items()})
    return value


def values_typed(ctx: click.Context) -> list[str]:
    """The names of the arguments and options that the user typed."""
    names = [str(parameter.name) for parameter in ctx.command.params]
    source = click.core.ParameterSource.COMMANDLINE
    return [name for name in names if ctx.get_parameter_source(name) is source]


def command_line(ctx: click.Context) -> str:
    """The command as the user could type it again, without options left at their defaults."""
    words = ["heldout", *ctx.command_path.split()[1:]]
    typed = values_typed(ctx)
    for parameter in ctx.command.params:
        name, value = str(parameter.name), ctx.params.get(str(parameter.name))
        if name not in typed:
            continue
        if isinstance(parameter, click.Argument):
            words.append(str(value))
        elif value is True:
            words.append(parameter.opts[0])
        else:
            for each in value if isinstance(value, tuple) else (value,):
                words += [parameter.opts[0], str(each)]
    return shlex.join(words)
