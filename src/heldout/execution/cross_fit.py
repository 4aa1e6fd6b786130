"""Cross-fitted searches: one on the rows outside each fold, whose winner predicts the rows of the fold.

An adaptive search proposes configurations because of scores, and no bootstrap can repeat that on the same rows.
Here the search of a fold never sees its rows: it is scored on the other folds, by models that were not trained on
the fold either. So what its winner predicts for the fold is honest, however the search came to it. Together these
predictions are one column of held-out predictions, without any selection that they took part in.
"""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from heldout._text import counted
from heldout._types import Floats
from heldout.configurations import Configuration, Configurations
from heldout.data.task import Task
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates.base import final_estimate
from heldout.estimates.methods import method_of
from heldout.estimates.types import Estimate
from heldout.execution.adaptive import Proposals, proposed_results
from heldout.execution.collect import RaceResults, ResultCollector, mean_over_splits
from heldout.execution.conclusion import Choose, Conclusion, estimates_from, winner_of, with_constants
from heldout.execution.events import StageStarted
from heldout.execution.plan import Race
from heldout.execution.run import RunSettings, open_run
from heldout.execution.search import Search
from heldout.execution.store import MemoryStore
from heldout.flags import Flag
from heldout.folds.splits import Folds, Split
from heldout.metrics.base import Metric
from heldout.predictions import FoldScores, HeldOutPredictions
from heldout.references import PACKAGE
from heldout.selection.base import metrics_read

COLUMN = "the winner of each fold's own search"
MOST_RESIDUAL = 0.03
"""How much better the searches may score, corrected, than their winners do on rows that they have not seen."""
MOST_RESIDUAL_SHARE = 0.06
"""The same as a share of what separates the best constant model from a perfect one; of ROC AUC both are equal."""
QUANTITY = (
    "the expected performance, over training sets of the size of a fold's training part, of a search with as many "
    "trials as one of the cross-fitted searches had"
)


class Obstacle(NamedTuple):
    """Why searches beside a search are not possible: what cross-fitting needs or leaves, and what to do."""

    why: str
    remedy: str = ""
    argument: str = "feedback"

    @property
    def error(self) -> InputError:
        """For who asked for cross-fitting."""
        return InputError(f"`feedback='cross-fitted'` {self.why}; {self.remedy}.", argument=self.argument)

    @property
    def sentence(self) -> str:
        """For the flag of an estimate that does without."""
        remedy = f"; to have it, {self.remedy}" if self.remedy else ""
        return f"It was not cross-fitted, which {self.why}{remedy}."


@dataclass(frozen=True, eq=False)
class CrossFit:
    """The searches of all folds, and what their winners predict.

    Attributes
    ----------
    winners : tuple of str
        The name of the winner of each fold's search.
    params : tuple of mapping
        Its parameters.
    n_trials : tuple of int
        The configurations that the search of each fold tried.
    predictions : HeldOutPredictions or None
        One column: each row's prediction by the winner of the search without its fold; None where a search has no
        winner.
    fold_scores : mapping of str to FoldScores
        One a scorer, of that column.
    n_fits : int
        Of all these searches, and of the winners.
    n_fits_saved : int
        By dropping.
    seconds : float
        That they took.
    inner_scores : tuple of float
        The estimate of each search's winner from the rows that its search saw, by the method, of the scorer that
        decides.
    reason : str
        Why there is no estimate; empty if there is one.
    is_optional : bool
        Whether the estimate is then one without cross-fitting, and not NaN.
    """

    winners: tuple[str, ...]
    params: tuple[Mapping[str, Any], ...]
    n_trials: tuple[int, ...]
    predictions: HeldOutPredictions | None
    fold_scores: Mapping[str, FoldScores]
    n_fits: int
    n_fits_saved: int
    seconds: float
    inner_scores: tuple[float, ...] = ()
    reason: str = ""
    is_optional: bool = False

    @property
    def gives_estimate(self) -> bool:
        """Whether the estimate of the search is of these predictions."""
        return not (self.reason and self.is_optional)

    def sentence(self, n_fits: int) -> str:
        """How the estimate came about, for its flag; ``n_fits`` are those of everything."""
        trials = sorted(set(self.n_trials))
        each = counted(trials[-1], "configuration")
        if len(trials) > 1:
            each = f"{trials[0]} to {each}"
        return Flag.CROSS_FITTED.filled(
            searches=len(self.n_trials), each=each, fits=part_for_estimate(self.n_fits, n_fits)
        )


def part_for_estimate(n_for_it: int, n_fits: int) -> str:
    """How many of all fits were for the estimate; empty where none were.

    Examples
    --------
    >>> part_for_estimate(145, 645)
    'of 645 fits, 145 (22 %) were for the corrected estimate'
    """
    share = f"{n_for_it / max(n_fits, 1):.0%}".replace("%", " %")
    return f"of {n_fits:,} fits, {n_for_it:,} ({share}) were for the corrected estimate" if n_for_it else ""


def cross_fit(
    search: Search,
    proposals_of: Callable[[int], Proposals],
    running: RunSettings,
    *,
    n_trials: int,
    choose: Choose | None = None,
) -> CrossFit:
    """Search once for each fold of the first repeat, on the other folds, and test each winner on its fold.

    Parameters
    ----------
    search : Search
        Without configurations. Its folds have no ``obstacle_of_folds``.
    proposals_of : callable
        From the number of a fold to what proposes for it.
    running : RunSettings
        Every search is a run of its own in the store.
    n_trials : int
        How many configurations each search tries at most.
    choose : callable, optional
        As in ``evaluate``.
    """
    started = time.perf_counter()
    splits = search.folds.of_first_repeat
    # Searches beside the search only choose: no refit, no models kept, and no end by a width that is another
    # question.
    plain = replace(search, refit=False, keep_models="none", deploy="all", stop_when_width=None)
    winners: list[Configuration] = []
    n_trials_made, inner_scores, n_fits, n_saved, reason = list[int](), list[float](), 0, 0, ""
    for number, split in enumerate(splits):
        running.tell(StageStarted(f"searching without fold {split.fold}"))
        inner = replace(plain, folds=folds_outside(search.folds, splits, split))
        proposals = proposals_of(number)
        why = ""
        try:
            inner, found = proposed_results(inner, proposals, running, n_trials, is_whole=False)
            # Counted before a winner is looked for: fits were made even where there is none.
            n_fits, n_saved = n_fits + found.n_fits, n_saved + found.n_fits_saved
            n_trials_made.append(len(inner.configurations))
            # The first failure explains a search without winner better than "all failed".
            why = next(iter(found.failures.values()), proposals.shortage)
            winner = _winner(inner, found, choose)
        except InputError as error:
            reason = f"the search without fold {split.fold} has no winner ({(why or str(error)).rstrip('.')})"
            break
        if proposals.shortage:
            reason = f"the search without fold {split.fold} was too short ({proposals.shortage})"
            break
        winners.append(inner.configurations[winner])
        # An estimate on rows that this search saw: a sampler that fitted them too closely shows against the rows
        # outside.
        inner_scores.append(_inner_score(inner, found, winner, running.n_jobs))
    tested = None if reason else _tested(plain, splits, winners, running)
    if tested is not None and tested.failures:
        reason = f"a winner failed on the fold that it was to predict ({tested.failures[0].rstrip('.')})"
    return CrossFit(
        winners=tuple(winner.name for winner in winners),
        params=tuple(winner.params for winner in winners),
        n_trials=tuple(n_trials_made),
        predictions=None if tested is None else tested.predictions,
        fold_scores={} if tested is None else tested.fold_scores,
        n_fits=n_fits + (0 if tested is None else tested.n_fits),
        n_fits_saved=n_saved,
        seconds=time.perf_counter() - started,
        inner_scores=tuple(inner_scores),
        reason=reason,
    )


def obstacle_of_folds(folds: Folds) -> Obstacle | None:
    """Why no search can leave out a fold at a time; None where it can.

    The folds of the first repeat must hold out every row that they use once, and be at least three.
    """
    splits = folds.of_first_repeat
    tested = np.zeros(folds.n_rows, dtype=np.intp)
    for split in splits:
        # A row that is held out twice would be seen by the search of its other fold.
        tested[split.test] += 1
    used = np.unique(np.concatenate([rows for split in splits for rows in (split.train, split.test)]))
    if not folds.exchangeable or (tested[used] != 1).any():
        return Obstacle(
            "needs folds that hold out every row once, and splits by time or drawn anew leave no rows that a "
            "sampler has not seen",
            "use `cv=5`, or nested cross-validation with `feedback='all'`",
        )
    if len(splits) < 3:
        return Obstacle(
            f"needs at least 3 folds, as the search without one fold compares on the others, got {len(splits)}",
            "use `cv=5`, say",
        )
    return None


def folds_outside(folds: Folds, splits: Sequence[Split], split: Split) -> Folds:
    """The other folds, without the rows of this one.

    Examples
    --------
    >>> rows = np.arange(6)
    >>> splits = [Split(0, k, np.delete(rows, [2 * k, 2 * k + 1]), rows[2 * k : 2 * k + 2]) for k in range(3)]
    >>> for other in folds_outside(Folds(tuple(splits), 6), splits, splits[0]).splits:
    ...     print(other.train, other.test)
    [4 5] [2 3]
    [2 3] [4 5]
    """
    outside = np.zeros(folds.n_rows, dtype=bool)
    outside[split.train] = True
    others = (
        Split(0, other.fold, other.train[outside[other.train]], other.test[outside[other.test]])
        for other in splits
        if other is not split
    )
    # A fold whose test rows all lie in the fold left out (groups, for instance) has nothing to score.
    return replace(folds, splits=tuple(other for other in others if len(other.test)), halves=(), n_halvings=0)


def _winner(search: Search, found: RaceResults, choose: Choose | None) -> int:
    if choose is not None:
        return choose(found, search.configurations)
    return winner_of(found, search.task, with_constants(search.estimation, found), search.configurations)


def _inner_score(search: Search, found: RaceResults, winner: int, n_jobs: int | None) -> float:
    """The method's estimate of a winner from the rows that its search saw; NaN where there is none."""
    name, estimation = found.refit_metric, with_constants(search.estimation, found)
    read = {name, *metrics_read(estimation.rule, found.fold_scores, name)}
    part = replace(
        found,
        metrics={each: found.metrics[each] for each in read},
        fold_scores={each: found.fold_scores[each] for each in read},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeldoutWarning)  # it is compared, and not reported
        params = search.configurations.params
        estimates = estimates_from(search, part, winner, estimation, n_jobs=n_jobs, params=params)
    return estimates[name].value


def _tested(
    search: Search, splits: Sequence[Split], winners: Sequence[Configuration], running: RunSettings
) -> RaceResults:
    """Each winner fitted outside its fold and tested on it: the results of one column."""
    # Each winner is fitted on one split only, so that all together fill one column of predictions.
    members = Configurations(replace(winner, position=number) for number, winner in enumerate(winners))
    folds = search.folds.part(splits)
    work = replace(search.work, configurations=members, folds=folds, sharing=None)
    races = [Race((split,), configurations=(number,)) for number, split in enumerate(splits)]
    in_memory = replace(running, store=MemoryStore(), resume=False, listeners=())  # a few fits: done again
    column = ResultCollector(search.task, Configurations(members[:1]), folds, search.scoring)
    with open_run(work, in_memory, n_cells=len(races), n_races=len(races)) as run:
        run.run_races(races)
        # All cells go to column 0, as if one configuration had predicted all folds.
        for race in races:
            (cell,) = run.cell_results(race)
            column.put(cell.at(0))
    found = column.results()
    return replace(found, predictions=replace(found.predictions, names=(COLUMN,)))


def estimates_of_cross_fit(chosen: Conclusion, fit: CrossFit, *, n_jobs: int | None = None) -> dict[str, Estimate]:
    """One estimate a scorer of the final winner: the method's, of the predictions that no search had seen.

    The uncorrected score is the winner's own, in the final search.
    """
    search, found = chosen.search, chosen.found
    scores_of = {"pooled": chosen.pooled, "aligned": chosen.pooled, "within": chosen.within}
    n_fits = found.n_fits + fit.n_fits
    corrected = {}
    for name, estimate in _of_column(chosen, fit, n_jobs).items():
        of_metric = found.fold_scores[name]
        # The uncorrected score is on the scale of the corrected one, or their difference would be no optimism.
        scale = estimate.provenance.get("scale_of_value", search.estimation.scale_of_selection)
        whole: Mapping[str, Floats] = scores_of.get(scale, {})
        scores = whole.get(name, mean_over_splits(of_metric.values))
        uncorrected = float(scores[chosen.winner])
        flags = {**({} if fit.reason else {Flag.CROSS_FITTED: fit.sentence(n_fits)}), **estimate.flags}
        if name == found.refit_metric:
            flags |= _flag_of_residual(estimate, of_metric.greater_is_better, search, fit)
        flags.pop(Flag.SINGLE_CONFIGURATION, None)  # of the one column; there were many configurations
        corrected[name] = replace(
            estimate,
            uncorrected=uncorrected,
            optimism=(uncorrected - estimate.value) * (1 if of_metric.greater_is_better else -1),
            selected=chosen.winner,
            selected_name=search.configurations.names[chosen.winner],
            selection_frequency=None,
            coverage=None,  # what was measured is of one configuration, and not of a search
            flags=flags,
            provenance={
                **estimate.provenance,
                "quantity": QUANTITY,
                "selection": search.estimation.rule.name,
                "feedback": "cross-fitted",
                "sources": list(dict.fromkeys([PACKAGE, *estimate.provenance.get("sources", ())])),
                "n_searches": len(fit.n_trials),
                "n_trials_of_each": list(fit.n_trials),
                "n_fits_of_cross_fitting": fit.n_fits,
                "inner_scores_of_cross_fitting": list(fit.inner_scores),
            },
        )
    return corrected


def _flag_of_residual(
    estimate: Estimate, greater_is_better: bool, search: Search, fit: CrossFit
) -> dict[Flag, str]:
    """The flag of searches whose winners are worse on the fold that they did not see than their scores say.

    The scores are corrected for the choice among what was tried, so what is left is how it was proposed. Both
    are on the scale of the estimate, whose metric on single small folds may be biased.
    """
    if fit.reason or not fit.inner_scores:
        return {}
    inner = float(np.mean(fit.inner_scores))
    residual = (inner - estimate.value) * (1 if greater_is_better else -1)
    most = _most_residual(search.scoring.metrics.get(search.scoring.refit_metric), estimate.constant, search.task)
    if most is None or not residual > most:
        return {}
    flag = Flag.SAMPLER_FITTED_FOLDS
    return {flag: flag.filled(inner=f"{inner:.3g}", outer=f"{estimate.value:.3g}", residual=f"{residual:.2g}")}


def _most_residual(metric: Metric | None, constant: float | None, task: Task) -> float | None:
    """.03 of a metric between 0 and 1; of others .06 of what separates the best constant from a perfect model.

    So it is .06 of R2 and MCC, .06 standard deviations of the target for RMSE, and .04 of the log loss of two equal
    classes. None of a metric that has no such scale.
    """
    if metric is None:
        return None
    low, high = metric.for_truth(task.truth).range
    if high - low <= 1:
        return MOST_RESIDUAL
    perfect = high if metric.greater_is_better else low
    return None if constant is None else MOST_RESIDUAL_SHARE * abs(perfect - constant)


def _of_column(chosen: Conclusion, fit: CrossFit, n_jobs: int | None) -> dict[str, Estimate]:
    """The method's estimates of the one column; NaN with the reason where there is none."""
    search = chosen.search
    if fit.predictions is not None and not fit.reason:
        column = replace(chosen.found, predictions=fit.predictions, fold_scores=fit.fold_scores)
        estimation = replace(chosen.estimation, selection="best")
        estimates = estimates_from(search, column, 0, estimation, n_jobs=n_jobs, flags=search.flags)
        return search.with_flags_of_weights(estimates)
    sentence = Flag.UNDEFINED.filled(reason=f"{fit.reason}; `feedback='all'` estimates without it")
    warnings.warn(HeldoutWarning(sentence), stacklevel=4)
    nothing, method = float("nan"), method_of(chosen.estimation.method).name
    return {
        name: final_estimate(
            search.scoring.metric(name), method, nothing, uncorrected=nothing, interval=None, constant=None,
            flags={Flag.UNDEFINED: sentence}, standard_error=None, selected=chosen.winner, selected_name="",
            n_rows_used=0,
        )
        for name in chosen.found.metrics
    }  # fmt: skip
