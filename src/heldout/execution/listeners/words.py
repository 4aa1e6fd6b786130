"""What is said of a run while it goes on: lines for a log, a terminal and ``verbose``."""

from __future__ import annotations

import math

from heldout._text import counted, number_text
from heldout.execution.events import BarrierPassed, SearchStarted, WorkersLost
from heldout.execution.listeners.tally import RunTally
from heldout.metrics.words import in_sentence, metric_words

STAGES = {
    "estimate": "estimating what the winner is worth",
    "refit": "fitting the winner on all rows",
}


def plan_line(event: SearchStarted) -> str:
    """What the search is going to do."""
    configurations, fits = counted(event.n_configurations, "configuration"), counted(event.n_cells, "fit")
    most = "at most " if event.may_drop else ""
    words = f"{configurations} x {counted(event.n_splits, 'split')} = {most}{fits}"
    if event.is_validation:  # a second stage is of one model only, so that the product may be another
        words = f"{fits} of {counted(event.n_configurations, 'model')} on all rows and on bootstrap samples"
    are = "is" if event.n_resumed == 1 else "are"
    return f"{words}, of which {event.n_resumed} {are} done already" if event.n_resumed else words


def barrier_line(event: BarrierPassed, before: RunTally) -> str:
    """Who left at a barrier, in one line; empty where nobody did.

    Parameters
    ----------
    event : BarrierPassed
    before : RunTally
        As they were before it.
    """
    barrier = event.barrier
    if not barrier.dropped and not barrier.stopped:
        return ""
    splits = counted(barrier.after, "split")
    if before.n_races == 1:
        splits = f"{barrier.after} of {counted(before.n_splits, 'split')}"
    race = "" if before.n_races == 1 else f"race {event.race + 1} of {before.n_races}, "
    failed = before.failed_among([left.configuration for left in barrier.dropped])
    dropped = len(barrier.dropped) - failed
    told = [f"{dropped} of {barrier.n_before} dropped"] if dropped else []
    told += [f"{failed} of {barrier.n_before} failed"] if failed and not dropped else []
    told += [f"{failed} failed"] if failed and dropped else []
    n_on = event.n_alive
    if barrier.stopped:
        told.append(f"{n_on} stay, and no more splits are needed to tell them apart")
    else:
        told.append(f"{n_on} {'goes' if n_on == 1 else 'go'} on")
    told.append(f"{counted(event.n_saved - before.saved, 'fit')} saved")
    return f"{race}after {splits} ({counted(barrier.n_rows, 'row')}): {', '.join(told)}"


def lost_line(event: WorkersLost) -> str:
    """That workers died, and what becomes of their work."""
    again = f"{counted(len(event.running), 'fit')} begun there" if event.running else "what they had begun"
    is_plural = len(event.running) != 1 and bool(event.running)
    return f"lost workers ({event.reason}); {again} {'are' if is_plural else 'is'} done again"


def fits_words(standings: RunTally) -> str:
    """Fits done, saved and failed."""
    share = (standings.done + standings.saved) / max(standings.total, 1)
    words = f"{standings.done} of {counted(standings.total, 'fit')} ({min(share, 1):.0%})"
    saved = f", {standings.saved} saved" if standings.saved else ""
    return words + saved + (f", {standings.failed} failed" if standings.failed else "")


def alive_words(standings: RunTally) -> str:
    """Configurations that are still in the race."""
    of_all = f"{standings.alive} of {counted(standings.n_configurations, 'configuration')}"
    return of_all + (f" after {standings.met} of {counted(standings.n_splits, 'split')}" if standings.met else "")


def best_words(standings: RunTally) -> str:
    """Who leads, the score first, as a name may be too long for a line."""
    best = standings.best
    if best is None:
        return ""
    # scikit-learn calls a scorer that has no name of its own "score".
    title = "" if standings.metric == "score" else f"{in_sentence(metric_words(standings.metric)[0])} "
    over = f"mean of {best.n_splits} splits" if best.n_splits > 1 else "in 1 split"
    here = " met since it was resumed" if standings.resumed else ""
    return f"{title}{score_text(best.score, standings.metric)} ({over}{here}, uncorrected): {best.name}"


def score_text(score: float, scorer: str) -> str:
    """What a scorer gives, a loss in its own units."""
    shown = -score if scorer.startswith("neg_") else score
    return number_text(shown, _decimals(shown))


def left_words(standings: RunTally, seconds: float) -> str:
    """Time left; an upper bound where configurations may leave, as nobody knows how many will."""
    left = standings.seconds_left(seconds)
    if not left:
        return ""
    return f"{'at most ' if standings.may_drop else ''}about {duration(max(round(left), 1))}"


def command_words(seconds: float) -> str:
    """The wall time of a whole command.

    >>> command_words(64.2)
    '1 min 4 s for the whole command'
    """
    return f"{duration(seconds)} for the whole command"


def work_words(seconds: float) -> str:
    """What all cells took, which is more than the wall time where processes worked side by side.

    >>> work_words(81.3)
    '1 min 21 s of fitting and scoring, summed over parallel processes'
    """
    return f"{duration(seconds)} of fitting and scoring, summed over parallel processes"


def computed_line(seconds: float) -> str:
    """How long a search took from its first fit to its last.

    >>> computed_line(52.0)
    'fits, estimate and refit took 52 s, without reading the table and writing the files'
    """
    return f"fits, estimate and refit took {duration(seconds)}, without reading the table and writing the files"


def duration(seconds: float) -> str:
    """Seconds as people say them, in one or two units.

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


def _decimals(score: float) -> int:
    """Four significant digits, of which a score below 1 shows all four decimals."""
    if not math.isfinite(score) or abs(score) < 1:
        return 4
    return max(3 - math.floor(math.log10(abs(score))), 0)
