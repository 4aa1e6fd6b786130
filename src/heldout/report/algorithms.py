"""The section on compared algorithms: their three scores, what these select, and the differences."""

from __future__ import annotations

from dataclasses import dataclass, replace

from heldout._record import json_number
from heldout._text import counted
from heldout.estimates.types import Interval
from heldout.protocols.algorithms.comparison import AlgorithmComparison, AlgorithmDifference, ComparedAlgorithm
from heldout.result import Evaluation
from heldout.scales import Scale

OF_DEPLOYED = "best of the deployed algorithm"
"""The rule by which the winner was selected, where another algorithm has a better flat score."""


@dataclass(frozen=True)
class AlgorithmRow:
    """An algorithm and its scores, in the metric's own units."""

    name: str
    configurations: int
    is_deployed: bool
    flat: float | None
    corrected: float | None
    corrected_low: float | None
    corrected_high: float | None
    nested: float | None
    nested_low: float | None
    nested_high: float | None
    flat_fits: int
    nested_fits: int
    reason: str
    """Why a score is missing; empty if none is."""


@dataclass(frozen=True)
class DifferenceRow:
    """Two algorithms: how the first compares with the second, in words, with the intervals of the difference."""

    first: str
    second: str
    words: str
    low: float | None
    high: float | None
    adjusted_low: float | None
    adjusted_high: float | None
    is_relevant: bool | None


@dataclass(frozen=True)
class AlgorithmsSummary:
    """All algorithms."""

    how: str
    rows: tuple[AlgorithmRow, ...]
    selections: str
    relevance: str
    differences_sentence: str
    differences: tuple[DifferenceRow, ...]
    has_adjusted: bool
    """Whether there are several pairs, so that intervals for all together are others."""
    overall: str
    """By how much the best nested score flatters; empty if it is unknown."""
    notes: tuple[str, ...]


def algorithms_of(comparison: AlgorithmComparison, scale: Scale) -> AlgorithmsSummary:
    """The section of a comparison; ``scale`` is that of its metric."""
    differences = tuple(_difference(each) for each in comparison.differences)
    level = f"{100 * comparison.differences[0].interval.confidence_level:.4g} %" if differences else ""
    return AlgorithmsSummary(
        how=how_compared(comparison),
        rows=tuple(_row(each, scale, each.name == comparison.deployed) for each in comparison.algorithms),
        selections=comparison.selections.sentence,
        relevance=str(comparison.relevance),
        differences_sentence=(
            f"Differences of nested scores, with {level} intervals by the corrected t of Nadeau and Bengio; they "
            "are positive where the first algorithm is better."
        )
        if differences
        else "",
        differences=differences,
        has_adjusted=len(differences) > 1,
        overall=comparison.flattery,
        notes=tuple(note[0].upper() + note[1:] for note in comparison.notes),
    )


def how_compared(comparison: AlgorithmComparison) -> str:
    """The three scores of an algorithm."""
    return (
        f"Every algorithm was scored on the same {counted(comparison.n_folds, 'outer fold')} in three ways. "
        "Flat is the score of its best configuration, which flatters an algorithm with many. Corrected is the flat "
        "score without what that choice adds. Nested is the score of the configurations that were chosen without "
        "the fold that scored them."
    )


def record_of_deployed(comparison: AlgorithmComparison) -> Evaluation:
    """The record of all algorithms, with the estimate of the deployed configuration among all of theirs."""
    record, estimate = comparison.evaluation, comparison.overall
    if comparison.deployed != comparison.selections.flat:  # then it is not the best of all flat scores
        record = record.with_provenance(selection=OF_DEPLOYED)
        estimate = replace(estimate, provenance={**estimate.provenance, "selection": OF_DEPLOYED})
    return replace(
        record,
        estimates={record.refit_metric: estimate},
        n_fits=comparison.n_fits,
        n_fits_saved=comparison.n_fits_saved,
        barriers=(),  # of several races, one an algorithm
    )


def deployed_sentence(comparison: AlgorithmComparison) -> str:
    """What the score of the deployed algorithm is corrected for."""
    if not comparison.is_corrected:
        return f"The final model is of {comparison.deployed}."
    return (
        f"The final model is of {comparison.deployed}. Its corrected score corrects for the choice among all "
        f"configurations of the {len(comparison.algorithms):,} algorithms."
    )


def _row(each: ComparedAlgorithm, scale: Scale, is_deployed: bool) -> AlgorithmRow:
    corrected, nested = scale.ends(each.corrected_interval), scale.ends(each.nested_interval)
    return AlgorithmRow(
        name=each.name,
        configurations=each.n_configurations,
        is_deployed=is_deployed,
        flat=scale.shown(each.flat),
        corrected=scale.shown(each.corrected_value),
        corrected_low=corrected[0],
        corrected_high=corrected[1],
        nested=scale.shown(each.nested),
        nested_low=nested[0],
        nested_high=nested[1],
        flat_fits=each.costs.flat_fits,
        nested_fits=each.costs.nested_fits,
        reason=each.reason,
    )


def _difference(each: AlgorithmDifference) -> DifferenceRow:
    return DifferenceRow(
        each.first, each.second, each.words, *_ends(each.interval), *_ends(each.adjusted_interval), each.is_relevant
    )


def _ends(interval: Interval) -> tuple[float | None, float | None]:
    return json_number(interval.low), json_number(interval.high)
