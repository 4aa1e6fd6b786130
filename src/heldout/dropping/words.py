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
    "forgiving": "its mean against the worst fold of the current best",
    "aggressive": "its mean against the mean of the current best",
}
_REASONS = {
    "hoeffding_race": "{} times as far behind the leader as chance explains",
    "paired": "no worse than the leader with p = {}",
    "sequential": "among the best of the split too seldom: {} times",
    "wilcoxon": "no worse than the leader with p = {}",
    "forgiving": "its mean is {} below the worst fold of the leader",
    "aggressive": "its mean is {} below that of the leader",
}


def race_sentence(
    rule: str, min_predictions: int | None, *, one_of_many: bool = False, could_drop: bool = True
) -> str:
    """How the race was run; of the many searches of a protocol, the one on all rows.

    ``could_drop``: whether enough rows were predicted before the last split.
    """
    if not could_drop:
        return "All configurations ran on all splits, one split after another."
    by = f" by {RULE_TITLES.get(rule, rule)}" if rule else ""
    since = f", once {min_predictions:,} rows had been predicted" if min_predictions else ""
    return (
        f"All configurations ran on the splits one after another. Between two splits each was compared with the "
        f"current best{by}{since}, and those that were too far behind were dropped."
        + (" This is the search on all rows; the other searches dropped separately." if one_of_many else "")
    )


def none_dropped_sentence(n_judged: int, saved: int, min_predictions: int | None = None) -> str:
    """For a race in which none was dropped; it may still have saved fits by ending early.

    - ``n_judged``: how often the rule was applied.
    - ``min_predictions``: given if fewer rows had been predicted after every split but the last.

    Examples
    --------
    >>> none_dropped_sentence(0, 0, 500)[:65]
    'The rule could not drop any: it applies once 500 rows are predict'
    """
    made = "" if saved else ": every fit was made"
    if not n_judged and min_predictions is not None:
        return (
            f"The rule could not drop any: it applies once {min_predictions:,} rows are predicted, and before the "
            f"last "
            "split there were fewer. A lower min_predictions allows it."
        )
    if not n_judged:
        return f"The rule was never applied, because no split gave enough predictions{made}."
    times = "once" if n_judged == 1 else f"{n_judged} times"
    return f"The rule was applied {times}, and no configuration was far enough behind{made}."


def quiet_barriers_sentence(quiet: int, unjudged: int, min_predictions: int | None) -> str:
    """The barriers that the table omits; empty if there are none.

    - ``quiet``: barriers at which none was dropped.
    - ``unjudged``: of these, those that came before ``min_predictions`` rows had been predicted.
    """
    if not quiet:
        return ""
    subject = "After one more split" if quiet == 1 else f"After {quiet} more splits"
    early = f"fewer than {min_predictions} rows had been predicted"
    if not unjudged:
        return f"{subject} none was dropped."
    if unjudged == quiet:
        return f"{subject} none was dropped: {early} by then."
    return f"{subject} none was dropped; after {unjudged} of them {early}."


def stopped_sentence(after: int, planned: int, remaining: int) -> str:
    """For a race that the rule ended for all."""
    which = "one configuration" if remaining == 1 else f"{remaining} configurations"
    return (
        f"After {after} of {planned} splits the rule found no more differences, and the race ended for the {which}."
    )


def tight_sentence(after: int, planned: int, most: float) -> str:
    """For a race that ended because the interval of the estimate was tight."""
    where = f"After {after} of {planned} splits"
    return f"{where} the interval of the estimate was no wider than {most:g}, and the search stopped."


def risk_sentence(risk: float, unknown: int) -> str:
    """The estimated probability that the best was dropped, and its limits.

    - ``risk``: summed over the barriers.
    - ``unknown``: barriers at which some were dropped and the share is unknown.
    """
    lacking = "" if not unknown else f" (without {unknown} at which it is unknown)"
    return (
        f"The estimated probability that the best configuration was among those dropped is {risk_text(risk)}, "
        f"summed over the splits{lacking}. At each split it is the share of bootstraps of the rows predicted so "
        "far in which the search would have chosen one of those that were dropped. It is based on those rows "
        "only: it "
        "does not anticipate later rows, few rows make it rough, and 0.0 % means fewer than one bootstrap in "
        "1,000, not never."
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


def drop_reason(rule: str, statistic: float, reason: str, statistic_name: str) -> str:
    """Why a configuration was dropped, short enough for a table.

    ``reason``: as the race recorded it; replaced by the statistic if that was the reason.

    Examples
    --------
    >>> drop_reason("bootstrap", 0.998, "the share 0.998", "the share")
    'worse in 0.998 of the bootstraps'
    """
    if not isfinite(statistic) or not statistic_name or not reason.startswith(statistic_name):
        return reason
    if rule == "bootstrap":
        return "worse in every bootstrap" if statistic >= 1 else f"worse in {statistic:.3f} of the bootstraps"
    return _REASONS.get(rule, f"{statistic_name} {{}}").format(f"{statistic:.3g}")


def dropped_heading_sentence(dropped: int) -> str:
    """The sentence above the table of dropped configurations."""
    they = "The dropped configuration did not fail: it was" if dropped == 1 else "They did not fail: each was"
    return (
        f"{they} too far behind when it was dropped. A mean is over the splits before that, so it cannot be "
        f"compared "
        "with those above, and no configuration here was a candidate."
    )


def needed_sentence(after: int, finite: int, endless: int) -> str:
    """How many more splits it would take to separate the remaining configurations from the leader.

    - ``after``: splits that ran.
    - ``finite``, ``endless``: configurations with such a number, and those without.
    """
    analysis = (
        f"After {after} splits the rule’s power analysis computed how many more splits it would take to separate "
        f"each of "
        "the others from the leader, if the difference so far were the true one."
    )
    those = "For the one other" if endless == 1 else f"For {'the other ' if finite else 'all '}{endless:,}"
    none = f" {those} no number of splits is enough." if endless else ""
    return analysis + none


def last_one_sentence(metric: str, value: str, dropped: int) -> str:
    """The sentence on a winner that was the only one remaining."""
    return (
        f"All {dropped:,} others were dropped, so no choice remained to replay: the {metric} of {value} is not "
        f"corrected for the choice by dropping, and is optimistic in this respect."
    )
