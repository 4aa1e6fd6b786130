"""Races of six configurations on four splits, in which some leave early for one reason or another."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from results_by_hand import evaluation_by_hand as search

from heldout.dropping.base import Barrier, Dropped
from heldout.dropping.bootstrap import Bootstrap
from heldout.predictions import FoldScores
from heldout.result import Evaluation

BECAUSE = f"{Bootstrap.statistic_name} 0.998"


def raced(evaluation: Evaluation, *barriers: Barrier, **provenance: Any) -> Evaluation:
    """The search as if these had left: without their later scores, and with the fits that this saves."""
    gone = {left.configuration: left for barrier in barriers for left in barrier.dropped}
    scores = {}
    for name, known in evaluation.fold_scores.items():
        values = known.values.copy()
        for configuration, left in gone.items():
            values[left.after :, configuration] = np.nan
        scores[name] = FoldScores(values, known.greater_is_better, known.repeat)
    planned = evaluation.folds.n_splits
    saved = sum(planned - left.after for left in gone.values())
    out = {j: left.reason for j, left in gone.items() if j not in evaluation.failures}
    drop = {"rule": "bootstrap", "threshold": 0.99, "min_predictions": 50}
    return replace(
        evaluation,
        fold_scores=scores,
        predictions=replace(evaluation.predictions, dropped=out),
        barriers=barriers,
        n_fits=evaluation.n_fits - saved,
        n_fits_saved=saved,
        provenance={"drop": drop, "n_splits_planned": planned, **provenance},
    )


def barrier(after: int, before: int, leaving: list[int], risk: float = 0.0, **more: Any) -> Barrier:
    dropped = tuple(Dropped(j, after, 0.998, BECAUSE) for j in leaving)
    return Barrier(after, 30 * after, before, leader=4, dropped=dropped, risk=risk, **more)


def race() -> Evaluation:
    """One is not judged at first, three leave after the second split, one after the third."""
    return raced(search(), barrier(1, 6, []), barrier(2, 6, [0, 1, 5], 0.012), barrier(3, 3, [2], 0.001))


def failing_too() -> Evaluation:
    failed = Dropped(1, 1, float("nan"), "it failed: ValueError: no")
    worse = Dropped(0, 1, 1.0, BECAUSE.replace("0.998", "1"))
    return raced(search(failures={1: "ValueError: no"}), Barrier(1, 60, 6, 4, (failed, worse), 0.0))


def failing_only() -> Evaluation:
    failed = Dropped(1, 1, float("nan"), "it failed: no")
    return raced(search(failures={1: "no"}), Barrier(1, 60, 6, 4, (failed,)))


def of_another_reason() -> Evaluation:
    tie = Dropped(3, 2, 0.6, "only two remained, and it was behind for 2 more splits")
    return raced(search(), Barrier(2, 60, 6, 4, (tie,), 0.1))


SPLITS_NEEDED = {1: 7.0, 2: float("inf"), 3: 2.0, 5: float("nan")}
HERE = ("The race",)
RACES: dict[str, tuple[Callable[[], Evaluation], tuple[str, ...]]] = {
    "a race": (race, ("head", "Configurations", "The race", "How the number was computed")),
    "a race that some fail": (failing_too, ("head", "Configurations", "The race")),
    "a race that one fails": (failing_only, HERE),
    "a race that one is left in": (lambda: raced(search(), barrier(2, 6, [0, 1, 2, 3, 5])), ("head", "The race")),
    "a race of a loss": (
        lambda: raced(search("regression", ("neg_mean_absolute_error",)), barrier(2, 6, [0, 1, 2, 3])),
        HERE,
    ),
    "a race for another reason": (of_another_reason, HERE),
    "a race of large shares": (
        lambda: raced(search(), barrier(1, 6, [0, 1], 0.7), barrier(2, 4, [2, 5], 0.6)),
        HERE,
    ),
    "a race of an unknown share": (
        lambda: raced(search(), barrier(1, 6, [0], float("nan")), barrier(2, 5, [1], 0.02)),
        HERE,
    ),
    "a race that none leaves": (lambda: raced(search(), barrier(1, 6, []), barrier(2, 6, [])), HERE),
    "a race of few rows": (lambda: raced(search(), barrier(1, 6, [], judged=False)), HERE),
    "a race that is not judged": (lambda: raced(search(), barrier(2, 6, [], judged=False)), HERE),
    "a race that stops": (
        lambda: raced(search(), barrier(1, 6, [0]), barrier(2, 5, [], stopped=True), n_splits_planned=8),
        ("head", "The race"),
    ),
    "a race with splits needed": (lambda: raced(search(), barrier(3, 6, [0], folds_needed=SPLITS_NEEDED)), HERE),
    "a race of forty": (lambda: raced(search(configurations=40), barrier(1, 40, list(range(35)))), HERE),
}
