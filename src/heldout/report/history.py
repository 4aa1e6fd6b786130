"""The history of a search: the best score so far, uncorrected and corrected, by the number of configurations.

The uncorrected curve only gets better where the best score wins. Where the corrected one does not follow, the
search went on choosing chance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heldout import _defaults
from heldout._types import Floats
from heldout.errors import InputError
from heldout.estimates.from_matrix import gather
from heldout.estimates.methods import answer, method_of
from heldout.estimates.paired.scores import curve_points
from heldout.estimates.types import Estimate
from heldout.flags import Flag
from heldout.report.estimate_parts import interval_label
from heldout.report.search_evidence import among_first, search_scale
from heldout.result import Evaluation
from heldout.scales import Scale

MOST_POINTS = 24
"""Points of the curves: the estimate is computed again at each."""


@dataclass(frozen=True, eq=False)
class SearchHistory:
    """What the search would have reported after its first c configurations, as it is shown."""

    metric: Scale
    method: str
    n_configurations: NDArray[np.intp]
    """(P,): the c of each point, ascending; the last is all of them."""
    uncorrected: Floats
    corrected: Floats
    low: Floats
    high: Floats
    """(P,) each: the score of the best so far, its estimate and the ends of its interval; NaN if unknown, and where
    a one-sided interval is open."""
    best: tuple[str, ...]
    """(P,): the name of the best so far."""
    interval_label: str
    """Level and sides of the interval; empty without one."""
    n_out: int
    """Configurations that were dropped or failed: they count in c, and are no candidates."""
    repeats_dropping: bool
    """Whether the last point, the search's own estimate, also repeats the dropping, which the others do not."""
    is_adaptive: bool
    """Whether configurations were proposed because of scores, which no bootstrap repeats."""


def search_history(evaluation: Evaluation, scorer: str | None = None) -> SearchHistory:
    """The history of a search, in the order of its configurations.

    Each point is the whole estimate of a search of the first c configurations, by the same method from the same
    draws; the last one is the search's own, unless that rests on other searches.

    Of more configurations than ``MOST_POINTS``, so many numbers of them are taken, evenly in ratio.

    Raises InputError when the method does not fit, or the scorer cannot be opened.
    """
    name = evaluation.scorer_named(scorer)
    scale = search_scale(evaluation, name)
    own = evaluation.estimation.method
    chosen = method_of(own or _defaults.METHOD)
    question = evaluation.question(name)
    predictions, truth = evaluation.predictions, evaluation.task.truth
    n = len(evaluation.configurations)
    known = evaluation.estimates.get(name)
    is_own = known is not None and own is not None and Flag.CROSS_FITTED not in known.flags
    whole = known if is_own and known is not None else answer(chosen, gather(truth, predictions, question))

    def after(count: int) -> Estimate | None:
        try:
            first = gather(truth, among_first(predictions, count), replace(question, winner=None))
            return answer(chosen, first)
        except InputError:  # none of them has a score yet, or too few for the method
            return None

    counts = curve_points(n, MOST_POINTS)
    found = [after(count) for count in counts[:-1].tolist()] + [whole]
    kept = [place for place, estimate in enumerate(found) if estimate is not None]
    estimates = [estimate for estimate in found if estimate is not None]
    ends = np.array([scale.closed_ends(estimate.interval) for estimate in estimates], dtype=np.float64)
    return SearchHistory(
        metric=scale,
        method=chosen.name,
        n_configurations=counts[kept],
        uncorrected=scale.sign * np.array([estimate.uncorrected for estimate in estimates]),
        corrected=scale.sign * np.array([estimate.value for estimate in estimates]),
        low=ends[:, 0],
        high=ends[:, 1],
        best=tuple(estimate.selected_name for estimate in estimates),
        interval_label=interval_label(whole),
        n_out=len({**predictions.out, **evaluation.failures}),
        repeats_dropping=is_own and bool(predictions.dropped) and chosen.replays_dropping,
        is_adaptive=predictions.adaptive,
    )
