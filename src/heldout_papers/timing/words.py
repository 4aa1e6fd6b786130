"""What is said of the study of times."""

from __future__ import annotations

from collections.abc import Sequence

from heldout._text import counted

WAY_TITLES = {
    "bbc": "BBC, heldout",
    "bbc_f": "BBC-F, heldout",
    "plain_bbc": "BBC, plain",
    "plain_bbc_f": "BBC-F, plain",
}
WAY_WORDS = {
    "bbc": "heldout.estimate from the predictions, one thread, its checks of what it is given included",
    "bbc_f": "the same; the scores of the folds are computed from the predictions",
    "plain_bbc": "NumPy, as the article writes the method down: a bootstrap after another, in each an AUC for "
    "every configuration. It stands for published code, and is no part of any other command",
    "plain_bbc_f": "the same, on the scores of the folds",
}
PAIR_TITLES = {"bbc": "heldout's code", "plain_bbc": "plain code"}
"""What a comparison of BBC and BBC-F is of, by the name of the first."""
VARIED_TITLES = {"rows": "rows", "configurations": "configurations", "folds": "folds"}
PUBLISHED_TITLE = "published"


def timing_method(kernels: str, n_bootstraps: int) -> tuple[str, ...]:
    """How it was done.

    Parameters
    ----------
    kernels : {"compiled", "numpy"}
    """
    ours = {
        "compiled": "heldout's BBC does not compute an AUC for each bootstrap and configuration anew: rows are "
        "sorted once a configuration, and compiled code then walks through them for many bootstraps together.",
        "numpy": "heldout's compiled kernels were not in use: its NumPy kernels were timed.",
    }[kernels]
    return (
        "Predictions are drawn whose true AUCs come from Be(24, 6), half of the rows of each class, and rows of "
        "each class are dealt to the folds in turn. All methods see the same predictions, one after another in one "
        "process; another comes first in each repetition, and each is called once before it is timed. What is "
        f"timed is the way from predictions to a lower 95 % bound by {counted(n_bootstraps, 'bootstrap')}.",
        f"{ours} BBC-F has little left to save there, and the checks of what is given weigh more in its time.",
        "Times are of the processor, which are the wall's where one thread has an idle machine to itself; they are "
        "those of one machine on one day, and differ from run to run; kept batches keep theirs. "
        "Problems and bounds are the same for the same seed. The published times are medians of the files beside "
        "the published code, which calls a compiled AUC once for each bootstrap and configuration.",
    )


def timing_lead(said: Sequence[tuple[str, float]], sizes: str) -> str:
    """The main thing first.

    Parameters
    ----------
    said : sequence of (code, times)
        How many times as long as BBC-F BBC takes, by whose code.
    """
    parts = " and ".join(f"{times_as_long(times)} by {code}" for code, times in said)
    return f"With {sizes}, BBC takes {parts} as long as BBC-F."


def times_as_long(times: float) -> str:
    """'32 times', '0.87 times'."""
    return f"{times:.3g} times"


def timing_caption(what: str, others: str) -> str:
    """How to read a picture."""
    return (
        f"Median seconds, with bars from the lower to the upper quartile, by {what}; {others}. Both axes are "
        "logarithmic, so that equal distances are equal factors."
    )


def timing_summary(what: str, said: Sequence[tuple[str, str, str]], ends: tuple[int, int]) -> str:
    """What a picture shows, for those who do not see it.

    Parameters
    ----------
    said : sequence of (way, text, text)
        Milliseconds at the least and at the greatest size.
    """
    listed = "; ".join(f"{title} {first}, {last}" for title, first, last in said)
    return f"Median milliseconds with {ends[0]:,} and with {ends[1]:,} {what}: {listed}."


def timing_claims_sentence(n_holding: int, n_claims: int) -> str:
    """What the table of claims says, in one sentence."""
    if not n_claims:
        return (
            "No claim of the article can be tested with these settings: that takes BBC and BBC-F, rows and "
            "configurations whose numbers differ tenfold at least, and folds fivefold."
        )
    return (
        f"{n_holding} of {counted(n_claims, 'claim')} of section 5 that these settings can test "
        f"{'holds' if n_holding == 1 else 'hold'}; each is tested of heldout's code and of plain code, where both "
        "were timed."
    )


def speed_difference(in_band: int, slower: int, n_all: int) -> str:
    """In how many settings BBC-F is faster by one to two orders of magnitude, and in how many it is not at all."""
    among = f"BBC-F is 10 to 100 times as fast, give or take a factor of 2, in {in_band} of {n_all} settings"
    if not slower:
        return f"{among}, and faster in all."
    return f"{among}, and slower in {slower}."


def slopes_difference(holds: bool, first: float, second: float, allowed: float) -> str:
    """How two exponents of growth compare."""
    verdict = "Holds" if holds else "Does not hold"
    return (
        f"{verdict}: the exponents differ by {abs(first - second):.2f}, where up to {allowed:g} counts as similar."
    )


def unaffected_difference(holds: bool, times: float, grown: float, allowed: float, what: str) -> str:
    """How much longer something takes with more of what should not matter."""
    verdict = "Holds" if holds else "Does not hold"
    return (
        f"{verdict}: with {grown:.3g} times the {what} it takes {times_as_long(times)} as long, where up to "
        f"{allowed:g} times counts as not affected."
    )


def order_of_ratio_difference(n_within: int, n_all: int) -> str:
    """In how many settings a ratio is that which counting operations foretells."""
    return f"Within a factor of 10 of N/K in {n_within} of {n_all} settings."


def timing_lead_of_one(said: Sequence[tuple[str, float]], sizes: str) -> str:
    """The main thing where nothing is compared."""
    parts = ", ".join(f"{title} takes {1e3 * seconds:.3g} ms" for title, seconds in said)
    return f"With {sizes}, {parts}."
