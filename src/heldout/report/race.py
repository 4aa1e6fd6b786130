"""Dropping in a search: the configurations dropped after each split and why, the fits saved, and the risk."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from heldout._types import Floats
from heldout.dropping import RULES
from heldout.dropping.base import RULE_TITLES, Barrier, drop_reason
from heldout.report.entries import Facts
from heldout.report.ranking import MOST_SHOWN
from heldout.result import Evaluation
from heldout.scales import Scale


def race_of(evaluation: Evaluation, scale: Scale) -> Facts | None:
    """The decisions of a search; None if no configuration could be dropped."""
    barriers = evaluation.barriers
    if not barriers or not evaluation.provenance.get("drop"):
        return None
    settings: Mapping[str, Any] = evaluation.provenance.get("drop") or {}
    least = settings.get("min_predictions")
    failed = {**evaluation.predictions.failed, **evaluation.failures}
    planned = int(evaluation.provenance.get("n_splits_planned") or evaluation.folds.n_splits)
    busy = [barrier for barrier in barriers if barrier.dropped]
    quiet = [barrier for barrier in barriers if not barrier.dropped]
    risks = [barrier.risk for barrier in busy if any(left.configuration not in failed for left in barrier.dropped)]
    risk = min(1.0, sum(share for share in risks if not math.isnan(share))) if risks else None
    last = next((barrier for barrier in reversed(barriers) if barrier.folds_needed), None)
    alive = _alive(barriers, planned)
    # The counts of the evaluation include all searches of a protocol; these are of this search alone.
    fits, configurations = sum(alive), len(evaluation.configurations)
    saved = configurations * planned - fits
    rule = str(settings.get("rule", ""))
    return Facts(
        rule=RULE_TITLES.get(rule, rule),
        min_predictions=least,
        could_drop=max(barrier.n_rows for barrier in barriers) >= (least or 0),
        is_one_search=evaluation.is_one_search,
        barriers=tuple(_row(barrier, evaluation, failed) for barrier in busy),
        quiet=len(quiet),
        quiet_before_minimum=sum(barrier.n_rows < (least or 0) for barrier in quiet),
        judged=sum(barrier.judged for barrier in barriers),
        planned=planned,
        stopped=_stopped(barriers[-1], evaluation.provenance.get("stop_when_width")),
        alive=alive,
        configurations=configurations,
        fits=fits,
        saved=saved,
        risk=risk,
        risks_unknown=sum(math.isnan(share) for share in risks),
        dropped=_dropped(evaluation, scale, failed, rule),
        needed=None if last is None else _needed(last, evaluation),
    )


def sources_of(evaluation: Evaluation) -> tuple[str, ...]:
    """Keys of the sources of the drop rule."""
    rule: Any = RULES.get(str((evaluation.provenance.get("drop") or {}).get("rule")))
    return () if rule is None else tuple(rule.sources)


def _row(barrier: Barrier, evaluation: Evaluation, failed: Mapping[int, str]) -> Facts:
    n_failed = sum(left.configuration in failed for left in barrier.dropped)
    dropped = len(barrier.dropped) - n_failed
    return Facts.of(
        barrier,
        "after rows=n_rows before=n_before",
        dropped=dropped,
        failed=n_failed,
        go_on=barrier.n_before - len(barrier.dropped),
        leader=evaluation.configurations.names[barrier.leader],
        risk=float(barrier.risk) if dropped and math.isfinite(barrier.risk) else None,
    )


def _stopped(last: Barrier, most: float | None) -> Facts | None:
    """After how many splits the rule ended the search, or a width of the interval that was reached; else None."""
    if not last.stopped:
        return None
    return Facts(after=last.after, remaining=last.n_before - len(last.dropped), width=most)


def _alive(barriers: tuple[Barrier, ...], planned: int) -> tuple[int, ...]:
    """Configurations on each planned split; 0 after the search was stopped."""
    on = [barriers[0].n_before]
    for barrier in barriers:
        on.append(0 if barrier.stopped else barrier.n_before - len(barrier.dropped))
    # There is no barrier after the last split, nor once a single configuration remains.
    return tuple((on + [on[-1]] * planned)[:planned])


def _dropped(evaluation: Evaluation, scale: Scale, failed: Mapping[int, str], rule: str) -> tuple[Facts, ...]:
    scores = evaluation.fold_scores.get(evaluation.refit_metric)
    values = None if scores is None else scores.values
    known: Any = RULES.get(rule)
    statistic_name = "" if known is None else known.statistic_name
    rows = []
    for left in (left for barrier in evaluation.barriers for left in barrier.dropped):
        if left.configuration in failed:
            continue
        mean, spread = _mean_and_spread(values, left.configuration)
        rows.append(
            Facts(
                index=left.configuration,
                name=evaluation.configurations.names[left.configuration],
                after=left.after,
                why=drop_reason(rule, left.statistic, left.reason, statistic_name),
                mean=scale.shown(mean),
                spread=scale.shown(scale.sign * spread),
            )
        )
    towards_better = -1 if scale.greater_is_better else 1

    def place(row: Facts) -> tuple[int, float, int]:
        return -row.after, math.inf if row.mean is None else towards_better * row.mean, row.index

    return tuple(sorted(rows, key=place))


def _mean_and_spread(values: Floats | None, configuration: int) -> tuple[float, float]:
    """Mean and spread over the splits on which it was fitted."""
    scores = np.empty(0) if values is None else values[~np.isnan(values[:, configuration]), configuration]
    return (float(scores.mean()), float(scores.std())) if scores.size else (math.nan, math.nan)


def _needed(barrier: Barrier, evaluation: Evaluation) -> Facts | None:
    """Splits that would separate the others from the leader; None if no difference was tested."""
    known = {j: folds for j, folds in barrier.folds_needed.items() if not math.isnan(folds)}
    finite = {j: int(folds) for j, folds in known.items() if math.isfinite(folds)}
    nearest = sorted(finite, key=lambda j: (finite[j], j))[:MOST_SHOWN]
    names = evaluation.configurations.names
    return (
        Facts(
            after=barrier.after,
            nearest=tuple(Facts(name=names[j], folds=finite[j]) for j in nearest),
            finite=len(finite),
            endless=len(known) - len(finite),
        )
        if known
        else None
    )
