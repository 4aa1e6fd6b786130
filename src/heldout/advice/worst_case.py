"""The worst case: how biased each protocol would be if the configurations were independent.

This is the study of biases, which heldout-papers brings, with the user's numbers of rows, configurations and folds.
Configurations of a real search resemble each other, so the score of the best one is less optimistic than here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heldout import studies
from heldout.advice.costs import BBC, BCED, CV, NESTED

ACCURACY, ROC_AUC, SQUARED_ERROR = "accuracy", "roc_auc", "mean_squared_error"
"""The metrics that the study can simulate."""
BETA = (9.0, 6.0)
"""Beta distribution of the true accuracies: mean .6, the article's case with the largest biases."""
MOST_ROWS, MOST_CONFIGURATIONS, MOST_FOLDS = 1000, 2000, 20
MOST_REPETITIONS, FEWEST_REPETITIONS = 50, 12
CELLS_OF_ACCURACY, CELLS_OF_OTHERS = 25_000_000, 5_000_000
"""Predictions in all repetitions together, which take a second or two."""
N_BOOTSTRAPS = 200


@dataclass(frozen=True)
class ProtocolBias:
    """The optimism of a protocol's estimate, on average; below 0 where the estimate is too pessimistic."""

    protocol: str
    bias: float
    standard_error: float


@dataclass(frozen=True)
class WorstCase:
    """The result of the simulation.

    Attributes
    ----------
    metric : str
        "accuracy", "roc_auc", or "mean_squared_error" in units of the target's variance.
    rows, configurations, folds, repetitions : int
        Sizes of the simulation: the user's, limited to what takes a few seconds.
    beta : (float, float)
        Parameters of the distribution of true accuracies, areas or R².
    biases : tuple of ProtocolBias
    """

    metric: str
    rows: int
    configurations: int
    folds: int
    repetitions: int
    beta: tuple[float, float]
    biases: tuple[ProtocolBias, ...]

    def of(self, protocol: str) -> ProtocolBias | None:
        """The bias of one protocol; None where it was not simulated."""
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
    """Simulate the bias of each protocol.

    Parameters
    ----------
    n_rows, n_configurations, n_folds : int
        The user's N, C and K, each at least 2, and K at most N.
    entropy : int
    metric : {"accuracy", "roc_auc", "mean_squared_error"}
    prevalence : float, optional
        The share of one class, for "roc_auc".

    Raises
    ------
    MissingPapersError
        Without heldout-papers.
    """
    rows, configurations = min(n_rows, MOST_ROWS), min(n_configurations, MOST_CONFIGURATIONS)
    cells = CELLS_OF_ACCURACY if metric == ACCURACY else CELLS_OF_OTHERS
    repetitions = int(np.clip(cells // (rows * configurations), FEWEST_REPETITIONS, MOST_REPETITIONS))
    study = studies.bias(
        rows, configurations, [BETA], metric=metric, prevalence=prevalence, repetitions=repetitions,
        folds=min(n_folds, MOST_FOLDS), n_bootstraps=N_BOOTSTRAPS, protocols=(CV, NESTED, BBC, BCED),
        random_state=entropy,
    )  # fmt: skip
    (setting,) = study.settings
    biases = tuple(
        ProtocolBias(str(row["protocol"]), float(row["bias"]), float(row["standard_error"])) for row in study.rows()
    )
    return WorstCase(metric, rows, configurations, setting.folds, repetitions, BETA, biases)
