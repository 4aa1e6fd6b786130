"""Whole runs by script: what the loop does with failures, dead workers and Ctrl-C in any order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import ScriptedExecutor, all_cells
from sklearn.dummy import DummyRegressor
from sklearn.metrics import get_scorer

from heldout.configurations import make_configurations
from heldout.data.task import Task, truth_of
from heldout.execution.cells import CellKey, CellResult, CellState
from heldout.execution.executors import WorkersLostError
from heldout.execution.fit import Work, make_scoring
from heldout.execution.plan import Race
from heldout.execution.run import OpenRun, RunSettings
from heldout.execution.scheduler import MOST_LOSSES
from heldout.execution.store import MemoryRun
from heldout.folds.splits import make_folds

TASK = Task(np.arange(24.0).reshape(12, 2), truth_of(np.linspace(0.1, 1.3, 12)))
N_CONFIGURATIONS, N_FOLDS = 4, 3


def make_work() -> Work:
    scoring = make_scoring(TASK.truth, get_scorer("neg_mean_squared_error"))
    grid = {"strategy": ["quantile"], "quantile": [0.1 * number for number in range(N_CONFIGURATIONS)]}
    return Work(TASK, scoring, make_configurations(DummyRegressor(), grid), make_folds(TASK, N_FOLDS))


WORK = make_work()
CELLS = all_cells(N_CONFIGURATIONS, WORK.folds)


def run(executor: ScriptedExecutor, into: MemoryRun | None = None) -> dict[CellKey, CellResult]:
    """What a run holds at the end."""
    kept = MemoryRun(entropy=0) if into is None else into
    with executor:
        OpenRun(WORK, kept, executor, RunSettings()).run_races([Race(WORK.folds.splits)])
    return {result.key: result for result in kept.results()}


UNDISTURBED = run(ScriptedExecutor())


def same(one: CellResult, other: CellResult) -> bool:
    return (one.state, one.message, one.test_scores) == (other.state, other.message, other.test_scores) and all(
        np.array_equal(one.predictions[response], values) for response, values in other.predictions.items()
    )


@settings(max_examples=60)
@given(
    order=st.one_of(st.sampled_from(["given", "reversed"]), st.integers(0, 1000)),
    losses=st.dictionaries(st.sampled_from(CELLS), st.integers(1, MOST_LOSSES + 1), max_size=4),
    failures=st.dictionaries(st.sampled_from(CELLS), st.sampled_from(["no luck", "bad luck"]), max_size=3),
    beside=st.integers(1, 3),
    interrupt_after=st.one_of(st.none(), st.integers(0, len(CELLS) - 1)),
)
def test_the_result_depends_on_neither_order_nor_accidents(
    order, losses, failures, beside, interrupt_after
) -> None:
    executor = ScriptedExecutor(order, failures, losses, beside, interrupt_after)
    kept = MemoryRun(entropy=0)
    try:
        found = run(executor, kept)
    except KeyboardInterrupt:
        assert len(executor.done) == interrupt_after
        found = run(executor, kept)
    assert found.keys() == set(CELLS)
    assert len(executor.done) == len(set(executor.done)), "nothing is done twice"
    for cell, result in found.items():
        if cell not in executor.done:
            assert losses[cell] >= MOST_LOSSES - 1  # one of the three may be its neighbour's
            assert result.state is CellState.FAILED
            assert result.attempts == MOST_LOSSES
            assert "its worker was lost 3 times (the script killed its worker)" in result.message
        elif cell in failures:
            assert (result.state, result.message) == (CellState.FAILED, failures[cell])
        else:
            assert same(result, UNDISTURBED[cell])


def test_those_that_ran_beside_a_killer_are_tried_alone() -> None:
    killer = CELLS[0]
    executor = ScriptedExecutor(losses={killer: MOST_LOSSES}, beside=2)
    found = run(executor)
    first, neighbour = executor.rounds[0][:2]
    assert first == killer
    assert executor.rounds[1:4] == [(killer,), (killer,), (neighbour,)]
    assert found[killer].state is CellState.FAILED
    assert (found[neighbour].state, found[neighbour].attempts) == (CellState.DONE, 2)


def test_where_it_is_unknown_what_ran_cells_are_suspects_only_if_no_result_came() -> None:
    late, at_once = (run(ScriptedExecutor(losses={cell: 1}, beside=0)) for cell in (CELLS[2], CELLS[0]))
    assert {result.attempts for result in late.values()} == {1}
    assert {result.attempts for result in at_once.values()} == {2}


def test_an_exception_of_the_script_is_raised_and_what_came_before_is_kept() -> None:
    executor = ScriptedExecutor(failures={CELLS[-1]: RuntimeError("no more")})
    kept = MemoryRun(entropy=0)
    with pytest.raises(RuntimeError, match="no more"):
        run(executor, kept)
    assert kept.acknowledged() == set(executor.done)


def test_a_script_says_what_it_does() -> None:
    bad = CellKey(1, 0, 0)
    executor = ScriptedExecutor(
        order=7,
        losses={bad: 2},
        beside=2,
        interrupt_after=5,
        fit=lambda work, cell: CellResult(cell, CellState.DONE),
    )
    assert repr(executor) == (
        "ScriptedExecutor(order=7, losses={(1, 0, 0): 2}, beside=2, interrupt_after=5; 0 cells done in 0 rounds)"
    )
    with pytest.raises(WorkersLostError) as lost:
        list(executor.run(WORK, [bad]))
    assert lost.value.running == (bad,)
    assert "1 round)" in repr(executor)
