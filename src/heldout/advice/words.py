"""The sentences of the advice."""

from __future__ import annotations

import math
from collections.abc import Sequence

from heldout._text import counted, number_text

ADVICE_TITLES = {
    "cv": "flat cross-validation, uncorrected",
    "bbc": "bbc",
    "bced": "bbc with early dropping (bced)",
    "bbc_repeats": "bbc with 4 repeats",
    "nested_cv": "nested cross-validation",
    "nested_cv_families": "nested, each family by itself",
}
"""Titles of the protocols in the table."""
ADVICE_HEAD = ("", "fits", "time", "bias, at worst")

NO_FURTHER_FIT = (
    "shrinkage and bbc correct the score of the search from the predictions that the search makes, at no further "
    "fit."
)
ONE_CONFIGURATION = (
    "There is one configuration, so nothing is chosen outside its own fits: its cross-validated score is not "
    "optimistic, and nested cross-validation has nothing to correct and makes the same fits."
)
ONE_FAMILY = (
    "All configurations are of one estimator. Nested cross-validation then scores the choice that flat "
    "cross-validation makes, and does not change it."
)
TO_COMPARE = (
    "To show that one algorithm is better than another, as in a publication, nest each by itself: flat scores "
    "favour algorithms with more to tune, and the agreement above is only about which algorithm is best (Wainer & "
    "Cawley)."
)
ASSUMED = "All of this assumes that your rows are a random sample of those that the model will predict."


def cost_sentence(nested: int, flat: int, seconds: str, flat_seconds: str) -> str:
    """What nesting costs, compared with the search alone; times are empty where unknown."""
    fits = (
        f"Nested cross-validation makes {nested:,} fits where the search alone makes {flat:,}, "
        f"{nested / flat:.1f} times as many"
    )
    return f"{fits}: {seconds} instead of {flat_seconds}." if seconds and flat_seconds else f"{fits}."


def time_text(expected: str, low: str, high: str) -> str:
    """'about 12 s (10 s to 15 s)'."""
    if not expected:
        return f"{low} to {high}" if low and high else ""
    return f"about {expected} ({low} to {high})" if low and high and low != high else f"about {expected}"


def opaque_sentence(scorer: str) -> str:
    """The protocols that work with a scorer of the user's own."""
    return (
        f"The scorer '{scorer}' cannot be opened, so shrinkage, bbc and early dropping do not apply; nested "
        "cross-validation does, and `method='bbc_f'` corrects from the scores of the folds."
    )


def small_sentence(units: str) -> str:
    """The article's advice for little data."""
    return (
        f"With {units}, fewer than 100, use as many repeats as time allows, four or so for the interval: they "
        "narrow it and improve the choice. Early dropping saves little there, and may drop the best "
        "configuration (Tsamardinos et al. 2018)."
    )


def large_sentence(units: str, fewest: int, most: int) -> str:
    """The article's advice for more data."""
    return (
        f"With {units}, use `drop='bootstrap'`: the same correction for {fewest:,} to {most:,} fits. On the "
        "article's tables with 500 rows it made a half to a fifth of the fits and lost almost nothing (Tsamardinos "
        "et al. 2018)."
    )


def change_sentence(
    *,
    tables: int,
    rows: tuple[int, int],
    algorithms: int,
    same: str,
    gain: str,
    threshold: str,
    difference: str,
) -> str:
    """What nested cross-validation changed on tables like the user's."""
    on = f"our {tables} tables whose number of rows is nearest to yours" if tables > 1 else "our nearest table"
    return (
        f"On {on} ({_between(*rows)} rows used for tuning) flat and nested cross-validation chose the same of "
        f"{algorithms} algorithms in {same} of the repetitions. On new rows the accuracies of the two choices, "
        f"averaged over a table's repetitions, differed by {gain} on average; the article's threshold of "
        f"irrelevance is {threshold}, and difference minus threshold is {difference}."
    )


def published_sentence(algorithms: int, tables: int, least_rows: int, same: float, difference: str) -> str:
    """The article's own figures."""
    of = f" of at least {least_rows:,} rows" if least_rows else ""
    return (
        f"Published (Wainer & Cawley, {tables} tables{of}, {algorithms} algorithms): the same choice in "
        f"{same:.0%}, difference minus threshold {difference}."
    )


NO_EVIDENCE = "No evidence is installed on what nested cross-validation changes."


WORST_CASES = {
    "accuracy": ("accuracy", "accuracies around .6"),
    "roc_auc": ("area under the ROC curve", "areas around .6"),
    "mean_squared_error": ("squared error, in units of the target's variance,", "R² around .6"),
}
"""The simulated metric, and the true values of the configurations."""


def worst_case_sentence(
    of: tuple[str, str],
    sizes: tuple[int, int, int],
    biases: Sequence[str],
    *,
    more_rows: bool,
    more: bool,
) -> str:
    """How biased estimates would be if the configurations were independent.

    Parameters
    ----------
    of : (str, str)
        A value of ``WORST_CASES``.
    sizes : (int, int, int)
        Rows, configurations and folds of the simulation.
    biases : sequence of str
        Biases of the uncorrected score, bbc and nested cross-validation.
    more_rows, more : bool
        Whether the user has more rows, and more configurations, than the simulation.
    """
    rows, configurations, folds = sizes
    cv, bbc, nested = biases
    limits = []
    if more_rows:
        limits.append("you have more rows, so less bias")
    if more:
        limits.append("you have more configurations, so more bias")
    limit = f" ({'; '.join(limits)})" if limits else ""
    return (
        f"At worst, if your configurations were independent of each other with {of[1]}: on {rows:,} rows, "
        f"{configurations:,} configurations and {folds} folds{limit} the uncorrected {of[0]} is off by {cv}, bbc "
        f"by {bbc}, nested cross-validation by {nested}; positive is too optimistic. Configurations of a real "
        "search resemble each other, which makes the bias smaller."
    )


def many_hyperparameters(family: str, n: int) -> str:
    """A family with more hyper-parameters than any in the evidence."""
    return (
        f"'{family}' has {n} hyper-parameters that vary. In the study no algorithm had more than 3, and with many "
        "the flat choice overfits (Cawley & Talbot 2010): nest if you choose between it and others."
    )


def groups_warning(groups: int) -> str:
    """Rows that come in groups."""
    return (
        f"Your rows come in {counted(groups, 'group')}, and each group counts here as one row. The tables of the "
        "evidence have no groups."
    )


def folds_sentence(allowed: int, folds: int, rarest: tuple[str, int] | None) -> str:
    """How many folds the rows allow."""
    why = f"; its smallest class, {rarest[0]}, has {counted(rarest[1], 'row')}" if rarest is not None else ""
    more = ", so that each model trains on more of the rows" if allowed > folds > 1 else ""
    return f"`cv='auto'` makes {counted(allowed, 'fold')} of this target{why}{more}."


def few_rows_warning(label: str, rows: int, folds: int) -> str:
    """A rare class."""
    return (
        f"Class {label} has {counted(rows, 'row')}, {rows / folds:.3g} per fold: scores of folds are imprecise "
        "then, and every choice is partly luck. Repeats or fewer folds help."
    )


TIME_ORDER_WARNING = (
    "Your folds follow time, so rows are not exchangeable: bootstraps of the estimate draw blocks of them, but "
    "early dropping and the evidence treat them as a random sample, which they are not."
)


def metric_warning(metric: str, kind: str) -> str:
    """A metric or target unlike that of the evidence."""
    return f"The evidence is about accuracy on tables with two classes; yours is {metric} of a {kind} target."


def rows_warning(rows: int, least: int, most: int) -> str:
    """More or fewer rows than any table of the evidence."""
    side = "fewer" if rows < least else "more"
    return f"You tune on {rows:,} rows, {side} than any table of the evidence ({_between(least, most)})."


def failures_warning(failed: int, fitted: int, name: str, why: str) -> str:
    """Configurations that could not be fitted."""
    return f"{failed} of {fitted} configurations that were fitted failed, first {name}: {why}"


def one_fit_only(families: Sequence[str]) -> str:
    """Why there is no range."""
    return (
        f"There was time to fit only one configuration of {_listed(families)}, so times have no range; raise "
        "seconds."
    )


def not_reached(families: Sequence[str]) -> str:
    """Why there is no time."""
    return f"There was no time to fit {_listed(families)}, so the times are unknown; raise seconds."


def all_failed(families: Sequence[str]) -> str:
    """Why there is no time."""
    return f"All configurations of {_listed(families)} that were fitted failed, so the times are unknown."


def no_simulation(reason: str) -> str:
    """Why the worst case is missing."""
    return f"Biases were not simulated: {reason}."


def no_nesting(reason: str) -> str:
    """Why nested cross-validation is not counted."""
    return f"Nested cross-validation is not counted: {reason}"


def timing_sentence(n_fitted: int, n_configurations: int, seconds: str) -> str:
    """The fits behind the times."""
    return (
        f"Times rest on {n_fitted:,} of {counted(n_configurations, 'configuration')}, each fitted on one split "
        f"and one thread ({seconds}); their scores select nothing and are not kept."
    )


def accuracy_text(value: float, give_or_take: float | None = None) -> str:
    """A difference of accuracies with its sign; with a standard error."""
    if not math.isfinite(value):
        return number_text(None, 3)
    sign = "" if value == 0 else "+" if value > 0 else "−"
    text = f"{sign}{number_text(abs(value), 3)}"
    return text if give_or_take is None else f"{text} ± {number_text(give_or_take, 3)}"


def range_text(value: str, low: str, high: str) -> str:
    """A value with its interval, where there is one."""
    return f"{value} ({low} to {high})" if low and high else value


def _between(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
