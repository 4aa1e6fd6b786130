"""Titles of drop rules, and why a configuration was dropped."""

from __future__ import annotations

from math import isfinite

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
