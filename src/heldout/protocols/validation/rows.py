"""The table of a validation: a row for each metric of a model, and the models beside each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from heldout._notebook import record
from heldout.estimates.types import Interval, json_number


@dataclass(frozen=True)
class ValidationRow:
    """One metric of one model, in the metric's own direction and units.

    Attributes
    ----------
    metric : str
    apparent : float
        Of the model fitted on all rows, on these rows.
    in_bootstrap, on_original : float
        Means over the successful replicates: of each one's model on its own sample, and on all rows.
    out_of_bag : float
        On the rows that the samples left out, as the correction takes it, so that by .632 ``corrected`` is
        .368 ``apparent`` + .632 ``out_of_bag``: by row first where each row has a loss of its own, else (and by a
        correction that does not read it) the mean over replicates.
    weight : float
        By .632 and .632+, of the score out of bag in ``corrected``: (1 - weight) ``apparent`` + weight
        ``out_of_bag``. NaN by other methods.
    no_information : float
        By .632+, the score of predictions that have nothing to do with the labels. Where it is better than
        ``out_of_bag``, it takes its place in ``corrected``. NaN by other methods.
    inner_optimism, adjusted_optimism : float
        By the double bootstrap: the mean optimism that samples of the samples give, and the optimism adjusted by
        it, 2 (``in_bootstrap`` - ``on_original``) - ``inner_optimism`` for a score. With ``adjust_optimism=True``
        the latter is the ``optimism``. NaN without samples of the samples.
    optimism : float
        Positive when flattering: apparent minus corrected for a score, corrected minus apparent for a loss.
    corrected : float
    interval : Interval or None
    n_successful : int
        Replicates that the means rest on.
    method : str
        The method of this row: by ``auto``, what it became.
    """

    metric: str
    apparent: float
    in_bootstrap: float
    on_original: float
    out_of_bag: float
    optimism: float
    corrected: float
    interval: Interval | None
    n_successful: int
    method: str = ""
    weight: float = float("nan")
    no_information: float = float("nan")
    inner_optimism: float = float("nan")
    adjusted_optimism: float = float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        numbers = {
            name: json_number(getattr(self, name))
            for name in ("apparent", "in_bootstrap", "on_original", "out_of_bag", "optimism", "corrected")
        }
        interval = None if self.interval is None else self.interval.to_dict()
        return {
            "metric": self.metric,
            "method": self.method,
            **numbers,
            **self.of_the_correction,
            "interval": interval,
            "n_successful": self.n_successful,
        }

    def _repr_html_(self) -> str:
        return record(self.cells())

    @property
    def of_the_correction(self) -> dict[str, float]:
        """What only some corrections are made of."""
        names = ("no_information", "weight", "inner_optimism", "adjusted_optimism")
        return {name: value for name in names if isfinite(value := getattr(self, name))}

    def cells(self) -> dict[str, Any]:
        """A row of a table."""
        interval = self.interval
        return {
            "metric": self.metric,
            "apparent": self.apparent,
            "in_bootstrap": self.in_bootstrap,
            "on_original": self.on_original,
            "out_of_bag": self.out_of_bag,
            **self.of_the_correction,
            "optimism": self.optimism,
            "corrected": self.corrected,
            "low": float("nan") if interval is None else interval.low,
            "high": float("nan") if interval is None else interval.high,
            "n": self.n_successful,
            "method": self.method,
        }


@dataclass(frozen=True, eq=False)
class Candidate:
    """One of several models, validated on the samples that all of them share.

    Attributes
    ----------
    name : str
    rows : mapping of str to ValidationRow
        By metric; empty for a model that could not be fitted on all rows.
    failures : mapping of int to str
        Replicates without a model, and why.
    reason : str
        Why it is no candidate; empty if it is one.
    """

    name: str
    rows: Mapping[str, ValidationRow]
    failures: Mapping[int, str] = field(default_factory=dict)
    reason: str = ""
