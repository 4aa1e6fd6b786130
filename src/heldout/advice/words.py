"""The sentences of an advice: one table, of which those that apply are filled with facts."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from heldout._text import counted, number_text
from heldout.execution.listeners.words import duration

SENTENCES = {
    # the method
    "use": "For {case.have}, use {case.method}. Its interval is {case.interval}.",
    "adaptive": "Corrections of the predictions replay the choice among the configurations, but not how the "
    "search proposed them, so part of the optimism remains (docs/methods/estimates.md). If you cannot repeat "
    "the search, use shrinkage with adaptive=True and report its flag.",
    "figures": "In {figures.where} its {level:.0%} interval covers {figures.coverage:.3f} ± "
    "{figures.coverage_error:.3f}, and its bias is {figures.bias:signed} ± {figures.bias_error:small}; a "
    "positive bias flatters.",
    "reference": "There bbc with its percentiles covers {reference.coverage:.3f} ± "
    "{reference.coverage_error:.3f}, with a bias of {reference.bias:signed} ± {reference.bias_error:small}; "
    "{case.method} has an interval {figures.width_ratio:.2f} times as wide and a root mean square error "
    "{figures.rmse_ratio:.2f} ± {figures.rmse_ratio_error:.2f} times as large.",
    # where its figures may not hold
    "few folds": "A bootstrap of {folds:fold} covers less than its level, which needs {fewest} folds "
    "(docs/methods/intervals.md).",
    "another metric": "The test bed has no {metric}; the figures are those of {like}, the metric most like it.",
    "far": "You have {n_rows:row}, and the nearest cell of the test bed has {figures.rows}.",
    "covers too little": "In that cell the interval covers {figures.coverage:.3f}, less than its level: take "
    "it as a lower limit of the uncertainty. {remedy}",
    "better": "{better.method} covers {better.coverage:.3f} there, at {better.width_ratio:.2f} times the width "
    "of bbc's percentiles.",
    "none better": "No method of the test bed holds its level there.",
    # the fits
    "one configuration": "There is one configuration, so nothing is chosen: its cross-validated score is not "
    "optimistic, and nested cross-validation makes the same fits and has nothing to correct.",
    "cost": "Nested cross-validation makes {costs[nested_cv].most:,} fits where the search alone makes "
    "{costs[cv].most:,}.",
    "opaque": "The scorer '{problem.metric_name}' cannot be opened, so shrinkage, bbc and early dropping do "
    "not apply; nested cross-validation does, and `method='bbc_f'` corrects from the scores of the folds.",
    "no further fit": "shrinkage and bbc correct the score of the search from the predictions that the search "
    "makes, at no further fit.",
    "few rows": "With {problem.n_units:,} {units}, fewer than 100, use as many repeats as time allows, such as "
    "four: they narrow the interval and improve the choice. Early dropping saves little there, and may drop "
    "the best configuration (Tsamardinos et al. 2018).",
    "many rows": "With {problem.n_units:,} {units}, `drop='bootstrap'` gives the same correction for "
    "{costs[bced].fewest:,} to {costs[bced].most:,} fits. On the article's tables of 500 rows it made a half "
    "to a fifth of the fits and lost almost nothing (Tsamardinos et al. 2018).",
    "more folds": "`cv='auto'` makes {advice.auto_folds} folds of these {units}, so that each model trains on "
    "more of them.",
    "fewer folds": "`cv='auto'` makes {advice.auto_folds} folds of these {units}, so that each fold can test "
    "every class.",
    # what nesting changes
    "one family": "All configurations are of one estimator. Nested cross-validation then scores the choice "
    "that flat cross-validation makes, and does not change it.",
    "change": "On the {nearest.tables} of our tables whose number of rows is nearest to yours ({rows} rows used "
    "for tuning) flat and nested cross-validation chose the same of {nearest.algorithms} algorithms in "
    "{nearest.same_choice:.0%} ({nearest.same_choice_range[0]:.0%} to {nearest.same_choice_range[1]:.0%}) of the "
    "repetitions. On new rows the accuracies of the two choices differed by {nearest.gain:.3f} "
    "({nearest.gain_range[0]:.3f} to {nearest.gain_range[1]:.3f}) on average; the article's threshold of "
    "irrelevance is {nearest.threshold:.3f}, and difference minus threshold is {nearest.difference:signed} "
    "({nearest.difference_range[0]:signed} to {nearest.difference_range[1]:signed}).",
    "published": "On {nearest.published.tables} of their 115 tables, Wainer & Cawley chose the same of "
    "{nearest.algorithms} algorithms in {nearest.published.same_choice:.0%}, with a difference minus threshold of "
    "{nearest.published.difference:signed} ({nearest.published.low:signed} to {nearest.published.high:signed}).",
    "to compare": "To show that one algorithm is better than another, as in a publication, nest each by "
    "itself: flat scores favour algorithms with more to tune, and the agreement above is only about which "
    "algorithm is best (Wainer & Cawley).",
    "worst case": "The bias at worst is that of {advice.worst_case.configurations:,} independent "
    "configurations with {truths} around .6 on {advice.worst_case.rows:,} rows in {advice.worst_case.folds} "
    "folds; a positive bias flatters. Configurations of a real search resemble each other, which makes it "
    "smaller. At most 1,000 rows and 2,000 configurations are simulated: more rows make it smaller, and more "
    "configurations larger.",
    "timing": "Times rest on {n_tried:,} of {advice.n_configurations:configuration}, each fitted on one split "
    "and one thread ({advice.seconds_spent:time}); their scores select nothing and are not kept.",
    "assumed": "All of this assumes that your rows are a random sample of those that the model will predict.",
    # what the evidence does not cover
    "many hyper-parameters": "More than 3 hyper-parameters vary in {wide}. In the study no algorithm had more, "
    "and with many the flat choice overfits (Cawley & Talbot 2010): nest if you choose between algorithms.",
    "groups": "Your rows come in {problem.n_units:group}, and each group counts here as one row. The tables of "
    "the evidence have no groups.",
    "rare class": "Class {problem.rarest_class[0]} has {problem.rarest_class[1]:row} for {problem.n_folds} "
    "folds: scores of folds are imprecise then, and every choice is partly luck. Repeats or fewer folds help.",
    "time order": "Your folds follow time, so rows are not exchangeable: bootstraps of the estimate draw "
    "blocks of them, but early dropping and the evidence treat them as a random sample, which they are not.",
    "unlike the evidence": "The evidence is about accuracy on tables with two classes; yours is "
    "{problem.metric_name} of a {problem.kind.value} target.",
    "rows beyond": "You tune on {problem.n_units:,} rows, and the tables of the evidence on {least:,} to {most:,}.",
    "no nesting": "Nested cross-validation is not counted: {problem.refusal}",
    "no simulation": "Biases at worst were not simulated: {reason}.",
    # why a time is unknown
    "no time": "No configuration of {untimed} was fitted without failure, so the times are unknown; raise seconds.",
    "one fit": "There was time to fit only one configuration of {once}, so times have no range; raise seconds.",
    "failures": "{n_failed} of {n_tried:configuration} that were fitted failed, such as {failures[0][0]}: "
    "{failures[0][1]}",
}


def sentences(applies: Mapping[str, bool], **facts: Any) -> tuple[str, ...]:
    """The sentences that apply, in the order of ``applies``, filled with the facts that they name."""
    return tuple(_FORMATTER.vformat(SENTENCES[name], (), facts) for name, does in applies.items() if does)


class _Formatter(string.Formatter):
    """Format as ``str.format`` does, and numbers with a unit: ``{n:row}`` is "1 row" or "2 rows"."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if value != value:
            return number_text(None, 3)
        if format_spec in FORMATS:
            return FORMATS[format_spec](value)
        return counted(value, format_spec) if format_spec.isalpha() else format(value, format_spec)


def signed(value: float) -> str:
    """A difference with its sign."""
    return ("" if value == 0 else "+" if value > 0 else "−") + number_text(abs(value), 3)


FORMATS: dict[str, Callable[[float], str]] = {
    "time": duration,
    "signed": signed,
    "small": lambda value: number_text(value, 3),
}
_FORMATTER = _Formatter()


def between(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def listed(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
