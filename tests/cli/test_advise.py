"""``heldout advise``: the advice on the search that ``heldout tune`` would run with the same options."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from heldout import studies

Command = Callable[..., Any]
Write = Callable[..., Path]

pytestmark = pytest.mark.usefixtures("tiny_space")


@pytest.fixture(autouse=True)
def worst_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study of heldout-papers, which is tested there: every protocol is off by .01."""
    rows = [
        {"protocol": name, "bias": 0.01, "standard_error": 0.001} for name in ("cv", "nested_cv", "bbc", "bced")
    ]
    monkeypatch.setitem(vars(studies), "bias", lambda *_, **__: SimpleNamespace(rows=lambda: rows))


def advise(command: Command, path: Path, *options: object) -> Any:
    return command("advise", path, "--target", "outcome", "--metric", "accuracy", "--n-jobs", "1", *options)


def test_it_says_the_method_and_then_the_costs_and_why(command: Command, table: Write, tmp_path: Path) -> None:
    ended = advise(command, table(), "--cv", "3", "--seconds", "0", "--quiet")

    assert (ended.code, ended.err) == (0, ""), ended
    lines = ended.out.splitlines()
    assert lines[0].startswith("For held-out predictions of a fixed search of several configurations, use")
    assert "Nested cross-validation makes 22 fits where the search alone makes 7." in lines
    assert "--cv auto makes 10 folds" in ended.out, "options of the command line stand for arguments"
    assert [line.split("  ")[0] for line in lines[1 : lines.index("Why:")] if line] == [
        "", "uncorrected", "shrinkage or bbc", "the same, early dropping", "the same, 4 repeats", "nested",
    ]  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"], "it writes no file"


def test_it_says_what_it_reads_before(command: Command, table: Write) -> None:
    ended = advise(command, table(), "--seconds", "0")
    assert ended.out.startswith("data.csv: 60 rows, 3 columns to predict from.")
    assert "Plan: 2 configurations (logistic) x 5 folds = 10 fits, seed 0." in ended.out
    assert "Excluded 'constant'" in ended.err


def test_the_document_is_that_of_the_advice(command: Command, table: Write) -> None:
    ended = advise(command, table(), "--groups", "site", "--json", "--seconds", "5", "--repeats", "2")

    document = json.loads(ended.out)
    assert (document["n_rows"], document["n_configurations"], document["metric"]) == (60, 2, "accuracy")
    fits = {row["protocol"]: row["most"] for row in document["protocols"]}
    assert fits == {"cv": 21, "bbc": 21, "bced": 21, "nested_cv": 111}
    assert document["families"][0]["n_fitted"] == 2 and document["seconds_spent"] > 0
    assert document["recommendation"]["n_rows"] == 10, "groups"


def test_an_adaptive_search_and_inner_folds(command: Command, table: Write) -> None:
    ended = advise(command, table(), "--seconds", "0", "--adaptive", "--inner", "3", "--cv", "4", "--json")

    document = json.loads(ended.out)
    assert document["recommendation"]["case"] == "adaptive"
    # A search of 3 folds on all rows and in each of 4 outer folds, and their winners.
    assert document["protocols"][-1]["most"] == 3 * 2 * (1 + 4) + 4 + 1


def test_ctrl_c_ends_it_as_other_commands(command: Command, table: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(vars(studies), "bias", interrupted)
    ended = advise(command, table(), "--seconds", "0", "--quiet")
    assert (ended.code, ended.out, ended.last) == (130, "", "Interrupted.")
