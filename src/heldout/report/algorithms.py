"""The section on compared algorithms: their three scores, what these select, and the differences."""

from __future__ import annotations

from dataclasses import replace

from heldout._text import counted
from heldout.protocols.algorithms.comparison import AlgorithmComparison, AlgorithmDifference, ComparedAlgorithm
from heldout.report.entries import Facts
from heldout.result import Evaluation
from heldout.scales import Scale

OF_DEPLOYED = "best of the deployed algorithm"
"""The rule by which the winner was selected, where another algorithm has a better flat score."""


def algorithms_of(comparison: AlgorithmComparison, scale: Scale) -> Facts:
    """The section of a comparison; ``scale`` is that of its metric."""
    differences = tuple(_difference(each) for each in comparison.differences)
    level = f"{100 * comparison.differences[0].interval.confidence_level:.4g} %" if differences else ""
    return Facts(
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


def _row(algorithm: ComparedAlgorithm, scale: Scale, is_deployed: bool) -> Facts:
    return Facts(
        name=algorithm.name,
        configurations=algorithm.n_configurations,
        is_deployed=is_deployed,
        flat=scale.shown(algorithm.flat),
        corrected=scale.shown(algorithm.corrected_value),
        corrected_interval=scale.ends(algorithm.corrected_interval),
        nested=scale.shown(algorithm.nested),
        nested_interval=scale.ends(algorithm.nested_interval),
        flat_fits=algorithm.costs.flat_fits,
        nested_fits=algorithm.costs.nested_fits,
        reason=algorithm.reason,
    )


def _difference(difference: AlgorithmDifference) -> Facts:
    return Facts(
        first=difference.first,
        second=difference.second,
        words=difference.words,
        interval=tuple(difference.interval),
        adjusted_interval=tuple(difference.adjusted_interval),
        is_relevant=difference.is_relevant,
    )
