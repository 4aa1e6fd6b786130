"""What an article says, and what a study of ours says of the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """A claim that a number can test.

    Attributes
    ----------
    text : str
        The claim.
    published : str
        The article's figure; empty where it gives none.
    ours : str
        Our figure.
    difference : str
        How far they are apart, and what that means, as a sentence.
    holds : bool or None
        None where chance leaves it open.
    """

    text: str
    published: str
    ours: str
    difference: str
    holds: bool | None


def beyond(difference: float, chance: float) -> bool | None:
    """Whether a difference is above 0, as is claimed; None where it is within chance.

    Examples
    --------
    >>> beyond(0.3, 0.1), beyond(-0.3, 0.1), beyond(0.1, 0.3)
    (True, False, None)
    """
    return None if abs(difference) <= chance else difference > 0


def n_holding(claims: Sequence[Claim]) -> int:
    """How many hold."""
    return sum(claim.holds is True for claim in claims)
