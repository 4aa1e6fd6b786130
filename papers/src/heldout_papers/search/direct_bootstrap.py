"""The direct bootstrap: the whole search again on samples of the rows (Paraschakis et al. 2024, section 2).

It needs C (K + 1) fits for each sample, of which a search would need K C + 1, so that it is run on request only.
"""

import numpy as np
from numpy.typing import NDArray

from heldout._streams import stream
from heldout.errors import InputError
from heldout.estimates.intervals import percentile_interval
from heldout.estimates.question import Settings
from heldout.folds.splits import Split
from heldout.metrics.base import oriented, positive_of
from heldout_papers.search.fits import RowFits
from heldout_papers.search.protocols import LEVELS, ProtocolResult, SubsampleSearch, cross_validation, score_of

Rows = NDArray[np.intp]
MOST_DRAWS = 1000


def direct_bootstrap(search: SubsampleSearch, fits: RowFits, n_samples: int) -> ProtocolResult:
    """The mean score of the search on the rows that its samples left out, with percentiles.

    On each sample every configuration is cross-validated on the folds of the first repeat, so that the copies of a
    row are in one fold; the winner by the score over all drawn rows is fitted on the sample. The model that is
    returned is that of cross-validation on all rows.

    Raises InputError where no sample has a winner with a score.
    """
    scores = [_score_of_sample(search, fits, number) for number in range(n_samples)]
    defined = np.array([score for score in scores if not np.isnan(score)])
    if not len(defined):
        raise InputError("no bootstrap sample has a winner with a score on the rows left out")
    whole, held = cross_validation(search), search.held
    ends = [percentile_interval(defined, search.metric, Settings(confidence_level=level)) for level in LEVELS]
    return ProtocolResult(
        float(defined.mean()),
        whole.winner,
        n_samples * (len(held.names) * held.n_folds + 1) + whole.models,
        float("nan"),
        low=tuple(interval.low for interval in ends),
        high=tuple(interval.high for interval in ends),
    )


def _score_of_sample(search: SubsampleSearch, fits: RowFits, number: int) -> float:
    """NaN where every configuration failed, or the winner did."""
    drawn, left_out = _sample(search, number)
    held, metric = search.held, search.metric
    fold_of = held.folds.labels[drawn, 0]
    pooled = np.full((len(drawn), len(held.names), *fits.outputs), np.nan)
    for fold in np.unique(fold_of):
        inside = fold_of == fold
        # Each of the distinct rows is predicted once, and counts as often as it was drawn.
        tested, place = np.unique(drawn[inside], return_inverse=True)
        split = Split(number, int(fold), drawn[~inside], tested)
        pooled[inside] = fits.scores_on(split, "sample", number, int(fold)).scores[place]
    truth = held.truth.rows(drawn)
    values = np.full(len(held.names), np.nan)
    for j in range(len(held.names)):
        if not np.isnan(pooled[:, j]).any():
            values[j] = score_of(metric, truth, pooled[:, j])
    if np.isnan(values).all():
        return float("nan")
    winner = int(np.nanargmax(oriented(metric, values)))
    last = fits.scores_on(Split(number, held.n_folds, drawn, left_out), "sample", number, "winner")
    predicted = last.scores[:, winner]
    return float("nan") if np.isnan(predicted).any() else score_of(metric, held.truth.rows(left_out), predicted)


def _sample(search: SubsampleSearch, number: int) -> tuple[Rows, Rows]:
    """N rows drawn with replacement, and those that were not, until both hold what the metric needs."""
    truth, metric = search.held.truth, search.metric
    rng = np.random.Generator(np.random.Philox(key=stream(search.entropy, "direct bootstrap", number)))
    positive = positive_of(metric, truth)
    for _ in range(MOST_DRAWS):
        drawn = np.sort(rng.integers(truth.n_rows, size=truth.n_rows))
        left_out = np.setdiff1d(np.arange(truth.n_rows), drawn)
        weights = np.zeros((2, truth.n_rows))
        weights[0, drawn], weights[1, left_out] = 1.0, 1.0
        if len(left_out) and metric.needs.met(metric.truth_for_needs(truth), positive, weights).all():
            return drawn, left_out
    raise InputError(f"no bootstrap sample in {MOST_DRAWS} draws holds, and leaves out, {metric.needs}")
