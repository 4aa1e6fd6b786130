"""What a user has, and which method and interval to use there: the first table of docs/methods/estimates.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Case:
    """A line of the table.

    Attributes
    ----------
    name : str
    have : str
        What the user has.
    method : str
        As ``ho.estimate`` and the command line take it, or the name of a protocol.
    ask : str
        The call, with ``{metric}`` for the name of a metric.
    interval : str
        How the interval is made.
    labels : tuple of str
        Of the method in the test bed; the first that was run there counts. Empty where it has no such case.
    """

    name: str
    have: str
    method: str
    ask: str
    interval: str
    labels: tuple[str, ...] = ()


_SAMPLING = (
    "Student's t around the value, from the spread of the winner's score and how unsure its optimism is, and wider "
    "for rows that the models of several folds predicted"
)
CHOICE = Case(
    "choice",
    "held-out predictions of a fixed search of several configurations",
    "shrinkage",
    'ho.estimate(y, predictions, metric="{metric}", folds=folds, method="shrinkage")',
    _SAMPLING,
    ("shrinkage",),
)
ONE = Case(
    "one",
    "K-fold predictions of one configuration that was named before its predictions were seen",
    "shrinkage",
    'ho.estimate(y, predictions, metric="{metric}", folds=folds, method="shrinkage")',
    _SAMPLING,
    ("shrinkage",),
)
HOLD_OUT = Case(
    "hold-out",
    "predictions of the rows of a hold-out or test set",
    "shrinkage",
    'ho.estimate(y, predictions, metric="{metric}", folds=np.zeros(len(y)), method="shrinkage")',
    "Student's t around the value, from the spread of the winner's score and how unsure its optimism is",
    ("shrinkage",),
)
HOLD_OUT_ACCURACY = Case(
    "hold-out, one accuracy",
    "the rows of a hold-out, and one configuration, named before its predictions were seen",
    "clopper_pearson(evaluation_share=1.0)",
    'ho.estimate(y, predictions, metric="{metric}", folds=np.zeros(len(y)), '
    "method=ho.estimates.ClopperPearson(evaluation_share=1.0))",
    "the exact binomial interval",
    ("clopper_pearson(evaluation_share=1.0)",),
)
FOLD_SCORES = Case(
    "fold scores",
    "only the scores of folds",
    "bbc_f",
    'ho.estimate_from_scores(scores, greater_is_better=True, method="bbc_f")',
    "percentiles of bootstraps of the folds, which needs ten of them",
    ("bbc_f",),
)
FOLD_SCORES_OF_ONE = Case(
    "fold scores of one",
    "only the scores of folds, of one configuration that was named beforehand",
    "corrected_t",
    'ho.estimate_from_scores(scores, greater_is_better=True, method="corrected_t")',
    "Student's t with a variance for splits that share training rows",
    ("corrected_t",),
)
ADAPTIVE = Case(
    "adaptive",
    "an adaptive search, which proposed configurations because of scores on the same rows",
    "nested_cv",
    "ho.nested_cv(search, X, y)",
    "that of nested cross-validation, which repeats the whole search in every outer fold",
)
NESTED = Case(
    "nested",
    "a reader who requires nested cross-validation",
    "nested_cv",
    "ho.nested_cv(search, X, y)",
    "Nadeau and Bengio's, or Bates, Hastie and Tibshirani's",
)
PUBLISHED = Case(
    "published",
    "a reader who requires the published correction",
    "bbc(control=False)",
    'ho.estimate(y, predictions, metric="{metric}", folds=folds, method=ho.estimates.BBC(control=False))',
    "percentiles of the out-of-bag scores, as published",
    ("bbc(control=False)", "bbc"),
)
CASES: Mapping[str, Case] = MappingProxyType(
    {
        case.name: case
        for case in (
            CHOICE,
            ONE,
            HOLD_OUT,
            HOLD_OUT_ACCURACY,
            FOLD_SCORES,
            FOLD_SCORES_OF_ONE,
            ADAPTIVE,
            NESTED,
            PUBLISHED,
        )
    }
)
"""Every case by its name."""
