"""What is said of the study of intervals."""

from __future__ import annotations

from collections.abc import Sequence

from heldout._text import counted

METHOD_TITLES = {
    "bbc": "BBC",
    "bbc_f": "BBC-F",
    "delong": "DL",
    "hanley_mcneil": "HM",
    "tilting": "BT",
    "delong_10p": "DL10p",
    "hanley_mcneil_10p": "HM10p",
    "tilting_10p": "BT10p",
    "mabt": "MABT",
    "naive_bootstrap": "NB",
}
"""As the article calls them."""
METHOD_WORDS = {
    "bbc": "bootstrap bias correction: rows are drawn, and the best on them is scored on those left out",
    "bbc_f": "the same with folds in the place of rows",
    "delong": "75 % of the rows choose; DeLong's normal interval of the chosen on the others",
    "hanley_mcneil": "the same with Hanley and McNeil's standard error",
    "tilting": "the same by bootstrap tilting",
    "delong_10p": "75 % of the rows send the best tenth on, the others choose the best of these, and DeLong's "
    "bound pays for that by Šidák's correction",
    "hanley_mcneil_10p": "the same with Hanley and McNeil's standard error",
    "tilting_10p": "the same by bootstrap tilting",
    "mabt": "the same by tilting that knows how much the finalists agree",
    "naive_bootstrap": "the winner's fold scores are bootstrapped as if it had been the only configuration",
}
SELECTOR_TITLES = {
    "all rows": "BBC, BBC-F",
    "best of 75 %": "DL, HM, BT",
    "best tenth of 75 %": "DL10p, HM10p, BT10p, MABT",
}
TASK_TITLES = {
    "binary": "areas under the ROC curve",
    "multiclass": "areas of five classes (Hand and Till)",
    "regression": "R²",
}

SIMULATED = {
    "binary": "C configurations get true areas under the ROC curve from a Beta distribution. Scores of rows of "
    "class 0 are N(0, 1), those of class 1 N(μ, 1) with μ = √2 Φ⁻¹(AUC), each independent of the others.",
    "multiclass": "For each configuration and each ordered pair of five classes an area is drawn from a Beta "
    "distribution. A row has a score for each class k: N(0, 1) if it is of k, N(-√2 Φ⁻¹(AUC), 1) if it is of "
    "another. The true performance is the mean of the twenty areas, Hand and Till's. All classes but the first are "
    "of one size.",
    "regression": "C configurations get true R² from a Beta distribution: predictions P (y + ε) of y ~ N(0, 1) "
    "with ε ~ N(0, 1/P - 1). A single linear map cannot improve them, so that P is 1 - SSE/SST and not a squared "
    "correlation only.",
}
FOLDS_WORDS = (
    "Each class has as many rows as its share says. There are as many folds as rows of the rarest class, at most "
    "{most}; row i of those sorted by class is in fold i mod K."
)
FOLDS_OF_NUMBERS = "There are {most} folds; row i is in fold i mod K."
HELD_AGAINST = (
    "Each method's lower bound is held against the true performance of the configuration that it chose: BBC by the "
    "area over all rows, BBC-F and NB by the mean over folds. Inclusion is the share of bounds that are not above "
    "it; it is tested against its level by the exact one-sided binomial test, and rejected where p < .05. "
    "Tightness is the mean of truth less bound. Repetitions without a bound are left out of both, and counted."
)
TWO_PARTS = (
    "The methods in two parts draw a quarter of the rows from all of them, again until both parts hold each class "
    "and the first one each that a fold holds; where 75 % of the rarer class are fewer than the folds they are not "
    "tried. Where the chosen configuration orders the second part without a mistake, none of them has a bound: its "
    "area of 1 has no variance. The published code takes the bound to be 1 there; in claims about cells of table "
    "2, and nowhere else, we do so too, and hold BBC's bound against the winner by fold means.",
    "The published code of Hanley and McNeil's interval counts rows that are predicted right and wrong where the "
    "formula has positive and negative rows, has a sign of it wrong, takes all N rows, and pays nothing for the "
    "choice among several. Ours is their formula: its numbers are others.",
)
RANKED = (
    "Ranks go by the article's rules: first those that are not rejected, by tightness, then the rejected by the "
    "distance of their inclusion from the level; ties get the best of their ranks; only settings count in which "
    "every method has a bound in 9 of 10 repetitions."
)

UNIFORMITY_TITLE = "Percentiles of the truth in what each method holds possible: p of uniform (Kolmogorov-Smirnov)"


def intervals_method(task: str, most_folds: int, n_bootstraps: int) -> tuple[str, ...]:
    """How it was done."""
    folds = FOLDS_OF_NUMBERS if task == "regression" else FOLDS_WORDS
    bootstraps = f"There are {n_bootstraps:,} bootstraps" + (
        f", {2 * n_bootstraps:,} of tilting." if task == "binary" else "."
    )
    first = f"{SIMULATED[task]} {folds.format(most=most_folds)}"
    return (first, f"{HELD_AGAINST} {bootstraps}", *(TWO_PARTS if task == "binary" else ()), RANKED)


def intervals_lead(n_settings: int, repetitions: int, level: float, rejected: Sequence[tuple[str, int]]) -> str:
    """The main thing first: who is rejected where.

    Parameters
    ----------
    rejected : sequence of (title, n)
        In how many settings.
    """
    never = [title for title, n in rejected if not n]
    others = [f"{title} in {n}" for title, n in rejected if n]
    over = f"Over {counted(n_settings, 'setting')} of {counted(repetitions, 'repetition')} each"
    kept = f"the {level:.0%} interval of {_joined(never)} is nowhere rejected" if never else ""
    lost = f"that of {_joined(others)}" if others else ""
    if kept and lost:
        return f"{over}, {kept}; {lost} is."
    if kept:
        return f"{over}, {kept}."
    return f"{over}, the {level:.0%} interval is rejected for each method: {_joined(others)}."


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def claims_sentence(n_holding: int, n_claims: int) -> str:
    """What the table of claims says, in one sentence, and what it is about."""
    if not n_claims:
        return (
            "No claim of the article can be tested with these settings: that takes areas of two classes, intervals "
            "of 95 %, 10 folds, settings of its table 2 and 20 repetitions or more."
        )
    return (
        f"{n_holding} of {counted(n_claims, 'claim')} of the abstract, section 5 and the conclusions that these "
        f"settings can test {'holds' if n_holding == 1 else 'hold'}."
    )


def cells_difference(inclusion: tuple[int, int], tightness: tuple[int, int], holds: bool, why: str) -> str:
    """In how many cells of table 2 two numbers of a method agree.

    Parameters
    ----------
    inclusion, tightness : (int, int)
        Cells within rounding and chance, and all.
    why : str
        What else is known of the difference; empty where nothing is.
    """
    verdict = "Agrees" if holds else "Differs"
    both = f"inclusion within rounding and chance in {inclusion[0]} of {counted(inclusion[1], 'setting')}"
    return f"{verdict}: {both}, tightness in {tightness[0]}.{' ' if why else ''}{why}"


WHY_HANLEY_MCNEIL = "The published code is another formula."
WHY_BY_FOLDS = "Held against the winner by fold means, as there."
WHY_TURNED = (
    "The published choice turns a column around in a fold that it orders the wrong way, and so may take a "
    "configuration that is worse than chance."
)
WHY_PERFECT = "An area of 1 counts as a bound of 1, as there."


def rejected_difference(n: int, n_all: int, holds: bool, bar: str) -> str:
    """In how many settings an inclusion is rejected.

    Parameters
    ----------
    bar : str
        When the claim would hold.
    """
    return f"{'Holds' if holds else 'Does not hold'}: rejected in {n} of {n_all}; {bar}."


def failing_difference(holds: bool) -> str:
    """Whether methods fail more where there is less."""
    return f"{'Holds' if holds else 'Does not hold'}: the fewer rows of the rarer class, the more fail."


def par_difference(holds: bool, difference: float, allowed: float, chance: float) -> str:
    """Whether two methods are on a par; the article gives no number for that."""
    verdict = "Holds" if holds else "Does not hold"
    return (
        f"{verdict}: they differ by {difference:+.3f}, where up to {allowed:g} counts as on a par, give or take "
        f"{chance:.3f} by chance."
    )


def apart(holds: bool, difference: float, decimals: int) -> str:
    """Whether one number is above another, as is claimed."""
    return f"{'Holds' if holds else 'Does not hold'}: they differ by {difference:+.{decimals}f}."


def accurate_difference(holds: bool, n: int, least: float, where: str) -> str:
    """Whether the worst of many inclusions is too low.

    Parameters
    ----------
    least : float
        The smallest p value, of the cell that ``where`` names.
    """
    verdict = "Holds" if holds else "Does not hold"
    beyond = "no more" if holds else "more"
    return f"{verdict}: the least p is {least:.2g} ({where}), {beyond} than chance explains among {n}."


def figure_caption(n_shown: int) -> str:
    """How to read the picture like figure 2."""
    return (
        f"Tightness over that of BBC, a mark for each of {counted(n_shown, 'setting')} in which every method has "
        "results; above 1 a bound is farther from the truth than BBC's. Filled circles: inclusion not rejected; "
        "crosses: rejected, so that being tight is no merit."
    )


def figure_summary(said: Sequence[tuple[str, float, int, int]]) -> str:
    """What the picture shows, for those who do not see it.

    Parameters
    ----------
    said : sequence of (title, mean ratio, settings that are rejected, settings)
    """
    parts = [f"{title} {ratio:.2f}, rejected in {n} of {total}" for title, ratio, n, total in said]
    return f"Mean tightness over BBC's: {'; '.join(parts)}."
