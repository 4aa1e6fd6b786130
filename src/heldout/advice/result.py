"""The advice: counts, times, simulated biases and evidence, and the sentences that follow from them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from heldout._notebook import notes, table
from heldout.advice import words as words
from heldout.advice.costs import Cost, FamilyTime, WorstCase
from heldout.advice.evidence import Expected
from heldout.advice.recommendation import Recommendation
from heldout.estimates.types import frame_of, json_safe
from heldout.execution.listeners.words import duration

WIDTH = 110


@dataclass(frozen=True, eq=False)
class Advice:
    """Which method to use for one search, and what nested cross-validation would cost and probably change.

    Attributes
    ----------
    n_rows, n_configurations : int
    metric : str
        The metric of the selection.
    costs : tuple of Cost
        Fits and time of each protocol that applies.
    families : tuple of FamilyTime
        The time of each family's fits.
    failures : mapping of str to str
        Configurations that failed while they were timed, with the reason.
    seconds_spent : float
        Time spent on these fits.
    changes : tuple of Expected
        What nested cross-validation changed on tables like this one, for 3 algorithms and for 12; empty for a
        single family.
    worst_case : WorstCase or None
        Biases if the configurations were independent.
    recommendation : Recommendation
        The method and the interval to use, with what they gave in the test bed.
    auto_folds : int or None
        The number of folds that ``cv="auto"`` makes of these rows; None where a class has one row.
    sentences, warnings : tuple of str
        The conclusions, and where they may not hold.
    entropy : int
        The seed that reproduces it.
    """

    n_rows: int
    n_configurations: int
    metric: str
    costs: tuple[Cost, ...]
    families: tuple[FamilyTime, ...]
    failures: Mapping[str, str]
    seconds_spent: float
    changes: tuple[Expected, ...]
    worst_case: WorstCase | None
    recommendation: Recommendation
    auto_folds: int | None
    sentences: tuple[str, ...]
    warnings: tuple[str, ...]
    entropy: int
    sources: ClassVar[tuple[str, ...]] = ("tsamardinos2018", "wainer2021", "cawley2010")

    def cost(self, protocol: str) -> Cost | None:
        """The cost of one protocol; None where it does not apply.

        Parameters
        ----------
        protocol : {"cv", "bbc", "bced", "bbc_repeats", "nested_cv", "nested_cv_families"}
        """
        return next((one for one in self.costs if one.protocol == protocol), None)

    def rows(self) -> list[dict[str, Any]]:
        """A row per protocol: fits, seconds with their range, and the bias in the worst case."""
        rows = []
        for cost in self.costs:
            bias = None if self.worst_case is None else self.worst_case.of(cost.protocol)
            rows.append(
                {
                    **asdict(cost),
                    "bias": math.nan if bias is None else bias.bias,
                    "bias_standard_error": math.nan if bias is None else bias.standard_error,
                }
            )
        return rows

    def to_frame(self) -> Any:
        """The same as a pandas DataFrame (pandas comes with the extra ``app``)."""
        return frame_of(self.rows(), "Advice.to_frame")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: NaN becomes null."""
        document: dict[str, Any] = json_safe(
            {
                "n_rows": self.n_rows,
                "n_configurations": self.n_configurations,
                "metric": self.metric,
                "protocols": self.rows(),
                "families": [asdict(one) for one in self.families],
                "failures": dict(self.failures),
                "seconds_spent": self.seconds_spent,
                "changes": [asdict(one) for one in self.changes],
                "worst_case": None if self.worst_case is None else asdict(self.worst_case),
                "recommendation": self.recommendation.to_dict(),
                "auto_folds": self.auto_folds,
                "sentences": self.sentences,
                "warnings": self.warnings,
                "entropy": self.entropy,
                "sources": self.sources,
            }
        )
        return document

    def _cells(self) -> list[tuple[str, str, str, str]]:
        """The cells of the printed table."""
        cells = []
        for cost in self.costs:
            fits = f"{cost.most:,}" if cost.fewest == cost.most else f"{cost.fewest:,} to {cost.most:,}"
            bias = None if self.worst_case is None else self.worst_case.of(cost.protocol)
            text = "" if bias is None else words.accuracy_text(bias.bias, bias.standard_error)
            cells.append((words.ADVICE_TITLES[cost.protocol], fits, time_of(cost), text))
        return cells

    def __str__(self) -> str:
        table = [words.ADVICE_HEAD, *self._cells()]
        widths = [max(len(row[column]) for row in table) for column in range(len(words.ADVICE_HEAD))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
        sentences = [_filled("- ", text) for text in self.sentences]
        warnings = [_filled("! ", text) for text in self.warnings]
        return "\n".join([*(line.rstrip() for line in lines), "", *sentences, *warnings])

    def __repr__(self) -> str:
        fits = ", ".join(f"{cost.protocol} {cost.most}" for cost in self.costs)
        method = self.recommendation.method
        return f"Advice({self.n_rows} rows, {self.n_configurations} configurations; method: {method}; fits: {fits})"

    def _repr_html_(self) -> str:
        return table(self._cells(), head=words.ADVICE_HEAD) + notes(self.sentences, self.warnings)


def _filled(mark: str, text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=mark, subsequent_indent="  ", break_on_hyphens=False)


def time_of(cost: Cost) -> str:
    """A protocol's time with its range; empty where unknown."""
    return words.time_text(
        *(duration(one) if math.isfinite(one) else "" for one in (cost.seconds, cost.low, cost.high))
    )
