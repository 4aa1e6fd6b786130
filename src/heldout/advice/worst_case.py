"""How biased each protocol is at worst: a simulation of independent configurations with the user's numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heldout import studies
from heldout._streams import stream
from heldout.advice.problem import SearchProblem
from heldout.data.task import TaskKind
from heldout.errors import INSTALL_PAPERS, MissingPapersError

TRUTHS = {"accuracy": "accuracies", "roc_auc": "areas under the ROC curve", "mean_squared_error": "R²"}
"""The metrics that the study can simulate, and what the true values of configurations are."""
BETA = (9.0, 6.0)
"""Beta distribution of the true values: mean .6, the article's case with the largest biases."""
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


def worst_case_of(problem: SearchProblem) -> tuple[WorstCase | None, str]:
    """The worst case, or the reason why there is none, which is empty where there is nothing to choose."""
    if problem.n_configurations < 2:
        return None, ""
    if not problem.search.folds.is_partition or problem.n_folds < 2:
        return None, "the simulation needs folds that test every row once, and yours do not"
    rows, configurations = min(problem.n_units, MOST_ROWS), min(problem.n_configurations, MOST_CONFIGURATIONS)
    folds = min(problem.n_folds, MOST_FOLDS, rows)
    metric, prevalence = _metric(problem, rows, folds)
    cells = CELLS_OF_ACCURACY if metric == "accuracy" else CELLS_OF_OTHERS
    repetitions = int(np.clip(cells // (rows * configurations), FEWEST_REPETITIONS, MOST_REPETITIONS))
    try:
        study = studies.bias(
            rows, configurations, [BETA],
            metric=metric, prevalence=prevalence, repetitions=repetitions, folds=folds, n_bootstraps=N_BOOTSTRAPS,
            protocols=("cv", "nested_cv", "bbc", "bced"), random_state=stream(problem.search.entropy, "advice"),
        )  # fmt: skip
    except MissingPapersError:
        return None, f"their study needs heldout-papers ({INSTALL_PAPERS})"
    biases = (ProtocolBias(row["protocol"], row["bias"], row["standard_error"]) for row in study.rows())
    return WorstCase(metric, rows, configurations, folds, repetitions, BETA, tuple(biases)), ""


def _metric(problem: SearchProblem, rows: int, folds: int) -> tuple[str, float | None]:
    """The simulated metric that is most like the user's, and the share of the rarest class."""
    kind, rarest = problem.kind, problem.rarest_class
    if kind is TaskKind.REGRESSION:
        return "mean_squared_error", None
    if problem.metric_name == "roc_auc" and kind is TaskKind.BINARY and rarest is not None:
        share = rarest[1] / problem.task.n_rows
        if round(share * rows) >= folds:
            return "roc_auc", share
    return "accuracy", None
