"""The result of a bootstrap of the whole search: an estimate with all its samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from heldout import _defaults
from heldout._record import Record, TextTable, rows_table
from heldout._types import Indices
from heldout.estimates.types import Estimate
from heldout.result import Evaluation

MOST_SHOWN = 20
"""Configurations that a notebook lists."""


@dataclass(frozen=True, eq=False)
class Bootstrap(Record):
    """One bootstrap sample: the configuration chosen on it, and its score on the rows left out.

    Attributes
    ----------
    number : int
        b, from 0.
    selected : int or None
        The chosen configuration; None if none could be chosen.
    selected_name : str
        Its name; empty without one.
    in_bag_score : float
        The score by which it was chosen: cross-validated on the sample; with ``scheme="models"`` the score on the
        drawn rows by the models of other samples.
    out_of_bag_score : float
        The score of the model fitted on ``drawn``, on ``left_out``; the estimate is the mean of these scores.
    scores : mapping of str to float
        The same by every scorer, as the scorers return them (greater is better).
    drawn : ndarray of int
        The rows of the sample, in order, each as often as it was drawn.
    left_out : ndarray of int
    reason : str
        Why there is no score; empty if there is one.
    """

    number: int
    selected: int | None
    selected_name: str
    in_bag_score: float
    out_of_bag_score: float
    drawn: Indices
    left_out: Indices
    scores: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""

    _without = "drawn left_out"
    _more = "n_distinct_rows n_left_out"

    @property
    def n_distinct_rows(self) -> int:
        return len(np.unique(self.drawn))

    @property
    def n_left_out(self) -> int:
        return len(self.left_out)


@dataclass(frozen=True, eq=False, repr=False)
class SearchBootstrapEstimate(Estimate):
    """An estimate by a bootstrap of the whole search. ``selected`` is the configuration of ``model``.

    Attributes
    ----------
    scheme : "cvt" or "models"
    bootstraps : tuple of Bootstrap
    model : estimator or None
        The model to deploy: the winner of the search on all rows, fitted on all rows.
    evaluation : Evaluation or None
        The record of the search on all rows; with ``scheme="models"`` its splits are the bootstraps.
    n_fits, n_fits_saved : int
        All fits, refits included, and fits that dropping saved.
    """

    scheme: str = _defaults.SCHEME
    bootstraps: tuple[Bootstrap, ...] = ()
    model: Any = None
    evaluation: Evaluation | None = None
    n_fits: int = 0
    n_fits_saved: int = 0

    _without = "model evaluation"
    _columns = "bootstrap=number selected selected_name in_bag_score out_of_bag_score n_left_out reason"

    @property
    def _rows(self) -> tuple[Bootstrap, ...]:
        return self.bootstraps

    def tables(self) -> list[TextTable]:
        chosen = Counter(each.selected_name for each in self.bootstraps if each.selected is not None)
        rows = [{"configuration": name, "bootstraps": times} for name, times in chosen.most_common()]
        title = "chosen by the bootstraps"
        return [*super().tables(), rows_table(rows, "configuration bootstraps", title, most=MOST_SHOWN)]
