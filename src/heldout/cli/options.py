"""The options that commands share, the arguments that options set, and a command as it can be typed again."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from functools import partial
from types import NoneType
from typing import Any, NamedTuple, TypedDict, Unpack, get_args, get_origin, get_type_hints

import click

from heldout import _defaults
from heldout.data.checks import TASKS, check_choice, check_timeout, usual_name
from heldout.data.limits import check_jobs
from heldout.errors import InputError

_OUTER_COMMA = re.compile(r",(?![^(\[]*[)\]])")
LOCAL, THREADS = "local", "threads"
_ADDRESSES = ("tcp://", "tls://")

OPTIONS, DATA, RUNNING = "Options", "The data", "Running"
"""Sections of a help; Running comes last."""
OUT = "heldout-out"
REQUIRED = MISSING
"""The default of an option that has to be typed."""


def argument(name: str = "DATA") -> Any:
    """A field of a command's options: what is typed without a flag, as DATA."""
    return field(metadata={"flag": name})


class OptionSettings(TypedDict, total=False):
    """What an option is besides its name, type, help and default."""

    flag: str
    """By default the name of the field, with hyphens."""
    short: str
    metavar: str
    section: str
    """The title in the help above the option."""
    argument: str
    """The argument of the library that the option sets, where its name is not that of the field."""
    choices: Sequence[str]
    check: Callable[[Any], object]
    """Raises InputError for a wrong value."""
    of: tuple[str, Sequence[str]]
    """Another option, and the values of that one that this is for, where it is not for all."""
    decides: bool
    """Whether the option can make two runs different; by default it can."""


def option(help: str, default: Any = None, **settings: Unpack[OptionSettings]) -> Any:
    """A field of a command's options, from which come the flag, its help, and the check of its value."""
    return field(default=default, metadata={"help": help, **settings})


running_option = partial(option, section=RUNNING, decides=False)


data_option = partial(option, section=DATA)


def missing_option() -> Any:
    """The field ``missing`` of a command."""
    return data_option("A text that stands for a missing value; repeatable.", (), metavar="TEXT")


def not_missing_option() -> Any:
    """The field ``not_missing`` of a command."""
    help = "A text of a CSV file that is a value and not a missing one, such as None; repeatable."
    return data_option(help, (), metavar="TEXT")


class Option(click.Option):
    """An option with its section of the help, and the argument of the library that it sets."""

    def __init__(
        self, names: Sequence[str], *, section: str = OPTIONS, argument: str = "", **settings: Any
    ) -> None:
        super().__init__(names, **settings)
        self.section = section
        self.argument = argument or str(self.name)

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """The value that was typed; names of articles become those of the library."""
        value = super().process_value(ctx, value)
        return usual_name(self.argument, value) if isinstance(value, str) else value


def parameters(table: type) -> list[click.Parameter]:
    """The argument and the options of a command, from the fields of its options; those about running come last."""
    kinds = get_type_hints(table)
    options = [_parameter(one, kinds[one.name]) for one in option_fields(table)]
    return sorted(options, key=lambda each: isinstance(each, Option) and each.section == RUNNING)


def option_fields(table: Any) -> list[Field[Any]]:
    """The fields that a user can type; not those that the class inherits and lacks."""
    lacks = getattr(table, "LACKS", ())
    return [one for one in fields(table) if one.metadata and one.name not in lacks]


def flag_of(one: Field[Any]) -> str:
    return str(one.metadata.get("flag") or "--" + one.name.replace("_", "-"))


def _parameter(one: Field[Any], kind: Any) -> click.Parameter:
    settings = one.metadata
    if "help" not in settings:
        return click.Argument([one.name])
    is_list = get_origin(kind) is tuple
    kind = next((part for part in get_args(kind) if part is not NoneType), kind)
    names = [flag_of(one), *filter(None, [settings.get("short")]), one.name]
    shared = {name: settings[name] for name in ("help", "metavar", "section", "argument") if name in settings}
    if kind is bool:
        return Option(names, is_flag=True, **shared)
    if one.default is REQUIRED:
        return Option(names, type=kind, required=True, **shared)
    has_default = one.default not in (None, ())
    return Option(names, type=kind, multiple=is_list, default=one.default, show_default=has_default, **shared)


def json_option() -> Any:
    """The field ``as_json`` of a command."""
    help = "Print one JSON document and nothing else to stdout."
    return running_option(help, False, flag="--json")


def quiet_option() -> Any:
    """The field ``quiet`` of a command."""
    return running_option("Print only the result.", False)


@dataclass(frozen=True, kw_only=True)
class WorkOptions:
    """The options of every command that works for a while."""

    n_jobs: int = running_option("Processes; -1 uses every core.", -1, check=check_jobs)
    seed: int = running_option("The same seed gives the same result.", 0, argument="random_state", decides=True)
    out: str = running_option("The folder for the files.", OUT, metavar="DIR")
    resume: bool = running_option("Continue the run in DIR: only what is missing is done.", False)
    as_json: bool = json_option()
    quiet: bool = quiet_option()

    def check(self) -> None:
        """Refuse wrong values before anything is read."""
        from heldout._streams import entropy_of  # loads NumPy

        entropy_of(self.seed)
        check_values(self)


def check_values(options: Any) -> None:
    """Refuse values that their own option does not allow."""
    for one in option_fields(options):
        value, settings = getattr(options, one.name), one.metadata
        if value is not None and settings.get("choices"):
            check_choice(settings.get("argument", one.name), value, settings["choices"])
        if value is not None and settings.get("check"):
            settings["check"](value)


@dataclass(frozen=True, kw_only=True)
class _FitOptions:
    engine: str = running_option(
        "Where to fit: local (processes), threads, or a Dask cluster, tcp://HOST:PORT of its scheduler.",
        LOCAL,
    )
    fit_timeout: float | None = running_option(
        "Stop fits that take longer; they count as failed.", metavar="SECONDS", check=check_timeout
    )
    verbose: bool = running_option("Print a line for every fit in place of the progress.", False, short="-v")
    accept_changed_code: bool = running_option("Resume although a version has changed since.", False)


@dataclass(frozen=True, kw_only=True)
class RunOptions(WorkOptions, _FitOptions):
    """The options of every command that fits models."""

    @property
    def terms(self) -> dict[str, str]:
        """The options that can make two runs different, as they were typed."""
        values = {
            flag_of(one): getattr(self, one.name)
            for one in option_fields(self)
            if one.metadata.get("decides", True)
        }
        return {
            flag: " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
            for flag, value in values.items()
            if value is not None and value != ()
        }

    def check(self) -> None:
        """Refuse wrong values before anything is read."""
        super().check()
        if self.verbose and self.quiet:
            raise InputError("--verbose prints more and --quiet less; leave one of them out.")
        _check_engine(self.engine, self.fit_timeout)


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """The options of every command that fits models on a table."""

    data: str = argument()
    target: str = data_option("The column to predict; for survival the time to the event.", REQUIRED, metavar="COL")
    event: str | None = data_option(
        "Survival: 1 where the event was seen at the time in --target, 0 where the row was censored then.",
        metavar="COL",
    )
    event_value: str | None = data_option(
        "Survival: the value in --event that means the event was seen, where it is not 1 or true (R's coding 1/2: "
        "2).",
        metavar="VALUE",
    )
    task: str | None = data_option(
        "classification or regression (also binary, multiclass), by default guessed; survival with --event.",
        metavar="KIND",
        choices=TASKS,
    )
    positive: str | None = data_option(
        "The positive one of two classes; the case by default.", metavar="LABEL", argument="pos_label"
    )
    alike_labels: str | None = data_option(
        "Classes that differ in capitals or blanks only: merge makes them one, keep leaves them apart.",
        metavar="[merge|keep]",
        choices=("merge", "keep"),
    )
    drop_missing_target: bool = data_option("Leave out rows without a target.", False)
    groups: str | None = data_option("Rows of one group (a patient, a site) stay together.", metavar="COL")
    copies: str | None = data_option(
        "Rows with the same predictors stay together.", metavar="[together]", choices=["together"]
    )
    keep: tuple[str, ...] = data_option(
        "A column to use although it looks like a row number; repeatable.", (), metavar="COL"
    )
    factor: tuple[str, ...] = data_option(
        "A column of codes, whose numbers are categories; repeatable.", (), metavar="COL"
    )
    date: tuple[str, ...] = data_option(
        "A column of dates to use: as year, month, and days since 1970; repeatable.", (), metavar="COL"
    )
    missing: tuple[str, ...] = missing_option()
    not_missing: tuple[str, ...] = not_missing_option()


def level_option(section: str = OPTIONS) -> Any:
    """The field ``confidence_level`` of a command."""
    return option("Confidence level of the interval.", _defaults.LEVEL, section=section, decides=False)


def alternative_option(section: str = OPTIONS) -> Any:
    """The field ``alternative`` of a command."""
    return option(
        "two-sided, greater (a lower bound) or less (an upper bound).",
        _defaults.ALTERNATIVE,
        section=section,
        decides=False,
    )


def _check_engine(engine: str, fit_timeout: float | None) -> None:
    """Refuse an unknown engine, and one that does not go with the other options."""
    if engine not in (LOCAL, THREADS) and not engine.startswith(_ADDRESSES):
        raise InputError(
            f"--engine must be local, threads, or the address of a Dask scheduler, tcp://HOST:PORT or "
            f"tls://HOST:PORT, got {engine!r}."
        )
    if fit_timeout is not None and engine == THREADS:
        raise InputError(
            "--fit-timeout needs worker processes, which can be ended, and --engine threads has none; use --engine "
            "local, or leave --fit-timeout out."
        )


MOST_IMPUTATIONS = 1000


def check_imputations(number: int) -> None:
    """Refuse a wrong --imputations."""
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
    names = [name.strip() for text in texts for name in _OUTER_COMMA.split(text)]
    if "" in names:
        raise InputError(f"{option} has an empty name, got {', '.join(map(repr, texts))}; write one name, or a,b.")
    return tuple(dict.fromkeys(names))


@contextmanager
def about_option(option: str, value: str) -> Iterator[None]:
    """Begin sentences on a wrong value with the option, where they do not name it already."""
    names = {option.removeprefix("--"): OptionText(option)}
    try:
        yield
    except InputError as error:
        if option in in_options(str(error), names, error.argument):
            raise
        raise InputError(f"{option} {value}: {error}") from None


@contextmanager
def naming(options: Mapping[str, OptionText]) -> Iterator[None]:
    """Name these in sentences on wrong values, where the options of the command are others."""
    try:
        yield
    except InputError as error:
        text = in_options(str(error), options, error.argument)
        raise type(error)(text, argument=error.argument) from error


ROWS_OF_BOOTSTRAP_HELP = (
    "Of more rows bootstraps draw from a random part of so many, whose noise is scaled to all rows; 'all' draws "
    "from all."
)
BLOCK_LENGTH_HELP = (
    "The lines follow time, and bootstraps draw blocks of so many consecutive ones, or auto; stationary:ROWS for "
    "blocks of geometric lengths."
)


class SectionedCommand(click.Command):
    """A command whose help shows its options in sections, with other titles for some of them."""

    def __init__(self, *args: Any, titles: Mapping[str, str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._titles = titles

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write every option once, below the title of its section."""
        sections: dict[str, list[tuple[str, str]]] = {section: [] for section in self._titles}
        for each in self.get_params(ctx):
            if isinstance(each, click.Option) and (record := each.get_help_record(ctx)):
                sections[each.section if isinstance(each, Option) else RUNNING].append(record)
        for section, records in sections.items():
            with formatter.section(self._titles[section]):
                formatter.write_dl(records)


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
    texts = {each: OptionText(each.opts[0], "" if each.is_flag else each.metavar or "VALUE") for each in options}
    by_name = {str(each.name): text for each, text in texts.items()}
    return by_name | {each.argument: text for each, text in texts.items() if isinstance(each, Option)}


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
