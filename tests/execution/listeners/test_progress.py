"""Lines, and a bar on a terminal that is played: what a reader sees, and that the terminal is given back."""

import io
import re
import sys
import threading
import types
from contextlib import contextmanager

import pytest
from rich.console import Console
from rich.live import Live
from sklearn.dummy import DummyClassifier

import heldout as ho
from heldout.arguments import search as arguments
from heldout.dropping.base import Barrier, Dropped
from heldout.execution.cells import CellKey, CellResult, CellState
from heldout.execution.events import (
    BarrierPassed,
    CellFinished,
    ConfigurationsAdded,
    RunClosed,
    SearchFinished,
    SearchStarted,
    StageStarted,
    WorkersLost,
)
from heldout.execution.listeners import progress_listeners
from heldout.execution.listeners.bar import BarOfFits, bar_on
from heldout.execution.listeners.lines import ProgressLines
from heldout.execution.listeners.words import computed_line


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


@pytest.mark.parametrize(
    ("n_cells", "seconds_a_cell", "done"),
    [(1000, 1 / 256, [512, 1000]), (6, 16, [2, 4, 6])],
    ids=["each two seconds at most", "each half minute"],
)
def test_quick_and_slow_cells_bring_a_line(n_cells, seconds_a_cell, done):
    events = [SearchStarted(1000, 0, 200, 5), *(cell(i) for i in range(n_cells))]
    lines = lines_of(events, Clock(), seconds_a_cell)
    assert [line.split(" fits")[0] for line in lines[1:]] == [f"{number} of 1000" for number in done]


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


def test_the_time_left_is_not_flattered_by_cells_of_an_earlier_run():
    events = [SearchStarted(20, 10, 4, 5), *(cell(i) for i in range(5))]
    lines = lines_of(events, Clock(), seconds_a_cell=2)
    assert lines[0].endswith("of which 10 are done already")
    # 4 cells of this run took 8 seconds, 6 are left; counting all 14 it would say 3.4 s.
    assert lines[-1] == "14 of 20 fits (70%), about 12 s left"


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


# The bar, on a terminal that is played: what a reader sees, and that the terminal is given back.


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


@pytest.fixture(autouse=True)
def _only_tests_draw(monkeypatch):
    monkeypatch.setattr("heldout.execution.listeners.bar.DRAWN_PER_SECOND", 0.001)


@contextmanager
def bar(width=80, **started):
    terminal, clock = Terminal(), Clock()
    console = Console(file=terminal, force_terminal=True, width=width, color_system=None, legacy_windows=False)
    listener = BarOfFits(console, clock)
    listener(SearchStarted(15, 0, 3, 5, NAMES, "roc_auc", **started))
    try:
        yield listener, terminal, clock
    finally:
        listener(RunClosed())


def drawing_threads():
    return [thread for thread in threading.enumerate() if type(thread).__module__ == "rich.live"]


def scored(configuration, fold, score=None):
    state = CellState.FAILED if score is None else CellState.DONE
    scores = {} if score is None else {"roc_auc": score}
    return CellFinished(CellResult(CellKey(configuration, 0, fold), state, test_scores=scores))


def one_left(after=1):
    barrier = Barrier(after, 40, 3, 1, (Dropped(0, after, 0.999, "worse"),))
    return BarrierPassed(0, barrier, 2, 5 - after)


def shown(terminal):
    """Lines, without the blanks that stand for the rest of a bar where there are no colours."""
    return [re.sub(" {2,}", "  ", line) for line in terminal.lines if line]


def test_the_bar_says_how_the_race_stands():
    with bar(may_drop=True) as (listener, terminal, clock):
        for configuration, score in enumerate((0.5, 0.9, 0.8)):
            listener(scored(configuration, 0, score))
        listener(one_left())
        listener(scored(1, 1, 0.7))
        listener(scored(2, 1))
        clock.now += 10
        listener.draw()
        lines = shown(terminal)
    assert lines == [
        "3 configurations x 5 splits = at most 15 fits",
        "after 1 of 5 splits (40 rows): 1 of 3 dropped, 2 remain, 4 fits saved",
        "━" * 25 + "  5 of 15 fits (60%), 4 saved, 1 failed",
        "at most about 12 s left, 2 of 3 configurations remain after 1 of 5 splits",
        "best so far: ROC AUC 0.8000 (mean of 2 splits, uncorrected): logistic(C=1)",
    ]


def test_without_dropping_nothing_is_said_of_configurations_that_remain_and_the_time_is_no_bound():
    with bar() as (listener, terminal, clock):
        assert shown(terminal) == ["3 configurations x 5 splits = 15 fits", "  0 of 15 fits (0%)"]  # at once
        listener(scored(0, 0, 0.5))
        clock.now += 2
        listener.draw()
        lines = shown(terminal)
    assert lines[0] == "3 configurations x 5 splits = 15 fits"
    assert lines[2] == "about 28 s left"
    assert lines[3].startswith("best so far: ")


def test_races_side_by_side_show_neither_a_best_nor_how_many_remain():
    with bar(may_drop=True, n_races=3) as (listener, terminal, clock):
        listener(scored(0, 0, 0.5))
        listener(one_left())
        clock.now += 2
        listener.draw()
        lines = shown(terminal)
    assert lines[1] == "race 1 of 3, after 1 split (40 rows): 1 of 3 dropped, 2 remain, 4 fits saved"
    assert lines[3:] == ["at most about 20 s left"]


@pytest.mark.parametrize("width", [30, 63, 200])
def test_no_line_is_wider_than_the_terminal_or_broken_inside_a_word(width):
    with bar(width, may_drop=True) as (listener, terminal, clock):
        listener(scored(2, 0, 0.5))
        clock.now += 1
        listener.draw()
        lines = shown(terminal)
    assert all(len(line) <= width for line in lines)
    assert " ".join(line.strip("━╸╺ ") for line in lines) == (
        "3 configurations x 5 splits = at most 15 fits 1 of 15 fits (7%) at most about 14 s left, 3 of 3 "
        "configurations remain best so far: ROC AUC 0.5000 (1 split, uncorrected): neighbours(n_neighbors=15, "
        "weights='distance')"
    )


def test_notes_that_are_printed_meanwhile_do_not_tear_it(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(sys, "stderr", terminal)
    console = Console(file=terminal, force_terminal=True, width=80, color_system=None, legacy_windows=False)
    listener = BarOfFits(console, Clock())
    listener(SearchStarted(15, 0, 3, 5, NAMES, "roc_auc"))
    for fold in range(5):
        print(f"Note: number {fold}", file=sys.stderr)
        for configuration in range(3):
            listener(scored(configuration, fold, 0.5))
            listener.draw()
        print(f"said {fold}")
    listener(RunClosed())
    listener(SearchFinished(3.0))
    lines = shown(terminal)
    assert lines[0] == "3 configurations x 5 splits = 15 fits"
    assert lines[1:11] == [text for fold in range(5) for text in (f"Note: number {fold}", f"said {fold}")]
    assert lines[11].endswith("15 of 15 fits (100%)") and lines[12].startswith("best so far: ")
    assert lines[13:] == [computed_line(3.0)]
    assert (sys.stdout, sys.stderr) == (terminal, terminal)


def test_what_goes_to_a_file_is_not_drawn_on_the_terminal(monkeypatch):
    for name in ("stdout", "stderr"):
        piped = io.StringIO()
        monkeypatch.setattr(sys, name, piped)
        with bar() as (_, terminal, _):
            print("for the file", file=getattr(sys, name))
        assert piped.getvalue() == "for the file\n"
        assert "for the file" not in terminal.getvalue()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_the_terminal_is_given_back_however_a_search_ends(error, monkeypatch):
    """Here by a listener that raises, after the bar was drawn."""
    terminal = Terminal()
    console = Console(file=terminal, force_terminal=True, width=80, color_system=None, legacy_windows=False)
    listener = BarOfFits(console, Clock())
    streams = sys.stdout, sys.stderr

    def ends(event):
        if isinstance(event, CellFinished):
            listener.draw()
            assert not terminal.has_its_cursor
            raise error

    monkeypatch.setattr(arguments, "progress_listeners", lambda verbose: [listener, ends])
    with pytest.raises(error):
        ho.HeldOutSearchCV(DummyClassifier(), {"strategy": ["prior"]}, cv=3).fit([[0.0], [1.0]] * 30, [0, 1] * 30)
    assert terminal.has_its_cursor
    assert (sys.stdout, sys.stderr) == streams
    assert shown(terminal)[1].endswith("1 of 3 fits (33%)")


def test_the_terminal_is_given_back_when_ctrl_c_comes_while_it_is_given_back(monkeypatch):
    def interrupted(live):
        raise KeyboardInterrupt

    with bar() as (listener, terminal, _):
        assert not terminal.has_its_cursor
        monkeypatch.setattr(Live, "stop", interrupted)
        with pytest.raises(KeyboardInterrupt):
            listener(RunClosed())
        assert terminal.has_its_cursor
        monkeypatch.undo()


def test_stages_follow_the_bar_and_do_not_draw_over_it():
    with bar() as (listener, terminal, _):
        for configuration in range(3):
            for fold in range(5):
                listener(scored(configuration, fold, 0.5))
        listener(RunClosed())
        listener(StageStarted("estimate"))
        listener(StageStarted("refit"))
        listener(SearchFinished(70.0))
    assert shown(terminal)[1].endswith("15 of 15 fits (100%)")
    assert shown(terminal)[-3:] == [
        "estimating the performance of the winner",
        "fitting the winner on all rows",
        computed_line(70.0),
    ]


def test_a_second_run_has_a_bar_of_its_own():
    with bar() as (listener, terminal, _):
        listener(RunClosed())
        listener(SearchStarted(4, 0, 2, 2, NAMES))
        listener(scored(0, 0, 0.5))
    assert [line.split("  ")[-1].strip() for line in shown(terminal)][:4] == [
        "3 configurations x 5 splits = 15 fits",
        "0 of 15 fits (0%)",
        "2 configurations x 2 splits = 4 fits",
        "1 of 4 fits (25%)",
    ]


def test_a_run_of_unknown_length_has_lines():
    terminal, clock = Terminal(), Clock()
    console = Console(file=terminal, force_terminal=True, width=80, color_system=None, legacy_windows=False)
    listener = BarOfFits(console, clock)
    listener(SearchStarted(0, 0, 0, 2))
    listener(ConfigurationsAdded(["a"]))
    for fold in range(2):
        clock.now += 10
        listener(scored(0, fold, 0.5))
    listener(RunClosed())
    assert shown(terminal) == [
        "configurations as they are proposed, 2 fits each",
        "1 of 2 fits (50%), about 10 s left",
        "2 of 2 fits (100%)",
    ]
    assert terminal.has_its_cursor


def test_a_terminal_that_went_away_does_not_end_the_search(monkeypatch):
    class Gone(Terminal):
        def write(self, text):
            raise OSError(5, "Input/output error")

        def flush(self):
            raise OSError(5, "Input/output error")

    monkeypatch.setenv("TERM", "xterm")
    listener = bar_on(Gone())
    listener(SearchStarted(15, 0, 3, 5, NAMES, "roc_auc"))
    listener(scored(0, 0, 0.5))
    listener.draw()
    listener(RunClosed())
    listener(SearchFinished(1.0))


def test_an_event_draws_nothing():
    with bar(may_drop=True) as (listener, terminal, _):
        listener.draw()
        before = terminal.getvalue()
        for fold in range(5):
            listener(scored(0, fold, 0.5))
        assert terminal.getvalue() == before


def test_the_thread_that_draws_ends_with_the_bar(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    listener = bar_on(Terminal())
    listener(SearchStarted(15, 0, 3, 5, NAMES, "roc_auc"))
    (drawing,) = drawing_threads()
    listener(RunClosed())
    drawing.join(10)
    assert not drawing_threads()


def test_a_notebook_redraws_its_bar_twice_a_second_without_a_thread_or_widgets(monkeypatch):
    drawn = []

    class Handle:
        def update(self, what):
            drawn.append(what._repr_mimebundle_([], [])["text/plain"].splitlines())

    def display(what, display_id=False):
        return Handle() if display_id else None

    monkeypatch.setattr("heldout.execution.listeners.bar.DRAWN_PER_SECOND", 2)
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    clock = Clock()
    listener = BarOfFits(Console(force_jupyter=True, width=80), clock)
    listener(SearchStarted(15, 0, 3, 5, NAMES, "roc_auc"))
    for configuration in range(3):
        for fold in range(5):
            clock.now += 0.25
            listener(scored(configuration, fold, 0.5))
    assert not drawing_threads()
    listener(RunClosed())
    assert len(drawn) == 9
    assert drawn[0][0].endswith(" 1 of 15 fits (7%)") and drawn[-1][0].endswith(" 15 of 15 fits (100%)")
