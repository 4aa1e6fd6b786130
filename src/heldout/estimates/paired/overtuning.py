"""Overtuning: what further search bought, and whether the winner is worse than the default configuration.

Configurations are taken in the order in which they were tried, or in all orders where that of their list means
nothing, as in a grid. In every bootstrap the drawn rows are the validation rows, on which the best so far is
chosen, and the rows left out are the test rows, on which it is scored (Schneider, Bischl & Feurer 2025, for
searches with a test set).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtr

from heldout._record import Record, Shown, points, thinned
from heldout._text import counted
from heldout._types import Floats, Indices
from heldout.configurations import Configuration, are_same
from heldout.data.task import Truth
from heldout.errors import InputError
from heldout.estimates.control import is_unbiased
from heldout.estimates.from_matrix import gather
from heldout.estimates.paired.scores import PairedScores, curve_points, mean_best, own_controls, paired_scores
from heldout.estimates.question import Question
from heldout.estimates.shrunken_centres import ScoreRange, shrunken
from heldout.folds.splits import Folds
from heldout.predictions import UNPREDICTED_LABEL, HeldOutPredictions

MOST_BOOTSTRAPS, LEAST_BOOTSTRAPS = 200, 50
MOST_WORK = 4e9
"""Rows times configurations times bootstraps."""
MOST_POINTS = 60
MOST_SHOWN = 10
"""About so many points a notebook shows."""
ROUNDING = 1e-12


@dataclass(frozen=True)
class DefaultComparison(Record):
    """The winner compared with the default configuration.

    Attributes
    ----------
    name : str
        The default configuration.
    observed : float
        The score of the winner less that of the default on the rows of the search, which chose the winner; positive
        where the winner is better, also for a loss.
    standard_error : float
        The standard error of ``observed``.
    gain : float
        What tuning gained: the same difference on rows that took no part in choosing the winner.
    probability_worse : float
        A cautious estimate of the probability that the winner is truly worse, at most .5 where the observed
        difference is positive; 0 if the winner is the default configuration, NaN if the rows do not distinguish
        them or the scores of the better half of the configurations differ no more than by chance.
    reason : str
        Why there is no comparison; empty if there is one.
    """

    name: str
    observed: float
    standard_error: float
    gain: float
    probability_worse: float
    reason: str = ""

    @classmethod
    def missing(cls, name: str, reason: str) -> DefaultComparison:
        """Of a default configuration that has no score."""
        nan = float("nan")
        return cls(name, nan, nan, nan, nan, reason)


@dataclass(frozen=True, eq=False)
class Overtuning(Record):
    """What the search bought with each further configuration, in the metric's own direction and units.

    The level of ``corrected`` is that of ``bbc``, not of the search's estimate: read its change.

    Attributes
    ----------
    metric : str
    n_configurations : ndarray of int, shape (P,)
        The number of configurations tried at each of P points; the last is all candidates.
    uncorrected : ndarray of shape (P,)
        The best score so far.
    corrected : ndarray of shape (P,)
        The mean score of the best so far on rows that took no part in choosing it. With the rule "best", the last
        is the value of ``bbc`` with ``control=False`` from the same draws.
    overtuning : float
        How much better the corrected score was at its best than it is at the end; 0 or more, in either direction of
        the metric.
    greater_is_better : bool
    default : DefaultComparison or None
        None where no default configuration is known.
    in_order : bool
        Whether configurations are taken in the order in which they were tried. Otherwise each point is the mean
        over all orders.
    """

    metric: str
    n_configurations: Indices
    uncorrected: Floats
    corrected: Floats
    overtuning: float
    greater_is_better: bool
    default: DefaultComparison | None = None
    in_order: bool = True

    @property
    def enough(self) -> int:
        """After how many configurations the corrected score was at least as good as at the end."""
        sign = 1.0 if self.greater_is_better else -1.0
        end = sign * self.corrected[-1]
        reached = sign * self.corrected >= end - ROUNDING * abs(end)
        return int(self.n_configurations[int(reached.argmax())])

    @property
    def sentence(self) -> str:
        """That further search bought nothing, if at least half of the configurations did not; else empty.

        Examples
        --------
        >>> counts = np.array([1, 5, 10, 40])
        >>> flat = Overtuning("accuracy", counts, np.array([0.7, 0.8, 0.82, 0.85]), np.array([0.7, 0.78, 0.79, 0.78]),
        ...                   0.01, True)
        >>> print(flat.sentence)
        Further search bought nothing: after 5 of 40 configurations the best so far was as good on rows that took no part in choosing it as after all of them, while its own accuracy became 0.05 better.
        """  # noqa: E501
        if len(self.n_configurations) < 2 or 2 * self.enough > self.n_configurations[-1]:
            return ""
        place = int(np.flatnonzero(self.n_configurations == self.enough)[0])
        tried, every = self.enough, counted(int(self.n_configurations[-1]), "configuration")
        better = abs(float(self.uncorrected[-1] - self.uncorrected[place]))
        moved = f"became {better:.3g} better" if better > 0 else "did not change"
        then, end = (
            (f"after {tried} of {every} the best so far", "after all of them")
            if self.in_order
            else (f"the best of {tried} of {every} (the mean over all ways to take them)", "the best of all")
        )
        return (
            f"Further search bought nothing: {then} was as good on rows that took no part in choosing it as {end}, "
            f"while its own {self.metric} {moved}."
        )

    @property
    def sentence_on_default(self) -> str:
        """Whether the winner may be worse than the default configuration; empty where none is known."""
        if self.default is None:
            return ""
        of, gain = self.default, self.default.gain
        if of.reason:
            return f"The winner is not compared with the default configuration, {of.name}: {of.reason}."
        if of.probability_worse == 0 and gain == 0:
            return f"The winner is the default configuration, {of.name}."
        if of.standard_error == 0 and of.observed == 0:
            return f"Nothing tells the winner from the default configuration, {of.name}."
        seen, honest = (f"{abs(gap):.3g} {'better' if gap >= 0 else 'worse'}" for gap in (of.observed, gain))
        worse = (
            f"The probability that the winner is worse is estimated, cautiously, as {of.probability_worse:.2g}."
            if math.isfinite(of.probability_worse)
            else "The best configurations differ no more than by chance, so which of the two is worse is not known."
        )
        return (
            f"Tuning: on the rows of the search the winner's {self.metric} is {seen} than that of the default "
            f"configuration, {of.name} (standard error {of.standard_error:.2g}), and on rows that took no part in "
            f"the choice {honest}. {worse}"
        )

    def __repr__(self) -> str:
        return (
            f"Overtuning({self.metric} on rows left out: {self.corrected[0]:.4g} at {self.n_configurations[0]} "
            f"configurations to {self.corrected[-1]:.4g} at {self.n_configurations[-1]})"
        )

    _without = "greater_is_better"
    _more = "enough sentence"
    _shown = "configurations_tried=n_configurations on_the_rows_that_chose=uncorrected on_rows_left_out=corrected"

    @property
    def _rows(self) -> list[Any]:
        return thinned(points(self, "n_configurations uncorrected corrected"), MOST_SHOWN)

    @property
    def _notes(self) -> list[str]:
        return [sentence for sentence in (self.sentence, self.sentence_on_default) if sentence]


def best_so_far(scores: Floats) -> Indices:
    """The column of the greatest score among the first c columns, for each c; the first of equal ones.

    From scores (L, C), of which a NaN is never the best, to columns (L, C); -1 before the first number.

    Examples
    --------
    >>> best_so_far(np.array([[np.nan, 0.2, 0.1, 0.2, 0.3]])).tolist()
    [[-1, 1, 1, 1, 4]]
    """
    filled = np.where(np.isnan(scores), -np.inf, scores)
    before = np.maximum.accumulate(filled, axis=1)
    rises = filled > np.concatenate([np.full((len(filled), 1), -np.inf), before[:, :-1]], axis=1)
    return np.maximum.accumulate(np.where(rises, np.arange(filled.shape[1]), -1), axis=1)


@dataclass(frozen=True, eq=False)
class DefaultConfiguration(Shown):
    """The configuration that a search is compared with.

    Attributes
    ----------
    configuration : Configuration
    position : int or None
        Its place among the configurations of the search; None where it is not among them.
    predictions : HeldOutPredictions or None
        Of it alone, on the same splits, where it is not among them.
    folds : Folds or None
        Of these predictions.
    n_fits : int
        That it took beside those of the search.
    """

    configuration: Configuration
    position: int | None = None
    predictions: HeldOutPredictions | None = None
    folds: Folds | None = None
    n_fits: int = 0

    def among(self, members: Sequence[Configuration]) -> DefaultConfiguration:
        """With its place where an adaptive search has proposed it too; its own predictions are not needed then."""
        place = self.position if self.position is not None else place_of(self.configuration, members)
        return self if place is None else replace(self, position=place, predictions=None, folds=None)

    def on(self, folds: Folds) -> DefaultConfiguration:
        """With its predictions on some of the splits, as of a search that ended before its last one."""
        if self.predictions is None or self.folds is None or folds.n_splits == self.folds.n_splits:
            return self
        columns = [self.folds.columns[repeat] for repeat in folds.columns]
        rows, repeats = np.nonzero(folds.labels < 0)
        responses = {}
        for response, array in self.predictions.responses.items():
            responses[response] = array[:, :, columns]
            empty = UNPREDICTED_LABEL if array.dtype == np.int32 else np.nan
            responses[response][rows, :, repeats] = empty
        predictions = replace(self.predictions, responses=responses, folds=folds.labels)
        return replace(self, predictions=predictions, folds=folds)

    _shown = "default_configuration=configuration.name place=position"


def place_of(wanted: Configuration, members: Sequence[Configuration]) -> int | None:
    """The position of the first configuration with the same parameters, set or left at the estimator's; else None.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from heldout.configurations import make_configurations
    >>> template = SVC()
    >>> members = make_configurations(template, {"C": [0.1, 1, 10]})
    >>> place_of(Configuration(0, {}, template), members), place_of(Configuration(0, {"C": 5}, template), members)
    (1, None)
    """
    base = wanted.template.get_params()
    full = {**base, **wanted.params}
    for member in members:
        # Parameters of a finished estimator are only shown, so they tell nothing of it.
        if member.has_params or member.model != wanted.model or type(member.template) is not type(wanted.template):
            continue
        names = {*member.params, *wanted.params} - {"model"}
        if all(are_same(member.params.get(name, base.get(name)), full.get(name)) for name in names):
            return member.position
    return None


def overtuning_of(
    truth: Truth,
    predictions: HeldOutPredictions,
    question: Question,
    default: DefaultConfiguration | None,
    *,
    in_order: bool,
) -> Overtuning:
    """The overtuning of a search from what it predicted, from at most 200 bootstraps.

    Configurations that failed or were dropped are no candidates and do not count.

    Raises InputError for a rule that chooses no single configuration, or when no bootstrap can be drawn.
    """
    is_extra = default is not None and default.predictions is not None
    work = predictions.n_rows * (predictions.n_configurations + is_extra)
    affordable = max(int(MOST_WORK / work), LEAST_BOOTSTRAPS)
    n_bootstraps = min(MOST_BOOTSTRAPS, question.settings.n_bootstraps, affordable)
    question = replace(question, settings=replace(question.settings, n_bootstraps=n_bootstraps))
    evidence = gather(truth, predictions, question)
    if evidence.chooses_ensemble or evidence.thresholds is not None:
        raise InputError(
            f"overtuning compares single configurations, and the rule '{evidence.selection}' chooses otherwise."
        )
    scores = chosen = paired_scores(evidence)
    position = -1 if default is None or default.position is None else default.position
    if default is not None and default.predictions is not None:
        predictions = _with_column(predictions, default.predictions)
        params = [*(question.params or []), dict(default.configuration.params)]
        evidence = gather(truth, predictions, replace(question, params=params))
        # What the rule chooses among the candidates alone, in the same draws.
        scores = replace(paired_scores(evidence), chosen=chosen.chosen, winner=chosen.winner)
        position = predictions.n_configurations - 1
    places = np.flatnonzero(evidence.candidates == position)
    column = int(places[0]) if len(places) else None  # without a place it failed or was dropped
    result = overtuning(
        scores,
        evidence.metric.name,
        greater_is_better=evidence.metric.greater_is_better,
        takes_control=not is_unbiased(evidence),
        default=column,
        name_of_default="" if default is None else default.configuration.name,
        n_tried=chosen.n_candidates,
        in_order=in_order,
    )
    if default is None or column is not None:
        return result
    reason = predictions.out.get(position, "").rstrip(".") or "it has no score"
    return replace(result, default=DefaultComparison.missing(default.configuration.name, reason))


def _with_column(predictions: HeldOutPredictions, other: HeldOutPredictions) -> HeldOutPredictions:
    """The predictions with one more configuration behind the others."""
    responses = {
        response: np.concatenate([array, other.responses[response]], axis=1)
        for response, array in predictions.responses.items()
        if response in other.responses
    }
    return replace(predictions, responses=responses, names=(*predictions.names, *other.names))


def overtuning(
    scores: PairedScores,
    metric: str,
    *,
    greater_is_better: bool,
    takes_control: bool,
    default: int | None = None,
    name_of_default: str = "",
    n_tried: int | None = None,
    in_order: bool = True,
) -> Overtuning:
    """The curve and the comparison from the scores of all candidates, in the order in which they were tried.

    Parameters
    ----------
    scores : PairedScores
        Whose choices are among the columns that were tried.
    metric : str
        Its name.
    greater_is_better : bool
    takes_control : bool
        Whether few rows change a score without any choice; what they change of each configuration is then
        subtracted.
    default : int, optional
        The column of the default configuration.
    name_of_default : str
    n_tried : int, optional
        How many of the columns are candidates of the search, the first ones; all by default. A default
        configuration that was not tried stands behind them.
    in_order : bool, default=True
        Whether to take the columns in their order, or the mean over all orders.
    """
    n = scores.n_candidates if n_tried is None else n_tried
    left_out = scores.out_of_bag - own_controls(scores) if takes_control else scores.out_of_bag
    points = curve_points(n, MOST_POINTS)
    uncorrected, corrected = (_in_order if in_order else _in_any_order)(scores, left_out, n, points)
    has_score = ~np.isnan(corrected)
    sign = 1.0 if greater_is_better else -1.0
    end = corrected[-1]
    return Overtuning(
        metric,
        points[has_score],
        sign * uncorrected[has_score],
        sign * corrected[has_score],
        float(np.nanmax(corrected) - end) if has_score.any() else float("nan"),
        greater_is_better,
        None if default is None else _against(scores, left_out, default, name_of_default),
        in_order,
    )


def _in_order(scores: PairedScores, left_out: Floats, n: int, points: Indices) -> tuple[Floats, Floats]:
    """The score of the best of the first c columns, on all rows and on those left out."""
    best = best_so_far(scores.in_bag[:, :n])
    on_test = np.where(best >= 0, np.take_along_axis(left_out, np.maximum(best, 0), axis=1), np.nan)
    observed = np.where(np.isnan(scores.observed[:n]), -np.inf, scores.observed[:n])
    uncorrected = np.maximum.accumulate(observed)[points - 1]
    uncorrected[np.isinf(uncorrected)] = np.nan
    return uncorrected, _means(on_test)[points - 1]


def _in_any_order(scores: PairedScores, left_out: Floats, n: int, points: Indices) -> tuple[Floats, Floats]:
    """The same of c columns, the mean over all ways to take them."""
    observed = scores.observed[None, :n]
    return mean_best(observed, observed, points), mean_best(scores.in_bag[:, :n], left_out[:, :n], points)


def _means(on_test: Floats) -> Floats:
    """The mean of each column over the lanes with a number; NaN where there is none."""
    present = ~np.isnan(on_test)
    sums = np.where(present, on_test, 0.0).sum(axis=0)
    return np.asarray(
        np.divide(sums, present.sum(axis=0), out=np.full(len(sums), np.nan), where=present.any(axis=0))
    )


def _against(scores: PairedScores, left_out: Floats, default: int, name: str) -> DefaultComparison:
    """The winner against the default configuration."""
    if scores.winner == default:
        return DefaultComparison(name, 0.0, 0.0, 0.0, 0.0)
    lanes = np.flatnonzero(scores.usable)
    gained = left_out[lanes, scores.chosen[lanes]] - left_out[lanes, default]
    spread = scores.spread[:, scores.winner] - scores.spread[:, default]
    gained, spread = gained[np.isfinite(gained)], spread[np.isfinite(spread)]
    if not gained.size or spread.size < 2:
        return DefaultComparison.missing(name, "too few bootstraps have a score of both")
    gain, error = float(gained.mean()), float(spread.std(ddof=1))
    observed = float(scores.observed[scores.winner] - scores.observed[default])
    return DefaultComparison(name, observed, error, gain, probability_worse(observed, error, _true_share(scores)))


def _true_share(scores: PairedScores) -> float:
    """The share of the variance of the scores of what competes that is not noise."""
    usable = np.isfinite(scores.observed) & np.isfinite(scores.spread).all(axis=0)
    noise = scores.spread[:, usable] - scores.spread[:, usable].mean(axis=0)
    unbounded = ScoreRange(-math.inf, math.inf)
    return shrunken(scores.observed[usable], noise, unbounded, np.random.default_rng(0)).factor ** 2


def probability_worse(observed: float, standard_error: float, true_share: float) -> float:
    """The probability that a true difference is negative, Φ(-√b d/SE), from its estimate d.

    If true differences are normal around 0 and d is one of them with a normal error, the true one has the mean b d
    and the variance b SE², where b is the share of the variance of d that is not noise. NaN where all is noise.

    Examples
    --------
    >>> round(probability_worse(0.04, 0.02, 0.5), 4), probability_worse(0.04, 0.02, 0.0)
    (0.0786, nan)
    """
    if standard_error == 0:
        return float("nan") if observed == 0 else float(observed < 0)
    return float(ndtr(-math.sqrt(true_share) * observed / standard_error)) if true_share > 0 else float("nan")
