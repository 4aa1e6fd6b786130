"""Sentences on a run in progress: for a log, a terminal and ``verbose``."""

import math
from collections.abc import Mapping

from heldout._text import bytes_text, counted, number_text
from heldout.execution import events
from heldout.execution.cells import CellResult, CellState, CellTable, SharedFits
from heldout.execution.listeners.tally import CurrentBest, RunTally
from heldout.metrics.named import in_sentence, metric_words

STAGES = {
    "estimate": "estimating the performance of the winner",
    "refit": "fitting the winner on all rows",
    "fold models": "keeping the models of the splits",
}


def event_line(event: events.Event, before: RunTally) -> str:
    """What is said of an event that concerns the whole run, in one line; empty of others.

    ``before`` is the tally before this event.
    """
    match event:
        case events.SearchStarted():
            return plan_line(event)
        case events.BarrierPassed():
            return barrier_line(event, before)
        case events.WorkersLost(running, reason):
            again = f"{counted(len(running), 'fit')} begun there" if running else "what they had begun"
            return f"lost workers ({reason}); {again} {'are' if len(running) > 1 else 'is'} done again"
        case events.FitsAdded(n_configurations, n_splits, n_cells, n_resumed):
            what = f"{counted(n_configurations, 'configuration')} x {counted(n_splits, 'pair')} of folds"
            done = f", of which {n_resumed:,} are done already" if n_resumed else ""
            return f"for the training size {what} = {counted(n_cells, 'further fit')}{done}"
        case events.StageStarted(stage):
            return STAGES.get(stage, stage)
        case events.SearchFinished(seconds, fits):
            return computed_line(seconds, fits)
    return ""


def shared_line(n_shared: int, n_fits: int, shared: Mapping[str, SharedFits]) -> str:
    """How many fits were not made alone, and what that saved.

    Examples
    --------
    >>> forests, steps = SharedFits(400, 180.0, 0), SharedFits(80, 32.0, 2**30)
    >>> shared_line(480, 500, {"RandomForestClassifier": forests, "steps": steps})
    '480 of 500 fits, whose common work was done once: about 3 min 32 s and 1.0 GB less than alone'
    >>> shared_line(30, 30, {"KNeighborsClassifier": SharedFits(30, None, 0)})
    '30 of 30 fits, whose common work was done once'
    """
    known = [each.seconds for each in shared.values() if each.seconds is not None]
    seconds, n_bytes = math.fsum(known), sum(each.n_bytes for each in shared.values())
    about = "about" if len(known) == len(shared) else "at least"
    less = [f"{about} {duration(seconds)}"] if seconds > 0 else []  # some are slower together
    less += [bytes_text(n_bytes)] if n_bytes else []
    words = f": {' and '.join(less)} less than alone" if less else ": no faster than alone" if known else ""
    return f"{n_shared:,} of {n_fits:,} fits, whose common work was done once{words}"


def plan_line(event: events.SearchStarted) -> str:
    if not event.n_configurations:
        return f"configurations as they are proposed, {counted(event.n_splits, 'fit')} each"
    configurations, fits = counted(event.n_configurations, "configuration"), counted(event.n_cells, "fit")
    most = "at most " if event.may_drop else ""
    in_halves = f" and {counted(event.n_in_halves, 'fit')} of the winner in halves" if event.n_in_halves else ""
    words = f"{configurations} x {counted(event.n_splits, 'split')}{in_halves} = {most}{fits}"
    if event.is_validation:  # a second stage has one model only, so that the product differs
        words = f"{fits} of {counted(event.n_configurations, 'model')} on all rows and on bootstrap samples"
    are = "is" if event.n_resumed == 1 else "are"
    return f"{words}, of which {event.n_resumed} {are} done already" if event.n_resumed else words


def barrier_line(event: events.BarrierPassed, before: RunTally) -> str:
    """The configurations dropped at a barrier, in one line; empty if there are none.

    ``before`` is the tally before this event.
    """
    barrier = event.barrier
    if not barrier.dropped and not barrier.stopped:
        return ""
    splits = counted(barrier.after, "split")
    if before.n_races == 1:
        splits = f"{barrier.after} of {counted(before.plan.n_splits, 'split')}"
    race = "" if before.n_races == 1 else f"race {event.race + 1} of {before.n_races}, "
    failed = before.failed_among([drop.configuration for drop in barrier.dropped])
    dropped = len(barrier.dropped) - failed
    parts = [f"{dropped} of {barrier.n_before} dropped"] if dropped else []
    parts += [f"{failed} of {barrier.n_before} failed"] if failed and not dropped else []
    parts += [f"{failed} failed"] if failed and dropped else []
    n_on = event.n_remaining
    if barrier.stopped:
        parts.append(f"{n_on} remain, and no more splits are needed to tell them apart")
    else:
        parts.append(f"{n_on} {'remains' if n_on == 1 else 'remain'}")
    parts.append(f"{counted(event.n_saved - before.saved, 'fit')} saved")
    return f"{race}after {splits} ({counted(barrier.n_rows, 'row')}): {', '.join(parts)}"


def cell_line(result: CellResult | CellTable, tally: RunTally) -> str:
    """A fit that is done, by its number, configuration and split, with its scores; ``tally`` includes it.

    Splits are counted from 0, as in ``cv_results_``.

    Examples
    --------
    >>> from heldout.execution.cells import CellKey
    >>> from heldout.execution.events import CellFinished, SearchStarted
    >>> tally = RunTally()
    >>> tally.add(SearchStarted(10, 0, 2, 5, names=("C=1", "C=10")))
    >>> cell = CellResult(CellKey(1, 0, 3), CellState.DONE, "", 0.25, test_scores={"accuracy": 0.9625})
    >>> tally.add(CellFinished(cell))
    >>> cell_line(cell, tally)
    'fit 1 of 10: C=10, repeat 0, fold 3: accuracy=0.9625 (0.25 s)'
    """
    if isinstance(result, CellTable):
        return f"fits {tally.done - len(result) + 1} to {tally.done} of {tally.total}: by one formula"
    configuration, repeat, fold = result.key
    where = sample_words(repeat, fold) if tally.plan.is_validation else f"repeat {repeat}, fold {fold}"
    scores = ", ".join(f"{name}={_scores_text(name, result)}" for name in result.test_scores)
    words = f"failed ({result.message})" if result.state is CellState.FAILED else scores or "done"
    number = f"fit {tally.done} of {'at most ' if tally.plan.may_drop else ''}{tally.total}"
    return f"{number}: {tally.name_of(configuration)}, {where}: {words} ({duration(result.fit_seconds)})"


def _scores_text(name: str, result: CellResult) -> str:
    test = _score_text(result.test_scores[name])
    if name not in result.train_scores:
        return test
    return f"(train={_score_text(result.train_scores[name])}, test={test})"


def sample_words(repeat: int, fold: int) -> str:
    """On which rows a model of a validation was fitted.

    >>> sample_words(0, 0), sample_words(3, 0), sample_words(3, 1), sample_words(3, 2)
    ('all rows', 'bootstrap 3', 'bootstrap 3 of the second stage', 'bootstrap 3, inner bootstrap 1')
    """
    if repeat == 0:
        return "all rows"
    of_stage = ("", " of the second stage")
    return f"bootstrap {repeat}" + (of_stage[fold] if fold < 2 else f", inner bootstrap {fold - 1}")


def fits_words(tally: RunTally) -> str:
    """Fits done, saved and failed."""
    share = (tally.done + tally.saved) / max(tally.total, 1)
    words = f"{tally.done} of {counted(tally.total, 'fit')} ({min(share, 1):.0%})"
    saved = f", {tally.saved} saved" if tally.saved else ""
    return words + saved + (f", {tally.failed} failed" if tally.failed else "")


def remaining_words(tally: RunTally) -> str:
    """Configurations that remain in the race."""
    of_all = f"{tally.n_remaining} of {counted(tally.n_configurations, 'configuration')} remain"
    splits = counted(tally.plan.n_splits, "split")
    return of_all + (f" after {tally.n_splits_done} of {splits}" if tally.n_splits_done else "")


def best_words(best: CurrentBest | None, title: str, *, is_resumed: bool = False) -> str:
    """The best so far: the score first, because a name may be too long for a line; empty without one.

    ``title``: the name of the scorer, or "score", as scikit-learn calls one without a name.

    Examples
    --------
    >>> best_words(CurrentBest("C=1", -49.876, 5), "neg_root_mean_squared_error")
    'root mean squared error 49.88 (mean of 5 splits, uncorrected): C=1'
    """
    if best is None:
        return ""
    score = -best.score if title.startswith("neg_") else best.score  # a loss in its own units
    name = "" if title == "score" else f"{in_sentence(metric_words(title)[0])} "
    over = f"mean of {best.n_splits} splits" if best.n_splits > 1 else "1 split"
    here = " since it was resumed" if is_resumed else ""
    return f"{name}{_score_text(score)} ({over}{here}, uncorrected): {best.name}"


def left_words(tally: RunTally, seconds: float) -> str:
    """Time left; an upper bound where configurations may be dropped."""
    left = tally.seconds_left(seconds)
    if left is None or not tally.left:
        return ""
    return f"{'at most ' if tally.plan.may_drop else ''}about {duration(max(round(left), 1))} left"


def command_words(seconds: float) -> str:
    """The wall time of a whole command.

    >>> command_words(64.2)
    '1 min 4 s for the whole command'
    """
    return f"{duration(seconds)} for the whole command"


def work_words(seconds: float) -> str:
    """The time of all cells together, more than the wall time where processes ran side by side.

    >>> work_words(81.3)
    '1 min 21 s of fitting and scoring, summed over parallel processes'
    """
    return f"{duration(seconds)} of fitting and scoring, summed over parallel processes"


def computed_line(seconds: float, fits: str = "") -> str:
    """The time of a search without reading and writing files, and what part of the fits was for its estimate.

    >>> computed_line(52.0)
    'fits, estimate and refit took 52 s'
    """
    took = f"fits, estimate and refit took {duration(seconds)}"
    return f"{took}; {fits}" if fits else took


def duration(seconds: float) -> str:
    """Seconds in one or two units.

    >>> duration(0.042), duration(75), duration(7260)
    ('0.042 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 10:
        return f"{seconds:.2g} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _score_text(score: float) -> str:
    """Four significant digits; four decimals below 1."""
    is_small = not math.isfinite(score) or abs(score) < 1
    return number_text(score, 4 if is_small else max(3 - math.floor(math.log10(abs(score))), 0))
