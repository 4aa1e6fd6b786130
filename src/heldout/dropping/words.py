"""The sentences on configurations that were dropped early."""

from __future__ import annotations

from math import isfinite

from heldout._text import number_text

RULE_TITLES = {
    "bootstrap": "the bootstrap rule (BCED-CV)",
    "hoeffding_race": "a Hoeffding race",
    "paired": "a paired t test of fold scores",
    "sequential": "sequential tests on more and more training rows (CVST)",
    "wilcoxon": "Wilcoxon’s signed-rank test",
}
_REASONS = {
    "hoeffding_race": "{} times as far behind the leader as chance explains",
    "paired": "no worse than the leader with p = {}",
    "sequential": "among the best of the split too seldom: {} times",
    "wilcoxon": "no worse than the leader with p = {}",
}


def race_sentence(rule: str, min_predictions: int | None, *, one_of_many: bool = False) -> str:
    """How the race was run; of many searches, those of a protocol, it is the one on all rows."""
    by = f" by {RULE_TITLES.get(rule, rule)}" if rule else ""
    since = f", once {min_predictions:,} rows had been predicted" if min_predictions else ""
    return (
        f"All configurations met the splits one after another. Between two splits each was compared with the one "
        f"that led then{by}{since}, and what was too far behind was not fitted any more."
        + (" This is the search on all rows; the others dropped by themselves." if one_of_many else "")
    )


def nobody_dropped_sentence(asked: int, saved: int, min_predictions: int | None = None) -> str:
    """Where nothing was dropped; fits may still be saved by a race that ended early.

    Parameters
    ----------
    asked : int
        How often the rule was asked.
    min_predictions : int, optional
        Where fewer rows had been predicted after every split but the last.

    Examples
    --------
    >>> nobody_dropped_sentence(0, 0, 500)[:65]
    'The rule could not drop anything: it is asked once 500 rows have '
    """
    made = "" if saved else ": every fit was made"
    if not asked and min_predictions is not None:
        return (
            f"The rule could not drop anything: it is asked once {min_predictions:,} rows have been predicted, and "
            "before the last split there were fewer. A lower min_predictions lets it."
        )
    if not asked:
        return f"The rule was never asked, since no split left enough to judge by{made}."
    times = "once" if asked == 1 else f"{asked} times"
    return f"The rule was asked {times}, and nobody was far enough behind{made}."


def quiet_barriers_sentence(quiet: int, unjudged: int, min_predictions: int | None) -> str:
    """The barriers that the table leaves out; empty where there are none.

    Parameters
    ----------
    quiet : int
        At which nobody left.
    unjudged : int
        Of these, those that came before ``min_predictions`` rows had been predicted.
    """
    if not quiet:
        return ""
    subject = "After one more split" if quiet == 1 else f"After {quiet} more splits"
    early = f"fewer than {min_predictions} rows had been predicted"
    if not unjudged:
        return f"{subject} nobody left."
    if unjudged == quiet:
        return f"{subject} nobody left: {early} by then."
    return f"{subject} nobody left; after {unjudged} of them {early}."


def stopped_sentence(after: int, planned: int, alive: int) -> str:
    """Where the rule ended the race for everybody."""
    who = "one configuration" if alive == 1 else f"{alive} configurations"
    return f"After {after} of {planned} splits the rule had seen enough, and the search ended for the {who} in it."


def risk_sentence(risk: float, untold: int) -> str:
    """The estimated probability that the best was dropped, and what it is worth.

    Parameters
    ----------
    risk : float
        Summed over the barriers.
    untold : int
        Barriers at which somebody left and the share is not known.
    """
    lacking = "" if not untold else f" (without {untold} at which it cannot be told)"
    return (
        f"The estimated probability that the best configuration was among those dropped is {risk_text(risk)}, "
        f"summed over the splits{lacking}. At each split it is the share of bootstraps of the rows predicted so "
        "far in which the search would have chosen one of those that left. It knows those rows only: it does not "
        "foresee what the rows to come would have shown, few rows make it rough, and 0.0 % means fewer than one "
        "bootstrap in 1,000, not never."
    )


def risk_text(risk: float | None) -> str:
    """A probability in tenths of a percent.

    Examples
    --------
    >>> risk_text(0.0), risk_text(0.0126), risk_text(None)
    ('0.0 %', '1.3 %', '–')
    """
    if risk is None or not isfinite(risk):
        return "–"
    return f"{number_text(100 * risk, 1)} %"


def left_reason(rule: str, statistic: float, reason: str, statistic_name: str) -> str:
    """Why a configuration left, short enough for a table.

    Parameters
    ----------
    reason : str
        As the race put it down; the statistic is said in its place where it was the reason.

    Examples
    --------
    >>> left_reason("bootstrap", 0.998, "the share 0.998", "the share")
    'worse in 0.998 of the bootstraps'
    """
    if not isfinite(statistic) or not statistic_name or not reason.startswith(statistic_name):
        return reason
    if rule == "bootstrap":
        return "worse in every bootstrap" if statistic >= 1 else f"worse in {statistic:.3f} of the bootstraps"
    return _REASONS.get(rule, f"{statistic_name} {{}}").format(f"{statistic:.3g}")


def dropped_heading_sentence(dropped: int) -> str:
    """Above the table of those who left."""
    they = "The one that was dropped did not fail: it was" if dropped == 1 else "They did not fail: each was"
    return (
        f"{they} too far behind when it left. A mean is over the splits that were met before, so it is no match "
        "for those above, and nobody here was a candidate."
    )


def alive_caption(saved: int, planned: int) -> str:
    """Under the figure of configurations by split."""
    share = number_text(100 * saved / max(planned, 1), 0)
    return (
        f"Configurations that were fitted on each split, in the order in which the splits were met. The pale part "
        f"is what was saved: {saved:,} of {planned:,} fits, {share} %."
    )


def alive_summary(alive: tuple[int, ...], planned: int) -> str:
    """What the figure shows, for those who cannot see it."""
    counts = ", ".join(f"{count:,}" for count in alive)
    return f"Bars, one a split: {counts} configurations were fitted on {planned} splits."


def needed_sentence(after: int, finite: int, endless: int) -> str:
    """How many more splits it would take to tell those that went on from the leader.

    Parameters
    ----------
    after : int
        Splits that were met.
    finite, endless : int
        Configurations for which there is such a number, and those for which there is none.
    """
    analysis = (
        f"After {after} splits the rule’s power analysis asked how many more it would take to tell each of the "
        "others from the leader, if the difference seen so far were the true one."
    )
    those = "For the one other" if endless == 1 else f"For {'the other ' if finite else 'all '}{endless:,}"
    none = f" {those} no number of splits is enough." if endless else ""
    return analysis + none


def last_one_sentence(metric: str, value: str, dropped: int) -> str:
    """Of a winner that was the only one left."""
    return (
        f"All {dropped:,} others were dropped on the way, so there was no choice left to replay: the {metric} of "
        f"{value} is not corrected for what the dropping chose, and is optimistic so far."
    )
