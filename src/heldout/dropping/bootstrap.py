"""The bootstrap rule: drop configurations that are worse than the leader in nearly every bootstrap."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np

from heldout._streams import stream
from heldout._types import Counts, Floats, Indices
from heldout.data.checks import check_choice, check_count, check_number, checked_flag
from heldout.data.limits import MOST_BOOTSTRAPS, refuse_more_than
from heldout.dropping.base import Course, Racing, Standing, Verdict, verdict
from heldout.errors import InputError
from heldout.metrics.base import Metric, oriented, quiet_if_foreign
from heldout.metrics.custom import OpaqueMetric
from heldout.selection.base import NONE_CHOSEN
from heldout.selection.best import tie_exactly
from heldout.selection.bootstrap_draws import Draws, UndefinedDrawsError, always, map_blocks

Against: TypeAlias = Literal["current_best", "best_of_each", "double"]
AGAINST: tuple[Against, ...] = get_args(Against)


@dataclass(frozen=True, kw_only=True)
class Bootstrap(Racing):
    """Drop a configuration that is worse than the current best in most bootstraps (BCED-CV).

    At each barrier, after a fold, the rows predicted so far are drawn with replacement B times (with groups, whole
    groups). A configuration θ is dropped if p̂ = #{b: loss_b(θ) > loss_b(θ₀)} / B exceeds α, with θ₀ the leader,
    the current best (Tsamardinos et al. 2018, section 5). The comparison is strict and ignores rounding errors, so
    that configurations with the same predictions tie in every bootstrap, and none is dropped because of another. A
    bootstrap in which either score is NaN counts among the B, but not as one in which θ is worse. If no bootstrap
    can be drawn on which the metric is defined, none is dropped.

    It applies to every metric, and any dependence between configurations is kept, because their rows are drawn
    together. It is a heuristic: each configuration is compared with the leader alone, as if the leader had not been
    chosen on these rows, and again at every barrier. papers/pages/dropping.md shows how often the best is lost.

    **Two other comparisons** that the article mentions (at the end of section 5):

    - ``against="best_of_each"``: θ₀ is in each bootstrap the configuration that the search would choose there. Then
      1 - p̂ is the share of bootstraps in which none is better than θ, an estimate of the probability that it is
      the best of all. Each of C equal configurations has 1/C, so that α must be well above 1 - 1/C: use .999 with
      5000 bootstraps for about a hundred configurations.
    - ``against="double"``: a double bootstrap. Rows are drawn and θ₀ is chosen on them; then rows are drawn again
      from the drawn ones, and the two are compared there. So p̂ is the mean, over the bootstraps that choose θ₀,
      of the shares in which θ is worse than that θ₀: it includes the uncertainty of the current best. One second
      draw for each first one is enough for the mean, and costs as much as a second bootstrap.

    Attributes
    ----------
    threshold : float
        α: a configuration that is worse in a greater share of the bootstraps is dropped.
    n_bootstraps : int
        B, the number of bootstraps at each barrier.
    against : "current_best", "best_of_each" or "double"
        With what a configuration is compared: the current best θ₀, the best of each bootstrap, or the best of a
        first bootstrap in a second one.
    replay : bool
        Whether the estimate repeats the dropping inside its own bootstraps, against the current best only. That
        removes part of the small optimism of dropping; the later predictions of dropped configurations are unknown.

    Examples
    --------
    >>> from heldout.dropping import drop_rule_of
    >>> drop_rule_of("bootstrap") == Bootstrap(threshold=0.99)
    True
    """

    threshold: float = 0.99
    n_bootstraps: int = 1000
    against: Against = "current_best"
    replay: bool = False
    name: ClassVar[str] = "bootstrap"
    statistic_name: ClassVar[str] = "the share of bootstraps in which it scores worse than the leader"
    sources: ClassVar[tuple[str, ...]] = ("tsamardinos2018",)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("threshold", self.threshold, above=0, below=1)
        check_count("n_bootstraps", self.n_bootstraps)
        refuse_more_than(
            MOST_BOOTSTRAPS, self.n_bootstraps, "bootstraps of a rule of dropping", "fewer: 1000 are usual"
        )
        checked_flag("replay", self.replay)
        check_choice("against", self.against, AGAINST)
        if self.replay and self.against != "current_best":
            raise InputError(
                f"`replay=True` repeats comparisons with the current best, got `against={self.against!r}`; leave "
                "one of them out."
            )

    def unfit(self, metric: Metric, course: Course) -> str | None:
        """It needs a metric that can be computed on any rows."""
        if isinstance(metric, OpaqueMetric):
            return f"it scores resampled rows, but the scorer '{metric.name}' cannot be opened"
        return None

    def judge(self, standing: Standing) -> Verdict:
        """Drop those that are worse in more than the share ``threshold`` of the bootstraps."""
        share = self.share_worse(standing)
        # The leader always stays, and so does what is no worse than it by this measure, such as its twins.
        return verdict(standing, leaves=share > np.fmax(self.threshold, share[standing.leader]), statistic=share)

    def share_worse(self, standing: Standing) -> Floats:
        """(A,): p̂ of each configuration, NaN for all where no bootstrap can be drawn."""
        score = standing.score
        draws = replace(standing.draws, n_bootstraps=self.n_bootstraps)

        def times_worse(first: int, last: int) -> Indices:
            counts, _ = draws.block(first, last)
            # Against one leader for all draws, as published, or against the best of each draw.
            best = np.full(len(counts), standing.leader)
            if self.against != "current_best":
                best = standing.replay.choose(counts)
            if self.against == "double":
                counts = drawn_again(draws, counts, first)
            values = oriented(score.metric, score.all(counts))
            if not score.has_fused_path:  # fused scores are ratios of exact sums, which tie without rounding
                values = tie_exactly(values)
            # Where no best exists in a draw nobody is worse: comparisons with NaN are false.
            rivals = np.where(best == NONE_CHOSEN, np.nan, values[np.arange(len(best)), np.maximum(best, 0)])
            return np.count_nonzero(values < rivals[:, None], axis=0)

        try:
            with quiet_if_foreign([score.metric]):
                blocks = map_blocks(times_worse, self.n_bootstraps, n_threads=standing.n_threads)
        # A class with one row so far cannot be resampled; the barrier then drops nobody.
        except UndefinedDrawsError:
            return np.full(standing.n_configurations, np.nan)
        share: Floats = np.sum(blocks, axis=0) / self.n_bootstraps
        return share


def drawn_again(draws: Draws, counts: Counts, first: int) -> Counts:
    """A draw from each bootstrap sample (L, n), as large as the sample; ``first``: the number of the first one.

    The places of a sample are its units in order, each as often as it was drawn. So the second count of a unit is
    the number of draws among its places: a difference of sums.
    """
    # A stream of its own, or the second draw would repeat the first.
    seed, units = stream(draws.seed, "drawn again"), np.arange(draws.n_units)
    of_places, _ = Draws(seed, draws.n_bootstraps, units, always, always).block(first, first + len(counts))
    first_row = np.unique(draws.unit_of_row, return_index=True)[1]
    end = np.cumsum(counts[:, first_row], axis=1, dtype=np.intp)
    until = np.zeros((len(counts), draws.n_units + 1), dtype=np.intp)
    np.cumsum(of_places, axis=1, out=until[:, 1:])
    of_units = np.diff(np.take_along_axis(until, end, axis=1), prepend=0, axis=1)
    return np.asarray(of_units[:, draws.unit_of_row], dtype=np.uint8)
