"""Write within-folds.parquet: areas of folds whose scores are not on one scale, by ways to one score.

``python papers/evidence/within_folds.py`` draws 100 rows in 10 folds and scores with an AUC of .85 in every fold,
shifted in each fold by a normal number (``tests/slow/statistical/test_within_folds.py`` draws the same).
"""

from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
from scipy.special import ndtri

import heldout as ho
from heldout.estimates.question import Aggregate

FILE = Path(__file__).with_name("within-folds.parquet")
ROWS, FOLDS, TRUTH, REPETITIONS, BOOTSTRAPS = 100, 10, 0.85, 300, 500
SETTINGS = [(0.0, 1), *((shift, 10) for shift in (0.0, 1.0, 2.0, 5.0))]
"""Standard deviations of the shifts, and numbers of configurations."""
AGGREGATES: tuple[Aggregate | None, ...] = (*get_args(Aggregate), None)


def repetition(rng: np.random.Generator, shift: float, columns: int, seed: int) -> list[dict[str, Any]]:
    """A sample, and the estimate of each way; without a name that of the default."""
    y, folds = np.arange(ROWS) % 2, np.arange(ROWS) // 2 % FOLDS
    scores = rng.normal(size=(ROWS, columns)) + np.sqrt(2) * ndtri(TRUTH) * y[:, None]
    scores += shift * rng.normal(size=(FOLDS, columns))[folds]
    rows = []
    for aggregate in AGGREGATES:
        found = ho.estimate(
            y,
            scores,
            metric="roc_auc",
            method="bbc",
            folds=folds,
            aggregate=aggregate,
            n_bootstraps=BOOTSTRAPS,
            random_state=seed,
        )
        assert found.interval is not None
        low, high = found.interval
        rows.append(
            {"shift": shift, "columns": columns, "aggregate": aggregate or "by default", "value": found.value}
            | {"low": low, "high": high}
        )
    return rows


if __name__ == "__main__":
    frame = pd.DataFrame(
        [
            row
            for place, (shift, columns) in enumerate(SETTINGS)
            for seed in range(REPETITIONS)
            for row in repetition(np.random.default_rng([place, seed]), shift, columns, seed)
        ]
    )
    frame.to_parquet(FILE, index=False)
