"""How the columns of real searches depend on each other.

Of each table that was searched on samples of 100 rows: how good every configuration is, how sure of itself, and how
its predictions depend on those of the others beside the target: by three factors that rows have in common, and a
part of its own. The simulated matrices of the correlated part are drawn from these structures, which are a CSV file
of the package. It holds no row of any table. Version 0.1.0 made it, from searches on 100 rows of each of 38
tables: factors by the principal factor method from correlations of what predictions hold beside the target,
signals and slopes from the scores on the rest of the table.

Two classes: a score is x = signal y + z, with z normal of variance 1 in each class, and the logit of a probability
logit(prevalence) + slope (x - signal / 2). The signal gives the area under the ROC curve and, with it, the slope
the log loss that the configuration has on the rest of its table. Numbers: a prediction is slope (signal y + √(1 -
signal²) z) of a target y with variance 1: the signal is its correlation with the target, and the slope its standard
deviation.
"""

import csv
import io
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import logit
from scipy.stats import norm

from heldout_papers.corrections.distribution import Floats

Kind: TypeAlias = Literal["classification", "regression"]
KINDS: tuple[Kind, ...] = ("classification", "regression")
METRICS: dict[Kind, tuple[str, ...]] = {
    "classification": ("accuracy", "roc_auc", "log_loss"),
    "regression": ("root_mean_squared_error", "r2"),
}
FILE = "structures.csv"
POINTS, REACH = 601, 9.0
"""Of integrals over a normal variable."""
MOST_LOGIT = 30.0
"""Beyond it a probability of 1 is not told from a greater one."""


@dataclass(frozen=True, eq=False)
class Structure:
    """The columns of one search.

    Attributes
    ----------
    kind : "classification" or "regression"
    prevalence : float
        Of class 1; 0 for numbers.
    signal, slope : ndarray of shape (C,)
    loadings : ndarray of shape (C, 3)
        Of rows' factors; what they leave of a variance of 1 is a column's own.
    """

    kind: Kind
    prevalence: float
    signal: Floats
    slope: Floats
    loadings: Floats


@cache
def structures(kind: Kind) -> tuple[Structure, ...]:
    """Those of the package, one a table."""
    text = Path(__file__).with_name(FILE).read_text(encoding="utf-8")
    return tuple(one for one in from_csv(text) if one.kind == kind)


def normal_points() -> tuple[Floats, Floats]:
    """Points and weights of an integral over a normal variable, as good as exact for these losses."""
    points = np.linspace(-REACH, REACH, POINTS)
    weights = norm.pdf(points)
    return points, weights / weights.sum()


def moderate_logits(logits: Floats) -> Floats:
    """None beyond ``MOST_LOGIT``."""
    return np.clip(logits, -MOST_LOGIT, MOST_LOGIT)


def mean_log_loss(signal: Floats, slope: Floats, prevalence: float) -> Floats:
    """(C,): the true log loss of columns.

    Examples
    --------
    >>> mean_log_loss(np.array([0.0, 2.0]), np.array([0.0, 2.0]), 0.5).round(4).tolist()
    [0.6931, 0.3563]
    """
    points, weights = normal_points()
    centre = logit(prevalence) - slope * signal / 2
    of_ones = np.logaddexp(0.0, -moderate_logits(centre + slope * (signal + points[:, None])))
    of_zeros = np.logaddexp(0.0, moderate_logits(centre + slope * points[:, None]))
    return np.asarray(weights @ (prevalence * of_ones + (1 - prevalence) * of_zeros))


def reading_of(kind: Kind) -> dict[str, Any]:
    """How ``ho.estimate`` is to read the predictions."""
    return {"response": "probabilities", "pos_label": 1.0} if kind == "classification" else {}


def from_csv(text: str) -> tuple[Structure, ...]:
    """The structures of such a text."""
    lines: dict[str, list[list[str]]] = defaultdict(list)
    for number, *line in list(csv.reader(io.StringIO(text)))[1:]:
        lines[number].append(line)
    found = []
    for of_one in lines.values():
        numbers = np.array([line[1:] for line in of_one], dtype=np.float64)
        kind = next(kind for kind in KINDS if kind == of_one[0][0])
        found.append(Structure(kind, float(numbers[0, 0]), numbers[:, 1], numbers[:, 2], numbers[:, 3:]))
    return tuple(found)
