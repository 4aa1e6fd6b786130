"""What is said of the study of searches on real tables."""

from __future__ import annotations

from collections.abc import Sequence

from heldout._text import counted

PROTOCOL_TITLES = {
    "cv": "CVT",
    "tt": "TT",
    "nested_cv": "NCV",
    "bbc": "BBC-CV",
    "bced": "BCED-CV",
    "bced_late": "BCED-CV late",
}
"""As the article calls them, but for the last."""
PROTOCOL_WORDS = {
    "cv": "the winner's own cross-validated AUC",
    "tt": "the winner's mean over folds, less how far it is behind the best of each fold (Tibshirani)",
    "nested_cv": "nested cross-validation: each fold scores the winner of the other folds; it returns CVT's model",
    "bbc": "bootstrap bias corrected: each bootstrap scores the best on its rows on those that it left out",
    "bced": "the same, of the configurations that early dropping left; it drops from the first fold on",
    "bced_late": "the same, but it drops from 50 predictions on, as the article advises; with few rows it is BBC",
}

SEARCH_METHOD = (
    "Each table is divided, with its classes in proportion, into 30 % from which sub-samples are drawn without "
    "replacement and 70 % that no search sees. On a sub-sample all configurations are fitted on stratified folds, "
    "as often as there are repeats; the first repeat serves all protocols. The winner of each protocol is fitted "
    "on the whole sub-sample, and its AUC on the 70 % is what it is worth: bias is estimate less that. Positive "
    "flatters.",
    "Scores are pooled over the folds of a repeat, in the choice and in the estimate. NCV scores its outer folds "
    "one by one and takes their mean, as the winners of two folds are different models whose scores have no common "
    "scale. Its model is that of CVT (algorithm 3), and so that of BBC-CV: the two halves of the article's "
    "figure 5 are one here.",
    "The race of BCED-CV is run on the complete predictions, by the rule, the bootstraps and the barriers of a "
    "search that really drops: the same configurations leave after the same folds. Models are counted as if each "
    "protocol trained its own, the one that it returns included; seconds are those of the fits that were made, "
    "each with its own preparation, less what a space remembers of equal fits.",
    "Where the article is silent: sub-samples are drawn at random, again until each class has three rows; "
    "intervals are percentiles; sizes for which the pool is too small, or holds too few of a class, are left out.",
)
ADVICE_TITLE = "The article's advice, and what speaks for it here"


ADVICE_HEAD = (
    "", "the article advises", "AUC gained by repeats", "AUC lost by dropping", "models it trains",
    "width with 3 or 4 repeats to 1",
)  # fmt: skip


def advice(n_rows: int) -> str:
    """What the article advises for so many rows (sections 6.2 and 7), stratified folds apart."""
    if n_rows < 100:
        return "BBC-CV, with as many repeats as time allows; 3 or 4 suffice for the interval"
    return "BCED-CV, dropping from 50 predictions on; one repeat or a few"


def within_difference(holds: bool | None, allowed: float, chance: float) -> str:
    """Whether a size is no more than the article's own words allow."""
    verdict = "Cannot be told" if holds is None else "Holds" if holds else "Does not hold"
    return f"{verdict}, where up to {allowed:g} counts, give or take {chance:.4f}."


def share_difference(holds: bool | None, n_so: int, n_all: int, n_against: int, what: str) -> str:
    """In how many places it is so, and in how many it is the other way beyond chance."""
    if holds is None:
        return (
            f"Cannot be told: {what} in {n_so} of {n_all}, and in none of the others is it otherwise beyond two "
            "standard errors."
        )
    against = f"; {n_against} of the others beyond two standard errors" if n_so < n_all else ""
    return f"{'Holds' if holds else 'Does not hold'}: {what} in {n_so} of {n_all}{against}."


def number_beside(holds: bool, difference: float) -> str:
    """How far our number is from the article's, which is of other tables."""
    return f"{'Holds' if holds else 'Does not hold'}: ours is {difference:+.1f} from it, on other tables."


def figure_caption(n_tables: int, what: str) -> str:
    """How to read a picture that has a line a protocol."""
    tables = (
        "" if n_tables == 1 else f"; the mean over {n_tables} tables, bars from the least to the greatest of them"
    )
    return f"{what}{tables}."


def figure_summary(what: str, ends: Sequence[tuple[str, str, str]], rows: tuple[str, str]) -> str:
    """What a picture shows, for those who do not see it."""
    said = "; ".join(f"{title} {first}, {last}" for title, first, last in ends)
    return f"{what}, with {rows[0]} and with {rows[1]}: {said}."


def search_lead(n_tables: int, n_each: int, rows: int, cv: str, bbc: str) -> str:
    """The main thing first."""
    return (
        f"On {counted(n_tables, 'table')}, {counted(n_each, 'sub-sample')} of each size: with {rows:,} rows the "
        f"winner's own AUC is off by {cv} on average, that of BBC-CV by {bbc}."
    )


def claims_sentence(n_holding: int, n_claims: int, space: str, n_configurations: int) -> str:
    """What the table of claims says, in one sentence."""
    if not n_claims:
        return (
            "No claim of the article can be tested with these settings: that takes its numbers of rows, 10 folds, "
            "and ten sub-samples or more of each size."
        )
    return (
        f"{n_holding} of {counted(n_claims, 'claim')} of sections 6.2 and 7 that these settings can test "
        f"{'holds' if n_holding == 1 else 'hold'} on these tables, with "
        f"{counted(n_configurations, 'configuration')} of the space {space}."
    )
