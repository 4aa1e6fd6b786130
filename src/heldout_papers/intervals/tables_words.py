"""What is said of the study of intervals on real tables."""

from __future__ import annotations

from collections.abc import Sequence

from heldout._text import counted

NO_COMPLETE_TABLE = "Cannot be told: on no table has every method bounds in most of the training sets."


def tables_method(n_bootstraps: int, space: str, level: float) -> tuple[str, ...]:
    """How it was done."""
    return (
        "Of each table training sets are drawn, its classes in proportion, and each is searched by stratified "
        "cross-validation with 10 folds, or as many as the rarer class has rows. Every method bounds the area "
        f"under the ROC curve of what it chooses, by {n_bootstraps:,} bootstraps ({2 * n_bootstraps:,} of "
        "tilting). What was chosen is fitted on the whole training set and scored on all other rows of the table: "
        "that is its truth.",
        f"The space that is searched here is called {space}. The article searched 766 configurations of a "
        "commercial system, so that its areas and its tightness are others; what it says of the methods can be "
        "compared.",
        "Inclusion is the share of bounds that are not above the truth; it is tested against "
        f"{level:.0%} by the exact one-sided binomial test, and rejected where p < .05. Tightness is the mean of "
        "truth less bound. Training sets without a bound are left out of both, and counted. Training sets of a "
        "small table overlap, so that their errors are not quite independent, here as in the article.",
    )


MUSK = (
    "The article's musk has a column more than the 166 measurements, and areas of 1.0000: it seems to tell the "
    "class. A table without it is a hard one."
)


def tables_lead(n_tables: int, repetitions: int, level: float, rejected: Sequence[tuple[str, int]]) -> str:
    """The main thing first.

    Parameters
    ----------
    rejected : sequence of (title, n)
        On how many tables.
    """
    parts = ", ".join(f"{title} on {n}" for title, n in rejected)
    return (
        f"Over {counted(n_tables, 'table')} with {counted(repetitions, 'training set')} each, the {level:.0%} "
        f"interval held too seldom: {parts}."
    )


def tables_claims_sentence(n_holding: int, n_claims: int, n_tables: int) -> str:
    """What the table of claims says, in one sentence, and what it is about."""
    if not n_claims:
        return (
            "No claim of the article can be tested with these tables: that takes three of its own or more, with "
            "its numbers of training rows, intervals of 95 % and 10 training sets or more."
        )
    return (
        f"{n_holding} of {counted(n_claims, 'claim')} of section 5 {'holds' if n_holding == 1 else 'hold'} on "
        f"{n_tables} of the article's 11 tables."
    )


def column_difference(inside: int, total: int, holds: bool) -> str:
    """On how many tables a method's inclusion agrees with table 3."""
    verdict = "Agrees" if holds else "Differs"
    return f"{verdict}: inclusion within rounding and chance on {inside} of {counted(total, 'table')}."


def power(most: int, n: int) -> str:
    """How small an inclusion has to be to be rejected."""
    return f"with {counted(n, 'training set')} only bounds that hold in {most} or fewer are rejected"


def tables_caption(n_shown: int) -> str:
    """How to read the picture like figure 2."""
    return (
        f"Tightness over that of BBC, a mark for each of {counted(n_shown, 'table')}; above 1 a bound is farther "
        "from the truth than BBC's. Filled circles: inclusion not rejected; crosses: rejected, so that being tight "
        "is no merit."
    )
