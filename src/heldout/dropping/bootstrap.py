"""The bootstrap rule: drop configurations that are worse than the leader in nearly every bootstrap."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from heldout.data.limits import MOST_BOOTSTRAPS, refuse_more_than
from heldout.dropping.base import Course, Racing, Standing, Verdict, check_count, check_share, verdict
from heldout.errors import InputError
from heldout.metrics.base import Metric, oriented, quiet_if_foreign
from heldout.metrics.opaque import OpaqueMetric
from heldout.selection.base import tie_exactly
from heldout.selection.draws import UndefinedDrawsError, map_blocks


@dataclass(frozen=True, kw_only=True)
class Bootstrap(Racing):
    """Early dropping of BCED-CV (Tsamardinos et al. 2018, section 5).

    At each barrier the rows predicted so far are drawn with replacement B times (with groups, whole groups). A
    configuration θ is dropped if p̂ = #{b: loss_b(θ) > loss_b(θ₀)} / B exceeds α, with θ₀ the leader. The
    comparison is strict: rounding errors are cut off first, so that configurations with the same predictions tie in
    every bootstrap, and none of them is dropped because of another. A bootstrap in which either score is NaN counts
    among the B and never as one in which θ is worse. If no bootstrap can be drawn on which the metric is defined,
    the rule does not judge.

    It fits every metric and any dependence between the configurations, whose rows are drawn together. It is a
    heuristic: each configuration is compared with the leader alone, as if the leader had not been chosen on these
    rows, and again at every barrier. docs/dropping.md shows how often the best is lost.

    Attributes
    ----------
    threshold : float
        The article's α.
    n_bootstraps : int
        B.
    replay : bool
        Whether the estimate repeats the dropping inside its own bootstraps. That removes part of the small optimism
        of dropping; the later predictions of dropped configurations are unknown.

    Examples
    --------
    >>> from heldout.dropping import drop_rule_of
    >>> drop_rule_of("bootstrap") == Bootstrap(threshold=0.99)
    True
    """

    threshold: float = 0.99
    n_bootstraps: int = 1000
    replay: bool = False
    name: ClassVar[str] = "bootstrap"
    statistic_name: ClassVar[str] = "the share of bootstraps in which it scores worse than the leader"
    sources: ClassVar[tuple[str, ...]] = ("tsamardinos2018",)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share(self.threshold, "threshold")
        check_count(self.n_bootstraps, "n_bootstraps")
        refuse_more_than(
            MOST_BOOTSTRAPS, self.n_bootstraps, "bootstraps of a rule of dropping", "fewer: 1000 are usual"
        )
        if not isinstance(self.replay, bool | np.bool_):
            raise InputError(f"replay must be True or False, got {self.replay!r}.", argument="replay")

    def unfit(self, metric: Metric, course: Course) -> str | None:
        """It needs a metric that can be computed on any rows."""
        if isinstance(metric, OpaqueMetric):
            return f"it scores resampled rows, but the scorer '{metric.name}' cannot be opened"
        return None

    def judge(self, standing: Standing) -> Verdict:
        """Drop those worse than the leader in more than the share ``threshold`` of the bootstraps."""
        share = self.share_worse(standing)
        return verdict(standing, leaves=share > self.threshold, statistic=share)

    def share_worse(self, standing: Standing) -> NDArray[np.float64]:
        """(A,): p̂ of each configuration, NaN for all where no bootstrap can be drawn."""
        score, leader = standing.score, standing.leader
        draws = replace(standing.draws, n_bootstraps=self.n_bootstraps)

        def times_worse(first: int, last: int) -> NDArray[np.intp]:
            counts, _ = draws.block(first, last)
            values = oriented(score.metric, score.all(counts))
            if not score.has_fused_path:  # fused scores are ratios of exact sums, which tie without rounding
                values = tie_exactly(values)
            return np.count_nonzero(values < values[:, leader, None], axis=0)

        try:
            with quiet_if_foreign([score.metric]):
                blocks = map_blocks(times_worse, self.n_bootstraps, n_threads=standing.n_threads)
        except UndefinedDrawsError:
            return np.full(standing.n_configurations, np.nan)
        share: NDArray[np.float64] = np.sum(blocks, axis=0) / self.n_bootstraps
        return share
