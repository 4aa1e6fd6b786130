"""The sentences of an advice: tables of texts, of which those are said whose facts are known."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping
from typing import Any

from heldout._text import counted, number_text
from heldout.execution.listeners.words import duration

ANSWER = {
    "use": "For {case.have}, use {case.method}. Its interval is {case.interval}.",
    "adaptive": "Corrections replay the choice among configurations, but not how the search proposed them, so "
    "part of the optimism remains (docs/understand/adaptive-searches.md). If you cannot repeat the search, use "
    "shrinkage with adaptive=True and report its flag.",
    "figures": "In {figures.where} its {level:.0%} interval covers {figures.coverage:.3f} ± "
    "{figures.coverage_error:.3f}, and its bias is {figures.bias:signed} ± {figures.bias_error:small}; a positive "
    "bias flatters.",
    "reference": "There bbc's percentiles cover {reference.coverage:.3f} ± {reference.coverage_error:.3f}, with "
    "a bias of {reference.bias:signed} ± {reference.bias_error:small}; the interval of {case.method} is "
    "{figures.width_ratio:.2f} times as wide, and its root mean square error {figures.rmse_ratio:.2f} ± "
    "{figures.rmse_ratio_error:.2f} times as large.",
}
"""Which method to use, and what it gave in the test bed."""
ANSWER_DOUBTS = {
    "few folds": "A bootstrap of {few_folds:fold} covers less than its level, which needs {fewest} folds "
    "(papers/pages/intervals.md).",
    "like": "The test bed has no {metric}; the figures are those of {like}, the metric most like it.",
    "far": "You have {far:row}, and the nearest cell of the test bed has {figures.rows}.",
    "remedy": "In that cell the interval covers {figures.coverage:.3f}, less than its level: take it as a lower "
    "limit of the uncertainty. {remedy}",
}
"""Where its figures may not hold."""
REMEDY = "{method} covers {coverage:.3f} there, at {width_ratio:.2f} times the width of bbc's percentiles."
NO_REMEDY = "No method of the test bed holds its level there."
"""``REMEDY``, ``NO_REMEDY``: the ends of a doubt."""
CONCLUSIONS = {
    "one configuration": "There is one configuration, so nothing is chosen: its cross-validated score is not "
    "optimistic, and nested cross-validation makes the same fits.",
    "fits": "Nested cross-validation makes {nested.most:,} fits where the search alone makes {flat.most:,}.",
    "opaque": "The scorer '{opaque}' cannot be opened, so shrinkage, bbc and early dropping do not apply; nested "
    "cross-validation does, and `method='bbc_f'` corrects from the scores of folds.",
    "corrects": "shrinkage and bbc correct the score from the predictions of the search, at no further fit.",
    "few rows": "With {few:,} {units}, fewer than 100, use as many repeats as time allows, such as four. Early "
    "dropping saves little there, and may drop the best configuration (Tsamardinos et al. 2018).",
    "many rows": "With {many:,} {units}, `drop='bootstrap'` gives the same correction for {bced.fewest:,} to "
    "{bced.most:,} fits; on the article's tables of 500 rows it made a half to a fifth of the fits and lost "
    "almost nothing (Tsamardinos et al. 2018).",
    "more folds": "`cv='auto'` makes {more_folds} folds, so that each model trains on more of the {units}.",
    "one family": "All configurations are of one estimator: nested cross-validation scores the choice of flat "
    "cross-validation, and does not change it.",
    "nearest": "On our {nearest.tables} tables with the most similar number of rows ({rows} for tuning) flat and "
    "nested cross-validation chose the same of {nearest.algorithms} algorithms in {nearest.same_choice:.0%} "
    "({nearest.same_choice_range[0]:.0%} to {nearest.same_choice_range[1]:.0%}) of the repetitions. On new rows "
    "the accuracies of their choices differed by {nearest.gain:.3f} ({nearest.gain_range[0]:.3f} to "
    "{nearest.gain_range[1]:.3f}) on average; the article's threshold of irrelevance is {nearest.threshold:.3f}, "
    "and difference minus threshold is {nearest.difference:signed} ({nearest.difference_range[0]:signed} to "
    "{nearest.difference_range[1]:signed}).",
    "published": "On {nearest.published.tables} of their 115 tables, Wainer & Cawley chose the same of "
    "{nearest.algorithms} algorithms in {nearest.published.same_choice:.0%}, and difference minus threshold was "
    "{nearest.published.difference:signed} ({nearest.published.low:signed} to {nearest.published.high:signed}). "
    "To show in a publication that one algorithm is better than another, nest each by itself: flat scores favour "
    "algorithms with more to tune.",
    "worst": "The bias at worst is that of {worst.configurations:,} independent configurations with {worst.truths} "
    "around .6 on {worst.rows:,} rows in {worst.folds} folds; a positive bias flatters. Configurations of a real "
    "search resemble each other, which makes it smaller, as more rows than 1,000 do.",
    "tried": "Times rest on {tried:,} of {advice.n_configurations:configuration}, each fitted on one split and "
    "one thread ({advice.seconds_spent:time}); these fits select nothing and are not kept.",
    "assumed": "All of this assumes that your rows are a random sample of those that the model will predict.",
}
"""What nested cross-validation costs and probably changes."""
DOUBTS = {
    "wide": "More than 3 hyper-parameters vary in {wide}. In the study no algorithm had more, and with many the "
    "flat choice overfits (Cawley & Talbot 2010): nest if you choose between algorithms.",
    "groups": "Your rows come in {groups:group}, which count here as rows. The tables of the evidence have no "
    "groups.",
    "rare": "Class {rare[0]} has {rare[1]:row} for {n_folds} folds, so scores of folds are imprecise and every "
    "choice is partly luck. Repeats or fewer folds help.",
    "time order": "Your folds follow time, so rows are not exchangeable: bootstraps of the estimate draw blocks "
    "of them, but early dropping and the evidence treat them as a random sample.",
    "unlike": "The evidence is about accuracy of two classes; yours is {advice.metric} of a {unlike} target.",
    "beyond": "You tune on {beyond:,} rows, and the tables of the evidence on {evidence}.",
    "refusal": "Nested cross-validation is not counted: {refusal}",
    "not simulated": "Biases at worst were not simulated: {not_simulated}.",
    "untimed": "No configuration of {untimed} was fitted without failure, so times are unknown; raise seconds.",
    "once": "There was time to fit only one configuration of {once}, so times have no range; raise seconds.",
    "failures": "{n_failed} of {tried:configuration} that were fitted failed, such as {failures[0][0]}: "
    "{failures[0][1]}",
}
"""Data that the evidence does not cover, and numbers that are unknown."""


def said(table: Mapping[str, str], facts: Mapping[str, Any]) -> tuple[str, ...]:
    """The sentences that apply: those of which all facts are there that the text names, and the one of its name."""
    return tuple(
        _FORMATTER.vformat(text, (), facts)
        for name, text in table.items()
        if facts.get(name, True) and all(facts[fact] for fact in re.findall(r"{(\w+)", text))
    )


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
