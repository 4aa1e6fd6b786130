"""How biased each protocol would be, were the configurations independent.

The study of biases on the user's own numbers of rows, configurations and folds. Configurations of a real search are
alike, and the best of things that are alike flatters less: it is the worst case.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heldout.advice.costs import BBC, BCED, CV, NESTED
from heldout_papers.bias import bias
from heldout_papers.bias.setting import ACCURACY

BETA = (9.0, 6.0)
"""Of the true accuracies: a mean of .6, the hardest of the article's, where biases are greatest."""
MOST_ROWS, MOST_CONFIGURATIONS, MOST_FOLDS = 1000, 2000, 20
MOST_REPETITIONS, FEWEST_REPETITIONS = 50, 12
CELLS_OF_ACCURACY, CELLS_OF_OTHERS = 25_000_000, 5_000_000
"""Predictions in all repetitions, which take a second or two."""
N_BOOTSTRAPS = 200


@dataclass(frozen=True)
class Bias:
    """Of a protocol: how much its estimate flatters its own choice, below 0 where it is too modest."""

    protocol: str
    bias: float
    standard_error: float


@dataclass(frozen=True)
class WorstCase:
    """What came of the simulation.

    Attributes
    ----------
    metric : str
        "accuracy", "roc_auc", or "mean_squared_error" in units of the target's variance.
    rows, configurations, folds, repetitions : int
        Of the simulation; no more rows, configurations and folds than it can do in a few seconds.
    beta : (float, float)
        Of the true accuracies, areas or R².
    biases : tuple of Bias
    """

    metric: str
    rows: int
    configurations: int
    folds: int
    repetitions: int
    beta: tuple[float, float]
    biases: tuple[Bias, ...]

    def of(self, protocol: str) -> Bias | None:
        """None where it was not simulated."""
        return next((one for one in self.biases if one.protocol == protocol), None)


def worst_case(
    n_rows: int,
    n_configurations: int,
    n_folds: int,
    entropy: int,
    *,
    metric: str = ACCURACY,
    prevalence: float | None = None,
) -> WorstCase:
    """Simulate it.

    Parameters
    ----------
    n_rows, n_configurations, n_folds : int
        N, C and K of the user, each at least 2, and K at most N.
    entropy : int
    metric : {"accuracy", "roc_auc", "mean_squared_error"}
    prevalence : float, optional
        The share of a class, for "roc_auc".

    Examples
    --------
    >>> found = worst_case(60, 30, 5, entropy=0)
    >>> found.of("cv").bias > 0.03 > found.of("nested_cv").bias
    True
    """
    rows, configurations = min(n_rows, MOST_ROWS), min(n_configurations, MOST_CONFIGURATIONS)
    cells = CELLS_OF_ACCURACY if metric == ACCURACY else CELLS_OF_OTHERS
    repetitions = int(np.clip(cells // (rows * configurations), FEWEST_REPETITIONS, MOST_REPETITIONS))
    study = bias(
        rows, configurations, [BETA], metric=metric, prevalence=prevalence, repetitions=repetitions,
        folds=min(n_folds, MOST_FOLDS), n_bootstraps=N_BOOTSTRAPS, protocols=(CV, NESTED, BBC, BCED),
        random_state=entropy,
    )  # fmt: skip
    (setting,) = study.settings
    biases = tuple(
        Bias(str(row["protocol"]), float(row["bias"]), float(row["standard_error"])) for row in study.rows()
    )
    return WorstCase(metric, rows, configurations, setting.folds, repetitions, BETA, biases)
