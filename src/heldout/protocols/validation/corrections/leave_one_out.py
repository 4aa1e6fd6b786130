"""The score of rows that a replicate's model never saw: by row first where each row has a loss of its own.

The leave-one-out bootstrap (Efron & Tibshirani 1997) takes a row's loss over the replicates that left it out
and then the mean over rows, so that a row counts once however often it was left out. Of a metric of all rows
together (an area, a correlation) there is no loss of a row, and the mean over replicates takes its place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar

import numpy as np

from heldout._text import counted
from heldout._types import Floats, Indices, Weightings
from heldout.flags import Flag
from heldout.metrics.base import Metric, Signed, quiet_if_foreign, unsigned
from heldout.metrics.row_losses import Finish, OfRowLosses
from heldout.protocols.validation.corrections.base import CorrectedScore, undefined
from heldout.protocols.validation.replicates import Replicates, ReplicateScores
from heldout.selection.bootstrap_draws import out_of_bag


def left_out_score(replicates: Replicates, scores: ReplicateScores) -> CorrectedScore:
    """The score of the rows left out, over the successful replicates.

    - ``replicates``: of B samples of N rows.
    - ``scores``: of one metric of them.

    Returns: in the metric's own direction and units. ``provenance`` says how it was averaged and over how many
    replicates; a flag says how many rows no replicate left out, and which replicates were undefined there.

    Examples
    --------
    Two samples of four rows. The third row was left out by both, at a loss of 1 and of 3; the second by one, at 4:

    >>> from heldout.metrics import metric_named
    >>> from heldout.metrics.base import Response
    >>> from heldout.data.task import truth_of
    >>> predicted = np.array([[0.5, 0.5], [4.0, 0.0], [1.0, 3.0], [0.0, 0.0]])[:, None, :]
    >>> replicates = Replicates(
    ...     truth_of([0.0, 0.0, 0.0, 0.0], "regression"),
    ...     counts=np.array([[2, 0, 0, 2], [1, 2, 0, 1]], dtype=np.uint8),
    ...     apparent={Response.VALUES: predicted[:, :, 0]},
    ...     on_original={Response.VALUES: predicted},
    ... )
    >>> found = left_out_score(replicates, replicates.scores(metric_named("mean_absolute_error")))
    >>> found.value, found.provenance["n_never_left_out"]  # (4 + (1 + 3) / 2) / 2
    (3.0, 2)
    """
    kept = np.flatnonzero(scores.successful)
    if not kept.size:
        return undefined(f"no bootstrap gave a score of {scores.metric.name}")
    if averages_rows(scores.metric):
        return _by_row(replicates, scores.metric, kept)
    return _by_replicate(replicates, scores, kept)


def averages_rows(metric: Metric) -> bool:
    """Whether it is a mean of one loss per row, or a function of such a mean.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> [averages_rows(metric_named(name)) for name in ("brier_score", "neg_root_mean_squared_error", "roc_auc")]
    [True, True, False]
    """
    return metric.row_wise or isinstance(unsigned(metric), OfRowLosses)


def mean_score(metric: Metric, values: Floats, weights: Floats) -> float:
    """The score of several sets of rows together, from the scores and the weights of each.

    - ``metric``: of which ``averages_rows``.
    - ``values``, ``weights`` (L,).

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> mean_score(metric_named("root_mean_squared_error"), np.array([1.0, 7.0]), np.array([0.5, 0.5]))
    5.0
    """
    plain = unsigned(metric)
    root = isinstance(plain, OfRowLosses) and plain.finish is Finish.ROOT
    # A root is squared before it is averaged, as the root of a mean is no mean of roots.
    mean = float((values**2 if root else values) @ weights / weights.sum())
    if not root:
        return mean
    return (metric.sign if isinstance(metric, Signed) else 1) * sqrt(mean)


def _by_row(replicates: Replicates, metric: Metric, kept: Indices) -> CorrectedScore:
    """The mean over rows of means over replicates.

    It is the mean over replicates as well, where a row weighs in each that left it out as the inverse of how many
    did. So it needs nothing of the metric but its scores under weights.
    """
    present = replicates.all_rows[0] > 0
    times = np.count_nonzero(out_of_bag(replicates.counts[kept]), axis=0)
    # At least 1, for rows that no sample left out: their share is 0 in any case.
    shares: Weightings = replicates.left_out(kept) / np.maximum(times, 1)
    totals: Floats = shares.sum(axis=1)
    # A sample that drew every row has nothing to be scored on.
    some = np.flatnonzero(totals > 0)
    never = int(np.count_nonzero(present & (times == 0)))
    if not some.size:
        return undefined("every bootstrap drew all rows, so that none was left out to be scored")
    response = replicates.response_of(metric)
    values = []
    with quiet_if_foreign([metric]):
        for h in range(replicates.n_completions):
            predicted = replicates.read(metric, replicates.on_original[response][:, h][:, kept[some]])
            scores = metric.statistic(replicates.truth, predicted).selected(shares[some], np.arange(len(some)))
            values.append(mean_score(metric, scores, totals[some]))
    flags: dict[Flag, str] = {}
    if never:
        n_rows = int(np.count_nonzero(present))
        flags |= Flag.NEVER_LEFT_OUT.of(
            rows=f"{never:,} of {counted(n_rows, 'row')}", were="was" if never == 1 else "were"
        )
    return CorrectedScore(
        float(np.mean(values)), flags, {"averaged": "by row", "n": len(some), "n_never_left_out": never}
    )


def _by_replicate(replicates: Replicates, scores: ReplicateScores, kept: Indices) -> CorrectedScore:
    found = scores.out_of_bag[kept]
    defined = found[np.isfinite(found)]
    if not defined.size:
        return undefined(f"{scores.metric.name} is undefined on the rows that each bootstrap left out")
    flags: dict[Flag, str] = {}
    if len(defined) < len(found):
        flags |= Flag.UNDEFINED_BOOTSTRAPS.of(
            undefined=len(found) - len(defined), total=len(found), why=" (on the rows that they left out)"
        )
    spread = float(defined.std(ddof=1) / sqrt(len(defined))) if len(defined) > 1 else float("nan")
    provenance = {"averaged": "by bootstrap", "n": len(defined), "monte_carlo_error": spread}
    return CorrectedScore(float(defined.mean()), flags, provenance)


@dataclass(frozen=True)
class OutOfBag:
    """The leave-one-out bootstrap (Efron & Tibshirani 1997).

    The loss of each row by the models that never saw it, then the mean over rows; for metrics that are no mean of
    one loss per row, the mean over replicates of the score on the rows left out (``left_out_score``). The apparent
    score is not used. It is pessimistic if models learn more from N rows than from the .632 N distinct rows of a
    sample.
    """

    name: ClassVar[str] = "oob"
    sources: ClassVar[tuple[str, ...]] = ("efron1983", "efron1997")
    reads_left_out = True

    def corrected(self, replicates: Replicates, scores: ReplicateScores) -> CorrectedScore:
        found = left_out_score(replicates, scores)
        return replace(found, provenance={"out_of_bag": found.value, **found.provenance})
