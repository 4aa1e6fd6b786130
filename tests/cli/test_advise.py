"""``heldout advise``: the advice on the search that ``heldout tune`` would run with the same options."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from heldout import studies

Run = Callable[..., Any]

pytestmark = pytest.mark.usefixtures("tiny_space")


@pytest.fixture(autouse=True)
def worst_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study of heldout-papers, which is tested there: every protocol is off by .01."""
    rows = [
        {"protocol": name, "bias": 0.01, "standard_error": 0.001} for name in ("cv", "nested_cv", "bbc", "bced")
    ]
    monkeypatch.setitem(vars(studies), "bias", lambda *_, **__: SimpleNamespace(rows=lambda: rows))


ADVISE = "advise data.csv --target outcome --metric accuracy --n-jobs 1"


@pytest.fixture(autouse=True)
def data(command: Run, table: Callable[..., Path]) -> None:
    table()


def test_it_says_what_it_reads_the_method_and_then_the_costs_and_why(run: Run) -> None:
    ended = run(f"{ADVISE} --cv 3 --seconds 0 --quiet")
    lines = ended.out.splitlines()
    assert ended.err == ""
    assert lines[0].startswith("For held-out predictions of a fixed search of several configurations, use")
    assert "Nested cross-validation makes 22 fits where the search alone makes 7." in lines
    assert "--cv auto makes 10 folds" in ended.out, "options of the command line stand for arguments"
    assert [line.split("  ")[0] for line in lines[1 : lines.index("Why:")] if line] == [
        "", "uncorrected", "shrinkage or bbc", "the same, early dropping", "the same, 4 repeats", "nested",
    ]  # fmt: skip
    ended = run(f"{ADVISE} --seconds 0")
    assert ended.out.startswith("data.csv: 60 rows, 3 columns to predict from.")
    assert "Plan: 2 configurations (logistic) x 5 folds = 10 fits, seed 0." in ended.out
    assert "Excluded 'constant'" in ended.err
    assert [path.name for path in Path().iterdir()] == ["data.csv"], "it writes no file"


def test_the_document_is_that_of_the_advice(document: Run) -> None:
    found = document(f"{ADVISE} --groups site --seconds 5 --repeats 2")
    assert (found["n_rows"], found["n_configurations"], found["metric"]) == (60, 2, "accuracy")
    fits = {row["protocol"]: row["most"] for row in found["protocols"]}
    assert fits == {"cv": 21, "bbc": 21, "bced": 21, "nested_cv": 111}
    assert found["families"][0]["n_fitted"] == 2 and found["seconds_spent"] > 0
    assert found["recommendation"]["n_rows"] == 10, "groups"


def test_an_adaptive_search_and_inner_folds(document: Run) -> None:
    found = document(f"{ADVISE} --seconds 0 --adaptive --inner 3 --cv 4")
    assert found["recommendation"]["case"] == "adaptive"
    # A search of 3 folds on all rows and in each of 4 outer folds, and their winners.
    assert found["protocols"][-1]["most"] == 3 * 2 * (1 + 4) + 4 + 1


def test_ctrl_c_ends_it_as_other_commands(command: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(vars(studies), "bias", interrupted)
    ended = command(*f"{ADVISE} --seconds 0 --quiet".split())
    assert (ended.code, ended.out, ended.last) == (130, "", "Interrupted.")
