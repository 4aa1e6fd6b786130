"""Flags of the data: folds and rows that say something about a score before any method has used it.

Of folds: some without what the metric needs, some too small for what a bootstrap leaves out of them, and scores of
folds that are on no common scale. Folds are drawn at random, so among rows with the same outcome the scores of one
fold should look like those of any other, but for the noise of models that were trained on different rows. Scores
are ranked within each stratum of outcomes. Two F tests on these ranks ask whether scores are higher in some folds,
and whether they spread more there, by more than such noise explains.

Of rows: clipped probabilities, and errors so large that few rows count.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import fdtrc
from scipy.stats import rankdata

from heldout import _defaults
from heldout._text import counted
from heldout._types import Array, Booleans, Codes, Floats, Indices
from heldout.data.row_part import row_part
from heldout.data.task import TaskKind, Truth, labels_text
from heldout.errors import InputError
from heldout.estimates.candidates import Matrix
from heldout.estimates.evidence import Candidates, Evidence
from heldout.flags import Flag
from heldout.metrics.aggregate import AggregateScore, reads_ranks, row_scores
from heldout.metrics.base import Metric, Needs, Response, is_pair_based, needs_of_score
from heldout.metrics.classification import Accuracy
from heldout.metrics.ranking import RocAuc
from heldout.metrics.row_losses import effective_size
from heldout.predictions import HeldOutPredictions

LEAST_DIFFERENCE = 0.035
"""Of the metric's range: a difference between pooled and within-fold values that changes what one would report."""
FALSE_ALARMS = 0.01
"""How often folds whose models differ as ordinary ones do are called different by the rank tests, at most."""
ORDINARY_SHIFT, ORDINARY_SPREAD = 0.08, 0.15
"""How much models of different folds differ without harm: the variance between folds of ranks, and of squares,
in units of that between rows. Of 1888 models of 55 tables (60 to 1000 rows, 5 and 10 folds) 1.9 % are flagged."""
FEWEST_IN_FOLD = 8
FEWEST_FOR_A_SPREAD = 100
SHOWN_FOLDS = 5
SAME = 1e-9
"""Relative difference of two scores that differ by rounding errors only."""
OF_FEW_ROWS = ", because each fold has few rows"
CLEARLY = 0.5
"""Standard errors of a mean over folds; a pooled score that differs by more is flagged."""


FEW_GROUPS = 10
SHOWN = 3


def flags_of_matrix(matrix: Matrix) -> dict[Flag, str]:
    """What to know of the configurations and rows that are left out, and of the rows that are drawn."""
    predictions, groups = matrix.predictions, matrix.question.groups
    in_play = np.zeros((predictions.n_rows, predictions.n_repeats), dtype=bool)
    in_play[matrix.rows] = matrix.in_play
    flags = {
        **predictions.flags,
        **flags_of_predictions(predictions, matrix.failed, len(matrix.candidates), in_play, predictions.n_rows),
    }
    if groups is None and predictions.grouped:
        flags |= Flag.GROUPS_NOT_GIVEN.of()
    if predictions.adaptive and not matrix.question.metric.reads_truth:
        flags |= flag_of_adaptive(len(matrix.candidates), predictions.n_rows, ways=WAYS_OF_SCORES)
    return flags | flags_of_groups(None if groups is None else groups[matrix.used])


def flags_of_predictions(
    predictions: HeldOutPredictions, failed: Mapping[int, str], n_candidates: int, in_play: Booleans, n_rows: int
) -> dict[Flag, str]:
    """What to know of the configurations and cells (N, R) of a search that do not take part."""
    flags = flag_of_failed(predictions.names, failed)
    if predictions.dropped:
        remaining = predictions.n_configurations - len(predictions.out)
        flags |= Flag.DROPPED_CONFIGURATIONS.of(
            dropped=len(predictions.dropped),
            total=predictions.n_configurations,
            remaining="one" if remaining == 1 else remaining,
        )
    if predictions.training_range is not None:
        least, most = predictions.training_range
        flags |= Flag.GROWING_TRAINING_SETS.of(
            least=least, most=most, total=predictions.n_rows, mean=predictions.training_rows
        )
    flags |= flag_of_incomplete(in_play)
    if not predictions.exchangeable:
        flags |= Flag.NOT_EXCHANGEABLE.of()
    return flags | (flag_of_adaptive(n_candidates, n_rows) if predictions.adaptive else {})


def flag_of_failed(names: Sequence[str], failed: Mapping[int, str]) -> dict[Flag, str]:
    """The flag of configurations that failed, with the names of the first few."""
    if not failed:
        return {}
    shown = "; ".join(f"{names[j]} ({failed[j]})" for j in sorted(failed)[:SHOWN])
    more = f"; and {len(failed) - SHOWN} more" if len(failed) > SHOWN else ""
    return Flag.FAILED_CONFIGURATIONS.of(failed=len(failed), total=len(names), which=shown + more)


def flag_of_incomplete(in_play: Booleans) -> dict[Flag, str]:
    """The flag of rows without predictions, from the cells (N, R) that have them."""
    if in_play.all():
        return {}
    used = in_play.any(axis=1)
    share = in_play[used].mean()
    often = "" if share == 1 else f" (each in {share:.0%} of the repeats on average)"
    return Flag.INCOMPLETE_PREDICTIONS.of(used=int(used.sum()), total=len(in_play), often=often)


def flags_of_groups(groups: Array | None) -> dict[Flag, str]:
    """The flag of few groups to draw from; of rows without groups there is none."""
    if groups is None or (n_groups := len(np.unique(groups))) >= FEW_GROUPS:
        return {}
    return Flag.FEW_GROUPS.of(groups=n_groups)


SIZE_ON_FEW_ROWS = (
    " On 60 rows of pure noise, where the truth is 0.5, the best of 200 trials of Optuna's TPE sampler had 0.683 "
    "uncorrected and 0.604 by bbc; after a random search bbc gave 0.526."
)
FEW_ROWS = 300
"""Rows up to which that says something of the data at hand."""


WAYS_OF_SEARCHES = (
    "Two ways have no such optimism: the short searches without the rows of a fold that HeldOutOptunaSearchCV and "
    "heldout tune --search optuna make by default, for 0.3 more fits, and nested cross-validation that repeats the "
    "whole search."
)
WAYS_OF_SCORES = (
    "Two ways have no such optimism: fresh rows for the winner, or halves (`ho.split_items`), of which one is for "
    "proposals and the other for the selection and the estimate."
)
"""What to do where nothing is fitted again."""


def flag_of_adaptive(
    n_candidates: int, n_rows: int | None, why: str = "", *, ways: str = WAYS_OF_SEARCHES
) -> dict[Flag, str]:
    """The flag of an adaptive search, of which so many configurations can be selected.

    ``why``: a sentence on why it was not cross-fitted.
    """
    size = SIZE_ON_FEW_ROWS if n_rows is not None and n_rows <= FEW_ROWS else ""
    candidates = counted(n_candidates, "configuration")
    return Flag.ADAPTIVE_SEARCH.of(candidates=candidates, size=size, why=f" {why}" if why else "", ways=ways)


def flags_of_segments(scores: AggregateScore, truth: Truth, folds: Codes) -> dict[Flag, str]:
    """The flags of folds without what the metric needs; ``folds`` (n, R) are those of the rows scored."""
    defined = scores.defined_segments(np.ones((1, scores.n_rows), dtype=np.uint8))[0]
    metric, flags, total = scores.metric, dict[Flag, str](), len(defined)
    if not defined.any():
        raise InputError(
            f"{metric.name} is undefined in every fold (each needs {needs_of_score(metric, truth)}); use larger "
            "folds or `aggregate='pooled'`."
        )
    # The first row of a fold tells which fold of which repeat it is; segments themselves have no label.
    if not defined.all():
        lacking = [scores.segments[number] for number in np.flatnonzero(~defined).tolist()]
        places = [(fold.repeat, int(folds[fold.rows[0], fold.repeat])) for fold in lacking]
        flags |= flag_of_undefined_folds(metric, truth, places, total)
    if scores.degenerate_segments:
        flags |= Flag.DEGENERATE_FOLDS.of(
            degenerate=scores.degenerate_segments, total=total, needs=metric.needs, metric=metric.name
        )
    return flags


def flag_of_undefined_folds(
    metric: Metric, truth: Truth, places: Sequence[tuple[int, int]], total: int
) -> dict[Flag, str]:
    """The flag of folds, by (repeat, fold), in which a metric is undefined."""
    listed = ", ".join(f"fold {fold} of repeat {repeat}" for repeat, fold in places[:SHOWN_FOLDS])
    more = f" and {len(places) - SHOWN_FOLDS} more" if len(places) > SHOWN_FOLDS else ""
    needs = needs_of_score(metric, truth)
    return Flag.UNDEFINED_FOLDS.of(
        metric=metric.name, undefined=len(places), total=total, needs=needs, which=listed + more
    )


def too_small_out_of_bag(metric: Metric, truth: Truth, segments: Codes) -> str | None:
    """The sentence for folds too small for what a bootstrap leaves out of them; None where they are not.

    A fold of 8 rows leaves about 3 out of the bag. A mean over rows can do with that; a ratio to the spread of the
    target (R2) cannot, because a few rows may have next to no spread.
    """
    fewest = FEWEST_FOR_A_SPREAD if metric.needs is Needs.TWO_VALUES else FEWEST_IN_FOLD
    least, what = truth.n_rows, "data"
    for repeat in range(segments.shape[1]):
        for code in np.unique(segments[segments[:, repeat] >= 0, repeat]):
            values = truth.values[segments[:, repeat] == code]
            # Rows without an event make no pair by themselves, so events are what a bootstrap may run out of.
            if metric.needs is Needs.PAIR and values["event"].sum() < least:
                least, what = int(values["event"].sum()), "observed events"
            if truth.classes is None:
                least = min(least, len(values))
                continue
            counts = np.bincount(values, minlength=truth.n_classes)
            if counts.min() < least:
                least = int(counts.min())
                what = f"class {labels_text([truth.classes[counts.argmin()]])}"
    if least >= fewest:
        return None
    return Flag.OUT_OF_BAG_POOLED.filled(least=least, what=what, fewest=fewest, metric=metric.name)


def flags_of_scales(evidence: Candidates) -> dict[Flag, str]:
    """The flags of a winner whose score over folds differs from that on all rows, though folds are comparable."""
    metric, scales = evidence.scores.metric, evidence.scales
    if evidence.by_fold is None or is_pair_based(metric):
        return {}
    if scales.value != scales.selection:
        return _flag_of_value(evidence)
    if evidence.scores is not evidence.by_fold or metric.row_wise or evidence.matrix.part is not None:
        return {}
    return _flag_of_small_folds(evidence)


def flag_of_incomparable_folds(evidence: Candidates) -> dict[Flag, str]:
    """The flag of folds whose models are on no common scale: their score and that on all rows differ clearly.

    Clearly is by at least ``LEAST_DIFFERENCE`` of the metric's range, while folds whose models differ as ordinary
    ones do would differ as these do once in a hundred times.
    """
    if evidence.by_fold is None or evidence.scores is evidence.by_fold:
        return {}  # a mean over folds compares no rows of different folds
    asked = "incomparable folds"
    if asked not in evidence.kept:
        evidence.kept[asked] = _incomparable(evidence)
    flags: dict[Flag, str] = evidence.kept[asked]
    return flags


def _incomparable(evidence: Candidates) -> dict[Flag, str]:
    matrix, predictions, metric = evidence.matrix, evidence.predictions_of_winner, evidence.scores.metric
    folds = evidence.folds
    if is_pair_based(metric):
        metric = metric.share_of_pairs
    # A metric that reads ranks alone (average precision) shows a shift between folds best by the area, whose pairs
    # can be counted within folds.
    elif evidence.scales == ("folds", "pooled") and reads_ranks(metric) and evidence.truth.positive is not None:
        metric = RocAuc(metric.responses)
    else:
        return {}
    assert folds is not None, "compared where they are known"
    within = float(matrix.score_of(predictions, metric, "within").observed()[0])
    pooled = float(matrix.score_of(predictions, metric, "pooled").observed()[0])
    # Relative to the range: .035 of a concordance and of an accuracy are alike, and so are those of metrics from -1
    # to 1.
    low, high = metric.range
    if not abs(within - pooled) >= LEAST_DIFFERENCE * (high - low):
        return {}
    units = evidence.unit_of_row
    chances = [
        chance_of_such_folds(
            np.asarray(predictions[rows, 0, repeat], dtype=np.float64).reshape(len(rows), -1),
            strata_of(evidence.truth)[rows],
            folds[rows, repeat].astype(np.intp),
            units[rows],
        )
        for repeat in range(folds.shape[1])
        if len(rows := np.flatnonzero(folds[:, repeat] >= 0))
    ]
    # Several repeats are several tries: the least p-value times their number (Bonferroni).
    if min(chances) * len(chances) > FALSE_ALARMS:
        return {}
    return Flag.INCOMPARABLE_FOLDS.of(
        metric=metric.name, winner=evidence.names[evidence.winner], within=within, pooled=pooled
    )


def _flag_of_value(evidence: Candidates) -> dict[Flag, str]:
    """The flag of a value that is on another scale than the score by which the winner was selected."""
    once = np.ones((1, evidence.truth.n_rows), dtype=np.uint8)
    by_fold, pooled = float(evidence.scores_of_winner(once, evidence.by_fold)[0]), evidence.uncorrected
    # The same number but for rounding, as of folds of equal size, needs no flag.
    if np.isclose(by_fold, pooled, rtol=SAME, atol=0, equal_nan=True):
        return {}
    relation = "lower" if by_fold < pooled else "higher"
    metric = evidence.scores.metric.name
    return Flag.SCALE_OF_VALUE.of(metric=metric, folds=by_fold, relation=relation, why=OF_FEW_ROWS)


def _flag_of_small_folds(evidence: Candidates) -> dict[Flag, str]:
    """The flag where the mean over folds and the score on all rows differ by ``CLEARLY`` standard errors."""
    matrix, metric, folds = evidence.matrix, evidence.metric, evidence.folds
    predictions = evidence.predictions_of_winner
    assert folds is not None, "flags_of_scales says so"
    by_fold = matrix.score_of(predictions, metric, "folds").observed_by_segment()[:, 0]
    pooled = float(matrix.score_of(predictions, metric, "pooled").observed()[0])
    defined = by_fold[np.isfinite(by_fold)]
    if len(defined) < 2:
        return {}
    # Folds of one repeat are independent but for shared training rows; repeats of the same rows add no independent
    # folds.
    error = defined.std(ddof=1) / np.sqrt(len(defined) / folds.shape[1])
    if not abs(defined.mean() - pooled) > CLEARLY * error:
        return {}
    rows = int(np.median(np.unique(folds[folds >= 0], return_counts=True)[1]))
    mean = float(defined.mean())
    return Flag.SMALL_FOLDS.of(
        metric=metric.name, winner=evidence.names[evidence.winner], folds=mean, pooled=pooled, rows=rows
    )


def strata_of(truth: Truth) -> Indices:
    """(n,): rows of one code have outcomes alike: a class, or whether the event was seen."""
    values = truth.values["event"] if truth.kind is TaskKind.SURVIVAL else truth.values
    return np.asarray(values).astype(np.intp)


def chance_of_such_folds(scores: Floats, strata: Indices, folds: Indices, units: Indices) -> float:
    """The p-value of folds that differ so much in where scores lie and how they spread.

    Scores (n, columns) are of one configuration: one column, or one a class, of which the least p-value counts,
    times their number. Rows of one unit (a group) do not count as independent, and are averaged within a stratum.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores, folds = rng.normal(size=(60, 1)), np.arange(60) % 6
    >>> strata = np.repeat([0, 1], 30)
    >>> bool(chance_of_such_folds(scores, strata, folds, np.arange(60)) > 0.05)
    True
    >>> bool(chance_of_such_folds(scores + folds[:, None], strata, folds, np.arange(60)) < 0.001)
    True
    """
    # Groups have one prediction each here, or a group of a hundred rows would count as a hundred.
    keys, where = np.unique(np.stack([strata, folds, units]), axis=1, return_inverse=True)
    where = where.ravel()
    chances = []
    for column in scores.T:
        aligned = _aligned(np.bincount(where, column) / np.bincount(where), keys[0])
        # A shift moves the ranks of a fold; a spread moves their squares, as where one model is much more
        # confident.
        for measure, ordinary in ((aligned, ORDINARY_SHIFT), (_aligned(aligned**2, keys[0]), ORDINARY_SPREAD)):
            chances.append(_chance(measure, keys[1], len(np.unique(keys[0])), ordinary))
    return min(1.0, min(chances) * len(chances))


def _aligned(values: Floats, strata: Indices) -> Floats:
    """Ranks within each stratum, from -1/2 to 1/2."""
    aligned = np.zeros(len(values))
    for stratum in np.unique(strata):
        rows = strata == stratum
        # Divided by n + 1, so that ranks are symmetric around 0 whatever the size of the stratum.
        aligned[rows] = rankdata(values[rows]) / (rows.sum() + 1) - 0.5
    return aligned


def _chance(values: Floats, folds: Indices, n_strata: int, ordinary: float) -> float:
    """The p-value of folds whose means differ so much; 1 where there is nothing to compare.

    Means of folds of m rows whose own variance is ``ordinary`` times that of rows vary 1 + m · ``ordinary`` times
    as much as means of rows that are drawn at random.
    """
    codes, place = np.unique(folds, return_inverse=True)
    total, freedom = float(values @ values), len(codes) - 1
    rest = len(values) - n_strata - freedom
    if freedom < 1 or rest < 1 or total == 0:
        return 1.0
    between = float((np.bincount(place, values) ** 2 / np.bincount(place)).sum())
    # Folds that explain everything leave nothing within; the least number above 0 makes the ratio huge instead of
    # undefined.
    inside = max(total - between, total * np.finfo(float).eps) / rest
    allowance = 1 + len(values) / len(codes) * ordinary
    return float(fdtrc(freedom, rest, between / freedom / inside / allowance))


FEWEST_SHARE = 1 / 6
"""Of the rows. Normal errors have a third; they fall below a sixth in under 1 % of samples, of whatever size."""
ENOUGH = 30
"""Rows that carry squared errors, beyond which these are steady however many rows there are."""
MOST_COLUMNS = 50
"""Candidates whose errors are looked at, beside the winner's."""


def flags_of_rows(evidence: Candidates) -> dict[Flag, str]:
    """What to know of the rows that the reported score of what was chosen rests on."""
    metric, predictions, counted = evidence.metric, evidence.predictions_of_winner, evidence.cells_of_weight
    of_winner = _clipped(metric, evidence.truth, predictions, counted)
    if of_winner is not None:
        typical = 0
        if not evidence.chooses_ensemble:  # an ensemble averages what is clipped of its members
            # One by one: those of several classes are most of the memory.
            columns = (evidence.predictions[:, column : column + 1] for column in _some_columns(evidence))
            some = [_clipped(metric, evidence.truth, column, counted) for column in columns]
            typical = int(np.median([np.zeros(1) if one is None else one for one in some]))
        # A winner may have been chosen for having none, where the others that bootstraps choose have some.
        which, clipped = evidence.winner_name, int(of_winner[0])
        if not clipped:
            which, clipped = "the median configuration", typical
        if not clipped:
            return {}
        total = int(counted.sum())
        return Flag.CLIPPED_PROBABILITIES.of(metric=metric.name, clipped=clipped, total=total, which=which)
    return _flag_of_errors(evidence, predictions) if metric.squares_errors else {}


def effective_errors(squares: Floats) -> float:
    """As how many equal ones squared errors count, (Σs)²/Σs²; NaN where all are 0.

    Examples
    --------
    >>> effective_errors(np.array([4.0, 4.0, 0.0])), effective_errors(np.array([1e200, 1.0]))
    (2.0, 1.0)
    """
    largest = squares.max(initial=0.0)
    return effective_size(squares / largest) if 0 < largest < np.inf else float("nan")


ENOUGH_OF_A_PART = 100
"""Rows of a part that carry the deviation of a mean: with so many its standard error is right to within 5 %."""


def carry_enough(evidence: Candidates) -> bool:
    """Whether so many rows of a part carry the deviations of the winner's predictions that they show its noise."""
    return rows_that_carry(evidence) >= ENOUGH_OF_A_PART


def rows_that_carry(evidence: Candidates) -> float:
    """As how many equal rows these deviations count: of few errors, these; infinite if unknown."""
    metric = evidence.metric
    if not metric.row_wise and Response.LABELS in metric.responses:
        metric = Accuracy()
    rows = np.flatnonzero(evidence.in_play[:, 0])
    scores = row_scores(metric, evidence.truth.rows(rows), evidence.predictions_of_winner[rows, :, 0])
    return np.inf if scores is None else effective_errors((scores[:, 0] - scores.mean()) ** 2)


def _flag_of_errors(evidence: Candidates, predictions: Array) -> dict[Flag, str]:
    """The flag of squared errors that few rows carry: those of the winner, or those of the median candidate.

    A winner may have been chosen for having no large error, where all others have one.
    """
    weights = np.ones(evidence.truth.n_rows) if evidence.sample_weight is None else evidence.sample_weight
    of_winner = _effective(evidence, predictions[:, 0], weights)
    sizes = [_effective(evidence, evidence.predictions[:, column], weights) for column in _some_columns(evidence)]
    numbers = [size for size in sizes if not np.isnan(size)]
    typical = float(np.median(numbers)) if numbers else float("nan")
    total = int(np.count_nonzero(weights))
    effective = min(of_winner, typical)
    if not effective < min(FEWEST_SHARE * total, ENOUGH):
        return {}
    which = evidence.winner_name if of_winner <= typical else "the median configuration"
    return Flag.FEW_ROWS_CARRY.of(metric=evidence.metric.name, which=which, effective=effective, total=total)


def _effective(evidence: Candidates, predicted: Floats, weights: Floats) -> float:
    """Of predictions (n, R): a row's squared error is the mean over the repeats that predict it."""
    with np.errstate(over="ignore", invalid="ignore"):
        errors = (predicted - evidence.truth.values[:, None]) ** 2
        squares = np.where(evidence.in_play, errors.reshape(*evidence.in_play.shape, -1).sum(axis=2), 0.0)
        return effective_errors(weights * squares.sum(axis=1) / np.maximum(evidence.in_play.sum(axis=1), 1))


def _clipped(metric: Metric, truth: Truth, predictions: Array, counted: Booleans) -> Indices | None:
    """(D,): how many of the counted cells (n, R) of predictions (n, D, R[, n_classes]) the metric clips; None if it
    clips none ever."""
    total = np.zeros(predictions.shape[1], dtype=np.intp)
    for repeat in range(predictions.shape[2]):
        rows = np.flatnonzero(counted[:, repeat])  # others may hold no predictions
        cells = metric.clipped(truth.rows(rows), predictions[rows, :, repeat])
        if cells is None:
            return None
        total += cells.sum(axis=0)
    return total


def _some_columns(evidence: Candidates) -> Indices:
    """The candidates that are looked at: all, or as many as are enough."""
    # Evenly spread over the list, because neighbours in a grid are alike.
    return np.unique(np.linspace(0, evidence.predictions.shape[1] - 1, MOST_COLUMNS).astype(np.intp))


def flags_of_choice(evidence: Evidence) -> dict[Flag, str]:
    """What to know where nothing was chosen, neither among configurations nor a threshold."""
    if len(evidence.names) > 1 or evidence.was_selected or Flag.ONE_CONFIGURATION_KEPT in evidence.flags:
        return {}
    return Flag.SINGLE_CONFIGURATION.of()


def flags_of_dependence(evidence: Evidence) -> dict[Flag, str]:
    """What to know of an interval that takes rows as independent, as they are given one model only."""
    n = evidence.n_splits
    if evidence.is_hold_out:
        return {}
    models = (
        "Unless one model predicted all of these rows, as in a hold-out (folds= of one label for all says so), "
        "they depend on each other"
        if n is None
        else f"The rows were predicted by {n} models of a configuration, which share training rows"
    )
    return Flag.FOLDS_DEPENDENT.of(models=models)


Z_99 = 2.576
A_TIME = 16
"""Columns that are ranked together, so that ranks take little memory."""
FEWEST = 5
"""Rows of a class, below which an area says nothing: two rows of each are reversed in one of six orders."""


def flag_of_upside_down(truth: Truth, held: HeldOutPredictions) -> dict[Flag, str]:
    """The flag of scores of two classes of which the median configuration ranks clearly worse than chance.

    Its ROC AUC, of pairs of rows of one fold, has a 99 % interval (DeLong's, over rows) that ends below .5. Pairs
    of rows of different folds would not do: without skill, models score the class that they lack lower.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> y = np.arange(40) % 2
    >>> scores = {Response.DECISION: (0.5 - y + np.linspace(0, 0.1, 40))[:, None, None]}
    >>> list(flag_of_upside_down(truth_of(y), HeldOutPredictions(scores, ("a",), classes=np.arange(2), positive=1)))
    [<Flag.UPSIDE_DOWN: 'upside_down'>]
    """
    # Decisions first: probabilities of a boosted model may be cut off at 0 and 1, where ranks tie.
    scores = held.responses.get(Response.DECISION, held.responses.get(Response.PROBABILITIES))
    if truth.kind is not TaskKind.BINARY or truth.classes is None or truth.positive is None or scores is None:
        return {}
    part = row_part(truth, np.arange(truth.n_rows), _defaults.ROWS_OF_BOOTSTRAP, entropy=0)
    if part is not None:  # so many rows show a direction as well as more
        return flag_of_upside_down(truth.rows(part.rows), held.at(part.rows))
    positive = truth.values == truth.positive
    # One repeat is enough to see a direction, and takes a fraction of the time.
    folds = np.zeros(len(scores)) if held.folds is None else held.folds[:, 0]
    parts = [_areas(scores[:, at : at + A_TIME, 0], positive, folds) for at in range(0, scores.shape[1], A_TIME)]
    if any(part is None for part in parts):
        return {}
    areas, high = np.concatenate([part for part in parts if part is not None], axis=1)
    ranked = np.argsort(areas)[: np.isfinite(areas).sum()]  # a configuration without some predictions has none
    if not ranked.size or high[middle := ranked[len(ranked) // 2]] >= 0.5:
        return {}
    label, other = (labels_text([truth.classes[code]]) for code in (truth.positive, 1 - truth.positive))
    return Flag.UPSIDE_DOWN.of(positive=label, other=other, area=areas[middle], high=high[middle])


def _areas(scores: Array, positive: Booleans, folds: Array) -> Floats | None:
    """(2, D): areas of columns (n, D), and the upper ends of their intervals; None where a class has few rows."""
    columns = np.asarray(scores, dtype=np.float64)
    shares: dict[bool, list[Floats]] = {True: [], False: []}
    for fold in np.unique(folds):
        sides = {side: columns[(folds == fold) & (positive == side)] for side in (True, False)}
        # A fold of one class has no pair, and says nothing.
        if all(map(len, sides.values())):
            ranks = rankdata(np.concatenate([sides[True], sides[False]]), axis=0)
            n = len(sides[True])
            shares[True].append((ranks[:n] - rankdata(sides[True], axis=0)) / len(sides[False]))
            shares[False].append(1 - (ranks[n:] - rankdata(sides[False], axis=0)) / n)
    placements = [np.concatenate(parts) for parts in shares.values() if parts]
    if len(placements) < 2 or min(map(len, placements)) < FEWEST:
        return None
    areas = placements[0].mean(axis=0)
    # The variance of an area by its placements (DeLong), with the rows of all folds together.
    high = areas + Z_99 * np.sqrt(sum(placement.var(axis=0, ddof=1) / len(placement) for placement in placements))
    return np.stack([areas, high])
