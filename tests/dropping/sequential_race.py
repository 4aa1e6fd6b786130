"""A race of sequential testing on predictions that are there already, one barrier after another."""

from dataclasses import dataclass, field, replace

import numpy as np
from standings import standing_of

from heldout.dropping import Sequential
from heldout.selection import ScoreTable


@dataclass
class Course:
    """How a race went."""

    traces: list[dict[int, float]] = field(default_factory=list)
    left: dict[int, int] = field(default_factory=dict)
    stopped_after: int | None = None
    winner: int = -1


def raced(
    rule: Sequential,
    y: np.ndarray,
    predictions: np.ndarray,
    part: np.ndarray,
    metric: str = "accuracy",
    groups: np.ndarray | None = None,
) -> Course:
    """From predictions (S, n, C) of each step, of which step s counts on the rows of a part of at least s."""
    course, alive = Course(), list(range(predictions.shape[2]))
    for step in range(1, len(predictions) + 1):
        table = np.stack([predictions[s][:, alive] for s in range(step)], axis=2).astype(float)
        tested = part[:, None] > np.arange(step)[None, :]
        seen = part >= 1
        table = np.where(tested[:, None], table, np.nan)[seen]
        mine = None if groups is None else groups[seen]
        standing = standing_of(y[seen], table, metric, groups=mine, n_folds=1, leader=0)
        by_step = standing.score.observed_by_segment()
        signed = by_step if standing.score.metric.greater_is_better else -by_step
        of_rule = ScoreTable(
            signed.mean(axis=0)[None, :, None],
            [metric],
            repeat_scores=signed[None, :, :, None] if step > 1 else None,
        )
        leader = int(rule.selection(of_rule)[0])
        course.winner = alive[leader]
        if step == len(predictions) or len(alive) == 1:
            continue
        noted = np.array([[trace[j] for j in alive] for trace in course.traces]).reshape(-1, len(alive))
        read = np.where(np.isnan(table), 0, table)
        said = rule.judge(replace(standing, leader=leader, predictions=read, noted=noted))
        course.traces.append(dict(zip(alive, said.noted.tolist(), strict=True)))
        course.left |= {alive[c]: step for c in np.flatnonzero(~said.keep)}
        alive = [j for j, stays in zip(alive, said.keep, strict=True) if stays]
        if said.stop:
            course.stopped_after = step
            break
    if len(alive) == 1:
        course.winner = alive[0]
    return course
