"""What is said of the study of biases."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.wording.numbers import counted

PROTOCOL_TITLES = {"cv": "CVT", "tt": "TT", "nested_cv": "NCV", "bbc": "BBC-CV", "bced": "BCED-CV"}
"""As the article calls them."""
PROTOCOL_WORDS = {
    "cv": "the winner's own cross-validated accuracy",
    "tt": "that, less the mean over folds of how far the winner is behind the best of the fold (Tibshirani)",
    "nested_cv": "nested cross-validation: each fold scores the best of the other folds",
    "bbc": "bootstrap bias corrected: each bootstrap scores the best on its rows on those that it left out",
    "bced": "the same, of the configurations that early dropping left",
}

BIAS_METHOD = (
    "For every setting and repetition C configurations get true accuracies from a Beta distribution, and each of "
    "N x C held-out predictions is right with the probability that is its configuration's, independently of the "
    "others. A protocol chooses a configuration and says how accurate it is; its bias is what it says less the "
    "true accuracy of its own choice, for NCV of the choice from all rows. Positive is flattering.",
    "The article describes one uniform number a row that all configurations share. Then the truly best is right "
    "wherever another is, and selection can err among ties only; the published figures are reached with a number "
    "of its own for each prediction, as here.",
    "The race of BCED-CV drops, from the first fold on, whoever is worse than the leader in more than 99 % of the "
    "bootstraps of the rows so far: of all of them up to 50 rows, then by an expansion of that share, in place of "
    "1000 that are drawn. With the same seed all protocols see the same matrices and the same bootstraps.",
)


def bias_figure_caption(n_configurations: int) -> str:
    """How to read the picture."""
    if n_configurations == 1:
        return "Mean of estimate less truth over the repetitions; 0 is unbiased, above it flatters."
    return (
        f"Mean of estimate less truth, over the repetitions and {n_configurations} numbers of configurations; bars "
        "reach from the least to the greatest mean among these. 0 is unbiased, above it flatters."
    )


def bias_figure_summary(beta: str, ends: Sequence[tuple[str, str, str]], rows: tuple[int, int]) -> str:
    """What the picture shows, for those who do not see it.

    Parameters
    ----------
    ends : sequence of (protocol, text, text)
        The mean bias at the smallest and at the largest number of rows.
    """
    said = "; ".join(f"{title} {first}, {last}" for title, first, last in ends)
    return f"Mean bias for Be({beta}) with {rows[0]:,} and with {rows[1]:,} rows: {said}."


def bias_lead(n_settings: int, repetitions: int, worst: str, rows: int, by: str) -> str:
    """The main thing first."""
    return (
        f"Over {counted(n_settings, 'setting')} of {counted(repetitions, 'repetition')} each, {worst} is the most "
        f"biased: by {by} on average with {rows:,} rows."
    )


def claims_sentence(n_holding: int, n_claims: int) -> str:
    """What the table of claims says, in one sentence, and what it is about."""
    if not n_claims:
        return (
            "No claim of the article can be tested with these settings: that takes all of its numbers of "
            "configurations, 50 to 2000, 10 folds, Be(9, 6) and 20 repetitions or more."
        )
    return (
        f"{n_holding} of {counted(n_claims, 'claim')} of section 6.1.1 that these settings can test "
        f"{'holds' if n_holding == 1 else 'hold'}. All are of Be(9, 6), 10 folds and C from 50 to 2000, as is the "
        "article's figure 1."
    )
