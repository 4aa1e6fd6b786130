"""The sentences on the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from heldout._text import counted
from heldout.data.task import TaskKind, Truth

MOST_CLASSES = 6
"""Classes that are counted one by one."""


def rows_sentence(truth: Truth, n_predictors: int | None) -> str:
    """How many rows, predictors, and rows of each outcome.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> rows_sentence(truth_of(["no", "yes", "no"]), 4)
    'The data have 3 rows and 4 predictors, with 1 row of the positive class yes and 2 rows of class no.'
    """
    predictors = "" if n_predictors is None else f" and {counted_of(n_predictors, 'predictor')}"
    return f"The data have {counted_of(truth.n_rows, 'row')}{predictors}, {_outcome(truth)}."


def _outcome(truth: Truth) -> str:
    if truth.kind is TaskKind.SURVIVAL:
        return f"with {counted_of(int(truth.values['event'].sum()), 'event')}; the other rows are censored"
    if truth.kind is TaskKind.REGRESSION or truth.classes is None:
        values = truth.values
        return f"and a numeric outcome (from {values.min():.4g} to {values.max():.4g})"
    counts = truth.class_counts().tolist()
    if len(counts) > MOST_CLASSES:
        return f"in {len(counts)} classes of {min(counts):,} to {max(counts):,} rows"
    order = sorted(range(len(counts)), key=lambda code: code != truth.positive)
    texts = [
        f"{counted_of(counts[code], 'row')} of {'the positive class' if code == truth.positive else 'class'} "
        f"{truth.label_of(code)}"
        for code in order
    ]
    return f"with {listed(texts)}"


def missing_sentence(missing: Mapping[str, Any] | None) -> str:
    """How many values of the predictors are missing; empty where that is not known.

    ``missing`` holds the number of ``cells``, and how many ``values``, ``rows`` and ``columns`` lack some.

    Examples
    --------
    >>> missing_sentence({"values": 3, "rows": 2, "columns": 1, "cells": 400})
    'Of the values of the predictors 3 (0.75 %) are missing, in 2 rows and 1 predictor.'
    """
    if not missing:
        return ""
    if not missing["values"]:
        return "No value of the predictors is missing."
    share = 100 * missing["values"] / missing["cells"]
    verb = "is" if missing["values"] == 1 else "are"
    return (
        f"Of the values of the predictors {missing['values']:,} ({share:.2g} %) {verb} missing, in "
        f"{counted_of(missing['rows'], 'row')} and {counted_of(missing['columns'], 'predictor')}."
    )


def groups_sentence(groups: Any) -> str:
    """Into how many groups the rows fall; empty without groups."""
    return "" if groups is None else f"The rows fall into {counted_of(len(np.unique(groups)), 'group')}."


def listed(texts: list[str], last: str = "and") -> str:
    """Texts as a list in a sentence.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    return f"{', '.join(texts[:-1])} {last} {texts[-1]}" if len(texts) > 1 else "".join(texts)


def counted_of(n: int, noun: str) -> str:
    """A number with separators and its noun.

    >>> counted_of(1200, "row"), counted_of(1, "row")
    ('1,200 rows', '1 row')
    """
    return counted(n, noun).replace(str(n), f"{n:,}", 1)
