"""What a right answer is: exit 2 (or InputError) with a sentence, or a result that can be right.

A case is an input with a way to try it. ``judged`` tries it for a bounded time and says what is wrong with the
answer: a traceback, exit 1, a warning of another package, a hang, a sentence that is none, a number that cannot be.
"""

import io
import json
import math
import os
import re
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from sklearn.exceptions import DataConversionWarning

import heldout as ho
from heldout.cli.group import heldout
from heldout.errors import HeldoutError, HeldoutWarning
from heldout.estimates.types import Estimate

SECONDS = 60
MOST_CHARACTERS = 3000


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, eq=False)
class Case:
    """An input and how to try it.

    Attributes
    ----------
    words : str
        The input, for whoever repeats it.
    attempt : callable
        Gives an ``Ended`` for a command, anything else for the library; runs in a folder of its own.
    right : callable, optional
        Says what is wrong with an answer that is no refusal; None where nothing is.
    documented : tuple of exceptions
        What may be raised besides ``HeldoutError``.
    fits_models : bool
        Whether scikit-learn fits and scores models in this process, so that it may warn of them itself.
    healthy : bool
        Whether to refuse it is a fault.
    """

    words: str
    attempt: Callable[[], Any]
    right: Callable[[Any], str | None] = lambda answer: None
    documented: tuple[type[Exception], ...] = ()
    fits_models: bool = False
    healthy: bool = False


@dataclass(frozen=True)
class Verdict:
    """What came of a case; ``fault`` is empty for a right answer."""

    refused: bool
    fault: str = ""


class TooSlow(BaseException):
    """No ``except Exception`` of the code under test may catch it."""


def command(*arguments: object) -> Ended:
    """Call ``heldout`` in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            heldout.main([str(argument) for argument in arguments], prog_name="heldout")
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
    return Ended(code, out.getvalue(), err.getvalue())


def judged(case: Case, folder: Path) -> Verdict:
    """Try a case in a folder."""
    with chdir(folder), warnings.catch_warnings(record=True) as warned, no_longer_than(SECONDS):
        warnings.simplefilter("always")
        try:
            answer = case.attempt()
            refused = isinstance(answer, Ended) and answer.code == 2
            fault = (_fault_of_command(answer) if isinstance(answer, Ended) else "") or (
                "" if refused else case.right(answer) or ""
            )
        except HeldoutError as error:
            refused, fault = True, sentence_fault(str(error))
        except case.documented:
            refused, fault = True, ""
        except TooSlow:
            refused, fault = False, f"no answer in {SECONDS} s"
        except Exception:
            refused, fault = False, traceback.format_exc(limit=-4)
    foreign = [w for w in warned if not issubclass(w.category, HeldoutWarning)]
    if case.fits_models:
        foreign = [w for w in foreign if "/sklearn/" not in w.filename and w.category is not DataConversionWarning]
    if foreign and not fault:
        first = foreign[0]
        fault = f"warned: {first.category.__name__}: {first.message} ({first.filename}:{first.lineno})"
    if case.healthy and refused and not fault:
        fault = "refused, and nothing is wrong with it"
    return Verdict(refused, fault)


@contextmanager
def no_longer_than(seconds: float) -> Iterator[None]:
    """Raise ``TooSlow`` where the work takes longer, if signals can be had (main thread of a POSIX system)."""

    def ring(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _fault_of_command(ended: Ended) -> str:
    if ended.code not in (0, 2):
        return f"exit {ended.code}: {ended.err[-1500:]}"
    if "Traceback" in ended.err + ended.out or re.search(r"^\S*:\d+: \w*Warning", ended.err, re.MULTILINE):
        return f"a traceback or another package's warning: {ended.err[-1500:]}"
    if ended.code == 0:
        return ""
    if "Error: " not in ended.err:
        return f"exit 2 without a sentence: {ended.err[-500:]!r}"
    last = ended.err.strip().rsplit("\nError: ", 1)[-1].removeprefix("Error: ")
    return sentence_fault(last)


def sentence_fault(text: str) -> str:
    """Why a text is no sentence for a user."""
    if not text.strip():
        return "an empty sentence"
    if "\n" in text.strip():
        return f"more than a line: {text!r}"
    if not text.rstrip().endswith((".", "?", "…", ")", "'", '"')):
        return f"not ended like a sentence: {text!r}"
    if len(text) > MOST_CHARACTERS:
        return f"{len(text)} characters: {text[:200]!r}…"
    if re.search(
        r"\bnp\.(float|u?int|str_|bytes_|complex|bool|True_|False_)|<class '|object at 0x|\x1b|[\x00-\x08]", text
    ):
        return f"the words of a program: {text!r}"
    return ""


def fault_of_estimate(estimate: Any, n_configurations: int | None = None) -> str | None:
    """What cannot be of an estimate, whatever it is of."""
    if not isinstance(estimate, Estimate):
        return f"no Estimate but {type(estimate).__name__}"
    document = estimate.to_dict()
    json.dumps(document, allow_nan=False)
    if n_configurations is not None and not 0 <= estimate.selected < n_configurations:
        return f"selected {estimate.selected} of {n_configurations}"
    return fault_of_document(document)


def fault_of_document(document: dict[str, Any]) -> str | None:
    """The same of ``Estimate.to_dict()``, as the command line prints it."""
    value, interval, flags = document["value"], document["interval"], document["flags"]
    if value is None and not flags:
        return "no value and no flag"
    if any(not flag["message"].strip() for flag in flags):
        return f"a flag without a sentence: {flags}"
    if interval is not None:
        low, high = interval["low"], interval["high"]
        ends = [-math.inf if low is None else low, math.inf if high is None else high]
        if not ends[0] <= ends[1]:
            return f"an interval from {low} to {high}"
        if low is not None and low == high and not flags:
            return f"an interval of no width, {low}, without a flag"
        if not 0 < interval["confidence_level"] < 1:
            return f"a level of {interval['confidence_level']}"
    uncorrected, optimism = document["uncorrected"], document["optimism"]
    if None not in (value, uncorrected, optimism) and document["method"] != "cv":
        gap = abs(abs(uncorrected - value) - abs(optimism))
        if gap > 1e-9 * max(abs(uncorrected), abs(value), 1):
            return f"uncorrected {uncorrected}, value {value}, and optimism {optimism}"
    shares = document.get("selection_frequency")
    if shares and None not in shares and not math.isclose(sum(shares), 1, abs_tol=1e-9) and sum(shares) != 0:
        return f"shares of the choice add up to {sum(shares)}"
    return None


def fault_of_printed(ended: Ended, uncorrected: float | None = None) -> str | None:
    """What is wrong with the document that a command printed for ``--json``."""
    try:
        document = json.loads(ended.out)
    except ValueError:
        return f"stdout is no JSON document: {ended.out[:300]!r}"
    if "value" not in document:
        return None
    found = document["uncorrected"]
    if uncorrected is not None and (
        found is None or not math.isclose(found, uncorrected, rel_tol=1e-9, abs_tol=1e-12)
    ):
        return f"uncorrected is {found}, and a plain computation gives {uncorrected}"
    return fault_of_document(document)


def of_json(value: Any) -> str:
    """A value in a line of a failure."""
    text = repr(value)
    return text if len(text) <= 400 else f"{text[:400]}… ({len(text)} characters)"


@contextmanager
def light() -> Iterator[None]:
    """Two quick configurations in place of a preset, and no pictures."""
    from sklearn.linear_model import LogisticRegression, Ridge

    from heldout.data.task import TaskKind
    from heldout.spaces.presets import _on_scaled

    def tiny(name: str, X: Any, kind: TaskKind) -> list[Any]:
        if kind is TaskKind.SURVIVAL:
            return [("cox", _on_scaled(ho.spaces.CoxRegression())(X), {"fit__alpha": [0.1, 10.0]})]
        if kind is TaskKind.REGRESSION:
            return [("ridge", _on_scaled(Ridge())(X), {"fit__alpha": [0.1, 10.0]})]
        return [("logistic", _on_scaled(LogisticRegression())(X), {"fit__C": [0.01, 1.0]})]

    undrawn = mock.patch("heldout.report.displays.svg.PageCanvas.body", lambda _: "")
    with undrawn, mock.patch("heldout.spaces.preset", tiny), mock.patch.dict(os.environ):
        yield


def generator(kind: str, number: int) -> np.random.Generator:
    """The same draws for a kind and number in every process."""
    return np.random.default_rng([*kind.encode(), number])
