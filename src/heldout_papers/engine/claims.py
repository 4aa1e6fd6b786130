"""Claims of an article, and how the results of a study judge them.

A study lists its claims in a table: the sentence, a function from the results to our figure and a verdict, and a
function that says whether the results can judge the claim at all. The rest is the same for every study.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from heldout._text import counted

Results = TypeVar("Results")


@dataclass(frozen=True)
class Claim:
    """A claim that a number can test."""

    text: str  # The claim
    published: str  # The article's figure; empty where it gives none
    ours: str  # Our figure
    difference: str  # How far they are apart, and what that means, as a sentence
    holds: bool | None  # None where chance leaves it open


class ClaimVerdict(NamedTuple):
    """Whether a claim holds (None: open), and why, in a sentence."""

    holds: bool | None
    sentence: str


class Finding(NamedTuple):
    """Our figure, what it says about a claim, and the published figure, empty where there is none."""

    ours: str
    verdict: ClaimVerdict
    published: str = ""


@dataclass(frozen=True)
class ClaimTest(Generic[Results]):
    """A sentence of an article, how results judge it, and whether they can."""

    text: str
    judge: Callable[[Results], Finding]  # From the results to a ``Finding``
    applies: Callable[[Results], bool]  # From the results to whether they have all that the sentence is about


def judged_claims(tests: Sequence[ClaimTest[Results]], results: Results) -> tuple[Claim, ...]:
    """The claims that results can judge, in the order of the table."""
    return tuple(_claim(test, results) for test in tests if test.applies(results))


def _claim(test: ClaimTest[Results], results: Results) -> Claim:
    ours, verdict, published = test.judge(results)
    return Claim(test.text, published, ours, verdict.sentence, verdict.holds)


def verdict(holds: bool | np.bool_ | None, why: str) -> ClaimVerdict:
    """``Holds``, ``Does not hold`` or ``Open``, and why.

    Examples
    --------
    >>> verdict(None, "0 of 3 tables are clear").sentence
    'Open: 0 of 3 tables are clear.'
    """
    word = "Open" if holds is None else "Holds" if holds else "Does not hold"
    return ClaimVerdict(None if holds is None else bool(holds), f"{word}: {why}.")


def beyond(difference: float, chance: float) -> bool | None:
    """Whether a difference is above 0, as is claimed; None where it is within chance.

    Examples
    --------
    >>> beyond(0.3, 0.1), beyond(-0.3, 0.1), beyond(0.1, 0.3)
    (True, False, None)
    """
    return None if abs(difference) <= chance else bool(difference > 0)


def agreement(difference: float, chance: float, decimals: int) -> ClaimVerdict:
    """Whether our number is the published one.

    ``difference``: ours less the published; ``chance``: half a unit of the published number's last digit, and
    what chance does to both numbers.
    """
    agrees = bool(abs(difference) <= chance)
    explained = "no more than" if agrees else "more than"
    return ClaimVerdict(
        agrees,
        f"{'Agrees' if agrees else 'Differs'}: {difference:+.{decimals}f}, {explained} rounding and chance explain "
        f"(±\u00a0{chance:.{decimals}f}).",
    )


def near(
    ours: float, published: float, chance: float, decimals: int, *, shown: int, where: str = "", unit: str = ""
) -> Finding:
    """Whether our number is a published one with so many ``decimals``, of which ours is shown with ``shown``.

    ``chance``: what chance does to both numbers; half a unit of the published number's last digit is added.
    """
    agrees = agreement(ours - published, chance + 0.5 * 10**-decimals, shown)
    return Finding(f"{ours:.{shown}f}{unit}{where}", agrees, f"{published:.{decimals}f}{unit}")


def order(difference: float, chance: float, decimals: int = 4) -> ClaimVerdict:
    """Whether one number is greater than another, as is claimed.

    ``difference``: above 0 where it is as claimed; ``chance``: two standard errors of the difference; 0 where
    it has none.
    """
    holds = beyond(difference, chance)
    apart = f"the difference is {difference:+.{decimals}f}"
    if holds is None:
        return verdict(None, f"{apart}, no more than chance explains (±\u00a0{chance:.{decimals}f})")
    return verdict(holds, f"{apart} (±\u00a0{chance:.{decimals}f})" if chance else apart)


def majority(n_true: int, n_all: int, n_against: int, what: str, *, allows_against: bool = True) -> ClaimVerdict:
    """Whether something is so in most places; open where it is not, and nowhere otherwise beyond chance.

    ``n_against``: places in which it is the other way by more than two standard errors; ``allows_against``:
    whether the claim can hold although it is the other way in some places.
    """
    most = n_true > n_all / 2 and (allows_against or not n_against)
    holds = True if most or n_true == n_all else (False if n_against else None)
    where = f"{what} in {n_true} of {n_all}"
    if holds is None:
        return verdict(None, f"{where}, and in none of the others is it otherwise by more than two standard errors")
    if n_true == n_all:
        return verdict(holds, where)
    return verdict(holds, f"{where}; {n_against} of the others are against it by more than two standard errors")


def claims_sentence(claims: Sequence[Claim], of: str, rest: str, needed: str) -> str:
    """How many claims hold, and what they are about.

    ``of``: what stands before the verb: "of section 5 that these settings can test"; ``rest``: what stands
    after it; ``needed``: what a study needs to test a claim; shown where it can test none.
    """
    if not claims:
        return f"No claim of the article can be tested with these settings: that takes {needed}."
    n = sum(claim.holds is True for claim in claims)
    return f"{n} of {counted(len(claims), 'claim')} {of} {'holds' if n == 1 else 'hold'}{rest}."
