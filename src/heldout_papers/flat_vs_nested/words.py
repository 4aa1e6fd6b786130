"""What is said of the study of flat against nested cross-validation."""

from __future__ import annotations

from heldout._text import counted

NO_TABLE = "no table is left"
ONE_TABLE = "an interval takes two tables"
NO_DIFFERENCE = "no gain differs from its threshold"

SCENARIO_TITLES = {"top3": "top 3", "full": "full", "asked": "as asked"}

FLAT_IS_OPTIMISTIC = "The flat estimate is above the accuracy on future data, on average (section 1.1)."
NESTED_IS_UNBIASED = "The nested estimate is unbiased: its mean error (section 1.1)."
BIAS_DECREASES = "What flat has above nested is less on tables of 2000 rows and more than on all (section 4)."


def too_few_repetitions(n: int, repetitions: int, least: int) -> str:
    """Why a table is left out."""
    of = f"{n} of {counted(repetitions, 'repetition')} can be compared"
    return f"{of}, and at least {least} must be (an algorithm that failed is no candidate, and a choice takes two)"


def same_claim(scenario: str, where: str, *, forest: bool) -> str:
    """The share of same choices."""
    who = "Nested chooses the random forest" if forest else "Flat and nested choose the same"
    return f"{who}, {scenario} ({where})."


def test_claim(scenario: str, where: str, *, above: bool) -> str:
    """Whether gains matter."""
    if above:
        return (
            f"With the random forest in place of a choice the gain of choosing is relevant, {scenario} ({where})."
        )
    return f"The gain of nested over flat is irrelevant: |gain| is below its threshold, {scenario} ({where})."


def mean_claim(scenario: str, where: str) -> str:
    """How much |gain| is above the threshold."""
    return f"Mean of |gain| less threshold, {scenario} ({where})."


def below_diagonal_claim(scenario: str, figure: str) -> str:
    """Most points."""
    return f"On most tables |gain| is below its threshold, {scenario} ({figure})."


def above_random_claim(scenario: str) -> str:
    """Agreement beyond chance."""
    return f"Flat and nested choose the same more often than two random choices would, {scenario} (section 3.1)."


def large_agree_claim(scenario: str) -> str:
    """Agreement on large tables."""
    return f"They agree more often on tables of 2000 rows and more than on all, {scenario} (section 4)."


def large_evidence_claim(scenario: str) -> str:
    """Evidence from large tables."""
    return f"The interval is wider for the tables of 2000 rows and more, which are fewer, {scenario} (section 4)."


def as_well_claim(scenario: str) -> str:
    """The conclusion."""
    return (
        "What flat chooses does on average as well, for practical purposes: the mean gain is below the mean "
        f"threshold, {scenario} (section 5)."
    )


def best_three_claim() -> str:
    """Table 1."""
    return "rf, svmRadial and gbm have the best three mean ranks by nested (table 1)."


def ahead_claim(first: str, second: str, by: str) -> str:
    """Two mean ranks."""
    return f"{first} has a better mean rank than {second} by {by} (table 1)."


def best_by_flat_claim() -> str:
    """Table 4."""
    return "gbm has the best mean rank by flat (table 4)."


def gbm_gains_claim() -> str:
    """Tables 1 and 4."""
    return "gbm has a better mean rank by flat than by nested (section 4)."


def gbm_overfits_claim() -> str:
    """Why gbm gains."""
    return (
        "That could be over-fitting of its one hyper-parameter more: flat flatters gbm more than rf and svmRadial "
        "(section 4)."
    )


def order_claim() -> str:
    """How alike the two rankings are."""
    return (
        "Flat and nested rank the algorithms very differently (section 4): Kendall's τ of the mean ranks, ours and "
        "that of the published tables 1 and 4."
    )


def sign_difference(value: float, chance: float, decimals: int) -> str:
    """Whether a number is above 0, as is claimed."""
    give = f" (chance: ±\u00a0{chance:.{decimals}f})" if chance else ""
    if abs(value) <= chance:
        return f"Cannot be told: it is no more than chance explains{give}."
    return f"{'Holds' if value > 0 else 'Does not hold'}{', beyond chance' if chance else ''}{give}."


def test_difference(
    by_test: bool,
    by_interval: bool,
    interval: tuple[float, float],
    published: tuple[float, float],
    *,
    above: bool,
    n_tables: int,
) -> str:
    """Whether test and interval say what is claimed."""
    side = "above" if above else "below"
    test = "p > 0.95" if above else "p < 0.05"
    ours, theirs = (f"{low:.3f} to {high:.3f}" for low, high in (interval, published))
    found = f"the interval, {ours} (published {theirs}),"
    of = counted(n_tables, "table")
    if by_test and by_interval:
        return f"Holds with {of}: {test}, and {found} is {side} 0."
    if by_test:
        return f"Holds in part with {of}: {test}, but {found} is not {side} 0."
    if by_interval:
        return f"Holds in part with {of}: {found} is {side} 0, but not {test}."
    return f"Not shown with {of}: not {test}, and {found} is not {side} 0."


def claims_sentence(n_holding: int, n_claims: int) -> str:
    """What the table of claims says, and what chance is."""
    if not n_claims:
        return (
            "No claim of the article can be tested with this: that takes 10 tables or more, for most claims rf, "
            "svmRadial and gbm, or all 12 algorithms, and for those of gains and thresholds 6 repetitions."
        )
    return (
        f"{n_holding} of {counted(n_claims, 'claim')} that these tables can test "
        f"{'holds' if n_holding == 1 else 'hold'}. The article's tables are other ones than ours: chance is two "
        "standard errors by a bootstrap of tables, of a published number those of both."
    )


ANALYSIS_TITLES = {
    "main": "main",
    "large_tables": "large tables",
    "averaged": "first alternative",
    "averaged_errors": "first alternative, equation 11",
    "each_repetition": "second alternative",
    "smallest_deviation": "other threshold",
    "forest_alone": "forest alone",
}
ANALYSIS_WORDS = {
    "main": "gain and threshold in each repetition, averaged over those of a table (equations 7 to 13)",
    "large_tables": "the same, of tables with 2000 rows or more",
    "averaged": "accuracies averaged over the repetitions of a table before anything is chosen, with a threshold "
    "of |nested - flat|, as appendix A prints it",
    "averaged_errors": "the same with |nested - future|, the threshold that equation 11 has everywhere else",
    "each_repetition": "every repetition an observation of its own; as those of a table depend on each other, p "
    "and interval promise too much",
    "smallest_deviation": "as main, with the smallest standard deviation over repetitions of the flat, nested and "
    "future accuracies for a threshold",
    "forest_alone": "the random forest in place of what flat chooses",
}
OUTCOME_TITLES = {
    "table 2": "Gain against threshold (table 2)",
    "table 3": "Tables of 2000 rows and more (table 3)",
    "table 5": "Other ways to compare (table 5)",
    "table 6": "The random forest without any choice (table 6)",
}
OUTCOME_HEAD = ("scenario", "tables", "same choice", "p", "mean", "low", "high", "mean gain")
RANK_TITLES = {"nested": "Mean ranks by nested (table 1)", "flat": "Mean ranks by flat (table 4)"}
RANK_HEAD = ("algorithm", "ours", "ours, ties get the best rank", "published")
GAIN, THRESHOLD = "size of the gain", "threshold"
AGAINST_CAPTION = (
    "A point a table. Beneath the dotted line the gain is less than its threshold, and irrelevant; triangles are "
    "on or above it. Both axes are of square roots."
)
DISTRIBUTION_CAPTION = (
    "The share of tables with a value of so much or less; a jump at 0 are tables on which nothing was gained. "
    "The axis is of square roots."
)
METHOD = (
    "Flat cross-validation takes the best cross-validated accuracy of an algorithm's configurations for its "
    "accuracy; the nested one chooses the configuration anew in each fold and scores it there. Each chooses the "
    "algorithm with the highest accuracy of its kind. Future accuracy is that on the other half of the table, "
    "with the hyper-parameters of flat for both choices (equation 7).",
    "The gain is the future accuracy of the nested choice less that of the flat choice. It is irrelevant where "
    "its size is below the threshold: the smaller of the two errors of the nested estimates of both choices "
    "(equation 12). The test is Wilcoxon's signed-rank test, one-sided; differences of 0 are left out, and it is "
    "exact for fewer than 50 that do not tie, else by the normal approximation with corrections for ties and "
    "continuity. Intervals are the 2.5 and 97.5 % quantiles of 5000 bootstraps of the tables; the published "
    "ones, of which the kind is not said, reach further to the left than to the right.",
    "Of algorithms that tie, the first of the alphabet is chosen, by both alike. One that failed is no candidate "
    "in that repetition and last in its ranking; it takes two candidates for a choice, and half of the "
    "repetitions for a table.",
    "The published mean ranks average 5.65 and 5.48 where 12 ranks average 6.5: ties must have been given the "
    "best rank, or not everything was ranked. The shares of same choices in table 5 cannot all be right: the "
    "second alternative and the other threshold have the selections of table 2, 71 % and 62 %, and are printed "
    "with those of the first alternative and of table 3.",
)


def row_name(scenario: str, analysis: str, *, alone: bool) -> str:
    """A row of a table; with the analysis where the table has several."""
    title = SCENARIO_TITLES[scenario]
    return title if alone else f"{ANALYSIS_TITLES[analysis]}, {title}"


def published_name(name: str) -> str:
    """The row beneath it."""
    return f"{name}, published"


def ties_text(flat: float, nested: float) -> str:
    """How often a tie was broken."""
    return f"{flat:.0%} by flat, {nested:.0%} by nested"


def lead(
    n_tables: int, scenario: str, same_choice: float, gain: float, mean: float, interval: tuple[float, float]
) -> str:
    """The main thing first."""
    if not n_tables:
        return "No table has enough repetitions in which algorithms could be compared."
    return (
        f"On {counted(n_tables, 'table')}, scenario {scenario}, flat and nested cross-validation choose the same "
        f"algorithm {same_choice:.0%} of the time, and nested gains {gain:+.4f} of accuracy on average; the size "
        f"of a table's gain less its threshold of irrelevance is {mean:+.4f} on average, with an interval from "
        f"{interval[0]:.4f} to {interval[1]:.4f}."
    )


def against_title(scenario: str) -> str:
    """A picture's heading."""
    return f"Gain against threshold, {scenario}"


def distribution_title(scenario: str) -> str:
    """A picture's heading."""
    return f"Distributions of both, {scenario}"


def against_summary(n: int, n_above: int, n_zero: int) -> str:
    """What the picture shows, for those who do not see it."""
    return (
        f"Of {counted(n, 'table')} {n - n_above} have a gain below their threshold; on {n_zero} nothing was gained."
    )


def distribution_summary(gain: float, threshold: float) -> str:
    """What the picture shows, for those who do not see it."""
    return f"Half of the tables have a gain of {gain:.4f} or less, and half a threshold of {threshold:.4f} or less."
