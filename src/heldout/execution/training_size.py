"""The correction for training size: what competes is fitted further times, each without two folds.

One fit on the rows outside folds j and k predicts both. K (K - 1) / 2 such fits give every row K - 1 predictions by
models trained on (K - 2)/K of the rows, and their scores beside those of the search say what more rows are worth
(``heldout.estimates.training_size``). The winner's own gain would regress to the mean: it was chosen for its score
on (K - 1)/K of the rows. So the gain is the mean over all that competes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from heldout._text import counted
from heldout._types import Floats
from heldout.data.task import Task
from heldout.estimates.shrunken_centres import competing
from heldout.estimates.training_size import SizeCorrection
from heldout.estimates.types import Estimate
from heldout.execution.cells import CellKey, CellResult, CellState, check_predictions
from heldout.execution.collect import RaceResults
from heldout.execution.conclusion import Conclusion, scores_of_selection
from heldout.execution.search import Search
from heldout.flags import Flag
from heldout.metrics.aggregate import score_on_scale
from heldout.metrics.base import Metric, quiet_if_foreign
from heldout.predictions import UNPREDICTED_LABEL, HeldOutPredictions


@dataclass(frozen=True, eq=False)
class SmallerTraining:
    """Predictions of what competes by models that two folds were left out of.

    Attributes
    ----------
    configurations : tuple of int
        Those that compete, without those that failed.
    predictions : HeldOutPredictions
        (N, C, K - 1): in repeat r each row's prediction by the model without its fold and the one r + 1 folds on.
    n_fits : int
        Failed ones among them.
    """

    configurations: tuple[int, ...]
    predictions: HeldOutPredictions
    n_fits: int


def smaller_training_in(chosen: Conclusion, cells: Sequence[CellResult]) -> SmallerTraining | None:
    """The predictions of what competes, from the results of such fits; None where one is missing."""
    search = chosen.search
    positions, held = competitors(chosen), {cell.key: cell for cell in cells}
    wanted = [CellKey(j, *split.place) for split in search.folds.without_two for j in positions]
    if not wanted or not held.keys() >= set(wanted):
        return None
    failed = {cell.configuration for cell in wanted if held[cell].state is CellState.FAILED}
    kept = [position for position in positions if position not in failed]
    made = [held[cell] for cell in wanted if cell.configuration not in failed]
    return SmallerTraining(tuple(kept), _predictions(search, chosen.found, kept, made), len(wanted))


def competitors(chosen: Conclusion) -> tuple[int, ...]:
    """The configurations that compete."""
    scale = chosen.search.scale_of_selection
    whole = chosen.within if scale == "within" else chosen.pooled
    scores = scores_of_selection(chosen.found, chosen.found.refit_metric, scale, whole).copy()
    scores[list(chosen.found.predictions.out)] = np.nan
    return tuple(np.flatnonzero(competing(scores)).tolist())


def _predictions(
    search: Search, found: RaceResults, positions: Sequence[int], cells: Sequence[CellResult]
) -> HeldOutPredictions:
    """The predictions of cells, split by split and configuration by configuration; see ``SmallerTraining``."""
    splits = search.folds.of_first_repeat
    n_folds, shape = len(splits), (search.task.n_rows, len(positions), len(splits) - 1)
    responses = {}
    places = product(combinations(range(n_folds), 2), range(len(positions)))
    for ((one, other), column), cell in zip(places, cells, strict=True):
        first, n_rows = len(splits[one].test), len(splits[one].test) + len(splits[other].test)
        check_predictions(str(cell.key), cell.predictions, search.task.truth, len(search.scoring.times), [n_rows])
        for response, values in cell.predictions.items():
            if response not in responses:
                empty = UNPREDICTED_LABEL if values.dtype.kind in "iu" else np.nan
                responses[response] = np.full(shape + values.shape[1:], empty, dtype=values.dtype)
            for fold, left_out, its in ((one, other, values[:first]), (other, one, values[first:])):
                responses[response][splits[fold].test, column, (left_out - fold) % n_folds - 1] = its
    labels = np.repeat(found.folds.labels[:, :1], n_folds - 1, axis=1)
    return replace(
        found.predictions, responses=responses, names=("",) * len(positions), folds=labels, failed={}, dropped={}
    )


def corrected_for_size(
    search: Search, found: RaceResults, estimates: Mapping[str, Estimate], smaller: SmallerTraining | None
) -> dict[str, Estimate]:
    """The estimates by scorer, of training on all rows; those that cannot be corrected say why."""
    if smaller is None or not smaller.configurations:
        reason = "every configuration that competes failed without two folds"
        reason = "not all of its fits are done" if smaller is None else reason
        return {name: _uncorrected(one, search, reason) for name, one in estimates.items()}
    first = {response: array[:, :, :1] for response, array in found.predictions.responses.items()}
    held_out = replace(found.predictions, responses=first, folds=found.folds.labels[:, :1])
    held_out = held_out.of(list(smaller.configurations))
    return {
        name: _corrected(name, one, search, held_out, smaller) if np.isfinite(one.value) else one
        for name, one in estimates.items()
    }


def _corrected(
    name: str, estimate: Estimate, search: Search, held_out: HeldOutPredictions, smaller: SmallerTraining
) -> Estimate:
    metric = search.scoring.metrics[name]
    assert metric is not None, "check_search refuses scorers that cannot be opened"
    said = estimate.provenance
    scale = said.get("scale_of_value", said.get("aggregate", "folds"))
    task = replace(search.task, sample_weight=search.scoring.weights.get(name, search.task.sample_weight))
    scores = [_scores(task, metric, each, scale) for each in (held_out, smaller.predictions)]
    correction = SizeCorrection.of(*scores)
    if correction is None:
        return _uncorrected(estimate, search, "no configuration that competes has a score without two folds")
    n_folds, n_configurations = len(search.folds.of_first_repeat), len(smaller.configurations)
    sizes = {"n_folds": n_folds, "n_configurations": n_configurations, "n_fits": smaller.n_fits}
    sentence = Flag.TRAINING_SIZE_CORRECTED.filled(
        rows=f"{search.task.n_rows:,}",
        trained=f"{search.folds.n_training_rows:,.0f}",
        fewer=f"{np.mean([split.n_training_rows for split in search.folds.without_two]):,.0f}",
        shift=f"{correction.shift:+.3g}",
        error=f"{correction.standard_error:.2g}",
        factor=f"{(n_folds - 2) / n_folds:.2g}",
        which=counted(n_configurations, "configuration"),
        fits=counted(smaller.n_fits, "further fit"),
    )
    found = correction.applied(estimate, metric, sizes)
    return replace(found, flags={Flag.TRAINING_SIZE_CORRECTED: sentence, **found.flags})


def _scores(task: Task, metric: Metric, predictions: HeldOutPredictions, scale: str) -> Floats:
    """(K + 1, C): scores of all rows, and of all but those of each fold."""
    assert predictions.folds is not None, "a search has splits"
    folds, array = predictions.folds, predictions.for_metric(metric)
    repeats = np.broadcast_to(np.arange(folds.shape[1], dtype=np.int32), folds.shape)
    codes = folds + repeats * (folds.max() + 1)
    of_folds = [folds[:, 0] != fold for fold in np.unique(folds)]
    drawn = np.vstack([np.ones(len(folds), dtype=bool), *of_folds]).astype(np.uint8)
    with quiet_if_foreign([metric]):
        score = score_on_scale(scale, metric, task.truth, array, repeats, codes, task.sample_weight)
        return score.all(drawn)


def _uncorrected(estimate: Estimate, search: Search, reason: str) -> Estimate:
    if not np.isfinite(estimate.value):
        return estimate
    flag = Flag.TRAINING_SIZE_UNCORRECTED
    sentence = flag.filled(trained=f"{search.folds.n_training_rows:,.0f}", reason=reason)
    return replace(estimate, flags={flag: sentence, **estimate.flags})
