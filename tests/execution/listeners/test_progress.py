import io
import sys

from heldout.dropping.base import Barrier, Dropped
from heldout.execution.cells import CellKey, CellResult, CellState
from heldout.execution.events import (
    BarrierPassed,
    CellFinished,
    SearchFinished,
    SearchStarted,
    StageStarted,
    WorkersLost,
)
from heldout.execution.listeners import progress_listeners
from heldout.execution.listeners.bar import BarOfFits
from heldout.execution.listeners.lines import ProgressLines
from heldout.execution.listeners.words import computed_line, duration


class Clock:
    """A clock that the test sets."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


def cell(number, state=CellState.DONE, **more):
    return CellFinished(CellResult(CellKey(number, 0, 0), state, **more))


def lines_of(events, clock, seconds_a_cell):
    stream = io.StringIO()
    listener = ProgressLines(stream, clock)
    for event in events:
        if isinstance(event, CellFinished):
            clock.now += seconds_a_cell
        listener(event)
    return stream.getvalue().splitlines()


def test_a_line_each_tenth_with_the_time_left():
    events = [SearchStarted(100, 0, 20, 5), *(cell(i) for i in range(100)), SearchFinished(300)]
    lines = lines_of(events, Clock(), seconds_a_cell=3)
    assert lines[0] == "20 configurations x 5 splits = 100 fits"
    assert lines[1] == "10 of 100 fits (10%), about 4 min 30 s left"
    assert lines[-2:] == ["100 of 100 fits (100%)", computed_line(300.0)]
    assert len(lines) == 12


def test_quick_cells_bring_a_line_each_two_seconds_at_most():
    events = [SearchStarted(1000, 0, 200, 5), *(cell(i) for i in range(1000))]
    lines = lines_of(events, Clock(), seconds_a_cell=1 / 256)
    assert [line.split(" fits")[0] for line in lines[1:]] == ["512 of 1000", "1000 of 1000"]


def test_results_that_arrive_together_bring_a_line_when_all_are_counted():
    stream, clock = io.StringIO(), Clock()
    listener = ProgressLines(stream, clock)
    listener(SearchStarted(100, 0, 20, 5))
    for split in range(5):
        clock.now += 40
        for n in range(20):
            key = CellKey(n, 0, split)
            listener(CellFinished(CellResult(key, CellState.DONE, fit_seconds=2.0, n_following=19 - n)))
    lines = stream.getvalue().splitlines()
    assert lines[1:3] == [
        "20 of 100 fits (20%), about 2 min 40 s left",
        "40 of 100 fits (40%), about 2 min 0 s left",
    ]
    assert len(lines) == 6


def test_slow_cells_bring_a_line_each_half_minute():
    events = [SearchStarted(1000, 0, 200, 5), *(cell(i) for i in range(6))]
    lines = lines_of(events, Clock(), seconds_a_cell=16)
    assert [line.split(" fits")[0] for line in lines[1:]] == ["2 of 1000", "4 of 1000", "6 of 1000"]


def test_the_time_left_is_not_flattered_by_cells_of_an_earlier_run():
    events = [SearchStarted(20, 10, 4, 5), *(cell(i) for i in range(5))]
    lines = lines_of(events, Clock(), seconds_a_cell=2)
    assert lines[0].endswith("of which 10 are done already")
    # 4 cells of this run took 8 seconds, 6 are left; counting all 14 it would say 3.4 s.
    assert lines[-1] == "14 of 20 fits (70%), about 12 s left"


def test_failures_are_counted():
    events = [SearchStarted(2, 0, 2, 1), cell(0, CellState.FAILED), cell(1)]
    assert lines_of(events, Clock(), 1)[-1] == "2 of 2 fits (100%), 1 failed"


def test_stages_are_named():
    assert lines_of([StageStarted("refit")], Clock(), 1) == ["fitting the winner on all rows"]


def passed(after, n_before, leaving, n_saved, *, race=0, n_rows=200, stopped=False):
    dropped = tuple(Dropped(j, after, 0.998, "worse") for j in leaving)
    barrier = Barrier(after, n_rows, n_before, leader=0, dropped=dropped, stopped=stopped)
    return BarrierPassed(race, barrier, n_before - len(leaving), n_saved)


def test_a_line_for_each_barrier_at_which_somebody_left():
    events = [
        SearchStarted(1005, 0, 201, 5, may_drop=True),
        passed(1, 201, [], 0, n_rows=100),
        passed(2, 201, range(58, 201), 429),
        passed(3, 58, [57], 431),
    ]
    assert lines_of(events, Clock(), 1) == [
        "201 configurations x 5 splits = at most 1005 fits",
        "after 2 of 5 splits (200 rows): 143 of 201 dropped, 58 remain, 429 fits saved",
        "after 3 of 5 splits (200 rows): 1 of 58 dropped, 57 remain, 2 fits saved",
    ]


def test_who_failed_was_not_dropped():
    begun = SearchStarted(40, 0, 10, 4, may_drop=True)
    failed = [cell(j, CellState.FAILED) for j in (3, 4)]
    some = lines_of([begun, *failed, passed(2, 10, [3, 4, 5], 6)], Clock(), 0)
    assert some[-1] == "after 2 of 4 splits (200 rows): 1 of 10 dropped, 2 failed, 7 remain, 6 fits saved"
    none = lines_of([begun, *failed, passed(2, 10, [3, 4], 4)], Clock(), 0)
    assert none[-1] == "after 2 of 4 splits (200 rows): 2 of 10 failed, 8 remain, 4 fits saved"


def test_a_race_that_ends_early_says_so():
    lines = lines_of([SearchStarted(40, 0, 10, 4, may_drop=True), passed(3, 10, [1], 10, stopped=True)], Clock(), 1)
    assert lines[-1] == (
        "after 3 of 4 splits (200 rows): 1 of 10 dropped, 9 remain, and no more splits are needed to tell them "
        "apart, 10 fits saved"
    )


def test_races_side_by_side_are_told_apart_and_share_what_they_save():
    begun = SearchStarted(120, 0, 10, 12, n_races=3, may_drop=True)
    lines = lines_of([begun, passed(2, 10, [1, 2], 4, race=1), passed(1, 10, [5], 7, race=2)], Clock(), 1)
    assert lines[1:] == [
        "race 2 of 3, after 2 splits (200 rows): 2 of 10 dropped, 8 remain, 4 fits saved",
        "race 3 of 3, after 1 split (200 rows): 1 of 10 dropped, 9 remain, 3 fits saved",
    ]


def test_the_time_left_is_an_upper_bound_where_some_may_leave_and_what_is_saved_takes_none():
    cells = [cell(i) for i in range(10)]
    events = [SearchStarted(100, 0, 20, 5, may_drop=True), *cells, passed(1, 20, range(10), 40), *cells]
    lines = lines_of(events, Clock(), seconds_a_cell=3)
    assert lines[1] == "10 of 100 fits (10%), at most about 4 min 30 s left"
    # A tenth of the 60 that are left to this run is 6: 16 took 48 s, 44 are still to be done.
    assert lines[-1] == "16 of 100 fits (56%), 40 saved, at most about 2 min 12 s left"


def test_lost_workers_are_told_with_what_becomes_of_their_work():
    keys = (CellKey(1, 0, 0), CellKey(2, 0, 0))
    for running, ending in (
        (keys, "2 fits begun there are done again"),
        (keys[:1], "1 fit begun there is done again"),
        ((), "what they had begun is done again"),
    ):
        line = lines_of([WorkersLost(running, "a worker was killed by signal 9")], Clock(), 1)[-1]
        assert line == f"lost workers (a worker was killed by signal 9); {ending}"


def test_a_validation_fits_models_on_samples(capsys):
    begun = SearchStarted(602, 40, 2, 401, is_validation=True)
    told = "602 fits of 2 models on all rows and on bootstrap samples, of which 40 are done already"
    assert lines_of([begun], Clock(), 1) == [told]
    (listener,) = progress_listeners(2)
    listener(SearchStarted(201, 0, 1, 201, is_validation=True, names=("logistic",)))
    listener(CellFinished(CellResult(CellKey(0, 3, 0), CellState.DONE, "", 0.25)))
    assert capsys.readouterr().out.splitlines() == [
        "201 fits of 1 model on all rows and on bootstrap samples",
        "fit 1 of 201: logistic, bootstrap 3: done (0.25 s)",
    ]


def test_verbose_prints_the_plan_every_fit_who_left_and_what_was_lost(capsys):
    for verbose in (1, 2):
        (listener,) = progress_listeners(verbose)
        for event in (
            SearchStarted(15, 0, 3, 5, may_drop=True, names=("a", "b", "c")),
            cell(1, test_scores={"score": 0.5}),
            cell(2, CellState.FAILED, message="no"),
            passed(2, 3, [1, 2], 6),
            WorkersLost((), "killed"),
        ):
            listener(event)
        said = capsys.readouterr().out.splitlines()
        assert said[0] == "3 configurations x 5 splits = at most 15 fits"
        assert said[1:-2] == (
            [
                "fit 1 of at most 15: b, repeat 0, fold 0: score=0.5000 (0 s)",
                "fit 2 of at most 15: c, repeat 0, fold 0: failed (no) (0 s)",
            ]
            if verbose == 2
            else []
        )
        assert said[-2:] == [
            "after 2 of 5 splits (200 rows): 1 of 3 dropped, 1 failed, 1 remains, 6 fits saved",
            "lost workers (killed); what they had begun is done again",
        ]


def test_what_suits_the_stream(monkeypatch):
    def kind(verbose, stream):
        return [type(listener) for listener in progress_listeners(verbose, stream)]

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert kind(0, Terminal()) == []
    assert kind(1, io.StringIO()) == [ProgressLines]
    assert kind(1, Terminal()) == [BarOfFits]
    assert kind(2, Terminal()) == [ProgressLines]
    monkeypatch.setenv("TERM", "dumb")
    assert kind(1, Terminal()) == [ProgressLines]


def test_a_terminal_without_rich_gets_lines(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delitem(sys.modules, "heldout.execution.listeners.bar", raising=False)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert type(*progress_listeners(1, Terminal())) is ProgressLines


def test_a_program_without_a_console_is_silent(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert progress_listeners(1) == []


def test_a_line_breaks_between_words_on_a_terminal_and_not_in_a_log(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    line = "lost workers (a worker was killed by signal 9); what they had begun is done again"
    for stream, lines in (
        (io.StringIO(), [line]),
        (Terminal(), ["lost workers (a worker was killed by", "signal 9); what they had begun is done", "again"]),
    ):
        ProgressLines(stream)(WorkersLost((), "a worker was killed by signal 9"))
        assert stream.getvalue().splitlines() == lines


def test_durations():
    assert [duration(s) for s in (0, 9.96, 59.4, 60, 3599, 3600)] == [
        "0 s",
        "10 s",
        "59 s",
        "1 min 0 s",
        "59 min 59 s",
        "1 h 0 min",
    ]
