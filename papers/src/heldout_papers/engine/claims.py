"""Claims of an article, and how the results of a study judge them.

A study declares its claims in a table of ``ClaimTest``: the sentence, whether results can judge it, the number that
it is about, and a judge of that number. The judges here serve several studies: ``Near`` a published number,
``Above`` 0, ``Ordered`` and ``AtMost``. A claim of its own kind has a function from the results to its ``Finding``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from heldout.report.templating import listed

Results = TypeVar("Results")


@dataclass(frozen=True)
class Claim:
    """A claim that a number can test."""

    text: str  # The claim
    published: str  # The article's figure; empty where it gives none
    ours: str  # Our figure
    difference: str  # How far they are apart, and what that means, as a sentence
    holds: bool | None  # None where chance leaves it open, or nothing tests it
    is_tested: bool = True  # Whether the results have the case that the claim is about

    @property
    def answer(self) -> str:
        """Whether it holds, in a word or two."""
        if not self.is_tested:
            return "not tested"
        return {True: "yes", False: "no", None: "open"}[self.holds]


def answers_text(claims: Sequence[Claim]) -> str:
    """How many claims have each answer, after "of so many claims".

    Examples
    --------
    >>> answers_text([Claim("A", "", "", "", True), Claim("B", "", "", "", None, is_tested=False)])
    '1 holds, 0 do not, 0 are left open by chance and 1 is not tested'
    """
    answers = Counter(claim.answer for claim in claims)
    asked = [answer for answer in _ANSWERS if answers[answer] or answer != "not tested"]
    return listed([f"{answers[answer]} {_ANSWERS[answer][answers[answer] != 1]}" for answer in asked])


_ANSWERS = {
    "yes": ("holds", "hold"),
    "no": ("does not", "do not"),
    "open": ("is left open by chance", "are left open by chance"),
    "not tested": ("is not tested", "are not tested"),
}
"""What one claim with an answer does, and what several do."""


class ClaimVerdict(NamedTuple):
    """Whether a claim holds (None: open), and why, in a sentence; and whether the results test it."""

    holds: bool | None
    sentence: str
    is_tested: bool = True


class Finding(NamedTuple):
    """Our figure, what it says about a claim, and the published figure, empty where there is none."""

    ours: str
    verdict: ClaimVerdict
    published: str = ""


class Judge(Protocol):
    """What a number says about a claim."""

    def finding(self, number: Any) -> Finding: ...


@dataclass(frozen=True)
class ClaimTest(Generic[Results]):
    """A sentence of an article, and how results judge it."""

    text: str
    applies: Callable[[Results], bool]  # Whether results have all that the sentence is about
    number: Callable[[Results], Any]  # What the judge takes; without a judge the ``Finding``
    judge: Judge | None = None


def judged_claims(tests: Iterable[ClaimTest[Results]], results: Results) -> tuple[Claim, ...]:
    """The claims that results can judge, in the order of the table."""
    return tuple(_claim(test, results) for test in tests if test.applies(results))


def _claim(test: ClaimTest[Results], results: Results) -> Claim:
    number = test.number(results)
    ours, verdict, published = number if test.judge is None else test.judge.finding(number)
    return Claim(test.text, published, ours, verdict.sentence, verdict.holds, verdict.is_tested)


@dataclass(frozen=True)
class Mean:
    """A mean and its standard error."""

    value: float
    error: float = 0.0
    n: int = 0  # Of how many repetitions or tables
    where: str = ""  # Where it is found: "with N = 20"

    def __neg__(self) -> Mean:
        return replace(self, value=-self.value)

    def __abs__(self) -> Mean:
        return replace(self, value=abs(self.value))

    def __sub__(self, other: Mean) -> Mean:
        """The difference of two that are independent."""
        return Mean(self.value - other.value, float(np.hypot(self.error, other.error)), self.n)

    def at(self, where: str) -> Mean:
        return replace(self, where=where)

    def text(self, decimals: int) -> str:
        """The signed number and its standard error, if it is known."""
        chance = f" ± {self.error:.{decimals}f}" if np.isfinite(self.error) else ""
        return f"{self.value:+.{decimals}f}{chance}"

    def is_below(self, errors: float) -> bool:
        """Whether it is below 0 by more than so many standard errors."""
        return self.value < -errors * self.error


def average(means: Iterable[Mean]) -> Mean:
    """The mean of independent ones, without those that are NaN.

    Examples
    --------
    >>> average([Mean(1.0, 0.3), Mean(3.0, 0.4), Mean(float("nan"))])
    Mean(value=2.0, error=0.25, n=0, where='')
    """
    known = [mean for mean in means if not np.isnan(mean.value)]
    if not known:
        return Mean(float("nan"), float("nan"))
    errors = np.array([mean.error for mean in known])
    value = float(np.mean([mean.value for mean in known]))
    return Mean(value, float(np.sqrt((errors**2).sum()) / len(known)), known[0].n)


@dataclass(frozen=True)
class Near:
    """Our number is the published one, but for rounding and chance."""

    published: float
    decimals: int  # Of the published number
    n: int  # Of how many repetitions or tables it is a mean, each as uncertain as one of ours
    shown: int  # Decimals of our number
    sure: float = 2.0  # How many standard errors of the difference are chance
    scale: float = 1.0
    unit: str = ""

    def finding(self, number: Mean) -> Finding:
        ours = self.scale * number.value
        chance = self.sure * self.scale * number.error * float(np.sqrt(1 + number.n / self.n))
        allowed = chance + 0.5 * 10**-self.decimals
        agrees = bool(abs(ours - self.published) <= allowed)
        word, explained = ("Agrees", "no more than") if agrees else ("Differs", "more than")
        sentence = (
            f"{word}: {ours - self.published:+.{self.shown}f}, {explained} rounding and chance explain "
            f"(±\u00a0{allowed:.{self.shown}f})."
        )
        where = f" ({number.where})" if number.where else ""
        published = f"{self.published:.{self.decimals}f}{self.unit}"
        return Finding(f"{ours:.{self.shown}f}{self.unit}{where}", ClaimVerdict(agrees, sentence), published)


@dataclass(frozen=True)
class Above:
    """A number is above 0 by more than two standard errors."""

    published: str = ""
    decimals: int = 3
    scale: float = 1.0
    unit: str = ""
    baseline: float | None = None  # Added where the number is shown, if it is the part above a baseline

    def finding(self, number: Mean) -> Finding:
        value, chance = self.scale * number.value, 2 * self.scale * number.error
        form = f"+.{self.decimals}f" if self.baseline is None else f".{self.decimals}f"
        ours = f"{value + (self.baseline or 0.0):{form}}{self.unit}"
        return Finding(ours, order(value, chance, self.decimals), self.published)


@dataclass(frozen=True)
class Ordered:
    """The second of two numbers is greater than the first; the third is their difference."""

    def finding(self, number: tuple[Mean, Mean, Mean]) -> Finding:
        *both, gap = number
        ours = ", ".join(f"{round(one.value, 4) + 0.0:.4f} {one.where}" for one in both)  # no -0
        return Finding(ours, order(gap.value, 2 * gap.error))


def apart(less: Mean, more: Mean) -> tuple[Mean, Mean, Mean]:
    """Two independent numbers and their difference, for ``Ordered``."""
    return less, more, more - less


@dataclass(frozen=True)
class AtMost:
    """No number is farther from 0, on either side, than the article's words allow."""

    allowed: float
    published: str = ""
    word: str = "is allowed"  # It follows "up to 0.02"
    decimals: int = 4
    is_open: bool = True  # Whether a claim is open where chance explains the excess; it holds there otherwise

    def finding(self, number: Sequence[Mean]) -> Finding:
        worst = max(number, key=lambda one: abs(one.value))
        size, chance = abs(worst.value), 2 * worst.error
        by_chance = None if self.is_open else True
        holds = size <= self.allowed or (by_chance if size <= self.allowed + chance else False)
        why = f"up to {self.allowed:g} {self.word}, give or take {chance:.{self.decimals}f} by chance"
        return Finding(
            f"{worst.value:+.{self.decimals}f} at most ({worst.where})", verdict(holds, why), self.published
        )


def verdict(holds: bool | np.bool_ | None, why: str) -> ClaimVerdict:
    """``Holds``, ``Does not hold`` or ``Open``, and why.

    Examples
    --------
    >>> verdict(None, "0 of 3 tables are clear").sentence
    'Open: 0 of 3 tables are clear.'
    """
    word = "Open" if holds is None else "Holds" if holds else "Does not hold"
    return ClaimVerdict(None if holds is None else bool(holds), f"{word}: {why}.")


def order(difference: float, chance: float, decimals: int = 4) -> ClaimVerdict:
    """Whether one number is greater than another, as is claimed.

    ``difference``: above 0 where it is as claimed; ``chance``: two standard errors of the difference; 0 where
    it has none.
    """
    shown = f"the difference is {difference:+.{decimals}f}"
    if abs(difference) <= chance:
        return verdict(None, f"{shown}, no more than chance explains (±\u00a0{chance:.{decimals}f})")
    return verdict(difference > 0, f"{shown} (±\u00a0{chance:.{decimals}f})" if chance else shown)
