"""A search with early stopping that was killed ends as one that was not, with the same stopping rows."""

import signal

import pytest
import stopped_search
from counted_search import count
from forked import Forked

from heldout.execution.store.sqlite import SQLiteStore

PROGRAM = "from stopped_search import main; main()"

pytestmark = pytest.mark.processes


@pytest.mark.parametrize("die_at", [9, 13])
def test_a_killed_search_ends_as_an_uninterrupted_one(tmp_path, die_at):
    store = tmp_path / "run.db"
    process = Forked(PROGRAM, store, tmp_path / "log", tmp_path / "result", die_at)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    entropy = SQLiteStore(store).stored_entropy()

    resumed = stopped_search.run(store, tmp_path / "resumed")
    whole = stopped_search.run(None, tmp_path / "whole", entropy)

    assert count(tmp_path / "whole") == 13
    assert count(tmp_path / "resumed") <= 13 - (die_at - 1) + 4, "what was acknowledged is not done again"
    assert resumed == whole
