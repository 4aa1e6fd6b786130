"""Optimism: by how much, and how unsurely, a selection flatters, replayed around shrunken centres.

In every bootstrap b the candidates have the scores s + D_b, where s are their ``shrunken_centres`` and D_b is how
far their scores on the drawn rows are from their mean over all bootstraps. The rule that chose the winner w
selects w_b among them, and the selected is better than its centre by z_b = D_b[w_b]/sd(D[w_b]) of its own standard
deviations. The winner is as lucky in its own: the optimism is sd(D_w) times the mean of z. Without that a quiet
winner would pay for the luck of noisy columns.

How unsure the score is shows in the winner's own noise, sd(D_w); selection compresses the gains. Rows like those
seen cannot show what other rows would do to a score, so the spread is at least that of bootstraps with four rows
(or groups) more, which have the predictions of any row, and the class of any row or an error larger than any seen.
Areas under curves are spread as those of scores that are aligned between folds: pairs within small folds are
noisier than pairs of all rows.

An ensemble has no centre, because it is no candidate. What its rule gains in the bag over all rows is then
multiplied by the ratio of the same two numbers for the best single candidate, with and without shrinking.

Predictions that are certain can be right in every row that was seen, and a winner is chosen for that: what they may
cost is an optimism besides.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from scipy.special import stdtrit

from heldout._streams import stream
from heldout._types import Booleans, Counts, Floats, Indices
from heldout.data.task import TaskKind
from heldout.estimates.bootstrap import draws_of, map_draws
from heldout.estimates.evidence import Candidates
from heldout.estimates.intervals import open_sided
from heldout.estimates.question import Settings
from heldout.estimates.shrunken_centres import Centres, ScoreRange, shrunken, unit_of
from heldout.estimates.types import Interval
from heldout.estimates.unseen_rows import more_rows, unseen_loss
from heldout.flags import Flag
from heldout.metrics.aggregate import AggregateScore, aggregate_score, alignable, aligned, reads_ranks
from heldout.metrics.base import Metric, is_pair_based, oriented, quiet_if_foreign
from heldout.selection.base import NONE_CHOSEN, Choice, Fixed, joined

Result = TypeVar("Result")

DEPENDENCE, OF_HALVES = 1.2, 1.4
"""Standard errors of K-fold predictions over those of independent rows, at any number of rows; the second with two
folds, whose models share no training row (papers/pages/intervals.md)."""
FEWEST = 2
"""Bootstraps in which noise shows."""
MOST_RATIO = 2.0
"""At most so much greater is the optimism around centres than around observed scores."""
MOST_UNDEFINED = 0.5
"""A candidate without a score in this share of the bootstraps or more is none."""
UNSURE = 0.35
"""The standard error of an estimated optimism, as a share of it."""


@dataclass(frozen=True, eq=False)
class SelectionOptimism:
    """The optimism of a winner's score, and what the replays behind it showed.

    Attributes
    ----------
    size : float
        Positive if the score flatters; NaN where no replay gave a number.
    centre : float
        Mean centre of what was selected, greater = better.
    gains : ndarray of shape (B,)
        By how much the winner would be better than its centre if it were as lucky, by its own noise, as what was
        selected in each bootstrap.
    spread : float
        The standard deviation of the winner's own noise, as of independent rows.
    chosen : Choice or None
        What was selected in each bootstrap; None where no candidate has a score in most bootstraps.
    factor : float
        Of the centres of the reported metric: 1 where nothing is noise, 0 where all differences are.
    n_competing : int
    degrees_of_freedom : float
        Of Student's t: of all rows or groups, or of those of the classes that the metric needs.
    dependence : float
        The factor on the standard error for rows that several models predicted.
    redraws : int
        How many bootstraps were drawn again.
    spread_at : float
        The mean score, greater = better, of the bootstraps that have the spread, where these have more rows; NaN
        where they are those of the winner around its centre.
    unseen : float
        By how much the score flatters besides, because the winner's predictions of 0 and 1 were right in every row.
    """

    size: float
    centre: float
    gains: Floats
    spread: float
    chosen: Choice | None
    factor: float
    n_competing: int
    degrees_of_freedom: float
    dependence: float
    redraws: int
    spread_at: float = math.nan
    unseen: float = 0.0

    @property
    def standard_error(self) -> float:
        """Of the winner's score less its optimism."""
        return math.hypot(self.dependence * self.spread, UNSURE * self.size)

    def interval(self, value: float, metric: Metric, settings: Settings) -> Interval:
        """An interval around a corrected score: Student's t, and wider where a worse truth varies more."""
        if not math.isfinite(value):
            return Interval(math.nan, math.nan, settings.level, settings.alternative)
        possible = ScoreRange.of(metric)
        quantile = float(stdtrit(self.degrees_of_freedom, 1 - settings.tail))
        score = min(max(value if metric.greater_is_better else -value, possible.worst), possible.best)
        low, high = possible.reach(score, max(quantile, 0.0) * self.standard_error, self.centre, self.spread_at)
        ends = (low, high) if metric.greater_is_better else (0.0 - high, 0.0 - low)  # 0, not -0
        return open_sided(*ends, metric, settings)


def optimism_of(evidence: Candidates, *, stratify: bool = False) -> SelectionOptimism:
    """Replay the selection around shrunken centres.

    Raises InputError when a bootstrap cannot be drawn on which the metrics are defined, and SelectionFailedError
    when the rule cannot be replayed.
    """
    settings = evidence.settings
    asked = "optimism", settings.entropy, settings.n_bootstraps, stratify, evidence.winner_column
    if asked not in evidence.kept:
        with quiet_if_foreign([evidence.metric, *evidence.read]):
            evidence.kept[asked] = _Replays(evidence, stratify).optimism()
    return evidence.kept[asked]


@dataclass(frozen=True, eq=False)
class _Column:
    """The centres of one metric's scores, of all columns: those without a finite score are none."""

    observed: Floats  # (C,)
    usable: Booleans  # (C,)
    centres: Centres | None  # of the usable ones; None where there are none
    redraws: int  # how many bootstraps were drawn again
    undefined: Booleans | None = None  # (B, C): where a bootstrap has no score; None if it is nowhere

    @cached_property
    def values(self) -> Floats:
        """(C,): the centres; NaN for columns without."""
        values = np.full(len(self.usable), np.nan)
        if self.centres is not None:
            values[self.usable] = self.centres.values
        return values

    def noise(self, lanes: slice = slice(None)) -> Floats:
        """(L, C): NaN for columns without a centre."""
        assert self.centres is not None, "some column has a centre"
        noise = self.centres.noise[lanes]
        if self.usable.all():
            return noise
        spread = np.full((len(noise), len(self.usable)), np.nan)
        spread[:, self.usable] = noise
        return spread

    def scores(self, possible: ScoreRange, lanes: slice = slice(None)) -> Floats:
        """(L, C): centres with noise, at most the best possible."""
        scores = self.noise(lanes) + self.values
        return np.minimum(scores, possible.best, out=scores) if math.isfinite(possible.best) else scores

    def standard(self, possible: ScoreRange, columns: Indices) -> Floats:
        """(B,): how far the score of the selected is from its mean around its centre, in its standard deviations.

        NaN where nothing was selected, or a column without a centre; 0 where a score does not vary.
        """
        at = np.maximum(columns, 0)
        gains = np.zeros(len(at))
        for column in np.unique(at[self.usable[at]]):
            noise, lanes = self.noise_of(possible, column), at == column
            deviation = deviation_of(noise)
            if deviation > 0:
                gains[lanes] = (noise[lanes] - noise.mean()) / deviation
        lacking = (columns == NONE_CHOSEN) | ~self.usable[at]
        if self.undefined is not None:
            lacking |= self.undefined[np.arange(len(at)), at]
        return np.where(lacking, np.nan, gains)

    def noise_of(self, possible: ScoreRange, column: int) -> Floats:
        """(B,): of one usable column, at most as far as the best possible score."""
        assert self.centres is not None, "some column has a centre"
        place = int(np.count_nonzero(self.usable[:column]))
        return np.minimum(self.centres.noise[:, place], possible.best - self.centres.values[place])

    def mean_centre(self, chosen: Choice | None) -> float:
        """Of the columns chosen, or of the greatest weight in an ensemble; NaN where none was."""
        if chosen is None:
            return math.nan
        columns = chosen.columns[chosen.columns != NONE_CHOSEN]
        centres = self.values[columns]
        return float(centres[np.isfinite(centres)].mean()) if np.isfinite(centres).any() else math.nan


def deviation_of(noise: Floats) -> float:
    """The standard deviation, also of numbers near the ends of float64."""
    unit = unit_of(noise)
    return float(np.std(noise / unit)) * unit


def _column(observed: Floats, noise: Floats, possible: ScoreRange, key: int, redraws: int) -> _Column:
    """From scores (C,) and bootstrapped ones times ``_scale_of`` (B, C), greater = better. Overwrites ``noise``."""
    with np.errstate(over="ignore", invalid="ignore"):  # losses that are infinite, or sum up to infinity
        means = noise.mean(axis=0)
        undefined = np.isnan(noise) if np.isnan(means).any() else None
        if undefined is not None:  # a function of one's own may fail now and then
            defined = np.count_nonzero(~undefined, axis=0)
            means = np.where(undefined, 0.0, noise).sum(axis=0) / np.maximum(defined, 1)
            means[defined <= MOST_UNDEFINED * len(noise)] = np.nan
            noise = np.where(undefined, means, noise)
    usable = np.isfinite(observed) & np.isfinite(means)
    if not usable.any():
        return _Column(observed, usable, None, redraws)
    noise = noise if usable.all() else noise[:, usable]
    noise -= means[usable]
    centres = shrunken(observed[usable], noise, possible, np.random.Generator(np.random.Philox(key=key)))
    return _Column(observed, usable, centres, redraws, undefined)


def _scale_of(units: int) -> Floats:
    """From the spread of bootstraps of so many units to that of new rows."""
    units = max(units, 2)
    return np.sqrt(units / (units - 1))


@dataclass(frozen=True, eq=False)
class _Replays:
    evidence: Candidates
    stratify: bool

    def optimism(self) -> SelectionOptimism:
        evidence, replay, n_bootstraps = self.evidence, self.evidence.replay, self.evidence.settings.n_bootstraps
        pairs = zip(replay.scores, evidence.noise, strict=True)
        read = [self._column(score, noise, number) for number, (score, noise) in enumerate(pairs)]
        table = read[0]
        if replay.scores[0] is not evidence.scores:  # reported on another scale, or selected by another metric
            number = 0 if replay.scores[0].metric is evidence.scores.metric else len(read)
            table = self._column(evidence.scores, evidence.out_of_bag, number)
        possible = ScoreRange.of(evidence.metric)
        gains, spread, chosen = np.full(n_bootstraps, np.nan), math.nan, None
        if n_bootstraps >= FEWEST and all(part.centres is not None for part in (table, *read)):
            if evidence.chooses_ensemble:
                chosen, gains, spread = self._of_ensembles(table, possible)
            else:
                chosen, winner = Choice(self._selected(read)), evidence.winner_column
                spread = deviation_of(table.noise_of(possible, winner)) if table.usable[winner] else math.nan
                gains = spread * table.standard(possible, chosen.columns)
        spread, spread_at = self._spread(spread) if math.isfinite(spread) else (spread, math.nan)
        defined = gains[np.isfinite(gains)]
        units = [max(n, 2.0) for n in evidence.units_of_classes.values() or [evidence.units[1]]]
        # Without a choice there is no optimism.
        is_choice = table.usable.sum() > 1 and not isinstance(replay.rule, Fixed)
        size = float(defined.mean()) if defined.size else math.nan
        return SelectionOptimism(
            size=size if is_choice or not defined.size else 0.0,
            centre=table.mean_centre(chosen),
            gains=gains,
            spread=spread,
            spread_at=spread_at,
            chosen=chosen,
            factor=math.nan if table.centres is None else table.centres.factor,
            n_competing=0 if table.centres is None else int(table.centres.competes.sum()),
            # Satterthwaite's: an area varies with the rows of the rarer class most.
            degrees_of_freedom=sum(1 / n for n in units) ** 2 / sum(1 / (n**2 * (n - 1)) for n in units),
            dependence=self._dependence,
            redraws=table.redraws,
            unseen=unseen_loss(evidence) if is_choice else 0.0,
        )

    @property
    def _dependence(self) -> float:
        """The factor for rows that several models predicted; their number is that of the splits of a repeat."""
        if self.evidence.is_hold_out:
            return 1.0
        repeats = self.evidence.repeat_of_split
        return OF_HALVES if repeats is not None and np.bincount(repeats).max() == 2 else DEPENDENCE

    def _spread(self, seen: float) -> tuple[float, float]:
        """The spread with more rows, and where it was measured; at least ``seen``.

        Of a metric of pairs that of aligned scores alone.
        """
        evidence, metric = self.evidence, self.evidence.metric
        if Flag.NOISE_OF_A_PART in evidence.flags:
            return seen, math.nan  # of so many rows four more change nothing
        # What comes of other rows can be said of classes, and of numbers of one column.
        is_number = evidence.truth.kind is TaskKind.REGRESSION and evidence.truth.values.ndim == 1
        if evidence.truth.classes is None and not is_number:
            return seen, math.nan
        if metric.calls_foreign_code or metric.fits_to_its_rows:
            return seen, math.nan
        predictions = evidence.predictions_of_winner
        scale = self.evidence.details.get("scale_of_value", self.evidence.aggregate)
        in_folds = False
        if evidence.folds is not None and scale != "pooled" and reads_ranks(metric) and alignable(evidence.folds):
            predictions, in_folds = aligned(predictions, evidence.folds), True
        rng = np.random.Generator(np.random.Philox(key=stream(self.evidence.settings.entropy, "more units")))
        predicted = np.nanmean(predictions[:, 0], axis=1)
        more = more_rows(evidence.truth, predicted, self._rows_of_units, self.evidence.settings.n_bootstraps, rng)
        rows = np.r_[np.arange(evidence.truth.n_rows), more.rows]
        truth = replace(evidence.truth.rows(rows), values=np.r_[evidence.truth.values, more.outcomes])
        repeats = np.where(evidence.in_play, np.arange(evidence.in_play.shape[1]), -1).astype(np.int32)
        weights = None if evidence.sample_weight is None else evidence.sample_weight[rows]
        with_more = aggregate_score(metric, truth, predictions[rows], repeats[rows], weights)

        def block(counts: Counts, lanes: slice) -> Floats:
            return with_more.all(np.concatenate([counts, more.counts(lanes)], axis=1))[:, 0]

        scores = np.concatenate([scores for scores, _ in self._map(block)])
        defined = oriented(metric, scores[np.isfinite(scores)])
        if not defined.size:
            return seen, math.nan
        spread = deviation_of(defined) * float(_scale_of(self.evidence.units[0]))
        if spread < seen and not (in_folds and is_pair_based(metric)):
            return seen, math.nan
        return spread, float((defined / unit_of(defined)).mean()) * unit_of(defined)

    @property
    def _rows_of_units(self) -> list[Indices]:
        """Rows, or those of each group; of weight only: the others are as good as absent.

        In the order of time they are rows too: the blocks that are drawn stand for dependence, and are no units.
        """
        weighed = self.evidence.scores.rows_of_weight
        _, of_unit, sizes = np.unique(self.evidence.unit_of_row[weighed], return_inverse=True, return_counts=True)
        return np.split(weighed[np.argsort(of_unit, kind="stable")], np.cumsum(sizes)[:-1])

    def _column(self, score: AggregateScore, stable: AggregateScore, number: int) -> _Column:
        """Of a metric that the rule reads, or of the one that is reported.

        Their noise is that of ``stable``, which does not score a few rows of a fold by themselves.
        """
        observed = oriented(score.metric, score.observed())
        noise = np.empty((self.evidence.settings.n_bootstraps, len(observed)))
        scale = oriented(score.metric, _scale_of(self.evidence.units[0]))

        def block(counts: Counts, lanes: slice) -> None:
            np.multiply(stable.all(counts), scale, out=noise[lanes])

        redraws = sum(number for _, number in self._map(block))
        key = stream(self.evidence.settings.entropy, "silent noise", number)
        return _column(observed, noise, ScoreRange.of(score.metric), key, redraws)

    def _selected(self, read: list[_Column]) -> Indices:
        """(B,): the column that the rule selects in each bootstrap."""
        replay = self.evidence.replay
        ranges = [ScoreRange.of(score.metric) for score in replay.scores]
        # (C, M): from observed scores to centres; NaN for columns without.
        moves = [np.where(column.usable, column.values - column.observed, np.nan) for column in read]
        shift = np.stack(moves, axis=1)

        def values(lanes: slice) -> Floats:
            scores = [column.scores(possible, lanes) for column, possible in zip(read, ranges, strict=True)]
            return scores[0][:, :, None] if len(scores) == 1 else np.stack(scores, axis=2)

        def with_rows(counts: Counts, lanes: slice) -> Indices:
            folds, repeats = (None if part is None else part + shift for part in replay.parts(counts))
            return replay.select(values(lanes), folds, repeats, replay.candidates_of(counts))

        if replay.reads_rows:
            return np.concatenate([columns for columns, _ in self._map(with_rows)])
        blocks = map_draws(lambda first, last: replay.select(values(slice(first, last))), self.evidence)
        return np.concatenate(blocks)

    def _of_ensembles(self, table: _Column, possible: ScoreRange) -> tuple[Choice, Floats, float]:
        evidence, metric = self.evidence, self.evidence.metric
        once = np.ones((1, evidence.truth.n_rows), dtype=np.uint8)

        def block(counts: Counts, lanes: slice) -> tuple[Choice, Floats, Floats]:
            choice = evidence.replay.choice(counts)
            drawn = evidence.score(evidence.scores, choice, counts)
            whole = evidence.score(evidence.scores, choice, np.repeat(once, len(counts), axis=0))
            fixed = self.evidence.scores_of_winner(counts)
            return choice, oriented(metric, drawn - whole), oriented(metric, fixed)

        blocks = [result for result, _ in self._map(block)]
        gains, fixed = (np.concatenate([part[place] for part in blocks]) for place in (1, 2))
        observed = oriented(metric, self.evidence.scores_of_winner(once))[0]
        gains = gains - (np.nanmean(fixed) - observed)  # what a resample does to the metric without any choice
        spread = deviation_of(fixed[np.isfinite(fixed)] * _scale_of(self.evidence.units[0]))
        return joined([part[0] for part in blocks]), gains * self._ratio(table, possible), spread

    def _ratio(self, table: _Column, possible: ScoreRange) -> float:
        """The optimism of the best single candidate around shrunken centres, over that around observed scores."""
        lanes = np.arange(self.evidence.settings.n_bootstraps)
        around_centres = table.scores(possible)
        selected = np.nanargmax(around_centres, axis=1)
        noise = table.noise()
        around_observed = noise + np.where(table.usable, table.observed, np.nan)
        without = float(noise[lanes, np.nanargmax(around_observed, axis=1)].mean())
        gains = [table.noise_of(possible, column)[selected == column] for column in np.unique(selected)]
        with_shrinking = float(np.concatenate(gains).mean())
        return min(max(with_shrinking / without, 1.0), MOST_RATIO) if without > 0 else 1.0

    def _map(self, block: Callable[[Counts, slice], Result]) -> list[tuple[Result, int]]:
        """What a function of counts and of the bootstraps' numbers gives of each block, and its redraws."""
        draws = draws_of(self.evidence, stratify=self.stratify)

        def of_block(first: int, last: int) -> tuple[Result, int]:
            counts, redraws = draws.block(first, last)
            return block(counts, slice(first, last)), redraws

        return map_draws(of_block, self.evidence)
