"""The inverse power law as a method: the winner's curve, extended to all rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout._types import Floats
from heldout.estimates.base import MethodDeclaration, conclude
from heldout.estimates.candidates import FEW_GROUPS, failed_sentence
from heldout.estimates.data_flags import flags_of_choice
from heldout.estimates.evidence import Evidence
from heldout.estimates.question import Settings
from heldout.estimates.types import Estimate
from heldout.execution.search import Search
from heldout.flags import Flag
from heldout.metrics.base import Metric
from heldout.metrics.constant import constant_of_rows
from heldout.protocols.learning.curve import law_as_dict, summarised
from heldout.protocols.learning.power_law import LEAST_SIZES, PowerLaw, fit_power_law
from heldout.protocols.words import QUANTITY_IPL

POOR_FIT = 2.0
"""A curve is flagged if its root mean square distance from its means exceeds so many of their standard errors."""


@dataclass(frozen=True)
class InversePowerLaw(MethodDeclaration):
    """The method, as an estimate names it."""

    name: str = "ipl"
    sources: tuple[str, ...] = ("ding2014",)


IPL = InversePowerLaw()


def errors_of(metric: Metric, scores: Floats) -> Floats:
    """Scores as distances from the best possible one."""
    best = best_possible(metric)
    return best - scores if metric.greater_is_better else scores - best


def best_possible(metric: Metric) -> float:
    """The better end of the metric's range; infinite if it has none."""
    return float(metric.range[1] if metric.greater_is_better else metric.range[0])


def laws_of(metric: Metric, sizes: Floats, scores: Floats, failures: Mapping[int, str]) -> list[PowerLaw | None]:
    """The curve of each configuration, from scores (S, n, C); None of those that failed or have too few sizes."""
    n_configurations = scores.shape[2]
    if not np.isfinite(best_possible(metric)):
        return [None] * n_configurations
    means, standard_errors = summarised(errors_of(metric, scores))
    return [
        None if j in failures else fit_power_law(sizes, means[:, j], np.nan_to_num(standard_errors[:, j] ** 2))
        for j in range(n_configurations)
    ]


def estimate_of(
    search: Search,
    metric: Metric,
    winner: int,
    *,
    sizes: Floats,
    scores: Floats,
    laws: list[PowerLaw | None],
    failures: Mapping[int, str],
) -> Estimate:
    """The winner's curve at all rows; its mean at the largest size is the uncorrected score."""
    evidence = _evidence(search, metric, winner, sizes, scores, failures)
    law, n_rows = laws[winner], search.task.n_rows
    uncorrected = float(summarised(scores)[0][-1, winner])
    flags = {**flags_of_choice(evidence), Flag.NO_INTERVAL: Flag.NO_INTERVAL.filled(method=IPL.name)}
    if evidence.was_selected:
        flags[Flag.SELECTION_SMOOTHED] = Flag.SELECTION_SMOOTHED.filled(chosen_from=evidence.chosen_from)
    if law is None:
        reason = _no_curve(metric, sizes, scores, winner)
        flags[Flag.UNDEFINED] = Flag.UNDEFINED.filled(reason=reason)
        value = float("nan")
    else:
        best, error = best_possible(metric), float(law.at(n_rows))
        value = best - error if metric.greater_is_better else best + error
        flags |= _flags_of_fit(law)
    return conclude(
        evidence, IPL, value,
        uncorrected=uncorrected,
        flags=flags,
        provenance={
            "quantity": QUANTITY_IPL,
            "training_rows": float(n_rows),
            "training_sizes": sizes.tolist(),
            "n_subsamples": scores.shape[1],
            "curve": None if law is None else law_as_dict(law),
        },
    )  # fmt: skip


def _flags_of_fit(law: PowerLaw) -> dict[Flag, str]:
    flags: dict[Flag, str] = {}
    if law.misfit > POOR_FIT:
        flags[Flag.CURVE_MISFIT] = Flag.CURVE_MISFIT.filled(residual=law.residual, times=law.misfit)
    if law.is_flat:
        flags[Flag.CURVE_FLAT] = Flag.CURVE_FLAT.filled()
    return flags


def _no_curve(metric: Metric, sizes: Floats, scores: Floats, winner: int) -> str:
    if not np.isfinite(best_possible(metric)):
        return f"a power law describes errors, but the best possible value of {metric.name} is not known"
    there = int((~np.isnan(scores[:, :, winner])).any(axis=1).sum())
    return f"a power law has {LEAST_SIZES} coefficients, and the winner has scores at {there} training sizes"


def _evidence(
    search: Search, metric: Metric, winner: int, sizes: Floats, scores: Floats, failures: Mapping[int, str]
) -> Evidence:
    """The evidence of the subsamples of the largest size."""
    task, names = search.task, search.configurations.names
    candidates = np.array([j for j in range(len(names)) if j not in failures], dtype=np.intp)
    flags = dict(search.flags)
    if failures:
        flags[Flag.FAILED_CONFIGURATIONS] = failed_sentence(names, failures)
    if task.groups is not None and (n_groups := len(np.unique(task.groups))) < FEW_GROUPS:
        flags[Flag.FEW_GROUPS] = Flag.FEW_GROUPS.filled(groups=n_groups)
    unscored = np.isnan(scores[:, :, candidates]).all(axis=2)
    if unscored.any():
        flags[Flag.UNSCORED_SPLITS] = Flag.UNSCORED_SPLITS.filled(unscored=int(unscored.sum()), total=unscored.size)
    provenance: dict[str, Any] = {
        "task": str(task.truth.kind),
        "n_rows": task.n_rows,
        "n_splits": scores.shape[0] * scores.shape[1],
        "grouped": task.groups is not None,
        "weighted": task.sample_weight is not None,
    }
    return Evidence(
        metric,
        names,
        candidates,
        winner,
        Settings(entropy=search.entropy),
        selection=search.estimation.rule.name,
        aggregate=search.estimation.scale_of_selection,
        n_rows_used=task.n_rows,
        fold_scores=scores[-1][:, candidates],
        repeat_of_split=np.arange(scores.shape[1]),
        flags=flags,
        details=provenance,
        baseline=constant_of_rows(metric, task.truth, sample_weight=task.sample_weight),
    )
