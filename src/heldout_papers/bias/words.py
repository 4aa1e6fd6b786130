"""What is said of the study of biases."""

from __future__ import annotations

from collections.abc import Sequence

from heldout._text import counted

PROTOCOL_TITLES = {"cv": "CVT", "tt": "TT", "nested_cv": "NCV", "bbc": "BBC-CV", "bced": "BCED-CV"}
"""As the article calls them."""
PROTOCOL_WORDS = {
    "cv": "the winner's own cross-validated score",
    "tt": "that, less the mean over folds of how far the winner is behind the best of the fold (Tibshirani)",
    "nested_cv": "nested cross-validation: each fold scores the best of the other folds",
    "bbc": "bootstrap bias corrected: each bootstrap scores the best on its rows on those that it left out",
    "bced": "the same, of the configurations that early dropping left",
}
METRIC_TITLES = {"accuracy": "accuracy", "roc_auc": "ROC AUC", "mean_squared_error": "mean squared error"}
TRUTH_LABELS = {
    "accuracy": "true accuracies",
    "roc_auc": "true areas",
    "mean_squared_error": "true shares of variance explained",
}
MEAN_LABELS = {"accuracy": "mean accuracy", "roc_auc": "mean area", "mean_squared_error": "mean R²"}
"""What the mean of a Beta distribution is of."""

_RACE = (
    "The race of BCED-CV drops, from the first fold on, whoever is worse than the leader in more than 99 % of the "
    "bootstraps of the rows so far"
)
_SAME = "With the same seed all protocols see the same matrices and the same bootstraps."
_DRAWN = f"{_RACE}, drawn with replacement as often as BBC draws. {_SAME}"
BIAS_METHODS = {
    "accuracy": (
        "For every setting and repetition C configurations get true accuracies from a Beta distribution, and "
        "each of N x C held-out predictions is right with the probability that is its configuration's, "
        "independently of the others. A protocol chooses a configuration and says how accurate it is; its bias "
        "is what it says less the true accuracy of its own choice, for NCV of the choice from all rows. Positive "
        "is flattering.",
        "The article describes one uniform number a row that all configurations share. Then the truly best is "
        "right wherever another is, and selection can err among ties only; the published figures are reached "
        "with a number of its own for each prediction, as here.",
        f"{_RACE}: of all of them up to 50 rows, then by an expansion of that share, in place of 1000 that are "
        f"drawn. {_SAME}",
    ),
    "roc_auc": (
        "For every setting and repetition C configurations get true areas from a Beta distribution. Their held-out "
        "scores are normal with standard deviation 1, with mean 0 in the rows of one class and, in those of the "
        "other, with the mean that gives the area, independently of each other. A protocol chooses a configuration "
        "and says how large its area is; its bias is what it says less the true area of its own choice, for NCV of "
        "the choice from all rows. Positive is flattering.",
        "Rows of both classes are in every fold, as evenly as they go. CVT, NCV's choice, BBC-CV and BCED-CV read "
        "the area over the rows of all their folds together, TT and NCV's outer scores the area in each fold.",
        _DRAWN,
    ),
    "mean_squared_error": (
        "For every setting and repetition C configurations get true shares P of variance explained from a Beta "
        "distribution. Outcomes y are standard normal, and a prediction is P (y + e) with e of variance 1/P - 1, "
        "its own for each row and configuration: 1 - P is its true mean squared error, and nothing calibrates it "
        "better. A protocol chooses a configuration and says how large its error is; its bias is the true error "
        "of its own choice, for NCV of the choice from all rows, less what it says. Positive is flattering.",
        _DRAWN,
    ),
}


def gap_words(greater_is_better: bool) -> str:
    """What a bias is, so that above 0 it flatters."""
    return "estimate less truth" if greater_is_better else "truth less estimate"


def bias_figure_caption(n_configurations: int, gap: str) -> str:
    """How to read the picture, of a gap as ``gap_words`` says it."""
    if n_configurations == 1:
        return f"Mean of {gap} over the repetitions; 0 is unbiased, above it flatters."
    return (
        f"Mean of {gap}, over the repetitions and {n_configurations} numbers of configurations; bars "
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


def claims_sentence(n_holding: int, n_claims: int, metric: str) -> str:
    """What the table of claims says, in one sentence, and what it is about."""
    if not n_claims:
        return (
            "No claim of the article can be tested with these settings: that takes all of its numbers of "
            "configurations, 50 to 2000, 10 folds, Be(9, 6) and 20 repetitions or more."
        )
    verb = "holds" if n_holding == 1 else "hold"
    if metric != "accuracy":
        return (
            f"{n_holding} of {counted(n_claims, 'claim')} of section 6.1.1, which are of accuracy, {verb} of "
            f"{METRIC_TITLES[metric]} too, with Be(9, 6), 10 folds and C from 50 to 2000."
        )
    return (
        f"{n_holding} of {counted(n_claims, 'claim')} of section 6.1.1 that these settings can test {verb}. All "
        "are of 10 folds and C from 50 to 2000, and of Be(9, 6) where they do not say otherwise, as is the "
        "article's figure 1."
    )


def similar_claim(text: str) -> str:
    """A claim about Be(9, 6), said of the others: the article leaves them out, 'as they are similar'."""
    return f"Similarly for Be(14, 6), Be(24, 6) and Be(54, 6): {text}"
