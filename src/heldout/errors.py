"""What can go wrong that a user can fix, as exceptions and warnings with one clear sentence each.

A message says what was wrong, the value got, what is allowed, and what to do.
"""

import json
import re
import shlex
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

from heldout._text import cut

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_NUMPY_SCALAR = re.compile(
    rf"\bnp\.(?:(?:float|u?int|complex)\d+|c?longdouble|u?longlong|str_|bytes_)\((b?(?:{_QUOTED})|\([^()]*\)|[^()'\"]*)\)"
    r"|\bnp\.(True|False)_\b"
)
_CLASS = re.compile(r"<class '(?:[\w.<>]+\.)?(\w+)'>")
_ENDLESS = re.compile(r"\S{500,}")
"""A name or value too long to be a word: its beginning is enough."""
_LINE_ENDS = re.compile(r"\s*\n\s*")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def plain_values(text: str) -> str:
    """A text with Python's values for NumPy's scalars, names for classes, and no addresses, endless words or lines.

    Examples
    --------
    >>> plain_values("got [np.float64(2.0), np.str_('a (b)'), np.True_]")
    "got [2.0, 'a (b)', True]"
    >>> plain_values("got <class 'sklearn.svm.SVC'> and <function f at 0x7f>")
    'got the class SVC and <function f>'
    """
    text = _LINE_ENDS.sub(" ", text)  # of arrays and tables
    text = _ENDLESS.sub(lambda found: f"{found[0][:200]}…", text)
    text = _NUMPY_SCALAR.sub(lambda found: found[1] if found[2] is None else found[2], text)
    return _ADDRESS.sub("", _CLASS.sub(r"the class \1", text))


def shortened(value: Any, most: int = 60) -> str:
    """A value for an error message, shortened: it may be a whole table.

    Examples
    --------
    >>> shortened("yes"), shortened(list(range(100)), most=12)
    ("'yes'", '[0, 1, 2, 3…')
    """
    return cut(" ".join(plain_values(repr(value)).split()), most)


class HeldoutError(Exception):
    """Base class of every error that heldout raises on purpose."""

    def __str__(self) -> str:
        return plain_values(super().__str__())


_ON_ARGUMENT = re.compile(r"`([a-z]\w*)=|([a-z]\w*) must ")
"""How a sentence begins that is on an argument."""


class InputError(HeldoutError, ValueError):
    """An argument or the data cannot be used; the message says why and what is allowed.

    Parameters
    ----------
    text : str
        The message. It may begin with the name of the argument; elsewhere arguments are in backquotes: ```cv=5```.
    argument : str, optional
        The argument that the error is about: by default the one with which the text begins, as "cv must ..." and
        "`cv=5` ..." do; empty for none.

    Examples
    --------
    >>> InputError("cv must be at least 2, got 1.").argument, InputError("no rows.").argument
    ('cv', None)
    """

    def __init__(self, text: str = "", *, argument: str | None = None) -> None:
        super().__init__(text)
        if argument is None and (beginning := _ON_ARGUMENT.match(text)):
            argument = beginning[1] or beginning[2]
        self.argument = argument or None


class ArgumentError(InputError, TypeError):
    """There is no such argument, or it is of a type that cannot be used: what Python calls a TypeError."""


class InputIndexError(InputError, IndexError):
    """The input cannot be used, where scikit-learn raises an IndexError."""


def input_error(text: str, error: Exception, *, argument: str | None = None) -> InputError:
    """The error for what scikit-learn refused by ``error``, also of its type, which callers may catch.

    Examples
    --------
    >>> isinstance(input_error("refit is no number.", TypeError("refit")), TypeError)
    True
    """
    kinds = ((TypeError, ArgumentError), (IndexError, InputIndexError))
    return next((ours for kind, ours in kinds if isinstance(error, kind)), InputError)(text, argument=argument)


@cache
def repository_of(package: str = "heldout") -> Path | None:
    """The copy of the repository from which a package was installed; None where it came from an index."""
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        origin = json.loads(distribution(package).read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return None
    address = urlsplit(origin.get("url", ""))
    folder = Path(url2pathname(address.path))
    return folder if address.scheme == "file" and (folder / "pyproject.toml").is_file() else None


def installation(extra: str | None = None) -> str:
    """The command that installs an extra, by default heldout-papers: from the same place as heldout."""
    folder = repository_of()
    if extra is None:
        papers = "heldout-papers" if folder is None or not (folder / "papers").is_dir() else str(folder / "papers")
        return f"pip install {shlex.quote(papers)}"
    return f"pip install {shlex.quote(str(folder or 'heldout') + f'[{extra}]')}"


class MissingExtraError(HeldoutError, ImportError):
    """A feature needs packages that an optional extra brings."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs packages of the extra '{extra}': {installation(extra)}")
        self.extra = extra


class MissingPapersError(HeldoutError, ImportError):
    """A study, space or estimator of an article needs the distribution heldout-papers."""

    def __init__(self, feature: str) -> None:
        super().__init__(f"{feature} needs heldout-papers: {installation()}")


class StoreError(InputError):
    """A run file cannot be used: other data, another schema, damaged, locked or not writable."""


class ExitError(RuntimeError):
    """Code of a user tried to end the program, by ``sys.exit`` for instance; only its fit fails."""


class Ending(BaseException):
    """Raised by heldout itself in code of a user, to end it."""


class NoExit:
    """Code of a user inside may fail but not end the program: an attempt to end it is raised as an error.

    ``sys.exit`` in an estimator, and exceptions that derive from ``BaseException`` as those of some compiled
    packages do, fail a fit like any other. Ctrl-C, and what heldout itself raises to end a fit, pass.

    Examples
    --------
    >>> with NoExit():
    ...     raise SystemExit(2)
    Traceback (most recent call last):
        ...
    heldout.errors.ExitError: SystemExit: 2
    """

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, Exception | KeyboardInterrupt | Ending):
            return
        text = text_of(error)
        raise ExitError(f"{type(error).__name__}: {text}" if text else type(error).__name__) from error


def text_of(error: BaseException) -> str:
    """The text of an exception on one line; empty where the exception cannot give it."""
    try:
        return " ".join(plain_values(str(error)).split())
    except Exception:
        return ""


def unwritable(what: str, path: object, error: OSError) -> InputError:
    """The error for a file of the user that cannot be written."""
    reason = (error.strerror or str(error)).lower()
    return InputError(
        f"{what} could not be written to '{path}': {reason}; give a path in an existing folder that can be written "
        "to and has room.",
        argument="path",
    )


def shown_path(path: str | Path, most: int = 300) -> str:
    """A path for a sentence: only its beginning, where it is too long."""
    return str(path) if len(str(path)) <= most else f"{str(path)[:most]}…"


def no_file(path: str | Path, wanted: str, *, before: str = "", argument: str | None = None) -> InputError:
    """The error for a path without a file, with the nearest name in its folder; ``wanted``: what to give."""
    folder, name = Path(path).parent, Path(path).name
    near = f" The folder {folder} does not exist either."
    if folder.is_dir():
        close = get_close_matches(name, [entry.name for entry in folder.iterdir()], n=1, cutoff=0.75)
        near = f" Did you mean {folder / close[0]}?" if close else ""
    return InputError(f"{before}there is no file {shown_path(path)}; give {wanted}.{near}", argument=argument)


def reason_of(error: BaseException) -> str:
    """The text of an exception for a place within a sentence: on one line, without its full stop.

    The argument that it begins with stands in backquotes there.

    Examples
    --------
    >>> reason_of(InputError("cv must be at least 2, got 1.", argument="cv"))
    '`cv` must be at least 2, got 1'
    """
    text = text_of(error).rstrip(".")
    argument = getattr(error, "argument", None) or ""
    return f"`{argument}`{text.removeprefix(argument)}" if argument and text.startswith(f"{argument} ") else text


class UnusablePredictionError(ValueError):
    """A model's response cannot be scored: not finite, of the wrong shape, or without a class or a time.

    It is a failure of the configuration, not an error of the user: its fit keeps the sentence.
    """


class StrangeLabelError(UnusablePredictionError):
    """A model predicted a label that the target does not have: no class, though a scorer counts it as wrong."""


class HeldoutWarning(UserWarning):
    """Something was excluded, degenerate or assumed, and the result says so in its flags."""

    def __str__(self) -> str:
        return plain_values(super().__str__())
