"""What can go wrong that a user can mend, as exceptions and warnings with one clear sentence each.

A message says what was wrong, the value got, what is allowed, and what to do.
"""

from __future__ import annotations

import re
from types import TracebackType

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_NUMPY_SCALAR = re.compile(
    rf"\bnp\.(?:(?:float|u?int|complex)\d+|c?longdouble|u?longlong|str_|bytes_)\((b?(?:{_QUOTED})|\([^()]*\)|[^()'\"]*)\)"
    r"|\bnp\.(True|False)_\b"
)
_CLASS = re.compile(r"<class '(?:[\w.<>]+\.)?(\w+)'>")
_ENDLESS = re.compile(r"\S{500,}")
"""A name or value that is no word: the beginning tells it."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def plain_values(text: str) -> str:
    """A text with Python's values for NumPy's scalars, names for classes, no addresses, and no endless words.

    Examples
    --------
    >>> plain_values("got [np.float64(2.0), np.str_('a (b)'), np.True_]")
    "got [2.0, 'a (b)', True]"
    >>> plain_values("got <class 'sklearn.svm.SVC'> and <function f at 0x7f>")
    'got the class SVC and <function f>'
    """
    text = _ENDLESS.sub(lambda found: f"{found[0][:200]}…", text)
    text = _NUMPY_SCALAR.sub(lambda found: found[1] if found[2] is None else found[2], text)
    return _ADDRESS.sub("", _CLASS.sub(r"the class \1", text))


class HeldoutError(Exception):
    """Base class of every error that heldout raises on purpose."""

    def __str__(self) -> str:
        return plain_values(super().__str__())


class InputError(HeldoutError, ValueError):
    """The input cannot be used as it is; the command line exits with code 2."""


class ArgumentError(InputError, TypeError):
    """There is no such argument; what to do instead is in the sentence."""


class MissingExtraError(HeldoutError, ImportError):
    """A feature needs packages that an optional extra brings."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs packages of the extra '{extra}': pip install 'heldout[{extra}]'")
        self.extra = extra


class StoreError(InputError):
    """A run file cannot be used: other data, another schema, damaged, locked or not writable."""


class ExitError(RuntimeError):
    """Code of a user asked for the end of the program, by ``sys.exit`` for instance, which its fit is not worth."""


class Ending(BaseException):
    """What heldout itself raises in code of a user, to end it."""


class NoExit:
    """Code of a user inside may fail, and may not end the program: what does is raised as an error.

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
        text = " ".join(str(error).split())
        raise ExitError(f"{type(error).__name__}: {text}" if text else type(error).__name__) from error


class UnusablePredictionError(ValueError):
    """A model's response cannot be scored: not finite, of the wrong shape, or without a class or a time.

    It is the configuration's failure, and no error of the user's: a cell keeps its sentence.
    """


class HeldoutWarning(UserWarning):
    """Something was set aside, degenerate or assumed, and the result says so in its flags."""

    def __str__(self) -> str:
        return plain_values(super().__str__())
