"""The winner in halves of the rows: fitted after it was selected, in the same run, and scored by every scorer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from heldout.execution.fit import Scoring
from heldout.execution.plan import Race
from heldout.execution.run import OpenRun
from heldout.folds.splits import Folds
from heldout.predictions import FoldScores


def scores_in_halves(
    run: OpenRun, folds: Folds, scoring: Scoring, names: Sequence[str], winner: int
) -> Mapping[str, FoldScores]:
    """The winner's scores on the splits of halves (splits, 1), one a scorer; each half is a repeat.

    - ``run``: open, of the folds.
    - ``names``: of the scorers.

    None where the folds have no halves; NaN where the winner failed or has no score.
    """
    if not folds.halves:
        return {}
    race = Race(folds.halves, configurations=(winner,))
    run.run_races([race])
    cells = run.cell_results(race)
    in_half = len(folds.halves) // (2 * folds.n_halvings)
    found = {}
    for name in names:
        metric = scoring.metrics.get(name)
        greater = metric is None or metric.greater_is_better
        scores = np.array([[cell.test_scores.get(name, np.nan)] for cell in cells], dtype=np.float64)
        found[name] = FoldScores(
            values=scores if greater else -scores,
            greater_is_better=greater,
            repeat=np.arange(len(cells), dtype=np.intp) // in_half,
            test_rows=np.array([len(split.test) for split in folds.halves], dtype=np.intp),
        )
    return found
