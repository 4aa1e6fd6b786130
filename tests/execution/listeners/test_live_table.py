"""The live table, on a terminal that is played: what a reader sees, and that the terminal is given back."""

import io
import re
import sys
import threading

import pytest
from rich.console import Console

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
from heldout.execution.listeners.progress import LiveTable
from heldout.execution.listeners.words import computed_line

NAMES = ("logistic(C=0.01)", "logistic(C=1)", "neighbours(n_neighbors=15, weights='distance')")


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    """Lines as a terminal of unlimited height shows them, from what is written to it."""

    def isatty(self):
        return True

    @property
    def lines(self):
        screen, row, column = [""], 0, 0
        for part in re.findall(r"\x1b\[[?\d;]*[a-zA-Z]|\r|\n|[^\x1b\r\n]+", self.getvalue()):
            if part == "\n":
                row += 1
                screen += [""] * (row + 1 - len(screen))
                column = 0
            elif part == "\r":
                column = 0
            elif part == "\x1b[2K":
                screen[row] = ""
            elif part.endswith("A") and part[0] == "\x1b":
                row -= int(part[2:-1])
            elif part[0] != "\x1b":
                screen[row] = screen[row][:column] + part + screen[row][column + len(part) :]
                column += len(part)
            else:
                assert part in ("\x1b[?25l", "\x1b[?25h"), f"a terminal is not asked for {part!r}"
        return [line.rstrip() for line in screen]

    @property
    def has_its_cursor(self):
        text = self.getvalue()
        return text.rfind("\x1b[?25h") >= text.rfind("\x1b[?25l")


def table(width=72, **started):
    terminal, clock = Terminal(), Clock()
    console = Console(file=terminal, force_terminal=True, width=width, color_system=None, legacy_windows=False)
    listener = LiveTable(terminal, clock, console=console, is_ticking=False)
    listener(SearchStarted(15, 0, 3, 5, NAMES, "roc_auc", **started))
    return listener, terminal, clock


def cell(configuration, fold, score=None):
    state = CellState.FAILED if score is None else CellState.DONE
    scores = {} if score is None else {"roc_auc": score}
    return CellFinished(CellResult(CellKey(configuration, 0, fold), state, test_scores=scores))


def one_left(after=1):
    barrier = Barrier(after, 40, 3, 1, (Dropped(0, after, 0.999, "worse"),))
    return BarrierPassed(0, barrier, 2, 5 - after)


def shown(terminal):
    return [line for line in terminal.lines if line]


def test_the_table_says_how_the_race_stands():
    listener, terminal, clock = table(may_drop=True)
    with listener:
        for configuration, score in enumerate((0.5, 0.9, 0.8)):
            listener(cell(configuration, 0, score))
        listener(one_left())
        listener(cell(1, 1, 0.7))
        listener(cell(2, 1))
        clock.now += 10
        listener.draw()
        lines = shown(terminal)
    bar = "━" * 12 + " " * 8
    assert lines == [
        "3 configurations x 5 splits = at most 15 fits",
        "after 1 of 5 splits (40 rows): 1 of 3 dropped, 2 remain, 4 fits saved",
        f"fits         {bar}  5 of 15 fits (60%), 4 saved, 1 failed",
        "remaining    2 of 3 configurations after 1 of 5 splits",
        "best so far  ROC AUC 0.8000 (mean of 2 splits, uncorrected): logistic(C…",
        "time left    at most about 12 s",
    ]


def test_without_dropping_nothing_is_said_of_who_is_alive_and_the_time_is_no_bound():
    listener, terminal, clock = table()
    with listener:
        listener(cell(0, 0, 0.5))
        clock.now += 2
        listener.draw()
        lines = shown(terminal)
    assert lines[0] == "3 configurations x 5 splits = 15 fits"
    assert [line.split("  ")[0] for line in lines[1:]] == ["fits", "best so far", "time left"]
    assert lines[-1] == "time left    about 28 s"


def test_races_side_by_side_show_neither_a_leader_nor_a_number_alive():
    listener, terminal, _ = table(may_drop=True, n_races=3)
    with listener:
        listener(cell(0, 0, 0.5))
        listener(one_left())
        listener.draw()
        lines = shown(terminal)
    assert lines[1] == "race 1 of 3, after 1 split (40 rows): 1 of 3 dropped, 2 remain, 4 fits saved"
    assert [line.split("  ")[0] for line in lines[2:]] == ["fits", "time left"]


def test_lost_workers_stay_in_sight():
    listener, terminal, _ = table()
    with listener:
        listener(WorkersLost((CellKey(0, 0, 0),), "a worker was killed by signal 9"))
        listener.draw()
        assert "lost         workers once: a worker was killed by signal 9" in shown(terminal)
        listener(WorkersLost((), "the scheduler went away"))
        listener.draw()
        lines = shown(terminal)
    assert "lost         workers 2 times: the scheduler went away" in lines
    assert "lost workers (a worker was killed by signal 9); 1 fit begun there is done again" in lines


@pytest.mark.parametrize("width", [24, 40, 63, 64, 80, 200])
def test_no_line_is_wider_than_the_terminal_or_broken(width):
    listener, terminal, _ = table(width, may_drop=True)
    with listener:
        listener(cell(2, 0, 0.5))
        listener.draw()
        lines = shown(terminal)[1:]  # the terminal itself breaks the line of the plan
    assert len(lines) == 4
    assert all(len(line) <= width for line in lines)
    assert ("━" in lines[0]) == (width >= 64)


def test_notes_that_are_printed_meanwhile_do_not_tear_it(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(sys, "stderr", terminal)
    console = Console(file=terminal, force_terminal=True, width=72, color_system=None, legacy_windows=False)
    with LiveTable(terminal, Clock(), console=console, is_ticking=False) as listener:
        listener(SearchStarted(15, 0, 3, 5, NAMES, "roc_auc"))
        for fold in range(5):
            print(f"Note: number {fold}", file=sys.stderr)
            for configuration in range(3):
                listener(cell(configuration, fold, 0.5))
                listener.draw()
            print(f"said {fold}")
        listener(SearchFinished(3.0))
    lines = shown(terminal)
    assert lines[0] == "3 configurations x 5 splits = 15 fits"
    assert lines[1:11] == [text for fold in range(5) for text in (f"Note: number {fold}", f"said {fold}")]
    assert [line.split("  ")[0] for line in lines[11:14]] == ["fits", "best so far", "time"]
    assert lines[14:] == [computed_line(3.0)]
    assert (sys.stdout, sys.stderr) == (terminal, terminal)


def test_what_goes_to_a_file_is_not_drawn_on_the_terminal(monkeypatch):
    piped = io.StringIO()
    monkeypatch.setattr(sys, "stdout", piped)
    listener, terminal, _ = table()
    with listener:
        print("for the file")
    assert piped.getvalue() == "for the file\n"
    assert "for the file" not in terminal.getvalue()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_the_terminal_is_given_back_however_it_ends(error):
    streams = sys.stdout, sys.stderr
    listener, terminal, _ = table()
    with pytest.raises(error), listener:
        listener(cell(0, 0, 0.5))
        listener.draw()
        assert not terminal.has_its_cursor
        raise error
    assert terminal.has_its_cursor
    assert (sys.stdout, sys.stderr) == streams
    assert shown(terminal)[1].endswith("1 of 15 fits (7%)")


def test_the_terminal_is_given_back_when_ctrl_c_comes_while_it_is_given_back():
    listener, terminal, _ = table()

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listener:
        listener._live.stop = interrupted
    assert terminal.has_its_cursor


def test_stages_follow_the_table_and_do_not_draw_over_it():
    listener, terminal, clock = table()
    with listener:
        for configuration in range(3):
            for fold in range(5):
                listener(cell(configuration, fold, 0.5))
        clock.now += 65
        listener(StageStarted("estimate"))
        listener(StageStarted("refit"))
        listener(SearchFinished(70.0))
    assert shown(terminal)[-4:] == [
        "time         1 min 5 s since the first fit began",
        "estimating the performance of the winner",
        "fitting the winner on all rows",
        computed_line(70.0),
    ]


def test_a_terminal_that_went_away_does_not_end_the_search(monkeypatch):
    class Gone(Terminal):
        def write(self, text):
            raise OSError(5, "Input/output error")

        def flush(self):
            raise OSError(5, "Input/output error")

    monkeypatch.setenv("TERM", "xterm")
    with LiveTable(Gone(), Clock(), is_ticking=False) as listener:
        listener(SearchStarted(15, 0, 3, 5, NAMES, "roc_auc"))
        listener(cell(0, 0, 0.5))
        listener.draw()
        listener(SearchFinished(1.0))


def test_an_event_draws_nothing():
    listener, terminal, _ = table(may_drop=True)
    with listener:
        listener.draw()
        before = terminal.getvalue()
        for fold in range(5):
            listener(cell(0, fold, 0.5))
        assert terminal.getvalue() == before


def test_the_thread_that_draws_ends_with_the_table(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    before = threading.active_count()
    with LiveTable(Terminal()) as listener:
        listener(SearchStarted(15, 0, 3, 5, NAMES, "roc_auc"))
        drawing = listener._live._refresh_thread
        assert drawing.is_alive()
    drawing.join(10)
    assert threading.active_count() == before
