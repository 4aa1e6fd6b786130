"""What is said of the study of flat against nested cross-validation."""

from __future__ import annotations

from heldout.wording.numbers import counted

NO_TABLE = "no table is left"
ONE_TABLE = "an interval takes two tables"
NO_DIFFERENCE = "no gain differs from its threshold"


def too_few_repetitions(n: int, repetitions: int, least: int) -> str:
    """Why a table is left out."""
    of = f"{n} of {counted(repetitions, 'repetition')} can be compared"
    return f"{of}, and at least {least} must be (an algorithm that failed is no candidate, and a choice takes two)"
