"""What the library calls its arguments, as the options of the commands that set them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from heldout.errors import InputError

_SAME_NAME = (
    "aggregate|alternative|candidates|confidence_level|configuration|cv|drop|evaluation_share|fit_timeout|method|metric|"
    "n_bootstraps|repeats|response|selection|threshold"
)
_OPTIONS = (
    (r"^random_state must\b", "--seed must"),
    (r"^(selection|drop) '(\w+)' ", r"--\1 \2 "),
    (r", a rule of ho\.selection, or a function from scores \(B, C\) to indices \(B,\); got", ", got"),
    (r"\bsearch with cv=ho\.protocols\.", "search with heldout tune cv=ho.protocols."),
    (r"\bcv=ho\.protocols\.repeated_hold_out\((\d+), ([\d.]+)\)", r"--cv repeated_holdout:\1:\2"),
    (r", or use ho\.estimate_from_scores\(\.\.\., test_share=\)", ""),
    (r"\bpos_label(=| cannot| as)", r"--positive\1"),
    (r"\bfolds=(, a (fold )?label a row)?", "--fold COL"),
    (r"\bgroups=", "--group COL"),
    (r"\bsample_weight=", "--weight COL"),
    (r"\bstratify=True\b", "--stratify"),
    (r"^(interval|inner|across) must\b", r"--\1 must"),
    (r"\b(interval|inner)='(\w+)'", r"--\1 \2"),
    (r"\binner=<a number of folds>", "--inner with a number of folds"),
    (r"^test_share must\b", "the share of --cv holdout:SHARE must"),
    (r"^times must\b", "the number of --cv repeated_holdout:TIMES must"),
    (r", or a rule of ho\.dropping, got", ", got"),
    (r"above 0, or None, got", "above 0, got"),
    (r", or use error_score='raise' to see the first error in full", ""),
    (r"pass np\.clip\(predictions, 0, 1\)", "round them into [0, 1]"),
    (r" Pass classes= if there are more\.", ""),
    (r"; if they are labels, list them as classes=\.", "."),
)


def in_options(text: str, first: Sequence[tuple[str, str]] = ()) -> str:
    """A sentence of the library in the words of the command line; what it quotes as got stays as it was given.

    Parameters
    ----------
    text : str
    first : sequence of (pattern, replacement)
        What this command calls otherwise than the others do.

    Examples
    --------
    >>> in_options("say response='decision'; give folds=, a label a row")
    'say --response decision; give --fold COL'
    >>> in_options("n_bootstraps must be at least 2, got 1", [('n_bootstraps', '--bootstraps')])
    '--bootstraps must be at least 2, got 1'
    """
    said, *rest = re.split(r"(?<=\bgot )('[^']*'|\"[^\"]*\")", text)
    parts = [said, *rest]
    return "".join(part if n % 2 else _in_options(part, first) for n, part in enumerate(parts))


def _in_options(text: str, first: Sequence[tuple[str, str]]) -> str:
    for argument, option in (*first, *_OPTIONS):
        text = re.sub(argument, option, text)
    text = re.sub(rf"^({_SAME_NAME}) must\b", lambda found: f"--{_option(found[1])} must", text)

    def option_of(found: re.Match[str]) -> str:
        value = found[2].strip("'\"") if found[2] else ""
        return f"--{_option(found[1])}{' ' + value if value else ''}"

    # Not in "rule(parameter=1)", and not where Python code follows that an option does not take.
    return re.sub(rf"(?<!\w\()\b({_SAME_NAME})=('[^']*'|\"[^\"]*\"|[\d.]*\d)?(?!\w)", option_of, text)


def _option(argument: str) -> str:
    return "fixed-configuration" if argument == "configuration" else argument.replace("_", "-")


@contextmanager
def in_words_of_options(first: Sequence[tuple[str, str]] = ()) -> Iterator[None]:
    """What the library refuses meanwhile is said in the words of the command line, as ``in_options`` has it."""
    try:
        yield
    except InputError as error:
        said = in_options(str(error), first)
        if said == str(error):
            raise
        raise InputError(said) from None
