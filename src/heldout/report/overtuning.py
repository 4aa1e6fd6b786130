"""The overtuning of a finished search, for its report."""

from __future__ import annotations

from dataclasses import dataclass

from heldout._types import Floats
from heldout.errors import InputError
from heldout.estimates.types import json_number
from heldout.report.search_evidence import search_scale
from heldout.result import Evaluation
from heldout.scales import Scale


@dataclass(frozen=True)
class OvertuningCurve:
    """The overtuning of a search as it is shown."""

    scale: Scale
    n_configurations: tuple[int, ...]
    uncorrected: tuple[float | None, ...]
    corrected: tuple[float | None, ...]
    """(P,) both: by how much the best of so many is better than the first: on the rows that chose it, and on those
    left out. A second level beside the estimate of the search would answer no question of its own."""
    in_order: bool
    sentences: tuple[str, ...]
    """That further search bought nothing, and on the default configuration, where there is something to say."""


def overtuning_curve_of(evaluation: Evaluation) -> OvertuningCurve | None:
    """What the report shows; None where it is not known, and of fewer than two configurations."""
    try:
        found = evaluation.overtuning
    except InputError:
        return None
    if len(found.n_configurations) < 2:
        return None
    sign = 1 if found.greater_is_better else -1
    return OvertuningCurve(
        search_scale(evaluation, evaluation.refit_metric),
        tuple(found.n_configurations.tolist()),
        _gains(found.uncorrected, sign),
        _gains(found.corrected, sign),
        found.in_order,
        tuple(evaluation.overtuning_sentences),
    )


def _gains(scores: Floats, sign: int) -> tuple[float | None, ...]:
    """By how much each is better than the first."""
    return tuple(json_number(sign * (score - scores[0])) for score in scores.tolist())
