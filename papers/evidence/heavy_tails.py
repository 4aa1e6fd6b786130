"""Write heavy-tails.parquet: R² of the best of 30 configurations on 100 rows, with errors of heavy tails.

``python papers/evidence/heavy_tails.py`` draws 100 rows of a target of unit variance and 30 predictions of it,
whose R² for infinitely many rows is .4 to .5. Their errors, normal, Laplace's or Student's, are those of the
target, which all configurations share, or those of each configuration.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import heldout as ho

FILE = Path(__file__).with_name("heavy-tails.parquet")
ROWS, CONFIGURATIONS, REPETITIONS, BOOTSTRAPS = 100, 30, 300, 500
TRUTHS = (0.4, 0.5)
"""The R² of the worst and of the best configuration."""
TAILS: dict[str, float] = {"normal": np.inf, "Laplace": np.nan, "t, 4": 4.0, "t, 3": 3.0, "t, 2.5": 2.5}
"""Degrees of freedom of Student's t."""
SETTINGS = [(tail, "target") for tail in TAILS] + [(tail, "model") for tail in ("normal", "t, 3", "t, 2.5")]


def errors(rng: np.random.Generator, tail: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Of unit variance."""
    if tail == "normal":
        return rng.standard_normal(shape)
    if tail == "Laplace":
        return np.asarray(rng.laplace(size=shape) / np.sqrt(2))
    return np.asarray(rng.standard_t(TAILS[tail], shape) * np.sqrt((TAILS[tail] - 2) / TAILS[tail]))


def repetition(rng: np.random.Generator, tail: str, whose: str, seed: int) -> dict[str, Any]:
    """A sample and its estimate."""
    truth = rng.uniform(*TRUTHS, CONFIGURATIONS)
    if whose == "target":  # what can be predicted has a variance of .5, and a configuration adds a noise of its own
        signal = np.sqrt(0.5) * rng.standard_normal(ROWS)
        y = signal + np.sqrt(0.5) * errors(rng, tail, (ROWS,))
        noise = np.sqrt(0.5 - truth) * rng.standard_normal((ROWS, CONFIGURATIONS))
    else:
        y = signal = rng.standard_normal(ROWS)
        noise = np.sqrt(1 - truth) * errors(rng, tail, (ROWS, CONFIGURATIONS))
    predictions = signal[:, None] + noise
    found = ho.estimate(y, predictions, metric="r2", method="bbc", n_bootstraps=BOOTSTRAPS, random_state=seed)
    assert found.interval is not None
    return {
        "tail": tail,
        "whose": whose,
        "truth": truth[found.selected],
        "uncorrected": found.uncorrected,
        "value": found.value,
        "low": found.interval.low,
        "high": found.interval.high,
        "flagged": ho.Flag.FEW_ROWS_CARRY in found.flags,
    }


if __name__ == "__main__":
    frame = pd.DataFrame(
        [
            repetition(np.random.default_rng([place, seed]), tail, whose, seed)
            for place, (tail, whose) in enumerate(SETTINGS)
            for seed in range(REPETITIONS)
        ]
    )
    frame.to_parquet(FILE, index=False)
