"""What an article says, and what a study of ours says of the same."""

from __future__ import annotations

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
    holds : bool
    """

    text: str
    published: str
    ours: str
    difference: str
    holds: bool
