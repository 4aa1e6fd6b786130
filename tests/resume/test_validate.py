"""``heldout validate``: stopped by Ctrl-C or kill -9, then to the end: the same document as in one go."""

import json
import shlex
import signal

import pytest
from stopped_command import cells, stopped_at, written_table

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("short_page")]

N_FITS = 61


@pytest.fixture
def table(tmp_path):
    return written_table(tmp_path / "small.csv")


def arguments(table, out, *more):
    options = f"--target y --metric roc_auc --metric log_loss --n-bootstraps {N_FITS - 1} --n-jobs 1 --out"
    return ["validate", str(table), *shlex.split(options), str(out), *more]


def test_a_stopped_validation_goes_on_to_the_same_document(tmp_path, table, command):
    assert command(*arguments(table, tmp_path / "one_go")).code == 0
    out = tmp_path / "out"

    code, said = stopped_at(10, signal.SIGINT, arguments(table, out), out)
    assert code == 130
    again = shlex.join(["heldout", *arguments(table, out, "--resume")])
    assert said.strip().endswith(again)
    kept = cells(out)
    assert 10 <= len(kept) < N_FITS

    code, _ = stopped_at(len(kept) + 10, signal.SIGKILL, arguments(table, out, "--resume"), out)
    assert code == -signal.SIGKILL
    kept |= cells(out)

    ended = command(*arguments(table, out, "--resume"))
    assert ended.code == 0 and f"of which {len(kept)} are done already" in ended.err
    done = cells(out)
    assert len(done) == N_FITS and {number: done[number] for number in kept} == kept  # none was done again
    document, in_one_go = (
        json.loads((folder / "validation.json").read_text()) for folder in (out, tmp_path / "one_go")
    )
    assert document == in_one_go
