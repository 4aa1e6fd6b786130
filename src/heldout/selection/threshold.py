"""The decision threshold, tuned together with the configuration.

A configuration that is cut at several thresholds is as many columns of labels, so that choosing a threshold is
choosing a column, and what scores and replays columns serves as it is. The thresholds are cut from the scores
without a look at the target, so that nothing leaks into them.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Indices
from heldout.data.checks import check_count
from heldout.data.task import TaskKind, Truth, numbers_listed
from heldout.errors import InputError
from heldout.metrics.base import Metric, ReadAs, Response
from heldout.selection.base import RuleDeclaration

MOST_LABELS = 2**26
"""The most labels (rows x configurations x thresholds x repeats) that are held, a byte each."""


@dataclass(frozen=True)
class Threshold(RuleDeclaration):
    """Choose the configuration and its decision threshold together, by a metric of labels.

    For binary tasks: a score strictly above the threshold is positive. In every bootstrap both are chosen on the
    drawn rows and scored on the others. Among equal scores the first configuration wins, with its threshold nearest
    to the usual one (.5 for probabilities, 0 for decisions), or the first of ``grid``.

    Attributes
    ----------
    grid : sequence of float, optional
        The thresholds to try, the same for every configuration. By default each configuration has its own: midway
        between its scores, below and above them all, at most ``n_thresholds`` of them at even shares of the rows.
    n_thresholds : int
        The greatest number of default thresholds.
    metric : str or Metric, optional
        The metric that chooses; by default the reported one.

    Examples
    --------
    >>> import heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = (rng.random(300) < 0.2).astype(int)
    >>> scores = rng.normal(size=(300, 5)) + 1.5 * y[:, None]  # a cut at 0 finds far too many
    >>> found = ho.estimate(y, scores, metric="f1", selection=Threshold(), random_state=0)
    >>> 0.5 < found.provenance["threshold"] < 1.5, found.uncorrected > found.value
    (True, True)
    """

    grid: Any = None
    n_thresholds: int = 100
    metric: Any = None
    name: ClassVar[str] = "threshold"
    words: ClassVar[str] = "configuration and decision threshold are chosen together"

    def __post_init__(self) -> None:
        check_count("n_thresholds", self.n_thresholds)
        if self.grid is not None:
            object.__setattr__(self, "grid", _checked_grid(self.grid))


def read_at_threshold(rule: Threshold, metric: Metric, truth: Truth) -> Metric:
    """What stands for a metric of labels, to read the scores that the rule cuts; others are refused."""
    if Response.LABELS not in metric.responses:
        raise InputError(
            f"`selection={rule.name!r}` tunes where scores are cut into labels, but {metric.name} reads "
            f"{' or '.join(metric.responses)}; use a metric of labels (accuracy, f1, balanced_accuracy, ...)."
        )
    if truth.kind is not TaskKind.BINARY:
        raise InputError(
            f"`selection={rule.name!r}` is for binary tasks, and there are {truth.n_classes} classes; several "
            "classes take the greatest score."
        )
    read = (Response.DECISION, Response.PROBABILITIES)
    # A stand-in, because the metric itself reads labels, and labels are what the rule is about to make.
    return ReadAs(metric, f"{metric.name} at a tuned threshold", read)


@dataclass(frozen=True, eq=False)
class Cuts:
    """Columns of labels: a configuration at a threshold each."""

    column: Indices  # (V,): the column of scores that is cut, ascending
    threshold: Floats  # (V,): strictly above is positive
    positive: int  # code of the positive class, the other being ``1 - positive``

    def labels(self, scores: Floats) -> NDArray[np.int8]:
        """(n, V, R) class codes of scores (n, C, R)."""
        n, _, repeats = scores.shape
        labels = np.empty((n, len(self.column), repeats), dtype=np.int8)
        for column in np.unique(self.column):
            places = np.flatnonzero(self.column == column)
            above = scores[:, column, None] > self.threshold[places, None]
            labels[:, places] = np.where(above, self.positive, 1 - self.positive)
        return labels


def cuts_of(rule: Threshold, scores: Floats, positive: int) -> Cuts:
    """The thresholds of scores (n, C, R), NaN where a row is not in play."""
    n, n_columns, repeats = scores.shape
    lists = [
        np.asarray(rule.grid)
        if rule.grid is not None
        else _usual_first(own_thresholds(scores[:, column], rule.n_thresholds), scores[:, column])
        for column in range(n_columns)
    ]
    column = np.repeat(np.arange(n_columns), [len(thresholds) for thresholds in lists])
    if n * len(column) * repeats > MOST_LABELS:
        most = MOST_LABELS // (n * n_columns * repeats)
        advice = f"n_thresholds of at most {most}" if most > 1 else "fewer configurations"
        raise InputError(
            f"{n_columns} configurations at {len(column) / n_columns:.3g} thresholds on {n} rows in {repeats} "
            f"repeats are {n * len(column) * repeats:,} labels, more than the {MOST_LABELS:,} that are held; use "
            f"{advice}."
        )
    return Cuts(column, np.concatenate(lists), positive)


def own_thresholds(scores: Floats, most: int) -> Floats:
    """At most ``most`` thresholds that part the scores differently, ascending: midway between distinct ones.

    The first lies below all scores and the last above them. Of too many those are taken that part off even shares
    of the rows.

    Examples
    --------
    >>> own_thresholds(np.array([0.2, 0.4, 0.4, 0.8]), 10).round(6).tolist()
    [0.1, 0.3, 0.6, 1.0]
    >>> own_thresholds(np.arange(1000.0), 3).tolist()
    [-0.5, 499.5, 999.5]
    """
    distinct, times = np.unique(scores[~np.isnan(scores)], return_counts=True)
    # Midway, so that new scores near the observed ones fall on either side alike.
    gaps = np.diff(distinct)
    first, last = (gaps[0] / 2, gaps[-1] / 2) if len(gaps) else (0.5, 0.5)
    middle = distinct[:-1] + gaps / 2
    middle = np.where(middle < distinct[1:], middle, distinct[:-1])  # of neighbouring floats
    thresholds = np.concatenate([distinct[:1] - first, middle, distinct[-1:] + last])
    if len(thresholds) <= most:
        return thresholds
    below = np.concatenate([[0], np.cumsum(times)])
    wanted = np.linspace(0, below[-1], most) if most > 1 else below[-1:] / 2
    return thresholds[np.unique(np.searchsorted(below, np.rint(wanted)))]


def _usual_first(thresholds: Floats, scores: Floats) -> Floats:
    """Those nearest to where scores are cut by default first: .5 for what can be probabilities, else 0."""
    # Among equal scores the usual cut wins, as ties go to the first.
    usual = 0.5 if np.nanmin(scores) >= 0 and np.nanmax(scores) <= 1 else 0.0
    ordered: Floats = thresholds[np.argsort(np.abs(thresholds - usual), kind="stable")]
    return ordered


def _checked_grid(grid: Any) -> tuple[float, ...]:
    numbers = numbers_listed(grid)
    if numbers.ndim != 1 or not numbers.size or not np.isfinite(numbers).all():
        raise InputError(f"grid must be a list of thresholds, finite numbers, got {grid!r}.")
    if len(np.unique(numbers)) < len(numbers):
        raise InputError(f"grid must hold distinct thresholds, got {grid!r}.")
    return tuple(numbers.tolist())
