"""The least width of an interval, for rows that are all alike, so that bootstraps of them show no spread.

If all predictions are right, they are right in every bootstrap, and the percentiles are one number. But n rows that
behave alike do not prove that all rows do. A share ε of rows that behave otherwise is missed with probability
(1 - ε)^n, so ε is at most 1 - α^(1/n) with confidence 1 - α. A mean of losses within [lo, hi] that are all c
therefore lies within [(1 - ε)c + ε lo, (1 - ε)c + ε hi]. For 20 of 20 right this is [.861, 1], the exact binomial
bound. An area under the ROC curve has as many disjoint pairs of rows as its smaller class has rows.

The winner of several candidates may only have been lucky. Its tail is therefore made smaller, as for simultaneous
bounds of that many different candidates (Šidák 1967). Candidates with the same predictions count once.

If a few rows are wrong, bootstraps show some spread, but too little. The interval then reaches at least as far as
the binomial bound (labels), or the score bound with Hanley and McNeil's variance (areas). This bound is not
corrected for the selection, because bootstraps with spread repeat the selection. Simulations:
papers/pages/intervals.md.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaincinv, ndtri
from scipy.stats import rankdata

from heldout._types import Array, Booleans, Floats, Indices
from heldout.data.task import TaskKind, Truth, labels_text
from heldout.estimates.evidence import Candidates, Evidence
from heldout.estimates.intervals import NO_WIDTH, Reached, has_no_width, no_interval, standard_error_of_area
from heldout.estimates.types import Alternative, Interval
from heldout.flags import Flag
from heldout.metrics.aggregate import aggregate_score
from heldout.metrics.base import Metric, Needs, Response, needed_codes, unsigned
from heldout.metrics.ranking import Share, reading_of
from heldout.metrics.row_losses import OfRowLosses

FEW_WRONG = 4
"""Up to so many wrong (or right) rows the bootstraps of labels show too little spread."""
FEW_MISSING = 1
"""The same in trials of the score: disjoint pairs of an area, rows of the smallest class of a recall."""
MOST_MISSING = 0.25
"""The share of such trials up to which a score of labels is near an end of its range."""
MOST_CORRELATED = 2000
"""Rows, and distinct candidates, up to which correlations between candidates are looked at."""


def with_least_width(
    interval: Interval | None,
    evidence: Evidence,
    *,
    pays: bool = True,
    value: float | None = None,
    units: float | None = None,
) -> Reached:
    """The interval of a bootstrap, as wide as it must be at least.

    An end is infinite if the metric has no worst value. There is no interval if both ends would be infinite, or if
    too few bootstraps were drawn to show a spread. ``pays`` corrects the worse end for the choice of the winner.
    ``value`` and ``units`` are the winner's score and the number of independent units that it rests on, where the
    evidence does not hold them.
    """
    # An interval of NaN has its flag already.
    if interval is None or math.isnan(interval.low):
        return Reached(interval, {})
    possible = evidence.metric.range
    # 1 - 1e-17 of a mean of 20 ones is the end of the range; only there are all units known to be alike.
    value = at_end(evidence.uncorrected if value is None else value, possible)
    if not has_no_width(interval):
        # Bootstraps differ, so their percentiles count; they may still be too narrow near an end.
        if value not in possible:
            return _with_alike_classes(_near_an_end(interval, evidence, value), evidence)
        # The winner's score is an end of the range, so all its units are alike, whatever the bootstraps chose.
        return _of_alike(interval, evidence, value, alike_of(evidence, pays=pays, units=units))
    # Fewer than the level asks for (40 at 95 %) can be equal by chance.
    few = evidence.settings.n_bootstraps < 2 / (1 - interval.confidence_level)
    if few and not math.isclose(value, interval.low, rel_tol=NO_WIDTH):
        return no_interval(
            f"the few bootstraps gave the same {evidence.metric.name}, {interval.low:.4g}, which shows no spread"
        )
    # All bootstraps agree, and what they agree on is the score that all units share.
    value = at_end(interval.low, possible)
    # In the middle of the range units differ (half right, half wrong), but those of one class may be alike.
    alike = alike_of(evidence, pays=pays, units=units, within_classes=value not in possible)
    return _of_alike(interval, evidence, value, alike)


def _with_alike_classes(reached: Reached, evidence: Evidence) -> Reached:
    """Wider where all rows of a class are predicted right, or all wrong, and the metric looks at classes.

    A classifier that finds none of 5 ill persons may find up to half of all; bootstraps of these 5 cannot show it.
    """
    interval, metric = reached.interval, evidence.metric
    # An ensemble has no column of labels, and without weights a share of the rows cannot be given other labels.
    if not isinstance(evidence, Candidates) or interval is None:
        return reached
    if evidence.chooses_ensemble or not metric.takes_weights:
        return reached
    # A mean over rows does not look at classes: its rows are alike all together or not at all.
    if not reads_labels(metric) or metric.row_wise:
        return reached
    truth, labels = evidence.truth, evidence.predictions[:, evidence.winner_column]
    assert truth.classes is not None, "labels are of classes"
    low, high, flags = interval.low, interval.high, dict(reached.flags)
    # Each class by itself, at the full tail: a score that is worst for several classes at once is not asked for.
    for code in np.unique(truth.values):
        rows = np.flatnonzero(truth.values == code)
        right = labels[rows][evidence.in_play[rows]] == code
        if not right.size or right.min() != right.max():
            continue
        # One candidate: bootstraps with spread repeat the selection, which pays for it.
        share = Alike(evidence.count_of(truth.values == code), 1).otherwise(interval.tail)
        # What a wrong row would be called instead: the largest other class, which moves precision most probably.
        other_codes = truth.values[truth.values != code]
        other = code if not right[0] else int(np.bincount(other_codes).argmax()) if other_codes.size else code
        score = _score_with(evidence, labels, rows, other, share)
        if score < low or score > high:
            low, high = min(low, score), max(high, score)
            flags |= Flag.ALIKE_CLASS.of(
                metric=metric.name,
                rows=len(rows),
                label=labels_text(truth.classes[code : code + 1]),
                result="right" if right[0] else "wrong",
                share=share,
            )
    return Reached(replace(interval, low=low, high=high), flags)


def _score_with(evidence: Candidates, labels: Array, rows: Indices, other: int, share: float) -> float:
    """The winner's score if a share of some rows had another label."""
    # Rows of the class stand twice: with their label, and with the other one at the share of their weight.
    every = np.r_[np.arange(len(labels)), rows]
    weights = np.ones(len(labels)) if evidence.sample_weight is None else evidence.sample_weight.copy()
    otherwise = share * weights[rows]
    weights[rows] *= 1 - share
    predicted = np.concatenate([labels, np.full_like(labels[rows], other)])[:, None]
    repeats = np.where(evidence.in_play, np.arange(evidence.in_play.shape[1]), -1).astype(np.int32)[every]
    weights = np.r_[weights, otherwise]
    score = aggregate_score(evidence.metric, evidence.truth.rows(every), predicted, repeats, weights)
    return float(score.observed()[0])


def at_end(value: float, possible: tuple[float, float]) -> float:
    """The end of a finite range that a value is but for rounding; the value itself otherwise."""
    width = possible[1] - possible[0]
    # Without a finite range there is no width of which a rounding error is a share.
    near = [end for end in possible if math.isfinite(width) and abs(value - end) <= NO_WIDTH * width]
    return near[0] if near else value


@dataclass(frozen=True)
class Alike:
    """Units (rows, pairs, folds) that all behave alike.

    Examples
    --------
    >>> print(Alike(20, 1).interval(1.0, (0.0, 1.0), True, 0.95, "two-sided"))
    [0.8609, 1] (95%)
    >>> print(Alike(20, 50).interval(1.0, (0.0, 1.0), True, 0.95, "two-sided"))
    [0.7088, 1] (95%)
    """

    units: float  # how many; of unequal weight, as many as they count for
    candidates: float  # among how many different candidates the choice was, 1 where there was none

    def otherwise(self, tail: float) -> float:
        """The greatest share of units that may behave otherwise, with confidence 1 - ``tail``."""
        # expm1 and log, as 1 - α^(1/n) loses all digits for a million rows.
        return -math.expm1(math.log(tail) / max(self.units, 1.0))

    def interval(
        self,
        value: float,
        possible: tuple[float, float],
        greater_is_better: bool,
        level: float,
        alternative: Alternative,
    ) -> Interval:
        """The interval of a value that all units share, within the metric's range.

        If the value is an end of the range, the whole tail goes to the other side.
        """
        least, greatest = possible
        # At accuracy 1 nothing lies above, so the whole tail is below.
        sides = (value > least) + (value < greatest) if alternative == "two-sided" else 1
        tail = (1 - level) / max(sides, 1)
        # Šidák: as if that many bounds had to hold at once; only the better side flatters, so only the worse end
        # pays.
        paid = -math.expm1(math.log1p(-tail) / self.candidates)
        below, above = (paid, tail) if greater_is_better else (tail, paid)
        low = _mixed(value, least, self.otherwise(below))
        high = _mixed(value, greatest, self.otherwise(above))
        if alternative != "two-sided":
            bounded_below = (alternative == "greater") == greater_is_better
            low, high = (low, greatest) if bounded_below else (least, high)
        return Interval(low, high, level, alternative)


def _mixed(value: float, end: float, share: float) -> float:
    # An infinite end times a share of 0 is NaN; a value at that end is the end.
    return value if value == end else (1 - share) * value + share * end


def alike_of(
    evidence: Evidence, *, pays: bool = True, units: float | None = None, within_classes: bool = False
) -> Alike:
    """How many units a winner was alike on, and among how many different candidates it was chosen."""
    candidates = different_candidates(evidence) if pays and evidence.was_selected else 1.0
    return Alike(units_of(evidence, within_classes=within_classes) if units is None else units, candidates)


def _of_alike(interval: Interval, evidence: Evidence, value: float, alike: Alike) -> Reached:
    metric = evidence.metric
    bound = alike.interval(
        value, metric.range, metric.greater_is_better, interval.confidence_level, interval.alternative
    )
    low, high = min(interval.low, bound.low), max(interval.high, bound.high)
    # Both ends open say nothing that an interval could.
    if math.isinf(low) and math.isinf(high):
        return no_interval(
            f"all bootstraps gave the same {metric.name}, {value:.4g}, and other rows could give any"
        )
    sentence = Flag.NO_SPREAD.filled(
        metric=metric.name,
        value=value,
        units=f"{round(alike.units, 1):,.10g}",
        # Below 1.5 the text would speak of 1 different candidate.
        choice=f" of any of about {alike.candidates:.0f} different candidates" if alike.candidates >= 1.5 else "",
        endless=f" {metric.name} has no worst value, so that end is open." if np.isinf([low, high]).any() else "",
    )
    return Reached(replace(interval, low=low, high=high), {Flag.NO_SPREAD: sentence})


def units_of(evidence: Evidence, *, within_classes: bool = False) -> float:
    """How many independent units the winner's score rests on.

    Rows, or groups, as they weigh: of the smallest class that the metric needs, or that the winner predicts (a
    precision rests on those); half of them where the metric compares rows with each other, or the number of events.
    From fold scores alone, the folds of a repeat. ``within_classes``: rows may be alike in each class only, of
    which the smallest counts.
    """
    if not isinstance(evidence, Candidates):
        repeats = evidence.repeat_of_split
        return float(evidence.n_rows_used if repeats is None else np.bincount(repeats).max())
    truth, metric = evidence.truth, evidence.metric
    total = evidence.count_of(_all(truth))
    # Every row counts in a mean over rows, whatever its class.
    if metric.row_wise and not (within_classes and truth.classes is not None):
        return total
    # Without classes a pair needs two rows; a concordance needs an event in each.
    if truth.classes is None:
        events = truth.values["event"] if metric.needs is Needs.PAIR else _all(truth)
        return max(min(evidence.count_of(events), total / 2), 1.0)
    codes = range(truth.n_classes) if within_classes else needed_codes(metric, truth)
    # The fewest of all: a recall rests on the class's rows, a precision on the rows that are predicted to be of it.
    return min([total, *_units_of_codes(evidence, codes)])


def _units_of_codes(evidence: Candidates, codes: Iterable[int]) -> list[float]:
    """How many units are of each class, and how many the winner predicts to be, where there are any."""
    counts = []
    for code in codes:
        counts.append(evidence.count_of(evidence.truth.values == code))
        if reads_labels(evidence.metric):
            predicted = evidence.predictions[:, evidence.winner_column] == code
            counts.append(evidence.count_of(predicted.any(axis=1)))
    return [count for count in counts if count > 0]


def reads_labels(metric: Metric) -> bool:
    return tuple(metric.responses) == (Response.LABELS,)


def different_candidates(evidence: Evidence) -> float:
    """The effective number of candidates: 1 + (c - 1)(1 - mean r²) for c distinct ones (Nyholt 2004, equation 5).

    r² is the squared correlation of two candidates' errors, minus its expected value for independent errors. Copies
    of a candidate add nothing, and candidates with independent errors count fully.
    """
    if not isinstance(evidence, Candidates):
        return float(len(evidence.candidates) if evidence.fold_scores is None else distinct(evidence.fold_scores))
    errors = errors_of(evidence)
    # Independent candidates count fully, copies not at all: the number of chances to be lucky.
    return 1.0 + (distinct(errors) - 1.0) * (1.0 - mean_square_correlation(errors))


def distinct(columns: Array) -> int:
    """How many different columns (n, C) or (n, C, outputs) there are."""
    # By their bytes: NaN equals NaN there, and a set is faster than comparing all pairs.
    return len({np.ascontiguousarray(columns[:, j]).tobytes() for j in range(columns.shape[1])})


def errors_of(evidence: Candidates) -> Array:
    """(cells, C) or (cells, C, outputs): errors by which candidates differ, on rows and repeats in play.

    For labels, whether each is right, on all rows because errors may be rare. For numbers, their errors; for scores
    and risks, their ranks within classes; both on some thousands of rows.
    """
    row, repeat = np.nonzero(evidence.in_play)
    # Few of a thousand labels may be wrong, so all rows are needed; numbers differ on every row.
    labels = evidence.predictions.dtype.kind in "iub"
    some = slice(None, None, 1 if labels else max(1, -(-len(row) // MOST_CORRELATED)))
    row, repeat = row[some], repeat[some]
    played, values = np.moveaxis(evidence.predictions, 2, 1)[row, repeat], evidence.truth.values[row]
    # Probabilities of several classes have no single error.
    if played.ndim > 2:
        return played
    if labels:
        return played == values[:, None]
    if evidence.truth.values.dtype.kind == "f":
        return played - values[:, None]
    # Within classes, because any two good models rank positives above negatives, and would seem alike for that.
    return _ranks_within_classes(played, values)


def _ranks_within_classes(scores: Floats, codes: Array) -> Floats:
    ranks: Floats = rankdata(scores, axis=0)
    if codes.dtype.kind not in "iu":
        return ranks
    for code in np.unique(codes):
        ranks[codes == code] -= ranks[codes == code].mean(axis=0)
    return ranks


def mean_square_correlation(errors: Array) -> float:
    """The mean of r² over pairs of distinct columns, minus its expected value for independent ones; 0 to 1.

    Columns without spread count as uncorrelated. For very many columns it is 0, which can only widen the interval.
    """
    if errors.ndim > 2:
        return 0.0
    # At 2000 rows a correlation has an error of about .02, and more rows would only take time.
    steps = max(1, -(-len(errors) // MOST_CORRELATED))
    columns = np.unique(errors[::steps], axis=1).astype(np.float64)
    n, total = columns.shape
    # No pair to correlate, or too many for a matrix: uncorrelated is the cautious answer.
    if not 1 < total <= MOST_CORRELATED or n < 3:
        return 0.0
    # By powers of two, which change no digit: squares of numbers near the end of float64 would be infinite.
    with np.errstate(invalid="ignore"):  # infinite errors, which are correlated with none
        columns = np.ldexp(columns, -np.frexp(np.abs(columns).max(axis=0))[1])
        columns -= columns.mean(axis=0)
        size = np.sqrt((columns**2).sum(axis=0))
    spread = (size > 0) & np.isfinite(size)
    columns = columns[:, spread] / size[spread]
    # The sum of squares of both products is the same, so the smaller one is made.
    gram = columns.T @ columns if len(columns.T) <= n else columns @ columns.T
    # Less the diagonal, which is each column with itself. Columns without spread count in the total, as
    # uncorrelated.
    square = (float((gram**2).sum()) - columns.shape[1]) / (total * (total - 1))
    by_chance = 1 / (n - 1)
    return min(max((square - by_chance) / (1 - by_chance), 0.0), 1.0)


def _near_an_end(interval: Interval, evidence: Evidence, value: float) -> Reached:
    """The interval reaching at least as far as the bound for few wrong rows, or few right ones."""
    metric, (least, greatest) = evidence.metric, evidence.metric.range
    # Of an infinite range no value is near an end.
    if not isinstance(evidence, Candidates) or evidence.chooses_ensemble or not math.isfinite(greatest - least):
        return Reached(interval, {})
    share = (value - least) / (greatest - least)
    at_high = share > 0.5
    find: Callable[..., _Bound | None] = _of_few_pairs
    if _wrong(evidence) is not None:
        find = partial(_of_few_labels, at_worst=at_high != metric.greater_is_better)
    bound = find(evidence, max(share, 1 - share), interval.tail)
    if bound is None:
        return Reached(interval, {})
    reach = bound.error * (greatest - least)
    # Only the end towards the middle: the other one is the end of the range, which nothing lies beyond.
    low = min(interval.low, greatest - reach) if at_high else interval.low
    high = interval.high if at_high else max(interval.high, least + reach)
    if (low, high) == (interval.low, interval.high):
        return Reached(interval, {})
    sentence = Flag.LITTLE_SPREAD.filled(
        metric=metric.name, value=value, missing=bound.missing, trials=bound.trials, bound=bound.by
    )
    return Reached(replace(interval, low=low, high=high), {Flag.LITTLE_SPREAD: sentence})


class _Bound(NamedTuple):
    """The distance of the bound from the end of the range, and the score as misses in a number of trials."""

    error: float
    missing: float
    trials: float
    by: str


def _of_few_labels(evidence: Candidates, share: float, tail: float, *, at_worst: bool) -> _Bound | None:
    """The bound if few labels are wrong, or few right; None if there is enough spread."""
    wrong, total = wrong_rows(evidence), evidence.count_of(_all(evidence.truth))
    trials = units_of(evidence)
    if at_worst and not evidence.metric.row_wise:
        # A recall of 3 of 20 is not one of 3 trials if the model predicts 3 rows to be positive.
        trials = max(_units_of_codes(evidence, needed_codes(evidence.metric, evidence.truth)), default=trials)
    missing = trials * (1 - share)
    few_missing = missing <= FEW_MISSING and 1 - share <= MOST_MISSING
    if min(wrong, total - wrong) > FEW_WRONG and not few_missing:
        return None
    # A little above 0 where all trials miss, for which the distribution is not defined.
    error = 1 - float(betaincinv(max(trials - missing, 1e-9), missing + 1, tail))
    return _Bound(error, missing, trials, "the exact binomial bound")


def _of_few_pairs(evidence: Candidates, share: float, tail: float) -> _Bound | None:
    """The bound of an area if less than one disjoint pair is misplaced; None if there is enough spread."""
    if evidence.truth.kind is not TaskKind.BINARY:
        return None
    classes = [evidence.count_of(evidence.truth.values == code) for code in (0, 1)]
    # There are as many disjoint pairs as the smaller class has rows.
    missing = min(classes) * (1 - share)
    if missing > FEW_MISSING:
        return None
    reading = reading_of(evidence.metric, evidence.truth.kind)
    if reading is None or reading.share is not Share.AUC:
        return None
    error = 1 - least_area(share, classes, tail)
    return _Bound(error, missing, min(classes), "the score bound with Hanley and McNeil's variance")


def least_area(area: float, classes: Sequence[float], tail: float) -> float:
    """The least area A from which the observed one is no more than z standard errors of A away.

    Unlike a standard error of the observed area, one of A is not 0 where the observed area is 1.

    Examples
    --------
    >>> round(least_area(0.99, [50, 50], 0.025), 3)
    0.942
    """
    z = -float(ndtri(tail))

    def beyond(least: float) -> float:
        return area - least - z * standard_error_of_area(least, *classes)

    # Where even an area of 0 is near enough there is no root to be found.
    return float(brentq(beyond, 1e-9, area)) if beyond(1e-9) > 0 else 0.0


def wrong_rows(evidence: Candidates) -> float:
    """How many units the winner predicts wrong, the mean over repeats, as they weigh."""
    cells = _wrong(evidence)
    assert cells is not None, "asked of labels, and of rows that are right or wrong"
    wrong = cells & evidence.in_play
    # Rows in no repeat divide by 1 and are wrong in none.
    shares = wrong.sum(axis=1) / np.maximum(evidence.in_play.sum(axis=1), 1)
    weights = evidence.sample_weight
    share = float(np.average(shares, weights=weights))
    return share * evidence.count_of(_all(evidence.truth))


def _wrong(evidence: Candidates) -> Booleans | None:
    """(n, R): where the winner is wrong; None where rows are not right or wrong."""
    metric, predictions = unsigned(evidence.metric), evidence.predictions[:, evidence.winner_column]
    if reads_labels(metric):
        return np.asarray(predictions != evidence.truth.values[:, None])
    if not isinstance(metric, OfRowLosses) or metric.calls_foreign_code or not evidence.in_play.all():
        return None
    losses = metric.losses(evidence.truth, predictions)
    return losses if losses.dtype == np.bool_ else None


def _all(truth: Truth) -> Booleans:
    return np.ones(truth.n_rows, dtype=bool)
