import io

import pytest

from heldout.cells import CellKey, CellResult, CellState
from heldout.run.events import CellFinished, SearchFinished, SearchStarted, StageStarted
from heldout.run.progress import ProgressBar, ProgressLines, Silent, duration, progress


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
    assert lines[-2:] == ["100 of 100 fits (100%)", "finished after 5 min 0 s"]
    assert len(lines) == 12


def test_quick_cells_bring_a_line_each_two_seconds_at_most():
    events = [SearchStarted(1000, 0, 200, 5), *(cell(i) for i in range(1000))]
    lines = lines_of(events, Clock(), seconds_a_cell=1 / 256)
    assert [line.split(" fits")[0] for line in lines[1:]] == ["512 of 1000", "1000 of 1000"]


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


def test_what_suits_the_stream():
    assert type(progress(io.StringIO())) is ProgressLines
    assert type(progress(Terminal())) is ProgressBar
    assert type(progress(Terminal(), quiet=True)) is Silent


def test_a_terminal_without_rich_gets_lines(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rich.console", None)
    assert type(progress(Terminal())) is ProgressLines


def test_the_bar_says_how_far_and_gives_the_cursor_back_after_an_interrupt():
    stream = Terminal()
    with pytest.raises(KeyboardInterrupt), ProgressBar(stream) as listener:
        listener(SearchStarted(4, 1, 4, 1))
        listener(cell(1, CellState.FAILED))
        listener(StageStarted("estimate"))
        raise KeyboardInterrupt
    text = stream.getvalue()
    assert "1 split = 4 fits, of which 1 is done already" in text
    assert "2/4" in text
    assert "1 failed" in text
    assert " left" in text
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")  # shown after it was hidden


def test_durations():
    assert [duration(s) for s in (0, 9.96, 59.4, 60, 3599, 3600)] == [
        "0 s",
        "10 s",
        "59 s",
        "1 min 0 s",
        "59 min 59 s",
        "1 h 0 min",
    ]
